/* Statistics on CUDA. Two kernels a part and tile:
 *
 *   1. Every thread goes through elements t, t + threads, … of the tile, a few of them loaded
 *      ahead, and keeps its own range, with the first place of each end
 *      (kernels/stats_cuda_range.cuh), and exact sums (kernels/stats_cuda_sums.cuh). A block's ranges
 *      meet by integer atomics on the keys in shared memory, and what it found goes into scratch.
 *      Bins are counted in shared memory where they fit, digits of keys in global memory: there the
 *      lanes of a warp that have the same counter add once together, since data is often all but
 *      constant.
 *   2. One block merges the blocks' findings into the results (kernels/stats_cuda_merge.cuh).
 *
 * The launch is that of a full tile, edges are masked; a thread gets 64 elements at least, which pays
 * for the 1.7 KB that its block writes. The shared memory is these 1.7 KB, and 4 bytes a bin; registers
 * (sm_90) 78 to 80, no spills. Per element a float takes some 30 double-precision operations and an
 * integer 20 others. Measured on an H200 with singles: 165 GB/s, three times what the bus brings. Loads
 * ahead and a merging by several groups of threads made that of 90, and bins in shared memory made
 * 140 of a histogram's 19. */
#include <cuda_runtime.h>

#include "core/checked.h"
#include "core/device_cuda.h"
#include "kernels/stats_cuda_sums.cuh"
#include "kernels/stats_cuda_values.cuh"

/* It needs what is above. */
#include "kernels/stats_cuda_range.cuh"

#define LEAST_PER_THREAD 64
#define MOST_BLOCKS 1024

/* Elements of a thread that are loaded before the first of them is looked at. */
#define AHEAD 4

/* Bins that a block counts in shared memory, 16 KiB of it: more would keep other blocks away. */
#define MOST_SHARED_BINS 4096

__device__ static int64_t element_at(const slci_stats_view &view, const slci_stats_counts &counts,
                                     int64_t ordinal) {
    if (counts.n_run == counts.n) {
        return ordinal;
    }
    const int64_t row = counts.n <= UINT32_MAX ? (uint32_t)ordinal / (uint32_t)counts.n_run
                                               : ordinal / counts.n_run;
    return slci_stats_row(&view, &counts, row) + (ordinal - row * counts.n_run);
}

/* Lanes of the warp that are here and have the same counter add as one. */
__device__ static void count_one(unsigned long long *counters, int64_t which) {
    const unsigned here = __activemask();
    const unsigned same = __match_any_sync(here, (unsigned long long)which);
    if ((int)(threadIdx.x % WARP) == __ffs((int)same) - 1) {
        (void)atomicAdd(&counters[which], (unsigned long long)__popc(same));
    }
}

__device__ static void count_digit(const slci_stats_view &view, unsigned long long key) {
    const int g = slci_stats_group(&view.step, key);
    if (g >= 0) {
        count_one((unsigned long long *)view.digits,
                  ((int64_t)g << view.step.digit_bits) + slci_stats_digit(&view.step, key));
    }
}

/* What a launch looks at besides the range and the sums. */
struct look {
    bool has_sums, has_range, has_digits, has_bins;
    unsigned long long bias;
    double bins_per_unit;
    int n_shared_bins;
    unsigned *shared_bins;
};

template <typename Load>
__device__ static void look_at_one(const slci_stats_view &view, const look &with,
                                   typename Load::value value, int64_t ordinal, thread_range *range,
                                   typename Load::sums *mine, shared_sums *sums) {
    if (Load::is_nan(value)) {
        range->n_nan++;
        return;
    }
    const unsigned long long key = Load::key(value, with.bias);
    if (view.step.has_moments) {
        note_range<Load>(range, value, key, (unsigned long long)ordinal, with.has_range);
        if (with.has_sums && !Load::is_infinite(value)) {
            add_value(mine, value, sums);
        }
    }
    if (with.has_digits) {
        count_digit(view, key);
    }
    if (with.has_bins) {
        const int64_t bin =
            slci_stats_bin(view.edges, view.n_bins, with.bins_per_unit, (double)value);
        if (with.n_shared_bins > 0) {
            (void)atomicAdd(&with.shared_bins[bin], 1u);
        } else {
            count_one((unsigned long long *)view.bins, bin);
        }
    }
}

