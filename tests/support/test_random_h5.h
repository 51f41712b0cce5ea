/* Datasets of random types, shapes, chunks and filters: what Sluice reads of a slice against what HDF5
 * reads, and what Sluice writes against what HDF5 reads of it.
 *
 *     return test_random_h5_run(&(test_random_h5){.read_seed = 1, .n_read = 100, ...});
 */
#ifndef SLC_TESTS_SUPPORT_TEST_RANDOM_H5_H
#define SLC_TESTS_SUPPORT_TEST_RANDOM_H5_H

#include "tests/support/test_support.h"

/* The seeds are printed where something differs, and with them what does. */
typedef struct test_random_h5 {
    /* Datasets that HDF5 writes; of each several slices, with steps of both signs, in random boxes. */
    uint64_t read_seed;
    int64_t n_read;
    /* Datasets that Sluice writes in random boxes, in any order. */
    uint64_t write_seed;
    int64_t n_written;
} test_random_h5;

/* Two cases. Returns the number of failures, for main. */
int test_random_h5_run(const test_random_h5 *wanted);

#endif
