/* Left operands: a warp's 16 rows, into the registers from which it multiplies them. As the matrix
 * instructions want it, a lane has rows lane / 4 and that + 8, and of a step's 8 samples those with
 * number lane mod 4 and that + 4: four values w V e^{-iα}, which no other lane makes.
 *
 *     slci_mma_rows rows;
 *     slci_mma_find_rows<PLAN>(shared, warp, &rows);                 once a run
 *     slci_mma_load_rows<PLAN>(&rows, stock, first, &loaded);        a step
 *     slci_mma_make_values<PLAN>(&rows, &loaded, &values);
 *     slci_mma_make_term<PLAN, TERM>(&rows, &values, &left);         its operands in a term
 */
#ifndef SLC_KERNELS_DIRECT_MMA_ROWS_CUH
#define SLC_KERNELS_DIRECT_MMA_ROWS_CUH

#include "kernels/direct_mma_block.cuh"
#include "kernels/direct_mma_circle.cuh"

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

/* The lane's two rows. */
typedef struct slci_mma_rows {
    int warp;
    uint32_t from_first; /* to the first of them from the one whose turn is prepared, in rows */
    int curve[2];
    float even; /* of both, where they mirror each other */
    uint32_t curve_unit;
    slci_mma_row_bend bend[2];
} slci_mma_rows;

/* A lane's first row of its warp's, or its pair of rows. */
static __device__ __forceinline__ int slci_mma_row_in_warp() {
    return (int)threadIdx.x % 32 / 4;
}

/* The row of the tile that a lane of a warp has first (half 0) or second. */
template <class PLAN> static __device__ __forceinline__ int slci_mma_row_of(int warp, int half) {
    const int first = PLAN::WARP_TURNS * warp + slci_mma_row_in_warp();
    return PLAN::IS_MIRRORED ? slci_mma_pair_line(first, half) : first + 8 * half;
}

template <class PLAN>
static __device__ __forceinline__ void slci_mma_find_rows(const slci_mma_shared *shared, int warp,
                                                          slci_mma_rows *rows) {
    const int pair = PLAN::WARP_TURNS * warp + slci_mma_row_in_warp();
    rows->warp = warp;
    rows->from_first = (uint32_t)(slci_mma_row_in_warp() - PLAN::FIRST_TURN);
    rows->curve_unit = shared->curve_unit;
    rows->even = PLAN::IS_MIRRORED ? shared->rows.even[pair] : 0.0f;
#pragma unroll
    for (int h = 0; h < 2; h++) {
        const int row = slci_mma_row_of<PLAN>(warp, h);
        rows->curve[h] = shared->rows.curve[PLAN::IS_MIRRORED ? pair : row];
        rows->bend[h] = slci_mma_load_bend<PLAN>(shared, row);
    }
}

/* Of a step: both rows at the first sample, both at the second. */
typedef struct slci_mma_values {
    float2 value[4];
    float w[2]; /* wavelengths, of the samples */
} slci_mma_values;

/* One step's left operands of a term, each a pair of fp16. */
typedef struct slci_mma_left {
    uint32_t high[4], low[4];
} slci_mma_left;

/* What a lane needs of a step's samples, on its way from shared memory while something else is made. */
typedef struct slci_mma_row_samples {
    float2 a[2];
    float w_plain[2];
    uint32_t turn[2], step[2];
    int own[2]; /* slci_mma_stock */
} slci_mma_row_samples;

/* `first` is the step's first sample, in the stock. */
template <class PLAN>
static __device__ __forceinline__ void slci_mma_load_rows(const slci_mma_rows *rows,
                                                          const slci_mma_stock<PLAN> *stock,
                                                          int first, slci_mma_row_samples *out) {
#pragma unroll
    for (int j = 0; j < 2; j++) {
        const int at = first + (int)threadIdx.x % 4 + j * SLCI_MMA_CHUNK;
        const slci_mma_sample *sample = stock->sample(at);
        const float4 head = *(const float4 *)&sample->a;
        out->a[j] = make_float2(head.x, head.y);
        out->w_plain[j] = head.z;
        out->step[j] = __float_as_uint(head.w);
        out->turn[j] = sample->row_turn[rows->warp];
        out->own[j] = PLAN::IS_MIRRORED ? 0 : stock->own[at];
    }
}

