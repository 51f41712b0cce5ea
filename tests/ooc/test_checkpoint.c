#include "tests/support/test_stages.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static void a_whole_run_leaves_nothing(void **state) {
    test_stages_bench self;
    test_stages_open(state, &self);
    for (uint64_t seed = 0; seed < 4; seed++) {
        test_attempt a = {.seed = seed, .every_seconds = seed % 2 == 0 ? 1e-9 : 0};
        TEST_OK(test_stages_run(&self.stages, &a));
        assert_int_equal(a.n_errors, 0);
        assert_int_equal(test_directory_count(self.directory), 0);
        assert_true(seed % 2 == 0 ? a.n_states > 3 : a.n_states == 0);
    }
    test_stages_close(&self);
}

/* Stops the program after some tiles of its last stage, so that all kinds of blocks are there. */
static void stop_late(const test_stages_bench *self) {
    test_attempt whole = {.seed = 3};
    TEST_OK(test_stages_run(&self->stages, &whole));
    test_attempt a = {.seed = 3, .stop_after = whole.n_tiles - 3};
    TEST_FAILS(test_stages_run(&self->stages, &a), SLC_ERROR_INTERRUPTED, "--resume");
    assert_int_equal(a.n_states, 1);
    assert_int_equal(test_directory_count(self->directory), 2);
}

/* The refusal comes before anything is computed, and leaves the files alone. */
static void expect_refusal(const test_stages_bench *self, const char *words) {
    test_attempt a = {.resume = true};
    TEST_FAILS(test_stages_run(&self->stages, &a), SLC_ERROR_INPUT, words);
    assert_int_equal(a.n_tiles, 0);
    assert_int_equal(test_directory_count(self->directory), 2);
}

static void expect_success(const test_stages_bench *self) {
    test_attempt a = {.seed = 9, .resume = true};
    TEST_OK(test_stages_run(&self->stages, &a));
    assert_true(a.is_resumed);
    assert_int_equal(a.n_errors, 0);
    assert_int_equal(test_directory_count(self->directory), 0);
}

/* Interrupted before the checkpoint is even read, as in a survey: the error itself names it, since
 * nothing else is printed with --quiet. */
static void an_early_interrupt_names_the_checkpoint(void **state) {
    test_stages_bench self;
    test_stages_open(state, &self);
    stop_late(&self);
    slc_budget *budget = NULL;
    TEST_OK(slc_budget_create(0, 1 << 24, &budget));
    const slc_checkpoint_options options = {.path = self.path, .resume = true, .budget = budget};
    slc_checkpoint *checkpoint = NULL;
    TEST_OK(slc_checkpoint_create(&options, &checkpoint));
    slc_status status = SLC_FAIL(SLC_ERROR_INPUT, "damaged");
    TEST_FAILS(slc_checkpoint_explain(checkpoint, status), SLC_ERROR_INPUT, "damaged");
    status = SLC_FAIL(SLC_ERROR_INTERRUPTED, "interrupted while reading");
    TEST_FAILS(slc_checkpoint_explain(checkpoint, status), SLC_ERROR_INTERRUPTED, self.path);
    assert_non_null(strstr(slc_status_message(), "interrupted while reading"));
    slc_checkpoint_destroy(checkpoint);
    slc_budget_destroy(budget);
    expect_success(&self);
    test_stages_close(&self);
}

/* Counts the lines that say how to go on. */
static void count_hints(void *context, slc_log_level level, const char *text) {
    int *n = context;
    (void)level;
    *n += strstr(text, "(--resume), goes on") != NULL ? 1 : 0;
}

static void put_file(const char *path, const char *data, int64_t n_bytes) {
    const int fd = open(path, O_RDWR | O_TRUNC);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, (size_t)n_bytes), n_bytes);
    (void)close(fd);
}

/* Ends before anything was computed: refused by begin in `words`, or without having begun (NULL). */
static void end_early(const test_stages_bench *self, const char *words) {
    slc_checkpoint *checkpoint = NULL;
    slc_fingerprint print = {0};
    const slc_checkpoint_options options = {.path = self->path,
                                            .resume = true,
                                            .budget = self->budget,
                                            .log = self->stages.log};
    slc_fingerprint_add_text(&print, "command", "another");
    TEST_OK(slc_checkpoint_create(&options, &checkpoint));
    if (words != NULL) {
        TEST_FAILS(slc_checkpoint_begin(checkpoint, &print, NULL), SLC_ERROR_INPUT, words);
    }
    slc_checkpoint_destroy(checkpoint);
    slc_fingerprint_destroy(&print);
}

