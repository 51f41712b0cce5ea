/* Loops over singles or doubles as bits, included by kernels/stats_simd_body.h once for each, with
 *
 *     REAL, BITS, ORDER  the type, and the whole numbers of its size without and with a sign
 *     LOOP(name)         the loop's name for the type
 *
 * All of them are whole-number loops that a compiler turns into vectors by itself. */
#define REAL_SIGN ((BITS)1 << (8 * sizeof(BITS) - 1))

/* A number with a sign that orders as floats do, -0 being just below 0: the bits, and below zero all
 * but the sign turned over. */
static inline ORDER LOOP(order)(BITS bits) {
    const BITS below = (BITS)((ORDER)bits >> (8 * sizeof(BITS) - 1));
    return (ORDER)(bits ^ (below & ~REAL_SIGN));
}

/* Zero wraps to the largest number when one is taken from it, and so is never the smallest. */
static void LOOP(range)(const REAL *x, int64_t n, slci_stats_range *out) {
    const ORDER most = (ORDER)~REAL_SIGN;
    BITS smallest = ~(BITS)0;
    ORDER lowest = most;
    ORDER highest = -most - 1;
    for (int64_t i = 0; i < n; i++) {
        BITS bits;
        memcpy(&bits, &x[i], sizeof bits);
        const BITS below_size = (bits & ~REAL_SIGN) - 1;
        const ORDER order = LOOP(order)(bits);
        smallest = below_size < smallest ? below_size : smallest;
        lowest = order < lowest ? order : lowest;
        highest = order > highest ? order : highest;
    }
    *out = (slci_stats_range){.smallest = smallest == ~(BITS)0 ? UINT64_MAX : smallest + 1,
                              .lowest = lowest,
                              .highest = highest};
}

static int64_t LOOP(keys)(const REAL *x, int64_t n, BITS infinity, BITS *keys) {
    BITS n_nan = 0;
    for (int64_t i = 0; i < n; i++) {
        BITS bits;
        memcpy(&bits, &x[i], sizeof bits);
        const ORDER order = LOOP(order)(bits);
        keys[i] = ((BITS)order ^ REAL_SIGN) + (order == -1 ? 1 : 0);
        n_nan += (bits & ~REAL_SIGN) > infinity ? 1 : 0;
    }
    return (int64_t)n_nan;
}

static int64_t LOOP(keep)(const REAL *x, int64_t n, const slci_stats_kept *kept, REAL *out) {
    const BITS least = (BITS)kept->least;
    const BITS width = (BITS)(kept->limit - kept->least);
    const REAL other = (REAL)kept->other;
    BITS n_other = 0;
    for (int64_t i = 0; i < n; i++) {
        BITS bits;
        memcpy(&bits, &x[i], sizeof bits);
        const bool is_kept = (bits & ~REAL_SIGN) - least < width;
        out[i] = is_kept ? x[i] : other;
        n_other += is_kept ? 0 : 1;
    }
    return (int64_t)n_other;
}

/* Few lie in the range as a rule: only where there are any in a stretch is each looked at. */
static int64_t LOOP(pick)(const BITS *keys, int64_t n, BITS first, BITS width, int16_t *picked) {
    int64_t n_picked = 0;
    for (int64_t begin = 0; begin < n; begin += PICK_STRETCH) {
        const int64_t end = begin + PICK_STRETCH < n ? begin + PICK_STRETCH : n;
        BITS n_inside = 0;
        for (int64_t i = begin; i < end; i++) {
            n_inside += keys[i] - first <= width ? 1 : 0;
        }
        for (int64_t i = begin; i < end && n_inside > 0; i++) {
            picked[n_picked] = (int16_t)i;
            n_picked += keys[i] - first <= width ? 1 : 0;
        }
    }
    return n_picked;
}

#undef REAL_SIGN
#undef REAL
#undef BITS
#undef ORDER
#undef LOOP
