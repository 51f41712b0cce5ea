/* Right operands: a warp's columns of a stage, into shared memory. (cos β, sin β) has the real part of
 * the product with the left operand, w V e^{-iα}, as the sum of a product of real numbers.
 *
 *     slci_mma_columns own;
 *     slci_mma_load_columns<PLAN>(shared, stock, warp, stage, group, &own);    early
 *     slci_mma_make_columns<PLAN>(curve_unit, warp, group, operands, &own);
 */
#ifndef SLC_KERNELS_DIRECT_MMA_COLUMNS_CUH
#define SLC_KERNELS_DIRECT_MMA_COLUMNS_CUH

#include "kernels/direct_mma_block.cuh"
#include "kernels/direct_mma_circle.cuh"

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

/* What a lane keeps of the 4 samples of a chunk while it makes lines 32 apart. */
typedef struct slci_mma_columns {
    uint32_t turn[SLCI_MMA_CHUNK], step[SLCI_MMA_CHUNK];
    int own[SLCI_MMA_CHUNK]; /* slci_mma_stock */
    float w_plain[SLCI_MMA_CHUNK];
    float2 circle[SLCI_MMA_CHUNK], turned[SLCI_MMA_CHUNK]; /* PLAN::IS_TURNED */
    /* Of the group that comes next. */
    int curve;
    float even;
    float bend[2];
} slci_mma_columns;

/* Before the chunk's first lines, of which the lane has `line`, or the pair of that number. */
template <class PLAN>
static __device__ __forceinline__ void slci_mma_start_columns(const slci_mma_stock<PLAN> *stock,
                                                              int first, int line,
                                                              slci_mma_columns *own) {
    const uint32_t lines = (uint32_t)line;
#pragma unroll
    for (int k = 0; k < SLCI_MMA_CHUNK; k++) {
        const slci_mma_turns turns = stock->sample(first + k)->columns;
        own->turn[k] = turns.first + turns.step * lines + (turns.step_rest * lines >> 7);
        own->step[k] = turns.step_32;
        own->own[k] = stock->own[first + k];
        own->w_plain[k] = stock->sample(first + k)->w_plain;
    }
}

/* Product of two circles. */
static __device__ __forceinline__ float2 slci_mma_turn_on(float2 a, float2 b) {
    return make_float2(__fmaf_rn(-a.y, b.y, __fmul_rn(a.x, b.x)),
                       __fmaf_rn(a.x, b.y, __fmul_rn(a.y, b.x)));
}

