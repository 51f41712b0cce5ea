/* What a block of the CUDA sine kernel keeps in shared memory, and the steps that fill it.
 * Each step is called by all threads of a block (compact: of a warp); the kernel puts the barriers
 * between them.
 *
 *     slci_block_stage(a, run, chunk, shared);              global to shared memory, asynchronous
 *     slci_block_compact<VARIANT>(a, run, chunk, shared);   raw samples to phases and amplitudes
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

#define SLCI_CUDA_TILE 64  /* pixels of a kernel tile each way */
#define SLCI_CUDA_CHUNK 32 /* samples staged at a time: one warp compacts them */
#define SLCI_CUDA_GROUP 8  /* terms summed in plain single precision */

/* Adding it to a double below 2^19 in size leaves the fraction, in units of 2^-32, in the low word:
 * a turn without a conversion instruction. */
#define SLCI_TURN_MAGIC 0x1.8p+20

/* Above this, w times a difference of n may pass what SLCI_TURN_MAGIC can take. */
#define SLCI_CUDA_NEAR_W 131072.0

/* Arguments of the kernel; all pointers are device memory, laid out as core/job.h says. */
typedef struct slci_direct_cuda_arguments {
    slc_direct_setup setup;
    const slc_tile *tile;
    const double *uvw;      /* [row, 3] metres */
    const float2 *vis;      /* [row, channel] */
    const float *weight;    /* [row, channel] */
    const double *channels; /* [channel] wavelengths per metre */
    slc_fixed *image;       /* [y, x, part] */
    int64_t full_x;         /* pixels in a row of `image` */
    int64_t tiles_x;        /* kernel tiles in a row of a full engine tile */
    int64_t runs_per_granule;
    uint32_t lower_one;     /* SLCI_LOWER_ONE */
} slci_direct_cuda_arguments;

/* A run: samples that are summed before they go into the accumulator. */
typedef struct slci_direct_run {
    int64_t first_row;    /* of its granule, in the engine tile */
    int64_t first_sample; /* in its granule */
    int n_samples;        /* at most 4,096 */
} slci_direct_run;

/* One sample as the turns need it. Steps are turns a pixel, bases turns at the reference pixel, both
 * modulo 1; the argument of V is in u_base. */
typedef struct slci_direct_phase {
    double u_step, u_base;
    double v_step, v_base;
    double w; /* wavelengths */
} slci_direct_phase;

typedef struct slci_direct_raw {
    double uvw[SLCI_CUDA_CHUNK * 3];
    float2 vis[SLCI_CUDA_CHUNK];
    float weight[SLCI_CUDA_CHUNK];
} slci_direct_raw;

typedef struct slci_direct_shared {
    uint4 turns[SLCI_CUDA_CHUNK][2 * SLCI_CUDA_TILE / 4]; /* 64 columns, then 64 rows */
    float4 samples[2][SLCI_CUDA_CHUNK]; /* weight |V|, two words of w, unused */
    slci_direct_raw raw[2];
    slci_direct_phase phases[2][SLCI_CUDA_CHUNK];
    double w_factor[2 * SLCI_CUDA_TILE]; /* N(l, m0) - n0 of the columns, N(l0, m) - n0 of the rows */
    slc_direct_tile tile;
    int n_used[2]; /* samples of a chunk with weight, rounded up to whole groups */
} slci_direct_shared;

static __device__ inline int slci_cuda_variant(const slc_direct_setup *setup,
                                               const slc_direct_tile *tile) {
    const double turns = setup->max_w * tile->c_max;
    if (turns <= SLCI_CUDA_FLAT_TURNS) {
        return SLCI_CUDA_FLAT;
    }
    const double limit = fmin(setup->single_limit, SLCI_CUDA_SINGLE_TURNS);
    return turns <= limit ? SLCI_CUDA_SINGLE : SLCI_CUDA_WIDE;
}

