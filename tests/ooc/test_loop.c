/* Jobs that run on each tile until it has converged: on the device by itself, and by hand on a device
 * that has no loops.
 *
 * "countdown" adds 1 to each out[i] until all of a tile's are in[i]: a tile takes as many iterations as
 * its largest in[i] says. "chain" solves -u[k-1] + 2 u[k] - u[k+1] = f for each row by Jacobi's
 * iteration; with a constant f and n points the solution is f (k + 1) (n - k) / 2. */
#include "tests/support/test_runs.h"

#include <math.h>
#include <stdatomic.h>

#include "core/checked.h"

#define N_COUNTS 200
#define N_ROWS 40
#define N_POINTS 12
#define THRESHOLD 1e-12

enum { IN, OUT, STATE, NEXT };

static atomic_int n_tiles_run;
static int fail_tile_at;
static volatile int cancel_flag; /* both belong to the engine's thread */
static int cancel_in;            /* calls of the tile function */

static slc_status fail_here(void) {
    const int n = atomic_fetch_add(&n_tiles_run, 1) + 1;
    return n == fail_tile_at ? SLC_FAIL(SLC_ERROR_DEVICE, "made to fail: tile") : SLC_OK;
}

typedef struct tile_call {
    const slc_tile *tile;
    const void *in;
    void *out, *next;
    slc_loop_state *state;
} tile_call;

static slc_status run_countdown(void *argument) {
    const tile_call *call = argument;
    SLC_TRY(fail_here());
    const int64_t *const in = call->in;
    int64_t *const out = call->out;
    bool is_done = true;
    for (int64_t i = 0; i < call->tile->extent[0]; i++) {
        out[i] = call->state->n_iterations == 0 ? 0 : out[i];
        out[i] += out[i] < in[i];
        is_done = is_done && out[i] == in[i];
    }
    call->state->is_done = is_done;
    return SLC_OK;
}

static slc_status run_chain(void *argument) {
    const tile_call *call = argument;
    const double *const f = call->in;
    double *const u = call->out;
    double *const next = call->next;
    double change = 0;
    for (int64_t r = 0; r < call->tile->extent[0]; r++) {
        double *const row = u + r * N_POINTS;
        for (int64_t k = 0; k < N_POINTS; k++) {
            const bool is_first = call->state->n_iterations == 0;
            const double left = k > 0 && !is_first ? row[k - 1] : 0;
            const double right = k < N_POINTS - 1 && !is_first ? row[k + 1] : 0;
            next[k] = (left + right + f[r]) / 2;
        }
        for (int64_t k = 0; k < N_POINTS; k++) {
            change = fmax(change, fabs(next[k] - row[k]));
            row[k] = next[k];
        }
    }
    call->state->is_done = change < THRESHOLD && call->state->n_iterations > 0;
    return SLC_OK;
}

static tile_call make_call(const slc_tile_arguments *arguments) {
    return (tile_call){.tile = arguments->d_tile,
                       .in = arguments->d_operand[IN],
                       .out = arguments->d_operand[OUT],
                       .next = arguments->d_operand[NEXT],
                       .state = arguments->d_operand[STATE]};
}

static slc_status countdown_tile(void *state, const slc_tile_arguments *arguments) {
    (void)state;
    cancel_in--;
    cancel_flag = cancel_in == 0;
    const tile_call call = make_call(arguments);
    return slc_stream_call(arguments->stream, run_countdown, &call, (int64_t)sizeof call);
}

static slc_status chain_tile(void *state, const slc_tile_arguments *arguments) {
    (void)state;
    const tile_call call = make_call(arguments);
    return slc_stream_call(arguments->stream, run_chain, &call, (int64_t)sizeof call);
}

static slc_operand state_operand(void) {
    slc_operand state = {.name = "state", .dtype = SLC_I64, .access = SLC_ACCESS_WORK, .rank = 1};
    state.axes[0] = SLC_AXIS_FIXED;
    state.fixed_extent[0] = 4;
    return state;
}

