/* Filters as text: what is taken, what is printed, what is refused. */
#include "tests/support/test_support.h"

#include "io/h5_filter.h"

static void texts_are_read_and_printed(void **state) {
    (void)state;
    static const struct {
        const char *text, *printed;
    } cases[] = {{"none", "none"},
                 {"input", "input"},
                 {"deflate", "deflate:4"},
                 {"deflate:9", "deflate:9"},
                 {"zstd", "zstd:3"},
                 {"zstd:22", "zstd:22"},
                 {"bitshuffle-lz4", "bitshuffle-lz4"},
                 {"bitshuffle-zstd", "bitshuffle-zstd:1"},
                 {"bitshuffle-zstd:5", "bitshuffle-zstd:5"}};
    for (int64_t k = 0; k < TEST_COUNT(cases); k++) {
        slc_h5_filter filter;
        char text[SLC_H5_FILTER_BYTES];
        TEST_OK(slc_h5_filter_parse(cases[k].text, &filter));
        slc_h5_filter_print(&filter, text);
        assert_string_equal(text, cases[k].printed);
    }
}

static void other_texts_are_refused(void **state) {
    (void)state;
    static const char *const texts[] = {"",           "gzip",    "deflate:", "deflate:0",
                                        "deflate:10", "zstd:23", "none:1",   "zstd:three",
                                        "zstd:3 ",    "Deflate"};
    for (int64_t k = 0; k < TEST_COUNT(texts); k++) {
        slc_h5_filter filter;
        TEST_FAILS(slc_h5_filter_parse(texts[k], &filter), SLC_ERROR_ARGUMENT, texts[k]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_read_and_printed),
        cmocka_unit_test(other_texts_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
