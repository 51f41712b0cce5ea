/* The rates of this machine: given, found in the user's cache, measured, or assumed, in this order.
 * A measurement is kept in a small text file whose key is the hardware and software that it was made
 * on, so that it is made once; what budgets below those that a measurement wants give is kept for
 * budgets of about that size, so that their plans are alike from run to run. The cache only ever
 * saves time: what cannot be read, does not fit or is damaged is measured again, and where nothing can
 * be kept the run goes on without. Internal to app.
 *
 *     slci_rates_request request = {.device = device, .vram_bytes = 1 << 30, .ram_bytes = 1 << 30,
 *                                   .folder = folder, .log = log};
 *     slc_rates rates = slci_rates_get(&request);
 */
#ifndef SLC_APP_RATES_H
#define SLC_APP_RATES_H

#include "core/device.h"
#include "core/log.h"
#include "ooc/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All lent for the call. */
typedef struct slci_rates_request {
    slc_device *device;
    int64_t vram_bytes; /* what a measurement may take for its short life */
    int64_t ram_bytes;
    const char *folder; /* of the cache, made where it is missing; NULL: nothing is kept */
    slc_log *log;
} slci_rates_request;

/* Cached or measured rates; the assumed ones of slc_rates_default where neither can be had, which the
 * log is told. */
slc_rates slci_rates_get(const slci_rates_request *request);

#ifdef __cplusplus
}
#endif
#endif
