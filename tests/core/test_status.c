#include "tests/support/test_support.h"

#include <pthread.h>

static void names_texts_and_exit_codes(void **state) {
    (void)state;
    assert_string_equal(slc_status_name(SLC_OK), "SLC_OK");
    assert_string_equal(slc_status_name(SLC_ERROR_INPUT), "SLC_ERROR_INPUT");
    assert_string_equal(slc_status_text(SLC_ERROR_MEMORY), "out of memory");
    assert_string_equal(slc_status_name((slc_status)9999), "unknown status");
    assert_string_equal(slc_status_text((slc_status)9999), "unknown status");
    const struct {
        slc_status status;
        int exit_code;
    } documented[] = {
        {SLC_OK, 0},           {SLC_ERROR_ARGUMENT, 2},
        {SLC_ERROR_INPUT, 3},  {SLC_ERROR_NO_PLAN, 4},
        {SLC_ERROR_MEMORY, 4}, {SLC_ERROR_OUTPUT, 5},
        {SLC_ERROR_DEVICE, 6}, {SLC_ERROR_INTERRUPTED, 130},
    };
    for (int64_t i = 0; i < TEST_COUNT(documented); i++) {
        assert_int_equal(slc_status_exit_code(documented[i].status), documented[i].exit_code);
    }
    assert_int_equal(slc_status_exit_code((slc_status)9999), 6);
}

static void a_message_may_quote_the_last_one(void **state) {
    (void)state;
    assert_int_equal(SLC_FAIL(SLC_ERROR_INPUT, "row %d", 7), SLC_ERROR_INPUT);
    assert_string_equal(slc_status_message(), "row 7");
    assert_int_equal(SLC_FAIL(SLC_ERROR_OUTPUT, "%s again", slc_status_message()),
                     SLC_ERROR_OUTPUT);
    assert_string_equal(slc_status_message(), "row 7 again");
    assert_int_equal(slc_status_prefix(SLC_ERROR_OUTPUT, "file %s", "x.h5"), SLC_ERROR_OUTPUT);
    assert_string_equal(slc_status_message(), "file x.h5: row 7 again");
}

/* Whatever a file calls itself. */
static void a_message_is_one_line(void **state) {
    (void)state;
    (void)SLC_FAIL(SLC_ERROR_INPUT, "%s is not good", "a\nb\x1b[2J\tc\x7f");
    assert_string_equal(slc_status_message(), "a?b?[2J?c? is not good");
    (void)slc_status_prefix(SLC_ERROR_INPUT, "%s", "Höhe\r\n");
    assert_string_equal(slc_status_message(), "Höhe??: a?b?[2J?c? is not good");
}

static void a_long_message_is_cut(void **state) {
    (void)state;
    char text[3 * SLC_MESSAGE_BYTES];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    (void)SLC_FAIL(SLC_ERROR_INPUT, "%s", text);
    assert_int_equal(strlen(slc_status_message()), SLC_MESSAGE_BYTES - 1);
    (void)slc_status_prefix(SLC_ERROR_INPUT, "%s", text);
    assert_int_equal(strlen(slc_status_message()), SLC_MESSAGE_BYTES - 1);
}

static void *fail_elsewhere(void *argument) {
    slc_status_capture(SLC_FAIL(SLC_ERROR_DEVICE, "in the other thread"), argument);
    return NULL;
}

static void a_failure_travels_between_threads(void **state) {
    (void)state;
    (void)SLC_FAIL(SLC_ERROR_INPUT, "mine");
    slc_failure failure;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, fail_elsewhere, &failure), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_string_equal(slc_status_message(), "mine");
    assert_int_equal(slc_status_restore(&failure), SLC_ERROR_DEVICE);
    assert_string_equal(slc_status_message(), "in the other thread");
}

static slc_status try_plain(slc_status status) {
    SLC_TRY(status);
    return SLC_ERROR_INTERNAL;
}

static slc_status try_goto(slc_status given, int *n_cleaned) {
    slc_status status = SLC_OK;
    SLC_TRY_GOTO(done, given);
    *n_cleaned += 100;
done:
    *n_cleaned += 1;
    return status;
}

static void try_returns_or_jumps(void **state) {
    (void)state;
    assert_int_equal(try_plain(SLC_ERROR_INPUT), SLC_ERROR_INPUT);
    assert_int_equal(try_plain(SLC_OK), SLC_ERROR_INTERNAL);
    int n_cleaned = 0;
    assert_int_equal(try_goto(SLC_ERROR_INPUT, &n_cleaned), SLC_ERROR_INPUT);
    assert_int_equal(n_cleaned, 1);
    assert_int_equal(try_goto(SLC_OK, &n_cleaned), SLC_OK);
    assert_int_equal(n_cleaned, 102);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_texts_and_exit_codes),
        cmocka_unit_test(a_message_may_quote_the_last_one),
        cmocka_unit_test(a_message_is_one_line),
        cmocka_unit_test(a_long_message_is_cut),
        cmocka_unit_test(a_failure_travels_between_threads),
        cmocka_unit_test(try_returns_or_jumps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
