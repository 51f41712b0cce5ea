/* Strict parsing of numbers with units. */
#include "tests/support/test_locale.h"

#include <math.h>

#include "core/units.h"

static void takes_sizes_of_memory(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t bytes;
    } cases[] = {
        {"0", 0},
        {"1", 1},
        {"123B", 123},
        {"4K", 4096},
        {"4KiB", 4096},
        {"4kB", 4000},
        {"512M", INT64_C(536870912)},
        {"512MiB", INT64_C(536870912)},
        {"512MB", INT64_C(512000000)},
        {"0.5G", INT64_C(536870912)},
        {".5G", INT64_C(536870912)},
        {"1.G", INT64_C(1073741824)},
        {"+2GB", INT64_C(2000000000)},
        {"1T", INT64_C(1099511627776)},
        {"2TiB", INT64_C(2199023255552)},
        {"1.5TB", INT64_C(1500000000000)},
        {"1e9", INT64_C(1000000000)},
        {"0.3K", 307},
        /* Beyond 2^53 a double would round. */
        {"9007199254740993", INT64_C(9007199254740993)},
        {"9223372036854775807", INT64_MAX},
    };
    for (int64_t i = 0; i < TEST_COUNT(cases); i++) {
        int64_t bytes = -1;
        TEST_OK(slci_parse_bytes(cases[i].text, &bytes));
        assert_int_equal(bytes, cases[i].bytes);
    }
}

static void refuses_sizes_of_memory(void **state) {
    (void)state;
    static const char *const texts[] = {"",
                                        "4Q",
                                        "M",
                                        "-1",
                                        "-0.5G",
                                        "4 M",
                                        " 4M",
                                        "4M ",
                                        "4m",
                                        "4k",
                                        "4KB",
                                        "1,5G",
                                        "nan",
                                        "inf",
                                        "0x10",
                                        "1e",
                                        "1.5",
                                        "1.5B",
                                        "1e400",
                                        "--4M",
                                        "4MiBs",
                                        "1.2.3G",
                                        "9223372036854775808",
                                        "9000000T",
                                        "1e19",
                                        "8388608T",
                                        "e5"};
    for (int64_t i = 0; i < TEST_COUNT(texts); i++) {
        int64_t bytes = 77;
        TEST_FAILS(slci_parse_bytes(texts[i], &bytes), SLC_ERROR_ARGUMENT, "0.5G");
        assert_int_equal(bytes, 77);
    }
}

static void takes_angles(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double rad;
    } cases[] = {{"180deg", M_PI},
                 {"60amin", M_PI / 180.0},
                 {"3600asec", M_PI / 180.0},
                 {"1000mas", M_PI / 648000.0},
                 {"1e6uas", M_PI / 648000.0},
                 {"0.002rad", 0.002},
                 {"-1.5deg", -M_PI / 120.0},
                 {"1e-5rad", 1e-5}};
    for (int64_t i = 0; i < TEST_COUNT(cases); i++) {
        double rad = 0.0;
        TEST_OK(slci_parse_angle(cases[i].text, &rad));
        assert_true(fabs(rad - cases[i].rad) <= 4e-16 * fabs(cases[i].rad));
    }
}

static void refuses_angles(void **state) {
    (void)state;
    static const char *const texts[] = {"",           "20",      "1,5asec", "asec",     "20arcsec",
                                        "20 asec",    "nandeg",  "infrad",  "1e400rad", "0x1rad",
                                        "1e308e1deg", "20asecs", "--1deg",  "20ASEC"};
    for (int64_t i = 0; i < TEST_COUNT(texts); i++) {
        double rad = 7.0;
        TEST_FAILS(slci_parse_angle(texts[i], &rad), SLC_ERROR_ARGUMENT, "20asec");
        assert_true(rad == 7.0);
    }
    double rad = 0.0;
    TEST_FAILS(slci_parse_angle("20", &rad), SLC_ERROR_ARGUMENT, "has no unit");
    TEST_FAILS(slci_parse_angle("1,5asec", &rad), SLC_ERROR_ARGUMENT, "',5asec'");
}

