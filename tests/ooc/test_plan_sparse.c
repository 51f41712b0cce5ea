/* Where arrays that are touched at random go: device memory or mapped host memory, and why. */
#include "tests/support/test_jobs.h"

/* v(i) = table[index(i)], with a table of `n` 4-byte elements. */
static slc_job gather(int64_t n_points, int64_t n_table) {
    slc_job job = test_turn_job(1, 1, 1);
    job.name = "gather";
    job.n_axes = 1;
    job.axes[0] = (slc_axis){"point", n_points, 100, SLC_AXIS_PARALLEL};
    job.n_operands = 3;
    job.operands[0].rank = 1;
    job.operands[0].name = "index";
    job.operands[1] = (slc_operand){.name = "table",
                                    .dtype = SLC_F32,
                                    .access = SLC_ACCESS_IN,
                                    .rank = 1,
                                    .axes = {SLC_AXIS_FIXED},
                                    .fixed_extent = {n_table},
                                    .is_sparse = true,
                                    .touches_per_point = 1};
    job.operands[2] =
        (slc_operand){.name = "out", .dtype = SLC_F32, .access = SLC_ACCESS_OUT, .rank = 1};
    return job;
}

/* Rates as measured on one machine: touches of mapped memory are 350 times slower than of the
 * device's. */
static slc_plan_request request_of(void) {
    return (slc_plan_request){.device_budget_bytes = 1ll << 40,
                              .host_budget_bytes = 1ll << 40,
                              .allocation_unit_bytes = 1,
                              .rates = {.disk_bytes_per_s = 1e12,
                                        .read_bytes_per_s = 1e12,
                                        .tier_bytes_per_s = 50e9,
                                        .h2d_bytes_per_s = 55e9,
                                        .d2h_bytes_per_s = 55e9,
                                        .write_bytes_per_s = 1e12,
                                        .device_touches_per_s = 39.3e9,
                                        .mapped_touches_per_s = 111e6,
                                        .step_seconds = 1e-5}};
}

/* 4 bytes over the bus take 73 ps, a mapped touch 9 ns: mapped wins below 0.8 % of the elements. */
static void the_faster_place_is_chosen(void **state) {
    (void)state;
    const int64_t n_table = 1ll << 30;
    const slc_plan_request request = request_of();
    const double shares[] = {0.001, 0.007, 0.009, 0.1};
    for (int i = 0; i < 4; i++) {
        const slc_job job = gather((int64_t)(shares[i] * (double)n_table), n_table);
        slc_plan plan;
        TEST_OK(slc_plan_make(&job, &request, &plan));
        const bool is_mapped = plan.operand[1].placement == SLC_PLACE_MAPPED;
        assert_int_equal(is_mapped, i < 2);
        print_message("%s\n", plan.operand[1].why);
        assert_non_null(strstr(plan.operand[1].why, is_mapped ? "mapped: " : "resident: "));
        assert_int_equal(plan.mapped_bytes, is_mapped ? 4 * n_table : 0);
        assert_int_equal(plan.operand[1].bytes_moved, is_mapped ? 0 : 4 * n_table);
        assert_true(plan.device_peak_bytes > 4 * n_table || is_mapped);
        assert_true(plan.host_peak_bytes > 4 * n_table || !is_mapped);
    }
}

static void seconds_are_those_of_the_place(void **state) {
    (void)state;
    const slc_job job = gather(1000000, 1000000);
    slc_plan_request request = request_of();
    request.rates.read_bytes_per_s = request.rates.disk_bytes_per_s = 1e9;
    request.max_slots = 4; /* the usual number, for which the cost of a step is given */
    slc_plan plan;
    for (int mapped = 0; mapped < 2; mapped++) {
        request.sparse = mapped ? SLC_SPARSE_MAPPED : SLC_SPARSE_RESIDENT;
        TEST_OK(slc_plan_make(&job, &request, &plan));
        /* Table and indices are 12 MB, each byte fetched and decoded in 2 ns. */
        assert_true(plan.seconds_read > 0.0239 && plan.seconds_read < 0.0241);
        const double touches = 1e6 / (mapped ? 111e6 : 39.3e9);
        const double kernel = touches + 1e-5 * (double)plan.n_tiles;
        assert_true(plan.seconds_kernel > kernel * 0.999 && plan.seconds_kernel < kernel * 1.001);
        assert_true(plan.seconds_total > 0.008); /* the table comes before everything else */
        assert_non_null(strstr(plan.operand[1].why, "asked for"));
        assert_true(plan.operand[1].touches == 1e6);
    }
}

/* For each choice: the named budgets work, one byte less does not, and the array is where it was
 * to be. */
static void smallest_budgets_follow_the_choice(void **state) {
    (void)state;
    const int64_t table_bytes = 4 * 50000;
    const slc_job job = gather(3000, 50000);
    const slc_sparse_choice choices[] = {SLC_SPARSE_AUTO, SLC_SPARSE_RESIDENT, SLC_SPARSE_MAPPED};
    for (int i = 0; i < 3; i++) {
        slc_plan_request request = request_of();
        request.sparse = choices[i];
        slc_plan plan;
        TEST_OK(slc_plan_make(&job, &request, &plan));
        const int64_t device = plan.smallest_device_bytes;
        const int64_t host = plan.smallest_host_bytes;
        assert_int_equal(device > table_bytes, choices[i] == SLC_SPARSE_RESIDENT);
        request.device_budget_bytes = device;
        TEST_OK(slc_plan_make(&job, &request, &plan));
        assert_int_equal(plan.operand[1].placement,
                         choices[i] == SLC_SPARSE_RESIDENT ? SLC_PLACE_RESIDENT : SLC_PLACE_MAPPED);
        request.device_budget_bytes = device - 1;
        TEST_FAILS(slc_plan_make(&job, &request, &plan), SLC_ERROR_NO_PLAN, "--vram");
        request.device_budget_bytes = 1ll << 40;
        request.host_budget_bytes = host;
        TEST_OK(slc_plan_make(&job, &request, &plan));
        request.host_budget_bytes = host - 1;
        TEST_FAILS(slc_plan_make(&job, &request, &plan), SLC_ERROR_NO_PLAN, "--ram");
    }
}

