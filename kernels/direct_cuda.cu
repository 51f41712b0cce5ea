/* Direct imaging on CUDA: a sine and a cosine per (sample, pixel) pair.
 *
 *     I(l, m) += Re w V exp(-2πi p),   p = ul + vm + w n1(l, m)        (n1: n - 1, or n)
 *
 * with the split of kernels/direct_tile.h: p = [column turn] + [row turn] + w c(l, m).
 *
 * Threads. Block (x, y) computes the 64 × 64 pixels of kernel tile x of the engine tile for run y
 * (and y + gridDim.y, ...). A run is a granule, or at most 4,096 samples of one. Thread t has columns
 * 4 (t mod 16) to +3 and ROWS rows from ROWS (t / 16): 256 threads with 4 × 4 pixels, or, where real
 * and imaginary parts are wanted, 512 threads with 4 × 2.
 *
 *      32 raw samples -> phases, weighted values -> 128 turns each -> sums in registers -> image
 *      cp.async, double   warp 0, double; samples   all threads,     8 or 16 pixels       64-bit
 *      buffer in shared   without weight dropped    double           a thread             atomics
 *
 * A pair costs one integer add, two integer operations and two floating-point ones that make a float
 * of the turn, one multiply-add (one more with w c, eight more operations when it is wide), the multiplication inside
 * __sinf, two special functions, two multiply-adds and 0.75 additions of the promotion: 12 issue
 * slots, 13 with w c, 22 wide, beside the 16 cycles in which a warp's two special functions keep
 * their unit busy. So FLAT and SINGLE run at the limit of the special functions.
 *
 * Shared memory: 16 KiB of turns and 6 KiB of samples and raw data, static.
 * The turns of columns and rows are formed in double: 128 a sample, for 4,096 pairs.
 *
 * Error of a pair, relative to w|V|, in units of 1e-7 (worst case; s, c: sine and cosine of the angle between V and
 * the pair's phase, because an error of the phase counts in full only where the pair adds nothing):
 *     turn: three roundings to 2^-33 turns .......................... 0.02 s
 *     phase: one rounding of a float below 4 ........................ 1.2 s
 *     __sinf's own multiplication by 1/2π, towards zero, after
 *     SLCI_TWO_PI has moved its middle .............................. 2.0 s
 *     w c of SINGLE: three roundings, 11.2 × turns .................. 0.7 s at 1/16 turn
 *     w c of WIDE: one rounding of a float below 1/2 turn ........... 0.9 s
 *     table of the special functions (1.7 each, in quadrature) ...... 2.4
 *     weight times V ................................................ 0.6
 *     sum of four terms: seven roundings at most .................... 4.2 c + 0.6
 *     promotion where the sum so far is smaller than its addend ..... 0.6
 * Together below 4.2 + sqrt(3.2² + 4.2²) = 9.5 (FLAT), 9.9 (SINGLE), 10.1 (WIDE): about 1e-6 when everything
 * conspires. The tests sweep the phases and hold each variant to 1e-6.
 */
#include <assert.h>
#include <cuda_runtime.h>

#include "core/checked.h"
#include "core/device_cuda.h"
#include "kernels/direct_cuda_block.cuh"

/* Blocks of one launch along y; more runs than that are looped over. */
#define MAX_GRID_Y 65535

/* What a thread knows about its pixels. */
template <int ROWS, int N_PARTS>
struct pixels {
    float c_high[ROWS][4], c_low[ROWS][4];
    float sum[N_PARTS][ROWS][4], part[N_PARTS][ROWS][4];
};

/* The thread's first column and row in the kernel tile. */
static __device__ __forceinline__ int own_column(void) {
    return (int)threadIdx.x % (SLCI_CUDA_TILE / 4) * 4;
}

template <int ROWS>
static __device__ __forceinline__ int own_row(void) {
    return (int)threadIdx.x / (SLCI_CUDA_TILE / 4) * ROWS;
}

