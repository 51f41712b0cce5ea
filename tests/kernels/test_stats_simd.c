/* Every instruction set's loops over a block, through what adds blocks, against sums that are made one
 * value at a time in exact arithmetic, comparisons of values, and keys that give their values back. */
#include "tests/support/test_support.h"

#include <math.h>

#include "kernels/stats_exact.h"
#include "kernels/stats_internal.h"

/* What a block holds. */
typedef enum mixture {
    EVEN,   /* of similar size, both signs */
    WIDE,   /* any size */
    TINY,   /* near and below the smallest normal number */
    VAST,   /* near the largest */
    ZEROS,  /* of both signs, and a few values */
    SPOILT, /* NaN and infinities among values */
    NOTHING /* NaN and infinities alone */,
    N_MIXTURES
} mixture;

static double spoil(uint64_t *random, double value) {
    switch (test_random_below(random, 12)) {
    case 0:
    case 1:
        return (double)NAN;
    case 2:
        return (double)INFINITY;
    case 3:
        return -(double)INFINITY;
    default:
        return value;
    }
}

/* `reach` is the type's largest exponent: 127 or 1023. */
static double make_value(uint64_t *random, mixture kind, int reach) {
    const double value = test_random_between(random, -1, 1);
    const int any = (int)test_random_below(random, 2 * reach) - reach;
    switch (kind) {
    case EVEN:
        return value * 3;
    case WIDE:
        return ldexp(value, any);
    case TINY:
        return ldexp(value, -reach + 2);
    case VAST:
        return ldexp(value, reach);
    case ZEROS:
        return test_random_below(random, 9) == 0 ? value : copysign(0, value);
    case SPOILT:
        return spoil(random, value);
    default:
        return test_random_below(random, 2) == 0 ? (double)NAN : copysign((double)INFINITY, value);
    }
}

/* One value after another, in the order of the block. */
static void add_plainly(const double *values, int64_t n, slci_stats_partial *out) {
    uint64_t *word = out->word;
    int64_t *sum = (int64_t *)&word[SLC_STATS_SUM];
    int64_t *squares = (int64_t *)&word[SLC_STATS_SQUARES];
    memset(out, 0, sizeof *out);
    word[SLC_STATS_N] = (uint64_t)n;
    for (int64_t i = 0; i < n; i++) {
        const int above = values[i] > 0 ? 0 : 1;
        if (isnan(values[i])) {
            word[SLC_STATS_N_NAN]++;
        } else if (isinf(values[i])) {
            uint64_t *place = &word[SLC_STATS_PLACE_ABOVE + above];
            word[SLC_STATS_N_ABOVE + above]++;
            *place = *place == 0 ? (uint64_t)i + 1 : *place;
        } else {
            uint64_t *low = &word[SLC_STATS_PLACE_LOWEST];
            uint64_t *high = &word[SLC_STATS_PLACE_HIGHEST];
            *low = *low == 0 || values[i] < values[*low - 1] ? (uint64_t)i + 1 : *low;
            *high = *high == 0 || values[i] > values[*high - 1] ? (uint64_t)i + 1 : *high;
            slci_exact_add(sum, SLCI_SUM_POINT, values[i]);
            slci_exact_add_square(squares, values[i]);
        }
    }
}

/* The difference of two sums is nothing; digits of equal numbers may differ. */
static void expect_equal_sums(const uint64_t *a, const uint64_t *b) {
    int64_t sum[SLCI_SUM_DIGITS];
    int64_t squares[SLCI_SQUARE_DIGITS];
    for (int d = 0; d < SLCI_SUM_DIGITS; d++) {
        sum[d] = (int64_t)(a[SLC_STATS_SUM + d] - b[SLC_STATS_SUM + d]);
    }
    for (int d = 0; d < SLCI_SQUARE_DIGITS; d++) {
        squares[d] = (int64_t)(a[SLC_STATS_SQUARES + d] - b[SLC_STATS_SQUARES + d]);
    }
    const int64_t *no_sum = sum;
    const int64_t nothing[SLCI_SUM_DIGITS] = {0};
    const int64_t *zero = nothing;
    const int64_t *no_squares = squares;
    assert_true(slci_exact_sum(no_sum) == 0);
    assert_true(slci_exact_deviation(&zero, &no_squares, 1, 1) == 0);
}

