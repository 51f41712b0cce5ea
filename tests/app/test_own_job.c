/* slc_own_job_run over the jobs of tests/support/test_jobs.h: device, plan, checkpoint and commit in
 * one call, and what is refused. */
#include "app/own_job.h"

#include <sys/statvfs.h>

#include "core/device_check.h"
#include "core/hash.h"
#include "core/source_null.h"
#include "tests/support/test_runs.h"

/* A sink that only counts. */
typedef struct counting_sink {
    slc_sink base;
    int64_t n_bytes, n_commits;
    bool refuses; /* to commit */
} counting_sink;

static slc_status count_write(slc_sink *sink, const slc_box *box, const void *src) {
    (void)src;
    ((counting_sink *)sink)->n_bytes += slc_box_count(box) * slc_dtype_bytes(sink->layout.dtype);
    return SLC_OK;
}

static slc_status count_commit(slc_sink *sink) {
    counting_sink *self = (counting_sink *)sink;
    self->n_commits++;
    return self->refuses ? SLC_FAIL(SLC_ERROR_OUTPUT, "made to fail: commit") : SLC_OK;
}

static void keep_it(slc_sink *sink) {
    (void)sink;
}

static const slc_sink_ops counting_ops = {.write = count_write,
                                          .commit = count_commit,
                                          .destroy = keep_it};

static const slc_run_options small = {.vram_bytes = 1 << 14,
                                      .ram_bytes = 1 << 24,
                                      .device = SLC_CHOOSE_HOST,
                                      .n_threads = 2};

static slc_own_job own_of(const test_bound_job *bound) {
    return (slc_own_job){.job = bound->job,
                         .tile_on = {[SLC_DEVICE_HOST] = bound->job.tile},
                         .bindings = bound->bindings};
}

static void note_progress(void *context, const char *stage, const char *thing, double done,
                          double total) {
    assert_string_equal(stage, "running");
    assert_string_equal(thing, "tiles");
    assert_true(done <= total);
    *(double *)context = done / total;
}

static void runs_within_its_budgets(void **state) {
    test_bound_job bound;
    slc_own_job_result result;
    double share = 0;
    (void)state;
    test_product_bind(200, 40, 24, 8, 8, NULL, &bound);
    const slc_own_job own = own_of(&bound);
    slc_run_options options = small;
    options.progress = note_progress;
    options.progress_context = &share;
    options.device = SLC_CHOOSE_AUTO; /* there is no tile function for a card */
    TEST_OK(slc_own_job_run(&own, &options, &result));
    assert_int_equal(test_product_errors(&bound), 0);
    assert_true(result.plan.n_tiles > 1 && result.plan.device_peak_bytes <= small.vram_bytes);
    assert_true(result.device_name[0] != '\0');
    assert_true(share == 1);
    test_check_report(&result.plan, &result.report);
    test_unbind(&bound);
}

static void commits_and_dry_runs(void **state) {
    test_bound_job bound;
    slc_own_job_result result = {.device_name = "none"};
    (void)state;
    test_product_bind(64, 16, 16, 8, 8, NULL, &bound);
    counting_sink sink = {.base = {.ops = &counting_ops, .layout = bound.bindings[2].sink->layout}};
    slc_binding bindings[3] = {bound.bindings[0], bound.bindings[1], {.sink = &sink.base}};
    slc_own_job own = own_of(&bound);
    own.bindings = bindings;
    slc_run_options options = small;
    options.dry_run = true;
    TEST_OK(slc_own_job_run(&own, &options, &result));
    assert_true(result.plan.n_tiles > 0);
    assert_int_equal(result.report.n_tiles, 0);
    assert_int_equal(sink.n_bytes + sink.n_commits, 0);
    TEST_OK(slc_own_job_run(&own, &small, &result));
    assert_int_equal(sink.n_bytes, 16 * 16 * 8);
    assert_int_equal(sink.n_commits, 1);
    sink.refuses = true;
    result.device_name[0] = '\0';
    TEST_FAILS(slc_own_job_run(&own, &small, &result), SLC_ERROR_OUTPUT, "commit");
    assert_int_equal(result.device_name[0], '\0'); /* not touched */
    test_unbind(&bound);
}

static void failed_runs_commit_nothing(void **state) {
    const test_faults faults = {.fail_tile = 2};
    test_bound_job bound;
    slc_own_job_result result;
    (void)state;
    test_product_bind(200, 40, 24, 8, 8, &faults, &bound);
    counting_sink sink = {.base = {.ops = &counting_ops, .layout = bound.bindings[2].sink->layout}};
    slc_binding bindings[3] = {bound.bindings[0], bound.bindings[1], {.sink = &sink.base}};
    slc_own_job own = own_of(&bound);
    own.bindings = bindings;
    TEST_FAILS(slc_own_job_run(&own, &small, &result), SLC_ERROR_DEVICE, "made to fail: tile");
    assert_int_equal(sink.n_commits, 0);
    test_unbind(&bound);
}