/* c(l, m) of the thread's pixels in two words; 0 beyond the horizon, where nothing is stored. */
template <int ROWS, int N_PARTS>
static __device__ __forceinline__ void find_c(const slci_direct_cuda_arguments *a,
                                              const slci_direct_shared *shared,
                                              pixels<ROWS, N_PARTS> *own) {
    const int column = own_column();
    const int row = own_row<ROWS>();
    const slc_direct_geometry *geometry = &a->setup.geometry;
    const slc_direct_tile *tile = &shared->tile;
    const double centre = slci_direct_n_minus_1(tile->l0, tile->m0);
#pragma unroll
    for (int j = 0; j < ROWS; j++) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const double l = slci_direct_l(geometry, tile->x0 + column + i);
            const double m = slci_direct_m(geometry, tile->y0 + row + j);
            const double split = shared->w_factor[column + i] +
                                 shared->w_factor[SLCI_CUDA_TILE + row + j];
            const double c = slci_direct_r2(l, m) < 1.0
                                 ? (slci_direct_n_minus_1(l, m) - centre) - split
                                 : 0.0;
            own->c_high[j][i] = (float)c;
            own->c_low[j][i] = (float)(c - (double)(float)c);
        }
    }
}

/* One sample into all pixels of the thread. */
template <int VARIANT, int ROWS, int N_PARTS>
static __device__ __forceinline__ void add_sample(const slci_direct_shared *shared, int k,
                                                  int half, uint32_t lower_one,
                                                  pixels<ROWS, N_PARTS> *own) {
    const float4 sample = shared->samples[half][k];
    const uint4 columns4 = shared->turns[k][own_column() / 4];
    const uint32_t columns[4] = {columns4.x, columns4.y, columns4.z, columns4.w};
    const uint32_t *rows = (const uint32_t *)shared->turns[k] + SLCI_CUDA_TILE +
                           own_row<ROWS>();
    uint32_t row_turn[ROWS];
    if (ROWS == 4) {
        const uint4 four = *(const uint4 *)rows;
        row_turn[0] = four.x;
        row_turn[1] = four.y;
        row_turn[ROWS - 2] = four.z;
        row_turn[ROWS - 1] = four.w;
    } else {
        const uint2 two = *(const uint2 *)rows;
        row_turn[0] = two.x;
        row_turn[1] = two.y;
    }
#pragma unroll
    for (int j = 0; j < ROWS; j++) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const float phase =
                slci_pair_phase<VARIANT>(columns[i] + row_turn[j], lower_one, sample.y, sample.z,
                                         own->c_high[j][i], own->c_low[j][i]);
            float *real = &own->part[0][j][i];
            *real = __fmaf_rn(sample.x, __cosf(phase), *real);
            if (N_PARTS == 2) {
                float *imaginary = &own->part[N_PARTS - 1][j][i];
                *imaginary = __fmaf_rn(-sample.x, __sinf(phase), *imaginary);
            }
        }
    }
}

/* All used samples of the chunk, a group at a time. */
template <int VARIANT, int ROWS, int N_PARTS>
static __device__ __forceinline__ void add_chunk(const slci_direct_shared *shared, int half,
                                                 uint32_t lower_one,
                                                 pixels<ROWS, N_PARTS> *own) {
    const int n_used = shared->n_used[half];
#pragma unroll 1
    for (int k = 0; k < n_used; k += SLCI_CUDA_GROUP) {
#pragma unroll
        for (int term = 0; term < SLCI_CUDA_GROUP; term++) {
            add_sample<VARIANT, ROWS, N_PARTS>(shared, k + term, half, lower_one, own);
        }
#pragma unroll
        for (int part = 0; part < N_PARTS; part++) {
#pragma unroll
            for (int j = 0; j < ROWS; j++) {
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    slci_pair_promote(&own->sum[part][j][i], &own->part[part][j][i]);
                }
            }
        }
    }
}

template <int ROWS, int N_PARTS>
static __device__ __forceinline__ void clear(pixels<ROWS, N_PARTS> *own) {
#pragma unroll
    for (int part = 0; part < N_PARTS; part++) {
#pragma unroll
        for (int j = 0; j < ROWS; j++) {
#pragma unroll
            for (int i = 0; i < 4; i++) {
                own->sum[part][j][i] = 0.0f;
                own->part[part][j][i] = 0.0f;
            }
        }
    }
}

