/* A device: memory, streams, events and copies, behind one small typed table of functions.
 * Three implementations: the host device (a stream is a worker thread, memory is RAM), the CUDA
 * device, and the checking device, which wraps either of them and misbehaves on purpose for tests.
 * Whatever only enqueues says so; order between streams is by events alone.
 *
 *     slc_device *device;
 *     SLC_TRY(slc_device_create(&(slc_device_options){.pool = pool}, &device));
 *     SLC_TRY(slc_device_allocate(device, bytes, &d_slab));
 *     SLC_TRY(slc_stream_create(device, &stream));
 *     SLC_TRY(slc_stream_copy(stream, d_slab, pinned.host, bytes, SLC_COPY_TO_DEVICE));
 */
#ifndef SLC_CORE_DEVICE_H
#define SLC_CORE_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/layout.h"
#include "core/log.h"
#include "core/pool.h"
#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum slc_device_kind {
    SLC_DEVICE_HOST,
    SLC_DEVICE_CUDA,
    SLC_DEVICE_KIND_COUNT
} slc_device_kind;

typedef enum slc_copy_direction {
    SLC_COPY_TO_DEVICE,
    SLC_COPY_FROM_DEVICE,
    SLC_COPY_ON_DEVICE
} slc_copy_direction;

typedef struct slc_device_limits {
    char name[128];                /* "NVIDIA H200", or the processor's model name */
    char software[64];             /* "CUDA 13.0, driver 13.0"; host: "none" */
    int64_t total_bytes;           /* device memory; host device: RAM or the container's limit */
    int64_t free_bytes;            /* the same, free now */
    int64_t context_bytes;         /* what the driver keeps for itself, stated apart from --vram */
    int64_t allocation_unit_bytes; /* slabs are whole multiples of it (CUDA: 2 MiB, host: 4 KiB) */
    int n_processors;              /* multiprocessors, or threads of the pool */
    bool has_fast_double;   /* double precision at half the rate of single or better; host: true */
    int compute_capability; /* of an NVIDIA GPU, 90 for 9.0; host: 0 */
} slc_device_limits;

/* Host memory for asynchronous copies. `is_pinned` is false after a fallback to pageable memory. */
typedef struct slc_pinned {
    void *host;
    int64_t bytes;
    bool is_pinned;
    int how; /* the implementation's own note on how to give it back */
} slc_pinned;

/* One piece of host memory that kernels reach through `device_alias`; never pass `host` to one. */
typedef struct slc_mapped {
    void *host;
    void *device_alias;
    int64_t bytes;
    int how;
} slc_mapped;

typedef struct slc_device slc_device;
typedef struct slc_stream slc_stream;
typedef struct slc_event slc_event;

/* Runs on the host device's stream thread, in stream order. */
typedef slc_status (*slc_stream_function)(void *argument);

/* What a loop keeps in device memory; the caller sets it to zeros once, before the first launch. */
typedef struct slc_loop_state {
    int64_t is_done; /* not 0: the body has converged; each launch clears it, the body sets it */
    int64_t n_iterations; /* of this launch that are behind */
    int64_t n_total;      /* iterations of all launches that have ended */
    int64_t n_unfinished; /* launches that ended without being done */
} slc_loop_state;

