/* Stands in for kernels/direct_probe_cuda.cu in a build without CUDA, which has no cards either. */
#include "kernels/direct_probe.h"

slc_status slci_direct_probe(slc_device *device, const slci_direct_sums *assumed, double *worst) {
    (void)device;
    (void)assumed;
    (void)worst;
    return SLC_FAIL(SLC_ERROR_DEVICE, "no CUDA in this build");
}
