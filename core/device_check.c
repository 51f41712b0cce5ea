/* The checking device: every entry counts, perhaps fails, and forwards to the inner device.
 *
 * Its streams and events hold the inner ones, so each entry unwraps its arguments. Its table is a part
 * of the object, because what is optional must be absent exactly where the inner device lacks it. A
 * failure happens in the call itself, before anything is forwarded, with the status that the real
 * device would give.
 *
 * Fresh memory is filled with bytes of 0xFF, which is NaN in every floating-point type. Device
 * memory is filled through a stream of the checker's own. Copies are delayed by a pause put
 * before them in the stream; how long is a function of the copy's number, so that a run repeats. */
#include "core/device_check.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/device_internal.h"
#include "core/host_memory.h"

#define POISON 0xFF

/* slc_pinned.how for memory of the checker's own: any number that no device uses. */
#define HOW_CHECK_PAGEABLE 1000

typedef struct check_device {
    slc_device base;
    slc_device_ops ops;
    slc_device *inner; /* owned */
    slc_stream *fill;  /* of the inner device */
    slc_check_options options;
    atomic_int_least64_t n_calls[SLC_CHECK_KIND_COUNT];
    atomic_int_least64_t n_alive;
} check_device;

typedef struct check_stream {
    slc_stream base;
    slc_stream *inner; /* owned */
    bool is_recording; /* pauses would be part of the graph, whose body on a card allows none */
} check_stream;

typedef struct check_event {
    slc_event base;
    slc_event *inner; /* owned */
} check_event;

static const char *const kind_names[SLC_CHECK_KIND_COUNT] = {
    [SLC_CHECK_NONE] = "none",
    [SLC_CHECK_ALLOCATE] = "allocation of device memory",
    [SLC_CHECK_PINNED] = "allocation of pinned memory",
    [SLC_CHECK_MAPPED] = "allocation of mapped memory",
    [SLC_CHECK_STREAM] = "creation of a stream or event",
    [SLC_CHECK_EVENT] = "event call",
    [SLC_CHECK_COPY] = "copy",
    [SLC_CHECK_SET] = "set",
    [SLC_CHECK_CALL] = "host function",
    [SLC_CHECK_GRAPH] = "graph",
};

static check_device *as_check(slc_device *device) {
    return (check_device *)device;
}

static slc_stream *inner_stream(slc_stream *stream) {
    return ((check_stream *)stream)->inner;
}

static slc_event *inner_event(slc_event *event) {
    return ((check_event *)event)->inner;
}

/* Counts a call; its number goes to `number` (may be NULL). True if this is the one to fail. */
static bool count_call(check_device *check, slc_check_kind kind, int64_t *number) {
    const int64_t n = atomic_fetch_add(&check->n_calls[kind], 1) + 1;
    if (number != NULL) {
        *number = n;
    }
    const int64_t first = check->options.fail_at;
    const int64_t n_fails = check->options.n_fails > 0 ? check->options.n_fails : 1;
    return kind == check->options.fail_kind && first > 0 && n >= first && n - first < n_fails;
}

static slc_status fail_call(check_device *check, slc_check_kind kind, slc_status code) {
    return SLC_FAIL(code, "the checking device fails %s %lld as it was told to", kind_names[kind],
                    (long long)check->options.fail_at);
}

/* For kinds whose failure is that of the device. */
static slc_status enter(slc_device *device, slc_check_kind kind) {
    check_device *check = as_check(device);
    return count_call(check, kind, NULL) ? fail_call(check, kind, SLC_ERROR_DEVICE) : SLC_OK;
}

static void add_alive(slc_device *device, int64_t n) {
    (void)atomic_fetch_add(&as_check(device)->n_alive, n);
}

/* ---- memory ----------------------------------------------------------------------------------- */

static void check_destroy(slc_device *device) {
    check_device *check = as_check(device);
    slc_stream_destroy(check->fill);
    slc_device_destroy(check->inner);
    free(check);
}

static slc_status check_limits(slc_device *device, slc_device_limits *out) {
    const check_device *check = as_check(device);
    SLC_TRY(slc_device_get_limits(check->inner, out));
    if (check->options.free_bytes > 0) {
        out->free_bytes = check->options.free_bytes;
    }
    return SLC_OK;
}

