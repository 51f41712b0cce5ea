/* A block of up to 1024 values or complex numbers on the host: its range, its exact sums, its keys.
 *
 * Sums of floats are exact in plain double precision where the values are of similar size, because
 * all terms are then multiples of one unit and no sum passes 2^53 units. A sum that begins at a power
 * of two S above all that will be added to it, or at 1.5 S where it may fall, rounds every addition
 * to S 2^-52; what that leaves of a term is exact too and goes into a second sum. With
 * 2^E <= largest < 2^(E+1), smallest not zero >= 2^(E-R), and 2^10 values:
 *
 *     singles  Σx          unit 2^(E-R-23)     bound 2^(E+11)     R <= 19
 *              Σ(x² high)  unit 2^(2E-40)      bound 2^(2E+12)    always; S is the bound
 *              Σ(x² low)   unit 2^(2E-2R-46)   bound 2^(2E-31)    R <= 19
 *     doubles  Σ(x high)   unit 2^(E-40)       bound 2^(E+11)     always; S is twice the bound
 *              Σ(x low)    unit 2^(E-R-52)     bound 2^(E-31)     R <= 32
 *              x² = p + e, p rounded to 53 bits, e <= 2^(2E-52)
 *              Σ(p high)   unit 2^(2E-40)      bound 2^(2E+12)    always; S is the bound
 *              Σ(p low)    unit 2^(2E-2R-52)   bound 2^(2E-31)    R <= 16
 *              Σ(e high)   unit 2^(2E-93)      bound 2^(2E-42)    always; S is twice the bound
 *              Σ(e low)    unit 2^(2E-2R-104)  bound 2^(2E-84)    R <= 16
 *
 * Values that are smaller, few as a rule, and those that are not finite are taken out of the block and
 * treated one by one.
 *
 * Of complex numbers the absolute value is formed where it may be a new end of the range. Since roots
 * of rising numbers do not fall when they are rounded, the least one is that of the least re² + im². */
#include <string.h>

#include "core/checked.h"
#include "kernels/stats_exact.h"
#include "kernels/stats_internal.h"
#include "kernels/stats_tile.h"

/* R above. */
#define F32_REACH 19
#define F64_REACH 16

/* Biased exponents of doubles between which squares and their errors are normal numbers. */
#define F64_LEAST_EXPONENT (1023 - 440)
#define F64_MOST_EXPONENT (1023 + 480)

#define F32_INFINITY 0x7f800000u
#define F64_INFINITY 0x7ff0000000000000u

static int64_t *sum_of(slci_stats_partial *partial) {
    return (int64_t *)&partial->word[SLC_STATS_SUM];
}

static int64_t *squares_of(slci_stats_partial *partial) {
    return (int64_t *)&partial->word[SLC_STATS_SQUARES];
}

/* ---- keys --------------------------------------------------------------------------------------- */

void slci_stats_take_keys(const slci_stats_simd *simd, const slci_stats_block *block,
                          slci_stats_keys *keys) {
    keys->is_wide = block->class_of != SLCI_STATS_I32 && block->class_of != SLCI_STATS_F32;
    keys->n_nan = 0;
    keys->below = 0;
    keys->above = keys->is_wide ? UINT64_MAX : UINT32_MAX;
    switch (block->class_of) {
    case SLCI_STATS_I32:
        simd->keys_i32(block->values, block->n, (uint32_t)block->bias, keys->key.narrow);
        break;
    case SLCI_STATS_F32:
        keys->n_nan = simd->keys_f32(block->values, block->n, F32_INFINITY, keys->key.narrow);
        keys->below = slci_stats_key_f32(F32_INFINITY | 0x80000000u);
        keys->above = slci_stats_key_f32(F32_INFINITY);
        break;
    case SLCI_STATS_F64:
        keys->n_nan = simd->keys_f64(block->values, block->n, F64_INFINITY, keys->key.wide);
        keys->below = slci_stats_key_f64(F64_INFINITY | 0x8000000000000000u);
        keys->above = slci_stats_key_f64(F64_INFINITY);
        break;
    default:
        simd->keys_i64(block->values, block->n, block->bias, keys->key.wide);
        break;
    }
}

int64_t slci_stats_pick(const slci_stats_simd *simd, const slci_stats_keys *keys, int64_t n,
                        uint64_t first, uint64_t last, int16_t *picked) {
    const uint64_t from = first > keys->below ? first : keys->below;
    const uint64_t to = last < keys->above ? last : keys->above;
    if (from > to) {
        return 0;
    }
    return keys->is_wide ? simd->pick_wide(keys->key.wide, n, from, to - from, picked)
                         : simd->pick_narrow(keys->key.narrow, n, (uint32_t)from,
                                             (uint32_t)(to - from), picked);
}

/* ---- the range ---------------------------------------------------------------------------------- */

static bool is_lower(const slci_stats_partial *partial, uint64_t key) {
    const uint64_t *word = partial->word;
    return word[SLC_STATS_PLACE_LOWEST] == 0 || key < word[SLC_STATS_LOWEST];
}

static bool is_higher(const slci_stats_partial *partial, uint64_t key) {
    const uint64_t *word = partial->word;
    return word[SLC_STATS_PLACE_HIGHEST] == 0 || key > word[SLC_STATS_HIGHEST];
}

