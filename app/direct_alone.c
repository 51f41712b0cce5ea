/* The operands lie in one slab of device memory, as an engine would lay them out. */
#include "app/direct_alone.h"

#include <string.h>

#include "core/arena.h"
#include "core/checked.h"

/* ---- memory ----------------------------------------------------------------------------------- */

/* Whole granules and whole kernel tiles, as a plan has them; buffers end where the data do. */
static slc_status find_layouts(slci_direct_alone *self, const slci_direct_alone_request *request,
                               int64_t *bytes) {
    const slc_direct_setup *setup = &self->setup;
    self->extent[0] = slc_round_up(request->n_rows, setup->granule_rows);
    self->extent[1] = slc_round_up(setup->geometry.ny, setup->tile_pixels);
    self->extent[2] = slc_round_up(setup->geometry.nx, setup->tile_pixels);
    if (request->full_extent != NULL) {
        memcpy(self->extent, request->full_extent, sizeof self->extent);
    }
    *bytes = slc_arena_cost((int64_t)sizeof(slc_tile));
    for (int o = 0; o < SLC_DIRECT_N_OPERANDS; o++) {
        SLC_TRY(slc_job_tile_layout(&self->job, o, self->extent, &self->layout[o]));
        *bytes += slc_arena_cost(slc_max_i64(1, slc_layout_bytes(&self->layout[o])));
    }
    *bytes = slc_round_up(*bytes, self->machine->limits.allocation_unit_bytes);
    return SLC_OK;
}

static slc_status take_memory(slci_direct_alone *self, const slci_direct_alone_request *request) {
    const slci_machine *machine = self->machine;
    const int64_t host_bytes = slc_max_i64((int64_t)sizeof(slc_tile), request->pinned_bytes);
    int64_t bytes = 0;
    SLC_TRY(find_layouts(self, request, &bytes));
    SLC_TRY(
        slc_budget_reserve(machine->budget, SLC_SPACE_DEVICE, bytes, "picture and visibilities"));
    self->device_bytes = bytes;
    SLC_TRY(slc_budget_reserve(machine->budget, SLC_SPACE_HOST, host_bytes, "staging"));
    self->host_bytes = host_bytes;
    SLC_TRY(slc_device_allocate(machine->device, bytes, &self->d_slab));
    SLC_TRY(slc_pinned_allocate(machine->device, host_bytes, &self->pinned));
    char *next = self->d_slab;
    self->d_tile = next;
    next += slc_arena_cost((int64_t)sizeof(slc_tile));
    for (int o = 0; o < SLC_DIRECT_N_OPERANDS; o++) {
        self->d_operand[o] = next;
        next += slc_arena_cost(slc_max_i64(1, slc_layout_bytes(&self->layout[o])));
    }
    return SLC_OK;
}

/* What the first tile of the job has of the data and of the picture. */
static slc_status put_tile(slci_direct_alone *self, int64_t n_rows) {
    const slc_direct_geometry *geometry = &self->setup.geometry;
    const slc_tile tile = {.extent = {slc_min_i64(self->extent[0], n_rows),
                                      slc_min_i64(self->extent[1], geometry->ny),
                                      slc_min_i64(self->extent[2], geometry->nx)}};
    memcpy(self->pinned.host, &tile, sizeof tile);
    SLC_TRY(slc_stream_copy(self->stream, self->d_tile, self->pinned.host, (int64_t)sizeof tile,
                            SLC_COPY_TO_DEVICE));
    return slc_stream_synchronize(self->stream);
}

/* ---- running ---------------------------------------------------------------------------------- */

slc_status slci_direct_alone_open(const slci_direct_alone_request *request,
                                  slci_direct_alone *self) {
    slc_device *device = request->machine->device;
    *self = (slci_direct_alone){.machine = request->machine, .setup = *request->setup};
    SLC_TRY(slc_direct_job_init(&self->setup, device->kind, slc_pool_size(device->pool),
                                request->n_rows, &self->job));
    SLC_TRY(slc_stream_create(device, &self->stream));
    SLC_TRY(slc_event_create_timed(device, &self->begin));
    SLC_TRY(slc_event_create_timed(device, &self->end));
    SLC_TRY(take_memory(self, request));
    SLC_TRY(put_tile(self, request->n_rows));
    return self->job.prepare == NULL ? SLC_OK : self->job.prepare(self->job.state, device);
}

slc_status slci_direct_alone_put(slci_direct_alone *self, int operand, int64_t at_bytes,
                                 const void *from, int64_t bytes) {
    return slc_stream_copy(self->stream, (char *)self->d_operand[operand] + at_bytes, from, bytes,
                           SLC_COPY_TO_DEVICE);
}

slc_status slci_direct_alone_run(slci_direct_alone *self, double *seconds) {
    const int64_t bytes = slc_layout_bytes(&self->layout[SLC_DIRECT_IMAGE]);
    slc_tile_arguments arguments = {.device = self->machine->device,
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

slc_status slci_direct_alone_close(slci_direct_alone *self, slc_status status) {
    slc_device *device = self->machine->device;
    slc_budget *budget = self->machine->budget;
    slc_failure failure;
    slc_status_capture(status, &failure);
    if (self->stream != NULL) {
        const slc_status rest = slc_stream_synchronize(self->stream);
        (void)rest;
    }
    slc_stream_destroy(self->stream);
    slc_event_destroy(self->begin);
    slc_event_destroy(self->end);
    slc_device_release(device, self->d_slab);
    slc_pinned_release(device, &self->pinned);
    slc_budget_release(budget, SLC_SPACE_DEVICE, self->device_bytes);
    slc_budget_release(budget, SLC_SPACE_HOST, self->host_bytes);
    return status == SLC_OK ? SLC_OK : slc_status_restore(&failure);
}
