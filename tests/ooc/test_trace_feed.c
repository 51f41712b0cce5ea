/* Times of copies, of what was late and of what could not be helped, from slices made by hand and from
 * runs of the engine. */
#include "tests/support/test_fixture.h"
#include "tests/support/test_jobs.h"

#include "ooc/trace_feed.h"

/* A slice of a lane from one moment to another. */
typedef struct span {
    slc_trace_stage stage;
    int lane;
    int64_t from_ns, to_ns;
} span;

static slc_trace_feed feed_of(const span *spans, int64_t n) {
    slc_trace *trace = NULL;
    TEST_OK(slc_trace_create(1 << 14, &trace));
    for (int64_t i = 0; i < n; i++) {
        const slc_trace_slice slice = {.stage = spans[i].stage,
                                       .lane = spans[i].lane,
                                       .begin_ns = spans[i].from_ns,
                                       .duration_ns = spans[i].to_ns - spans[i].from_ns};
        slc_trace_add(trace, &slice);
    }
    slc_trace_settle(trace);
    slc_trace_feed feed;
    TEST_OK(slc_trace_feed_find(trace, &feed));
    slc_trace_destroy(trace);
    return feed;
}

static void expect_feed(const slc_trace_feed *feed, const slc_trace_feed *expected) {
    assert_int_equal(feed->copying_ns, expected->copying_ns);
    assert_int_equal(feed->ready_ns, expected->ready_ns);
    assert_int_equal(feed->full_ns, expected->full_ns);
    assert_int_equal(feed->reading_ns, expected->reading_ns);
    assert_int_equal(feed->unread_ns, expected->unread_ns);
    assert_int_equal(feed->total_ns, expected->total_ns);
    assert_int_equal(feed->thread_ns, expected->thread_ns);
}

static void nothing_comes_of_an_empty_trace(void **state) {
    (void)state;
    const slc_trace_feed feed = feed_of(NULL, 0);
    expect_feed(&feed, &(slc_trace_feed){0});
}

/* 0 - 10 nobody reads, - 90 reading, - 100 ready, - 200 copying, - 215 nobody reads, - 250 reading,
 * - 260 ready, - 360 copying. */
static void one_buffer_goes_round(void **state) {
    (void)state;
    static const span spans[] = {
        {SLC_TRACE_READ, 0, 10, 90},   {SLC_TRACE_READ, 0, 215, 250},
        {SLC_TRACE_FILL, 0, 0, 90},    {SLC_TRACE_READY, 0, 90, 100},
        {SLC_TRACE_FREE, 0, 200, 210}, {SLC_TRACE_FILL, 0, 210, 250},
        {SLC_TRACE_H2D, 0, 100, 200},  {SLC_TRACE_READY, 0, 250, 260},
        {SLC_TRACE_H2D, 0, 260, 360},
    };
    const slc_trace_feed feed = feed_of(spans, TEST_COUNT(spans));
    expect_feed(&feed, &(slc_trace_feed){.copying_ns = 200,
                                         .ready_ns = 20,
                                         .reading_ns = 80 + 35,
                                         .unread_ns = 10 + 15,
                                         .total_ns = 360,
                                         .thread_ns = 80 + 35});
}

/* A copy hides what else goes on, a tile that is ready that another has no room, and that, that threads
 * read: 0 - 10 reading by two, - 20 full, - 30 ready, - 50 copying, - 60 full, - 75 reading by one. */
static void the_worst_of_several_buffers_counts(void **state) {
    (void)state;
    static const span spans[] = {
        {SLC_TRACE_READ, 0, 0, 75},    {SLC_TRACE_TIER, 1, 0, 40},    {SLC_TRACE_FILL, 0, 0, 20},
        {SLC_TRACE_READY, 0, 20, 30},  {SLC_TRACE_FILL, 1, 0, 10},    {SLC_TRACE_ROOM, 1, 10, 60},
        {SLC_TRACE_FILL, 1, 60, 75},   {SLC_TRACE_H2D, 0, 30, 50},    {SLC_TRACE_FREE, 2, 40, 75},
        {SLC_TRACE_KERNEL, 0, 0, 500}, {SLC_TRACE_WRITE, 0, 70, 400}, {SLC_TRACE_D2H, 0, 0, 3},
    };
    const slc_trace_feed feed = feed_of(spans, TEST_COUNT(spans));
    expect_feed(&feed, &(slc_trace_feed){.copying_ns = 20,
                                         .ready_ns = 10,
                                         .full_ns = 10 + 10,
                                         .reading_ns = 10 + 15,
                                         .total_ns = 75,
                                         .thread_ns = 75 + 40});
}

