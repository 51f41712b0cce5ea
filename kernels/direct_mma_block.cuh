/* What a block of the CUDA product kernel keeps in shared memory beside its operands, and the list of
 * a run's used samples.
 *
 *     slci_mma_lines(setup, shared);      all threads, once a tile
 *     slci_mma_list_run(a, shared);       all threads, at the start of a run
 */
#ifndef SLC_KERNELS_DIRECT_MMA_BLOCK_CUH
#define SLC_KERNELS_DIRECT_MMA_BLOCK_CUH

#include <cuda_fp16.h>
#include <stdint.h>

#include "kernels/direct_cuda_block.cuh"

#define SLCI_MMA_TILE SLCI_CUDA_PRODUCT_TILE
#define SLCI_MMA_WARPS 8 /* of a block; each multiplies 16 rows of the tile */
#define SLCI_MMA_CHUNK 4 /* samples side by side in the 16 bytes of one line of an operand */
#define SLCI_MMA_AHEAD 8 /* stages whose samples are prepared at a time: a lane for each sample */

/* Left operands are scaled so that the largest lies at this power of two: fp16 pairs then resolve
 * 2^-39 of the run's largest |wV|. */
#define SLCI_MMA_LEFT_BIT 14

/* How a kernel multiplies: PRODUCTS of fp16 operands (1, or 3 of operands split in two), and TERMS of
 * the expansion beyond the first (0 or 1). A stage's operands in their order, each as an offset in
 * bytes; rows of the picture are left, columns right. */
template <int PRODUCTS, int TERMS> struct slci_mma_plan {
    static constexpr int N_PRODUCTS = PRODUCTS;
    static constexpr int N_TERMS = TERMS;
    static constexpr int STAGE = PRODUCTS + TERMS > 1 ? 32 : 64; /* samples */
    static constexpr int CHUNKS = STAGE / SLCI_MMA_CHUNK;
    static constexpr int OWN_CHUNKS = CHUNKS / SLCI_MMA_WARPS; /* of a warp */
    /* Stages from promotion to promotion. A single fp16 is so coarse that 128 samples are no harm. */
    static constexpr int INTERVAL = PRODUCTS > 1 ? 1 : 128 / STAGE;
    /* What columns and rows are ahead of their phase, in units of 2^-32 turns: an eighth of a turn
     * makes the nearest quarter the one below. */
    static constexpr uint32_t AHEAD = PRODUCTS > 1 ? 0x20000000u : 0u;

    /* 128 lines of 16 bytes (4 samples, real and imaginary part as fp16) for each chunk. */
    static constexpr int OPERAND_BYTES = CHUNKS * SLCI_MMA_TILE * 16;
    static constexpr int LOW = OPERAND_BYTES; /* from a large operand to what fp16 leaves of it */
    static constexpr int LEFT = 0;
    static constexpr int RIGHT = (PRODUCTS > 1 ? 2 : 1) * OPERAND_BYTES;
    static constexpr int LEFT_TERM = 2 * RIGHT;
    static constexpr int RIGHT_TERM = LEFT_TERM + OPERAND_BYTES;
    static constexpr int STAGE_BYTES = 2 * RIGHT + TERMS * 2 * OPERAND_BYTES;

    /* Steps of a stage, of 8 samples each. Small products come first: then the sum is small while
     * they are added, and what the tensor cores cut off of it is nothing. */
    static constexpr int STEPS = (PRODUCTS + TERMS) * (STAGE / 8);
    static __device__ __forceinline__ int left_of(int step) {
        const int product = step / (STAGE / 8);
        const int operand = product < TERMS                        ? LEFT_TERM
                            : PRODUCTS > 1 && product == TERMS + 1 ? LEFT + LOW
                                                                   : LEFT;
        return operand + step % (STAGE / 8) * 2 * SLCI_MMA_TILE * 16;
    }
    static __device__ __forceinline__ int right_of(int step) {
        const int product = step / (STAGE / 8);
        const int operand = product < TERMS                    ? RIGHT_TERM
                            : PRODUCTS > 1 && product == TERMS ? RIGHT + LOW
                                                               : RIGHT;
        return operand + step % (STAGE / 8) * 2 * SLCI_MMA_TILE * 16;
    }
};

