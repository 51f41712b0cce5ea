/* A trace: what every thread and stream did, when, with how many bytes.
 * The engine adds a slice for each stage of each tile; whoever runs the job writes them down. Slices
 * are kept up to a limit in memory, then counted as dropped, so a trace never grows past what was
 * reserved for it.
 *
 *     slc_trace *trace;
 *     SLC_TRY(slc_trace_create(64 << 20, &trace));
 *     engine_options.trace = trace;
 *     ... slc_trace_count(trace), slc_trace_get(trace, i) ...
 */
#ifndef SLC_OOC_TRACE_H
#define SLC_OOC_TRACE_H

#include <stdint.h>

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
    SLC_TRACE_STAGES
} slc_trace_stage;

typedef struct slc_trace_slice {
    slc_trace_stage stage;
    int lane;         /* threads of a stage are numbered from 0; streams have lane 0 */
    int64_t tile;     /* index in the plan */
    int64_t begin_ns; /* slc_clock_ns */
    int64_t duration_ns;
    int64_t bytes;
} slc_trace_slice;

typedef struct slc_trace slc_trace;

/* Room for as many slices as fit `most_bytes`, taken at once. SLC_ERROR_MEMORY. */
SLC_API SLC_MUST_USE slc_status slc_trace_create(int64_t most_bytes, slc_trace **out);
SLC_API void slc_trace_destroy(slc_trace *trace);

/* Thread-safe; does nothing when `trace` is NULL. */
SLC_API void slc_trace_add(slc_trace *trace, const slc_trace_slice *slice);

/* After the runs: slices in the order they were added, and how many found no room. */
SLC_API int64_t slc_trace_count(const slc_trace *trace);
SLC_API int64_t slc_trace_dropped(const slc_trace *trace);
SLC_API const slc_trace_slice *slc_trace_get(const slc_trace *trace, int64_t index);

#ifdef __cplusplus
}
#endif
#endif