static void expect_equal(const slci_stats_partial *found, const slci_stats_partial *expected,
                         slc_dtype dtype, const double *values) {
    const uint64_t *word = found->word;
    static const int counts[] = {SLC_STATS_N,
                                 SLC_STATS_N_NAN,
                                 SLC_STATS_N_ABOVE,
                                 SLC_STATS_N_BELOW,
                                 SLC_STATS_PLACE_ABOVE,
                                 SLC_STATS_PLACE_BELOW,
                                 SLC_STATS_PLACE_LOWEST,
                                 SLC_STATS_PLACE_HIGHEST};
    for (int64_t c = 0; c < TEST_COUNT(counts); c++) {
        assert_int_equal(word[counts[c]], expected->word[counts[c]]);
    }
    expect_equal_sums(word, expected->word);
    if (word[SLC_STATS_PLACE_LOWEST] > 0) {
        const double low = slc_stats_key_value(dtype, SLC_STATS_VALUE, word[SLC_STATS_LOWEST]);
        const double high = slc_stats_key_value(dtype, SLC_STATS_VALUE, word[SLC_STATS_HIGHEST]);
        assert_true(low == values[word[SLC_STATS_PLACE_LOWEST] - 1]);
        assert_true(high == values[word[SLC_STATS_PLACE_HIGHEST] - 1]);
        assert_false(low == 0 && signbit(low));
    }
}

/* Keys give the values back, zeros without their sign; those picked are those from the least to the
 * greatest of two of the values. */
static void expect_keys(const slci_stats_simd *set, const slci_stats_block *block, slc_dtype dtype,
                        const double *values, uint64_t *random) {
    slci_stats_keys keys;
    int16_t picked[SLCI_STATS_BLOCK];
    slci_stats_take_keys(set, block, &keys);
    int64_t n_nan = 0;
    for (int64_t i = 0; i < block->n; i++) {
        const double back =
            slc_stats_key_value(dtype, SLC_STATS_VALUE, slci_stats_key_at(&keys, i));
        n_nan += isnan(values[i]) ? 1 : 0;
        assert_true(isnan(values[i]) ? isnan(back) : back == values[i]);
        assert_false(back == 0 && signbit(back));
    }
    assert_int_equal(keys.n_nan, n_nan);
    const int64_t a = test_random_below(random, block->n);
    const int64_t b = test_random_below(random, block->n);
    const double low = fmin(values[a], values[b]);
    const double high = fmax(values[a], values[b]);
    if (isnan(values[a]) || isnan(values[b])) {
        return;
    }
    const bool is_rising = values[a] <= values[b];
    const int64_t n_picked =
        slci_stats_pick(set, &keys, block->n, slci_stats_key_at(&keys, is_rising ? a : b),
                        slci_stats_key_at(&keys, is_rising ? b : a), picked);
    int64_t k = 0;
    for (int64_t i = 0; i < block->n; i++) {
        if (values[i] >= low && values[i] <= high) {
            assert_true(k < n_picked && picked[k] == i);
            k++;
        }
    }
    assert_int_equal(k, n_picked);
}

static void check_block(const slci_stats_simd *set, const slci_stats_block *block, slc_dtype dtype,
                        const double *values, uint64_t *random) {
    slci_stats_partial found = {{0}};
    slci_stats_partial expected;
    slci_stats_add_block(set, block, &found);
    add_plainly(values, block->n, &expected);
    expect_equal(&found, &expected, dtype, values);
    expect_keys(set, block, dtype, values, random);
}

