/* The sums of the CUDA product kernel: products of a stage into sums in registers, by the instructions
 * of single warps, and the sums into the image.
 *
 *     slci_mma_sums own;
 *     slci_mma_clear(&own);
 *     UNIT::begin();                             UNIT: the kind of instruction
 *     UNIT::multiply(own.part, left, right);     8 samples: rows in registers, columns not
 *     UNIT::commit();
 *     UNIT::wait<0>();                           before the sums are looked at
 *     UNIT::settle(own.part);
 *     slci_mma_promote<PLAN>(&own);
 *     slci_mma_store_sums<PLAN>(a, shared, &own, warp, finished);
 *
 * Sixteen rows of the tile are a warp's. Of a step of 8 columns a thread has four pixels: rows
 * lane / 4 and that + 8, columns 2 (lane mod 4) and the next. */
#ifndef SLC_KERNELS_DIRECT_MMA_SUM_CUH
#define SLC_KERNELS_DIRECT_MMA_SUM_CUH

#include "kernels/direct_cuda_pixels.cuh"
#include "kernels/direct_mma_block.cuh"
#include "kernels/direct_mma_instruction.cuh"
#include "kernels/direct_mma_rows.cuh"

/* Pixels of a thread. */
#define SLCI_MMA_PIXELS (SLCI_MMA_TILE / 8 * 4)

/* Numbers of a row of finished sums, more than pixels because rows would share their banks. */
#define SLCI_MMA_ROW_SUMS (SLCI_MMA_TILE + 8)

/* Finished sums of `rows` rows: two planes. */
static constexpr int slci_mma_sums_bytes(int rows) {
    return 2 * rows * SLCI_MMA_ROW_SUMS * (int)sizeof(float);
}

/* Rows that all threads have together. */
#define SLCI_MMA_THREAD_ROWS (32 * SLCI_MMA_WARPS / SLCI_MMA_TILE)

/* Rows of a column that are on their way into the image at a time, by a thread: few where the sums of
 * others stay in registers meanwhile. */
static __host__ __device__ constexpr int slci_mma_rows_at_once(int rows) {
    return rows < SLCI_MMA_TILE ? 1 : 8;
}

typedef struct slci_mma_sums {
    float part[SLCI_MMA_PIXELS]; /* added to by the tensor cores, from what promotion left */
    float sum[SLCI_MMA_PIXELS];
} slci_mma_sums;

static __device__ __forceinline__ void slci_mma_clear(slci_mma_sums *own) {
#pragma unroll
    for (int i = 0; i < SLCI_MMA_PIXELS; i++) {
        own->part[i] = 0.0f;
        own->sum[i] = 0.0f;
    }
}

/* Moves what single precision holds of them into the sums. slci_pair_promote's new sum has to be moved
 * to where the old one is needed until then; an addition in its place is 1 % faster without correction
 * terms, and 2 % slower with them. */
template <class PLAN> static __device__ __forceinline__ void slci_mma_promote(slci_mma_sums *own) {
#pragma unroll
    for (int i = 0; i < SLCI_MMA_PIXELS; i++) {
        if (PLAN::N_TERMS > 0) {
            slci_pair_promote(&own->sum[i], &own->part[i]);
        } else {
            const float moved = __fadd_rn(__fadd_rn(own->sum[i], own->part[i]), -own->sum[i]);
            own->sum[i] = __fadd_rn(own->sum[i], moved);
            own->part[i] = __fadd_rn(own->part[i], -moved);
        }
    }
}

/* ---- mma.sync --------------------------------------------------------------------------------- */

/* Matrix instructions of single warps. */
struct slci_mma_warp_unit {
    static constexpr bool IS_SHORT = false; /* of its plans */

    static __device__ __forceinline__ void publish() {
    }
    static __device__ __forceinline__ void begin() {
    }

    /* part += left · right over 8 samples: 16 rows, all columns. `left` is the lane's part of the rows,
     * `right` the first line of the two chunks of columns. */
    static __device__ __forceinline__ void multiply(float *part, const uint32_t *left,
                                                    uint32_t right) {
        const int lane = (int)threadIdx.x % 32;
        /* Columns 0-7 of both chunks, columns 8-15 of the same. */
        const uint32_t right_lane =
            16 * (right + (uint32_t)(lane / 8 % 2 * SLCI_MMA_TILE + lane / 16 * 8 + lane % 8));
#pragma unroll
        for (int n = 0; n < SLCI_MMA_TILE / 16; n++) {
            uint32_t b[4];
            slci_mma_load_matrices(b, right_lane + (uint32_t)n * 256);
            slci_mma_16x8x16(part + 8 * n, left, b);
            slci_mma_16x8x16(part + 8 * n + 4, left, b + 2);
        }
    }

