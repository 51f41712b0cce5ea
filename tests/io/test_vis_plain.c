/* Plain sets in HDF5. */
#include <math.h>

#include "tests/support/test_uvh5.h"

enum { ROWS = 10, CHANNELS = 3 };

/* u = k, v = 2 k, w = 3 k; vis (k, c) = (k + 100 c, -k). */
static void put_set(const char *path, bool has_channels, const hsize_t *chunk) {
    double column[ROWS];
    float vis[ROWS * CHANNELS * 2];
    const int64_t n_channels = has_channels ? CHANNELS : 1;
    const int64_t shape[2] = {ROWS, CHANNELS};
    static const char *const names[] = {"/u", "/v", "/w"};
    for (int d = 0; d < 3; d++) {
        for (int k = 0; k < ROWS; k++) {
            column[k] = (d + 1) * k;
        }
        test_h5_put_f64(path, names[d], 1, shape, column);
    }
    for (int64_t k = 0; k < ROWS * n_channels; k++) {
        vis[2 * k] = (float)(k / n_channels + 100 * (k % n_channels));
        vis[2 * k + 1] = (float)-(k / n_channels);
    }
    const hid_t type = test_h5_complex(H5T_NATIVE_FLOAT, "r", "i");
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    if (chunk != NULL) {
        H5Pset_chunk(list, has_channels ? 2 : 1, chunk);
        H5Pset_deflate(list, 1);
    }
    test_h5_put(path, "/vis", type, type, has_channels ? 2 : 1, shape, list, vis);
    H5Pclose(list);
    H5Tclose(type);
}

static int make(void **state) {
    const test_place *self = test_place_create(state, "plain.h5");
    put_set(self->path, true, NULL);
    return 0;
}

/* `sign` is what u, v and w are multiplied with. */
static void check_set(const char *path, const slc_vis_options *options, int64_t begin, int64_t n,
                      double sign) {
    static const int64_t boxes[] = {0, 1, 3};
    for (int64_t b = 0; b < TEST_COUNT(boxes); b++) {
        slc_source *source = test_vis_open(path, options);
        test_vis vis;
        test_vis_read(source, boxes[b], &vis);
        assert_int_equal(vis.n_rows, ROWS);
        assert_int_equal(vis.n_channels, n);
        for (int64_t k = 0; k < ROWS; k++) {
            assert_true(vis.uvw[3 * k] == sign * (double)k);
            assert_true(vis.uvw[3 * k + 2] == sign * 3.0 * (double)k);
            for (int64_t c = 0; c < n; c++) {
                assert_true(vis.vis[2 * (k * n + c)] == (float)(k + 100 * (begin + c)));
                assert_true(vis.vis[2 * (k * n + c) + 1] == (float)-k);
                assert_true(vis.weight[k * n + c] == 1.0F);
            }
        }
        test_vis_free(&vis);
        slc_source_destroy(source);
    }
}

/* Sluice's sum has exp(-2 pi i ...), a plain set's +, so that u, v and w change sign by default. */
static void sign_and_channels(void **state) {
    const test_place *self = *state;
    const slc_vis_options two = {.channel_begin = 1};
    check_set(self->path, NULL, 0, 3, -1.0);
    check_set(self->path, &two, 1, 2, -1.0);
    test_h5_put_attribute(self->path, "sign", -1.0);
    check_set(self->path, NULL, 0, 3, 1.0);
    test_h5_put_attribute(self->path, "sign", 1.0);
    check_set(self->path, NULL, 0, 3, -1.0);
    test_h5_put_attribute(self->path, "sign", 2.0);
    TEST_FAILS(test_vis_try(self->path, NULL), SLC_ERROR_INPUT, "sign is 2");
}

static void chunked_and_one_dimensional(void **state) {
    const test_place *self = *state;
    const hsize_t chunk[2] = {4, 2};
    put_set(self->path, true, chunk);
    check_set(self->path, NULL, 0, 3, -1.0);
    put_set(self->path, false, chunk);
    check_set(self->path, NULL, 0, 1, -1.0);
    slc_source *source = test_vis_open(self->path, NULL);
    assert_int_equal(slc_source_next_unit(source, 0, 5), 8);
    test_vis vis;
    test_vis_read(source, 0, &vis);
    assert_int_equal(source->counters.chunks_decoded, 3);
    test_vis_free(&vis);
    slc_source_destroy(source);
}

