/* What is selected, weighted and counted; several files; several threads. */
#include <math.h>
#include <pthread.h>

#include "tests/support/test_uvh5.h"

enum { ROWS = 24, CHANNELS = 5, POLS = 4 };

typedef struct place {
    char directory[TEST_PATH_BYTES], path[TEST_PATH_BYTES];
    slc_source *source;
    test_vis vis;
} place;

static int make(void **state) {
    place *self = test_allocate(sizeof *self);
    memset(self, 0, sizeof *self);
    test_directory_create(self->directory);
    test_join(self->directory, "a.uvh5", self->path);
    test_uvh5_create(self->path, ROWS, CHANNELS, POLS);
    *state = self;
    return 0;
}

static void close_set(place *self) {
    test_vis_free(&self->vis);
    slc_source_destroy(self->source);
    memset(&self->vis, 0, sizeof self->vis);
    self->source = NULL;
}

static int unmake(void **state) {
    place *self = *state;
    test_directory_remove(self->directory);
    free(self);
    return 0;
}

static void open_set(place *self, const slc_vis_options *options) {
    self->source = test_vis_open(self->path, options);
    test_vis_read(self->source, 7, &self->vis);
}

static void polarisations_have_names(void **state) {
    (void)state;
    static const struct {
        int code;
        const char *name;
    } cases[] = {{1, "I"},   {4, "V"},   {-1, "RR"}, {-2, "LL"}, {-3, "RL"},      {-5, "XX"},
                 {-6, "YY"}, {-8, "YX"}, {0, "?"},   {5, "?"},   {INT32_MIN, "?"}};
    for (int64_t k = 0; k < TEST_COUNT(cases); k++) {
        assert_string_equal(slc_vis_polarisation_name(cases[k].code), cases[k].name);
    }
}

static void polarisations_are_chosen(void **state) {
    place *self = *state;
    const struct {
        slc_polarisation wanted;
        int pol, stokes;
    } singles[] = {{SLC_POL_XX, 0, -5}, {SLC_POL_YY, 1, -6}};
    for (int64_t k = 0; k < TEST_COUNT(singles); k++) {
        const slc_vis_options options = {.polarisation = singles[k].wanted};
        open_set(self, &options);
        assert_int_equal(slc_vis_get_meta(self->source)->imaged[0].stokes, singles[k].stokes);
        for (int64_t row = 0; row < ROWS; row++) {
            const double right = test_uvh5_real(row, 3, singles[k].pol);
            assert_true((double)self->vis.vis[2 * (row * CHANNELS + 3)] == right);
        }
        assert_int_equal(self->vis.counts.total, ROWS * CHANNELS);
        close_set(self);
    }
    const slc_vis_options rr = {.polarisation = SLC_POL_RR};
    TEST_FAILS(test_vis_try(self->path, &rr), SLC_ERROR_ARGUMENT,
               "no RR in this file, it has the polarisations XX (-5), YY (-6), XY (-7), YX (-8)");
    const slc_vis_options intensity = {.polarisation = SLC_POL_I};
    open_set(self, &intensity);
    assert_true(self->vis.vis[0] == 5000.0F);
    close_set(self);
}

/* Polarisations in any order; a pseudo-I wins over a pair. */
static void order_of_polarisations_does_not_matter(void **state) {
    place *self = *state;
    const int64_t n = POLS;
    const int64_t turned[POLS] = {-6, -8, -7, -5};
    test_h5_put_i64(self->path, "/Header/polarization_array", 1, &n, turned);
    open_set(self, NULL);
    assert_true(self->vis.vis[0] == 15000.0F); /* of 0 (YY) and 30000 (XX) */
    close_set(self);
    const int64_t stokes[POLS] = {2, 3, 1, 4};
    test_h5_put_i64(self->path, "/Header/polarization_array", 1, &n, stokes);
    open_set(self, NULL);
    assert_true(self->vis.vis[0] == 20000.0F);
    assert_string_equal(slc_vis_get_meta(self->source)->imaged[0].text, "I");
    close_set(self);
    const int64_t cross[POLS] = {-7, -8, -3, -4};
    test_h5_put_i64(self->path, "/Header/polarization_array", 1, &n, cross);
    TEST_FAILS(test_vis_try(self->path, NULL), SLC_ERROR_UNSUPPORTED, "nothing to image");
    /* Here the user has a choice to make. */
    const int64_t single[POLS] = {-7, -8, -3, -5};
    test_h5_put_i64(self->path, "/Header/polarization_array", 1, &n, single);
    TEST_FAILS(test_vis_try(self->path, NULL), SLC_ERROR_ARGUMENT, "no I, nor XX with YY");
}

