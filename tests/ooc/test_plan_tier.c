/* Which tiles the plan keeps in RAM, and what that saves. */
#include "tests/support/test_jobs.h"

/* Reading is slow and everything else fast, so that only the bytes read count. */
static slc_plan_request reading_is_slow(void) {
    return (slc_plan_request){.device_budget_bytes = 1ll << 40,
                              .host_budget_bytes = 1ll << 40,
                              .allocation_unit_bytes = 1,
                              .rates = {.disk_bytes_per_s = 1e6,
                                        .read_bytes_per_s = 1e6,
                                        .tier_bytes_per_s = 1e9,
                                        .h2d_bytes_per_s = 1e12,
                                        .d2h_bytes_per_s = 1e12,
                                        .write_bytes_per_s = 1e12,
                                        .step_seconds = 1e-12}};
}

/* 8 row tiles come round once for each of 4 x 3 image tiles of the product. Of a(row, y) the rows of
 * one y come round 3 times, b(row, x) all of it 4 times: order y, x, row. */
static slc_job product(slc_plan_request *request) {
    *request = reading_is_slow();
    request->force_tile[0] = 10;
    request->force_tile[1] = request->force_tile[2] = 16;
    request->max_slots = 1;
    return test_product_job(80, 64, 48, 10, 16);
}

static int64_t rounded(int64_t bytes) {
    return (bytes + 255) / 256 * 256;
}

static void keeps_everything_where_there_is_room(void **state) {
    (void)state;
    slc_plan_request request;
    const slc_job job = product(&request);
    slc_plan plan;
    TEST_OK(slc_plan_make(&job, &request, &plan));
    assert_int_equal(plan.n_tiles, 8 * 4 * 3);
    /* Each element is read once and comes from RAM otherwise. */
    assert_int_equal(plan.bytes_read, 80 * (64 + 48) * 8);
    assert_int_equal(plan.bytes_tier, 80 * 64 * 8 * (3 - 1) + 80 * 48 * 8 * (4 - 1));
    assert_int_equal(plan.bytes_h2d - plan.n_tiles * (int64_t)sizeof(slc_tile),
                     plan.bytes_read + plan.bytes_tier);
    request.no_tier = true;
    TEST_OK(slc_plan_make(&job, &request, &plan));
    assert_int_equal(plan.bytes_tier, 0);
    assert_int_equal(plan.tier_bytes, 0);
    assert_int_equal(plan.bytes_read, 80 * 64 * 8 * 3 + 80 * 48 * 8 * 4);
}

/* The slots of the operand that the outer image loop moves are filled anew each time that it turns, so
 * each of them saves more than one of the other operand: RAM goes there first. */
static void the_best_bytes_are_kept_first(void **state) {
    (void)state;
    slc_plan_request request;
    const slc_job job = product(&request);
    const int64_t tile_bytes = rounded(10 * 16 * 8);
    request.no_tier = true;
    slc_plan plan;
    TEST_OK(slc_plan_make(&job, &request, &plan));
    const int64_t without = plan.host_peak_bytes;
    const int64_t all_reads = plan.bytes_read;
    request.no_tier = false;
    for (int64_t n = 0; n <= 40; n++) {
        request.host_budget_bytes = without + n * tile_bytes + tile_bytes / 2;
        TEST_OK(slc_plan_make(&job, &request, &plan));
        const bool y_is_outer = plan.order[0] == 1;
        assert_int_equal(plan.order[2], 0);
        /* The operand that the outer image loop moves has 8 tiles a set, the other one all of its
         * tiles; sets and rounds follow from the loops. */
        const int64_t n_outer = y_is_outer ? 4 : 3;
        const int64_t n_inner = y_is_outer ? 3 : 4;
        const int64_t first = n < 8 ? n : 8;
        const int64_t rest = n - first;
        const int64_t second = rest < 8 * n_inner ? rest : 8 * n_inner;
        const int64_t saved = first * n_outer * (n_inner - 1) + second * (n_outer - 1);
        assert_int_equal(plan.bytes_tier, saved * 10 * 16 * 8);
        assert_int_equal(plan.tier_bytes, (first + second) * tile_bytes);
        assert_int_equal(plan.host_peak_bytes, without + plan.tier_bytes);
        assert_true(plan.bytes_read + plan.bytes_tier <= all_reads + 80 * 64 * 8 * 4);
    }
}

