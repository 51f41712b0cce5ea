/* Printing of numbers with units, for people and for machines. */
#include "tests/support/test_locale.h"

#include <math.h>

#include "core/units.h"

static void shortest_numbers_read_back_the_same(void **state) {
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0.1, "0.1"},
                 {1e-6, "1e-06"},
                 {-12345678.0, "-12345678"},
                 {1.0 / 3.0, "0.3333333333333333"},
                 {0.1 + 0.2, "0.30000000000000004"},
                 {5e300, "5e+300"}};
    char text[SLCI_TEXT_BYTES];
    for (int64_t k = 0; k < TEST_COUNT(cases); k++) {
        slci_format_shortest(cases[k].value, text);
        assert_string_equal(text, cases[k].text);
    }
    slci_format_number(1234.5678, 6, text);
    assert_string_equal(text, "1234.57");
}

static void angles_take_the_largest_unit_that_fits(void **state) {
    (void)state;
    static const struct {
        double deg;
        const char *text;
    } cases[] = {{1.5, "1.5deg"},       {1.0 / 60.0, "1amin"},   {0.5 / 60.0, "30asec"},
                 {1.0 / 3.6e6, "1mas"}, {-2.0 / 3.6e9, "-2uas"}, {1e-3 / 3.6e9, "0.001uas"}};
    char text[SLCI_TEXT_BYTES];
    for (int64_t k = 0; k < TEST_COUNT(cases); k++) {
        slci_format_angle(cases[k].deg * (M_PI / 180.0), 4, text);
        assert_string_equal(text, cases[k].text);
    }
    slci_format_angle_down(1.9999 * M_PI / 648000.0, text);
    assert_string_equal(text, "1.99asec");
}

static void prints_numbers_for_people(void **state) {
    (void)state;
    char text[SLCI_TEXT_BYTES];
    slci_format_bytes(900, text);
    assert_string_equal(text, "900 bytes");
    slci_format_bytes(64 << 20, text);
    assert_string_equal(text, "64 MiB");
    slci_format_bytes(INT64_C(1610612736), text);
    assert_string_equal(text, "1.5 GiB");
    slci_format_bytes(INT64_MAX, text);
    assert_string_equal(text, "8388608 TiB");
    slci_format_frequency(1.42e9, text);
    assert_string_equal(text, "1.42 GHz");
    slci_format_frequency(40e3, text);
    assert_string_equal(text, "40 kHz");
    slci_format_angle(20.0 * M_PI / 648000.0, 4, text);
    assert_string_equal(text, "20asec");
    slci_format_angle(M_PI / 180.0, 4, text);
    assert_string_equal(text, "1deg");
    slci_format_seconds(0.42, text);
    assert_string_equal(text, "0.42 s");
    slci_format_seconds(65.2, text);
    assert_string_equal(text, "1 min 5 s");
    slci_format_seconds(7380.0, text);
    assert_string_equal(text, "2 h 3 min");
    slci_format_seconds(INFINITY, text);
    assert_string_equal(text, "unknown");
}

static void prints_positions(void **state) {
    (void)state;
    const double degree = M_PI / 180.0;
    char text[SLCI_TEXT_BYTES];
    slci_format_ra(60.616608 * degree, text);
    assert_string_equal(text, "04:02:27.986");
    slci_format_dec(-30.32719 * degree, text);
    assert_string_equal(text, "-30:19:37.88");
    slci_format_dec(-0.5 * degree, text);
    assert_string_equal(text, "-00:30:00.00");
    /* What rounds up to a full minute or turn carries over. */
    slci_format_ra(59.99999999 / 3600.0 * 15.0 * degree, text);
    assert_string_equal(text, "00:01:00.000");
    slci_format_ra(2.0 * M_PI - 1e-12, text);
    assert_string_equal(text, "00:00:00.000");
    slci_format_dec(-1e-12, text);
    assert_string_equal(text, "+00:00:00.00");
}

static void suggested_angles_are_never_larger(void **state) {
    (void)state;
    uint64_t random = 5;
    for (int i = 0; i < 2000; i++) {
        const double rad = exp(test_random_between(&random, -20.0, 0.0));
        char text[SLCI_TEXT_BYTES];
        double read = 0.0;
        slci_format_angle_down(rad, text);
        TEST_OK(slci_parse_angle(text, &read));
        assert_true(read <= rad * (1.0 + 1e-12) && read > rad * 0.985);
    }
}

static void the_locale_does_not_matter(void **state) {
    (void)state;
    char number[SLCI_TEXT_BYTES];
    char angle[SLCI_TEXT_BYTES];
    char ra[SLCI_TEXT_BYTES];
    test_begin_comma_locale();
    slci_format_shortest(1.5, number);
    slci_format_angle(0.5 * M_PI / 648000.0, 3, angle);
    slci_format_ra(1.0, ra);
    test_end_locale();
    assert_string_equal(number, "1.5");
    assert_string_equal(angle, "500mas");
    assert_string_equal(ra, "03:49:10.987");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shortest_numbers_read_back_the_same),
        cmocka_unit_test(angles_take_the_largest_unit_that_fits),
        cmocka_unit_test(prints_numbers_for_people),
        cmocka_unit_test(prints_positions),
        cmocka_unit_test(suggested_angles_are_never_larger),
        cmocka_unit_test(the_locale_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