/* The run's sums into the image, where a pixel lies in the tile and within the horizon. */
template <int ROWS, int N_PARTS>
static __device__ __forceinline__ void store(const slci_direct_cuda_arguments *a,
                                             const slc_direct_tile *tile,
                                             const pixels<ROWS, N_PARTS> *own) {
    const int column = own_column();
    const int row = own_row<ROWS>();
    const int64_t y_end = a->tile->origin[1] + a->tile->extent[1];
    const int64_t x_end = a->tile->origin[2] + a->tile->extent[2];
#pragma unroll
    for (int j = 0; j < ROWS; j++) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int64_t y = tile->y0 + row + j;
            const int64_t x = tile->x0 + column + i;
            const double l = slci_direct_l(&a->setup.geometry, x);
            const double m = slci_direct_m(&a->setup.geometry, y);
            if (y >= y_end || x >= x_end || !(slci_direct_r2(l, m) < 1.0)) {
                continue;
            }
            const int64_t pixel =
                (y - a->tile->origin[1]) * a->full_x + (x - a->tile->origin[2]);
#pragma unroll
            for (int part = 0; part < N_PARTS; part++) {
                const double value =
                    (double)own->sum[part][j][i] + (double)own->part[part][j][i];
                slci_fixed_atomic_add(&a->image[pixel * N_PARTS + part],
                                      slc_fixed_from_double(value, a->setup.scale_bits));
            }
        }
    }
}

/* One run into the thread's sums; whether it has any weight. While the threads add chunk i, one warp
 * (each in its turn) compacts chunk i + 1, and chunk i + 2 is on its way from global memory. */
template <int VARIANT, int ROWS, int N_PARTS>
static __device__ __forceinline__ bool sum_run(const slci_direct_cuda_arguments *a,
                                               const slci_direct_run *run,
                                               slci_direct_shared *shared,
                                               pixels<ROWS, N_PARTS> *own) {
    constexpr int THREADS = SLCI_CUDA_TILE / 4 * SLCI_CUDA_TILE / ROWS;
    const int warp = (int)threadIdx.x / 32;
    bool has_weight = false;
    clear(own);
    slci_block_stage(a, run, 0, shared);
    slci_block_stage(a, run, 1, shared);
    __pipeline_wait_prior(1);
    __syncthreads();
    if (warp == 0) {
        slci_block_compact<VARIANT>(a, run, 0, shared);
    }
    for (int chunk = 0; chunk * SLCI_CUDA_CHUNK < run->n_samples; chunk++) {
        __pipeline_wait_prior(0);
        __syncthreads(); /* chunk compacted, chunk + 1 come, the turns of chunk - 1 used up */
        slci_block_stage(a, run, chunk + 2, shared);
        slci_block_turns<THREADS>(a, chunk, shared);
        has_weight = has_weight || shared->n_used[chunk % 2] != 0;
        __syncthreads(); /* the turns are there */
        if (warp == (chunk + 1) % (THREADS / 32)) {
            slci_block_compact<VARIANT>(a, run, chunk + 1, shared);
        }
        add_chunk<VARIANT, ROWS, N_PARTS>(shared, chunk % 2, a->lower_one, own);
    }
    __pipeline_wait_prior(0);
    __syncthreads(); /* the next run may overwrite everything */
    return has_weight;
}

template <int VARIANT, int ROWS, int N_PARTS>
static __global__ void
__launch_bounds__(SLCI_CUDA_TILE / 4 * SLCI_CUDA_TILE / ROWS, ROWS == 4 ? 2 : 1)
    direct_sine(const __grid_constant__ slci_direct_cuda_arguments a) {
    __shared__ slci_direct_shared shared;
    const int64_t across = blockIdx.x % a.tiles_x * SLCI_CUDA_TILE;
    const int64_t down = blockIdx.x / a.tiles_x * SLCI_CUDA_TILE;
    if (across >= a.tile->extent[2] || down >= a.tile->extent[1]) {
        return; /* the whole block */
    }
    if (threadIdx.x == 0) {
        shared.tile = slci_direct_tile_at(&a.setup, (a.tile->origin[1] + down) / SLCI_CUDA_TILE,
                                          (a.tile->origin[2] + across) / SLCI_CUDA_TILE);
    }
    __syncthreads();
    if (shared.tile.method == SLC_DIRECT_SKIP ||
        slci_cuda_variant(&a.setup, &shared.tile) != VARIANT) {
        return; /* the whole block */
    }
    slci_block_w_factors(&a.setup.geometry, &shared);
    __syncthreads();
    pixels<ROWS, N_PARTS> own;
    find_c(&a, &shared, &own);

    const int64_t n_runs = slci_block_n_runs(&a);
    for (int64_t index = blockIdx.y; index < n_runs; index += gridDim.y) {
        const slci_direct_run run = slci_block_run(&a, index);
        if (sum_run<VARIANT, ROWS, N_PARTS>(&a, &run, &shared, &own)) {
            store(&a, &shared.tile, &own);
        }
    }
}

