/* Outputs that are stored encoded: a program of several stages is stopped anywhere and gone on with
 * under other tiles, and each of its files has the bytes of an unbroken run, those too that the stages
 * before had written and that tiles cut or left out. */
#include "tests/support/test_fixture.h"

#include "core/hash.h"
#include "io/h5_array.h"
#include "kernels/permute_job.h"
#include "ooc/execute.h"
#include "tests/support/test_rewritten.h"

enum { N_STAGES = 3, N_ROWS = 60, N_COLUMNS = 44, N_SEEDS = 12, MOST_RUNS = 200 };

typedef struct program {
    test_fixture fixture;
    slc_budget *budget;
    char directory[TEST_PATH_BYTES], checkpoint[TEST_PATH_BYTES];
    int32_t data[N_ROWS][N_COLUMNS];
} program;

/* One run of it. */
typedef struct attempt {
    const char *prefix; /* of its files */
    uint64_t random;    /* of its tiles */
    bool has_checkpoint;
    int64_t n_left; /* tiles until it is stopped; 0: never */
    volatile int cancel;
} attempt;

static void path_of(const program *self, const char *prefix, int stage,
                    char path[TEST_PATH_BYTES]) {
    char name[32];
    (void)snprintf(name, sizeof name, "%s%d.h5", prefix, stage);
    test_join(self->directory, name, path);
}

/* Rows of zeros that no tile need bring: the job leaves out tiles that lie in them. They begin and end
 * within chunks. */
static bool is_zero(int64_t row) {
    return row >= 36 && row < 58;
}

static bool touches(const void *state, const slc_tile *tile) {
    (void)state;
    return !is_zero(tile->origin[0]) || !is_zero(tile->origin[0] + tile->extent[0] - 1);
}

static void count_tile(void *context, int64_t done_tiles, int64_t n_tiles) {
    attempt *self = context;
    (void)done_tiles;
    (void)n_tiles;
    if (self->n_left > 0 && --self->n_left == 0) {
        self->cancel = 1;
    }
}

static slc_status run_stage(program *self, attempt *a, slc_checkpoint *checkpoint, slc_sink *out) {
    const slc_permute_request request = {.dtype = SLC_I32,
                                         .rank = 2,
                                         .shape = {N_ROWS, N_COLUMNS},
                                         .order = {0, 1}};
    slc_permute_setup setup;
    slc_plan plan;
    slc_engine_report report;
    slc_source *source = NULL;
    TEST_OK(slc_permute_choose(&request, &setup));
    slc_job job = slc_permute_job(&setup);
    job.touches = touches;
    TEST_OK(slc_source_create_memory("data", &out->layout, self->data, &source));
    const slc_binding bindings[SLC_PERMUTE_N_OPERANDS] = {
        [SLC_PERMUTE_IN] = {.source = source},
        [SLC_PERMUTE_OUT] = {.sink = out},
    };
    slc_execution execution = {.request = {.device_budget_bytes = 1 << 22,
                                           .host_budget_bytes = 1 << 22,
                                           .allocation_unit_bytes = 1},
                               .engine = {.device = self->fixture.device,
                                          .pool = self->fixture.pool,
                                          .budget = self->budget,
                                          .bindings = bindings,
                                          .progress = count_tile,
                                          .progress_context = a,
                                          .cancel = &a->cancel},
                               .checkpoint = checkpoint};
    execution.request.force_tile[0] = 1 + test_random_below(&a->random, 30);
    execution.request.force_tile[1] = 1 + test_random_below(&a->random, N_COLUMNS);
    const slc_status status = slc_execute(&job, &execution, &plan, &report);
    slc_source_destroy(source);
    return status;
}

