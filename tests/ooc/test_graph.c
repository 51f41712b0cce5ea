/* Tiles as graphs: recorded once for each set of buffers, replayed for all others, with the same
 * results; when the plan asks for them; and what happens when recording fails. */
#include "tests/support/test_runs.h"

/* Runs the bound job on a checking device of its own; how many graph calls that took. */
static int64_t count_graph_calls(test_bench *self, test_bound_job *bound, const slc_plan *plan) {
    const slc_check_options check_options = {.delay_us = 50};
    slc_device *check = test_bench_check(self, &check_options);
    const slc_engine_options options = test_bench_options(self, check, bound);
    slc_engine_report report;
    TEST_OK(slc_engine_run(&bound->job, plan, &options, &report));
    test_check_report(plan, &report);
    const int64_t n_calls = slc_device_check_calls(check, SLC_CHECK_GRAPH);
    assert_int_equal(slc_device_check_alive(check), 0);
    slc_device_destroy(check);
    return n_calls;
}

static void plan_slots(const slc_job *job, int64_t tile, int n_slots, slc_plan *plan) {
    const slc_plan_request request = {.device_budget_bytes = 1 << 24,
                                      .host_budget_bytes = 1 << 24,
                                      .allocation_unit_bytes = 1,
                                      .force_tile = {tile, tile, tile},
                                      .no_tier = true,
                                      .max_slots = n_slots};
    TEST_OK(slc_plan_make(job, &request, plan));
}

/* One launch a tile, and far fewer recordings. */
static void tiles_are_recorded_once_a_set_of_buffers(void **state) {
    test_bench self;
    test_bench_open(state, &self);
    for (int n_slots = 1; n_slots <= 4; n_slots++) {
        test_bound_job bound;
        test_turn_bind(80, 90, 5, NULL, &bound);
        slc_plan plan;
        plan_slots(&bound.job, 5, n_slots, &plan);
        plan.uses_graphs = true;
        const int64_t n_recorded = count_graph_calls(&self, &bound, &plan) - plan.n_tiles;
        assert_int_equal(plan.n_tiles, 16 * 18);
        assert_true(n_recorded >= n_slots);
        assert_true(n_recorded <= 48);
        assert_int_equal(test_turn_errors(&bound), 0);
        test_unbind(&bound);
    }
    test_bench_close(&self);
}

static void no_graphs_where_the_plan_wants_none(void **state) {
    test_bench self;
    test_bench_open(state, &self);
    test_bound_job bound;
    test_turn_bind(20, 20, 5, NULL, &bound);
    slc_plan plan;
    plan_slots(&bound.job, 5, 2, &plan);
    plan.uses_graphs = false;
    assert_int_equal(count_graph_calls(&self, &bound, &plan), 0);
    assert_int_equal(test_turn_errors(&bound), 0);
    test_unbind(&bound);
    test_bench_close(&self);
}

/* Two inputs that move at different times and many slots: more sets of buffers meet than are kept. */
static void more_sets_of_buffers_than_graphs(void **state) {
    test_bench self;
    test_bench_open(state, &self);
    test_bound_job bound;
    test_product_bind(120, 24, 24, 8, 8, NULL, &bound);
    slc_plan plan;
    plan_slots(&bound.job, 8, 7, &plan);
    plan.uses_graphs = true;
    const int64_t n_calls = count_graph_calls(&self, &bound, &plan);
    assert_true(n_calls > plan.n_tiles / 4);
    assert_true(n_calls < 2 * plan.n_tiles);
    assert_int_equal(test_product_errors(&bound), 0);
    test_unbind(&bound);
    test_bench_close(&self);
}

/* A tile takes 1 ms of kernel; launches of 40 us are 4 % of it, of 60 us are 6 %. */
static void planned_where_launches_take_a_twentieth(void **state) {
    (void)state;
    const slc_job job = test_turn_job(100, 100, 10);
    slc_plan_request request = {.device_budget_bytes = 1 << 24,
                                .host_budget_bytes = 1 << 24,
                                .allocation_unit_bytes = 1,
                                .seconds_per_point = 1e-5,
                                .force_tile = {10, 10},
                                .rates = slc_rates_default(SLC_DEVICE_HOST)};
    slc_plan plan;
    request.rates.step_seconds = 40e-6;
    TEST_OK(slc_plan_make(&job, &request, &plan));
    assert_false(plan.uses_graphs);
    request.rates.step_seconds = 60e-6;
    TEST_OK(slc_plan_make(&job, &request, &plan));
    assert_true(plan.uses_graphs);
}

