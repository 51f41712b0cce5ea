/* One picture by the direct kernel alone, as one engine tile; and some of its pixels. Internal to app.
 *
 *     const slci_direct_run_request request = {.machine = &machine, .setup = &setup, .data = &data,
 *                                              .repeats = 5, .pixels = pixels, .n_pixels = n};
 *     SLC_TRY(slci_direct_run(&request, sums, &seconds));
 */
#ifndef SLC_APP_BENCH_DIRECT_RUN_H
#define SLC_APP_BENCH_DIRECT_RUN_H

#include "app/bench_direct_field.h"
#include "app/machine.h"
#include "kernels/direct.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slci_direct_run_request {
    const slci_machine *machine; /* memory is reserved in its ledger */
    const slc_direct_setup *setup;
    const slci_bench_field_data *data;
    int repeats; /* after a first run, which loads the kernels and is not timed on a card */
    const int64_t *pixels; /* [n_pixels] those whose sums are wanted */
    int64_t n_pixels;
} slci_direct_run_request;

/* A run that took so long is not repeated. */
#define SLCI_DIRECT_RUN_LONG_SECONDS 0.5

/* sums [n_pixels], as the last run left them; `seconds` is the best run's. SLC_ERROR_MEMORY,
 * SLC_ERROR_DEVICE, and whatever the kernel gives. */
SLC_MUST_USE slc_status slci_direct_run(const slci_direct_run_request *request, double *sums,
                                        double *seconds);

#ifdef __cplusplus
}
#endif
#endif
