#include "tests/support/test_jobs.h"

#include "core/clock.h"

/* A request with room for everything and no rounding of the slab. */
static slc_plan_request roomy(void) {
    return (slc_plan_request){.device_budget_bytes = 1ll << 40,
                              .host_budget_bytes = 1ll << 40,
                              .allocation_unit_bytes = 1,
                              .seconds_per_point = 1e-9};
}

/* Marks every element of the iteration space and counts those not visited exactly once. */
static int64_t badly_visited(const slc_plan *plan, const slc_job *job) {
    int64_t n = 1;
    for (int a = 0; a < job->n_axes; a++) {
        n *= job->axes[a].extent;
    }
    unsigned char *visits = test_allocate(n);
    memset(visits, 0, (size_t)n);
    for (int64_t t = 0; t < plan->n_tiles; t++) {
        const slc_tile tile = slc_plan_tile(plan, t);
        for (int64_t r = tile.origin[0]; r < tile.origin[0] + tile.extent[0]; r++) {
            for (int64_t y = tile.origin[1]; y < tile.origin[1] + tile.extent[1]; y++) {
                for (int64_t x = tile.origin[2]; x < tile.origin[2] + tile.extent[2]; x++) {
                    visits[(r * job->axes[1].extent + y) * job->axes[2].extent + x]++;
                }
            }
        }
    }
    int64_t bad = 0;
    for (int64_t i = 0; i < n; i++) {
        bad += visits[i] != 1;
    }
    free(visits);
    return bad;
}

static void visits_every_element_once(void **state) {
    (void)state;
    uint64_t random = 1;
    for (int round = 0; round < 60; round++) {
        const slc_job job =
            test_product_job(1 + test_random_below(&random, 90), 1 + test_random_below(&random, 20),
                             1 + test_random_below(&random, 20), 1 + test_random_below(&random, 9),
                             1 + test_random_below(&random, 6));
        slc_plan_request request = roomy();
        slc_plan plan;
        TEST_OK(slc_plan_make(&job, &request, &plan));
        request.device_budget_bytes =
            plan.smallest_device_bytes + test_random_below(&random, 2 * plan.smallest_device_bytes);
        TEST_OK(slc_plan_make(&job, &request, &plan));
        assert_int_equal(badly_visited(&plan, &job), 0);
        assert_true(plan.device_peak_bytes <= request.device_budget_bytes);
    }
}

static void tiles_are_whole_granules(void **state) {
    (void)state;
    const slc_job job = test_product_job(1000, 50, 70, 16, 8);
    slc_plan_request request = roomy();
    request.device_budget_bytes = 40000;
    slc_plan plan;
    TEST_OK(slc_plan_make(&job, &request, &plan));
    for (int64_t t = 0; t < plan.n_tiles; t++) {
        const slc_tile tile = slc_plan_tile(&plan, t);
        for (int a = 0; a < 3; a++) {
            assert_int_equal(tile.origin[a] % job.axes[a].granule, 0);
            const int64_t end = tile.origin[a] + tile.extent[a];
            assert_true(end % job.axes[a].granule == 0 || end == job.axes[a].extent);
        }
        assert_int_equal(tile.index, t);
    }
}

static void names_the_smallest_budget_exactly(void **state) {
    (void)state;
    const int64_t units[] = {1, 4096, 2 << 20};
    for (int i = 0; i < 3; i++) {
        const slc_job job = test_product_job(10000, 500, 300, 64, 32);
        slc_plan_request request = roomy();
        request.allocation_unit_bytes = units[i];
        slc_plan plan;
        request.device_budget_bytes = 0;
        TEST_FAILS(slc_plan_make(&job, &request, &plan), SLC_ERROR_NO_PLAN, "smallest");
        const int64_t smallest = plan.smallest_device_bytes;
        assert_int_equal(smallest % units[i], 0);
        request.device_budget_bytes = smallest;
        TEST_OK(slc_plan_make(&job, &request, &plan));
        assert_int_equal(plan.device_peak_bytes, smallest);
        request.device_budget_bytes = smallest - 1;
        TEST_FAILS(slc_plan_make(&job, &request, &plan), SLC_ERROR_NO_PLAN, "--vram");
    }
}