/* A run that ends by an error says how to go on only where there is something to go on with: not of a
 * state that it has not read, of another run's, of an empty one, or of one whose journal is damaged. */
static void only_a_good_state_is_gone_on_with(void **state) {
    test_stages_bench self;
    test_stages_open(state, &self);
    stop_late(&self);
    int n_hints = 0;
    slc_log log;
    slc_log_init(&log, SLC_LOG_NOTE, count_hints, &n_hints);
    self.stages.log = &log;
    end_early(&self, NULL);
    end_early(&self, "another");
    int64_t n_journal = 0;
    int64_t n_state = 0;
    char *journal = test_file_read(self.journal, &n_journal);
    char *whole = test_file_read(self.path, &n_state);
    put_file(self.journal, "", 0);
    expect_refusal(&self, "has 0 bytes");
    put_file(self.journal, journal, n_journal);
    put_file(self.path, "", 0);
    end_early(&self, NULL);
    expect_refusal(&self, "damaged");
    assert_int_equal(n_hints, 0);
    put_file(self.path, whole, n_state);
    free(journal);
    free(whole);

    slc_checkpoint *checkpoint = NULL;
    slc_fingerprint print = {0};
    const slc_checkpoint_options options = {.path = self.path,
                                            .resume = true,
                                            .budget = self.budget,
                                            .log = &log};
    slc_fingerprint_add_text(&print, "command", "test");
    slc_fingerprint_add_text(&print, "parameter", "1");
    TEST_OK(slc_checkpoint_create(&options, &checkpoint));
    TEST_OK(slc_checkpoint_begin(checkpoint, &print, NULL));
    slc_checkpoint_destroy(checkpoint);
    slc_fingerprint_destroy(&print);
    assert_int_equal(n_hints, 1);
    self.stages.log = NULL;
    slc_log_destroy(&log);
    expect_success(&self);
    test_stages_close(&self);
}

/* Nor is an empty file named by a run that is interrupted before it has read it. */
static void an_early_interrupt_names_no_empty_file(void **state) {
    test_stages_bench self;
    test_stages_open(state, &self);
    test_write_below(self.directory, "state", "");
    const slc_checkpoint_options options = {.path = self.path,
                                            .resume = true,
                                            .budget = self.budget};
    slc_checkpoint *checkpoint = NULL;
    TEST_OK(slc_checkpoint_create(&options, &checkpoint));
    slc_status status = SLC_FAIL(SLC_ERROR_INTERRUPTED, "interrupted");
    TEST_FAILS(slc_checkpoint_explain(checkpoint, status), SLC_ERROR_INTERRUPTED, "interrupted");
    assert_null(strstr(slc_status_message(), "--resume"));
    slc_checkpoint_destroy(checkpoint);
    assert_int_equal(test_directory_count(self.directory), 1);
    test_stages_close(&self);
}

static int64_t file_bytes(const char *path) {
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    return (int64_t)info.st_size;
}

static void flip(int fd, int64_t at, unsigned char mask) {
    unsigned char byte = 0;
    assert_int_equal(pread(fd, &byte, 1, (off_t)at), 1);
    byte ^= mask;
    assert_int_equal(pwrite(fd, &byte, 1, (off_t)at), 1);
}

static void every_flipped_byte_is_found(void **state) {
    test_stages_bench self;
    test_stages_open(state, &self);
    stop_late(&self);
    const char *const paths[] = {self.path, self.journal};
    for (int f = 0; f < 2; f++) {
        const int64_t n_bytes = file_bytes(paths[f]);
        const int fd = open(paths[f], O_RDWR);
        assert_true(fd >= 0 && n_bytes > 200);
        for (int64_t at = 0; at < n_bytes; at++) {
            const unsigned char mask = (unsigned char)(1 << at % 8);
            flip(fd, at, mask);
            expect_refusal(&self, paths[f]);
            flip(fd, at, mask);
        }
        (void)close(fd);
    }
    expect_success(&self);
    test_stages_close(&self);
}

