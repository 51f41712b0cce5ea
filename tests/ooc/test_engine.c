#include "tests/support/test_runs.h"

static slc_status run_on(test_bench *self, slc_device *device, test_bound_job *bound,
                         int64_t device_bytes, int max_slots, slc_plan *plan,
                         slc_engine_report *report) {
    const slc_plan_request request = {.device_budget_bytes = device_bytes,
                                      .host_budget_bytes = 1ll << 32,
                                      .allocation_unit_bytes = 1,
                                      .seconds_per_point = 1e-9,
                                      .max_slots = max_slots,
                                      .reads_in_place = device->has_host_memory};
    SLC_TRY(slc_plan_make(&bound->job, &request, plan));
    const slc_engine_options options = test_bench_options(self, device, bound);
    return slc_engine_run(&bound->job, plan, &options, report);
}

static slc_status run(test_bench *self, test_bound_job *bound, int64_t device_bytes, int max_slots,
                      slc_plan *plan, slc_engine_report *report) {
    return run_on(self, self->fixture.device, bound, device_bytes, max_slots, plan, report);
}

/* The least device memory that a plan takes. */
static int64_t smallest(const slc_job *job) {
    const slc_plan_request request = {.allocation_unit_bytes = 1, .host_budget_bytes = 1ll << 32};
    slc_plan plan;
    TEST_FAILS(slc_plan_make(job, &request, &plan), SLC_ERROR_NO_PLAN, "smallest");
    return plan.smallest_device_bytes;
}

static void product_at_every_budget(void **state) {
    test_bench self;
    test_bench_open(state, &self);
    const slc_job job = test_product_job(300, 37, 21, 8, 8);
    const int64_t least = smallest(&job);
    for (int i = 0; i < 12; i++) {
        test_bound_job bound;
        test_product_bind(300, 37, 21, 8, 8, NULL, &bound);
        slc_plan plan;
        slc_engine_report report;
        TEST_OK(run(&self, &bound, least + i * i * least / 2, 1 + i % 4, &plan, &report));
        assert_int_equal(test_product_errors(&bound), 0);
        test_check_report(&plan, &report);
        test_unbind(&bound);
    }
    test_bench_close(&self);
}

static void turn_at_every_budget(void **state) {
    test_bench self;
    test_bench_open(state, &self);
    const slc_job job = test_turn_job(97, 103, 5);
    const int64_t least = smallest(&job);
    for (int i = 0; i < 8; i++) {
        test_bound_job bound;
        test_turn_bind(97, 103, 5, NULL, &bound);
        slc_plan plan;
        slc_engine_report report;
        TEST_OK(run(&self, &bound, least + i * i * least, 1 + i % 4, &plan, &report));
        assert_int_equal(test_turn_errors(&bound), 0);
        test_check_report(&plan, &report);
        test_unbind(&bound);
    }
    test_bench_close(&self);
}

/* With copies delayed at random (the checking device), a missing event would show here. */
static void a_hundred_runs_are_alike(void **state) {
    test_bench self;
    test_bench_open(state, &self);
    for (int i = 0; i < 100; i++) {
        test_bound_job bound;
        test_product_bind(64, 8, 8, 4, 4, NULL, &bound);
        slc_plan plan;
        slc_engine_report report;
        TEST_OK(run(&self, &bound, 4 * smallest(&bound.job), 4, &plan, &report));
        assert_int_equal(test_product_errors(&bound), 0);
        test_unbind(&bound);
    }
    test_bench_close(&self);
}

static void an_empty_job_gives_zeros(void **state) {
    test_bench self;
    test_bench_open(state, &self);
    test_bound_job bound;
    test_product_bind(0, 8, 8, 4, 4, NULL, &bound);
    slc_plan plan;
    slc_engine_report report;
    TEST_OK(run(&self, &bound, 1 << 20, 2, &plan, &report));
    for (int64_t i = 0; i < bound.n_out; i++) {
        assert_int_equal(bound.out[i], 0);
    }
    test_unbind(&bound);
    test_bench_close(&self);
}

static bool is_in_last_rows(const void *state, const slc_tile *tile) {
    (void)state;
    return tile->origin[0] >= 32;
}

static void skips_tiles_that_are_not_touched(void **state) {
    test_bench self;
    test_bench_open(state, &self);
    test_bound_job bound;
    test_product_bind(64, 8, 8, 8, 8, NULL, &bound);
    bound.job.touches = is_in_last_rows;
    slc_plan plan;
    test_plan_tiles(&bound.job, 8, 8, 8, &plan);
    const slc_engine_options options = test_bench_options(&self, self.fixture.device, &bound);
    slc_engine_report report;
    TEST_OK(slc_engine_run(&bound.job, &plan, &options, &report));
    assert_int_equal(report.n_tiles, 4);
    int64_t sum = 0;
    for (int64_t r = 32; r < 64; r++) {
        sum += test_product_a(r, 3) * test_product_b(r, 5);
    }
    assert_int_equal(bound.out[3 * 8 + 5], sum);
    test_unbind(&bound);
    test_bench_close(&self);
}

