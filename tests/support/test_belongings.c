#include "tests/support/test_belongings.h"

#include <hdf5.h>
#include <time.h>

test_belongings test_belongings_count(void) {
    return (test_belongings){test_directory_count("/proc/self/task"),
                             test_directory_count("/proc/self/fd"),
                             H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL)};
}

/* A joined thread leaves /proc a moment after its join. */
void test_belongings_expect(const test_belongings *before) {
    const struct timespec moment = {.tv_nsec = 1000000};
    test_belongings now = test_belongings_count();
    for (int i = 0; i < 2000 && now.n_threads != before->n_threads; i++) {
        nanosleep(&moment, NULL);
        now = test_belongings_count();
    }
    assert_int_equal(now.n_threads, before->n_threads);
    assert_int_equal(now.n_files, before->n_files);
    assert_int_equal(now.n_h5, before->n_h5);
}
