/* Random reads of a large array in mapped host memory: by a bare kernel, and as a gather job by the
 * engine. Internal to app.
 *
 *     SLC_TRY(slci_bench_sparse_run(&options, &machine, &sparse));
 */
#ifndef SLC_APP_BENCH_SPARSE_H
#define SLC_APP_BENCH_SPARSE_H

#include "app/bench_engine.h"
#include "app/machine.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slci_bench_sparse {
    int64_t bytes;       /* of the array */
    double bare_per_s;   /* elements that the kernel of kernels/touch.h reads */
    double gather_per_s; /* elements that the engine gathers, lists and results streamed */
} slci_bench_sparse;

/* On a card: 10^7 random 4-byte reads of as much mapped memory as a third of --ram allows, 64 GiB at
 * most. SLC_ERROR_MEMORY, SLC_ERROR_NO_PLAN, SLC_ERROR_DEVICE. */
SLC_MUST_USE slc_status slci_bench_sparse_run(const slci_bench_options *options,
                                              const slci_machine *machine, slci_bench_sparse *out);

#ifdef __cplusplus
}
#endif
#endif
