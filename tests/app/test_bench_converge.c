/* Loops by the device and with the host's help give the same roots after the same number of rounds, on
 * every device; the roots are compared by what is tested. */
#include "app/bench_converge.h"

#include "tests/support/test_fixture.h"

static void both_ways_end(void **state) {
    test_fixture self;
    slci_machine machine = {0};
    slci_bench_converge converge;
    test_fixture_open(*state, &self);
    const slci_bench_options options = {.run = {.vram_bytes = 32 << 20,
                                                .ram_bytes = 64 << 20,
                                                .use_device = self.device},
                                        .is_quick = true};
    TEST_OK(slci_machine_open(&options.run, &machine));
    TEST_OK(slci_bench_converge_run(&options, &machine, &converge));
    assert_int_equal(converge.tile_bytes, 256 << 10);
    assert_true(converge.n_tiles >= 2);
    assert_true(converge.rounds_per_tile >= 95 && converge.rounds_per_tile <= 105);
    assert_true(converge.device_seconds > 0 && converge.device_seconds < 60);
    assert_true(converge.host_seconds > 0 && converge.host_seconds < 60);
    assert_int_equal(slci_machine_held_bytes(&machine), 0);
    slci_machine_close(&machine);
    test_fixture_close(&self);
}

static void too_little_memory_is_no_plan(void **state) {
    test_fixture self;
    slci_machine machine = {0};
    slci_bench_converge converge;
    test_fixture_open(*state, &self);
    const slci_bench_options options = {.run = {.vram_bytes = 4096,
                                                .ram_bytes = 64 << 20,
                                                .use_device = self.device},
                                        .is_quick = true};
    TEST_OK(slci_machine_open(&options.run, &machine));
    TEST_FAILS(slci_bench_converge_run(&options, &machine, &converge), SLC_ERROR_NO_PLAN, "roots");
    assert_int_equal(slci_machine_held_bytes(&machine), 0);
    slci_machine_close(&machine);
    test_fixture_close(&self);
}

int main(void) {
    const test_case cases[] = {
        TEST_CASE(both_ways_end),
        TEST_CASE(too_little_memory_is_no_plan),
    };
    return test_run_everywhere(cases, TEST_COUNT(cases), TEST_ON_ALL);
}
