/* The trace alone, and what a run of the engine adds to it against the run's own report. */
#include "tests/support/test_fixture.h"
#include "tests/support/test_jobs.h"

#include <math.h>

#include "core/clock.h"
#include "ooc/trace_feed.h"

static slc_trace_slice slice_of(slc_trace_stage stage, int lane, int64_t begin_ns,
                                int64_t duration_ns) {
    return (slc_trace_slice){.stage = stage,
                             .lane = lane,
                             .begin_ns = begin_ns,
                             .duration_ns = duration_ns};
}

static void a_full_trace_counts_what_it_drops(void **state) {
    (void)state;
    slc_trace *trace = NULL;
    TEST_FAILS(slc_trace_create(64, &trace), SLC_ERROR_ARGUMENT, "64 bytes");
    TEST_OK(slc_trace_create(1024, &trace));
    assert_in_range(slc_trace_bytes(trace), 512, 1024);
    const slc_trace_slice slice = slice_of(SLC_TRACE_READ, 0, 1, 1);
    for (int i = 0; i < 100; i++) {
        slc_trace_add(trace, &slice);
    }
    assert_in_range(slc_trace_count(trace), 4, 20);
    assert_int_equal(slc_trace_count(trace) + slc_trace_dropped(trace), 100);
    slc_trace_destroy(trace);
}

static void without_a_trace_nothing_happens(void **state) {
    (void)state;
    const slc_trace_slice slice = slice_of(SLC_TRACE_READ, 0, 1, 1);
    slc_budget *budget = NULL;
    TEST_OK(slc_budget_create(10, 10, &budget));
    slc_trace_add(NULL, &slice);
    slc_trace_add_phase(NULL, "survey", 0);
    slc_trace_watch(NULL, budget);
    TEST_OK(slc_budget_reserve(budget, SLC_SPACE_HOST, 5, "x"));
    slc_budget_release(budget, SLC_SPACE_HOST, 5);
    assert_int_equal(slc_trace_bytes(NULL), 0);
    slc_trace_destroy(NULL);
    slc_budget_destroy(budget);
}

/* Lanes together, each in the order of time; a stream's slices are moved by their rounding, those of
 * threads are left as they are. */
static void settling_sorts_by_lane_and_time(void **state) {
    (void)state;
    slc_trace *trace = NULL;
    TEST_OK(slc_trace_create(4096, &trace));
    const slc_trace_slice added[] = {
        slice_of(SLC_TRACE_KERNEL, 0, 205, 100), slice_of(SLC_TRACE_READ, 1, 50, 10),
        slice_of(SLC_TRACE_TIER, 0, 90, 10),     slice_of(SLC_TRACE_KERNEL, 0, 105, 101),
        slice_of(SLC_TRACE_READ, 0, 95, 10),     slice_of(SLC_TRACE_H2D, 0, 300, 1),
    };
    for (int64_t i = 0; i < TEST_COUNT(added); i++) {
        slc_trace_add(trace, &added[i]);
    }
    slc_trace_settle(trace);
    static const struct {
        slc_trace_stage stage;
        int lane;
        int64_t begin_ns;
    } expected[] = {{SLC_TRACE_TIER, 0, 90},    {SLC_TRACE_READ, 0, 95},
                    {SLC_TRACE_READ, 1, 50},    {SLC_TRACE_H2D, 0, 300},
                    {SLC_TRACE_KERNEL, 0, 105}, {SLC_TRACE_KERNEL, 0, 206}};
    assert_int_equal(slc_trace_count(trace), TEST_COUNT(expected));
    for (int64_t i = 0; i < TEST_COUNT(expected); i++) {
        const slc_trace_slice *slice = slc_trace_get(trace, i);
        assert_int_equal(slice->stage, expected[i].stage);
        assert_int_equal(slice->lane, expected[i].lane);
        assert_int_equal(slice->begin_ns, expected[i].begin_ns);
    }
    slc_trace_destroy(trace);
}

