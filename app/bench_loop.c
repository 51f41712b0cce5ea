/* The loops keep no statistics and check no budgets inside; what they need is taken beforehand. Each is
 * run once untimed over a few tiles, so that pages are there and clocks are up. */
#include "app/bench_loop.h"

#include <string.h>

#include "core/checked.h"
#include "core/clock.h"
#include "kernels/copy_through.h"

typedef struct loop_slot {
    void *in, *out; /* pinned */
    void *d_in, *d_out;
    slc_event *arrived, *computed, *left;
} loop_slot;

typedef struct loop {
    const slci_loop_request *request;
    slc_device *device;
    int n_slots;
    int64_t device_bytes, host_bytes; /* reserved */
    slc_pinned pinned;
    void *d_slab;
    slc_stream *in, *compute, *out;
    loop_slot slot[SLCI_LOOP_SLOTS];
} loop;

static slc_status take_memory(loop *self) {
    slc_budget *budget = self->request->machine->budget;
    const int64_t unit = self->request->machine->limits.allocation_unit_bytes;
    int64_t bytes = 0;
    if (!slc_checked_mul(self->request->tile_bytes, INT64_C(2) * self->n_slots, &bytes) ||
        bytes > INT64_MAX - unit) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "%d slots of %lld bytes do not fit 64 bits",
                        self->n_slots, (long long)self->request->tile_bytes);
    }
    const int64_t device_bytes = slc_round_up(bytes, unit);
    SLC_TRY(slc_budget_reserve(budget, SLC_SPACE_DEVICE, device_bytes, "loop"));
    self->device_bytes = device_bytes;
    SLC_TRY(slc_budget_reserve(budget, SLC_SPACE_HOST, bytes, "loop"));
    self->host_bytes = bytes;
    SLC_TRY(slc_device_allocate(self->device, device_bytes, &self->d_slab));
    return slc_pinned_allocate(self->device, bytes, &self->pinned);
}

static slc_status loop_open(loop *self, const slci_loop_request *request, int n_slots) {
    *self = (loop){.request = request, .device = request->machine->device, .n_slots = n_slots};
    SLC_TRY(take_memory(self));
    SLC_TRY(slc_stream_create(self->device, &self->in));
    SLC_TRY(slc_stream_create(self->device, &self->compute));
    SLC_TRY(slc_stream_create(self->device, &self->out));
    for (int s = 0; s < n_slots; s++) {
        loop_slot *slot = &self->slot[s];
        const int64_t begin = INT64_C(2) * s * request->tile_bytes;
        slot->in = (char *)self->pinned.host + begin;
        slot->out = (char *)self->pinned.host + begin + request->tile_bytes;
        slot->d_in = (char *)self->d_slab + begin;
        slot->d_out = (char *)self->d_slab + begin + request->tile_bytes;
        SLC_TRY(slc_event_create(self->device, &slot->arrived));
        SLC_TRY(slc_event_create(self->device, &slot->computed));
        SLC_TRY(slc_event_create(self->device, &slot->left));
    }
    return SLC_OK;
}

/* After a failure copies may still be under way; what they say does not matter any more. */
static void wait_for(slc_stream *stream) {
    if (stream != NULL) {
        const slc_status status = slc_stream_synchronize(stream);
        (void)status;
    }
}

/* The message of a failure before it stands. */
static slc_status loop_close(loop *self, slc_status status) {
    slc_budget *budget = self->request->machine->budget;
    slc_failure failure;
    slc_status_capture(status, &failure);
    wait_for(self->in);
    wait_for(self->compute);
    wait_for(self->out);
    slc_stream_destroy(self->in);
    slc_stream_destroy(self->compute);
    slc_stream_destroy(self->out);
    for (int s = 0; s < self->n_slots; s++) {
        slc_event_destroy(self->slot[s].arrived);
        slc_event_destroy(self->slot[s].computed);
        slc_event_destroy(self->slot[s].left);
    }
    slc_device_release(self->device, self->d_slab);
    slc_pinned_release(self->device, &self->pinned);
    slc_budget_release(budget, SLC_SPACE_DEVICE, self->device_bytes);
    slc_budget_release(budget, SLC_SPACE_HOST, self->host_bytes);
    return status == SLC_OK ? SLC_OK : slc_status_restore(&failure);
}

static double seconds_since(int64_t begin_ns) {
    return 1e-9 * (double)slc_max_i64(slc_clock_ns() - begin_ns, 1);
}

/* ---- the bus ---------------------------------------------------------------------------------- */

typedef enum ways { WAY_IN = 1, WAY_OUT = 2, WAY_BOTH = 3 } ways;

