/* What holds for every plan, on hundreds of random jobs: each element is visited once, the bytes that a
 * run would move are those that the plan says, and ordered axes are never overtaken. The run is played
 * here with nothing but the tiles in their order and the boxes that they need. */
#include "tests/support/test_random_job.h"

#define N_JOBS 400

/* A plan under random tight budgets; false where none exists. */
static bool plan_tightly(uint64_t *random, const slc_job *job, slc_plan_request *request,
                         slc_plan *plan) {
    TEST_OK(slc_plan_make(job, request, plan));
    const int64_t device = plan->smallest_device_bytes;
    const int64_t host = plan->smallest_host_bytes;
    request->device_budget_bytes = device + test_random_below(random, 2 * device);
    request->host_budget_bytes = host + test_random_below(random, 4 * host);
    const slc_status status = slc_plan_make(job, request, plan);
    if (status == SLC_ERROR_NO_PLAN) {
        /* Each budget alone is enough; both at once are so too, where nothing can be mapped. */
        bool has_choice = false;
        for (int o = 0; o < job->n_operands; o++) {
            has_choice = has_choice || job->operands[o].is_sparse;
        }
        assert_true(has_choice);
        return false;
    }
    TEST_OK(status);
    assert_true(plan->device_peak_bytes <= request->device_budget_bytes);
    assert_true(plan->host_peak_bytes <= request->host_budget_bytes);
    return true;
}

/* ---- visits ----------------------------------------------------------------------------------- */

static bool is_visited_once(const slc_job *job, const slc_plan *plan) {
    int64_t n = 1;
    for (int a = 0; a < job->n_axes; a++) {
        n *= job->axes[a].extent;
    }
    unsigned char *visits = test_allocate(n);
    memset(visits, 0, (size_t)n);
    int64_t n_inside = 0;
    for (int64_t t = 0; t < plan->n_tiles; t++) {
        const slc_tile tile = slc_plan_tile(plan, t);
        assert_int_equal(tile.index, t);
        int64_t points = 1;
        for (int a = 0; a < job->n_axes; a++) {
            assert_true(tile.origin[a] % job->axes[a].granule == 0 || tile.extent[a] == 0);
            points *= tile.extent[a];
        }
        for (int64_t p = 0; p < points; p++) {
            int64_t rest = p;
            int64_t at = 0;
            int64_t stride = 1;
            for (int a = job->n_axes - 1; a >= 0; a--) {
                const int64_t index = tile.origin[a] + rest % tile.extent[a];
                assert_true(index < job->axes[a].extent);
                rest /= tile.extent[a];
                at += index * stride;
                stride *= job->axes[a].extent;
            }
            visits[at]++;
        }
        n_inside += points;
    }
    int64_t n_once = 0;
    for (int64_t i = 0; i < n; i++) {
        n_once += visits[i] == 1;
    }
    free(visits);
    return n_once == n_inside && n_inside == slc_box_count(&plan->region);
}

static void every_element_is_visited_once(void **state) {
    (void)state;
    uint64_t random = 11;
    const test_random_job_options options = {4, true, true, true};
    for (int i = 0; i < N_JOBS; i++) {
        const slc_job job = test_random_job(&random, &options);
        slc_plan_request request = test_random_request(&random, &job);
        slc_plan plan;
        if (plan_tightly(&random, &job, &request, &plan)) {
            assert_true(is_visited_once(&job, &plan));
            assert_int_equal(plan.region.rank, job.n_axes);
        }
    }
}

/* ---- traffic ---------------------------------------------------------------------------------- */

/* Moves and bytes of one operand, played tile by tile. */
typedef struct played {
    int64_t n_moves, bytes_moved, bytes_read;
} played;

static played play_output(const slc_job *job, const slc_plan *plan, int o) {
    played done = {0};
    slc_box *drained = test_allocate((plan->n_tiles + 1) * (int64_t)sizeof *drained);
    for (int64_t t = 0; t < plan->n_tiles; t++) {
        const slc_tile tile = slc_plan_tile(plan, t);
        const slc_box box = slc_job_footprint(job, o, &tile);
        if (done.n_moves > 0 && slc_box_equal(&drained[done.n_moves - 1], &box)) {
            continue;
        }
        /* What was drained is never needed again. */
        for (int64_t i = 0; i < done.n_moves; i++) {
            assert_false(slc_box_equal(&drained[i], &box));
        }
        drained[done.n_moves++] = box;
        done.bytes_moved += slc_box_count(&box) * slc_dtype_bytes(job->operands[o].dtype);
    }
    free(drained);
    return done;
}

