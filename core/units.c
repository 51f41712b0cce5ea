/* Parsing of numbers with units. The grammar of a number is checked by hand, because strtod also
 * takes blanks, hexadecimal, "nan" and "inf", and asks the locale which character is the point; its
 * digits are then converted in the C locale. Printing is in units_format.c. */
#include "core/units.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/checked.h"
#include "core/constants.h"

#define NUMBER_BYTES 128
#define BYTES_FORMS                                                                              \
    "expected a number with K, M, G or T (also KiB, MiB, GiB, TiB: powers of 1024), kB, MB, GB " \
    "or TB (powers of 1000), or a plain number of bytes, such as 512M, 0.5G or 800MB"
#define ANGLE_FORMS                                                                          \
    "expected a number with its unit (deg, amin, asec, mas, uas or rad), such as 20asec or " \
    "0.5deg"
#define FREQUENCY_FORMS "expected a number with its unit (Hz, kHz, MHz or GHz), such as 1.4GHz"
#define SECONDS_FORMS "expected a time with its unit (ms, s, min or h), such as 60s or 5min"
#define INDEX_RANGE_FORMS                                                                   \
    "expected A:B, two whole numbers, A below B, counted from 0, B not included; A: or :B " \
    "leave one end open"
#define NUMBER_RANGE_FORMS                                                                     \
    "expected A:B, two numbers in wavelengths, 0 <= A < B, such as 500:20000; A: or :B leave " \
    "one end open"
#define SIZE_FORMS "expected N, NX NY or NXxNY, such as 512, 512 256 or 512x256"
#define RA_FORMS \
    "expected a right ascension as 04:02:27.9 or 4h02m27.9s (hours), or with a unit, 60.6deg"
#define DEC_FORMS "expected a declination as -30:19:37.9 or -30d19m37.9s, or with a unit, -30.3deg"

/* A unit and what one of it is. */
typedef struct unit {
    const char *name;
    double factor;
} unit;

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* Where the number at the beginning of `text` ends; `text` itself if there is none. An `e` counts
 * only with digits behind it. */
static const char *number_end(const char *text) {
    const char *at = text + (*text == '+' || *text == '-');
    int n_digits = 0;
    for (; is_digit(*at); at++) {
        n_digits++;
    }
    if (*at == '.') {
        for (at++; is_digit(*at); at++) {
            n_digits++;
        }
    }
    if (n_digits == 0) {
        return text;
    }
    if (*at == 'e' || *at == 'E') {
        const char *exponent = at + 1 + (at[1] == '+' || at[1] == '-');
        if (is_digit(*exponent)) {
            for (at = exponent; is_digit(*at);) {
                at++;
            }
        }
    }
    return at;
}

/* Converts the number in [text, end). False where it does not fit a double. */
static bool convert(const char *text, const char *end, double *out) {
    char copy[NUMBER_BYTES];
    const size_t length = (size_t)(end - text);
    if (length == 0 || length >= sizeof copy) {
        return false;
    }
    memcpy(copy, text, length);
    copy[length] = '\0';
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (c_locale == (locale_t)0) {
        return false;
    }
    const int saved_errno = errno;
    errno = 0;
    const double value = strtod_l(copy, NULL, c_locale);
    const bool fits = errno == 0 && isfinite(value);
    errno = saved_errno;
    freelocale(c_locale);
    if (fits) {
        *out = value;
    }
    return fits;
}

/* A number and one of the units behind it. */
static slc_status parse_with_unit(const char *text, const unit *units, size_t n_units,
                                  const char *what, const char *forms, double *out) {
    const char *end = number_end(text);
    if (end == text) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "'%.80s' is not %s: %s", text, what, forms);
    }
    double value = 0.0;
    if (!convert(text, end, &value)) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "'%.80s' is out of range: %s", text, forms);
    }
    if (*end == '\0') {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "'%.80s' has no unit: %s", text, forms);
    }
    for (size_t i = 0; i < n_units; i++) {
        if (strcmp(end, units[i].name) == 0) {
            value *= units[i].factor;
            if (!isfinite(value)) {
                return SLC_FAIL(SLC_ERROR_ARGUMENT, "'%.80s' is out of range: %s", text, forms);
            }
            *out = value;
            return SLC_OK;
        }
    }
    return SLC_FAIL(SLC_ERROR_ARGUMENT, "'%.80s' ends in '%.40s', which is no unit: %s", text, end,
                    forms);
}

