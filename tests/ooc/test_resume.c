/* Runs that are stopped anywhere and go on under other plans. The jobs beside product and turn are
 * made so that what is easily forgotten shows: "sums" has two updates of which one lacks an axis;
 * "scan" carries a state along an ordered axis, which `enter` sets to zero; "rounds" runs three times
 * over what it keeps. */
#include "tests/support/test_stages.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/hash.h"

/* ---- jobs ------------------------------------------------------------------------------------ */

typedef struct call {
    const slc_tile *tile;
    int64_t *operand[4];
    int64_t stride[4]; /* elements from row to row */
    int64_t round;
} call;

static int64_t round_now; /* of the job "rounds": what its client keeps */

static call make_call(const slc_tile_arguments *arguments) {
    call c = {.tile = arguments->d_tile, .round = round_now};
    for (int o = 0; o < 4; o++) {
        c.operand[o] = arguments->d_operand[o];
        const slc_layout *layout = &arguments->layout[o];
        c.stride[o] = layout->rank == 2 ? layout->shape[1] : 1;
    }
    return c;
}

static slc_operand operand_of(const char *name, slc_access access, int rank, int axis_0,
                              int axis_1) {
    slc_operand operand = {.name = name, .dtype = SLC_I64, .access = access, .rank = rank};
    operand.axes[0] = axis_0;
    operand.axes[1] = axis_1;
    return operand;
}

/* C(i, j) = Σ_k in(i, j) (k + 1); D(i) = Σ_jk in(i, j) (k + 1). Axes i, j, k. */
static slc_status sums_run(void *argument) {
    const call *c = argument;
    for (int64_t i = 0; i < c->tile->extent[0]; i++) {
        for (int64_t j = 0; j < c->tile->extent[1]; j++) {
            for (int64_t k = 0; k < c->tile->extent[2]; k++) {
                const int64_t value =
                    c->operand[0][i * c->stride[0] + j] * (c->tile->origin[2] + k + 1);
                c->operand[1][i * c->stride[1] + j] += value;
                c->operand[2][i] += value;
            }
        }
    }
    return SLC_OK;
}

/* out(j, t) = Σ_{t' <= t} in(j, t'). Axes j, t; state(j). */
static slc_status scan_run(void *argument) {
    const call *c = argument;
    for (int64_t j = 0; j < c->tile->extent[0]; j++) {
        for (int64_t t = 0; t < c->tile->extent[1]; t++) {
            c->operand[2][j] += c->operand[0][j * c->stride[0] + t];
            c->operand[1][j * c->stride[1] + t] = c->operand[2][j];
        }
    }
    return SLC_OK;
}

static slc_status scan_clear(void *argument) {
    const call *c = argument;
    for (int64_t j = 0; j < c->tile->extent[0]; j++) {
        c->operand[2][j] = 0;
    }
    return SLC_OK;
}

/* kept(i, j) += in(i, j) in every round, 0 before the first; out = kept. */
static slc_status rounds_run(void *argument) {
    const call *c = argument;
    for (int64_t i = 0; i < c->tile->extent[0]; i++) {
        for (int64_t j = 0; j < c->tile->extent[1]; j++) {
            /* The kept array is whole: its tile begins at the array's first element. */
            int64_t *kept =
                &c->operand[2][(c->tile->origin[0] + i) * c->stride[2] + c->tile->origin[1] + j];
            *kept = (c->round == 0 ? 0 : *kept) + c->operand[0][i * c->stride[0] + j];
            c->operand[1][i * c->stride[1] + j] = *kept;
        }
    }
    return SLC_OK;
}

#define TILE_FUNCTION(name, run)                                               \
    static slc_status name(void *state, const slc_tile_arguments *arguments) { \
        const call c = make_call(arguments);                                   \
        (void)state;                                                           \
        return slc_stream_call(arguments->stream, run, &c, (int64_t)sizeof c); \
    }
TILE_FUNCTION(sums_tile, sums_run)
TILE_FUNCTION(scan_tile, scan_run)
TILE_FUNCTION(rounds_tile, rounds_run)

static slc_status scan_enter(void *state, int axis, const slc_tile_arguments *arguments) {
    const call c = make_call(arguments);
    (void)state;
    return axis == 0 ? slc_stream_call(arguments->stream, scan_clear, &c, (int64_t)sizeof c)
                     : SLC_OK;
}

static slc_status rounds_next(void *state, bool *again) {
    (void)state;
    round_now++;
    *again = round_now < 3;
    return SLC_OK;
}

enum { SUMS, SCAN, ROUNDS, N_SPECIAL };

