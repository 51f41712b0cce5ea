/* The host tier in the engine. The plans are made by hand here (their tiles are the planner's, what is
 * kept is the test's), so that any number of tiles can be kept and what must be saved is arithmetic:
 *
 *     order (y, x, row)    a(row, y): row tiles come round again for each x tile, new ones for each y
 *                          b(row, x): all tiles come round again for each y tile
 */
#include "tests/support/test_runs.h"

#include "core/arena.h"
#include "core/checked.h"

/* Sizes of a product, its tiles, and how much is kept of the operand whose tiles change with the
 * outermost loop and of the other one. */
typedef struct setting {
    int64_t extent[3]; /* row, y, x */
    int64_t tile[3];
    int max_slots;
    int64_t keep_outer, keep_inner;
} setting;

enum { ROW, Y, X };

static int64_t n_tiles_of(const setting *self, int axis) {
    return slc_ceil_div(self->extent[axis], self->tile[axis]);
}

/* Extent of tile `t` of an axis. */
static int64_t size_of(const setting *self, int axis, int64_t t) {
    return slc_min_i64(self->tile[axis], self->extent[axis] - t * self->tile[axis]);
}

static int depth_of(const slc_plan *plan, int axis) {
    int depth = 0;
    while (plan->order[depth] != axis) {
        depth++;
    }
    return depth;
}

static void keep(slc_plan *plan, int o, int64_t n, int64_t cycle, int depth) {
    plan->operand[o].n_tier_tiles = n;
    plan->operand[o].tier_cycle = cycle;
    plan->operand[o].tier_depth = depth;
    const int64_t bytes = n * slc_arena_cost(plan->operand[o].tile_bytes);
    plan->tier_bytes += bytes;
    plan->host_peak_bytes += bytes;
}

/* Bytes of the inner operand's first `n` tiles: the outer operand's axis does not index it. */
static int64_t inner_bytes(const setting *self, int axis, int64_t n) {
    int64_t bytes = 0;
    for (int64_t t = 0; t < n; t++) {
        bytes += 8 * size_of(self, axis, t / n_tiles_of(self, ROW)) *
                 size_of(self, ROW, t % n_tiles_of(self, ROW));
    }
    return bytes;
}

/* Plans the setting and keeps what it says; the plan's bytes become what must move. */
static void plan_setting(const setting *self, const slc_job *job, slc_plan *plan) {
    const slc_plan_request request = {.device_budget_bytes = 1 << 28,
                                      .host_budget_bytes = 1 << 28,
                                      .allocation_unit_bytes = 1,
                                      .max_slots = self->max_slots,
                                      .no_tier = true,
                                      .force_tile = {self->tile[0], self->tile[1], self->tile[2]}};
    TEST_OK(slc_plan_make(job, &request, plan));
    /* Row turns fastest, because the image is summed over it, or not at all. */
    const int outer = depth_of(plan, Y) < depth_of(plan, X) ? Y : X;
    const int inner = outer == Y ? X : Y;
    const int64_t n_rows = n_tiles_of(self, ROW);
    const int64_t n_outer = n_tiles_of(self, outer);
    const int64_t n_inner = n_tiles_of(self, inner);
    const int64_t keep_outer = n_inner > 1 ? slc_min_i64(self->keep_outer, n_rows) : 0;
    const bool inner_moves = n_outer > 1 && n_rows * n_inner > 1;
    const int64_t keep_inner = inner_moves ? slc_min_i64(self->keep_inner, n_rows * n_inner) : 0;
    /* With a single row tile it moves only when its own axis turns, so nothing comes round again. */
    const bool has_rows = n_rows > 1;
    if (has_rows) {
        keep(plan, outer == Y ? 0 : 1, keep_outer, n_rows, depth_of(plan, inner));
        const int64_t rows = slc_min_i64(keep_outer * self->tile[ROW], self->extent[ROW]);
        plan->bytes_tier += 8 * rows * self->extent[outer] * (n_inner - 1);
    }
    keep(plan, outer == Y ? 1 : 0, keep_inner, n_rows * n_inner, depth_of(plan, outer));
    plan->bytes_tier += inner_bytes(self, inner, keep_inner) * (n_outer - 1);
    plan->bytes_read -= plan->bytes_tier;
}

static void bind_setting(const setting *self, const test_faults *faults, test_bound_job *bound) {
    test_product_bind(self->extent[ROW], self->extent[Y], self->extent[X], self->tile[ROW], 1,
                      faults, bound);
}

