/* One (sample, pixel) pair: from a 32-bit turn to a cosine, and the sums it goes into.
 * Everything here runs once a pair or once in eight, so every instruction is counted; the essay in
 * direct_cuda.cu says what they cost and how wrong they can be.
 *
 *     const float phase = slci_pair_phase<SLCI_CUDA_SINGLE>(column_turn + row_turn, a->lower_one,
 *                                                           w_high, w_low, c_high, c_low);
 */
#ifndef SLC_KERNELS_DIRECT_CUDA_PAIR_CUH
#define SLC_KERNELS_DIRECT_CUDA_PAIR_CUH

#include <stdint.h>

/* How w c(l, m) enters the phase of a pair. */
enum {
    SLCI_CUDA_FLAT,   /* not at all: it is below SLCI_CUDA_FLAT_TURNS everywhere in the tile */
    SLCI_CUDA_SINGLE, /* one product in single precision */
    SLCI_CUDA_WIDE,   /* two words each, whole turns taken off: any w c up to 2^20 turns */
    SLCI_CUDA_N_VARIANTS
};

/* 4.7e-8 rad, under half a unit in the last place of the phase. */
#define SLCI_CUDA_FLAT_TURNS 0x1p-27

/* The phase stays within what the cosine is good for, and its rounding small: see direct_cuda.cu. */
#define SLCI_CUDA_SINGLE_TURNS 0x1p-4

/* 2π, one unit in the last place above the nearest single (relative excess 1.04e-7). __cosf divides
 * by 2π again: it multiplies by 0.15915493667 (relative excess -4.0e-8) and rounds towards zero,
 * which takes up to 1.2e-7 more. The excess here puts the middle of those errors near zero. */
#define SLCI_TWO_PI 0x1.921fb8p+2f

/* 2π / 2^32: radians of one unit of a turn's last place. */
#define SLCI_TURN_UNIT 0x1.921fb6p-30f

/* The bits of 2^23, whose last place is 1. */
#define SLCI_LOWER_ONE 0x4b000000u

/* Adding and subtracting it rounds a float below 2^22 to the nearest whole number. */
#define SLCI_ROUND_TO_WHOLE 0x1.8p+23f

/* What takes FLAT's two floats, in [1, 2) and [2^23, 2^23 + 512), to the middle of their range:
 * the single nearest to -1.5 · SLCI_TWO_PI - 2^23 · SLCI_TURN_UNIT ... */
#define SLCI_FLAT_SHIFT -0x1.2dfc52p+3f

/* ... and what each turn must be raised by so that the phase of turn 0 comes out as 0: half a turn,
 * and for FLAT what the rounding of its shift takes away. */
template <int VARIANT> static __device__ __forceinline__ double slci_pair_offset(void) {
    return VARIANT == SLCI_CUDA_FLAT
               ? -1.0 - (0x1p+23 * (double)SLCI_TURN_UNIT + (double)SLCI_FLAT_SHIFT) /
                            (double)SLCI_TWO_PI
               : 0.5;
}

/* The phase in radians, in [-π, π] and a little more, of turn / 2^32 turns minus the offset, and of
 * w c more.
 *
 * A conversion from integer to float would use the unit that also gives the cosine, so the turn's
 * upper 23 bits become the fraction of a float in [1, 2) and its lower 9 bits the last bits of a
 * float in [2^23, 2^23 + 512). `lower_one` is the bits of 2^23, handed in so that the compiler keeps
 * it in a register, where one three-input operation masks and sets. For SINGLE `w_high` is 2πw, for
 * WIDE w_high + w_low is w in wavelengths; c_high + c_low is c.
 */
template <int VARIANT>
static __device__ __forceinline__ float slci_pair_phase(uint32_t turn, uint32_t lower_one,
                                                        float w_high, float w_low, float c_high,
                                                        float c_low) {
    float small = 0.0f; /* turns, WIDE only */
    if (VARIANT == SLCI_CUDA_WIDE) {
        const float whole =
            __fadd_rn(__fmaf_rn(w_high, c_high, SLCI_ROUND_TO_WHOLE), -SLCI_ROUND_TO_WHOLE);
        const float part = __fmaf_rn(w_high, c_high, -whole); /* |part| <= 1/2 */
        const float coarse = __fadd_rn(part, 1.5f);           /* 23 bits, in [1, 2] */
        small = __fadd_rn(part, -__fadd_rn(coarse, -1.5f));
        small = __fmaf_rn(w_high, c_low, small);
        small = __fmaf_rn(w_low, c_high, small);
        turn += 0x80000000u; /* takes off the 1.5: 0x3fc00000 << 9 */
        turn += __float_as_uint(coarse) << 9;
    }
    const float upper = __uint_as_float((turn >> 9) + 0x3f800000u);
    const float lower = __uint_as_float((turn & 511u) | lower_one);
    if (VARIANT == SLCI_CUDA_FLAT) {
        return __fmaf_rn(lower, SLCI_TURN_UNIT, __fmaf_rn(upper, SLCI_TWO_PI, SLCI_FLAT_SHIFT));
    }
    float rest = __fmaf_rn(lower, SLCI_TURN_UNIT, -SLCI_TURN_UNIT * 0x1p+23f);
    if (VARIANT == SLCI_CUDA_SINGLE) {
        rest = __fmaf_rn(w_high, c_high, rest);
    } else {
        rest = __fmaf_rn(small, SLCI_TWO_PI, rest);
    }
    return __fmaf_rn(__fadd_rn(upper, -1.5f), SLCI_TWO_PI, rest);
}

/* Moves what a few terms have added to `part` into `sum`, and leaves in `part` what the addition
 * rounded off, so that nothing is lost over a granule. sum + part is the value. */
static __device__ __forceinline__ void slci_pair_promote(float *sum, float *part) {
    const float next = __fadd_rn(*sum, *part);
    *part = __fadd_rn(*part, -__fadd_rn(next, -*sum));
    *sum = next;
}

#endif
