/* How each rate is measured. Everything is run once untimed, so that pages are there and clocks are
 * up, and the fastest of a few timed runs counts: what disturbs a measurement only makes it slower.
 *
 *     h2d, d2h        one pinned piece over the bus, by events of the stream
 *     tier            ordinary RAM into pinned memory, cut over all threads, by the clock
 *     touches         random 4-byte reads of a buffer that no cache holds, by events
 *     step            the engine itself over tiles that are nothing, by the clock
 *
 * Buffers come and go one after the other, so the most that is held at a time is one of them. */
#include "ooc/probe.h"

#include <math.h>
#include <string.h>

#include "core/checked.h"
#include "core/clock.h"
#include "core/device_host.h"
#include "core/host_memory.h"
#include "core/source_null.h"
#include "ooc/engine.h"

#define MIB (INT64_C(1) << 20)

/* At 16 MiB a copy over PCIe 5 runs at 98 % of what larger ones reach. */
#define COPY_BYTES (16 * MIB)

/* Several times the cache of any card of today (60 MB on an H200) and most of a server's. */
#define CUDA_TOUCH_BYTES (256 * MIB)
#define HOST_TOUCH_BYTES (64 * MIB)

/* Mapped memory is slower the more of it is touched, because the ways to its pages no longer fit what
 * the card remembers of them: on an H200 600 M/s over 256 MiB, 112 over 1 GiB, 48 over 4 GiB, 37 over
 * 32 GiB. What is mapped does not fit the card, so it is large; taking 2 GiB costs 0.1 s. */
#define MAPPED_BYTES (2048 * MIB)
#define LEAST_BYTES COPY_BYTES

/* About 10 ms each at 10^8 reads a second, and 0.4 ms at 4·10^10. */
#define SLOW_TOUCHES (INT64_C(1) << 20)
#define FAST_TOUCHES (INT64_C(1) << 24)

#define TIMED_RUNS 3

/* Enough tiles for the pipeline to be full most of the time: 10 ms on a slow machine. */
#define EMPTY_TILES 256
#define EMPTY_TILE_BYTES 64

/* What one core decodes of compressed data when all are busy. Measured with zstd level 3 on 1 to 16
 * cores of a Xeon: 1.3 GB/s alone, 0.7 GB/s a core together. */
#define DECODE_ALONE 1.3e9
#define DECODE_TOGETHER 0.7e9

typedef struct probe {
    const slc_probe_options *options;
    slc_device *device;
    slc_stream *stream;
    slc_event *begin, *end;
    slc_rates rates;
    slc_device_limits limits;
    int64_t device_bytes, host_bytes; /* what may be taken of either space */
} probe;

/* ---- memory ----------------------------------------------------------------------------------- */

static slc_status reserve(probe *self, slc_space space, int64_t bytes) {
    return slc_budget_reserve(self->options->budget, space, bytes, "probe");
}

static void release(probe *self, slc_space space, int64_t bytes) {
    slc_budget_release(self->options->budget, space, bytes);
}

/* What an allocation really takes of the device. */
static int64_t device_cost(const probe *self, int64_t bytes) {
    return slc_round_up(bytes, self->limits.allocation_unit_bytes);
}

static slc_status take_device(probe *self, int64_t bytes, void **d_memory) {
    SLC_TRY(reserve(self, SLC_SPACE_DEVICE, device_cost(self, bytes)));
    const slc_status status = slc_device_allocate(self->device, bytes, d_memory);
    if (status != SLC_OK) {
        release(self, SLC_SPACE_DEVICE, device_cost(self, bytes));
    }
    return status;
}

static void give_device(probe *self, int64_t bytes, void *d_memory) {
    if (d_memory != NULL) {
        slc_device_release(self->device, d_memory);
        release(self, SLC_SPACE_DEVICE, device_cost(self, bytes));
    }
}

static slc_status take_pinned(probe *self, int64_t bytes, slc_pinned *pinned) {
    SLC_TRY(reserve(self, SLC_SPACE_HOST, bytes));
    const slc_status status = slc_pinned_allocate(self->device, bytes, pinned);
    if (status != SLC_OK) {
        release(self, SLC_SPACE_HOST, bytes);
        return status;
    }
    memset(pinned->host, 0, (size_t)bytes); /* on the host device nothing has touched it yet */
    return SLC_OK;
}

static void give_pinned(probe *self, int64_t bytes, slc_pinned *pinned) {
    if (pinned->host != NULL) {
        slc_pinned_release(self->device, pinned);
        release(self, SLC_SPACE_HOST, bytes);
    }
}

