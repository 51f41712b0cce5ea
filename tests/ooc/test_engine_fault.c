/* Every call of every kind fails once, at every place where a run of the engine makes it: with tiles
 * kept in RAM, with sparse data in device memory and mapped, in several rounds, with loops, with a
 * trace. One clear error of the right class within ten seconds, every thread joined, the ledger at zero
 * and nothing left on the device; under the address sanitizer this also shows that nothing leaks.
 * Checkpoints have tests/ooc/test_checkpoint_fault.c. */
#include <unistd.h>

#include "core/device_check.h"
#include "ooc/execute.h"
#include "tests/support/test_belongings.h"
#include "tests/support/test_faults.h"
#include "tests/support/test_jobs.h"

/* A run that takes longer hangs: SIGALRM then ends the program. */
#define MOST_SECONDS 10

typedef struct variant {
    const char *name;
    void (*bind)(const test_faults *faults, test_bound_job *out);
    int64_t (*errors)(const test_bound_job *bound);
    bool (*is_shown)(const slc_plan *plan); /* the plan has what the variant is about */
    int64_t force_tile[SLC_MAX_AXES];
    slc_sparse_choice sparse;
    int n_rounds;
    bool has_trace;
    bool has_no_loops; /* the device; the host looks after each iteration */
} variant;

/* What is made to fail. */
typedef struct fault {
    test_fault call; /* of the library, the n-th; or TEST_FAULT_NONE */
    int64_t n;
    slc_check_options device; /* by a checking device, where fail_at is not 0 */
    test_faults job;          /* by the source, the sink or the tile function */
} fault;

/* ---- variants -------------------------------------------------------------------------------- */

static void bind_product(const test_faults *faults, test_bound_job *out) {
    test_product_bind(32, 12, 8, 4, 4, faults, out);
}

static void bind_take(const test_faults *faults, test_bound_job *out) {
    test_take_bind(5000, 300, 16, faults, out);
}

/* Turning a tile again changes nothing, so the loop runs to its end. */
static void bind_loop(const test_faults *faults, test_bound_job *out) {
    test_turn_bind(14, 10, 4, faults, out);
    slc_job *job = &out->job;
    job->loop_operand = job->n_operands++;
    job->most_iterations = 3;
    job->operands[job->loop_operand] =
        (slc_operand){.name = "state",
                      .dtype = SLC_I64,
                      .access = SLC_ACCESS_WORK,
                      .rank = 1,
                      .axes = {SLC_AXIS_FIXED},
                      .fixed_extent = {sizeof(slc_loop_state) / sizeof(int64_t)}};
}

static bool has_tiles(const slc_plan *plan) {
    return plan->n_tiles > 4;
}

static bool has_tier(const slc_plan *plan) {
    return plan->tier_bytes > 0 && plan->bytes_tier > 0;
}

static bool is_resident(const slc_plan *plan) {
    return plan->operand[0].placement == SLC_PLACE_RESIDENT && plan->mapped_bytes == 0;
}

static bool is_mapped(const slc_plan *plan) {
    return plan->operand[0].placement == SLC_PLACE_MAPPED && plan->mapped_bytes > 0;
}

static bool has_passes(const slc_plan *plan) {
    return plan->n_passes > 1 && plan->tier_bytes == 0;
}

static const variant variants[] = {
    {"tier", bind_product, test_product_errors, has_tier, .force_tile = {8, 4, 4}, .n_rounds = 1},
    {"resident", bind_take, test_take_errors, is_resident, .force_tile = {64},
     .sparse = SLC_SPARSE_RESIDENT, .n_rounds = 1},
    {"mapped", bind_take, test_take_errors, is_mapped, .force_tile = {64},
     .sparse = SLC_SPARSE_MAPPED, .n_rounds = 1},
    {"rounds, with a trace", bind_product, test_product_errors, has_tier, .force_tile = {16, 8, 8},
     .n_rounds = 3, .has_trace = true},
    {"sparse in rounds, with a trace", bind_take, test_take_errors, is_resident,
     .force_tile = {128}, .sparse = SLC_SPARSE_RESIDENT, .n_rounds = 2, .has_trace = true},
    {"loop", bind_loop, test_turn_errors, has_tiles, .force_tile = {4, 4}, .n_rounds = 1},
    {"loop by the host", bind_loop, test_turn_errors, has_tiles, .force_tile = {4, 4},
     .n_rounds = 2, .has_no_loops = true},
    {"no tier", bind_product, test_product_errors, has_passes, .force_tile = {8, 4, 4},
     .n_rounds = 1},
};

