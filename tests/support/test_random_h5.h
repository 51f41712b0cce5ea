/* Datasets of random types, shapes, chunks and filters: what Sluice reads of a slice against what HDF5
 * reads, and what Sluice writes against what HDF5 reads of it.
 *
 *     test_random_h5_reads(path, seed, 100);
 */
#ifndef SLC_TESTS_SUPPORT_TEST_RANDOM_H5_H
#define SLC_TESTS_SUPPORT_TEST_RANDOM_H5_H

#include "tests/support/test_support.h"

/* n datasets that HDF5 writes, and of each several slices, with steps of both signs, in random boxes.
 * The seed is printed, and with it the slice that differs. */
void test_random_h5_reads(const char *path, uint64_t seed, int64_t n);

/* n datasets that Sluice writes in random boxes, in any order. */
void test_random_h5_writes(const char *path, uint64_t seed, int64_t n);

#endif