static void metadata(void **state) {
    const test_place *self = *state;
    slc_source *source = test_vis_open(self->path, NULL);
    const slc_vis_meta *meta = slc_vis_get_meta(source);
    assert_string_equal(meta->format, "plain HDF5");
    assert_true(meta->is_plain && meta->is_w_projected);
    assert_true(meta->ra_rad == 0.0 && meta->dec_rad == 0.0 && meta->freq_hz[0] == 0.0);
    assert_true(meta->wavelengths_per_metre[2] == 1.0);
    assert_int_equal(meta->imaged[0].stokes, 1);
    assert_true(meta->start_jd_utc == 0.0);
    slc_source_destroy(source);
    test_h5_put_attribute(self->path, "ra_rad", 0.5);
    TEST_FAILS(test_vis_try(self->path, NULL), SLC_ERROR_INPUT, "both or none");
    test_h5_put_attribute(self->path, "dec_rad", 0.25);
    test_h5_put_attribute(self->path, "freq_hz", 2e9);
    source = test_vis_open(self->path, NULL);
    meta = slc_vis_get_meta(source);
    assert_true(meta->ra_rad == 0.5 && meta->dec_rad == 0.25 && meta->freq_hz[1] == 2e9);
    slc_source_destroy(source);
}

static void weights(void **state) {
    const test_place *self = *state;
    const int64_t shape[2] = {ROWS, CHANNELS};
    double weight[ROWS * CHANNELS];
    for (int k = 0; k < ROWS * CHANNELS; k++) {
        weight[k] = k;
    }
    weight[4] = -1.0;
    weight[5] = (double)NAN;
    test_h5_put_f64(self->path, "/weight", 2, shape, weight);
    slc_source *source = test_vis_open(self->path, NULL);
    test_vis vis;
    test_vis_read(source, 0, &vis);
    assert_true(vis.weight[7] == 7.0F && vis.weight[4] == 0.0F && vis.weight[5] == 0.0F);
    assert_int_equal(vis.counts.zero_weight, 3);
    assert_int_equal(vis.counts.bad_weight, 2);
    assert_int_equal(vis.counts.total, ROWS * CHANNELS);
    test_vis_free(&vis);
    slc_source_destroy(source);
    test_h5_put_f64(self->path, "/weight", 1, shape, weight);
    source = test_vis_open(self->path, NULL);
    test_vis_read(source, 0, &vis);
    assert_true(vis.weight[3 * CHANNELS] == 3.0F && vis.weight[3 * CHANNELS + 2] == 3.0F);
    test_vis_free(&vis);
    slc_source_destroy(source);
    const slc_vis_options unit = {.use_unit_weights = true};
    source = test_vis_open(self->path, &unit);
    test_vis_read(source, 0, &vis);
    assert_true(vis.weight[4 * CHANNELS] == 1.0F);
    test_vis_free(&vis);
    slc_source_destroy(source);
}

static void faults_are_refused(void **state) {
    const test_place *self = *state;
    const int64_t nine = 9;
    const int64_t ten = 10;
    const double column[ROWS] = {0};
    const slc_vis_options by_time = {.weight_by_time = true};
    TEST_FAILS(test_vis_try(self->path, &by_time), SLC_ERROR_ARGUMENT, "--weight-by-time");
    test_h5_put_f64(self->path, "/v", 1, &nine, column);
    TEST_FAILS(test_vis_try(self->path, NULL), SLC_ERROR_INPUT, "/v has 9 rows");
    test_h5_put_i64(self->path, "/v", 1, &ten, (const int64_t[ROWS]){0});
    TEST_OK(test_vis_try(self->path, NULL));
    test_h5_remove(self->path, "/w");
    TEST_FAILS(test_vis_try(self->path, NULL), SLC_ERROR_INPUT, "w is missing");
    test_h5_put_f64(self->path, "/w", 1, &ten, column);
    test_h5_put_f64(self->path, "/vis", 1, &ten, column);
    TEST_FAILS(test_vis_try(self->path, NULL), SLC_ERROR_UNSUPPORTED, "expected a complex number");
}

