/* Stands in for kernels/direct_pair_cuda.cu in a build without CUDA, which has no cards either. */
#include "kernels/direct_pair.h"

slc_status slci_direct_pair_rate(slc_device *device, slc_stream *stream, double *pairs_per_s) {
    (void)device;
    (void)stream;
    (void)pairs_per_s;
    return SLC_FAIL(SLC_ERROR_DEVICE, "no CUDA in this build");
}

slc_status slci_direct_pair_error(slc_device *device, slc_stream *stream, double *worst) {
    (void)device;
    (void)stream;
    (void)worst;
    return SLC_FAIL(SLC_ERROR_DEVICE, "no CUDA in this build");
}