static void channels_and_times_are_chosen(void **state) {
    place *self = *state;
    const slc_vis_options options = {.channel_begin = 1,
                                     .channel_end = 3,
                                     .time_begin = 2,
                                     .time_end = 4};
    open_set(self, &options);
    const slc_vis_meta *meta = slc_vis_get_meta(self->source);
    assert_int_equal(meta->n_channels, 2);
    assert_int_equal(meta->n_file_channels, CHANNELS);
    assert_int_equal(meta->n_times, ROWS / 4);
    assert_true(meta->freq_hz[1] == 1.02e8);
    for (int64_t row = 0; row < ROWS; row++) {
        const bool is_in = row / 4 >= 2 && row / 4 < 4;
        assert_true((self->vis.weight[2 * row] == 1.0F) == is_in);
        const double right =
            is_in ? 0.5 * (test_uvh5_real(row, 1, 0) + test_uvh5_real(row, 1, 1)) : 0;
        assert_true((double)self->vis.vis[4 * row] == right);
    }
    assert_int_equal(self->vis.counts.total, 8 * 2 * 2);
    assert_true(fabs(meta->start_jd_utc - (2459000.5 + 15.0 / 86400.0)) < 1e-9);
    close_set(self);
    const slc_vis_options no_times = {.time_begin = 3, .time_end = 3};
    open_set(self, &no_times);
    assert_int_equal(self->vis.counts.total, 0);
    close_set(self);
    const slc_vis_options bad[] = {{.time_end = 7},
                                   {.time_begin = -1},
                                   {.time_begin = 3, .time_end = 2},
                                   {.channel_begin = 2, .channel_end = 2},
                                   {.channel_end = 6},
                                   {.channel_begin = 5},
                                   {.uv_min_wavelengths = 5, .uv_max_wavelengths = 4}};
    for (int64_t k = 0; k < TEST_COUNT(bad); k++) {
        assert_int_equal(test_vis_try(self->path, &bad[k]), SLC_ERROR_ARGUMENT);
    }
}

/* hypot(u, v) of row 0 is 1 m: f / c wavelengths, 0.33 at 100 MHz and 0.35 at 104 MHz. */
static void range_of_baselines(void **state) {
    place *self = *state;
    const double edge = 1.02e8 / 299792458.0;
    const slc_vis_options above = {.uv_min_wavelengths = edge};
    open_set(self, &above);
    assert_true(self->vis.weight[1] == 0.0F && self->vis.weight[2] == 1.0F);
    assert_int_equal(self->vis.counts.total, 2 * (ROWS * CHANNELS - 2));
    close_set(self);
    const slc_vis_options below = {.uv_max_wavelengths = edge};
    open_set(self, &below);
    assert_true(self->vis.weight[1] == 1.0F && self->vis.weight[2] == 0.0F);
    assert_int_equal(self->vis.counts.total, 2 * 2);
    close_set(self);
}

static void autocorrelations_are_left_out(void **state) {
    place *self = *state;
    const int64_t n = ROWS;
    int64_t antennas[ROWS];
    for (int64_t k = 0; k < ROWS; k++) {
        antennas[k] = k % 4;
    }
    antennas[3] = 9;
    test_h5_put_i64(self->path, "/Header/ant_2_array", 1, &n, antennas);
    open_set(self, NULL);
    for (int64_t k = 0; k < ROWS; k++) {
        assert_true((self->vis.weight[k * CHANNELS] > 0.0F) == (k == 3));
    }
    assert_int_equal(slc_vis_get_meta(self->source)->n_antennas, 5);
    assert_int_equal(slc_vis_get_meta(self->source)->n_baselines, 5);
    close_set(self);
    const slc_vis_options with = {.use_autos = true};
    open_set(self, &with);
    assert_int_equal(self->vis.counts.total, ROWS * CHANNELS * 2);
    close_set(self);
}