/* Pixel (x0, y0), what multiplies w at the tile's centre, and N - n0 at column and row 0. */
typedef struct slci_mma_reference {
    double l, m, w_factor, l_bent, m_bent;
} slci_mma_reference;

/* One side of a sample: the turn at line 0 and that from line to line, modulo 1 in units of 2^-64. */
typedef struct slci_mma_turns {
    uint64_t first, step;
} slci_mma_turns;

/* One sample as its lines need it. In three pieces of 16 bytes, a load each. */
typedef struct slci_mma_sample {
    slci_mma_turns columns, rows;
    int w;         /* in units of 1 / w_per_unit */
    float w_plain; /* wavelengths */
    float2 a;      /* w V, scaled */
} slci_mma_sample;

/* The same as it lies in the data. */
typedef struct slci_mma_raw {
    double uvw[3];
    float2 vis;
    float weight;
} slci_mma_raw;

/* What is left of N - n0 along the lines of a side without its slope, in units of 1 / c_per_unit. */
typedef struct slci_mma_lines_of {
    int curve[SLCI_MMA_TILE];
    double slope; /* a line */
} slci_mma_lines_of;

/* The samples of SLCI_MMA_AHEAD stages, prepared, and of those after them, on their way. */
template <class PLAN> struct slci_mma_stock {
    slci_mma_sample sample[PLAN::CHUNKS][SLCI_MMA_AHEAD * SLCI_MMA_CHUNK];
    slci_mma_raw raw[PLAN::CHUNKS][SLCI_MMA_AHEAD * SLCI_MMA_CHUNK];
};

/* Beside operands and stock, which come before it in dynamic shared memory. */
typedef struct slci_mma_shared {
    slci_mma_lines_of columns, rows;
    double w_per_unit, c_per_unit; /* powers of two; their product is 2^64 a turn */
    float column_bend[SLCI_MMA_TILE], row_bend[SLCI_MMA_TILE]; /* slci_mma_bends */
    slc_direct_tile tile;
    slci_mma_reference reference;
    slci_direct_run run;
    bool is_inside; /* the whole tile is within the horizon */
    int n_used;
    double scale;       /* a power of two, which brings the run's largest |wV| below 2^14 */
    int warp_count[32]; /* of used samples */
    int warp_exponent[32];
    uint16_t list[SLC_DIRECT_GRANULE_SAMPLES]; /* used samples of the run, in their order */
} slci_mma_shared;

static __device__ __forceinline__ uint32_t slci_mma_address(const void *shared) {
    return (uint32_t)__cvta_generic_to_shared(shared);
}

/* ---- the run ---------------------------------------------------------------------------------- */

/* Below the exponent of any w V that is not 0. */
#define SLCI_MMA_NO_EXPONENT -2000

/* An exponent e with |w V| < 2^e for one sample of weight > 0; products of two floats are normal
 * numbers in double. */
static __device__ __forceinline__ int slci_mma_exponent(float weight, float2 vis) {
    const double size = (double)fmaxf(fabsf(vis.x), fabsf(vis.y));
    const int exponent = (__double2hiint((double)weight * size) >> 20) - 1023;
    return size > 0.0 ? exponent + 2 : SLCI_MMA_NO_EXPONENT; /* |V|: at most √2 of it */
}

/* Steps of 32 samples that a warp has on their way at a time. */
#define SLCI_MMA_LIST_STEPS 8

