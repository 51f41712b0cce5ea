/* UVH5 files read back through HDF5's own calls and compared with what was put in. */
#include <hdf5.h>
#include <math.h>

#include "io/uvh5_write.h"
#include "tests/support/test_child.h"

enum { N_ANTENNAS = 4, N_TIMES = 7, N_BASELINES = 6, N_ROWS = N_TIMES * N_BASELINES };
enum { N_CHANNELS = 3, N_POLARISATIONS = 2, N_SAMPLES = N_CHANNELS * N_POLARISATIONS };

/* Every number of a small set; antennas 0, 1, 2 and 4 of five are used. */
typedef struct small_set {
    double uvw[N_ROWS * 3], time[N_ROWS], lst[N_ROWS], integration[N_ROWS];
    int64_t antenna_1[N_ROWS], antenna_2[N_ROWS];
    float vis[N_ROWS * N_SAMPLES * 2], nsamples[N_ROWS * N_SAMPLES];
    uint8_t flags[N_ROWS * N_SAMPLES];
    double freq[N_CHANNELS], width[N_CHANNELS], positions[(N_ANTENNAS + 1) * 3];
    slc_uvh5_header header;
} small_set;

static const int polarisations[N_POLARISATIONS] = {-5, -6};
static const char *const antenna_names[N_ANTENNAS + 1] = {"A0", "B", "long name", "unused", "E"};

static void make_set(small_set *set) {
    static const int pairs[N_BASELINES][2] = {{0, 1}, {0, 2}, {0, 4}, {1, 2}, {1, 4}, {2, 4}};
    memset(set, 0, sizeof *set);
    test_fill_f64(set->uvw, N_ROWS * 3, 1);
    test_fill_f64(set->positions, TEST_COUNT(set->positions), 2);
    test_fill_f32(set->vis, TEST_COUNT(set->vis), 3);
    test_fill_f32(set->nsamples, TEST_COUNT(set->nsamples), 4);
    for (int64_t k = 0; k < N_ROWS; k++) {
        set->time[k] = 2458000.5 + (double)(k / N_BASELINES) / 64;
        set->lst[k] = 0.1 * (double)(k / N_BASELINES);
        set->integration[k] = 10;
        set->antenna_1[k] = pairs[k % N_BASELINES][0];
        set->antenna_2[k] = pairs[k % N_BASELINES][1];
    }
    for (int64_t k = 0; k < N_ROWS * N_SAMPLES; k++) {
        set->flags[k] = (uint8_t)(k % 5 == 0 ? 1 + k % 7 : 0); /* any number that is not 0 */
    }
    for (int64_t c = 0; c < N_CHANNELS; c++) {
        set->freq[c] = 1.5e8 + 1e6 * (double)c;
        set->width[c] = 1e6;
    }
    set->header = (slc_uvh5_header){
        .n_rows = N_ROWS,
        .n_channels = N_CHANNELS,
        .n_polarisations = N_POLARISATIONS,
        .n_antennas = N_ANTENNAS + 1,
        .n_times = N_TIMES,
        .n_baselines = N_BASELINES,
        .latitude_deg = 34.0784,
        .longitude_deg = -107.6184,
        .altitude_m = 2124,
        .ra_rad = 1.0,
        .dec_rad = -0.5,
        .freq_hz = set->freq,
        .channel_width_hz = set->width,
        .polarisations = polarisations,
        .antenna_names = antenna_names,
        .antenna_positions_m = set->positions,
        .antenna_diameter_m = 25,
        .telescope = "SLUICETEST",
        .object = "galaxy",
        .history = "",
    };
}

static slc_uvh5_rows rows_of(const small_set *set, int64_t begin, int64_t n) {
    const slc_uvh5_rows rows = {
        .n_rows = n,
        .uvw_m = set->uvw + begin * 3,
        .time_jd = set->time + begin,
        .lst_rad = set->lst + begin,
        .integration_s = set->integration + begin,
        .antenna_1 = set->antenna_1 + begin,
        .antenna_2 = set->antenna_2 + begin,
        .vis = set->vis + begin * N_SAMPLES * 2,
        .flags = set->flags + begin * N_SAMPLES,
        .nsamples = set->nsamples + begin * N_SAMPLES,
    };
    return rows;
}

static slc_status write_set(const small_set *set, const char *path, const slc_uvh5_options *options,
                            int64_t block_rows) {
    slc_uvh5_writer *writer = NULL;
    SLC_TRY(slc_uvh5_writer_create(path, &set->header, options, &writer));
    slc_status status = SLC_OK;
    for (int64_t begin = 0; begin < N_ROWS && status == SLC_OK; begin += block_rows) {
        const int64_t n = N_ROWS - begin < block_rows ? N_ROWS - begin : block_rows;
        const slc_uvh5_rows rows = rows_of(set, begin, n);
        status = slc_uvh5_writer_append(writer, &rows);
    }
    if (status == SLC_OK) {
        status = slc_uvh5_writer_commit(writer);
    }
    slc_uvh5_writer_destroy(writer);
    return status;
}

