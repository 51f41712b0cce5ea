#include "ooc/stopwatch.h"

#include <math.h>

#include "core/checked.h"

/* The stopwatches of its three stages hold a tile up by so much (an H200, 8 MiB tiles both ways), which
 * is to be no more than a thousandth of the run; but some tiles are timed in any case. */
#define WATCHED_TILE_SECONDS 12e-6
#define WATCHED_SHARE 1e-3
#define FEWEST_WATCHED 16
#define MOST_UNWATCHED 64

slc_status slci_stopwatch_create(slc_device *device, slci_stopwatch *watch) {
    *watch = (slci_stopwatch){.begin = NULL};
    SLC_TRY(slc_event_create_timed(device, &watch->begin));
    return slc_event_create_timed(device, &watch->end);
}

void slci_stopwatch_destroy(slci_stopwatch *watch) {
    slc_event_destroy(watch->begin);
    slc_event_destroy(watch->end);
    *watch = (slci_stopwatch){.begin = NULL};
}

slc_status slci_stopwatch_start(slci_stopwatch *watch, slc_stream *stream) {
    watch->is_used = true;
    return slc_event_record(watch->begin, stream);
}

slc_status slci_stopwatch_stop(slci_stopwatch *watch, slc_stream *stream) {
    return watch->is_used ? slc_event_record(watch->end, stream) : SLC_OK;
}

slc_status slci_stopwatch_read(slci_stopwatch *watch, int64_t *ns) {
    watch->is_used = false;
    return slc_event_elapsed(watch->begin, watch->end, ns);
}

int64_t slci_stopwatch_stride(int64_t n_tiles, double seconds) {
    const double allowed_seconds = WATCHED_SHARE * seconds;
    const double all_seconds = WATCHED_TILE_SECONDS * (double)n_tiles;
    int64_t stride = slc_min_i64(MOST_UNWATCHED, n_tiles / FEWEST_WATCHED);
    if (all_seconds < allowed_seconds * (double)stride) {
        stride = (int64_t)ceil(all_seconds / allowed_seconds);
    }
    return slc_max_i64(stride, 1);
}
