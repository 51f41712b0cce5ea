/* Two lanes, and squares without a fused multiply-add; included after kernels/stats_simd_body.h. A
 * square's error is found after T. J. Dekker, A floating-point technique for extending the available
 * precision (1971): the factor's halves have 26 bits, so that their products are exact. */
static inline lanes widen(single_lanes x) {
    return __builtin_convertvector(x, lanes);
}

static inline lanes add_square(lanes x, lanes more) {
    return x * x + more;
}

static inline lanes square_error(lanes x, lanes square) {
    const lanes shifted = x * 134217729.0; /* 2^27 + 1 */
    const lanes high = shifted - (shifted - x);
    const lanes low = x - high;
    return ((high * high - square) + 2.0 * high * low) + low * low;
}

static inline lanes neighbours(lanes x) {
    return (lanes){x[1], x[0]};
}

static inline lanes least_of(lanes a, lanes b) {
    return (lanes){a[0] < b[0] ? a[0] : b[0], a[1] < b[1] ? a[1] : b[1]};
}

static inline lanes most_of(lanes a, lanes b) {
    return (lanes){a[0] > b[0] ? a[0] : b[0], a[1] > b[1] ? a[1] : b[1]};
}
