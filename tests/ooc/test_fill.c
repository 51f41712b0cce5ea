/* Tiles so large that whoever reads one enqueues its copy, too: whatever the scheduler is at, in the
 * tiles' order, no further than the device has room; and when that fails, the run does. */
#include "tests/support/test_runs.h"

#include <stdatomic.h>
#include <time.h>

#include "core/clock.h"

/* Elements of a tile of one column, 640 kB: more than half of what is copied together. */
#define ROWS 80000

#define MOST_WAIT_NS ((int64_t)20 * SLC_NS_PER_S)

/* ---- any device, any speed --------------------------------------------------------------------- */

/* Tiles of one column of a and one of b, of ROWS rows or fewer: an a is used for three tiles. */
static void bind_columns(int64_t n_rows, test_bound_job *bound) {
    test_product_bind(n_rows, 2, 3, ROWS / 2, 1, NULL, bound);
}

static slc_status run_columns(test_bench *self, slc_device *device, int n_slots,
                              test_bound_job *bound) {
    const slc_plan_request request = {.device_budget_bytes = 1 << 26,
                                      .host_budget_bytes = 1 << 26,
                                      .allocation_unit_bytes = 1,
                                      .max_slots = n_slots,
                                      .force_tile = {ROWS, 1, 1},
                                      .reads_in_place = device->has_host_memory};
    slc_plan plan;
    slc_engine_report report;
    TEST_OK(slc_plan_make(&bound->job, &request, &plan));
    const slc_engine_options options = test_bench_options(self, device, bound);
    SLC_TRY(slc_engine_run(&bound->job, &plan, &options, &report));
    assert_int_equal(plan.n_slots, n_slots);
    test_check_report(&plan, &report);
    return SLC_OK;
}

/* Where copies are delayed (the checking device), one that does not wait for room, or that is not
 * waited for, shows in the sums. */
static void every_row_arrives(void **state) {
    test_bench self;
    test_bench_open(state, &self);
    for (int n_slots = 1; n_slots <= 4; n_slots++) {
        test_bound_job bound;
        bind_columns(5 * ROWS / 2, &bound);
        TEST_OK(run_columns(&self, self.fixture.device, n_slots, &bound));
        assert_int_equal(test_product_errors(&bound), 0);
        test_unbind(&bound);
    }
    test_bench_close(&self);
}

static void any_copy_or_event_may_fail(void **state) {
    test_bench self;
    test_bench_open(state, &self);
    const slc_check_kind kinds[] = {SLC_CHECK_COPY, SLC_CHECK_EVENT};
    for (int64_t k = 0; k < TEST_COUNT(kinds); k++) {
        int64_t n = 0;
        for (bool is_over = false; !is_over;) {
            const slc_check_options options = {.fail_kind = kinds[k], .fail_at = ++n};
            slc_device *check = test_bench_check(&self, &options);
            test_bound_job bound;
            bind_columns(ROWS, &bound);
            const slc_status status = run_columns(&self, check, 3, &bound);
            is_over = status == SLC_OK;
            if (!is_over) {
                TEST_FAILS(status, SLC_ERROR_DEVICE, "as it was told to");
            }
            assert_true(is_over == (slc_device_check_calls(check, kinds[k]) < n));
            assert_true(!is_over || test_product_errors(&bound) == 0);
            assert_int_equal(slc_device_check_alive(check), 0);
            test_unbind(&bound);
            slc_device_destroy(check);
        }
        assert_true(n > 12); /* descriptions, two of a, three of b, six outputs */
    }
    test_bench_close(&self);
}

/* ---- a scheduler that is busy ------------------------------------------------------------------ */

enum { N_SLOTS = 4, N_TILES = 7, TILE_BYTES = 8 * ROWS, N_BYTES = N_TILES * TILE_BYTES };

/* The scheduler stays in the first tile's function until so many copies have been asked for, and
 * tiles from the second on are read only then: so nobody but a reader can have asked. */
typedef struct busy_run {
    slc_source source;
    slc_device *check;
    const uint8_t *from; /* [N_BYTES] */
    int64_t n_awaited;
    atomic_bool is_in_tile;
    int n_tiles; /* enqueued so far */
} busy_run;

