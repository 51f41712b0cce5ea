/* One (sample, pixel) pair: from a 32-bit turn to a cosine, and the sums it goes into.
 * Everything here runs once a pair or once in eight, so every instruction is counted; the essay in
 * direct_cuda.cu says what they cost and how wrong they can be.
 *
 *     const float x = slci_pair_phase<SLCI_CUDA_SINGLE>(column_turn + row_turn, &sample, &pixel);
 *     sum = slci_pair_add(x, &sample, sum);
 */
#ifndef SLC_KERNELS_DIRECT_CUDA_PAIR_CUH
#define SLC_KERNELS_DIRECT_CUDA_PAIR_CUH

#include <math.h>
#include <stdint.h>

#include "kernels/direct_tile.h"

/* How w c(l, m) enters the phase of a pair. */
enum {
    SLCI_CUDA_FLAT,   /* not at all: it is below SLCI_CUDA_FLAT_TURNS everywhere in the tile */
    SLCI_CUDA_SINGLE, /* one product in single precision */
    SLCI_CUDA_DOUBLE, /* one multiply-add in double precision, where the card is fast at it */
    SLCI_CUDA_WIDE,   /* whole units as integers, the rest in single precision */
    SLCI_CUDA_N_VARIANTS
};

/* 4.7e-8 rad, half the largest rounding of the turn to single precision. */
#define SLCI_CUDA_FLAT_TURNS 0x1p-27

/* Adding it to a double below 2^19 in size leaves the fraction, in units of 2^-32, in the low word:
 * a turn without a conversion instruction. */
#define SLCI_TURN_MAGIC 0x1.8p+20

/* A quarter of a turn, in units of 2^-32 turns. */
#define SLCI_QUARTER_TURN 0x40000000u

/* y P(y²) is sin 2πy within 1.2e-8 for |y| <= 1/4 + 1/32: the polynomial of degree 9 with the
 * smallest largest error there, by Remez's exchange of its six extremes. */
#define SLCI_SINE_0 6.283184835849394
#define SLCI_SINE_1 -41.34158261920793
#define SLCI_SINE_2 81.59674186571978
#define SLCI_SINE_3 -76.45837323923853
#define SLCI_SINE_4 38.8906108934009

/* A sample as its pairs need it; what a variant does not use costs nothing. */
typedef struct slci_pair_sample {
    float a[5];      /* -weight |V| times the coefficients of P, so that no pair multiplies by it */
    float w, w_low;  /* wavelengths; w less w_whole units */
    int w_whole;     /* units */
    double w_double; /* wavelengths */
} slci_pair_sample;

/* A pixel's c(l, m) likewise, in units of 2^-32 turns a wavelength; the units of w_whole and c_whole
 * multiply to 2^-32 turns. */
typedef struct slci_pair_pixel {
    float c, c_low;
    int c_whole;
    double c_double; /* in turns a wavelength */
} slci_pair_pixel;

/* The phase in units of 2^-32 turns, within half a turn and, for w c, 1/32 beyond at most.
 *
 * DOUBLE: w c to the nearest 2^-32 turns is the low word of one multiply-add, which leaves whole
 * turns in the high word.
 *
 * WIDE: with w = W + w_low and c = C + c_low, W and C whole numbers of their units, the product W C
 * is a whole number of 2^-32 turns, and the lower 32 bits of it, all that a turn keeps, are one
 * integer multiplication. What is left, w c_low + w_low c, is small: below 0.03 turns where w c is
 * at the most that can be asked for, 2^21 turns, and below 2e-5 sqrt(turns) always. */
template <int VARIANT>
static __device__ __forceinline__ float
slci_pair_phase(uint32_t turn, const slci_pair_sample *sample, const slci_pair_pixel *pixel) {
    if (VARIANT == SLCI_CUDA_FLAT) {
        return __int2float_rn((int)turn);
    }
    if (VARIANT == SLCI_CUDA_SINGLE) {
        return __fmaf_rn(sample->w, pixel->c, __int2float_rn((int)turn));
    }
    if (VARIANT == SLCI_CUDA_DOUBLE) {
        const double magic = __fma_rn(sample->w_double, pixel->c_double, SLCI_TURN_MAGIC);
        return __int2float_rn((int)(turn + (uint32_t)__double2loint(magic)));
    }
    turn += (uint32_t)sample->w_whole * (uint32_t)pixel->c_whole;
    const float partly = __fmaf_rn(sample->w_low, pixel->c, __int2float_rn((int)turn));
    return __fmaf_rn(sample->w, pixel->c_low, partly);
}

/* sum + w|V| cos 2πx for the phase x, in units of 2^-32 turns. With y = |x| - 1/4, in turns, the
 * cosine is -sin 2πy. The multiply-add takes the absolute value on its way in, so that scale and
 * fold are one instruction. */
static __device__ __forceinline__ float slci_pair_add(float phase, const slci_pair_sample *sample,
                                                      float sum) {
    const float y = __fmaf_rn(fabsf(phase), 0x1p-32f, -0.25f);
    const float square = __fmul_rn(y, y);
    float p = __fmaf_rn(sample->a[4], square, sample->a[3]);
    p = __fmaf_rn(p, square, sample->a[2]);
    p = __fmaf_rn(p, square, sample->a[1]);
    p = __fmaf_rn(p, square, sample->a[0]);
    return __fmaf_rn(y, p, sum);
}

/* Moves what a few terms have added to `part` into `sum`, and leaves in `part` what the addition
 * rounded off, so that nothing is lost over a granule. sum + part is the value. */
static __device__ __forceinline__ void slci_pair_promote(float *sum, float *part) {
    const float next = __fadd_rn(*sum, *part);
    *part = __fadd_rn(*part, -__fadd_rn(next, -*sum));
    *sum = next;
}

#endif
