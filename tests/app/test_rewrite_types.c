/* What type the elements of a result have in the file where none is asked for: the input's own, with
 * the names, the order, the places and the byte order of its members; what cannot be kept of one; and
 * types that are refused. */
#include <hdf5.h>

#include "app/rewrite.h"
#include "tests/support/test_rewritten.h"

enum { ROWS = 6, COLUMNS = 4, N = ROWS * COLUMNS, MOST_ELEMENT_BYTES = 32 };

/* ---- the types -------------------------------------------------------------------------------- */

typedef enum number { F16, F32, F32_BIG, F64, I16 } number;

static hid_t part_type(number part) {
    const hid_t types[] = {-1, H5T_IEEE_F32LE, H5T_IEEE_F32BE, H5T_IEEE_F64LE, H5T_STD_I16LE};
    const hid_t type = H5Tcopy(part == F16 ? H5T_IEEE_F32LE : types[part]);
    if (part == F16) {
        assert_true(H5Tset_fields(type, 15, 10, 5, 0, 10) >= 0 && H5Tset_size(type, 2) >= 0 &&
                    H5Tset_ebias(type, 15) >= 0);
    }
    return type;
}

/* Two members, in the order in which they are in the type. */
typedef struct complex_form {
    number part;
    const char *first, *second; /* NULL: no such form */
    size_t first_at, second_at, bytes;
} complex_form;

static hid_t complex_type(const complex_form *form) {
    const hid_t member = part_type(form->part);
    const hid_t type = H5Tcreate(H5T_COMPOUND, form->bytes);
    assert_true(H5Tinsert(type, form->first, form->first_at, member) >= 0);
    assert_true(H5Tinsert(type, form->second, form->second_at, member) >= 0);
    assert_true(H5Tclose(member) >= 0);
    return type;
}

/* In the file, and in the result's where that is another one. */
static const struct {
    complex_form in, out;
} complex_forms[] = {
    {{F32, "r", "i", 0, 4, 8}, {0}},
    {{F32, "r", "i", 4, 0, 8}, {0}},
    {{F32, "i", "r", 0, 4, 8}, {0}},
    {{F32, "i", "r", 4, 0, 8}, {0}},
    {{F64, "real", "imag", 0, 8, 16}, {0}},
    {{F64, "a", "b", 8, 0, 16}, {0}},
    {{F32_BIG, "r", "i", 0, 4, 8}, {0}},
    {{F32_BIG, "r", "i", 4, 0, 8}, {0}},
    {{F16, "r", "i", 0, 2, 4}, {0}},
    {{F16, "r", "i", 2, 0, 4}, {0}},
    {{F32, "r", "i", 0, 4, 12}, {F32, "r", "i", 0, 4, 8}},
    {{F32, "r", "i", 0, 8, 12}, {F32, "r", "i", 0, 4, 8}},
    {{F32_BIG, "real", "imag", 4, 12, 16}, {F32_BIG, "real", "imag", 0, 4, 8}},
    {{F64, "im", "re", 0, 12, 24}, {F64, "im", "re", 0, 8, 16}},
};

static hid_t enum_type(hid_t base, const char *zero, const char *one) {
    const hid_t type = H5Tenum_create(base);
    for (int k = 0; k < 2; k++) {
        int value = k;
        assert_true(H5Tconvert(H5T_NATIVE_INT, base, 1, &value, NULL, H5P_DEFAULT) >= 0);
        assert_true(H5Tenum_insert(type, k == 0 ? zero : one, &value) >= 0);
    }
    return type;
}

static hid_t sized_type(hid_t base, size_t bytes) {
    const hid_t type = H5Tcopy(base);
    assert_true(H5Tset_size(type, bytes) >= 0);
    return type;
}

static hid_t precise_type(hid_t base, size_t bits) {
    const hid_t type = H5Tcopy(base);
    assert_true(H5Tset_precision(type, bits) >= 0);
    return type;
}

static hid_t array_type(void) {
    const hsize_t n = 3;
    return H5Tarray_create2(H5T_IEEE_F32LE, 1, &n);
}

/* ---- files ------------------------------------------------------------------------------------ */

