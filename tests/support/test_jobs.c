#include "tests/support/test_jobs.h"

#include <stdatomic.h>
#include <time.h>

/* Counts what a run does and fails where it is told to. */
struct test_job_state {
    test_faults faults;
    atomic_int_least64_t n_reads, n_writes, n_tiles;
};

static void sleep_us(int64_t us) {
    if (us == 0) {
        return; /* even no time at all takes some 50 us */
    }
    const struct timespec span = {.tv_sec = (time_t)(us / 1000000),
                                  .tv_nsec = (long)(us % 1000000) * 1000};
    (void)nanosleep(&span, NULL);
}

typedef struct faulty_source {
    slc_source base;
    slc_source *inner;
    struct test_job_state *state;
} faulty_source;

static slc_status faulty_read(slc_source *source, const slc_box *box, void *const *dst) {
    faulty_source *self = (faulty_source *)source;
    if (atomic_fetch_add(&self->state->n_reads, 1) + 1 == self->state->faults.fail_read) {
        return SLC_FAIL(SLC_ERROR_INPUT, "made to fail: read");
    }
    sleep_us(self->state->faults.slow_read_us);
    return slc_source_read(self->inner, box, dst);
}

static void faulty_source_destroy(slc_source *source) {
    slc_source_destroy(((faulty_source *)source)->inner);
    free(source);
}

static const slc_source_ops faulty_source_ops = {.read = faulty_read,
                                                 .destroy = faulty_source_destroy};

typedef struct faulty_sink {
    slc_sink base;
    slc_sink *inner;
    struct test_job_state *state;
} faulty_sink;

static slc_status faulty_write(slc_sink *sink, const slc_box *box, const void *src) {
    faulty_sink *self = (faulty_sink *)sink;
    if (atomic_fetch_add(&self->state->n_writes, 1) + 1 == self->state->faults.fail_write) {
        return SLC_FAIL(SLC_ERROR_OUTPUT, "made to fail: write");
    }
    return slc_sink_write(self->inner, box, src);
}

static slc_status faulty_commit(slc_sink *sink) {
    return slc_sink_commit(((faulty_sink *)sink)->inner);
}

static void faulty_sink_destroy(slc_sink *sink) {
    slc_sink_destroy(((faulty_sink *)sink)->inner);
    free(sink);
}

static const slc_sink_ops faulty_sink_ops = {.write = faulty_write,
                                             .commit = faulty_commit,
                                             .destroy = faulty_sink_destroy};

int64_t test_product_a(int64_t row, int64_t y) {
    return row * 31 % 1009 + y * 7 % 101;
}

int64_t test_product_b(int64_t row, int64_t x) {
    return row * 17 % 499 - x * 3 % 97;
}

/* What a tile needs on the stream's thread. */
typedef struct tile_call {
    struct test_job_state *state;
    const slc_tile *tile;
    const int64_t *a, *b;
    int64_t *out;
    int64_t a_stride, b_stride, out_stride; /* elements from row to row */
} tile_call;

static slc_status begin_tile(struct test_job_state *state) {
    if (atomic_fetch_add(&state->n_tiles, 1) + 1 == state->faults.fail_tile) {
        return SLC_FAIL(SLC_ERROR_DEVICE, "made to fail: tile");
    }
    sleep_us(state->faults.slow_tile_us);
    return SLC_OK;
}

static slc_status product_run(void *argument) {
    const tile_call *call = argument;
    SLC_TRY(begin_tile(call->state));
    for (int64_t r = 0; r < call->tile->extent[0]; r++) {
        for (int64_t y = 0; y < call->tile->extent[1]; y++) {
            for (int64_t x = 0; x < call->tile->extent[2]; x++) {
                call->out[y * call->out_stride + x] +=
                    call->a[r * call->a_stride + y] * call->b[r * call->b_stride + x];
            }
        }
    }
    return SLC_OK;
}

static slc_status turn_run(void *argument) {
    const tile_call *call = argument;
    SLC_TRY(begin_tile(call->state));
    for (int64_t i = 0; i < call->tile->extent[0]; i++) {
        for (int64_t j = 0; j < call->tile->extent[1]; j++) {
            call->out[j * call->out_stride + i] = call->a[i * call->a_stride + j];
        }
    }
    return SLC_OK;
}

static slc_status take_run(void *argument) {
    const tile_call *call = argument;
    SLC_TRY(begin_tile(call->state));
    for (int64_t i = 0; i < call->tile->extent[0]; i++) {
        call->out[i] = call->a[call->b[i]];
    }
    return SLC_OK;
}

static tile_call make_call(void *state, const slc_tile_arguments *arguments, int n_inputs) {
    tile_call call = {.state = state,
                      .tile = arguments->d_tile,
                      .a = arguments->d_operand[0],
                      .out = arguments->d_operand[n_inputs],
                      .a_stride = arguments->layout[0].shape[1],
                      .out_stride = arguments->layout[n_inputs].shape[1]};
    if (n_inputs > 1) {
        call.b = arguments->d_operand[1];
        call.b_stride = arguments->layout[1].shape[1];
    }
    return call;
}

