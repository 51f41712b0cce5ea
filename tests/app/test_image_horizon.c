/* Pixels beyond the horizon are spoken of where there are any, and never as none or all of them. */
#include "app/image_horizon.h"
#include "tests/support/test_support.h"

static void the_share_is_named(void **state) {
    static const struct {
        int64_t finite, pixels;
        const char *text; /* NULL: nothing is said */
    } cases[] = {{100, 100, NULL},
                 {785, 1000, "21.5 % of the pixels lie beyond the horizon"},
                 {0, 64, "100.0 % of the pixels"},
                 {1, 1000000, "99.9 % of the pixels"},
                 {999999, 1000000, "0.1 % of the pixels"},
                 {INT64_C(1) << 35, INT64_C(1) << 36, "50.0 % of the pixels"}};
    (void)state;
    for (int64_t k = 0; k < TEST_COUNT(cases); k++) {
        char text[SLCI_IMAGE_HORIZON_BYTES] = "";
        assert_int_equal(slci_image_format_horizon(cases[k].finite, cases[k].pixels, text),
                         cases[k].text != NULL);
        if (cases[k].text != NULL) {
            assert_ptr_equal(strstr(text, cases[k].text), text);
            assert_non_null(strstr(text, "are NaN"));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_share_is_named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
