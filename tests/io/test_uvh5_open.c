/* UVH5 files of every version, spelling and kind of fault, made here. */
#include <fcntl.h>
#include <math.h>
#include <sys/file.h>
#include <unistd.h>

#include "tests/support/test_uvh5.h"

enum { ROWS = 12, CHANNELS = 3, POLS = 2, SAMPLES = ROWS * CHANNELS * POLS };

static int make(void **state) {
    const test_place *self = test_place_create(state, "a.uvh5");
    test_uvh5_create(self->path, ROWS, CHANNELS, POLS);
    return 0;
}

/* The image of XX and YY: the mean of the two. Rows of autocorrelations do not occur in the set. */
static void check_values(const char *path, double scale) {
    slc_source *source = test_vis_open(path, NULL);
    test_vis vis;
    test_vis_read(source, 5, &vis);
    assert_int_equal(vis.n_rows, ROWS);
    assert_int_equal(vis.n_channels, CHANNELS);
    for (int64_t k = 0; k < ROWS * CHANNELS; k++) {
        const int64_t row = k / CHANNELS;
        const int64_t c = k % CHANNELS;
        const double real = 0.5 * (test_uvh5_real(row, c, 0) + test_uvh5_real(row, c, 1));
        const double imag = 0.5 * (test_uvh5_imag(row, c, 0) + test_uvh5_imag(row, c, 1));
        assert_true((double)vis.vis[2 * k] == (double)(float)(scale * real));
        assert_true((double)vis.vis[2 * k + 1] == (double)(float)(scale * imag));
        assert_true(vis.weight[k] == 1.0F);
    }
    assert_true(vis.uvw[3 * 7] == 8.0 && vis.uvw[3 * 7 + 1] == 14.0 && vis.uvw[3 * 7 + 2] == -7.0);
    test_vis_free(&vis);
    slc_source_destroy(source);
}

static void the_small_set_is_right(void **state) {
    const test_place *self = *state;
    check_values(self->path, 1.0);
}

/* Writes visdata again in another type, with parts of the float kind of HDF5 or integers. */
static void put_vis(const char *path, hid_t part, bool is_imaginary_first, int rank, hid_t list) {
    float numbers[SAMPLES * 2];
    for (int64_t k = 0; k < SAMPLES; k++) {
        const int64_t row = k / (CHANNELS * POLS);
        const int64_t c = k / POLS % CHANNELS;
        const float real = (float)test_uvh5_real(row, c, k % POLS);
        const float imag = (float)test_uvh5_imag(row, c, k % POLS);
        numbers[2 * k] = is_imaginary_first ? imag : real;
        numbers[2 * k + 1] = is_imaginary_first ? real : imag;
    }
    const int64_t shape3[3] = {ROWS, CHANNELS, POLS};
    const int64_t shape4[4] = {ROWS, 1, CHANNELS, POLS};
    const char *first = is_imaginary_first ? "imag" : "re";
    const char *second = is_imaginary_first ? "real" : "im";
    const hid_t file_type = test_h5_complex(part, first, second);
    const hid_t memory_type = test_h5_complex(H5T_NATIVE_FLOAT, first, second);
    test_h5_put(path, "/Data/visdata", file_type, memory_type, rank, rank == 3 ? shape3 : shape4,
                list, numbers);
    H5Tclose(file_type);
    H5Tclose(memory_type);
}

/* B25 as visdata: members of any name and order, any number type, either byte order. */
static void complex_numbers_of_any_spelling(void **state) {
    const test_place *self = *state;
    const hid_t half = H5Tcopy(H5T_IEEE_F32LE);
    H5Tset_fields(half, 15, 10, 5, 0, 10);
    H5Tset_size(half, 2);
    H5Tset_ebias(half, 15);
    const hid_t parts[] = {H5T_IEEE_F32LE, H5T_IEEE_F32BE, H5T_IEEE_F64LE, H5T_IEEE_F64BE,
                           H5T_STD_I16BE,  H5T_STD_I32LE,  H5T_STD_I64BE};
    for (int64_t k = 0; k < TEST_COUNT(parts); k++) {
        put_vis(self->path, parts[k], false, 3, H5P_DEFAULT);
        check_values(self->path, 1.0);
        put_vis(self->path, parts[k], true, 3, H5P_DEFAULT);
        check_values(self->path, 1.0);
    }
    put_vis(self->path, half, false, 3, H5P_DEFAULT);
    slc_source *source = test_vis_open(self->path, NULL);
    test_vis vis;
    test_vis_read(source, 0, &vis);
    assert_true(vis.vis[0] == 5000.0F); /* of 0 and 10000, exact in half precision */
    test_vis_free(&vis);
    slc_source_destroy(source);
    H5Tclose(half);
}

