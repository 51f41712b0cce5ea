/* Strided copies on a device against the definition: random pairs of views, and the pairs that each
 * class of copies has, sorted and unsorted.
 *
 *     int main(void) {
 *         return test_run_copies(TEST_ON_CUDA);
 *     }
 */
#ifndef SLC_TESTS_SUPPORT_TEST_COPIES_H
#define SLC_TESTS_SUPPORT_TEST_COPIES_H

#include "tests/support/test_fixture.h"

/* Returns the number of failures, for main. */
int test_run_copies(test_where where);

#endif
