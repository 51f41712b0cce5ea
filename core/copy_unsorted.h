/* The strided copy without its art, for the benchmark that shows what the art is worth: one loop
 * over the elements in the order of the layouts' dimensions, whatever the strides. Internal to
 * Sluice.
 *
 *     SLC_TRY(slci_stream_copy_unsorted(stream, d_dst, &dst_layout, d_src, &src_layout));
 */
#ifndef SLC_CORE_COPY_UNSORTED_H
#define SLC_CORE_COPY_UNSORTED_H

#include "core/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* As slc_stream_copy_strided on the device, for layouts that have elements, on addresses that are
 * multiples of the element's size. SLC_ERROR_DEVICE, SLC_ERROR_MEMORY. */
SLC_MUST_USE slc_status slci_stream_copy_unsorted(slc_stream *stream, void *d_dst,
                                                  const slc_layout *dst_layout, const void *d_src,
                                                  const slc_layout *src_layout);

/* The same for a card; SLC_ERROR_DEVICE in a build without CUDA. */
SLC_MUST_USE slc_status slci_copy_unsorted_cuda(slc_stream *stream, void *d_dst,
                                                const slc_layout *dst_layout, const void *d_src,
                                                const slc_layout *src_layout);

#ifdef __cplusplus
}
#endif
#endif
