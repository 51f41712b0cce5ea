/* The job that the engine is given: it passes the engine's own check and has the right shapes. */
#include "tests/support/test_support.h"

#include "core/job.h"
#include "kernels/direct.h"

static void setup_for(int64_t n_channels, int n_parts, slc_direct_setup *setup) {
    const slc_direct_request request = {
        .device = SLC_DEVICE_HOST,
        .geometry = {.nx = 200, .ny = 150, .scale_rad = 1e-5, .is_w_projected = true},
        .survey = {.n_samples = 1000, .first_granule_sum = 1.0},
        .n_channels = n_channels,
        .epsilon = 1e-6,
        .n_parts = n_parts};
    TEST_OK(slc_direct_choose(&request, setup));
}

static void shapes_and_axes(void **state) {
    (void)state;
    slc_direct_setup setup;
    setup_for(8, 2, &setup);
    slc_job job;
    TEST_OK(slc_direct_job_init(&setup, SLC_DEVICE_HOST, 3, 1000, &job));
    TEST_OK(slc_job_check(&job));
    assert_int_equal(job.axes[0].extent, 1000);
    assert_int_equal(job.axes[0].granule, 512);
    assert_int_equal(job.axes[0].kind, SLC_AXIS_REDUCED);
    assert_int_equal(job.axes[1].extent, 150);
    assert_int_equal(job.axes[2].extent, 200);
    assert_int_equal(job.axes[2].granule, setup.tile_pixels);
    static const int64_t expected_bytes[] = {1000 * 24, 1000 * 8 * 8, 1000 * 8 * 4, 8 * 8,
                                             150 * 200 * 2 * 16};
    for (int o = 0; o < TEST_COUNT(expected_bytes); o++) {
        slc_layout layout;
        TEST_OK(slc_job_full_layout(&job, o, &layout));
        assert_int_equal(slc_layout_bytes(&layout), expected_bytes[o]);
    }
    slc_layout one;
    slc_layout three;
    TEST_OK(slc_job_full_layout(&job, SLC_DIRECT_WORK, &three));
    TEST_OK(slc_direct_job_init(&setup, SLC_DEVICE_HOST, 1, 1000, &job));
    TEST_OK(slc_job_full_layout(&job, SLC_DIRECT_WORK, &one));
    assert_int_equal(slc_layout_bytes(&three), 3 * slc_layout_bytes(&one));
}

static void nonsense_is_refused(void **state) {
    (void)state;
    slc_direct_setup setup;
    setup_for(1, 1, &setup);
    slc_job job;
    TEST_FAILS(slc_direct_job_init(&setup, SLC_DEVICE_HOST, 0, 10, &job), SLC_ERROR_ARGUMENT,
               "0 threads");
    if (slc_direct_kernel_get(SLC_DEVICE_CUDA) == NULL) {
        TEST_FAILS(slc_direct_job_init(&setup, SLC_DEVICE_CUDA, 1, 10, &job), SLC_ERROR_ARGUMENT,
                   "CUDA");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_and_axes),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
