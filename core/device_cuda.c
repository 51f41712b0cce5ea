/* The CUDA device: the table of core/device.h on the CUDA runtime.
 *
 * One object per card, on the card's primary context. Every entry sets the device first, because
 * the current device belongs to the calling thread and callers come on many. Every call is checked;
 * what fails in a function that returns nothing is a warning in the log.
 *
 * Pinned memory is not asked from cudaHostAlloc, which faults pages in on one thread at under 2 GB/s,
 * but mapped by us with huge pages, touched by all threads and then registered: 16 times as fast. */
#include "core/device_cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/checked.h"
#include "core/clock.h"
#include "core/copy_cuda.h"
#include "core/device_internal.h"
#include "core/graph_cuda.h"
#include "core/host_memory.h"
#include "core/spin.h"

/* The driver hands out device memory in pages of this size. */
#define ALLOCATION_UNIT_BYTES (2 << 20)

/* Between two looks at an event: 1 % of a processor. */
#define EVENT_LONGEST_SLEEP_NS 200000

/* slc_pinned.how and slc_mapped.how: how the memory is given back. */
enum { HOW_REGISTERED = 1, HOW_PAGEABLE = 2 };

typedef struct cuda_device {
    slc_device base;
    int index;
    int n_processors;
    int single_to_double;   /* the ratio of their rates: 2 on cards for computing, else 32 or 64 */
    int compute_capability; /* 90 for 9.0 */
    int64_t context_bytes;
    char name[128];
} cuda_device;

typedef struct cuda_stream {
    slc_stream base;
    cudaStream_t stream;
} cuda_stream;

typedef struct cuda_event {
    slc_event base;
    cudaEvent_t event;
} cuda_event;

#define TRY_CUDA(call) SLC_TRY(slc_cuda_status((call), #call))

slc_status slc_cuda_status(cudaError_t error, const char *call) {
    if (error == cudaSuccess) {
        return SLC_OK;
    }
    /* The runtime keeps the error for the thread; left there, the next launch would be blamed. */
    (void)cudaGetLastError();
    const slc_status status =
        error == cudaErrorMemoryAllocation ? SLC_ERROR_MEMORY : SLC_ERROR_DEVICE;
    return SLC_FAIL(status, "%.*s: %s (%s)", (int)strcspn(call, "("), call,
                    cudaGetErrorString(error), cudaGetErrorName(error));
}

static slc_status use_device(const slc_device *device) {
    const cuda_device *self = (const cuda_device *)device;
    TRY_CUDA(cudaSetDevice(self->index));
    return SLC_OK;
}

static void warn_on_failure(slc_device *device, slc_status status) {
    if (status != SLC_OK) {
        slc_log_warning(device->log, "%s", slc_status_message());
    }
}

/* For functions that return nothing. */
static void check_call(slc_device *device, cudaError_t error, const char *call) {
    warn_on_failure(device, slc_cuda_status(error, call));
}

/* ---- memory ----------------------------------------------------------------------------------- */

static void cuda_destroy(slc_device *device) {
    free(device);
}

/* Left empty where the runtime does not say. */
static void describe_software(char *out, size_t bytes) {
    int runtime = 0;
    int driver = 0;
    if (cudaRuntimeGetVersion(&runtime) == cudaSuccess &&
        cudaDriverGetVersion(&driver) == cudaSuccess) {
        (void)snprintf(out, bytes, "CUDA %d.%d, driver %d.%d", runtime / 1000, runtime % 1000 / 10,
                       driver / 1000, driver % 1000 / 10);
    }
}

static slc_status cuda_limits(slc_device *device, slc_device_limits *out) {
    const cuda_device *self = (const cuda_device *)device;
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    SLC_TRY(use_device(device));
    TRY_CUDA(cudaMemGetInfo(&free_bytes, &total_bytes));
    slc_device_limits limits = {.total_bytes = (int64_t)total_bytes,
                                .free_bytes = (int64_t)free_bytes,
                                .context_bytes = self->context_bytes,
                                .allocation_unit_bytes = ALLOCATION_UNIT_BYTES,
                                .n_processors = self->n_processors,
                                .has_fast_double = self->single_to_double <= 2,
                                .compute_capability = self->compute_capability};
    memcpy(limits.name, self->name, sizeof limits.name);
    describe_software(limits.software, sizeof limits.software);
    *out = limits;
    return SLC_OK;
}