static slc_status product_tile(void *state, const slc_tile_arguments *arguments) {
    const tile_call call = make_call(state, arguments, 2);
    return slc_stream_call(arguments->stream, product_run, &call, (int64_t)sizeof call);
}

static slc_status turn_tile(void *state, const slc_tile_arguments *arguments) {
    const tile_call call = make_call(state, arguments, 1);
    return slc_stream_call(arguments->stream, turn_run, &call, (int64_t)sizeof call);
}

static slc_status take_tile(void *state, const slc_tile_arguments *arguments) {
    const tile_call call = make_call(state, arguments, 2);
    return slc_stream_call(arguments->stream, take_run, &call, (int64_t)sizeof call);
}

static slc_operand operand_2d(const char *name, slc_access access, int slow_axis, int fast_axis) {
    slc_operand operand = {.name = name, .dtype = SLC_I64, .access = access, .rank = 2};
    operand.axes[0] = slow_axis;
    operand.axes[1] = fast_axis;
    return operand;
}

slc_job test_product_job(int64_t n_rows, int64_t ny, int64_t nx, int64_t row_granule,
                         int64_t pixel_granule) {
    slc_job job = {.name = "product", .n_axes = 3, .n_operands = 3, .tile = product_tile};
    job.axes[0] = (slc_axis){"row", n_rows, row_granule, SLC_AXIS_REDUCED};
    job.axes[1] = (slc_axis){"y", ny, pixel_granule, SLC_AXIS_PARALLEL};
    job.axes[2] = (slc_axis){"x", nx, pixel_granule, SLC_AXIS_PARALLEL};
    job.operands[0] = operand_2d("a", SLC_ACCESS_IN, 0, 1);
    job.operands[1] = operand_2d("b", SLC_ACCESS_IN, 0, 2);
    job.operands[2] = operand_2d("image", SLC_ACCESS_UPDATE, 1, 2);
    return job;
}

slc_job test_turn_job(int64_t ni, int64_t nj, int64_t granule) {
    slc_job job = {.name = "turn", .n_axes = 2, .n_operands = 2, .tile = turn_tile};
    job.axes[0] = (slc_axis){"i", ni, granule, SLC_AXIS_PARALLEL};
    job.axes[1] = (slc_axis){"j", nj, granule, SLC_AXIS_PARALLEL};
    job.operands[0] = operand_2d("in", SLC_ACCESS_IN, 0, 1);
    job.operands[1] = operand_2d("out", SLC_ACCESS_OUT, 1, 0);
    return job;
}

static slc_job take_job(int64_t n_data, int64_t n_index, int64_t granule) {
    slc_job job = {.name = "take", .n_axes = 1, .n_operands = 3, .tile = take_tile};
    job.axes[0] = (slc_axis){"i", n_index, granule, SLC_AXIS_PARALLEL};
    job.operands[0] = (slc_operand){.name = "data",
                                    .dtype = SLC_I64,
                                    .access = SLC_ACCESS_IN,
                                    .rank = 1,
                                    .axes = {SLC_AXIS_FIXED},
                                    .fixed_extent = {n_data},
                                    .is_sparse = true,
                                    .touches_per_point = 1};
    job.operands[1] =
        (slc_operand){.name = "index", .dtype = SLC_I64, .access = SLC_ACCESS_IN, .rank = 1};
    job.operands[2] =
        (slc_operand){.name = "out", .dtype = SLC_I64, .access = SLC_ACCESS_OUT, .rank = 1};
    return job;
}

static slc_source *bind_source(test_bound_job *bound, int o) {
    slc_layout layout;
    TEST_OK(slc_job_full_layout(&bound->job, o, &layout));
    faulty_source *source = test_allocate((int64_t)sizeof *source);
    memset(source, 0, sizeof *source);
    TEST_OK(slc_source_create_memory(bound->job.operands[o].name, &layout, bound->data[o],
                                     &source->inner));
    source->state = bound->state;
    source->base.ops = &faulty_source_ops;
    source->base.shared_rank = source->inner->shared_rank;
    source->base.is_divisible = source->inner->is_divisible;
    source->base.n_fields = 1;
    source->base.fields[0] = source->inner->fields[0];
    memcpy(source->base.name, source->inner->name, sizeof source->base.name);
    return &source->base;
}

static slc_sink *bind_sink(test_bound_job *bound, int o) {
    slc_layout layout;
    TEST_OK(slc_job_full_layout(&bound->job, o, &layout));
    bound->n_out = slc_layout_count(&layout);
    bound->out = test_allocate(bound->n_out * (int64_t)sizeof *bound->out);
    memset(bound->out, 0xff, (size_t)bound->n_out * sizeof *bound->out);
    faulty_sink *sink = test_allocate((int64_t)sizeof *sink);
    memset(sink, 0, sizeof *sink);
    TEST_OK(slc_sink_create_memory("out", &layout, bound->out, &sink->inner));
    sink->state = bound->state;
    sink->base.ops = &faulty_sink_ops;
    sink->base.layout = layout;
    return &sink->base;
}

