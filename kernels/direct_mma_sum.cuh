/* The multiplying warps of the CUDA product kernel: operands of a stage into sums in registers, and
 * those into the image.
 *
 *     slci_mma_sums own;
 *     slci_mma_clear(&own);
 *     slci_mma_warp_unit::multiply<PRODUCTS, TERMS>(operands, warp, own.part);
 *     slci_mma_promote(&own);
 *     slci_mma_store_image(a, shared, &own);
 *
 * Sixteen rows of the tile are a warp's. Of a step of 8 columns a thread has four pixels: rows
 * lane / 4 and that + 8, columns 2 (lane mod 4) and the next. */
#ifndef SLC_KERNELS_DIRECT_MMA_SUM_CUH
#define SLC_KERNELS_DIRECT_MMA_SUM_CUH

#include "kernels/direct_cuda_pixels.cuh"
#include "kernels/direct_mma_block.cuh"

/* Pixels of a thread. */
#define SLCI_MMA_PIXELS (SLCI_MMA_TILE / 8 * 4)

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

/* part += left · right over the stage: 16 rows, all columns. */
static __device__ __forceinline__ void slci_mma_warp_product(uint32_t left, uint32_t right,
                                                             int warp, float *part) {
    const int lane = (int)threadIdx.x % 32;
    /* Matrices 0 to 3 of `left`: rows 0-7 and 8-15 of chunk 0, the same of chunk 1. */
    const uint32_t left_lane =
        left + (uint32_t)(lane / 16 * SLCI_MMA_TILE + warp * 16 + lane % 16) * 16;
    /* Of `right`: columns 0-7 of chunks 0 and 1, columns 8-15 of the same. */
    const uint32_t right_lane =
        right + (uint32_t)(lane / 8 % 2 * SLCI_MMA_TILE + lane / 16 * 8 + lane % 8) * 16;
#pragma unroll
    for (int step = 0; step < SLCI_MMA_STAGE / 8; step++) {
        const uint32_t skip = (uint32_t)step * 2 * SLCI_MMA_TILE * 16;
        uint32_t a[4];
        slci_mma_load(a, left_lane + skip);
#pragma unroll
        for (int n = 0; n < SLCI_MMA_TILE / 16; n++) {
            uint32_t b[4];
            slci_mma_load(b, right_lane + skip + (uint32_t)n * 256);
            slci_mma_16x8x16(part + 8 * n, a, b);
            slci_mma_16x8x16(part + 8 * n + 4, a, b + 2);
        }
    }
}

/* Matrix instructions of single warps: compute capability 8.0 and later. */
struct slci_mma_warp_unit {
    static constexpr int MAKERS = 4;
    static constexpr int MOST_STAGES = 2; /* 8.0 has 163 KiB of shared memory */

    static __device__ __forceinline__ void give_registers() {
    }
    static __device__ __forceinline__ void take_registers() {
    }
    static __device__ __forceinline__ void publish() {
    }

    /* The products of a stage. The small ones go first: then the sum is small while they are added,
     * and what the tensor cores cut off of it is nothing. */
    template <int PRODUCTS, int TERMS>
    static __device__ __forceinline__ void multiply(const char *operands, int warp, float *part) {
        using PLAN = slci_mma_plan<PRODUCTS, TERMS>;
        const uint32_t stage = slci_mma_address(operands);
        const uint32_t left = stage + PLAN::LEFT;
        const uint32_t right = stage + PLAN::RIGHT;
        if (TERMS > 0) {
            slci_mma_warp_product(stage + PLAN::LEFT_TERM, stage + PLAN::RIGHT_TERM, warp, part);
        }
        if (PRODUCTS > 1) {
            slci_mma_warp_product(left, right + PLAN::LOW, warp, part);
            slci_mma_warp_product(left + PLAN::LOW, right, warp, part);
        }
        slci_mma_warp_product(left, right, warp, part);
    }
};

/* ---- the image -------------------------------------------------------------------------------- */

/* The run's sums into the image, where a pixel lies in the tile and within the horizon. */
static __device__ __forceinline__ void slci_mma_store_image(const slci_direct_cuda_arguments *a,
                                                            const slci_mma_shared *shared, int warp,
                                                            const slci_mma_sums *own) {
    const int lane = (int)threadIdx.x % 32;
    const slc_direct_tile *tile = &shared->tile;
    const int64_t n_parts = a->setup.n_parts;
    const int64_t x0 = tile->x0 + lane % 4 * 2;
    const int64_t x_end = a->tile->origin[2] + a->tile->extent[2];
    const int n_columns = (int)(x_end - x0 < SLCI_MMA_TILE ? x_end - x0 : SLCI_MMA_TILE);
    const double scale = ldexp(1.0, shared->exponent - SLCI_MMA_LEFT_BIT);
#pragma unroll
    for (int half = 0; half < 2; half++) {
        const int64_t y = tile->y0 + warp * 16 + half * 8 + lane / 4;
        if (y >= a->tile->origin[1] + a->tile->extent[1]) {
            continue;
        }
        const double m = slci_direct_m(&a->setup.geometry, y);
        slc_fixed *row =
            a->image +
            (((y - a->tile->origin[1]) * a->row_pixels + x0 - a->tile->origin[2]) * n_parts +
             blockIdx.z);
#pragma unroll
        for (int k = 0; k < SLCI_MMA_PIXELS / 2; k++) {
            const int column = k / 2 * 8 + k % 2;
            const int i = k / 2 * 4 + half * 2 + k % 2;
            if (column < n_columns &&
                (shared->is_inside ||
                 slci_direct_r2(slci_direct_l(&a->setup.geometry, x0 + column), m) < 1.0)) {
                const double value = ((double)own->sum[i] + (double)own->part[i]) * scale;
                slci_fixed_atomic_add(&row[column * n_parts],
                                      slc_fixed_from_double(value, a->setup.scale_bits));
            }
        }
    }
}

#endif
