#include "tests/support/test_near.h"

#include "core/box.h"
#include "io/simulate.h"
#include "io/simulate_rows.h"
#include "io/vis.h"

#define PI 3.14159265358979323846

typedef struct bytes {
    char *data;
    int64_t n;
} bytes;

static bytes read_file(const char *path) {
    bytes all = {0};
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    all.n = ftell(file);
    all.data = test_allocate(all.n);
    rewind(file);
    assert_int_equal(fread(all.data, 1, (size_t)all.n, file), (size_t)all.n);
    assert_int_equal(fclose(file), 0);
    return all;
}

static void simulate(const slc_simulate_options *options, int n_threads, const char *path) {
    slc_simulate_options run = *options;
    run.path = path;
    TEST_OK(slc_pool_create(n_threads, &run.pool));
    TEST_OK(slc_simulate_run(&run));
    slc_pool_destroy(run.pool);
}

/* Several blocks of rows, noise and both polarisations: one thread, two and three write one file. */
static void same_bytes_for_any_threads(void **state) {
    (void)state;
    static const int levels[] = {0, 1};
    char directory[TEST_PATH_BYTES];
    char path[TEST_PATH_BYTES];
    test_directory_create(directory);
    for (int64_t k = 0; k < TEST_COUNT(levels); k++) {
        const slc_simulate_options options = {.array = "meerkat",
                                              .n_rows = 70001,
                                              .n_channels = 2,
                                              .noise_jy = 0.1,
                                              .seed = 12,
                                              .zstd_level = levels[k],
                                              .overwrite = true};
        test_join(directory, "a.uvh5", path);
        simulate(&options, 1, path);
        const bytes one = read_file(path);
        for (int n_threads = 2; n_threads <= 3; n_threads++) {
            simulate(&options, n_threads, path);
            const bytes several = read_file(path);
            assert_int_equal(one.n, several.n);
            assert_memory_equal(one.data, several.data, (size_t)one.n);
            free(several.data);
        }
        free(one.data);
    }
    assert_int_equal(test_directory_count(directory), 1);
    test_directory_remove(directory);
}

/* Ten thousand rows come back through the reader as the row maker made them. */
static void read_back(void **state) {
    (void)state;
    enum { N_ROWS = 10000, N_CHANNELS = 3, N_SAMPLES = N_ROWS * N_CHANNELS };
    char directory[TEST_PATH_BYTES];
    char path[TEST_PATH_BYTES];
    const char *paths[1] = {path};
    const slc_vis_options reading = {0};
    slc_simulate_options options = {.n_rows = N_ROWS, .n_channels = N_CHANNELS};
    test_directory_create(directory);
    test_join(directory, "a.uvh5", path);
    simulate(&options, 2, path);

    slc_source *source;
    TEST_OK(slc_vis_open(paths, 1, &reading, &source));
    const slc_vis_meta *meta = slc_vis_get_meta(source);
    assert_int_equal(meta->n_rows, N_ROWS);
    assert_int_equal(meta->n_channels, N_CHANNELS);
    assert_int_equal(meta->n_baselines, 351);
    assert_int_equal(meta->n_times, 29);
    assert_int_equal(meta->n_antennas, 27);
    assert_true(meta->is_w_projected);
    assert_string_equal(meta->telescope, "VLA");
    assert_string_equal(meta->units, "Jy");
    TEST_NEAR(meta->ra_rad, 299.868 * PI / 180.0, 1e-12);
    TEST_NEAR(meta->dec_rad, 40.734 * PI / 180.0, 1e-12);
    TEST_NEAR(meta->freq_hz[2], 1.402e9, 1e-3);

    double *uvw = test_allocate((int64_t)sizeof *uvw * 3 * N_ROWS);
    float *vis = test_allocate((int64_t)sizeof *vis * 2 * N_SAMPLES);
    float *weight = test_allocate((int64_t)sizeof *weight * N_SAMPLES);
    void *const fields[SLC_VIS_N_FIELDS] = {uvw, vis, weight};
    const slc_box all = slc_box_1d(0, N_ROWS);
    TEST_OK(slc_source_read(source, &all, fields));

    slci_row_maker *maker;
    slc_uvh5_rows rows;
    slc_sky sky;
    const slci_telescope *telescope = slci_telescope_find("vla-d");
    TEST_OK(slc_simulate_resolve(&options));
    TEST_OK(slc_pool_create(1, &options.pool));
    TEST_OK(
        slc_sky_galaxy(512.0 / (3.0 * slci_telescope_longest_m(telescope) * 1.402e9 / 299792458.0),
                       &sky));
    TEST_OK(slci_row_maker_create(&options, telescope, &sky, &maker));
    TEST_OK(slci_row_maker_make(maker, 0, N_ROWS, &rows));
    assert_memory_equal(uvw, rows.uvw_m, sizeof *uvw * 3 * N_ROWS);
    for (int64_t k = 0; k < N_SAMPLES; k++) {
        /* Both hands are the same, so their mean is each of them. */
        assert_memory_equal(&vis[2 * k], &rows.vis[4 * k], 2 * sizeof *vis);
        TEST_NEAR((double)weight[k], 1.0, 0.0);
    }
    slci_row_maker_destroy(maker);
    slc_sky_destroy(&sky);
    slc_pool_destroy(options.pool);
    free(uvw);
    free(vis);
    free(weight);
    slc_source_destroy(source);
    test_directory_remove(directory);
}