__device__ static look prepare_look(const slci_stats_view &view, int part, int n_shared_bins,
                                    unsigned *shared_bins) {
    look with;
    const bool is_last = part == view.n_parts - 1;
    with.has_sums = slci_stats_has_sums(&view, part);
    with.has_range = slci_stats_has_range(&view, part);
    with.has_digits = is_last && view.step.n_groups > 0;
    with.has_bins = is_last && view.step.has_bins;
    with.bias = slci_stats_bias(view.dtype);
    const double width = with.has_bins ? view.edges[view.n_bins] - view.edges[0] : 0;
    with.bins_per_unit = width > 0 ? (double)view.n_bins / width : 0;
    with.n_shared_bins = with.has_bins ? n_shared_bins : 0;
    with.shared_bins = shared_bins;
    for (int b = threadIdx.x; b < with.n_shared_bins; b += BLOCK_THREADS) {
        shared_bins[b] = 0;
    }
    return with;
}

template <typename Load>
static __global__ void __launch_bounds__(BLOCK_THREADS)
    look_at(const slci_stats_view view, const int part, const int n_shared_bins) {
    __shared__ shared_sums block_sums;
    extern __shared__ unsigned shared_bins[];
    const slci_stats_counts counts = slci_stats_count(&view);
    const look with = prepare_look(view, part, n_shared_bins, shared_bins);
    thread_range range = {0, {0, 0}, {NOWHERE, NOWHERE}, 0, 0, NOWHERE, NOWHERE};
    typename Load::sums mine;
    clear(&mine);
    clear_shared(&block_sums);
    const int64_t step = (int64_t)gridDim.x * BLOCK_THREADS;
    for (int64_t t = (int64_t)blockIdx.x * BLOCK_THREADS + threadIdx.x; t < counts.n;
         t += AHEAD * step) {
        typename Load::value value[AHEAD];
#pragma unroll
        for (int k = 0; k < AHEAD; k++) {
            if (t + k * step < counts.n) {
                value[k] =
                    Load::load(view.data, element_at(view, counts, t + k * step), view.n_parts > 1);
            }
        }
#pragma unroll
        for (int k = 0; k < AHEAD; k++) {
            if (t + k * step < counts.n) {
                look_at_one<Load>(view, with, value[k], t + k * step, &range, &mine, &block_sums);
            }
        }
    }
    if (view.step.has_moments) {
        flush(&mine, &block_sums);
        meet(range, &block_sums);
        store_shared(view, counts, block_sums);
    }
    __syncthreads();
    for (int b = threadIdx.x; b < with.n_shared_bins; b += BLOCK_THREADS) {
        if (shared_bins[b] > 0) {
            (void)atomicAdd((unsigned long long *)view.bins + b,
                            (unsigned long long)shared_bins[b]);
        }
    }
}

#include "kernels/stats_cuda_merge.cuh"

/* ---- which kernel ------------------------------------------------------------------------------- */

typedef void (*look_function)(const slci_stats_view view, const int part, const int n_shared_bins);

static const struct {
    slc_dtype dtype;
    slc_stats_part part;
    look_function function;
} looks[] = {
    {SLC_U8, SLC_STATS_VALUE, look_at<load_whole<uint8_t, long long>>},
    {SLC_I8, SLC_STATS_VALUE, look_at<load_whole<int8_t, long long>>},
    {SLC_U16, SLC_STATS_VALUE, look_at<load_whole<uint16_t, long long>>},
    {SLC_I16, SLC_STATS_VALUE, look_at<load_whole<int16_t, long long>>},
    {SLC_U32, SLC_STATS_VALUE, look_at<load_whole<uint32_t, long long>>},
    {SLC_I32, SLC_STATS_VALUE, look_at<load_whole<int32_t, long long>>},
    {SLC_U64, SLC_STATS_VALUE, look_at<load_whole<uint64_t, unsigned long long>>},
    {SLC_I64, SLC_STATS_VALUE, look_at<load_whole<int64_t, long long>>},
    {SLC_F16, SLC_STATS_VALUE, look_at<load_single<uint16_t>>},
    {SLC_F32, SLC_STATS_VALUE, look_at<load_single<float>>},
    {SLC_F64, SLC_STATS_VALUE, look_at<load_double>},
    {SLC_C32, SLC_STATS_REAL, look_at<load_half_single<uint16_t, 0>>},
    {SLC_C32, SLC_STATS_IMAG, look_at<load_half_single<uint16_t, 1>>},
    {SLC_C32, SLC_STATS_ABS, look_at<load_abs<uint16_t>>},
    {SLC_C64, SLC_STATS_REAL, look_at<load_half_single<float, 0>>},
    {SLC_C64, SLC_STATS_IMAG, look_at<load_half_single<float, 1>>},
    {SLC_C64, SLC_STATS_ABS, look_at<load_abs<float>>},
    {SLC_C128, SLC_STATS_REAL, look_at<load_half_double<0>>},
    {SLC_C128, SLC_STATS_IMAG, look_at<load_half_double<1>>},
    {SLC_C128, SLC_STATS_ABS, look_at<load_abs_double>},
};
#define N_LOOKS (sizeof looks / sizeof looks[0])

