/* 128-bit fixed-point sums: addition that does not depend on order.
 * A sum of floating-point numbers changes with the order of its terms; integers do not. Partial sums
 * of image tiles are turned into 128-bit integers at one fixed scale, so neither tile order, nor
 * splits, nor the number of devices can change a bit of the result. Shared by host and device code.
 *
 *     slc_fixed sum = slc_fixed_zero();
 *     sum = slc_fixed_add(sum, slc_fixed_from_double(partial, scale_bits));
 *     double value = slc_fixed_to_double(sum, scale_bits);
 */
#ifndef SLC_CORE_FIXED_H
#define SLC_CORE_FIXED_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "core/api.h"

/* Two's complement, low word first: value = high · 2^64 + low. */
typedef struct slc_fixed {
    uint64_t low;
    int64_t high;
} slc_fixed;

/* The first non-empty granule's Σ|wV| sits at this bit, which leaves a resolution of 2^-50 of it ... */
#define SLC_FIXED_FIRST_BIT 50
/* ... and a granule past this bit is refused: 2^27 granules of that size still cannot overflow. */
#define SLC_FIXED_LAST_BIT 100

static SLC_HOST_DEVICE inline slc_fixed slc_fixed_zero(void) {
    slc_fixed zero;
    zero.low = 0;
    zero.high = 0;
    return zero;
}

static SLC_HOST_DEVICE inline slc_fixed slc_fixed_add(slc_fixed a, slc_fixed b) {
    slc_fixed sum;
    sum.low = a.low + b.low;
    sum.high = (int64_t)((uint64_t)a.high + (uint64_t)b.high + (sum.low < a.low ? 1u : 0u));
    return sum;
}

static SLC_HOST_DEVICE inline slc_fixed slc_fixed_negate(slc_fixed a) {
    slc_fixed negative;
    negative.low = ~a.low + 1u;
    negative.high = (int64_t)(~(uint64_t)a.high + (negative.low == 0 ? 1u : 0u));
    return negative;
}

/* round(value · 2^scale_bits), ties away from zero, by integer operations only, so that every device
 * gives the same bits. |value| · 2^scale_bits must stay below 2^126 and value be finite: the caller
 * has bounded it by Σ|wV| of its granule. */
static SLC_HOST_DEVICE inline slc_fixed slc_fixed_from_double(double value, int scale_bits) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const int exponent = (int)((bits >> 52) & 0x7ff);
    if (exponent == 0) {
        return slc_fixed_zero(); /* zero and subnormals: far below any resolution used here */
    }
    const uint64_t mantissa = (bits & 0xfffffffffffffull) | 0x10000000000000ull;
    const int shift = exponent - 1075 + scale_bits;
    slc_fixed magnitude = slc_fixed_zero();
    if (shift >= 64) {
        magnitude.high = (int64_t)(mantissa << (shift - 64));
    } else if (shift > 0) {
        magnitude.low = mantissa << shift;
        magnitude.high = (int64_t)(mantissa >> (64 - shift));
    } else if (shift == 0) {
        magnitude.low = mantissa;
    } else if (shift >= -53) {
        magnitude.low = ((mantissa >> (-shift - 1)) + 1u) >> 1;
    }
    return (bits >> 63) != 0 ? slc_fixed_negate(magnitude) : magnitude;
}

/* The nearest double to within one unit in the last place of sum · 2^-scale_bits. */
static inline double slc_fixed_to_double(slc_fixed sum, int scale_bits) {
    const int negative = sum.high < 0;
    const slc_fixed magnitude = negative ? slc_fixed_negate(sum) : sum;
    const double sum_of_words = (double)(uint64_t)magnitude.high * 0x1p64 + (double)magnitude.low;
    const double value = ldexp(sum_of_words, -scale_bits); /* exact: the last rounding is above */
    return negative ? -value : value;
}

/* The scale at which a first granule with Σ|wV| = `first_sum` > 0 sits at SLC_FIXED_FIRST_BIT. */
static inline int slc_fixed_scale_bits(double first_sum) {
    int exponent = 0;
    (void)frexp(first_sum, &exponent);
    return SLC_FIXED_FIRST_BIT - exponent;
}

#endif