static void run_setting(test_bench *bench, const setting *self, int64_t *n_reads) {
    test_bound_job bound;
    bind_setting(self, NULL, &bound);
    slc_plan plan;
    plan_setting(self, &bound.job, &plan);
    const slc_engine_options options = test_bench_options(bench, bench->fixture.device, &bound);
    slc_engine_report report;
    TEST_OK(slc_engine_run(&bound.job, &plan, &options, &report));
    assert_int_equal(test_product_errors(&bound), 0);
    test_check_report(&plan, &report);
    *n_reads = test_n_reads(&bound);
    test_unbind(&bound);
}

static const setting middle = {
    .extent = {60, 20, 30}, .tile = {8, 8, 8}, .max_slots = 3, .keep_outer = 5, .keep_inner = 20};

static void kept_tiles_are_not_read_again(void **state) {
    test_bench self;
    test_bench_open(state, &self);
    /* 8 row, 3 y and 4 x tiles: 96 reads of a, 96 of b. Of a, 5 of 8 are saved in 3 of 4 turns of x for
     * each of 3 y tiles; of b, 20 of 32 in 2 of 3 turns of y. (Or the same with y and x exchanged.) */
    int64_t n_reads = 0;
    run_setting(&self, &middle, &n_reads);
    const int64_t y_outside = 192 - 5 * 3 * 3 - 20 * 2;
    const int64_t x_outside = 192 - 5 * 2 * 4 - 20 * 3;
    assert_true(n_reads == y_outside || n_reads == x_outside);
    setting none = middle;
    none.keep_outer = none.keep_inner = 0;
    run_setting(&self, &none, &n_reads);
    assert_int_equal(n_reads, 192);
    test_bench_close(&self);
}

static void any_number_of_tiles_may_be_kept(void **state) {
    test_bench self;
    test_bench_open(state, &self);
    uint64_t seed = 42;
    for (int i = 0; i < 40; i++) {
        setting random = {.max_slots = 1 + i % 4,
                          .keep_outer = test_random_below(&seed, 8),
                          .keep_inner = test_random_below(&seed, 30)};
        for (int a = 0; a < 3; a++) {
            random.tile[a] = 1 + test_random_below(&seed, 9);
            random.extent[a] = 1 + test_random_below(&seed, 5 * random.tile[a]);
        }
        int64_t n_reads = 0;
        run_setting(&self, &random, &n_reads);
    }
    test_bench_close(&self);
}

/* The planner's own choice, with host memory for some of what comes round again, or for all. */
static void keeps_what_the_planner_says(void **state) {
    test_bench self;
    test_bench_open(state, &self);
    uint64_t seed = 99;
    int n_kept = 0;
    for (int i = 0; i < 24; i++) {
        const int64_t rows = 8 + test_random_below(&seed, 100);
        const int64_t y = 8 + test_random_below(&seed, 40);
        const int64_t x = 8 + test_random_below(&seed, 40);
        test_bound_job bound;
        test_product_bind(rows, y, x, 8, 4, NULL, &bound);
        slc_plan_request request = {.host_budget_bytes = 1 << 26,
                                    .allocation_unit_bytes = 1,
                                    .reads_in_place = self.fixture.device->has_host_memory};
        slc_plan plan;
        TEST_FAILS(slc_plan_make(&bound.job, &request, &plan), SLC_ERROR_NO_PLAN, "smallest");
        request.device_budget_bytes =
            plan.smallest_device_bytes + test_random_below(&seed, 4 * plan.smallest_device_bytes);
        request.host_budget_bytes =
            plan.smallest_host_bytes + test_random_below(&seed, 8 * (rows * (x + y)));
        request.max_slots = 1 + i % 4;
        TEST_OK(slc_plan_make(&bound.job, &request, &plan));
        n_kept += plan.bytes_tier > 0;
        const slc_engine_options options = test_bench_options(&self, self.fixture.device, &bound);
        slc_engine_report report;
        TEST_OK(slc_engine_run(&bound.job, &plan, &options, &report));
        assert_int_equal(test_product_errors(&bound), 0);
        test_check_report(&plan, &report);
        test_unbind(&bound);
    }
    assert_true(n_kept > 6);
    test_bench_close(&self);
}

/* The kept tile is still being read when the fill that takes it could start, and the other way round:
 * two row tiles, four slots, and reads that end in any order. */
static void cycles_shorter_than_the_ring(void **state) {
    test_bench self;
    test_bench_open(state, &self);
    for (int i = 0; i < 20; i++) {
        const setting shortest = {.extent = {16, 40, 40},
                                  .tile = {8, 4, 4},
                                  .max_slots = 4,
                                  .keep_outer = 1 + i % 2,
                                  .keep_inner = 3};
        int64_t n_reads = 0;
        run_setting(&self, &shortest, &n_reads);
    }
    test_bench_close(&self);
}

static const setting large = {.extent = {1500, 1600, 16},
                              .tile = {600, 800, 8},
                              .max_slots = 2,
                              .keep_outer = 2,
                              .keep_inner = 1};