static void other_types_are_refused(void **state) {
    const test_place *self = *state;
    const int64_t shape[3] = {ROWS, CHANNELS, POLS};
    test_h5_put(self->path, "/Data/visdata", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, 3, shape,
                H5P_DEFAULT, NULL);
    TEST_FAILS(test_vis_try(self->path, NULL), SLC_ERROR_UNSUPPORTED,
               "/Data/visdata is of type f4, expected a compound of two members");
    hid_t type = H5Tcreate(H5T_COMPOUND, 12);
    H5Tinsert(type, "r", 0, H5T_IEEE_F32LE);
    H5Tinsert(type, "i", 4, H5T_IEEE_F64LE);
    test_h5_put(self->path, "/Data/visdata", type, type, 3, shape, H5P_DEFAULT, NULL);
    H5Tclose(type);
    TEST_FAILS(test_vis_try(self->path, NULL), SLC_ERROR_UNSUPPORTED, "compound {r: f4, i: f8}");
    put_vis(self->path, H5T_IEEE_F32LE, false, 3, H5P_DEFAULT);
    test_h5_put(self->path, "/Data/flags", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, 3, shape, H5P_DEFAULT,
                NULL);
    TEST_FAILS(test_vis_try(self->path, NULL), SLC_ERROR_UNSUPPORTED, "/Data/flags is of type f4");
}

/* Flags as integers, nsamples as integers and doubles. */
static void flags_and_samples_of_any_type(void **state) {
    const test_place *self = *state;
    const int64_t shape[3] = {ROWS, CHANNELS, POLS};
    int64_t numbers[SAMPLES] = {0};
    numbers[0] = 5; /* row 0, channel 0, XX */
    const hid_t flag_types[] = {H5T_STD_I8LE, H5T_STD_U16BE, H5T_STD_I64LE, H5T_STD_U32LE};
    for (int64_t k = 0; k < TEST_COUNT(flag_types); k++) {
        test_h5_put(self->path, "/Data/flags", flag_types[k], H5T_NATIVE_INT64, 3, shape,
                    H5P_DEFAULT, numbers);
        slc_source *source = test_vis_open(self->path, NULL);
        test_vis vis;
        test_vis_read(source, 0, &vis);
        assert_true(vis.weight[0] == 0.0F && vis.vis[0] == 0.0F && vis.weight[1] == 1.0F);
        assert_int_equal(vis.counts.flagged, 1);
        test_vis_free(&vis);
        slc_source_destroy(source);
    }
    for (int64_t k = 0; k < SAMPLES; k++) {
        numbers[k] = 1 + k % 2 * 3; /* XX 1, YY 4: 2 / (1 + 1/4) = 1.6 */
    }
    const hid_t sample_types[] = {H5T_STD_I32BE, H5T_IEEE_F64BE, H5T_STD_U8LE};
    for (int64_t k = 0; k < TEST_COUNT(sample_types); k++) {
        test_h5_put(self->path, "/Data/nsamples", sample_types[k], H5T_NATIVE_INT64, 3, shape,
                    H5P_DEFAULT, numbers);
        slc_source *source = test_vis_open(self->path, NULL);
        test_vis vis;
        test_vis_read(source, 0, &vis);
        assert_true(vis.weight[0] == 0.0F && vis.weight[CHANNELS * ROWS - 1] == 1.6F);
        test_vis_free(&vis);
        slc_source_destroy(source);
    }
}

