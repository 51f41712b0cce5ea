/* The sums of the CUDA product kernel: products of a stage into sums in registers, by the instructions
 * of single warps, and the sums into the image.
 *
 *     slci_mma_sums own;
 *     slci_mma_clear(&own);
 *     UNIT::begin();                                     UNIT: the kind of instruction
 *     UNIT::step<PLAN>(operands, warp, step, own.part);  for each of PLAN::STEPS
 *     UNIT::commit();
 *     UNIT::end(own.part);                               before the sums are looked at
 *     slci_mma_promote(&own);
 *     slci_mma_hand_over(&own, warp, finished);
 *     slci_mma_store_image(a, shared, finished);         all threads, after a barrier
 *
 * Sixteen rows of the tile are a warp's. Of a step of 8 columns a thread has four pixels: rows
 * lane / 4 and that + 8, columns 2 (lane mod 4) and the next. */
#ifndef SLC_KERNELS_DIRECT_MMA_SUM_CUH
#define SLC_KERNELS_DIRECT_MMA_SUM_CUH

#include "kernels/direct_cuda_pixels.cuh"
#include "kernels/direct_mma_block.cuh"

/* Pixels of a thread. */
#define SLCI_MMA_PIXELS (SLCI_MMA_TILE / 8 * 4)

/* Numbers of a row of finished sums, more than pixels because rows would share their banks. */
#define SLCI_MMA_ROW_SUMS (SLCI_MMA_TILE + 8)
#define SLCI_MMA_PLANE_SUMS (SLCI_MMA_TILE * SLCI_MMA_ROW_SUMS)
#define SLCI_MMA_SUMS_BYTES (2 * SLCI_MMA_PLANE_SUMS * (int)sizeof(float))

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

static __device__ __forceinline__ void slci_mma_promote(slci_mma_sums *own) {
#pragma unroll
    for (int i = 0; i < SLCI_MMA_PIXELS; i++) {
        slci_pair_promote(&own->sum[i], &own->part[i]);
    }
}

/* ---- mma.sync --------------------------------------------------------------------------------- */

/* Four 8 × 8 matrices of fp16, each eight lines of 16 bytes one after another. */
static __device__ __forceinline__ void slci_mma_load(uint32_t *to, uint32_t address) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(address));
}

static __device__ __forceinline__ void slci_mma_16x8x16(float *sum, const uint32_t *left,
                                                        const uint32_t *right) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]),
                   "r"(right[1]));
}

/* part += left · right over 8 samples: 16 rows, all columns. */
static __device__ __forceinline__ void slci_mma_warp_step(uint32_t left, uint32_t right, int warp,
                                                          float *part) {
    const int lane = (int)threadIdx.x % 32;
    /* Matrices 0 to 3 of `left`: rows 0-7 and 8-15 of chunk 0, the same of chunk 1. */
    const uint32_t left_lane =
        left + (uint32_t)(lane / 16 * SLCI_MMA_TILE + warp * 16 + lane % 16) * 16;
    /* Of `right`: columns 0-7 of chunks 0 and 1, columns 8-15 of the same. */
    const uint32_t right_lane =
        right + (uint32_t)(lane / 8 % 2 * SLCI_MMA_TILE + lane / 16 * 8 + lane % 8) * 16;
    uint32_t a[4];
    slci_mma_load(a, left_lane);
#pragma unroll
    for (int n = 0; n < SLCI_MMA_TILE / 16; n++) {
        uint32_t b[4];
        slci_mma_load(b, right_lane + (uint32_t)n * 256);
        slci_mma_16x8x16(part + 8 * n, a, b);
        slci_mma_16x8x16(part + 8 * n + 4, a, b + 2);
    }
}

/* Matrix instructions of single warps: compute capability 8.0 and later have them, and 9.0 and later
 * enough shared memory for them. */
struct slci_mma_warp_unit {
    static constexpr int STEPS_AT_ONCE = 1; /* more would not leave registers enough */

    static __device__ __forceinline__ void publish() {
    }
    static __device__ __forceinline__ void begin() {
    }

