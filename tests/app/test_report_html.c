/* The page: what it says for a run made up here, and that no text can break out of its place. */
#include "tests/support/test_locale.h"

#include "app/report_html_parts.h"
#include "core/clock.h"

/* What is written to memory. */
typedef struct written {
    FILE *file;
    char *text;
    size_t bytes;
} written;

static void written_begin(written *self) {
    memset(self, 0, sizeof *self);
    self->file = open_memstream(&self->text, &self->bytes);
    assert_non_null(self->file);
}

static void written_expect(written *self, const char *expected) {
    assert_int_equal(fclose(self->file), 0);
    assert_string_equal(self->text, expected);
    free(self->text);
}

static void text_is_escaped(void **state) {
    (void)state;
    static const struct {
        const char *text, *html;
    } cases[] = {
        {"plain", "plain"},
        {"<script>alert(\"1\")</script>&'",
         "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;&#39;"},
        {"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x94\xAD", "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x94\xAD"},
        {"a\xFF\xC3", "a\xEF\xBF\xBD\xEF\xBF\xBD"},
        {"a\nb\x7F", "a\xEF\xBF\xBD"
                     "b\xEF\xBF\xBD"},
    };
    for (int64_t i = 0; i < TEST_COUNT(cases); i++) {
        written self;
        written_begin(&self);
        slci_html_text(self.file, cases[i].text);
        written_expect(&self, cases[i].html);
    }
}

/* The vectors of RFC 4648, section 10. */
static void base64_is_as_the_standard_has_it(void **state) {
    (void)state;
    static const char *const expected[] = {"",         "Zg==",     "Zm8=",    "Zm9v",
                                           "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};
    for (int64_t n = 0; n < TEST_COUNT(expected); n++) {
        written self;
        written_begin(&self);
        slci_html_base64(self.file, (const uint8_t *)"foobar", n);
        written_expect(&self, expected[n]);
    }
}

static void numbers_have_units_and_groups(void **state) {
    (void)state;
    char text[SLCI_HTML_NUMBER_BYTES];
    slci_html_group(0, text);
    assert_string_equal(text, "0");
    slci_html_group(-1234567, text);
    assert_string_equal(text, "-1\xE2\x80\xAF"
                              "234\xE2\x80\xAF"
                              "567");
    slci_html_group(INT64_MIN, text);
    assert_int_equal(strlen(text), 20 + 6 * 3);
    static const struct {
        double seconds;
        const char *text;
    } cases[] = {{0, "0 ns"},     {2.5e-6, "2.5 µs"}, {0.0125, "12.5 ms"}, {0.9999, "1 s"},
                 {42.04, "42 s"}, {99.94, "99.9 s"},  {125, "2 min 5 s"}};
    for (int64_t i = 0; i < TEST_COUNT(cases); i++) {
        slci_html_seconds(cases[i].seconds, text);
        assert_string_equal(text, cases[i].text);
    }
    slci_html_rate(55e9, text);
    assert_string_equal(text, "55 GB/s");
}

/* ---- whole pages ------------------------------------------------------------------------------- */

static int64_t count(const char *text, const char *words) {
    int64_t n = 0;
    for (const char *at = strstr(text, words); at != NULL; at = strstr(at + 1, words)) {
        n++;
    }
    return n;
}

static void expect_words(const char *text, const char *const *words, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        if (strstr(text, words[i]) == NULL) {
            fail_msg("the page lacks: %s", words[i]);
        }
    }
}

static char *write_page(const slci_page *page) {
    written self;
    written_begin(&self);
    slci_page_write(self.file, page);
    assert_int_equal(fclose(self.file), 0);
    return self.text;
}

/* A run of 4 s in which kernels take 3 s of the 2 s planned, and everything else is as planned. */
static const slc_plan plan = {.n_axes = 2,
                              .tile = {1000, 8},
                              .n_tiles_of = {3, 2},
                              .order = {1, 0},
                              .n_tiles = 6,
                              .n_passes = 2,
                              .n_slots = 4,
                              .bytes_read = 4000000,
                              .bytes_h2d = 4000000,
                              .seconds_read = 1,
                              .seconds_h2d = 0.5,
                              .seconds_kernel = 2,
                              .seconds_total = 2.5};