/* Version 0.1: a spectral window axis in data and frequencies, one width, one integration time. */
static void reads_rank_4(void **state) {
    const test_place *self = *state;
    const int64_t shape[4] = {ROWS, 1, CHANNELS, POLS};
    const int64_t freq_shape[2] = {1, CHANNELS};
    const double freqs[CHANNELS] = {1e8, 1.01e8, 1.02e8};
    int8_t flags[SAMPLES] = {0};
    float samples[SAMPLES];
    for (int k = 0; k < SAMPLES; k++) {
        samples[k] = 1.0F;
    }
    put_vis(self->path, H5T_IEEE_F32LE, false, 4, H5P_DEFAULT);
    TEST_FAILS(test_vis_try(self->path, NULL), SLC_ERROR_INPUT, "/Data/flags has shape (12, 3, 2)");
    test_h5_put(self->path, "/Data/flags", H5T_STD_I8LE, H5T_NATIVE_INT8, 4, shape, H5P_DEFAULT,
                flags);
    test_h5_put(self->path, "/Data/nsamples", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, 4, shape,
                H5P_DEFAULT, samples);
    test_h5_put_f64(self->path, "/Header/freq_array", 2, freq_shape, freqs);
    test_h5_put_number(self->path, "/Header/integration_time", 4.0);
    test_h5_remove(self->path, "/Header/version");
    check_values(self->path, 1.0);
    const slc_vis_options by_time = {.weight_by_time = true};
    slc_source *source = test_vis_open(self->path, &by_time);
    test_vis vis;
    test_vis_read(source, 0, &vis);
    assert_true(vis.weight[4] == 4.0F);
    assert_string_equal(slc_vis_get_meta(source)->format, "UVH5 0.x");
    test_vis_free(&vis);
    slc_source_destroy(source);
}

/* Two windows of three channels each, rank 4: six channels in a row, ranges across the border. */
static void reads_spectral_windows(void **state) {
    const test_place *self = *state;
    enum { WINDOWS = 2, N = ROWS * WINDOWS * CHANNELS };
    const int64_t shape[4] = {ROWS, WINDOWS, CHANNELS, 1};
    const int64_t freq_shape[2] = {WINDOWS, CHANNELS};
    const double freqs[6] = {1e8, 1.01e8, 1.02e8, 2e8, 2.01e8, 2.02e8};
    const int64_t one = 1;
    const int64_t code = -5;
    float vis_in[N * 2];
    float samples[N];
    int8_t flags[N] = {0};
    for (int k = 0; k < N; k++) {
        vis_in[2 * k] = (float)k;
        vis_in[2 * k + 1] = (float)-k;
        samples[k] = 1.0F;
    }
    const hid_t type = test_h5_complex(H5T_NATIVE_FLOAT, "r", "i");
    test_h5_put(self->path, "/Data/visdata", type, type, 4, shape, H5P_DEFAULT, vis_in);
    H5Tclose(type);
    test_h5_put(self->path, "/Data/flags", H5T_STD_I8LE, H5T_NATIVE_INT8, 4, shape, H5P_DEFAULT,
                flags);
    test_h5_put(self->path, "/Data/nsamples", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, 4, shape,
                H5P_DEFAULT, samples);
    test_h5_put_f64(self->path, "/Header/freq_array", 2, freq_shape, freqs);
    test_h5_put_integer(self->path, "/Header/Nspws", 2);
    test_h5_put_integer(self->path, "/Header/Npols", 1);
    test_h5_put_i64(self->path, "/Header/polarization_array", 1, &one, &code);
    for (int64_t begin = 0; begin < 6; begin++) {
        for (int64_t end = begin + 1; end <= 6; end++) {
            const slc_vis_options options = {.channel_begin = begin, .channel_end = end};
            slc_source *source = test_vis_open(self->path, &options);
            test_vis vis;
            test_vis_read(source, 0, &vis);
            assert_int_equal(vis.n_channels, end - begin);
            assert_true(slc_vis_get_meta(source)->freq_hz[0] == freqs[begin]);
            for (int64_t k = 0; k < ROWS * (end - begin); k++) {
                const int64_t at = k / (end - begin) * 6 + begin + k % (end - begin);
                assert_true(vis.vis[2 * k] == (float)at);
            }
            test_vis_free(&vis);
            slc_source_destroy(source);
        }
    }
    const double widths[6] = {1e6, 1e6, 1e6, 2e6, 2e6, 2e6};
    test_h5_put_f64(self->path, "/Header/channel_width", 2, freq_shape, widths);
    TEST_FAILS(test_vis_try(self->path, NULL), SLC_ERROR_UNSUPPORTED, "different channel widths");
}