static slc_status run_bus(loop *self, ways way, int64_t n, double *bytes_per_s) {
    const int64_t bytes = self->request->tile_bytes;
    const int64_t begin_ns = slc_clock_ns();
    for (int64_t i = 0; i < n; i++) {
        const loop_slot *slot = &self->slot[i % self->n_slots];
        if ((way & WAY_IN) != 0) {
            SLC_TRY(slc_stream_copy(self->in, slot->d_in, slot->in, bytes, SLC_COPY_TO_DEVICE));
        }
        if ((way & WAY_OUT) != 0) {
            SLC_TRY(
                slc_stream_copy(self->out, slot->out, slot->d_out, bytes, SLC_COPY_FROM_DEVICE));
        }
    }
    SLC_TRY(slc_stream_synchronize(self->in));
    SLC_TRY(slc_stream_synchronize(self->out));
    const double n_bytes = (double)n * (double)bytes * (way == WAY_BOTH ? 2.0 : 1.0);
    *bytes_per_s = n_bytes / seconds_since(begin_ns);
    return SLC_OK;
}

slc_status slci_loop_measure_bus(const slci_loop_request *request, slci_loop_bus *out) {
    loop self;
    slci_loop_bus bus = {0};
    slc_status status = SLC_OK;
    SLC_TRY_GOTO(done, loop_open(&self, request, request->n_slots));
    SLC_TRY_GOTO(done, run_bus(&self, WAY_BOTH, request->n_slots, &bus.both_bytes_per_s));
    SLC_TRY_GOTO(done, run_bus(&self, WAY_IN, request->n_tiles, &bus.in_bytes_per_s));
    SLC_TRY_GOTO(done, run_bus(&self, WAY_OUT, request->n_tiles, &bus.out_bytes_per_s));
    SLC_TRY_GOTO(done, run_bus(&self, WAY_BOTH, request->n_tiles, &bus.both_bytes_per_s));
    *out = bus;
done:
    return loop_close(&self, status);
}

/* ---- three streams ---------------------------------------------------------------------------- */

static slc_status run_tile(loop *self, loop_slot *slot) {
    const int64_t bytes = self->request->tile_bytes;
    /* The tile that used the slot is out, so everything before it is done too. */
    SLC_TRY(slc_event_synchronize(slot->left));
    SLC_TRY(slc_stream_copy(self->in, slot->d_in, slot->in, bytes, SLC_COPY_TO_DEVICE));
    SLC_TRY(slc_event_record(slot->arrived, self->in));
    SLC_TRY(slc_event_wait(self->compute, slot->arrived));
    SLC_TRY(slci_copy_through_enqueue(self->compute, slot->d_out, slot->d_in, bytes));
    SLC_TRY(slc_event_record(slot->computed, self->compute));
    SLC_TRY(slc_event_wait(self->out, slot->computed));
    SLC_TRY(slc_stream_copy(self->out, slot->out, slot->d_out, bytes, SLC_COPY_FROM_DEVICE));
    return slc_event_record(slot->left, self->out);
}

static slc_status run_tiles(loop *self, int64_t n, double *seconds) {
    const int64_t begin_ns = slc_clock_ns();
    for (int64_t i = 0; i < n; i++) {
        SLC_TRY(run_tile(self, &self->slot[i % self->n_slots]));
    }
    SLC_TRY(slc_stream_synchronize(self->out));
    *seconds = seconds_since(begin_ns);
    return SLC_OK;
}

slc_status slci_loop_three_streams(const slci_loop_request *request, double *seconds) {
    loop self;
    slc_status status = SLC_OK;
    SLC_TRY_GOTO(done, loop_open(&self, request, request->n_slots));
    SLC_TRY_GOTO(done, run_tiles(&self, INT64_C(2) * request->n_slots, seconds));
    SLC_TRY_GOTO(done, run_tiles(&self, request->n_tiles, seconds));
done:
    return loop_close(&self, status);
}

/* ---- RAM -------------------------------------------------------------------------------------- */

/* Large enough that handing a piece out costs nothing beside it. */
#define COPY_PIECE_BYTES (INT64_C(4) << 20)

typedef struct ram_copy {
    const char *from;
    char *to;
    int64_t bytes;
} ram_copy;

static slc_status copy_piece(void *context, int64_t index, int worker) {
    (void)worker;
    const ram_copy *self = context;
    const int64_t begin = index * COPY_PIECE_BYTES;
    memcpy(self->to + begin, self->from + begin,
           (size_t)slc_min_i64(COPY_PIECE_BYTES, self->bytes - begin));
    return SLC_OK;
}

slc_status slci_loop_copy_ram(slc_pool *pool, const void *from, void *to, int64_t bytes,
                              double *seconds) {
    ram_copy work = {.from = from, .to = to, .bytes = bytes};
    const int64_t begin_ns = slc_clock_ns();
    SLC_TRY(slc_pool_for(pool, slc_ceil_div(bytes, COPY_PIECE_BYTES), copy_piece, &work));
    *seconds = seconds_since(begin_ns);
    return SLC_OK;
}