static void every_stage_and_track_has_a_name(void **state) {
    (void)state;
    for (int stage = 0; stage < SLC_TRACE_STAGES; stage++) {
        assert_true(slc_trace_stage_name((slc_trace_stage)stage)[0] != '\0');
        assert_in_range(slc_trace_track_of((slc_trace_stage)stage), 0, SLC_TRACKS - 1);
    }
    for (int track = 0; track < SLC_TRACKS; track++) {
        assert_true(slc_trace_track_name((slc_trace_track)track)[0] != '\0');
    }
}

static void the_ledger_is_noted_change_by_change(void **state) {
    (void)state;
    slc_trace *trace = NULL;
    slc_budget *budget = NULL;
    TEST_OK(slc_trace_create(4096, &trace));
    TEST_OK(slc_budget_create(100, 1000, &budget));
    TEST_OK(slc_budget_reserve(budget, SLC_SPACE_HOST, 7, "before"));
    slc_trace_watch(trace, budget);
    TEST_OK(slc_budget_reserve(budget, SLC_SPACE_DEVICE, 60, "slab"));
    TEST_FAILS(slc_budget_reserve(budget, SLC_SPACE_DEVICE, 60, "more"), SLC_ERROR_MEMORY, "60");
    slc_budget_release(budget, SLC_SPACE_DEVICE, 60);
    static const struct {
        slc_space space;
        int64_t used_bytes, limit_bytes;
    } expected[] = {{SLC_SPACE_DEVICE, 0, 100},
                    {SLC_SPACE_HOST, 7, 1000},
                    {SLC_SPACE_DEVICE, 60, 100},
                    {SLC_SPACE_DEVICE, 0, 100}};
    assert_int_equal(slc_trace_memory_count(trace), TEST_COUNT(expected));
    int64_t before_ns = slc_trace_origin_ns(trace);
    for (int64_t i = 0; i < TEST_COUNT(expected); i++) {
        const slc_trace_memory *change = slc_trace_memory_get(trace, i);
        assert_int_equal(change->space, expected[i].space);
        assert_int_equal(change->used_bytes, expected[i].used_bytes);
        assert_int_equal(change->limit_bytes, expected[i].limit_bytes);
        assert_true(change->at_ns >= before_ns);
        before_ns = change->at_ns;
    }
    for (int i = 0; i < 200; i++) {
        TEST_OK(slc_budget_reserve(budget, SLC_SPACE_HOST, 1, "more"));
    }
    assert_int_equal(slc_trace_memory_count(trace) + slc_trace_memory_dropped(trace),
                     200 + TEST_COUNT(expected));
    assert_true(slc_trace_memory_dropped(trace) > 0);
    slc_budget_destroy(budget);
    slc_trace_destroy(trace);
}

/* ---- a run ------------------------------------------------------------------------------------ */

/* By how much a stream's clock may be off against the host's: a thread's waking up. */
#define CLOCK_NS 5000000

typedef struct sums {
    int64_t n[SLC_TRACE_STAGES], bytes[SLC_TRACE_STAGES], ns[SLC_TRACE_STAGES];
} sums;

/* Sums by stage; on the way every slice lies within the run and beside the one before it. */
static sums add_up(const slc_trace *trace, int64_t begin_ns, int64_t end_ns, int n_threads) {
    sums sum;
    memset(&sum, 0, sizeof sum);
    for (int64_t i = 0; i < slc_trace_count(trace); i++) {
        const slc_trace_slice *slice = slc_trace_get(trace, i);
        sum.n[slice->stage]++;
        sum.bytes[slice->stage] += slice->bytes;
        sum.ns[slice->stage] += slice->duration_ns;
        assert_true(slice->begin_ns >= begin_ns - CLOCK_NS);
        assert_true(slice->begin_ns + slice->duration_ns <= end_ns + CLOCK_NS);
        if (slc_trace_track_of(slice->stage) != SLC_TRACK_STAGING) {
            assert_in_range(slice->lane, 0, n_threads - 1);
        }
        const slc_trace_slice *before = i > 0 ? slc_trace_get(trace, i - 1) : NULL;
        if (before != NULL && before->lane == slice->lane &&
            slc_trace_track_of(before->stage) == slc_trace_track_of(slice->stage)) {
            assert_true(slice->begin_ns >= before->begin_ns + before->duration_ns);
        }
    }
    return sum;
}