static slc_status cuda_allocate(slc_device *device, int64_t bytes, void **d_memory) {
    SLC_TRY(use_device(device));
    void *memory = NULL;
    const slc_status status = slc_cuda_status(cudaMalloc(&memory, (size_t)bytes), "cudaMalloc");
    if (status != SLC_OK) {
        size_t free_bytes = 0;
        size_t total_bytes = 0;
        (void)cudaMemGetInfo(&free_bytes, &total_bytes);
        return slc_status_prefix(status, "%lld bytes of device memory, %lld of %lld are free",
                                 (long long)bytes, (long long)free_bytes, (long long)total_bytes);
    }
    *d_memory = memory;
    return SLC_OK;
}

static void cuda_release(slc_device *device, void *d_memory) {
    warn_on_failure(device, use_device(device));
    check_call(device, cudaFree(d_memory), "cudaFree");
}

/* Maps and touches; the caller registers. */
static slc_status map_touched(slc_device *device, int64_t bytes, void **out) {
    void *host = NULL;
    SLC_TRY(slci_host_map(bytes, &host));
    const slc_status status = slci_host_touch(device->pool, host, bytes);
    if (status != SLC_OK) {
        slci_host_unmap(host, bytes);
        return status;
    }
    *out = host;
    return SLC_OK;
}

static slc_status register_host(void *host, int64_t bytes) {
    TRY_CUDA(cudaHostRegister(host, (size_t)slci_host_mapped_bytes(bytes),
                              cudaHostRegisterPortable | cudaHostRegisterMapped));
    return SLC_OK;
}

static void unregister_and_unmap(slc_device *device, void *host, int64_t bytes) {
    warn_on_failure(device, use_device(device));
    check_call(device, cudaHostUnregister(host), "cudaHostUnregister");
    slci_host_unmap(host, bytes);
}

static slc_status cuda_pinned_allocate(slc_device *device, int64_t bytes, slc_pinned *out) {
    SLC_TRY(use_device(device));
    void *host = NULL;
    SLC_TRY(map_touched(device, bytes, &host));
    const bool is_pinned = register_host(host, bytes) == SLC_OK;
    if (!is_pinned) {
        slc_log_detail(device->log, "%lld bytes stay pageable: %s", (long long)bytes,
                       slc_status_message());
    }
    *out = (slc_pinned){.host = host,
                        .bytes = bytes,
                        .is_pinned = is_pinned,
                        .how = is_pinned ? HOW_REGISTERED : HOW_PAGEABLE};
    return SLC_OK;
}

static void cuda_pinned_release(slc_device *device, slc_pinned *pinned) {
    if (pinned->how == HOW_REGISTERED) {
        unregister_and_unmap(device, pinned->host, pinned->bytes);
    } else {
        slci_host_unmap(pinned->host, pinned->bytes);
    }
}

static slc_status cuda_mapped_allocate(slc_device *device, int64_t bytes, slc_mapped *out) {
    SLC_TRY(use_device(device));
    void *host = NULL;
    SLC_TRY(map_touched(device, bytes, &host));
    if (register_host(host, bytes) != SLC_OK) {
        slci_host_unmap(host, bytes);
        return slc_status_prefix(SLC_ERROR_MEMORY,
                                 "%lld bytes of host memory cannot be mapped for the card",
                                 (long long)bytes);
    }
    void *alias = NULL;
    const slc_status status =
        slc_cuda_status(cudaHostGetDevicePointer(&alias, host, 0), "cudaHostGetDevicePointer");
    if (status != SLC_OK) {
        slc_failure failure; /* giving back may leave a message of its own */
        slc_status_capture(status, &failure);
        unregister_and_unmap(device, host, bytes);
        return slc_status_restore(&failure);
    }
    *out = (slc_mapped){.host = host, .device_alias = alias, .bytes = bytes, .how = HOW_REGISTERED};
    return SLC_OK;
}