/* Tiles of a MiB and more are copied, and read where the source allows it, in several pieces. */
static void large_tiles_are_cut_into_pieces(void **state) {
    test_bench self;
    test_bench_open(state, &self);
    int64_t n_reads = 0;
    run_setting(&self, &large, &n_reads);
    /* Row tiles 0 and 1 of a have 3.8 MB, tile 2 has 1.9 MB: each is read in three pieces, for as many
     * threads. The tiles of b are read whole. With y outside, a's second turn of x reads tile 2 alone;
     * with x outside, all of a but its first tile is read twice. */
    const int64_t y_outside = 2 * (3 + 3 + 3 + 3) + (12 - 1);
    const int64_t x_outside = 2 * (3 + 3 + 3) + (3 + 3) + (3 + 3 + 3) + (12 - 4);
    assert_true(n_reads == y_outside || n_reads == x_outside);
    test_bench_close(&self);
}

/* Parts of a source that cuts as it likes: of n rows, part p begins at n · (p / n_parts)². */
static slc_status read_some_rows(slc_source *source, const slc_box *box, void *const *dst, int part,
                                 int n_parts) {
    const int64_t n = box->extent[0];
    const int64_t squares = (int64_t)n_parts * n_parts;
    slc_box rows = *box;
    rows.origin[0] += n * part * part / squares;
    rows.extent[0] = n * (part + 1) * (part + 1) / squares - n * part * part / squares;
    int64_t row_bytes = 8;
    for (int d = 1; d < box->rank; d++) {
        row_bytes *= box->extent[d];
    }
    void *const at[1] = {(char *)dst[0] + (rows.origin[0] - box->origin[0]) * row_bytes};
    return slc_source_read(source, &rows, at);
}

static void tiles_cut_by_their_source_are_kept(void **state) {
    test_bench self;
    test_bench_open(state, &self);
    test_bound_job bound;
    bind_setting(&large, NULL, &bound);
    assert_int_equal(bound.bindings[0].source->shared_rank, 2);
    slc_source_ops cutting = *bound.bindings[0].source->ops;
    cutting.read_part = read_some_rows;
    bound.bindings[0].source->ops = &cutting;
    slc_plan plan;
    plan_setting(&large, &bound.job, &plan);
    assert_true(plan.operand[0].n_tier_tiles > 0);
    const slc_engine_options options = test_bench_options(&self, self.fixture.device, &bound);
    slc_engine_report report;
    TEST_OK(slc_engine_run(&bound.job, &plan, &options, &report));
    assert_int_equal(test_product_errors(&bound), 0);
    test_check_report(&plan, &report);
    test_unbind(&bound);
    test_bench_close(&self);
}

/* A tile function that looks at nothing but rows of its own keeps its state in the mask. */
static uint32_t skip_mask;

static bool touches_by_mask(const void *state, const slc_tile *tile) {
    (void)state;
    const int64_t number =
        tile->origin[ROW] / 4 + tile->origin[Y] / 4 * 3 + tile->origin[X] / 4 * 5;
    return (skip_mask >> (number % 31) & 1) == 0;
}

/* What the product is when the mask's tiles are left out; where all are, the sink keeps its -1. */
static int64_t expected_with_mask(const test_bound_job *bound, int64_t y, int64_t x) {
    int64_t sum = 0;
    bool is_written = false;
    for (int64_t row = 0; row < bound->job.axes[ROW].extent; row++) {
        const slc_tile tile = {.origin = {row / 4 * 4, y / 4 * 4, x / 4 * 4}};
        if (touches_by_mask(NULL, &tile)) {
            is_written = true;
            sum += test_product_a(row, y) * test_product_b(row, x);
        }
    }
    return is_written ? sum : -1;
}

static void skipped_tiles_are_kept_later(void **state) {
    test_bench self;
    test_bench_open(state, &self);
    uint64_t seed = 7;
    for (int i = 0; i < 24; i++) {
        skip_mask = (uint32_t)test_random(&seed);
        const setting some = {.extent = {18, 14, 14},
                              .tile = {4, 4, 4},
                              .max_slots = 1 + i % 4,
                              .keep_outer = 1 + i % 5,
                              .keep_inner = 1 + i % 17};
        test_bound_job bound;
        bind_setting(&some, NULL, &bound);
        bound.job.touches = touches_by_mask;
        slc_plan plan;
        plan_setting(&some, &bound.job, &plan);
        const slc_engine_options options = test_bench_options(&self, self.fixture.device, &bound);
        slc_engine_report report;
        TEST_OK(slc_engine_run(&bound.job, &plan, &options, &report));
        for (int64_t y = 0; y < 14; y++) {
            for (int64_t x = 0; x < 14; x++) {
                assert_int_equal(bound.out[y * 14 + x], expected_with_mask(&bound, y, x));
            }
        }
        assert_true(report.bytes_read + report.bytes_tier <= plan.bytes_read + plan.bytes_tier);
        test_unbind(&bound);
    }
    test_bench_close(&self);
}

