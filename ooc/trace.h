/* A trace: what every thread and stream did, when, with how many bytes, and how the ledger moved.
 * The engine adds a slice for each stage of each tile; whoever runs the job adds phases and writes
 * them down. Slices are kept up to a limit in memory, then counted as dropped, so a trace never grows
 * past what was reserved for it.
 *
 *     slc_trace *trace;
 *     SLC_TRY(slc_trace_create(64 << 20, &trace));
 *     slc_trace_watch(trace, budget);
 *     engine_options.trace = trace;
 *     ... slc_trace_settle(trace), slc_trace_count(trace), slc_trace_get(trace, i) ...
 */
#ifndef SLC_OOC_TRACE_H
#define SLC_OOC_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/budget.h"
#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum slc_trace_stage {
    SLC_TRACE_READ,   /* a pool thread reads and decodes */
    SLC_TRACE_TIER,   /* a pool thread copies from the host tier */
    SLC_TRACE_H2D,    /* copy-in stream */
    SLC_TRACE_KERNEL, /* compute stream */
    SLC_TRACE_D2H,    /* copy-out stream */
    SLC_TRACE_WRITE,  /* the writer thread gives boxes to the sink */
    SLC_TRACE_WAIT,   /* the scheduler waits for a read or a buffer */
    SLC_TRACE_CHECKPOINT,
    SLC_TRACE_PHASE, /* a part of the whole run: surveying, planning, a run of the engine, ... */
    /* A buffer of an input, on its way round: empty though more is to be read, being filled, full and
     * behind others, first while tiles on the device still use the memory that its copy would
     * overwrite, first and free to go. */
    SLC_TRACE_FREE,
    SLC_TRACE_FILL,
    SLC_TRACE_TURN,
    SLC_TRACE_ROOM,
    SLC_TRACE_READY,
    SLC_TRACE_STAGES
} slc_trace_stage;

/* Where slices stand side by side. Tracks have one lane each but for those that are numbered. */
typedef enum slc_trace_track {
    SLC_TRACK_PHASES,
    SLC_TRACK_SCHEDULER,
    SLC_TRACK_POOL,    /* one lane a thread */
    SLC_TRACK_STAGING, /* one lane a buffer of an input */
    SLC_TRACK_COPY_IN,
    SLC_TRACK_COMPUTE,
    SLC_TRACK_COPY_OUT,
    SLC_TRACK_WRITER,
    SLC_TRACK_CHECKPOINT,
    SLC_TRACKS
} slc_trace_track;

typedef struct slc_trace_slice {
    slc_trace_stage stage;
    int lane;         /* of the track: the pool's thread or the buffer, from 0; else 0 */
    const char *name; /* static storage; NULL: the stage's own name */
    int64_t tile;     /* index in the plan; -1: none */
    int64_t begin_ns; /* slc_clock_ns */
    int64_t duration_ns;
    int64_t bytes;
} slc_trace_slice;

/* What the ledger held in one space from `at_ns` on. */
typedef struct slc_trace_memory {
    slc_space space;
    int64_t at_ns;
    int64_t used_bytes, limit_bytes;
} slc_trace_memory;

typedef struct slc_trace slc_trace;

/* Room for as many slices as fit `most_bytes`, taken at once. SLC_ERROR_ARGUMENT where not one fits,
 * SLC_ERROR_MEMORY. */
SLC_API SLC_MUST_USE slc_status slc_trace_create(int64_t most_bytes, slc_trace **out);
SLC_API void slc_trace_destroy(slc_trace *trace);

/* What the trace holds of memory, for the ledger. 0 for NULL. */
SLC_API int64_t slc_trace_bytes(const slc_trace *trace);

/* Thread-safe; does nothing when `trace` is NULL. */
SLC_API void slc_trace_add(slc_trace *trace, const slc_trace_slice *slice);

/* Adds a slice of the stage PHASE that began at `begin_ns` and ends now, with a name of static
 * storage. Does nothing when `trace` is NULL. */
SLC_API void slc_trace_add_phase(slc_trace *trace, const char *name, int64_t begin_ns);

/* From now on every change of the ledger is noted; it must be destroyed, or watched by another,
 * before the trace is. Does nothing when `trace` is NULL. */
SLC_API void slc_trace_watch(slc_trace *trace, slc_budget *budget);

/* After the runs, when nothing is added any more, and before anything below: puts slices in the order
 * of track, lane and begin. A stream's slices come from clocks that are rounded, so where one would
 * begin before the one before it ends, by that rounding, it is moved to that end. */
SLC_API void slc_trace_settle(slc_trace *trace);

/* Slices, and how many found no room; the moment the trace was made, in slc_clock_ns. The slice of an
 * index in [0, count) is lent until the trace is destroyed. */
SLC_API int64_t slc_trace_count(const slc_trace *trace);
SLC_API int64_t slc_trace_dropped(const slc_trace *trace);
SLC_API const slc_trace_slice *slc_trace_get(const slc_trace *trace, int64_t index);
SLC_API int64_t slc_trace_origin_ns(const slc_trace *trace);

/* The ledger's changes in the order of time, and how many of them found no room; lent likewise. */
SLC_API int64_t slc_trace_memory_count(const slc_trace *trace);
SLC_API int64_t slc_trace_memory_dropped(const slc_trace *trace);
SLC_API const slc_trace_memory *slc_trace_memory_get(const slc_trace *trace, int64_t index);

/* The track of a stage, and whether that has numbered lanes; names: "copy in", ... Static storage. */
SLC_API slc_trace_track slc_trace_track_of(slc_trace_stage stage);
SLC_API bool slc_trace_track_is_numbered(slc_trace_track track);
SLC_API const char *slc_trace_stage_name(slc_trace_stage stage);
SLC_API const char *slc_trace_track_name(slc_trace_track track);

#ifdef __cplusplus
}
#endif
#endif