static void cuda_mapped_release(slc_device *device, slc_mapped *mapped) {
    unregister_and_unmap(device, mapped->host, mapped->bytes);
}

/* ---- streams and events ----------------------------------------------------------------------- */

static slc_status cuda_stream_create(slc_device *device, slc_stream **out) {
    SLC_TRY(use_device(device));
    cuda_stream *self = calloc(1, sizeof *self);
    if (self == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for a stream");
    }
    self->base.device = device;
    const slc_status status =
        slc_cuda_status(cudaStreamCreateWithFlags(&self->stream, cudaStreamNonBlocking),
                        "cudaStreamCreateWithFlags");
    if (status != SLC_OK) {
        free(self);
        return status;
    }
    *out = &self->base;
    return SLC_OK;
}

static void cuda_stream_destroy(slc_stream *stream) {
    cuda_stream *self = (cuda_stream *)stream;
    warn_on_failure(stream->device, use_device(stream->device));
    check_call(stream->device, cudaStreamDestroy(self->stream), "cudaStreamDestroy");
    free(self);
}

static slc_status cuda_stream_synchronize(slc_stream *stream) {
    SLC_TRY(use_device(stream->device));
    TRY_CUDA(cudaStreamSynchronize(((cuda_stream *)stream)->stream));
    return SLC_OK;
}

/* Waiting threads sleep instead of spinning: the cores are needed for decoding. */
static slc_status cuda_event_create(slc_device *device, bool is_timed, slc_event **out) {
    SLC_TRY(use_device(device));
    cuda_event *self = calloc(1, sizeof *self);
    if (self == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for an event");
    }
    self->base.device = device;
    const slc_status status =
        slc_cuda_status(cudaEventCreateWithFlags(&self->event, is_timed ? cudaEventDefault
                                                                        : cudaEventDisableTiming),
                        "cudaEventCreateWithFlags");
    if (status != SLC_OK) {
        free(self);
        return status;
    }
    *out = &self->base;
    return SLC_OK;
}

static void cuda_event_destroy(slc_event *event) {
    cuda_event *self = (cuda_event *)event;
    warn_on_failure(event->device, use_device(event->device));
    check_call(event->device, cudaEventDestroy(self->event), "cudaEventDestroy");
    free(self);
}

static slc_status cuda_event_record(slc_event *event, slc_stream *stream) {
    SLC_TRY(use_device(stream->device));
    TRY_CUDA(cudaEventRecord(((cuda_event *)event)->event, ((cuda_stream *)stream)->stream));
    return SLC_OK;
}

static slc_status cuda_event_wait(slc_stream *stream, slc_event *event) {
    SLC_TRY(use_device(stream->device));
    TRY_CUDA(cudaStreamWaitEvent(((cuda_stream *)stream)->stream, ((cuda_event *)event)->event, 0));
    return SLC_OK;
}

static slc_status cuda_event_query(slc_event *event, bool *is_done) {
    SLC_TRY(use_device(event->device));
    const cudaError_t error = cudaEventQuery(((cuda_event *)event)->event);
    if (error == cudaErrorNotReady) {
        (void)cudaGetLastError();
        *is_done = false;
        return SLC_OK;
    }
    SLC_TRY(slc_cuda_status(error, "cudaEventQuery"));
    *is_done = true;
    return SLC_OK;
}

/* The runtime has two ways to wait for an event. One keeps a processor busy all the time. The other
 * has the card raise an interrupt, which holds the stream up by some 7 us at each record, waited for
 * or not (an H200: 8 MiB tiles both ways took 179 us, without it 172), and wakes the waiter 70 to 150
 * us late. So it is asked again and again, more and more seldom: late by an eighth of the wait. */
