/* A hundred runs with tiny tiles and four slots give the same bytes, whatever overtakes what: tiles
 * that stream and tiles that are kept in RAM, mapped data, several rounds. For the thread sanitizer
 * above all; where copies are delayed at random (the checking device), a missing event shows as wrong
 * bytes. */
#include "tests/support/test_runs.h"

#include "ooc/execute.h"

#define N_RUNS 100

static slc_status once_more(void *state, bool *again) {
    static bool is_second; /* of the calling thread's runs, one after the other */
    (void)state;
    is_second = !is_second;
    *again = is_second;
    return SLC_OK;
}

static void run(test_bench *self, const test_bound_job *bound, bool no_tier, slc_plan *plan) {
    slc_execution execution = {.request = {.device_budget_bytes = 1 << 20,
                                           .host_budget_bytes = 1 << 20,
                                           .allocation_unit_bytes = 1,
                                           .rates = slc_rates_default(SLC_DEVICE_HOST),
                                           .max_slots = 4,
                                           .sparse = SLC_SPARSE_MAPPED,
                                           .no_tier = no_tier,
                                           .reads_in_place = self->fixture.device->has_host_memory,
                                           .force_tile = {4, 4, 4}},
                               .engine = test_bench_options(self, self->fixture.device, bound)};
    execution.request.rates.read_bytes_per_s = 1e6; /* so that keeping tiles pays */
    slc_engine_report report;
    TEST_OK(slc_execute(&bound->job, &execution, plan, &report));
    assert_int_equal(plan->n_slots, 4);
}

/* Of all bytes of the result, in order (FNV-1a). */
static uint64_t checksum(const test_bound_job *bound) {
    const unsigned char *const bytes = (const unsigned char *)bound->out;
    uint64_t sum = 0xcbf29ce484222325u;
    for (int64_t i = 0; i < bound->n_out * (int64_t)sizeof *bound->out; i++) {
        sum = (sum ^ bytes[i]) * 0x100000001b3u;
    }
    return sum;
}

static void products(test_bench *self, bool no_tier) {
    uint64_t first = 0;
    for (int i = 0; i < N_RUNS; i++) {
        test_bound_job bound;
        slc_plan plan;
        test_product_bind(32, 8, 8, 4, 4, NULL, &bound);
        bound.job.next_round = i % 4 == 0 ? once_more : NULL;
        run(self, &bound, no_tier, &plan);
        assert_true((plan.bytes_tier == 0) == no_tier);
        first = i == 0 ? checksum(&bound) : first;
        assert_int_equal(checksum(&bound), first);
        if (i == 0) {
            assert_int_equal(test_product_errors(&bound), 0);
        }
        test_unbind(&bound);
    }
}

static void streamed(void **state) {
    test_bench self;
    test_bench_open(state, &self);
    products(&self, true);
    test_bench_close(&self);
}

static void kept_in_ram(void **state) {
    test_bench self;
    test_bench_open(state, &self);
    products(&self, false);
    test_bench_close(&self);
}

static void mapped(void **state) {
    test_bench self;
    uint64_t first = 0;
    test_bench_open(state, &self);
    for (int i = 0; i < N_RUNS; i++) {
        test_bound_job bound;
        slc_plan plan;
        test_take_bind(1000, 100, 4, NULL, &bound);
        run(&self, &bound, false, &plan);
        assert_int_equal(plan.operand[0].placement, SLC_PLACE_MAPPED);
        first = i == 0 ? checksum(&bound) : first;
        assert_int_equal(checksum(&bound), first);
        if (i == 0) {
            assert_int_equal(test_take_errors(&bound), 0);
        }
        test_unbind(&bound);
    }
    test_bench_close(&self);
}

int main(void) {
    const test_case cases[] = {TEST_CASE(streamed), TEST_CASE(kept_in_ram), TEST_CASE(mapped)};
    return test_run_everywhere(cases, TEST_COUNT(cases), TEST_ON_HOST);
}
