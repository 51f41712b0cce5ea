/* Small jobs whose results are plain integer arithmetic, for tests of the planner and the engine.
 *
 * "product" is image(y, x) = Σ_row a(row, y) · b(row, x): two inputs that move at different times and
 * an update that is reduced over rows. "turn" is out(j, i) = in(i, j). "take" is out(i) =
 * data(index(i)), with sparse data. All run on the host device.
 */
#ifndef SLC_TESTS_SUPPORT_TEST_JOBS_H
#define SLC_TESTS_SUPPORT_TEST_JOBS_H

#include "tests/support/test_support.h"

#include "core/budget.h"
#include "core/job.h"
#include "ooc/engine.h"
#include "ooc/plan.h"

/* Element values: small enough that no sum overflows, different for every index. */
int64_t test_product_a(int64_t row, int64_t y);
int64_t test_product_b(int64_t row, int64_t x);

/* The job alone, for planning. Granules as given. */
slc_job test_product_job(int64_t n_rows, int64_t ny, int64_t nx, int64_t row_granule,
                         int64_t pixel_granule);
slc_job test_turn_job(int64_t ni, int64_t nj, int64_t granule);

/* Faults that a run can be told to meet: the N-th read, write or tile fails (0: none); each read, each
 * tile takes so much longer. */
typedef struct test_faults {
    int64_t fail_read, fail_write, fail_tile;
    int64_t slow_read_us, slow_tile_us;
} test_faults;

/* A job with its sources and sinks, in memory. */
typedef struct test_bound_job {
    slc_job job;
    slc_binding bindings[SLC_MAX_OPERANDS];
    int64_t *out; /* the result, filled with -1 first */
    int64_t n_out;
    int64_t *data[2];
    struct test_job_state *state;
} test_bound_job;

void test_product_bind(int64_t n_rows, int64_t ny, int64_t nx, int64_t row_granule,
                       int64_t pixel_granule, const test_faults *faults, test_bound_job *out);
void test_turn_bind(int64_t ni, int64_t nj, int64_t granule, const test_faults *faults,
                    test_bound_job *out);
void test_take_bind(int64_t n_data, int64_t n_index, int64_t granule, const test_faults *faults,
                    test_bound_job *out);
void test_unbind(test_bound_job *bound);

/* Reads that the run has asked of its sources so far. */
int64_t test_n_reads(const test_bound_job *bound);

/* Number of wrong elements in the result, by the definition above. */
int64_t test_product_errors(const test_bound_job *bound);
int64_t test_turn_errors(const test_bound_job *bound);
int64_t test_take_errors(const test_bound_job *bound);

#endif
