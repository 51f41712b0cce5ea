/* What a block of the CUDA cosine kernel keeps in shared memory, and the steps that fill it.
 * Each step is called by all threads of a block (compact: of a warp); the kernel puts the barriers
 * between them.
 *
 *     slci_block_stage(a, chunk, shared);              global to shared memory, asynchronous
 *     slci_block_compact<VARIANT>(a, chunk, shared);   (direct_cuda_sample.cuh) to phases
 *     slci_block_turns<THREADS>(a, chunk, shared);          to a turn for each column and row
 */
#ifndef SLC_KERNELS_DIRECT_CUDA_BLOCK_CUH
#define SLC_KERNELS_DIRECT_CUDA_BLOCK_CUH

#include <cuda_pipeline_primitives.h>
#include <stdint.h>

#include "core/fixed.h"
#include "core/job.h"
#include "kernels/direct.h"
#include "kernels/direct_cuda_pair.cuh"
#include "kernels/direct_tile.h"

#define SLCI_CUDA_CHUNK 32 /* samples staged at a time: one warp compacts them */
#define SLCI_CUDA_GROUP 8  /* terms summed in plain single precision */

/* Above this, w times a difference of n may pass what SLCI_TURN_MAGIC can take. */
#define SLCI_CUDA_NEAR_W 131072.0

/* Arguments of the kernel; all pointers are device memory, laid out as core/job.h says. */
typedef struct slci_direct_cuda_arguments {
    slc_direct_setup setup;
    slc_direct_setup parent; /* the job's: the same, or with product tiles (sine kernel) */
    const slc_tile *tile;
    const double *uvw;      /* [row, 3] metres */
    const float2 *vis;      /* [row, channel] */
    const float *weight;    /* [row, channel] */
    const double *channels; /* [channel] wavelengths per metre */
    slc_fixed *image;       /* [y, x, part] */
    int64_t row_pixels;     /* of `image` */
    int64_t tiles_x;        /* kernel tiles in a row of a full engine tile */
    int64_t runs_per_granule;
} slci_direct_cuda_arguments;

/* A run: samples that are summed before they go into the accumulator. */
typedef struct slci_direct_run {
    int64_t first_row;     /* of its granule, in the engine tile */
    uint32_t first_sample; /* in its granule, which direct_cuda_tile keeps below 2^32 samples */
    int n_samples;         /* at most 4,096, or 16,384 of the product kernel */
} slci_direct_run;

/* One sample as the turns need it: for columns and for rows the turns a pixel (x) and at the
 * reference pixel (y), both modulo 1; the argument of V is in the columns'. */
typedef struct slci_direct_phase {
    double2 columns, rows;
    double w; /* wavelengths */
} slci_direct_phase;

/* The tile's reference pixel (x0 + 32, y0 + 32), and what multiplies w at its centre (l0, m0). Kept,
 * because the one warp that compacts a chunk is waited for by the others. */
typedef struct slci_direct_reference {
    double l, m, w_factor;
} slci_direct_reference;

/* One sample's turns in units of 2^-32, four to a vector. */
typedef struct slci_direct_turns {
    uint4 columns[SLCI_CUDA_TILE / 4];
    uint4 rows[SLCI_CUDA_TILE / 4];
} slci_direct_turns;

typedef struct slci_direct_raw {
    double uvw[SLCI_CUDA_CHUNK * 3];
    float2 vis[SLCI_CUDA_CHUNK];
    float weight[SLCI_CUDA_CHUNK];
} slci_direct_raw;

/* Chunk i is in entry i modulo the number of entries: 2, or, for what is made in one step and used
 * two steps later, 4. */
typedef struct slci_direct_shared {
    slci_direct_turns turns[2][SLCI_CUDA_CHUNK];
    float4 samples[4][SLCI_CUDA_CHUNK][2]; /* an slci_pair_sample in the same order */
    slci_direct_raw raw[2];
    slci_direct_phase phases[2][SLCI_CUDA_CHUNK];
    double
        w_factor[2 * SLCI_CUDA_TILE]; /* N(l, m0) - n0 of the columns, N(l0, m) - n0 of the rows */
    double w_unit, c_unit;            /* wavelengths; their product is 2^-32. WIDE only */
    slc_direct_tile tile;
    slci_direct_reference reference;
    slci_direct_run run;
    int n_used[4]; /* samples of a chunk with weight, rounded up to whole groups */
} slci_direct_shared;

/* threadIdx.x, read anew each time. What is derived from it would otherwise be kept in registers
 * over the loop over pairs, which needs them all. */
static __device__ __forceinline__ int slci_block_thread(void) {
    int thread;
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
    return thread;
}

/* The variant for a tile in which |w c| is at most `turns`. */
static SLC_HOST_DEVICE inline int slci_cuda_variant(const slc_direct_setup *setup, double turns) {
    if (turns <= SLCI_CUDA_FLAT_TURNS) {
        return SLCI_CUDA_FLAT;
    }
    const double limit = fmin(setup->single_limit, SLCI_CUDA_SINGLE_TURNS);
    if (turns <= limit) {
        return SLCI_CUDA_SINGLE;
    }
    return turns < setup->double_limit ? SLCI_CUDA_DOUBLE : SLCI_CUDA_WIDE;
}

