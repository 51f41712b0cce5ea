/* The error of a square without a fused multiply-add, after T. J. Dekker, A floating-point technique
 * for extending the available precision (1971): the factor's halves have 26 bits, so that their
 * products are exact. Included after kernels/stats_simd_body.h. */
static inline void square_error(const lanes *x, const lanes *square, lanes *error) {
    const lanes shifted = *x * 134217729.0; /* 2^27 + 1 */
    const lanes high = shifted - (shifted - *x);
    const lanes low = *x - high;
    *error = ((high * high - *square) + 2.0 * high * low) + low * low;
}
