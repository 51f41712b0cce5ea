/* Whether copies to the card ever wait while the reader can feed them: `sluice stats` of the file at
 * hand in one pass, with a trace, whose figures these are (ooc/trace_feed.h). */
#include <math.h>

#include "app/bench_io_parts.h"
#include "app/stats.h"
#include "core/checked.h"
#include "core/print.h"
#include "io/h5_bench.h"
#include "ooc/trace_feed.h"

/* Room for the slices of a run of some thousand tiles. */
#define TRACE_BYTES ((int64_t)8 << 20)

/* What docs/bench.md promises: for so much of the time no copy is late, and copies run or all threads
 * read. */
#define GOAL_FED 0.95
#define GOAL_BUSY 0.9

/* A run is to take so long at least, so that its two ends are small beside it; where decoding is fast
 * that takes more rows than the array has, but no more than so many times as many. */
#define LEAST_SECONDS 0.05
#define MOST_TIMES 8

/* Writes the file anew where it is too small. What has no filter was made larger before. */
static slc_status make_larger(slci_bench_io_run *self, const slci_bench_io_kind *kind) {
    const int64_t n_times = 1 + (int64_t)(LEAST_SECONDS / fmax(self->read_seconds, 1e-3));
    return kind->filter_id == 0 || n_times == 1
               ? SLC_OK
               : slci_bench_io_write(self, kind, self->n_rows * slc_min_i64(n_times, MOST_TIMES));
}

/* Traces one run, and keeps its figures where it was the fastest. */
static slc_status turn(slci_bench_io_run *self, slc_trace_feed *best) {
    slc_stats_options options = {.in = {.path = self->path, .dataset = SLCI_H5_BENCH_NAME},
                                 .no_median = true,
                                 .run = slci_bench_io_job(self)};
    slc_stats_result result;
    slc_trace_feed feed;
    slc_status status = SLC_OK;
    SLC_TRY(slc_trace_create(TRACE_BYTES, &options.run.trace));
    SLC_TRY_GOTO(done, slc_stats_run(&options, &result));
    if (slc_trace_dropped(options.run.trace) > 0) {
        status = SLC_FAIL(SLC_ERROR_MEMORY, "the trace has no room for its last %lld slices",
                          (long long)slc_trace_dropped(options.run.trace));
        goto done;
    }
    slc_trace_settle(options.run.trace);
    SLC_TRY_GOTO(done, slc_trace_feed_find(options.run.trace, &feed));
    if (best->total_ns == 0 || feed.total_ns < best->total_ns) {
        *best = feed;
    }
done:
    slc_trace_destroy(options.run.trace);
    return status;
}

static double percent(int64_t part_ns, int64_t whole_ns) {
    return 100 * (double)part_ns / (double)slc_max_i64(whole_ns, 1);
}

static void add_figures(slci_bench_io_run *self, const slci_bench_io_kind *kind,
                        const slc_trace_feed *feed) {
    const int64_t threads_ns = feed->thread_ns / slc_pool_size(self->machine.pool);
    const int64_t late_ns = feed->ready_ns + feed->unread_ns;
    slci_bench_figure figure = {.unit = "ms",
                                .measured = 1e-6 * (double)(feed->total_ns - late_ns),
                                .limit = 1e-6 * (double)feed->total_ns,
                                .goal = GOAL_FED};
    (void)slci_print(figure.what, sizeof figure.what, "copies of %s, never late", kind->name);
    (void)slci_print(figure.limit_is, sizeof figure.limit_is, "all of the run");
    (void)slci_print(
        figure.note, sizeof figure.note,
        "%.1f %% of the time copies run, %.2f %% a tile waits for its copy, %.1f %% the "
        "card is full, %.1f %% threads read, %.2f %% nobody does",
        percent(feed->copying_ns, feed->total_ns), percent(feed->ready_ns, feed->total_ns),
        percent(feed->full_ns, feed->total_ns), percent(feed->reading_ns, feed->total_ns),
        percent(feed->unread_ns, feed->total_ns));
    slci_bench_add(self->result, &figure);
    figure.measured = 1e-6 * (double)slc_max_i64(feed->copying_ns, threads_ns);
    figure.goal = GOAL_BUSY;
    (void)slci_print(figure.what, sizeof figure.what, "copying or reading %s", kind->name);
    (void)slci_print(figure.note, sizeof figure.note,
                     "copies %.1f %% of the time, each thread %.1f %%",
                     percent(feed->copying_ns, feed->total_ns),
                     percent(threads_ns, feed->total_ns));
    slci_bench_add(self->result, &figure);
}

slc_status slci_bench_io_feed(slci_bench_io_run *self, const slci_bench_io_kind *kind) {
    slc_trace_feed best = {0};
    slc_status status = SLC_OK;
    if (self->machine.device->has_host_memory) {
        return SLC_OK; /* nothing is copied */
    }
    SLC_TRY(make_larger(self, kind));
    for (int k = 0; k < self->n_repeats && status == SLC_OK; k++) {
        status = turn(self, &best);
    }
    if (status != SLC_OK) {
        return slci_bench_or_omit(self->result, status, "copies to the card");
    }
    add_figures(self, kind, &best);
    return SLC_OK;
}
