/* What a run adds to its trace. Streams have clocks of their own: an event of each stream is recorded
 * at the start and the host's clock is read when it has happened, so that an event's distance from it
 * is a moment of the host's clock. Reading the clock comes late by however long the thread took to
 * wake up; of a few tries the quickest is kept. */
#include "ooc/engine_internal.h"

/* Each takes some tens of microseconds. */
#define ORIGIN_TRIES 5

/* Shorter waits are no waits: nobody could see them. */
#define LEAST_WAIT_NS 1000

static slc_status find_origin(slci_run *run, slc_stream *stream, slci_trace_clock *clock) {
    SLC_TRY(slc_event_create_timed(run->device, &clock->origin));
    int64_t quickest_ns = INT64_MAX;
    slc_event *again = NULL;
    slc_status status = SLC_OK;
    SLC_TRY_GOTO(done, slc_event_create_timed(run->device, &again));
    for (int i = 0; i < ORIGIN_TRIES; i++) {
        const int64_t before_ns = slc_clock_ns();
        SLC_TRY_GOTO(done, slc_event_record(again, stream));
        SLC_TRY_GOTO(done, slc_event_synchronize(again));
        const int64_t after_ns = slc_clock_ns();
        if (after_ns - before_ns < quickest_ns) {
            quickest_ns = after_ns - before_ns;
            clock->origin_ns = after_ns;
            slc_event *const kept = again;
            again = clock->origin;
            clock->origin = kept;
        }
    }
done:
    slc_event_destroy(again);
    return status;
}

slc_status slci_trace_start(slci_run *run) {
    if (run->options->trace == NULL) {
        return SLC_OK;
    }
    SLC_TRY(find_origin(run, run->copy_in, &run->clock[SLCI_CLOCK_COPY_IN]));
    SLC_TRY(find_origin(run, run->compute, &run->clock[SLCI_CLOCK_COMPUTE]));
    return find_origin(run, run->copy_out, &run->clock[SLCI_CLOCK_COPY_OUT]);
}

void slci_trace_release(slci_run *run) {
    for (int i = 0; i < SLCI_CLOCKS; i++) {
        slc_event_destroy(run->clock[i].origin);
        run->clock[i].origin = NULL;
    }
}

int64_t slci_trace_now(const slci_run *run) {
    return run->options->trace != NULL ? slc_clock_ns() : 0;
}

void slci_trace_host(const slci_run *run, slc_trace_stage stage, int64_t tile, int64_t begin_ns,
                     int64_t bytes) {
    if (run->options->trace == NULL) {
        return;
    }
    const int thread = slc_trace_track_of(stage) == SLC_TRACK_POOL ? slc_pool_thread_index() : 0;
    const slc_trace_slice slice = {.stage = stage,
                                   .lane = thread < 0 ? 0 : thread,
                                   .tile = tile,
                                   .begin_ns = begin_ns,
                                   .duration_ns = slc_clock_ns() - begin_ns,
                                   .bytes = bytes};
    slc_trace_add(run->options->trace, &slice);
}

void slci_trace_wait(const slci_run *run, const char *name, int64_t tile, int64_t begin_ns) {
    if (run->options->trace == NULL) {
        return;
    }
    const slc_trace_slice slice = {.stage = SLC_TRACE_WAIT,
                                   .name = name,
                                   .tile = tile,
                                   .begin_ns = begin_ns,
                                   .duration_ns = slc_clock_ns() - begin_ns};
    if (slice.duration_ns >= LEAST_WAIT_NS) {
        slc_trace_add(run->options->trace, &slice);
    }
}

slc_status slci_trace_moment(const slci_run *run, slci_clock clock, slc_event *event,
                             int64_t *at_ns) {
    const slci_trace_clock *its = &run->clock[clock];
    int64_t since_ns = 0;
    SLC_TRY(slc_event_elapsed(its->origin, event, &since_ns));
    *at_ns = its->origin_ns + since_ns;
    return SLC_OK;
}

static slc_status trace_interval(const slci_run *run, slci_trace_interval *interval,
                                 int64_t duration_ns) {
    const slci_clock clock = interval->stage == SLC_TRACE_H2D      ? SLCI_CLOCK_COPY_IN
                             : interval->stage == SLC_TRACE_KERNEL ? SLCI_CLOCK_COMPUTE
                                                                   : SLCI_CLOCK_COPY_OUT;
    SLC_TRY(slci_trace_moment(run, clock, interval->watch->begin, &interval->begin_ns));
    interval->end_ns = interval->begin_ns + duration_ns;
    const slc_trace_slice slice = {.stage = interval->stage,
                                   .tile = interval->tile,
                                   .begin_ns = interval->begin_ns,
                                   .duration_ns = duration_ns,
                                   .bytes = interval->bytes};
    slc_trace_add(run->options->trace, &slice);
    return SLC_OK;
}

slc_status slci_trace_count(const slci_run *run, slci_trace_interval *interval, slci_timed *timed) {
    if (!interval->watch->is_used) {
        return SLC_OK;
    }
    int64_t duration_ns = 0;
    SLC_TRY(slci_stopwatch_read(interval->watch, &duration_ns));
    timed->ns += duration_ns;
    timed->n_timed++;
    return run->options->trace != NULL ? trace_interval(run, interval, duration_ns) : SLC_OK;
}
