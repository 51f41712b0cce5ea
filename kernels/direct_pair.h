/* The instructions that CUDA's sine kernel takes for a pair of a sample and a pixel, alone: how fast
 * they could be at most, and how wrong they are. `sluice bench direct` holds the kernel against the
 * first, and a test looks at the second. Internal to Sluice.
 *
 *     SLC_TRY(slci_direct_pair_rate(device, stream, &pairs_per_s));
 */
#ifndef SLC_KERNELS_DIRECT_PAIR_H
#define SLC_KERNELS_DIRECT_PAIR_H

#include "core/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Pairs a second where there is nothing else to do and no w c to add: neither turns are made nor sums
 * promoted. The best of some runs. SLC_ERROR_DEVICE, also on devices other than cards;
 * SLC_ERROR_MEMORY. */
SLC_MUST_USE slc_status slci_direct_pair_rate(slc_device *device, slc_stream *stream,
                                              double *pairs_per_s);

/* The largest |cosine - exact| over all 2^32 turns. Likewise. */
SLC_MUST_USE slc_status slci_direct_pair_error(slc_device *device, slc_stream *stream,
                                               double *worst);

#ifdef __cplusplus
}
#endif
#endif