/* Fills w_factor. */
static __device__ inline void slci_block_w_factors(const slc_direct_geometry *geometry,
                                                   slci_direct_shared *shared) {
    const slc_direct_tile *tile = &shared->tile;
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

static __device__ inline slci_direct_run
slci_block_run(const slci_direct_cuda_arguments *a, int64_t index) {
    const int64_t granule = index / a->runs_per_granule;
    slci_direct_run run;
    run.first_row = granule * a->setup.granule_rows;
    run.first_sample = (index % a->runs_per_granule) * a->setup.granule_samples;
    const int64_t rows_left = a->tile->extent[0] - run.first_row;
    const int64_t rows = rows_left < a->setup.granule_rows ? rows_left : a->setup.granule_rows;
    const int64_t left = rows * a->setup.n_channels - run.first_sample;
    run.n_samples = (int)(left < a->setup.granule_samples ? left : a->setup.granule_samples);
    return run;
}

/* Starts copying chunk `chunk` of the run into its half of the double buffer. Chunks past the end
 * copy nothing but still commit, so that the count of outstanding copies stays the same. */
static __device__ inline void slci_block_stage(const slci_direct_cuda_arguments *a,
                                               const slci_direct_run *run, int chunk,
                                               slci_direct_shared *shared) {
    const int start = chunk * SLCI_CUDA_CHUNK;
    const int left = run->n_samples - start;
    if (left > 0) {
        const int n = left < SLCI_CUDA_CHUNK ? left : SLCI_CUDA_CHUNK;
        const int64_t n_channels = a->setup.n_channels;
        const int64_t in_granule = run->first_sample + start;
        const int64_t sample = run->first_row * n_channels + in_granule;
        const int64_t row = run->first_row + in_granule / n_channels;
        const int n_rows = (int)((in_granule + n - 1) / n_channels - in_granule / n_channels) + 1;
        slci_direct_raw *raw = &shared->raw[chunk % 2];
        const int thread = (int)threadIdx.x;
        if (thread < SLCI_CUDA_CHUNK) {
            if (thread < n && !a->setup.is_psf) {
                __pipeline_memcpy_async(&raw->vis[thread], &a->vis[sample + thread],
                                        sizeof(float2));
            }
        } else if (thread < 2 * SLCI_CUDA_CHUNK) {
            const int k = thread - SLCI_CUDA_CHUNK;
            if (k < n) {
                __pipeline_memcpy_async(&raw->weight[k], &a->weight[sample + k], sizeof(float));
            }
        } else if (thread < 2 * SLCI_CUDA_CHUNK + 3 * n_rows) {
            const int k = thread - 2 * SLCI_CUDA_CHUNK;
            __pipeline_memcpy_async(&raw->uvw[k], &a->uvw[row * 3 + k], sizeof(double));
        }
    }
    __pipeline_commit();
}

/* a · b modulo 1, in [-1/2, 1/2], as exact as a and b are. */
static __device__ inline double slci_fraction(double a, double b) {
    const double whole = rint(a * b);
    return fma(a, b, -whole);
}

/* Phases of one sample at the tile's reference pixel (x0 + 32, y0 + 32), and its steps. `argument`
 * is what V takes off the phase, in turns. */
static __device__ inline slci_direct_phase slci_sample_phase(const slci_direct_cuda_arguments *a,
                                                             const slc_direct_tile *tile, double u,
                                                             double v, double w, double argument) {
    const slc_direct_geometry *geometry = &a->setup.geometry;
    const double l = slci_direct_l(geometry, tile->x0 + SLCI_CUDA_TILE / 2);
    const double m = slci_direct_m(geometry, tile->y0 + SLCI_CUDA_TILE / 2);
    const double factor = slci_direct_w_factor(&a->setup, tile->l0, tile->m0);
    slci_direct_phase phase;
    phase.u_step = -slci_fraction(u, geometry->scale_rad);
    phase.v_step = slci_fraction(v, geometry->scale_rad);
    phase.u_base = SLCI_TURN_MAGIC + (slci_fraction(u, l) - argument);
    phase.v_base = SLCI_TURN_MAGIC + (slci_fraction(v, m) + slci_fraction(w, factor));
    phase.w = w;
    return phase;
}

/* One raw sample, the chunk's `lane`-th, to entry `slot` of the chunk's lists. */
template <int VARIANT>
static __device__ inline void slci_sample_prepare(const slci_direct_cuda_arguments *a,
                                                  const slci_direct_run *run, int chunk,
                                                  int lane, int slot, slci_direct_shared *shared) {
    const slci_direct_raw *raw = &shared->raw[chunk % 2];
    const int64_t n_channels = a->setup.n_channels;
    const int64_t first = run->first_sample + chunk * SLCI_CUDA_CHUNK;
    const int64_t index = first + lane;
    const int row = (int)(index / n_channels - first / n_channels);
    const double per_metre = a->channels[index % n_channels];
    const double w = raw->uvw[3 * row + 2] * per_metre;
    const double re = a->setup.is_psf ? 1.0 : (double)raw->vis[lane].x;
    const double im = a->setup.is_psf ? 0.0 : (double)raw->vis[lane].y;
    const double argument = atan2(im, re) * (1.0 / 6.283185307179586);
    shared->phases[chunk % 2][slot] = slci_sample_phase(
        a, &shared->tile, raw->uvw[3 * row] * per_metre, raw->uvw[3 * row + 1] * per_metre, w,
        argument - slci_pair_offset<VARIANT>());
    float4 sample;
    sample.x = (float)((double)raw->weight[lane] * sqrt(re * re + im * im));
    sample.y = (float)(VARIANT == SLCI_CUDA_SINGLE ? w * 6.283185307179586 : w);
    sample.z = (float)(w - (double)(float)w);
    sample.w = 0.0f;
    shared->samples[chunk % 2][slot] = sample;
}

/* One warp turns the chunk's raw samples into phases and amplitudes, leaving out those without
 * weight and keeping the order, and fills the last group with samples of amplitude 0. A chunk past
 * the end has no samples. */
template <int VARIANT>
static __device__ inline void slci_block_compact(const slci_direct_cuda_arguments *a,
                                                 const slci_direct_run *run, int chunk,
                                                 slci_direct_shared *shared) {
    const int lane = (int)threadIdx.x % 32;
    const int half = chunk % 2;
    const bool is_used = chunk * SLCI_CUDA_CHUNK + lane < run->n_samples &&
                         shared->raw[half].weight[lane] > 0.0f;
    const unsigned mask = __ballot_sync(0xffffffffu, is_used);
    const int n_used = __popc(mask);
    const int n_padded = (n_used + SLCI_CUDA_GROUP - 1) / SLCI_CUDA_GROUP * SLCI_CUDA_GROUP;
    if (is_used) {
        const int slot = __popc(mask & ((1u << lane) - 1u));
        slci_sample_prepare<VARIANT>(a, run, chunk, lane, slot, shared);
    }
    if (lane >= n_used && lane < n_padded) {
        const slci_direct_phase still = {0.0, SLCI_TURN_MAGIC, 0.0, SLCI_TURN_MAGIC, 0.0};
        shared->phases[half][lane] = still;
        shared->samples[half][lane] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    }
    if (lane == 0) {
        shared->n_used[half] = n_padded;
    }
}

/* A turn for each used sample and each column and row: two multiply-adds in double. */
template <int THREADS>
static __device__ inline void slci_block_turns(const slci_direct_cuda_arguments *a, int chunk,
                                               slci_direct_shared *shared) {
    const int position = (int)threadIdx.x % (2 * SLCI_CUDA_TILE);
    const bool is_column = position < SLCI_CUDA_TILE;
    const double pixel = (double)(position % SLCI_CUDA_TILE - SLCI_CUDA_TILE / 2);
    const double w_factor = shared->w_factor[position];
    const bool is_near = a->setup.max_w <= SLCI_CUDA_NEAR_W;
    uint32_t *turns = (uint32_t *)shared->turns;
    const int n_used = shared->n_used[chunk % 2];
    for (int k = (int)threadIdx.x / (2 * SLCI_CUDA_TILE); k < n_used;
         k += THREADS / (2 * SLCI_CUDA_TILE)) {
        const slci_direct_phase *phase = &shared->phases[chunk % 2][k];
        const double step = is_column ? phase->u_step : phase->v_step;
        const double base = is_column ? phase->u_base : phase->v_base;
        const double bent =
            is_near ? fma(phase->w, w_factor, base) : base + slci_fraction(phase->w, w_factor);
        turns[k * 2 * SLCI_CUDA_TILE + position] =
            (uint32_t)__double2loint(fma(step, pixel, bent));
    }
}

/* Adds to an accumulator; exact, so the order of the blocks does not matter. The high word seldom
 * changes: it is -1 plus a carry for a negative value that does not cross zero. */
static __device__ inline void slci_fixed_atomic_add(slc_fixed *accumulator, slc_fixed value) {
    unsigned long long *low = (unsigned long long *)&accumulator->low;
    const unsigned long long before = atomicAdd(low, (unsigned long long)value.low);
    const unsigned long long carry = before + value.low < before ? 1u : 0u;
    const unsigned long long high = (unsigned long long)value.high + carry;
    if (high != 0) {
        atomicAdd((unsigned long long *)&accumulator->high, high);
    }
}

#endif
