/* The public face of the devices: checks what every implementation would have to check, then goes
 * through the table. Requests for nothing end here, so that no driver ever sees zero bytes.
 * This file alone in core knows whether CUDA was built in. */
#include "core/device.h"

#include <string.h>

#include "core/copy_plan.h"
#include "core/device_internal.h"

#if SLC_HAVE_CUDA
static slc_status open_cuda(const slc_device_options *options, slc_device **out) {
    return slci_device_create_cuda(options->cuda_index, options->pool, options->log, out);
}

static bool is_cuda_expected(void) {
    return slci_cuda_is_expected();
}
#else
static slc_status open_cuda(const slc_device_options *options, slc_device **out) {
    (void)options;
    (void)out;
    return SLC_FAIL(SLC_ERROR_DEVICE,
                    "no CUDA in this build; install the CUDA toolkit and build again, or "
                    "use the host device");
}

static bool is_cuda_expected(void) {
    return false;
}
#endif

/* ---- opening ---------------------------------------------------------------------------------- */

/* A machine without a card runs on the CPU, and nobody needs to be told; a card that cannot be used is
 * another matter. */
static slc_status open_auto(const slc_device_options *options, slc_device **out) {
    if (open_cuda(options, out) == SLC_OK) {
        return SLC_OK;
    }
    slc_failure why;
    slc_status_capture(SLC_ERROR_DEVICE, &why);
    SLC_TRY(slc_device_create_host(options->pool, options->log, out));
    const bool is_news = is_cuda_expected();
    /* What would help, behind the semicolon, is for those who miss their card. */
    slc_log_line(options->log, is_news ? SLC_LOG_NOTE : SLC_LOG_DETAIL, "%.*s: running on the CPU",
                 (int)strcspn(why.message, is_news ? "" : ";"), why.message);
    return SLC_OK;
}

slc_status slc_device_create(const slc_device_options *options, slc_device **out) {
    if (options->pool == NULL) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "a device needs a thread pool (options.pool is NULL)");
    }
    switch (options->choice) {
    case SLC_CHOOSE_AUTO:
        return open_auto(options, out);
    case SLC_CHOOSE_HOST:
        return slc_device_create_host(options->pool, options->log, out);
    case SLC_CHOOSE_CUDA:
        return open_cuda(options, out);
    }
    return SLC_FAIL(SLC_ERROR_ARGUMENT, "device choice %d is none of auto, host and cuda",
                    (int)options->choice);
}

void slc_device_destroy(slc_device *device) {
    if (device != NULL) {
        device->ops->destroy(device);
    }
}

slc_status slc_device_get_limits(slc_device *device, slc_device_limits *out) {
    return device->ops->limits(device, out);
}

/* ---- memory ----------------------------------------------------------------------------------- */

slc_status slc_device_allocate(slc_device *device, int64_t bytes, void **d_memory) {
    if (bytes < 1) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "%lld bytes of device memory asked for; at least 1",
                        (long long)bytes);
    }
    return device->ops->allocate(device, bytes, d_memory);
}

void slc_device_release(slc_device *device, void *d_memory) {
    if (d_memory != NULL) {
        device->ops->release(device, d_memory);
    }
}

slc_status slc_pinned_allocate(slc_device *device, int64_t bytes, slc_pinned *out) {
    if (bytes < 0) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "%lld bytes of pinned memory asked for; at least 0",
                        (long long)bytes);
    }
    if (bytes == 0) {
        *out = (slc_pinned){.is_pinned = true};
        return SLC_OK;
    }
    return device->ops->pinned_allocate(device, bytes, out);
}

void slc_pinned_release(slc_device *device, slc_pinned *pinned) {
    if (pinned->host != NULL) {
        device->ops->pinned_release(device, pinned);
    }
    *pinned = (slc_pinned){0};
}

slc_status slc_mapped_allocate(slc_device *device, int64_t bytes, slc_mapped *out) {
    if (bytes < 0) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "%lld bytes of mapped memory asked for; at least 0",
                        (long long)bytes);
    }
    if (bytes == 0) {
        *out = (slc_mapped){0};
        return SLC_OK;
    }
    return device->ops->mapped_allocate(device, bytes, out);
}

void slc_mapped_release(slc_device *device, slc_mapped *mapped) {
    if (mapped->host != NULL) {
        device->ops->mapped_release(device, mapped);
    }
    *mapped = (slc_mapped){0};
}

/* ---- streams ---------------------------------------------------------------------------------- */

slc_status slc_stream_create(slc_device *device, slc_stream **out) {
    return device->ops->stream_create(device, out);
}

void slc_stream_destroy(slc_stream *stream) {
    if (stream != NULL) {
        stream->device->ops->stream_destroy(stream);
    }
}

slc_status slc_stream_synchronize(slc_stream *stream) {
    return stream->device->ops->stream_synchronize(stream);
}

