/* What a plan is expected to take at its ends, where nothing hides the first reads and last writes. */
#include "tests/support/test_jobs.h"

/* Inputs come at once, so that outputs alone stand at the ends: 1 GB/s to the sink. */
static slc_rates fast_inputs(void) {
    slc_rates rates = slc_rates_default(SLC_DEVICE_CUDA);
    rates.disk_bytes_per_s = rates.read_bytes_per_s = 1e15;
    rates.tier_bytes_per_s = rates.h2d_bytes_per_s = 1e15;
    rates.write_bytes_per_s = 1e9;
    return rates;
}

/* A sum over rows into an image of 1024² numbers of 8 bytes, bound by the kernel for 0.4 s. Writing the
 * image takes 8 ms. */
static slc_plan plan_with_tiles(int64_t y_tile) {
    const slc_job job = test_product_job(4096, 1024, 1024, 64, 64);
    slc_plan_request request = {.device_budget_bytes = 1ll << 40,
                                .host_budget_bytes = 1ll << 40,
                                .allocation_unit_bytes = 1,
                                .seconds_per_point = 1e-10};
    request.rates = fast_inputs();
    request.rates.step_seconds = 1e-9;
    request.force_tile[0] = 4096;
    request.force_tile[1] = y_tile;
    request.force_tile[2] = 1024;
    slc_plan plan;
    TEST_OK(slc_plan_make(&job, &request, &plan));
    assert_int_equal(plan.bottleneck, SLC_BOUND_KERNEL);
    assert_int_equal(plan.bytes_written, 8 << 20);
    return plan;
}

/* The last tile of the image is written when all kernels are done: half of the image where it has two
 * tiles, a sixteenth where it has sixteen. So many tiles are the better plan. */
static void the_last_output_is_not_hidden(void **state) {
    (void)state;
    const slc_plan few = plan_with_tiles(512);
    const slc_plan many = plan_with_tiles(64);
    const double write_seconds = (8 << 20) / 1e9;
    const double more = few.seconds_total - many.seconds_total;
    const double expected = (1.0 / 2 - 1.0 / 16) * write_seconds;
    print_message("%.4g s more for two tiles, the writer alone %.4g s\n", more, expected);
    /* The copy from the device, twenty times as fast, comes on top. */
    assert_true(more > 0.99 * expected && more < 1.06 * expected);
}

/* With a device that holds a part of the image only, the planner takes tiles that end soon. */
static void large_tiles_do_not_stick_out(void **state) {
    (void)state;
    const slc_job job = test_product_job(200000, 2048, 2048, 4096, 64);
    slc_plan_request request = {.device_budget_bytes = 24ll << 20,
                                .host_budget_bytes = 1ll << 36,
                                .allocation_unit_bytes = 1,
                                .seconds_per_point = 5e-13};
    request.rates = fast_inputs();
    slc_plan plan;
    TEST_OK(slc_plan_make(&job, &request, &plan));
    const slc_plan_operand *image = &plan.operand[2];
    const double last_seconds =
        (double)image->bytes_moved / (double)image->n_moves / request.rates.write_bytes_per_s;
    print_message("%lld tiles of the image, the last one written in %.3g of %.3g s\n",
                  (long long)image->n_moves, last_seconds, plan.seconds_total);
    assert_true(last_seconds < 0.05 * plan.seconds_total);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_output_is_not_hidden),
        cmocka_unit_test(large_tiles_do_not_stick_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