/* Cut to `n_bytes`, and put back. */
static void expect_refusal_when_cut(const test_stages_bench *self, const char *path,
                                    int64_t n_bytes) {
    const int64_t whole = file_bytes(path);
    char *data = test_allocate(whole);
    const int fd = open(path, O_RDWR);
    assert_int_equal(pread(fd, data, (size_t)whole, 0), whole);
    assert_int_equal(ftruncate(fd, (off_t)n_bytes), 0);
    expect_refusal(self, path);
    assert_int_equal(pwrite(fd, data, (size_t)whole, 0), whole);
    (void)close(fd);
    free(data);
}

static void every_cut_is_found(void **state) {
    test_stages_bench self;
    test_stages_open(state, &self);
    stop_late(&self);
    const char *const paths[] = {self.path, self.journal};
    for (int f = 0; f < 2; f++) {
        const int64_t n_bytes = file_bytes(paths[f]);
        for (int64_t at = 0; at < n_bytes; at += at < 100 ? 1 : 7) {
            expect_refusal_when_cut(&self, paths[f], at);
        }
    }
    /* More than was written: refused in the state, cut off in the journal, where a killed run leaves
     * it. */
    const int state_fd = open(self.path, O_RDWR | O_APPEND);
    assert_int_equal(write(state_fd, "x", 1), 1);
    expect_refusal(&self, "more");
    assert_int_equal(ftruncate(state_fd, (off_t)(file_bytes(self.path) - 1)), 0);
    (void)close(state_fd);
    const int journal_fd = open(self.journal, O_RDWR | O_APPEND);
    assert_int_equal(write(journal_fd, "torn", 4), 4);
    (void)close(journal_fd);
    expect_success(&self);
    test_stages_close(&self);
}

static void a_foreign_checkpoint_is_named(void **state) {
    test_stages_bench self;
    test_stages_open(state, &self);
    stop_late(&self);
    test_attempt other = {.resume = true, .parameter = "2"};
    TEST_FAILS(test_stages_run(&self.stages, &other), SLC_ERROR_INPUT,
               "parameter is '1' there and '2' here");
    /* The journal of another run of the same program. */
    char kept[TEST_PATH_BYTES];
    test_join(self.directory, "kept", kept);
    assert_int_equal(rename(self.path, kept), 0);
    test_attempt again = {.seed = 3, .stop_after = 4};
    TEST_FAILS(test_stages_run(&self.stages, &again), SLC_ERROR_INTERRUPTED, "--resume");
    assert_int_equal(rename(kept, self.path), 0);
    test_attempt mixed = {.resume = true};
    TEST_FAILS(test_stages_run(&self.stages, &mixed), SLC_ERROR_INPUT, self.journal);
    /* No checkpoint at all. */
    test_write_below(self.directory, "state", "This is a letter to somebody, and no checkpoint.");
    test_attempt letter = {.resume = true};
    TEST_FAILS(test_stages_run(&self.stages, &letter), SLC_ERROR_INPUT, "no checkpoint of Sluice");
    test_stages_close(&self);
}

static void files_that_exist_are_kept(void **state) {
    test_stages_bench self;
    test_stages_open(state, &self);
    stop_late(&self);
    test_attempt plain = {.seed = 1};
    TEST_FAILS(test_stages_run(&self.stages, &plain), SLC_ERROR_OUTPUT, "--resume");
    assert_int_equal(test_directory_count(self.directory), 2);
    test_attempt over = {.seed = 1, .overwrite = true};
    TEST_OK(test_stages_run(&self.stages, &over));
    assert_false(over.is_resumed);
    assert_int_equal(over.n_errors, 0);
    assert_int_equal(test_directory_count(self.directory), 0);
    /* What is named like a journal but is none. */
    test_write_below(self.directory, "state.journal", "Dear diary, today nothing was computed.");
    test_attempt diary = {.seed = 1, .overwrite = true};
    TEST_FAILS(test_stages_run(&self.stages, &diary), SLC_ERROR_OUTPUT, "no journal");
    assert_int_equal(test_directory_count(self.directory), 1);
    test_stages_close(&self);
}

static void resuming_nothing_begins(void **state) {
    test_stages_bench self;
    test_stages_open(state, &self);
    test_attempt a = {.seed = 1, .resume = true};
    TEST_OK(test_stages_run(&self.stages, &a));
    assert_false(a.is_resumed);
    assert_int_equal(a.n_errors, 0);
    assert_int_equal(test_directory_count(self.directory), 0);
    test_stages_close(&self);
}