static void read_dataset(hid_t file, const char *name, hid_t type, int64_t n_expected, void *out) {
    const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
    if (dataset < 0) {
        fail_msg("no dataset %s", name);
    }
    const hid_t space = H5Dget_space(dataset);
    assert_int_equal(H5Sget_simple_extent_npoints(space), n_expected);
    assert_true(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) >= 0);
    assert_true(H5Sclose(space) >= 0 && H5Dclose(dataset) >= 0);
}

static void expect_reals(hid_t file, const char *name, const double *expected, int64_t n) {
    double *const found = (double *)test_allocate(n * 8);
    read_dataset(file, name, H5T_NATIVE_DOUBLE, n, found);
    assert_memory_equal(found, expected, (size_t)n * 8);
    free(found);
}

static void expect_integers(hid_t file, const char *name, const int64_t *expected, int64_t n) {
    int64_t *const found = (int64_t *)test_allocate(n * 8);
    read_dataset(file, name, H5T_NATIVE_INT64, n, found);
    assert_memory_equal(found, expected, (size_t)n * 8);
    free(found);
}

static void expect_integer(hid_t file, const char *name, int64_t expected) {
    expect_integers(file, name, &expected, 1);
}

static void expect_text(hid_t file, const char *name, const char *expected) {
    char found[64] = "";
    const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
    const hid_t type = H5Dget_type(dataset);
    assert_true(H5Tget_size(type) < sizeof found);
    assert_true(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, found) >= 0);
    assert_string_equal(found, expected);
    assert_true(H5Tclose(type) >= 0 && H5Dclose(dataset) >= 0);
}

static void expect_header(hid_t file, const small_set *set) {
    expect_text(file, "/Header/version", "1.2");
    expect_text(file, "/Header/telescope_name", "SLUICETEST");
    expect_text(file, "/Header/vis_units", "Jy");
    expect_text(file, "/Header/phase_center_catalog/0/cat_name", "galaxy");
    expect_text(file, "/Header/phase_center_catalog/0/cat_type", "sidereal");
    expect_reals(file, "/Header/phase_center_catalog/0/cat_lon", &set->header.ra_rad, 1);
    expect_reals(file, "/Header/phase_center_catalog/0/cat_lat", &set->header.dec_rad, 1);
    expect_reals(file, "/Header/latitude", &set->header.latitude_deg, 1);
    expect_reals(file, "/Header/freq_array", set->freq, N_CHANNELS);
    expect_reals(file, "/Header/channel_width", set->width, N_CHANNELS);
    expect_reals(file, "/Header/antenna_positions", set->positions, (N_ANTENNAS + 1) * 3);
    expect_integer(file, "/Header/Nblts", N_ROWS);
    expect_integer(file, "/Header/Ntimes", N_TIMES);
    expect_integer(file, "/Header/Nbls", N_BASELINES);
    expect_integer(file, "/Header/Nants_data", N_ANTENNAS);
    expect_integer(file, "/Header/Nants_telescope", N_ANTENNAS + 1);
    const int64_t codes[N_POLARISATIONS] = {-5, -6};
    expect_integers(file, "/Header/polarization_array", codes, N_POLARISATIONS);
}

static void expect_data(hid_t file, const small_set *set) {
    float vis[N_ROWS * N_SAMPLES * 2];
    float nsamples[N_ROWS * N_SAMPLES];
    uint8_t flags[N_ROWS * N_SAMPLES];
    const hid_t complex_type = H5Tcreate(H5T_COMPOUND, 8);
    assert_true(H5Tinsert(complex_type, "r", 0, H5T_NATIVE_FLOAT) >= 0);
    assert_true(H5Tinsert(complex_type, "i", 4, H5T_NATIVE_FLOAT) >= 0);
    read_dataset(file, "/Data/visdata", complex_type, N_ROWS * N_SAMPLES, vis);
    read_dataset(file, "/Data/nsamples", H5T_NATIVE_FLOAT, N_ROWS * N_SAMPLES, nsamples);
    assert_memory_equal(vis, set->vis, sizeof vis);
    assert_memory_equal(nsamples, set->nsamples, sizeof nsamples);
    const hid_t dataset = H5Dopen2(file, "/Data/flags", H5P_DEFAULT);
    const hid_t type = H5Dget_type(dataset);
    assert_int_equal(H5Tget_class(type), H5T_ENUM);
    assert_int_equal(H5Tget_nmembers(type), 2);
    assert_int_equal(H5Tget_size(type), 1);
    assert_true(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, flags) >= 0);
    for (int64_t k = 0; k < N_ROWS * N_SAMPLES; k++) {
        assert_int_equal(flags[k], k % 5 == 0);
    }
    assert_true(H5Tclose(type) >= 0 && H5Dclose(dataset) >= 0 && H5Tclose(complex_type) >= 0);
}

