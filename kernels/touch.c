/* Random reads on the host device, by all threads of the pool, and the way to the card's. Each thread
 * takes a run of touches; the reads do not depend on each other, so that a core has as many of them
 * under way as it can. */
#include "kernels/touch.h"

#include <stdatomic.h>

#include "core/checked.h"
#include "kernels/touch_internal.h"

/* Enough that handing a run out costs nothing beside it. */
#define TOUCHES_PER_RUN 65536

typedef struct host_touch {
    slc_touch touch;
    slc_pool *pool;
    _Atomic uint32_t sum;
} host_touch;

static slc_status run_some(void *context, int64_t index, int worker) {
    (void)worker;
    host_touch *self = context;
    const slc_touch *touch = &self->touch;
    const int64_t begin = touch->first + index * TOUCHES_PER_RUN;
    const int64_t end = slc_min_i64(begin + TOUCHES_PER_RUN, touch->first + touch->n_touches);
    uint32_t sum = 0;
    for (int64_t i = begin; i < end; i++) {
        sum += touch->d_data[slc_touch_place(i, touch->n_elements)];
    }
    (void)atomic_fetch_add(&self->sum, sum);
    return SLC_OK;
}

static slc_status run_all(void *argument) {
    host_touch *self = argument;
    SLC_TRY(slc_pool_for(self->pool, slc_ceil_div(self->touch.n_touches, TOUCHES_PER_RUN), run_some,
                         self));
    *self->touch.d_sum += atomic_load(&self->sum);
    return SLC_OK;
}

slc_status slc_touch_enqueue(slc_stream *stream, const slc_touch *touch) {
    if (touch->n_elements < 1 || touch->n_touches < 0) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "%lld touches of %lld elements: at least 0 and 1",
                        (long long)touch->n_touches, (long long)touch->n_elements);
    }
    if (stream->device->kind == SLC_DEVICE_CUDA) {
        return slci_touch_cuda(stream, touch);
    }
    host_touch host = {.touch = *touch, .pool = stream->device->pool};
    atomic_init(&host.sum, 0);
    return slc_stream_call(stream, run_all, &host, (int64_t)sizeof host);
}
