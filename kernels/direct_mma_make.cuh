/* From a run's samples to operands of the tensor cores. Nothing that is done for every line is in
 * double precision, which shares its unit with the tensor cores.
 *
 *     slci_mma_make<PLAN>(shared, stock, chunk, first_line, stage, operands);       a warp
 */
#ifndef SLC_KERNELS_DIRECT_MMA_MAKE_CUH
#define SLC_KERNELS_DIRECT_MMA_MAKE_CUH

#include "kernels/direct_mma_circle.cuh"
#include "kernels/direct_mma_sample.cuh"

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

/* 4 samples of one line into the operand, and what fp16 leaves of them into the operand's low part, if
 * it has one. */
template <class PLAN, bool IS_SPLIT>
static __device__ __forceinline__ void slci_mma_store(const float2 *value, char *operand) {
    uint4 high;
    high.x = slci_mma_pack(value[0]);
    high.y = slci_mma_pack(value[1]);
    high.z = slci_mma_pack(value[2]);
    high.w = slci_mma_pack(value[3]);
    *(uint4 *)operand = high;
    if (IS_SPLIT) {
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
    uint32_t curve_unit;
} slci_mma_making;

/* The turn at the lane's first line, and that of 32 lines. */
static __device__ __forceinline__ void slci_mma_start(slci_mma_turns turns, int first, int k,
                                                      slci_mma_making *own) {
    const uint32_t lines = (uint32_t)first;
    own->turn[k] = turns.first + turns.step * lines + (turns.step_rest * lines >> 7);
    own->step[k] = turns.step_32;
}

/* w times the curve. A product of integers takes four to eighteen times as long as one in single
 * precision, the latter while the tensor cores are at work. */
template <class PLAN>
static __device__ __forceinline__ uint32_t slci_mma_curve_turn(const slci_mma_making *own, int k,
                                                               int curve) {
    if (PLAN::IS_CURVE_WHOLE) {
        return (uint32_t)((int64_t)own->w[k] * curve >> (32 - SLCI_CUDA_CURVED_SHIFT));
    }
    const float units = __fmaf_rn(own->w_plain[k], __int_as_float(curve), SLCI_MMA_WHOLE);
    return __float_as_uint(units) * own->curve_unit; /* and SLCI_MMA_WHOLE_BITS (slci_mma_phase) */
}

/* The lane's circles at a line, and on to its next. */
template <class PLAN>
static __device__ __forceinline__ void slci_mma_circles(slci_mma_making *own, int curve,
                                                        float2 *out) {
    uint32_t turn[SLCI_MMA_CHUNK];
#pragma unroll
    for (int k = 0; k < SLCI_MMA_CHUNK; k++) {
        turn[k] = own->turn[k] + slci_mma_curve_turn<PLAN>(own, k, curve);
        own->turn[k] += own->step[k];
    }
    if (PLAN::N_PRODUCTS > 1) {
        slci_mma_circles_fine(turn, out);
    } else {
        slci_mma_circles_coarse(turn, out);
    }
}

/* What -2πc of a row has of each power of f̂. */
typedef struct slci_mma_row_bend {
    float first, second, third;
} slci_mma_row_bend;

template <class PLAN>
static __device__ __forceinline__ slci_mma_row_bend
slci_mma_load_bend(const slci_mma_shared *shared, int row) {
    slci_mma_row_bend bend = {0.0f, 0.0f, 0.0f};
    if (PLAN::N_TERMS > 0) {
        bend.first = shared->row_bend[0][row];
    }
    if (PLAN::N_TERMS > 1) {
        bend.second = shared->row_bend[1][row];
    }
    if (PLAN::N_TERMS > 2) {
        bend.third = shared->row_bend[2][row];
    }
    return bend;
}

/* The coefficient of f̂^TERM in e^{i (t f̂ + s f̂² + r f̂³)} (direct_bent.h). The first power
 * without a term of its own is replaced by lower ones that stay nearest to it for |f̂| <= 1: f̂³ by
 * 3/4 f̂, f̂⁴ by 2 (√2 - 1) f̂², f̂⁵ by 5/4 f̂³ - 5/16 f̂. That divides what is left by 4, 5.8 and
 * 16. */
template <int TERMS, int TERM>
static __device__ __forceinline__ float2 slci_mma_factor(float t, float s, float r) {
    const float t2 = __fmul_rn(t, t);
    if (TERM == 1) {
        const float less = TERMS == 2   ? __fmul_rn(t2, -1.0f / 8)
                           : TERMS == 4 ? __fmul_rn(__fmul_rn(t2, t2), -1.0f / 384)
                                        : 0.0f;
        return make_float2(0.0f, TERMS == 2 || TERMS == 4 ? __fmaf_rn(less, t, t) : t);
    }
    if (TERM == 2) {
        const float more = TERMS == 3 ? __fmaf_rn(t2, 0.03451780f, -0.5f) : -0.5f;
        return make_float2(__fmul_rn(t2, more), s);
    }
    if (TERM == 3) {
        const float more = TERMS == 4 ? __fmaf_rn(t2, 1.0f / 96, -1.0f / 6) : -1.0f / 6;
        return make_float2(__fmul_rn(-t, s), __fmaf_rn(__fmul_rn(t2, t), more, r));
    }
    return make_float2(__fmul_rn(__fmul_rn(t2, t2), 1.0f / 24), __fmul_rn(__fmul_rn(t2, s), -0.5f));
}

/* A row's lines of terms TERM and above, of its values in term 0. The product with (cos β, sin β) takes
 * the real part. */
template <class PLAN, int TERM>
static __device__ __forceinline__ void
slci_mma_make_row_terms(const float2 *value, const slci_mma_row_bend *bend,
                        const slci_mma_making *own, char *to) {
    float2 term[SLCI_MMA_CHUNK];
#pragma unroll
    for (int k = 0; k < SLCI_MMA_CHUNK; k++) {
        const float w = own->w_plain[k];
        const float2 factor = slci_mma_factor<PLAN::N_TERMS, TERM>(__fmul_rn(w, bend->first),
                                                                   __fmul_rn(w, bend->second),
                                                                   __fmul_rn(w, bend->third));
        if (TERM == 1) {
            term[k].x = __fmul_rn(-value[k].y, factor.y);
            term[k].y = __fmul_rn(value[k].x, factor.y);
        } else {
            term[k].x = __fmaf_rn(-value[k].y, factor.y, __fmul_rn(value[k].x, factor.x));
            term[k].y = __fmaf_rn(value[k].x, factor.y, __fmul_rn(value[k].y, factor.x));
        }
    }
    slci_mma_store<PLAN, PLAN::is_split(TERM)>(term, to + PLAN::left(TERM));
    if constexpr (TERM < PLAN::N_TERMS) {
        slci_mma_make_row_terms<PLAN, TERM + 1>(value, bend, own, to);
    }
}

/* A row: its lines of the left operands, w V e^{-iα} = (a cos α + b sin α) + i (b cos α - a sin α) and
 * that times each term's factor. */
template <class PLAN>
static __device__ __forceinline__ void slci_mma_make_row(int curve, const slci_mma_row_bend *bend,
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
    slci_mma_store<PLAN, PLAN::is_split(0)>(value, to + PLAN::left(0));
    if constexpr (PLAN::N_TERMS > 0) {
        slci_mma_make_row_terms<PLAN, 1>(value, bend, own, to);
    }
}

/* A column's lines of terms TERM and above, of its values in the term before. */
template <class PLAN, int TERM>
static __device__ __forceinline__ void slci_mma_make_column_terms(float2 *value, float bend,
                                                                  char *to) {
#pragma unroll
    for (int k = 0; k < SLCI_MMA_CHUNK; k++) {
        value[k] = make_float2(__fmul_rn(value[k].x, bend), __fmul_rn(value[k].y, bend));
    }
    slci_mma_store<PLAN, PLAN::is_split(TERM)>(value, to + PLAN::right(TERM));
    if constexpr (TERM < PLAN::N_TERMS) {
        slci_mma_make_column_terms<PLAN, TERM + 1>(value, bend, to);
    }
}

/* A column: its lines of the right operands, (cos β, sin β), with which the real part is the product's
 * sum, and that times each term's power of f̂. */
template <class PLAN>
static __device__ __forceinline__ void slci_mma_make_column(int curve, float bend,
                                                            slci_mma_making *own, char *to) {
    float2 value[SLCI_MMA_CHUNK];
    slci_mma_circles<PLAN>(own, curve, value);
    slci_mma_store<PLAN, PLAN::is_split(0)>(value, to + PLAN::right(0));
    if constexpr (PLAN::N_TERMS > 0) {
        slci_mma_make_column_terms<PLAN, 1>(value, bend, to);
    }
}

/* One chunk of a stage, of both sides the warp's share of the lines: from `first_line` on.
 * `between(group)` is called after each 32 lines. */
template <class PLAN, class BETWEEN>
static __device__ __forceinline__ void
slci_mma_make(const slci_mma_shared *shared, const slci_mma_stock<PLAN> *stock, int chunk,
              int first_line, int stage, char *operands, BETWEEN between) {
    constexpr int LINES = SLCI_MMA_TILE / PLAN::SHARERS;
    const slci_mma_sample *samples =
        &stock->sample[chunk][stage % PLAN::AHEAD_STAGES * SLCI_MMA_CHUNK];
    const int first = first_line + (int)threadIdx.x % 32;
    char *to = operands + (chunk * SLCI_MMA_TILE + first) * 16;
    slci_mma_making own;
    own.curve_unit = shared->curve_unit;
#pragma unroll
    for (int k = 0; k < SLCI_MMA_CHUNK; k++) {
        slci_mma_start(samples[k].rows, first, k, &own);
        own.w[k] = samples[k].w;
        own.w_plain[k] = samples[k].w_plain;
        own.a[k] = samples[k].a;
    }
#pragma unroll
    for (int j = 0; j < LINES; j += 32) {
        const slci_mma_row_bend bend = slci_mma_load_bend<PLAN>(shared, first + j);
        slci_mma_make_row<PLAN>(shared->rows.curve[first + j], &bend, &own, to + j * 16);
        between(j / 32);
    }
#pragma unroll
    for (int k = 0; k < SLCI_MMA_CHUNK; k++) {
        slci_mma_start(samples[k].columns, first, k, &own);
    }
#pragma unroll
    for (int j = 0; j < LINES; j += 32) {
        slci_mma_make_column<PLAN>(shared->columns.curve[first + j], shared->column_bend[first + j],
                                   &own, to + j * 16);
        between((LINES + j) / 32);
    }
}

#endif
