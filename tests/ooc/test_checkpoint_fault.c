/* The N-th call of each kind that writes a checkpoint fails. A run then warns and comes to its result
 * all the same; what it leaves when it is stopped is a whole checkpoint, or none. */
#include "tests/support/test_faults.h"
#include "tests/support/test_stages.h"

/* As many calls as there may be: the loops end when a run makes fewer. */
#define MOST_CALLS 1000

static void count_warnings(void *context, slc_log_level level, const char *text) {
    if (level == SLC_LOG_WARNING) {
        assert_non_null(strstr(text, "the run goes on"));
        ++*(int *)context;
    }
}

/* Whether the failure is one that the run may end with: what it has to do before its first tile. */
static void expect_output_error(slc_status status) {
    assert_int_equal(status, SLC_ERROR_OUTPUT);
    assert_true(slc_status_message()[0] != '\0');
}

static void fail_each(const test_stages_bench *self, test_fault kind, int *n_warnings) {
    int64_t n = 1;
    for (bool fired = true; fired; n += n < 6 ? 1 : 11) {
        test_attempt a = {.seed = 4, .every_seconds = 1e-9, .overwrite = true};
        *n_warnings = 0;
        test_fault_arm(kind, n);
        const slc_status status = test_stages_run(&self->stages, &a);
        fired = test_fault_disarm() >= n;
        if (status == SLC_OK) {
            assert_int_equal(a.n_errors, 0);
            assert_true(*n_warnings <= 1);
            assert_int_equal(test_directory_count(self->directory), 0);
        } else {
            expect_output_error(status);
            assert_int_equal(a.n_tiles, 0);
        }
        assert_true(n < MOST_CALLS);
    }
    assert_true(n > 3);
}

/* The same, and the run is stopped late: what is there then goes on to the right result. */
static void fail_each_and_stop(const test_stages_bench *self, test_fault kind) {
    int64_t n = 1;
    for (bool fired = true; fired; n += 13) {
        test_attempt a = {.seed = 4, .every_seconds = 1e-9, .overwrite = true, .stop_after = 6};
        test_fault_arm(kind, n);
        const slc_status status = test_stages_run(&self->stages, &a);
        fired = test_fault_disarm() >= n;
        assert_true(status == SLC_ERROR_INTERRUPTED || status == SLC_ERROR_OUTPUT);
        if (status == SLC_ERROR_INTERRUPTED && a.n_states > 0) {
            /* Also where the last state is older than the interrupt, because none could be written. */
            assert_non_null(strstr(slc_status_message(), "(--resume), goes on"));
        }
        test_attempt b = {.seed = 5, .resume = true};
        TEST_OK(test_stages_run(&self->stages, &b));
        assert_int_equal(b.n_errors, 0);
        assert_int_equal(test_directory_count(self->directory), 0);
        assert_true(n < MOST_CALLS);
    }
}

static void a_failing_call_is_a_warning(void **state) {
    const test_fault kinds[] = {TEST_FAULT_WRITE, TEST_FAULT_SYNC, TEST_FAULT_RENAME,
                                TEST_FAULT_OPEN_OUTPUT};
    test_stages_bench self;
    test_stages_open(state, &self);
    int n_warnings = 0;
    slc_log log;
    slc_log_init(&log, SLC_LOG_WARNING, count_warnings, &n_warnings);
    self.stages.log = &log;
    self.stages.n_stages = 2;
    test_fault_set_outputs(self.directory);
    for (int64_t k = 0; k < TEST_COUNT(kinds); k++) {
        fail_each(&self, kinds[k], &n_warnings);
        fail_each_and_stop(&self, kinds[k]);
    }
    slc_log_destroy(&log);
    test_stages_close(&self);
}

static void arm_memory(void *context, int64_t n_tiles) {
    if (n_tiles == 1) {
        test_fault_arm(TEST_FAULT_MEMORY, *(const int64_t *)context);
    }
}

/* Between two tiles: the run ends, with a checkpoint to go on with. */
static void memory_may_fail_in_a_run(const test_stages_bench *self) {
    int64_t n = 1;
    for (bool fired = true; fired; n += 5) {
        test_attempt a = {.seed = 4,
                          .every_seconds = 1e-9,
                          .overwrite = true,
                          .at_tile = arm_memory,
                          .context = &n};
        const slc_status status = test_stages_run(&self->stages, &a);
        fired = test_fault_disarm() >= n;
        assert_true(status == SLC_OK || status == SLC_ERROR_MEMORY);
        test_attempt b = {.seed = 5, .resume = true};
        TEST_OK(test_stages_run(&self->stages, &b));
        assert_int_equal(b.n_errors, 0);
        assert_true(n < MOST_CALLS);
    }
    assert_true(n > 3);
}

/* Makes a checkpoint, or goes on with one, and no more. */
static slc_status begin_only(const test_stages_bench *self) {
    const slc_checkpoint_options options = {.path = self->path,
                                            .resume = true,
                                            .budget = self->budget};
    slc_fingerprint print = {0};
    slc_fingerprint_add_text(&print, "command", "test");
    slc_fingerprint_add_text(&print, "parameter", "1");
    slc_checkpoint *checkpoint = NULL;
    slc_status status = slc_checkpoint_create(&options, &checkpoint);
    if (status == SLC_OK) {
        status = slc_checkpoint_begin(checkpoint, &print, NULL);
    }
    slc_checkpoint_destroy(checkpoint);
    slc_fingerprint_destroy(&print);
    return status;
}

static void memory_may_fail_at_the_beginning(const test_stages_bench *self) {
    int64_t n = 1;
    for (bool fired = true; fired; n++) {
        test_fault_arm(TEST_FAULT_MEMORY, n);
        const slc_status status = begin_only(self);
        fired = test_fault_disarm() >= n;
        assert_int_equal(status, fired ? SLC_ERROR_MEMORY : SLC_OK);
        assert_true(n < MOST_CALLS);
    }
    assert_true(n > 3);
}

static void memory_may_fail_anywhere(void **state) {
    test_stages_bench self;
    test_stages_open(state, &self);
    self.stages.n_stages = 1;
    memory_may_fail_in_a_run(&self);
    memory_may_fail_at_the_beginning(&self);
    test_attempt a = {.seed = 4, .stop_after = 3};
    TEST_FAILS(test_stages_run(&self.stages, &a), SLC_ERROR_INTERRUPTED, "--resume");
    memory_may_fail_at_the_beginning(&self);
    test_stages_close(&self);
}

int main(void) {
    const test_case cases[] = {
        TEST_CASE(a_failing_call_is_a_warning),
        TEST_CASE(memory_may_fail_anywhere),
    };
    return test_run_everywhere(cases, TEST_COUNT(cases), TEST_ON_HOST);
}