static look_function find_look(slc_dtype dtype, slc_stats_part part) {
    size_t k = 0;
    while (k < N_LOOKS - 1 && (looks[k].dtype != dtype || looks[k].part != part)) {
        k++; /* the request was checked: there is one */
    }
    return looks[k].function;
}

/* Loads the kernels now: done lazily at the first launch, it would take device memory in the run. */
static slc_status stats_cuda_prepare(void *state, slc_device *device) {
    const slc_stats_request *request = &((const slc_stats_setup *)state)->request;
    struct cudaFuncAttributes attributes;
    (void)device;
    for (int p = 0; p < request->n_parts; p++) {
        const look_function function = find_look(request->dtype, request->parts[p]);
        SLC_TRY(slc_cuda_status(cudaFuncGetAttributes(&attributes, (const void *)function),
                                "cudaFuncGetAttributes (statistics kernel)"));
    }
    return slc_cuda_status(cudaFuncGetAttributes(&attributes, (const void *)merge_blocks),
                           "cudaFuncGetAttributes (merging kernel)");
}

static int n_blocks_for(const slci_stats_view *view) {
    int64_t n = 1;
    for (int d = 0; d < view->rank; d++) {
        n *= view->full[d];
    }
    const int64_t n_blocks = slc_ceil_div(n, (int64_t)BLOCK_THREADS * LEAST_PER_THREAD);
    return (int)slc_max_i64(slc_min_i64(n_blocks, MOST_BLOCKS), 1);
}

static slc_status stats_cuda_tile(void *state, const slc_tile_arguments *arguments) {
    slci_stats_view view;
    slci_stats_view_init((const slc_stats_setup *)state, arguments, &view);
    const cudaStream_t stream = slc_stream_get_cuda(arguments->stream);
    const int n_blocks = n_blocks_for(&view);
    const bool has_shared_bins = view.step.has_bins && view.n_bins + 2 <= MOST_SHARED_BINS;
    const int n_shared_bins = has_shared_bins ? (int)view.n_bins + 2 : 0;
    for (int p = 0; p < view.n_parts; p++) {
        if (!view.step.has_moments && p < view.n_parts - 1) {
            continue;
        }
        find_look(view.dtype, view.parts[p])<<<n_blocks, BLOCK_THREADS,
                                               (size_t)n_shared_bins * sizeof(unsigned), stream>>>(
            view, p, n_shared_bins);
        SLC_TRY(slc_cuda_status(cudaGetLastError(), "launch of the statistics kernel"));
        if (view.step.has_moments) {
            merge_blocks<<<1, MERGE_THREADS, 0, stream>>>(view, p, n_blocks);
            SLC_TRY(slc_cuda_status(cudaGetLastError(), "launch of the merging kernel"));
        }
    }
    return SLC_OK;
}

/* Findings of every block that a tile can have, however large it is planned. */
static int64_t stats_cuda_work_bytes(const slc_stats_setup *setup, int n_threads) {
    (void)n_threads;
    int64_t n = 1;
    for (int d = 0; d < setup->request.rank; d++) {
        n *= slc_max_i64(setup->request.shape[d], 1);
    }
    const int64_t n_blocks = slc_ceil_div(n, (int64_t)BLOCK_THREADS * LEAST_PER_THREAD);
    return slc_min_i64(n_blocks, MOST_BLOCKS) * SLC_STATS_WORDS * (int64_t)sizeof(uint64_t);
}

extern "C" {
extern const slc_stats_kernel slci_stats_cuda;
const slc_stats_kernel slci_stats_cuda = {
    "stats/cuda", SLC_DEVICE_CUDA, stats_cuda_tile, stats_cuda_prepare, stats_cuda_work_bytes,
};
}
