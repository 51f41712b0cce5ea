/* Slices in one array made beforehand: adding one is a count and a copy under a lock, a few hundred
 * times a second. */
#include "ooc/trace.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct slc_trace {
    pthread_mutex_t mutex;
    int64_t n_slices, capacity, n_dropped;
    slc_trace_slice *slice; /* [capacity] */
};

slc_status slc_trace_create(int64_t most_bytes, slc_trace **out) {
    const int64_t capacity = most_bytes / (int64_t)sizeof(slc_trace_slice);
    if (capacity < 1) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "a trace of %lld bytes has no room for one slice of %d",
                        (long long)most_bytes, (int)sizeof(slc_trace_slice));
    }
    slc_trace *trace = calloc(1, sizeof *trace);
    slc_trace_slice *slice = calloc((size_t)capacity, sizeof *slice);
    if (trace == NULL || slice == NULL) {
        free(trace);
        free(slice);
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for a trace of %lld slices",
                        (long long)capacity);
    }
    pthread_mutex_init(&trace->mutex, NULL);
    trace->capacity = capacity;
    trace->slice = slice;
    *out = trace;
    return SLC_OK;
}

void slc_trace_destroy(slc_trace *trace) {
    if (trace != NULL) {
        pthread_mutex_destroy(&trace->mutex);
        free(trace->slice);
        free(trace);
    }
}

void slc_trace_add(slc_trace *trace, const slc_trace_slice *slice) {
    if (trace == NULL) {
        return;
    }
    pthread_mutex_lock(&trace->mutex);
    if (trace->n_slices < trace->capacity) {
        trace->slice[trace->n_slices++] = *slice;
    } else {
        trace->n_dropped++;
    }
    pthread_mutex_unlock(&trace->mutex);
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