static slc_status cuda_event_synchronize(slc_event *event) {
    SLC_TRY(use_device(event->device));
    const int64_t begin_ns = slc_clock_ns();
    cudaError_t error;
    while ((error = cudaEventQuery(((cuda_event *)event)->event)) == cudaErrorNotReady) {
        (void)cudaGetLastError();
        const int64_t waited_ns = slc_clock_ns() - begin_ns;
        if (waited_ns < SLCI_SPIN_NS) {
            slci_spin_pause();
        } else {
            const int64_t ns = slc_min_i64(waited_ns / 8, EVENT_LONGEST_SLEEP_NS);
            const struct timespec sleep = {.tv_nsec = (long)ns};
            (void)nanosleep(&sleep, NULL);
        }
    }
    return slc_cuda_status(error, "cudaEventQuery");
}

static slc_status cuda_event_elapsed(slc_event *begin, slc_event *end, int64_t *ns) {
    SLC_TRY(use_device(begin->device));
    float milliseconds = 0.0f;
    const cudaError_t error = cudaEventElapsedTime(&milliseconds, ((cuda_event *)begin)->event,
                                                   ((cuda_event *)end)->event);
    if (error == cudaErrorNotReady || error == cudaErrorInvalidResourceHandle) {
        (void)cudaGetLastError();
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "no time can be taken: one of the events was not recorded or has not "
                        "happened yet; synchronise with it first");
    }
    SLC_TRY(slc_cuda_status(error, "cudaEventElapsedTime"));
    *ns = (int64_t)((double)milliseconds * 1e6);
    return SLC_OK;
}

/* ---- copies ----------------------------------------------------------------------------------- */

static enum cudaMemcpyKind copy_kind(slc_copy_direction direction) {
    switch (direction) {
    case SLC_COPY_TO_DEVICE:
        return cudaMemcpyHostToDevice;
    case SLC_COPY_FROM_DEVICE:
        return cudaMemcpyDeviceToHost;
    case SLC_COPY_ON_DEVICE:
        break;
    }
    return cudaMemcpyDeviceToDevice;
}

static slc_status cuda_copy(slc_stream *stream, void *dst, const void *src, int64_t bytes,
                            slc_copy_direction direction) {
    SLC_TRY(use_device(stream->device));
    TRY_CUDA(cudaMemcpyAsync(dst, src, (size_t)bytes, copy_kind(direction),
                             ((cuda_stream *)stream)->stream));
    return SLC_OK;
}

static slc_status copy_kernel(slc_stream *stream, void *dst, const void *src,
                              const slci_copy_plan *plan, slc_copy_direction direction) {
    cudaStream_t cuda = ((cuda_stream *)stream)->stream;
    if (direction != SLC_COPY_ON_DEVICE) {
        const cudaError_t error =
            slci_copy_cuda_pitched(dst, src, plan, copy_kind(direction), cuda);
        if (error != cudaErrorNotSupported) {
            return slc_cuda_status(error, "a copy in pitched parts");
        }
        return SLC_FAIL(SLC_ERROR_UNSUPPORTED,
                        "a copy between host and device moves rows of neighbouring elements, and "
                        "this pair of layouts (%d dimensions) has none; copy it whole and "
                        "rearrange it on the device or the host",
                        plan->rank);
    }
    return slc_cuda_status(slci_copy_cuda_launch(dst, src, plan, cuda), "launching a strided copy");
}

static slc_status cuda_copy_strided(slc_stream *stream, void *dst, const slc_layout *dst_layout,
                                    const void *src, const slc_layout *src_layout,
                                    slc_copy_direction direction) {
    SLC_TRY(use_device(stream->device));
    slci_copy_plan plan;
    slci_copy_plan_init(dst, dst_layout, src, src_layout, &plan);
    char *first_dst = (char *)dst + plan.dst_offset;
    const char *first_src = (const char *)src + plan.src_offset;
    switch (plan.way) {
    case SLCI_COPY_CONTIGUOUS:
        return cuda_copy(stream, first_dst, first_src, plan.n_bytes, direction);
    case SLCI_COPY_PITCHED:
        if (direction == SLC_COPY_ON_DEVICE) {
            break; /* the driver's own is slow with short rows */
        }
        TRY_CUDA(cudaMemcpy2DAsync(first_dst, (size_t)plan.dst_stride[0], first_src,
                                   (size_t)plan.src_stride[0],
                                   (size_t)(plan.shape[1] * plan.unit_bytes), (size_t)plan.shape[0],
                                   copy_kind(direction), ((cuda_stream *)stream)->stream));
        return SLC_OK;
    case SLCI_COPY_TRANSPOSE:
    case SLCI_COPY_GENERAL:
        break;
    }
    return copy_kernel(stream, dst, src, &plan, direction);
}

