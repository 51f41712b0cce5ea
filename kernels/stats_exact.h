/* Exact sums of floating-point numbers, of whole numbers, and of their squares: sums that depend
 * neither on the order of their terms nor on how these were grouped. Shared by host and device code.
 *
 * A sum is one very long whole number with a point in it, long enough for the smallest and the largest
 * double (or square of one) and 2^63 terms. Its digits have 32 bits and are kept in 64, so that adding
 * a number touches three of them and nothing is carried meanwhile:
 *
 *     value = Σ digit[d] · 2^(32 · (d - point))
 *
 *     digit  … point + 1 │ point │ point - 1 …      each an int64_t of any sign: 2^30 additions
 *              ·2^32       ·1      ·2^-32           fit, then slci_exact_carry makes room again
 *
 *     int64_t digits[SLCI_SUM_DIGITS] = {0};
 *     slci_exact_add(digits, SLCI_SUM_POINT, 0.1);
 */
#ifndef SLC_KERNELS_STATS_EXACT_H
#define SLC_KERNELS_STATS_EXACT_H

#include <stdint.h>
#include <string.h>

#include "core/api.h"
#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* From 2^-1088, below the smallest double 2^-1074, to 2^1088, above the largest 2^1024 · 2^63 terms;
 * and twice that for squares. */
#define SLCI_SUM_POINT 34
#define SLCI_SUM_DIGITS 68
#define SLCI_SQUARE_POINT 68
#define SLCI_SQUARE_DIGITS 136

/* A whole number of up to 64 bits as it lies across the digits: part[0] belongs to digit `first`. */
typedef struct slci_exact_parts {
    int first;
    int64_t part[3];
} slci_exact_parts;

/* ± mantissa · 2^(bit - 32 · point): `bit` >= 0 counts from the lowest digit's lowest bit. */
static SLC_HOST_DEVICE inline slci_exact_parts slci_exact_split(uint64_t mantissa, int bit,
                                                                int is_negative) {
    const int shift = bit % 32;
    const uint64_t low = mantissa << shift;
    const uint64_t high = shift > 0 ? mantissa >> (64 - shift) : 0;
    slci_exact_parts parts;
    parts.first = bit / 32;
    parts.part[0] = (int64_t)(low & 0xffffffffu);
    parts.part[1] = (int64_t)(low >> 32);
    parts.part[2] = (int64_t)high;
    if (is_negative) {
        parts.part[0] = -parts.part[0];
        parts.part[1] = -parts.part[1];
        parts.part[2] = -parts.part[2];
    }
    return parts;
}

/* |value| = mantissa · 2^(exponent - 1075), for a finite value. */
typedef struct slci_exact_double {
    uint64_t mantissa;
    int exponent;
    int is_negative;
} slci_exact_double;

static SLC_HOST_DEVICE inline slci_exact_double slci_exact_open(double value) {
    slci_exact_double opened;
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const int exponent = (int)((bits >> 52) & 0x7ff);
    opened.mantissa = (bits & 0xfffffffffffffull) | (exponent > 0 ? 0x10000000000000ull : 0);
    opened.exponent = exponent > 0 ? exponent : 1;
    opened.is_negative = (int)(bits >> 63);
    return opened;
}

/* The parts of a finite value; those of a value below 2^-1074 · 2^(1088 - 32 · point) are not whole. */
static SLC_HOST_DEVICE inline slci_exact_parts slci_exact_parts_of(int point, double value) {
    const slci_exact_double opened = slci_exact_open(value);
    return slci_exact_split(opened.mantissa, opened.exponent - 1075 + 32 * point,
                            opened.is_negative);
}

static inline void slci_exact_add_parts(int64_t *digits, const slci_exact_parts *parts) {
    digits[parts->first] += parts->part[0];
    digits[parts->first + 1] += parts->part[1];
    digits[parts->first + 2] += parts->part[2];
}

/* Adds a finite value. */
static inline void slci_exact_add(int64_t *digits, int point, double value) {
    const slci_exact_parts parts = slci_exact_parts_of(point, value);
    slci_exact_add_parts(digits, &parts);
}

/* Adds ± whole · 2^(32 · more). */
static inline void slci_exact_add_whole(int64_t *digits, int point, uint64_t whole, int more,
                                        int is_negative) {
    const slci_exact_parts parts = slci_exact_split(whole, 32 * (point + more), is_negative);
    slci_exact_add_parts(digits, &parts);
}

/* The square of a finite value as mantissa_high · 2^64 + mantissa_low, beginning at `bit` of digits
 * with point SLCI_SQUARE_POINT. */
static SLC_HOST_DEVICE inline int slci_exact_square(double value, uint64_t *low, uint64_t *high) {
    const slci_exact_double opened = slci_exact_open(value);
    const uint64_t a = opened.mantissa >> 32;
    const uint64_t b = opened.mantissa & 0xffffffffu;
    const uint64_t middle = a * b; /* counts twice; below 2^53 */
    const uint64_t shifted = middle << 33;
    *low = b * b + shifted;
    *high = a * a + (middle >> 31) + (*low < shifted ? 1u : 0u);
    return 2 * (opened.exponent - 1075) + 32 * SLCI_SQUARE_POINT;
}

/* Adds the square of a finite value to digits with point SLCI_SQUARE_POINT. */
static inline void slci_exact_add_square(int64_t *digits, double value) {
    uint64_t low = 0;
    uint64_t high = 0;
    const int bit = slci_exact_square(value, &low, &high);
    const slci_exact_parts below = slci_exact_split(low, bit, 0);
    const slci_exact_parts above = slci_exact_split(high, bit + 64, 0);
    slci_exact_add_parts(digits, &below);
    slci_exact_add_parts(digits, &above);
}

/* What digit d keeps of itself, and what it gives to digit d + 1; the highest keeps all. */
static SLC_HOST_DEVICE inline int64_t slci_exact_keep(int64_t digit) {
    return digit & 0xffffffff;
}

static SLC_HOST_DEVICE inline int64_t slci_exact_carry_of(int64_t digit) {
    return (digit - (digit & 0xffffffff)) / 0x100000000;
}

/* Makes room for more additions: the same value, and every digit but the highest from 0 to 2^32 and
 * a little more. */
void slci_exact_carry(int64_t *digits, int n_digits);

/* What follows gives the double nearest to the exact value, ties to even, as IEEE 754 does; past the
 * largest it is infinite. `n` is at least 1. */
double slci_exact_sum(const int64_t *digits);
double slci_exact_mean(const int64_t *digits, int64_t n);

/* Root of the mean square distance from the mean, Σ over `n_parts` pairs of sums (the parts of
 * complex numbers): √((n Σx² - (Σx)²) / n²), formed exactly up to the root. */
double slci_exact_deviation(const int64_t *const *sums, const int64_t *const *squares, int n_parts,
                            int64_t n);

/* A sum of whole numbers as one: its low and high 64 bits in two's complement. */
void slci_exact_whole(const int64_t *digits, uint64_t *low, int64_t *high);

#ifdef __cplusplus
}
#endif
#endif