slc_status slci_parse_number(const char *text, double *out) {
    const char *end = number_end(text);
    if (end == text || *end != '\0') {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "'%.80s' is not a number: expected one such as 0.5 or 1e-6", text);
    }
    if (!convert(text, end, out)) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "'%.80s' is out of range: expected a number that fits double precision",
                        text);
    }
    return SLC_OK;
}

/* The digits of [text, end) as a whole number, times a sign: below 0 there is one more. False if they
 * do not fit. */
static bool convert_signed(const char *text, const char *end, int sign, int64_t *out) {
    int64_t value = 0;
    for (; text < end; text++) {
        if (!slc_checked_mul(value, 10, &value) ||
            !slc_checked_add(value, (int64_t)sign * (*text - '0'), &value)) {
            return false;
        }
    }
    *out = value;
    return true;
}

static bool convert_digits(const char *text, const char *end, int64_t *out) {
    return convert_signed(text, end, 1, out);
}

static const char *digits_end(const char *text) {
    while (is_digit(*text)) {
        text++;
    }
    return text;
}

slc_status slci_parse_integer(const char *text, int64_t lowest, int64_t highest, int64_t *out) {
    const bool is_negative = *text == '-';
    const char *digits = text + (is_negative || *text == '+');
    const char *end = digits_end(digits);
    if (end == digits || *end != '\0') {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "'%.80s' is not a whole number: expected %lld to %lld",
                        text, (long long)lowest, (long long)highest);
    }
    int64_t value = 0;
    const bool fits = convert_signed(digits, end, is_negative ? -1 : 1, &value);
    if (!fits || value < lowest || value > highest) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "'%.80s' is out of range: expected %lld to %lld", text,
                        (long long)lowest, (long long)highest);
    }
    *out = value;
    return SLC_OK;
}

slc_status slci_parse_unsigned(const char *text, uint64_t *out) {
    const char *end = digits_end(text);
    uint64_t value = 0;
    bool fits = end != text && *end == '\0';
    for (const char *at = text; fits && at < end; at++) {
        fits = !__builtin_mul_overflow(value, (uint64_t)10, &value) &&
               !__builtin_add_overflow(value, (uint64_t)(*at - '0'), &value);
    }
    if (!fits) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "'%.80s' is not a whole number from 0 to 18446744073709551615", text);
    }
    *out = value;
    return SLC_OK;
}

/* What one of the unit is in bytes; 0 for a text that is no unit. */
static int64_t bytes_of_unit(const char *name) {
    static const struct {
        const char *name;
        int64_t bytes;
    } table[] = {
        {"", 1},
        {"B", 1},
        {"K", INT64_C(1) << 10},
        {"KiB", INT64_C(1) << 10},
        {"kB", 1000},
        {"M", INT64_C(1) << 20},
        {"MiB", INT64_C(1) << 20},
        {"MB", 1000000},
        {"G", INT64_C(1) << 30},
        {"GiB", INT64_C(1) << 30},
        {"GB", 1000000000},
        {"T", INT64_C(1) << 40},
        {"TiB", INT64_C(1) << 40},
        {"TB", INT64_C(1000000000000)},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (strcmp(name, table[i].name) == 0) {
            return table[i].bytes;
        }
    }
    return 0;
}

slc_status slci_parse_bytes(const char *text, int64_t *bytes) {
    const char *end = number_end(text);
    const int64_t unit_bytes = end == text ? 0 : bytes_of_unit(end);
    if (unit_bytes == 0) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "'%.80s' is not a size of memory: " BYTES_FORMS, text);
    }
    if (*text == '-') {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "'%.80s' is below zero: " BYTES_FORMS, text);
    }
    const char *digits = text + (*text == '+');
    if (digits_end(digits) == end) {
        /* Whole numbers stay exact: a double would round beyond 2^53. */
        int64_t count = 0;
        if (convert_digits(digits, end, &count) && slc_checked_mul(count, unit_bytes, bytes)) {
            return SLC_OK;
        }
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "'%.80s' is out of range: " BYTES_FORMS, text);
    }
    double value = 0.0;
    const bool fits = convert(text, end, &value);
    value *= (double)unit_bytes;
    if (!fits || value >= 9223372036854775808.0) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "'%.80s' is out of range: " BYTES_FORMS, text);
    }
    if (unit_bytes == 1 && value != floor(value)) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "'%.80s' is no whole number of bytes: " BYTES_FORMS,
                        text);
    }
    *bytes = (int64_t)value;
    return SLC_OK;
}

