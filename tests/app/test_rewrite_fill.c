/* The fill value of an array goes along where the result's type has the same number. */
#include <hdf5.h>
#include <math.h>

#include "app/rewrite.h"
#include "tests/support/test_fixture.h"
#include "tests/support/test_uvh5.h"

static void put_data(const char *path, double fill) {
    const double values[4] = {1, 2, 3, 4};
    const int64_t shape = 4;
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    assert_true(H5Pset_fill_value(list, H5T_NATIVE_DOUBLE, &fill) >= 0);
    test_h5_put(path, "/x", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 1, &shape, list, values);
    assert_true(H5Pclose(list) >= 0);
}

/* Whether the result has one. */
static bool find_fill(const char *path, double *fill) {
    H5D_fill_value_t kind = H5D_FILL_VALUE_ERROR;
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t set = H5Dopen2(file, "/x", H5P_DEFAULT);
    const hid_t list = H5Dget_create_plist(set);
    assert_true(H5Pfill_value_defined(list, &kind) >= 0);
    if (kind == H5D_FILL_VALUE_USER_DEFINED) {
        assert_true(H5Pget_fill_value(list, H5T_NATIVE_DOUBLE, fill) >= 0);
    }
    assert_true(H5Pclose(list) >= 0 && H5Dclose(set) >= 0 && H5Fclose(file) >= 0);
    return kind == H5D_FILL_VALUE_USER_DEFINED;
}

static const struct {
    double fill;
    bool converts, is_big_endian;
    slc_dtype dtype;
    bool goes_along;
} cases[] = {
    {-7.5, false, false, SLC_F64, true}, {-7.5, true, true, SLC_F64, true},
    {-7.5, true, false, SLC_F32, true},  {0.1, true, false, SLC_F32, false},
    {-7, true, false, SLC_I16, true},    {-7.5, true, false, SLC_I16, false},
    {-7, true, false, SLC_U8, false},    {1e300, true, false, SLC_F32, false},
    {NAN, true, true, SLC_F32, true},    {NAN, true, false, SLC_I16, false},
};

static void what_is_the_same_number_goes_along(void **state) {
    const test_way *self = *state;
    for (int64_t k = 0; k < TEST_COUNT(cases); k++) {
        slc_rewrite_result result;
        put_data(self->in, cases[k].fill);
        const slc_rewrite_options options = {.in = {self->in, "/x", {0}},
                                             .out_path = self->out,
                                             .out = "/x",
                                             .converts = cases[k].converts,
                                             .dtype = cases[k].dtype,
                                             .is_big_endian = cases[k].is_big_endian,
                                             .run = {.vram_bytes = 1 << 20,
                                                     .ram_bytes = 16 << 20,
                                                     .device = SLC_CHOOSE_HOST,
                                                     .n_threads = 1,
                                                     .overwrite = true}};
        TEST_OK(slc_rewrite_run(&options, &result));
        double found = 0;
        assert_true(find_fill(self->out, &found) == cases[k].goes_along);
        if (cases[k].goes_along) {
            assert_true(found == cases[k].fill || (isnan(found) && isnan(cases[k].fill)));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_the_same_number_goes_along, test_way_create,
                                        test_way_destroy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
