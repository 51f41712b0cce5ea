/* Both ways of a gather are run, compared with the array and timed, on every device; what fails is
 * said, and nothing stays reserved. Which way is the faster is not asked here. */
#include "app/bench_choice.h"

#include "tests/support/test_fixture.h"

#define RAM_BYTES (64 << 20)
#define VRAM_BYTES (32 << 20)

static slci_bench_options options_on(slc_device *device) {
    return (slci_bench_options){.run = {.vram_bytes = VRAM_BYTES,
                                        .ram_bytes = RAM_BYTES,
                                        .use_device = device},
                                .is_quick = true};
}

static void is_a_time(double seconds) {
    assert_true(seconds > 0 && seconds < 3600);
}

static void every_share_has_both_ways(void **state) {
    static const double shares[SLCI_BENCH_CHOICES] = {0.001, 0.01, 0.1};
    test_fixture self;
    slci_machine machine = {0};
    slci_bench_choice choice;
    test_fixture_open(*state, &self);
    const slci_bench_options options = options_on(self.device);
    TEST_OK(slci_machine_open(&options.run, &machine));
    TEST_OK(slci_bench_choice_run(&options, &machine, &choice));
    assert_true(choice.vram_bytes < choice.data_bytes && choice.data_bytes <= RAM_BYTES / 4);
    for (int i = 0; i < SLCI_BENCH_CHOICES; i++) {
        const slci_bench_choice_at *at = &choice.at[i];
        assert_true(at->share == shares[i]);
        assert_int_equal(at->n_index, (int64_t)(shares[i] * (double)(choice.data_bytes / 4)));
        is_a_time(at->mapped.planned);
        is_a_time(at->mapped.taken);
        is_a_time(at->streamed.planned);
        is_a_time(at->streamed.taken);
        /* The choice is the way that the plans expect to be faster. */
        assert_int_equal(at->is_mapped, at->mapped.planned < at->streamed.planned);
    }
    assert_int_equal(slci_machine_held_bytes(&machine), 0);
    slci_machine_close(&machine);
    test_fixture_close(&self);
}

static void too_little_memory_is_no_plan(void **state) {
    test_fixture self;
    slci_machine machine = {0};
    slci_bench_choice choice;
    test_fixture_open(*state, &self);
    slci_bench_options options = options_on(self.device);
    options.run.vram_bytes = 1;
    TEST_OK(slci_machine_open(&options.run, &machine));
    TEST_FAILS(slci_bench_choice_run(&options, &machine, &choice), SLC_ERROR_NO_PLAN, "--vram");
    assert_int_equal(slci_machine_held_bytes(&machine), 0);
    slci_machine_close(&machine);
    test_fixture_close(&self);
}

/* The N-th copy fails, in the runs that are compared and in those that are timed. */
static void a_failure_ends_it(void **state) {
    (void)state;
    static const int64_t places[] = {1, 2, 5, 40};
    for (int64_t p = 0; p < TEST_COUNT(places); p++) {
        test_fixture self;
        slci_machine machine = {0};
        slci_bench_choice choice;
        const slc_check_options check = {.fail_kind = SLC_CHECK_COPY, .fail_at = places[p]};
        test_fixture_open_failing(&check, &self);
        const slci_bench_options options = options_on(self.device);
        TEST_OK(slci_machine_open(&options.run, &machine));
        TEST_FAILS(slci_bench_choice_run(&options, &machine, &choice), SLC_ERROR_DEVICE, "copy");
        assert_int_equal(slci_machine_held_bytes(&machine), 0);
        slci_machine_close(&machine);
        test_fixture_close(&self);
    }
}

int main(void) {
    const test_case cases[] = {
        TEST_CASE(every_share_has_both_ways),
        TEST_CASE(too_little_memory_is_no_plan),
    };
    const struct CMUnitTest faults[] = {cmocka_unit_test(a_failure_ends_it)};
    const int n_failed = test_run_everywhere(cases, TEST_COUNT(cases), TEST_ON_ALL);
    return n_failed + cmocka_run_group_tests(faults, NULL, NULL);
}