static slc_job special_job(int which) {
    slc_job job = {.n_axes = 2, .n_operands = 3};
    const char *const names[N_SPECIAL] = {"sums", "scan", "rounds"};
    job.name = names[which];
    job.operands[0] = operand_of("in", SLC_ACCESS_IN, 2, 0, 1);
    const slc_axis_kind kinds[N_SPECIAL] = {SLC_AXIS_REDUCED, SLC_AXIS_ORDERED, SLC_AXIS_PARALLEL};
    job.axes[0] = (slc_axis){"i", 22, 2, SLC_AXIS_PARALLEL};
    job.axes[1] = (slc_axis){"j", 19, 2, kinds[which]};
    if (which == SUMS) {
        job.n_axes = 3;
        job.axes[2] = (slc_axis){"k", 12, 2, SLC_AXIS_REDUCED};
        job.tile = sums_tile;
        job.operands[1] = operand_of("C", SLC_ACCESS_UPDATE, 2, 0, 1);
        job.operands[2] = operand_of("D", SLC_ACCESS_UPDATE, 1, 0, 0);
        return job;
    }
    job.operands[1] = operand_of("out", SLC_ACCESS_OUT, 2, 0, 1);
    if (which == SCAN) {
        job.tile = scan_tile;
        job.enter = scan_enter;
        job.operands[2] = operand_of("state", SLC_ACCESS_WORK, 1, 0, 0);
    } else {
        job.tile = rounds_tile;
        job.next_round = rounds_next;
        job.operands[2] = operand_of("kept", SLC_ACCESS_WORK, 2, SLC_AXIS_FIXED, SLC_AXIS_FIXED);
        job.operands[2].fixed_extent[0] = 22;
        job.operands[2].fixed_extent[1] = 19;
    }
    job.operands[2].keeps_state = true;
    return job;
}

static int64_t element(int64_t i, int64_t j) {
    return i * 37 % 101 + j * 11 % 53;
}

/* The bound job has no state of its own; its arrays hang off `data`. */
static void bind_special(int which, test_bound_job *out) {
    *out = (test_bound_job){.job = special_job(which)};
    slc_layout layout;
    TEST_OK(slc_job_full_layout(&out->job, 0, &layout));
    out->data[0] = test_allocate(slc_layout_bytes(&layout));
    for (int64_t k = 0; k < slc_layout_count(&layout); k++) {
        out->data[0][k] = element(k / 19, k % 19);
    }
    TEST_OK(slc_source_create_memory("in", &layout, out->data[0], &out->bindings[0].source));
    out->out = test_allocate(slc_layout_bytes(&layout));
    memset(out->out, 0xff, (size_t)slc_layout_bytes(&layout));
    TEST_OK(slc_sink_create_memory("out", &layout, out->out, &out->bindings[1].sink));
    if (which == SUMS) {
        TEST_OK(slc_job_full_layout(&out->job, 2, &layout));
        out->data[1] = test_allocate(slc_layout_bytes(&layout));
        memset(out->data[1], 0xff, (size_t)slc_layout_bytes(&layout));
        TEST_OK(slc_sink_create_memory("D", &layout, out->data[1], &out->bindings[2].sink));
    }
}

static int64_t special_errors(int which, const test_bound_job *bound) {
    int64_t n_errors = 0;
    for (int64_t i = 0; i < 22; i++) {
        int64_t row = 0;
        for (int64_t j = 0; j < 19; j++) {
            row += element(i, j);
            const int64_t expected = which == SUMS   ? 78 * element(i, j) /* 1 + … + 12 */
                                     : which == SCAN ? row
                                                     : 3 * element(i, j);
            n_errors += bound->out[i * 19 + j] != expected;
        }
        n_errors += which == SUMS && bound->data[1][i] != 78 * row;
    }
    return n_errors;
}

#define SPECIAL(name, which)                                               \
    static void name##_bind(int stage, test_bound_job *out) {              \
        (void)stage;                                                       \
        bind_special(which, out);                                          \
    }                                                                      \
    static int64_t name##_errors(int stage, const test_bound_job *bound) { \
        (void)stage;                                                       \
        return special_errors(which, bound);                               \
    }
SPECIAL(sums, SUMS)
SPECIAL(scan, SCAN)
SPECIAL(rounds, ROUNDS)

/* The round is the host's state of the job "rounds". */
static int64_t round_bytes(void *context) {
    (void)context;
    return (int64_t)sizeof round_now;
}

static void round_save(void *context, void *out) {
    (void)context;
    memcpy(out, &round_now, sizeof round_now);
}

static slc_status round_load(void *context, const void *data, int64_t n_bytes) {
    (void)context;
    assert_int_equal(n_bytes, sizeof round_now);
    memcpy(&round_now, data, sizeof round_now);
    return SLC_OK;
}

static const slc_checkpoint_client round_client = {.bytes = round_bytes,
                                                   .save = round_save,
                                                   .load = round_load};

/* ---- stopping -------------------------------------------------------------------------------- */

/* Stopped once, after so many tiles, for `step` numbers apart, and resumed under another plan. */
static void stop_everywhere(const test_stages_bench *self, int64_t step) {
    for (int64_t n = 1;; n += step) {
        round_now = 0;
        test_attempt a = {.seed = 3 + (uint64_t)n, .stop_after = n};
        const slc_status status = test_stages_run(&self->stages, &a);
        if (status == SLC_OK) {
            break;
        }
        TEST_FAILS(status, SLC_ERROR_INTERRUPTED, "--resume");
        assert_int_equal(test_directory_count(self->directory), 2);
        round_now = 0;
        test_attempt b = {.seed = 100 + (uint64_t)n, .resume = true};
        TEST_OK(test_stages_run(&self->stages, &b));
        assert_true(b.is_resumed);
        assert_int_equal(b.n_errors, 0);
        assert_int_equal(test_directory_count(self->directory), 0);
    }
}

