/* One array, read by the kernel of kernels/touch.h: what a job over mapped memory gets at best. */
#include "app/bench_sparse.h"

#include <math.h>
#include <string.h>

#include "core/checked.h"
#include "core/host_memory.h"
#include "kernels/touch.h"

#define GIB (INT64_C(1) << 30)
#define TOUCHES 10000000

#define MOST_BYTES (64 * GIB)
#define QUICK_BYTES (4 * GIB)
#define HOST_BYTES GIB

typedef struct mapped_array {
    const slci_machine *machine;
    slc_mapped mapped;
    void *d_sum;
    slc_stream *stream;
    slc_event *begin, *end;
    int64_t host_bytes, device_bytes; /* reserved */
} mapped_array;

static slc_status open_array(mapped_array *self, int64_t bytes) {
    slc_device *device = self->machine->device;
    const int64_t unit = self->machine->limits.allocation_unit_bytes;
    SLC_TRY(slc_budget_reserve(self->machine->budget, SLC_SPACE_HOST, bytes, "mapped array"));
    self->host_bytes = bytes;
    SLC_TRY(slc_budget_reserve(self->machine->budget, SLC_SPACE_DEVICE, unit, "sum"));
    self->device_bytes = unit;
    SLC_TRY(slc_mapped_allocate(device, bytes, &self->mapped));
    /* On the host device nothing has touched it, and pages of zeros are one page. */
    SLC_TRY(slci_host_touch(self->machine->pool, self->mapped.host, bytes));
    SLC_TRY(slc_device_allocate(device, unit, &self->d_sum));
    SLC_TRY(slc_stream_create(device, &self->stream));
    SLC_TRY(slc_event_create(device, &self->begin));
    SLC_TRY(slc_event_create(device, &self->end));
    return slc_stream_set(self->stream, self->d_sum, 0, (int64_t)sizeof(uint32_t));
}

/* The message of a failure before it stands; reads that are still under way are waited for. */
static slc_status close_array(mapped_array *self, slc_status status) {
    slc_device *device = self->machine->device;
    slc_failure failure;
    slc_status_capture(status, &failure);
    if (self->stream != NULL) {
        const slc_status waited = slc_stream_synchronize(self->stream);
        (void)waited;
    }
    slc_stream_destroy(self->stream);
    slc_event_destroy(self->begin);
    slc_event_destroy(self->end);
    slc_device_release(device, self->d_sum);
    slc_mapped_release(device, &self->mapped);
    slc_budget_release(self->machine->budget, SLC_SPACE_HOST, self->host_bytes);
    slc_budget_release(self->machine->budget, SLC_SPACE_DEVICE, self->device_bytes);
    return status == SLC_OK ? SLC_OK : slc_status_restore(&failure);
}

static slc_status touch_once(mapped_array *self, int64_t bytes, int64_t first, double *seconds) {
    const slc_touch touch = {.d_data = self->mapped.device_alias,
                             .n_elements = bytes / (int64_t)sizeof(uint32_t),
                             .first = first,
                             .n_touches = TOUCHES,
                             .d_sum = self->d_sum};
    SLC_TRY(slc_event_record(self->begin, self->stream));
    SLC_TRY(slc_touch_enqueue(self->stream, &touch));
    SLC_TRY(slc_event_record(self->end, self->stream));
    SLC_TRY(slc_event_synchronize(self->end));
    int64_t ns = 0;
    SLC_TRY(slc_event_elapsed(self->begin, self->end, &ns));
    *seconds = 1e-9 * (double)slc_max_i64(ns, 1);
    return SLC_OK;
}

slc_status slci_bench_sparse_run(const slci_bench_options *options, const slci_machine *machine,
                                 slci_bench_sparse *out) {
    mapped_array self = {.machine = machine};
    const bool is_cuda = machine->device->kind == SLC_DEVICE_CUDA;
    const int64_t most = !is_cuda ? HOST_BYTES : options->is_quick ? QUICK_BYTES : MOST_BYTES;
    const int64_t bytes = slc_min_i64(most, options->run.ram_bytes / 2);
    slc_status status = SLC_OK;
    SLC_TRY_GOTO(done, open_array(&self, bytes));
    double best = INFINITY;
    for (int i = 0; i < 3; i++) {
        double seconds = 0;
        SLC_TRY_GOTO(done, touch_once(&self, bytes, (int64_t)i * TOUCHES, &seconds));
        best = fmin(best, seconds);
    }
    *out = (slci_bench_sparse){.bytes = bytes, .touches_per_s = TOUCHES / best};
done:
    return close_array(&self, status);
}