/* Waits for what is enqueued, which after a failure may still use what is about to be given back. */
static slc_status settle(probe *self, slc_status status) {
    slc_failure failure;
    slc_status_capture(status, &failure);
    const slc_status waited = slc_stream_synchronize(self->stream);
    return status == SLC_OK ? waited : slc_status_restore(&failure);
}

/* ---- copies ----------------------------------------------------------------------------------- */

/* Seconds of one enqueued piece of work, the best of a few; `work` may fail. */
typedef slc_status (*enqueue)(probe *self, void *context);

static slc_status time_on_stream(probe *self, enqueue work, void *context, double *seconds) {
    double best = INFINITY;
    for (int run = 0; run <= TIMED_RUNS; run++) {
        SLC_TRY(slc_event_record(self->begin, self->stream));
        SLC_TRY(work(self, context));
        SLC_TRY(slc_event_record(self->end, self->stream));
        SLC_TRY(slc_event_synchronize(self->end));
        int64_t ns = 0;
        SLC_TRY(slc_event_elapsed(self->begin, self->end, &ns));
        best = run > 0 ? fmin(best, 1e-9 * (double)slc_max_i64(ns, 1)) : best;
    }
    *seconds = best;
    return SLC_OK;
}

typedef struct one_copy {
    void *dst;
    const void *src;
    slc_copy_direction direction;
} one_copy;

static slc_status enqueue_copy(probe *self, void *context) {
    const one_copy *copy = context;
    return slc_stream_copy(self->stream, copy->dst, copy->src, COPY_BYTES, copy->direction);
}

static slc_status measure_bus(probe *self) {
    slc_pinned pinned = {0};
    void *d_memory = NULL;
    double in_seconds = 0;
    double out_seconds = 0;
    slc_status status = SLC_OK;
    SLC_TRY_GOTO(done, take_pinned(self, COPY_BYTES, &pinned));
    SLC_TRY_GOTO(done, take_device(self, COPY_BYTES, &d_memory));
    one_copy in = {.dst = d_memory, .src = pinned.host, .direction = SLC_COPY_TO_DEVICE};
    one_copy out = {.dst = pinned.host, .src = d_memory, .direction = SLC_COPY_FROM_DEVICE};
    SLC_TRY_GOTO(done, time_on_stream(self, enqueue_copy, &in, &in_seconds));
    SLC_TRY_GOTO(done, time_on_stream(self, enqueue_copy, &out, &out_seconds));
    self->rates.h2d_bytes_per_s = (double)COPY_BYTES / in_seconds;
    self->rates.d2h_bytes_per_s = (double)COPY_BYTES / out_seconds;
done:
    status = settle(self, status);
    give_device(self, COPY_BYTES, d_memory);
    give_pinned(self, COPY_BYTES, &pinned);
    return status;
}

/* From memory that was written long ago, as a kept tile was, into a staging buffer. */
static slc_status measure_tier(probe *self) {
    const int64_t kept_bytes = self->host_bytes - COPY_BYTES;
    const int64_t n_pieces = slc_min_i64(kept_bytes / COPY_BYTES, TIMED_RUNS + 1);
    const int64_t bytes = slc_max_i64(n_pieces, 1) * COPY_BYTES;
    slc_pool *pool = self->device->pool;
    slc_pinned staging = {0};
    char *kept = NULL;
    void *mapping = NULL;
    bool is_reserved = false;
    slc_status status = SLC_OK;
    if (kept_bytes < COPY_BYTES) {
        return SLC_OK;
    }
    SLC_TRY_GOTO(done, take_pinned(self, COPY_BYTES, &staging));
    SLC_TRY_GOTO(done, reserve(self, SLC_SPACE_HOST, bytes));
    is_reserved = true;
    SLC_TRY_GOTO(done, slci_host_map(bytes, &mapping));
    kept = mapping;
    SLC_TRY_GOTO(done, slci_host_touch(pool, kept, bytes));
    double best = INFINITY;
    for (int64_t run = 0; run <= TIMED_RUNS; run++) {
        const int64_t begin_ns = slc_clock_ns();
        SLC_TRY_GOTO(done, slci_host_run_copy(pool, staging.host,
                                              kept + run % n_pieces * COPY_BYTES, COPY_BYTES));
        const double seconds = 1e-9 * (double)slc_max_i64(slc_clock_ns() - begin_ns, 1);
        best = run > 0 ? fmin(best, seconds) : best;
    }
    self->rates.tier_bytes_per_s = (double)COPY_BYTES / best;
done:
    slci_host_unmap(mapping, bytes);
    if (is_reserved) {
        release(self, SLC_SPACE_HOST, bytes);
    }
    give_pinned(self, COPY_BYTES, &staging);
    return status;
}

