/* The pixel loops of the direct kernel, included by one file per instruction set, which defines
 * `multiply_add` (fused where the set has it) and chooses the target before it. Plain C that the
 * compiler turns into vectors: every loop runs over whole vectors with no branch inside.
 *
 * A phase is formed in double, in turns, and becomes 32-bit fixed point by adding 1.5 · 2^20: the low
 * half of the sum's bits is the phase modulo one turn, rounded to 2^-33 turns (7e-10 rad). From there
 * one odd polynomial does everything:
 *
 *     cos 2πt = sin(π/2 · x),  x = 1 - 4|t| in [-1, 1],     sin 2πt = cos 2π(t - 1/4)
 *
 * so neither quadrants nor blends are needed. x comes exactly out of the integer, and its conversion
 * to single precision loses most where the sine is flat. */
#ifndef SLC_KERNELS_DIRECT_SIMD_BODY_H
#define SLC_KERNELS_DIRECT_SIMD_BODY_H

#include <assert.h>
#include <string.h>

#include "kernels/direct_internal.h"

#define SLCI_ALWAYS_INLINE static inline __attribute__((always_inline))

/* Coefficients of x, x³, … x⁹ for sin(π/2 x) on [-1, 1]: single-precision numbers chosen together for
 * the least absolute error, 7.5e-9. (Rounding the best real ones costs 3e-8, always the same way.) */
#define SINE_1 0x1.921fb4p+0f
#define SINE_3 -0x1.4abba4p-1f
#define SINE_5 0x1.466580p-4f
#define SINE_7 -0x1.320c42p-8f
#define SINE_9 0x1.3a4c42p-13f

/* cos of 2π · turns · 2^-32. */
SLCI_ALWAYS_INLINE float cosine_of(uint32_t turns) {
    const uint32_t sign = (uint32_t)((int32_t)turns >> 31);
    const uint32_t size = (turns ^ sign) - sign; /* |t|; 2^31 stays 2^31 */
    const float x = (float)(int32_t)(UINT32_C(0x40000000) - size) * 0x1p-30f;
    const float x2 = x * x;
    float sum = multiply_add(x2, SINE_9, SINE_7);
    sum = multiply_add(x2, sum, SINE_5);
    sum = multiply_add(x2, sum, SINE_3);
    sum = multiply_add(x2, sum, SINE_1);
    return x * sum;
}

SLCI_ALWAYS_INLINE uint32_t low_half(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (uint32_t)bits;
}

/* `phase` in turns as 32-bit turns; `is_small` promises |phase| < SLCI_SMALL_TURNS. */
SLCI_ALWAYS_INLINE uint32_t fixed_turns(double phase, bool is_small) {
    if (is_small) {
        return low_half(phase + SLCI_ROUND_TO_TURN32);
    }
    const double whole = (phase + SLCI_ROUND_TO_ONE) - SLCI_ROUND_TO_ONE;
    return low_half((phase - whole) + SLCI_ROUND_TO_TURN32);
}

SLCI_ALWAYS_INLINE void ramp_turns(const slci_direct_ramp *ramp, const double *restrict step,
                                   const double *restrict curve, bool is_small, int n,
                                   uint32_t *restrict turns) {
    const slci_direct_ramp line = *ramp;
    for (int x = 0; x < n; x++) {
        const double phase = multiply_add_double(line.w, curve[x],
                                                 multiply_add_double(line.u, step[x], line.origin));
        turns[x] = fixed_turns(phase, is_small);
    }
}

static void simd_turns(const slci_direct_ramp *ramp, const double *step, const double *curve,
                       bool is_small, int n, uint32_t *turns) {
    assert(n % SLCI_DIRECT_LANES == 0 && n <= SLCI_DIRECT_MAX_TILE);
    n &= -SLCI_DIRECT_LANES; /* tells the compiler that there is no tail */
    if (is_small) {
        ramp_turns(ramp, step, curve, true, n, turns);
    } else {
        ramp_turns(ramp, step, curve, false, n, turns);
    }
}