static const slc_engine_report report = {.n_tiles = 6,
                                         .bytes_read = 4000000,
                                         .bytes_h2d = 5000000,
                                         .seconds_total = 4,
                                         .seconds_read = 1,
                                         .seconds_h2d = 0.5,
                                         .seconds_kernel = 3};

static void plan_and_run_stand_side_by_side(void **state) {
    (void)state;
    slci_page page = {.command = "sluice test", .plan = &plan, .report = &report};
    char *text = write_page(&page);
    static const char *const words[] = {
        "<strong>kernels</strong>, busy 75 % of the 4 s",
        "at 66.7 % of the rate",
        "<th>tiles</th><td class=\"n\">6</td><td class=\"n\">6</td><td class=\"n same\">as planned",
        "<th>bytes to the device</th><td class=\"n\">4\xE2\x80\xAF"
        "000\xE2\x80\xAF"
        "000</td><td class=\"n\">5\xE2\x80\xAF"
        "000\xE2\x80\xAF"
        "000</td><td class=\"n\">× 1.25",
        "<td class=\"n\">75 %</td><td class=\"n\">2 s</td><td class=\"n\">3 s</td>"
        "<td class=\"n\">× 1.5<",
        "axis 1, 2 of 8; axis 0, 3 of 1\xE2\x80\xAF"
        "000. 2 passes over the input, 4 slots",
        "<td class=\"n\">4 MB/s</td><td class=\"n\">4 MB/s</td><td class=\"n\">100 %",
    };
    expect_words(text, words, TEST_COUNT(words));
    assert_int_equal(count(text, "bytes written"), 0);
    assert_int_equal(count(text, "<svg"), 0);
    assert_int_equal(count(text, "<img"), 0);
    free(text);
}

static void names_cannot_break_the_page(void **state) {
    (void)state;
    const char *const inputs[] = {"a/<b>\"&.uvh5", "x/two.h5:/a/b", "three", "four", "five"};
    slc_numerics numerics = {0};
    slc_numerics_set_text(&numerics, "<name>", "<value>");
    slci_page page = {.command = "<cmd>",
                      .inputs = inputs,
                      .n_inputs = 5,
                      .numerics = &numerics,
                      .device_name = "<device>",
                      .plan = &plan,
                      .report = &report};
    slci_page_add(&page, "<fact>", "%s", "<i>");
    (void)snprintf(page.picture.caption, sizeof page.picture.caption, "<caption>");
    char *text = write_page(&page);
    static const char *const words[] = {
        "<title>&lt;cmd&gt;: &lt;b&gt;&quot;&amp;.uvh5, two.h5:/a/b, three and 2 more</title>",
        "a/&lt;b&gt;&quot;&amp;.uvh5",
        "&lt;fact&gt;",
        "&lt;i&gt;",
        "&lt;caption&gt;",
        "&lt;name&gt;",
        "&lt;value&gt;",
        "&lt;device&gt;",
    };
    expect_words(text, words, TEST_COUNT(words));
    assert_int_equal(count(text, "<b>&"), 0);
    assert_int_equal(count(text, "<fact>") + count(text, "<name>") + count(text, "<device>"), 0);
    /* No script, and nothing from elsewhere. */
    assert_int_equal(count(text, "<script") + count(text, "http:") + count(text, "https:"), 0);
    free(text);
}

/* `n` kernels and as many reads on two threads, one after another, over one second. */
static slc_trace *trace_of(int64_t n) {
    slc_trace *trace = NULL;
    TEST_OK(slc_trace_create(1 << 20, &trace));
    const int64_t step_ns = 1000000000 / n;
    for (int64_t i = 0; i < n; i++) {
        slc_trace_slice slice = {.stage = SLC_TRACE_KERNEL,
                                 .tile = i,
                                 .begin_ns = slc_trace_origin_ns(trace) + i * step_ns,
                                 .duration_ns = step_ns / 2};
        slc_trace_add(trace, &slice);
        slice.stage = SLC_TRACE_READ;
        slice.lane = (int)(i % 2);
        slice.bytes = 1 << 20;
        slc_trace_add(trace, &slice);
    }
    slc_trace_add_phase(trace, "survey", slc_trace_origin_ns(trace));
    return trace;
}

