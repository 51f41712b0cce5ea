/* How a product kernel multiplies: the operands of a stage and where they lie, all of it fixed at
 * compile time.
 *
 *     using PLAN = slci_mma_plan<3, 2, false, false>;    three products, two correction terms
 *     PLAN::right(term)                    in each of two buffers of PLAN::STAGE_BYTES
 *
 * Left operands, rows of the picture, are in registers. Right ones, its columns, are in shared memory:
 * 128 lines for each of a stage's chunks of 4 samples. Term p has one operand, or, with three
 * products and but for the last term, two: numbers rounded to fp16 (high) and what that leaves of
 * them (low). Two terms, three products:
 *
 *     | term 0 high, low | term 1 high, low | term 2 | */
#ifndef SLC_KERNELS_DIRECT_MMA_PLAN_CUH
#define SLC_KERNELS_DIRECT_MMA_PLAN_CUH

#include <stdint.h>

#include "kernels/direct_tile.h"

#define SLCI_MMA_TILE SLCI_CUDA_PRODUCT_TILE
#define SLCI_MMA_WARPS 8 /* of a block; each multiplies 16 rows of the tile */
#define SLCI_MMA_CHUNK 4 /* samples side by side in the 16 bytes of one line of an operand */
#define SLCI_MMA_STEP 8  /* samples of one matrix instruction: two chunks */

/* Of the 16 rows of a warp, the one from which the turns of the others are counted. */
#define SLCI_MMA_MIDDLE_ROW 8

/* The lines of a pair that mirror each other: half 0 behind the tile's middle, half 1 before it. */
static __device__ __forceinline__ int slci_mma_pair_line(int pair, int half) {
    return half == 0 ? SLCI_MMA_TILE / 2 + pair : SLCI_MMA_TILE / 2 - 1 - pair;
}

/* Shared memory of a block: for SLC_DIRECT_UNIT_SHORT what compute capability 7.5 has, which is the
 * least, and else what 9.0 has. */
#define SLCI_MMA_SHORT_BYTES 65536
#define SLCI_MMA_LONG_BYTES 232448

/* Samples of a stage. 32 of split operands are four additions to the sum of the large products, which
 * is what the error allows before the sum moves; of one product there may be twice as many. More terms
 * have as many as shared memory holds two stages of. */
static constexpr int slci_mma_stage(int products, int terms, bool is_mirrored) {
    const bool is_long = products == 1 ? terms < 2 : terms < 1 && is_mirrored;
    return is_long ? 64 : products == 1 || terms < 3 ? 32 : 16;
}

/* The same in SLCI_MMA_SHORT_BYTES. */
static constexpr int slci_mma_short_stage(int products, int terms) {
    return terms < (products == 1 ? 2 : 1) ? 16 : 8;
}

/* The most terms that any tile has. */
static constexpr int slci_mma_most_terms(int products, bool is_short) {
    return products == 1 ? SLCI_CUDA_MOST_COARSE_TERMS
           : is_short    ? SLCI_CUDA_MOST_SHORT_TERMS
                         : SLCI_CUDA_MOST_TERMS;
}

/* PRODUCTS of fp16 operands: 1, or 3 of operands split in two; TERMS of the expansion beyond the
 * first; in stages that are short or not; of lines that mirror each other or not. */
