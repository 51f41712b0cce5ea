/* Arrays in files whose elements are a function of their place, for tests of jobs that rewrite them.
 *
 *     test_rewrite_put(path, "/x", &(test_array){.rank = 2, .shape = {20, 30}, .chunk = {4, 30}});
 *     int32_t *values = test_rewrite_get(out, "/y", 2, (const int64_t[]){30, 20});
 */
#ifndef SLC_TESTS_SUPPORT_TEST_REWRITTEN_H
#define SLC_TESTS_SUPPORT_TEST_REWRITTEN_H

#include "app/rewrite.h"
#include "core/layout.h"
#include "tests/support/test_support.h"

/* A dataset of 32-bit integers. */
typedef struct test_array {
    int rank;
    int64_t shape[SLC_MAX_RANK];
    int64_t chunk[SLC_MAX_RANK]; /* zeros: contiguous */
    bool is_deflated;
} test_array;

/* From /x of way->in to /g/y of way->out, on two threads of the host, over whatever is there. */
slc_rewrite_options test_rewrite_options(const test_way *way);

/* The element at `index` [rank]: the number of the place in C order. */
int32_t test_rewrite_value(const test_array *array, const int64_t *index);

void test_rewrite_put(const char *path, const char *name, const test_array *array);

/* Gives the dataset an attribute "units", and its dimension `d` the label "along" and a dimension scale
 * `name` with the values 0.5 k, and this fill value. */
#define TEST_SCALE_FILL (-7.25)
void test_rewrite_describe(const char *path, const char *dataset, int d, const char *name);

/* All elements of a dataset that must have this shape, read by HDF5 itself; the caller frees. */
int32_t *test_rewrite_get(const char *path, const char *name, int rank, const int64_t *shape);

/* That a dataset is the array with dimension d of the result being dimension order[d]. */
void test_rewrite_expect(const char *path, const char *name, const test_array *array,
                         const int *order);

/* That two files hold the same bytes. */
void test_expect_same_files(const char *a, const char *b);

#endif
