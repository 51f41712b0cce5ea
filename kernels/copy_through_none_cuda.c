/* Stands in for kernels/copy_through_cuda.cu in a build without CUDA, which has no CUDA streams
 * either. */
#include "kernels/copy_through.h"

slc_status slci_copy_through_cuda(slc_stream *stream, void *d_dst, const void *d_src,
                                  int64_t bytes) {
    (void)stream;
    (void)d_dst;
    (void)d_src;
    (void)bytes;
    return SLC_FAIL(SLC_ERROR_DEVICE, "no CUDA in this build");
}