static void takes_and_refuses_frequencies(void **state) {
    (void)state;
    double hz = 0.0;
    TEST_OK(slci_parse_frequency("1.42GHz", &hz));
    assert_true(fabs(hz - 1.42e9) < 1e-3);
    TEST_OK(slci_parse_frequency("150MHz", &hz));
    assert_true(hz == 150e6);
    TEST_OK(slci_parse_frequency("3kHz", &hz));
    assert_true(hz == 3000.0);
    TEST_FAILS(slci_parse_frequency("150e6", &hz), SLC_ERROR_ARGUMENT, "1.4GHz");
    TEST_FAILS(slci_parse_frequency("0MHz", &hz), SLC_ERROR_ARGUMENT, "not above zero");
    TEST_FAILS(slci_parse_frequency("-3MHz", &hz), SLC_ERROR_ARGUMENT, "not above zero");
    TEST_FAILS(slci_parse_frequency("3mhz", &hz), SLC_ERROR_ARGUMENT, "'mhz'");
    TEST_FAILS(slci_parse_frequency("1e305GHz", &hz), SLC_ERROR_ARGUMENT, "out of range");
}

static void parses_times(void **state) {
    (void)state;
    double seconds = 0.0;
    TEST_OK(slci_parse_seconds("60s", &seconds));
    assert_true(seconds == 60.0);
    TEST_OK(slci_parse_seconds("250ms", &seconds));
    assert_true(seconds == 0.25);
    TEST_OK(slci_parse_seconds("1.5min", &seconds));
    assert_true(seconds == 90.0);
    TEST_OK(slci_parse_seconds("2h", &seconds));
    assert_true(seconds == 7200.0);
    TEST_FAILS(slci_parse_seconds("60", &seconds), SLC_ERROR_ARGUMENT, "no unit");
    TEST_FAILS(slci_parse_seconds("0s", &seconds), SLC_ERROR_ARGUMENT, "not above zero");
    TEST_FAILS(slci_parse_seconds("5m", &seconds), SLC_ERROR_ARGUMENT, "'m'");
}

static void numbers_are_whole_words(void **state) {
    (void)state;
    double value = 0.0;
    TEST_OK(slci_parse_number("-1.25e-2", &value));
    assert_true(value == -0.0125);
    static const char *const texts[] = {"",   "nan", "inf",    "-inf",     "0x1p3", "1e400",
                                        "1 ", " 1",  "1,5",    "1e",       "1e+",   ".",
                                        "+",  "1f",  "1e-400", "infinity", "1_000"};
    for (int64_t i = 0; i < TEST_COUNT(texts); i++) {
        TEST_FAILS(slci_parse_number(texts[i], &value), SLC_ERROR_ARGUMENT, "expected");
    }
    char digits[400];
    memset(digits, '9', sizeof digits - 1);
    digits[sizeof digits - 1] = '\0';
    TEST_FAILS(slci_parse_number(digits, &value), SLC_ERROR_ARGUMENT, "out of range");
    assert_true(value == -0.0125);
}

static void integers_stay_in_range(void **state) {
    (void)state;
    int64_t value = 0;
    TEST_OK(slci_parse_integer("-5", -5, 5, &value));
    assert_int_equal(value, -5);
    TEST_FAILS(slci_parse_integer("6", -5, 5, &value), SLC_ERROR_ARGUMENT, "-5 to 5");
    TEST_FAILS(slci_parse_integer("4.0", 0, 5, &value), SLC_ERROR_ARGUMENT, "whole number");
    TEST_FAILS(slci_parse_integer("", 0, 5, &value), SLC_ERROR_ARGUMENT, "whole number");
    TEST_FAILS(slci_parse_integer("99999999999999999999", 0, 5, &value), SLC_ERROR_ARGUMENT,
               "0 to 5");
    uint64_t seed = 0;
    TEST_OK(slci_parse_unsigned("18446744073709551615", &seed));
    assert_true(seed == UINT64_MAX);
    TEST_FAILS(slci_parse_unsigned("18446744073709551616", &seed), SLC_ERROR_ARGUMENT, "whole");
    TEST_FAILS(slci_parse_unsigned("-1", &seed), SLC_ERROR_ARGUMENT, "whole");
    TEST_FAILS(slci_parse_unsigned("", &seed), SLC_ERROR_ARGUMENT, "whole");
}