static void bind_common(const test_faults *faults, test_bound_job *bound) {
    bound->state = test_allocate((int64_t)sizeof *bound->state);
    memset(bound->state, 0, sizeof *bound->state);
    if (faults != NULL) {
        bound->state->faults = *faults;
    }
    bound->job.state = bound->state;
    const int n_inputs = bound->job.n_operands - 1;
    for (int o = 0; o < n_inputs; o++) {
        bound->bindings[o].source = bind_source(bound, o);
    }
    bound->bindings[n_inputs].sink = bind_sink(bound, n_inputs);
}

void test_product_bind(int64_t n_rows, int64_t ny, int64_t nx, int64_t row_granule,
                       int64_t pixel_granule, const test_faults *faults, test_bound_job *out) {
    *out = (test_bound_job){.job = test_product_job(n_rows, ny, nx, row_granule, pixel_granule)};
    out->data[0] = test_allocate(n_rows * ny * (int64_t)sizeof(int64_t));
    out->data[1] = test_allocate(n_rows * nx * (int64_t)sizeof(int64_t));
    for (int64_t r = 0; r < n_rows; r++) {
        for (int64_t y = 0; y < ny; y++) {
            out->data[0][r * ny + y] = test_product_a(r, y);
        }
        for (int64_t x = 0; x < nx; x++) {
            out->data[1][r * nx + x] = test_product_b(r, x);
        }
    }
    bind_common(faults, out);
}

void test_turn_bind(int64_t ni, int64_t nj, int64_t granule, const test_faults *faults,
                    test_bound_job *out) {
    *out = (test_bound_job){.job = test_turn_job(ni, nj, granule)};
    out->data[0] = test_allocate(ni * nj * (int64_t)sizeof(int64_t));
    for (int64_t k = 0; k < ni * nj; k++) {
        out->data[0][k] = k;
    }
    bind_common(faults, out);
}

/* What element i of the result is taken from; and what it is. */
static int64_t taken_index(int64_t i, int64_t n_data) {
    return (i * 7919 + 13) % n_data;
}

static int64_t data_value(int64_t index) {
    return 3 * index + 1;
}

void test_take_bind(int64_t n_data, int64_t n_index, int64_t granule, const test_faults *faults,
                    test_bound_job *out) {
    *out = (test_bound_job){.job = take_job(n_data, n_index, granule)};
    out->data[0] = test_allocate(n_data * (int64_t)sizeof(int64_t));
    out->data[1] = test_allocate(n_index * (int64_t)sizeof(int64_t));
    for (int64_t k = 0; k < n_data; k++) {
        out->data[0][k] = data_value(k);
    }
    for (int64_t i = 0; i < n_index; i++) {
        out->data[1][i] = taken_index(i, n_data);
    }
    bind_common(faults, out);
}

void test_unbind(test_bound_job *bound) {
    for (int o = 0; o < bound->job.n_operands; o++) {
        slc_source_destroy(bound->bindings[o].source);
        slc_sink_destroy(bound->bindings[o].sink);
    }
    free(bound->data[0]);
    free(bound->data[1]);
    free(bound->out);
    free(bound->state);
    memset(bound, 0, sizeof *bound);
}

int64_t test_n_reads(const test_bound_job *bound) {
    return atomic_load(&bound->state->n_reads);
}

int64_t test_product_errors(const test_bound_job *bound) {
    const int64_t n_rows = bound->job.axes[0].extent;
    const int64_t ny = bound->job.axes[1].extent;
    const int64_t nx = bound->job.axes[2].extent;
    int64_t n_errors = 0;
    for (int64_t y = 0; y < ny; y++) {
        for (int64_t x = 0; x < nx; x++) {
            int64_t sum = 0;
            for (int64_t r = 0; r < n_rows; r++) {
                sum += test_product_a(r, y) * test_product_b(r, x);
            }
            n_errors += bound->out[y * nx + x] != sum;
        }
    }
    return n_errors;
}

int64_t test_turn_errors(const test_bound_job *bound) {
    const int64_t ni = bound->job.axes[0].extent;
    const int64_t nj = bound->job.axes[1].extent;
    int64_t n_errors = 0;
    for (int64_t j = 0; j < nj; j++) {
        for (int64_t i = 0; i < ni; i++) {
            n_errors += bound->out[j * ni + i] != i * nj + j;
        }
    }
    return n_errors;
}

int64_t test_take_errors(const test_bound_job *bound) {
    const int64_t n_data = bound->job.operands[0].fixed_extent[0];
    int64_t n_errors = 0;
    for (int64_t i = 0; i < bound->n_out; i++) {
        n_errors += bound->out[i] != data_value(taken_index(i, n_data));
    }
    return n_errors;
}