/* Slots hold boxes instead of data: what is taken must be what is needed. */
static played play_input(const slc_job *job, const slc_plan *plan, int o) {
    played done = {0};
    const int64_t n_slots = plan->operand[o].n_tier_tiles;
    slc_box *slot = test_allocate((n_slots + 1) * (int64_t)sizeof *slot);
    slc_box here = {.rank = -1};
    for (int64_t t = 0; t < plan->n_tiles; t++) {
        const slc_tile tile = slc_plan_tile(plan, t);
        const slc_box box = slc_job_footprint(job, o, &tile);
        if (here.rank >= 0 && slc_box_equal(&here, &box)) {
            continue;
        }
        here = box;
        const slc_tier_use use = slc_plan_tier_use(plan, job, o, t);
        const int64_t bytes = slc_box_count(&box) * slc_dtype_bytes(job->operands[o].dtype);
        assert_true(use.slot < n_slots);
        if (use.move == SLC_TIER_FROM_KEPT) {
            assert_true(slc_box_equal(&slot[use.slot], &box));
        } else {
            done.bytes_read += bytes;
        }
        if (use.move == SLC_TIER_READ_AND_KEEP) {
            slot[use.slot] = box;
        }
        done.n_moves++;
        done.bytes_moved += bytes;
    }
    free(slot);
    return done;
}

static void check_traffic(const slc_job *job, const slc_plan *plan) {
    int64_t read = 0;
    int64_t h2d = plan->n_tiles * (int64_t)sizeof(slc_tile);
    int64_t d2h = 0;
    int64_t tier = 0;
    for (int o = 0; o < job->n_operands; o++) {
        const slc_plan_operand *planned = &plan->operand[o];
        const slc_access access = job->operands[o].access;
        if (access == SLC_ACCESS_WORK) {
            assert_int_equal(planned->bytes_moved, 0);
            continue;
        }
        if (job->operands[o].is_sparse) {
            slc_layout whole;
            TEST_OK(slc_job_full_layout(job, o, &whole));
            /* It is loaded before the first tile, where there is one. */
            const int64_t bytes = plan->n_tiles > 0 ? slc_layout_bytes(&whole) : 0;
            assert_int_equal(planned->bytes_read, bytes);
            read += bytes;
            h2d += planned->placement == SLC_PLACE_MAPPED ? 0 : bytes;
            continue;
        }
        const bool is_input = access == SLC_ACCESS_IN;
        const played done = is_input ? play_input(job, plan, o) : play_output(job, plan, o);
        assert_int_equal(planned->n_moves, done.n_moves);
        assert_int_equal(planned->bytes_moved, done.bytes_moved);
        if (is_input) {
            assert_int_equal(planned->bytes_read, done.bytes_read);
            read += done.bytes_read;
            h2d += planned->is_in_place ? 0 : done.bytes_moved;
            tier += done.bytes_moved - done.bytes_read;
        } else {
            d2h += done.bytes_moved;
        }
    }
    assert_int_equal(plan->bytes_read, read);
    assert_int_equal(plan->bytes_tier, tier);
    assert_int_equal(plan->bytes_h2d, h2d);
    assert_int_equal(plan->bytes_d2h, d2h);
    assert_int_equal(plan->bytes_written, d2h);
}

static void predicted_bytes_are_those_that_move(void **state) {
    (void)state;
    uint64_t random = 12;
    int64_t n_tiles = 0;
    int64_t n_kept = 0;
    for (int i = 0; i < N_JOBS; i++) {
        const test_random_job_options options = {4, i % 3 == 0, i % 5 == 0, i % 4 == 0};
        const slc_job job = test_random_job(&random, &options);
        slc_plan_request request = test_random_request(&random, &job);
        request.no_tier = i % 7 == 0;
        slc_plan plan;
        if (plan_tightly(&random, &job, &request, &plan)) {
            check_traffic(&job, &plan);
            n_tiles += plan.n_tiles;
            n_kept += plan.tier_bytes > 0;
            assert_true(!request.no_tier || plan.tier_bytes == 0);
        }
    }
    print_message("%lld tiles, %lld plans with a host tier\n", (long long)n_tiles,
                  (long long)n_kept);
    assert_true(n_kept > 5);
}

/* Small forced tiles make loops that the planner would avoid: every order of repeats occurs. */
static void forced_tiles_are_counted_too(void **state) {
    (void)state;
    uint64_t random = 13;
    const test_random_job_options options = {4, false, false, true};
    int64_t n_kept = 0;
    for (int i = 0; i < N_JOBS; i++) {
        const slc_job job = test_random_job(&random, &options);
        slc_plan_request request = test_random_request(&random, &job);
        request.rates.tier_bytes_per_s = 1e12;
        for (int a = 0; a < job.n_axes; a++) {
            request.force_tile[a] = 1 + test_random_below(&random, 5);
        }
        slc_plan plan;
        if (plan_tightly(&random, &job, &request, &plan)) {
            check_traffic(&job, &plan);
            n_kept += plan.tier_bytes > 0;
        }
    }
    print_message("%lld plans with a host tier\n", (long long)n_kept);
    assert_true(n_kept > N_JOBS / 20);
}

/* ---- order ------------------------------------------------------------------------------------ */

/* Where a tile differs from the one before in an axis that is not ordered, every ordered axis begins
 * anew; otherwise the ordered ones go on, in the order of their numbers. */