static void takes_and_refuses_index_ranges(void **state) {
    (void)state;
    int64_t begin = -1;
    int64_t end = -1;
    TEST_OK(slci_parse_index_range("2:5", &begin, &end));
    assert_int_equal(begin, 2);
    assert_int_equal(end, 5);
    TEST_OK(slci_parse_index_range("3:", &begin, &end));
    assert_int_equal(begin, 3);
    assert_int_equal(end, 0);
    TEST_OK(slci_parse_index_range(":4", &begin, &end));
    assert_int_equal(begin, 0);
    assert_int_equal(end, 4);
    static const char *const texts[] = {
        "",      "5",   ":",   "5:2",   "2:2",  "0:0",  "-1:4",
        "1:2:3", "1-3", "a:b", "1.5:3", "1: 3", "1:-1", "1:99999999999999999999"};
    for (int64_t i = 0; i < TEST_COUNT(texts); i++) {
        TEST_FAILS(slci_parse_index_range(texts[i], &begin, &end), SLC_ERROR_ARGUMENT, "A:B");
    }
}

static void takes_and_refuses_number_ranges(void **state) {
    (void)state;
    double lowest = -1.0;
    double highest = -1.0;
    TEST_OK(slci_parse_number_range("10:2e3", &lowest, &highest));
    assert_true(lowest == 10.0 && highest == 2000.0);
    TEST_OK(slci_parse_number_range("0.5:", &lowest, &highest));
    assert_true(lowest == 0.5 && highest == 0.0);
    TEST_OK(slci_parse_number_range(":7", &lowest, &highest));
    assert_true(lowest == 0.0 && highest == 7.0);
    static const char *const texts[] = {"",     ":",       "5",     "5:5",   "7:5",
                                        "-1:5", "1:nan",   "1:inf", "1:2:3", "1,5:3",
                                        "1: 2", "1:1e400", "0:-3"};
    for (int64_t i = 0; i < TEST_COUNT(texts); i++) {
        TEST_FAILS(slci_parse_number_range(texts[i], &lowest, &highest), SLC_ERROR_ARGUMENT, "A:B");
    }
}

static void takes_and_refuses_sizes(void **state) {
    (void)state;
    int64_t nx = 0;
    int64_t ny = 0;
    TEST_OK(slci_parse_size("127", &nx, &ny));
    assert_true(nx == 127 && ny == 127);
    TEST_OK(slci_parse_size("128x100", &nx, &ny));
    assert_true(nx == 128 && ny == 100);
    TEST_OK(slci_parse_size("65537x65537", &nx, &ny));
    assert_true(nx == 65537 && ny == 65537);
    static const char *const texts[] = {"",        "128x",         "x128",
                                        "0",       "0x5",          "5x0",
                                        "-5",      "1.5",          "1e3",
                                        "128X128", "1x2x3",        "128,128",
                                        "+5",      "4294967296x1", "99999999999999999999",
                                        "5 "};
    for (int64_t i = 0; i < TEST_COUNT(texts); i++) {
        TEST_FAILS(slci_parse_size(texts[i], &nx, &ny), SLC_ERROR_ARGUMENT, "");
    }
    TEST_FAILS(slci_parse_size("128x", &nx, &ny), SLC_ERROR_ARGUMENT, "NXxNY");
}

