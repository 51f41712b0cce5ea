/* Gathers on the host device, bare and checked; which dimensions are cut; and that nothing outside
 * the data is touched, whatever the list holds. */
#include "tests/support/test_gather_cases.h"

static slc_gather_setup choose(const slc_gather_request *request) {
    slc_gather_setup setup;
    TEST_OK(slc_gather_choose(request, &setup));
    return setup;
}

static void axes_follow_the_request(void **state) {
    (void)state;
    slc_gather_request request = {.dtype = SLC_F32,
                                  .rank = 3,
                                  .shape = {10, 20, 30},
                                  .index_dtype = SLC_I32,
                                  .n_index = 7,
                                  .axis = 1};
    slc_gather_setup setup = choose(&request);
    assert_int_equal(setup.n_axes, 1);
    assert_int_equal(setup.axes[0].granule, 65536 / (10 * 30 * 4));
    assert_true(slc_gather_touches(&setup) == 10.0); /* 120 bytes each: one touch */
    request.form = SLC_GATHER_STREAMED;
    setup = choose(&request);
    assert_int_equal(setup.n_axes, 2);
    assert_int_equal(setup.axis_of[1], 1);
    assert_int_equal(setup.axes[1].kind, SLC_AXIS_REDUCED);
    assert_int_equal(setup.axes[1].extent, 20);
    assert_int_equal(setup.axes[1].granule, 20);
    request.axis = SLC_GATHER_COORDINATES;
    setup = choose(&request);
    assert_int_equal(setup.axes[0].granule, 1024);
    assert_int_equal(setup.axis_of[0], 1);
    assert_true(slc_gather_touches(&setup) == 1.0);
    request.axis = 0;
    request.shape[2] = 100000;
    assert_true(slc_gather_touches(&(slc_gather_setup){.request = request}) ==
                (double)((20 * 100000 * 4 + 255) / 256));
}

static void the_job_fits_itself(void **state) {
    (void)state;
    slc_gather_request request = {.dtype = SLC_C64,
                                  .rank = 2,
                                  .shape = {100, 3},
                                  .index_dtype = SLC_U16,
                                  .n_index = 12,
                                  .axis = 0};
    slc_job job;
    slc_layout layout;
    slc_gather_setup setup = choose(&request);
    TEST_OK(slc_gather_job_init(&setup, SLC_DEVICE_HOST, &job));
    TEST_OK(slc_job_check(&job));
    assert_true(job.operands[SLC_GATHER_DATA].is_sparse);
    assert_true(job.operands[SLC_GATHER_DATA].touches_per_point == 1.0);
    TEST_OK(slc_job_full_layout(&job, SLC_GATHER_OUT, &layout));
    assert_int_equal(layout.rank, 2);
    assert_int_equal(layout.shape[0], 12);
    assert_int_equal(layout.shape[1], 3);
    request.axis = SLC_GATHER_COORDINATES;
    request.form = SLC_GATHER_STREAMED;
    setup = choose(&request);
    TEST_OK(slc_gather_job_init(&setup, SLC_DEVICE_HOST, &job));
    TEST_OK(slc_job_check(&job));
    TEST_OK(slc_job_full_layout(&job, SLC_GATHER_INDEX, &layout));
    assert_int_equal(layout.shape[1], 2);
    TEST_OK(slc_job_full_layout(&job, SLC_GATHER_OUT, &layout));
    assert_int_equal(layout.rank, 1);
}

static void impossible_requests_are_refused(void **state) {
    (void)state;
    const slc_gather_request good = {
        .dtype = SLC_F32, .rank = 1, .shape = {10}, .index_dtype = SLC_I32, .n_index = 1};
    slc_gather_setup setup;
    slc_gather_request bad = good;
    bad.index_dtype = SLC_F32;
    TEST_FAILS(slc_gather_choose(&bad, &setup), SLC_ERROR_ARGUMENT, "indices f4");
    bad = good;
    bad.axis = 1;
    TEST_FAILS(slc_gather_choose(&bad, &setup), SLC_ERROR_ARGUMENT, "dimension 1");
    bad = good;
    bad.rank = 0;
    TEST_FAILS(slc_gather_choose(&bad, &setup), SLC_ERROR_ARGUMENT, "dimension 0 of data with 0");
    bad = good;
    bad.shape[0] = INT64_MAX / 2;
    TEST_FAILS(slc_gather_choose(&bad, &setup), SLC_ERROR_ARGUMENT, "dimension 0 of the data");
    bad = (slc_gather_request){.dtype = SLC_F32,
                               .rank = 3,
                               .shape = {0, INT64_C(1) << 40, INT64_C(1) << 40},
                               .index_dtype = SLC_I32};
    TEST_FAILS(slc_gather_choose(&bad, &setup), SLC_ERROR_ARGUMENT, "dimension 2 of the data");
    bad = good;
    bad.n_index = -1;
    TEST_FAILS(slc_gather_choose(&bad, &setup), SLC_ERROR_ARGUMENT, "a list of -1");
}

/* Indices beyond both ends, as a file may hold that changes between check and run. */
static void wild_indices_leave_their_elements(void **state) {
    (void)state;
    enum { N = 6 };
    const int64_t list[N] = {0, -1, 4, 5, INT64_MIN, INT64_MAX};
    const float data[5] = {10, 11, 12, 13, 14};
    float out[N] = {-1, -1, -1, -1, -1, -1};
    const slc_gather_request request = {
        .dtype = SLC_F32, .rank = 1, .shape = {5}, .index_dtype = SLC_I64, .n_index = N};
    const slc_gather_setup setup = choose(&request);
    const slc_tile tile = {.extent = {N}};
    const int64_t full[1] = {N};
    slc_layout layout[SLC_GATHER_N_OPERANDS];
    slc_job job;
    test_devices devices;
    slc_stream *stream = NULL;
    TEST_OK(slc_gather_job_init(&setup, SLC_DEVICE_HOST, &job));
    for (int o = 0; o <= SLC_GATHER_OUT; o++) {
        TEST_OK(slc_job_full_layout(&job, o, &layout[o]));
    }
    test_devices_open(2, &devices);
    TEST_OK(slc_stream_create(devices.device[0], &stream));
    const slc_tile_arguments arguments = {.device = devices.device[0],
                                          .stream = stream,
                                          .d_tile = &tile,
                                          .full_extent = full,
                                          .d_operand = {(void *)(uintptr_t)data,
                                                        (void *)(uintptr_t)list, out},
                                          .layout = layout};
    TEST_OK(job.tile(job.state, &arguments));
    TEST_OK(slc_stream_synchronize(stream));
    const float expected[N] = {10, -1, 14, -1, -1, -1};
    assert_memory_equal(out, expected, sizeof out);
    slc_stream_destroy(stream);
    test_devices_close(&devices);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(axes_follow_the_request),
        cmocka_unit_test(the_job_fits_itself),
        cmocka_unit_test(impossible_requests_are_refused),
        cmocka_unit_test(wild_indices_leave_their_elements),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed + test_run_everywhere(test_gather_cases, test_n_gather_cases, TEST_ON_HOST);
}