static void simd_scaled(const slci_direct_ramp *ramp, float a_re, float a_im, const double *step,
                        const double *curve, bool is_small, int n, float *restrict re,
                        float *restrict im) {
    uint32_t turns[SLCI_DIRECT_MAX_TILE] __attribute__((aligned(64)));
    simd_turns(ramp, step, curve, is_small, n, turns);
    n &= -SLCI_DIRECT_LANES;
    for (int x = 0; x < n; x++) {
        const float cosine = cosine_of(turns[x]);
        const float sine = cosine_of(turns[x] - UINT32_C(0x40000000));
        re[x] = multiply_add(a_re, cosine, a_im * sine);
        im[x] = multiply_add(a_im, cosine, -a_re * sine);
    }
}

static void simd_circle(const slci_direct_ramp *ramp, const double *step, const double *curve,
                        bool is_small, int n, float *restrict cosine, float *restrict sine) {
    uint32_t turns[SLCI_DIRECT_MAX_TILE] __attribute__((aligned(64)));
    simd_turns(ramp, step, curve, is_small, n, turns);
    n &= -SLCI_DIRECT_LANES;
    for (int x = 0; x < n; x++) {
        cosine[x] = cosine_of(turns[x]);
        sine[x] = cosine_of(turns[x] - UINT32_C(0x40000000));
    }
}

/* The last step of simd_scaled, to the same bits. */
static void simd_turned(float a_re, float a_im, const float *restrict cosine,
                        const float *restrict sine, int n, float *restrict re, float *restrict im) {
    n &= -SLCI_DIRECT_LANES;
    for (int x = 0; x < n; x++) {
        re[x] = multiply_add(a_re, cosine[x], a_im * sine[x]);
        im[x] = multiply_add(a_im, cosine[x], -a_re * sine[x]);
    }
}

static void simd_promote(int n, const float *restrict part, double *restrict sum) {
    n &= -SLCI_DIRECT_LANES;
    for (int x = 0; x < n; x++) {
        sum[x] += (double)part[x];
    }
}

static void simd_scale(int n, float factor, const float *in, float *out) {
    n &= -SLCI_DIRECT_LANES;
    for (int x = 0; x < n; x++) {
        out[x] = factor * in[x];
    }
}

SLCI_ALWAYS_INLINE void cosine_run(int n, int n_samples, int64_t stride,
                                   const uint32_t *restrict column, const uint32_t *row,
                                   const double *w, const float *amplitude,
                                   const double *restrict c, bool is_small, double *restrict sum) {
    uint32_t turns[SLCI_DIRECT_MAX_TILE] __attribute__((aligned(64)));
    float run[SLCI_DIRECT_MAX_TILE] __attribute__((aligned(64)));
    memset(run, 0, sizeof run[0] * (size_t)n);
    for (int k = 0; k < n_samples; k++) {
        const uint32_t *restrict here = column + k * stride;
        const double w_k = w[k];
        for (int x = 0; x < n; x++) {
            turns[x] = fixed_turns(w_k * c[x], is_small);
        }
        const uint32_t row_k = row[k];
        const float amplitude_k = amplitude[k];
        for (int x = 0; x < n; x++) {
            run[x] = multiply_add(amplitude_k, cosine_of(turns[x] + here[x] + row_k), run[x]);
        }
    }
    for (int x = 0; x < n; x++) {
        sum[x] += (double)run[x];
    }
}

static void simd_cosines(int n, int n_samples, int64_t stride, const uint32_t *column,
                         const uint32_t *row, const double *w, const float *amplitude,
                         const double *c, bool is_small, double *sum) {
    assert(n % SLCI_DIRECT_LANES == 0 && n <= SLCI_DIRECT_MAX_TILE);
    n &= -SLCI_DIRECT_LANES;
    if (is_small) {
        cosine_run(n, n_samples, stride, column, row, w, amplitude, c, true, sum);
    } else {
        cosine_run(n, n_samples, stride, column, row, w, amplitude, c, false, sum);
    }
}

#endif