/* Stopped again and again, every time under another plan, until it comes through. */
static void stop_many_times(const test_stages_bench *self, int n_rounds) {
    uint64_t random = 5;
    for (int round = 0; round < n_rounds; round++) {
        bool is_done = false;
        for (int k = 0; !is_done; k++) {
            round_now = 0;
            test_attempt a = {.seed = test_random(&random),
                              .stop_after = 1 + test_random_below(&random, 12),
                              .every_seconds = test_random_below(&random, 8) == 0 ? 1e-9 : 0,
                              .resume = k > 0};
            const slc_status status = test_stages_run(&self->stages, &a);
            is_done = status == SLC_OK;
            if (is_done) {
                assert_int_equal(a.n_errors, 0);
            } else {
                TEST_FAILS(status, SLC_ERROR_INTERRUPTED, "");
            }
            assert_true(k < 1000);
        }
        assert_int_equal(test_directory_count(self->directory), 0);
    }
}

static void goes_on_from_every_tile(void **state) {
    test_stages_bench self;
    test_stages_open(state, &self);
    stop_everywhere(&self, 2);
    stop_many_times(&self, 3);
    test_stages_close(&self);
}

static void run_special(void **state, void (*bind)(int stage, test_bound_job *out),
                        int64_t (*errors)(int stage, const test_bound_job *bound)) {
    test_stages_bench self;
    test_stages_open(state, &self);
    self.stages.n_stages = 1;
    self.stages.granule = 2;
    self.stages.bind = bind;
    self.stages.errors = errors;
    self.stages.client = &round_client;
    stop_everywhere(&self, 3);
    stop_many_times(&self, 4);
    test_stages_close(&self);
}

static void an_update_that_lacks_an_axis_is_not_torn(void **state) {
    run_special(state, sums_bind, sums_errors);
}

static void a_scan_keeps_its_state(void **state) {
    run_special(state, scan_bind, scan_errors);
}

static void rounds_are_counted(void **state) {
    run_special(state, rounds_bind, rounds_errors);
}

/* ---- killing --------------------------------------------------------------------------------- */

static void die_at(void *context, int64_t n_tiles) {
    if (n_tiles == *(const int64_t *)context) {
        (void)kill(getpid(), SIGKILL);
    }
}

/* In a process of its own, which alone has threads: a fork takes none along. Killed after `n` tiles,
 * 0 for never; returns whether it came through. */
static bool run_and_die(const test_stages *program, uint64_t seed, int64_t n) {
    (void)fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        test_stages stages = *program;
        test_attempt a = {
            .seed = seed, .every_seconds = 1e-9, .resume = true, .at_tile = die_at, .context = &n};
        bool is_right = slc_budget_create(1ll << 32, 1ll << 32, &stages.budget) == SLC_OK &&
                        slc_pool_create(2, &stages.pool) == SLC_OK &&
                        slc_device_create_host(stages.pool, NULL, &stages.device) == SLC_OK;
        is_right = is_right && test_stages_run(&stages, &a) == SLC_OK && a.n_errors == 0;
        _exit(is_right ? 0 : 1);
    }
    int found = 0;
    assert_int_equal(waitpid(child, &found, 0), child);
    const bool is_done = WIFEXITED(found) && WEXITSTATUS(found) == 0;
    assert_true(is_done || (WIFSIGNALED(found) && WTERMSIG(found) == SIGKILL));
    return is_done;
}

static void survives_being_killed(void **state) {
    (void)state;
    if (!slci_hash_is_built()) {
        TEST_SKIP("this build has no xxHash, and so no checkpoints");
    }
    char directory[TEST_PATH_BYTES];
    char path[TEST_PATH_BYTES];
    test_directory_create(directory);
    test_join(directory, "state", path);
    const test_stages program = {.path = path,
                                 .n_stages = 3,
                                 .granule = 4,
                                 .bind = test_stages_bind,
                                 .unbind = test_unbind,
                                 .errors = test_stages_errors};
    uint64_t random = 11;
    for (int k = 0; k < 20; k++) {
        (void)run_and_die(&program, test_random(&random), 1 + test_random_below(&random, 12));
    }
    assert_true(run_and_die(&program, 77, 0));
    assert_int_equal(test_directory_count(directory), 0);
    test_directory_remove(directory);
}

int main(void) {
    const test_case cases[] = {
        TEST_CASE(goes_on_from_every_tile), TEST_CASE(an_update_that_lacks_an_axis_is_not_torn),
        TEST_CASE(a_scan_keeps_its_state),  TEST_CASE(rounds_are_counted),
        TEST_CASE(survives_being_killed),
    };
    return test_run_everywhere(cases, TEST_COUNT(cases), TEST_ON_HOST);
}
