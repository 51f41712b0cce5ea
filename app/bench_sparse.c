/* The kernel of kernels/touch.h gives what a job over mapped memory gets at best. The gather job reads
 * the same number of elements at the same kind of places, but by a list that is streamed in, and its
 * result is streamed out; what the data is does not matter, so its source delivers nothing. */
#include "app/bench_sparse.h"

#include <math.h>
#include <stdlib.h>

#include "core/checked.h"
#include "core/source_null.h"
#include "kernels/gather_kernel.h"
#include "kernels/touch.h"

#define MIB (INT64_C(1) << 20)
#define GIB (INT64_C(1) << 30)
#define TOUCHES 10000000

#define MOST_BYTES (64 * GIB)
#define QUICK_BYTES (4 * GIB)

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

/* ---- by a bare kernel -------------------------------------------------------------------------- */

static slc_status measure_bare(const slci_machine *machine, int64_t bytes, double *per_s) {
    mapped_array self = {.machine = machine};
    slc_status status = SLC_OK;
    SLC_TRY_GOTO(done, open_array(&self, bytes));
    double best = INFINITY;
    for (int i = 0; i < 3; i++) {
        double seconds = 0;
        SLC_TRY_GOTO(done, touch_once(&self, bytes, (int64_t)i * TOUCHES, &seconds));
        best = fmin(best, seconds);
    }
    *per_s = TOUCHES / best;
done:
    return close_array(&self, status);
}

/* ---- by the engine ----------------------------------------------------------------------------- */

typedef struct gather_run {
    slc_gather_setup setup;
    slc_job job;
    slc_binding bindings[SLC_GATHER_N_OPERANDS];
    int64_t *index;      /* [TOUCHES] */
    int64_t index_bytes; /* reserved */
} gather_run;

static slc_status make_gather(const slci_machine *machine, int64_t bytes, gather_run *run) {
    const int64_t n = bytes / (int64_t)sizeof(float);
    const slc_gather_request request = {.dtype = SLC_F32,
                                        .rank = 1,
                                        .shape = {n},
                                        .index_dtype = SLC_I64,
                                        .n_index = TOUCHES,
                                        .form = SLC_GATHER_WHOLE};
    slc_layout layout;
    SLC_TRY(slc_gather_choose(&request, &run->setup));
    SLC_TRY(slc_gather_job_init(&run->setup, machine->device->kind, &run->job));
    const int64_t index_bytes = TOUCHES * (int64_t)sizeof *run->index;
    SLC_TRY(slc_budget_reserve(machine->budget, SLC_SPACE_HOST, index_bytes, "list of indices"));
    run->index_bytes = index_bytes;
    run->index = malloc((size_t)index_bytes);
    if (run->index == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for %d indices", TOUCHES);
    }
    for (int64_t i = 0; i < TOUCHES; i++) {
        run->index[i] = slc_touch_place(i, n);
    }
    SLC_TRY(slc_job_full_layout(&run->job, SLC_GATHER_DATA, &layout));
    SLC_TRY(slci_source_create_null("data", &layout, &run->bindings[SLC_GATHER_DATA].source));
    SLC_TRY(slc_job_full_layout(&run->job, SLC_GATHER_INDEX, &layout));
    SLC_TRY(slc_source_create_memory("index", &layout, run->index,
                                     &run->bindings[SLC_GATHER_INDEX].source));
    SLC_TRY(slc_job_full_layout(&run->job, SLC_GATHER_OUT, &layout));
    return slci_sink_create_null("out", &layout, &run->bindings[SLC_GATHER_OUT].sink);
}

static slc_status measure_gather(const slci_bench_options *options, const slci_machine *machine,
                                 int64_t bytes, double *per_s) {
    gather_run run = {.index = NULL};
    slc_status status = SLC_OK;
    /* The list is reserved before the execution takes what is left of the budget. */
    SLC_TRY_GOTO(done, make_gather(machine, bytes, &run));
    slc_execution execution = slci_machine_execution(&options->run, machine);
    execution.request.sparse = SLC_SPARSE_MAPPED;
    execution.request.seconds_per_point = 1 / machine->rates.mapped_touches_per_s;
    execution.engine.bindings = run.bindings;
    slc_plan plan;
    slc_engine_report report;
    SLC_TRY_GOTO(done, slc_execute(&run.job, &execution, &plan, &report));
    *per_s = TOUCHES / report.seconds_total;
done:
    slc_source_destroy(run.bindings[SLC_GATHER_DATA].source);
    slc_source_destroy(run.bindings[SLC_GATHER_INDEX].source);
    slc_sink_destroy(run.bindings[SLC_GATHER_OUT].sink);
    free(run.index);
    slc_budget_release(machine->budget, SLC_SPACE_HOST, run.index_bytes);
    return status;
}

slc_status slci_bench_sparse_run(const slci_bench_options *options, const slci_machine *machine,
                                 slci_bench_sparse *out) {
    const int64_t most = options->is_quick ? QUICK_BYTES : MOST_BYTES;
    slci_bench_sparse result = {.bytes = slc_min_i64(most, options->run.ram_bytes / 3)};
    result.bytes -= result.bytes % MIB;
    SLC_TRY(measure_bare(machine, result.bytes, &result.bare_per_s));
    SLC_TRY(measure_gather(options, machine, result.bytes, &result.gather_per_s));
    *out = result;
    return SLC_OK;
}