/* The table. Every entry may fail unless its type is void; an entry marked (optional) may be NULL. */
typedef struct slc_device_ops {
    void (*destroy)(slc_device *device);
    slc_status (*limits)(slc_device *device, slc_device_limits *out);
    slc_status (*allocate)(slc_device *device, int64_t bytes, void **d_memory);
    void (*release)(slc_device *device, void *d_memory);
    slc_status (*pinned_allocate)(slc_device *device, int64_t bytes, slc_pinned *out);
    void (*pinned_release)(slc_device *device, slc_pinned *pinned);
    slc_status (*mapped_allocate)(slc_device *device, int64_t bytes, slc_mapped *out);
    void (*mapped_release)(slc_device *device, slc_mapped *mapped);
    slc_status (*stream_create)(slc_device *device, slc_stream **out);
    void (*stream_destroy)(slc_stream *stream);
    slc_status (*stream_synchronize)(slc_stream *stream);
    slc_status (*event_create)(slc_device *device, bool is_timed, slc_event **out);
    void (*event_destroy)(slc_event *event);
    slc_status (*event_record)(slc_event *event, slc_stream *stream);
    slc_status (*event_wait)(slc_stream *stream, slc_event *event);
    slc_status (*event_query)(slc_event *event, bool *is_done);
    slc_status (*event_synchronize)(slc_event *event);
    slc_status (*event_elapsed)(slc_event *begin, slc_event *end, int64_t *ns);
    slc_status (*copy)(slc_stream *stream, void *dst, const void *src, int64_t bytes,
                       slc_copy_direction direction);
    slc_status (*copy_strided)(slc_stream *stream, void *dst, const slc_layout *dst_layout,
                               const void *src, const slc_layout *src_layout,
                               slc_copy_direction direction);
    slc_status (*set)(slc_stream *stream, void *d_memory, uint8_t value, int64_t bytes);
    /* (optional) enqueue a host function; `argument_bytes` are copied. Host device only. */
    slc_status (*call)(slc_stream *stream, slc_stream_function function, const void *argument,
                       int64_t argument_bytes);
    /* (optional, all four or none) record what is enqueued between begin and end instead of running
     * it, and enqueue it as often as wanted. */
    slc_status (*capture_begin)(slc_stream *stream);
    slc_status (*capture_end)(slc_stream *stream, void **graph);
    slc_status (*graph_launch)(slc_stream *stream, void *graph);
    void (*graph_destroy)(slc_device *device, void *graph);
    /* (optional, only with graphs) a graph that repeats another one until the device says stop. */
    slc_status (*loop_create)(slc_stream *stream, void *body, slc_loop_state *d_state, int64_t most,
                              void **loop);
    /* (optional) copy between two devices of this kind. Nothing in Sluice uses it yet; the engine
     * will, when it takes several devices. */
    slc_status (*peer_copy)(slc_stream *stream, void *dst, slc_device *src_device, const void *src,
                            int64_t bytes);
    /* (optional) enqueue doing nothing for `ns`: how the checking device delays copies. */
    slc_status (*pause)(slc_stream *stream, int64_t ns);
} slc_device_ops;

/* First member of every implementation's device, stream and event. */
struct slc_device {
    const slc_device_ops *ops;
    slc_device_kind kind; /* of the device that computes: a checking device has its inner one's */
    bool has_host_memory; /* device memory is the host's, and pool threads may fill it themselves */
    slc_pool *pool;       /* lent; runs host kernels and large host copies */
    slc_log *log;         /* lent; may be NULL */
};
struct slc_stream {
    slc_device *device;
};
struct slc_event {
    slc_device *device;
    bool is_timed;
};

typedef enum slc_device_choice {
    SLC_CHOOSE_AUTO, /* CUDA if there is a usable card, else the host */
    SLC_CHOOSE_HOST,
    SLC_CHOOSE_CUDA
} slc_device_choice;

typedef struct slc_device_options {
    slc_device_choice choice;
    int cuda_index; /* which card */
    slc_pool *pool; /* lent for the device's life, required */
    slc_log *log;   /* lent; may be NULL */
} slc_device_options;

/* Opens a device. SLC_ERROR_DEVICE with the reason when the one asked for cannot be used ("no CUDA in
 * this build", "no card", the driver's own words); SLC_ERROR_MEMORY. The log is told why auto took the
 * host: a note where there is a card or a driver, else a detail. */
SLC_API SLC_MUST_USE slc_status slc_device_create(const slc_device_options *options,
                                                  slc_device **out);

/* The host device alone, for callers that want no choice. */
SLC_API SLC_MUST_USE slc_status slc_device_create_host(slc_pool *pool, slc_log *log,
                                                       slc_device **out);
SLC_API void slc_device_destroy(slc_device *device);

SLC_API SLC_MUST_USE slc_status slc_device_get_limits(slc_device *device, slc_device_limits *out);

/* Device memory, uninitialised, aligned to at least 256 bytes; `bytes` >= 1. SLC_ERROR_MEMORY. */
SLC_API SLC_MUST_USE slc_status slc_device_allocate(slc_device *device, int64_t bytes,
                                                    void **d_memory);
SLC_API void slc_device_release(slc_device *device, void *d_memory);

/* Host memory that copies run from at full speed, made by mapping huge pages, touching them on all
 * threads and registering them (16 times as fast as cudaHostAlloc). If it cannot be registered it is
 * pageable, `is_pinned` is false and the caller warns once. Zero bytes are legal. SLC_ERROR_MEMORY. */
SLC_API SLC_MUST_USE slc_status slc_pinned_allocate(slc_device *device, int64_t bytes,
                                                    slc_pinned *out);
SLC_API void slc_pinned_release(slc_device *device, slc_pinned *pinned);

