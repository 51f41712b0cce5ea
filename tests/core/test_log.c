#include "tests/support/test_support.h"

#include <pthread.h>

#include "core/log.h"

typedef struct record {
    int64_t n_lines;
    slc_log_level level;
    char text[4096];
} record;

static void keep(void *context, slc_log_level level, const char *text) {
    record *last = context;
    last->n_lines++;
    last->level = level;
    (void)snprintf(last->text, sizeof last->text, "%s", text);
}

static void lines_up_to_the_level_arrive(void **state) {
    (void)state;
    record last = {0};
    slc_log log;
    slc_log_init(&log, SLC_LOG_NOTE, keep, &last);
    slc_log_warning(&log, "%d samples dropped", 3);
    assert_int_equal(last.n_lines, 1);
    assert_int_equal(last.level, SLC_LOG_WARNING);
    assert_string_equal(last.text, "3 samples dropped");
    slc_log_note(&log, "two\nlines");
    assert_int_equal(last.n_lines, 2);
    assert_string_equal(last.text, "two lines");
    slc_log_detail(&log, "not wanted");
    assert_int_equal(last.n_lines, 2);
    slc_log_destroy(&log);
}

static void long_lines_are_cut(void **state) {
    (void)state;
    record last = {0};
    slc_log log;
    slc_log_init(&log, SLC_LOG_DETAIL, keep, &last);
    slc_log_detail(&log, "%*d", 4000, 1);
    assert_int_equal(last.n_lines, 1);
    assert_true(strlen(last.text) > 1000 && strlen(last.text) < 4000);
    slc_log_destroy(&log);
}

static void no_log_swallows_everything(void **state) {
    (void)state;
    slc_log_warning(NULL, "nobody hears %s", "this");
    slc_log log;
    slc_log_init(&log, SLC_LOG_DETAIL, NULL, NULL);
    slc_log_warning(&log, "nor this");
    slc_log_destroy(&log);
}

static void *say_many(void *log) {
    for (int i = 0; i < 200; i++) {
        slc_log_note(log, "line %d", i);
    }
    return NULL;
}

static void one_call_at_a_time(void **state) {
    (void)state;
    record last = {0};
    slc_log log;
    slc_log_init(&log, SLC_LOG_NOTE, keep, &last);
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, say_many, &log), 0);
    }
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    assert_int_equal(last.n_lines, 600); /* the counter has no lock of its own */
    slc_log_destroy(&log);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_up_to_the_level_arrive),
        cmocka_unit_test(long_lines_are_cut),
        cmocka_unit_test(no_log_swallows_everything),
        cmocka_unit_test(one_call_at_a_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
