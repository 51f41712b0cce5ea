/* How a card's tensor cores add, measured: nobody documents it, and the bound of the product kernel's
 * error rests on it. Internal: nothing here is installed.
 *
 *     const slci_direct_sums assumed = {.n_added = 8, .kept_bits = 24};
 *     SLC_TRY(slci_direct_probe(device, &assumed, &worst));
 *     const bool holds = worst <= 1.0;
 *
 * The model: products of fp16 are exact. So many of them are added to a sum at a time; each number that
 * is added, the sum among them, is cut where it has bits below so many places of the largest one's
 * leading bit, and the sum of what is left is cut to single precision. Towards zero or to the nearest
 * does not matter: each cut is below one unit of its last place. (The leading bit of a product of two
 * numbers is taken to be where those of the two put it, before the product carries.) */
#ifndef SLC_KERNELS_DIRECT_PROBE_H
#define SLC_KERNELS_DIRECT_PROBE_H

#include "core/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How many are added at a time is at most as many as an instruction has, 8 where kernels were built for
 * compute capability 7.5 and 16 else. */
typedef struct slci_direct_sums {
    int n_added;   /* products that are added at a time: 4, 8 or 16 */
    int kept_bits; /* places kept below the leading bit of the largest number, 20 to 40 */
} slci_direct_sums;

/* The largest error of half a million sums of 16 products, in units of what the model allows: at most 1
 * where it holds, infinite where something was not exact that should be. The same number on every card
 * of a kind. Takes less than a millisecond, and loads a kernel the first time. SLC_ERROR_DEVICE, also
 * on devices other than cards; SLC_ERROR_MEMORY. */
SLC_MUST_USE slc_status slci_direct_probe(slc_device *device, const slci_direct_sums *assumed,
                                          double *worst);

#ifdef __cplusplus
}
#endif
#endif
