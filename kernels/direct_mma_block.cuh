/* What a block of the CUDA product kernel keeps in shared memory, the list of a run's used samples,
 * and the barriers between the warps that make operands and those that multiply.
 *
 *     slci_mma_list_run(a, shared);                    all threads, at the start of a run
 *     slci_mma_wait(&shared->full[slot], parity);      before a stage is read
 *     slci_mma_arrive(&shared->empty[slot]);           after it has been read
 */
#ifndef SLC_KERNELS_DIRECT_MMA_BLOCK_CUH
#define SLC_KERNELS_DIRECT_MMA_BLOCK_CUH

#include <cuda_fp16.h>
#include <stdint.h>

#include "kernels/direct_cuda_block.cuh"

#define SLCI_MMA_TILE SLCI_CUDA_PRODUCT_TILE
#define SLCI_MMA_STAGE 32 /* samples of a stage: four steps of the tensor cores */
#define SLCI_MMA_CHUNK 4  /* samples side by side in the 16 bytes of one line of an operand */
#define SLCI_MMA_CHUNKS (SLCI_MMA_STAGE / SLCI_MMA_CHUNK)
#define SLCI_MMA_MULTIPLIERS 8 /* warps that multiply, 16 rows of the tile each */
#define SLCI_MMA_AHEAD 8 /* stages whose samples are prepared at a time: a lane for each sample */

/* Left operands are scaled so that the largest lies at this power of two: fp16 pairs then resolve
 * 2^-39 of the run's largest |wV|. */
#define SLCI_MMA_LEFT_BIT 14

/* One operand of a stage, as the tensor cores take it: 128 lines of 16 bytes (4 samples, real and
 * imaginary part as fp16) for each of 8 chunks. */
#define SLCI_MMA_OPERAND_BYTES (SLCI_MMA_TILE * SLCI_MMA_STAGE * 4)

/* How a kernel multiplies: PRODUCTS of fp16 operands (1, or 3 of operands split in two), and TERMS of
 * the expansion beyond the first (0 or 1). A stage's operands in their order, each as an offset in
 * bytes; rows of the picture are left, columns right. */
template <int PRODUCTS, int TERMS> struct slci_mma_plan {
    static constexpr int LEFT = 0;
    static constexpr int RIGHT = (PRODUCTS > 1 ? 2 : 1) * SLCI_MMA_OPERAND_BYTES;
    static constexpr int LOW = SLCI_MMA_OPERAND_BYTES; /* from either to what fp16 leaves of it */
    static constexpr int LEFT_TERM = 2 * RIGHT;
    static constexpr int RIGHT_TERM = LEFT_TERM + SLCI_MMA_OPERAND_BYTES;
    static constexpr int STAGE_BYTES = 2 * RIGHT + TERMS * 2 * SLCI_MMA_OPERAND_BYTES;
};

/* One sample as the makers need it: an slci_direct_phase, and w V scaled. */
typedef struct slci_mma_sample {
    slci_direct_phase phase;
    float2 a;
} slci_mma_sample;

/* One line of an operand: pixels from the reference, what multiplies w. */
typedef struct slci_mma_line {
    double pixel, w_factor;
} slci_mma_line;

/* Beside the stages, which follow it in dynamic shared memory. */
typedef struct slci_mma_shared {
    slci_mma_sample samples[SLCI_MMA_CHUNKS][SLCI_MMA_AHEAD * SLCI_MMA_CHUNK];
    slci_mma_line columns[SLCI_MMA_TILE], rows[SLCI_MMA_TILE];
    float column_bend[SLCI_MMA_TILE], row_bend[SLCI_MMA_TILE]; /* slci_mma_bends */
    uint64_t full[8], empty[8];                                /* barriers of the stages */
    slc_direct_tile tile;
    slci_direct_reference reference; /* of pixel (x0 + 64, y0 + 64) */
    slci_direct_run run;
    bool is_inside; /* the whole tile is within the horizon */
    int n_used;
    int exponent;       /* the run's |wV| are below 2^exponent */
    int warp_count[32]; /* of used samples */
    int warp_exponent[32];
    uint16_t list[SLC_DIRECT_GRANULE_SAMPLES]; /* used samples of the run, in their order */
} slci_mma_shared;