typedef struct kept {
    int n;
    char text[SLC_MESSAGE_BYTES];
} kept;

static void keep_warning(void *context, slc_log_level level, const char *text) {
    kept *self = context;
    if (level == SLC_LOG_WARNING) {
        self->n++;
        (void)snprintf(self->text, sizeof self->text, "%s", text);
    }
}

/* Opens the set, counts the warnings and keeps the last. */
static void warnings_of(const char *path, kept *out) {
    slc_log log;
    *out = (kept){0, ""};
    slc_log_init(&log, SLC_LOG_WARNING, keep_warning, out);
    const slc_vis_options options = {.log = &log};
    TEST_OK(test_vis_try(path, &options));
    slc_log_destroy(&log);
}

static void flags_count(void **state) {
    const test_place *self = *state;
    const int64_t shape[2] = {ROWS, CHANNELS};
    int64_t flags[ROWS * CHANNELS] = {0};
    kept warnings;
    flags[4] = 1;
    flags[ROWS * CHANNELS - 1] = -1;
    test_h5_put_i64(self->path, "/flags", 2, shape, flags);
    warnings_of(self->path, &warnings);
    assert_int_equal(warnings.n, 0);
    slc_source *source = test_vis_open(self->path, NULL);
    test_vis vis;
    test_vis_read(source, 3, &vis);
    for (int64_t k = 0; k < ROWS * CHANNELS; k++) {
        const bool is_flagged = k == 4 || k == ROWS * CHANNELS - 1;
        assert_true(vis.weight[k] == (is_flagged ? 0.0F : 1.0F));
    }
    assert_int_equal(vis.counts.flagged, 2);
    test_vis_free(&vis);
    slc_vis_dataset sets[8];
    int n = 0;
    TEST_OK(slc_vis_describe(source, 8, sets, &n));
    assert_int_equal(n, 5);
    assert_string_equal(sets[4].name, "/flags");
    slc_source_destroy(source);
    /* Not for each row alone, and not as fractions. */
    test_h5_put_i64(self->path, "/flags", 1, shape, flags);
    TEST_FAILS(test_vis_try(self->path, NULL), SLC_ERROR_INPUT, "flags as the visibilities");
    test_h5_put_f64(self->path, "/flags", 2, shape, (const double[ROWS * CHANNELS]){0});
    TEST_FAILS(test_vis_try(self->path, NULL), SLC_ERROR_UNSUPPORTED, "expected a boolean");
}

/* What nobody reads is named: a member that was meant to count would otherwise be missed in silence. */
static void ignored_members_are_named(void **state) {
    const test_place *self = *state;
    const int64_t one = 1;
    const double value = 1.0;
    kept warnings;
    warnings_of(self->path, &warnings);
    assert_int_equal(warnings.n, 0);
    test_h5_put_f64(self->path, "/weights", 1, &one, &value);
    test_h5_put_f64(self->path, "/freq", 1, &one, &value);
    warnings_of(self->path, &warnings);
    assert_int_equal(warnings.n, 1);
    assert_non_null(strstr(warnings.text, "ignored: freq, weights;"));
    for (int k = 0; k < 40; k++) {
        char name[16];
        (void)snprintf(name, sizeof name, "/a%d", k);
        test_h5_put_f64(self->path, name, 1, &one, &value);
    }
    warnings_of(self->path, &warnings);
    assert_non_null(strstr(warnings.text, ", ...;"));
}

/* The visibilities are called vis or data; a file that has both is read by vis. */
static void data_is_another_name_of_vis(void **state) {
    const test_place *self = *state;
    kept warnings;
    test_h5_rename(self->path, "/vis", "/data");
    check_set(self->path, NULL, 0, 3, -1.0);
    warnings_of(self->path, &warnings);
    assert_int_equal(warnings.n, 0);
    put_set(self->path, false, NULL);
    check_set(self->path, NULL, 0, 1, -1.0);
    warnings_of(self->path, &warnings);
    assert_non_null(strstr(warnings.text, "ignored: data;"));
    test_h5_remove(self->path, "/vis");
    test_h5_remove(self->path, "/data");
    TEST_FAILS(test_vis_try(self->path, NULL), SLC_ERROR_INPUT, "vis (or data) is missing");
}