/* Row 0 has an integration of 100 s, the others 10 s; the first used time is the same. */
static void rows_left_out_do_not_date_the_picture(void **state) {
    place *self = *state;
    const int64_t n = ROWS;
    double seconds[ROWS];
    int64_t antennas[ROWS];
    for (int64_t k = 0; k < ROWS; k++) {
        seconds[k] = k == 0 ? 100.0 : 10.0;
        antennas[k] = k == 0 ? 0 : 9; /* an autocorrelation */
    }
    test_h5_put_f64(self->path, "/Header/integration_time", 1, &n, seconds);
    const struct {
        double uv_min;
        bool has_autos, use_autos;
        double half_s;
    } cases[] = {{0, false, false, 50},
                 {0.5, false, false, 5},
                 {0, true, true, 50},
                 {0, true, false, 5}};
    for (int64_t k = 0; k < TEST_COUNT(cases); k++) {
        const slc_vis_options options = {.uv_min_wavelengths = cases[k].uv_min,
                                         .use_autos = cases[k].use_autos};
        if (cases[k].has_autos) {
            test_h5_put_i64(self->path, "/Header/ant_2_array", 1, &n, antennas);
        }
        self->source = test_vis_open(self->path, &options);
        const double start = slc_vis_get_meta(self->source)->start_jd_utc;
        assert_true(fabs(start - (2459000.5 - cases[k].half_s / 86400.0)) < 1e-9);
        close_set(self);
    }
}

static void one_file_counts_once(void **state) {
    place *self = *state;
    const char *paths[] = {self->path, self->path};
    const slc_vis_options none = {0};
    TEST_FAILS(slc_vis_open(paths, 2, &none, &self->source), SLC_ERROR_ARGUMENT, "given twice");
}

static void weights_are_what_was_asked_for(void **state) {
    place *self = *state;
    enum { N = ROWS * CHANNELS * POLS };
    const int64_t shape[3] = {ROWS, CHANNELS, POLS};
    float samples[N];
    for (int k = 0; k < N; k++) {
        samples[k] = 2.0F;
    }
    samples[0] = 0.0F;             /* row 0, channel 0, XX */
    samples[POLS + 1] = -1.0F;     /* channel 1, YY */
    samples[2 * POLS] = NAN;       /* channel 2, XX */
    samples[3 * POLS + 1] = 3e38F; /* channel 3, YY: 2 / (1/2 + 0) */
    samples[4 * POLS + 2] = -5.0F; /* channel 4, XY: not used */
    test_h5_put(self->path, "/Data/nsamples", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, 3, shape,
                H5P_DEFAULT, samples);
    open_set(self, NULL);
    assert_true(self->vis.weight[0] == 0.0F && self->vis.weight[1] == 0.0F);
    assert_true(self->vis.weight[2] == 0.0F && self->vis.weight[3] == 4.0F);
    assert_true(self->vis.weight[4] == 2.0F);
    assert_int_equal(self->vis.counts.zero_weight, 3);
    assert_int_equal(self->vis.counts.bad_weight, 2);
    close_set(self);
    const slc_vis_options unit = {.use_unit_weights = true};
    open_set(self, &unit);
    for (int64_t k = 0; k < ROWS * CHANNELS; k++) {
        assert_true(self->vis.weight[k] == 1.0F);
    }
    close_set(self);
    const slc_vis_options by_time = {.weight_by_time = true, .conjugate = true};
    open_set(self, &by_time);
    assert_true(self->vis.weight[4] == 20.0F);
    const double imag = 0.5 * (test_uvh5_imag(1, 0, 0) + test_uvh5_imag(1, 0, 1));
    assert_true((double)self->vis.vis[2 * CHANNELS + 1] == -imag);
    close_set(self);
}