static slc_status cuda_set(slc_stream *stream, void *d_memory, uint8_t value, int64_t bytes) {
    SLC_TRY(use_device(stream->device));
    TRY_CUDA(cudaMemsetAsync(d_memory, value, (size_t)bytes, ((cuda_stream *)stream)->stream));
    return SLC_OK;
}

static slc_status cuda_peer_copy(slc_stream *stream, void *dst, slc_device *src_device,
                                 const void *src, int64_t bytes) {
    SLC_TRY(use_device(stream->device));
    const cuda_device *to = (const cuda_device *)stream->device;
    const cuda_device *from = (const cuda_device *)src_device;
    TRY_CUDA(cudaMemcpyPeerAsync(dst, to->index, src, from->index, (size_t)bytes,
                                 ((cuda_stream *)stream)->stream));
    return SLC_OK;
}

/* A host function is the only thing that can make a CUDA stream wait for a given time without a
 * kernel that knows the clock's rate. The time travels in the pointer, so nothing is allocated. */
static void CUDART_CB sleep_in_stream(void *argument) {
    const int64_t ns = (int64_t)(intptr_t)argument;
    struct timespec left = {.tv_sec = (time_t)(ns / SLC_NS_PER_S),
                            .tv_nsec = (long)(ns % SLC_NS_PER_S)};
    while (nanosleep(&left, &left) != 0) {
    }
}

static slc_status cuda_pause(slc_stream *stream, int64_t ns) {
    SLC_TRY(use_device(stream->device));
    TRY_CUDA(
        cudaLaunchHostFunc(((cuda_stream *)stream)->stream, sleep_in_stream, (void *)(intptr_t)ns));
    return SLC_OK;
}

/* ---- graphs ----------------------------------------------------------------------------------- */

static slc_status cuda_capture_begin(slc_stream *stream) {
    SLC_TRY(use_device(stream->device));
    TRY_CUDA(
        cudaStreamBeginCapture(((cuda_stream *)stream)->stream, cudaStreamCaptureModeThreadLocal));
    return SLC_OK;
}

static slc_status cuda_capture_end(slc_stream *stream, void **graph) {
    SLC_TRY(use_device(stream->device));
    slci_graph_cuda *made = NULL;
    SLC_TRY(slc_cuda_status(slci_graph_cuda_end(((cuda_stream *)stream)->stream, &made),
                            "recording a graph"));
    *graph = made;
    return SLC_OK;
}

static slc_status cuda_loop_create(slc_stream *stream, void *body, slc_loop_state *d_state,
                                   int64_t most, void **loop) {
    SLC_TRY(use_device(stream->device));
    slci_graph_cuda *made = NULL;
    const cudaError_t error =
        slci_graph_cuda_loop(((cuda_stream *)stream)->stream, body, d_state, most, &made);
    if (error == cudaErrorNotSupported || error == cudaErrorCallRequiresNewerDriver) {
        (void)cudaGetLastError();
        return SLC_FAIL(SLC_ERROR_UNSUPPORTED, "loops on the card need CUDA 12.4 and its driver");
    }
    SLC_TRY(slc_cuda_status(error, "making a graph that loops"));
    *loop = made;
    return SLC_OK;
}

static slc_status cuda_graph_launch(slc_stream *stream, void *graph) {
    SLC_TRY(use_device(stream->device));
    return slc_cuda_status(slci_graph_cuda_launch(graph, ((cuda_stream *)stream)->stream),
                           "cudaGraphLaunch");
}

static void cuda_graph_destroy(slc_device *device, void *graph) {
    warn_on_failure(device, use_device(device));
    check_call(device, slci_graph_cuda_destroy(graph), "cudaGraphExecDestroy");
}

/* ---- opening ---------------------------------------------------------------------------------- */

