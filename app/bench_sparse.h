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

typedef struct slci_bench_sparse_at {
    int64_t bytes;       /* of the array */
    int64_t n_touches;   /* elements that are read */
    double bare_per_s;   /* by the kernel of kernels/touch.h, in the order of the places */
    double gather_per_s; /* by the engine, lists and results streamed */
} slci_bench_sparse_at;

#define SLCI_BENCH_SPARSE_SIZES 2

typedef struct slci_bench_sparse {
    int n; /* sizes, rising; the last one is as large as it may be */
    slci_bench_sparse_at at[SLCI_BENCH_SPARSE_SIZES];
} slci_bench_sparse;

/* Random 4-byte reads of mapped memory: on a card 10^7 of 1 GiB and of 64 GiB, or of three quarters of
 * --ram where that is less. Bare reads and the job have the array one after the other, never both at
 * once. SLC_ERROR_MEMORY, SLC_ERROR_NO_PLAN, SLC_ERROR_DEVICE. */
SLC_MUST_USE slc_status slci_bench_sparse_run(const slci_bench_options *options,
                                              const slci_machine *machine, slci_bench_sparse *out);

#ifdef __cplusplus
}
#endif
#endif