/* The sine kernel's tile at pixel (y, x); one to skip where the product kernel has it. */
static __device__ inline slc_direct_tile slci_block_tile(const slci_direct_cuda_arguments *a,
                                                         int64_t y, int64_t x) {
    slc_direct_tile tile = slci_direct_tile_at(&a->setup, y / SLCI_CUDA_TILE, x / SLCI_CUDA_TILE);
    if (a->parent.unit != SLC_DIRECT_UNIT_NONE &&
        slci_direct_tile_at(&a->parent, y / SLCI_CUDA_PRODUCT_TILE, x / SLCI_CUDA_PRODUCT_TILE)
                .method == SLC_DIRECT_PRODUCT) {
        tile.method = SLC_DIRECT_SKIP;
    }
    return tile;
}

/* Powers of two as units of w and c: small enough that their product is 2^-32 turns, and such that
 * what rounding to them leaves over counts alike on both sides. w has at most sqrt(2^32 · turns)
 * units, times 2 for the rounding to powers of two, and c too: below 2^28 for 2^21 turns. */
static __device__ inline void slci_block_units(const slc_direct_setup *setup,
                                               slci_direct_shared *shared) {
    const double ratio = setup->max_w / shared->tile.c_max; /* both > 0 where WIDE is used */
    const int exponent = (ilogb(ratio) - 32) >> 1;
    shared->w_unit = ldexp(1.0, exponent);
    shared->c_unit = ldexp(1.0, -32 - exponent);
}

/* Fills w_factor and the reference. */
static __device__ inline void slci_block_w_factors(const slc_direct_setup *setup,
                                                   slci_direct_shared *shared) {
    const slc_direct_geometry *geometry = &setup->geometry;
    const slc_direct_tile *tile = &shared->tile;
    if (threadIdx.x == 0) {
        shared->reference.l = slci_direct_l(geometry, tile->x0 + SLCI_CUDA_TILE / 2);
        shared->reference.m = slci_direct_m(geometry, tile->y0 + SLCI_CUDA_TILE / 2);
        shared->reference.w_factor = slci_direct_w_factor(setup, tile->l0, tile->m0);
    }
    const double centre = slci_direct_n_minus_1(tile->l0, tile->m0);
    for (int p = (int)threadIdx.x; p < 2 * SLCI_CUDA_TILE; p += (int)blockDim.x) {
        const bool is_column = p < SLCI_CUDA_TILE;
        const int at = p % SLCI_CUDA_TILE;
        const double l = is_column ? slci_direct_l(geometry, tile->x0 + at) : tile->l0;
        const double m = is_column ? tile->m0 : slci_direct_m(geometry, tile->y0 + at);
        shared->w_factor[p] = slci_direct_n_minus_1(l, m) - centre;
    }
}

/* Runs in the engine tile. */
static __device__ inline int64_t slci_block_n_runs(const slci_direct_cuda_arguments *a) {
    const int64_t rows = a->setup.granule_rows;
    return (a->tile->extent[0] + rows - 1) / rows * a->runs_per_granule;
}

static __device__ inline slci_direct_run slci_block_run(const slci_direct_cuda_arguments *a,
                                                        int64_t index) {
    const int64_t granule = index / a->runs_per_granule;
    slci_direct_run run;
    run.first_row = granule * a->setup.granule_rows;
    run.first_sample = (uint32_t)(index % a->runs_per_granule * a->setup.granule_samples);
    const int64_t rows_left = a->tile->extent[0] - run.first_row;
    const int64_t rows = rows_left < a->setup.granule_rows ? rows_left : a->setup.granule_rows;
    const int64_t left = rows * a->setup.n_channels - run.first_sample;
    run.n_samples = (int)(left < a->setup.granule_samples ? left : a->setup.granule_samples);
    return run;
}

/* Starts copying chunk `chunk` of the run into its half of the double buffer: five warps have a part
 * in it. Chunks past the end copy nothing but still commit, so that the count of outstanding copies
 * stays the same. */
static __device__ inline void slci_block_stage(const slci_direct_cuda_arguments *a, int chunk,
                                               slci_direct_shared *shared) {
    const slci_direct_run *run = &shared->run;
    const int thread = slci_block_thread();
    const int start = chunk * SLCI_CUDA_CHUNK;
    const int left = run->n_samples - start;
    const int n = left < SLCI_CUDA_CHUNK ? left : SLCI_CUDA_CHUNK;
    const int k = thread % SLCI_CUDA_CHUNK;
    const uint32_t n_channels = (uint32_t)a->setup.n_channels;
    const uint32_t in_granule = run->first_sample + (uint32_t)start;
    const int64_t sample = run->first_row * n_channels + in_granule + k;
    slci_direct_raw *raw = &shared->raw[chunk % 2];
    if (thread < SLCI_CUDA_CHUNK) {
        if (k < n && !a->setup.is_psf) {
            __pipeline_memcpy_async(&raw->vis[k], &a->vis[sample], sizeof(float2));
        }
    } else if (thread < 2 * SLCI_CUDA_CHUNK) {
        if (k < n) {
            __pipeline_memcpy_async(&raw->weight[k], &a->weight[sample], sizeof(float));
        }
    } else if (thread < 5 * SLCI_CUDA_CHUNK && n > 0) {
        const uint32_t first = in_granule / n_channels;
        const int n_rows = (int)((in_granule + (uint32_t)n - 1) / n_channels - first) + 1;
        const int number = thread - 2 * SLCI_CUDA_CHUNK;
        if (number < 3 * n_rows) {
            __pipeline_memcpy_async(&raw->uvw[number],
                                    &a->uvw[(run->first_row + first) * 3 + number], sizeof(double));
        }
    }
    __pipeline_commit();
}

#endif