static void put(const char *path, hid_t type) {
    const hsize_t shape[2] = {ROWS, COLUMNS};
    const hsize_t chunk[2] = {3, 2};
    unsigned char values[N * MOST_ELEMENT_BYTES];
    const size_t n_bytes = N * H5Tget_size(type);
    const bool is_flag = H5Tget_class(type) == H5T_ENUM;
    assert_true(n_bytes <= sizeof values);
    for (size_t k = 0; k < sizeof values; k++) {
        values[k] = (unsigned char)(is_flag ? k / 4 % 2 : k * 7 % 60); /* no NaN among floats */
    }
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    const hid_t space = H5Screate_simple(2, shape, NULL);
    assert_true(H5Pset_chunk(list, 2, chunk) >= 0 && H5Pset_deflate(list, 1) >= 0);
    const hid_t set = H5Dcreate2(file, "/x", type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    assert_true(set >= 0);
    if (H5Tdetect_class(type, H5T_VLEN) <= 0 && H5Tis_variable_str(type) <= 0) {
        assert_true(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    }
    assert_true(H5Dclose(set) >= 0 && H5Sclose(space) >= 0 && H5Pclose(list) >= 0);
    assert_true(H5Fclose(file) >= 0);
}

/* The elements of a result, in `type`, whose own type is given out. */
static hid_t get(const char *path, const char *name, hid_t type, void *values) {
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
    const hid_t stored = H5Dget_type(set);
    assert_true(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    assert_true(H5Dclose(set) >= 0 && H5Fclose(file) >= 0);
    return stored;
}

/* ---- the tests -------------------------------------------------------------------------------- */

/* Equal as HDF5 sees it, which does not look at the order of members. */
static void expect_type(hid_t found, hid_t expected) {
    assert_true(H5Tequal(found, expected) > 0);
    const int n = H5Tget_class(expected) == H5T_COMPOUND ? H5Tget_nmembers(expected) : 0;
    for (int k = 0; k < n; k++) {
        char *is = H5Tget_member_name(found, (unsigned)k);
        char *should = H5Tget_member_name(expected, (unsigned)k);
        assert_string_equal(is, should);
        assert_int_equal(H5Tget_member_offset(found, (unsigned)k),
                         H5Tget_member_offset(expected, (unsigned)k));
        (void)H5free_memory(is);
        (void)H5free_memory(should);
    }
}

/* Repacks and transposes elements of a type; the result has the type `expected`. */
static void expect_result(const test_way *self, hid_t type, hid_t expected) {
    const size_t bytes = H5Tget_size(expected);
    unsigned char in[N * MOST_ELEMENT_BYTES];
    unsigned char out[N * MOST_ELEMENT_BYTES];
    put(self->in, type);
    assert_true(H5Tclose(get(self->in, "/x", expected, in)) >= 0);
    for (int is_transposed = 0; is_transposed < 2; is_transposed++) {
        slc_rewrite_options options = test_rewrite_options(self);
        slc_rewrite_result result;
        options.is_reversed = is_transposed != 0;
        TEST_OK(slc_rewrite_run(&options, &result));
        hid_t stored = get(self->out, "/g/y", expected, out);
        expect_type(stored, expected);
        assert_true(H5Tclose(stored) >= 0);
        for (size_t k = 0; k < N; k++) {
            const size_t there = is_transposed != 0 ? k % COLUMNS * ROWS + k / COLUMNS : k;
            assert_memory_equal(out + there * bytes, in + k * bytes, bytes);
        }
    }
    assert_true(H5Tclose(type) >= 0);
}

static void complex_numbers_keep_their_form(void **state) {
    for (int64_t k = 0; k < TEST_COUNT(complex_forms); k++) {
        const complex_form *in = &complex_forms[k].in;
        const complex_form *out = &complex_forms[k].out;
        const hid_t expected = complex_type(out->first == NULL ? in : out);
        expect_result(*state, complex_type(in), expected);
        assert_true(H5Tclose(expected) >= 0);
    }
}

static void other_types_are_kept(void **state) {
    const hid_t types[] = {
        part_type(F16),
        part_type(F32_BIG),
        H5Tcopy(H5T_STD_U8LE),
        H5Tcopy(H5T_STD_I64BE),
        H5Tcopy(H5T_STD_B8LE),
        enum_type(H5T_STD_I8LE, "FALSE", "TRUE"),
        enum_type(H5T_STD_I32BE, "OFF", "ON"),
        enum_type(H5T_STD_U16LE, "no", "yes"),
    };
    for (int64_t k = 0; k < TEST_COUNT(types); k++) {
        const hid_t expected = H5Tcopy(types[k]);
        expect_result(*state, types[k], expected);
        assert_true(H5Tclose(expected) >= 0);
    }
}

static void types_that_are_no_numbers_are_refused(void **state) {
    const test_way *self = *state;
    const complex_form integers = {I16, "r", "i", 0, 2, 4};
    const struct {
        hid_t type;
        const char *words;
    } cases[] = {
        {array_type(), "/x is array of 12 bytes, expected "},
        {sized_type(H5T_C_S1, 5), "/x is string, expected "},
        {sized_type(H5T_C_S1, H5T_VARIABLE), "/x is variable string, expected "},
        {H5Tvlen_create(H5T_IEEE_F32LE), "/x is variable-length sequence of 16 bytes, expected "},
        {H5Tcreate(H5T_OPAQUE, 4), "/x is opaque of 4 bytes, expected "},
        {H5Tcopy(H5T_STD_B16LE), "/x is bit field of 2 bytes, expected "},
        {precise_type(H5T_STD_I32LE, 17), "/x is integer of uncommon size of 4 bytes, expected "},
        {complex_type(&integers), "/x is compound {r: "},
    };
    for (int64_t k = 0; k < TEST_COUNT(cases); k++) {
        slc_rewrite_options options = test_rewrite_options(self);
        slc_rewrite_result result;
        put(self->in, cases[k].type);
        TEST_FAILS(slc_rewrite_run(&options, &result), SLC_ERROR_UNSUPPORTED, cases[k].words);
        assert_true(H5Tclose(cases[k].type) >= 0);
    }
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, test_way_create, test_way_destroy)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(complex_numbers_keep_their_form),
        CASE(other_types_are_kept),
        CASE(types_that_are_no_numbers_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
