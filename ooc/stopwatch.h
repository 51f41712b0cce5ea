/* What a stream does between two points, timed by the device's own clock.
 *
 * An event that keeps the time holds its stream up by some 4 us more than one that only orders (an
 * H200: 8 MiB tiles both ways at 91 GB/s with both ends of every copy timed, at 97 with none), so
 * these events are a stopwatch's own, and only what is timed records them.
 */
#ifndef SLC_OOC_STOPWATCH_H
#define SLC_OOC_STOPWATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "core/device.h"

typedef struct slci_stopwatch {
    slc_event *begin, *end; /* owned; NULL: not made */
    bool is_used;           /* holds an interval that was not read yet */
} slci_stopwatch;

/* What create made is destroyed also where it fails half-way. */
SLC_MUST_USE slc_status slci_stopwatch_create(slc_device *device, slci_stopwatch *watch);
void slci_stopwatch_destroy(slci_stopwatch *watch);

/* stop may come again, for a later point; it does nothing where start was not called. read needs what
 * was enqueued before stop to have run. */
SLC_MUST_USE slc_status slci_stopwatch_start(slci_stopwatch *watch, slc_stream *stream);
SLC_MUST_USE slc_status slci_stopwatch_stop(slci_stopwatch *watch, slc_stream *stream);
SLC_MUST_USE slc_status slci_stopwatch_read(slci_stopwatch *watch, int64_t *ns);

/* One tile in how many is timed, of so many that take so long together. */
int64_t slci_stopwatch_stride(int64_t n_tiles, double seconds);

#endif
