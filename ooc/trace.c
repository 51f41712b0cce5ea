/* Slices in one array made beforehand: adding one is a count and a copy under a lock, a few hundred
 * times a second. The ledger's changes, of which there are a few for each run of the engine, have an
 * array of their own, so that many slices cannot crowd them out. */
#include "ooc/trace.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "core/checked.h"
#include "core/clock.h"

/* The C library may sort by pointers that it allocates, two for each slice. */
#define SLICE_BYTES ((int64_t)(sizeof(slc_trace_slice) + 2 * sizeof(void *)))

/* The part of the memory that notes the ledger: one in so many. */
#define MEMORY_SHARE 8

struct slc_trace {
    pthread_mutex_t mutex;
    int64_t origin_ns;
    int64_t n_slices, capacity, n_dropped;
    slc_trace_slice *slice; /* [capacity] */
    int64_t n_changes, change_capacity, n_changes_dropped;
    slc_trace_memory *change; /* [change_capacity] */
};

slc_status slc_trace_create(int64_t most_bytes, slc_trace **out) {
    const int64_t change_capacity =
        most_bytes / MEMORY_SHARE / (int64_t)sizeof(slc_trace_memory) + 1;
    const int64_t change_bytes = change_capacity * (int64_t)sizeof(slc_trace_memory);
    const int64_t capacity = (most_bytes - change_bytes) / SLICE_BYTES;
    if (capacity < 1) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "a trace of %lld bytes has no room for one slice of %d",
                        (long long)most_bytes, (int)SLICE_BYTES);
    }
    slc_trace *trace = calloc(1, sizeof *trace);
    slc_trace_slice *slice = calloc((size_t)capacity, sizeof *slice);
    slc_trace_memory *change = calloc((size_t)change_capacity, sizeof *change);
    if (trace == NULL || slice == NULL || change == NULL) {
        free(trace);
        free(slice);
        free(change);
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for a trace of %lld slices",
                        (long long)capacity);
    }
    (void)pthread_mutex_init(&trace->mutex, NULL);
    trace->origin_ns = slc_clock_ns();
    trace->capacity = capacity;
    trace->slice = slice;
    trace->change_capacity = change_capacity;
    trace->change = change;
    *out = trace;
    return SLC_OK;
}

void slc_trace_destroy(slc_trace *trace) {
    if (trace != NULL) {
        (void)pthread_mutex_destroy(&trace->mutex);
        free(trace->slice);
        free(trace->change);
        free(trace);
    }
}

int64_t slc_trace_bytes(const slc_trace *trace) {
    return trace == NULL ? 0
                         : trace->capacity * SLICE_BYTES +
                               trace->change_capacity * (int64_t)sizeof(slc_trace_memory);
}

void slc_trace_add(slc_trace *trace, const slc_trace_slice *slice) {
    if (trace == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&trace->mutex);
    if (trace->n_slices < trace->capacity) {
        trace->slice[trace->n_slices++] = *slice;
    } else {
        trace->n_dropped++;
    }
    (void)pthread_mutex_unlock(&trace->mutex);
}

void slc_trace_add_phase(slc_trace *trace, const char *name, int64_t begin_ns) {
    if (trace != NULL) {
        const slc_trace_slice slice = {.stage = SLC_TRACE_PHASE,
                                       .name = name,
                                       .tile = -1,
                                       .begin_ns = begin_ns,
                                       .duration_ns = slc_clock_ns() - begin_ns};
        slc_trace_add(trace, &slice);
    }
}

/* ---- the ledger ------------------------------------------------------------------------------- */

/* The ledger calls it with its own lock held, so that changes come in their order. */
static void note_change(void *context, slc_space space, const slc_budget_use *use) {
    slc_trace *trace = context;
    (void)pthread_mutex_lock(&trace->mutex);
    if (trace->n_changes < trace->change_capacity) {
        trace->change[trace->n_changes++] = (slc_trace_memory){.space = space,
                                                               .at_ns = slc_clock_ns(),
                                                               .used_bytes = use->used_bytes,
                                                               .limit_bytes = use->limit_bytes};
    } else {
        trace->n_changes_dropped++;
    }
    (void)pthread_mutex_unlock(&trace->mutex);
}

void slc_trace_watch(slc_trace *trace, slc_budget *budget) {
    if (trace != NULL) {
        slc_budget_observe(budget, note_change, trace);
    }
}

/* ---- reading ---------------------------------------------------------------------------------- */

