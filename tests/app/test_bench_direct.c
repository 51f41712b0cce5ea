/* The pictures of `sluice bench direct`, small, on every device: data whose peaks are where they
 * should be, a kernel's sums beside the exact ones, and what is left when something fails. What the
 * benchmark prints, tests/app/test_bench_direct_program.sh looks at. */
#include "app/bench_direct_field.h"
#include "app/bench_direct_run.h"

#include <math.h>

#include "core/constants.h"
#include "tests/support/test_run_machine.h"

#define SIZE 96
#define N 3000
#define N_PIXELS (SLCI_BENCH_PEAKS + 2)

static const slci_bench_field narrow = {"VLA-A", "vla-d", 35.0, 1.4e9, 8.0, 0.2, 0.0};
static const slci_bench_field wide = {"MWA", "mwa", 1.0, 1.8e8, 4.0, 0.1, 0.6};

static slci_bench_field_request request_for(const slci_machine *machine,
                                            const slci_bench_field *field) {
    return (slci_bench_field_request){.machine = machine, .field = field, .size = SIZE, .n = N};
}

static slc_direct_setup setup_for(const slci_machine *machine, const slci_bench_field_data *data) {
    const slc_direct_request request = {.device = machine->device->kind,
                                        .geometry = data->geometry,
                                        .survey = data->survey,
                                        .n_channels = 1,
                                        .epsilon = 1e-6,
                                        .n_parts = 1,
                                        .card = machine->card};
    slc_direct_setup setup;
    TEST_OK(slc_direct_choose(&request, &setup));
    return setup;
}

/* The longest baseline of VLA-D is 1.03 km; of MWA phase I 2.9 km. */
static void fields_are_as_wide_as_they_say(void **state) {
    test_run_machine on;
    slci_bench_field_data data;
    test_run_machine_open(*state, &on);
    slci_bench_field_request request = request_for(&on.machine, &narrow);
    TEST_OK(slci_bench_field_make(&request, &data));
    const double longest = 35.0 * 1030.0 * 1.4e9 / SLC_SPEED_OF_LIGHT_M_S;
    assert_true(fabs(data.geometry.scale_rad * 3.0 * longest - 1.0) < 0.02);
    assert_true(data.survey.max_w > 0.3 * longest && data.survey.max_w < longest);
    assert_int_equal(data.survey.n_samples, N);
    assert_true(data.survey.first_granule_sum > 0 && data.survey.first_granule_sum == data.abs_sum);
    slci_bench_field_free(&data);
    request.field = &wide;
    TEST_OK(slci_bench_field_make(&request, &data));
    assert_true(fabs(data.geometry.scale_rad * SIZE - 0.6) < 1e-12);
    slci_bench_field_free(&data);
    test_run_machine_close(&on);
}

/* The points' flux is there, to the noise of 3,000 visibilities (0.4 Jy each / √3000) and what the
 * other points' sidelobes add; and each kernel's sums are the exact ones, to its promise. */
static void sums_are_exact(void **state) {
    static const slci_bench_field *const fields[] = {&narrow, &wide};
    test_run_machine on;
    test_run_machine_open(*state, &on);
    for (int64_t f = 0; f < TEST_COUNT(fields); f++) {
        const slci_bench_field_request request = request_for(&on.machine, fields[f]);
        slci_bench_field_data data;
        double exact[N_PIXELS], sums[N_PIXELS];
        double seconds = 0.0;
        TEST_OK(slci_bench_field_make(&request, &data));
        int64_t pixels[N_PIXELS] = {data.peak[0], data.peak[1], data.peak[2], 0, SIZE * SIZE - 1};
        TEST_OK(slci_bench_field_exact(&data, pixels, N_PIXELS, exact));
        assert_true(fabs(exact[0] / data.weight_sum - 1.0) < 0.3);
        const slc_direct_setup setup = setup_for(&on.machine, &data);
        const slci_direct_run_request run = {.machine = &on.machine,
                                             .setup = &setup,
                                             .data = &data,
                                             .repeats = 1,
                                             .pixels = pixels,
                                             .n_pixels = N_PIXELS};
        TEST_OK(slci_direct_run(&run, sums, &seconds));
        for (int p = 0; p < N_PIXELS; p++) {
            assert_true(fabs(sums[p] - exact[p]) <= 1e-6 * data.abs_sum);
        }
        assert_true(seconds > 0 && seconds < 600);
        slci_bench_field_free(&data);
    }
    test_run_machine_close(&on);
}

static void too_little_memory_is_said(void **state) {
    test_run_machine on;
    slci_bench_field_data data;
    double sum = 0.0;
    double seconds = 0.0;
    test_run_machine_open_small(*state, &on);
    const slci_bench_field_request request = request_for(&on.machine, &narrow);
    TEST_OK(slci_bench_field_make(&request, &data));
    const slc_direct_setup setup = setup_for(&on.machine, &data);
    const slci_direct_run_request run = {
        .machine = &on.machine, .setup = &setup, .data = &data, .pixels = data.peak, .n_pixels = 1};
    TEST_FAILS(slci_direct_run(&run, &sum, &seconds), SLC_ERROR_MEMORY, "picture");
    slci_bench_field_free(&data);
    test_run_machine_close(&on);
}

/* The N-th call of each kind fails; nothing stays. */
static void a_failure_ends_it(void **state) {
    (void)state;
    static const slc_check_options fails[] = {
        {.fail_kind = SLC_CHECK_COPY, .fail_at = 1},
        {.fail_kind = SLC_CHECK_COPY, .fail_at = 5},
        {.fail_kind = SLC_CHECK_COPY, .fail_at = 6},
        {.fail_kind = SLC_CHECK_ALLOCATE, .fail_at = 1},
    };
    for (int64_t i = 0; i < TEST_COUNT(fails); i++) {
        test_run_machine on;
        slci_bench_field_data data;
        double sum = 0.0;
        double seconds = 0.0;
        test_run_machine_open_failing(&fails[i], &on);
        const slci_bench_field_request request = request_for(&on.machine, &narrow);
        TEST_OK(slci_bench_field_make(&request, &data));
        const slc_direct_setup setup = setup_for(&on.machine, &data);
        const slci_direct_run_request run = {.machine = &on.machine,
                                             .setup = &setup,
                                             .data = &data,
                                             .pixels = data.peak,
                                             .n_pixels = 1};
        assert_int_not_equal(slci_direct_run(&run, &sum, &seconds), SLC_OK);
        slci_bench_field_free(&data);
        test_run_machine_close(&on);
    }
}

int main(void) {
    const test_case cases[] = {
        TEST_CASE(fields_are_as_wide_as_they_say),
        TEST_CASE(sums_are_exact),
        TEST_CASE(too_little_memory_is_said),
    };
    const struct CMUnitTest faults[] = {cmocka_unit_test(a_failure_ends_it)};
    const int n_failed = test_run_everywhere(cases, TEST_COUNT(cases), TEST_ON_ALL);
    return n_failed + cmocka_run_group_tests(faults, NULL, NULL);
}