static void an_empty_set_is_named(void **state) {
    const test_place *self = *state;
    const int64_t shape[2] = {0, CHANNELS};
    static const char *const names[] = {"/u", "/v", "/w"};
    for (int d = 0; d < 3; d++) {
        test_h5_put_f64(self->path, names[d], 1, shape, NULL);
    }
    const hid_t type = test_h5_complex(H5T_NATIVE_FLOAT, "r", "i");
    test_h5_put(self->path, "/vis", type, type, 2, shape, H5P_DEFAULT, NULL);
    H5Tclose(type);
    TEST_FAILS(test_vis_try(self->path, NULL), SLC_ERROR_INPUT, "plain.h5: the set is empty");
}

/* u in metres times 10^12, or damaged: refused where the row counts, and 0 where it does not. */
static void impossible_baselines_are_refused(void **state) {
    const test_place *self = *state;
    const int64_t n_rows = ROWS;
    const int64_t shape[2] = {ROWS, CHANNELS};
    double column[ROWS] = {0};
    slc_source *source = NULL;
    test_vis vis;
    column[7] = -1e12; /* as far as it goes */
    test_h5_put_f64(self->path, "/v", 1, &n_rows, column);
    source = test_vis_open(self->path, NULL);
    test_vis_read(source, 0, &vis);
    assert_true(vis.uvw[3 * 7 + 1] == 1e12);
    test_vis_free(&vis);
    slc_source_destroy(source);
    column[7] = 1.1e12;
    test_h5_put_f64(self->path, "/v", 1, &n_rows, column);
    source = test_vis_open(self->path, NULL);
    double uvw[3 * ROWS];
    float weight[ROWS * CHANNELS];
    void *dst[SLC_VIS_N_FIELDS] = {[SLC_VIS_UVW] = uvw, [SLC_VIS_WEIGHT] = weight};
    const slc_box rows = slc_box_1d(3, ROWS - 3);
    slc_vis_counts counts;
    TEST_FAILS(slc_vis_read_counted(source, &rows, dst, &counts), SLC_ERROR_INPUT,
               "row 7: (u, v, w) is (7, 1.1e+12, 21)");
    slc_source_destroy(source);
    int64_t flags[ROWS * CHANNELS] = {0};
    for (int c = 0; c < CHANNELS; c++) {
        flags[7 * CHANNELS + c] = 1;
    }
    test_h5_put_i64(self->path, "/flags", 2, shape, flags);
    source = test_vis_open(self->path, NULL);
    test_vis_read(source, 0, &vis);
    assert_true(vis.uvw[3 * 7 + 1] == 0.0 && vis.weight[7 * CHANNELS] == 0.0F);
    assert_true(vis.uvw[3 * 8] == -8.0);
    test_vis_free(&vis);
    slc_source_destroy(source);
}

static void several_files(void **state) {
    const test_place *self = *state;
    char second[TEST_PATH_BYTES];
    test_join(self->directory, "second.h5", second);
    put_set(second, true, NULL);
    const char *paths[] = {self->path, second};
    const slc_vis_options none = {0};
    slc_source *source = NULL;
    TEST_OK(slc_vis_open(paths, 2, &none, &source));
    assert_int_equal(slc_vis_get_meta(source)->n_rows, 2 * ROWS);
    slc_source_destroy(source);
    put_set(second, false, NULL);
    TEST_FAILS(slc_vis_open(paths, 2, &none, &source), SLC_ERROR_INPUT, "number of channels");
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, make, test_place_destroy)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(sign_and_channels),
        CASE(chunked_and_one_dimensional),
        CASE(metadata),
        CASE(weights),
        CASE(flags_count),
        CASE(ignored_members_are_named),
        CASE(data_is_another_name_of_vis),
        CASE(an_empty_set_is_named),
        CASE(impossible_baselines_are_refused),
        CASE(faults_are_refused),
        CASE(several_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
