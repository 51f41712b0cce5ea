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

/* ---- reading that only the first round waits for ---------------------------------------------- */

/* 144 MB of rows against a picture of 4 MiB on a card of 9 MB, with an H200's rates
 * (docs/bench.md). The job is the product with one column a row: 72 bytes of input in two
 * operands. */
static slc_plan_request card(double reader_bytes_per_s) {
    slc_plan_request request = {.device_budget_bytes = 9000000,
                                .host_budget_bytes = 1ll << 36,
                                .allocation_unit_bytes = 2 << 20,
                                .seconds_per_point = 4 / 2.4e12,
                                .most_tile_seconds = 0.1,
                                .max_slots = 4,
                                .parallel_units = 264};
    request.rates = slc_rates_default(SLC_DEVICE_CUDA);
    request.rates.disk_bytes_per_s = 1e16;
    request.rates.read_bytes_per_s = reader_bytes_per_s;
    request.rates.tier_bytes_per_s = 28e9;
    request.rates.h2d_bytes_per_s = request.rates.d2h_bytes_per_s = 55e9;
    request.rates.step_seconds = 1e-5;
    return request;
}

static slc_job rows_to_picture(void) {
    slc_job job = test_product_job(2000000, 512, 512, 1024, 64);
    for (int o = 0; o < 2; o++) {
        job.operands[o].dtype = SLC_F32;
        job.operands[o].axes[1] = SLC_AXIS_FIXED;
        job.operands[o].fixed_extent[1] = 9;
    }
    job.operands[2].dtype = SLC_FIXED128;
    return job;
}

/* Kernels take 0.874 s. Read at 0.4 GB/s, the rows take 0.36 s: hidden behind one pass, not behind a
 * sixth of it. */
static void a_slow_reader_is_hidden_by_one_long_pass(void **state) {
    (void)state;
    const slc_job job = rows_to_picture();
    const double kernel_seconds = 2e6 * 512 * 512 * 4 / 2.4e12;
    const double rates[] = {0.4e9, 4e9};
    for (int i = 0; i < 2; i++) {
        const slc_plan_request request = card(rates[i]);
        slc_plan plan;
        TEST_OK(slc_plan_make(&job, &request, &plan));
        print_message("reader %.1f GB/s: %lld pass(es), %.3f s, kernels %.3f s\n", 1e-9 * rates[i],
                      (long long)plan.n_passes, plan.seconds_total, plan.seconds_kernel);
        assert_true(plan.seconds_total > kernel_seconds);
        assert_true(plan.seconds_total < 1.08 * kernel_seconds);
        assert_true(i > 0 || plan.n_passes == 1);
    }
}

/* Six passes: the first one takes as long as reading, 0.36 s, the other five as their kernels. */
static void the_first_of_six_passes_waits_for_the_reader(void **state) {
    (void)state;
    const slc_job job = rows_to_picture();
    slc_plan_request request = card(0.4e9);
    request.parallel_units = 0;
    request.force_tile[0] = 32768;
    request.force_tile[1] = 256;
    request.force_tile[2] = 192;
    slc_plan plan;
    TEST_OK(slc_plan_make(&job, &request, &plan));
    assert_int_equal(plan.n_passes, 6);
    assert_int_equal(plan.bytes_read, 144000000);
    assert_int_equal(plan.bytes_tier, 5 * 144000000);
    const double kernel_seconds = 2e6 * 512 * 512 * 4 / 2.4e12;
    const double expected = 0.36 + kernel_seconds * 5 / 6;
    print_message("%.3f s planned, at least %.3f s\n", plan.seconds_total, expected);
    assert_true(plan.seconds_total > expected && plan.seconds_total < 1.08 * expected);
}

/* ---- units of both sides ---------------------------------------------------------------------- */

/* in(i, j) in units of 64 x 8, out(j, i) in units of 16 x 48: tiles are multiples of both where
 * the device has room for 192 x 16 of them, and otherwise the plan says how often units are cut. */
