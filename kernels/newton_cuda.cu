/* One round of Newton's square root on the card:  x' = (x + a / x) / 2  for every number.
 *
 * One thread a number, 256 a block, the grid striding over the rest. All blocks have to agree that
 * nothing has changed, so a kernel of one thread says first that the loop is done, and any thread that
 * changes its number takes that back: all of them write the same zero, so their order does not matter.
 * Nothing shared; 38 and 8 registers, no spills (sm_90, CUDA 13.0, -Xptxas -v). What a round takes is
 * launches, not arithmetic: that is what it measures. */
#include "core/device_cuda.h"
#include "kernels/newton.h"

#define THREADS 256

/* Several blocks a multiprocessor on every card there is. */
#define MAX_BLOCKS 4096

static __global__ void begin_round(slc_loop_state *state) {
    state->is_done = 1;
}

static __global__ void run_round(const slci_newton newton) {
    const int64_t n_threads = (int64_t)gridDim.x * THREADS;
    const bool is_first = newton.d_state->n_iterations == 0;
    bool has_changed = false;
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < newton.n; i += n_threads) {
        const float x = is_first ? SLCI_NEWTON_START : newton.d_root[i];
        const float next = slci_newton_next(newton.d_in[i], x);
        has_changed = has_changed || next < x;
        newton.d_root[i] = next < x ? next : x;
    }
    if (__any_sync(0xffffffffu, has_changed) && threadIdx.x % 32 == 0) {
        /* Another block may have done so. */
        *(volatile int64_t *)&newton.d_state->is_done = 0;
    }
}

extern "C" slc_status slci_newton_load_cuda(void) {
    struct cudaFuncAttributes attributes;
    cudaError_t error = cudaFuncGetAttributes(&attributes, (const void *)begin_round);
    if (error == cudaSuccess) {
        error = cudaFuncGetAttributes(&attributes, (const void *)run_round);
    }
    return slc_cuda_status(error, "loading Newton's kernels");
}

extern "C" slc_status slci_newton_cuda(slc_stream *stream, const slci_newton *newton) {
    const int64_t n_whole = (newton->n + THREADS - 1) / THREADS;
    const int64_t n_blocks = n_whole < MAX_BLOCKS ? n_whole : MAX_BLOCKS;
    begin_round<<<1, 1, 0, slc_stream_get_cuda(stream)>>>(newton->d_state);
    slc_status status = slc_cuda_status(cudaGetLastError(), "begin_round(launch)");
    if (status == SLC_OK) {
        run_round<<<(unsigned)n_blocks, THREADS, 0, slc_stream_get_cuda(stream)>>>(*newton);
        status = slc_cuda_status(cudaGetLastError(), "run_round(launch)");
    }
    return status;
}
