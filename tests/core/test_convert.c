#include "tests/support/test_support.h"

#include <math.h>

#include "core/convert.h"

static int64_t convert(slc_dtype from, slc_dtype to, bool saturates, const void *src, void *dst,
                       int64_t n, int64_t *n_infinite) {
    const slc_conversion conversion = {.from = from, .to = to, .saturates = saturates};
    TEST_OK(slc_conversion_check(&conversion));
    return slc_convert(&conversion, src, dst, n, n_infinite);
}

/* Every pair of real types for values that all of them hold. */
static void small_numbers_go_anywhere(void **state) {
    (void)state;
    static const slc_dtype reals[] = {SLC_U8,  SLC_I8,  SLC_U16, SLC_I16, SLC_U32, SLC_I32,
                                      SLC_U64, SLC_I64, SLC_F16, SLC_F32, SLC_F64};
    enum { N_VALUES = 1200 }; /* more than a block */
    static double values[N_VALUES], back[N_VALUES];
    static char a[N_VALUES * 8], b[N_VALUES * 8];
    int64_t n_infinite = 0;
    for (int k = 0; k < N_VALUES; k++) {
        values[k] = k % 128;
    }
    for (int64_t i = 0; i < TEST_COUNT(reals); i++) {
        for (int64_t j = 0; j < TEST_COUNT(reals); j++) {
            assert_int_equal(convert(SLC_F64, reals[i], false, values, a, N_VALUES, &n_infinite),
                             N_VALUES);
            assert_int_equal(convert(reals[i], reals[j], false, a, b, N_VALUES, &n_infinite),
                             N_VALUES);
            assert_int_equal(convert(reals[j], SLC_F64, false, b, back, N_VALUES, &n_infinite),
                             N_VALUES);
            assert_memory_equal(values, back, sizeof values);
        }
    }
    assert_int_equal(n_infinite, 0);
}

/* The edges of each integer type: what fits, and the next value, which does not. */
static void integers_end_where_they_end(void **state) {
    (void)state;
    static const struct {
        slc_dtype to;
        double lowest, highest;
    } cases[] = {{SLC_I8, -128, 127},
                 {SLC_U8, 0, 255},
                 {SLC_I16, -32768, 32767},
                 {SLC_U16, 0, 65535},
                 {SLC_I32, -2147483648.0, 2147483647.0},
                 {SLC_U32, 0, 4294967295.0}};
    int64_t n_infinite = 0;
    for (int64_t i = 0; i < TEST_COUNT(cases); i++) {
        const double lowest = cases[i].lowest;
        const double highest = cases[i].highest;
        /* Fractions are cut off before anything is compared. */
        const double fit[] = {lowest, highest, lowest - 0.9, highest + 0.9};
        const double bad[] = {lowest - 1, highest + 1, (double)NAN, (double)INFINITY};
        const double nearest[] = {lowest, highest, 0, highest};
        double back[4];
        char out[4 * 8];
        assert_int_equal(convert(SLC_F64, cases[i].to, false, fit, out, 4, &n_infinite), 4);
        (void)convert(cases[i].to, SLC_F64, false, out, back, 4, &n_infinite);
        for (int k = 0; k < 4; k++) {
            assert_true(back[k] == fit[k % 2]);
            assert_int_equal(convert(SLC_F64, cases[i].to, false, &bad[k], out, 1, &n_infinite), 0);
        }
        assert_int_equal(convert(SLC_F64, cases[i].to, true, bad, out, 4, &n_infinite), 4);
        (void)convert(cases[i].to, SLC_F64, false, out, back, 4, &n_infinite);
        for (int k = 0; k < 4; k++) {
            assert_true(back[k] == nearest[k]);
        }
        /* From integers. */
        const int64_t wide[] = {(int64_t)lowest, (int64_t)highest, (int64_t)highest + 1};
        assert_int_equal(convert(SLC_I64, cases[i].to, false, wide, out, 3, &n_infinite), 2);
        const int64_t low = (int64_t)lowest - 1;
        assert_int_equal(convert(SLC_I64, cases[i].to, false, &low, out, 1, &n_infinite), 0);
    }
}

static void sixty_four_bits_are_exact(void **state) {
    (void)state;
    int64_t n_infinite = 0;
    const double edges[] = {-0x1p63, 0x1p63 - 1024, 0x1p63};
    int64_t signed_out[3];
    assert_int_equal(convert(SLC_F64, SLC_I64, false, edges, signed_out, 3, &n_infinite), 2);
    assert_true(signed_out[0] == INT64_MIN && signed_out[1] == INT64_MAX - 1023);
    const double tops[] = {-0.5, 0x1p64 - 2048, 0x1p64};
    uint64_t unsigned_out[3];
    assert_int_equal(convert(SLC_F64, SLC_U64, false, tops, unsigned_out, 3, &n_infinite), 2);
    assert_true(unsigned_out[0] == 0 && unsigned_out[1] == UINT64_MAX - 2047);
    const int64_t negative[] = {5, -1};
    assert_int_equal(convert(SLC_I64, SLC_U64, false, negative, unsigned_out, 2, &n_infinite), 1);
    const uint64_t large[] = {INT64_MAX, UINT64_MAX};
    assert_int_equal(convert(SLC_U64, SLC_I64, false, large, signed_out, 2, &n_infinite), 1);
    assert_int_equal(convert(SLC_U64, SLC_I64, true, large, signed_out, 2, &n_infinite), 2);
    assert_true(signed_out[1] == INT64_MAX);
    /* 2^60 + 2^36 + 1 lies just above the middle of two floats; as a double it is that middle, from
     * which it would go to the even neighbour below. */
    const int64_t twice = (INT64_C(1) << 60) + (INT64_C(1) << 36) + 1;
    float single = 0;
    (void)convert(SLC_I64, SLC_F32, false, &twice, &single, 1, &n_infinite);
    assert_true(single == 0x1.000002p60f);
}

