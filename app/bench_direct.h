/* `sluice bench direct`: how fast and how exact the direct kernels are, each figure beside what binds
 * it, and what the imaging job makes of the kernel's rate. docs/bench.md explains every line. Internal
 * to app.
 *
 *     slci_bench_options options = {.run = run, .folder = "/tmp"};
 *     SLC_TRY(slci_bench_direct(&options, NULL, &result));
 */
#ifndef SLC_APP_BENCH_DIRECT_H
#define SLC_APP_BENCH_DIRECT_H

#include "app/bench_engine.h"
#include "app/machine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A rate in pairs of one visibility and one pixel a second. */
typedef struct slci_bench_rate {
    const char *name;   /* static storage */
    double pairs_per_s; /* 0: unknown */
} slci_bench_rate;

/* What the machine's parts give, by code that does nothing else, and the transform as tutorials end
 * with it. The program has all three from examples/ladder, of which the library knows nothing. */
typedef struct slci_bench_peers {
    slci_bench_rate product; /* bare products: two multiply-adds a pair */
    slci_bench_rate sine;    /* a sine and a cosine a pair */
    slci_bench_rate step;    /* the last kernel that is no product */
} slci_bench_peers;

typedef slc_status (*slci_bench_peers_function)(const slci_bench_options *options,
                                                const slci_machine *machine, slci_bench_peers *out);

/* `peers`: NULL where there are none. What does not fit the budgets is left out and said, and so is the
 * rate of a kernel that breaks its promise. Every status can come back. */
SLC_MUST_USE slc_status slci_bench_direct(const slci_bench_options *options,
                                          slci_bench_peers_function peers, slci_bench_result *out);

#ifdef __cplusplus
}
#endif
#endif