/* Each fault: a dataset put in place, and what the message must say. */
static void contradictions_are_refused(void **state) {
    const test_place *self = *state;
    const int64_t four[3] = {ROWS + 1, 3, 2};
    const double numbers[64] = {0};
    static const struct {
        const char *name;
        int rank;
        int64_t shape[2];
        const char *words;
    } faults[] = {
        {"/Header/uvw_array", 2, {11, 3}, "(11, 3), expected (Nblts, 3) = (12, 3)"},
        {"/Header/uvw_array", 2, {12, 2}, "(12, 2), expected (Nblts, 3) = (12, 3)"},
        {"/Header/time_array", 1, {13, 0}, "(13), expected (Nblts) = (12)"},
        {"/Header/integration_time", 1, {3, 0}, "(3), expected (Nblts) = (12)"},
        {"/Header/lst_array", 1, {11, 0}, "(11), expected (Nblts) = (12)"},
        {"/Header/freq_array", 1, {4, 0}, "holds 4 numbers"},
        {"/Header/channel_width", 1, {2, 0}, "holds 2 numbers, expected 1 or Nfreqs = 3"},
        {"/Header/polarization_array", 1, {3, 0}, "holds 3 numbers, expected Npols = 2"},
        {"/Header/ant_1_array", 1, {12, 0}, "is of type f8, expected an integer"},
        {"/Header/phase_center_id_array", 1, {12, 0}, "is of type f8, expected an integer"},
    };
    for (int64_t k = 0; k < TEST_COUNT(faults); k++) {
        char path[TEST_PATH_BYTES];
        test_join(self->directory, "b.uvh5", path);
        test_uvh5_create(path, ROWS, CHANNELS, POLS);
        test_h5_put_f64(path, faults[k].name, faults[k].rank, faults[k].shape, numbers);
        TEST_FAILS(test_vis_try(path, NULL),
                   strstr(faults[k].words, "type") ? SLC_ERROR_UNSUPPORTED : SLC_ERROR_INPUT,
                   faults[k].words);
        assert_non_null(strstr(slc_status_message(), path));
        assert_non_null(strstr(slc_status_message(), faults[k].name));
        assert_int_equal(remove(path), 0);
    }
    test_h5_put(self->path, "/Data/nsamples", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, 3, four,
                H5P_DEFAULT, NULL);
    TEST_FAILS(test_vis_try(self->path, NULL), SLC_ERROR_INPUT, "(13, 3, 2)");
    test_h5_put_integer(self->path, "/Header/Nblts", 11);
    TEST_FAILS(test_vis_try(self->path, NULL), SLC_ERROR_INPUT,
               "/Data/visdata has shape (12, 3, 2), expected (Nblts, Nfreqs, Npols) = (11, 3, 2)");
}

static void missing_things_are_named(void **state) {
    const test_place *self = *state;
    static const char *const needed[] = {
        "/Data/visdata",      "/Data/flags",           "/Header/Nblts",
        "/Header/freq_array", "/Header/uvw_array",     "/Header/ant_2_array",
        "/Header/phase_type", "/Header/channel_width", "/Header/polarization_array"};
    for (int64_t k = 0; k < TEST_COUNT(needed); k++) {
        char path[TEST_PATH_BYTES];
        test_join(self->directory, "b.uvh5", path);
        test_uvh5_create(path, ROWS, CHANNELS, POLS);
        test_h5_remove(path, needed[k]);
        const slc_status status = test_vis_try(path, NULL);
        assert_true(status == SLC_ERROR_INPUT || status == SLC_ERROR_UNSUPPORTED);
        assert_non_null(strstr(slc_status_message(), needed[k]));
        assert_non_null(strstr(slc_status_message(), "missing"));
        assert_int_equal(remove(path), 0);
    }
    test_h5_remove(self->path, "/Data/nsamples");
    TEST_FAILS(test_vis_try(self->path, NULL), SLC_ERROR_INPUT, "--unit-weights");
    const slc_vis_options unit = {.use_unit_weights = true};
    TEST_OK(test_vis_try(self->path, &unit));
    static const char *const optional[] = {"/Header/time_array",     "/Header/integration_time",
                                           "/Header/telescope_name", "/Header/Nspws",
                                           "/Header/object_name",    "/Header/vis_units"};
    for (int64_t k = 0; k < TEST_COUNT(optional); k++) {
        test_h5_remove(self->path, optional[k]);
        TEST_OK(test_vis_try(self->path, &unit));
    }
}