static slc_status wait_until(const busy_run *self, bool (*is_so)(const busy_run *self)) {
    const int64_t begin_ns = slc_clock_ns();
    while (!is_so(self)) {
        if (slc_clock_ns() - begin_ns > MOST_WAIT_NS) {
            return SLC_FAIL(SLC_ERROR_INTERNAL, "waited in vain");
        }
        (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return SLC_OK;
}

static bool is_in_tile(const busy_run *self) {
    return atomic_load(&self->is_in_tile);
}

static bool are_copied(const busy_run *self) {
    return slc_device_check_calls(self->check, SLC_CHECK_COPY) >= self->n_awaited;
}

static slc_status read_late(slc_source *source, const slc_box *box, void *const *dst) {
    const busy_run *self = (const busy_run *)source;
    if (box->origin[0] > 0) {
        SLC_TRY(wait_until(self, is_in_tile));
    }
    memcpy(dst[0], self->from + box->origin[0], (size_t)box->extent[0]);
    return SLC_OK;
}

static const slc_source_ops late_ops = {.read = read_late};

static slc_status enqueue_late(void *state, const slc_tile_arguments *arguments) {
    busy_run *self = state;
    if (self->n_tiles++ == 0) {
        atomic_store(&self->is_in_tile, true);
        SLC_TRY(wait_until(self, are_copied));
    }
    return slc_stream_copy(arguments->stream, arguments->d_operand[1], arguments->d_operand[0],
                           slc_layout_bytes(&arguments->layout[0]), SLC_COPY_ON_DEVICE);
}

static slc_job busy_job(busy_run *self) {
    slc_job job = {.name = "copy",
                   .n_axes = 1,
                   .axes = {{"byte", N_BYTES, TILE_BYTES, SLC_AXIS_PARALLEL}},
                   .n_operands = 2,
                   .operands = {{.name = "in", .access = SLC_ACCESS_IN, .rank = 1},
                                {.name = "out", .access = SLC_ACCESS_OUT, .rank = 1}},
                   .tile = enqueue_late,
                   .state = self};
    job.operands[0].dtype = SLC_U8;
    job.operands[1].dtype = SLC_U8;
    return job;
}

/* Runs it into `to` [N_BYTES]. */
static slc_status run_busy(test_bench *self, busy_run *busy, uint8_t *to) {
    const slc_job job = busy_job(busy);
    const slc_plan_request request = {.device_budget_bytes = 1 << 26,
                                      .host_budget_bytes = 1 << 26,
                                      .allocation_unit_bytes = 1,
                                      .force_tile = {TILE_BYTES},
                                      .max_slots = N_SLOTS};
    slc_plan plan;
    slc_binding bindings[2] = {{.source = &busy->source}};
    TEST_OK(slc_plan_make(&job, &request, &plan));
    assert_int_equal(plan.n_slots, N_SLOTS);
    plan.uses_graphs = false; /* so that copies on the device are counted */
    busy->source.ops = &late_ops;
    busy->source.shared_rank = 1;
    busy->source.n_fields = 1;
    TEST_OK(slc_job_full_layout(&job, 0, &busy->source.fields[0]));
    TEST_OK(slc_sink_create_memory("out", &busy->source.fields[0], to, &bindings[1].sink));
    const slc_engine_options options = {.device = busy->check,
                                        .pool = self->fixture.pool,
                                        .budget = self->budget,
                                        .bindings = bindings};
    slc_engine_report report;
    const slc_status status = slc_engine_run(&job, &plan, &options, &report);
    assert_int_equal(slc_device_check_alive(busy->check), 0);
    slc_device_destroy(busy->check);
    slc_sink_destroy(bindings[1].sink);
    return status;
}

/* The tiles' descriptions, and a copy into each line. */
static void readers_copy_while_the_scheduler_is_busy(void **state) {
    test_bench self;
    test_bench_open(state, &self);
    static uint8_t from[N_BYTES];
    static uint8_t to[N_BYTES];
    test_fill(from, N_BYTES, 7);
    const slc_check_options options = {.delay_us = 20};
    busy_run busy = {.check = test_bench_check(&self, &options),
                     .from = from,
                     .n_awaited = 1 + N_SLOTS};
    TEST_OK(run_busy(&self, &busy, to));
    assert_memory_equal(from, to, N_BYTES);
    test_bench_close(&self);
}

static void a_copy_that_a_reader_cannot_enqueue_ends_the_run(void **state) {
    test_bench self;
    test_bench_open(state, &self);
    static uint8_t from[N_BYTES];
    static uint8_t to[N_BYTES];
    for (int64_t n = 3; n <= 1 + N_SLOTS; n++) {
        const slc_check_options options = {.fail_kind = SLC_CHECK_COPY, .fail_at = n};
        busy_run busy = {.check = test_bench_check(&self, &options), .from = from, .n_awaited = n};
        char words[32];
        (void)snprintf(words, sizeof words, "fails copy %lld", (long long)n);
        TEST_FAILS(run_busy(&self, &busy, to), SLC_ERROR_DEVICE, words);
        assert_true(busy.n_tiles < N_TILES);
    }
    test_bench_close(&self);
}

int main(void) {
    const test_case cases[] = {
        TEST_CASE(every_row_arrives),
        TEST_CASE(any_copy_or_event_may_fail),
        TEST_CASE(readers_copy_while_the_scheduler_is_busy),
        TEST_CASE(a_copy_that_a_reader_cannot_enqueue_ends_the_run),
    };
    return test_run_everywhere(cases, TEST_COUNT(cases), TEST_ON_HOST);
}
