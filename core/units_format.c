/* Printing of numbers with units; core/print.h keeps the locale out of it. */
#include <math.h>

#include "core/constants.h"
#include "core/print.h"
#include "core/units.h"

void slci_format_number(double value, int digits, char *text) {
    (void)slci_print(text, SLCI_TEXT_BYTES, "%.*g", digits, value);
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
        (void)slci_print(text, SLCI_TEXT_BYTES, "%lld bytes", (long long)bytes);
        return;
    }
    double value = (double)bytes / 1024.0;
    size_t unit = 0;
    while (value >= 1000.0 && unit < 3) {
        value /= 1024.0;
        unit++;
    }
    (void)slci_print(text, SLCI_TEXT_BYTES, value >= 1000.0 ? "%.0f %s" : "%.3g %s", value,
                     names[unit]);
}

/* The largest unit of which the angle holds one at least (uas at the end). */
static const char *angle_unit(double rad, double *in_unit) {
    static const struct {
        const char *name;
        double per_rad;
    } units[] = {{"deg", SLC_RADIAN_DEG},
                 {"amin", 10800.0 / SLC_PI},
                 {"asec", 648000.0 / SLC_PI},
                 {"mas", 648e6 / SLC_PI},
                 {"uas", 648e9 / SLC_PI}};
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
    (void)slci_print(text, SLCI_TEXT_BYTES, "%.*g%s", digits, value, name);
}

void slci_format_angle_down(double rad, char *text) {
    double value = 0.0;
    const char *name = angle_unit(rad, &value);
    if (value > 0.0) {
        const double step = pow(10.0, floor(log10(value)) - 2.0);
        value = floor(value / step * (1.0 + 1e-14)) * step;
    }
    (void)slci_print(text, SLCI_TEXT_BYTES, "%.3g%s", value, name);
}

void slci_format_frequency(double hz, char *text) {
    static const char *const names[] = {"Hz", "kHz", "MHz", "GHz"};
    size_t unit = 0;
    while (fabs(hz) >= 1000.0 && unit < 3) {
        hz /= 1000.0;
        unit++;
    }
    (void)slci_print(text, SLCI_TEXT_BYTES, "%.7g %s", hz, names[unit]);
}

void slci_format_ra(double rad, char *text) {
    const long long day_ms = 24LL * 3600 * 1000;
    const double turns = rad / SLC_TWO_PI;
    /* Rounded once and as a whole, so that no field ever shows 60. */
    const long long ms = llround((turns - floor(turns)) * (double)day_ms) % day_ms;
    (void)slci_print(text, SLCI_TEXT_BYTES, "%02lld:%02lld:%02lld.%03lld", ms / 3600000,
                     ms / 60000 % 60, ms / 1000 % 60, ms % 1000);
}

void slci_format_dec(double rad, char *text) {
    const long long centi = llround(fabs(rad) * SLC_RADIAN_DEG * 360000.0);
    (void)slci_print(text, SLCI_TEXT_BYTES, "%c%02lld:%02lld:%02lld.%02lld",
                     rad < 0.0 && centi != 0 ? '-' : '+', centi / 360000, centi / 6000 % 60,
                     centi / 100 % 60, centi % 100);
}

void slci_format_seconds(double seconds, char *text) {
    if (!(seconds < 1e15)) {
        (void)slci_print(text, SLCI_TEXT_BYTES, "unknown");
        return;
    }
    const long long whole = llround(seconds);
    if (whole < 60) {
        (void)slci_print(text, SLCI_TEXT_BYTES, seconds < 9.95 ? "%.2g s" : "%.0f s", seconds);
    } else if (whole < 3600) {
        (void)slci_print(text, SLCI_TEXT_BYTES, "%lld min %lld s", whole / 60, whole % 60);
    } else {
        (void)slci_print(text, SLCI_TEXT_BYTES, "%lld h %lld min", whole / 3600, whole / 60 % 60);
    }
}
