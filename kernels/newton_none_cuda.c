/* Stands in for kernels/newton_cuda.cu in a build without CUDA, which has no CUDA streams either. */
#include "kernels/newton.h"

slc_status slci_newton_load_cuda(void) {
    return SLC_FAIL(SLC_ERROR_DEVICE, "no CUDA in this build");
}

slc_status slci_newton_cuda(slc_stream *stream, const slci_newton *newton) {
    (void)stream;
    (void)newton;
    return SLC_FAIL(SLC_ERROR_DEVICE, "no CUDA in this build");
}
