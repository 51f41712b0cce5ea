/* `sluice bench direct --tune`: how the work of the direct kernels is divided best on this machine, and
 * what the model's choice loses by it. Internal to app.
 *
 *     SLC_TRY(slci_bench_direct_tune(&options, &result));
 */
#ifndef SLC_APP_BENCH_DIRECT_TUNE_H
#define SLC_APP_BENCH_DIRECT_TUNE_H

#include "app/bench_engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Every status can come back; what does not fit the machine is listed as omitted. Nothing is kept. */
SLC_MUST_USE slc_status slci_bench_direct_tune(const slci_bench_options *options,
                                               slci_bench_result *out);

#ifdef __cplusplus
}
#endif
#endif
