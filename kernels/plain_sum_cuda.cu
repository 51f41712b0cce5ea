/* sum += Σ values[i], in double precision.
 *
 * 256 threads a block, four values a thread and step, the whole grid striding over the rest; then the
 * lanes of a warp by shuffles and one atomic addition a warp. Nothing shared. Memory bound: 64 MiB take
 * less than the bus needs to bring them. */
#include "core/device_cuda.h"
#include "kernels/plain_sum.h"

#define THREADS 256
#define WARP 32

/* Several blocks a multiprocessor on every card there is. */
#define MAX_BLOCKS 1024

static __global__ void plain_sum_kernel(const float4 *words, int64_t n_words, int n_tail,
                                        double *sum) {
    const int64_t n_threads = (int64_t)gridDim.x * THREADS;
    const int64_t first = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    double mine = first < n_tail ? (double)((const float *)(words + n_words))[first] : 0.0;
    for (int64_t i = first; i < n_words; i += n_threads) {
        const float4 v = words[i];
        mine += ((double)v.x + (double)v.y) + ((double)v.z + (double)v.w);
    }
    for (int lane = WARP / 2; lane > 0; lane /= 2) {
        mine += __shfl_down_sync(0xffffffffu, mine, (unsigned)lane);
    }
    if (threadIdx.x % WARP == 0) {
        atomicAdd(sum, mine);
    }
}

extern "C" slc_status slci_plain_sum_cuda(slc_stream *stream, const float *d_values, int64_t n,
                                          double *d_sum) {
    const int64_t n_words = n / 4;
    int64_t n_blocks = (n_words + THREADS - 1) / THREADS;
    n_blocks = n_blocks < 1 ? 1 : n_blocks < MAX_BLOCKS ? n_blocks : MAX_BLOCKS;
    plain_sum_kernel<<<(unsigned)n_blocks, THREADS, 0, slc_stream_get_cuda(stream)>>>(
        (const float4 *)d_values, n_words, (int)(n % 4), d_sum);
    return slc_cuda_status(cudaGetLastError(), "plain_sum_kernel(launch)");
}
