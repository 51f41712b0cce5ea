/* What a run may not leave behind: threads, open files, open objects of HDF5.
 *
 *     const test_belongings before = test_belongings_count();
 *     ... a run, whatever comes of it ...
 *     test_belongings_expect(&before);
 */
#ifndef SLC_TESTS_SUPPORT_TEST_BELONGINGS_H
#define SLC_TESTS_SUPPORT_TEST_BELONGINGS_H

#include "tests/support/test_support.h"

typedef struct test_belongings {
    int64_t n_threads, n_files, n_h5;
} test_belongings;

test_belongings test_belongings_count(void);

/* There are as many as before; threads that were joined may take two seconds to go. */
void test_belongings_expect(const test_belongings *before);

#endif
