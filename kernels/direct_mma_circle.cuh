/* Cosine and sine of turns of 32 bits, for the operands of the CUDA product kernel, and numbers as
 * fp16. Every instruction counts: one in single precision takes a cycle from the tensor cores, and
 * one of another kind takes four cycles while they work. Nothing here is in double precision, which
 * shares its unit with the tensor cores.
 *
 *     turn = at_line + slci_mma_curve_turn<PLAN>(w, w_plain, curve, curve_unit);
 *     slci_mma_circles<PLAN, 4>(turn, out);    4 turns, each PLAN::AHEAD
 *     high = slci_mma_pack(value), low = slci_mma_pack_rest(value, high);
 */
#ifndef SLC_KERNELS_DIRECT_MMA_CIRCLE_CUH
#define SLC_KERNELS_DIRECT_MMA_CIRCLE_CUH

#include <cuda_fp16.h>
#include <stdint.h>

#include "kernels/direct_mma_plan.cuh"

/* sin x = x + x³ (S1 + …) and cos x = 1 + x² (C1 + …) for |x| <= π/2, in powers of x²: within 5.0e-9
 * and 4.4e-10, by Remez's exchange, each coefficient rounded before the next is found. */
#define SLCI_MMA_S1 -0x1.555548p-3f
#define SLCI_MMA_S2 0x1.110e58p-7f
#define SLCI_MMA_S3 -0x1.9f5cecp-13f
#define SLCI_MMA_S4 0x1.5cd244p-19f
#define SLCI_MMA_C1 -0.5f
#define SLCI_MMA_C2 0x1.55555p-5f
#define SLCI_MMA_C3 -0x1.6c14b8p-10f
#define SLCI_MMA_C4 0x1.9f931cp-16f
#define SLCI_MMA_C5 -0x1.196acep-22f

/* turn · 2 + 2^31 as one instruction; of the plain expression the compiler makes two. */
static __device__ __forceinline__ int slci_mma_half_rest(uint32_t turn) {
    int out;
    asm("{\n.reg .b32 half;\nmov.b32 half, 0x80000000;\nmad.lo.s32 %0, %1, 2, half;\n}"
        : "=r"(out)
        : "r"(turn));
    return out;
}

/* The number, its sign changed where bit 31 of the turn is set: the number of half turns is odd. */
static __device__ __forceinline__ float slci_mma_signed(float number, uint32_t turn) {
    return __uint_as_float(__float_as_uint(number) ^ (turn & 0x80000000u));
}

/* Cosine (x) and sine (y) of turns that are a quarter ahead. Polynomials for an eighth of a turn either
 * way would be a power shorter each, but to change both over where they have to takes four instructions
 * of the slow kind. Each step is taken for all turns before the next, because a warp issues in order:
 * what follows the one before would wait for it. */
template <int N>
static __device__ __forceinline__ void slci_mma_circles_fine(const uint32_t *turn, float2 *out) {
    float x[N], x2[N], s[N], c[N];
#pragma unroll
    for (int k = 0; k < N; k++) {
        /* The lower 31 bits less half of their range: the rest, in units of 2^-32 half turns. */
        x[k] = __fmul_rn(__int2float_rn(slci_mma_half_rest(turn[k])), 0x1.921fb6p-31f);
    }
#pragma unroll
    for (int k = 0; k < N; k++) {
        x2[k] = __fmul_rn(x[k], x[k]);
    }
#pragma unroll
    for (int k = 0; k < N; k++) {
        c[k] = __fmaf_rn(x2[k], SLCI_MMA_C5, SLCI_MMA_C4);
        s[k] = __fmaf_rn(x2[k], SLCI_MMA_S4, SLCI_MMA_S3);
    }
#pragma unroll
    for (int k = 0; k < N; k++) {
        c[k] = __fmaf_rn(x2[k], c[k], SLCI_MMA_C3);
        s[k] = __fmaf_rn(x2[k], s[k], SLCI_MMA_S2);
    }
#pragma unroll
    for (int k = 0; k < N; k++) {
        c[k] = __fmaf_rn(x2[k], c[k], SLCI_MMA_C2);
        s[k] = __fmaf_rn(x2[k], s[k], SLCI_MMA_S1);
    }
#pragma unroll
    for (int k = 0; k < N; k++) {
        c[k] = __fmaf_rn(x2[k], c[k], SLCI_MMA_C1);
    }
#pragma unroll
    for (int k = 0; k < N; k++) {
        s[k] = __fmaf_rn(__fmul_rn(x2[k], x[k]), s[k], x[k]);
        c[k] = __fmaf_rn(x2[k], c[k], 1.0f);
    }
#pragma unroll
    for (int k = 0; k < N; k++) {
        out[k] = make_float2(slci_mma_signed(c[k], turn[k]), slci_mma_signed(s[k], turn[k]));
    }
}

