/* How a product kernel multiplies: the operands of a stage, where they lie, and the order in which they
 * are multiplied, all of it fixed at compile time.
 *
 *     using PLAN = slci_mma_plan<3, 2>;          three products, two correction terms
 *     PLAN::left_of(step), PLAN::right_of(step)  for each of PLAN::STEPS
 *
 * An operand has 128 lines for each of a stage's chunks of 4 samples, rows of the picture on the
 * left and columns on the right. Term p has one on either side; with three products and but for the
 * last term, two: numbers rounded to fp16 (high) and what that leaves of them (low). Two terms,
 * three products:
 *
 *     | left high, low | right high, low | left high, low | right high, low | left | right |
 *     '------------ term 0 --------------'------------ term 1 --------------'--- term 2 ---'
 *
 * Small products come first in a stage: then the sum is small while they are added, and what the tensor
 * cores cut off of it is nothing. So the last term comes first, and within a term high · high last. */
#ifndef SLC_KERNELS_DIRECT_MMA_PLAN_CUH
#define SLC_KERNELS_DIRECT_MMA_PLAN_CUH

#include <stdint.h>

#include "kernels/direct_tile.h"

#define SLCI_MMA_TILE SLCI_CUDA_PRODUCT_TILE
#define SLCI_MMA_WARPS 8 /* of a block; each multiplies 16 rows of the tile */
#define SLCI_MMA_CHUNK 4 /* samples side by side in the 16 bytes of one line of an operand */

/* Samples of a stage, as many as shared memory holds two stages of. */
static constexpr int slci_mma_stage(int products, int terms) {
    return products == 1 ? (terms == 0 ? 64 : 32) : terms < 2 ? 32 : terms == 2 ? 16 : 8;
}

/* PRODUCTS of fp16 operands: 1, or 3 of operands split in two; TERMS of the expansion beyond the
 * first. */
template <int PRODUCTS, int TERMS> struct slci_mma_plan {
    static constexpr int N_PRODUCTS = PRODUCTS;
    static constexpr int N_TERMS = TERMS;
    static constexpr bool HAS_MORE = /* than these terms, for other tiles */
        TERMS < (PRODUCTS > 1 ? SLCI_CUDA_MOST_TERMS : SLCI_CUDA_MOST_COARSE_TERMS);
    static constexpr bool IS_SPLIT = PRODUCTS > 1;
    static constexpr int STAGE = slci_mma_stage(PRODUCTS, TERMS);
    static constexpr int CHUNKS = STAGE / SLCI_MMA_CHUNK;
    /* Chunks that a warp makes, or warps that share one. */
    static constexpr int OWN_CHUNKS = CHUNKS < SLCI_MMA_WARPS ? 1 : CHUNKS / SLCI_MMA_WARPS;
    static constexpr int SHARERS = CHUNKS < SLCI_MMA_WARPS ? SLCI_MMA_WARPS / CHUNKS : 1;
    /* Groups of 32 lines that a warp makes of a chunk, and of all its chunks of a stage. */
    static constexpr int CHUNK_GROUPS = 2 * SLCI_MMA_TILE / 32 / SHARERS;
    static constexpr int GROUPS = OWN_CHUNKS * CHUNK_GROUPS;
    /* Stages whose samples are prepared at a time. Each warp prepares those of 8 stages of a chunk. */
    static constexpr int AHEAD_STAGES = 8 * SHARERS;
    /* Stages from promotion to promotion. A single fp16 is so coarse that 128 samples are no harm. */
    static constexpr int INTERVAL = IS_SPLIT ? 1 : 128 / STAGE;
    /* Whether the curve's product is one of integers (direct_bent.h). */
    static constexpr bool IS_CURVE_WHOLE = TERMS >= SLCI_CUDA_SHIFTED_TERMS;
    /* What columns and rows are ahead of their phase, in units of 2^-32 turns: an eighth of a turn
     * makes the nearest quarter the one below. */
    static constexpr uint32_t AHEAD = IS_SPLIT ? 0x20000000u : 0u;

    /* 128 lines of 16 bytes (4 samples, real and imaginary part as fp16) for each chunk. */
    static constexpr int OPERAND_BYTES = CHUNKS * SLCI_MMA_TILE * 16;
    static constexpr int LOW = OPERAND_BYTES; /* from a high operand to its low one */
    static constexpr int SIDE_BYTES = (IS_SPLIT ? 2 : 1) * OPERAND_BYTES; /* of a term, if split */
    static __host__ __device__ constexpr bool is_split(int term) {
        return IS_SPLIT && (term == 0 || term < TERMS);
    }
    static __host__ __device__ constexpr int left(int term) {
        return 2 * term * SIDE_BYTES;
    }
    static __host__ __device__ constexpr int right(int term) {
        return left(term) + (is_split(term) ? 2 : 1) * OPERAND_BYTES;
    }
    static constexpr int STAGE_BYTES =
        2 * (TERMS > 0 ? TERMS : 1) * SIDE_BYTES + (TERMS > 0 ? 2 * OPERAND_BYTES : 0);

    /* Products: of the last term, of the terms before it, and of term 0, to which low · low belongs
     * where there are many terms. */
    static constexpr int LAST = TERMS > 0 ? 1 : 0;
    static constexpr int BETWEEN = TERMS > 1 ? (TERMS - 1) * PRODUCTS : 0;
    static constexpr int LOWS = IS_SPLIT && TERMS >= SLCI_CUDA_LOW_TERMS ? 1 : 0;
    static constexpr int MULTIPLIED = LAST + BETWEEN + LOWS + PRODUCTS;

    /* Steps of a stage, of 8 samples each. */
    static constexpr int STEPS = MULTIPLIED * (STAGE / 8);
    static __device__ __forceinline__ int term_of(int product) {
        return product < LAST             ? TERMS
               : product < LAST + BETWEEN ? TERMS - 1 - (product - LAST) / PRODUCTS
                                          : 0;
    }
    /* Of a split term: 0, high · low; 1, low · high; 2, high · high; 3, low · low. */
    static __device__ __forceinline__ int kind_of(int product) {
        const int at = product - LAST;
        return !IS_SPLIT || at < 0   ? 2
               : at < BETWEEN        ? at % PRODUCTS
               : at < BETWEEN + LOWS ? 3
                                     : at - BETWEEN - LOWS;
    }
    static __device__ __forceinline__ int left_of(int step) {
        const int product = step / (STAGE / 8);
        return left(term_of(product)) + (kind_of(product) % 2 == 1 ? LOW : 0) +
               step % (STAGE / 8) * 2 * SLCI_MMA_TILE * 16;
    }
    static __device__ __forceinline__ int right_of(int step) {
        const int product = step / (STAGE / 8);
        return right(term_of(product)) + (kind_of(product) % 3 == 0 ? LOW : 0) +
               step % (STAGE / 8) * 2 * SLCI_MMA_TILE * 16;
    }
};

#endif
