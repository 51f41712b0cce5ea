/* Tiles so small that their copies go together: fewer copies than tiles, every byte in its place, and
 * what does not fit together (a last tile that is cut, tiles that lie apart, one slot) goes alone. */
#include "tests/support/test_runs.h"

enum { MOST_BYTES = 200000 };

static slc_status copy_tile(void *state, const slc_tile_arguments *arguments) {
    (void)state;
    return slc_stream_copy(arguments->stream, arguments->d_operand[1], arguments->d_operand[0],
                           slc_layout_bytes(&arguments->layout[0]), SLC_COPY_ON_DEVICE);
}

/* Even tiles only, where asked for. */
static bool every_other(const void *state, const slc_tile *tile) {
    (void)state;
    return tile->origin[0] / tile->extent[0] % 2 == 0;
}

typedef struct copy_run {
    int64_t n_bytes, tile_bytes;
    int n_slots;
    bool skips;
    slc_check_options faults;
} copy_run;

static slc_job copy_job(const copy_run *run) {
    slc_job job = {.name = "copy",
                   .n_axes = 1,
                   .axes = {{"byte", run->n_bytes, run->tile_bytes, SLC_AXIS_PARALLEL}},
                   .n_operands = 2,
                   .operands = {{.name = "in", .access = SLC_ACCESS_IN, .rank = 1},
                                {.name = "out", .access = SLC_ACCESS_OUT, .rank = 1}},
                   .tile = copy_tile,
                   .touches = run->skips ? every_other : NULL};
    job.operands[0].dtype = SLC_U8;
    job.operands[1].dtype = SLC_U8;
    return job;
}

/* Runs it from `from` to `to` on a checking device; how many copies that took, among them one on the
 * device for each tile. */
static slc_status run_copy(test_bench *self, const copy_run *run, const uint8_t *from, uint8_t *to,
                           int64_t *n_copies, slc_plan *plan) {
    const slc_job job = copy_job(run);
    const slc_plan_request request = {.device_budget_bytes = 1 << 24,
                                      .host_budget_bytes = 1 << 24,
                                      .allocation_unit_bytes = 1,
                                      .force_tile = {run->tile_bytes},
                                      .max_slots = run->n_slots};
    slc_layout layout;
    slc_binding bindings[2] = {{.source = NULL}};
    TEST_OK(slc_plan_make(&job, &request, plan));
    plan->uses_graphs = false; /* so that copies on the device are counted */
    TEST_OK(slc_job_full_layout(&job, 0, &layout));
    TEST_OK(slc_source_create_memory("in", &layout, from, &bindings[0].source));
    TEST_OK(slc_sink_create_memory("out", &layout, to, &bindings[1].sink));
    slc_device *check = test_bench_check(self, &run->faults);
    const slc_engine_options options = {.device = check,
                                        .pool = self->fixture.pool,
                                        .budget = self->budget,
                                        .bindings = bindings};
    slc_engine_report report;
    const slc_status status = slc_engine_run(&job, plan, &options, &report);
    if (status == SLC_OK && !run->skips) {
        test_check_report(plan, &report);
    }
    *n_copies = slc_device_check_calls(check, SLC_CHECK_COPY);
    assert_int_equal(slc_device_check_alive(check), 0);
    slc_device_destroy(check);
    slc_source_destroy(bindings[0].source);
    slc_sink_destroy(bindings[1].sink);
    return status;
}

static void every_byte_arrives(void **state) {
    test_bench self;
    test_bench_open(state, &self);
    static uint8_t from[MOST_BYTES];
    static uint8_t to[MOST_BYTES];
    const int64_t tiles[] = {256, 300, 1024, 4096};
    test_fill(from, MOST_BYTES, 5);
    for (int64_t t = 0; t < TEST_COUNT(tiles); t++) {
        for (int n_slots = 1; n_slots <= 16; n_slots += 3) {
            for (int skips = 0; skips <= 1; skips++) {
                const copy_run run = {.n_bytes = 100 * tiles[t] / 4 - 7,
                                      .tile_bytes = tiles[t],
                                      .n_slots = n_slots,
                                      .skips = skips == 1,
                                      .faults = {.delay_us = 20}};
                memset(to, 0xAA, MOST_BYTES);
                int64_t n_copies = 0;
                slc_plan plan;
                TEST_OK(run_copy(&self, &run, from, to, &n_copies, &plan));
                for (int64_t i = 0; i < run.n_bytes; i++) {
                    const bool is_written = skips == 0 || i / tiles[t] % 2 == 0;
                    assert_int_equal(to[i], is_written ? from[i] : 0xAA);
                }
            }
        }
    }
    test_bench_close(&self);
}

/* With 8 slots four tiles leave together, and up to four come together. */
static void fewer_copies_than_tiles(void **state) {
    test_bench self;
    test_bench_open(state, &self);
    static uint8_t from[MOST_BYTES];
    static uint8_t to[MOST_BYTES];
    test_fill(from, MOST_BYTES, 6);
    const copy_run run = {.n_bytes = 160 * 1024, .tile_bytes = 1024, .n_slots = 8};
    int64_t n_copies = 0;
    slc_plan plan;
    TEST_OK(run_copy(&self, &run, from, to, &n_copies, &plan));
    assert_memory_equal(from, to, 160 * 1024);
    assert_int_equal(plan.n_slots, 8);
    assert_int_equal(plan.n_tiles, 160);
    /* One on the device each, 40 out, 10 or more of descriptions, and between 40 and 160 in. */
    assert_true(n_copies >= 160 + 40 + 10 + 40);
    assert_true(n_copies <= 160 + 40 + 20 + 160);
    print_message("%lld copies for 160 tiles\n", (long long)n_copies);
    test_bench_close(&self);
}

/* The N-th copy, event call or creation fails, for every N up to the whole run. */
static void any_call_may_fail(void **state) {
    test_bench self;
    test_bench_open(state, &self);
    static uint8_t from[MOST_BYTES];
    static uint8_t to[MOST_BYTES];
    const slc_check_kind kinds[] = {SLC_CHECK_COPY, SLC_CHECK_EVENT, SLC_CHECK_STREAM};
    for (int64_t k = 0; k < TEST_COUNT(kinds); k++) {
        bool passed = false;
        for (int64_t n = 1; !passed; n++) {
            const copy_run run = {.n_bytes = 24 * 256,
                                  .tile_bytes = 256,
                                  .n_slots = 6,
                                  .faults = {.fail_kind = kinds[k], .fail_at = n}};
            int64_t n_copies = 0;
            slc_plan plan;
            const slc_status status = run_copy(&self, &run, from, to, &n_copies, &plan);
            passed = status == SLC_OK;
            assert_true(passed || status == SLC_ERROR_DEVICE || status == SLC_ERROR_MEMORY);
            assert_true(n < 2000);
        }
    }
    test_bench_close(&self);
}

int main(void) {
    const test_case cases[] = {
        TEST_CASE(every_byte_arrives),
        TEST_CASE(fewer_copies_than_tiles),
        TEST_CASE(any_call_may_fail),
    };
    return test_run_everywhere(cases, TEST_COUNT(cases), TEST_ON_HOST);
}