/* Values from the format's definition: 1 + 10 bits of fraction, exponents -14 to 15. */
static void half_precision_is_rounded_to_even(void **state) {
    (void)state;
    static const struct {
        double value;
        uint16_t bits;
    } cases[] = {
        {1, 0x3c00},
        {-2, 0xc000},
        {65504, 0x7bff},
        {65519.99, 0x7bff},
        {65520, 0x7c00},
        {1 + 0x1p-11, 0x3c00},     /* a tie, to the even one below */
        {1 + 3 * 0x1p-11, 0x3c02}, /* a tie, to the even one above */
        {1 + 0x1p-11 + 1e-9, 0x3c01},
        {2 - 0x1p-12, 0x4000}, /* carries into the exponent */
        {0x1p-14, 0x0400},
        {0x1p-24, 0x0001},
        {0x1p-25, 0x0000},
        {0x1p-25 * 1.001, 0x0001},
        {0x1p-14 - 0x1p-26, 0x0400}, /* the largest subnormal rounds to the smallest normal */
        {-0.0, 0x8000},
    };
    int64_t n_infinite = 0;
    for (int64_t i = 0; i < TEST_COUNT(cases); i++) {
        uint16_t bits = 0;
        (void)convert(SLC_F64, SLC_F16, false, &cases[i].value, &bits, 1, &n_infinite);
        assert_int_equal(bits, cases[i].bits);
    }
    assert_int_equal(n_infinite, 1);
    /* There and back is the same for all numbers that there are. */
    for (unsigned bits = 0; bits <= UINT16_MAX; bits++) {
        const uint16_t half = (uint16_t)bits;
        double value = 0;
        uint16_t back = 0;
        (void)convert(SLC_F16, SLC_F64, false, &half, &value, 1, &n_infinite);
        (void)convert(SLC_F64, SLC_F16, false, &value, &back, 1, &n_infinite);
        assert_true(back == half || (isnan(value) && (half & 0x7c00) == 0x7c00));
    }
    assert_int_equal(n_infinite, 1);
}

static void what_becomes_infinite_is_counted(void **state) {
    (void)state;
    const double doubles[] = {1e39, -1e39, (double)INFINITY, (double)NAN, 3.4028235677973362e38, 1};
    float floats[6];
    int64_t n_infinite = 0;
    assert_int_equal(convert(SLC_F64, SLC_F32, false, doubles, floats, 6, &n_infinite), 6);
    assert_int_equal(n_infinite, 2);
    assert_true(isinf(floats[0]) && floats[1] < 0 && isnan(floats[3]));
    assert_true(floats[4] == 0x1.fffffep127f); /* a hair below the middle */
}

static void complex_numbers_have_two_parts(void **state) {
    (void)state;
    const double pairs[] = {1, -2, 3e300, 4};
    float singles[4];
    int64_t n_infinite = 0;
    assert_int_equal(convert(SLC_C128, SLC_C64, false, pairs, singles, 2, &n_infinite), 2);
    assert_true(singles[0] == 1 && singles[1] == -2 && isinf(singles[2]) && singles[3] == 4);
    assert_int_equal(n_infinite, 1);
    enum { N_INTS = 1100 };
    static int16_t ints[N_INTS];
    static double made[N_INTS * 2];
    for (int k = 0; k < N_INTS; k++) {
        ints[k] = (int16_t)(k - 550);
    }
    assert_int_equal(convert(SLC_I16, SLC_C128, false, ints, made, N_INTS, &n_infinite), N_INTS);
    for (int k = 0; k < N_INTS; k++) {
        assert_true(made[2 * k] == k - 550 && made[2 * k + 1] == 0);
    }
    const slc_conversion narrow = {.from = SLC_C64, .to = SLC_F32};
    TEST_FAILS(slc_conversion_check(&narrow), SLC_ERROR_ARGUMENT, "imaginary parts would be lost");
    const slc_conversion fixed = {.from = SLC_F32, .to = SLC_FIXED128};
    TEST_FAILS(slc_conversion_check(&fixed), SLC_ERROR_ARGUMENT, "no conversion from f4");
}

static void elements_are_printed(void **state) {
    (void)state;
    char text[64];
    const int8_t byte = -5;
    const uint64_t large = UINT64_MAX;
    const float pair[] = {1.5f, -2};
    const double nan_value = (double)NAN;
    slc_element_text(SLC_I8, &byte, text, sizeof text);
    assert_string_equal(text, "-5");
    slc_element_text(SLC_U64, &large, text, sizeof text);
    assert_string_equal(text, "18446744073709551615");
    slc_element_text(SLC_C64, pair, text, sizeof text);
    assert_string_equal(text, "1.5-2i");
    slc_element_text(SLC_F64, &nan_value, text, sizeof text);
    assert_string_equal(text, "nan");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_numbers_go_anywhere),
        cmocka_unit_test(integers_end_where_they_end),
        cmocka_unit_test(sixty_four_bits_are_exact),
        cmocka_unit_test(half_precision_is_rounded_to_even),
        cmocka_unit_test(what_becomes_infinite_is_counted),
        cmocka_unit_test(complex_numbers_have_two_parts),
        cmocka_unit_test(elements_are_printed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