/* A vector that a loop goes round and round: with room for n of N tiles, n are kept, which is the most
 * that anything could save (a slot saves at most one read a round). */
static void a_scan_keeps_its_first_tiles(void **state) {
    (void)state;
    slc_job job = test_turn_job(6, 103, 1);
    job.operands[0].rank = 1;
    job.operands[0].axes[0] = 1;
    slc_plan_request request = reading_is_slow();
    request.force_tile[0] = 1;
    request.force_tile[1] = 10; /* 11 tiles, the last one of 3 */
    request.max_slots = 1;
    request.no_tier = true;
    job.axes[1].kind = SLC_AXIS_ORDERED; /* so that it is the inner loop */
    slc_plan plan;
    TEST_OK(slc_plan_make(&job, &request, &plan));
    const int64_t without = plan.host_peak_bytes;
    request.no_tier = false;
    for (int64_t n = 0; n <= 12; n++) {
        request.host_budget_bytes = without + n * 256;
        TEST_OK(slc_plan_make(&job, &request, &plan));
        const int64_t kept = n < 11 ? n : 11;
        assert_int_equal(plan.operand[0].n_tier_tiles, kept);
        assert_int_equal(plan.bytes_tier, 8 * 5 * (kept < 11 ? kept * 10 : 103));
        for (int64_t t = 0; t < plan.n_tiles; t++) {
            const slc_tier_use use = slc_plan_tier_use(&plan, &job, 0, t);
            assert_int_equal(use.fill, t);
            assert_int_equal(use.set, 0);
            assert_int_equal(use.slot, t % 11 < kept ? t % 11 : -1);
            assert_int_equal(use.move, t % 11 >= kept ? SLC_TIER_READ
                                       : t < 11       ? SLC_TIER_READ_AND_KEEP
                                                      : SLC_TIER_FROM_KEPT);
        }
    }
}

/* Reading that is faster than RAM leaves nothing to save. */
static void keeps_nothing_that_is_read_as_fast(void **state) {
    (void)state;
    slc_plan_request request;
    const slc_job job = product(&request);
    request.rates.disk_bytes_per_s = request.rates.read_bytes_per_s = 1e12;
    slc_plan plan;
    TEST_OK(slc_plan_make(&job, &request, &plan));
    assert_int_equal(plan.bytes_tier, 0);
    assert_int_equal(plan.tier_bytes, 0);
}

/* Inputs that move together are kept together, whatever their dtypes: one read brings them all. */
static void operands_that_move_together_are_kept_together(void **state) {
    (void)state;
    slc_plan_request request;
    slc_job job = product(&request);
    job.operands[3] = job.operands[2];
    job.operands[2] = job.operands[0];
    job.operands[2].name = "flags";
    job.operands[2].dtype = SLC_U8;
    job.n_operands = 4;
    request.no_tier = true;
    slc_plan plan;
    TEST_OK(slc_plan_make(&job, &request, &plan));
    const int64_t without = plan.host_peak_bytes;
    request.no_tier = false;
    for (int64_t n = 1; n < 60; n += 7) {
        request.host_budget_bytes = without + n * 1024;
        TEST_OK(slc_plan_make(&job, &request, &plan));
        assert_int_equal(plan.operand[0].n_tier_tiles, plan.operand[2].n_tier_tiles);
        assert_int_equal(plan.operand[0].tier_cycle, plan.operand[2].tier_cycle);
        assert_int_equal(plan.operand[0].tier_rounds, plan.operand[2].tier_rounds);
        assert_int_equal(plan.operand[0].tier_depth, plan.operand[2].tier_depth);
    }
}

/* The smallest host budget has no tier, and a tier never takes a slot away. */
static void a_tier_takes_only_what_is_left(void **state) {
    (void)state;
    slc_plan_request request;
    const slc_job job = product(&request);
    slc_plan plan;
    TEST_OK(slc_plan_make(&job, &request, &plan));
    request.host_budget_bytes = plan.smallest_host_bytes;
    TEST_OK(slc_plan_make(&job, &request, &plan));
    assert_int_equal(plan.tier_bytes, 0);
    assert_int_equal(plan.host_peak_bytes, request.host_budget_bytes);
}

