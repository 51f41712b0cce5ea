/* A device that has less memory than the budget allows, because others use it too: the run is planned
 * again, smaller, with a note each time; below the smallest plan there is one clear refusal. */
#include "tests/support/test_runs.h"

#include "ooc/execute.h"

/* One run on a device under pressure. */
typedef struct pressure {
    slc_check_options device;
    int64_t budget_bytes; /* of the device; 0: plenty */
    /* what came of it */
    slc_plan plan;
    slc_engine_report report;
    int64_t n_notes, n_asked, n_errors; /* n_asked: how often device memory was asked for */
} pressure;

static void count_notes(void *context, slc_log_level level, const char *text) {
    if (level == SLC_LOG_NOTE) {
        assert_non_null(strstr(text, "planning again for"));
        ++*(int64_t *)context;
    }
}

static void bind(test_bound_job *bound) {
    test_product_bind(200, 40, 24, 8, 8, NULL, bound);
}

static slc_status run(test_bench *self, pressure *p) {
    slc_device *device = test_bench_check(self, &p->device);
    slc_log log;
    test_bound_job bound;
    bind(&bound);
    p->n_notes = 0;
    slc_log_init(&log, SLC_LOG_NOTE, count_notes, &p->n_notes);
    slc_execution execution = {.request = {.device_budget_bytes =
                                               p->budget_bytes > 0 ? p->budget_bytes : 1 << 24,
                                           .host_budget_bytes = 1 << 24,
                                           .allocation_unit_bytes = 1},
                               .engine = test_bench_options(self, device, &bound)};
    execution.engine.log = &log;
    const slc_status status = slc_execute(&bound.job, &execution, &p->plan, &p->report);
    p->n_errors = test_product_errors(&bound);
    p->n_asked = slc_device_check_calls(device, SLC_CHECK_ALLOCATE);
    assert_int_equal(slc_device_check_alive(device), 0);
    assert_int_equal(slc_budget_get(self->budget, SLC_SPACE_DEVICE).used_bytes, 0);
    assert_int_equal(slc_budget_get(self->budget, SLC_SPACE_HOST).used_bytes, 0);
    slc_log_destroy(&log);
    test_unbind(&bound);
    slc_device_destroy(device);
    return status;
}

/* The device memory of a run that nothing disturbs, and the least that works. */
static void measure(test_bench *self, int64_t *whole_bytes, int64_t *least_bytes) {
    pressure calm = {.budget_bytes = 0};
    TEST_OK(run(self, &calm));
    assert_int_equal(calm.n_notes, 0);
    *whole_bytes = calm.plan.device_peak_bytes;
    *least_bytes = calm.plan.smallest_device_bytes;
    assert_true(*least_bytes < *whole_bytes / 4); /* else these tests show nothing */
}

/* A number of the message, as text. */
static void expect_number(const char *message, int64_t number) {
    char text[32];
    (void)snprintf(text, sizeof text, " %lld", (long long)number);
    if (strstr(message, text) == NULL) {
        fail_msg("no%s in: %s", text, message);
    }
}

static void plans_again_for_what_is_free(void **state) {
    test_bench self;
    int64_t whole = 0;
    int64_t least = 0;
    test_bench_open(state, &self);
    measure(&self, &whole, &least);
    const int64_t free_bytes[] = {whole, whole - 1, whole / 2, whole / 3, least + 1, least};
    for (int64_t i = 0; i < TEST_COUNT(free_bytes); i++) {
        pressure p = {.device = {.free_bytes = free_bytes[i]}};
        TEST_OK(run(&self, &p));
        assert_int_equal(p.n_errors, 0);
        assert_int_equal(p.n_notes, i == 0 ? 0 : 1);
        assert_int_equal(p.n_asked, 1); /* what is not there is not asked for */
        assert_true(p.report.device_peak_bytes <= free_bytes[i]);
        test_check_report(&p.plan, &p.report);
    }
    test_bench_close(&self);
}

