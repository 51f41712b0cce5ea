/* Plain sets in HDF5. */
#include <math.h>

#include "tests/support/test_uvh5.h"

enum { ROWS = 10, CHANNELS = 3 };

typedef struct place {
    char directory[TEST_PATH_BYTES], path[TEST_PATH_BYTES];
} place;

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
    place *self = test_allocate(sizeof *self);
    test_directory_create(self->directory);
    test_join(self->directory, "plain.h5", self->path);
    put_set(self->path, true, NULL);
    *state = self;
    return 0;
}

static int unmake(void **state) {
    place *self = *state;
    test_directory_remove(self->directory);
    free(self);
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
    const place *self = *state;
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
    const place *self = *state;
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
    const place *self = *state;
    slc_source *source = test_vis_open(self->path, NULL);
    const slc_vis_meta *meta = slc_vis_get_meta(source);
    assert_string_equal(meta->format, "plain HDF5");
    assert_true(meta->is_plain && meta->is_w_projected);
    assert_true(meta->ra_rad == 0.0 && meta->dec_rad == 0.0 && meta->freq_hz[0] == 0.0);
    assert_true(meta->wavelengths_per_metre[2] == 1.0);
    assert_int_equal(meta->stokes, 1);
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
    const place *self = *state;
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
    const place *self = *state;
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

static void several_files(void **state) {
    const place *self = *state;
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

#define CASE(function) cmocka_unit_test_setup_teardown(function, make, unmake)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(sign_and_channels), CASE(chunked_and_one_dimensional), CASE(metadata),
        CASE(weights),           CASE(faults_are_refused),          CASE(several_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