static void names_the_smallest_host_budget_exactly(void **state) {
    (void)state;
    const slc_job job = test_product_job(10000, 500, 300, 64, 32);
    slc_plan_request request = roomy();
    request.host_budget_bytes = 0;
    slc_plan plan;
    TEST_FAILS(slc_plan_make(&job, &request, &plan), SLC_ERROR_NO_PLAN, "--ram");
    request.host_budget_bytes = plan.smallest_host_bytes;
    TEST_OK(slc_plan_make(&job, &request, &plan));
    request.host_budget_bytes = plan.smallest_host_bytes - 1;
    TEST_FAILS(slc_plan_make(&job, &request, &plan), SLC_ERROR_NO_PLAN, "--ram");
}

static void keeps_what_fits(void **state) {
    (void)state;
    const slc_job job = test_product_job(4096, 64, 64, 16, 16);
    slc_plan_request request = roomy();
    slc_plan plan;
    TEST_OK(slc_plan_make(&job, &request, &plan));
    /* The image stays on the device and every input byte moves once. */
    assert_int_equal(plan.operand[2].placement, SLC_PLACE_RESIDENT);
    assert_int_equal(plan.n_passes, 1);
    assert_int_equal(plan.bytes_read, 4096 * (64 + 64) * 8);
    assert_int_equal(plan.bytes_d2h, 64 * 64 * 8);
}

static void reads_rows_again_for_each_image_tile(void **state) {
    (void)state;
    /* The image takes 8 MiB, the budget 1 MiB: it has to be cut, and rows read once a part. */
    const slc_job job = test_product_job(2048, 1024, 1024, 16, 64);
    slc_plan_request request = roomy();
    request.device_budget_bytes = 1 << 20;
    slc_plan plan;
    TEST_OK(slc_plan_make(&job, &request, &plan));
    assert_true(plan.n_tiles_of[1] * plan.n_tiles_of[2] >= 8);
    assert_int_equal(plan.operand[2].n_moves, plan.n_tiles_of[1] * plan.n_tiles_of[2]);
    /* a(row, y) is not indexed by x, so it is read again for every column of tiles, and b for every
     * row of tiles; an output tile is left only when it is complete. */
    assert_int_equal(plan.operand[0].bytes_moved, 2048 * 1024 * 8 * plan.n_tiles_of[2]);
    assert_int_equal(plan.operand[1].bytes_moved, 2048 * 1024 * 8 * plan.n_tiles_of[1]);
    assert_int_equal(plan.operand[2].bytes_moved, 1024 * 1024 * 8);
}

static void counts_halos(void **state) {
    (void)state;
    slc_job job = test_turn_job(100, 60, 10);
    job.operands[0].halo[0] = 3;
    slc_plan_request request = roomy();
    request.force_tile[0] = 20;
    request.force_tile[1] = 60;
    slc_plan plan;
    TEST_OK(slc_plan_make(&job, &request, &plan));
    /* Five tiles of 20 rows: 3 more rows on each of the 8 inner sides. */
    assert_int_equal(plan.bytes_read, (100 + 8 * 3) * 60 * 8);
}

static void prefers_overlap(void **state) {
    (void)state;
    const slc_job job = test_product_job(1 << 20, 64, 64, 64, 64);
    slc_plan_request request = roomy();
    request.seconds_per_point = 1e-12;
    slc_plan plan;
    TEST_OK(slc_plan_make(&job, &request, &plan));
    assert_true(plan.n_slots >= 2);
    assert_true(plan.n_tiles > 4);
    /* Reading a gibibyte at the assumed rate takes longer than computing. */
    assert_int_equal(plan.bottleneck, SLC_BOUND_READ);
}