/* The lane's circles at a line, or at the second of a pair, and on to its next. */
template <class PLAN>
static __device__ __forceinline__ void slci_mma_column_circles(slci_mma_columns *own, int group,
                                                               uint32_t curve_unit, float2 *out) {
    uint32_t turn[SLCI_MMA_CHUNK];
    if (PLAN::IS_TURNED && group % PLAN::CHUNK_GROUPS > 0) {
#pragma unroll
        for (int k = 0; k < SLCI_MMA_CHUNK; k++) {
            out[k] = slci_mma_turn_on(own->circle[k], own->turned[k]);
        }
        return;
    }
#pragma unroll
    for (int k = 0; k < SLCI_MMA_CHUNK; k++) {
        turn[k] = own->turn[k] +
                  slci_mma_curve_turn<PLAN>(own->own[k], own->w_plain[k], own->curve, curve_unit);
        own->turn[k] += own->step[k];
    }
    slci_mma_circles<PLAN, SLCI_MMA_CHUNK>(turn, out);
#pragma unroll
    for (int k = 0; k < SLCI_MMA_CHUNK; k++) {
        own->circle[k] = out[k];
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

/* Where group `group` of the warp's columns of a stage, of PLAN::GROUPS, lies: its chunk, and the
 * lane's column or pair of columns. */
template <class PLAN> static __device__ __forceinline__ int slci_mma_chunk_of(int warp, int group) {
    return PLAN::SHARERS > 1 ? warp % PLAN::CHUNKS
                             : warp + group / PLAN::CHUNK_GROUPS * SLCI_MMA_WARPS;
}

template <class PLAN>
static __device__ __forceinline__ int slci_mma_column_of(int warp, int group) {
    const int first = PLAN::SHARERS > 1 ? warp / PLAN::CHUNKS * (PLAN::LINES / PLAN::SHARERS) : 0;
    return first + group % PLAN::CHUNK_GROUPS * 32 + (int)threadIdx.x % 32;
}

/* Loads what group `group` needs from shared memory, some time before it is made. The groups of a stage
 * come in their order, and the first of a chunk fills in what is kept. */
template <class PLAN>
static __device__ __forceinline__ void
slci_mma_load_columns(const slci_mma_shared *shared, const slci_mma_stock<PLAN> *stock, int warp,
                      int stage, int group, slci_mma_columns *own) {
    const int line = slci_mma_column_of<PLAN>(warp, group);
    own->curve = shared->columns.curve[line];
    own->even = PLAN::IS_MIRRORED ? shared->columns.even[line] : 0.0f;
#pragma unroll
    for (int h = 0; h < 2; h++) {
        const int column = PLAN::IS_MIRRORED ? slci_mma_pair_line(line, h) : line;
        own->bend[h] = PLAN::N_TERMS > 0 ? shared->column_bend[column] : 0.0f;
    }
    const int sample =
        (stage * PLAN::STAGE + slci_mma_chunk_of<PLAN>(warp, group) * SLCI_MMA_CHUNK) %
        (2 * PLAN::BLOCK);
    if (group % PLAN::CHUNK_GROUPS == 0) {
        slci_mma_start_columns<PLAN>(stock, sample, line, own);
    } else if constexpr (PLAN::IS_TURNED) {
#pragma unroll
        for (int k = 0; k < SLCI_MMA_CHUNK; k++) {
            own->turned[k] = *stock->turned(sample + k);
        }
    }
}

/* 4 samples of a column, and those times each term's power of f̂. */
template <class PLAN>
static __device__ __forceinline__ void slci_mma_put_column(float2 *value, float bend, char *to) {
    slci_mma_store<PLAN, PLAN::is_split(0)>(value, to + PLAN::right(0));
    if constexpr (PLAN::N_TERMS > 0) {
        slci_mma_make_column_terms<PLAN, 1>(value, bend, to);
    }
}

/* Two columns that mirror each other, of the circles of the second. */
template <class PLAN>
static __device__ __forceinline__ void slci_mma_put_pair(const float2 *circle, int pair,
                                                         const slci_mma_columns *own, char *chunk) {
    float2 behind[SLCI_MMA_CHUNK];
    float2 before[SLCI_MMA_CHUNK];
#pragma unroll
    for (int k = 0; k < SLCI_MMA_CHUNK; k++) {
        const float2 common = slci_mma_common<PLAN>(
            __fmaf_rn(own->w_plain[k], own->even, __int_as_float(own->own[k])));
        const float c = __fmul_rn(circle[k].x, common.x);
        const float s = __fmul_rn(circle[k].y, common.x);
        behind[k] =
            make_float2(__fmaf_rn(-circle[k].y, common.y, c), __fmaf_rn(circle[k].x, common.y, s));
        before[k] =
            make_float2(__fmaf_rn(circle[k].y, common.y, c), __fmaf_rn(circle[k].x, common.y, -s));
    }
    slci_mma_put_column<PLAN>(behind, own->bend[0], chunk + slci_mma_pair_line(pair, 0) * 16);
    slci_mma_put_column<PLAN>(before, own->bend[1], chunk + slci_mma_pair_line(pair, 1) * 16);
}

/* The group into the stage's operands: a column of 4 samples a lane, or two. */
template <class PLAN>
static __device__ __forceinline__ void slci_mma_make_columns(uint32_t curve_unit, int warp,
                                                             int group, char *operands,
                                                             slci_mma_columns *own) {
    const int line = slci_mma_column_of<PLAN>(warp, group);
    char *chunk = operands + slci_mma_chunk_of<PLAN>(warp, group) * PLAN::CHUNK_BYTES;
    float2 value[SLCI_MMA_CHUNK];
    slci_mma_column_circles<PLAN>(own, group, curve_unit, value);
    if constexpr (PLAN::IS_MIRRORED) {
        slci_mma_put_pair<PLAN>(value, line, own, chunk);
    } else {
        slci_mma_put_column<PLAN>(value, own->bend[0], chunk + line * 16);
    }
}

#endif