static slc_status check_allocate(slc_device *device, int64_t bytes, void **d_memory) {
    check_device *check = as_check(device);
    if (count_call(check, SLC_CHECK_ALLOCATE, NULL)) {
        return fail_call(check, SLC_CHECK_ALLOCATE, SLC_ERROR_MEMORY);
    }
    void *memory = NULL;
    SLC_TRY(slc_device_allocate(check->inner, bytes, &memory));
    slc_status status = SLC_OK;
    SLC_TRY_GOTO(failed, slc_stream_set(check->fill, memory, POISON, bytes));
    SLC_TRY_GOTO(failed, slc_stream_synchronize(check->fill));
    add_alive(device, 1);
    *d_memory = memory;
    return SLC_OK;
failed:
    slc_device_release(check->inner, memory);
    return status;
}

static void check_release(slc_device *device, void *d_memory) {
    slc_device_release(as_check(device)->inner, d_memory);
    add_alive(device, -1);
}

static slc_status check_pinned_allocate(slc_device *device, int64_t bytes, slc_pinned *out) {
    check_device *check = as_check(device);
    const int64_t limit = check->options.pinned_limit_bytes;
    const bool is_refused =
        count_call(check, SLC_CHECK_PINNED, NULL) || (limit > 0 && bytes > limit);
    slc_pinned pinned = {0};
    if (is_refused) {
        void *host = NULL;
        SLC_TRY(slci_host_map(bytes, &host));
        pinned = (slc_pinned){.host = host, .bytes = bytes, .how = HOW_CHECK_PAGEABLE};
    } else {
        SLC_TRY(slc_pinned_allocate(check->inner, bytes, &pinned));
    }
    memset(pinned.host, POISON, (size_t)bytes);
    add_alive(device, 1);
    *out = pinned;
    return SLC_OK;
}

static void check_pinned_release(slc_device *device, slc_pinned *pinned) {
    if (pinned->how == HOW_CHECK_PAGEABLE) {
        slci_host_unmap(pinned->host, pinned->bytes);
    } else {
        slc_pinned_release(as_check(device)->inner, pinned);
    }
    add_alive(device, -1);
}

static slc_status check_mapped_allocate(slc_device *device, int64_t bytes, slc_mapped *out) {
    check_device *check = as_check(device);
    if (count_call(check, SLC_CHECK_MAPPED, NULL)) {
        return fail_call(check, SLC_CHECK_MAPPED, SLC_ERROR_MEMORY);
    }
    SLC_TRY(slc_mapped_allocate(check->inner, bytes, out));
    memset(out->host, POISON, (size_t)bytes);
    add_alive(device, 1);
    return SLC_OK;
}

static void check_mapped_release(slc_device *device, slc_mapped *mapped) {
    slc_mapped_release(as_check(device)->inner, mapped);
    add_alive(device, -1);
}

/* ---- streams and events ----------------------------------------------------------------------- */

static slc_status check_stream_create(slc_device *device, slc_stream **out) {
    check_device *check = as_check(device);
    if (count_call(check, SLC_CHECK_STREAM, NULL)) {
        return fail_call(check, SLC_CHECK_STREAM, SLC_ERROR_MEMORY);
    }
    check_stream *self = calloc(1, sizeof *self);
    if (self == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for a stream");
    }
    self->base.device = device;
    const slc_status status = slc_stream_create(check->inner, &self->inner);
    if (status != SLC_OK) {
        free(self);
        return status;
    }
    add_alive(device, 1);
    *out = &self->base;
    return SLC_OK;
}

static void check_stream_destroy(slc_stream *stream) {
    slc_device *device = stream->device;
    slc_stream_destroy(inner_stream(stream));
    free(stream);
    add_alive(device, -1);
}

static slc_status check_stream_synchronize(slc_stream *stream) {
    SLC_TRY(enter(stream->device, SLC_CHECK_EVENT));
    return slc_stream_synchronize(inner_stream(stream));
}

static slc_status check_event_create(slc_device *device, bool is_timed, slc_event **out) {
    check_device *check = as_check(device);
    if (count_call(check, SLC_CHECK_STREAM, NULL)) {
        return fail_call(check, SLC_CHECK_STREAM, SLC_ERROR_MEMORY);
    }
    check_event *self = calloc(1, sizeof *self);
    if (self == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for an event");
    }
    self->base.device = device;
    const slc_status status = is_timed ? slc_event_create_timed(check->inner, &self->inner)
                                       : slc_event_create(check->inner, &self->inner);
    if (status != SLC_OK) {
        free(self);
        return status;
    }
    add_alive(device, 1);
    *out = &self->base;
    return SLC_OK;
}

