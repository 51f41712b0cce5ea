/* The operands lie in one slab of device memory. What the kernel is given is what an engine tile that
 * covers the whole picture and all rows would have. */
#include "app/bench_direct_run.h"

#include <math.h>
#include <string.h>

#include "core/arena.h"
#include "core/checked.h"
#include "core/fixed.h"
#include "core/job.h"

typedef struct bench_run {
    const slci_direct_run_request *request;
    slc_device *device;
    slc_stream *stream;
    slc_event *begin, *end;
    slc_job job;
    int64_t extent[3];
    slc_layout layout[SLC_DIRECT_N_OPERANDS];
    void *d_operand[SLC_DIRECT_N_OPERANDS];
    void *d_tile;
    void *d_slab;
    slc_pinned pinned;                /* the tile, and then the sums */
    int64_t device_bytes, host_bytes; /* reserved */
} bench_run;

/* ---- memory ----------------------------------------------------------------------------------- */

/* Whole granules and whole kernel tiles, as a plan has them; buffers end where the data do. */
static slc_status find_layouts(bench_run *self, int64_t *bytes) {
    const slc_direct_setup *setup = self->request->setup;
    self->extent[0] = slc_round_up(self->request->data->n, setup->granule_rows);
    self->extent[1] = slc_round_up(setup->geometry.ny, setup->tile_pixels);
    self->extent[2] = slc_round_up(setup->geometry.nx, setup->tile_pixels);
    *bytes = slc_arena_cost((int64_t)sizeof(slc_tile));
    for (int o = 0; o < SLC_DIRECT_N_OPERANDS; o++) {
        SLC_TRY(slc_job_tile_layout(&self->job, o, self->extent, &self->layout[o]));
        *bytes += slc_arena_cost(slc_max_i64(1, slc_layout_bytes(&self->layout[o])));
    }
    *bytes = slc_round_up(*bytes, self->request->machine->limits.allocation_unit_bytes);
    return SLC_OK;
}

static slc_status take_memory(bench_run *self) {
    slc_budget *budget = self->request->machine->budget;
    const int64_t host_bytes = slc_max_i64((int64_t)sizeof(slc_tile),
                                           (int64_t)sizeof(slc_fixed) * self->request->n_pixels);
    int64_t bytes = 0;
    SLC_TRY(find_layouts(self, &bytes));
    SLC_TRY(slc_budget_reserve(budget, SLC_SPACE_DEVICE, bytes, "picture and visibilities"));
    self->device_bytes = bytes;
    SLC_TRY(slc_budget_reserve(budget, SLC_SPACE_HOST, host_bytes, "pixels"));
    self->host_bytes = host_bytes;
    SLC_TRY(slc_device_allocate(self->device, bytes, &self->d_slab));
    SLC_TRY(slc_pinned_allocate(self->device, host_bytes, &self->pinned));
    char *next = self->d_slab;
    self->d_tile = next;
    next += slc_arena_cost((int64_t)sizeof(slc_tile));
    for (int o = 0; o < SLC_DIRECT_N_OPERANDS; o++) {
        self->d_operand[o] = next;
        next += slc_arena_cost(slc_max_i64(1, slc_layout_bytes(&self->layout[o])));
    }
    return SLC_OK;
}

static slc_status put(bench_run *self, int operand, const void *from, int64_t bytes) {
    return slc_stream_copy(self->stream, self->d_operand[operand], from, bytes, SLC_COPY_TO_DEVICE);
}

static slc_status put_data(bench_run *self) {
    const slci_bench_field_data *data = self->request->data;
    const slc_tile tile = {.extent = {data->n, data->geometry.ny, data->geometry.nx}};
    memcpy(self->pinned.host, &tile, sizeof tile);
    SLC_TRY(put(self, SLC_DIRECT_UVW, data->uvw_m, 24 * data->n));
    SLC_TRY(put(self, SLC_DIRECT_VIS, data->vis, 8 * data->n));
    SLC_TRY(put(self, SLC_DIRECT_WEIGHT, data->weight, 4 * data->n));
    SLC_TRY(put(self, SLC_DIRECT_CHANNELS, &data->channel, 8));
    SLC_TRY(slc_stream_copy(self->stream, self->d_tile, self->pinned.host, (int64_t)sizeof tile,
                            SLC_COPY_TO_DEVICE));
    return slc_stream_synchronize(self->stream);
}

/* ---- running ---------------------------------------------------------------------------------- */

