/* Stands in for kernels/plain_sum_cuda.cu in a build without CUDA, which has no CUDA streams either. */
#include "kernels/plain_sum.h"

slc_status slci_plain_sum_cuda(slc_stream *stream, const float *d_values, int64_t n,
                               double *d_sum) {
    (void)stream;
    (void)d_values;
    (void)n;
    (void)d_sum;
    return SLC_FAIL(SLC_ERROR_DEVICE, "no CUDA in this build");
}
