/* A block of up to 1024 values on the host: its range, its exact sums, its keys.
 *
 * Sums of floats are exact in plain double precision where the values are of similar size, because all
 * terms are then multiples of one unit and no sum passes 2^53 units. With 2^E <= largest < 2^(E+1),
 * smallest not zero >= 2^(E-R), and 2^10 values:
 *
 *     singles  Σx          unit 2^(E-R-23)     bound 2^(E+11)     R <= 19
 *              Σ(x² high)  unit 2^(2E-41)      bound 2^(2E+12)    always; x² rounded to the unit
 *              Σ(x² low)   unit 2^(2E-2R-46)   bound 2^(2E-32)    R <= 19
 *     doubles  Σ(x high)   unit 2^(E-42)       bound 2^(E+11)     always; x rounded to the unit
 *              Σ(x low)    unit 2^(E-R-52)     bound 2^(E-33)     R <= 34
 *              x² = p + e, p rounded to 53 bits, e <= 2^(2E-52)
 *              Σ(p high)   unit 2^(2E-41)      bound 2^(2E+12)    always
 *              Σ(p low)    unit 2^(2E-2R-52)   bound 2^(2E-32)    R <= 16
 *              Σ(e high)   unit 2^(2E-94)      bound 2^(2E-42)    always
 *              Σ(e low)    unit 2^(2E-2R-104)  bound 2^(2E-85)    R <= 17
 *
 * Values that are smaller, few as a rule, and those that are not finite are taken out of the block and
 * treated one by one. */
#include <string.h>

#include "core/checked.h"
#include "kernels/stats_exact.h"
#include "kernels/stats_internal.h"
#include "kernels/stats_tile.h"

#define F32_REACH 19
#define F64_REACH 16

/* Biased exponents of doubles between which squares and their errors are normal numbers. */
#define F64_LEAST_EXPONENT (1023 - 440)
#define F64_MOST_EXPONENT (1023 + 480)

static int64_t *sum_of(slci_stats_partial *partial) {
    return (int64_t *)&partial->word[SLC_STATS_SUM];
}

static int64_t *squares_of(slci_stats_partial *partial) {
    return (int64_t *)&partial->word[SLC_STATS_SQUARES];
}

/* ---- the range ---------------------------------------------------------------------------------- */

/* The ends of a block's range, and where they are, which is looked for only if they are new. */
static void add_range(const slci_stats_block *block, uint64_t lowest, uint64_t highest,
                      slci_stats_partial *partial) {
    uint64_t *word = partial->word;
    const bool is_lower = word[SLC_STATS_PLACE_LOWEST] == 0 || lowest < word[SLC_STATS_LOWEST];
    const bool is_higher = word[SLC_STATS_PLACE_HIGHEST] == 0 || highest > word[SLC_STATS_HIGHEST];
    if (!is_lower && !is_higher) {
        return;
    }
    uint64_t keys[SLCI_STATS_BLOCK] = {0};
    uint8_t is_nan[SLCI_STATS_BLOCK] = {0};
    (void)slci_stats_keys(block, keys, is_nan);
    int64_t i = 0;
    while (is_lower && keys[i] != lowest) {
        i++;
    }
    if (is_lower) {
        word[SLC_STATS_LOWEST] = lowest;
        word[SLC_STATS_PLACE_LOWEST] = (uint64_t)(block->ordinal + i) + 1;
    }
    i = 0;
    while (is_higher && keys[i] != highest) {
        i++;
    }
    if (is_higher) {
        word[SLC_STATS_HIGHEST] = highest;
        word[SLC_STATS_PLACE_HIGHEST] = (uint64_t)(block->ordinal + i) + 1;
    }
}

/* ---- integers ----------------------------------------------------------------------------------- */

