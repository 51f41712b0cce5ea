/* Outputs that a run was about to name: the run that resumes knows them again, whole or in part, under
 * whatever names, and nothing else. */
#include "tests/support/test_fixture.h"

#include "core/hash.h"
#include "ooc/checkpoint.h"

typedef struct place {
    slc_budget *budget;
    char directory[TEST_PATH_BYTES], state[TEST_PATH_BYTES], journal[TEST_PATH_BYTES];
    char temporary[2][TEST_PATH_BYTES], final[2][TEST_PATH_BYTES], other[TEST_PATH_BYTES];
} place;

/* Begins or resumes; the caller destroys it. */
static slc_status open_checkpoint(const place *self, bool resume, slc_checkpoint **out) {
    const slc_checkpoint_options options = {.path = self->state,
                                            .resume = resume,
                                            .budget = self->budget};
    slc_fingerprint print = {0};
    slc_fingerprint_add_text(&print, "command", "test");
    *out = NULL;
    slc_status status = slc_checkpoint_create(&options, out);
    if (status == SLC_OK) {
        status = slc_checkpoint_begin(*out, &print, NULL);
    }
    slc_fingerprint_destroy(&print);
    return status;
}

/* Two outputs, whole and settled. */
static void settle(const place *self) {
    slc_checkpoint *checkpoint = NULL;
    const char *const paths[] = {self->temporary[0], NULL, self->temporary[1]};
    TEST_OK(open_checkpoint(self, false, &checkpoint));
    TEST_OK(slc_checkpoint_settle(checkpoint, paths, 3));
    assert_int_equal(slc_checkpoint_count(checkpoint), 1);
    slc_checkpoint_destroy(checkpoint); /* as one does that is killed */
}

static int make(void **state) {
    place *self = test_allocate((int64_t)sizeof *self);
    TEST_OK(slc_budget_create(0, 1 << 22, &self->budget));
    test_directory_create(self->directory);
    test_join(self->directory, "ck", self->state);
    test_join(self->directory, "ck.journal", self->journal);
    test_join(self->directory, "a.part", self->temporary[0]);
    test_join(self->directory, "b.part", self->temporary[1]);
    test_join(self->directory, "a", self->final[0]);
    test_join(self->directory, "b", self->final[1]);
    test_join(self->directory, "c", self->other);
    test_write_below(self->directory, "a.part", "first");
    test_write_below(self->directory, "b.part", "second");
    test_write_below(self->directory, "c", "first");
    *state = self;
    return 0;
}

static int remove_place(void **state) {
    place *self = *state;
    slc_budget_destroy(self->budget);
    test_directory_remove(self->directory);
    free(self);
    return 0;
}

static const place *begin(void **state) {
    if (!slci_hash_is_built()) {
        TEST_SKIP("this build has no xxHash, and so no checkpoints");
    }
    settle(*state);
    return *state;
}

static void give_names(const place *self, int n) {
    for (int i = 0; i < n; i++) {
        assert_int_equal(rename(self->temporary[i], self->final[i]), 0);
    }
}

static bool is_complete(const place *self, const char *a, const char *b) {
    slc_checkpoint *checkpoint = NULL;
    const char *const paths[] = {a, b};
    TEST_OK(open_checkpoint(self, true, &checkpoint));
    assert_true(slc_checkpoint_is_resumed(checkpoint));
    const bool complete = slc_checkpoint_is_complete(checkpoint, paths, b != NULL ? 2 : 1);
    slc_checkpoint_destroy(checkpoint);
    return complete;
}

static void all_named_is_complete(void **state) {
    const place *self = begin(state);
    give_names(self, 2);
    assert_true(is_complete(self, self->final[0], self->final[1]));
    assert_false(is_complete(self, self->final[1], self->final[0]));
    assert_false(is_complete(self, self->final[0], NULL));
    assert_false(is_complete(self, self->other, self->final[1]));
    assert_true(slc_checkpoint_has_made(self->state, self->final[0]));
    assert_true(slc_checkpoint_has_made(self->state, self->final[1]));
    assert_false(slc_checkpoint_has_made(self->state, self->other));
    assert_false(slc_checkpoint_has_made(self->state, self->directory));
    assert_false(slc_checkpoint_has_made(self->other, self->final[0]));
    test_write_below(self->directory, "a", "third"); /* somebody's own, of the same length */
    assert_false(slc_checkpoint_has_made(self->state, self->final[0]));
}

static void finishing_removes_both_files(void **state) {
    const place *self = begin(state);
    slc_checkpoint *checkpoint = NULL;
    give_names(self, 2);
    TEST_OK(open_checkpoint(self, true, &checkpoint));
    TEST_OK(slc_checkpoint_finish(checkpoint));
    slc_checkpoint_destroy(checkpoint);
    assert_int_equal(test_directory_count(self->directory), 3); /* a, b, c */
}

