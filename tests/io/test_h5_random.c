/* Random datasets and slices against HDF5. */
#include "tests/support/test_random_h5.h"

int main(void) {
    return test_random_h5_run(
        &(test_random_h5){.read_seed = 1, .n_read = 150, .write_seed = 2, .n_written = 100});
}