    static __device__ __forceinline__ void commit() {
    }
    template <int N> static __device__ __forceinline__ void wait() {
    }
    static __device__ __forceinline__ void settle(const void *unused) {
        (void)unused;
    }
};

/* The same in short stages. */
struct slci_mma_short_unit : slci_mma_warp_unit {
    static constexpr bool IS_SHORT = true;
};

/* ---- the image -------------------------------------------------------------------------------- */

/* A warp's sums, and what promotion left of them, into shared memory, so that neighbouring
 * threads have neighbouring pixels: two planes [PLAN::PIECE_ROWS, SLCI_MMA_ROW_SUMS], from row
 * `top_row` of the tile on. */
template <class PLAN>
static __device__ __forceinline__ void slci_mma_hand_over(const slci_mma_sums *own, int warp,
                                                          int top_row, float *finished) {
    const int column = (int)threadIdx.x % 4 * 2;
    float *row[2];
#pragma unroll
    for (int h = 0; h < 2; h++) {
        row[h] = finished + (slci_mma_row_of<PLAN>(warp, h) - top_row) * SLCI_MMA_ROW_SUMS + column;
    }
#pragma unroll
    for (int i = 0; i < SLCI_MMA_PIXELS; i++) {
        float *at = row[i / 2 % 2] + i / 4 * 8 + i % 2;
        at[0] = own->sum[i];
        at[PLAN::PIECE_ROWS * SLCI_MMA_ROW_SUMS] = own->part[i];
    }
}

/* Locks of tiles of the image. Whose lock a tile has depends on its place in memory, so that two tiles
 * may share one, which only makes their blocks wait for each other. */
#define SLCI_MMA_LOCK_BITS 12
static __device__ unsigned slci_mma_locks[1 << SLCI_MMA_LOCK_BITS];

static __device__ __forceinline__ unsigned *slci_mma_lock_of(const slc_fixed *corner) {
    const uint64_t place = (uint64_t)corner / sizeof(slc_fixed);
    return &slci_mma_locks[place * 0x9e3779b97f4a7c15ull >> (64 - SLCI_MMA_LOCK_BITS)];
}

/* One thread of a block, which has no other lock. */
static __device__ __forceinline__ void slci_mma_lock(unsigned *lock) {
    while (atomicCAS(lock, 0u, 1u) != 0u) {
        __nanosleep(200);
    }
    __threadfence();
}

/* One thread, when all have passed a fence and a barrier. */
static __device__ __forceinline__ void slci_mma_unlock(unsigned *lock) {
    atomicExch(lock, 0u);
}

/* With a scale of at most this many bits, what a run adds to a pixel is below 2^62: at most 16,384
 * samples of size 2^SLCI_MMA_LEFT_BIT, and three bits to spare. */
#define SLCI_MMA_NARROW_BITS (62 - 14 - SLCI_MMA_LEFT_BIT - 3)

/* slc_fixed_from_double, without branches where the scale is as common. */
static __device__ __forceinline__ slc_fixed slci_mma_fixed(double value, int scale_bits) {
    if (scale_bits > SLCI_MMA_NARROW_BITS) {
        return slc_fixed_from_double(value, scale_bits);
    }
    const uint64_t bits = (uint64_t)__double_as_longlong(value);
    const uint64_t mantissa = (bits << 10 & 0x3fffffffffffffffull) | 0x4000000000000000ull;
    /* Down to twice the value, whose last bit rounds; 63 places leave nothing. */
    const int down = min(1084 - scale_bits - (int)(bits >> 52 & 0x7ff), 63);
    const int64_t size = (int64_t)(((mantissa >> down) + 1u) >> 1);
    const int64_t number = (bits >> 63) != 0 ? -size : size;
    return {(uint64_t)number, number >> 63};
}

/* Whether a pixel lies within the horizon. */
static __device__ __forceinline__ bool slci_mma_is_seen(const slci_direct_cuda_arguments *a,
                                                        const slci_mma_shared *shared, int row,
                                                        int column) {
    return shared->is_inside ||
           slci_direct_r2(slci_direct_l(&a->setup.geometry, shared->tile.x0 + column),
                          slci_direct_m(&a->setup.geometry, shared->tile.y0 + row)) < 1.0;
}