static slc_job countdown_job(int64_t most) {
    slc_job job = {.name = "countdown",
                   .n_axes = 1,
                   .n_operands = 3,
                   .tile = countdown_tile,
                   .most_iterations = most,
                   .loop_operand = STATE};
    job.axes[0] = (slc_axis){"i", N_COUNTS, 5, SLC_AXIS_PARALLEL};
    job.operands[IN] =
        (slc_operand){.name = "in", .dtype = SLC_I64, .access = SLC_ACCESS_IN, .rank = 1};
    job.operands[OUT] =
        (slc_operand){.name = "out", .dtype = SLC_I64, .access = SLC_ACCESS_OUT, .rank = 1};
    job.operands[STATE] = state_operand();
    return job;
}

static slc_job chain_job(void) {
    slc_job job = {.name = "chain",
                   .n_axes = 1,
                   .n_operands = 4,
                   .tile = chain_tile,
                   .most_iterations = 10000,
                   .loop_operand = STATE};
    job.axes[0] = (slc_axis){"row", N_ROWS, 1, SLC_AXIS_PARALLEL};
    job.operands[IN] =
        (slc_operand){.name = "f", .dtype = SLC_F64, .access = SLC_ACCESS_IN, .rank = 1};
    job.operands[OUT] =
        (slc_operand){.name = "u", .dtype = SLC_F64, .access = SLC_ACCESS_OUT, .rank = 2};
    job.operands[OUT].axes[1] = SLC_AXIS_FIXED;
    job.operands[OUT].fixed_extent[1] = N_POINTS;
    job.operands[STATE] = state_operand();
    job.operands[NEXT] =
        (slc_operand){.name = "next", .dtype = SLC_F64, .access = SLC_ACCESS_WORK, .rank = 1};
    job.operands[NEXT].axes[0] = SLC_AXIS_FIXED;
    job.operands[NEXT].fixed_extent[0] = N_POINTS;
    return job;
}

/* A job with its data in memory. */
typedef struct bound {
    slc_job job;
    slc_binding bindings[4];
} bound;

static void bind(const slc_job *job, void *in, void *out, bound *self) {
    *self = (bound){.job = *job};
    slc_layout layout;
    TEST_OK(slc_job_full_layout(job, IN, &layout));
    TEST_OK(slc_source_create_memory("in", &layout, in, &self->bindings[IN].source));
    TEST_OK(slc_job_full_layout(job, OUT, &layout));
    TEST_OK(slc_sink_create_memory("out", &layout, out, &self->bindings[OUT].sink));
}

static void unbind(bound *self) {
    slc_source_destroy(self->bindings[IN].source);
    slc_sink_destroy(self->bindings[OUT].sink);
}

static void fill_counts(int64_t counts[N_COUNTS]) {
    uint64_t seed = 3;
    for (int64_t i = 0; i < N_COUNTS; i++) {
        counts[i] = test_random_below(&seed, 30);
    }
}

/* Iterations of all tiles of `extent` counts, and how many tiles stop at `most` without being done. */
static int64_t expected_iterations(const int64_t counts[N_COUNTS], int64_t extent, int64_t most,
                                   int64_t *n_unfinished) {
    int64_t n = 0;
    *n_unfinished = 0;
    for (int64_t begin = 0; begin < N_COUNTS; begin += extent) {
        int64_t largest = 1;
        for (int64_t i = begin; i < slc_min_i64(begin + extent, N_COUNTS); i++) {
            largest = slc_max_i64(largest, counts[i]);
        }
        n += slc_min_i64(largest, most);
        *n_unfinished += largest > most;
    }
    return n;
}