static void reads_whole_units_where_they_fit(void **state) {
    (void)state;
    const slc_job job = test_product_job(1 << 20, 64, 64, 64, 64);
    slc_plan_request request = roomy();
    request.seconds_per_point = 1e-12;
    request.unit[0] = 1000; /* 64 and 1000 have 8000 as common multiple */
    slc_plan plan;
    TEST_OK(slc_plan_make(&job, &request, &plan));
    assert_int_equal(plan.tile[0] % 8000, 0);
    assert_true(plan.unit_reads == 1);
    /* A tile of half a unit: every second boundary falls inside a unit, each is read twice. */
    request.unit[0] = 1 << 10;
    request.force_tile[0] = 1 << 9;
    TEST_OK(slc_plan_make(&job, &request, &plan));
    assert_true(plan.unit_reads > 1.99 && plan.unit_reads < 2.01);
    assert_int_equal(plan.whole_device_bytes, 0); /* the tile is not to be chosen */
    request.unit_is_kept = true;
    TEST_OK(slc_plan_make(&job, &request, &plan));
    assert_true(plan.unit_reads == 1);
}

/* Elements of 8 bytes: 512 × 64 in, as many out. The least budget for that is named with any budget,
 * and with it and one slot whole units are read. */
static void the_budget_for_whole_units_is_named(void **state) {
    (void)state;
    const slc_job job = test_turn_job(1 << 12, 64, 64);
    slc_plan_request request = roomy();
    request.max_slots = 1;
    slc_plan plan;
    TEST_OK(slc_plan_make(&job, &request, &plan));
    assert_int_equal(plan.whole_device_bytes, 0);
    request.unit[0] = 512;
    TEST_OK(slc_plan_make(&job, &request, &plan));
    const int64_t device = plan.whole_device_bytes;
    const int64_t host = plan.whole_host_bytes;
    assert_true(device > 2 * 512 * 64 * 8 && device < 2 * 520 * 64 * 8);
    request.device_budget_bytes = device;
    request.host_budget_bytes = host;
    TEST_OK(slc_plan_make(&job, &request, &plan));
    assert_int_equal(plan.tile[0], 512);
    assert_true(plan.unit_reads == 1);
    request.device_budget_bytes = device - 1;
    TEST_OK(slc_plan_make(&job, &request, &plan));
    assert_true(plan.unit_reads > 1);
    request.device_budget_bytes = 1;
    assert_int_equal(slc_plan_make(&job, &request, &plan), SLC_ERROR_NO_PLAN);
    assert_int_equal(plan.whole_device_bytes, device);
    assert_true(plan.smallest_device_bytes < device);
}

static void keeps_tiles_short_where_it_can(void **state) {
    (void)state;
    const slc_job job = test_product_job(1 << 20, 64, 64, 64, 64);
    slc_plan_request request = roomy();
    slc_plan plan;
    TEST_OK(slc_plan_make(&job, &request, &plan));
    const double usual = plan.seconds_tile;
    request.most_tile_seconds = usual / 10;
    TEST_OK(slc_plan_make(&job, &request, &plan));
    assert_true(plan.seconds_tile <= usual / 10);
    request.most_tile_seconds = 1e-9; /* impossible: as short as it can be */
    TEST_OK(slc_plan_make(&job, &request, &plan));
    assert_int_equal(plan.tile[0], 64);
}

static void ordered_axes_turn_fastest(void **state) {
    (void)state;
    slc_job job = test_turn_job(100, 60, 10);
    slc_plan_request request = roomy();
    request.force_tile[0] = request.force_tile[1] = 10;
    slc_plan plan;
    for (int a = 0; a < 2; a++) {
        job.axes[0].kind = job.axes[1].kind = SLC_AXIS_PARALLEL;
        job.axes[a].kind = SLC_AXIS_ORDERED;
        TEST_OK(slc_plan_make(&job, &request, &plan));
        assert_int_equal(plan.order[1], a);
    }
}