static int n_rounds_left;

static slc_status two_more_rounds(void *state, bool *again) {
    (void)state;
    *again = n_rounds_left-- > 0;
    return SLC_OK;
}

/* Inputs may have changed between two rounds. */
static void nothing_is_kept_over_rounds(void **state) {
    test_bench self;
    test_bench_open(state, &self);
    test_bound_job bound;
    bind_setting(&middle, NULL, &bound);
    bound.job.next_round = two_more_rounds;
    n_rounds_left = 2;
    slc_plan plan;
    plan_setting(&middle, &bound.job, &plan);
    const slc_engine_options options = test_bench_options(&self, self.fixture.device, &bound);
    slc_engine_report report;
    TEST_OK(slc_engine_run(&bound.job, &plan, &options, &report));
    assert_int_equal(test_product_errors(&bound), 0);
    assert_int_equal(report.bytes_read, 3 * plan.bytes_read);
    assert_int_equal(report.bytes_tier, 3 * plan.bytes_tier);
    test_unbind(&bound);
    test_bench_close(&self);
}

static slc_status run_on(test_bench *self, slc_device *device, test_bound_job *bound) {
    slc_plan plan;
    plan_setting(&middle, &bound->job, &plan);
    const slc_engine_options options = test_bench_options(self, device, bound);
    slc_engine_report report;
    return slc_engine_run(&bound->job, &plan, &options, &report);
}

static void every_read_may_fail(void **state) {
    test_bench self;
    test_bench_open(state, &self);
    bool passed = false;
    for (int64_t n = 1; !passed; n += 3) {
        const test_faults faults = {.fail_read = n};
        test_bound_job bound;
        bind_setting(&middle, &faults, &bound);
        const slc_status status = run_on(&self, self.fixture.device, &bound);
        passed = status == SLC_OK;
        if (!passed) {
            TEST_FAILS(status, SLC_ERROR_INPUT, "made to fail: read");
        }
        assert_true(n < 200);
        test_unbind(&bound);
    }
    test_bench_close(&self);
}

static void every_copy_may_fail(void **state) {
    test_bench self;
    test_bench_open(state, &self);
    bool passed = false;
    for (int64_t n = 1; !passed; n += 17) {
        const slc_check_options options = {.fail_kind = SLC_CHECK_COPY, .fail_at = n};
        slc_device *check = test_bench_check(&self, &options);
        test_bound_job bound;
        bind_setting(&middle, NULL, &bound);
        const slc_status status = run_on(&self, check, &bound);
        passed = status == SLC_OK;
        if (!passed) {
            TEST_FAILS(status, SLC_ERROR_DEVICE, "copy");
        }
        assert_true(n < 2000);
        assert_int_equal(slc_device_check_alive(check), 0);
        test_unbind(&bound);
        slc_device_destroy(check);
    }
    test_bench_close(&self);
}

static void a_ledger_without_room_refuses(void **state) {
    test_bench self;
    test_bench_open(state, &self);
    test_bound_job bound;
    bind_setting(&middle, NULL, &bound);
    slc_plan plan;
    plan_setting(&middle, &bound.job, &plan);
    const int64_t others = (1ll << 32) - plan.host_peak_bytes + 1;
    TEST_OK(slc_budget_reserve(self.budget, SLC_SPACE_HOST, others, "others"));
    const slc_engine_options options = test_bench_options(&self, self.fixture.device, &bound);
    slc_engine_report report;
    TEST_FAILS(slc_engine_run(&bound.job, &plan, &options, &report), SLC_ERROR_MEMORY,
               "kept tiles");
    slc_budget_release(self.budget, SLC_SPACE_HOST, others);
    test_unbind(&bound);
    test_bench_close(&self);
}

int main(void) {
    const test_case cases[] = {
        TEST_CASE(kept_tiles_are_not_read_again),
        TEST_CASE(any_number_of_tiles_may_be_kept),
        TEST_CASE(keeps_what_the_planner_says),
        TEST_CASE(cycles_shorter_than_the_ring),
        TEST_CASE(large_tiles_are_cut_into_pieces),
        TEST_CASE(tiles_cut_by_their_source_are_kept),
        TEST_CASE(skipped_tiles_are_kept_later),
        TEST_CASE(nothing_is_kept_over_rounds),
        TEST_CASE(every_read_may_fail),
        TEST_CASE(every_copy_may_fail),
        TEST_CASE(a_ledger_without_room_refuses),
    };
    return test_run_everywhere(cases, TEST_COUNT(cases), TEST_ON_HOST);
}