static void two_runs_cannot_share_one(void **state) {
    test_stages_bench self;
    test_stages_open(state, &self);
    const int fd = open(self.journal, O_RDWR | O_CREAT, 0600);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    test_attempt a = {.seed = 1};
    TEST_FAILS(test_stages_run(&self.stages, &a), SLC_ERROR_OUTPUT, "another run");
    (void)close(fd);
    test_stages_close(&self);
}

/* ---- files of others --------------------------------------------------------------------------- */

static const char letter[] = "This is a letter to somebody, and no checkpoint.";

static void expect_letter(const char *path) {
    char text[sizeof letter] = "";
    const int fd = open(path, O_RDONLY);
    assert_int_equal(read(fd, text, sizeof text), (ssize_t)strlen(letter));
    assert_string_equal(text, letter);
    (void)close(fd);
}

static void what_is_no_checkpoint_is_kept(void **state) {
    test_stages_bench self;
    test_stages_open(state, &self);
    test_write_below(self.directory, "state", letter);
    test_attempt plain = {.seed = 1};
    TEST_FAILS(test_stages_run(&self.stages, &plain), SLC_ERROR_OUTPUT, "no checkpoint of Sluice");
    test_attempt over = {.seed = 1, .overwrite = true};
    TEST_FAILS(test_stages_run(&self.stages, &over), SLC_ERROR_OUTPUT, "no checkpoint of Sluice");
    test_attempt both = {.seed = 1, .overwrite = true, .resume = true};
    TEST_FAILS(test_stages_run(&self.stages, &both), SLC_ERROR_INPUT, "no checkpoint of Sluice");
    expect_letter(self.path);
    assert_int_equal(test_directory_count(self.directory), 1); /* the journal is gone again */
    /* One shorter than any checkpoint: what is advised is nothing that is refused then. */
    test_write_below(self.directory, "state", "junk\n");
    test_attempt resumed = {.seed = 1, .resume = true};
    TEST_FAILS(test_stages_run(&self.stages, &resumed), SLC_ERROR_INPUT, "no checkpoint of Sluice");
    assert_non_null(strstr(slc_status_message(), "name another file"));
    assert_null(strstr(slc_status_message(), "--overwrite"));
    TEST_FAILS(test_stages_run(&self.stages, &over), SLC_ERROR_OUTPUT, "no checkpoint of Sluice");
    /* An empty one holds nothing that could be lost. */
    test_write_below(self.directory, "state", "");
    TEST_FAILS(test_stages_run(&self.stages, &plain), SLC_ERROR_OUTPUT, "is empty");
    TEST_FAILS(test_stages_run(&self.stages, &both), SLC_ERROR_INPUT, "damaged");
    assert_int_equal(test_directory_count(self.directory), 1);
    TEST_OK(test_stages_run(&self.stages, &over));
    assert_int_equal(test_directory_count(self.directory), 0);
    /* Beside a good state, a file that has the journal's name. */
    stop_late(&self);
    test_write_below(self.directory, "state.journal", letter);
    TEST_FAILS(test_stages_run(&self.stages, &over), SLC_ERROR_OUTPUT, "no journal");
    TEST_FAILS(test_stages_run(&self.stages, &both), SLC_ERROR_INPUT, self.journal);
    expect_letter(self.journal);
    test_stages_close(&self);
}

/* The journal of one checkpoint is no state of another, nor the other way round. */
static void a_journal_is_no_state(void **state) {
    test_stages_bench self;
    test_stages_open(state, &self);
    char bare[TEST_PATH_BYTES];
    test_join(self.directory, "state.journal", bare);
    test_stages other = self.stages;
    other.path = bare;
    test_attempt over = {.seed = 1, .overwrite = true};
    /* While the run works that has it; it is empty still. */
    const slc_checkpoint_options options = {.path = self.path, .budget = self.budget};
    slc_checkpoint *checkpoint = NULL;
    TEST_OK(slc_checkpoint_create(&options, &checkpoint));
    TEST_FAILS(test_stages_run(&other, &over), SLC_ERROR_OUTPUT, "in use as the journal");
    slc_checkpoint_destroy(checkpoint);
    /* And after it was stopped. */
    stop_late(&self);
    TEST_FAILS(test_stages_run(&other, &over), SLC_ERROR_OUTPUT, "journal of another checkpoint");
    test_attempt both = {.seed = 1, .overwrite = true, .resume = true};
    TEST_FAILS(test_stages_run(&other, &both), SLC_ERROR_INPUT, "another block");
    expect_success(&self);
    test_attempt stopped = {.seed = 3, .stop_after = 3};
    TEST_FAILS(test_stages_run(&other, &stopped), SLC_ERROR_INTERRUPTED, "--resume");
    TEST_FAILS(test_stages_run(&self.stages, &over), SLC_ERROR_OUTPUT, "no journal");
    test_attempt rest = {.seed = 4, .resume = true};
    TEST_OK(test_stages_run(&other, &rest));
    assert_true(rest.is_resumed);
    test_stages_close(&self);
}

