/* The host device: its memory is RAM, its streams are threads (core/host_stream.c).
 * It is a device like any other, so that whoever has no card runs the same program, and so that
 * order errors of the engine are real races, which ThreadSanitizer sees. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/checked.h"
#include "core/device_host.h"
#include "core/device_internal.h"
#include "core/host_memory.h"

#define ALLOCATION_UNIT_BYTES 4096

/* From this size on memory is worth huge pages; the heap gives it back to the system when freed. */
#define HUGE_PAGE_BYTES (2 << 20)

static void host_destroy(slc_device *device) {
    free(device);
}

static slc_status host_limits(slc_device *device, slc_device_limits *out) {
    slci_host_limits host;
    SLC_TRY(slci_host_limits_read("", &host));
    slc_device_limits limits = {.total_bytes = host.total_bytes,
                                .free_bytes = host.free_bytes,
                                .allocation_unit_bytes = ALLOCATION_UNIT_BYTES,
                                .n_processors = slc_pool_size(device->pool),
                                .has_fast_double = true,
                                .software = "none"};
    memcpy(limits.name, host.processor, sizeof limits.name);
    limits.name[sizeof limits.name - 1] = '\0';
    *out = limits;
    return SLC_OK;
}

/* From the heap, so that AddressSanitizer guards both ends of a slab. */
static slc_status host_allocate(slc_device *device, int64_t bytes, void **d_memory) {
    (void)device;
    SLC_TRY(slci_host_check_size(bytes));
    const bool is_large = bytes >= HUGE_PAGE_BYTES;
    void *memory = NULL;
    const int error =
        posix_memalign(&memory, is_large ? HUGE_PAGE_BYTES : ALLOCATION_UNIT_BYTES, (size_t)bytes);
    if (error != 0) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "cannot allocate %lld bytes on the host device: %s",
                        (long long)bytes, strerror(error));
    }
    if (is_large) {
        /* Whole huge pages within the block; advice only. */
        (void)madvise(memory, (size_t)(bytes / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES), MADV_HUGEPAGE);
    }
    *d_memory = memory;
    return SLC_OK;
}

static void host_release(slc_device *device, void *d_memory) {
    (void)device;
    free(d_memory);
}

/* There is nothing to register a page with: all memory is as good as pinned. */
static slc_status host_pinned_allocate(slc_device *device, int64_t bytes, slc_pinned *out) {
    (void)device;
    void *host = NULL;
    SLC_TRY(slci_host_map(bytes, &host));
    *out = (slc_pinned){.host = host, .bytes = bytes, .is_pinned = true};
    return SLC_OK;
}

static void host_pinned_release(slc_device *device, slc_pinned *pinned) {
    (void)device;
    slci_host_unmap(pinned->host, pinned->bytes);
}

static slc_status host_mapped_allocate(slc_device *device, int64_t bytes, slc_mapped *out) {
    (void)device;
    void *host = NULL;
    SLC_TRY(slci_host_map(bytes, &host));
    *out = (slc_mapped){.host = host, .device_alias = host, .bytes = bytes};
    return SLC_OK;
}

static void host_mapped_release(slc_device *device, slc_mapped *mapped) {
    (void)device;
    slci_host_unmap(mapped->host, mapped->bytes);
}

static slc_status host_peer_copy(slc_stream *stream, void *dst, slc_device *src_device,
                                 const void *src, int64_t bytes) {
    (void)src_device;
    return slci_host_copy(stream, dst, src, bytes, SLC_COPY_ON_DEVICE);
}

static const slc_device_ops host_ops = {
    .destroy = host_destroy,
    .limits = host_limits,
    .allocate = host_allocate,
    .release = host_release,
    .pinned_allocate = host_pinned_allocate,
    .pinned_release = host_pinned_release,
    .mapped_allocate = host_mapped_allocate,
    .mapped_release = host_mapped_release,
    .stream_create = slci_host_stream_create,
    .stream_destroy = slci_host_stream_destroy,
    .stream_synchronize = slci_host_stream_synchronize,
    .event_create = slci_host_event_create,
    .event_destroy = slci_host_event_destroy,
    .event_record = slci_host_event_record,
    .event_wait = slci_host_event_wait,
    .event_query = slci_host_event_query,
    .event_synchronize = slci_host_event_synchronize,
    .event_elapsed = slci_host_event_elapsed,
    .copy = slci_host_copy,
    .copy_strided = slci_host_copy_strided,
    .set = slci_host_set,
    .call = slci_host_call,
    .capture_begin = slci_host_capture_begin,
    .capture_end = slci_host_capture_end,
    .graph_launch = slci_host_graph_launch,
    .graph_destroy = slci_host_graph_release,
    .loop_create = slci_host_loop_create,
    .peer_copy = host_peer_copy,
    .pause = slci_host_pause,
};

slc_status slc_device_create_host(slc_pool *pool, slc_log *log, slc_device **out) {
    if (pool == NULL) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "the host device needs a thread pool, not NULL");
    }
    slc_device *device = calloc(1, sizeof *device);
    if (device == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for the host device");
    }
    device->ops = &host_ops;
    device->kind = SLC_DEVICE_HOST;
    device->has_host_memory = true;
    device->pool = pool;
    device->log = log;
    *out = device;
    return SLC_OK;
}