static void few_slices_are_drawn_one_by_one(void **state) {
    (void)state;
    slc_trace *trace = trace_of(500);
    slc_budget *budget = NULL;
    TEST_OK(slc_budget_create(1000, 1 << 20, &budget));
    slc_trace_watch(trace, budget);
    TEST_OK(slc_budget_reserve(budget, SLC_SPACE_DEVICE, 900, "slab"));
    TEST_OK(slc_budget_reserve(budget, SLC_SPACE_HOST, 2048, "staging"));
    slc_trace_settle(trace);
    const slci_page page = {.command = "sluice test", .trace = trace};
    char *text = write_page(&page);
    assert_int_equal(count(text, "<rect "), 1001);
    static const char *const words[] = {
        "<svg id=\"timeline\"",
        ">thread 0</text>",
        ">thread 1</text>",
        ">compute</text>",
        "<title>read, tile 3: 1 ms, 1 MiB, 1.05 GB/s</title>",
        "<title>kernel, tile 499: 1 ms</title>",
        "<svg id=\"memory\"",
        ">limit 1000 bytes<",
        ">limit 1 MiB, above this scale<",
        ">900 bytes<",
        ">2 KiB<",
    };
    expect_words(text, words, TEST_COUNT(words));
    free(text);
    slc_budget_destroy(budget);
    slc_trace_destroy(trace);
}

static void many_slices_are_drawn_as_shares(void **state) {
    (void)state;
    slc_trace *trace = trace_of(5000);
    slc_trace_settle(trace);
    const slci_page page = {.command = "sluice test", .trace = trace};
    char *text = write_page(&page);
    assert_int_equal(count(text, "<rect "), 1); /* the survey */
    assert_int_equal(count(text, "share of the time</title>"), 3);
    static const char *const words[] = {"a column is 2.01 ms of the run",
                                        "10\xE2\x80\xAF"
                                        "001 slices are too many"};
    expect_words(text, words, TEST_COUNT(words));
    assert_true(strlen(text) < 200000);
    free(text);
    slc_trace_destroy(trace);
}

/* An empty trace, no ledger, no time: still a page. */
static void a_page_of_nothing_is_a_page(void **state) {
    (void)state;
    slc_trace *trace = NULL;
    TEST_OK(slc_trace_create(4096, &trace));
    slc_trace_settle(trace);
    const slc_plan no_plan = {.n_axes = 0};
    const slc_engine_report no_report = {.n_tiles = 1};
    const slci_page page = {.command = "sluice test",
                            .trace = trace,
                            .plan = &no_plan,
                            .report = &no_report};
    char *text = write_page(&page);
    assert_int_equal(count(text, "nan") + count(text, "inf"), 0);
    static const char *const words[] = {"</html>", "share of", "unknown"};
    expect_words(text, words, TEST_COUNT(words));
    free(text);
    slc_trace_destroy(trace);
}

static void a_comma_in_the_locale_changes_nothing(void **state) {
    (void)state;
    test_begin_comma_locale(); /* first, as a test that skips itself frees nothing */
    slc_trace *trace = trace_of(10);
    slc_trace_settle(trace);
    const slci_page page = {.command = "sluice test",
                            .trace = trace,
                            .plan = &plan,
                            .report = &report};
    char *found = write_page(&page);
    test_end_locale();
    char *expected = write_page(&page);
    assert_string_equal(found, expected);
    free(found);
    free(expected);
    slc_trace_destroy(trace);
}

static void what_did_not_run_is_a_plan(void **state) {
    (void)state;
    const slci_page page = {.command = "sluice test", .plan = &plan};
    char *text = write_page(&page);
    static const char *const words[] = {
        "Planned, not run: expected to take 2.5 s, limited by <strong>kernel</strong>",
        "<th>tiles</th><td class=\"n\">6</td></tr>"};
    expect_words(text, words, TEST_COUNT(words));
    assert_int_equal(count(text, "measured") + count(text, "Stages and their limits"), 0);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_escaped),
        cmocka_unit_test(base64_is_as_the_standard_has_it),
        cmocka_unit_test(numbers_have_units_and_groups),
        cmocka_unit_test(plan_and_run_stand_side_by_side),
        cmocka_unit_test(names_cannot_break_the_page),
        cmocka_unit_test(few_slices_are_drawn_one_by_one),
        cmocka_unit_test(many_slices_are_drawn_as_shares),
        cmocka_unit_test(a_page_of_nothing_is_a_page),
        cmocka_unit_test(what_did_not_run_is_a_plan),
        cmocka_unit_test(a_comma_in_the_locale_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
