/* A trace as a file that chrome://tracing and Perfetto open: the JSON object form of the trace event
 * format, a thread for each lane, a complete event for each slice, a counter for each space of memory.
 * docs/trace.md says what the names mean.
 *
 *     slc_trace_settle(trace);
 *     slci_trace_write(file, trace, &about);
 */
#ifndef SLC_APP_TRACE_FILE_H
#define SLC_APP_TRACE_FILE_H

#include <stdio.h>

#include "ooc/trace_feed.h"

/* What the run was. All lent. */
typedef struct slci_trace_about {
    const char *command;       /* "sluice image" */
    const char *const *inputs; /* [n_inputs] */
    int n_inputs;
    slc_trace_feed feed; /* of the trace */
} slci_trace_about;

/* Writes the settled trace; the caller asks the stream whether it got there. */
void slci_trace_write(FILE *out, const slc_trace *trace, const slci_trace_about *about);

#endif
