/* The kernel of kernels/touch.h gives what random reads in no order get. The gather job reads the same
 * number of elements at the same kind of places, but by a list that is streamed in, and its result is
 * streamed out; it may read them in an order of its own, so it may be the faster one. What the data is
 * does not matter here, so its source delivers nothing: app/bench_choice.c looks at values. */
#include "app/bench_sparse.h"

#include <math.h>
#include <stdlib.h>

#include "core/checked.h"
#include "core/source_null.h"
#include "kernels/gather_kernel.h"
#include "kernels/touch.h"

#define MIB (INT64_C(1) << 20)
#define GIB (INT64_C(1) << 30)

#define CUDA_TOUCHES 10000000
#define CUDA_SMALL_BYTES GIB
#define CUDA_LARGE_BYTES (64 * GIB)
#define CUDA_QUICK_BYTES (4 * GIB)

#define HOST_TOUCHES 1000000
#define HOST_SMALL_BYTES (32 * MIB)
#define HOST_LARGE_BYTES (256 * MIB)
#define HOST_QUICK_BYTES (64 * MIB)

/* So many elements for each that is touched, at least: the list is small beside the array. */
#define LEAST_SPREAD 16

/* More than any bus carries. */
#define MEMORY_BYTES_PER_S 1e12

/* In turns, the best of which counts. */
#define BARE_REPEATS 3

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
    SLC_TRY(slc_event_create_timed(device, &self->begin));
    SLC_TRY(slc_event_create_timed(device, &self->end));
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

static slc_status touch_once(mapped_array *self, const slci_bench_sparse_at *at, int64_t first,
                             double *seconds) {
    const slc_touch touch = {.d_data = self->mapped.device_alias,
                             .n_elements = at->bytes / (int64_t)sizeof(uint32_t),
                             .first = first,
                             .n_touches = at->n_touches,
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

static slc_status measure_bare(const slci_machine *machine, slci_bench_sparse_at *at) {
    mapped_array self = {.machine = machine};
    slc_status status = SLC_OK;
    SLC_TRY_GOTO(done, open_array(&self, at->bytes));
    double best = INFINITY;
    for (int i = 0; i < BARE_REPEATS; i++) {
        double seconds = 0;
        SLC_TRY_GOTO(done, touch_once(&self, at, i * at->n_touches, &seconds));
        best = fmin(best, seconds);
    }
    at->bare_per_s = (double)at->n_touches / best;
done:
    return close_array(&self, status);
}

/* ---- by the engine ----------------------------------------------------------------------------- */

typedef struct gather_run {
    slc_gather_setup setup;
    slc_job job;
    slc_binding bindings[SLC_GATHER_N_OPERANDS];
    int64_t *index;      /* [n_touches] */
    int64_t index_bytes; /* reserved */
} gather_run;

static slc_status make_gather(const slci_machine *machine, const slci_bench_sparse_at *at,
                              gather_run *run) {
    const int64_t n = at->bytes / (int64_t)sizeof(float);
    const slc_gather_request request = {.dtype = SLC_F32,
                                        .rank = 1,
                                        .shape = {n},
                                        .index_dtype = SLC_I64,
                                        .n_index = at->n_touches,
                                        .form = SLC_GATHER_WHOLE,
                                        .is_ordered = true};
    slc_layout layout;
    SLC_TRY(slc_gather_choose(&request, &run->setup));
    SLC_TRY(slc_gather_job_init(&run->setup, machine->device->kind, &run->job));
    const int64_t index_bytes = at->n_touches * (int64_t)sizeof *run->index;
    SLC_TRY(slc_budget_reserve(machine->budget, SLC_SPACE_HOST, index_bytes, "list of indices"));
    run->index_bytes = index_bytes;
    run->index = malloc((size_t)index_bytes);
    if (run->index == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for %lld indices", (long long)at->n_touches);
    }
    for (int64_t i = 0; i < at->n_touches; i++) {
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
                                 slci_bench_sparse_at *at) {
    gather_run run = {.index = NULL};
    slc_status status = SLC_OK;
    /* The list is reserved before the execution takes what is left of the budget. */
    SLC_TRY_GOTO(done, make_gather(machine, at, &run));
    slc_execution execution = slci_machine_execution(&options->run, machine);
    execution.request.sparse = SLC_SPARSE_MAPPED;
    if (machine->device->kind == SLC_DEVICE_CUDA) {
        execution.request.seconds_per_tile = slc_gather_sweep_seconds(&run.setup);
        execution.request.rates.mapped_touches_per_s = SLC_GATHER_ORDERED_TOUCHES_PER_S;
    }
    /* The list comes from memory, and the result goes nowhere. */
    slc_rates *rates = &execution.request.rates;
    rates->disk_bytes_per_s = rates->write_bytes_per_s = MEMORY_BYTES_PER_S;
    rates->read_bytes_per_s = rates->tier_bytes_per_s;
    execution.engine.bindings = run.bindings;
    slc_plan plan;
    slc_engine_report report;
    SLC_TRY_GOTO(done, slc_execute(&run.job, &execution, &plan, &report));
    at->gather_per_s = (double)at->n_touches / report.seconds_total;
done:
    slc_source_destroy(run.bindings[SLC_GATHER_DATA].source);
    slc_source_destroy(run.bindings[SLC_GATHER_INDEX].source);
    slc_sink_destroy(run.bindings[SLC_GATHER_OUT].sink);
    free(run.index);
    slc_budget_release(machine->budget, SLC_SPACE_HOST, run.index_bytes);
    return status;
}

static slci_bench_sparse choose_sizes(const slci_bench_options *options,
                                      const slci_machine *machine) {
    const bool is_cuda = machine->device->kind == SLC_DEVICE_CUDA;
    const int64_t quick = is_cuda ? CUDA_QUICK_BYTES : HOST_QUICK_BYTES;
    const int64_t large = is_cuda ? CUDA_LARGE_BYTES : HOST_LARGE_BYTES;
    const int64_t most =
        slc_min_i64(options->is_quick ? quick : large, options->run.ram_bytes / 4 * 3);
    const int64_t small = is_cuda ? CUDA_SMALL_BYTES : HOST_SMALL_BYTES;
    slci_bench_sparse sizes = {.n = 0};
    if (small < most) {
        sizes.at[sizes.n++].bytes = small;
    }
    sizes.at[sizes.n++].bytes = slc_max_i64(most - most % MIB, MIB);
    for (int i = 0; i < sizes.n; i++) {
        const int64_t n_elements = sizes.at[i].bytes / (int64_t)sizeof(float);
        sizes.at[i].n_touches =
            slc_min_i64(is_cuda ? CUDA_TOUCHES : HOST_TOUCHES, n_elements / LEAST_SPREAD);
    }
    return sizes;
}

slc_status slci_bench_sparse_run(const slci_bench_options *options, const slci_machine *machine,
                                 slci_bench_sparse *out) {
    slci_bench_sparse result = choose_sizes(options, machine);
    for (int i = 0; i < result.n; i++) {
        SLC_TRY(measure_bare(machine, &result.at[i]));
        SLC_TRY(measure_gather(options, machine, &result.at[i]));
    }
    *out = result;
    return SLC_OK;
}