static void floats_add_up(void **state) {
    (void)state;
    uint64_t random = 3;
    static float singles[SLCI_STATS_BLOCK];
    static double doubles[SLCI_STATS_BLOCK];
    static double values[SLCI_STATS_BLOCK];
    for (int64_t round = 0; round < 25 * N_MIXTURES; round++) {
        const mixture kind = (mixture)(round % N_MIXTURES);
        const int64_t n = round < N_MIXTURES ? SLCI_STATS_BLOCK
                                             : 1 + test_random_below(&random, SLCI_STATS_BLOCK);
        for (int64_t i = 0; i < n; i++) {
            singles[i] = (float)make_value(&random, kind, 127);
            doubles[i] = make_value(&random, kind, 1023);
            values[i] = (double)singles[i];
        }
        for (int64_t s = 0; s < SLCI_STATS_SETS; s++) {
            const slci_stats_block narrow = {.class_of = SLCI_STATS_F32,
                                             .values = singles,
                                             .n = n,
                                             .has_sums = true,
                                             .has_range = true};
            const slci_stats_block wide = {.class_of = SLCI_STATS_F64,
                                           .values = doubles,
                                           .n = n,
                                           .has_sums = true,
                                           .has_range = true};
            if (slci_stats_sets[s]->is_supported()) {
                check_block(slci_stats_sets[s], &narrow, SLC_F32, values, &random);
                check_block(slci_stats_sets[s], &wide, SLC_F64, doubles, &random);
            }
        }
    }
}

/* Whole numbers that doubles hold, at both ends of their types. */
static void integers_add_up(void **state) {
    (void)state;
    uint64_t random = 4;
    static int32_t narrow[SLCI_STATS_BLOCK];
    static int64_t wide[SLCI_STATS_BLOCK];
    static uint64_t unsigned_wide[SLCI_STATS_BLOCK];
    static double values[3][SLCI_STATS_BLOCK];
    for (int round = 0; round < 40; round++) {
        const int64_t n = 1 + test_random_below(&random, SLCI_STATS_BLOCK);
        for (int64_t i = 0; i < n; i++) {
            const int shift = (int)test_random_below(&random, 12);
            narrow[i] = (int32_t)(uint32_t)test_random(&random);
            wide[i] = ((int64_t)test_random(&random) >> 11 >> shift) * (1 << shift) * 1024;
            unsigned_wide[i] = test_random(&random) >> 11 >> shift << 11 << shift;
            values[0][i] = narrow[i];
            values[1][i] = (double)wide[i];
            values[2][i] = (double)unsigned_wide[i];
        }
        const struct {
            slci_stats_block block;
            slc_dtype dtype;
        } kinds[] = {
            {{SLCI_STATS_I32, (uint64_t)(int64_t)INT32_MIN, narrow, n, 0, true, true}, SLC_I32},
            {{SLCI_STATS_I64, (uint64_t)INT64_MIN, wide, n, 0, true, true}, SLC_I64},
            {{SLCI_STATS_U64, 0, unsigned_wide, n, 0, true, true}, SLC_U64},
        };
        for (int64_t k = 0; k < TEST_COUNT(kinds) * SLCI_STATS_SETS; k++) {
            const slci_stats_simd *set = slci_stats_sets[k % SLCI_STATS_SETS];
            const int64_t kind = k / SLCI_STATS_SETS;
            if (set->is_supported()) {
                check_block(set, &kinds[kind].block, kinds[kind].dtype, values[kind], &random);
            }
        }
    }
}

/* All 16 bits of halves, whose value is (1 + fraction) 2^(exponent - 15) by the standard. */
static double half_value(unsigned bits) {
    const int exponent = (int)(bits >> 10 & 31);
    const double fraction = (double)(bits & 1023) / 1024;
    const double size = exponent == 31  ? (fraction > 0 ? (double)NAN : (double)INFINITY)
                        : exponent == 0 ? ldexp(fraction, -14)
                                        : ldexp(1 + fraction, exponent - 15);
    return (bits & 0x8000) != 0 ? -size : size;
}

static bool are_same(double a, double b) {
    return isnan(a) ? isnan(b) : a == b && signbit(a) == signbit(b);
}

