/* `sluice bench engine`: what the engine reaches, each figure beside this machine's own limit, measured
 * in the same run. docs/bench.md explains every line. Internal to app.
 *
 *     slci_bench_options options = {.run = run, .folder = "/tmp"};
 *     slci_bench_result result;
 *     SLC_TRY(slci_bench_engine(&options, &result));
 */
#ifndef SLC_APP_BENCH_ENGINE_H
#define SLC_APP_BENCH_ENGINE_H

#include <stdbool.h>
#include <stddef.h>

#include "app/run_options.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slci_bench_options {
    slc_run_options run;    /* budgets, device, threads, whom to tell */
    const char *folder;     /* for the data set of the imaging job, removed afterwards */
    bool is_quick;          /* an eighth of the bytes, once instead of three times */
    int64_t array_bytes;    /* of what `bench io` measures with; 0: its own choice */
    int64_t n_visibilities; /* of the job that `bench direct` times; 0: its own choice */
    const char *field;      /* of `bench direct`: this one alone, for profilers; NULL: all */
    bool tunes;             /* `bench direct` measures how its kernels' work is divided best */
} slci_bench_options;

/* Both in the same unit; more is better. */
typedef struct slci_bench_figure {
    char what[64];
    char limit_is[64]; /* what the limit is, for people */
    char note[256];    /* what else is to be known; "": nothing */
    char unit[12];
    double measured, limit;
    double goal;   /* of measured / limit; 0: none is set */
    bool may_pass; /* the limit is something to compare with, and no bound */
} slci_bench_figure;

#define SLCI_BENCH_FIGURES 40
#define SLCI_BENCH_WHY_BYTES 160

/* No figure can reach more than a limit that is a bound, and both ways no more than the two ways, but
 * for noise. */
#define SLCI_BENCH_MOST_SHARE 1.15
#define SLCI_BENCH_MOST_BOTH 1.05

typedef struct slci_bench_result {
    char device_name[128];
    char software[64];
    int n_threads;
    int n_figures;
    slci_bench_figure figure[SLCI_BENCH_FIGURES];
    double bus_in_per_s, bus_out_per_s, bus_both_per_s; /* bytes */
    int n_omitted;
    char omitted[12][320]; /* what was not measured, and why */
} slci_bench_result;

/* What no longer fits is left out. */
void slci_bench_add(slci_bench_result *result, const slci_bench_figure *figure);
SLC_PRINTF(2, 3) void slci_bench_omit(slci_bench_result *result, const char *format, ...);

/* What does not fit this machine or its budgets, SLC_ERROR_NO_PLAN or SLC_ERROR_MEMORY, is left out and
 * said, and SLC_OK comes back; all else comes back as it is. */
SLC_MUST_USE slc_status slci_bench_or_omit(slci_bench_result *result, slc_status status,
                                           const char *what);

/* False where figures contradict one another: the machine was busy with something else for a part of
 * the time, and none of them can be relied on. `why` says in one line what does. */
bool slci_bench_is_sound(const slci_bench_result *result, char *why, size_t why_bytes);

SLC_MUST_USE slc_status slci_bench_engine(const slci_bench_options *options,
                                          slci_bench_result *out);

#ifdef __cplusplus
}
#endif
#endif
