/* Running a piece of a test in a process of its own, where limits, users and mounts can be changed
 * and a crash at exit is seen.
 *
 *     const slc_failure found = test_child_run(write_big_file, &context);
 *     assert_int_equal(found.status, SLC_ERROR_OUTPUT);
 */
#ifndef SLC_TESTS_SUPPORT_TEST_CHILD_H
#define SLC_TESTS_SUPPORT_TEST_CHILD_H

#include "tests/support/test_support.h"

typedef slc_status (*test_child_body)(void *context);

/* Runs body(context) in a forked child that then exits in the ordinary way, exit handlers included.
 * Returns its status and message. A child that crashes, or exits otherwise, fails the test. */
slc_failure test_child_run(test_child_body body, void *context);

/* The child's status, and words that its message must hold. */
void test_child_expect(const slc_failure *found, slc_status status, const char *words);

/* For bodies. Files may have at most so many bytes, and writing more is an error, not a signal. */
void test_limit_file_size(int64_t bytes);

/* For bodies: gives up root's rights (user 65534). False where the process has none to give up. */
bool test_become_nobody(void);

/* For bodies: a file system of so many bytes in memory over `directory`, in a mount namespace of the
 * child's own. False, where that is not allowed. */
bool test_mount_small(const char *directory, int64_t bytes);

/* What a body returns when it could not set its stage; test_child_run's caller then skips. */
#define TEST_CHILD_SKIPPED ((slc_status)99)

#endif