/* A part of a job: tiles begin at the part's origin, halos reach beyond it but not beyond the array. */
static void plans_a_region(void **state) {
    (void)state;
    slc_job job = test_turn_job(100, 60, 10);
    job.operands[0].halo[0] = 3;
    slc_plan_request request = roomy();
    request.force_tile[0] = 20;
    request.force_tile[1] = 60;
    request.region = (slc_box){.rank = 2, .origin = {40, 30}, .extent = {50, 30}};
    slc_plan plan;
    TEST_OK(slc_plan_make(&job, &request, &plan));
    assert_int_equal(plan.n_tiles, 3); /* rows 40, 60 and 80, the last one of 10 */
    assert_int_equal(plan.bytes_read, (50 + 6 * 3) * 30 * 8);
    assert_int_equal(plan.bytes_written, 50 * 30 * 8);
    const slc_tile last = slc_plan_tile(&plan, 2);
    assert_int_equal(last.origin[0], 80);
    assert_int_equal(last.extent[0], 10);
    assert_int_equal(last.origin[1], 30);
    assert_int_equal(last.extent[1], 30);
    /* To the end of the axis there is nothing behind the last tile. */
    request.region.extent[0] = 60;
    TEST_OK(slc_plan_make(&job, &request, &plan));
    assert_int_equal(plan.bytes_read, (60 + 5 * 3) * 30 * 8);
    /* Nothing asked for is all of it, and the plan says so. */
    request.region = (slc_box){0};
    TEST_OK(slc_plan_make(&job, &request, &plan));
    const slc_box whole = {.rank = 2, .extent = {100, 60}};
    assert_true(slc_box_equal(&plan.region, &whole));
}

static void refuses_regions_that_cut_granules(void **state) {
    (void)state;
    const slc_job job = test_turn_job(105, 60, 10);
    const slc_box wrong[] = {{.rank = 1, .extent = {100}},
                             {.rank = 2, .origin = {5, 0}, .extent = {20, 60}},
                             {.rank = 2, .extent = {15, 60}},
                             {.rank = 2, .origin = {0, -10}, .extent = {20, 20}},
                             {.rank = 2, .extent = {110, 60}},
                             {.rank = 2, .origin = {INT64_MAX - 7, 0}, .extent = {10, 60}},
                             {.rank = 2, .extent = {20, INT64_MIN}}};
    slc_plan_request request = roomy();
    slc_plan plan;
    for (int64_t i = 0; i < TEST_COUNT(wrong); i++) {
        request.region = wrong[i];
        TEST_FAILS(slc_plan_make(&job, &request, &plan), SLC_ERROR_ARGUMENT, "region");
    }
    /* The axis's end need not be a granule's. */
    request.region = (slc_box){.rank = 2, .origin = {90, 0}, .extent = {15, 60}};
    TEST_OK(slc_plan_make(&job, &request, &plan));
}

/* Where the disk bounds a run, how many tiles it takes still matters a little: launches cost
 * something. */
static void large_tiles_where_nothing_else_decides(void **state) {
    (void)state;
    const slc_job job = test_turn_job(1 << 16, 1 << 16, 1);
    slc_plan_request request = roomy();
    request.device_budget_bytes = 256 << 20;
    slc_plan plan;
    TEST_OK(slc_plan_make(&job, &request, &plan));
    assert_int_equal(plan.bottleneck, SLC_BOUND_READ);
    assert_true(plan.operand[0].tile_bytes > 4 << 20);
}

/* A reader fetches stored bytes and decodes them, one after the other. */
static void reading_is_fetching_and_decoding(void **state) {
    (void)state;
    const slc_job job = test_product_job(4096, 64, 64, 16, 16);
    slc_plan_request request = roomy();
    request.rates.disk_bytes_per_s = 1e6;
    request.rates.read_bytes_per_s = 4e6;
    request.stored_share[0] = 0.25; /* b has none: stored as it is */
    slc_plan plan;
    TEST_OK(slc_plan_make(&job, &request, &plan));
    const double megabytes = 4096 * 64 * 8 * 1e-6; /* of each */
    const double expected = megabytes * (0.25 + 0.25) + megabytes * (1 + 0.25);
    assert_true(plan.seconds_read > 0.9999 * expected && plan.seconds_read < 1.0001 * expected);
}

/* Four axes, each subset of which indexes an input: as much as a search can have to do. It takes some
 * hundredths of a second; the limit is for slow machines and sanitizers. */
