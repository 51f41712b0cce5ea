/* The probe: what this machine does, measured in well under a second, for the planner.
 * Copies over the bus, copies in RAM, random reads of device and of mapped memory, and the fixed cost
 * of a tile. Decoding and files are not measured, since they depend on the data: their rates stay
 * assumptions, the decoder's bounded by what memory allows. Rates choose a plan; no bit of a result
 * depends on them.
 *
 *     slc_rates rates = slc_rates_default(device->kind);
 *     bool is_complete;
 *     SLC_TRY(slc_probe_run(&(slc_probe_options){.device = device, .budget = budget,
 *                                                .touch = touch}, &rates, &is_complete));
 */
#ifndef SLC_OOC_PROBE_H
#define SLC_OOC_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/budget.h"
#include "core/device.h"
#include "ooc/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Random reads number `first` to first + n_touches - 1: other numbers are other places, so that no
 * cache has seen them. kernels/touch.h has a function that enqueues them. */
typedef struct slc_probe_touches {
    const uint32_t *d_data; /* [n_elements], device memory or the alias of mapped memory */
    int64_t n_elements;
    int64_t first, n_touches;
    uint32_t *d_sum; /* device: what is read is added to it, so that no read can be left out */
} slc_probe_touches;

typedef slc_status (*slc_probe_touch)(slc_stream *stream, const slc_probe_touches *touches);

/* All lent for the call. */
typedef struct slc_probe_options {
    slc_device *device;    /* its pool makes the copies in RAM */
    slc_budget *budget;    /* what the probe takes for its short life is reserved here */
    slc_probe_touch touch; /* NULL: random reads are not measured */
} slc_probe_options;

/* Replaces what it measures in `rates`, which hold assumptions on entry. It takes what the budget has
 * left, up to 256 MiB of the device and 2 GiB of the host. `is_complete` is false where that was so
 * little that caches flatter the figures; with less than 16 MiB of either nothing is measured. On
 * failure the rates stay as they are: SLC_ERROR_MEMORY, SLC_ERROR_DEVICE. */
SLC_API SLC_MUST_USE slc_status slc_probe_run(const slc_probe_options *options, slc_rates *rates,
                                              bool *is_complete);

#ifdef __cplusplus
}
#endif
#endif