/* What is read with no buffer under way, as into mapped memory, is not on its way to a copy. */
static void time_between_runs_counts_for_nothing(void **state) {
    (void)state;
    static const span spans[] = {
        {SLC_TRACE_READ, 0, 0, 50},        {SLC_TRACE_FILL, 0, 100, 110},
        {SLC_TRACE_READ, 0, 100, 110},     {SLC_TRACE_H2D, 0, 110, 120},
        {SLC_TRACE_FILL, 0, 1000, 1003},   {SLC_TRACE_H2D, 0, 1003, 1005},
        {SLC_TRACE_PHASE, 0, -1000, 5000},
    };
    const slc_trace_feed feed = feed_of(spans, TEST_COUNT(spans));
    expect_feed(&feed, &(slc_trace_feed){.copying_ns = 12,
                                         .reading_ns = 10,
                                         .unread_ns = 3,
                                         .total_ns = 25,
                                         .thread_ns = 10});
}

/* ---- runs ------------------------------------------------------------------------------------- */

enum { N_TILES = 20, SIDE = 8, SLOW_US = 3000 };

/* A run of N_TILES tiles of which each is read, copied and used, where the device keeps its memory
 * apart. What is slow: reads, tiles, or copies, which the device delays at random. */
static slc_trace_feed run_slowly(const test_faults *faults, int64_t delay_us) {
    test_fixture self;
    test_bound_job bound;
    slc_trace *trace = NULL;
    slc_budget *budget = NULL;
    test_fixture_open_failing(&(slc_check_options){.delay_us = delay_us}, &self);
    test_turn_bind(SIDE, (int64_t)SIDE * N_TILES, SIDE, faults, &bound);
    TEST_OK(slc_budget_create(1 << 20, 1 << 20, &budget));
    TEST_OK(slc_trace_create(1 << 16, &trace));
    const slc_plan_request request = {.device_budget_bytes = 1 << 20,
                                      .host_budget_bytes = 1 << 20,
                                      .allocation_unit_bytes = 1,
                                      .max_slots = 3,
                                      .force_tile = {SIDE, SIDE}};
    slc_plan plan;
    TEST_OK(slc_plan_make(&bound.job, &request, &plan));
    assert_int_equal(plan.n_tiles, N_TILES);
    const slc_engine_options options = {.device = self.device,
                                        .pool = self.pool,
                                        .budget = budget,
                                        .bindings = bound.bindings,
                                        .trace = trace};
    slc_engine_report report;
    TEST_OK(slc_engine_run(&bound.job, &plan, &options, &report));
    assert_int_equal(test_turn_errors(&bound), 0);
    slc_trace_settle(trace);
    slc_trace_feed feed;
    TEST_OK(slc_trace_feed_find(trace, &feed));
    assert_int_equal(feed.total_ns, feed.copying_ns + feed.ready_ns + feed.full_ns +
                                        feed.reading_ns + feed.unread_ns);
    slc_trace_destroy(trace);
    slc_budget_destroy(budget);
    test_unbind(&bound);
    test_fixture_close(&self);
    return feed;
}

/* Three threads read three tiles at a time, in SLOW_US, and nothing else takes long; but on a busy
 * machine anything may. */
static void a_slow_reader_is_seen(void **state) {
    (void)state;
    const slc_trace_feed feed = run_slowly(&(test_faults){.slow_read_us = SLOW_US}, 0);
    assert_true(feed.reading_ns > feed.total_ns / 8);
    assert_true(feed.reading_ns > 8 * feed.full_ns);
    assert_true(feed.thread_ns >= N_TILES * SLOW_US * INT64_C(1000));
}

/* Until the last tile has found room, tiles before it must run. */
static void a_slow_kernel_is_seen(void **state) {
    (void)state;
    const slc_trace_feed feed = run_slowly(&(test_faults){.slow_tile_us = SLOW_US}, 0);
    assert_true(feed.full_ns > feed.total_ns / 4);
    assert_true(feed.full_ns > 8 * feed.reading_ns);
}

/* The device delays also what goes without a slice, such as the descriptions of tiles, and a tile waits
 * for that meanwhile. */
static void slow_copies_are_seen(void **state) {
    (void)state;
    const slc_trace_feed feed = run_slowly(NULL, 2 * SLOW_US);
    assert_true(feed.copying_ns > feed.total_ns / 4);
    assert_true(feed.copying_ns > feed.full_ns + feed.reading_ns);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_comes_of_an_empty_trace),
        cmocka_unit_test(one_buffer_goes_round),
        cmocka_unit_test(the_worst_of_several_buffers_counts),
        cmocka_unit_test(time_between_runs_counts_for_nothing),
        cmocka_unit_test(a_slow_reader_is_seen),
        cmocka_unit_test(a_slow_kernel_is_seen),
        cmocka_unit_test(slow_copies_are_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
