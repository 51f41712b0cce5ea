/* The JSON that the program writes, letter for letter. */
#include "tests/support/test_locale.h"

#include <math.h>

#include "app/json.h"

/* A document written to memory. */
typedef struct document {
    slci_json json;
    char *text;
    size_t bytes;
} document;

static void document_begin(document *self) {
    memset(self, 0, sizeof *self);
    self->json.file = open_memstream(&self->text, &self->bytes);
    assert_non_null(self->json.file);
}

static void document_expect(document *self, const char *expected) {
    assert_int_equal(fclose(self->json.file), 0);
    assert_string_equal(self->text, expected);
    free(self->text);
}

static void members_are_indented_and_separated(void **state) {
    (void)state;
    document self;
    document_begin(&self);
    slci_json_open(&self.json, NULL, '{');
    slci_json_text(&self.json, "device", "host");
    slci_json_open(&self.json, "shape", '[');
    slci_json_i64(&self.json, NULL, 3);
    slci_json_i64(&self.json, NULL, INT64_MIN);
    slci_json_close(&self.json, ']');
    slci_json_open(&self.json, "plan", '{');
    slci_json_bool(&self.json, "mapped", false);
    slci_json_close(&self.json, '}');
    slci_json_bool(&self.json, "done", true);
    slci_json_close(&self.json, '}');
    document_expect(&self, "{\n"
                           "  \"device\": \"host\",\n"
                           "  \"shape\": [\n"
                           "    3,\n"
                           "    -9223372036854775808\n"
                           "  ],\n"
                           "  \"plan\": {\n"
                           "    \"mapped\": false\n"
                           "  },\n"
                           "  \"done\": true\n"
                           "}\n");
}

/* From a depth on, members share a line. */
static void deep_members_share_a_line(void **state) {
    (void)state;
    document self;
    document_begin(&self);
    self.json.flat_depth = 2;
    slci_json_open(&self.json, NULL, '[');
    for (int i = 0; i < 2; i++) {
        slci_json_open(&self.json, NULL, '{');
        slci_json_i64(&self.json, "a", i);
        slci_json_open(&self.json, "b", '{');
        slci_json_bool(&self.json, "c", true);
        slci_json_close(&self.json, '}');
        slci_json_i64(&self.json, "d", i);
        slci_json_close(&self.json, '}');
    }
    slci_json_close(&self.json, ']');
    document_expect(&self, "[\n"
                           "  {\"a\": 0, \"b\": {\"c\": true}, \"d\": 0},\n"
                           "  {\"a\": 1, \"b\": {\"c\": true}, \"d\": 1}\n"
                           "]\n");
}

static void thousandths_are_exact(void **state) {
    (void)state;
    document self;
    document_begin(&self);
    self.json.flat_depth = 1;
    slci_json_open(&self.json, NULL, '[');
    static const int64_t values[] = {0, 7, -7, 1000, 123456, -1000001, INT64_MAX, INT64_MIN};
    for (int64_t i = 0; i < TEST_COUNT(values); i++) {
        slci_json_thousandths(&self.json, NULL, values[i]);
    }
    slci_json_close(&self.json, ']');
    document_expect(&self, "[0.000, 0.007, -0.007, 1.000, 123.456, -1000.001, "
                           "9223372036854775.807, -9223372036854775.808]\n");
}

static void what_is_empty_stays_on_its_line(void **state) {
    (void)state;
    document self;
    document_begin(&self);
    slci_json_open(&self.json, NULL, '{');
    slci_json_open(&self.json, "chunk", '[');
    slci_json_close(&self.json, ']');
    slci_json_open(&self.json, "more", '{');
    slci_json_close(&self.json, '}');
    slci_json_close(&self.json, '}');
    document_expect(&self, "{\n  \"chunk\": [],\n  \"more\": {}\n}\n");
}

static void strings_are_escaped(void **state) {
    (void)state;
    document self;
    document_begin(&self);
    slci_json_open(&self.json, NULL, '[');
    slci_json_text(&self.json, NULL, "a \"b\" \\ c\n\x01\x1f é");
    slci_json_close(&self.json, ']');
    document_expect(&self, "[\n  \"a \\\"b\\\" \\\\ c\\u000a\\u0001\\u001f é\"\n]\n");
}

static void numbers_are_shortest_and_finite(void **state) {
    (void)state;
    static const double values[] = {0.1, 1e-6, 3.0, -0.0, 299792458.0, 1.0 / 3.0, 1e300};
    document self;
    document_begin(&self);
    slci_json_open(&self.json, NULL, '[');
    for (int64_t k = 0; k < TEST_COUNT(values); k++) {
        slci_json_f64(&self.json, NULL, values[k]);
    }
    slci_json_f64(&self.json, NULL, (double)NAN);
    slci_json_f64(&self.json, NULL, -(double)INFINITY);
    slci_json_close(&self.json, ']');
    document_expect(&self, "[\n  0.1,\n  1e-06,\n  3,\n  -0,\n  299792458,\n  0.3333333333333333,\n"
                           "  1e+300,\n  null,\n  null\n]\n");
}

static void the_locale_does_not_matter(void **state) {
    (void)state;
    document self;
    test_begin_comma_locale();
    document_begin(&self);
    slci_json_open(&self.json, NULL, '[');
    slci_json_f64(&self.json, NULL, 2.5);
    slci_json_close(&self.json, ']');
    test_end_locale();
    document_expect(&self, "[\n  2.5\n]\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_are_indented_and_separated),
        cmocka_unit_test(deep_members_share_a_line),
        cmocka_unit_test(thousandths_are_exact),
        cmocka_unit_test(what_is_empty_stays_on_its_line),
        cmocka_unit_test(strings_are_escaped),
        cmocka_unit_test(numbers_are_shortest_and_finite),
        cmocka_unit_test(the_locale_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
