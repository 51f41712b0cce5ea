/* The job's axes and operands, and what cannot be asked for. */
#include "tests/support/test_support.h"

#include "kernels/predict_kernel.h"

static slc_predict_request good(void) {
    return (slc_predict_request){.form = SLC_PREDICT_IMAGE,
                                 .n_rows = 1000,
                                 .n_components = 50,
                                 .n_channels = 2,
                                 .n_planes = 3,
                                 .ny = 20,
                                 .nx = 30,
                                 .dtype = SLC_F32,
                                 .jy_per_unit = 1.0};
}

static void the_job_fits_itself(void **state) {
    (void)state;
    static const slc_predict_form forms[] = {SLC_PREDICT_IMAGE, SLC_PREDICT_STREAMED,
                                             SLC_PREDICT_LIST};
    static const int n_operands[] = {7, 5, 5};
    for (int64_t f = 0; f < TEST_COUNT(forms); f++) {
        slc_predict_request request = good();
        slc_predict_setup setup;
        slc_job job;
        request.form = forms[f];
        TEST_OK(slc_predict_choose(&request, &setup));
        TEST_OK(slc_predict_job_init(&setup, SLC_DEVICE_HOST, &job));
        TEST_OK(slc_job_check(&job));
        assert_int_equal(job.n_operands, n_operands[f]);
        assert_int_equal(job.axes[1].kind, SLC_AXIS_ORDERED);
        assert_int_equal(job.axes[1].granule, 4096);
    }
}

static void an_image_is_sparse(void **state) {
    (void)state;
    const slc_predict_request request = good();
    slc_predict_setup setup;
    slc_job job;
    slc_layout layout;
    TEST_OK(slc_predict_choose(&request, &setup));
    TEST_OK(slc_predict_job_init(&setup, SLC_DEVICE_HOST, &job));
    assert_true(job.operands[SLC_PREDICT_PIXELS].is_sparse);
    TEST_OK(slc_job_full_layout(&job, SLC_PREDICT_PIXELS, &layout));
    assert_int_equal(slc_layout_count(&layout), 3 * 20 * 30);
    /* 1000 rows share each look at a pixel of 3 planes. */
    assert_true(job.operands[SLC_PREDICT_PIXELS].touches_per_point == 0.003);
}

static void granules_shrink_with_channels(void **state) {
    (void)state;
    slc_predict_request request = good();
    slc_predict_setup setup;
    TEST_OK(slc_predict_choose(&request, &setup));
    assert_int_equal(setup.granule_rows, 64);
    request.n_channels = 4096;
    TEST_OK(slc_predict_choose(&request, &setup));
    assert_int_equal(setup.granule_rows, 16);
    request.n_channels = 1000000;
    TEST_OK(slc_predict_choose(&request, &setup));
    assert_int_equal(setup.granule_rows, 8);
}

static void impossible_requests_are_refused(void **state) {
    (void)state;
    slc_predict_setup setup;
    slc_predict_request bad = good();
    bad.n_components = 0;
    TEST_FAILS(slc_predict_choose(&bad, &setup), SLC_ERROR_ARGUMENT, "0 components");
    bad = good();
    bad.dtype = SLC_I32;
    TEST_FAILS(slc_predict_choose(&bad, &setup), SLC_ERROR_ARGUMENT, "i4");
    bad = good();
    bad.ny = INT64_MAX / 4;
    TEST_FAILS(slc_predict_choose(&bad, &setup), SLC_ERROR_ARGUMENT, "63 bits");
    bad = good();
    bad.n_channels = 0;
    TEST_FAILS(slc_predict_choose(&bad, &setup), SLC_ERROR_ARGUMENT, "0 channels");
}

static void the_record_says_what_fixes_the_bits(void **state) {
    (void)state;
    slc_predict_request request = good();
    slc_predict_setup setup;
    slc_numerics image = {0};
    slc_numerics streamed = {0};
    TEST_OK(slc_predict_choose(&request, &setup));
    slc_predict_record(&setup, SLC_DEVICE_HOST, &image);
    setup.request.form = SLC_PREDICT_STREAMED;
    slc_predict_record(&setup, SLC_DEVICE_HOST, &streamed);
    assert_true(slc_numerics_equal(&image, &streamed));
    assert_string_equal(slc_numerics_get(&image, "granule_components"), "4096");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_job_fits_itself),
        cmocka_unit_test(an_image_is_sparse),
        cmocka_unit_test(granules_shrink_with_channels),
        cmocka_unit_test(impossible_requests_are_refused),
        cmocka_unit_test(the_record_says_what_fixes_the_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