    template <class PLAN>
    static __device__ __forceinline__ void step(const char *operands, int warp, int step,
                                                float *part) {
        const uint32_t stage = slci_mma_address(operands);
        slci_mma_warp_step(stage + (uint32_t)PLAN::left_of(step),
                           stage + (uint32_t)PLAN::right_of(step), warp, part);
    }

    static __device__ __forceinline__ void commit() {
    }
    static __device__ __forceinline__ void end(float *part) {
        (void)part;
    }
};

/* ---- the image -------------------------------------------------------------------------------- */

/* A warp's sums, and what promotion left of them, into shared memory, so that neighbouring
 * threads have neighbouring pixels: two planes [row, SLCI_MMA_ROW_SUMS]. */
static __device__ __forceinline__ void slci_mma_hand_over(const slci_mma_sums *own, int warp,
                                                          float *finished) {
    const int lane = (int)threadIdx.x % 32;
    float *corner = finished + (warp * 16 + lane / 4) * SLCI_MMA_ROW_SUMS + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < SLCI_MMA_PIXELS; i++) {
        float *at = corner + i / 2 % 2 * 8 * SLCI_MMA_ROW_SUMS + i / 4 * 8 + i % 2;
        at[0] = own->sum[i];
        at[SLCI_MMA_PLANE_SUMS] = own->part[i];
    }
}

/* Whether the image has pixel `number` of the tile, and where. */
static __device__ __forceinline__ bool slci_mma_find(const slci_direct_cuda_arguments *a,
                                                     const slci_mma_shared *shared, int number,
                                                     slc_fixed **pixel) {
    const int64_t y = shared->tile.y0 + number / SLCI_MMA_TILE;
    const int64_t x = shared->tile.x0 + number % SLCI_MMA_TILE;
    const int64_t down = y - a->tile->origin[1];
    const int64_t across = x - a->tile->origin[2];
    *pixel = a->image + ((down * a->row_pixels + across) * a->setup.n_parts + blockIdx.z);
    return down < a->tile->extent[1] && across < a->tile->extent[2] &&
           (shared->is_inside || slci_direct_r2(slci_direct_l(&a->setup.geometry, x),
                                                slci_direct_m(&a->setup.geometry, y)) < 1.0);
}

/* The finished sums into the image, where a pixel lies in the tile and within the horizon. A thread
 * has several additions under way, each a trip to memory and back. */
static __device__ inline void slci_mma_store_image(const slci_direct_cuda_arguments *a,
                                                   const slci_mma_shared *shared,
                                                   const float *finished) {
    constexpr int AT_ONCE = 4;
    constexpr int n_threads = 32 * SLCI_MMA_WARPS;
    const int thread = (int)threadIdx.x;
    if (shared->n_used == 0) {
        return;
    }
    const double scale = 1.0 / shared->scale; /* exact */
#pragma unroll 1
    for (int start = thread; start < SLCI_MMA_TILE * SLCI_MMA_TILE; start += AT_ONCE * n_threads) {
        slc_fixed *pixel[AT_ONCE];
        slc_fixed value[AT_ONCE];
        uint64_t before[AT_ONCE];
        bool is_there[AT_ONCE];
#pragma unroll
        for (int j = 0; j < AT_ONCE; j++) {
            const int number = start + j * n_threads;
            is_there[j] = number < SLCI_MMA_TILE * SLCI_MMA_TILE &&
                          slci_mma_find(a, shared, number, &pixel[j]);
            if (is_there[j]) {
                const float *sum =
                    finished + number / SLCI_MMA_TILE * SLCI_MMA_ROW_SUMS + number % SLCI_MMA_TILE;
                value[j] =
                    slc_fixed_from_double(((double)sum[0] + (double)sum[SLCI_MMA_PLANE_SUMS]) *
                                              scale,
                                          a->setup.scale_bits);
                before[j] = slci_fixed_add_low(pixel[j], value[j]);
            }
        }
#pragma unroll
        for (int j = 0; j < AT_ONCE; j++) {
            if (is_there[j]) {
                slci_fixed_add_high(pixel[j], value[j], before[j]);
            }
        }
    }
}

#endif
