#include "tests/support/test_runs.h"

static void count_warnings(void *context, slc_log_level level, const char *text) {
    (void)text;
    if (level == SLC_LOG_WARNING) {
        (*(int *)context)++;
    }
}

void test_bench_open(void **state, test_bench *out) {
    memset(out, 0, sizeof *out);
    test_fixture_open(*state, &out->fixture);
    TEST_OK(slc_budget_create(1ll << 32, 1ll << 32, &out->budget));
    slc_log_init(&out->log, SLC_LOG_WARNING, count_warnings, &out->n_warnings);
}

void test_bench_close(test_bench *self) {
    assert_int_equal(slc_budget_get(self->budget, SLC_SPACE_DEVICE).used_bytes, 0);
    assert_int_equal(slc_budget_get(self->budget, SLC_SPACE_HOST).used_bytes, 0);
    slc_budget_destroy(self->budget);
    slc_log_destroy(&self->log);
    test_fixture_close(&self->fixture);
}

slc_engine_options test_bench_options(test_bench *self, slc_device *device,
                                      const test_bound_job *bound) {
    const slc_engine_options options = {.device = device,
                                        .pool = self->fixture.pool,
                                        .budget = self->budget,
                                        .bindings = bound->bindings,
                                        .log = &self->log};
    return options;
}

slc_device *test_bench_check(test_bench *self, const slc_check_options *options) {
    slc_device *inner = NULL;
    slc_device *check = NULL;
    TEST_OK(slc_device_create_host(self->fixture.pool, NULL, &inner));
    TEST_OK(slc_device_create_check(inner, options, &check));
    return check;
}

void test_plan_tiles(const slc_job *job, int64_t axis_0, int64_t axis_1, int64_t axis_2,
                     slc_plan *plan) {
    const slc_plan_request request = {.device_budget_bytes = 1 << 26,
                                      .host_budget_bytes = 1 << 26,
                                      .allocation_unit_bytes = 1,
                                      .force_tile = {axis_0, axis_1, axis_2}};
    TEST_OK(slc_plan_make(job, &request, plan));
}

void test_check_report(const slc_plan *plan, const slc_engine_report *report) {
    assert_int_equal(report->n_tiles, plan->n_tiles);
    assert_int_equal(report->bytes_read, plan->bytes_read);
    assert_int_equal(report->bytes_tier, plan->bytes_tier);
    assert_int_equal(report->bytes_h2d, plan->bytes_h2d);
    assert_int_equal(report->bytes_d2h, plan->bytes_d2h);
    assert_int_equal(report->bytes_written, plan->bytes_written);
    assert_int_equal(report->device_peak_bytes, plan->device_peak_bytes);
    assert_int_equal(report->host_peak_bytes, plan->host_peak_bytes);
    assert_int_equal(report->tier_bytes, plan->tier_bytes);
}
