/* Runs the same cases on every device of this machine: host and CUDA, each bare and inside a checking
 * device that delays copies.
 *
 *     static void copies(void **state) {
 *         test_fixture self;
 *         test_fixture_open(*state, &self);
 *         ...
 *         test_fixture_close(&self);          // fails the test if the checking device saw a leak
 *     }
 */
#ifndef SLC_TESTS_SUPPORT_TEST_FIXTURE_H
#define SLC_TESTS_SUPPORT_TEST_FIXTURE_H

#include "tests/support/test_support.h"

#include "core/device_check.h"

typedef struct test_fixture {
    slc_pool *pool; /* three threads, so that work is cut even on a small machine */
    slc_device *device;
    bool is_checked;
} test_fixture;

typedef enum test_where {
    TEST_ON_ALL,  /* every device */
    TEST_ON_HOST, /* the host device, bare and checked */
    TEST_ON_CUDA  /* the card, bare and checked */
} test_where;

typedef struct test_case {
    const char *name;
    void (*function)(void **state);
} test_case;

#define TEST_CASE(function) \
    { #function, function }

/* `on` is the case's state. A device that is not there fails the test: test_run_everywhere asks
 * before. */
void test_fixture_open(const void *on, test_fixture *out);
void test_fixture_close(test_fixture *self);

/* The host device inside a checking one that does what `check` says, such as failing a call. */
void test_fixture_open_failing(const slc_check_options *check, test_fixture *out);

/* Runs all cases on all devices wanted; a device that is not there counts as one skipped case with
 * the reason. Returns the number of failures, for main. */
int test_run_everywhere(const test_case *cases, int64_t n_cases, test_where where);

#endif