/* The ends of a block's range, and where they are, which is looked for only if they are new. */
static void add_range(const slci_stats_simd *simd, const slci_stats_block *block, uint64_t lowest,
                      uint64_t highest, slci_stats_partial *partial) {
    uint64_t *word = partial->word;
    const bool has_lower = block->has_range && is_lower(partial, lowest);
    const bool has_higher = block->has_range && is_higher(partial, highest);
    if (!has_lower && !has_higher) {
        return;
    }
    slci_stats_keys keys;
    int16_t found[SLCI_STATS_BLOCK];
    slci_stats_take_keys(simd, block, &keys);
    if (has_lower && slci_stats_pick(simd, &keys, block->n, lowest, lowest, found) > 0) {
        word[SLC_STATS_LOWEST] = lowest;
        word[SLC_STATS_PLACE_LOWEST] = (uint64_t)(block->ordinal + found[0]) + 1;
    }
    if (has_higher && slci_stats_pick(simd, &keys, block->n, highest, highest, found) > 0) {
        word[SLC_STATS_HIGHEST] = highest;
        word[SLC_STATS_PLACE_HIGHEST] = (uint64_t)(block->ordinal + found[0]) + 1;
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
    add_range(simd, block, (uint64_t)sums.lowest - block->bias,
              (uint64_t)sums.highest - block->bias, partial);
}

/* ---- floats ------------------------------------------------------------------------------------- */

static void add_infinite(bool is_above, int64_t ordinal, slci_stats_partial *partial) {
    uint64_t *place = &partial->word[is_above ? SLC_STATS_PLACE_ABOVE : SLC_STATS_PLACE_BELOW];
    partial->word[is_above ? SLC_STATS_N_ABOVE : SLC_STATS_N_BELOW]++;
    *place = *place == 0 ? (uint64_t)ordinal + 1 : *place;
}

static void add_terms(const slci_stats_terms *terms, slci_stats_partial *partial) {
    for (int t = 0; t < SLCI_STATS_TERMS; t++) {
        if (terms->sum[t] != 0) {
            slci_exact_add(sum_of(partial), SLCI_SUM_POINT, terms->sum[t]);
        }
        if (terms->square[t] != 0) {
            slci_exact_add(squares_of(partial), SLCI_SQUARE_POINT, terms->square[t]);
        }
    }
}

/* From which bits on values are summed together, and where their sums begin. */
typedef struct summing {
    uint64_t least;
    slci_stats_rounding rounding;
} summing;

static summing choose_f32(uint64_t largest) {
    const int exponent = largest >> 23 == 0 ? 1 : (int)(largest >> 23);
    const uint64_t least = exponent > F32_REACH + 1 ? (uint64_t)(exponent - F32_REACH) << 23 : 0;
    return (summing){.least = least,
                     .rounding.square = slci_stats_power(2 * (exponent - 127) + 12)};
}

static summing choose_f64(uint64_t largest) {
    const int exponent = (int)(largest >> 52);
    const int unbiased = exponent - 1023;
    if (exponent < F64_LEAST_EXPONENT || exponent > F64_MOST_EXPONENT) {
        return (summing){.least = F64_INFINITY}; /* none are */
    }
    return (summing){.least = (uint64_t)(exponent - F64_REACH) << 52,
                     .rounding = {.sum = 1.5 * slci_stats_power(unbiased + 12),
                                  .square = slci_stats_power(2 * unbiased + 12),
                                  .error = 1.5 * slci_stats_power(2 * unbiased - 41)}};
}

#define REAL float
#define BITS uint32_t
#define REAL_INFINITY F32_INFINITY
#define LOOP(name) name##_f32
#include "kernels/stats_block_real_body.h"

#define REAL double
#define BITS uint64_t
#define REAL_INFINITY F64_INFINITY
#define LOOP(name) name##_f64
#include "kernels/stats_block_real_body.h"

/* ---- complex numbers ---------------------------------------------------------------------------- */

static uint64_t key_of_root(double square) {
    const double root = sqrt(square);
    uint64_t bits;
    memcpy(&bits, &root, sizeof bits);
    return slci_stats_key_f64(bits);
}

bool slci_stats_add_pairs(const slci_stats_simd *simd, const float *pairs, int64_t n,
                          int64_t ordinal, slci_stats_partial partial[3]) {
    slci_stats_range range;
    slci_stats_terms terms[2];
    slci_stats_sizes sizes;
    simd->range_f32(pairs, 2 * n, &range);
    const uint64_t largest = largest_of_f32(&range);
    const summing how = choose_f32(largest);
    if (largest >= F32_INFINITY || range.smallest < how.least) {
        return false;
    }
    simd->terms_c64(pairs, n, &how.rounding, terms, &sizes);
    add_terms(&terms[0], &partial[0]);
    add_terms(&terms[1], &partial[1]);
    for (int p = 0; p < 3; p++) {
        partial[p].word[SLC_STATS_N] += (uint64_t)n;
    }
    const uint64_t lowest = key_of_root(sizes.least);
    const uint64_t highest = key_of_root(sizes.most);
    if (is_lower(&partial[2], lowest) || is_higher(&partial[2], highest)) {
        const slci_stats_taking taking = {SLC_C64, SLC_STATS_ABS, true};
        double values[SLCI_STATS_BLOCK];
        const slci_stats_block block = {.class_of = SLCI_STATS_F64,
                                        .values = simd->take(&taking, pairs, n, values),
                                        .n = n,
                                        .ordinal = ordinal,
                                        .has_range = true};
        add_range(simd, &block, lowest, highest, &partial[2]);
    }
    return true;
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
