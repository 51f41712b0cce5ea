#include "tests/support/test_stages.h"

#include "core/hash.h"

typedef struct stopper {
    test_attempt *attempt;
    int64_t n_left;
    volatile int cancel;
} stopper;

static void count_tile(void *context, int64_t done_tiles, int64_t n_tiles) {
    stopper *self = context;
    (void)done_tiles;
    (void)n_tiles;
    self->attempt->n_tiles++;
    if (self->attempt->at_tile != NULL) {
        self->attempt->at_tile(self->attempt->context, self->attempt->n_tiles);
    }
    if (self->n_left > 0 && --self->n_left == 0) {
        self->cancel = 1;
    }
}

static slc_status run_stage(const test_stages *self, int stage, uint64_t *seed, stopper *stop,
                            slc_checkpoint *checkpoint) {
    test_bound_job bound;
    self->bind(stage, &bound);
    slc_execution execution = {.request = {.device_budget_bytes = 1 << 24,
                                           .host_budget_bytes = 1 << 24,
                                           .allocation_unit_bytes = 1},
                               .engine = {.device = self->device,
                                          .pool = self->pool,
                                          .budget = self->budget,
                                          .bindings = bound.bindings,
                                          .progress = count_tile,
                                          .progress_context = stop,
                                          .cancel = &stop->cancel},
                               .checkpoint = checkpoint};
    for (int a = 0; a < bound.job.n_axes; a++) {
        execution.request.force_tile[a] = self->granule * (1 + test_random_below(seed, 4));
    }
    execution.request.max_slots = 1 + (int)test_random_below(seed, 4);
    slc_plan plan;
    slc_engine_report report;
    const slc_status status = slc_execute(&bound.job, &execution, &plan, &report);
    if (status == SLC_OK) {
        stop->attempt->n_errors += self->errors(stage, &bound);
    }
    self->unbind(&bound);
    return status;
}

slc_status test_stages_run(const test_stages *self, test_attempt *attempt) {
    const slc_checkpoint_options options = {.path = self->path,
                                            .every_seconds = attempt->every_seconds,
                                            .resume = attempt->resume,
                                            .overwrite = attempt->overwrite,
                                            .budget = self->budget,
                                            .log = self->log};
    slc_fingerprint print = {0};
    slc_fingerprint_add_text(&print, "command", "test");
    slc_fingerprint_add_text(&print, "parameter",
                             attempt->parameter != NULL ? attempt->parameter : "1");
    slc_checkpoint *checkpoint = NULL;
    stopper stop = {.attempt = attempt, .n_left = attempt->stop_after};
    uint64_t seed = attempt->seed;
    slc_status status = SLC_OK;
    attempt->n_errors = 0;
    attempt->n_tiles = 0;
    SLC_TRY_GOTO(done, slc_checkpoint_create(&options, &checkpoint));
    SLC_TRY_GOTO(done, slc_checkpoint_begin(checkpoint, &print, self->client));
    for (int stage = 0; stage < self->n_stages; stage++) {
        SLC_TRY_GOTO(done, run_stage(self, stage, &seed, &stop, checkpoint));
    }
    SLC_TRY_GOTO(done, slc_checkpoint_finish(checkpoint));
done:
    attempt->n_states = slc_checkpoint_count(checkpoint);
    attempt->is_resumed = slc_checkpoint_is_resumed(checkpoint);
    slc_checkpoint_destroy(checkpoint);
    slc_fingerprint_destroy(&print);
    return status;
}

void test_stages_bind(int stage, test_bound_job *out) {
    if (stage == 1) {
        test_turn_bind(17, 11, 4, NULL, out);
    } else {
        test_product_bind(25 + 8 * stage, 9, 14, 4, 4, NULL, out);
    }
}

int64_t test_stages_errors(int stage, const test_bound_job *bound) {
    return stage == 1 ? test_turn_errors(bound) : test_product_errors(bound);
}

void test_stages_open(void **state, test_stages_bench *out) {
    if (!slci_hash_is_built()) {
        TEST_SKIP("this build has no xxHash, and so no checkpoints");
    }
    memset(out, 0, sizeof *out);
    test_fixture_open(*state, &out->fixture);
    TEST_OK(slc_budget_create(1ll << 32, 1ll << 32, &out->budget));
    test_directory_create(out->directory);
    test_join(out->directory, "state", out->path);
    test_join(out->directory, "state.journal", out->journal);
    out->stages = (test_stages){.device = out->fixture.device,
                                .pool = out->fixture.pool,
                                .budget = out->budget,
                                .path = out->path,
                                .n_stages = 3,
                                .granule = 4,
                                .bind = test_stages_bind,
                                .unbind = test_unbind,
                                .errors = test_stages_errors};
}

void test_stages_close(test_stages_bench *self) {
    assert_int_equal(slc_budget_get(self->budget, SLC_SPACE_DEVICE).used_bytes, 0);
    assert_int_equal(slc_budget_get(self->budget, SLC_SPACE_HOST).used_bytes, 0);
    slc_budget_destroy(self->budget);
    test_directory_remove(self->directory);
    test_fixture_close(&self->fixture);
}
