/* From a run's samples to operands of the tensor cores. Nothing that is done for every line is in
 * double precision, which shares its unit with the tensor cores.
 *
 *     slci_mma_make<PLAN>(shared, stock, chunk, stage, operands);       a chunk of a stage: a warp
 */
#ifndef SLC_KERNELS_DIRECT_MMA_MAKE_CUH
#define SLC_KERNELS_DIRECT_MMA_MAKE_CUH

#include "kernels/direct_mma_sample.cuh"

/* sin x = x + x³ (S1 + …) and cos x = 1 + x² (C1 + …) for |x| <= π/4, in powers of x²: within 1.8e-9
 * and 1.1e-10, by Remez's exchange, each coefficient rounded before the next is found. */
#define SLCI_MMA_S1 -0x1.55554p-3f
#define SLCI_MMA_S2 0x1.1105bep-7f
#define SLCI_MMA_S3 -0x1.98dd16p-13f
#define SLCI_MMA_C1 -0.5f
#define SLCI_MMA_C2 0x1.55554ap-5f
#define SLCI_MMA_C3 -0x1.6c0c1ap-10f
#define SLCI_MMA_C4 0x1.99e0eep-16f

/* Where bit 30 is set, the number of quarters is odd, and sine and cosine of the rest change over. In
 * words of the assembler, because the compiler would take two instructions for the condition. */
static __device__ __forceinline__ float2 slci_mma_cross(uint32_t turn, float s, float c) {
    float2 out;
    asm("{\n.reg .pred p;\n.reg .b32 odd;\n.reg .f32 minus;\n"
        "and.b32 odd, %2, 0x40000000;\nsetp.ne.u32 p, odd, 0;\nneg.f32 minus, %3;\n"
        "selp.f32 %0, minus, %4, p;\nselp.f32 %1, %4, %3, p;\n}"
        : "=f"(out.x), "=f"(out.y)
        : "r"(turn), "f"(s), "f"(c));
    return out;
}

/* Cosine (x) and sine (y) of turns that are an eighth ahead. Each step is taken for all of them before
 * the next, because a warp issues in order: what follows the one before would wait for it. */
static __device__ __forceinline__ void slci_mma_circles_fine(const uint32_t *turn, float2 *out) {
    float x[SLCI_MMA_CHUNK], x2[SLCI_MMA_CHUNK], s[SLCI_MMA_CHUNK], c[SLCI_MMA_CHUNK];
    float sign[SLCI_MMA_CHUNK];
#pragma unroll
    for (int k = 0; k < SLCI_MMA_CHUNK; k++) {
        /* The lower 30 bits less half of their range: the rest, in units of 2^-32 quarters. */
        x[k] = __fmul_rn(__int2float_rn((int)(turn[k] * 4u + 0x80000000u)), 0x1.921fb6p-32f);
    }
#pragma unroll
    for (int k = 0; k < SLCI_MMA_CHUNK; k++) {
        x2[k] = __fmul_rn(x[k], x[k]);
    }
#pragma unroll
    for (int k = 0; k < SLCI_MMA_CHUNK; k++) {
        c[k] = __fmaf_rn(x2[k], SLCI_MMA_C4, SLCI_MMA_C3);
        s[k] = __fmaf_rn(x2[k], SLCI_MMA_S3, SLCI_MMA_S2);
    }
#pragma unroll
    for (int k = 0; k < SLCI_MMA_CHUNK; k++) {
        /* Two quarters change the sign of both. */
        sign[k] = __uint_as_float((turn[k] & 0x80000000u) | 0x3f800000u);
        c[k] = __fmaf_rn(x2[k], c[k], SLCI_MMA_C2);
        s[k] = __fmaf_rn(x2[k], s[k], SLCI_MMA_S1);
    }
#pragma unroll
    for (int k = 0; k < SLCI_MMA_CHUNK; k++) {
        c[k] = __fmaf_rn(x2[k], c[k], SLCI_MMA_C1);
        x[k] = __fmul_rn(x[k], sign[k]);
    }
#pragma unroll
    for (int k = 0; k < SLCI_MMA_CHUNK; k++) {
        s[k] = __fmaf_rn(__fmul_rn(x2[k], x[k]), s[k], x[k]);
        c[k] = __fmaf_rn(__fmul_rn(x2[k], sign[k]), c[k], sign[k]);
    }
#pragma unroll
    for (int k = 0; k < SLCI_MMA_CHUNK; k++) {
        out[k] = slci_mma_cross(turn[k], s[k], c[k]);
    }
}

