/* Stands in for kernels/touch_cuda.cu in a build without CUDA, which has no CUDA streams either. */
#include "kernels/touch_internal.h"

slc_status slci_touch_cuda(slc_stream *stream, const slc_touch *touch) {
    (void)stream;
    (void)touch;
    return SLC_FAIL(SLC_ERROR_DEVICE, "no CUDA in this build");
}