/* ---- a job whose tiles depend on the round, and one that cannot be enqueued -------------------- */

enum { N_ROUNDS = 3, N_STEPS = 40, STEP = 4 };

typedef struct rounds {
    uint8_t round;
    int fail_at; /* the N-th call of the tile function; 0: none */
    int n_calls;
    uint8_t out[N_STEPS * STEP];
} rounds;

/* The value is an argument of what is enqueued, so that a graph keeps it. */
static slc_status set_round(void *state, const slc_tile_arguments *arguments) {
    rounds *self = state;
    self->n_calls++;
    SLC_TRY(slc_stream_set(arguments->stream, arguments->d_operand[0], self->round, STEP));
    return self->n_calls == self->fail_at ? SLC_FAIL(SLC_ERROR_DEVICE, "made to fail: enqueuing")
                                          : SLC_OK;
}

static slc_status next_round(void *state, bool *again) {
    rounds *self = state;
    for (int i = 0; i < N_STEPS * STEP; i++) {
        assert_int_equal(self->out[i], self->round);
    }
    self->round++;
    *again = self->round < N_ROUNDS;
    return SLC_OK;
}

static slc_status run_rounds(test_bench *self, rounds *state, slc_plan *plan) {
    slc_job job = {.name = "rounds",
                   .n_axes = 1,
                   .axes = {{"i", N_STEPS * STEP, STEP, SLC_AXIS_PARALLEL}},
                   .n_operands = 1,
                   .operands = {{.name = "out", .access = SLC_ACCESS_OUT, .rank = 1}},
                   .state = state,
                   .tile = set_round,
                   .next_round = next_round};
    job.operands[0].dtype = SLC_U8;
    slc_layout layout;
    TEST_OK(slc_job_full_layout(&job, 0, &layout));
    plan_slots(&job, STEP, 2, plan);
    plan->uses_graphs = true;
    slc_binding binding = {.sink = NULL};
    TEST_OK(slc_sink_create_memory("out", &layout, state->out, &binding.sink));
    const slc_engine_options options = {.device = self->fixture.device,
                                        .pool = self->fixture.pool,
                                        .budget = self->budget,
                                        .bindings = &binding};
    slc_engine_report report;
    const slc_status status = slc_engine_run(&job, plan, &options, &report);
    slc_sink_destroy(binding.sink);
    return status;
}

static void graphs_live_for_one_round(void **state) {
    test_bench self;
    test_bench_open(state, &self);
    rounds work = {.round = 0};
    slc_plan plan;
    TEST_OK(run_rounds(&self, &work, &plan));
    assert_int_equal(work.round, N_ROUNDS);
    assert_true(work.n_calls < N_ROUNDS * plan.n_tiles);
    test_bench_close(&self);
}

/* The recording is ended, so that streams can be waited for, and the tile's own error comes back. */
static void a_tile_that_fails_while_it_is_recorded(void **state) {
    test_bench self;
    test_bench_open(state, &self);
    for (int n = 1; n <= 3; n++) {
        rounds work = {.fail_at = n};
        slc_plan plan;
        TEST_FAILS(run_rounds(&self, &work, &plan), SLC_ERROR_DEVICE, "enqueuing");
    }
    test_bench_close(&self);
}

int main(void) {
    const test_case cases[] = {
        TEST_CASE(tiles_are_recorded_once_a_set_of_buffers),
        TEST_CASE(no_graphs_where_the_plan_wants_none),
        TEST_CASE(more_sets_of_buffers_than_graphs),
        TEST_CASE(planned_where_launches_take_a_twentieth),
        TEST_CASE(graphs_live_for_one_round),
        TEST_CASE(a_tile_that_fails_while_it_is_recorded),
    };
    return test_run_everywhere(cases, TEST_COUNT(cases), TEST_ON_HOST);
}
