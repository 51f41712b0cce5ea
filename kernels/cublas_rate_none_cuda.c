/* Stands in for kernels/cublas_rate_cuda.c in a build without CUDA, which has no cards either. */
#include "kernels/cublas_rate.h"

slc_status slci_cublas_rate_measure(const slci_cublas_rate_request *request,
                                    slci_cublas_rate *out) {
    (void)request;
    (void)out;
    return SLC_FAIL(SLC_ERROR_DEVICE, "no CUDA in this build");
}
