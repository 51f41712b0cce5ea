/* Stands in for core/copy_unsorted_cuda.c in a build without CUDA, which has no CUDA streams
 * either. */
#include "core/copy_unsorted.h"

slc_status slci_copy_unsorted_cuda(slc_stream *stream, void *d_dst, const slc_layout *dst_layout,
                                   const void *d_src, const slc_layout *src_layout) {
    (void)stream;
    (void)d_dst;
    (void)dst_layout;
    (void)d_src;
    (void)src_layout;
    return SLC_FAIL(SLC_ERROR_DEVICE, "no CUDA in this build");
}