/* ---- barriers --------------------------------------------------------------------------------- */

static __device__ __forceinline__ uint32_t slci_mma_address(const void *shared) {
    return (uint32_t)__cvta_generic_to_shared(shared);
}

static __device__ __forceinline__ void slci_mma_barrier_init(uint64_t *barrier, int count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(slci_mma_address(barrier)),
                 "r"(count));
}

static __device__ __forceinline__ void slci_mma_arrive(uint64_t *barrier) {
    asm volatile("{\n.reg .b64 state;\n"
                 "mbarrier.arrive.shared::cta.b64 state, [%0];\n}" ::"r"(slci_mma_address(barrier))
                 : "memory");
}

/* Where there is an instruction that sleeps, waiting takes no issue slots from the makers. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define SLCI_MMA_TRY "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
#else
#define SLCI_MMA_TRY "mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2;\n"
#endif

static __device__ __forceinline__ void slci_mma_wait(uint64_t *barrier, uint32_t parity) {
    uint32_t is_done = 0;
    while (is_done == 0) {
        asm volatile("{\n.reg .pred p;\n" SLCI_MMA_TRY "selp.u32 %0, 1, 0, p;\n}"
                     : "=r"(is_done)
                     : "r"(slci_mma_address(barrier)), "r"(parity)
                     : "memory");
    }
}

/* ---- the run ---------------------------------------------------------------------------------- */

/* Below the exponent of any w V that is not 0. */
#define SLCI_MMA_NO_EXPONENT -2000

/* An exponent e with |w V| < 2^e for one sample. */
static __device__ inline int slci_mma_exponent(const slci_direct_cuda_arguments *a,
                                               int64_t sample) {
    const double weight = (double)a->weight[sample];
    if (a->setup.is_psf) {
        return ilogb(weight) + 1;
    }
    const float2 vis = a->vis[sample];
    const double size = fmax(fabs((double)vis.x), fabs((double)vis.y));
    return size > 0.0 ? ilogb(weight * size) + 2 : SLCI_MMA_NO_EXPONENT; /* |V|: at most √2 of it */
}

/* Lists the samples of the run that have a weight, in the order of the file, and finds the exponent
 * of the largest |wV|. A warp looks at as many samples as any other, in steps of 32, and lane i keeps
 * which of step i are used: there are 11 steps at most. All threads; ends with a barrier. */
static __device__ inline void slci_mma_list_run(const slci_direct_cuda_arguments *a,
                                                slci_mma_shared *shared) {
    const int lane = (int)threadIdx.x % 32;
    const int warp = (int)threadIdx.x / 32;
    const int n_warps = (int)blockDim.x / 32;
    const int n_steps = (shared->run.n_samples + 32 * n_warps - 1) / (32 * n_warps);
    const int64_t first = shared->run.first_row * a->setup.n_channels + shared->run.first_sample;
    unsigned kept = 0;
    int exponent = SLCI_MMA_NO_EXPONENT;
    int count = 0;
#pragma unroll 4
    for (int step = 0; step < n_steps; step++) {
        const int k = (warp * n_steps + step) * 32 + lane;
        const bool is_used = k < shared->run.n_samples && a->weight[first + k] > 0.0f;
        if (is_used) {
            exponent = max(exponent, slci_mma_exponent(a, first + k));
        }
        const unsigned mask = __ballot_sync(0xffffffffu, is_used);
        kept = lane == step ? mask : kept;
        count += __popc(mask);
    }
    exponent = __reduce_max_sync(0xffffffffu, exponent);
    if (lane == 0) {
        shared->warp_count[warp] = count;
        shared->warp_exponent[warp] = exponent;
    }
    __syncthreads();
    int at = 0;
    int n_used = 0;
    for (int other = 0; other < n_warps; other++) {
        at += other < warp ? shared->warp_count[other] : 0;
        n_used += shared->warp_count[other];
        exponent = max(exponent, shared->warp_exponent[other]);
    }
    for (int step = 0; step < n_steps; step++) {
        const unsigned mask = __shfl_sync(0xffffffffu, kept, step);
        if ((mask >> lane & 1u) != 0) {
            shared->list[at + __popc(mask & ((1u << lane) - 1u))] =
                (uint16_t)((warp * n_steps + step) * 32 + lane);
        }
        at += __popc(mask);
    }
    if (threadIdx.x == 0) {
        shared->exponent = exponent;
        shared->n_used = exponent > SLCI_MMA_NO_EXPONENT ? n_used : 0;
    }
    __syncthreads();
}

