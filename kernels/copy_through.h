/* The cheapest kernel that still does something: copies a run of bytes on the device. The benchmarks
 * stream through it; it stands for a job's kernel where `slc_stream_copy` would be the driver's own
 * copy, which a graph may give to a copy engine that the stream's other copies need.
 *
 *     SLC_TRY(slci_copy_through_enqueue(stream, d_dst, d_src, bytes));
 */
#ifndef SLC_KERNELS_COPY_THROUGH_H
#define SLC_KERNELS_COPY_THROUGH_H

#include "core/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Both on the stream's device and aligned to 16 bytes, apart from each other. On the host device a
 * copy of the stream. SLC_ERROR_DEVICE. */
SLC_MUST_USE slc_status slci_copy_through_enqueue(slc_stream *stream, void *d_dst,
                                                  const void *d_src, int64_t bytes);

/* The CUDA side, for kernels/copy_through.c alone. Without CUDA in this build: SLC_ERROR_DEVICE. */
SLC_MUST_USE slc_status slci_copy_through_cuda(slc_stream *stream, void *d_dst, const void *d_src,
                                               int64_t bytes);

#ifdef __cplusplus
}
#endif
#endif