static void add_whole(const slci_stats_simd *simd, const slci_stats_block *block,
                      slci_stats_partial *partial) {
    slci_stats_whole sums;
    switch (block->class_of) {
    case SLCI_STATS_I32:
        simd->whole_i32(block->values, block->n, &sums);
        break;
    case SLCI_STATS_I64:
        simd->whole_i64(block->values, block->n, &sums);
        break;
    default:
        simd->whole_u64(block->values, block->n, &sums);
        break;
    }
    int64_t *sum = sum_of(partial);
    int64_t *squares = squares_of(partial);
    const bool is_negative = sums.high < 0;
    const uint64_t high = (uint64_t)sums.high;
    slci_exact_add_whole(sum, SLCI_SUM_POINT, sums.low, 0, 0);
    slci_exact_add_whole(sum, SLCI_SUM_POINT, is_negative ? 0 - high : high, 1, is_negative);
    for (int k = 0; k < 3; k++) {
        for (int times = 0; times < (k == 1 ? 2 : 1); times++) { /* 2 a b */
            slci_exact_add_whole(squares, SLCI_SQUARE_POINT, sums.square_low[k], k, 0);
            slci_exact_add_whole(squares, SLCI_SQUARE_POINT, sums.square_high[k], k + 1, 0);
        }
    }
    add_range(block, (uint64_t)sums.lowest - block->bias, (uint64_t)sums.highest - block->bias,
              partial);
}

/* ---- floats that are treated one by one --------------------------------------------------------- */

/* A value of a block that is not NaN; not part of the range yet. */
static void add_one(double value, int64_t ordinal, slci_stats_partial *partial) {
    uint64_t *word = partial->word;
    if (isinf(value)) {
        const int n = value > 0 ? SLC_STATS_N_ABOVE : SLC_STATS_N_BELOW;
        const int place = value > 0 ? SLC_STATS_PLACE_ABOVE : SLC_STATS_PLACE_BELOW;
        word[n]++;
        word[place] = word[place] == 0 ? (uint64_t)ordinal + 1 : word[place];
        return;
    }
    slci_exact_add(sum_of(partial), SLCI_SUM_POINT, value);
    slci_exact_add_square(squares_of(partial), value);
}

/* The range of the finite values of a block that has others too. */
static bool find_range(const slci_stats_block *block, uint64_t *lowest, uint64_t *highest) {
    double values[SLCI_STATS_BLOCK];
    uint64_t keys[SLCI_STATS_BLOCK];
    uint8_t is_nan[SLCI_STATS_BLOCK];
    bool is_found = false;
    slci_stats_doubles(block, values);
    (void)slci_stats_keys(block, keys, is_nan);
    for (int64_t i = 0; i < block->n; i++) {
        if (isfinite(values[i])) {
            *lowest = !is_found || keys[i] < *lowest ? keys[i] : *lowest;
            *highest = !is_found || keys[i] > *highest ? keys[i] : *highest;
            is_found = true;
        }
    }
    return is_found;
}

/* ---- singles ------------------------------------------------------------------------------------ */

/* Copies what is from `least` to below `limit` in size, puts 0 for the rest, and adds that one by
 * one. `out` may be where the values are. */
static void take_out_f32(const slci_stats_block *block, uint32_t least, uint32_t limit, float *out,
                         slci_stats_partial *partial) {
    const float *values = block->values;
    for (int64_t i = 0; i < block->n; i++) {
        const float value = values[i];
        uint32_t bits;
        memcpy(&bits, &value, sizeof bits);
        const uint32_t size = bits & 0x7fffffffu;
        const bool is_kept = size >= least && size < limit;
        out[i] = is_kept ? value : 0;
        if (!is_kept && size > 0x7f800000u) {
            partial->word[SLC_STATS_N_NAN]++;
        } else if (!is_kept && size != 0) {
            add_one((double)value, block->ordinal + i, partial);
        }
    }
}

