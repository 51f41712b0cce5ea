/* Which figures contradict one another. What is measured, tests/app/test_bench.sh runs. */
#include "app/bench_engine.h"
#include "tests/support/test_support.h"

static slci_bench_result quiet_machine(void) {
    return (slci_bench_result){
        .bus_in_per_s = 55e9,
        .bus_out_per_s = 55e9,
        .bus_both_per_s = 94e9,
        .n_figures = 3,
        .figure = {{.what = "bus, to the device", .measured = 55},
                   {.what = "copy through", .measured = 92, .limit = 94},
                   {.what = "overhead", .measured = 91, .limit = 90}},
    };
}

static void figures_below_their_limits_are_sound(void **state) {
    (void)state;
    char why[SLCI_BENCH_WHY_BYTES];
    slci_bench_result result = quiet_machine();
    assert_true(slci_bench_is_sound(&result, why, sizeof why));
    result.bus_both_per_s = 110e9; /* exactly both */
    result.figure[2].measured = 103;
    assert_true(slci_bench_is_sound(&result, why, sizeof why));
}

/* 12.6 GB/s beside 3.1 each way, as seen on a machine under load. */
static void both_ways_are_no_more_than_two(void **state) {
    (void)state;
    char why[SLCI_BENCH_WHY_BYTES];
    slci_bench_result result = quiet_machine();
    result.bus_in_per_s = result.bus_out_per_s = 3.1e9;
    result.bus_both_per_s = 12.6e9;
    assert_false(slci_bench_is_sound(&result, why, sizeof why));
    assert_string_equal(why, "the bus both ways reached 12.6 GB/s, its two ways 6.2");
}

static void nothing_passes_its_limit(void **state) {
    (void)state;
    char why[SLCI_BENCH_WHY_BYTES];
    slci_bench_result result = quiet_machine();
    result.figure[1].measured = 1.7 * 94;
    assert_false(slci_bench_is_sound(&result, why, sizeof why));
    assert_string_equal(why, "copy through reached 170 % of its limit");
}

/* A gather in sorted order is faster than reads in none: that says nothing about the machine. */
static void what_may_pass_its_limit_does(void **state) {
    (void)state;
    char why[SLCI_BENCH_WHY_BYTES];
    slci_bench_result result = quiet_machine();
    result.figure[1].measured = 1.7 * 94;
    result.figure[1].may_pass = true;
    assert_true(slci_bench_is_sound(&result, why, sizeof why));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_below_their_limits_are_sound),
        cmocka_unit_test(both_ways_are_no_more_than_two),
        cmocka_unit_test(nothing_passes_its_limit),
        cmocka_unit_test(what_may_pass_its_limit_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
