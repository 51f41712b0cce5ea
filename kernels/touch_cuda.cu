/* Random 4-byte reads on the card:  sum += Σ_i data[place(i)],  i = 0 … n_touches - 1.
 *
 * One thread makes 8 reads at a time that do not depend on each other, so that each has 8 of them
 * under way; a grid of blocks fills every multiprocessor and strides over the rest. Each warp sums by
 * shuffles and adds once to the sum: integers, so the order does not matter. No shared memory; 30
 * registers, no spills (sm_90, CUDA 13.0, -Xptxas -v). What bounds it is, in device memory, the number
 * of 32-byte sectors a second, and in mapped memory the number of read requests on the bus. */
#include "core/device_cuda.h"
#include "kernels/touch_internal.h"

#define THREADS 256
#define READS_AT_ONCE 8

/* Several blocks a multiprocessor on every card there is. */
#define MAX_BLOCKS 4096

static __global__ void touch_kernel(const slc_touch touch) {
    const int64_t n_threads = (int64_t)gridDim.x * THREADS;
    uint32_t sum = 0;
    for (int64_t first = (int64_t)blockIdx.x * THREADS + threadIdx.x; first < touch.n_touches;
         first += READS_AT_ONCE * n_threads) {
        uint32_t read[READS_AT_ONCE];
#pragma unroll
        for (int k = 0; k < READS_AT_ONCE; k++) {
            const int64_t i = first + k * n_threads;
            read[k] = i < touch.n_touches
                          ? touch.d_data[slc_touch_place(touch.first + i, touch.n_elements)]
                          : 0;
        }
#pragma unroll
        for (int k = 0; k < READS_AT_ONCE; k++) {
            sum += read[k];
        }
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(0xffffffffu, sum, distance);
    }
    if (threadIdx.x % 32 == 0) {
        (void)atomicAdd(touch.d_sum, sum);
    }
}

extern "C" slc_status slci_touch_cuda(slc_stream *stream, const slc_touch *touch) {
    const int64_t per_block = (int64_t)THREADS * READS_AT_ONCE;
    int64_t n_blocks = (touch->n_touches + per_block - 1) / per_block;
    if (n_blocks == 0) {
        return SLC_OK;
    }
    n_blocks = n_blocks < MAX_BLOCKS ? n_blocks : MAX_BLOCKS;
    touch_kernel<<<(unsigned)n_blocks, THREADS, 0, slc_stream_get_cuda(stream)>>>(*touch);
    return slc_cuda_status(cudaGetLastError(), "touch_kernel(launch)");
}
