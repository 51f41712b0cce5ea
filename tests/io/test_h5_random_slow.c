/* Random datasets and slices against HDF5: more of them. */
#include "tests/support/test_random_h5.h"

int main(void) {
    return test_random_h5_run(&(
        test_random_h5){.read_seed = 1000, .n_read = 3000, .write_seed = 2000, .n_written = 2000});
}