template <int PRODUCTS, int TERMS, bool IS_SHORT, bool MIRRORED> struct slci_mma_plan {
    static constexpr bool IS_MIRRORED = MIRRORED;
    static_assert(!IS_SHORT || !MIRRORED, "a chunk has less than 32 pairs for a warp");
    static constexpr int N_TERMS = TERMS;
    static constexpr bool HAS_MORE = /* than these terms, for other tiles */
        TERMS < slci_mma_most_terms(PRODUCTS, IS_SHORT);
    static constexpr bool IS_SPLIT = PRODUCTS > 1;
    /* Whether low · low belongs to term 0. */
    static constexpr bool HAS_LOWS = IS_SPLIT && TERMS >= SLCI_CUDA_LOW_TERMS;
    static constexpr int STAGE = IS_SHORT ? slci_mma_short_stage(PRODUCTS, TERMS)
                                          : slci_mma_stage(PRODUCTS, TERMS, MIRRORED);
    /* Samples that are prepared at a time, 32 by a warp: by all warps, or by each in its turn. At least
     * two stages, because a stage's are prepared a stage before they are used. */
    static constexpr int BLOCK = IS_SHORT ? 32 : 32 * SLCI_MMA_WARPS;
    static_assert(BLOCK >= 2 * STAGE, "a block has the samples of two stages");
    /* Pieces in which finished sums go into the image: where one has room for all rows. */
    static constexpr int PIECES = IS_SHORT ? SLCI_MMA_WARPS : 1;
    static constexpr int PIECE_ROWS = SLCI_MMA_TILE / PIECES;
    /* Samples of a run at most: the list of those with a weight has room for them. */
    static constexpr int RUN =
        SLC_DIRECT_GRANULE_SAMPLES * (IS_SHORT                         ? 1
                                      : TERMS <= SLCI_CUDA_PLAIN_TERMS ? SLCI_CUDA_PLAIN_GRANULES
                                                                       : SLCI_CUDA_GRANULES);
    /* From sample to sample: apart in their banks, where there is room. */
    static constexpr int SAMPLE_BYTES = IS_SPLIT && TERMS == 2 && !IS_SHORT ? 64 : 80;
    static constexpr int CHUNKS = STAGE / SLCI_MMA_CHUNK;
    static constexpr int STEPS = STAGE / SLCI_MMA_STEP;
    /* Warps that share a chunk's columns, and groups that each makes of it: of 32 columns, or of 32
     * pairs that mirror each other. */
    static constexpr int SHARERS = CHUNKS < SLCI_MMA_WARPS ? SLCI_MMA_WARPS / CHUNKS : 1;
    static constexpr int LINES =
        MIRRORED ? SLCI_MMA_TILE / 2 : SLCI_MMA_TILE; /* or pairs of them */
    static constexpr int CHUNK_GROUPS = LINES / 32 / SHARERS;
    static constexpr int GROUPS = MIRRORED ? STEPS / 2 : STEPS; /* of a stage, by a warp */
    /* The first step after which columns are made. Those left then come after the last step, with which
     * high · high of term 0 is multiplied: half of all products where there is no other term. */
    static constexpr int FIRST_COLUMNS = IS_SPLIT && TERMS == 0 ? 1 : 0;
    static_assert(FIRST_COLUMNS < STEPS, "columns would not be loaded");
    static __host__ __device__ constexpr int columns_before(int step) {
        return step == STEPS          ? GROUPS
               : step > FIRST_COLUMNS ? (step - FIRST_COLUMNS) * GROUPS / STEPS
                                      : 0;
    }
    /* Stages from promotion to promotion. A single fp16 is so coarse that 128 samples are no harm. */
    static constexpr int INTERVAL = IS_SPLIT ? 1 : 128 / STAGE;
    /* Whether the curve's product is one of integers (direct_bent.h). */
    static constexpr bool IS_CURVE_WHOLE = !MIRRORED && TERMS >= SLCI_CUDA_SHIFTED_TERMS;
    /* Whether lines have a curve in their turns. Of lines that mirror each other it is what differs
     * between them, which is part of what a tile without terms leaves out. */
    static constexpr bool HAS_CURVE = !MIRRORED || TERMS > 0;
    /* Whether columns 32 further on are made of a sample's circles by one more of them, which is so
     * where all lines are as far apart. */
    static constexpr bool IS_TURNED = MIRRORED && !HAS_CURVE;
    static_assert(!IS_TURNED || CHUNK_GROUPS == 2, "one circle takes columns to those after them");
    static_assert(!IS_TURNED || SAMPLE_BYTES == 80, "that circle has no room behind a sample");
    /* Whether that comes with SLCI_MMA_WHOLE_BITS. */
    static constexpr bool HAS_WHOLE_BITS = HAS_CURVE && !IS_CURVE_WHOLE;
    /* Rows of a warp that have a turn of their own, and the one whose turn is prepared. */
    static constexpr int WARP_TURNS = LINES / SLCI_MMA_WARPS;
    static constexpr int FIRST_TURN = MIRRORED ? 0 : SLCI_MMA_MIDDLE_ROW;
    /* Pairs of powers of the angle that those have in common, beyond the third. */
    static constexpr int COMMON_PAIRS = TERMS < 2 ? TERMS : 2;
    /* What columns and rows are ahead of their phase, in units of 2^-32 turns: a quarter of a turn
     * makes the nearest half turn the one below. */
    static constexpr uint32_t AHEAD = IS_SPLIT ? 0x40000000u : 0u;

    /* 128 lines of 16 bytes (4 samples, real and imaginary part as fp16) for each chunk. */
    static constexpr int CHUNK_BYTES = SLCI_MMA_TILE * 16;
    static constexpr int OPERAND_BYTES = CHUNKS * CHUNK_BYTES;
    static constexpr int LOW = OPERAND_BYTES; /* from a high operand to its low one */
    static __host__ __device__ constexpr bool is_split(int term) {
        return IS_SPLIT && (term == 0 || term < TERMS);
    }
    static __host__ __device__ constexpr int right(int term) {
        return term * (IS_SPLIT ? 2 : 1) * OPERAND_BYTES;
    }
    /* The same in lines. */
    static constexpr uint32_t LOW_LINE = LOW / 16;
    static __host__ __device__ constexpr uint32_t right_line(int term) {
        return (uint32_t)right(term) / 16;
    }
    static constexpr int STAGE_BYTES =
        (TERMS > 0 ? TERMS : 1) * (IS_SPLIT ? 2 : 1) * OPERAND_BYTES +
        (TERMS > 0 ? OPERAND_BYTES : 0);
};

#endif