static void create_sinks(const program *self, const attempt *a, slc_sink *sinks[N_STAGES]) {
    static const char *const filters[N_STAGES] = {"deflate:1", "zstd:1", "bitshuffle-lz4"};
    for (int stage = 0; stage < N_STAGES; stage++) {
        char path[TEST_PATH_BYTES];
        path_of(self, a->prefix, stage, path);
        slc_h5_array_output output = {.path = path,
                                      .dataset = "/x",
                                      .chunk = {16, 11},
                                      .pool = self->fixture.pool,
                                      .overwrite = true};
        const int64_t shape[2] = {N_ROWS, N_COLUMNS};
        TEST_OK(slc_layout_dense(SLC_I32, 2, shape, &output.layout));
        TEST_OK(slc_h5_filter_parse(filters[stage], &output.filter));
        TEST_OK(slc_h5_array_create(&output, &sinks[stage]));
    }
}

/* All sinks are open together, and committed at the end, as they are by a program whose last stage
 * decides whether there is a result. */
static slc_status run(program *self, attempt *a) {
    const slc_checkpoint_options options = {.path = self->checkpoint,
                                            .every_seconds = a->random % 2 == 0 ? 1e-9 : 3600,
                                            .resume = true,
                                            .budget = self->budget};
    slc_fingerprint print = {0};
    slc_checkpoint *checkpoint = NULL;
    slc_sink *sinks[N_STAGES] = {NULL};
    slc_status status = SLC_OK;
    create_sinks(self, a, sinks);
    if (a->has_checkpoint) {
        SLC_TRY_GOTO(done, slc_checkpoint_create(&options, &checkpoint));
        SLC_TRY_GOTO(done, slc_checkpoint_begin(checkpoint, &print, NULL));
    }
    for (int stage = 0; stage < N_STAGES; stage++) {
        SLC_TRY_GOTO(done, run_stage(self, a, checkpoint, sinks[stage]));
    }
    for (int stage = 0; stage < N_STAGES; stage++) {
        SLC_TRY_GOTO(done, slc_sink_commit(sinks[stage]));
    }
    status = slc_checkpoint_finish(checkpoint);
done:
    slc_checkpoint_destroy(checkpoint); /* before its sinks, which must not tell it any more */
    for (int stage = 0; stage < N_STAGES; stage++) {
        slc_sink_destroy(sinks[stage]);
    }
    return status;
}

static void expect_same(const program *self) {
    for (int stage = 0; stage < N_STAGES; stage++) {
        char found[TEST_PATH_BYTES];
        char expected[TEST_PATH_BYTES];
        path_of(self, "broken", stage, found);
        path_of(self, "whole", stage, expected);
        test_expect_same_files(found, expected);
    }
}

static void stopped_anywhere(void **state) {
    program self = {.budget = NULL};
    if (!slci_hash_is_built()) {
        TEST_SKIP("this build has no xxHash, and so no checkpoints");
    }
    test_fixture_open(*state, &self.fixture);
    TEST_OK(slc_budget_create(1 << 22, 1 << 23, &self.budget));
    test_directory_create(self.directory);
    test_join(self.directory, "ck", self.checkpoint);
    for (int64_t row = 0; row < N_ROWS; row++) {
        for (int64_t column = 0; column < N_COLUMNS; column++) {
            const int64_t value = row * N_COLUMNS + column;
            self.data[row][column] = is_zero(row) ? 0 : (int32_t)value;
        }
    }
    attempt whole = {.prefix = "whole", .random = 1};
    TEST_OK(run(&self, &whole));
    for (uint64_t seed = 1; seed <= N_SEEDS; seed++) {
        uint64_t random = seed;
        slc_status status = SLC_ERROR_INTERRUPTED;
        for (int n = 0; status != SLC_OK; n++) {
            attempt a = {.prefix = "broken", .has_checkpoint = true};
            a.random = test_random(&random);
            a.n_left = 1 + test_random_below(&random, 60);
            status = run(&self, &a);
            assert_true(status == SLC_OK || status == SLC_ERROR_INTERRUPTED);
            assert_true(n < MOST_RUNS);
        }
        expect_same(&self);
    }
    assert_int_equal(test_directory_count(self.directory), 2 * N_STAGES);
    test_directory_remove(self.directory);
    slc_budget_destroy(self.budget);
    test_fixture_close(&self.fixture);
}

int main(void) {
    const test_case cases[] = {TEST_CASE(stopped_anywhere)};
    return test_run_everywhere(cases, TEST_COUNT(cases), TEST_ON_HOST);
}