/* The same within 6e-7, by the special functions, of turns: enough for operands of single fp16. */
static __device__ __forceinline__ void slci_mma_circles_coarse(const uint32_t *turn, float2 *out) {
#pragma unroll
    for (int k = 0; k < SLCI_MMA_CHUNK; k++) {
        const float x = __fmul_rn(__int2float_rn((int)turn[k]), 0x1.921fb6p-30f);
        out[k] = make_float2(__cosf(x), __sinf(x));
    }
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

/* 4 samples of one line into the operand, and with three products what fp16 leaves of them into the
 * operand's low part. */
template <class PLAN, int PRODUCTS>
static __device__ __forceinline__ void slci_mma_store(const float2 *value, char *operand) {
    uint4 high;
    high.x = slci_mma_pack(value[0]);
    high.y = slci_mma_pack(value[1]);
    high.z = slci_mma_pack(value[2]);
    high.w = slci_mma_pack(value[3]);
    *(uint4 *)operand = high;
    if (PRODUCTS > 1) {
        uint4 low;
        low.x = slci_mma_pack_rest(value[0], high.x);
        low.y = slci_mma_pack_rest(value[1], high.y);
        low.z = slci_mma_pack_rest(value[2], high.z);
        low.w = slci_mma_pack_rest(value[3], high.w);
        *(uint4 *)(operand + PLAN::LOW) = low;
    }
}

/* What a lane keeps of its 4 samples while it makes lines of one side, 32 apart. */
typedef struct slci_mma_making {
    uint32_t turn[SLCI_MMA_CHUNK], step[SLCI_MMA_CHUNK];
    int w[SLCI_MMA_CHUNK];
    float2 a[SLCI_MMA_CHUNK];
    float w_plain[SLCI_MMA_CHUNK];
} slci_mma_making;

/* The turn at the lane's first line, and that of 32 lines. */
static __device__ __forceinline__ void slci_mma_start(slci_mma_turns turns, int k,
                                                      slci_mma_making *own) {
    const uint32_t lane = threadIdx.x % 32;
    own->turn[k] = (uint32_t)((turns.first + turns.step * lane) >> 32);
    own->step[k] = (uint32_t)(turns.step >> 27);
}

/* The lane's circles at a line, and on to its next. */
template <class PLAN>
static __device__ __forceinline__ void slci_mma_circles(slci_mma_making *own, int curve,
                                                        float2 *out) {
    uint32_t turn[SLCI_MMA_CHUNK];
#pragma unroll
    for (int k = 0; k < SLCI_MMA_CHUNK; k++) {
        turn[k] = own->turn[k] + (uint32_t)__mulhi(own->w[k], curve);
        own->turn[k] += own->step[k];
    }
    if (PLAN::N_PRODUCTS > 1) {
        slci_mma_circles_fine(turn, out);
    } else {
        slci_mma_circles_coarse(turn, out);
    }
}

/* A row: its line of the left operand, w V e^{-iα} = (a cos α + b sin α) + i (b cos α - a sin α). For
 * the next term it is times -i w row_bend with the parts changed over, so that it takes (cos β, sin β)
 * too. */
template <class PLAN>
static __device__ __forceinline__ void slci_mma_make_row(int curve, float bend,
                                                         slci_mma_making *own, char *to) {
    float2 value[SLCI_MMA_CHUNK];
    slci_mma_circles<PLAN>(own, curve, value);
#pragma unroll
    for (int k = 0; k < SLCI_MMA_CHUNK; k++) {
        const float2 a = own->a[k];
        const float2 circle = value[k];
        value[k].x = __fmaf_rn(a.y, circle.y, __fmul_rn(a.x, circle.x));
        value[k].y = __fmaf_rn(-a.x, circle.y, __fmul_rn(a.y, circle.x));
    }
    slci_mma_store<PLAN, PLAN::N_PRODUCTS>(value, to + PLAN::LEFT);
    if (PLAN::N_TERMS > 0) {
#pragma unroll
        for (int k = 0; k < SLCI_MMA_CHUNK; k++) {
            const float factor = __fmul_rn(own->w_plain[k], bend);
            value[k] = make_float2(__fmul_rn(-value[k].y, factor), __fmul_rn(value[k].x, factor));
        }
        slci_mma_store<PLAN, 1>(value, to + PLAN::LEFT_TERM);
    }
}

/* A column: its line of the right operand, (cos β, sin β), with which the real part is the product's
 * sum. */
template <class PLAN>
static __device__ __forceinline__ void slci_mma_make_column(int curve, float bend,
                                                            slci_mma_making *own, char *to) {
    float2 value[SLCI_MMA_CHUNK];
    slci_mma_circles<PLAN>(own, curve, value);
    slci_mma_store<PLAN, PLAN::N_PRODUCTS>(value, to + PLAN::RIGHT);
    if (PLAN::N_TERMS > 0) {
#pragma unroll
        for (int k = 0; k < SLCI_MMA_CHUNK; k++) {
            value[k] = make_float2(__fmul_rn(value[k].x, bend), __fmul_rn(value[k].y, bend));
        }
        slci_mma_store<PLAN, 1>(value, to + PLAN::RIGHT_TERM);
    }
}

/* One chunk of a stage: all lines of both sides. */
template <class PLAN>
static __device__ __forceinline__ void slci_mma_make(const slci_mma_shared *shared,
                                                     const slci_mma_stock<PLAN> *stock, int chunk,
                                                     int stage, char *operands) {
    const slci_mma_sample *samples = &stock->sample[chunk][stage % SLCI_MMA_AHEAD * SLCI_MMA_CHUNK];
    const int lane = (int)threadIdx.x % 32;
    char *to = operands + (chunk * SLCI_MMA_TILE + lane) * 16;
    slci_mma_making own;
#pragma unroll
    for (int k = 0; k < SLCI_MMA_CHUNK; k++) {
        slci_mma_start(samples[k].rows, k, &own);
        own.w[k] = samples[k].w;
        own.w_plain[k] = samples[k].w_plain;
        own.a[k] = samples[k].a;
    }
#pragma unroll
    for (int j = 0; j < SLCI_MMA_TILE; j += 32) {
        slci_mma_make_row<PLAN>(shared->rows.curve[lane + j], shared->row_bend[lane + j], &own,
                                to + j * 16);
    }
#pragma unroll
    for (int k = 0; k < SLCI_MMA_CHUNK; k++) {
        slci_mma_start(samples[k].columns, k, &own);
    }
#pragma unroll
    for (int j = 0; j < SLCI_MMA_TILE; j += 32) {
        slci_mma_make_column<PLAN>(shared->columns.curve[lane + j], shared->column_bend[lane + j],
                                   &own, to + j * 16);
    }
}

#endif
