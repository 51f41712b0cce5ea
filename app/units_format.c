/* Printing of numbers with units. snprintf asks the locale for the decimal point, so every number
 * goes through one function that uses the C locale for the time of the call. */
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "app/units.h"

/* snprintf into SLCI_TEXT_BYTES in the C locale. */
static void print_in_c(char *text, const char *format, ...) SLC_PRINTF(2, 3);

static void print_in_c(char *text, const char *format, ...) {
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    const locale_t before = c_locale == (locale_t)0 ? (locale_t)0 : uselocale(c_locale);
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, SLCI_TEXT_BYTES, format, arguments);
    va_end(arguments);
    if (c_locale != (locale_t)0) {
        (void)uselocale(before);
        freelocale(c_locale);
    }
}

void slci_format_number(double value, int digits, char *text) {
    print_in_c(text, "%.*g", digits, value);
}

void slci_format_shortest(double value, char *text) {
    double back = 0;
    for (int digits = 15; digits <= 17; digits++) {
        slci_format_number(value, digits, text);
        if (slci_parse_number(text, &back) == SLC_OK && back == value) {
            return;
        }
    }
}

void slci_format_bytes(int64_t bytes, char *text) {
    static const char *const names[] = {"KiB", "MiB", "GiB", "TiB"};
    if (bytes < 1024) {
        print_in_c(text, "%lld bytes", (long long)bytes);
        return;
    }
    double value = (double)bytes / 1024.0;
    size_t unit = 0;
    while (value >= 1000.0 && unit < 3) {
        value /= 1024.0;
        unit++;
    }
    print_in_c(text, value >= 1000.0 ? "%.0f %s" : "%.3g %s", value, names[unit]);
}

/* The largest unit of which the angle holds one at least (uas at the end). */
static const char *angle_unit(double rad, double *in_unit) {
    static const struct {
        const char *name;
        double per_rad;
    } units[] = {{"deg", 180.0 / M_PI},
                 {"amin", 10800.0 / M_PI},
                 {"asec", 648000.0 / M_PI},
                 {"mas", 648e6 / M_PI},
                 {"uas", 648e9 / M_PI}};
    const size_t last = sizeof units / sizeof units[0] - 1;
    size_t unit = 0;
    /* A hair below one counts as one, so that 1 deg does not become 60 amin by a rounding. */
    while (unit < last && fabs(rad) * units[unit].per_rad < 1.0 - 1e-12) {
        unit++;
    }
    *in_unit = rad * units[unit].per_rad;
    return units[unit].name;
}

void slci_format_angle(double rad, int digits, char *text) {
    double value = 0.0;
    const char *name = angle_unit(rad, &value);
    print_in_c(text, "%.*g%s", digits, value, name);
}

void slci_format_angle_down(double rad, char *text) {
    double value = 0.0;
    const char *name = angle_unit(rad, &value);
    if (value > 0.0) {
        const double step = pow(10.0, floor(log10(value)) - 2.0);
        value = floor(value / step * (1.0 + 1e-14)) * step;
    }
    print_in_c(text, "%.3g%s", value, name);
}

void slci_format_frequency(double hz, char *text) {
    static const char *const names[] = {"Hz", "kHz", "MHz", "GHz"};
    size_t unit = 0;
    while (fabs(hz) >= 1000.0 && unit < 3) {
        hz /= 1000.0;
        unit++;
    }
    print_in_c(text, "%.7g %s", hz, names[unit]);
}

void slci_format_ra(double rad, char *text) {
    const long long day_ms = 24LL * 3600 * 1000;
    const double turns = rad / (2.0 * M_PI);
    /* Rounded once and as a whole, so that no field ever shows 60. */
    const long long ms = llround((turns - floor(turns)) * (double)day_ms) % day_ms;
    print_in_c(text, "%02lld:%02lld:%02lld.%03lld", ms / 3600000, ms / 60000 % 60, ms / 1000 % 60,
               ms % 1000);
}

void slci_format_dec(double rad, char *text) {
    const long long centi = llround(fabs(rad) * (180.0 / M_PI) * 360000.0);
    print_in_c(text, "%c%02lld:%02lld:%02lld.%02lld", rad < 0.0 && centi != 0 ? '-' : '+',
               centi / 360000, centi / 6000 % 60, centi / 100 % 60, centi % 100);
}

void slci_format_seconds(double seconds, char *text) {
    if (!(seconds < 1e15)) {
        print_in_c(text, "unknown");
        return;
    }
    const long long whole = llround(seconds);
    if (whole < 60) {
        print_in_c(text, seconds < 9.95 ? "%.2g s" : "%.0f s", seconds);
    } else if (whole < 3600) {
        print_in_c(text, "%lld min %lld s", whole / 60, whole % 60);
    } else {
        print_in_c(text, "%lld h %lld min", whole / 3600, whole / 60 % 60);
    }
}