static void add_terms(const slci_stats_terms *terms, slci_stats_partial *partial) {
    for (int t = 0; t < SLCI_STATS_TERMS; t++) {
        slci_exact_add(sum_of(partial), SLCI_SUM_POINT, terms->sum[t]);
        slci_exact_add(squares_of(partial), SLCI_SQUARE_POINT, terms->square[t]);
    }
}

/* The key of a number that orders as the float does. */
static uint64_t f32_key(int64_t order) {
    return (uint64_t)(order + INT64_C(0x80000000)) - (order < 0 ? 1 : 0);
}

static uint64_t f64_key(int64_t order) {
    return ((uint64_t)order ^ 0x8000000000000000u) - (order < 0 ? 1 : 0);
}

static void add_f32(const slci_stats_simd *simd, const slci_stats_block *block,
                    slci_stats_partial *partial) {
    const uint32_t infinity = 0x7f800000u;
    float cleaned[SLCI_STATS_BLOCK];
    const float *values = block->values;
    slci_stats_range range;
    simd->range_f32(values, block->n, &range);
    uint32_t largest = (uint32_t)range.largest;
    uint64_t lowest = f32_key(range.lowest);
    uint64_t highest = f32_key(range.highest);
    bool has_range = true;
    if (largest >= infinity) {
        has_range = find_range(block, &lowest, &highest);
        take_out_f32(block, 0, infinity, cleaned, partial);
        slci_stats_range finite;
        simd->range_f32(cleaned, block->n, &finite);
        range.smallest = finite.smallest;
        largest = (uint32_t)finite.largest;
        values = cleaned;
    }
    if (has_range) {
        add_range(block, lowest, highest, partial);
    }
    const int exponent = largest >> 23 == 0 ? 1 : (int)(largest >> 23);
    const uint32_t least = exponent > F32_REACH + 1 ? (uint32_t)(exponent - F32_REACH) << 23 : 0;
    if (range.smallest < least) {
        const slci_stats_block rest = {.values = values, .n = block->n, .ordinal = block->ordinal};
        take_out_f32(&rest, least, infinity, cleaned, partial);
        values = cleaned;
    }
    const slci_stats_rounding rounding = {.square =
                                              1.5 * slci_stats_power(2 * (exponent - 127) + 11)};
    slci_stats_terms terms;
    simd->terms_f32(values, block->n, &rounding, &terms);
    add_terms(&terms, partial);
}

/* ---- doubles ------------------------------------------------------------------------------------ */

static void take_out_f64(const slci_stats_block *block, uint64_t least, uint64_t limit, double *out,
                         slci_stats_partial *partial) {
    const double *values = block->values;
    for (int64_t i = 0; i < block->n; i++) {
        const double value = values[i];
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        const uint64_t size = bits & 0x7fffffffffffffffu;
        const bool is_kept = size >= least && size < limit;
        out[i] = is_kept ? value : 0;
        if (!is_kept && size > 0x7ff0000000000000u) {
            partial->word[SLC_STATS_N_NAN]++;
        } else if (!is_kept && size != 0) {
            add_one(value, block->ordinal + i, partial);
        }
    }
}