static void check_order(const slc_job *job, const slc_plan *plan) {
    for (int64_t t = 1; t < plan->n_tiles; t++) {
        const slc_tile before = slc_plan_tile(plan, t - 1);
        const slc_tile here = slc_plan_tile(plan, t);
        bool has_restarted = false;
        for (int a = 0; a < job->n_axes; a++) {
            has_restarted = has_restarted || (job->axes[a].kind != SLC_AXIS_ORDERED &&
                                              here.origin[a] != before.origin[a]);
        }
        bool has_risen = false;
        for (int a = 0; a < job->n_axes; a++) {
            if (job->axes[a].kind != SLC_AXIS_ORDERED) {
                continue;
            }
            if (has_restarted) {
                assert_int_equal(here.origin[a], plan->region.origin[a]);
            } else if (!has_risen) {
                assert_true(here.origin[a] >= before.origin[a]);
                has_risen = here.origin[a] > before.origin[a];
            }
        }
        assert_true(has_restarted || has_risen);
    }
}

static void ordered_axes_are_never_overtaken(void **state) {
    (void)state;
    uint64_t random = 14;
    const test_random_job_options options = {4, false, false, false};
    for (int i = 0; i < N_JOBS; i++) {
        const slc_job job = test_random_job(&random, &options);
        slc_plan_request request = test_random_request(&random, &job);
        slc_plan plan;
        if (plan_tightly(&random, &job, &request, &plan)) {
            check_order(&job, &plan);
        }
    }
}

/* ---- memory ----------------------------------------------------------------------------------- */

/* The buffers that the engine makes are those that the peaks hold: each rounded up to 256 bytes. */
static void check_peaks(const slc_job *job, const slc_plan_request *request, const slc_plan *plan) {
    const int64_t descriptions = (plan->n_slots + 1) * 256;
    int64_t device = descriptions;
    int64_t host = descriptions + plan->tier_bytes + plan->mapped_bytes;
    int64_t tier = 0;
    for (int o = 0; o < job->n_operands; o++) {
        const slc_plan_operand *planned = &plan->operand[o];
        slc_layout tile;
        TEST_OK(slc_job_tile_layout(job, o, plan->tile, &tile));
        assert_int_equal(planned->tile_bytes, slc_layout_bytes(&tile));
        assert_true(planned->staging_bytes <= planned->tile_bytes);
        const bool is_in_place = request->reads_in_place && !job->operands[o].is_sparse &&
                                 job->operands[o].access == SLC_ACCESS_IN;
        assert_true(planned->is_in_place == is_in_place);
        assert_true(!is_in_place || planned->n_staging == 0);
        const int64_t tile_cost = (planned->tile_bytes + 255) / 256 * 256;
        device += planned->n_buffers * tile_cost;
        host += planned->n_staging * ((planned->staging_bytes + 255) / 256 * 256);
        tier += planned->n_tier_tiles * tile_cost;
        for (int64_t t = 0; t < plan->n_tiles; t++) {
            const slc_tile here = slc_plan_tile(plan, t);
            const slc_box box = slc_job_footprint(job, o, &here);
            assert_true(slc_box_count(&box) * slc_dtype_bytes(tile.dtype) <= planned->tile_bytes);
        }
    }
    const int64_t unit = request->allocation_unit_bytes;
    assert_int_equal(plan->device_peak_bytes, (device + unit - 1) / unit * unit);
    assert_int_equal(plan->host_peak_bytes, host);
    assert_int_equal(plan->tier_bytes, tier);
}

static void smallest_budgets_are_exact(void **state) {
    (void)state;
    uint64_t random = 15;
    for (int i = 0; i < N_JOBS; i++) {
        const test_random_job_options options = {4, i % 2 == 0, i % 5 == 0, i % 4 == 0};
        const slc_job job = test_random_job(&random, &options);
        slc_plan_request request = test_random_request(&random, &job);
        request.sparse = (slc_sparse_choice)test_random_below(&random, 3);
        slc_plan plan;
        TEST_OK(slc_plan_make(&job, &request, &plan));
        check_peaks(&job, &request, &plan);
        const int64_t device = plan.smallest_device_bytes;
        const int64_t host = plan.smallest_host_bytes;
        request.device_budget_bytes = device;
        TEST_OK(slc_plan_make(&job, &request, &plan));
        assert_int_equal(plan.device_peak_bytes, device);
        request.device_budget_bytes = device - 1;
        TEST_FAILS(slc_plan_make(&job, &request, &plan), SLC_ERROR_NO_PLAN, "--vram");
        assert_int_equal(plan.smallest_device_bytes, device);
        request.device_budget_bytes = 1ll << 40;
        request.host_budget_bytes = host;
        TEST_OK(slc_plan_make(&job, &request, &plan));
        check_peaks(&job, &request, &plan);
        request.host_budget_bytes = host - 1;
        TEST_FAILS(slc_plan_make(&job, &request, &plan), SLC_ERROR_NO_PLAN, "--ram");
        assert_int_equal(plan.smallest_host_bytes, host);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_element_is_visited_once),
        cmocka_unit_test(predicted_bytes_are_those_that_move),
        cmocka_unit_test(forced_tiles_are_counted_too),
        cmocka_unit_test(ordered_axes_are_never_overtaken),
        cmocka_unit_test(smallest_budgets_are_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
