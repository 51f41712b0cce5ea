/* `sluice bench copy`: what the strided copies reach on a device, each beside the device's own copy
 * of as many bytes in one run, measured in the same run. docs/bench.md explains every line.
 * Internal to app.
 *
 *     slci_bench_options options = {.run = run};
 *     slci_bench_result result;
 *     SLC_TRY(slci_bench_copy(&options, &result));
 */
#ifndef SLC_APP_BENCH_COPY_H
#define SLC_APP_BENCH_COPY_H

#include "app/bench_engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The share of the contiguous copy that docs/bench.md promises for every line. */
#define SLCI_BENCH_COPY_GOAL 0.80

/* Two figures for each copy, the second without sorting; the options' folder is not used. A copy
 * that does not fit the budgets is omitted. SLC_ERROR_DEVICE, SLC_ERROR_MEMORY,
 * SLC_ERROR_INTERRUPTED; SLC_ERROR_INTERNAL where an element arrived in the wrong place. */
SLC_MUST_USE slc_status slci_bench_copy(const slci_bench_options *options, slci_bench_result *out);

#ifdef __cplusplus
}
#endif
#endif