/* Lists the samples of the run that have a weight, in the order of the file, and finds the exponent
 * of the largest |wV|. A warp looks at as many samples as any other, in steps of 32, and lane i keeps
 * which of step i are used: there are 16 steps at most. All threads; ends with a barrier. */
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
    for (int start = 0; start < n_steps; start += SLCI_MMA_LIST_STEPS) {
        float weight[SLCI_MMA_LIST_STEPS];
        float2 vis[SLCI_MMA_LIST_STEPS];
#pragma unroll
        for (int j = 0; j < SLCI_MMA_LIST_STEPS; j++) {
            const int k = (warp * n_steps + start + j) * 32 + lane;
            const bool is_there = start + j < n_steps && k < shared->run.n_samples;
            weight[j] = is_there ? a->weight[first + k] : 0.0f;
            vis[j] = is_there && !a->setup.is_psf ? a->vis[first + k] : make_float2(1.0f, 0.0f);
        }
#pragma unroll
        for (int j = 0; j < SLCI_MMA_LIST_STEPS; j++) {
            const bool is_used = weight[j] > 0.0f;
            if (is_used) {
                exponent = max(exponent, slci_mma_exponent(weight[j], vis[j]));
            }
            const unsigned mask = __ballot_sync(0xffffffffu, is_used);
            kept = lane == start + j ? mask : kept;
            count += __popc(mask);
        }
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
        shared->scale = ldexp(1.0, SLCI_MMA_LEFT_BIT - exponent);
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

/* Powers of two such that w has 30 bits and the curve, whose w is below 1/16 of a turn
 * (SLCI_CUDA_CURVED_TURNS), at most 31; then the upper word of their product is in units of 2^-32. */
static __device__ inline void slci_mma_units(const slc_direct_setup *setup,
                                             slci_mma_shared *shared) {
    const int exponent = setup->max_w > 0.0 ? ilogb(setup->max_w) + 1 - 30 : 0;
    shared->w_per_unit = ldexp(1.0, -exponent);
    shared->c_per_unit = ldexp(1.0, 64 + exponent);
}

/* N - n0 at line `at` of the columns or rows. */
static __device__ inline double slci_mma_bent(const slc_direct_setup *setup,
                                              const slc_direct_tile *tile, bool is_column, int at) {
    const slc_direct_geometry *geometry = &setup->geometry;
    const double l = is_column ? slci_direct_l(geometry, tile->x0 + at) : tile->l0;
    const double m = is_column ? tile->m0 : slci_direct_m(geometry, tile->y0 + at);
    return slci_direct_n_minus_1(l, m) - slci_direct_n_minus_1(tile->l0, tile->m0);
}

/* Fills in slope and curve of columns and rows and the reference; all threads. The slope is that of
 * the lines that lie in the picture; those beyond it may have any phase. */
static __device__ inline void slci_mma_lines(const slc_direct_setup *setup,
                                             slci_mma_shared *shared) {
    const slc_direct_geometry *geometry = &setup->geometry;
    const slc_direct_tile *tile = &shared->tile;
    if (threadIdx.x == 0) {
        shared->reference.l = slci_direct_l(geometry, tile->x0);
        shared->reference.m = slci_direct_m(geometry, tile->y0);
        shared->reference.w_factor = slci_direct_w_factor(setup, tile->l0, tile->m0);
        slci_mma_units(setup, shared);
    }
    __syncthreads();
    for (int p = (int)threadIdx.x; p < 2 * SLCI_MMA_TILE; p += (int)blockDim.x) {
        const bool is_column = p < SLCI_MMA_TILE;
        const int at = p % SLCI_MMA_TILE;
        const int64_t start = is_column ? tile->x0 : tile->y0;
        const int last =
            (int)slci_direct_extent(start, SLCI_MMA_TILE, is_column ? geometry->nx : geometry->ny) -
            1;
        const double first = slci_mma_bent(setup, tile, is_column, 0);
        const double rise = slci_mma_bent(setup, tile, is_column, last) - first;
        const double slope = last > 0 ? rise / last : 0.0;
        slci_mma_lines_of *lines = is_column ? &shared->columns : &shared->rows;
        lines->curve[at] = __double2int_rn(
            (slci_mma_bent(setup, tile, is_column, at) - first - slope * at) * shared->c_per_unit);
        if (at == 0) {
            lines->slope = slope;
            (is_column ? shared->reference.l_bent : shared->reference.m_bent) = first;
        }
    }
}

#endif