static void check_event_destroy(slc_event *event) {
    slc_device *device = event->device;
    slc_event_destroy(inner_event(event));
    free(event);
    add_alive(device, -1);
}

static slc_status check_event_record(slc_event *event, slc_stream *stream) {
    SLC_TRY(enter(stream->device, SLC_CHECK_EVENT));
    return slc_event_record(inner_event(event), inner_stream(stream));
}

static slc_status check_event_wait(slc_stream *stream, slc_event *event) {
    SLC_TRY(enter(stream->device, SLC_CHECK_EVENT));
    return slc_event_wait(inner_stream(stream), inner_event(event));
}

/* Not counted: how often an event is asked is a matter of timing. */
static slc_status check_event_query(slc_event *event, bool *is_done) {
    return slc_event_query(inner_event(event), is_done);
}

static slc_status check_event_synchronize(slc_event *event) {
    SLC_TRY(enter(event->device, SLC_CHECK_EVENT));
    return slc_event_synchronize(inner_event(event));
}

static slc_status check_event_elapsed(slc_event *begin, slc_event *end, int64_t *ns) {
    return slc_event_elapsed(inner_event(begin), inner_event(end), ns);
}

/* ---- work ------------------------------------------------------------------------------------- */

/* A well mixed function of `number` in [0, limit]: the finaliser of SplitMix64 (Steele, Lea and
 * Flood, "Fast splittable pseudorandom number generators", 2014). */
static int64_t scatter(int64_t number, int64_t limit) {
    uint64_t x = (uint64_t)number * 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    x ^= x >> 31;
    return (int64_t)(x % (uint64_t)(limit + 1));
}

static slc_status enter_copy(slc_stream *stream) {
    check_device *check = as_check(stream->device);
    int64_t number = 0;
    if (count_call(check, SLC_CHECK_COPY, &number)) {
        return fail_call(check, SLC_CHECK_COPY, SLC_ERROR_DEVICE);
    }
    if (check->options.delay_us > 0 && check->inner->ops->pause != NULL &&
        !((const check_stream *)stream)->is_recording) {
        const int64_t delay_us = scatter(number, check->options.delay_us);
        SLC_TRY(check->inner->ops->pause(inner_stream(stream), delay_us * 1000));
    }
    return SLC_OK;
}

static slc_status check_copy(slc_stream *stream, void *dst, const void *src, int64_t bytes,
                             slc_copy_direction direction) {
    SLC_TRY(enter_copy(stream));
    return slc_stream_copy(inner_stream(stream), dst, src, bytes, direction);
}

static slc_status check_copy_strided(slc_stream *stream, void *dst, const slc_layout *dst_layout,
                                     const void *src, const slc_layout *src_layout,
                                     slc_copy_direction direction) {
    SLC_TRY(enter_copy(stream));
    return slc_stream_copy_strided(inner_stream(stream), dst, dst_layout, src, src_layout,
                                   direction);
}

static slc_status check_peer_copy(slc_stream *stream, void *dst, slc_device *src_device,
                                  const void *src, int64_t bytes) {
    SLC_TRY(enter_copy(stream));
    check_device *check = as_check(stream->device);
    return check->inner->ops->peer_copy(inner_stream(stream), dst,
                                        slci_check_inner_device(src_device), src, bytes);
}

static slc_status check_set(slc_stream *stream, void *d_memory, uint8_t value, int64_t bytes) {
    SLC_TRY(enter(stream->device, SLC_CHECK_SET));
    return slc_stream_set(inner_stream(stream), d_memory, value, bytes);
}

static slc_status check_call(slc_stream *stream, slc_stream_function function, const void *argument,
                             int64_t argument_bytes) {
    SLC_TRY(enter(stream->device, SLC_CHECK_CALL));
    return slc_stream_call(inner_stream(stream), function, argument, argument_bytes);
}

static slc_status check_pause(slc_stream *stream, int64_t ns) {
    return as_check(stream->device)->inner->ops->pause(inner_stream(stream), ns);
}