/* Each fault at every N until a run gets through: one clear error, nothing held. */
static void every_fault_is_one_error(void **state) {
    test_bench self;
    test_bench_open(state, &self);
    for (int kind = 0; kind < 3; kind++) {
        const slc_status expected[] = {SLC_ERROR_INPUT, SLC_ERROR_OUTPUT, SLC_ERROR_DEVICE};
        int64_t n = 1;
        for (;; n++) {
            test_faults faults = {0};
            int64_t *const which[] = {&faults.fail_read, &faults.fail_write, &faults.fail_tile};
            *which[kind] = n;
            test_bound_job bound;
            test_product_bind(96, 16, 16, 8, 8, &faults, &bound);
            slc_plan plan;
            slc_engine_report report;
            const slc_status status =
                run(&self, &bound, 3 * smallest(&bound.job), 3, &plan, &report);
            test_unbind(&bound);
            if (status == SLC_OK) {
                break;
            }
            TEST_FAILS(status, expected[kind], "made to fail");
        }
        assert_true(n > 2);
    }
    test_bench_close(&self);
}

/* The N-th device call of every kind fails, for every N. */
static void every_device_call_may_fail(void **state) {
    test_bench self;
    test_bench_open(state, &self);
    for (int kind = SLC_CHECK_ALLOCATE; kind < SLC_CHECK_KIND_COUNT; kind++) {
        if (kind == SLC_CHECK_PINNED || kind == SLC_CHECK_MAPPED) {
            continue; /* pinned memory falls back; the engine maps nothing */
        }
        bool passed = false;
        for (int64_t n = 1; !passed; n++) {
            const slc_check_options options = {.fail_kind = (slc_check_kind)kind, .fail_at = n};
            slc_device *check = test_bench_check(&self, &options);
            test_bound_job bound;
            test_product_bind(32, 8, 8, 8, 8, NULL, &bound);
            slc_plan plan;
            slc_engine_report report;
            const slc_status status =
                run_on(&self, check, &bound, 3 * smallest(&bound.job), 2, &plan, &report);
            passed = status == SLC_OK;
            assert_true(passed || status == SLC_ERROR_DEVICE || status == SLC_ERROR_MEMORY);
            assert_true(passed || slc_status_message()[0] != '\0');
            assert_true(!passed || test_product_errors(&bound) == 0);
            assert_true(n < 10000);
            assert_int_equal(slc_device_check_alive(check), 0);
            test_unbind(&bound);
            slc_device_destroy(check);
        }
    }
    test_bench_close(&self);
}

static void unpinned_staging_warns_once(void **state) {
    test_bench self;
    test_bench_open(state, &self);
    const slc_check_options options = {.pinned_limit_bytes = 2048};
    slc_device *check = test_bench_check(&self, &options);
    test_bound_job bound;
    test_product_bind(256, 32, 32, 16, 16, NULL, &bound);
    slc_plan plan;
    slc_engine_report report;
    TEST_OK(run_on(&self, check, &bound, 1 << 16, 2, &plan, &report));
    assert_int_equal(test_product_errors(&bound), 0);
    assert_int_equal(self.n_warnings, 1);
    /* The small buffers are pinned, the large ones are not. */
    assert_true(report.pageable_bytes > 0);
    assert_true(report.pageable_bytes < report.host_peak_bytes);
    test_unbind(&bound);
    slc_device_destroy(check);
    test_bench_close(&self);
}

static void note_progress(void *context, int64_t done_tiles, int64_t n_tiles) {
    int64_t *const last = context;
    assert_int_equal(done_tiles, last[0] + 1);
    last[0] = done_tiles;
    last[1] = n_tiles;
}

static void progress_reaches_the_end_in_single_steps(void **state) {
    test_bench self;
    test_bench_open(state, &self);
    for (int64_t n_rows = 4; n_rows <= 64; n_rows += 20) {
        test_bound_job bound;
        test_product_bind(n_rows, 8, 8, 4, 4, NULL, &bound);
        slc_plan plan;
        test_plan_tiles(&bound.job, 4, 4, 4, &plan);
        int64_t last[2] = {0, 0};
        slc_engine_options options = test_bench_options(&self, self.fixture.device, &bound);
        options.progress = note_progress;
        options.progress_context = last;
        slc_engine_report report;
        TEST_OK(slc_engine_run(&bound.job, &plan, &options, &report));
        assert_int_equal(last[0], plan.n_tiles);
        assert_int_equal(last[1], plan.n_tiles);
        test_unbind(&bound);
    }
    test_bench_close(&self);
}