/* ---- two cycles ------------------------------------------------------------------------------- */

/* v(b, d) under loops a, b, c, d (all ordered, so that they stay as they are): for each b the tiles
 * along d come round with c, and all of them with a. */
static slc_job two_cycles(int64_t na, int64_t nb, int64_t nc, int64_t nd) {
    slc_job job = test_turn_job(1, 1, 1);
    const int64_t n[] = {na, nb, nc, nd};
    static const char *const names[] = {"a", "b", "c", "d"};
    job.n_axes = 4;
    job.n_operands = 1;
    for (int a = 0; a < 4; a++) {
        job.axes[a] = (slc_axis){names[a], n[a], 1, SLC_AXIS_ORDERED};
    }
    job.operands[0].axes[0] = 1;
    job.operands[0].axes[1] = 3;
    return job;
}

/* Reads, in tiles, when the first `n` places of the cycle from loop `depth` inwards are kept: played on
 * the four loops. */
static int64_t play(const int64_t n[4], int depth, int64_t n_kept) {
    int64_t n_reads = 0;
    int64_t *holds = test_allocate(n[1] * n[3] * (int64_t)sizeof *holds);
    memset(holds, 0xff, (size_t)(n[1] * n[3]) * sizeof *holds);
    for (int64_t a = 0; a < n[0]; a++) {
        for (int64_t b = 0; b < n[1]; b++) {
            for (int64_t c = 0; c < n[2]; c++) {
                for (int64_t d = 0; d < n[3]; d++) {
                    const int64_t place = depth == 0 ? b * n[3] + d : d;
                    const int64_t tile = b * n[3] + d;
                    n_reads += place >= n_kept || holds[place] != tile;
                    if (place < n_kept) {
                        holds[place] = tile;
                    }
                }
            }
        }
    }
    free(holds);
    return n_reads;
}

/* Whatever the room, the plan reads as little as the better of the two cycles allows. */
static void the_better_cycle_is_taken(void **state) {
    (void)state;
    static const int64_t shapes[][4] = {{2, 2, 2, 3}, {5, 2, 2, 4}, {2, 6, 3, 2}, {9, 3, 2, 5}};
    int n_outer = 0;
    int n_inner = 0;
    for (int64_t i = 0; i < TEST_COUNT(shapes); i++) {
        const int64_t *n = shapes[i];
        const slc_job job = two_cycles(n[0], n[1], n[2], n[3]);
        slc_plan_request request = reading_is_slow();
        request.rates.tier_bytes_per_s = 1e15;
        request.max_slots = 1;
        for (int a = 0; a < 4; a++) {
            request.force_tile[a] = 1;
        }
        request.no_tier = true;
        slc_plan plan;
        TEST_OK(slc_plan_make(&job, &request, &plan));
        const int64_t without = plan.host_peak_bytes;
        request.no_tier = false;
        for (int64_t room = 0; room <= n[1] * n[3] + 1; room++) {
            request.host_budget_bytes = without + room * 256;
            TEST_OK(slc_plan_make(&job, &request, &plan));
            const int64_t whole = n[1] * n[3];
            const int64_t outer = play(n, 0, room < whole ? room : whole);
            const int64_t inner = play(n, 2, room < n[3] ? room : n[3]);
            assert_int_equal(plan.bytes_read, 8 * (outer < inner ? outer : inner));
            n_outer += room > 0 && plan.operand[0].tier_depth == 0;
            n_inner += room > 0 && plan.operand[0].tier_depth == 2;
        }
    }
    assert_true(n_outer > 3 && n_inner > 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_everything_where_there_is_room),
        cmocka_unit_test(the_best_bytes_are_kept_first),
        cmocka_unit_test(a_scan_keeps_its_first_tiles),
        cmocka_unit_test(keeps_nothing_that_is_read_as_fast),
        cmocka_unit_test(operands_that_move_together_are_kept_together),
        cmocka_unit_test(a_tier_takes_only_what_is_left),
        cmocka_unit_test(the_better_cycle_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
