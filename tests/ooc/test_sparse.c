/* Sparse inputs in the engine: out[i] = data[index[i]], with `data` in device memory or mapped, brought
 * there in pieces of every size. The source watches what it is asked for. */
#include "tests/support/test_runs.h"

#include <stdatomic.h>

#include "core/arena.h"
#include "core/checked.h"
#include "core/copy.h"

#define N_INDICES 500
#define MOST_ELEMENTS 4000

/* An array in memory that counts how often each element is read. */
typedef struct watched_source {
    slc_source base;
    int64_t data[MOST_ELEMENTS];
    int64_t unit;                   /* along every axis */
    uint8_t n_times[MOST_ELEMENTS]; /* pieces are disjoint, so no two threads share one */
    atomic_int n_reads, n_split;    /* n_split: boxes whose leading dimension cuts a unit */
    int fail_at;
} watched_source;

static slc_status watched_read(slc_source *source, const slc_box *box, void *const *dst) {
    watched_source *self = (watched_source *)source;
    if (atomic_fetch_add(&self->n_reads, 1) + 1 == self->fail_at) {
        return SLC_FAIL(SLC_ERROR_INPUT, "made to fail: read");
    }
    slc_box whole = *box; /* further dimensions are read whole */
    whole.rank = source->fields[0].rank;
    for (int d = box->rank; d < whole.rank; d++) {
        whole.origin[d] = 0;
        whole.extent[d] = source->fields[0].shape[d];
    }
    for (int d = 0; d < box->rank; d++) {
        const int64_t end = box->origin[d] + box->extent[d];
        if (box->extent[d] > 1 && (box->origin[d] % self->unit != 0 ||
                                   (end % self->unit != 0 && end != source->fields[0].shape[d]))) {
            atomic_fetch_add(&self->n_split, 1);
        }
    }
    const slc_layout from = slc_layout_slice(&source->fields[0], &whole);
    slc_layout to;
    SLC_TRY(slc_layout_dense(from.dtype, from.rank, from.shape, &to));
    SLC_TRY(slc_copy_host(dst[0], &to, self->data, &from));
    const int64_t *const read = dst[0];
    for (int64_t i = 0; i < slc_layout_count(&to); i++) {
        self->n_times[read[i] / 3]++;
    }
    return SLC_OK;
}

static int64_t watched_next_unit(slc_source *source, int axis, int64_t index) {
    (void)axis;
    const int64_t unit = ((watched_source *)source)->unit;
    return (index / unit + 1) * unit;
}

static void watched_destroy(slc_source *source) {
    free(source);
}

static const slc_source_ops watched_ops = {.read = watched_read,
                                           .next_unit = watched_next_unit,
                                           .destroy = watched_destroy};

/* One case: the array and how it is cut. */
typedef struct setting {
    int rank;
    int64_t shape[3];
    int shared_rank;
    int64_t unit;
    slc_placement placement;
    int64_t staging_bytes; /* resident: of one of `n_staging` buffers */
    int n_staging;
    bool is_empty; /* there is no index at all */
} setting;

typedef struct take {
    slc_job job;
    slc_binding bindings[3];
    watched_source *data;
    int64_t index[N_INDICES], out[N_INDICES];
} take;

typedef struct take_call {
    const slc_tile *tile;
    const int64_t *data, *index;
    int64_t *out;
} take_call;

static slc_status run_take(void *argument) {
    const take_call *call = argument;
    for (int64_t i = 0; i < call->tile->extent[0]; i++) {
        call->out[i] = call->data[call->index[i]];
    }
    return SLC_OK;
}

static slc_status take_tile(void *state, const slc_tile_arguments *arguments) {
    (void)state;
    const take_call call = {.tile = arguments->d_tile,
                            .data = arguments->d_operand[0],
                            .index = arguments->d_operand[1],
                            .out = arguments->d_operand[2]};
    return slc_stream_call(arguments->stream, run_take, &call, (int64_t)sizeof call);
}

static int64_t n_indices(const setting *self) {
    return self->is_empty ? 0 : N_INDICES;
}

