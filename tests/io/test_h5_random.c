/* Random datasets and slices against HDF5. */
#include <hdf5.h>

#include "tests/support/test_random_h5.h"

enum { N_READ = 150, N_WRITTEN = 100 };

static int make(void **state) {
    (void)test_place_create(state, "a.h5");
    return 0;
}

static void slices_are_read_as_hdf5_reads(void **state) {
    const test_place *self = *state;
    test_random_h5_reads(self->path, 1, N_READ);
}

static void what_is_written_is_read_by_hdf5(void **state) {
    const test_place *self = *state;
    test_random_h5_writes(self->path, 2, N_WRITTEN);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, make, test_place_destroy)

int main(void) {
    (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    const struct CMUnitTest tests[] = {
        CASE(slices_are_read_as_hdf5_reads),
        CASE(what_is_written_is_read_by_hdf5),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