static slc_status run_open(bench_run *self, const slci_direct_run_request *request) {
    slc_device *device = request->machine->device;
    *self = (bench_run){.request = request, .device = device};
    SLC_TRY(slc_direct_job_init(request->setup, device->kind, slc_pool_size(device->pool),
                                request->data->n, &self->job));
    SLC_TRY(slc_stream_create(device, &self->stream));
    SLC_TRY(slc_event_create(device, &self->begin));
    SLC_TRY(slc_event_create(device, &self->end));
    SLC_TRY(take_memory(self));
    SLC_TRY(put_data(self));
    return self->job.prepare == NULL ? SLC_OK : self->job.prepare(self->job.state, device);
}

static slc_status run_once(bench_run *self, double *seconds) {
    const int64_t bytes = slc_layout_bytes(&self->layout[SLC_DIRECT_IMAGE]);
    slc_tile_arguments arguments = {.device = self->device,
                                    .stream = self->stream,
                                    .d_tile = self->d_tile,
                                    .full_extent = self->extent,
                                    .layout = self->layout};
    int64_t ns = 0;
    memcpy(arguments.d_operand, self->d_operand, sizeof self->d_operand);
    SLC_TRY(slc_stream_set(self->stream, self->d_operand[SLC_DIRECT_IMAGE], 0, bytes));
    SLC_TRY(slc_event_record(self->begin, self->stream));
    SLC_TRY(self->job.tile(self->job.state, &arguments));
    SLC_TRY(slc_event_record(self->end, self->stream));
    SLC_TRY(slc_stream_synchronize(self->stream));
    SLC_TRY(slc_event_elapsed(self->begin, self->end, &ns));
    *seconds = 1e-9 * (double)slc_max_i64(ns, 1);
    return SLC_OK;
}

/* The first run counts where it took so long that loading and clocks do not show. */
static slc_status run_all(bench_run *self, double *best) {
    double first = 0.0;
    double seconds = 0.0;
    SLC_TRY(run_once(self, &first));
    const bool is_long = first >= SLCI_DIRECT_RUN_LONG_SECONDS;
    *best = is_long || self->request->repeats == 0 ? first : INFINITY;
    for (int i = 0; i < self->request->repeats && !is_long; i++) {
        SLC_TRY(run_once(self, &seconds));
        *best = fmin(*best, seconds);
    }
    return SLC_OK;
}

static slc_status get_sums(bench_run *self, double *sums) {
    const slci_direct_run_request *request = self->request;
    const slc_direct_geometry *geometry = &request->setup->geometry;
    const char *const d_image = self->d_operand[SLC_DIRECT_IMAGE];
    const int64_t across = self->layout[SLC_DIRECT_IMAGE].shape[1];
    slc_fixed *const found = self->pinned.host;
    for (int64_t p = 0; p < request->n_pixels; p++) {
        const int64_t j = request->pixels[p] / geometry->nx;
        const int64_t i = request->pixels[p] % geometry->nx;
        const int64_t at = (j * across + i) * (int64_t)sizeof *found;
        SLC_TRY(slc_stream_copy(self->stream, &found[p], d_image + at, (int64_t)sizeof *found,
                                SLC_COPY_FROM_DEVICE));
    }
    SLC_TRY(slc_stream_synchronize(self->stream));
    for (int64_t p = 0; p < request->n_pixels; p++) {
        sums[p] = slc_fixed_to_double(found[p], request->setup->scale_bits);
    }
    return SLC_OK;
}

/* The message of a failure before it stands; after one the stream may still be at work. */
static slc_status run_close(bench_run *self, slc_status status) {
    slc_budget *budget = self->request->machine->budget;
    slc_failure failure;
    slc_status_capture(status, &failure);
    if (self->stream != NULL) {
        const slc_status rest = slc_stream_synchronize(self->stream);
        (void)rest;
    }
    slc_stream_destroy(self->stream);
    slc_event_destroy(self->begin);
    slc_event_destroy(self->end);
    slc_device_release(self->device, self->d_slab);
    slc_pinned_release(self->device, &self->pinned);
    slc_budget_release(budget, SLC_SPACE_DEVICE, self->device_bytes);
    slc_budget_release(budget, SLC_SPACE_HOST, self->host_bytes);
    return status == SLC_OK ? SLC_OK : slc_status_restore(&failure);
}

slc_status slci_direct_run(const slci_direct_run_request *request, double *sums, double *seconds) {
    bench_run self;
    double best = 0.0;
    slc_status status = SLC_OK;
    SLC_TRY_GOTO(done, run_open(&self, request));
    SLC_TRY_GOTO(done, run_all(&self, &best));
    SLC_TRY_GOTO(done, get_sums(&self, sums));
    *seconds = best;
done:
    return run_close(&self, status);
}
