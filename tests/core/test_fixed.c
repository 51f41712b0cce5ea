/* The compiler's own 128-bit integers are the reference: exact, and written by somebody else. */
#include "tests/support/test_support.h"

#include <math.h>

#include "core/fixed.h"

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 unsigned_wide;

static wide to_wide(slc_fixed value) {
    return (wide)(((unsigned_wide)(uint64_t)value.high << 64) | value.low);
}

static slc_fixed from_wide(wide value) {
    const slc_fixed fixed = {.low = (uint64_t)(unsigned_wide)value,
                             .high = (int64_t)(uint64_t)((unsigned_wide)value >> 64)};
    return fixed;
}

/* A random integer of up to `bits` bits and a sign. */
static wide random_wide(uint64_t *random, int bits) {
    const unsigned_wide both = ((unsigned_wide)test_random(random) << 64) | test_random(random);
    const wide value = (wide)(both >> (128 - bits));
    return test_random(random) & 1 ? -value : value;
}

static void sums_and_signs_are_those_of_integers(void **state) {
    (void)state;
    uint64_t random = 1;
    for (int i = 0; i < 20000; i++) {
        const wide a = random_wide(&random, 1 + (int)test_random_below(&random, 126));
        const wide b = random_wide(&random, 1 + (int)test_random_below(&random, 126));
        assert_true(to_wide(slc_fixed_add(from_wide(a), from_wide(b))) == a + b);
        assert_true(to_wide(slc_fixed_negate(from_wide(a))) == -a);
    }
    assert_true(to_wide(slc_fixed_zero()) == 0);
    const wide carry = (wide)UINT64_MAX;
    assert_true(to_wide(slc_fixed_add(from_wide(carry), from_wide(1))) == carry + 1);
    assert_true(to_wide(slc_fixed_add(from_wide(-1), from_wide(1))) == 0);
    assert_true(to_wide(slc_fixed_negate(from_wide((wide)1 << 64))) == -((wide)1 << 64));
}

static void a_double_becomes_the_nearest_integer(void **state) {
    (void)state;
    uint64_t random = 2;
    for (int i = 0; i < 50000; i++) {
        /* value = mantissa · 2^exponent, exactly, with a mantissa of 1 to 53 bits. */
        const int64_t mantissa =
            (int64_t)(test_random(&random) >> 11 >> test_random_below(&random, 53));
        const int exponent = (int)test_random_below(&random, 130) - 60;
        const int scale_bits = (int)test_random_below(&random, 130) - 60;
        const int shift = exponent + scale_bits;
        if (shift > 72) {
            continue;
        }
        wide expected = 0;
        if (shift >= 0) {
            expected = (wide)mantissa << shift;
        } else if (shift > -100) {
            expected = ((wide)mantissa + ((wide)1 << (-shift - 1))) >> -shift;
        }
        const double value = ldexp((double)mantissa, exponent);
        assert_true(to_wide(slc_fixed_from_double(value, scale_bits)) == expected);
        assert_true(to_wide(slc_fixed_from_double(-value, scale_bits)) == -expected);
    }
}

static void ties_round_away_from_zero(void **state) {
    (void)state;
    const struct {
        double value;
        int expected;
    } ties[] = {{0.5, 1},  {-0.5, -1}, {1.5, 2},  {2.5, 3},   {-2.5, -3}, {0.49999999999999994, 0},
                {0.25, 0}, {0.0, 0},   {-0.0, 0}, {5e-324, 0}};
    for (int64_t i = 0; i < TEST_COUNT(ties); i++) {
        assert_true(to_wide(slc_fixed_from_double(ties[i].value, 0)) == ties[i].expected);
    }
}

static void back_to_double_within_one_unit(void **state) {
    (void)state;
    uint64_t random = 3;
    for (int i = 0; i < 20000; i++) {
        const wide value = random_wide(&random, 1 + (int)test_random_below(&random, 126));
        const double nearest = (double)value; /* the compiler rounds this to nearest */
        const double found = slc_fixed_to_double(from_wide(value), 0);
        assert_true(found >= nextafter(nearest, -INFINITY));
        assert_true(found <= nextafter(nearest, INFINITY));
        assert_true(slc_fixed_to_double(from_wide(value), 40) == ldexp(found, -40));
    }
    for (int i = 0; i < 1000; i++) {
        const double value = test_random_between(&random, -1, 1);
        assert_true(slc_fixed_to_double(slc_fixed_from_double(value, 80), 80) == value);
    }
}

static slc_fixed sum_of(const double *values, int64_t n, int scale_bits) {
    slc_fixed sum = slc_fixed_zero();
    for (int64_t i = 0; i < n; i++) {
        sum = slc_fixed_add(sum, slc_fixed_from_double(values[i], scale_bits));
    }
    return sum;
}

static void a_sum_does_not_depend_on_order_or_splits(void **state) {
    (void)state;
    enum { N = 4096 };
    double values[N];
    uint64_t random = 4;
    for (int i = 0; i < N; i++) {
        /* Thirty binary orders of magnitude, so that a floating-point sum would change. */
        values[i] =
            ldexp(test_random_between(&random, -1, 1), (int)test_random_below(&random, 30) - 15);
    }
    const int scale_bits = slc_fixed_scale_bits(1.0);
    const slc_fixed first = sum_of(values, N, scale_bits);
    for (int shuffle = 0; shuffle < 50; shuffle++) {
        for (int i = N - 1; i > 0; i--) {
            const int64_t j = test_random_below(&random, i + 1);
            const double other = values[j];
            values[j] = values[i];
            values[i] = other;
        }
        const int64_t split = test_random_below(&random, N + 1);
        const slc_fixed sum = slc_fixed_add(sum_of(values + split, N - split, scale_bits),
                                            sum_of(values, split, scale_bits));
        assert_true(to_wide(sum) == to_wide(first));
    }
}

static void the_scale_puts_the_first_sum_at_its_bit(void **state) {
    (void)state;
    const double sums[] = {1e-30, 0.75, 1.0, 3.0, 1e20};
    for (int64_t i = 0; i < TEST_COUNT(sums); i++) {
        const int scale_bits = slc_fixed_scale_bits(sums[i]);
        const wide scaled = to_wide(slc_fixed_from_double(sums[i], scale_bits));
        assert_true(scaled >= (wide)1 << (SLC_FIXED_FIRST_BIT - 1));
        assert_true(scaled < (wide)1 << SLC_FIXED_FIRST_BIT);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_and_signs_are_those_of_integers),
        cmocka_unit_test(a_double_becomes_the_nearest_integer),
        cmocka_unit_test(ties_round_away_from_zero),
        cmocka_unit_test(back_to_double_within_one_unit),
        cmocka_unit_test(a_sum_does_not_depend_on_order_or_splits),
        cmocka_unit_test(the_scale_puts_the_first_sum_at_its_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