static void plans_again_when_memory_is_refused(void **state) {
    test_bench self;
    int64_t whole = 0;
    int64_t least = 0;
    test_bench_open(state, &self);
    measure(&self, &whole, &least);
    int64_t peak = whole;
    for (int64_t n = 1; n <= 4; n++) {
        pressure p = {.device = {.fail_kind = SLC_CHECK_ALLOCATE, .fail_at = 1, .n_fails = n}};
        TEST_OK(run(&self, &p));
        assert_int_equal(p.n_errors, 0);
        assert_int_equal(p.n_notes, n);
        assert_int_equal(p.n_asked, n + 1);
        assert_true(p.report.device_peak_bytes < peak); /* less each time */
        peak = p.report.device_peak_bytes;
        test_check_report(&p.plan, &p.report);
    }
    test_bench_close(&self);
}

/* Little is free, and even that is refused at first. */
static void both_at_once(void **state) {
    test_bench self;
    int64_t whole = 0;
    int64_t least = 0;
    test_bench_open(state, &self);
    measure(&self, &whole, &least);
    pressure p = {.device = {.fail_kind = SLC_CHECK_ALLOCATE,
                             .fail_at = 1,
                             .n_fails = 2,
                             .free_bytes = whole - 1}};
    TEST_OK(run(&self, &p));
    assert_int_equal(p.n_errors, 0);
    assert_int_equal(p.n_notes, 3);
    test_bench_close(&self);
}

/* The message tells the budget from what the device has. */
static void too_little_is_free(void **state) {
    test_bench self;
    int64_t whole = 0;
    int64_t least = 0;
    test_bench_open(state, &self);
    measure(&self, &whole, &least);
    pressure p = {.device = {.free_bytes = least - 1}, .budget_bytes = whole};
    const slc_status status = run(&self, &p);
    TEST_FAILS(status, SLC_ERROR_NO_PLAN, "free now");
    assert_int_equal(slc_status_exit_code(status), 4);
    expect_number(slc_status_message(), whole);
    expect_number(slc_status_message(), least - 1);
    expect_number(slc_status_message(), least);
    assert_int_equal(p.n_notes, 1);
    assert_int_equal(p.n_asked, 0);
    test_bench_close(&self);
}

/* Every size is tried down to the smallest one. */
static void everything_is_refused(void **state) {
    test_bench self;
    int64_t whole = 0;
    int64_t least = 0;
    test_bench_open(state, &self);
    measure(&self, &whole, &least);
    pressure p = {.device = {.fail_kind = SLC_CHECK_ALLOCATE, .fail_at = 1, .n_fails = INT64_MAX},
                  .budget_bytes = whole};
    const slc_status status = run(&self, &p);
    char words[64];
    (void)snprintf(words, sizeof words, "refused even %lld bytes", (long long)least);
    TEST_FAILS(status, SLC_ERROR_NO_PLAN, words);
    assert_int_equal(slc_status_exit_code(status), 4);
    assert_int_equal(p.n_asked, p.n_notes);
    assert_in_range(p.n_asked, 3, 40);
    test_bench_close(&self);
}

/* A budget that is too small is the user's to raise, and the message says how far. */
static void the_budget_itself_is_too_small(void **state) {
    test_bench self;
    int64_t whole = 0;
    int64_t least = 0;
    test_bench_open(state, &self);
    measure(&self, &whole, &least);
    pressure p = {.budget_bytes = least - 1};
    TEST_FAILS(run(&self, &p), SLC_ERROR_NO_PLAN, "the smallest that works is ");
    expect_number(slc_status_message(), least);
    assert_int_equal(p.n_notes, 0);
    test_bench_close(&self);
}

int main(void) {
    const test_case cases[] = {
        TEST_CASE(plans_again_for_what_is_free),
        TEST_CASE(plans_again_when_memory_is_refused),
        TEST_CASE(both_at_once),
        TEST_CASE(too_little_is_free),
        TEST_CASE(everything_is_refused),
        TEST_CASE(the_budget_itself_is_too_small),
    };
    return test_run_everywhere(cases, TEST_COUNT(cases), TEST_ON_HOST);
}
