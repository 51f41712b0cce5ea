/* The launch of CUDA's product kernels, for direct_cuda.cu. Internal: nothing here is installed.
 *
 *     SLC_TRY(slci_mma_load(setup));                                in the job's prepare function
 *     SLC_TRY(slci_mma_launch(&arguments, grid, stream));    enqueues all product tiles
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
/* The kernels of each unit, of one product and of three. */
extern const slci_mma_launch_form slci_mma_short_forms[2];
extern const slci_mma_launch_form slci_mma_warp_forms[2];
extern const slci_mma_launch_form slci_mma_group_forms[2];

/* Loads the kernel that the setup uses. */
slc_status slci_mma_load(const slc_direct_setup *setup);

/* Enqueues all product tiles; blocks of others leave. The grid's x counts tiles, y the blocks that
 * share a tile's runs. */
slc_status slci_mma_launch(const slci_direct_cuda_arguments *arguments, dim3 grid,
                           cudaStream_t stream);
}

#endif