/* Writes into the names that a state is first written under, as another user of the folder might. */
static void plant(void *context, int64_t n_tiles) {
    const test_stages_bench *self = context;
    if (n_tiles == 1) {
        char name[TEST_PATH_BYTES];
        char path[TEST_PATH_BYTES];
        (void)snprintf(name, sizeof name, "state.part-%ld-0", (long)getpid());
        test_join(self->directory, name, path);
        assert_int_equal(symlink("victim", path), 0);
        (void)snprintf(name, sizeof name, "state.part-%ld-1", (long)getpid());
        test_write_below(self->directory, name, letter);
    }
}

static void planted_names_are_passed_over(void **state) {
    test_stages_bench self;
    test_stages_open(state, &self);
    char victim[TEST_PATH_BYTES];
    test_write_below(self.directory, "victim", letter);
    test_join(self.directory, "victim", victim);
    test_attempt a = {.seed = 1, .every_seconds = 1e-9, .at_tile = plant, .context = &self};
    TEST_OK(test_stages_run(&self.stages, &a));
    assert_true(a.n_states > 3);
    expect_letter(victim);
    assert_int_equal(test_directory_count(self.directory), 3); /* and both that were planted */
    test_stages_close(&self);
}

static void take_name(void *context, int64_t n_tiles) {
    const test_stages_bench *self = context;
    if (n_tiles == 1) {
        test_write_below(self->directory, "state", letter);
    }
}

/* Somebody takes the checkpoint's name before the first state is written, which the stop asks for. */
static void a_name_taken_meanwhile_is_kept(void **state) {
    test_stages_bench self;
    test_stages_open(state, &self);
    test_attempt a = {.seed = 1, .stop_after = 2, .at_tile = take_name, .context = &self};
    TEST_FAILS(test_stages_run(&self.stages, &a), SLC_ERROR_INTERRUPTED, "");
    assert_int_equal(a.n_states, 0);
    expect_letter(self.path);
    assert_int_equal(test_directory_count(self.directory), 1);
    test_stages_close(&self);
}

static void it_must_be_begun(void **state) {
    test_stages_bench self;
    test_stages_open(state, &self);
    const slc_checkpoint_options options = {.path = self.path, .budget = self.budget};
    slc_checkpoint *checkpoint = NULL;
    TEST_OK(slc_checkpoint_create(&options, &checkpoint));
    const slc_job job = test_turn_job(4, 4, 4);
    const slc_execution execution = {.checkpoint = checkpoint};
    slc_plan plan;
    slc_engine_report report;
    TEST_FAILS(slc_execute(&job, &execution, &plan, &report), SLC_ERROR_ARGUMENT, "not begun");
    slc_checkpoint_destroy(checkpoint);
    assert_int_equal(test_directory_count(self.directory), 0);
    test_stages_close(&self);
}

int main(void) {
    const test_case cases[] = {
        TEST_CASE(a_whole_run_leaves_nothing),
        TEST_CASE(an_early_interrupt_names_the_checkpoint),
        TEST_CASE(an_early_interrupt_names_no_empty_file),
        TEST_CASE(only_a_good_state_is_gone_on_with),
        TEST_CASE(every_flipped_byte_is_found),
        TEST_CASE(every_cut_is_found),
        TEST_CASE(a_foreign_checkpoint_is_named),
        TEST_CASE(files_that_exist_are_kept),
        TEST_CASE(resuming_nothing_begins),
        TEST_CASE(two_runs_cannot_share_one),
        TEST_CASE(what_is_no_checkpoint_is_kept),
        TEST_CASE(a_journal_is_no_state),
        TEST_CASE(planted_names_are_passed_over),
        TEST_CASE(a_name_taken_meanwhile_is_kept),
        TEST_CASE(it_must_be_begun),
    };
    return test_run_everywhere(cases, TEST_COUNT(cases), TEST_ON_HOST);
}
