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

/* ---- types of other kinds --------------------------------------------------------------------- */

typedef struct pair {
    double r, i;
} pair;

static hid_t complex_type(const char *real, const char *imaginary) {
    const hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(pair));
    assert_true(H5Tinsert(type, real, HOFFSET(pair, r), H5T_NATIVE_DOUBLE) >= 0 &&
                H5Tinsert(type, imaginary, HOFFSET(pair, i), H5T_NATIVE_DOUBLE) >= 0);
    return type;
}

static hid_t bool_type(void) {
    static const int8_t values[2] = {0, 1};
    const hid_t type = H5Tenum_create(H5T_NATIVE_INT8);
    assert_true(H5Tenum_insert(type, "FALSE", &values[0]) >= 0 &&
                H5Tenum_insert(type, "TRUE", &values[1]) >= 0);
    return type;
}

/* Data of zeros with a fill value, both of `type`, which is closed. */
static void put_filled(const char *path, hid_t type, const void *fill) {
    const pair zeros[4] = {{0, 0}};
    const int64_t shape = 4;
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    assert_true(H5Pset_fill_value(list, type, fill) >= 0);
    test_h5_put(path, "/x", type, type, 1, &shape, list, zeros);
    assert_true(H5Pclose(list) >= 0 && H5Tclose(type) >= 0);
}

static void count_note(void *context, slc_log_level level, const char *line) {
    (void)level;
    if (strstr(line, "fill value") != NULL) {
        ++*(int *)context;
    }
}

/* How often it was told that the fill value is left out. */
static int convert(const test_way *self, slc_dtype dtype) {
    int n_notes = 0;
    slc_log log;
    slc_rewrite_result result;
    slc_log_init(&log, SLC_LOG_NOTE, count_note, &n_notes);
    const slc_rewrite_options options = {.in = {self->in, "/x", {0}},
                                         .out_path = self->out,
                                         .out = "/x",
                                         .converts = true,
                                         .dtype = dtype,
                                         .run = {.vram_bytes = 1 << 20,
                                                 .ram_bytes = 16 << 20,
                                                 .device = SLC_CHOOSE_HOST,
                                                 .n_threads = 1,
                                                 .log = &log,
                                                 .overwrite = true}};
    TEST_OK(slc_rewrite_run(&options, &result));
    slc_log_destroy(&log);
    return n_notes;
}

/* The fill value of complex numbers {r, i}. */
static pair complex_fill(const char *path) {
    pair found = {0, 0};
    const hid_t type = complex_type("r", "i");
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t set = H5Dopen2(file, "/x", H5P_DEFAULT);
    const hid_t list = H5Dget_create_plist(set);
    assert_true(H5Pget_fill_value(list, type, &found) >= 0);
    assert_true(H5Pclose(list) >= 0 && H5Dclose(set) >= 0 && H5Fclose(file) >= 0 &&
                H5Tclose(type) >= 0);
    return found;
}

static void a_real_number_becomes_complex(void **state) {
    const test_way *self = *state;
    put_data(self->in, -7.5);
    assert_int_equal(convert(self, SLC_C64), 0);
    const pair found = complex_fill(self->out);
    assert_true(found.r == -7.5 && found.i == 0);
}

/* Whatever the parts are called, and whichever comes first. */
static void complex_numbers_are_taken_by_their_parts(void **state) {
    const test_way *self = *state;
    const pair fill = {1.5, -2.25};
    put_filled(self->in, complex_type("real", "imag"), &fill);
    assert_int_equal(convert(self, SLC_C64), 0);
    pair found = complex_fill(self->out);
    assert_true(found.r == 1.5 && found.i == -2.25);
    put_filled(self->in, complex_type("i", "r"), &fill);
    assert_int_equal(convert(self, SLC_C128), 0);
    found = complex_fill(self->out);
    assert_true(found.r == -2.25 && found.i == 1.5);
}

static void a_boolean_becomes_a_number(void **state) {
    const test_way *self = *state;
    const int8_t fill = 1;
    double found = 0;
    put_filled(self->in, bool_type(), &fill);
    assert_int_equal(convert(self, SLC_F32), 0);
    assert_true(find_fill(self->out, &found) && found == 1);
}

static void what_is_left_out_is_told(void **state) {
    const test_way *self = *state;
    double found = 0;
    put_data(self->in, 0.1);
    assert_int_equal(convert(self, SLC_F32), 1);
    assert_false(find_fill(self->out, &found));
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, test_way_create, test_way_destroy)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(what_is_the_same_number_goes_along),
        CASE(a_real_number_becomes_complex),
        CASE(complex_numbers_are_taken_by_their_parts),
        CASE(a_boolean_becomes_a_number),
        CASE(what_is_left_out_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