static const slc_device_ops cuda_ops = {
    .destroy = cuda_destroy,
    .limits = cuda_limits,
    .allocate = cuda_allocate,
    .release = cuda_release,
    .pinned_allocate = cuda_pinned_allocate,
    .pinned_release = cuda_pinned_release,
    .mapped_allocate = cuda_mapped_allocate,
    .mapped_release = cuda_mapped_release,
    .stream_create = cuda_stream_create,
    .stream_destroy = cuda_stream_destroy,
    .stream_synchronize = cuda_stream_synchronize,
    .event_create = cuda_event_create,
    .event_destroy = cuda_event_destroy,
    .event_record = cuda_event_record,
    .event_wait = cuda_event_wait,
    .event_query = cuda_event_query,
    .event_synchronize = cuda_event_synchronize,
    .event_elapsed = cuda_event_elapsed,
    .copy = cuda_copy,
    .copy_strided = cuda_copy_strided,
    .set = cuda_set,
    .capture_begin = cuda_capture_begin,
    .capture_end = cuda_capture_end,
    .graph_launch = cuda_graph_launch,
    .graph_destroy = cuda_graph_destroy,
    .loop_create = cuda_loop_create,
    .peer_copy = cuda_peer_copy,
    .pause = cuda_pause,
};

static slc_status describe_card(cuda_device *self) {
    struct cudaDeviceProp properties;
    TRY_CUDA(cudaGetDeviceProperties(&properties, self->index));
    if (properties.canMapHostMemory == 0) {
        return SLC_FAIL(SLC_ERROR_DEVICE, "card %d (%s) cannot reach host memory", self->index,
                        properties.name);
    }
    (void)snprintf(self->name, sizeof self->name, "%.127s", properties.name);
    self->n_processors = properties.multiProcessorCount;
    self->compute_capability = 10 * properties.major + properties.minor;
    TRY_CUDA(cudaDeviceGetAttribute(&self->single_to_double,
                                    cudaDevAttrSingleToDoublePrecisionPerfRatio, self->index));
    cudaError_t error = slci_copy_cuda_load();
    error = error == cudaSuccess ? slci_graph_cuda_load() : error;
    if (error == cudaErrorNoKernelImageForDevice || error == cudaErrorInvalidDeviceFunction) {
        (void)cudaGetLastError();
        return SLC_FAIL(SLC_ERROR_DEVICE,
                        "this Sluice was built for other cards than %s (compute capability %d.%d); "
                        "build again with CMAKE_CUDA_ARCHITECTURES=%d%d",
                        properties.name, properties.major, properties.minor, properties.major,
                        properties.minor);
    }
    return slc_cuda_status(error, "loading the kernels of copies and loops");
}

slc_status slci_device_create_cuda(int index, slc_pool *pool, slc_log *log, slc_device **out) {
    SLC_TRY(slci_cuda_find_card(index));
    TRY_CUDA(cudaSetDevice(index));
    TRY_CUDA(cudaFree(NULL)); /* makes the context */
    cuda_device *self = calloc(1, sizeof *self);
    if (self == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for a CUDA device");
    }
    self->base = (slc_device){.ops = &cuda_ops, .kind = SLC_DEVICE_CUDA, .pool = pool, .log = log};
    self->index = index;
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    slc_status status = SLC_OK;
    SLC_TRY_GOTO(failed, describe_card(self));
    SLC_TRY_GOTO(failed,
                 slc_cuda_status(cudaMemGetInfo(&free_bytes, &total_bytes), "cudaMemGetInfo"));
    /* What is in use on the card before our first allocation. The runtime tells no finer: programs
     * that share the card are in it. */
    self->context_bytes = (int64_t)(total_bytes - free_bytes);
    slc_log_note(log, "using card %d, %s", index, self->name);
    *out = &self->base;
    return SLC_OK;
failed:
    free(self);
    return status;
}

cudaStream_t slc_stream_get_cuda(slc_stream *stream) {
    slc_stream *inner = slci_check_inner_stream(stream);
    if (inner->device->kind != SLC_DEVICE_CUDA) {
        return NULL;
    }
    return ((cuda_stream *)inner)->stream;
}