/* The values of two rows that mirror each other: a circle for both. */
template <class PLAN>
static __device__ __forceinline__ void
slci_mma_make_mirrored_values(const slci_mma_rows *rows, const slci_mma_row_samples *samples,
                              slci_mma_values *out) {
    uint32_t turn[2];
    float2 circle[2];
#pragma unroll
    for (int j = 0; j < 2; j++) {
        turn[j] =
            samples->turn[j] + samples->step[j] * rows->from_first +
            slci_mma_curve_turn<PLAN>(0, samples->w_plain[j], rows->curve[0], rows->curve_unit);
    }
    slci_mma_circles<PLAN, 2>(turn, circle);
#pragma unroll
    for (int j = 0; j < 2; j++) {
        const float2 common = slci_mma_common<PLAN>(__fmul_rn(samples->w_plain[j], rows->even));
        const float2 a = samples->a[j];
        const float x = __fmaf_rn(a.y, common.y, __fmul_rn(a.x, common.x));
        const float y = __fmaf_rn(-a.x, common.y, __fmul_rn(a.y, common.x));
        const float xc = __fmul_rn(x, circle[j].x);
        const float yc = __fmul_rn(y, circle[j].x);
        out->value[2 * j] =
            make_float2(__fmaf_rn(y, circle[j].y, xc), __fmaf_rn(-x, circle[j].y, yc));
        out->value[2 * j + 1] =
            make_float2(__fmaf_rn(-y, circle[j].y, xc), __fmaf_rn(x, circle[j].y, yc));
        out->w[j] = samples->w_plain[j];
    }
}

/* w V e^{-iα} = (a cos α + b sin α) + i (b cos α - a sin α). */
template <class PLAN>
static __device__ __forceinline__ void
slci_mma_make_single_values(const slci_mma_rows *rows, const slci_mma_row_samples *samples,
                            slci_mma_values *out) {
    uint32_t turn[4];
#pragma unroll
    for (int j = 0; j < 2; j++) {
        const float w_plain = samples->w_plain[j];
        const uint32_t first = samples->turn[j] + samples->step[j] * rows->from_first;
        turn[2 * j] = first + slci_mma_curve_turn<PLAN>(samples->own[j], w_plain, rows->curve[0],
                                                        rows->curve_unit);
        turn[2 * j + 1] =
            first + 8 * samples->step[j] +
            slci_mma_curve_turn<PLAN>(samples->own[j], w_plain, rows->curve[1], rows->curve_unit);
        out->w[j] = w_plain;
    }
    slci_mma_circles<PLAN, 4>(turn, out->value);
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const float2 circle = out->value[i];
        const float2 a = samples->a[i / 2];
        out->value[i].x = __fmaf_rn(a.y, circle.y, __fmul_rn(a.x, circle.x));
        out->value[i].y = __fmaf_rn(-a.x, circle.y, __fmul_rn(a.y, circle.x));
    }
}

template <class PLAN>
static __device__ __forceinline__ void slci_mma_make_values(const slci_mma_rows *rows,
                                                            const slci_mma_row_samples *samples,
                                                            slci_mma_values *out) {
    if constexpr (PLAN::IS_MIRRORED) {
        slci_mma_make_mirrored_values<PLAN>(rows, samples, out);
    } else {
        slci_mma_make_single_values<PLAN>(rows, samples, out);
    }
}

/* The values times the factor of term TERM, 1 or above. */
template <class PLAN, int TERM>
static __device__ __forceinline__ float2 slci_mma_times_factor(float2 value, float w,
                                                               const slci_mma_row_bend *bend) {
    const float2 factor =
        slci_mma_factor<PLAN::N_TERMS, TERM>(__fmul_rn(w, bend->first), __fmul_rn(w, bend->second),
                                             __fmul_rn(w, bend->third));
    if (TERM == 1) {
        return make_float2(__fmul_rn(-value.y, factor.y), __fmul_rn(value.x, factor.y));
    }
    return make_float2(__fmaf_rn(-value.y, factor.y, __fmul_rn(value.x, factor.x)),
                       __fmaf_rn(value.x, factor.y, __fmul_rn(value.y, factor.x)));
}

template <class PLAN, int TERM>
static __device__ __forceinline__ void
slci_mma_make_term(const slci_mma_rows *rows, const slci_mma_values *values, slci_mma_left *out) {
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const float2 value =
            TERM == 0 ? values->value[i]
                      : slci_mma_times_factor<PLAN, TERM>(values->value[i], values->w[i / 2],
                                                          &rows->bend[i % 2]);
        out->high[i] = slci_mma_pack(value);
        if (PLAN::is_split(TERM)) {
            out->low[i] = slci_mma_pack_rest(value, out->high[i]);
        }
    }
}

#endif