/* ---- random reads ----------------------------------------------------------------------------- */

/* Each run reads at places of its own. */
static slc_status enqueue_touches(probe *self, void *context) {
    slc_probe_touches *work = context;
    work->first += work->n_touches;
    return self->options->touch(self->stream, work);
}

static slc_status time_touches(probe *self, slc_probe_touches *work, double *per_second) {
    double seconds = 0;
    SLC_TRY(time_on_stream(self, enqueue_touches, work, &seconds));
    *per_second = (double)work->n_touches / seconds;
    return SLC_OK;
}

static slc_status measure_device_touches(probe *self, void *d_sum) {
    const bool is_cuda = self->device->kind == SLC_DEVICE_CUDA;
    const int64_t bytes =
        slc_min_i64(is_cuda ? CUDA_TOUCH_BYTES : HOST_TOUCH_BYTES, self->device_bytes);
    void *d_data = NULL;
    slc_status status = SLC_OK;
    SLC_TRY_GOTO(done, take_device(self, bytes, &d_data));
    SLC_TRY_GOTO(done, slc_stream_set(self->stream, d_data, 0, bytes));
    slc_probe_touches work = {.d_data = d_data,
                              .n_elements = bytes / (int64_t)sizeof(uint32_t),
                              .n_touches = is_cuda ? FAST_TOUCHES : SLOW_TOUCHES,
                              .d_sum = d_sum};
    SLC_TRY_GOTO(done, time_touches(self, &work, &self->rates.device_touches_per_s));
done:
    status = settle(self, status);
    give_device(self, bytes, d_data);
    return status;
}

static slc_status measure_mapped_touches(probe *self, void *d_sum) {
    if (self->device->kind == SLC_DEVICE_HOST) {
        /* The same memory, reached in the same way. */
        self->rates.mapped_touches_per_s = self->rates.device_touches_per_s;
        return SLC_OK;
    }
    const int64_t bytes = slc_min_i64(MAPPED_BYTES, self->host_bytes);
    slc_mapped mapped = {0};
    SLC_TRY(reserve(self, SLC_SPACE_HOST, bytes));
    slc_status status = SLC_OK;
    SLC_TRY_GOTO(done, slc_mapped_allocate(self->device, bytes, &mapped));
    slc_probe_touches work = {.d_data = mapped.device_alias,
                              .n_elements = bytes / (int64_t)sizeof(uint32_t),
                              .n_touches = SLOW_TOUCHES,
                              .d_sum = d_sum};
    SLC_TRY_GOTO(done, time_touches(self, &work, &self->rates.mapped_touches_per_s));
done:
    status = settle(self, status);
    slc_mapped_release(self->device, &mapped);
    release(self, SLC_SPACE_HOST, bytes);
    return status;
}

static slc_status measure_touches(probe *self) {
    const int64_t sum_bytes = (int64_t)sizeof(uint32_t);
    void *d_sum = NULL;
    slc_status status = SLC_OK;
    SLC_TRY_GOTO(done, take_device(self, sum_bytes, &d_sum));
    SLC_TRY_GOTO(done, slc_stream_set(self->stream, d_sum, 0, sum_bytes));
    SLC_TRY_GOTO(done, measure_device_touches(self, d_sum));
    SLC_TRY_GOTO(done, measure_mapped_touches(self, d_sum));
done:
    status = settle(self, status);
    give_device(self, sum_bytes, d_sum);
    return status;
}

/* ---- the cost of a tile ----------------------------------------------------------------------- */

/* As cheap as an enqueued piece of work can be. */
static slc_status empty_tile(void *state, const slc_tile_arguments *arguments) {
    (void)state;
    return slc_stream_set(arguments->stream, arguments->d_operand[1], 0, EMPTY_TILE_BYTES);
}