slc_status slc_stream_copy(slc_stream *stream, void *dst, const void *src, int64_t bytes,
                           slc_copy_direction direction) {
    if (bytes < 0) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "a copy of %lld bytes; at least 0", (long long)bytes);
    }
    if (bytes == 0) {
        return SLC_OK;
    }
    return stream->device->ops->copy(stream, dst, src, bytes, direction);
}

slc_status slc_stream_copy_strided(slc_stream *stream, void *dst, const slc_layout *dst_layout,
                                   const void *src, const slc_layout *src_layout,
                                   slc_copy_direction direction) {
    /* Before it is queued, so that the error comes from this call. */
    SLC_TRY(slci_copy_check_pair(dst_layout, src_layout));
    if (slc_layout_count(dst_layout) == 0) {
        return SLC_OK;
    }
    return stream->device->ops->copy_strided(stream, dst, dst_layout, src, src_layout, direction);
}

slc_status slc_stream_set(slc_stream *stream, void *d_memory, uint8_t value, int64_t bytes) {
    if (bytes < 0) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "setting %lld bytes; at least 0", (long long)bytes);
    }
    if (bytes == 0) {
        return SLC_OK;
    }
    return stream->device->ops->set(stream, d_memory, value, bytes);
}

slc_status slc_stream_call(slc_stream *stream, slc_stream_function function, const void *argument,
                           int64_t argument_bytes) {
    if (stream->device->ops->call == NULL) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "host functions run on the streams of a host device only");
    }
    if (argument_bytes < 0 || argument_bytes > SLCI_CALL_BYTES) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "an argument of %lld bytes for a host function; 0 to %d are carried",
                        (long long)argument_bytes, SLCI_CALL_BYTES);
    }
    return stream->device->ops->call(stream, function, argument, argument_bytes);
}

/* ---- graphs ----------------------------------------------------------------------------------- */

bool slc_device_has_graphs(const slc_device *device) {
    return device->ops->capture_begin != NULL;
}

static slc_status check_graphs(const slc_device *device) {
    return slc_device_has_graphs(device)
               ? SLC_OK
               : SLC_FAIL(SLC_ERROR_ARGUMENT, "this kind of device has no graphs");
}

slc_status slc_stream_capture_begin(slc_stream *stream) {
    SLC_TRY(check_graphs(stream->device));
    return stream->device->ops->capture_begin(stream);
}

slc_status slc_stream_capture_end(slc_stream *stream, void **graph) {
    SLC_TRY(check_graphs(stream->device));
    return stream->device->ops->capture_end(stream, graph);
}

slc_status slc_stream_launch(slc_stream *stream, void *graph) {
    SLC_TRY(check_graphs(stream->device));
    return stream->device->ops->graph_launch(stream, graph);
}

void slc_graph_destroy(slc_device *device, void *graph) {
    if (graph != NULL) {
        device->ops->graph_destroy(device, graph);
    }
}

slc_status slc_stream_loop(slc_stream *stream, void *body, slc_loop_state *d_state, int64_t most,
                           void **loop) {
    if (stream->device->ops->loop_create == NULL) {
        return SLC_FAIL(SLC_ERROR_UNSUPPORTED, "this kind of device runs no loops by itself");
    }
    if (most < 1) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "a loop of at most %lld iterations; at least 1",
                        (long long)most);
    }
    return stream->device->ops->loop_create(stream, body, d_state, most, loop);
}

/* ---- events ----------------------------------------------------------------------------------- */

static slc_status create_event(slc_device *device, bool is_timed, slc_event **out) {
    SLC_TRY(device->ops->event_create(device, is_timed, out));
    (*out)->is_timed = is_timed;
    return SLC_OK;
}

slc_status slc_event_create(slc_device *device, slc_event **out) {
    return create_event(device, false, out);
}

slc_status slc_event_create_timed(slc_device *device, slc_event **out) {
    return create_event(device, true, out);
}

void slc_event_destroy(slc_event *event) {
    if (event != NULL) {
        event->device->ops->event_destroy(event);
    }
}

slc_status slc_event_record(slc_event *event, slc_stream *stream) {
    if (event->device != stream->device) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "an event is recorded on streams of its own device only");
    }
    return event->device->ops->event_record(event, stream);
}

slc_status slc_event_wait(slc_stream *stream, slc_event *event) {
    /* Streams may wait for another device's event, but only one of the same implementation. */
    if (event->device->ops->event_wait != stream->device->ops->event_wait ||
        event->device->kind != stream->device->kind) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "a stream waits for events of its own kind of device only");
    }
    return stream->device->ops->event_wait(stream, event);
}

slc_status slc_event_query(slc_event *event, bool *is_done) {
    return event->device->ops->event_query(event, is_done);
}

slc_status slc_event_synchronize(slc_event *event) {
    return event->device->ops->event_synchronize(event);
}

slc_status slc_event_elapsed(slc_event *begin, slc_event *end, int64_t *ns) {
    if (begin->device != end->device) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "time is measured between events of one device only");
    }
    if (!begin->is_timed || !end->is_timed) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "one of the events keeps no time; make it by slc_event_create_timed");
    }
    return begin->device->ops->event_elapsed(begin, end, ns);
}
