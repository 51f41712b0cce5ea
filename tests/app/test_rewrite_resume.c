/* A rewriting that was stopped, in the first pass or the second, goes on under other budgets and
 * writes the bytes of an unbroken run. */
#include "app/rewrite.h"
#include "tests/support/test_rewritten.h"
#include "tests/support/test_stopper.h"

static int make(void **state) {
    const test_array array = {.rank = 2,
                              .shape = {600, 500},
                              .chunk = {20, 500},
                              .is_deflated = true};
    (void)test_way_create(state);
    const test_way *self = *state;
    test_rewrite_put(self->in, "/x", &array);
    return 0;
}

static slc_rewrite_options options_of(const test_way *self, int64_t vram_bytes) {
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
    const test_way *self = *state;
    static const struct {
        double share;
        int64_t vram_bytes;
        int n_passes;
    } cases[] = {{0.3, 200 << 10, 2}, {0.8, 200 << 10, 2}, {0.4, 1 << 20, 2}, {0.9, 4 << 20, 1}};
    slc_rewrite_result result;
    slc_rewrite_options options = options_of(self, 16 << 20);
    options.out_path = self->other;
    const slc_status status = slc_rewrite_run(&options, &result);
    if (status == SLC_ERROR_UNSUPPORTED) {
        TEST_SKIP("%s", slc_status_message());
    }
    TEST_OK(status);
    for (int64_t c = 0; c < TEST_COUNT(cases); c++) {
        test_stopper stop = {.stage = "rewriting", .share = cases[c].share};
        options = options_of(self, cases[c].vram_bytes);
        test_stopper_watch(&stop, &options.run);
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
        test_expect_same_files(self->out, self->other);
        assert_int_equal(test_directory_count(self->directory), 3); /* in, out, other */
    }
}

/* In its order and its chunks, so in one pass. */
static slc_rewrite_options filtered(const test_way *self, int64_t vram_bytes) {
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
    const test_way *self = *state;
    char journal[TEST_PATH_BYTES];
    slc_rewrite_result result;
    test_stopper stop = {.stage = "rewriting", .share = 0.5};
    const int64_t n_chunks = 600 / 20;
    (void)snprintf(journal, sizeof journal, "%.1000s.journal", self->checkpoint);
    slc_rewrite_options options = filtered(self, 200 << 10);
    options.out_path = self->other;
    const slc_status status = slc_rewrite_run(&options, &result);
    if (status == SLC_ERROR_UNSUPPORTED) {
        TEST_SKIP("%s", slc_status_message());
    }
    TEST_OK(status);
    assert_int_equal(result.stored.n_chunks, n_chunks);
    const int64_t stored_bytes = result.stored.bytes;
    assert_int_equal(result.n_passes, 1);
    options.out_path = self->out;
    test_stopper_watch(&stop, &options.run);
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
    test_expect_same_files(self->out, self->other);
    assert_int_equal(test_directory_count(self->directory), 3); /* in, out, other */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_stopped_rewriting_goes_on, make, test_way_destroy),
        cmocka_unit_test_setup_teardown(nothing_is_encoded_twice, make, test_way_destroy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
