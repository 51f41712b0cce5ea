#include "tests/support/test_support.h"

#include "core/dtype.h"
#include "core/fixed.h"

static void names_and_sizes(void **state) {
    (void)state;
    const struct {
        slc_dtype dtype;
        const char *name;
        int64_t bytes;
    } known[] = {
        {SLC_U8, "u1", 1},
        {SLC_I16, "i2", 2},
        {SLC_F16, "f2", 2},
        {SLC_F32, "f4", (int64_t)sizeof(float)},
        {SLC_F64, "f8", (int64_t)sizeof(double)},
        {SLC_C32, "c4", 4},
        {SLC_C64, "c8", (int64_t)(2 * sizeof(float))},
        {SLC_C128, "c16", (int64_t)(2 * sizeof(double))},
        {SLC_FIXED128, "fixed128", (int64_t)sizeof(slc_fixed)},
    };
    for (int64_t i = 0; i < TEST_COUNT(known); i++) {
        assert_string_equal(slc_dtype_name(known[i].dtype), known[i].name);
        assert_int_equal(slc_dtype_bytes(known[i].dtype), known[i].bytes);
    }
}

/* By the first letter of the name, which says what a type is. */
static void integers_are_known(void **state) {
    (void)state;
    for (int t = 0; t < SLC_DTYPE_COUNT; t++) {
        const char first = slc_dtype_name((slc_dtype)t)[0];
        assert_int_equal(slc_dtype_is_integer((slc_dtype)t), first == 'u' || first == 'i');
        assert_int_equal(slc_dtype_is_signed_integer((slc_dtype)t), first == 'i');
        assert_int_equal(slc_dtype_is_complex((slc_dtype)t), first == 'c');
    }
}

static void what_is_no_dtype_has_no_size(void **state) {
    (void)state;
    assert_int_equal(slc_dtype_bytes(SLC_DTYPE_COUNT), 0);
    assert_int_equal(slc_dtype_bytes((slc_dtype)-1), 0);
    assert_string_equal(slc_dtype_name((slc_dtype)1000), "unknown");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_sizes),
        cmocka_unit_test(integers_are_known),
        cmocka_unit_test(what_is_no_dtype_has_no_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