/* A dataset without elements has a type all the same, which may be no number. */
static void null_arrays_of_text_are_refused(void **state) {
    const test_place *self = *state;
    const hid_t file = H5Fopen(self->path, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(file >= 0 && H5Ldelete(file, "/Header/freq_array", H5P_DEFAULT) >= 0);
    const hid_t space = H5Screate(H5S_NULL);
    const hid_t set = H5Dcreate2(file, "/Header/freq_array", H5T_C_S1, space, H5P_DEFAULT,
                                 H5P_DEFAULT, H5P_DEFAULT);
    assert_true(set >= 0);
    H5Dclose(set);
    H5Sclose(space);
    H5Fclose(file);
    TEST_FAILS(test_vis_try(self->path, NULL), SLC_ERROR_INPUT,
               "/Header/freq_array holds 0 numbers");
}

static void versions_are_known_or_refused(void **state) {
    const test_place *self = *state;
    static const char *const good[] = {"0.1", "1.0", "1.1", "1.2", "1.9"};
    static const char *const bad[] = {"2.0", "x", "-1"};
    for (int64_t k = 0; k < TEST_COUNT(good); k++) {
        test_h5_put_text(self->path, "/Header/version", good[k]);
        TEST_OK(test_vis_try(self->path, NULL));
    }
    for (int64_t k = 0; k < TEST_COUNT(bad); k++) {
        test_h5_put_text(self->path, "/Header/version", bad[k]);
        TEST_FAILS(test_vis_try(self->path, NULL), SLC_ERROR_UNSUPPORTED, bad[k]);
    }
    test_h5_put_text(self->path, "/Header/version", "1.0");
    test_h5_put_text(self->path, "/Header/pol_convention", "median");
    TEST_FAILS(test_vis_try(self->path, NULL), SLC_ERROR_UNSUPPORTED, "median");
}

/* One array of rows or channels at a time, of which the last number is one that cannot be. */
static void numbers_that_cannot_be_are_refused(void **state) {
    const test_place *self = *state;
    static const struct {
        const char *name;
        int64_t n;
        double good, bad;
        const char *expected;
    } cases[] = {
        {"/Header/freq_array", CHANNELS, 1.4e8, 1e300,
         "/Header/freq_array is 1e+300 in channel 2, expected a frequency in Hz, above 0 and below "
         "10^15"},
        {"/Header/freq_array", CHANNELS, 1.4e8, 1e15, "is 1e+15 in channel 2"},
        {"/Header/freq_array", CHANNELS, 1.4e8, -1.4e8, "is -1.4e+08 in channel 2"},
        {"/Header/freq_array", CHANNELS, 1.4e8, (double)NAN, "is nan in channel 2"},
        {"/Header/channel_width", CHANNELS, 1e6, 1e30, "/Header/channel_width is 1e+30"},
        {"/Header/time_array", ROWS, 2458000.5, 1e300, "row 11 is 1.0000000000000001e+300"},
        {"/Header/time_array", ROWS, 2458000.5, 1e9,
         "/Header/time_array: row 11 is 1000000000, expected a Julian date of the years 1 to 9999"},
        {"/Header/time_array", ROWS, 2458000.5, -1.0, "row 11 is -1"},
        {"/Header/lst_array", ROWS, 6.0, 1e300, "/Header/lst_array: row 11 is 1e+300"},
        {"/Header/phase_center_ra", 1, 0, 1e300, "phase_center_ra = 1e+300"},
        {"/Header/phase_center_ra", 1, 0, 318.5, "phase_center_ra = 318.5"},
        {"/Header/phase_center_ra", 1, 0, (double)INFINITY, "phase_center_ra = inf"},
        {"/Header/longitude", 1, 0, 1e300, "/Header/longitude is 1e+300"},
    };
    for (int64_t k = 0; k < TEST_COUNT(cases); k++) {
        char path[TEST_PATH_BYTES];
        double numbers[ROWS];
        for (int64_t i = 0; i < cases[k].n; i++) {
            numbers[i] = i + 1 < cases[k].n ? cases[k].good : cases[k].bad;
        }
        test_join(self->directory, "b.uvh5", path);
        test_uvh5_create(path, ROWS, CHANNELS, POLS);
        if (cases[k].n == 1) {
            test_h5_put_number(path, cases[k].name, cases[k].bad);
        } else {
            test_h5_put_f64(path, cases[k].name, 1, &cases[k].n, numbers);
        }
        TEST_FAILS(test_vis_try(path, NULL), SLC_ERROR_INPUT, cases[k].expected);
        assert_int_equal(remove(path), 0);
    }
    double none[ROWS] = {0.0};
    const int64_t n = ROWS;
    test_h5_put_f64(self->path, "/Header/time_array", 1, &n, none);
    TEST_OK(test_vis_try(self->path, NULL));
}

static void an_unknown_x_orientation_is_refused(void **state) {
    const test_place *self = *state;
    static const char *const good[] = {"east", "NORTH", "e", "N", ""};
    static const char *const bad[] = {"up", "west", " east"};
    for (int64_t k = 0; k < TEST_COUNT(good); k++) {
        test_h5_put_text(self->path, "/Header/x_orientation", good[k]);
        TEST_OK(test_vis_try(self->path, NULL));
    }
    for (int64_t k = 0; k < TEST_COUNT(bad); k++) {
        test_h5_put_text(self->path, "/Header/x_orientation", bad[k]);
        TEST_FAILS(test_vis_try(self->path, NULL), SLC_ERROR_UNSUPPORTED, bad[k]);
    }
}

static void rows_that_are_not_finite_are_dropped(void **state) {
    const test_place *self = *state;
    double uvw[ROWS * 3];
    const int64_t shape[2] = {ROWS, 3};
    for (int k = 0; k < ROWS * 3; k++) {
        uvw[k] = k;
    }
    uvw[3 * 2 + 1] = (double)NAN;
    uvw[3 * 5 + 2] = (double)INFINITY;
    test_h5_put_f64(self->path, "/Header/uvw_array", 2, shape, uvw);
    slc_source *source = test_vis_open(self->path, NULL);
    test_vis vis;
    test_vis_read(source, 0, &vis);
    assert_int_equal(vis.counts.nonfinite, 2 * CHANNELS);
    assert_true(vis.weight[2 * CHANNELS] == 0.0F && vis.weight[5 * CHANNELS + 2] == 0.0F);
    assert_true(vis.uvw[3 * 2] == 0.0 && vis.uvw[3 * 2 + 1] == 0.0 && vis.uvw[3 * 5 + 2] == 0.0);
    assert_true(vis.weight[3 * CHANNELS] == 1.0F);
    test_vis_free(&vis);
    slc_source_destroy(source);
}

/* Chunks with zstd behind shuffle and fletcher32 in every place. */
static void compressed_chunks_are_read(void **state) {
    const test_place *self = *state;
    const hsize_t chunk[3] = {5, 2, 1};
    const unsigned level[1] = {3};
    slc_source *source = test_vis_open(self->path, NULL); /* brings the filter into the process */
    slc_source_destroy(source);
    for (int order = 0; order < 3; order++) {
        const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
        H5Pset_chunk(list, 3, chunk);
        if (order == 1) {
            H5Pset_fletcher32(list);
        }
        H5Pset_shuffle(list);
        H5Pset_filter(list, 32015, H5Z_FLAG_MANDATORY, 1, level);
        if (order == 2) {
            H5Pset_fletcher32(list);
        }
        put_vis(self->path, H5T_IEEE_F32LE, false, 3, list);
        H5Pclose(list);
        check_values(self->path, 1.0);
    }
}

/* B35: open for writing elsewhere, which is the exclusive lock that HDF5 itself takes. */
static void a_file_in_use_is_refused(void **state) {
    const test_place *self = *state;
    const int descriptor = open(self->path, O_RDONLY);
    assert_true(descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) == 0);
    TEST_FAILS(test_vis_try(self->path, NULL), SLC_ERROR_INPUT,
               "is open for writing in another program");
    close(descriptor);
    TEST_OK(test_vis_try(self->path, NULL));
}

