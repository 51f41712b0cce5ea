#include "tests/support/test_support.h"

#include <pthread.h>
#include <time.h>

#include "core/clock.h"

static void sleep_ms(int64_t ms) {
    const struct timespec duration = {.tv_nsec = (long)ms * 1000000};
    (void)nanosleep(&duration, NULL);
}

static void time_goes_forwards(void **state) {
    (void)state;
    const int64_t begin = slc_clock_ns();
    sleep_ms(5);
    assert_true(slc_clock_ns() - begin >= 5000000);
}

static void overlapping_intervals_count_once(void **state) {
    (void)state;
    slc_busy busy;
    slc_busy_init(&busy);
    assert_int_equal(slc_busy_ns(&busy), 0);
    const int64_t begin = slc_clock_ns();
    slc_busy_begin(&busy);
    slc_busy_begin(&busy);
    sleep_ms(5);
    slc_busy_end(&busy);
    sleep_ms(5);
    assert_true(slc_busy_ns(&busy) >= 10000000); /* an open interval counts up to now */
    slc_busy_end(&busy);
    const int64_t wall = slc_clock_ns() - begin;
    const int64_t total = slc_busy_ns(&busy);
    assert_true(total >= 10000000 && total <= wall);
    sleep_ms(5);
    assert_int_equal(slc_busy_ns(&busy), total);
    slc_busy_begin(&busy);
    slc_busy_end(&busy);
    assert_true(slc_busy_ns(&busy) >= total);
    slc_busy_destroy(&busy);
}

static void *work(void *argument) {
    for (int i = 0; i < 500; i++) {
        slc_busy_begin(argument);
        slc_busy_end(argument);
    }
    return NULL;
}

static void threads_share_one(void **state) {
    (void)state;
    slc_busy busy;
    slc_busy_init(&busy);
    const int64_t begin = slc_clock_ns();
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, work, &busy), 0);
    }
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    assert_true(slc_busy_ns(&busy) <= slc_clock_ns() - begin);
    assert_int_equal(busy.active, 0);
    slc_busy_destroy(&busy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_goes_forwards),
        cmocka_unit_test(overlapping_intervals_count_once),
        cmocka_unit_test(threads_share_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
