/* A stopwatch holds the time of what was enqueued between its two ends; tiles are timed so seldom that
 * nobody notices, and often enough to know. */
#include "tests/support/test_fixture.h"

#include "ooc/stopwatch.h"

#define PAUSE_NS 5000000

static void it_holds_what_ran_between_its_ends(void **state) {
    test_fixture self;
    test_fixture_open(*state, &self);
    slc_stream *stream = NULL;
    slci_stopwatch watch;
    int64_t ns = 0;
    TEST_OK(slc_stream_create(self.device, &stream));
    TEST_OK(slci_stopwatch_create(self.device, &watch));
    TEST_OK(slci_stopwatch_start(&watch, stream));
    TEST_OK(self.device->ops->pause(stream, PAUSE_NS));
    TEST_OK(slci_stopwatch_stop(&watch, stream));
    TEST_OK(self.device->ops->pause(stream, PAUSE_NS));
    TEST_OK(slci_stopwatch_stop(&watch, stream)); /* a later end counts */
    TEST_OK(self.device->ops->pause(stream, PAUSE_NS));
    TEST_OK(slc_stream_synchronize(stream));
    assert_true(watch.is_used);
    TEST_OK(slci_stopwatch_read(&watch, &ns));
    assert_true(ns > 2 * PAUSE_NS - PAUSE_NS / 10);
    assert_false(watch.is_used);
    slci_stopwatch_destroy(&watch);
    slc_stream_destroy(stream);
    test_fixture_close(&self);
}

static void without_a_start_it_stays_unused(void **state) {
    test_fixture self;
    test_fixture_open(*state, &self);
    slc_stream *stream = NULL;
    slci_stopwatch watch;
    TEST_OK(slc_stream_create(self.device, &stream));
    TEST_OK(slci_stopwatch_create(self.device, &watch));
    TEST_OK(slci_stopwatch_stop(&watch, stream));
    assert_false(watch.is_used);
    slci_stopwatch_destroy(&watch);
    slci_stopwatch_destroy(&watch); /* again does nothing */
    slc_stream_destroy(stream);
    test_fixture_close(&self);
}

static void long_tiles_are_all_timed_and_short_ones_seldom(void **state) {
    (void)state;
    assert_int_equal(slci_stopwatch_stride(1000, 1000 * 20e-3), 1);
    assert_int_equal(slci_stopwatch_stride(10000, 10000 * 2.5e-3),
                     5); /* 12 us in 5 tiles' 12.5 ms */
    assert_int_equal(slci_stopwatch_stride(100000, 100000 * 20e-6), 64);
    assert_int_equal(slci_stopwatch_stride(320, 320 * 20e-6), 20); /* 16 of them */
    assert_int_equal(slci_stopwatch_stride(15, 15 * 20e-6), 1);
    assert_int_equal(slci_stopwatch_stride(100000, 0.0), 64);
    assert_int_equal(slci_stopwatch_stride(0, 0.0), 1);
}

int main(void) {
    const test_case cases[] = {
        TEST_CASE(it_holds_what_ran_between_its_ends),
        TEST_CASE(without_a_start_it_stays_unused),
        TEST_CASE(long_tiles_are_all_timed_and_short_ones_seldom),
    };
    return test_run_everywhere(cases, TEST_COUNT(cases), TEST_ON_ALL);
}