static void a_change_during_the_run_is_noticed(void **state) {
    const test_place *self = *state;
    slc_source *source = test_vis_open(self->path, NULL);
    TEST_OK(slc_source_finish(source));
    const int descriptor = open(self->path, O_WRONLY | O_APPEND);
    assert_true(descriptor >= 0 && write(descriptor, "x", 1) == 1);
    close(descriptor);
    TEST_FAILS(slc_source_finish(source), SLC_ERROR_INPUT, "changed while it was read");
    slc_source_destroy(source);
}

/* Codes that are none, and one that is there twice: the file is wrong, not the user. */
static void wrong_polarisations_are_refused(void **state) {
    const test_place *self = *state;
    const int64_t n = POLS;
    static const struct {
        double second;
        const char *words;
    } cases[] = {
        {(double)NAN, "number 1 is nan"},
        {0x1p62, "is 4.6116860184273879e+18"},
        {-6.5, "is -6.5"},
        {0.0, "number 1 is 0"},
        {5.0, "from 1 (I) to 4 (V)"},
        {-5.0, "-5 (XX) is there twice"},
    };
    for (int64_t k = 0; k < TEST_COUNT(cases); k++) {
        double codes[POLS] = {-5.0};
        codes[1] = cases[k].second;
        test_h5_put_f64(self->path, "/Header/polarization_array", 1, &n, codes);
        TEST_FAILS(test_vis_try(self->path, NULL), SLC_ERROR_INPUT, cases[k].words);
    }
}

