/* The kernels of strided copies on a CUDA device, for core/device_cuda.c alone. */
#ifndef SLC_CORE_COPY_CUDA_H
#define SLC_CORE_COPY_CUDA_H

#include "core/copy_plan.h"
#include "core/device_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Enqueues a plan of any way but CONTIGUOUS between two buffers on the current device. */
cudaError_t slci_copy_cuda_launch(void *d_dst, const void *d_src, const slci_copy_plan *plan,
                                  cudaStream_t stream);

/* Part of the two others, in core/copy_cuda_squares.cu: a TRANSPOSE that fits a piece. */
cudaError_t slci_copy_cuda_squares(char *d_dst, const char *d_src, const slci_copy_plan *plan,
                                   cudaStream_t stream);
cudaError_t slci_copy_cuda_load_squares(void);

/* Loads every kernel onto the current device, so that none is loaded during a run. Fails with
 * cudaErrorNoKernelImageForDevice on a card that this build has no code for. */
cudaError_t slci_copy_cuda_load(void);

/* Enqueues the plan between host and device as pitched copies, one for each combination of the
 * indices before the last two; units that are apart are rows of one. cudaErrorNotSupported where rows
 * do not follow one another forwards on both sides. */
cudaError_t slci_copy_cuda_pitched(void *dst, const void *src, const slci_copy_plan *plan,
                                   enum cudaMemcpyKind kind, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
