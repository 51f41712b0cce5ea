/* Opt-in: the CUDA stream behind a Sluice stream, for callers with kernels of their own.
 * The one public header that includes CUDA. The stream belongs to Sluice: enqueue on it, but never
 * synchronise, destroy or capture it.
 *
 *     cudaStream_t stream = slc_stream_get_cuda(arguments->stream);
 *     my_kernel<<<blocks, threads, 0, stream>>>(...);
 */
#ifndef SLC_CORE_DEVICE_CUDA_H
#define SLC_CORE_DEVICE_CUDA_H

#include <cuda_runtime_api.h>

#include "core/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The stream of a CUDA device (or of a checking device around one); NULL for a host stream. */
SLC_API cudaStream_t slc_stream_get_cuda(slc_stream *stream);

/* Turns a CUDA error into a status with the call's name in the message; cudaSuccess is SLC_OK. */
SLC_API SLC_MUST_USE slc_status slc_cuda_status(cudaError_t error, const char *call);

#ifdef __cplusplus
}
#endif
#endif