slc_status slci_parse_angle(const char *text, double *rad) {
    static const unit units[] = {
        {"deg", SLC_DEGREE_RAD}, {"amin", SLC_ARCMINUTE_RAD}, {"asec", SLC_ARCSECOND_RAD},
        {"mas", SLC_PI / 648e6}, {"uas", SLC_PI / 648e9},     {"rad", 1.0},
    };
    return parse_with_unit(text, units, sizeof units / sizeof units[0], "an angle", ANGLE_FORMS,
                           rad);
}

slc_status slci_parse_frequency(const char *text, double *hz) {
    static const unit units[] = {{"Hz", 1.0}, {"kHz", 1e3}, {"MHz", 1e6}, {"GHz", 1e9}};
    double value = 0.0;
    SLC_TRY(parse_with_unit(text, units, sizeof units / sizeof units[0], "a frequency",
                            FREQUENCY_FORMS, &value));
    if (value <= 0.0) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "'%.80s' is not above zero: " FREQUENCY_FORMS, text);
    }
    *hz = value;
    return SLC_OK;
}

slc_status slci_parse_seconds(const char *text, double *seconds) {
    static const unit units[] = {{"ms", 1e-3}, {"s", 1.0}, {"min", 60.0}, {"h", 3600.0}};
    double value = 0.0;
    SLC_TRY(parse_with_unit(text, units, sizeof units / sizeof units[0], "a time", SECONDS_FORMS,
                            &value));
    if (value <= 0.0) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "'%.80s' is not above zero: " SECONDS_FORMS, text);
    }
    *seconds = value;
    return SLC_OK;
}

slc_status slci_parse_index_range(const char *text, int64_t *begin, int64_t *end) {
    const char *first_end = digits_end(text);
    if (*first_end != ':') {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "'%.80s' is not a range: " INDEX_RANGE_FORMS, text);
    }
    const char *second = first_end + 1;
    const char *second_end = digits_end(second);
    int64_t first_value = 0;
    int64_t second_value = 0;
    if (*second_end != '\0' || (first_end == text && second_end == second) ||
        !convert_digits(text, first_end, &first_value) ||
        !convert_digits(second, second_end, &second_value)) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "'%.80s' is not a range: " INDEX_RANGE_FORMS, text);
    }
    if (second_end != second && second_value <= first_value) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "'%.80s' holds nothing: " INDEX_RANGE_FORMS, text);
    }
    *begin = first_value;
    *end = second_value;
    return SLC_OK;
}

slc_status slci_parse_number_range(const char *text, double *lowest, double *highest) {
    const char *colon = strchr(text, ':');
    const char *first_end = number_end(text);
    double first_value = 0.0;
    double second_value = 0.0;
    bool is_range = colon != NULL && first_end == colon && text[1] != '\0';
    is_range = is_range && (first_end == text || convert(text, first_end, &first_value));
    const bool has_second = is_range && colon[1] != '\0';
    if (has_second) {
        const char *second_end = number_end(colon + 1);
        is_range = second_end != colon + 1 && *second_end == '\0' &&
                   convert(colon + 1, second_end, &second_value);
    }
    if (!is_range) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "'%.80s' is not a range: " NUMBER_RANGE_FORMS, text);
    }
    if (first_value < 0.0 || (has_second && second_value <= first_value)) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "'%.80s' holds nothing: " NUMBER_RANGE_FORMS, text);
    }
    *lowest = first_value;
    *highest = second_value;
    return SLC_OK;
}

