/* A sweep over all lanes at once, from one begin or end of a slice to the next, which counts what is
 * going on in between:
 *
 *     copy in    ▓▓▓▓▓▓▓▓▓          ▓▓▓▓▓▓▓▓▓▓▓         ▓▓▓
 *     ready            ──────────────      ────
 *     reading      ───────                      ────
 *                copying   │ ready  │ copying  │reading│
 */
#include "ooc/trace_feed.h"

#include <stdlib.h>

#include "core/checked.h"

/* How far the sweep has come in one lane. */
typedef struct cursor {
    int64_t slice; /* of the trace: the one that it is inside of, or the next one */
    int64_t end;   /* the lane's last one + 1 */
    bool is_inside;
} cursor;

/* What the time goes to while so many slices of each stage last; NULL: to nothing. */
static int64_t *choose_share(slc_trace_feed *feed, const int n[SLC_TRACE_STAGES]) {
    if (n[SLC_TRACE_H2D] > 0) {
        return &feed->copying_ns;
    }
    if (n[SLC_TRACE_READY] > 0) {
        return &feed->ready_ns;
    }
    if (n[SLC_TRACE_ROOM] > 0) {
        return &feed->full_ns;
    }
    if (n[SLC_TRACE_FILL] + n[SLC_TRACE_FREE] == 0) {
        return NULL;
    }
    return n[SLC_TRACE_READ] + n[SLC_TRACE_TIER] > 0 ? &feed->reading_ns : &feed->unread_ns;
}

static bool is_of_inputs(slc_trace_stage stage) {
    const slc_trace_track track = slc_trace_track_of(stage);
    return track == SLC_TRACK_STAGING || track == SLC_TRACK_COPY_IN || track == SLC_TRACK_POOL;
}

/* Whether slice `i` of the trace is the first one of a lane that counts. */
static bool begins_lane(const slc_trace *trace, int64_t i) {
    const slc_trace_slice *slice = slc_trace_get(trace, i);
    const slc_trace_slice *before = i > 0 ? slc_trace_get(trace, i - 1) : NULL;
    return is_of_inputs(slice->stage) &&
           (before == NULL || before->lane != slice->lane ||
            slc_trace_track_of(before->stage) != slc_trace_track_of(slice->stage));
}

static int64_t count_lanes(const slc_trace *trace) {
    int64_t n = 0;
    for (int64_t i = 0; i < slc_trace_count(trace); i++) {
        n += begins_lane(trace, i);
    }
    return n;
}

static void find_lanes(const slc_trace *trace, cursor *lanes) {
    int64_t n = 0;
    for (int64_t i = 0; i < slc_trace_count(trace); i++) {
        if (begins_lane(trace, i)) {
            lanes[n++] = (cursor){.slice = i, .end = i};
        }
        if (is_of_inputs(slc_trace_get(trace, i)->stage)) {
            lanes[n - 1].end = i + 1;
        }
    }
}

/* When the next thing happens in a lane. */
static int64_t next_ns(const slc_trace *trace, const cursor *lane) {
    if (lane->slice == lane->end) {
        return INT64_MAX;
    }
    const slc_trace_slice *slice = slc_trace_get(trace, lane->slice);
    return slice->begin_ns + (lane->is_inside ? slice->duration_ns : 0);
}

static cursor *find_next(const slc_trace *trace, cursor *lanes, int64_t n_lanes) {
    cursor *next = &lanes[0];
    for (int64_t l = 1; l < n_lanes; l++) {
        next = next_ns(trace, &lanes[l]) < next_ns(trace, next) ? &lanes[l] : next;
    }
    return next;
}

static slc_trace_feed sweep(const slc_trace *trace, cursor *lanes, int64_t n_lanes) {
    slc_trace_feed feed = {0};
    int n[SLC_TRACE_STAGES] = {0};
    int64_t now_ns = INT64_MIN;
    for (cursor *lane = find_next(trace, lanes, n_lanes); lane->slice < lane->end;
         lane = find_next(trace, lanes, n_lanes)) {
        const int64_t then_ns = slc_max_i64(next_ns(trace, lane), now_ns);
        int64_t *share = choose_share(&feed, n);
        if (share != NULL) {
            *share += then_ns - now_ns;
            feed.total_ns += then_ns - now_ns;
            feed.thread_ns += (then_ns - now_ns) * (n[SLC_TRACE_READ] + n[SLC_TRACE_TIER]);
        }
        n[slc_trace_get(trace, lane->slice)->stage] += lane->is_inside ? -1 : 1;
        lane->slice += lane->is_inside;
        lane->is_inside = !lane->is_inside;
        now_ns = then_ns;
    }
    return feed;
}

slc_status slc_trace_feed_find(const slc_trace *trace, slc_trace_feed *out) {
    const int64_t n_lanes = count_lanes(trace);
    if (n_lanes == 0) {
        *out = (slc_trace_feed){0};
        return SLC_OK;
    }
    cursor *lanes = calloc((size_t)n_lanes, sizeof *lanes);
    if (lanes == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory to go through the %lld lanes of a trace",
                        (long long)n_lanes);
    }
    find_lanes(trace, lanes);
    *out = sweep(trace, lanes, n_lanes);
    free(lanes);
    return SLC_OK;
}