static void defaults(void **state) {
    (void)state;
    slc_simulate_options options = {0};
    TEST_OK(slc_simulate_resolve(&options));
    assert_string_equal(options.array, "vla-d");
    assert_int_equal(options.n_rows, 351 * 2880);
    assert_int_equal(options.n_channels, 1);
    assert_int_equal(options.n_polarisations, 2);
    TEST_NEAR(options.hours, 8.0, 0.0);
    TEST_NEAR(options.freq_hz, 1.4e9, 0.0);
    assert_true(options.has_position);
    /* Once resolved they stay. */
    slc_simulate_options again = options;
    TEST_OK(slc_simulate_resolve(&again));
    assert_int_equal(again.n_rows, options.n_rows);
    TEST_NEAR(again.ra_rad, options.ra_rad, 0.0);
    options = (slc_simulate_options){.array = "mwa", .has_position = true, .dec_rad = -0.5};
    TEST_OK(slc_simulate_resolve(&options));
    assert_int_equal(options.n_rows, 8128 * 120);
    TEST_NEAR(options.ra_rad, 0.0, 0.0);
    TEST_NEAR(options.dec_rad, -0.5, 0.0);
}

static void refusals(void **state) {
    (void)state;
    static const struct {
        slc_simulate_options options;
        const char *words;
    } cases[] = {
        {{.array = "vla"}, "vla-d, meerkat, mwa"},
        {{.n_rows = -1}, "-1 rows"},
        {{.n_channels = -1}, "-1 channels"},
        {{.n_polarisations = 3}, "3 polarisations"},
        {{.freq_hz = -1.0}, "-1 Hz"},
        {{.channel_width_hz = (double)NAN}, "nan Hz"},
        {{.has_position = true, .dec_rad = 1.6}, "declination 1.6"},
        {{.hours = 25.0}, "25 hours"},
        {{.hours = (double)NAN}, "nan hours"},
        {{.noise_jy = -1.0}, "noise of -1"},
        {{.n_rows = INT64_C(1) << 40}, "closer to each other"},
    };
    for (int64_t k = 0; k < TEST_COUNT(cases); k++) {
        slc_simulate_options options = cases[k].options;
        TEST_FAILS(slc_simulate_resolve(&options), SLC_ERROR_ARGUMENT, cases[k].words);
    }
}

static void nothing_is_left_behind(void **state) {
    (void)state;
    char directory[TEST_PATH_BYTES];
    char path[TEST_PATH_BYTES];
    const volatile int cancel = 1;
    slc_simulate_options options = {.path = path, .n_rows = 1000};
    test_directory_create(directory);
    test_join(directory, "a.uvh5", path);
    TEST_FAILS(slc_simulate_run(&options), SLC_ERROR_ARGUMENT, "pool");
    TEST_OK(slc_pool_create(2, &options.pool));
    options.sky_path = "/nowhere/sky.txt";
    TEST_FAILS(slc_simulate_run(&options), SLC_ERROR_INPUT, "/nowhere/sky.txt");
    options.sky_path = NULL;
    options.cancel = &cancel;
    TEST_FAILS(slc_simulate_run(&options), SLC_ERROR_INTERRUPTED, "interrupted");
    assert_int_equal(test_directory_count(directory), 0);
    options.cancel = NULL;
    TEST_OK(slc_simulate_run(&options));
    TEST_FAILS(slc_simulate_run(&options), SLC_ERROR_OUTPUT, "a.uvh5");
    assert_int_equal(test_directory_count(directory), 1);
    slc_pool_destroy(options.pool);
    test_directory_remove(directory);
}

/* 96 bytes of each row, and 13 of each of its samples, asked for before the first row is made. */
static void a_full_disk_is_seen_before_any_work(void **state) {
    (void)state;
    char directory[TEST_PATH_BYTES];
    char path[TEST_PATH_BYTES];
    slc_simulate_options options = {.path = path,
                                    .n_rows = 1000000000,
                                    .n_channels = 1000,
                                    .hours = 24.0};
    test_directory_create(directory);
    test_join(directory, "a.uvh5", path);
    TEST_OK(slc_pool_create(2, &options.pool));
    TEST_FAILS(slc_simulate_run(&options), SLC_ERROR_OUTPUT, "a.uvh5 needs 26096000000000 bytes");
    slc_pool_destroy(options.pool);
    assert_int_equal(test_directory_count(directory), 0);
    test_directory_remove(directory);
}

typedef struct progress_record {
    int64_t last, n_rows, n_calls;
} progress_record;

static void record_progress(void *context, int64_t done_rows, int64_t n_rows) {
    progress_record *record = context;
    assert_true(done_rows > record->last);
    *record = (progress_record){done_rows, n_rows, record->n_calls + 1};
}

static void progress_ends_at_all_rows(void **state) {
    (void)state;
    char directory[TEST_PATH_BYTES];
    char path[TEST_PATH_BYTES];
    progress_record record = {0};
    slc_simulate_options options = {.n_rows = 140000,
                                    .n_polarisations = 1,
                                    .progress = record_progress,
                                    .progress_context = &record};
    test_directory_create(directory);
    test_join(directory, "a.uvh5", path);
    simulate(&options, 2, path);
    assert_int_equal(record.last, 140000);
    assert_int_equal(record.n_rows, 140000);
    assert_true(record.n_calls > 1);
    test_directory_remove(directory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bytes_for_any_threads),
        cmocka_unit_test(read_back),
        cmocka_unit_test(defaults),
        cmocka_unit_test(refusals),
        cmocka_unit_test(nothing_is_left_behind),
        cmocka_unit_test(a_full_disk_is_seen_before_any_work),
        cmocka_unit_test(progress_ends_at_all_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
