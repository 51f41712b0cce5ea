/* Statistics whose results are checked against sums of whole numbers, on a device at hand.
 */
#ifndef SLC_TESTS_SUPPORT_TEST_STATS_CASES_H
#define SLC_TESTS_SUPPORT_TEST_STATS_CASES_H

#include "kernels/stats_kernel.h"
#include "tests/support/test_fixture.h"

/* The cases of tests/kernels/test_stats_kernel.c, which test_stats_cuda.c runs on a card. */
extern const test_case test_stats_cases[];
extern const int64_t test_n_stats_cases;

/* What a pass gives. The caller frees all of them. */
typedef struct test_stats_found {
    uint64_t *sums;   /* [n_parts, SLC_STATS_WORDS] */
    uint64_t *digits; /* [n_groups, 2^digit_bits] */
    uint64_t *bins;   /* [n_bins + 2] */
} test_stats_found;

/* Runs one pass over `data` with tiles of `tile` (0: whatever the planner likes). `edges` [n_bins + 1]
 * may be NULL where there are no bins. On the host every set of loops that the processor has must give
 * the same. */
void test_stats_run(slc_device *device, const slc_stats_request *request,
                    const slc_stats_step *step, const int64_t *tile, const void *data,
                    const double *edges, test_stats_found *out);
void test_stats_free(test_stats_found *found);

#endif