static void takes_positions(void **state) {
    (void)state;
    const double degree = M_PI / 180.0;
    static const char *const texts[] = {"04:02:27.98592,-30:19:37.884",
                                        "4h2m27.98592s,-30d19m37.884s",
                                        "60.616608deg,-30.32719deg"};
    for (int64_t i = 0; i < TEST_COUNT(texts); i++) {
        double ra = 0.0;
        double dec = 0.0;
        TEST_OK(slci_parse_position(texts[i], &ra, &dec));
        assert_true(fabs(ra - 60.616608 * degree) < 1e-9 * degree);
        assert_true(fabs(dec - -30.32719 * degree) < 1e-9 * degree);
    }
    double ra = 0.0;
    double dec = 0.0;
    /* The sign of a declination between 0 and -1 degree is in front of the zero. */
    TEST_OK(slci_parse_position("0:0:0,-00:30:00", &ra, &dec));
    assert_true(ra == 0.0 && fabs(dec - -0.5 * degree) < 1e-15);
    TEST_OK(slci_parse_position("-90deg,90deg", &ra, &dec));
    assert_true(fabs(ra - 1.5 * M_PI) < 1e-15 && fabs(dec - M_PI / 2.0) < 1e-15);
    TEST_OK(slci_parse_ra("24:00:00", &ra));
    assert_true(ra < 1e-12);
}

static void refuses_positions(void **state) {
    (void)state;
    double ra = 0.0;
    double dec = 0.0;
    static const char *const texts[] = {"",
                                        "60.6,-30.3",
                                        "60.6deg",
                                        "04:60:00,1deg",
                                        "04:00:60,1deg",
                                        "1deg,91deg",
                                        "1deg,-90:00:01",
                                        "4:2,1deg",
                                        "1,5deg,2deg",
                                        "4h2m,1deg",
                                        "nandeg,1deg",
                                        "361deg,0deg",
                                        "04:02:27.9e1,1deg",
                                        "4:2:3s,1deg",
                                        ","};
    for (int64_t i = 0; i < TEST_COUNT(texts); i++) {
        TEST_FAILS(slci_parse_position(texts[i], &ra, &dec), SLC_ERROR_ARGUMENT, "");
    }
}

static void the_locale_does_not_matter(void **state) {
    (void)state;
    double rad = 0.0;
    double unchanged = 0.0;
    test_begin_comma_locale();
    const slc_status with_point = slci_parse_angle("1.5rad", &rad);
    const slc_status with_comma = slci_parse_angle("1,5rad", &unchanged);
    test_end_locale();
    assert_int_equal(with_point, SLC_OK);
    assert_true(rad == 1.5);
    assert_int_equal(with_comma, SLC_ERROR_ARGUMENT);
    assert_non_null(strstr(slc_status_message(), "',5rad'"));
}

static void sexagesimal_numbers_have_one_form(void **state) {
    (void)state;
    static const char *const refused[] = {"",        "1:2",    "1:2:3:4",  "1:60:0", "1:0:60",
                                          "1:2:3e1", "1::3",   "1000:0:0", "1:-2:3", "1:2:",
                                          " 1:2:3",  "1d2m3s", "--1:2:3"};
    double value = 0.0;
    assert_true(slci_parse_sexagesimal("1:30:36", "::", &value));
    assert_true(fabs(value - 1.51) < 1e-15);
    assert_true(slci_parse_sexagesimal("-0:30:00.0", "::", &value));
    assert_true(value == -0.5);
    assert_true(slci_parse_sexagesimal("+12d15m0s", "dms", &value));
    assert_true(value == 12.25);
    for (int64_t k = 0; k < TEST_COUNT(refused); k++) {
        value = 7.0;
        assert_false(slci_parse_sexagesimal(refused[k], "::", &value));
        assert_true(value == 7.0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_sizes_of_memory),
        cmocka_unit_test(refuses_sizes_of_memory),
        cmocka_unit_test(takes_angles),
        cmocka_unit_test(refuses_angles),
        cmocka_unit_test(takes_and_refuses_frequencies),
        cmocka_unit_test(parses_times),
        cmocka_unit_test(numbers_are_whole_words),
        cmocka_unit_test(integers_stay_in_range),
        cmocka_unit_test(takes_and_refuses_index_ranges),
        cmocka_unit_test(takes_and_refuses_number_ranges),
        cmocka_unit_test(takes_and_refuses_sizes),
        cmocka_unit_test(takes_positions),
        cmocka_unit_test(refuses_positions),
        cmocka_unit_test(sexagesimal_numbers_have_one_form),
        cmocka_unit_test(the_locale_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
