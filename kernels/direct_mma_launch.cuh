/* The launch of CUDA's product kernels, for direct_cuda.cu. Internal: nothing here is installed.
 *
 *     SLC_TRY(slci_mma_load(setup));                                in the job's prepare function
 *     SLC_TRY(slci_mma_launch(&arguments, n_tiles, n_runs, stream));    enqueues all product tiles
 */
#ifndef SLC_KERNELS_DIRECT_MMA_LAUNCH_CUH
#define SLC_KERNELS_DIRECT_MMA_LAUNCH_CUH

#include <cuda_runtime.h>

#include "kernels/direct_cuda_block.cuh"

/* A kernel and its launch. */
typedef struct slci_mma_launch_form {
    const void *function; /* takes a slci_direct_cuda_arguments */
    int threads, shared_bytes;
} slci_mma_launch_form;

extern "C" {
/* The kernels of each unit by products (1: [0], 3: [1]) and terms. */
extern const slci_mma_launch_form slci_mma_warp_forms[2][SLCI_CUDA_MOST_TERMS + 1];
extern const slci_mma_launch_form slci_mma_group_forms[2][SLCI_CUDA_MOST_TERMS + 1];

/* Loads the kernels that the setup may use. */
slc_status slci_mma_load(const slc_direct_setup *setup);

/* Enqueues the kernels with 0 to `most_terms` terms; blocks of tiles that are not theirs leave. */
slc_status slci_mma_launch(const slci_direct_cuda_arguments *arguments, int most_terms,
                           int64_t n_tiles, int64_t n_runs, cudaStream_t stream);
}

#endif
