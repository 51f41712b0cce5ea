/* The least --ram that is named, also where a part of --ram goes to the trace; and that what does not
 * fit is noted, not refused, before anything is planned. */
#include "app/machine.h"

#include "tests/support/test_fixture.h"

static slc_run_options options_of(int64_t ram_bytes) {
    return (slc_run_options){.vram_bytes = 1 << 20,
                             .ram_bytes = ram_bytes,
                             .device = SLC_CHOOSE_HOST,
                             .n_threads = 1};
}

/* A sixteenth, 24 MiB at most, 1 KiB at least: numbers worked out by hand. */
static void the_share_of_a_trace(void **state) {
    (void)state;
    static const int64_t ram_and_share[][2] = {{0, 1024},
                                               {1024, 1024},
                                               {16384, 1024},
                                               {16399, 1024},
                                               {16400, 1025},
                                               {1 << 20, 65536},
                                               {INT64_C(384) << 20, INT64_C(24) << 20},
                                               {INT64_C(1) << 40, INT64_C(24) << 20}};
    for (int64_t i = 0; i < TEST_COUNT(ram_and_share); i++) {
        assert_int_equal(slci_trace_share_bytes(ram_and_share[i][0]), ram_and_share[i][1]);
    }
}

/* With the --ram that is named so much is left, with one byte less it is not. */
static void expect_exact(int64_t bytes, int64_t ram_bytes) {
    assert_true(ram_bytes - slci_trace_share_bytes(ram_bytes) >= bytes);
    assert_true(ram_bytes - 1 - slci_trace_share_bytes(ram_bytes - 1) < bytes);
}

static void the_smallest_ram_counts_the_trace(void **state) {
    (void)state;
    static const int64_t budgets[] = {0, 1000, 1 << 20, INT64_C(1) << 36};
    for (int64_t b = 0; b < TEST_COUNT(budgets); b++) {
        slci_machine machine = {0};
        slc_run_options options = options_of(budgets[b]);
        TEST_OK(slc_trace_create(slci_trace_share_bytes(options.ram_bytes), &options.trace));
        options.trace_is_share = true;
        TEST_OK(slci_machine_open(&options, &machine));
        for (int64_t bytes = 1; bytes < INT64_C(1) << 40; bytes += 1 + bytes / 7) {
            expect_exact(bytes, slci_machine_ram_for(&machine, bytes));
        }
        slci_machine_close(&machine);
        slc_trace_destroy(options.trace);
    }
}

static void what_does_not_fit_is_missing(void **state) {
    (void)state;
    slci_machine machine = {0};
    slc_run_options options = options_of(1000);
    options.checkpoint_path = "none/k"; /* never opened: there is no room for it */
    TEST_OK(slci_machine_open(&options, &machine));
    assert_null(machine.checkpoint);
    assert_int_equal(machine.missing_bytes, slc_checkpoint_bytes());
    assert_int_equal(slci_machine_left_bytes(&machine), 1000 - slc_checkpoint_bytes());
    assert_int_equal(slci_machine_ram_for(&machine, 24), slc_checkpoint_bytes() + 24);
    assert_false(slci_machine_hold(&machine, 1, "more"));
    assert_int_equal(machine.missing_bytes, slc_checkpoint_bytes() + 1);
    slci_machine_close(&machine);
}

/* A dry run takes no file of the checkpoint, but its memory. */
static void a_dry_run_takes_the_memory_of_a_checkpoint(void **state) {
    (void)state;
    slci_machine machine = {0};
    slc_run_options options = options_of(2 << 20);
    options.checkpoint_path = "none/k";
    options.dry_run = true;
    TEST_OK(slci_machine_open(&options, &machine));
    assert_null(machine.checkpoint);
    assert_int_equal(machine.missing_bytes, 0);
    assert_int_equal(slci_machine_left_bytes(&machine), (2 << 20) - slc_checkpoint_bytes());
    slci_machine_close(&machine);
}

