/* Gathers by lists of a special kind: a few indices into more data than could be read in hours, and
 * lists that are none. Data and list lie in one file. */
#include <hdf5.h>

#include "app/gather.h"
#include "io/h5_array.h"
#include "tests/support/test_uvh5.h"

static int make(void **state) {
    return test_place_create(state, "in.h5") == NULL;
}

/* The result goes to `out`, which lives as long as the options. */
static slc_gather_options options_of(const test_place *self, char out[TEST_PATH_BYTES]) {
    test_join(self->directory, "out.h5", out);
    return (slc_gather_options){.data_path = self->path,
                                .data = "/data",
                                .index_path = self->path,
                                .index = "/i",
                                .out_path = out,
                                .out = "/v",
                                .run = {.vram_bytes = 64 << 20,
                                        .ram_bytes = 128 << 20,
                                        .device = SLC_CHOOSE_HOST}};
}

/* 4 TiB in chunks that nobody has written but for three elements; the index of so many takes 64 MiB. */
static void put_much_data(const test_place *self, const hsize_t at[3], const float values[3]) {
    const hsize_t shape = (hsize_t)1 << 40;
    const hsize_t chunk = (hsize_t)1 << 18;
    const hsize_t n = 3;
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    const hid_t file = H5Fcreate(self->path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t space = H5Screate_simple(1, &shape, NULL);
    const hid_t three = H5Screate_simple(1, &n, NULL);
    assert_true(H5Pset_chunk(list, 1, &chunk) >= 0 && H5Pset_deflate(list, 1) >= 0);
    const hid_t set =
        H5Dcreate2(file, "/data", H5T_IEEE_F32LE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    assert_true(H5Sselect_elements(space, H5S_SELECT_SET, 3, at) >= 0);
    assert_true(H5Dwrite(set, H5T_NATIVE_FLOAT, three, space, H5P_DEFAULT, values) >= 0);
    assert_true(H5Dclose(set) >= 0 && H5Sclose(three) >= 0 && H5Sclose(space) >= 0);
    assert_true(H5Fclose(file) >= 0 && H5Pclose(list) >= 0);
}

static void few_indices_into_much_data(void **state) {
    const test_place *self = *state;
    const hsize_t at[3] = {((hsize_t)1 << 40) - 1, 5, ((hsize_t)1 << 39) + 12345};
    const int64_t list[5] = {(int64_t)at[2], (int64_t)at[0], 6, (int64_t)at[1], (int64_t)at[2]};
    const float expected[5] = {42, 1.5F, 0, -2, 42};
    const int64_t n = 5;
    char out[TEST_PATH_BYTES];
    put_much_data(self, at, (const float[]){1.5F, -2, 42});
    test_h5_put_i64(self->path, "/i", 1, &n, list);
    const slc_gather_options options = options_of(self, out);
    slc_gather_result result;
    char *plan = NULL;
    TEST_OK(slc_gather_run(&options, &result));
    assert_int_equal(result.sparse, SLC_SPARSE_STREAMED);
    assert_true(result.tile_share > 0 && result.tile_share < 1e-3);
    assert_true(result.report.bytes_read < INT64_C(1) << 30);
    TEST_OK(slc_gather_plan_text(&result, &plan));
    assert_non_null(strstr(plan, "of all: the rest holds no index"));
    free(plan);
    slc_source *source = NULL;
    float found[5];
    void *const dst[] = {found};
    const slc_box box = slc_box_1d(0, n);
    TEST_OK(slc_h5_array_open(&(slc_h5_array_options){.path = out, .dataset = "/v"}, &source));
    TEST_OK(slc_source_read(source, &box, dst));
    assert_memory_equal(found, expected, sizeof expected);
    slc_source_destroy(source);
}

/* A mask, as h5py stores one, would be taken for a list of zeros and ones. */
static void masks_are_refused(void **state) {
    const test_place *self = *state;
    const float data[3] = {1, 2, 3};
    const int8_t mask[3] = {0, 1, 1};
    const int64_t three = 3;
    char out[TEST_PATH_BYTES];
    slc_gather_result result;
    const hid_t boolean = H5Tenum_create(H5T_NATIVE_INT8);
    H5Tenum_insert(boolean, "FALSE", &mask[0]);
    H5Tenum_insert(boolean, "TRUE", &mask[1]);
    test_h5_put(self->path, "/data", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, 1, &three, H5P_DEFAULT,
                data);
    test_h5_put(self->path, "/i", boolean, boolean, 1, &three, H5P_DEFAULT, mask);
    H5Tclose(boolean);
    const slc_gather_options options = options_of(self, out);
    TEST_FAILS(slc_gather_run(&options, &result), SLC_ERROR_INPUT, "a mask is no list of indices");
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, make, test_place_destroy)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(few_indices_into_much_data),
        CASE(masks_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