static void expect_rows(hid_t file, const small_set *set) {
    expect_reals(file, "/Header/uvw_array", set->uvw, N_ROWS * 3);
    expect_reals(file, "/Header/time_array", set->time, N_ROWS);
    expect_reals(file, "/Header/lst_array", set->lst, N_ROWS);
    expect_reals(file, "/Header/integration_time", set->integration, N_ROWS);
    expect_integers(file, "/Header/ant_1_array", set->antenna_1, N_ROWS);
    expect_integers(file, "/Header/ant_2_array", set->antenna_2, N_ROWS);
    const int64_t zeros[N_ROWS] = {0};
    expect_integers(file, "/Header/phase_center_id_array", zeros, N_ROWS);
}

static void writes_what_it_is_given(void **state) {
    (void)state;
    static const slc_uvh5_options options[] = {
        {0, 0, false}, {0, 5, false}, {3, 0, false}, {3, 5, false}, {1, N_ROWS, false}};
    char directory[TEST_PATH_BYTES];
    char path[TEST_PATH_BYTES];
    small_set *const set = (small_set *)test_allocate(sizeof *set);
    make_set(set);
    for (int64_t k = 0; k < TEST_COUNT(options); k++) {
        test_directory_create(directory);
        test_join(directory, "a.uvh5", path);
        TEST_OK(write_set(set, path, &options[k], 4));
        assert_int_equal(test_directory_count(directory), 1);
        const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
        assert_true(file >= 0);
        expect_header(file, set);
        expect_rows(file, set);
        expect_data(file, set);
        assert_true(H5Fclose(file) >= 0);
        test_directory_remove(directory);
    }
    free(set);
}

static void fills_in_what_is_left_out(void **state) {
    (void)state;
    char directory[TEST_PATH_BYTES];
    char path[TEST_PATH_BYTES];
    float nsamples[N_ROWS * N_SAMPLES];
    small_set *const set = (small_set *)test_allocate(sizeof *set);
    make_set(set);
    test_directory_create(directory);
    test_join(directory, "a.uvh5", path);
    slc_uvh5_writer *writer = NULL;
    const slc_uvh5_options options = {0, 5, false};
    slc_uvh5_rows rows = rows_of(set, 0, N_ROWS);
    rows.flags = NULL;
    rows.nsamples = NULL;
    TEST_OK(slc_uvh5_writer_create(path, &set->header, &options, &writer));
    TEST_OK(slc_uvh5_writer_append(writer, &rows));
    TEST_OK(slc_uvh5_writer_commit(writer));
    slc_uvh5_writer_destroy(writer);
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    read_dataset(file, "/Data/nsamples", H5T_NATIVE_FLOAT, N_ROWS * N_SAMPLES, nsamples);
    for (int64_t k = 0; k < N_ROWS * N_SAMPLES; k++) {
        assert_true(nsamples[k] == 1);
    }
    assert_true(H5Fclose(file) >= 0);
    test_directory_remove(directory);
    free(set);
}

static void gives_the_same_bytes_for_any_blocks(void **state) {
    (void)state;
    char directory[TEST_PATH_BYTES];
    char path[TEST_PATH_BYTES];
    char first[1 << 17];
    char other[1 << 17];
    size_t n_first = 0;
    small_set *const set = (small_set *)test_allocate(sizeof *set);
    make_set(set);
    test_directory_create(directory);
    test_join(directory, "a.uvh5", path);
    static const int64_t blocks[] = {N_ROWS, 1, 5, 17};
    for (int level = 0; level < 2; level++) {
        const slc_uvh5_options options = {level, 5, true};
        for (int64_t k = 0; k < TEST_COUNT(blocks); k++) {
            TEST_OK(write_set(set, path, &options, blocks[k]));
            FILE *const file = fopen(path, "rb");
            assert_non_null(file);
            const size_t n = fread(other, 1, sizeof other, file);
            assert_int_equal(fclose(file), 0);
            assert_true(n < sizeof other);
            if (k == 0) {
                n_first = n;
                memcpy(first, other, n);
            }
            assert_int_equal(n, n_first);
            assert_memory_equal(first, other, n);
        }
    }
    test_directory_remove(directory);
    free(set);
}

