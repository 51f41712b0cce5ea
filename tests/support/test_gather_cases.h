/* Gathers whose results are checked element by element against the definition, on a device at hand.
 *
 *     const test_gather gather = {.request = {.dtype = SLC_F32, .rank = 1, .shape = {100}, ...},
 *                                 .tile = {16, 32}, .sparse = SLC_SPARSE_MAPPED};
 *     test_gather_run(device, &gather);
 */
#ifndef SLC_TESTS_SUPPORT_TEST_GATHER_CASES_H
#define SLC_TESTS_SUPPORT_TEST_GATHER_CASES_H

#include "kernels/gather_kernel.h"
#include "ooc/plan.h"
#include "tests/support/test_fixture.h"

/* The cases of tests/kernels/test_gather_kernel.c, which test_gather_cuda.c runs on a card. */
extern const test_case test_gather_cases[];
extern const int64_t test_n_gather_cases;

/* data[…], list [n_index] (or [n_index, rank]) and what comes of them, all dense. Only the last two
 * dimensions of data may be many. */
typedef struct test_gather {
    slc_gather_request request;
    int64_t tile[SLC_MAX_AXES]; /* extents to use, 0: whatever the planner likes */
    slc_sparse_choice sparse;   /* for SLC_GATHER_WHOLE */
    bool is_sorted;             /* the list is; else it is random, with repetitions */
} test_gather;

/* Runs it through the engine with random data and compares every byte. */
void test_gather_run(slc_device *device, const test_gather *gather);

/* What numpy.take(data, list, axis), or data[tuple(list.T)] for axis -1, would give: shape
 * [out_rank] and values. `list` holds n_index × (axis < 0 ? rank : 1) numbers. */
void test_gather_expect(const slc_gather_request *request, const void *data, const int64_t *list,
                        void *out);

/* The list's values as elements of an integer type. The caller frees. */
void *test_gather_encode(const int64_t *list, int64_t n, slc_dtype dtype);

#endif
