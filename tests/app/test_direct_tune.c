/* The tuned set by the clock: every member is timed, on every device; memory is taken in the ledger and
 * given back; and whatever call fails ends it with nothing left. */
#include "tests/support/test_run_machine.h"

#include <math.h>

#include "app/direct_tune.h"

/* Granules of 64 rows, and a last one that is shorter. */
#define N_CHANNELS 64
#define N_ROWS 300
#define SIZE 70

/* All but the machine and whom to tell; points into itself. */
typedef struct work {
    slc_direct_setup setup;
    slc_direct_summary summary;
    slc_direct_survey survey;
    int64_t full_extent[3];
} work;

/* A field so wide that it has several kernel tiles on the host too. */
static void prepare(slc_device_kind device, int64_t tile_pixels, work *out) {
    out->survey = (slc_direct_survey){300.0, 300.0, 40.0, N_ROWS * N_CHANNELS, 4096.0};
    const slc_direct_request request = {.device = device,
                                        .geometry = {SIZE, SIZE, 1e-3, 0, 0, true},
                                        .survey = out->survey,
                                        .n_channels = N_CHANNELS,
                                        .epsilon = 1e-6,
                                        .n_parts = 1,
                                        .tile_pixels = tile_pixels};
    TEST_OK(slc_direct_choose(&request, &out->setup));
    slc_direct_summarise(&out->setup, &out->summary);
    out->full_extent[0] = 5 * out->setup.granule_rows;
    out->full_extent[1] = out->full_extent[2] = 3 * out->setup.tile_pixels;
}

static slc_status tune(const test_run_machine *on, slci_direct_trials *trials) {
    const slc_device_kind kind = on->machine.device->kind;
    work of;
    prepare(kind, kind == SLC_DEVICE_HOST ? 32 : 0, &of);
    const slci_direct_tune_request request = {.machine = &on->machine,
                                              .setup = &of.setup,
                                              .summary = &of.summary,
                                              .survey = &of.survey,
                                              .n_rows = N_ROWS,
                                              .full_extent = of.full_extent,
                                              .run = &on->options};
    return slci_direct_tune(&request, trials);
}

static void every_member_is_timed(void **state) {
    test_run_machine on;
    slci_direct_trials trials;
    test_run_machine_open(*state, &on);
    TEST_OK(tune(&on, &trials));
    assert_int_equal(trials.n, 1);
    const slci_direct_trial *trial = &trials.trial[0];
    const bool is_host = on.machine.device->kind == SLC_DEVICE_HOST;
    assert_int_equal(trial->launch, is_host ? SLC_DIRECT_LAUNCH_HOST : SLC_DIRECT_LAUNCH_SINE);
    assert_int_equal(trial->division.n_lines, is_host ? 5 : 9);
    assert_int_equal(trial->division.n_pieces, is_host ? 9 : 5);
    assert_true(trial->n > 1);
    for (int i = 0; i < trial->n; i++) {
        assert_true(trial->tried[i].seconds > 0 && isfinite(trial->tried[i].seconds));
        assert_true(trial->tried[i].seconds >= trial->tried[trial->best].seconds);
    }
    assert_int_equal(trial->tried[trial->model].split, slci_direct_split_choose(&trial->division));
    const double share = slci_direct_trial_share(trial);
    const int64_t kept = slci_direct_trial_split(trial);
    assert_true(share > 0 && share <= 1);
    assert_int_equal(kept, trial->tried[share > 0.98 ? trial->model : trial->best].split);
    test_run_machine_close(&on);
}

static void too_little_memory_is_said(void **state) {
    test_run_machine on;
    slci_direct_trials trials;
    test_run_machine_open_small(*state, &on);
    TEST_FAILS(tune(&on, &trials), SLC_ERROR_MEMORY, "4096");
    test_run_machine_close(&on);
}

/* It asks between two members. */
static void an_interrupt_ends_it(void **state) {
    test_run_machine on;
    slci_direct_trials trials;
    volatile int is_cancelled = 1;
    test_run_machine_open(*state, &on);
    on.options.cancel = &is_cancelled;
    TEST_FAILS(tune(&on, &trials), SLC_ERROR_INTERRUPTED, "interrupted");
    test_run_machine_close(&on);
}

/* Call number `at` of a kind fails; whether there was one of that number. */
static bool fail_call(slc_check_kind kind, int64_t at) {
    const slc_check_options fails = {.fail_kind = kind, .fail_at = at};
    test_run_machine on;
    slci_direct_trials trials;
    test_run_machine_open_failing(&fails, &on);
    const bool has_failed = tune(&on, &trials) != SLC_OK;
    assert_int_equal(has_failed, slc_device_check_calls(on.fixture.device, kind) >= at);
    assert_int_equal(slc_device_check_alive(on.fixture.device), 0);
    test_run_machine_close(&on);
    return has_failed;
}

static void a_failure_ends_it(void **state) {
    (void)state;
    static const slc_check_kind kinds[] = {SLC_CHECK_ALLOCATE, SLC_CHECK_STREAM, SLC_CHECK_EVENT,
                                           SLC_CHECK_COPY,     SLC_CHECK_SET,    SLC_CHECK_CALL};
    for (int64_t k = 0; k < TEST_COUNT(kinds); k++) {
        int64_t at = 1;
        while (fail_call(kinds[k], at)) {
            at *= 2;
        }
        assert_true(at > 1);
    }
}

int main(void) {
    static const test_case cases[] = {
        TEST_CASE(every_member_is_timed),
        TEST_CASE(too_little_memory_is_said),
        TEST_CASE(an_interrupt_ends_it),
    };
    const struct CMUnitTest faults[] = {cmocka_unit_test(a_failure_ends_it)};
    const int n_failed = test_run_everywhere(cases, TEST_COUNT(cases), TEST_ON_ALL);
    return n_failed + cmocka_run_group_tests(faults, NULL, NULL);
}