/* Weights alone do not need the values, and values alone are still selected. */
static void fields_are_read_alone(void **state) {
    place *self = *state;
    open_set(self, NULL);
    const slc_box box = slc_box_1d(0, ROWS);
    float weight[ROWS * CHANNELS];
    double uvw[ROWS * 3];
    const int64_t before = self->source->counters.bytes_read;
    void *only_weight[SLC_VIS_N_FIELDS] = {NULL, NULL, weight};
    TEST_OK(slc_source_read(self->source, &box, only_weight));
    assert_memory_equal(weight, self->vis.weight, sizeof weight);
    assert_true(self->source->counters.bytes_read - before < ROWS * CHANNELS * POLS * 8);
    void *only_uvw[SLC_VIS_N_FIELDS] = {uvw, NULL, NULL};
    TEST_OK(slc_source_read(self->source, &box, only_uvw));
    assert_memory_equal(uvw, self->vis.uvw, sizeof uvw);
    void *nothing[SLC_VIS_N_FIELDS] = {NULL, NULL, NULL};
    TEST_OK(slc_source_read(self->source, &box, nothing));
    const slc_box outside = slc_box_1d(ROWS, 1);
    slc_vis_counts counts;
    TEST_FAILS(slc_vis_read_counted(self->source, &outside, only_uvw, &counts), SLC_ERROR_ARGUMENT,
               "24");
    const slc_box none = slc_box_1d(ROWS, 0);
    TEST_OK(slc_vis_read_counted(self->source, &none, only_uvw, &counts));
    close_set(self);
}

static void files_follow_each_other(void **state) {
    place *self = *state;
    char second[TEST_PATH_BYTES];
    double times[6];
    const int64_t n = 6;
    test_join(self->directory, "b.uvh5", second);
    test_uvh5_create(second, 6, CHANNELS, POLS);
    for (int k = 0; k < 6; k++) {
        times[k] = 2459000.5 + (k == 0 ? 10.0 / 86400.0 : -1.0);
    }
    test_h5_put_f64(second, "/Header/time_array", 1, &n, times);
    const char *paths[] = {self->path, second};
    /* 7 times in all; the second file's -1 day is number 0. */
    const slc_vis_options first_time = {.time_begin = 0, .time_end = 1};
    TEST_OK(slc_vis_open(paths, 2, &first_time, &self->source));
    test_vis_read(self->source, 10, &self->vis);
    const slc_vis_meta *meta = slc_vis_get_meta(self->source);
    assert_int_equal(meta->n_rows, ROWS + 6);
    assert_int_equal(meta->n_files, 2);
    assert_int_equal(meta->n_times, 7);
    for (int64_t row = 0; row < ROWS + 6; row++) {
        assert_true((self->vis.weight[row * CHANNELS] > 0.0F) == (row > ROWS));
    }
    assert_true(self->vis.uvw[3 * (ROWS + 2)] == 3.0);
    assert_int_equal(slc_source_next_unit(self->source, 0, ROWS + 1), ROWS + 2);
    close_set(self);
    test_h5_put_number(second, "/Header/phase_center_ra", 1.26);
    slc_vis_options none = {0};
    TEST_FAILS(slc_vis_open(paths, 2, &none, &self->source), SLC_ERROR_INPUT, "phase centres are");
    assert_non_null(strstr(slc_status_message(), self->path));
    assert_non_null(strstr(slc_status_message(), second));
    test_h5_put_number(second, "/Header/phase_center_ra", 1.25);
    test_h5_put_number(second, "/Header/channel_width", 2e6);
    TEST_FAILS(slc_vis_open(paths, 2, &none, &self->source), SLC_ERROR_INPUT, "frequencies");
    remove(second);
    test_uvh5_create(second, 6, CHANNELS, 2);
    TEST_FAILS(slc_vis_open(paths, 2, &none, &self->source), SLC_ERROR_INPUT, "polarisations");
    test_h5_remove(second, "/Data/visdata");
    TEST_FAILS(slc_vis_open(paths, 2, &none, &self->source), SLC_ERROR_INPUT, second);
}