/* Killed between the two removals. */
static void no_journal_is_needed(void **state) {
    const place *self = begin(state);
    give_names(self, 2);
    assert_int_equal(remove(self->journal), 0);
    assert_true(is_complete(self, self->final[0], self->final[1]));
    assert_int_equal(remove(self->final[0]), 0);
    assert_false(is_complete(self, self->final[0], self->final[1]));
}

/* A run that writes its outputs again, and is killed before it has named them, leaves those of the run
 * before, which the next one may replace as well. */
static void outputs_of_runs_before_stay_known(void **state) {
    const place *self = begin(state);
    slc_checkpoint *checkpoint = NULL;
    give_names(self, 1);
    assert_false(is_complete(self, self->final[0], self->final[1]));
    test_write_below(self->directory, "a.part", "first");
    const char *const paths[] = {self->temporary[0], self->temporary[1]};
    TEST_OK(open_checkpoint(self, true, &checkpoint));
    TEST_OK(slc_checkpoint_settle(checkpoint, paths, 2));
    slc_checkpoint_destroy(checkpoint);
    assert_true(slc_checkpoint_has_made(self->state, self->final[0]));
    give_names(self, 2);
    assert_true(is_complete(self, self->final[0], self->final[1]));
}

/* A file that is written beside the outputs is known, and leaves the run complete; also of the run that
 * finds itself so, with its journal or without. */
static void what_lies_beside_is_known_too(void **state) {
    const place *self = begin(state);
    give_names(self, 2);
    for (int k = 0; k < 2; k++) {
        slc_checkpoint *checkpoint = NULL;
        const char *const beside = k == 0 ? self->other : self->temporary[0];
        test_write_below(self->directory, "a.part", "beside");
        assert_false(slc_checkpoint_has_made(self->state, beside));
        TEST_OK(open_checkpoint(self, true, &checkpoint));
        TEST_OK(slc_checkpoint_settle_beside(checkpoint, beside));
        slc_checkpoint_destroy(checkpoint);
        assert_true(slc_checkpoint_has_made(self->state, beside));
        assert_true(slc_checkpoint_has_made(self->state, self->final[1]));
        assert_true(is_complete(self, self->final[0], self->final[1]));
        assert_int_equal(remove(self->journal), 0);
    }
    assert_true(slc_checkpoint_has_made(self->state, self->other));
    TEST_OK(slc_checkpoint_settle_beside(NULL, self->other));
}

static void what_is_not_there_is_an_error(void **state) {
    const place *self = begin(state);
    slc_checkpoint *checkpoint = NULL;
    const char *const missing[] = {self->final[0]};
    TEST_OK(open_checkpoint(self, true, &checkpoint));
    TEST_FAILS(slc_checkpoint_settle(checkpoint, missing, 1), SLC_ERROR_OUTPUT, "is not there");
    TEST_OK(slc_checkpoint_settle(NULL, missing, 1));
    TEST_FAILS(slc_checkpoint_settle_beside(checkpoint, "nowhere"), SLC_ERROR_OUTPUT,
               "is not there");
    slc_checkpoint_destroy(checkpoint);
    assert_false(slc_checkpoint_is_complete(NULL, missing, 1));
}

/* Of a state in which any byte was changed nothing is believed that the byte is a part of. */
static void a_damaged_state_is_refused(void **state) {
    const place *self = begin(state);
    int64_t n_bytes = 0;
    char *bytes = test_file_read(self->state, &n_bytes);
    give_names(self, 2);
    for (int64_t k = 0; k < n_bytes; k++) {
        slc_checkpoint *checkpoint = NULL;
        FILE *file = fopen(self->state, "r+b");
        assert_non_null(file);
        assert_int_equal(fseek(file, (long)k, SEEK_SET), 0);
        assert_int_equal(fputc(bytes[k] ^ 0x10, file), (unsigned char)(bytes[k] ^ 0x10));
        assert_int_equal(fclose(file), 0);
        (void)slc_checkpoint_has_made(self->state, self->final[0]);
        TEST_FAILS(open_checkpoint(self, true, &checkpoint), SLC_ERROR_INPUT, "ck");
        slc_checkpoint_destroy(checkpoint);
        file = fopen(self->state, "r+b");
        assert_non_null(file);
        assert_int_equal(fwrite(bytes, 1, (size_t)n_bytes, file), (size_t)n_bytes);
        assert_int_equal(fclose(file), 0);
    }
    free(bytes);
    assert_true(is_complete(self, self->final[0], self->final[1]));
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, make, remove_place)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(all_named_is_complete),         CASE(finishing_removes_both_files),
        CASE(no_journal_is_needed),          CASE(outputs_of_runs_before_stay_known),
        CASE(what_is_not_there_is_an_error), CASE(a_damaged_state_is_refused),
        CASE(what_lies_beside_is_known_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
