#include "tests/support/test_support.h"

#include "core/checked.h"

static void products_and_sums_refuse_to_overflow(void **state) {
    (void)state;
    int64_t result = 42;
    assert_true(slc_checked_mul(INT64_C(3000000000), 3, &result));
    assert_int_equal(result, INT64_C(9000000000));
    assert_false(slc_checked_mul(INT64_C(1) << 32, INT64_C(1) << 31, &result));
    assert_false(slc_checked_mul(INT64_MIN, -1, &result));
    assert_false(slc_checked_add(INT64_MAX, 1, &result));
    assert_int_equal(result, INT64_C(9000000000));
    assert_true(slc_checked_mul(INT64_C(1) << 31, -(INT64_C(1) << 32), &result));
    assert_true(result == INT64_MIN);
    assert_true(slc_checked_add(INT64_MAX, INT64_MIN, &result));
    assert_int_equal(result, -1);
}

static void divisions_round_up(void **state) {
    (void)state;
    assert_int_equal(slc_ceil_div(0, 7), 0);
    assert_int_equal(slc_ceil_div(1, 7), 1);
    assert_int_equal(slc_ceil_div(14, 7), 2);
    assert_true(slc_ceil_div(INT64_MAX, 2) == (INT64_C(1) << 62));
    assert_int_equal(slc_round_up(0, 256), 0);
    assert_int_equal(slc_round_up(257, 256), 512);
    assert_int_equal(slc_round_up(512, 256), 512);
    assert_int_equal(slc_min_i64(-3, 2), -3);
    assert_int_equal(slc_max_i64(-3, 2), 2);
    assert_int_equal(slc_abs_i64(-INT64_MAX), INT64_MAX);
    assert_int_equal(slc_abs_i64(3), 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_and_sums_refuse_to_overflow),
        cmocka_unit_test(divisions_round_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