/* Whether the corner that is farthest out lies within the horizon. */
static __device__ inline bool slci_mma_is_inside(const slc_direct_setup *setup,
                                                 const slc_direct_tile *tile) {
    const double half = 0.5 * SLCI_MMA_TILE * setup->geometry.scale_rad;
    return slci_direct_r2(fabs(tile->l0) + half, fabs(tile->m0) + half) < 1.0;
}

/* 1/n - 1/n0 without its cancellation, for n² = n0² - (square - square0). */
static __device__ inline double slci_mma_bend(double n0, double square, double square0, double n) {
    return (square - square0) / (n * n0 * (n + n0));
}

/* The factors of 2πwc ≈ -w · row_bend · column_bend: with f(l) = 1/n(l, m0) - 1/n0 and g(m) likewise,
 * c is -n0³ f g but for a relative error that slci_direct_bend_error bounds. The columns' factors are
 * scaled to at most 1, so that fp16 holds them. All threads. */
static __device__ inline void slci_mma_bends(const slc_direct_setup *setup,
                                             slci_mma_shared *shared) {
    const slc_direct_geometry *geometry = &setup->geometry;
    const slc_direct_tile *tile = &shared->tile;
    const double l0 = tile->l0;
    const double m0 = tile->m0;
    const double l_first = slci_direct_l(geometry, tile->x0);
    const double l_end = fmax(fabs(l_first), fabs(2.0 * l0 - l_first));
    const double largest =
        fmax(slci_mma_bend(tile->n0, l_end * l_end, l0 * l0, slci_direct_n(l_end, m0)),
             slci_mma_bend(tile->n0, l0 * l0, 0.0, slci_direct_n(0.0, m0)));
    for (int p = (int)threadIdx.x; p < 2 * SLCI_MMA_TILE; p += (int)blockDim.x) {
        const int at = p % SLCI_MMA_TILE;
        const double l = slci_direct_l(geometry, tile->x0 + at);
        const double m = slci_direct_m(geometry, tile->y0 + at);
        if (p < SLCI_MMA_TILE) {
            const double f = slci_mma_bend(tile->n0, l * l, l0 * l0, slci_direct_n(l, m0));
            shared->column_bend[at] = (float)(f / largest);
        } else {
            const double g = slci_mma_bend(tile->n0, m * m, m0 * m0, slci_direct_n(l0, m));
            const double cube = tile->n0 * tile->n0 * tile->n0;
            shared->row_bend[at] = (float)(6.283185307179586 * cube * largest * g);
        }
    }
}

/* Fills the lines of columns and rows and the reference; all threads. */
static __device__ inline void slci_mma_lines(const slc_direct_setup *setup,
                                             slci_mma_shared *shared) {
    const slc_direct_geometry *geometry = &setup->geometry;
    const slc_direct_tile *tile = &shared->tile;
    if (threadIdx.x == 0) {
        shared->reference.l = slci_direct_l(geometry, tile->x0 + SLCI_MMA_TILE / 2);
        shared->reference.m = slci_direct_m(geometry, tile->y0 + SLCI_MMA_TILE / 2);
        shared->reference.w_factor = slci_direct_w_factor(setup, tile->l0, tile->m0);
    }
    const double centre = slci_direct_n_minus_1(tile->l0, tile->m0);
    for (int p = (int)threadIdx.x; p < 2 * SLCI_MMA_TILE; p += (int)blockDim.x) {
        const int at = p % SLCI_MMA_TILE;
        const bool is_column = p < SLCI_MMA_TILE;
        const double l = is_column ? slci_direct_l(geometry, tile->x0 + at) : tile->l0;
        const double m = is_column ? tile->m0 : slci_direct_m(geometry, tile->y0 + at);
        slci_mma_line *line = is_column ? &shared->columns[at] : &shared->rows[at];
        line->pixel = (double)(at - SLCI_MMA_TILE / 2);
        line->w_factor = slci_direct_n_minus_1(l, m) - centre;
    }
}

#endif
