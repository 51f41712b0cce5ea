/* `sluice bench direct`: the benchmark of app/bench_direct.h with what the program adds to it, the
 * limits and the baseline of examples/ladder. Internal to the program.
 *
 *     SLC_TRY(slci_cmd_bench_direct(&options, &result));
 */
#ifndef SLC_APP_CMD_BENCH_DIRECT_H
#define SLC_APP_CMD_BENCH_DIRECT_H

#include "app/bench_engine.h"

/* Every status can come back. */
SLC_MUST_USE slc_status slci_cmd_bench_direct(const slci_bench_options *options,
                                              slci_bench_result *out);

#endif