static void refuses_what_cannot_run(void **state) {
    test_bound_job bound;
    slc_own_job_result result;
    (void)state;
    test_product_bind(64, 16, 16, 8, 8, NULL, &bound);
    slc_own_job own = own_of(&bound);
    slc_run_options options = small;
    options.vram_bytes = 100;
    TEST_FAILS(slc_own_job_run(&own, &options, &result), SLC_ERROR_NO_PLAN, "--vram");
    options = small;
    options.checkpoint_path = "state";
    TEST_FAILS(slc_own_job_run(&own, &options, &result), SLC_ERROR_ARGUMENT, "fingerprint");
    own.tile_on[SLC_DEVICE_HOST] = NULL;
    TEST_FAILS(slc_own_job_run(&own, &small, &result), SLC_ERROR_ARGUMENT, "the host");
    test_unbind(&bound);
}

/* A sink of more bytes than the disk has, all of which the journal would keep. */
static void a_checkpoint_needs_room(void **state) {
    test_place *place = test_place_create(state, "state");
    struct statvfs space;
    slc_fingerprint print = {0};
    slc_own_job_result result;
    if (!slci_hash_is_built()) {
        TEST_SKIP("this build has no xxHash, and so no checkpoints");
    }
    assert_int_equal(statvfs(place->directory, &space), 0);
    const int64_t n = 2 * (int64_t)space.f_bavail * (int64_t)space.f_frsize / 8;
    slc_fingerprint_add_text(&print, "job", "turn");
    counting_sink sink = {.base = {.ops = &counting_ops}};
    slc_source *source = NULL;
    slc_layout in;
    const slc_job job = test_turn_job(1, n, 1 << 10);
    TEST_OK(slc_job_full_layout(&job, 0, &in));
    TEST_OK(slci_source_create_null("in", &in, &source));
    TEST_OK(slc_job_full_layout(&job, 1, &sink.base.layout));
    const slc_binding bindings[] = {{.source = source}, {.sink = &sink.base}};
    const slc_own_job own = {.job = job,
                             .tile_on = {[SLC_DEVICE_HOST] = job.tile},
                             .bindings = bindings,
                             .fingerprint = &print};
    slc_run_options options = small;
    options.vram_bytes = 1 << 24;
    options.checkpoint_path = place->path;
    TEST_FAILS(slc_own_job_run(&own, &options, &result), SLC_ERROR_OUTPUT, "file system");
    assert_int_equal(sink.n_bytes, 0);
    slc_source_destroy(source);
    slc_fingerprint_destroy(&print);
}

/* Stopped after some tiles, and resumed under another budget. */
typedef struct stopper {
    int64_t n_left;
    volatile int cancel;
} stopper;

static void stop_later(void *context, const char *stage, const char *thing, double done,
                       double total) {
    stopper *self = context;
    (void)stage;
    (void)thing;
    (void)done;
    (void)total;
    self->n_left--;
    self->cancel = self->n_left == 0;
}

static void resumes(void **state) {
    test_place *place = test_place_create(state, "state");
    stopper stop = {.n_left = 3};
    slc_fingerprint print = {0};
    test_bound_job bound;
    slc_own_job_result result;
    if (!slci_hash_is_built()) {
        TEST_SKIP("this build has no xxHash, and so no checkpoints");
    }
    slc_fingerprint_add_text(&print, "job", "product");
    test_product_bind(200, 40, 24, 8, 8, NULL, &bound);
    slc_own_job own = own_of(&bound);
    own.fingerprint = &print;
    slc_run_options options = small;
    options.checkpoint_path = place->path;
    options.progress = stop_later;
    options.progress_context = &stop;
    options.cancel = &stop.cancel;
    TEST_FAILS(slc_own_job_run(&own, &options, &result), SLC_ERROR_INTERRUPTED, "--resume");
    assert_int_equal(test_directory_count(place->directory), 2);
    options.progress = NULL;
    options.cancel = NULL;
    options.resume = true;
    options.vram_bytes = 1 << 20;
    TEST_OK(slc_own_job_run(&own, &options, &result));
    assert_int_equal(test_product_errors(&bound), 0);
    assert_int_equal(test_directory_count(place->directory), 0);
    slc_fingerprint_destroy(&print);
    test_unbind(&bound);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_within_its_budgets),
        cmocka_unit_test(commits_and_dry_runs),
        cmocka_unit_test(failed_runs_commit_nothing),
        cmocka_unit_test(refuses_what_cannot_run),
        cmocka_unit_test_teardown(a_checkpoint_needs_room, test_place_destroy),
        cmocka_unit_test_teardown(resumes, test_place_destroy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