static void halves_are_widened(void **state) {
    (void)state;
    static uint16_t halves[SLCI_STATS_BLOCK];
    static float out[SLCI_STATS_BLOCK];
    const slci_stats_taking taking = {.dtype = SLC_F16, .part = SLC_STATS_VALUE};
    for (int64_t s = 0; s < SLCI_STATS_SETS; s++) {
        for (unsigned first = 0; first < 65536 && slci_stats_sets[s]->is_supported();
             first += SLCI_STATS_BLOCK) {
            for (unsigned i = 0; i < SLCI_STATS_BLOCK; i++) {
                halves[i] = (uint16_t)(first + i);
            }
            assert_ptr_equal(slci_stats_sets[s]->take(&taking, halves, SLCI_STATS_BLOCK, out), out);
            for (unsigned i = 0; i < SLCI_STATS_BLOCK; i++) {
                assert_true(are_same((double)out[i], half_value(first + i)));
            }
        }
    }
}

/* Small integers keep their values; singles are their own. */
static void integers_are_widened(void **state) {
    (void)state;
    static int16_t words[300];
    static int32_t out[300];
    const slci_stats_taking signed_words = {.dtype = SLC_I16};
    const slci_stats_taking unsigned_words = {.dtype = SLC_U16};
    const slci_stats_taking singles = {.dtype = SLC_F32};
    for (int i = 0; i < 300; i++) {
        words[i] = (int16_t)(-32768 + 219 * i);
    }
    for (int64_t s = 0; s < SLCI_STATS_SETS; s++) {
        if (!slci_stats_sets[s]->is_supported()) {
            continue;
        }
        (void)slci_stats_sets[s]->take(&signed_words, words, 300, out);
        for (int i = 0; i < 300; i++) {
            assert_int_equal(out[i], -32768 + 219 * i);
        }
        (void)slci_stats_sets[s]->take(&unsigned_words, words, 300, out);
        for (int i = 0; i < 300; i++) {
            assert_int_equal(out[i], (65536 - 32768 + 219 * i) % 65536);
        }
        assert_ptr_equal(slci_stats_sets[s]->take(&singles, words, 150, out), words);
    }
}

/* Multiples of (3, 4) by powers of two have a whole absolute value; NaN in either half is NaN in both,
 * and infinite is infinite. */
static void complex_numbers_are_taken_apart(void **state) {
    (void)state;
    enum { N = 200 };
    static float singles[N][2];
    static double doubles[N][2];
    static float half[N];
    static double size[N];
    for (int k = 0; k < N; k++) {
        const float scale = ldexpf(k % 2 == 0 ? 1 : -1, k - N / 2);
        singles[k][0] = k % 20 == 3 ? NAN : k % 20 == 7 ? INFINITY : 3 * scale;
        singles[k][1] = k % 20 == 4 ? NAN : -4 * scale;
        doubles[k][0] = ldexp((double)singles[k][0], 9 * (k - N / 2));
        doubles[k][1] = ldexp((double)singles[k][1], 9 * (k - N / 2));
    }
    const slci_stats_taking parts[] = {{SLC_C64, SLC_STATS_REAL, true},
                                       {SLC_C64, SLC_STATS_IMAG, false},
                                       {SLC_C64, SLC_STATS_ABS, true},
                                       {SLC_C128, SLC_STATS_ABS, true},
                                       {SLC_C128, SLC_STATS_REAL, true}};
    for (int64_t s = 0; s < SLCI_STATS_SETS; s++) {
        if (!slci_stats_sets[s]->is_supported()) {
            continue;
        }
        (void)slci_stats_sets[s]->take(&parts[0], singles, N, half);
        for (int k = 0; k < N; k++) {
            assert_true(k % 20 == 4 ? isnan(half[k])
                                    : are_same((double)half[k], (double)singles[k][0]));
        }
        (void)slci_stats_sets[s]->take(&parts[1], singles, N, half);
        for (int k = 0; k < N; k++) {
            assert_true(are_same((double)half[k], (double)singles[k][1]));
        }
        for (int part = 2; part < 4; part++) {
            (void)slci_stats_sets[s]->take(&parts[part],
                                           part == 2 ? (void *)singles : (void *)doubles, N, size);
            for (int k = 0; k < N; k++) {
                const double expected = ldexp(5, (part == 2 ? 1 : 10) * (k - N / 2));
                assert_true(k % 20 == 3 || k % 20 == 4 ? isnan(size[k])
                            : k % 20 == 7              ? isinf(size[k]) && size[k] > 0
                                                       : size[k] == expected);
            }
        }
        (void)slci_stats_sets[s]->take(&parts[4], doubles, N, size);
        for (int k = 0; k < N; k++) {
            assert_true(k % 20 == 4 ? isnan(size[k]) : are_same(size[k], doubles[k][0]));
        }
    }
}