static void add_f64(const slci_stats_simd *simd, const slci_stats_block *block,
                    slci_stats_partial *partial) {
    const uint64_t infinity = 0x7ff0000000000000u;
    double cleaned[SLCI_STATS_BLOCK];
    const double *values = block->values;
    slci_stats_range range;
    simd->range_f64(values, block->n, &range);
    uint64_t largest = range.largest;
    uint64_t lowest = f64_key(range.lowest);
    uint64_t highest = f64_key(range.highest);
    bool has_range = true;
    if (largest >= infinity) {
        has_range = find_range(block, &lowest, &highest);
        take_out_f64(block, 0, infinity, cleaned, partial);
        slci_stats_range finite;
        simd->range_f64(cleaned, block->n, &finite);
        range.smallest = finite.smallest;
        largest = finite.largest;
        values = cleaned;
    }
    if (has_range) {
        add_range(block, lowest, highest, partial);
    }
    const int exponent = (int)(largest >> 52);
    const bool is_moderate = exponent >= F64_LEAST_EXPONENT && exponent <= F64_MOST_EXPONENT;
    const uint64_t least = is_moderate ? (uint64_t)(exponent - F64_REACH) << 52 : infinity;
    if (range.smallest < least) {
        const slci_stats_block rest = {.values = values, .n = block->n, .ordinal = block->ordinal};
        take_out_f64(&rest, least, infinity, cleaned, partial);
        values = cleaned;
    }
    if (!is_moderate) {
        return;
    }
    const int unbiased = exponent - 1023;
    const slci_stats_rounding rounding = {.sum = 1.5 * slci_stats_power(unbiased + 10),
                                          .square = 1.5 * slci_stats_power(2 * unbiased + 11),
                                          .error = 1.5 * slci_stats_power(2 * unbiased - 42)};
    slci_stats_terms terms;
    simd->terms_f64(values, block->n, &rounding, &terms);
    add_terms(&terms, partial);
}

/* ---- a block ------------------------------------------------------------------------------------ */

void slci_stats_add_block(const slci_stats_simd *simd, const slci_stats_block *block,
                          slci_stats_partial *partial) {
    partial->word[SLC_STATS_N] += (uint64_t)block->n;
    switch (block->class_of) {
    case SLCI_STATS_F32:
        add_f32(simd, block, partial);
        break;
    case SLCI_STATS_F64:
        add_f64(simd, block, partial);
        break;
    default:
        add_whole(simd, block, partial);
        break;
    }
}

static int64_t keys_of_singles(const uint32_t *bits, int64_t n, uint64_t *keys, uint8_t *is_nan) {
    int64_t n_nan = 0;
    for (int64_t i = 0; i < n; i++) {
        keys[i] = slci_stats_key_f32(bits[i]);
        is_nan[i] = (bits[i] & 0x7fffffffu) > 0x7f800000u;
        n_nan += is_nan[i];
    }
    return n_nan;
}

static int64_t keys_of_doubles(const uint64_t *bits, int64_t n, uint64_t *keys, uint8_t *is_nan) {
    int64_t n_nan = 0;
    for (int64_t i = 0; i < n; i++) {
        keys[i] = slci_stats_key_f64(bits[i]);
        is_nan[i] = (bits[i] & 0x7fffffffffffffffu) > 0x7ff0000000000000u;
        n_nan += is_nan[i];
    }
    return n_nan;
}

int64_t slci_stats_keys(const slci_stats_block *block, uint64_t *keys, uint8_t *is_nan) {
    if (block->class_of == SLCI_STATS_F32) {
        return keys_of_singles(block->values, block->n, keys, is_nan);
    }
    if (block->class_of == SLCI_STATS_F64) {
        return keys_of_doubles(block->values, block->n, keys, is_nan);
    }
    memset(is_nan, 0, (size_t)block->n);
    for (int64_t i = 0; i < block->n; i++) {
        const uint64_t value = block->class_of == SLCI_STATS_I32
                                   ? (uint64_t)((const int32_t *)block->values)[i]
                                   : ((const uint64_t *)block->values)[i];
        keys[i] = value - block->bias;
    }
    return 0;
}

void slci_stats_doubles(const slci_stats_block *block, double *values) {
    for (int64_t i = 0; i < block->n; i++) {
        switch (block->class_of) {
        case SLCI_STATS_I32:
            values[i] = ((const int32_t *)block->values)[i];
            break;
        case SLCI_STATS_I64:
            values[i] = (double)((const int64_t *)block->values)[i];
            break;
        case SLCI_STATS_U64:
            values[i] = (double)((const uint64_t *)block->values)[i];
            break;
        case SLCI_STATS_F32:
            values[i] = (double)((const float *)block->values)[i];
            break;
        default:
            values[i] = ((const double *)block->values)[i];
            break;
        }
    }
}