/* Adds to pixels of a column from row `first` on, where they lie in the tile and within the
 * horizon; `finished` has the ROWS rows from `top_row` on. Several pixels are on their way from
 * memory at a time. What a multiprocessor has in its own cache is passed by: another may have
 * changed the pixel. */
template <int ROWS>
static __device__ __forceinline__ void
slci_mma_add_rows(const slci_direct_cuda_arguments *a, const slci_mma_shared *shared,
                  const float *finished, int top_row, int first) {
    const int column = (int)threadIdx.x % SLCI_MMA_TILE;
    const int scale_bits = a->setup.scale_bits - shared->left_bits;
    slc_fixed *top = shared->target.corner + column * a->setup.n_parts;
    constexpr int AT_ONCE = slci_mma_rows_at_once(ROWS);
    ulonglong2 before[AT_ONCE];
    bool is_there[AT_ONCE];
#pragma unroll
    for (int j = 0; j < AT_ONCE; j++) {
        const int row = first + j * SLCI_MMA_THREAD_ROWS;
        is_there[j] = row < shared->target.n_rows && slci_mma_is_seen(a, shared, row, column);
        if (is_there[j]) {
            before[j] = __ldcg((const ulonglong2 *)(top + row * shared->target.row_step));
        }
    }
#pragma unroll
    for (int j = 0; j < AT_ONCE; j++) {
        const int row = first + j * SLCI_MMA_THREAD_ROWS;
        const float *own = finished + (row - top_row) * SLCI_MMA_ROW_SUMS + column;
        if (is_there[j]) {
            const double value = (double)own[0] + (double)own[ROWS * SLCI_MMA_ROW_SUMS];
            const slc_fixed sum = slc_fixed_add({before[j].x, (int64_t)before[j].y},
                                                slci_mma_fixed(value, scale_bits));
            __stcg((ulonglong2 *)(top + row * shared->target.row_step),
                   make_ulonglong2(sum.low, (unsigned long long)sum.high));
        }
    }
}

/* Finished sums of ROWS rows, from `top_row` on, into the image. Atomic additions, two of 8 bytes a
 * pixel, would take six times as long as loads and stores of 16 bytes, for which a block has the
 * tile to itself. All threads; ends with a barrier. */
template <int ROWS>
static __device__ __forceinline__ void slci_mma_store_rows(const slci_direct_cuda_arguments *a,
                                                           const slci_mma_shared *shared,
                                                           const float *finished, int top_row) {
    constexpr int STEP = slci_mma_rows_at_once(ROWS) * SLCI_MMA_THREAD_ROWS;
    unsigned *lock = slci_mma_lock_of(shared->target.corner);
    if (shared->n_used == 0) {
        return;
    }
    if (threadIdx.x == 0) {
        slci_mma_lock(lock);
    }
    __syncthreads();
    if ((int)threadIdx.x % SLCI_MMA_TILE < shared->target.n_columns) {
#pragma unroll 1
        for (int done = 0; done < ROWS && top_row + done < shared->target.n_rows; done += STEP) {
            slci_mma_add_rows<ROWS>(a, shared, finished, top_row,
                                    top_row + done + (int)threadIdx.x / SLCI_MMA_TILE);
        }
    }
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        slci_mma_unlock(lock);
    }
}

/* All of them. Not inlined, as slci_mma_list_run is not. */
static __device__ __noinline__ void slci_mma_store_image(const slci_direct_cuda_arguments *a,
                                                         const slci_mma_shared *shared,
                                                         const float *finished) {
    slci_mma_store_rows<SLCI_MMA_TILE>(a, shared, finished, 0);
}

/* A block's sums into the image, through shared memory that no one uses any more: all at once or, where
 * there is no room, warp by warp. All threads. */
template <class PLAN>
static __device__ __forceinline__ void
slci_mma_store_sums(const slci_direct_cuda_arguments *a, const slci_mma_shared *shared,
                    const slci_mma_sums *own, int warp, float *finished) {
    if constexpr (PLAN::PIECES == 1) {
        slci_mma_hand_over<PLAN>(own, warp, 0, finished);
        __syncthreads();
        slci_mma_store_image(a, shared, finished);
    } else {
#pragma unroll 1
        for (int piece = 0; piece < PLAN::PIECES; piece++) {
            if (warp == piece) {
                slci_mma_hand_over<PLAN>(own, warp, piece * PLAN::PIECE_ROWS, finished);
            }
            __syncthreads();
            slci_mma_store_rows<PLAN::PIECE_ROWS>(a, shared, finished, piece * PLAN::PIECE_ROWS);
        }
    }
}

#endif