static void identity_follows_the_selection(void **state) {
    place *self = *state;
    const slc_vis_options options[] = {{0},
                                       {.channel_end = 2},
                                       {.polarisation = SLC_POL_XX},
                                       {.conjugate = true},
                                       {.time_end = 2}};
    char identities[5][SLC_IDENTITY_BYTES];
    for (int64_t k = 0; k < TEST_COUNT(options); k++) {
        slc_source *source = test_vis_open(self->path, &options[k]);
        memcpy(identities[k], source->identity, SLC_IDENTITY_BYTES);
        slc_source_destroy(source);
        for (int64_t j = 0; j < k; j++) {
            assert_string_not_equal(identities[j], identities[k]);
        }
    }
    slc_source *source = test_vis_open(self->path, NULL);
    assert_string_equal(source->identity, identities[0]);
    slc_source_destroy(source);
}

/* One thread of several that read boxes in turn. */
typedef struct reader {
    slc_source *source;
    test_vis *vis;
    int64_t first, step, box_rows;
    slc_status status;
} reader;

static void *read_boxes(void *context) {
    reader *self = context;
    const int64_t n = self->vis->n_rows;
    for (int64_t row = self->first * self->box_rows; row < n && self->status == SLC_OK;
         row += self->step * self->box_rows) {
        const slc_box box = slc_box_1d(row, row + self->box_rows < n ? self->box_rows : n - row);
        void *const dst[SLC_VIS_N_FIELDS] = {self->vis->uvw + 3 * row,
                                             self->vis->vis + 2 * row * self->vis->n_channels,
                                             self->vis->weight + row * self->vis->n_channels};
        slc_vis_counts counts;
        self->status = slc_vis_read_counted(self->source, &box, dst, &counts);
    }
    return NULL;
}

static void threads_read_disjoint_boxes(void **state) {
    (void)state;
    static const char *const files[] = {"data/m87_vlba_8GHz.gzshuf.uvh5",
                                        "data/m87_vlba_8GHz.bslz4.uvh5"};
    enum { N_THREADS = 3 };
    for (int64_t f = 0; f < TEST_COUNT(files); f++) {
        char path[TEST_PATH_BYTES];
        test_need_shared(files[f], path);
        slc_source *source = test_vis_open(path, NULL);
        test_vis whole;
        test_vis parts;
        test_vis_read(source, 0, &whole);
        test_vis_read(source, 0, &parts);
        memset(parts.vis, 0, (size_t)(parts.n_rows * parts.n_channels) * 8);
        memset(parts.weight, 0, (size_t)(parts.n_rows * parts.n_channels) * 4);
        pthread_t threads[N_THREADS];
        reader readers[N_THREADS];
        for (int k = 0; k < N_THREADS; k++) {
            readers[k] = (reader){source, &parts, k, N_THREADS, 61, SLC_OK};
            assert_int_equal(pthread_create(&threads[k], NULL, read_boxes, &readers[k]), 0);
        }
        for (int k = 0; k < N_THREADS; k++) {
            pthread_join(threads[k], NULL);
            assert_int_equal(readers[k].status, SLC_OK);
        }
        assert_true(test_vis_equal(&whole, &parts));
        test_vis_free(&whole);
        test_vis_free(&parts);
        slc_source_destroy(source);
    }
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, make, unmake)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(polarisations_have_names),
        CASE(polarisations_are_chosen),
        CASE(order_of_polarisations_does_not_matter),
        CASE(channels_and_times_are_chosen),
        CASE(range_of_baselines),
        CASE(autocorrelations_are_left_out),
        CASE(rows_left_out_do_not_date_the_picture),
        CASE(one_file_counts_once),
        CASE(weights_are_what_was_asked_for),
        CASE(fields_are_read_alone),
        CASE(files_follow_each_other),
        CASE(identity_follows_the_selection),
        CASE(threads_read_disjoint_boxes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