static void both_budgets_are_named(void **state) {
    (void)state;
    slci_machine machine = {0};
    slc_run_options options = options_of(1000);
    options.n_threads = 2;
    TEST_OK(slci_machine_open(&options, &machine));
    const slci_least device = {.device_bytes = 2 << 20, .ram_bytes = 1000};
    const slci_least host = {.device_bytes = 1 << 20, .ram_bytes = 1001};
    const slci_least both = {.device_bytes = 2 << 20, .ram_bytes = 1001};
    TEST_FAILS(slci_machine_refuse(&machine, &device), SLC_ERROR_NO_PLAN,
               "--vram 1048576; the smallest that works is --vram 2097152");
    TEST_FAILS(slci_machine_refuse(&machine, &host), SLC_ERROR_NO_PLAN,
               "--ram 1000; the smallest that works is --ram 1001");
    TEST_FAILS(slci_machine_refuse(&machine, &both), SLC_ERROR_NO_PLAN,
               "--vram 2097152 with --ram 1001");
    assert_null(strstr(slc_status_message(), "threads"));
    machine.threads_take_ram = true;
    TEST_FAILS(slci_machine_refuse(&machine, &host), SLC_ERROR_NO_PLAN,
               "--ram 1001, less with fewer --threads");
    TEST_FAILS(slci_machine_refuse(&machine, &both), SLC_ERROR_NO_PLAN, "fewer --threads");
    TEST_FAILS(slci_machine_refuse(&machine, &device), SLC_ERROR_NO_PLAN, "2097152");
    assert_null(strstr(slc_status_message(), "threads"));
    /* What is named or there already is not named again. */
    slci_least whole = {2 << 20, 1001, NULL, NULL, NULL, 3 << 20, 1500};
    TEST_FAILS(slci_machine_refuse(&machine, &whole), SLC_ERROR_NO_PLAN,
               "; tiles of whole chunks fit from --vram 3145728 with --ram 1500");
    whole.whole_device_bytes = 1 << 20;
    TEST_FAILS(slci_machine_refuse(&machine, &whole), SLC_ERROR_NO_PLAN,
               "; tiles of whole chunks fit from --ram 1500");
    whole.whole_ram_bytes = 1001;
    TEST_FAILS(slci_machine_refuse(&machine, &whole), SLC_ERROR_NO_PLAN, "--ram 1001");
    assert_null(strstr(slc_status_message(), "whole"));
    slci_machine_close(&machine);
}

/* Beside --vram 1 MiB and --ram 1000. */
static void of_several_ways_the_least_is_named(void **state) {
    (void)state;
    static const slci_way large_device = {"resident", 3 << 20, 900};
    static const slci_way large_host = {"mapped", 1 << 19, 5000};
    static const slci_way larger_host = {"streamed", 1 << 18, 6000};
    static const slci_way large_both = {"resident", 2 << 20, 4000};
    static const struct {
        slci_way ways[2];
        int n;
        int64_t spare_bytes;
        const char *text;
    } cases[] = {
        {{large_device}, 1, 0, "--vram 3145728 (data resident)"},
        {{large_host, larger_host}, 2, 0, "works is --ram 5000 (data mapped)"},
        {{large_device, large_host},
         2,
         0,
         "works is --vram 3145728 (data resident) or --ram 5000 (data mapped)"},
        {{large_both}, 1, 0, "works is --vram 2097152 with --ram 4000 (data resident)"},
        {{large_both, larger_host}, 2, 0, "works is --ram 6000 (data streamed)"},
        {{larger_host}, 1, 400, "works is --ram 6000 (data streamed)"},
    };
    for (int64_t c = 0; c < TEST_COUNT(cases); c++) {
        slci_machine machine = {0};
        const slc_run_options options = options_of(1000);
        TEST_OK(slci_machine_open(&options, &machine));
        /* What may be given back again is held. */
        assert_true(slci_machine_hold(&machine, cases[c].spare_bytes, "spare"));
        const slci_least least =
            slci_machine_least(&machine, "data", cases[c].ways, cases[c].n, cases[c].spare_bytes);
        TEST_FAILS(slci_machine_refuse(&machine, &least), SLC_ERROR_NO_PLAN, cases[c].text);
        slci_machine_close(&machine);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_share_of_a_trace),
        cmocka_unit_test(the_smallest_ram_counts_the_trace),
        cmocka_unit_test(what_does_not_fit_is_missing),
        cmocka_unit_test(a_dry_run_takes_the_memory_of_a_checkpoint),
        cmocka_unit_test(both_budgets_are_named),
        cmocka_unit_test(of_several_ways_the_least_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