static int n_rounds_left; /* of the run; the calling thread's */

static slc_status another_round(void *state, bool *again) {
    (void)state;
    n_rounds_left--;
    *again = n_rounds_left > 0;
    return SLC_OK;
}

/* ---- one run ---------------------------------------------------------------------------------- */

typedef struct world {
    slc_pool *pool;
    slc_device *device;
    slc_budget *budget;
    slc_trace *trace;
} world;

static slc_status world_open(const variant *of, const fault *what, world *self) {
    SLC_TRY(slc_pool_create(2, &self->pool));
    SLC_TRY(slc_device_create_host(self->pool, NULL, &self->device));
    if (what->device.fail_at > 0 || of->has_no_loops) {
        slc_check_options options = what->device;
        options.has_no_loops = of->has_no_loops;
        SLC_TRY(slc_device_create_check(self->device, &options, &self->device));
    }
    SLC_TRY(slc_budget_create(1 << 24, 1 << 24, &self->budget));
    if (of->has_trace) {
        SLC_TRY(slc_trace_create(1 << 16, &self->trace));
        slc_trace_watch(self->trace, self->budget);
    }
    return SLC_OK;
}

/* Nothing is held any more. Returns whether the call of the device that was to fail was made. */
static bool world_close(const fault *what, world *self) {
    bool is_reached = false;
    if (self->budget != NULL) {
        assert_int_equal(slc_budget_get(self->budget, SLC_SPACE_DEVICE).used_bytes, 0);
        assert_int_equal(slc_budget_get(self->budget, SLC_SPACE_HOST).used_bytes, 0);
    }
    if (what->device.fail_at > 0 && self->device != NULL) {
        assert_int_equal(slc_device_check_alive(self->device), 0);
        is_reached =
            slc_device_check_calls(self->device, what->device.fail_kind) >= what->device.fail_at;
    }
    slc_budget_destroy(self->budget);
    slc_trace_destroy(self->trace);
    slc_device_destroy(self->device);
    slc_pool_destroy(self->pool);
    return is_reached;
}

static slc_status execute(const variant *of, const world *self, const test_bound_job *bound) {
    slc_execution execution = {.request = {.device_budget_bytes = 1 << 20,
                                           .host_budget_bytes = 1 << 20,
                                           .allocation_unit_bytes = 1,
                                           .rates = slc_rates_default(SLC_DEVICE_HOST),
                                           .max_slots = 2,
                                           .sparse = of->sparse,
                                           .no_tier = of->is_shown == has_passes},
                               .engine = {.device = self->device,
                                          .pool = self->pool,
                                          .budget = self->budget,
                                          .bindings = bound->bindings,
                                          .trace = self->trace}};
    execution.request.rates.read_bytes_per_s = 1e6; /* so that keeping tiles pays */
    memcpy(execution.request.force_tile, of->force_tile, sizeof of->force_tile);
    slc_plan plan;
    slc_engine_report report;
    n_rounds_left = of->n_rounds;
    SLC_TRY(slc_execute(&bound->job, &execution, &plan, &report));
    assert_true(of->is_shown(&plan));
    assert_int_equal(report.n_tiles, of->n_rounds * plan.n_tiles);
    return SLC_OK;
}

/* `is_reached`: what was to fail was called. */
static slc_status run(const variant *of, const fault *what, bool *is_reached) {
    const test_belongings before = test_belongings_count();
    test_bound_job bound;
    world self = {0};
    of->bind(&what->job, &bound);
    bound.job.next_round = another_round;
    test_fault_arm(what->call, what->n);
    alarm(MOST_SECONDS);
    slc_status status = world_open(of, what, &self);
    if (status == SLC_OK) {
        status = execute(of, &self, &bound);
    }
    *is_reached = world_close(what, &self);
    alarm(0);
    const int64_t n_calls = test_fault_disarm();
    if (what->call != TEST_FAULT_NONE) {
        *is_reached = n_calls >= what->n;
    }
    if (status == SLC_OK) {
        assert_int_equal(of->errors(&bound), 0);
    }
    test_unbind(&bound);
    test_belongings_expect(&before);
    return status;
}

