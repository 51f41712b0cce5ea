/* Loops that run until they are done: what a round costs where the device decides by itself whether
 * there is another one, and where the host copies the answer back each time. Internal to app.
 *
 *     SLC_TRY(slci_bench_converge_run(&options, &machine, &converge));
 */
#ifndef SLC_APP_BENCH_CONVERGE_H
#define SLC_APP_BENCH_CONVERGE_H

#include "app/bench_engine.h"
#include "app/machine.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slci_bench_converge {
    int64_t tile_bytes, n_tiles;
    double rounds_per_tile;
    double device_seconds, host_seconds; /* a round, the best of some runs; who decides */
} slci_bench_converge;

/* Square roots by Newton's method (kernels/newton.h), tile by tile, by a job of the engine: once on a
 * device like the machine's, and once on one that has no loops. Roots are compared with the C
 * library's: SLC_ERROR_INTERNAL where they are no roots, or either way has made another number of
 * rounds. SLC_ERROR_MEMORY, SLC_ERROR_NO_PLAN, SLC_ERROR_DEVICE. */
SLC_MUST_USE slc_status slci_bench_converge_run(const slci_bench_options *options,
                                                const slci_machine *machine,
                                                slci_bench_converge *out);

#ifdef __cplusplus
}
#endif
#endif