/* The same within 6e-7, by the special functions, of turns: enough for operands of single fp16. */
template <int N>
static __device__ __forceinline__ void slci_mma_circles_coarse(const uint32_t *turn, float2 *out) {
#pragma unroll
    for (int k = 0; k < N; k++) {
        const float x = __fmul_rn(__int2float_rn((int)turn[k]), 0x1.921fb6p-30f);
        out[k] = make_float2(__cosf(x), __sinf(x));
    }
}

template <class PLAN, int N>
static __device__ __forceinline__ void slci_mma_circles(const uint32_t *turn, float2 *out) {
    if (PLAN::IS_SPLIT) {
        slci_mma_circles_fine<N>(turn, out);
    } else {
        slci_mma_circles_coarse<N>(turn, out);
    }
}

/* 1.5 · 2^23: from here to the next power of two, numbers in single precision are whole, and their bits
 * those of this one and how far they are from it. */
#define SLCI_MMA_WHOLE 12582912.0f
#define SLCI_MMA_WHOLE_BITS 0x4b400000u

/* w times the curve of a line (slci_mma_lines_of), in 2^-32 turns. A product of integers takes five
 * times as long as one in single precision, and ten times while the tensor cores are at work. */
template <class PLAN>
static __device__ __forceinline__ uint32_t slci_mma_curve_turn(int w, float w_plain, int curve,
                                                               uint32_t curve_unit) {
    if (PLAN::IS_CURVE_WHOLE) {
        return (uint32_t)((int64_t)w * curve >> (32 - SLCI_CUDA_CURVED_SHIFT));
    }
    if (!PLAN::HAS_CURVE) {
        return 0u;
    }
    const float units = __fmaf_rn(w_plain, __int_as_float(curve), SLCI_MMA_WHOLE);
    return __float_as_uint(units) * curve_unit; /* and SLCI_MMA_WHOLE_BITS (slci_mma_phase) */
}

/* The same polynomials for |x| <= π/4, a power shorter: within 1.8e-9 and 1.1e-10. */
#define SLCI_MMA_NEAR_S1 -0x1.55554p-3f
#define SLCI_MMA_NEAR_S2 0x1.1105bep-7f
#define SLCI_MMA_NEAR_S3 -0x1.98dd16p-13f
#define SLCI_MMA_NEAR_C1 -0.5f
#define SLCI_MMA_NEAR_C2 0x1.55554ap-5f
#define SLCI_MMA_NEAR_C3 -0x1.6c0c1ap-10f
#define SLCI_MMA_NEAR_C4 0x1.99e0eep-16f

/* Cosine and sine of the angle that two lines which mirror each other have in common. */
template <class PLAN> static __device__ __forceinline__ float2 slci_mma_common(float x) {
    const float x2 = __fmul_rn(x, x);
    float c = -1.0f / 2;
    float s = -1.0f / 6;
    if (PLAN::COMMON_PAIRS == 1) {
        c = __fmaf_rn(x2, 1.0f / 24, c);
        s = __fmaf_rn(x2, 1.0f / 120, s);
    } else if (PLAN::COMMON_PAIRS == 2) {
        c = __fmaf_rn(x2, SLCI_MMA_NEAR_C4, SLCI_MMA_NEAR_C3);
        c = __fmaf_rn(x2, __fmaf_rn(x2, c, SLCI_MMA_NEAR_C2), SLCI_MMA_NEAR_C1);
        s = __fmaf_rn(x2, SLCI_MMA_NEAR_S3, SLCI_MMA_NEAR_S2);
        s = __fmaf_rn(x2, s, SLCI_MMA_NEAR_S1);
    }
    return make_float2(__fmaf_rn(x2, c, 1.0f), __fmaf_rn(__fmul_rn(x2, x), s, x));
}

static __device__ __forceinline__ uint32_t slci_mma_pack(float2 value) {
    const __half2 pair = __floats2half2_rn(value.x, value.y);
    uint32_t bits;
    memcpy(&bits, &pair, sizeof bits);
    return bits;
}

/* What `bits`, the nearest fp16 pair, leaves of the value. */
static __device__ __forceinline__ uint32_t slci_mma_pack_rest(float2 value, uint32_t bits) {
    __half2 pair;
    memcpy(&pair, &bits, sizeof bits);
    const float2 near = __half22float2(pair);
    return slci_mma_pack(make_float2(value.x - near.x, value.y - near.y));
}

#endif