/* Pinned host memory with its device alias. SLC_ERROR_MEMORY; there is no pageable fallback. */
SLC_API SLC_MUST_USE slc_status slc_mapped_allocate(slc_device *device, int64_t bytes,
                                                    slc_mapped *out);
SLC_API void slc_mapped_release(slc_device *device, slc_mapped *mapped);

SLC_API SLC_MUST_USE slc_status slc_stream_create(slc_device *device, slc_stream **out);
SLC_API void slc_stream_destroy(slc_stream *stream);

/* Waits for everything enqueued; returns the first failure of anything that ran on the stream. */
SLC_API SLC_MUST_USE slc_status slc_stream_synchronize(slc_stream *stream);

/* Enqueues a copy of `bytes`; both buffers stay untouched and alive until it has run (an event says
 * when). The host side must be pinned for the copy to overlap. */
SLC_API SLC_MUST_USE slc_status slc_stream_copy(slc_stream *stream, void *dst, const void *src,
                                                int64_t bytes, slc_copy_direction direction);

/* Enqueues a copy between two layouts of equal shape and dtype. The layouts are read at once and may
 * be reused; the buffers must live until it has run. */
SLC_API SLC_MUST_USE slc_status slc_stream_copy_strided(slc_stream *stream, void *dst,
                                                        const slc_layout *dst_layout,
                                                        const void *src,
                                                        const slc_layout *src_layout,
                                                        slc_copy_direction direction);

/* Enqueues setting every byte to `value`. */
SLC_API SLC_MUST_USE slc_status slc_stream_set(slc_stream *stream, void *d_memory, uint8_t value,
                                               int64_t bytes);

/* Graphs: what is enqueued on the stream between begin and end is recorded and does not run; launch
 * enqueues all of it at once, which on a card costs a fraction of the single launches. Pointers are
 * recorded, not what they point at. Nothing but work may be enqueued meanwhile: no events, no
 * synchronisation. end is called after a failure too, and then may fail itself; what it gives is the
 * caller's, to be destroyed once nothing launched runs. SLC_ERROR_ARGUMENT on a device that has no
 * graphs, SLC_ERROR_DEVICE when something cannot be recorded. */
SLC_API bool slc_device_has_graphs(const slc_device *device);
SLC_API SLC_MUST_USE slc_status slc_stream_capture_begin(slc_stream *stream);
SLC_API SLC_MUST_USE slc_status slc_stream_capture_end(slc_stream *stream, void **graph);
SLC_API SLC_MUST_USE slc_status slc_stream_launch(slc_stream *stream, void *graph);
SLC_API void slc_graph_destroy(slc_device *device, void *graph);

/* A graph that runs `body` again and again until it has set d_state->is_done (device memory) to
 * something that is not 0, at most `most` >= 1 times, without the host looking on. It is launched on
 * streams of the device of `stream` and destroyed like any graph; `body` must outlive it.
 * SLC_ERROR_UNSUPPORTED where device, toolkit or driver have no such thing: then whoever wants a loop
 * launches the body and copies the state back, again and again. */
SLC_API SLC_MUST_USE slc_status slc_stream_loop(slc_stream *stream, void *body,
                                                slc_loop_state *d_state, int64_t most, void **loop);

/* Enqueues a host function on a host device's stream; the argument is copied (at most 1 KiB).
 * SLC_ERROR_ARGUMENT on a device that has no such thing. */
SLC_API SLC_MUST_USE slc_status slc_stream_call(slc_stream *stream, slc_stream_function function,
                                                const void *argument, int64_t argument_bytes);

/* Events. record: it happens when the stream gets there; a timed one holds a card's stream up for some
 * microseconds more. wait: the stream goes on when it has happened. An event never recorded counts as
 * happened. elapsed: both are timed and have happened. */
SLC_API SLC_MUST_USE slc_status slc_event_create(slc_device *device, slc_event **out);
SLC_API SLC_MUST_USE slc_status slc_event_create_timed(slc_device *device, slc_event **out);
SLC_API void slc_event_destroy(slc_event *event);
SLC_API SLC_MUST_USE slc_status slc_event_record(slc_event *event, slc_stream *stream);
SLC_API SLC_MUST_USE slc_status slc_event_wait(slc_stream *stream, slc_event *event);
SLC_API SLC_MUST_USE slc_status slc_event_query(slc_event *event, bool *is_done);
SLC_API SLC_MUST_USE slc_status slc_event_synchronize(slc_event *event);
SLC_API SLC_MUST_USE slc_status slc_event_elapsed(slc_event *begin, slc_event *end, int64_t *ns);

#ifdef __cplusplus
}
#endif
#endif