/* A row further out than any antenna: refused where it counts, with its number. */
static void impossible_baselines_are_refused(void **state) {
    const test_place *self = *state;
    const int64_t shape[2] = {ROWS, 3};
    double uvw[3 * ROWS] = {0};
    double found[3 * ROWS];
    float weight[ROWS * CHANNELS];
    void *dst[SLC_VIS_N_FIELDS] = {[SLC_VIS_UVW] = found, [SLC_VIS_WEIGHT] = weight};
    const slc_box rows = slc_box_1d(1, ROWS - 1);
    slc_vis_counts counts;
    static const double far[] = {1.1e9, -1e300, 1e12};
    for (int64_t k = 0; k < TEST_COUNT(far); k++) {
        uvw[3 * 2 + k] = far[k];
        test_h5_put_f64(self->path, "/Header/uvw_array", 2, shape, uvw);
        slc_source *source = test_vis_open(self->path, NULL);
        TEST_FAILS(slc_vis_read_counted(source, &rows, dst, &counts), SLC_ERROR_INPUT,
                   "/Header/uvw_array: row 2 is (");
        slc_source_destroy(source);
        uvw[3 * 2 + k] = copysign(1e9, far[k]); /* as far as it goes */
        test_h5_put_f64(self->path, "/Header/uvw_array", 2, shape, uvw);
        source = test_vis_open(self->path, NULL);
        TEST_OK(slc_vis_read_counted(source, &rows, dst, &counts));
        assert_true(found[3 + k] == uvw[3 * 2 + k]);
        slc_source_destroy(source);
        uvw[3 * 2 + k] = 0.0;
    }
}

static void an_empty_set_is_normal(void **state) {
    const test_place *self = *state;
    char path[TEST_PATH_BYTES];
    test_join(self->directory, "none.uvh5", path);
    test_uvh5_create(path, 0, CHANNELS, POLS);
    slc_source *source = test_vis_open(path, NULL);
    test_vis vis;
    test_vis_read(source, 0, &vis);
    assert_int_equal(vis.n_rows, 0);
    assert_int_equal(slc_vis_get_meta(source)->n_times, 0);
    test_vis_free(&vis);
    slc_source_destroy(source);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, make, test_place_destroy)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(the_small_set_is_right),
        CASE(complex_numbers_of_any_spelling),
        CASE(other_types_are_refused),
        CASE(flags_and_samples_of_any_type),
        CASE(reads_rank_4),
        CASE(reads_spectral_windows),
        CASE(contradictions_are_refused),
        CASE(missing_things_are_named),
        CASE(null_arrays_of_text_are_refused),
        CASE(versions_are_known_or_refused),
        CASE(numbers_that_cannot_be_are_refused),
        CASE(an_unknown_x_orientation_is_refused),
        CASE(rows_that_are_not_finite_are_dropped),
        CASE(compressed_chunks_are_read),
        CASE(a_file_in_use_is_refused),
        CASE(a_change_during_the_run_is_noticed),
        CASE(wrong_polarisations_are_refused),
        CASE(impossible_baselines_are_refused),
        CASE(an_empty_set_is_normal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