static void check(const variant *of, const char *kind, int64_t n, slc_status found,
                  slc_status expected) {
    const char *const message = slc_status_message();
    const bool is_line = message[0] != '\0' && strchr(message, '\n') == NULL;
    if (found != expected || (found != SLC_OK && !is_line)) {
        fail_msg("%s, %s %lld: found %s (%s), expected %s", of->name, kind, (long long)n,
                 slc_status_name(found), found == SLC_OK ? "" : message, slc_status_name(expected));
    }
}

/* ---- every call ------------------------------------------------------------------------------ */

/* Calls that the library makes. */
static void every_call(void **state) {
    const variant *const of = *state;
    static const struct {
        test_fault kind;
        slc_status expected;
    } kinds[] = {{TEST_FAULT_MEMORY, SLC_ERROR_MEMORY},
                 {TEST_FAULT_THREAD, SLC_ERROR_MEMORY},
                 {TEST_FAULT_SLAB, SLC_OK}}; /* planned again, smaller */
    for (int64_t k = 0; k < TEST_COUNT(kinds); k++) {
        const char *const name = test_fault_name(kinds[k].kind);
        int64_t n = 0;
        for (bool is_reached = true; is_reached;) {
            const fault what = {.call = kinds[k].kind, .n = ++n};
            const slc_status status = run(of, &what, &is_reached);
            check(of, name, n, status, is_reached ? kinds[k].expected : SLC_OK);
        }
        assert_true(n > 1);
        print_message("  %s: %lld calls\n", name, (long long)n - 1);
    }
}

/* Pinned memory falls back to memory that is not, and a slab that is refused is planned again. */
static slc_status expected_of(slc_check_kind kind) {
    return kind == SLC_CHECK_PINNED || kind == SLC_CHECK_ALLOCATE ? SLC_OK
           : kind == SLC_CHECK_MAPPED || kind == SLC_CHECK_STREAM ? SLC_ERROR_MEMORY
                                                                  : SLC_ERROR_DEVICE;
}

/* Calls of the device. */
static void every_device_call(void **state) {
    const variant *const of = *state;
    int64_t n_kinds = 0;
    for (int kind = SLC_CHECK_ALLOCATE; kind < SLC_CHECK_KIND_COUNT; kind++) {
        int64_t n = 0;
        for (bool is_reached = true; is_reached;) {
            const fault what = {.device = {.fail_kind = (slc_check_kind)kind, .fail_at = ++n}};
            const slc_status status = run(of, &what, &is_reached);
            check(of, "device call", n, status,
                  is_reached ? expected_of((slc_check_kind)kind) : SLC_OK);
        }
        n_kinds += n > 1;
    }
    assert_true(n_kinds >= 6);
}

/* The source, the sink and the tile function. */
static void every_part_of_the_job(void **state) {
    const variant *const of = *state;
    const slc_status expected[] = {SLC_ERROR_INPUT, SLC_ERROR_OUTPUT, SLC_ERROR_DEVICE};
    for (int kind = 0; kind < TEST_COUNT(expected); kind++) {
        int64_t n = 0;
        for (bool is_over = false; !is_over;) {
            fault what = {.call = TEST_FAULT_NONE};
            int64_t *const which[] = {&what.job.fail_read, &what.job.fail_write,
                                      &what.job.fail_tile};
            bool is_reached = false;
            *which[kind] = ++n;
            const slc_status status = run(of, &what, &is_reached);
            is_over = status == SLC_OK;
            check(of, "part of the job", n, status, is_over ? SLC_OK : expected[kind]);
        }
        assert_true(n > 2);
    }
}

int main(void) {
    static const struct {
        const char *name;
        CMUnitTestFunction function;
    } parts[] = {{"every call", every_call},
                 {"every device call", every_device_call},
                 {"every part of the job", every_part_of_the_job}};
    enum { N_PARTS = 3, MAX_TESTS = 32 };
    static char names[MAX_TESTS][64];
    static struct CMUnitTest tests[MAX_TESTS];
    size_t n = 0;
    for (int64_t k = 0; k < TEST_COUNT(variants) * N_PARTS; k++) {
        const variant *const of = &variants[k / N_PARTS];
        (void)snprintf(names[n], sizeof names[n], "%s: %s", of->name, parts[k % N_PARTS].name);
        tests[n] = (struct CMUnitTest){.name = names[n],
                                       .test_func = parts[k % N_PARTS].function,
                                       .initial_state = (void *)(uintptr_t)of};
        n++;
    }
    return _cmocka_run_group_tests("faults of the engine", tests, n, NULL, NULL);
}