static void cancel_stops_cleanly(void **state) {
    test_bench self;
    test_bench_open(state, &self);
    test_bound_job bound;
    test_product_bind(64, 8, 8, 4, 4, NULL, &bound);
    slc_plan plan;
    test_plan_tiles(&bound.job, 4, 4, 4, &plan);
    const volatile int cancel = 1;
    slc_engine_options options = test_bench_options(&self, self.fixture.device, &bound);
    options.cancel = &cancel;
    slc_engine_report report;
    TEST_FAILS(slc_engine_run(&bound.job, &plan, &options, &report), SLC_ERROR_INTERRUPTED,
               "interrupted");
    test_unbind(&bound);
    test_bench_close(&self);
}

static void refuses_a_budget_that_is_taken(void **state) {
    test_bench self;
    test_bench_open(state, &self);
    TEST_OK(slc_budget_reserve(self.budget, SLC_SPACE_DEVICE, (1ll << 32) - 16, "others"));
    test_bound_job bound;
    test_product_bind(64, 8, 8, 4, 4, NULL, &bound);
    slc_plan plan;
    slc_engine_report report;
    TEST_FAILS(run(&self, &bound, 1 << 20, 2, &plan, &report), SLC_ERROR_MEMORY, "slab");
    slc_budget_release(self.budget, SLC_SPACE_DEVICE, (1ll << 32) - 16);
    test_unbind(&bound);
    test_bench_close(&self);
}

/* A source or sink that is not what the operand says would be written past the buffers' ends. */
static void refuses_bindings_that_do_not_fit(void **state) {
    test_bench self;
    test_bench_open(state, &self);
    test_bound_job bound;
    test_product_bind(64, 8, 8, 4, 4, NULL, &bound);
    slc_plan plan;
    slc_engine_report report;
    slc_layout *field = &bound.bindings[0].source->fields[0];
    slc_layout *sink = &bound.bindings[2].sink->layout;
    field->dtype = SLC_F32;
    TEST_FAILS(run(&self, &bound, 1 << 20, 2, &plan, &report), SLC_ERROR_ARGUMENT, "f4");
    field->dtype = SLC_I64;
    field->shape[0]++;
    TEST_FAILS(run(&self, &bound, 1 << 20, 2, &plan, &report), SLC_ERROR_ARGUMENT, "65");
    field->shape[0]--;
    sink->shape[1]--;
    TEST_FAILS(run(&self, &bound, 1 << 20, 2, &plan, &report), SLC_ERROR_ARGUMENT, "bound to 7");
    sink->shape[1]++;
    bound.bindings[1].field = -1;
    TEST_FAILS(run(&self, &bound, 1 << 20, 2, &plan, &report), SLC_ERROR_ARGUMENT, "nothing");
    bound.bindings[1].field = 0;
    TEST_OK(run(&self, &bound, 1 << 20, 2, &plan, &report));
    plan.operand[2].n_staging = 17;
    const slc_engine_options options = test_bench_options(&self, self.fixture.device, &bound);
    TEST_FAILS(slc_engine_run(&bound.job, &plan, &options, &report), SLC_ERROR_ARGUMENT, "staging");
    plan.operand[2].n_staging = 1;
    plan.operand[2].is_in_place = true;
    TEST_FAILS(slc_engine_run(&bound.job, &plan, &options, &report), SLC_ERROR_ARGUMENT, "image");
    plan.operand[2].is_in_place = false;
    plan.operand[1].is_in_place = !self.fixture.device->has_host_memory;
    if (plan.operand[1].is_in_place) {
        TEST_FAILS(slc_engine_run(&bound.job, &plan, &options, &report), SLC_ERROR_ARGUMENT,
                   "in place");
    }
    test_unbind(&bound);
    test_bench_close(&self);
}

int main(void) {
    const test_case cases[] = {
        TEST_CASE(product_at_every_budget),
        TEST_CASE(turn_at_every_budget),
        TEST_CASE(a_hundred_runs_are_alike),
        TEST_CASE(an_empty_job_gives_zeros),
        TEST_CASE(skips_tiles_that_are_not_touched),
        TEST_CASE(every_fault_is_one_error),
        TEST_CASE(every_device_call_may_fail),
        TEST_CASE(unpinned_staging_warns_once),
        TEST_CASE(progress_reaches_the_end_in_single_steps),
        TEST_CASE(cancel_stops_cleanly),
        TEST_CASE(refuses_a_budget_that_is_taken),
        TEST_CASE(refuses_bindings_that_do_not_fit),
    };
    return test_run_everywhere(cases, TEST_COUNT(cases), TEST_ON_HOST);
}
