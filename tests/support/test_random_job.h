/* Small random jobs for tests of the planner: any axes, operands, regions and rates that are allowed.
 * The tile function does nothing; such a job is planned, not run.
 */
#ifndef SLC_TESTS_SUPPORT_TEST_RANDOM_JOB_H
#define SLC_TESTS_SUPPORT_TEST_RANDOM_JOB_H

#include "tests/support/test_support.h"

#include "core/job.h"
#include "ooc/plan.h"

typedef struct test_random_job_options {
    int most_axes; /* 1 to SLC_MAX_AXES */
    bool has_sparse;
    bool has_footprints;
    bool has_wide_halos; /* halos that reach over the whole array */
} test_random_job_options;

slc_job test_random_job(uint64_t *random, const test_random_job_options *options);

/* A request for it with random rates, units and, in half of the cases, a region; budgets are roomy. */
slc_plan_request test_random_request(uint64_t *random, const slc_job *job);

#endif
