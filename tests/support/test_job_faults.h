/* Fails every call of every kind once, in one way of running a job after the other, and checks what a
 * failed run must leave behind: one clear error of the right class, every thread joined, no file and
 * no object of HDF5 left open, nothing under the final name. Where a run makes very many calls of a
 * kind, the first fifty and a sample of the rest fail. Only for programs that may use test_faults.h.
 *
 *     static slc_status run_once(const void *context, int64_t way, slc_device *device);
 *     const test_job_faults job = {.context = self, .run = run_once, .results = self->results,
 *                                  .ways = ways, .n_ways = TEST_COUNT(ways)};
 *     test_job_fail_calls(&job);
 */
#ifndef SLC_TESTS_SUPPORT_TEST_JOB_FAULTS_H
#define SLC_TESTS_SUPPORT_TEST_JOB_FAULTS_H

#include "ooc/plan.h"
#include "tests/support/test_support.h"

/* A job whose one output, if it has one, goes into the folder `results`, and the ways of running
 * it: where its sparse array goes in each. AUTO has others to fall back on when memory is
 * refused. All lent. */
typedef struct test_job_faults {
    const void *context;
    /* Way number `way`; `device` NULL opens the host device. An output of the run before goes first. */
    slc_status (*run)(const void *context, int64_t way, slc_device *device);
    const char *results;
    /* (optional) That output: a run that ends well although a call failed has written the bytes of one
     * in which none did. */
    const char *output;
    const slc_sparse_choice *ways; /* [n_ways]; the last one's device calls are those of another */
    int64_t n_ways;
    bool has_no_output; /* calls that write are not made, and nothing is left in `results` */
    bool is_unfiltered; /* nothing is decoded */
    /* (optional) Whether the last run, in which a call failed and which ended well, took another way
     * that is documented. */
    bool (*is_explained)(const void *context);
} test_job_faults;

/* Memory, threads, files, HDF5. */
void test_job_fail_calls(const test_job_faults *job);

/* Device memory, mapped memory, streams, events, copies, sets and launches; not in the last way. */
void test_job_fail_device_calls(const test_job_faults *job);

/* A host device whose first mapped allocation is refused; slc_device_destroy closes it. */
slc_device *test_job_device_without_mapping(slc_pool *pool);

#endif