static void holds_the_header_to_its_word(void **state) {
    (void)state;
    char directory[TEST_PATH_BYTES];
    char path[TEST_PATH_BYTES];
    const slc_uvh5_options options = {0, 5, false};
    small_set *const set = (small_set *)test_allocate(sizeof *set);
    test_directory_create(directory);
    test_join(directory, "a.uvh5", path);
    make_set(set);
    set->header.n_times = N_TIMES - 1;
    TEST_FAILS(write_set(set, path, &options, 4), SLC_ERROR_ARGUMENT, "6 times");
    set->header.n_times = N_TIMES + 1;
    TEST_FAILS(write_set(set, path, &options, 4), SLC_ERROR_ARGUMENT, "8 times");
    make_set(set);
    set->header.n_baselines = 7;
    TEST_FAILS(write_set(set, path, &options, 4), SLC_ERROR_ARGUMENT, "7 baselines");
    make_set(set);
    set->header.n_rows = N_ROWS - 1;
    TEST_FAILS(write_set(set, path, &options, 4), SLC_ERROR_ARGUMENT, "claims 41");
    set->header.n_rows = N_ROWS + 1;
    TEST_FAILS(write_set(set, path, &options, 4), SLC_ERROR_ARGUMENT, "43 rows");
    make_set(set);
    set->antenna_2[11] = N_ANTENNAS + 1;
    TEST_FAILS(write_set(set, path, &options, 4), SLC_ERROR_ARGUMENT, "antennas");
    make_set(set);
    set->header.ra_rad = NAN;
    TEST_FAILS(write_set(set, path, &options, 4), SLC_ERROR_ARGUMENT, "not a number");
    make_set(set);
    set->header.n_channels = INT64_MAX;
    TEST_FAILS(write_set(set, path, &options, 4), SLC_ERROR_ARGUMENT, "channels");
    assert_int_equal(test_directory_count(directory), 0);
    test_directory_remove(directory);
    free(set);
}

typedef struct limited_job {
    char directory[TEST_PATH_BYTES];
    int64_t limit_bytes;
    int zstd_level;
} limited_job;

static slc_status write_limited(void *context) {
    const limited_job *const job = (const limited_job *)context;
    char path[TEST_PATH_BYTES];
    const slc_uvh5_options options = {job->zstd_level, 5, true};
    small_set *const set = (small_set *)test_allocate(sizeof *set);
    make_set(set);
    test_join(job->directory, "a.uvh5", path);
    test_limit_file_size(job->limit_bytes);
    const slc_status status = write_set(set, path, &options, 4);
    free(set);
    return status;
}

/* Whatever write is the one that fails: one clear error, no crash at exit, nothing left. */
static void survives_every_limit(void **state) {
    (void)state;
    limited_job job = {.limit_bytes = 0};
    test_directory_create(job.directory);
    for (job.zstd_level = 0; job.zstd_level < 2; job.zstd_level++) {
        slc_failure found = {SLC_ERROR_OUTPUT, ""};
        for (job.limit_bytes = 1; found.status != SLC_OK; job.limit_bytes += 1201) {
            found = test_child_run(write_limited, &job);
            if (found.status != SLC_OK) {
                test_child_expect(&found, SLC_ERROR_OUTPUT, "File too large");
                assert_int_equal(test_directory_count(job.directory), 0);
            }
        }
        assert_true(job.limit_bytes > 10000);
        test_directory_remove(job.directory);
        test_directory_create(job.directory);
    }
    test_directory_remove(job.directory);
}

static void gives_up_cleanly(void **state) {
    (void)state;
    char directory[TEST_PATH_BYTES];
    char path[TEST_PATH_BYTES];
    const slc_uvh5_options options = {0, 5, false};
    small_set *const set = (small_set *)test_allocate(sizeof *set);
    make_set(set);
    test_directory_create(directory);
    test_join(directory, "a.uvh5", path);
    slc_uvh5_writer *writer = NULL;
    const slc_uvh5_rows rows = rows_of(set, 0, 12);
    TEST_OK(slc_uvh5_writer_create(path, &set->header, &options, &writer));
    TEST_OK(slc_uvh5_writer_append(writer, &rows));
    slc_uvh5_writer_destroy(writer);
    slc_uvh5_writer_destroy(NULL);
    assert_int_equal(test_directory_count(directory), 0);
    test_join(directory, "missing/a.uvh5", path);
    TEST_FAILS(slc_uvh5_writer_create(path, &set->header, &options, &writer), SLC_ERROR_OUTPUT,
               "make it first");
    test_directory_remove(directory);
    free(set);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_what_it_is_given),
        cmocka_unit_test(fills_in_what_is_left_out),
        cmocka_unit_test(gives_the_same_bytes_for_any_blocks),
        cmocka_unit_test(holds_the_header_to_its_word),
        cmocka_unit_test(survives_every_limit),
        cmocka_unit_test(gives_up_cleanly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
