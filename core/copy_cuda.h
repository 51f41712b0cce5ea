/* The kernels of strided copies on a CUDA device, for core/device_cuda.c alone. */
#ifndef SLC_CORE_COPY_CUDA_H
#define SLC_CORE_COPY_CUDA_H

#include "core/copy_plan.h"
#include "core/device_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Enqueues a plan of way TRANSPOSE or GENERAL between two buffers on the current device. */
cudaError_t slci_copy_cuda_launch(void *d_dst, const void *d_src, const slci_copy_plan *plan,
                                  cudaStream_t stream);

/* Loads every kernel onto the current device, so that none is loaded during a run. Fails with
 * cudaErrorNoKernelImageForDevice on a card that this build has no code for. */
cudaError_t slci_copy_cuda_load(void);

#ifdef __cplusplus
}
#endif
#endif