static slc_status run_on(test_bench *bench, slc_device *device, const bound *self, int64_t extent,
                         int max_slots, slc_engine_report *report) {
    const slc_plan_request request = {.device_budget_bytes = 1 << 20,
                                      .host_budget_bytes = 1 << 20,
                                      .allocation_unit_bytes = 1,
                                      .max_slots = max_slots,
                                      .force_tile = {extent}};
    slc_plan plan;
    TEST_OK(slc_plan_make(&self->job, &request, &plan));
    atomic_store(&n_tiles_run, 0);
    cancel_flag = 0;
    const slc_engine_options options = {.device = device,
                                        .pool = bench->fixture.pool,
                                        .budget = bench->budget,
                                        .bindings = self->bindings,
                                        .log = &bench->log,
                                        .cancel = &cancel_flag};
    SLC_TRY(slc_engine_run(&self->job, &plan, &options, report));
    assert_int_equal(report->host_peak_bytes, plan.host_peak_bytes);
    assert_int_equal(report->n_tiles, plan.n_tiles);
    return SLC_OK;
}

static void check_countdown(test_bench *bench, slc_device *device, int64_t most) {
    int64_t counts[N_COUNTS];
    fill_counts(counts);
    for (int i = 0; i < 8; i++) {
        const int64_t extent = 5 + i * i * 5;
        int64_t out[N_COUNTS] = {0};
        const slc_job job = countdown_job(most);
        bound self;
        bind(&job, counts, out, &self);
        slc_engine_report report;
        TEST_OK(run_on(bench, device, &self, extent, 1 + i % 4, &report));
        int64_t n_unfinished = 0;
        assert_int_equal(report.n_iterations,
                         expected_iterations(counts, extent, most, &n_unfinished));
        assert_int_equal(report.n_unfinished, n_unfinished);
        for (int64_t k = 0; k < N_COUNTS; k++) {
            assert_int_equal(out[k], slc_min_i64(counts[k], most));
        }
        unbind(&self);
    }
}

static void tiles_take_as_many_iterations_as_they_need(void **state) {
    test_bench bench;
    test_bench_open(state, &bench);
    check_countdown(&bench, bench.fixture.device, 100);
    test_bench_close(&bench);
}

static void no_more_than_the_most(void **state) {
    test_bench bench;
    test_bench_open(state, &bench);
    check_countdown(&bench, bench.fixture.device, 17);
    check_countdown(&bench, bench.fixture.device, 1);
    test_bench_close(&bench);
}

static void a_device_without_loops_is_led_by_hand(void **state) {
    test_bench bench;
    test_bench_open(state, &bench);
    const slc_check_options options = {.has_no_loops = true};
    slc_device *check = test_bench_check(&bench, &options);
    check_countdown(&bench, check, 100);
    check_countdown(&bench, check, 17);
    slc_device_destroy(check);
    test_bench_close(&bench);
}

static void a_chain_is_solved_to_the_threshold(void **state) {
    test_bench bench;
    test_bench_open(state, &bench);
    double f[N_ROWS];
    for (int64_t r = 0; r < N_ROWS; r++) {
        f[r] = 0.1 * (double)(r + 1);
    }
    for (int64_t extent = 1; extent <= N_ROWS; extent = 3 * extent + 1) {
        double u[N_ROWS][N_POINTS] = {{0}};
        const slc_job job = chain_job();
        bound self;
        bind(&job, f, u, &self);
        slc_engine_report report;
        TEST_OK(run_on(&bench, bench.fixture.device, &self, extent, 3, &report));
        assert_int_equal(report.n_unfinished, 0);
        assert_true(report.n_iterations > 50 * report.n_tiles);
        for (int64_t r = 0; r < N_ROWS; r++) {
            for (int64_t k = 0; k < N_POINTS; k++) {
                const double solution = f[r] * (double)((k + 1) * (N_POINTS - k)) / 2;
                /* Each iteration takes the same share off the error, cos(pi / 13) = 0.971 stays, so
                 * what is left is at most the last change times 0.971 / (1 - 0.971) = 34. */
                assert_true(fabs(u[r][k] - solution) < 40 * THRESHOLD + 1e-13 * solution);
            }
        }
        unbind(&self);
    }
    test_bench_close(&bench);
}