static slc_job take_job(const setting *self) {
    slc_job job = {.name = "take", .n_axes = 1, .n_operands = 3, .tile = take_tile};
    job.axes[0] = (slc_axis){"index", n_indices(self), 16, SLC_AXIS_PARALLEL};
    job.operands[0] = (slc_operand){.name = "data",
                                    .dtype = SLC_I64,
                                    .access = SLC_ACCESS_IN,
                                    .rank = self->rank,
                                    .is_sparse = true,
                                    .touches_per_point = 1};
    for (int d = 0; d < self->rank; d++) {
        job.operands[0].axes[d] = SLC_AXIS_FIXED;
        job.operands[0].fixed_extent[d] = self->shape[d];
    }
    job.operands[1] =
        (slc_operand){.name = "index", .dtype = SLC_I64, .access = SLC_ACCESS_IN, .rank = 1};
    job.operands[2] =
        (slc_operand){.name = "out", .dtype = SLC_I64, .access = SLC_ACCESS_OUT, .rank = 1};
    return job;
}

static int64_t count_of(const setting *self) {
    int64_t n = 1;
    for (int d = 0; d < self->rank; d++) {
        n *= self->shape[d];
    }
    return n;
}

static void take_open(const setting *self, take *out) {
    memset(out, 0, sizeof *out);
    out->job = take_job(self);
    out->data = test_allocate((int64_t)sizeof *out->data);
    memset(out->data, 0, sizeof *out->data);
    const int64_t n = count_of(self);
    assert_true(n <= MOST_ELEMENTS);
    for (int64_t i = 0; i < n; i++) {
        out->data->data[i] = 3 * i + 1;
    }
    out->data->base.ops = &watched_ops;
    out->data->base.shared_rank = self->shared_rank;
    out->data->base.n_fields = 1;
    TEST_OK(slc_layout_dense(SLC_I64, self->rank, self->shape, &out->data->base.fields[0]));
    out->data->unit = self->unit;
    uint64_t seed = 11;
    for (int64_t i = 0; i < N_INDICES; i++) {
        out->index[i] = test_random_below(&seed, n);
    }
    slc_layout list;
    TEST_OK(slc_layout_dense(SLC_I64, 1, (const int64_t[]){n_indices(self)}, &list));
    out->bindings[0].source = &out->data->base;
    TEST_OK(slc_source_create_memory("index", &list, out->index, &out->bindings[1].source));
    TEST_OK(slc_sink_create_memory("out", &list, out->out, &out->bindings[2].sink));
}

static void take_close(take *self) {
    slc_source_destroy(self->bindings[0].source);
    slc_source_destroy(self->bindings[1].source);
    slc_sink_destroy(self->bindings[2].sink);
}

/* A plan for the same job with `data` resident in one piece, changed to what the setting says: pieces
 * of any size can be had, whatever the planner would choose. */
static void plan_by_hand(const setting *self, const take *job, slc_plan *plan) {
    slc_job dense = job->job;
    dense.operands[0].is_sparse = false;
    test_plan_tiles(&dense, 64, 0, 0, plan);
    slc_plan_operand *placed = &plan->operand[0];
    placed->placement = self->placement;
    plan->host_peak_bytes -= slc_arena_cost(placed->staging_bytes) * placed->n_staging;
    placed->staging_bytes = self->staging_bytes;
    placed->n_staging = self->n_staging;
    if (self->placement == SLC_PLACE_MAPPED) {
        placed->n_staging = 0;
        plan->bytes_h2d -= placed->tile_bytes;
        plan->mapped_bytes = placed->tile_bytes;
        plan->host_peak_bytes += plan->mapped_bytes;
    } else {
        plan->host_peak_bytes += slc_arena_cost(placed->staging_bytes) * placed->n_staging;
    }
}

static slc_engine_options options_of(test_bench *bench, slc_device *device, const take *self) {
    const slc_engine_options options = {.device = device,
                                        .pool = bench->fixture.pool,
                                        .budget = bench->budget,
                                        .bindings = self->bindings,
                                        .log = &bench->log};
    return options;
}