slc_status slci_parse_size(const char *text, int64_t *nx, int64_t *ny) {
    const char *first_end = digits_end(text);
    const bool is_square = *first_end == '\0';
    const char *second = is_square ? text : first_end + 1;
    const char *second_end = digits_end(second);
    if (first_end == text || second_end == second || *second_end != '\0' ||
        (!is_square && *first_end != 'x')) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "'%.80s' is not a size in pixels: " SIZE_FORMS, text);
    }
    int64_t x = 0;
    int64_t y = 0;
    if (!convert_digits(text, first_end, &x) || !convert_digits(second, second_end, &y) || x < 1 ||
        y < 1 || x > SLCI_MAX_PIXELS || y > SLCI_MAX_PIXELS) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "'%.80s' is out of range: each side has 1 to %d pixels",
                        text, SLCI_MAX_PIXELS);
    }
    *nx = x;
    *ny = y;
    return SLC_OK;
}

/* Up to three digits, and behind them `separator`; NULL where that is not what is there. */
static const char *sexagesimal_part(const char *text, char separator, double *out) {
    const char *end = digits_end(text);
    int64_t value = 0;
    if (end == text || end > text + 3 || *end != separator || !convert_digits(text, end, &value)) {
        return NULL;
    }
    *out = (double)value;
    return end + 1;
}

bool slci_parse_sexagesimal(const char *text, const char *separators, double *out) {
    const bool is_negative = *text == '-';
    double units = 0.0;
    double minutes = 0.0;
    double seconds = 0.0;
    const char *at = text + (is_negative || *text == '+');
    at = sexagesimal_part(at, separators[0], &units);
    at = at == NULL ? NULL : sexagesimal_part(at, separators[1], &minutes);
    if (at == NULL || !is_digit(*at)) {
        return false;
    }
    const char *end = number_end(at);
    const size_t length = (size_t)(end - at);
    if (memchr(at, 'e', length) != NULL || memchr(at, 'E', length) != NULL ||
        !convert(at, end, &seconds)) {
        return false;
    }
    if (strcmp(end, separators + 2) != 0 || minutes >= 60.0 || seconds >= 60.0) {
        return false;
    }
    const double value = units + minutes / 60.0 + seconds / 3600.0;
    *out = is_negative ? -value : value;
    return true;
}

slc_status slci_parse_ra(const char *text, double *rad) {
    double hours = 0.0;
    double angle = 0.0;
    if (slci_parse_sexagesimal(text, "::", &hours) || slci_parse_sexagesimal(text, "hms", &hours)) {
        angle = hours * SLC_HOUR_RAD;
    } else if (slci_parse_angle(text, &angle) != SLC_OK) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "'%.80s': " RA_FORMS, text);
    }
    if (fabs(angle) > SLC_TWO_PI * (1.0 + 1e-15)) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "'%.80s' is more than one turn: " RA_FORMS, text);
    }
    angle = angle < 0.0 ? angle + SLC_TWO_PI : angle;
    *rad = angle >= SLC_TWO_PI ? angle - SLC_TWO_PI : angle;
    return SLC_OK;
}

slc_status slci_parse_dec(const char *text, double *rad) {
    double degrees = 0.0;
    double angle = 0.0;
    if (slci_parse_sexagesimal(text, "::", &degrees) ||
        slci_parse_sexagesimal(text, "dms", &degrees)) {
        angle = degrees * SLC_DEGREE_RAD;
    } else if (slci_parse_angle(text, &angle) != SLC_OK) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "'%.80s': " DEC_FORMS, text);
    }
    if (fabs(angle) > SLC_PI / 2.0 * (1.0 + 1e-15)) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "'%.80s' is beyond a pole: " DEC_FORMS, text);
    }
    *rad = angle;
    return SLC_OK;
}

slc_status slci_parse_position(const char *text, double *ra_rad, double *dec_rad) {
    const char *comma = strchr(text, ',');
    char ra_text[NUMBER_BYTES];
    if (comma == NULL || strchr(comma + 1, ',') != NULL ||
        (size_t)(comma - text) >= sizeof ra_text) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "'%.80s' is not a position: expected RA,DEC such as "
                        "04:02:27.9,-30:19:37.9 or 60.6deg,-30.3deg",
                        text);
    }
    memcpy(ra_text, text, (size_t)(comma - text));
    ra_text[comma - text] = '\0';
    double ra = 0.0;
    SLC_TRY(slci_parse_ra(ra_text, &ra));
    SLC_TRY(slci_parse_dec(comma + 1, dec_rad));
    *ra_rad = ra;
    return SLC_OK;
}