slc_trace_track slc_trace_track_of(slc_trace_stage stage) {
    static const slc_trace_track tracks[SLC_TRACE_STAGES] = {
        [SLC_TRACE_READ] = SLC_TRACK_POOL,      [SLC_TRACE_TIER] = SLC_TRACK_POOL,
        [SLC_TRACE_H2D] = SLC_TRACK_COPY_IN,    [SLC_TRACE_KERNEL] = SLC_TRACK_COMPUTE,
        [SLC_TRACE_D2H] = SLC_TRACK_COPY_OUT,   [SLC_TRACE_WRITE] = SLC_TRACK_WRITER,
        [SLC_TRACE_WAIT] = SLC_TRACK_SCHEDULER, [SLC_TRACE_CHECKPOINT] = SLC_TRACK_CHECKPOINT,
        [SLC_TRACE_PHASE] = SLC_TRACK_PHASES,   [SLC_TRACE_FREE] = SLC_TRACK_STAGING,
        [SLC_TRACE_FILL] = SLC_TRACK_STAGING,   [SLC_TRACE_TURN] = SLC_TRACK_STAGING,
        [SLC_TRACE_ROOM] = SLC_TRACK_STAGING,   [SLC_TRACE_READY] = SLC_TRACK_STAGING,
    };
    assert((unsigned)stage < (unsigned)SLC_TRACE_STAGES);
    return tracks[stage];
}

bool slc_trace_track_is_numbered(slc_trace_track track) {
    return track == SLC_TRACK_POOL || track == SLC_TRACK_STAGING;
}

const char *slc_trace_stage_name(slc_trace_stage stage) {
    static const char *const names[SLC_TRACE_STAGES] = {
        [SLC_TRACE_READ] = "read",          [SLC_TRACE_TIER] = "tier",
        [SLC_TRACE_H2D] = "copy in",        [SLC_TRACE_KERNEL] = "kernel",
        [SLC_TRACE_D2H] = "copy out",       [SLC_TRACE_WRITE] = "write",
        [SLC_TRACE_WAIT] = "wait",          [SLC_TRACE_CHECKPOINT] = "checkpoint",
        [SLC_TRACE_PHASE] = "phase",        [SLC_TRACE_FREE] = "free",
        [SLC_TRACE_FILL] = "fill",          [SLC_TRACE_TURN] = "wait for its turn",
        [SLC_TRACE_ROOM] = "wait for room", [SLC_TRACE_READY] = "wait for the copy",
    };
    assert((unsigned)stage < (unsigned)SLC_TRACE_STAGES);
    return names[stage];
}

const char *slc_trace_track_name(slc_trace_track track) {
    static const char *const names[SLC_TRACKS] = {
        [SLC_TRACK_PHASES] = "run",
        [SLC_TRACK_SCHEDULER] = "scheduler",
        [SLC_TRACK_POOL] = "thread",
        [SLC_TRACK_STAGING] = "staging",
        [SLC_TRACK_COPY_IN] = "copy in",
        [SLC_TRACK_COMPUTE] = "compute",
        [SLC_TRACK_COPY_OUT] = "copy out",
        [SLC_TRACK_WRITER] = "writer",
        [SLC_TRACK_CHECKPOINT] = "checkpoint",
    };
    assert((unsigned)track < (unsigned)SLC_TRACKS);
    return names[track];
}

static int compare_i64(int64_t a, int64_t b) {
    return (a > b) - (a < b);
}

static int compare_slices(const void *left, const void *right) {
    const slc_trace_slice *a = left;
    const slc_trace_slice *b = right;
    const slc_trace_track track_a = slc_trace_track_of(a->stage);
    const slc_trace_track track_b = slc_trace_track_of(b->stage);
    const int by[] = {(track_a > track_b) - (track_a < track_b),
                      (a->lane > b->lane) - (a->lane < b->lane),
                      compare_i64(a->begin_ns, b->begin_ns), compare_i64(a->tile, b->tile)};
    int order = 0;
    for (int i = 0; i < 4 && order == 0; i++) {
        order = by[i];
    }
    return order;
}

static bool is_stream(slc_trace_stage stage) {
    return stage == SLC_TRACE_H2D || stage == SLC_TRACE_KERNEL || stage == SLC_TRACE_D2H;
}

void slc_trace_settle(slc_trace *trace) {
    qsort(trace->slice, (size_t)trace->n_slices, sizeof *trace->slice, compare_slices);
    for (int64_t i = 1; i < trace->n_slices; i++) {
        const slc_trace_slice *before = &trace->slice[i - 1];
        slc_trace_slice *slice = &trace->slice[i];
        if (slice->stage == before->stage && is_stream(slice->stage)) {
            slice->begin_ns = slc_max_i64(slice->begin_ns, before->begin_ns + before->duration_ns);
        }
    }
}

int64_t slc_trace_count(const slc_trace *trace) {
    return trace->n_slices;
}

int64_t slc_trace_dropped(const slc_trace *trace) {
    return trace->n_dropped;
}

const slc_trace_slice *slc_trace_get(const slc_trace *trace, int64_t index) {
    assert(index >= 0 && index < trace->n_slices);
    return &trace->slice[index];
}

int64_t slc_trace_origin_ns(const slc_trace *trace) {
    return trace->origin_ns;
}

int64_t slc_trace_memory_count(const slc_trace *trace) {
    return trace->n_changes;
}

int64_t slc_trace_memory_dropped(const slc_trace *trace) {
    return trace->n_changes_dropped;
}

const slc_trace_memory *slc_trace_memory_get(const slc_trace *trace, int64_t index) {
    assert(index >= 0 && index < trace->n_changes);
    return &trace->change[index];
}
