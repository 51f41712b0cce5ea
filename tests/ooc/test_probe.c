/* The probe: plausible rates within the budget, nothing left behind, and what it does with less. */
#include "tests/support/test_fixture.h"

#include "core/clock.h"
#include "kernels/touch.h"
#include "ooc/probe.h"

#define MIB (INT64_C(1) << 20)

static slc_status touch(slc_stream *stream, const slc_probe_touches *touches) {
    const slc_touch work = {.d_data = touches->d_data,
                            .n_elements = touches->n_elements,
                            .first = touches->first,
                            .n_touches = touches->n_touches,
                            .d_sum = touches->d_sum};
    return slc_touch_enqueue(stream, &work);
}

/* What a rate is before it is measured: nothing that a machine does. */
static const slc_rates unmeasured = {1, 2, 3, 4, 5, 6, 7, 8, 9};

typedef struct found {
    slc_status status;
    slc_rates rates;
    bool is_complete;
    int64_t device_peak_bytes, host_peak_bytes;
} found;

static found run_probe(slc_device *device, int64_t device_bytes, int64_t host_bytes,
                       slc_probe_touch touches) {
    found out = {.rates = unmeasured};
    slc_budget *budget = NULL;
    TEST_OK(slc_budget_create(device_bytes, host_bytes, &budget));
    const slc_probe_options options = {.device = device, .budget = budget, .touch = touches};
    out.status = slc_probe_run(&options, &out.rates, &out.is_complete);
    const slc_budget_use on_device = slc_budget_get(budget, SLC_SPACE_DEVICE);
    const slc_budget_use on_host = slc_budget_get(budget, SLC_SPACE_HOST);
    assert_int_equal(on_device.used_bytes, 0);
    assert_int_equal(on_host.used_bytes, 0);
    assert_true(on_device.peak_bytes <= device_bytes);
    assert_true(on_host.peak_bytes <= host_bytes);
    out.device_peak_bytes = on_device.peak_bytes;
    out.host_peak_bytes = on_host.peak_bytes;
    slc_budget_destroy(budget);
    return out;
}

static bool is_measured(double rate, double least, double most) {
    return rate > least && rate < most;
}

/* Bounds that hold from a slow, busy machine to any bus and card there is. */
static void rates_make_sense(void **state) {
    test_fixture self;
    test_fixture_open(*state, &self);
    const int64_t begin_ns = slc_clock_ns();
    const found out = run_probe(self.device, 512 * MIB, 512 * MIB, touch);
    const double seconds = 1e-9 * (double)(slc_clock_ns() - begin_ns);
    print_message("probed in %.3f s\n", seconds);
    TEST_OK(out.status);
    assert_true(out.is_complete);
    assert_true(seconds < 10);
    assert_true(is_measured(out.rates.h2d_bytes_per_s, 1e7, 1e13));
    assert_true(is_measured(out.rates.d2h_bytes_per_s, 1e7, 1e13));
    assert_true(is_measured(out.rates.tier_bytes_per_s, 1e7, 1e13));
    assert_true(is_measured(out.rates.device_touches_per_s, 1e5, 1e12));
    assert_true(is_measured(out.rates.mapped_touches_per_s, 1e5, 1e12));
    assert_true(is_measured(out.rates.step_seconds, 1e-7, 0.1));
    assert_true(out.rates.read_bytes_per_s <= out.rates.tier_bytes_per_s);
    /* Files and sinks are not looked at. */
    assert_true(out.rates.disk_bytes_per_s == unmeasured.disk_bytes_per_s);
    assert_true(out.rates.write_bytes_per_s == unmeasured.write_bytes_per_s);
    test_fixture_close(&self);
}

static void a_small_budget_is_kept_and_said(void **state) {
    test_fixture self;
    test_fixture_open(*state, &self);
    const found out = run_probe(self.device, 32 * MIB, 40 * MIB, touch);
    TEST_OK(out.status);
    assert_false(out.is_complete);
    assert_true(out.rates.h2d_bytes_per_s != unmeasured.h2d_bytes_per_s);
    assert_true(out.device_peak_bytes > 16 * MIB);
    test_fixture_close(&self);
}

static void too_little_measures_nothing(void **state) {
    test_fixture self;
    test_fixture_open(*state, &self);
    const int64_t budgets[][2] = {{0, 0}, {512 * MIB, 8 * MIB}, {8 * MIB, 512 * MIB}};
    for (int64_t i = 0; i < TEST_COUNT(budgets); i++) {
        const found out = run_probe(self.device, budgets[i][0], budgets[i][1], touch);
        TEST_OK(out.status);
        assert_false(out.is_complete);
        assert_int_equal(out.device_peak_bytes, 0);
        assert_int_equal(out.host_peak_bytes, 0);
        assert_memory_equal(&out.rates, &unmeasured, sizeof unmeasured);
    }
    test_fixture_close(&self);
}

static void without_touches_the_rest_is_measured(void **state) {
    test_fixture self;
    test_fixture_open(*state, &self);
    const found out = run_probe(self.device, 64 * MIB, 64 * MIB, NULL);
    TEST_OK(out.status);
    assert_false(out.is_complete);
    assert_true(out.rates.step_seconds != unmeasured.step_seconds);
    assert_true(out.rates.device_touches_per_s == unmeasured.device_touches_per_s);
    assert_true(out.rates.mapped_touches_per_s == unmeasured.mapped_touches_per_s);
    test_fixture_close(&self);
}

/* One of each kind of call fails early, and late in the run; the rates stay as they were. */
static void a_failure_changes_nothing(void **state) {
    test_fixture self;
    test_fixture_open(*state, &self);
    for (int kind = SLC_CHECK_ALLOCATE; kind < SLC_CHECK_KIND_COUNT; kind++) {
        for (int64_t n = 1; n <= 3; n++) {
            slc_device *inner = NULL;
            slc_device *check = NULL;
            const slc_check_options options = {.fail_kind = (slc_check_kind)kind, .fail_at = n};
            TEST_OK(slc_device_create_host(self.pool, NULL, &inner));
            TEST_OK(slc_device_create_check(inner, &options, &check));
            const found out = run_probe(check, 20 * MIB, 34 * MIB, touch);
            if (out.status != SLC_OK) {
                assert_true(strstr(slc_status_message(), "told to") != NULL);
                assert_memory_equal(&out.rates, &unmeasured, sizeof unmeasured);
            } else {
                /* Memory that cannot be pinned is used all the same; nothing is mapped here. */
                assert_true(kind == SLC_CHECK_PINNED || kind == SLC_CHECK_MAPPED ||
                            slc_device_check_calls(check, (slc_check_kind)kind) < n);
            }
            assert_int_equal(slc_device_check_alive(check), 0);
            slc_device_destroy(check);
        }
    }
    test_fixture_close(&self);
}

int main(void) {
    const test_case everywhere[] = {
        TEST_CASE(rates_make_sense),
        TEST_CASE(a_small_budget_is_kept_and_said),
        TEST_CASE(too_little_measures_nothing),
        TEST_CASE(without_touches_the_rest_is_measured),
    };
    const test_case on_host[] = {TEST_CASE(a_failure_changes_nothing)};
    const int n_failed = test_run_everywhere(everywhere, TEST_COUNT(everywhere), TEST_ON_ALL);
    return n_failed + test_run_everywhere(on_host, TEST_COUNT(on_host), TEST_ON_HOST);
}
