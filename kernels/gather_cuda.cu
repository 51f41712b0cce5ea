/* Gathering on CUDA: one thread for each unit of a result, and a unit is as wide as alignment
 * allows.
 *
 *     out[row][k][u] = data[row][place of index k][u],    u: units of a run
 *
 * A unit has 16, 8, 4, 2 or 1 bytes: the widest that divides a run, or the part of a run that one
 * step of a cut dimension has; every stride is then a whole number of units, and buffers are
 * aligned to 256 bytes. Block x takes the next 256 pairs (k, u), u fastest, so that neighbouring
 * threads write, and within a run read, neighbouring units; grid y goes over rows, of which most
 * gathers have one. Both wrap round: the launch is that of a full tile, edges are masked.
 *
 * Nothing is shared and nothing waits, so what limits it is how many loads are under way: with
 * 32 registers (sm_90; 52 on sm_75) a multiprocessor holds as many warps as it can. The list is
 * read in order. Each access to the data fetches 32 bytes at least, however few of them are
 * wanted. Data in mapped memory takes the same way; there the bus decides, and finding the
 * pages: an ordered gather reads it in rising order (kernels/gather_sort_cuda.cu). */
#include <cuda_runtime.h>

#include "core/checked.h"
#include "core/device_cuda.h"
#include "kernels/gather_sort_cuda.h"
#include "kernels/gather_tile.h"

#define BLOCK_THREADS 256
#define MOST_BLOCKS_X 65536
#define MOST_BLOCKS_Y 65535

/* The view in units of sizeof(Unit) bytes rather than elements. */
template <typename Unit>
__device__ static void gather_row(const slci_gather_view &view, const slci_gather_counts &counts,
                                  int64_t row) {
    const Unit *data = (const Unit *)view.data + counts.data_begin +
                       slci_gather_row(&view, &counts, view.data_stride, row);
    Unit *out = (Unit *)view.out + slci_gather_row(&view, &counts, view.out_stride, row);
    const int64_t n = counts.n_index * counts.n_run;
    const int64_t step = (int64_t)gridDim.x * BLOCK_THREADS;
    for (int64_t t = (int64_t)blockIdx.x * BLOCK_THREADS + threadIdx.x; t < n; t += step) {
        int64_t k = t;
        int64_t u = 0;
        if (counts.n_run > 1) { /* divisions are dear, most of all in 64 bits */
            k = n <= UINT32_MAX ? (uint32_t)t / (uint32_t)counts.n_run : t / counts.n_run;
            u = t - k * counts.n_run;
        }
        int64_t place;
        if (view.ordered_place != NULL) {
            place = view.ordered_place[k];
            k = view.ordered_index[k];
        } else {
            place = slci_gather_place(&view, k);
        }
        if (place >= 0) {
            out[k * view.index_stride + u] = data[place + u];
        }
    }
}

template <typename Unit>
static __global__ void __launch_bounds__(BLOCK_THREADS) gather_units(const slci_gather_view view) {
    const slci_gather_counts counts = slci_gather_count(&view);
    for (int64_t row = blockIdx.y; row < counts.n_rows; row += gridDim.y) {
        gather_row<Unit>(view, counts, row);
    }
}

typedef void (*gather_function)(const slci_gather_view view);

static const struct {
    int64_t unit_bytes;
    gather_function function;
} gather_forms[] = {
    {16, gather_units<uint4>},        {8, gather_units<unsigned long long>},
    {4, gather_units<unsigned int>},  {2, gather_units<unsigned short>},
    {1, gather_units<unsigned char>},
};

/* Loads the kernels now: done lazily at the first launch, it would take device memory in the run. */
static slc_status gather_cuda_prepare(void *state, slc_device *device) {
    for (size_t f = 0; f < sizeof gather_forms / sizeof gather_forms[0]; f++) {
        struct cudaFuncAttributes attributes;
        SLC_TRY(slc_cuda_status(cudaFuncGetAttributes(&attributes,
                                                      (const void *)gather_forms[f].function),
                                "cudaFuncGetAttributes (gather kernel)"));
    }
    return slci_gather_is_ordered((const slc_gather_setup *)state, SLC_DEVICE_CUDA)
               ? slci_gather_sort_prepare(device)
               : SLC_OK;
}

/* Elements become units: a run of n_run elements has whole ones. */
static void scale_view(slci_gather_view *view, int64_t unit_bytes) {
    const int64_t bytes = view->element_bytes;
    view->n_run = view->n_run * bytes / unit_bytes;
    view->index_stride = view->index_stride * bytes / unit_bytes;
    for (int l = 0; l < SLCI_GATHER_LEVELS; l++) {
        view->out_stride[l] = view->out_stride[l] * bytes / unit_bytes;
        view->data_stride[l] = view->data_stride[l] * bytes / unit_bytes;
    }
    for (int c = 0; c < view->n_coordinates; c++) {
        view->coordinate_stride[c] = view->coordinate_stride[c] * bytes / unit_bytes;
    }
}

/* Blocks for all pairs of index and unit in a full tile, and for its rows. */
static dim3 full_grid(const slci_gather_view *view, const int64_t *full_extent) {
    const int64_t n_run = view->n_run * (view->inner_axis < 0 ? 1 : full_extent[view->inner_axis]);
    const int64_t n_rows = view->n[0] * view->n[1] * view->n[2] *
                           (view->outer_axis < 0 ? 1 : full_extent[view->outer_axis]);
    const int64_t x = slc_ceil_div(full_extent[0] * n_run, BLOCK_THREADS);
    return dim3((unsigned)slc_max_i64(slc_min_i64(x, MOST_BLOCKS_X), 1),
                (unsigned)slc_max_i64(slc_min_i64(n_rows, MOST_BLOCKS_Y), 1));
}

static slc_status gather_cuda_tile(void *state, const slc_tile_arguments *arguments) {
    slci_gather_view view;
    slci_gather_view_init((const slc_gather_setup *)state, arguments, &view);
    const int64_t run_bytes = view.n_run * view.element_bytes;
    size_t f = 0;
    while (run_bytes % gather_forms[f].unit_bytes != 0) {
        f++; /* the last form divides everything */
    }
    scale_view(&view, gather_forms[f].unit_bytes);
    if (slci_gather_is_ordered((const slc_gather_setup *)state, SLC_DEVICE_CUDA)) {
        SLC_TRY(slci_gather_sort_enqueue(arguments, gather_forms[f].unit_bytes, &view));
    }
    const dim3 grid = full_grid(&view, arguments->full_extent);
    gather_forms[f].function<<<grid, BLOCK_THREADS, 0, slc_stream_get_cuda(arguments->stream)>>>(
        view);
    return slc_cuda_status(cudaGetLastError(), "launch of the gather kernel");
}

extern "C" {
extern const slc_gather_kernel slci_gather_cuda;
const slc_gather_kernel slci_gather_cuda = {
    "gather/cuda",
    SLC_DEVICE_CUDA,
    gather_cuda_tile,
    gather_cuda_prepare,
};
}
