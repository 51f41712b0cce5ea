/* The sums of a block of singles or doubles, included by kernels/stats_block.c once for each, with
 *
 *     REAL, BITS     the type, and the whole number of its size
 *     REAL_INFINITY  the bits of infinity
 *     LOOP(name)     the name for the type
 */
#define REAL_SIGN ((BITS)1 << (8 * sizeof(BITS) - 1))

/* Of a number that orders as the float does: its absolute value's bits, and its key. */
static uint64_t LOOP(size_of)(int64_t order) {
    return (uint64_t)(order < 0 ? -(order + 1) : order);
}

static uint64_t LOOP(key_of)(int64_t order) {
    return (uint64_t)((BITS)order ^ REAL_SIGN) + (order == -1 ? 1 : 0);
}

static uint64_t LOOP(largest_of)(const slci_stats_range *range) {
    const uint64_t low = LOOP(size_of)(range->lowest);
    const uint64_t high = LOOP(size_of)(range->highest);
    return low > high ? low : high;
}

/* Counts what is not finite, and puts one of the finite values for it, so that the range is that of the
 * others; false where there is none. */
static bool LOOP(take_out)(const slci_stats_simd *simd, const slci_stats_block *block, REAL *out,
                           slci_stats_partial *partial) {
    const REAL *x = block->values;
    const slci_stats_kept numbers = {.limit = REAL_INFINITY + 1};
    const int64_t n_nan = simd->LOOP(keep)(x, block->n, &numbers, out);
    int64_t i = 0;
    while (i < block->n && !isfinite(x[i])) {
        i++;
    }
    const bool has_finite = i < block->n;
    const slci_stats_kept finite = {.limit = REAL_INFINITY, .other = has_finite ? (double)x[i] : 0};
    const int64_t n_others = simd->LOOP(keep)(x, block->n, &finite, out);
    partial->word[SLC_STATS_N_NAN] += (uint64_t)n_nan;
    for (i = 0; i < block->n && n_others > n_nan; i++) {
        if (isinf(x[i])) {
            add_infinite(x[i] > 0, block->ordinal + i, partial);
        }
    }
    return has_finite;
}

/* Adds values too small to be summed with the others one by one. */
static void LOOP(add_small)(const slci_stats_block *block, uint64_t least,
                            slci_stats_partial *partial) {
    const REAL *x = block->values;
    for (int64_t i = 0; i < block->n; i++) {
        BITS bits;
        memcpy(&bits, &x[i], sizeof bits);
        const uint64_t size = bits & ~REAL_SIGN;
        if (size != 0 && size < least) {
            slci_exact_add(sum_of(partial), SLCI_SUM_POINT, (double)x[i]);
            slci_exact_add_square(squares_of(partial), (double)x[i]);
        }
    }
}

static void LOOP(add)(const slci_stats_simd *simd, const slci_stats_block *block,
                      slci_stats_partial *partial) {
    const REAL *x = block->values;
    REAL cleaned[SLCI_STATS_BLOCK];
    slci_stats_range range;
    slci_stats_terms terms;
    simd->LOOP(range)(x, block->n, &range);
    const bool is_finite = LOOP(largest_of)(&range) < REAL_INFINITY;
    if (!is_finite) {
        if (!LOOP(take_out)(simd, block, cleaned, partial)) {
            return;
        }
        simd->LOOP(range)(cleaned, block->n, &range);
    }
    add_range(simd, block, LOOP(key_of)(range.lowest), LOOP(key_of)(range.highest), partial);
    if (!block->has_sums) {
        return;
    }
    const summing how = LOOP(choose)(LOOP(largest_of)(&range));
    const bool has_small = range.smallest < how.least;
    if (has_small) {
        LOOP(add_small)(block, how.least, partial);
    }
    if (has_small || !is_finite) {
        const slci_stats_kept kept = {.least = how.least, .limit = REAL_INFINITY};
        (void)simd->LOOP(keep)(x, block->n, &kept, cleaned);
        x = cleaned;
    }
    simd->LOOP(terms)(x, block->n, &how.rounding, &terms);
    add_terms(&terms, partial);
}

#undef REAL_SIGN
#undef REAL
#undef BITS
#undef REAL_INFINITY
#undef LOOP