static void expect_seconds(int64_t ns, double seconds) {
    assert_true(fabs(1e-9 * (double)ns - seconds) < 1e-6);
}

/* What moved, and how long it took, by the trace and by the report. */
static void compare(const sums *sum, const slc_engine_report *report) {
    assert_int_equal(sum->n[SLC_TRACE_KERNEL], report->n_tiles);
    assert_int_equal(sum->bytes[SLC_TRACE_READ], report->bytes_read);
    assert_int_equal(sum->bytes[SLC_TRACE_TIER], report->bytes_tier);
    /* Descriptions of tiles ride along without slices of their own. */
    assert_int_equal(sum->bytes[SLC_TRACE_H2D] + report->n_tiles * (int64_t)sizeof(slc_tile),
                     report->bytes_h2d);
    assert_int_equal(sum->bytes[SLC_TRACE_D2H], report->bytes_d2h);
    assert_int_equal(sum->bytes[SLC_TRACE_WRITE], report->bytes_written);
    assert_int_equal(sum->bytes[SLC_TRACE_FILL], report->bytes_read + report->bytes_tier);
    expect_seconds(sum->ns[SLC_TRACE_H2D], report->seconds_h2d);
    expect_seconds(sum->ns[SLC_TRACE_KERNEL], report->seconds_kernel);
    expect_seconds(sum->ns[SLC_TRACE_D2H], report->seconds_d2h);
    /* Reading is the union of what several threads do, so the sum is no less. */
    assert_true(1e-9 * (double)(sum->ns[SLC_TRACE_READ] + sum->ns[SLC_TRACE_TIER]) >=
                report->seconds_read - 1e-4);
}

/* A buffer is free, filled, and waits for its turn, for room and for its copy, in this order; of all
 * but filling, what takes no time is left out. Where nothing is copied it is filled and no more. */
static void expect_rounds(const slc_trace *trace, bool has_copies) {
    for (int64_t i = 0; i < slc_trace_count(trace); i++) {
        const slc_trace_slice *slice = slc_trace_get(trace, i);
        const slc_trace_slice *before = i > 0 ? slc_trace_get(trace, i - 1) : NULL;
        if (slc_trace_track_of(slice->stage) != SLC_TRACK_STAGING) {
            continue;
        }
        assert_true(has_copies || slice->stage == SLC_TRACE_FILL);
        if (before != NULL && slc_trace_track_of(before->stage) == SLC_TRACK_STAGING &&
            before->lane == slice->lane) {
            assert_true(slice->stage > before->stage ? slice->tile == before->tile
                                                     : slice->tile > before->tile);
            assert_true(slice->stage > before->stage || slice->stage <= SLC_TRACE_FILL);
        }
    }
}

/* The copy lane was busy for as long as its slices say, and for the rest there is a reason. */
static void expect_feed(const slc_trace *trace, const sums *sum) {
    slc_trace_feed feed;
    TEST_OK(slc_trace_feed_find(trace, &feed));
    assert_int_equal(feed.copying_ns, sum->ns[SLC_TRACE_H2D]);
    assert_int_equal(feed.total_ns, feed.copying_ns + feed.ready_ns + feed.full_ns +
                                        feed.reading_ns + feed.unread_ns);
    assert_true(feed.ready_ns <= sum->ns[SLC_TRACE_READY]);
    assert_true(feed.full_ns <= sum->ns[SLC_TRACE_ROOM]);
    assert_true(feed.thread_ns <= sum->ns[SLC_TRACE_READ] + sum->ns[SLC_TRACE_TIER]);
}