static void tiles_are_whole_units_of_both_sides(void **state) {
    (void)state;
    const slc_job job = test_turn_job(1920, 1920, 1);
    slc_plan_request request = {.device_budget_bytes = 4 << 20,
                                .host_budget_bytes = 1ll << 30,
                                .allocation_unit_bytes = 1,
                                .seconds_per_point = 1e-12,
                                .unit = {64, 8},
                                .out_unit = {48, 16}};
    slc_plan plan;
    TEST_OK(slc_plan_make(&job, &request, &plan));
    assert_true(plan.tile[0] % 192 == 0 && plan.tile[1] % 16 == 0);
    assert_true(plan.unit_reads == 1 && plan.unit_writes == 1);
    request.force_tile[0] = 32;
    request.force_tile[1] = 16;
    TEST_OK(slc_plan_make(&job, &request, &plan));
    /* Each unit of 64 lies in two tiles of 32; of 48, every border but each third cuts one: 59
     * borders, of which 20 - 1 are those of units, cut 40 units. */
    assert_true(plan.unit_reads > 1.9 && plan.unit_reads < 2.1);
    assert_true(plan.unit_writes > 1.9 && plan.unit_writes < 2.1);
}

/* ---- tiles that are skipped ------------------------------------------------------------------- */

static bool is_even(const void *context, const slc_tile *tile) {
    (void)context;
    return tile->origin[0] / 100 % 2 == 0;
}

/* Ten tiles of 100 rows, every second of which is skipped: half of the bytes and half of the time. */
static void skipped_tiles_move_nothing(void **state) {
    (void)state;
    slc_job job = test_turn_job(1000, 60, 10);
    slc_plan_request request = {.device_budget_bytes = 1ll << 30,
                                .host_budget_bytes = 1ll << 30,
                                .allocation_unit_bytes = 1,
                                .seconds_per_point = 1e-3};
    request.force_tile[0] = 100;
    request.force_tile[1] = 60;
    slc_plan all;
    TEST_OK(slc_plan_make(&job, &request, &all));
    job.touches = is_even;
    slc_plan plan;
    TEST_OK(slc_plan_make(&job, &request, &plan));
    assert_int_equal(plan.n_tiles, 10);
    assert_int_equal(plan.n_visited, 5);
    assert_int_equal(plan.bytes_read, 500 * 60 * 8);
    assert_int_equal(plan.bytes_written, 500 * 60 * 8);
    assert_int_equal(plan.operand[0].n_moves, 5);
    assert_true(plan.seconds_kernel > 0.49 * all.seconds_kernel);
    assert_true(plan.seconds_kernel < 0.51 * all.seconds_kernel);
}

static int64_t staging_bytes(const slc_plan *plan) {
    int64_t bytes = 0;
    for (int o = 0; o < plan->n_operands; o++) {
        bytes += plan->operand[o].n_staging * plan->operand[o].staging_bytes;
    }
    return bytes;
}

/* Tiles of 8 MiB in and out have eight slots of their own, which do not stay in a cache of 96 MiB; six
 * do. Where not even one would, the cache decides nothing. */
static void staging_stays_in_the_cache(void **state) {
    (void)state;
    const slc_job job = test_turn_job(16384, 16384, 64);
    slc_plan_request request = {.device_budget_bytes = 8ll << 30,
                                .host_budget_bytes = 8ll << 30,
                                .allocation_unit_bytes = 1,
                                .rates = slc_rates_default(SLC_DEVICE_CUDA)};
    request.force_tile[0] = 512;
    request.force_tile[1] = 2048;
    slc_plan plan;
    TEST_OK(slc_plan_make(&job, &request, &plan));
    assert_int_equal(staging_bytes(&plan), 128 << 20);
    request.cache_bytes = 96ll << 20;
    slc_plan cached;
    TEST_OK(slc_plan_make(&job, &request, &cached));
    assert_int_equal(staging_bytes(&cached), 96 << 20);
    assert_int_equal(cached.n_slots, 6);
    request.cache_bytes = 64;
    slc_plan hopeless;
    TEST_OK(slc_plan_make(&job, &request, &hopeless));
    assert_int_equal(staging_bytes(&hopeless), 128 << 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slow_reader_is_hidden_by_one_long_pass),
        cmocka_unit_test(the_first_of_six_passes_waits_for_the_reader),
        cmocka_unit_test(tiles_are_whole_units_of_both_sides),
        cmocka_unit_test(skipped_tiles_move_nothing),
        cmocka_unit_test(staging_stays_in_the_cache),
        cmocka_unit_test(the_last_output_is_not_hidden),
        cmocka_unit_test(large_tiles_do_not_stick_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
