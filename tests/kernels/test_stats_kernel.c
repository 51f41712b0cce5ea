/* Statistics on the host device, bare and checked; which dimensions are cut; what is refused. */
#include "tests/support/test_stats_cases.h"

static void axes_follow_the_request(void **state) {
    (void)state;
    slc_stats_request request = {.dtype = SLC_F32,
                                 .rank = 6,
                                 .shape = {4, 50, 1, 60, 70, 5},
                                 .n_parts = 1};
    slc_stats_setup setup;
    slc_job job;
    TEST_OK(slc_stats_choose(&request, &setup));
    assert_int_equal(setup.n_axes, 4);
    assert_int_equal(setup.axis_of[0], SLC_AXIS_FIXED);
    assert_int_equal(setup.axis_of[1], 0);
    assert_int_equal(setup.axis_of[2], SLC_AXIS_FIXED);
    assert_int_equal(setup.axis_of[5], 3);
    assert_int_equal(setup.axes[2].extent, 70);
    assert_int_equal(setup.axes[2].granule, 1);
    TEST_OK(slc_stats_job_init(&setup, SLC_DEVICE_HOST, 2, &job));
    TEST_OK(slc_job_check(&job));
    request = (slc_stats_request){.dtype = SLC_C64,
                                  .rank = 1,
                                  .shape = {1000000},
                                  .n_parts = 3,
                                  .parts = {SLC_STATS_REAL, SLC_STATS_IMAG, SLC_STATS_ABS},
                                  .n_groups = 2,
                                  .digit_bits = 16,
                                  .n_bins = 9};
    TEST_OK(slc_stats_choose(&request, &setup));
    assert_int_equal(setup.axes[0].granule, 1024);
    TEST_OK(slc_stats_job_init(&setup, SLC_DEVICE_HOST, 2, &job));
    TEST_OK(slc_job_check(&job));
    slc_layout layout;
    TEST_OK(slc_job_full_layout(&job, setup.digits, &layout));
    assert_int_equal(slc_layout_count(&layout), 2 * 65536);
    TEST_OK(slc_job_full_layout(&job, setup.bins, &layout));
    assert_int_equal(slc_layout_count(&layout), 11);
    request.unit[0] = 300;
    TEST_OK(slc_stats_choose(&request, &setup));
    assert_int_equal(setup.axes[0].granule, 300);
    request.unit[0] = 3000;
    TEST_OK(slc_stats_choose(&request, &setup));
    assert_int_equal(setup.axes[0].granule, 1000);
}

/* Parts of units, some thousand elements together. */
static void granules_make_units(void **state) {
    (void)state;
    const slc_stats_request request = {
        .dtype = SLC_F32, .rank = 3, .shape = {500, 600, 700}, .unit = {70, 1, 40}, .n_parts = 1};
    slc_stats_setup setup;
    TEST_OK(slc_stats_choose(&request, &setup));
    assert_int_equal(setup.axes[2].granule, 40);
    assert_int_equal(setup.axes[1].granule, 1);
    assert_int_equal(setup.axes[0].granule, 14); /* 1024 / 40 is 25, and 70 is 5 times 14 */
}

static void impossible_requests_are_refused(void **state) {
    (void)state;
    const slc_stats_request good = {.dtype = SLC_F32, .rank = 1, .shape = {10}, .n_parts = 1};
    slc_stats_setup setup;
    slc_stats_request bad = good;
    bad.rank = 0;
    TEST_FAILS(slc_stats_choose(&bad, &setup), SLC_ERROR_ARGUMENT, "0 dimensions");
    bad = good;
    bad.shape[0] = -1;
    TEST_FAILS(slc_stats_choose(&bad, &setup), SLC_ERROR_ARGUMENT, "dimension 0");
    bad = good;
    bad.shape[0] = INT64_MAX / 2;
    TEST_FAILS(slc_stats_choose(&bad, &setup), SLC_ERROR_ARGUMENT, "2^63 bytes");
    bad = good;
    bad.parts[0] = SLC_STATS_ABS;
    TEST_FAILS(slc_stats_choose(&bad, &setup), SLC_ERROR_ARGUMENT, "statistics of f4");
    bad = good;
    bad.dtype = SLC_C64;
    TEST_FAILS(slc_stats_choose(&bad, &setup), SLC_ERROR_ARGUMENT, "statistics of c8");
    bad = good;
    bad.dtype = SLC_FIXED128;
    TEST_FAILS(slc_stats_choose(&bad, &setup), SLC_ERROR_ARGUMENT, "statistics of fixed128");
    bad = good;
    bad.n_groups = SLC_STATS_MOST_GROUPS + 1;
    bad.digit_bits = 8;
    TEST_FAILS(slc_stats_choose(&bad, &setup), SLC_ERROR_ARGUMENT, "17 groups");
    bad = good;
    bad.n_groups = 1;
    TEST_FAILS(slc_stats_choose(&bad, &setup), SLC_ERROR_ARGUMENT, "digits of 0 bits");
    bad = good;
    bad.n_bins = SLC_STATS_MOST_BINS + 1;
    TEST_FAILS(slc_stats_choose(&bad, &setup), SLC_ERROR_ARGUMENT, "65537 bins");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(axes_follow_the_request),
        cmocka_unit_test(granules_make_units),
        cmocka_unit_test(impossible_requests_are_refused),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed + test_run_everywhere(test_stats_cases, test_n_stats_cases, TEST_ON_HOST);
}
