/* Whether copies to the device were ever late, from a trace: how long they ran, and why they did not
 * in the rest of the time. A copy is late where it could have begun, its tile being read and the
 * device having room for it, and where nobody read though a buffer was free. docs/trace.md says which
 * slices it is made of.
 *
 *     slc_trace_settle(trace);
 *     slc_trace_feed feed;
 *     SLC_TRY(slc_trace_feed_find(trace, &feed));
 *     late = (double)(feed.ready_ns + feed.unread_ns) / (double)feed.total_ns;
 */
#ifndef SLC_OOC_TRACE_FEED_H
#define SLC_OOC_TRACE_FEED_H

#include "ooc/trace.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slc_trace_feed {
    int64_t total_ns;   /* inputs were on their way; the sum of the next five: */
    int64_t copying_ns; /* a copy to the device ran */
    int64_t ready_ns;   /* none ran, though a tile was ready for it and the device had room */
    int64_t full_ns;    /* else: every tile that was ready waited for room on the device */
    int64_t reading_ns; /* else: none was ready, threads read */
    int64_t unread_ns;  /* else: nobody read */
    int64_t thread_ns;  /* of all threads together, reading meanwhile */
} slc_trace_feed;

/* Of all runs of the engine in a trace that is settled; time between them counts for nothing.
 * SLC_ERROR_MEMORY. */
SLC_API SLC_MUST_USE slc_status slc_trace_feed_find(const slc_trace *trace, slc_trace_feed *out);

#ifdef __cplusplus
}
#endif
#endif