static void check_result(const take *self) {
    for (int64_t i = 0; i < N_INDICES; i++) {
        assert_int_equal(self->out[i], 3 * self->index[i] + 1);
    }
}

/* Runs one setting; returns the number of reads. */
static int run_setting(test_bench *bench, const setting *self, int *n_split) {
    take job;
    take_open(self, &job);
    slc_plan plan;
    plan_by_hand(self, &job, &plan);
    const slc_engine_options options = options_of(bench, bench->fixture.device, &job);
    slc_engine_report report;
    TEST_OK(slc_engine_run(&job.job, &plan, &options, &report));
    check_result(&job);
    test_check_report(&plan, &report);
    for (int64_t i = 0; i < count_of(self); i++) {
        assert_int_equal(job.data->n_times[i], 1);
    }
    const int n_reads = atomic_load(&job.data->n_reads);
    *n_split = atomic_load(&job.data->n_split);
    take_close(&job);
    return n_reads;
}

static void resident_in_pieces_of_whole_units(void **state) {
    test_bench bench;
    test_bench_open(state, &bench);
    /* 100 rows of 80 bytes: a staging buffer holds 15 rows, of which 12 are whole units of 4. */
    const setting rows = {.rank = 2,
                          .shape = {100, 10},
                          .shared_rank = 2,
                          .unit = 4,
                          .staging_bytes = 15 * 80 + 7,
                          .n_staging = 2};
    int n_split = 0;
    assert_int_equal(run_setting(&bench, &rows, &n_split), 9);
    assert_int_equal(n_split, 0);
    /* A buffer holds less than a unit: each of the 25 is split in two, and no piece lies in two. */
    setting narrow = rows;
    narrow.staging_bytes = 3 * 80;
    assert_int_equal(run_setting(&bench, &narrow, &n_split), 50);
    /* One row of the leading dimension does not fit: the next one is cut. */
    const setting wide = {.rank = 3,
                          .shape = {3, 50, 8},
                          .shared_rank = 3,
                          .unit = 10,
                          .staging_bytes = 20 * 64,
                          .n_staging = 3};
    assert_int_equal(run_setting(&bench, &wide, &n_split), 3 * 3);
    assert_int_equal(n_split, 0);
    test_bench_close(&bench);
}

static void mapped_without_staging(void **state) {
    test_bench bench;
    test_bench_open(state, &bench);
    const setting rows = {
        .rank = 2, .shape = {100, 10}, .shared_rank = 1, .unit = 4, .placement = SLC_PLACE_MAPPED};
    int n_split = 0;
    assert_int_equal(run_setting(&bench, &rows, &n_split), 1);
    const setting scalar = {.unit = 1, .placement = SLC_PLACE_MAPPED};
    assert_int_equal(run_setting(&bench, &scalar, &n_split), 1);
    test_bench_close(&bench);
}

static void any_shape_in_any_pieces(void **state) {
    test_bench bench;
    test_bench_open(state, &bench);
    uint64_t seed = 5;
    for (int i = 0; i < 60; i++) {
        setting random = {.rank = 1 + i % 3, .unit = 1 + test_random_below(&seed, 6)};
        for (int d = 0; d < random.rank; d++) {
            random.shape[d] = 1 + test_random_below(&seed, 15);
        }
        random.shared_rank = 1 + (int)test_random_below(&seed, random.rank);
        int64_t row_bytes = 8; /* of the fastest dimension that can be cut */
        for (int d = random.shared_rank; d < random.rank; d++) {
            row_bytes *= random.shape[d];
        }
        random.placement = i % 4 == 0 ? SLC_PLACE_MAPPED : SLC_PLACE_RESIDENT;
        random.staging_bytes = row_bytes + test_random_below(&seed, 4 * row_bytes);
        random.n_staging = 1 + (int)test_random_below(&seed, 4);
        int n_split = 0;
        (void)run_setting(&bench, &random, &n_split);
    }
    test_bench_close(&bench);
}