static void every_iteration_may_fail(void **state) {
    test_bench bench;
    test_bench_open(state, &bench);
    int64_t counts[N_COUNTS];
    int64_t out[N_COUNTS];
    fill_counts(counts);
    const slc_job job = countdown_job(100);
    bound self;
    bind(&job, counts, out, &self);
    slc_status status = SLC_ERROR_DEVICE;
    for (fail_tile_at = 1; status != SLC_OK; fail_tile_at += 11) {
        slc_engine_report report;
        status = run_on(&bench, bench.fixture.device, &self, 50, 2, &report);
        if (status != SLC_OK) {
            TEST_FAILS(status, SLC_ERROR_DEVICE, "made to fail: tile");
        }
    }
    assert_true(fail_tile_at > 100);
    fail_tile_at = 0;
    unbind(&self);
    test_bench_close(&bench);
}

static void every_device_call_may_fail(void **state) {
    test_bench bench;
    test_bench_open(state, &bench);
    int64_t counts[N_COUNTS];
    int64_t out[N_COUNTS];
    fill_counts(counts);
    const slc_job job = countdown_job(3);
    bound self;
    bind(&job, counts, out, &self);
    for (int round = 0; round < 2 * SLC_CHECK_KIND_COUNT; round++) {
        const slc_check_kind kind = (slc_check_kind)(round / 2);
        bool passed = kind == SLC_CHECK_PINNED;
        for (int64_t n = 1; !passed; n++) {
            const slc_check_options options = {.fail_kind = kind,
                                               .fail_at = n,
                                               .has_no_loops = round % 2 == 1};
            slc_device *check = test_bench_check(&bench, &options);
            slc_engine_report report;
            const slc_status status = run_on(&bench, check, &self, 50, 2, &report);
            passed = status == SLC_OK;
            assert_true(passed || status == SLC_ERROR_DEVICE || status == SLC_ERROR_MEMORY);
            assert_int_equal(slc_device_check_alive(check), 0);
            slc_device_destroy(check);
        }
    }
    unbind(&self);
    test_bench_close(&bench);
}

static void a_loop_by_hand_can_be_interrupted(void **state) {
    test_bench bench;
    test_bench_open(state, &bench);
    int64_t counts[N_COUNTS];
    int64_t out[N_COUNTS];
    fill_counts(counts);
    const slc_job job = countdown_job(100);
    bound self;
    bind(&job, counts, out, &self);
    const slc_check_options options = {.has_no_loops = true};
    slc_device *check = test_bench_check(&bench, &options);
    slc_engine_report report;
    cancel_in = 7;
    TEST_FAILS(run_on(&bench, check, &self, N_COUNTS, 1, &report), SLC_ERROR_INTERRUPTED,
               "interrupted");
    assert_int_equal(atomic_load(&n_tiles_run), 6); /* the first call was recorded, for nothing */
    slc_device_destroy(check);
    unbind(&self);
    test_bench_close(&bench);
}

static void states_of_another_kind_are_refused(void **state) {
    (void)state;
    slc_job job = countdown_job(-1);
    TEST_FAILS(slc_job_check(&job), SLC_ERROR_ARGUMENT, "-1 iterations");
    job = countdown_job(5);
    TEST_OK(slc_job_check(&job));
    job.loop_operand = OUT;
    TEST_FAILS(slc_job_check(&job), SLC_ERROR_ARGUMENT, "operand 1");
    job.loop_operand = 3;
    TEST_FAILS(slc_job_check(&job), SLC_ERROR_ARGUMENT, "operand 3");
    job = countdown_job(5);
    job.operands[STATE].fixed_extent[0] = 3;
    TEST_FAILS(slc_job_check(&job), SLC_ERROR_ARGUMENT, "4 i8");
}

int main(void) {
    const test_case cases[] = {
        TEST_CASE(tiles_take_as_many_iterations_as_they_need),
        TEST_CASE(no_more_than_the_most),
        TEST_CASE(a_device_without_loops_is_led_by_hand),
        TEST_CASE(a_chain_is_solved_to_the_threshold),
        TEST_CASE(every_iteration_may_fail),
        TEST_CASE(every_device_call_may_fail),
        TEST_CASE(a_loop_by_hand_can_be_interrupted),
        TEST_CASE(states_of_another_kind_are_refused),
    };
    return test_run_everywhere(cases, TEST_COUNT(cases), TEST_ON_HOST);
}