/* A table of 100 MB, loaded in pieces of 16 MiB at most: resident needs far less host memory. */
static void loading_takes_pieces(void **state) {
    (void)state;
    const slc_job job = gather(3000, 25000000);
    slc_plan_request request = request_of();
    request.sparse = SLC_SPARSE_RESIDENT;
    request.host_budget_bytes = 20 << 20;
    slc_plan plan;
    TEST_OK(slc_plan_make(&job, &request, &plan));
    assert_int_equal(plan.operand[1].n_staging, 1);
    assert_int_equal(plan.operand[1].staging_bytes, 16 << 20);
    request.host_budget_bytes = 1ll << 30;
    TEST_OK(slc_plan_make(&job, &request, &plan));
    assert_int_equal(plan.operand[1].n_staging, 6); /* no more than the table has pieces */
}

/* Neither place has room, though each budget would do with another one beside it: what is named is what
 * works with the other budget as it is. */
static void names_a_budget_that_works_beside_the_other(void **state) {
    (void)state;
    const int64_t table_bytes = 100000000;
    const slc_job job = gather(3000, table_bytes / 4);
    slc_plan_request request = request_of();
    request.device_budget_bytes = table_bytes / 2;
    request.host_budget_bytes = 20 << 20; /* enough for a piece, too little for mapping it all */
    slc_plan plan;
    TEST_FAILS(slc_plan_make(&job, &request, &plan), SLC_ERROR_NO_PLAN, "--vram");
    const int64_t device = plan.smallest_device_bytes;
    const int64_t host = plan.smallest_host_bytes;
    assert_true(device > table_bytes && host > table_bytes);
    request.device_budget_bytes = device;
    TEST_OK(slc_plan_make(&job, &request, &plan));
    assert_int_equal(plan.operand[1].placement, SLC_PLACE_RESIDENT);
    assert_non_null(strstr(plan.operand[1].why, "host memory"));
    request.device_budget_bytes = device - 1;
    TEST_FAILS(slc_plan_make(&job, &request, &plan), SLC_ERROR_NO_PLAN, "--vram");
    request.host_budget_bytes = host - 1;
    TEST_FAILS(slc_plan_make(&job, &request, &plan), SLC_ERROR_NO_PLAN, "--vram");
    request.host_budget_bytes = host;
    TEST_OK(slc_plan_make(&job, &request, &plan));
    assert_int_equal(plan.operand[1].placement, SLC_PLACE_MAPPED);
    assert_non_null(strstr(plan.operand[1].why, "device memory"));
}

/* Room for one of two tables: the one that is touched more is on the device, in either order. */
static void several_are_placed_together(void **state) {
    (void)state;
    for (int busy = 1; busy <= 3; busy += 2) {
        slc_job job = gather(4000000, 1000000);
        job.operands[3] = job.operands[1];
        job.operands[3].name = "other";
        job.n_operands = 4;
        job.operands[4 - busy].touches_per_point = 0.1;
        slc_plan_request request = request_of();
        slc_plan plan;
        TEST_OK(slc_plan_make(&job, &request, &plan));
        assert_int_equal(plan.operand[1].placement, SLC_PLACE_RESIDENT);
        assert_int_equal(plan.operand[3].placement, SLC_PLACE_RESIDENT);
        request.device_budget_bytes = 4000000 * 3 / 2;
        TEST_OK(slc_plan_make(&job, &request, &plan));
        assert_int_equal(plan.operand[busy].placement, SLC_PLACE_RESIDENT);
        assert_int_equal(plan.operand[4 - busy].placement, SLC_PLACE_MAPPED);
        assert_non_null(strstr(plan.operand[4 - busy].why, "device memory"));
        request.device_budget_bytes = 4000000 / 2;
        TEST_OK(slc_plan_make(&job, &request, &plan));
        assert_int_equal(plan.mapped_bytes,
                         2 * 4000000 / 256 * 256 + 2 * 256 * (4000000 % 256 > 0));
    }
}

static void sparse_outputs_are_refused(void **state) {
    (void)state;
    slc_job job = gather(100, 100);
    job.operands[2].is_sparse = true;
    const slc_plan_request request = request_of();
    slc_plan plan;
    const slc_status status = slc_plan_make(&job, &request, &plan);
    assert_true(status == SLC_ERROR_UNSUPPORTED || status == SLC_ERROR_ARGUMENT);
    assert_non_null(strstr(slc_status_message(), "sparse"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_faster_place_is_chosen),
        cmocka_unit_test(seconds_are_those_of_the_place),
        cmocka_unit_test(smallest_budgets_follow_the_choice),
        cmocka_unit_test(loading_takes_pieces),
        cmocka_unit_test(names_a_budget_that_works_beside_the_other),
        cmocka_unit_test(several_are_placed_together),
        cmocka_unit_test(sparse_outputs_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
