/* The progress line and the messages that share the terminal with it. */
#include "support/test_support.h"

#include "app/progress.h"

static void a_line_says_percent_rate_and_time_left(void **state) {
    (void)state;
    char line[SLCI_PROGRESS_BYTES];
    slci_progress_format("imaging", "pairs", 5e9, 2e10, 2.0, line);
    assert_string_equal(line, "imaging     25%, 2.5 Gpairs/s, 6 s left");
    slci_progress_format("imaging", "pairs", 2e10, 2e10, 65.0, line);
    assert_string_equal(line, "imaging    100%, 308 Mpairs/s, took 1 min 5 s");
    slci_progress_format("surveying", "rows", 0.0, 1000.0, 0.5, line);
    assert_string_equal(line, "surveying    0%, unknown left");
    slci_progress_format("reading", "rows", 100.0, 1000.0, 1.0, line);
    assert_string_equal(line, "reading     10%, 100 rows/s, 9 s left");
    /* Nearly done is not done, and nothing to do is. */
    slci_progress_format("writing", "", 999.9, 1000.0, 1.0, line);
    assert_non_null(strstr(line, " 99%"));
    slci_progress_format("writing", "", 0.0, 0.0, 0.0, line);
    assert_non_null(strstr(line, "100%"));
}

typedef struct screen {
    char *text;
    size_t length;
    FILE *out;
    slci_progress progress;
} screen;

static void open_screen(screen *s, bool is_enabled) {
    *s = (screen){.text = NULL};
    s->out = open_memstream(&s->text, &s->length);
    assert_non_null(s->out);
    slci_progress_init(&s->progress, s->out, is_enabled);
}

static void close_screen(screen *s) {
    slci_progress_destroy(&s->progress);
    assert_int_equal(fclose(s->out), 0);
}

static void a_stage_ends_with_its_own_line(void **state) {
    (void)state;
    screen s;
    open_screen(&s, true);
    slci_progress_update(&s.progress, "one", "rows", 1.0, 10.0);
    slci_progress_message(&s.progress, "warning: ", "watch\nout");
    slci_progress_update(&s.progress, "one", "rows", 10.0, 10.0);
    slci_progress_update(&s.progress, "one", "rows", 10.0, 10.0);
    slci_progress_update(&s.progress, "two", "", 1.0, 10.0);
    slci_progress_finish(&s.progress);
    slci_progress_finish(&s.progress);
    close_screen(&s);
    int n_newlines = 0;
    for (const char *at = s.text; *at != '\0'; at++) {
        n_newlines += *at == '\n';
    }
    /* The message, the end of stage one, the end of stage two. */
    assert_int_equal(n_newlines, 3);
    assert_non_null(strstr(s.text, "\r\033[Ksluice: warning: watch?out\n"));
    assert_non_null(strstr(s.text, "one"));
    free(s.text);
}

static void nothing_but_messages_without_a_terminal(void **state) {
    (void)state;
    screen s;
    open_screen(&s, false);
    slci_progress_update(&s.progress, "one", "rows", 1.0, 10.0);
    slci_progress_message(&s.progress, "", "text");
    slci_progress_update(&s.progress, "one", "rows", 10.0, 10.0);
    slci_progress_finish(&s.progress);
    close_screen(&s);
    assert_string_equal(s.text, "sluice: text\n");
    free(s.text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_says_percent_rate_and_time_left),
        cmocka_unit_test(a_stage_ends_with_its_own_line),
        cmocka_unit_test(nothing_but_messages_without_a_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
