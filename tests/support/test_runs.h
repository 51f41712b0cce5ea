/* Running the jobs of tests/support/test_jobs.h on one device, with a ledger, and checking what every
 * run must leave behind.
 *
 *     test_bench self;
 *     test_bench_open(state, &self);
 *     const slc_engine_options options = test_bench_options(&self, self.fixture.device, &bound);
 *     ...
 *     test_bench_close(&self);        // fails the test if anything is still reserved
 */
#ifndef SLC_TESTS_SUPPORT_TEST_RUNS_H
#define SLC_TESTS_SUPPORT_TEST_RUNS_H

#include "tests/support/test_fixture.h"
#include "tests/support/test_jobs.h"

/* Everything a run needs, on one device. */
typedef struct test_bench {
    test_fixture fixture;
    slc_budget *budget;
    int n_warnings;
    slc_log log;
} test_bench;

void test_bench_open(void **state, test_bench *out);

/* Nothing may stay reserved, and the checking device may see no leak. */
void test_bench_close(test_bench *self);

/* What every run has; tests add what they are about. */
slc_engine_options test_bench_options(test_bench *self, slc_device *device,
                                      const test_bound_job *bound);

/* A checking device over a host device of its own; destroy it with slc_device_destroy. */
slc_device *test_bench_check(test_bench *self, const slc_check_options *options);

/* A plan with tiles as given (0: free), and room for everything. */
void test_plan_tiles(const slc_job *job, int64_t axis_0, int64_t axis_1, int64_t axis_2,
                     slc_plan *plan);

/* The run did what the plan said, byte for byte. */
void test_check_report(const slc_plan *plan, const slc_engine_report *report);

#endif