typedef void (*direct_function)(const slci_direct_cuda_arguments);

/* [parts - 1][variant] */
static const direct_function direct_functions[2][SLCI_CUDA_N_VARIANTS] = {
    {direct_sine<SLCI_CUDA_FLAT, 4, 1>, direct_sine<SLCI_CUDA_SINGLE, 4, 1>,
     direct_sine<SLCI_CUDA_WIDE, 2, 1>},
    {direct_sine<SLCI_CUDA_FLAT, 2, 2>, direct_sine<SLCI_CUDA_SINGLE, 2, 2>,
     direct_sine<SLCI_CUDA_WIDE, 2, 2>},
};

static int64_t direct_cuda_work_bytes(const slc_direct_setup *setup, int n_threads) {
    (void)setup;
    (void)n_threads;
    return 1; /* everything is in registers and shared memory */
}

/* Loads the kernels now: done lazily at the first launch, it would take device memory in the run. */
static slc_status direct_cuda_prepare(void *state, slc_device *device) {
    (void)state;
    (void)device;
    for (int parts = 0; parts < 2; parts++) {
        for (int variant = 0; variant < SLCI_CUDA_N_VARIANTS; variant++) {
            struct cudaFuncAttributes attributes;
            SLC_TRY(slc_cuda_status(
                cudaFuncGetAttributes(&attributes,
                                      (const void *)direct_functions[parts][variant]),
                "cudaFuncGetAttributes (direct imaging kernel)"));
        }
    }
    return SLC_OK;
}

/* Enqueues the three variants; the blocks of tiles that are another variant's leave at once. */
static slc_status direct_cuda_tile(void *state, const slc_tile_arguments *arguments) {
    const slc_direct_setup *setup = (const slc_direct_setup *)state;
    assert(setup->tile_pixels == SLCI_CUDA_TILE);
    const int64_t *full = arguments->full_extent;
    slci_direct_cuda_arguments a;
    a.setup = *setup;
    a.tile = arguments->d_tile;
    a.uvw = (const double *)arguments->d_operand[SLC_DIRECT_UVW];
    a.vis = (const float2 *)arguments->d_operand[SLC_DIRECT_VIS];
    a.weight = (const float *)arguments->d_operand[SLC_DIRECT_WEIGHT];
    a.channels = (const double *)arguments->d_operand[SLC_DIRECT_CHANNELS];
    a.image = (slc_fixed *)arguments->d_operand[SLC_DIRECT_IMAGE];
    a.full_x = full[2];
    a.tiles_x = slc_ceil_div(full[2], SLCI_CUDA_TILE);
    a.lower_one = SLCI_LOWER_ONE;
    a.runs_per_granule =
        slc_ceil_div(setup->granule_rows * setup->n_channels, setup->granule_samples);
    const int64_t n_tiles = a.tiles_x * slc_ceil_div(full[1], SLCI_CUDA_TILE);
    const int64_t n_runs = slc_ceil_div(full[0], setup->granule_rows) * a.runs_per_granule;
    if (n_tiles > INT32_MAX) {
        return SLC_FAIL(SLC_ERROR_NO_PLAN,
                        "an engine tile of %lld kernel tiles is more than one launch can take; "
                        "use a smaller --vram",
                        (long long)n_tiles);
    }
    const dim3 grid((unsigned)n_tiles, (unsigned)slc_min_i64(n_runs, MAX_GRID_Y));
    for (int variant = 0; variant < SLCI_CUDA_N_VARIANTS; variant++) {
        const int threads = setup->n_parts == 2 || variant == SLCI_CUDA_WIDE ? 512 : 256;
        direct_functions[setup->n_parts - 1][variant]<<<grid, threads, 0,
                                                        slc_stream_get_cuda(arguments->stream)>>>(
            a);
        SLC_TRY(slc_cuda_status(cudaGetLastError(), "launch of the direct imaging kernel"));
    }
    return SLC_OK;
}

extern "C" {
extern const slc_direct_kernel slci_direct_cuda;
const slc_direct_kernel slci_direct_cuda = {
    "direct/cuda", SLC_DEVICE_CUDA, direct_cuda_work_bytes, direct_cuda_tile, direct_cuda_prepare,
};
}
