/* Which matrix instructions a card's direct transform takes. Its compute capability says what it has,
 * and a probe whether its tensor cores add as the bound of the error assumes. */
#include <string.h>

#include "kernels/direct.h"
#include "kernels/direct_probe.h"

/* The least compute capability with matrix instructions of fp16 that Sluice is built for. */
#define LEAST_CAPABILITY 75

/* What is assumed of tensor cores from 9.0 on, and of those before. */
#define LATER_CAPABILITY 90
static const slci_direct_sums later_sums = {.n_added = 16, .kept_bits = 25};
static const slci_direct_sums earlier_sums = {.n_added = 8, .kept_bits = 24};

/* WARP has the shared memory that it needs on 10.x and 11.x, and on 9.0, where it gives the bits of
 * GROUP more slowly; others have 64 KiB (7.5), 99 (8.6, 8.9, 12.x) or 163 (8.0, 8.7). */
slc_direct_unit slc_direct_unit_get(int compute_capability) {
    if (compute_capability < LEAST_CAPABILITY) {
        return SLC_DIRECT_UNIT_NONE;
    }
    if (compute_capability == 90) {
        return SLC_DIRECT_UNIT_GROUP;
    }
    return compute_capability >= 100 && compute_capability < 120 ? SLC_DIRECT_UNIT_WARP
                                                                 : SLC_DIRECT_UNIT_SHORT;
}

slc_status slc_direct_card_get(slc_device *device, slc_direct_card *out) {
    slc_device_limits limits;
    SLC_TRY(slc_device_get_limits(device, &limits));
    slc_direct_card card;
    memset(&card, 0, sizeof card);
    if (device->kind == SLC_DEVICE_CUDA) {
        card.has_fast_double = limits.has_fast_double;
        card.compute_capability = limits.compute_capability;
        card.unit = slc_direct_unit_get(limits.compute_capability);
        card.reason =
            card.unit == SLC_DIRECT_UNIT_NONE ? SLC_DIRECT_REASON_CARD : SLC_DIRECT_REASON_NONE;
    }
    if (card.unit != SLC_DIRECT_UNIT_NONE) {
        const bool is_later = card.compute_capability >= LATER_CAPABILITY;
        double worst = 0.0;
        SLC_TRY(slci_direct_probe(device, is_later ? &later_sums : &earlier_sums, &worst));
        if (!(worst <= 1.0)) {
            card.unit = SLC_DIRECT_UNIT_NONE;
            card.reason = SLC_DIRECT_REASON_PROBE;
        }
    }
    *out = card;
    return SLC_OK;
}
