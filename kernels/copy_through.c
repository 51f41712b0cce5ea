/* A copy on the device: by a kernel on a card, by the stream itself on the host device. */
#include "kernels/copy_through.h"

slc_status slci_copy_through_enqueue(slc_stream *stream, void *d_dst, const void *d_src,
                                     int64_t bytes) {
    if (stream->device->kind == SLC_DEVICE_CUDA && bytes > 0) {
        return slci_copy_through_cuda(stream, d_dst, d_src, bytes);
    }
    return slc_stream_copy(stream, d_dst, d_src, bytes, SLC_COPY_ON_DEVICE);
}
