/* The host device's streams and events, for the table in core/device_host.c.
 * How they work is told at the top of core/host_stream.c. */
#ifndef SLC_CORE_DEVICE_HOST_H
#define SLC_CORE_DEVICE_HOST_H

#include "core/device.h"

#ifdef __cplusplus
extern "C" {
#endif

SLC_MUST_USE slc_status slci_host_stream_create(slc_device *device, slc_stream **out);
void slci_host_stream_destroy(slc_stream *stream);
SLC_MUST_USE slc_status slci_host_stream_synchronize(slc_stream *stream);

SLC_MUST_USE slc_status slci_host_event_create(slc_device *device, bool is_timed, slc_event **out);
void slci_host_event_destroy(slc_event *event);
SLC_MUST_USE slc_status slci_host_event_record(slc_event *event, slc_stream *stream);
SLC_MUST_USE slc_status slci_host_event_wait(slc_stream *stream, slc_event *event);
SLC_MUST_USE slc_status slci_host_event_query(slc_event *event, bool *is_done);
SLC_MUST_USE slc_status slci_host_event_synchronize(slc_event *event);
SLC_MUST_USE slc_status slci_host_event_elapsed(slc_event *begin, slc_event *end, int64_t *ns);

SLC_MUST_USE slc_status slci_host_copy(slc_stream *stream, void *dst, const void *src,
                                       int64_t bytes, slc_copy_direction direction);
SLC_MUST_USE slc_status slci_host_copy_strided(slc_stream *stream, void *dst,
                                               const slc_layout *dst_layout, const void *src,
                                               const slc_layout *src_layout,
                                               slc_copy_direction direction);
SLC_MUST_USE slc_status slci_host_set(slc_stream *stream, void *memory, uint8_t value,
                                      int64_t bytes);
SLC_MUST_USE slc_status slci_host_call(slc_stream *stream, slc_stream_function function,
                                       const void *argument, int64_t argument_bytes);
SLC_MUST_USE slc_status slci_host_pause(slc_stream *stream, int64_t ns);

/* What is enqueued between begin and end is kept instead of run; launch enqueues it as often as wanted.
 * A stream that is recorded takes no events. */
SLC_MUST_USE slc_status slci_host_capture_begin(slc_stream *stream);
SLC_MUST_USE slc_status slci_host_capture_end(slc_stream *stream, void **graph);
SLC_MUST_USE slc_status slci_host_graph_launch(slc_stream *stream, void *graph);
void slci_host_graph_release(slc_device *device, void *graph);

/* core/host_loop.c: a graph of one command, which runs the body's. */
SLC_MUST_USE slc_status slci_host_loop_create(slc_stream *stream, void *body,
                                              slc_loop_state *d_state, int64_t most, void **loop);

/* The work of a copy or set command, on all threads of the pool where that pays. Called by stream
 * threads only. */
SLC_MUST_USE slc_status slci_host_run_copy(slc_pool *pool, void *dst, const void *src,
                                           int64_t bytes);
SLC_MUST_USE slc_status slci_host_run_set(slc_pool *pool, void *memory, uint8_t value,
                                          int64_t bytes);
SLC_MUST_USE slc_status slci_host_run_copy_strided(slc_pool *pool, void *dst,
                                                   const slc_layout *dst_layout, const void *src,
                                                   const slc_layout *src_layout);

#ifdef __cplusplus
}
#endif
#endif
