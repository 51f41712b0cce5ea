/* The engine on a card, bare and with delayed copies: tiny tiles in four slots, graphs, inputs that
 * come round again from RAM, and the trace's clocks. Small enough for compute-sanitizer. The tile
 * function is a copy by a kernel, so out(i, j) must be in(j) for every i. */
#include "tests/support/test_fixture.h"

#include "core/budget.h"
#include "core/clock.h"
#include "kernels/copy_through.h"
#include "ooc/execute.h"

#define N_REPEATS 100

enum { N_COLUMNS = 256, N_ROWS = 6, TILE_COLUMNS = 32 };

/* The job with its data; `out` is filled with zeros. */
typedef struct pass_run {
    slc_job job;
    slc_binding bindings[2];
    float in[N_COLUMNS];
    float out[N_ROWS * N_COLUMNS];
    slc_budget *budget;
} pass_run;

static slc_status enqueue_pass(void *state, const slc_tile_arguments *arguments) {
    (void)state;
    return slci_copy_through_enqueue(arguments->stream, arguments->d_operand[1],
                                     arguments->d_operand[0],
                                     slc_layout_bytes(&arguments->layout[1]));
}

static void pass_open(pass_run *run) {
    memset(run, 0, sizeof *run);
    run->job = (slc_job){.name = "pass",
                         .n_axes = 2,
                         .axes = {{"row", N_ROWS, 1, SLC_AXIS_PARALLEL},
                                  {"column", N_COLUMNS, TILE_COLUMNS, SLC_AXIS_PARALLEL}},
                         .n_operands = 2,
                         .operands = {{.name = "in",
                                       .dtype = SLC_F32,
                                       .access = SLC_ACCESS_IN,
                                       .rank = 1,
                                       .axes = {1}},
                                      {.name = "out",
                                       .dtype = SLC_F32,
                                       .access = SLC_ACCESS_OUT,
                                       .rank = 2,
                                       .axes = {0, 1}}},
                         .tile = enqueue_pass};
    for (int j = 0; j < N_COLUMNS; j++) {
        run->in[j] = (float)(j + 1);
    }
    TEST_OK(slc_budget_create(1 << 24, 1 << 24, &run->budget));
    slc_layout layout;
    TEST_OK(slc_job_full_layout(&run->job, 0, &layout));
    TEST_OK(slc_source_create_memory("in", &layout, run->in, &run->bindings[0].source));
    TEST_OK(slc_job_full_layout(&run->job, 1, &layout));
    TEST_OK(slc_sink_create_memory("out", &layout, run->out, &run->bindings[1].sink));
}

static void pass_close(pass_run *run) {
    slc_source_destroy(run->bindings[0].source);
    slc_sink_destroy(run->bindings[1].sink);
    assert_int_equal(slc_budget_get(run->budget, SLC_SPACE_DEVICE).used_bytes, 0);
    assert_int_equal(slc_budget_get(run->budget, SLC_SPACE_HOST).used_bytes, 0);
    slc_budget_destroy(run->budget);
}

static void expect_copies(const pass_run *run) {
    for (int i = 0; i < N_ROWS; i++) {
        for (int j = 0; j < N_COLUMNS; j++) {
            assert_true(run->out[i * N_COLUMNS + j] == (float)(j + 1));
        }
    }
}

/* One tile a row and TILE_COLUMNS columns: 48 tiles. `read_bytes_per_s` is low where keeping tiles in
 * RAM is to pay. */
