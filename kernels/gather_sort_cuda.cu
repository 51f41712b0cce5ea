/* Sorting a tile's indices by their places, with CUB's radix sort.
 *
 *     list    7 2 9 4          place  2 4 7 9
 *     number  0 1 2 3    ->    number 1 3 0 2      out[number] = data[place]
 *
 * Mapped memory is read over the bus, and where its pages are must be looked up for each that is
 * not among the few hundred looked up last: in no order nearly every read of a large array waits
 * for that, sorted one in hundreds does. 10^7 reads of 4 bytes took 326 ms in no order and 36 ms
 * sorted from 64 GiB, 91 and 9 ms from 1 GiB, and the sort 0.5 ms (H200). What it costs to go
 * through the pages is the same for each tile, so tiles should be large.
 *
 * The lowest bits are not sorted: reads that share a sector need no order. What points to no place here
 * sorts behind everything and stays -1. */
#include <cuda_runtime.h>

/* No marks for profilers: they are global names in the library. */
#define CCCL_DISABLE_NVTX
#define NVTX_DISABLE
#include <cub/device/device_radix_sort.cuh>

#include "core/checked.h"
#include "core/device_cuda.h"
#include "kernels/gather_sort_cuda.h"

#define BLOCK_THREADS 256
#define MOST_BLOCKS 4096

/* What a read of mapped memory fetches at least. */
#define SECTOR_BYTES 32

/* Enough that CUB takes its kernels for many keys. */
#define PREPARED_KEYS 32768

static __global__ void __launch_bounds__(BLOCK_THREADS)
    find_places(const slci_gather_view view, int64_t n_full, int64_t *place, uint32_t *number) {
    const int64_t n = view.tile->extent[0];
    const int64_t step = (int64_t)gridDim.x * BLOCK_THREADS;
    for (int64_t k = (int64_t)blockIdx.x * BLOCK_THREADS + threadIdx.x; k < n_full; k += step) {
        place[k] = k < n ? slci_gather_place(&view, k) : -1;
        number[k] = (uint32_t)k;
    }
}

static int bits_of(int64_t value) {
    int n = 0;
    while (n < 63 && (value >> n) != 0) {
        n++;
    }
    return n;
}

/* Places are below `n_places`; one bit more tells them from -1. With NULL for `scratch` it only
 * says how many bytes of it are needed. */
typedef struct sort_request {
    int64_t n, n_places, unit_bytes;
} sort_request;

static slc_status sort(const sort_request *request, cub::DoubleBuffer<uint64_t> &places,
                       cub::DoubleBuffer<uint32_t> &numbers, void *scratch, size_t *scratch_bytes,
                       cudaStream_t stream) {
    const int end = bits_of(request->n_places) + 1;
    const int begin = slc_min_i64(bits_of(SECTOR_BYTES / request->unit_bytes) - 1, end - 1);
    return slc_cuda_status(cub::DeviceRadixSort::SortPairs(scratch, *scratch_bytes, places, numbers,
                                                           request->n, begin > 0 ? begin : 0, end,
                                                           stream),
                           "cub::DeviceRadixSort::SortPairs (gather)");
}

slc_status slci_gather_sort_enqueue(const slc_tile_arguments *arguments, int64_t unit_bytes,
                                    slci_gather_view *view) {
    /* The list may be shorter than a full tile of the axis. */
    const sort_request request = {.n = arguments->layout[SLC_GATHER_PLACES].shape[0],
                                  .n_places =
                                      slc_layout_bytes(&arguments->layout[SLC_GATHER_DATA]) /
                                      unit_bytes,
                                  .unit_bytes = unit_bytes};
    cudaStream_t stream = slc_stream_get_cuda(arguments->stream);
    uint64_t *place = (uint64_t *)arguments->d_operand[SLC_GATHER_PLACES];
    uint32_t *number = (uint32_t *)arguments->d_operand[SLC_GATHER_ORDER];
    cub::DoubleBuffer<uint64_t> places(place, place + request.n);
    cub::DoubleBuffer<uint32_t> numbers(number, number + request.n);
    size_t bytes = 0;
    SLC_TRY(sort(&request, places, numbers, NULL, &bytes, stream));
    if (request.n > UINT32_MAX || (int64_t)bytes > SLCI_GATHER_SCRATCH * request.n) {
        return SLC_OK;
    }
    const int64_t blocks = slc_ceil_div(request.n, BLOCK_THREADS);
    find_places<<<(unsigned)slc_min_i64(blocks, MOST_BLOCKS), BLOCK_THREADS, 0, stream>>>(
        *view, request.n, (int64_t *)place, number);
    SLC_TRY(slc_cuda_status(cudaGetLastError(), "launch of the kernel that finds places"));
    SLC_TRY(
        sort(&request, places, numbers, arguments->d_operand[SLC_GATHER_SCRATCH], &bytes, stream));
    view->ordered_place = (const int64_t *)places.Current();
    view->ordered_index = numbers.Current();
    return SLC_OK;
}

slc_status slci_gather_sort_prepare(slc_device *device) {
    const sort_request request = {.n = PREPARED_KEYS,
                                  .n_places = INT64_C(1) << 40,
                                  .unit_bytes = 4};
    const int64_t key_bytes = 2 * PREPARED_KEYS * (int64_t)sizeof(uint64_t);
    const int64_t bytes = 2 * key_bytes; /* numbers take half of it */
    void *d_memory = NULL;
    size_t scratch_bytes = 0;
    SLC_TRY(slc_device_allocate(device, bytes, &d_memory));
    uint64_t *place = (uint64_t *)d_memory;
    uint32_t *number = (uint32_t *)(place + 2 * PREPARED_KEYS);
    void *scratch = number + 2 * PREPARED_KEYS;
    cub::DoubleBuffer<uint64_t> places(place, place + PREPARED_KEYS);
    cub::DoubleBuffer<uint32_t> numbers(number, number + PREPARED_KEYS);
    slc_status status = slc_cuda_status(cudaMemset(d_memory, 0, (size_t)bytes), "cudaMemset");
    SLC_TRY_GOTO(done, status);
    SLC_TRY_GOTO(done, sort(&request, places, numbers, NULL, &scratch_bytes, 0));
    if ((int64_t)scratch_bytes <= bytes - key_bytes - key_bytes / 2) {
        SLC_TRY_GOTO(done, sort(&request, places, numbers, scratch, &scratch_bytes, 0));
    }
    SLC_TRY_GOTO(done, slc_cuda_status(cudaStreamSynchronize(0), "cudaStreamSynchronize"));
done:
    slc_device_release(device, d_memory);
    return status;
}
