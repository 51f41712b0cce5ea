/* Texts with numbers, whatever the locale. */
#include "tests/support/test_locale.h"

#include "core/log.h"
#include "core/print.h"

static void cuts_what_does_not_fit(void **state) {
    (void)state;
    char text[6] = "xxxxx";
    assert_int_equal(slci_print(text, sizeof text, "%d rows", 123), 8);
    assert_string_equal(text, "123 r");
    assert_int_equal(slci_print(text, sizeof text, "%s", "ok"), 2);
    assert_string_equal(text, "ok");
}

static void keep_line(void *context, slc_log_level level, const char *text) {
    (void)level;
    (void)snprintf(context, 64, "%s", text);
}

static void numbers_have_a_point_in_any_locale(void **state) {
    (void)state;
    char direct[32];
    char before[32];
    char after[32];
    char line[64] = "";
    slc_log log;
    slc_log_init(&log, SLC_LOG_NOTE, keep_line, line);
    test_begin_comma_locale();
    (void)snprintf(before, sizeof before, "%.1f", 1.5);
    (void)slci_print(direct, sizeof direct, "%.2f", 1.25);
    slc_log_note(&log, "%.1f s", 2.5);
    const slc_status status = SLC_FAIL(SLC_ERROR_INPUT, "weight %g", 0.5);
    (void)snprintf(after, sizeof after, "%.1f", 1.5);
    test_end_locale();
    slc_log_destroy(&log);
    assert_string_equal(direct, "1.25");
    assert_string_equal(line, "2.5 s");
    assert_int_equal(status, SLC_ERROR_INPUT);
    assert_string_equal(slc_status_message(), "weight 0.5");
    /* The caller's own printing is as it was. */
    assert_string_equal(before, "1,5");
    assert_string_equal(after, "1,5");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cuts_what_does_not_fit),
        cmocka_unit_test(numbers_have_a_point_in_any_locale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