static void pass_once(const test_fixture *self, pass_run *run, slc_trace *trace,
                      double read_bytes_per_s, slc_plan *plan, slc_engine_report *report) {
    slc_execution execution = {.request = {.device_budget_bytes = 1 << 24,
                                           .host_budget_bytes = 1 << 24,
                                           .allocation_unit_bytes = 1,
                                           .rates = slc_rates_default(SLC_DEVICE_CUDA),
                                           .max_slots = 4,
                                           .force_tile = {1, TILE_COLUMNS}},
                               .engine = {.device = self->device,
                                          .pool = self->pool,
                                          .budget = run->budget,
                                          .bindings = run->bindings,
                                          .trace = trace}};
    execution.request.rates.read_bytes_per_s = read_bytes_per_s;
    memset(run->out, 0, sizeof run->out);
    TEST_OK(slc_execute(&run->job, &execution, plan, report));
    expect_copies(run);
    assert_int_equal(report->n_tiles, N_ROWS * N_COLUMNS / TILE_COLUMNS);
    assert_int_equal(report->bytes_read, plan->bytes_read);
    assert_int_equal(report->bytes_tier, plan->bytes_tier);
    assert_int_equal(report->bytes_h2d, plan->bytes_h2d);
    assert_int_equal(report->bytes_d2h, plan->bytes_d2h);
}

static void repeats_give_the_same_bytes(void **state) {
    test_fixture self;
    test_fixture_open(*state, &self);
    pass_run run;
    pass_open(&run);
    for (int i = 0; i < N_REPEATS; i++) {
        slc_plan plan;
        slc_engine_report report;
        pass_once(&self, &run, NULL, 1e12, &plan, &report);
        assert_int_equal(plan.n_slots, 4);
        assert_true(plan.uses_graphs); /* tiles of 128 bytes are nothing but launches */
    }
    pass_close(&run);
    test_fixture_close(&self);
}

static void tiles_come_back_from_ram(void **state) {
    test_fixture self;
    test_fixture_open(*state, &self);
    pass_run run;
    pass_open(&run);
    run.job.axes[1].kind =
        SLC_AXIS_ORDERED; /* turns fastest, so every row reads all of `in` again */
    slc_plan plan;
    slc_engine_report report;
    pass_once(&self, &run, NULL, 1e3, &plan, &report);
    assert_int_equal(report.bytes_read, (int64_t)sizeof run.in);
    assert_int_equal(report.bytes_tier, (N_ROWS - 1) * (int64_t)sizeof run.in);
    pass_close(&run);
    test_fixture_close(&self);
}

/* A stream's clock is converted by one event at the start: what is traced lies within the run. */
static void the_trace_keeps_the_hosts_time(void **state) {
    test_fixture self;
    test_fixture_open(*state, &self);
    pass_run run;
    pass_open(&run);
    slc_trace *trace = NULL;
    TEST_OK(slc_trace_create(1 << 20, &trace));
    slc_plan plan;
    slc_engine_report report;
    const int64_t begin_ns = slc_clock_ns();
    pass_once(&self, &run, trace, 1e12, &plan, &report);
    const int64_t end_ns = slc_clock_ns();
    const int64_t drift_ns = 5000000; /* a thread's waking up */
    int64_t n_kernels = 0;
    int64_t bytes_d2h = 0;
    for (int64_t i = 0; i < slc_trace_count(trace); i++) {
        const slc_trace_slice *slice = slc_trace_get(trace, i);
        assert_true(slice->begin_ns >= begin_ns - drift_ns);
        assert_true(slice->begin_ns + slice->duration_ns <= end_ns + drift_ns);
        n_kernels += slice->stage == SLC_TRACE_KERNEL;
        bytes_d2h += slice->stage == SLC_TRACE_D2H ? slice->bytes : 0;
    }
    assert_int_equal(n_kernels, report.n_tiles);
    assert_int_equal(bytes_d2h, report.bytes_d2h);
    slc_trace_destroy(trace);
    pass_close(&run);
    test_fixture_close(&self);
}

static const test_case cases[] = {
    TEST_CASE(repeats_give_the_same_bytes),
    TEST_CASE(tiles_come_back_from_ram),
    TEST_CASE(the_trace_keeps_the_hosts_time),
};

/* An argument is a pattern of cases to run, for compute-sanitizer's slow tools. */
int main(int argc, char **argv) {
    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
    }
    return test_run_everywhere(cases, TEST_COUNT(cases), TEST_ON_CUDA);
}
