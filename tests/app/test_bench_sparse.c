/* Mapped arrays of both sizes are read, bare and by the engine, within the budget. */
#include "app/bench_sparse.h"

#include "tests/support/test_fixture.h"

#define MIB (INT64_C(1) << 20)

static void sizes_follow_the_budget(void **state) {
    test_fixture self;
    slci_machine machine = {0};
    slci_bench_sparse sparse;
    test_fixture_open(*state, &self);
    const slci_bench_options options = {.run = {.vram_bytes = 32 * MIB,
                                                .ram_bytes = 64 * MIB,
                                                .use_device = self.device},
                                        .is_quick = true};
    TEST_OK(slci_machine_open(&options.run, &machine));
    TEST_OK(slci_bench_sparse_run(&options, &machine, &sparse));
    /* Three quarters of the budget; the smaller one is 32 MiB on the host and too large for a card. */
    const bool is_cuda = self.device->kind == SLC_DEVICE_CUDA;
    assert_int_equal(sparse.n, is_cuda ? 1 : 2);
    assert_int_equal(sparse.at[sparse.n - 1].bytes, 48 * MIB);
    for (int i = 0; i < sparse.n; i++) {
        const slci_bench_sparse_at *at = &sparse.at[i];
        assert_true(at->n_touches > 0 && at->n_touches <= at->bytes / 4);
        assert_true(at->bare_per_s > 0 && at->bare_per_s < 1e15);
        assert_true(at->gather_per_s > 0 && at->gather_per_s < 1e15);
    }
    slc_run_memory memory;
    slci_machine_take_stock(&machine, &memory);
    assert_true(memory.host_peak_bytes <= 64 * MIB);
    assert_int_equal(slci_machine_held_bytes(&machine), 0);
    slci_machine_close(&machine);
    test_fixture_close(&self);
}

int main(void) {
    const test_case cases[] = {TEST_CASE(sizes_follow_the_budget)};
    return test_run_everywhere(cases, TEST_COUNT(cases), TEST_ON_ALL);
}