static void plans_the_largest_jobs_quickly(void **state) {
    (void)state;
    slc_job job = test_turn_job(1, 1, 1);
    static const char *const names[] = {"a", "b", "c", "d"};
    job.n_axes = 4;
    job.n_operands = 0;
    for (int a = 0; a < 4; a++) {
        job.axes[a] = (slc_axis){names[a], 1 << 16, 16, SLC_AXIS_PARALLEL};
    }
    for (int set = 1; set <= 12; set++) {
        slc_operand *operand = &job.operands[job.n_operands++];
        *operand = (slc_operand){.name = "in", .dtype = SLC_F32, .access = SLC_ACCESS_IN};
        for (int a = 0; a < 4; a++) {
            if ((set >> a) % 2 == 1) {
                operand->axes[operand->rank++] = a;
            }
        }
    }
    slc_plan_request request = roomy();
    request.device_budget_bytes = request.host_budget_bytes = 1 << 30;
    const int64_t begin_ns = slc_clock_ns();
    slc_plan plan;
    TEST_OK(slc_plan_make(&job, &request, &plan));
    const double seconds = 1e-9 * (double)(slc_clock_ns() - begin_ns);
    print_message("planned in %.3f s\n", seconds);
    assert_true(seconds < 5);
}

static void plans_an_empty_axis(void **state) {
    (void)state;
    const slc_plan_request request = roomy();
    slc_plan plan;
    /* A sum over no rows is still written, as zeros; an image without pixels is not. */
    const slc_job no_rows = test_product_job(0, 8, 8, 4, 4);
    TEST_OK(slc_plan_make(&no_rows, &request, &plan));
    assert_true(plan.n_tiles >= 1);
    assert_int_equal(plan.bytes_read, 0);
    assert_int_equal(plan.bytes_written, 8 * 8 * 8);
    const slc_job no_pixels = test_product_job(8, 0, 8, 4, 4);
    TEST_OK(slc_plan_make(&no_pixels, &request, &plan));
    assert_int_equal(plan.n_tiles, 0);
    assert_int_equal(plan.bytes_written, 0);
}

static void survives_huge_extents(void **state) {
    (void)state;
    const slc_job job = test_product_job(1ll << 50, 1 << 20, 1 << 20, 4096, 64);
    slc_plan_request request = roomy();
    request.device_budget_bytes = 1ll << 30;
    slc_plan plan;
    const slc_status status = slc_plan_make(&job, &request, &plan);
    /* Either is right; what must not happen is a plan with wrapped numbers. */
    if (status == SLC_OK) {
        assert_true(plan.bytes_read > 0 && plan.device_peak_bytes <= 1ll << 30);
    } else {
        assert_true(status == SLC_ERROR_ARGUMENT || status == SLC_ERROR_UNSUPPORTED);
    }
    /* Elements of 8 bytes: 256 PiB are planned for, 512 are not, whatever the budgets. */
    const slc_job large = test_turn_job(1, INT64_C(1) << 55, 1 << 20);
    TEST_OK(slc_plan_make(&large, &request, &plan));
    assert_int_equal(plan.bytes_read, INT64_C(1) << 58);
    const slc_job too_large = test_turn_job(1, INT64_C(1) << 56, 1 << 20);
    TEST_FAILS(slc_plan_make(&too_large, &request, &plan), SLC_ERROR_UNSUPPORTED, "512 PiB");
    request.device_budget_bytes = 1 << 10;
    TEST_FAILS(slc_plan_make(&too_large, &request, &plan), SLC_ERROR_NO_PLAN, "--vram");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(visits_every_element_once),
        cmocka_unit_test(tiles_are_whole_granules),
        cmocka_unit_test(names_the_smallest_budget_exactly),
        cmocka_unit_test(names_the_smallest_host_budget_exactly),
        cmocka_unit_test(keeps_what_fits),
        cmocka_unit_test(reads_rows_again_for_each_image_tile),
        cmocka_unit_test(counts_halos),
        cmocka_unit_test(prefers_overlap),
        cmocka_unit_test(reads_whole_units_where_they_fit),
        cmocka_unit_test(the_budget_for_whole_units_is_named),
        cmocka_unit_test(keeps_tiles_short_where_it_can),
        cmocka_unit_test(ordered_axes_turn_fastest),
        cmocka_unit_test(plans_a_region),
        cmocka_unit_test(refuses_regions_that_cut_granules),
        cmocka_unit_test(large_tiles_where_nothing_else_decides),
        cmocka_unit_test(reading_is_fetching_and_decoding),
        cmocka_unit_test(plans_the_largest_jobs_quickly),
        cmocka_unit_test(plans_an_empty_axis),
        cmocka_unit_test(survives_huge_extents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