/* 108 tiles of the product job on `device`, traced. */
static slc_status run_traced(const test_fixture *self, slc_device *device, slc_budget *budget,
                             slc_trace *trace, slc_engine_report *report) {
    test_bound_job bound;
    test_product_bind(96, 24, 20, 8, 8, NULL, &bound);
    const slc_plan_request request = {.device_budget_bytes = 1 << 20,
                                      .host_budget_bytes = 1 << 20,
                                      .allocation_unit_bytes = 1,
                                      .force_tile = {8, 8, 8}};
    slc_plan plan;
    TEST_OK(slc_plan_make(&bound.job, &request, &plan));
    const slc_engine_options options = {.device = device,
                                        .pool = self->pool,
                                        .budget = budget,
                                        .bindings = bound.bindings,
                                        .trace = trace};
    const slc_status status = slc_engine_run(&bound.job, &plan, &options, report);
    assert_true(status != SLC_OK || test_product_errors(&bound) == 0);
    test_unbind(&bound);
    return status;
}

static void a_run_is_traced_stage_by_stage(void **state) {
    test_fixture self;
    slc_budget *budget = NULL;
    slc_trace *trace = NULL;
    test_fixture_open(*state, &self);
    TEST_OK(slc_budget_create(1 << 20, 1 << 20, &budget));
    TEST_OK(slc_trace_create(1 << 18, &trace));
    slc_engine_report report;
    const int64_t begin_ns = slc_clock_ns();
    TEST_OK(run_traced(&self, self.device, budget, trace, &report));
    const int64_t end_ns = slc_clock_ns();
    assert_int_equal(slc_trace_dropped(trace), 0);
    slc_trace_settle(trace);
    const sums sum = add_up(trace, begin_ns, end_ns, slc_pool_size(self.pool));
    compare(&sum, &report);
    expect_rounds(trace, sum.n[SLC_TRACE_H2D] > 0);
    expect_feed(trace, &sum);
    assert_int_equal(report.n_tiles, 12 * 3 * 3);
    slc_trace_destroy(trace);
    slc_budget_destroy(budget);
    test_fixture_close(&self);
}

/* The clocks of the streams are taken with events, each of which may fail: one error, nothing held. */
static void taking_the_clocks_may_fail(void **state) {
    test_fixture self;
    test_fixture_open(*state, &self);
    static const slc_check_kind kinds[] = {SLC_CHECK_STREAM, SLC_CHECK_EVENT};
    for (int64_t k = 0; k < TEST_COUNT(kinds); k++) {
        for (int64_t n = 1; n <= 120; n++) {
            slc_device *inner = NULL;
            slc_device *check = NULL;
            slc_budget *budget = NULL;
            slc_trace *trace = NULL;
            TEST_OK(slc_device_create_host(self.pool, NULL, &inner));
            const slc_check_options options = {.fail_kind = kinds[k], .fail_at = n};
            TEST_OK(slc_device_create_check(inner, &options, &check));
            TEST_OK(slc_budget_create(1 << 20, 1 << 20, &budget));
            TEST_OK(slc_trace_create(1 << 16, &trace));
            slc_engine_report report;
            const slc_status status = run_traced(&self, check, budget, trace, &report);
            assert_true(status == SLC_OK || status == SLC_ERROR_DEVICE ||
                        status == SLC_ERROR_MEMORY);
            assert_int_equal(slc_device_check_alive(check), 0);
            assert_int_equal(slc_budget_get(budget, SLC_SPACE_HOST).used_bytes, 0);
            slc_trace_destroy(trace);
            slc_budget_destroy(budget);
            slc_device_destroy(check);
        }
    }
    test_fixture_close(&self);
}

int main(void) {
    const test_case on_host[] = {TEST_CASE(a_run_is_traced_stage_by_stage),
                                 TEST_CASE(taking_the_clocks_may_fail)};
    const struct CMUnitTest alone[] = {
        cmocka_unit_test(a_full_trace_counts_what_it_drops),
        cmocka_unit_test(without_a_trace_nothing_happens),
        cmocka_unit_test(settling_sorts_by_lane_and_time),
        cmocka_unit_test(every_stage_and_track_has_a_name),
        cmocka_unit_test(the_ledger_is_noted_change_by_change),
    };
    const int n_failed = cmocka_run_group_tests(alone, NULL, NULL);
    return n_failed + test_run_everywhere(on_host, TEST_COUNT(on_host), TEST_ON_HOST);
}