static void a_row_must_fit_a_staging_buffer(void **state) {
    test_bench bench;
    test_bench_open(state, &bench);
    const setting self = {.rank = 2,
                          .shape = {4, 10},
                          .shared_rank = 1,
                          .unit = 1,
                          .staging_bytes = 79,
                          .n_staging = 1};
    take job;
    take_open(&self, &job);
    slc_plan plan;
    plan_by_hand(&self, &job, &plan);
    const slc_engine_options options = options_of(&bench, bench.fixture.device, &job);
    slc_engine_report report;
    TEST_FAILS(slc_engine_run(&job.job, &plan, &options, &report), SLC_ERROR_ARGUMENT, "80 bytes");
    plan.operand[0].n_staging = 0;
    TEST_FAILS(slc_engine_run(&job.job, &plan, &options, &report), SLC_ERROR_ARGUMENT,
               "sparse operand data has 0");
    take_close(&job);
    test_bench_close(&bench);
}

static const setting faulty[] = {
    {.rank = 1, .shape = {1000}, .shared_rank = 1, .unit = 1, .placement = SLC_PLACE_MAPPED},
    {.rank = 1, .shape = {1000}, .shared_rank = 1, .unit = 1, .staging_bytes = 900, .n_staging = 3},
};

static void every_read_may_fail(void **state) {
    test_bench bench;
    test_bench_open(state, &bench);
    for (int64_t s = 0; s < TEST_COUNT(faulty); s++) {
        bool passed = false;
        for (int n = 1; !passed; n++) {
            take job;
            take_open(&faulty[s], &job);
            job.data->fail_at = n;
            slc_plan plan;
            plan_by_hand(&faulty[s], &job, &plan);
            const slc_engine_options options = options_of(&bench, bench.fixture.device, &job);
            slc_engine_report report;
            const slc_status status = slc_engine_run(&job.job, &plan, &options, &report);
            passed = status == SLC_OK;
            if (!passed) {
                TEST_FAILS(status, SLC_ERROR_INPUT, "made to fail: read");
            }
            assert_true(n < 20);
            take_close(&job);
        }
    }
    test_bench_close(&bench);
}

static void every_device_call_may_fail(void **state) {
    test_bench bench;
    test_bench_open(state, &bench);
    for (int kind = SLC_CHECK_ALLOCATE; kind < SLC_CHECK_KIND_COUNT; kind++) {
        int64_t n = 1;
        for (bool passed = kind == SLC_CHECK_PINNED; !passed; n++) {
            const setting *self = &faulty[kind == SLC_CHECK_MAPPED ? 0 : 1];
            const slc_check_options faults = {.fail_kind = (slc_check_kind)kind, .fail_at = n};
            slc_device *check = test_bench_check(&bench, &faults);
            take job;
            take_open(self, &job);
            slc_plan plan;
            plan_by_hand(self, &job, &plan);
            const slc_engine_options options = options_of(&bench, check, &job);
            slc_engine_report report;
            const slc_status status = slc_engine_run(&job.job, &plan, &options, &report);
            passed = status == SLC_OK;
            assert_true(passed || status == SLC_ERROR_DEVICE || status == SLC_ERROR_MEMORY);
            assert_true(passed || strstr(slc_status_message(), "checking device") != NULL);
            assert_true(n < 1000);
            assert_int_equal(slc_device_check_alive(check), 0);
            take_close(&job);
            slc_device_destroy(check);
        }
        assert_true(n > 2 || kind == SLC_CHECK_PINNED || kind == SLC_CHECK_SET);
    }
    test_bench_close(&bench);
}

static void a_ledger_without_room_refuses(void **state) {
    test_bench bench;
    test_bench_open(state, &bench);
    take job;
    take_open(&faulty[0], &job);
    slc_plan plan;
    plan_by_hand(&faulty[0], &job, &plan);
    const int64_t others = (1ll << 32) - plan.host_peak_bytes + 1;
    TEST_OK(slc_budget_reserve(bench.budget, SLC_SPACE_HOST, others, "others"));
    const slc_engine_options options = options_of(&bench, bench.fixture.device, &job);
    slc_engine_report report;
    TEST_FAILS(slc_engine_run(&job.job, &plan, &options, &report), SLC_ERROR_MEMORY,
               "mapped arrays");
    slc_budget_release(bench.budget, SLC_SPACE_HOST, others);
    take_close(&job);
    test_bench_close(&bench);
}