static slc_job empty_job(void) {
    slc_job job = {.name = "probe", .n_axes = 1, .n_operands = 2, .tile = empty_tile};
    job.axes[0] = (slc_axis){"byte", (int64_t)EMPTY_TILES * EMPTY_TILE_BYTES, EMPTY_TILE_BYTES,
                             SLC_AXIS_PARALLEL};
    job.operands[0] =
        (slc_operand){.name = "in", .dtype = SLC_U8, .access = SLC_ACCESS_IN, .rank = 1};
    job.operands[1] =
        (slc_operand){.name = "out", .dtype = SLC_U8, .access = SLC_ACCESS_OUT, .rank = 1};
    return job;
}

static slc_status measure_step(probe *self) {
    const slc_job job = empty_job();
    const slc_plan_request request = {.device_budget_bytes = self->device_bytes,
                                      .host_budget_bytes = self->host_bytes,
                                      .allocation_unit_bytes = self->limits.allocation_unit_bytes,
                                      .force_tile = {EMPTY_TILE_BYTES}};
    slc_plan plan;
    SLC_TRY(slc_plan_make(&job, &request, &plan));
    slc_layout layout;
    SLC_TRY(slc_job_full_layout(&job, 0, &layout));
    slc_binding bindings[2] = {0};
    slc_status status = SLC_OK;
    SLC_TRY_GOTO(done, slci_source_create_null("probe", &layout, &bindings[0].source));
    SLC_TRY_GOTO(done, slci_sink_create_null("probe", &layout, &bindings[1].sink));
    const slc_engine_options options = {.device = self->device,
                                        .pool = self->device->pool,
                                        .budget = self->options->budget,
                                        .bindings = bindings};
    slc_engine_report report;
    SLC_TRY_GOTO(done, slc_engine_run(&job, &plan, &options, &report));
    self->rates.step_seconds = report.seconds_total / EMPTY_TILES;
done:
    slc_source_destroy(bindings[0].source);
    slc_sink_destroy(bindings[1].sink);
    return status;
}

/* ---- all of it -------------------------------------------------------------------------------- */

static int64_t left_of(const slc_budget *budget, slc_space space, int64_t most) {
    const slc_budget_use use = slc_budget_get(budget, space);
    return slc_min_i64(use.limit_bytes - use.used_bytes, most);
}

static slc_status open_probe(probe *self) {
    SLC_TRY(slc_stream_create(self->device, &self->stream));
    SLC_TRY(slc_event_create_timed(self->device, &self->begin));
    return slc_event_create_timed(self->device, &self->end);
}

static void close_probe(probe *self) {
    slc_stream_destroy(self->stream);
    slc_event_destroy(self->begin);
    slc_event_destroy(self->end);
}

/* All measurements, one after the other. */
static slc_status measure(probe *self) {
    SLC_TRY(measure_bus(self));
    SLC_TRY(measure_tier(self));
    if (self->options->touch != NULL) {
        SLC_TRY(measure_touches(self));
    }
    SLC_TRY(measure_step(self));
    const double threads = (double)slc_pool_size(self->device->pool);
    self->rates.read_bytes_per_s =
        fmin(self->rates.tier_bytes_per_s, fmax(DECODE_ALONE, threads * DECODE_TOGETHER));
    return SLC_OK;
}

slc_status slc_probe_run(const slc_probe_options *options, slc_rates *rates, bool *is_complete) {
    const bool is_cuda = options->device->kind == SLC_DEVICE_CUDA;
    const int64_t wanted_device = is_cuda ? CUDA_TOUCH_BYTES : HOST_TOUCH_BYTES;
    const int64_t wanted_host = is_cuda ? MAPPED_BYTES : HOST_TOUCH_BYTES;
    probe self = {.options = options, .device = options->device, .rates = *rates};
    SLC_TRY(slc_device_get_limits(options->device, &self.limits));
    /* The sum lies beside the buffer that is touched. */
    const int64_t beside = self.limits.allocation_unit_bytes;
    self.device_bytes = left_of(options->budget, SLC_SPACE_DEVICE, wanted_device + beside) - beside;
    self.device_bytes -= self.device_bytes % beside;
    self.host_bytes = left_of(options->budget, SLC_SPACE_HOST, wanted_host);
    *is_complete = false;
    if (self.device_bytes < LEAST_BYTES || self.host_bytes < LEAST_BYTES) {
        return SLC_OK;
    }
    slc_status status = SLC_OK;
    SLC_TRY_GOTO(done, open_probe(&self));
    SLC_TRY_GOTO(done, measure(&self));
    *rates = self.rates;
    *is_complete = self.device_bytes >= wanted_device && self.host_bytes >= wanted_host &&
                   options->touch != NULL;
done:
    close_probe(&self);
    return status;
}
