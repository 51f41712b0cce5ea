/* The sum of an array as a user writes it in an afternoon: what `sluice bench io` holds `sluice stats`
 * against. One pass, double precision, no care for order.
 *
 *     SLC_TRY(slci_plain_sum_enqueue(stream, d_values, n, d_sum));
 */
#ifndef SLC_KERNELS_PLAIN_SUM_H
#define SLC_KERNELS_PLAIN_SUM_H

#include "core/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Adds the sum of d_values [n] to *d_sum, both on the stream's device. Two streams may add to the same
 * sum on a card, not on the host device. SLC_ERROR_DEVICE. */
SLC_MUST_USE slc_status slci_plain_sum_enqueue(slc_stream *stream, const float *d_values, int64_t n,
                                               double *d_sum);

/* The CUDA side, for kernels/plain_sum.c alone. Without CUDA in this build: SLC_ERROR_DEVICE. */
SLC_MUST_USE slc_status slci_plain_sum_cuda(slc_stream *stream, const float *d_values, int64_t n,
                                            double *d_sum);

#ifdef __cplusplus
}
#endif
#endif