/* Whatever the planner chooses or is told: the result and every counter are as planned. */
static void runs_what_the_planner_places(void **state) {
    test_bench bench;
    test_bench_open(state, &bench);
    const setting self = {.rank = 2, .shape = {50, 60}, .shared_rank = 2, .unit = 7};
    for (int i = 0; i < 24; i++) {
        const slc_sparse_choice choice = (slc_sparse_choice)(i % 3);
        const slc_plan_request request = {.device_budget_bytes = i < 12 ? 30000 : 10000,
                                          .host_budget_bytes = 1 << 20,
                                          .allocation_unit_bytes = 1,
                                          .max_slots = 1 + i % 4,
                                          .sparse = choice};
        take job;
        take_open(&self, &job);
        slc_plan plan;
        const slc_status status = slc_plan_make(&job.job, &request, &plan);
        if (i >= 12 && choice == SLC_SPARSE_RESIDENT) { /* 24,000 bytes of data */
            TEST_FAILS(status, SLC_ERROR_NO_PLAN, "smallest");
            take_close(&job);
            continue;
        }
        TEST_OK(status);
        const bool is_mapped = choice == SLC_SPARSE_MAPPED || i >= 12;
        if (choice != SLC_SPARSE_AUTO || i >= 12) {
            assert_int_equal(plan.operand[0].placement,
                             is_mapped ? SLC_PLACE_MAPPED : SLC_PLACE_RESIDENT);
        }
        const slc_engine_options options = options_of(&bench, bench.fixture.device, &job);
        slc_engine_report report;
        TEST_OK(slc_engine_run(&job.job, &plan, &options, &report));
        check_result(&job);
        test_check_report(&plan, &report);
        take_close(&job);
    }
    test_bench_close(&bench);
}

static void nothing_is_loaded_for_no_tile(void **state) {
    test_bench bench;
    test_bench_open(state, &bench);
    const setting self = {.rank = 1, .shape = {100}, .shared_rank = 1, .unit = 1, .is_empty = true};
    take job;
    take_open(&self, &job);
    slc_plan plan;
    test_plan_tiles(&job.job, 0, 0, 0, &plan);
    const slc_engine_options options = options_of(&bench, bench.fixture.device, &job);
    slc_engine_report report;
    TEST_OK(slc_engine_run(&job.job, &plan, &options, &report));
    test_check_report(&plan, &report);
    assert_int_equal(atomic_load(&job.data->n_reads), 0);
    take_close(&job);
    test_bench_close(&bench);
}

static void cancel_stops_the_load(void **state) {
    test_bench bench;
    test_bench_open(state, &bench);
    take job;
    take_open(&faulty[1], &job);
    slc_plan plan;
    plan_by_hand(&faulty[1], &job, &plan);
    const volatile int cancel = 1;
    slc_engine_options options = options_of(&bench, bench.fixture.device, &job);
    options.cancel = &cancel;
    slc_engine_report report;
    TEST_FAILS(slc_engine_run(&job.job, &plan, &options, &report), SLC_ERROR_INTERRUPTED,
               "interrupted");
    assert_int_equal(atomic_load(&job.data->n_reads), 0);
    take_close(&job);
    test_bench_close(&bench);
}

int main(void) {
    const test_case cases[] = {
        TEST_CASE(resident_in_pieces_of_whole_units),
        TEST_CASE(mapped_without_staging),
        TEST_CASE(any_shape_in_any_pieces),
        TEST_CASE(a_row_must_fit_a_staging_buffer),
        TEST_CASE(every_read_may_fail),
        TEST_CASE(every_device_call_may_fail),
        TEST_CASE(a_ledger_without_room_refuses),
        TEST_CASE(runs_what_the_planner_places),
        TEST_CASE(nothing_is_loaded_for_no_tile),
        TEST_CASE(cancel_stops_the_load),
    };
    return test_run_everywhere(cases, TEST_COUNT(cases), TEST_ON_HOST);
}
