/* A rewriting that was stopped, in the first pass or the second, goes on under other budgets and
 * writes the bytes of an unbroken run. */
#include "app/rewrite.h"
#include "tests/support/test_rewritten.h"

typedef struct place {
    char directory[TEST_PATH_BYTES];
    char in[TEST_PATH_BYTES], out[TEST_PATH_BYTES], whole[TEST_PATH_BYTES];
    char checkpoint[TEST_PATH_BYTES];
} place;

static int make(void **state) {
    place *self = test_allocate((int64_t)sizeof *self);
    const test_array array = {.rank = 2,
                              .shape = {600, 500},
                              .chunk = {20, 500},
                              .is_deflated = true};
    test_directory_create(self->directory);
    test_join(self->directory, "in.h5", self->in);
    test_join(self->directory, "out.h5", self->out);
    test_join(self->directory, "whole.h5", self->whole);
    test_join(self->directory, "state", self->checkpoint);
    test_rewrite_put(self->in, "/x", &array);
    *state = self;
    return 0;
}

static int remove_place(void **state) {
    place *self = *state;
    test_directory_remove(self->directory);
    free(self);
    return 0;
}

/* Stops the run once this share of it is behind it. */
typedef struct stopper {
    double share;
    volatile int cancel;
} stopper;

static void stop_there(void *context, const char *stage, const char *thing, double done,
                       double total) {
    stopper *self = context;
    (void)thing;
    if (strcmp(stage, "rewriting") == 0 && done >= self->share * total) {
        self->cancel = 1;
    }
}

static slc_rewrite_options options_of(const place *self, int64_t vram_bytes) {
    return (slc_rewrite_options){.in = {.path = self->in, .dataset = "/x"},
                                 .out_path = self->out,
                                 .out = "/y",
                                 .is_reversed = true,
                                 .form.n_chunk = 2,
                                 .form.chunk = {25, 600},
                                 .run = {.vram_bytes = vram_bytes,
                                         .ram_bytes = 32 << 20,
                                         .device = SLC_CHOOSE_HOST,
                                         .n_threads = 2,
                                         .overwrite = true,
                                         .checkpoint_path = self->checkpoint}};
}

static void a_stopped_rewriting_goes_on(void **state) {
    const place *self = *state;
    static const struct {
        double share;
        int64_t vram_bytes;
        int n_passes;
    } cases[] = {{0.3, 200 << 10, 2}, {0.8, 200 << 10, 2}, {0.4, 1 << 20, 2}, {0.9, 4 << 20, 1}};
    slc_rewrite_result result;
    slc_rewrite_options options = options_of(self, 16 << 20);
    options.out_path = self->whole;
    const slc_status status = slc_rewrite_run(&options, &result);
    if (status == SLC_ERROR_UNSUPPORTED) {
        TEST_SKIP("%s", slc_status_message());
    }
    TEST_OK(status);
    for (int64_t c = 0; c < TEST_COUNT(cases); c++) {
        stopper stop = {.share = cases[c].share};
        options = options_of(self, cases[c].vram_bytes);
        options.run.progress = stop_there;
        options.run.progress_context = &stop;
        options.run.cancel = &stop.cancel;
        const slc_status stopped = slc_rewrite_run(&options, &result);
        assert_true(stopped == SLC_ERROR_INTERRUPTED || stopped == SLC_OK);
        if (stopped == SLC_OK) {
            continue; /* it was too quick for the stop */
        }
        options = options_of(self, c % 2 == 0 ? 16 << 20 : 150 << 10);
        options.run.resume = true;
        TEST_OK(slc_rewrite_run(&options, &result));
        assert_true(result.is_resumed);
        assert_int_equal(result.n_passes, cases[c].n_passes);
        test_expect_same_files(self->out, self->whole);
        assert_int_equal(test_directory_count(self->directory), 3); /* in, out, whole */
    }
}

/* In its order and its chunks, so in one pass. */
static slc_rewrite_options filtered(const place *self, int64_t vram_bytes) {
    slc_rewrite_options options = options_of(self, vram_bytes);
    options.is_reversed = false;
    options.form.chunk[0] = 20;
    options.form.chunk[1] = 500;
    options.form.filters = true;
    TEST_OK(slc_h5_filter_parse("deflate:4", &options.form.filter));
    return options;
}

/* Chunks that were encoded before the stop are not encoded again, and the journal is no larger than
 * what it keeps of them. */
static void nothing_is_encoded_twice(void **state) {
    const place *self = *state;
    char journal[TEST_PATH_BYTES];
    slc_rewrite_result result;
    stopper stop = {.share = 0.5};
    const int64_t n_chunks = 600 / 20;
    (void)snprintf(journal, sizeof journal, "%.1000s.journal", self->checkpoint);
    slc_rewrite_options options = filtered(self, 200 << 10);
    options.out_path = self->whole;
    const slc_status status = slc_rewrite_run(&options, &result);
    if (status == SLC_ERROR_UNSUPPORTED) {
        TEST_SKIP("%s", slc_status_message());
    }
    TEST_OK(status);
    assert_int_equal(result.stored.n_chunks, n_chunks);
    const int64_t stored_bytes = result.stored.bytes;
    assert_int_equal(result.n_passes, 1);
    options.out_path = self->out;
    options.run.progress = stop_there;
    options.run.progress_context = &stop;
    options.run.cancel = &stop.cancel;
    TEST_FAILS(slc_rewrite_run(&options, &result), SLC_ERROR_INTERRUPTED, "(--resume), goes on");
    int64_t journal_bytes = 0;
    free(test_file_read(journal, &journal_bytes));
    assert_in_range(journal_bytes, 1, stored_bytes + n_chunks * 200 + 400);
    options = filtered(self, 16 << 20);
    options.run.resume = true;
    TEST_OK(slc_rewrite_run(&options, &result));
    assert_true(result.is_resumed);
    assert_in_range(result.stored.n_taken_back, 5, n_chunks - 1);
    assert_int_equal(result.stored.n_chunks, n_chunks);
    assert_int_equal(result.stored.bytes, stored_bytes);
    test_expect_same_files(self->out, self->whole);
    assert_int_equal(test_directory_count(self->directory), 3); /* in, out, whole */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_stopped_rewriting_goes_on, make, remove_place),
        cmocka_unit_test_setup_teardown(nothing_is_encoded_twice, make, remove_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