/* Pairs as their parts one by one: what is summed, and the absolute value's range with its places.
 * Where they say that they cannot be, nothing has been added. */
static void expect_pairs(const slci_stats_simd *set, const float *pairs, int64_t n,
                         int64_t *n_together) {
    static double parts[3][SLCI_STATS_BLOCK];
    slci_stats_partial found[3] = {{{0}}};
    slci_stats_partial expected;
    const slci_stats_partial nothing[3] = {{{0}}};
    for (int64_t k = 0; k < n; k++) {
        parts[0][k] = (double)pairs[2 * k];
        parts[1][k] = (double)pairs[2 * k + 1];
        parts[2][k] = sqrt(parts[0][k] * parts[0][k] + parts[1][k] * parts[1][k]);
    }
    if (!slci_stats_add_pairs(set, pairs, n, 0, found)) {
        assert_memory_equal(found, nothing, sizeof found);
        return;
    }
    (*n_together)++;
    for (int p = 0; p < 3; p++) {
        add_plainly(parts[p], n, &expected);
        const uint64_t *word = found[p].word;
        assert_int_equal(word[SLC_STATS_N], n);
        assert_int_equal(expected.word[SLC_STATS_N_NAN], 0);
        if (p < 2) {
            expect_equal_sums(word, expected.word);
        } else {
            assert_int_equal(word[SLC_STATS_PLACE_LOWEST], expected.word[SLC_STATS_PLACE_LOWEST]);
            assert_int_equal(word[SLC_STATS_PLACE_HIGHEST], expected.word[SLC_STATS_PLACE_HIGHEST]);
        }
    }
}

/* Of these mixtures all blocks of similar size are added at once, and none that has what is not finite.
 * Equal sizes, of which the first counts, come by the doubled pairs. */
static void pairs_add_up(void **state) {
    (void)state;
    uint64_t random = 6;
    static float pairs[2 * SLCI_STATS_BLOCK];
    for (int64_t round = 0; round < 20 * N_MIXTURES; round++) {
        const mixture kind = (mixture)(round % N_MIXTURES);
        const int64_t n = round < N_MIXTURES ? SLCI_STATS_BLOCK
                                             : 1 + test_random_below(&random, SLCI_STATS_BLOCK);
        for (int64_t i = 0; i < 2 * n; i++) {
            pairs[i] = (float)make_value(&random, kind, 127);
            pairs[i] = kind == EVEN ? ceilf(512 * pairs[i]) : pairs[i];
        }
        for (int64_t i = 0; i + 2 < n; i += 1 + test_random_below(&random, 9)) {
            memcpy(&pairs[2 * (i + 1)], &pairs[2 * i], 2 * sizeof *pairs);
        }
        for (int s = 0; s < SLCI_STATS_SETS; s++) {
            int64_t n_together = 0;
            if (slci_stats_sets[s]->is_supported()) {
                expect_pairs(slci_stats_sets[s], pairs, n, &n_together);
                assert_true(kind != EVEN || n_together == 1);
                assert_true(kind != NOTHING || n_together == 0);
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floats_add_up),        cmocka_unit_test(integers_add_up),
        cmocka_unit_test(pairs_add_up),         cmocka_unit_test(halves_are_widened),
        cmocka_unit_test(integers_are_widened), cmocka_unit_test(complex_numbers_are_taken_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