static slc_status check_capture_begin(slc_stream *stream) {
    SLC_TRY(enter(stream->device, SLC_CHECK_GRAPH));
    SLC_TRY(as_check(stream->device)->inner->ops->capture_begin(inner_stream(stream)));
    ((check_stream *)stream)->is_recording = true;
    return SLC_OK;
}

static slc_status check_capture_end(slc_stream *stream, void **graph) {
    ((check_stream *)stream)->is_recording = false;
    SLC_TRY(as_check(stream->device)->inner->ops->capture_end(inner_stream(stream), graph));
    add_alive(stream->device, 1);
    return SLC_OK;
}

static slc_status check_graph_launch(slc_stream *stream, void *graph) {
    SLC_TRY(enter(stream->device, SLC_CHECK_GRAPH));
    return as_check(stream->device)->inner->ops->graph_launch(inner_stream(stream), graph);
}

static void check_graph_destroy(slc_device *device, void *graph) {
    as_check(device)->inner->ops->graph_destroy(as_check(device)->inner, graph);
    add_alive(device, -1);
}

static slc_status check_loop_create(slc_stream *stream, void *body, slc_loop_state *d_state,
                                    int64_t most, void **loop) {
    SLC_TRY(slc_stream_loop(inner_stream(stream), body, d_state, most, loop));
    add_alive(stream->device, 1);
    return SLC_OK;
}

/* ---- opening ---------------------------------------------------------------------------------- */

static const slc_device_ops required_ops = {
    .destroy = check_destroy,
    .limits = check_limits,
    .allocate = check_allocate,
    .release = check_release,
    .pinned_allocate = check_pinned_allocate,
    .pinned_release = check_pinned_release,
    .mapped_allocate = check_mapped_allocate,
    .mapped_release = check_mapped_release,
    .stream_create = check_stream_create,
    .stream_destroy = check_stream_destroy,
    .stream_synchronize = check_stream_synchronize,
    .event_create = check_event_create,
    .event_destroy = check_event_destroy,
    .event_record = check_event_record,
    .event_wait = check_event_wait,
    .event_query = check_event_query,
    .event_synchronize = check_event_synchronize,
    .event_elapsed = check_event_elapsed,
    .copy = check_copy,
    .copy_strided = check_copy_strided,
    .set = check_set,
};

static void fill_table(slc_device_ops *ops, const slc_device_ops *inner, bool has_no_loops) {
    *ops = required_ops;
    ops->call = inner->call == NULL ? NULL : check_call;
    ops->peer_copy = inner->peer_copy == NULL ? NULL : check_peer_copy;
    ops->pause = inner->pause == NULL ? NULL : check_pause;
    if (inner->capture_begin != NULL) {
        ops->capture_begin = check_capture_begin;
        ops->capture_end = check_capture_end;
        ops->graph_launch = check_graph_launch;
        ops->graph_destroy = check_graph_destroy;
        ops->loop_create = inner->loop_create == NULL || has_no_loops ? NULL : check_loop_create;
    }
}

slc_status slc_device_create_check(slc_device *inner, const slc_check_options *options,
                                   slc_device **out) {
    check_device *check = calloc(1, sizeof *check);
    if (check == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for a checking device");
    }
    const slc_status status = slc_stream_create(inner, &check->fill);
    if (status != SLC_OK) {
        free(check);
        return status;
    }
    fill_table(&check->ops, inner->ops, options->has_no_loops);
    check->base = (slc_device){.ops = &check->ops,
                               .kind = inner->kind,
                               .pool = inner->pool,
                               .log = inner->log};
    check->inner = inner;
    check->options = *options;
    *out = &check->base;
    return SLC_OK;
}

int64_t slc_device_check_calls(const slc_device *check, slc_check_kind kind) {
    return atomic_load(&((const check_device *)check)->n_calls[kind]);
}

int64_t slc_device_check_alive(const slc_device *check) {
    return atomic_load(&((const check_device *)check)->n_alive);
}

/* ---- seeing through it ------------------------------------------------------------------------ */

/* Tables of checking devices share their entries with no other implementation. */
static bool is_check(const slc_device *device) {
    return device->ops->destroy == check_destroy;
}

slc_stream *slci_check_inner_stream(slc_stream *stream) {
    while (is_check(stream->device)) {
        stream = inner_stream(stream);
    }
    return stream;
}

slc_device *slci_check_inner_device(slc_device *device) {
    while (is_check(device)) {
        device = as_check(device)->inner;
    }
    return device;
}
