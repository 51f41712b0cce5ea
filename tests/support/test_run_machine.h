/* A run's machine on a device at hand, with 64 MiB of either memory, for parts of jobs that are tried
 * without the job.
 *
 *     test_run_machine on;
 *     test_run_machine_open(*state, &on);                   // a case of test_run_everywhere
 *     TEST_OK(slci_direct_tune(&(…){.machine = &on.machine, …}, &trials));
 *     test_run_machine_close(&on);                          // nothing is held any longer
 */
#ifndef SLC_TESTS_SUPPORT_TEST_RUN_MACHINE_H
#define SLC_TESTS_SUPPORT_TEST_RUN_MACHINE_H

#include "app/machine.h"
#include "tests/support/test_fixture.h"

typedef struct test_run_machine {
    test_fixture fixture;
    slc_run_options options;
    slci_machine machine;
} test_run_machine;

void test_run_machine_open(const void *on, test_run_machine *out);

/* The same with so little device memory that nothing fits, 4096 bytes. */
void test_run_machine_open_small(const void *on, test_run_machine *out);

/* On the host device, checked, where calls fail as `check` says. */
void test_run_machine_open_failing(const slc_check_options *check, test_run_machine *out);
void test_run_machine_close(test_run_machine *self);

#endif
