/* The engine: runs a job's tiles as the plan says, with reading, copies and kernels overlapping.
 * Pool threads read into pinned staging buffers; one copy-in stream, one compute stream and one
 * copy-out stream are ordered by events only; finished updates drain to their sinks in order. The
 * first error wins, everything else is drained and joined before the call returns.
 *
 *     slc_engine_options options = {.device = device, .pool = pool, .budget = budget,
 *                                   .bindings = bindings};
 *     SLC_TRY(slc_engine_run(&job, &plan, &options, &report));
 */
#ifndef SLC_OOC_ENGINE_H
#define SLC_OOC_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/budget.h"
#include "core/job.h"
#include "core/log.h"
#include "ooc/plan.h"
#include "ooc/trace.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `done_tiles` of the plan's `n_tiles` are behind the run; skipped ones count when a later one has
 * run. */
typedef void (*slc_engine_progress)(void *context, int64_t done_tiles, int64_t n_tiles);

/* Everything is lent for the call. */
typedef struct slc_engine_options {
    slc_device *device;
    slc_pool *pool;
    slc_budget *budget;           /* slab and staging are reserved here */
    const slc_binding *bindings;  /* [n_operands] */
    slc_log *log;                 /* may be NULL */
    slc_engine_progress progress; /* may be NULL; called from the calling thread */
    void *progress_context;
    const volatile int *cancel; /* not 0: stop with SLC_ERROR_INTERRUPTED; may be NULL */
    slc_trace *trace;           /* gets a slice for every stage of every tile; may be NULL */
} slc_engine_options;

/* What a run did. Seconds of a stage are the union of the intervals in which it was busy. Where a tile
 * takes less than 2 ms by the plan and there is no trace, one in eight copies and kernels is timed,
 * and their seconds are scaled up to all of them. */
typedef struct slc_engine_report {
    int64_t n_tiles;
    int64_t bytes_read; /* decoded, from sources */
    int64_t bytes_tier; /* from the host tier instead */
    int64_t bytes_h2d, bytes_d2h, bytes_written;
    int64_t n_iterations;      /* of tiles that loop (slc_job.most_iterations), all together */
    int64_t n_unfinished;      /* of them those that were not done after the most iterations */
    int64_t device_peak_bytes; /* the slab */
    int64_t host_peak_bytes;   /* staging (pinned or not), tier and mapped arrays */
    int64_t tier_bytes;        /* most that the host tier held */
    int64_t pageable_bytes;    /* part of host_peak that could not be pinned */
    double seconds_total, seconds_read, seconds_h2d, seconds_kernel, seconds_d2h, seconds_write;
} slc_engine_report;

/* Runs it. The report is set on success only. Whatever failed comes back with its own status. */
SLC_API SLC_MUST_USE slc_status slc_engine_run(const slc_job *job, const slc_plan *plan,
                                               const slc_engine_options *options,
                                               slc_engine_report *report);

/* Adds the counts and seconds of `more` to `sum` (peaks: the larger). */
SLC_API void slc_engine_report_add(slc_engine_report *sum, const slc_engine_report *more);

/* (Σ busy - wall) / (Σ busy - largest busy): 1 when the shorter stages hide behind the longest. */
SLC_API double slc_engine_overlap(const slc_engine_report *report);

/* The stage that was busy longest. */
SLC_API slc_bottleneck slc_engine_bottleneck(const slc_engine_report *report);

#ifdef __cplusplus
}
#endif
#endif
