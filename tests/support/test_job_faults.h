/* Fails every call of every kind once, in one way of running a job after the other, and checks what a
 * failed run must leave behind: one clear error of the right class, every thread joined, no file and
 * no object of HDF5 left open, nothing under the final name. Where a run makes very many calls of a
 * kind, the first fifty and a sample of the rest fail. Only for programs that may use test_faults.h.
 *
 *     test_fault_place *self = test_allocate((int64_t)sizeof *self);     // in a setup
 *     test_fault_place_create(self, "in.h5", "out.h5");
 *     self->job = (test_job_faults){.context = self, .run = run_once, .results = self->results,
 *                                   .ways = ways, .n_ways = TEST_COUNT(ways)};
 *     *state = self;
 *     cmocka_unit_test_setup_teardown(test_job_fail_calls, make, test_fault_place_destroy)
 */
#ifndef SLC_TESTS_SUPPORT_TEST_JOB_FAULTS_H
#define SLC_TESTS_SUPPORT_TEST_JOB_FAULTS_H

#include "app/run_options.h"
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

/* Where such a job reads and writes: the state of its tests, or the first member of it. */
typedef struct test_fault_place {
    test_job_faults job;
    char data[TEST_PATH_BYTES], results[TEST_PATH_BYTES]; /* folders: of inputs, of outputs alone */
    char in[TEST_PATH_BYTES], out[TEST_PATH_BYTES];       /* a file in each, which is not made */
} test_fault_place;

/* Makes both folders; the files get these names. `job` is left to the caller. */
void test_fault_place_create(test_fault_place *self, const char *in, const char *out);

/* A teardown; frees the state too. */
int test_fault_place_destroy(void **state);

/* Tests of that state. Memory, threads, files, HDF5. */
void test_job_fail_calls(void **state);

/* Device memory, mapped memory, streams, events, copies, sets and launches; not in the last way. */
void test_job_fail_device_calls(void **state);

/* Kernels cannot be given the host's memory, and nobody asked for just that: the job runs by rates that
 * make mapping the best of what fits, on a device whose first mapped allocation is refused. It asks for
 * one and streams instead. `run` runs it with those options and returns where the sparse array went. */
void test_job_expect_streamed(const void *context,
                              slc_sparse_choice (*run)(const void *context, slc_run_options run),
                              int64_t vram_bytes);

#endif
