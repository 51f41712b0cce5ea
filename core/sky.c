#include "core/sky.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "core/constants.h"

bool slci_sky_to_cosines(double ra0_rad, double dec0_rad, double ra_rad, double dec_rad, double *l,
                         double *m) {
    const double d_ra = ra_rad - ra0_rad;
    const double n = sin(dec_rad) * sin(dec0_rad) + cos(dec_rad) * cos(dec0_rad) * cos(d_ra);
    if (n <= 0) {
        return false;
    }
    *l = cos(dec_rad) * sin(d_ra);
    *m = sin(dec_rad) * cos(dec0_rad) - cos(dec_rad) * sin(dec0_rad) * cos(d_ra);
    return true;
}

bool slci_sky_from_cosines(double ra0_rad, double dec0_rad, double l, double m, double *ra_rad,
                           double *dec_rad) {
    const double n_squared = 1.0 - l * l - m * m;
    if (n_squared < 0) {
        return false;
    }
    const double n = sqrt(n_squared);
    const double x = n * cos(dec0_rad) - m * sin(dec0_rad);
    const double z = n * sin(dec0_rad) + m * cos(dec0_rad);
    double ra = ra0_rad + atan2(l, x);
    ra -= SLC_TWO_PI * floor(ra / SLC_TWO_PI);
    *ra_rad = ra;
    *dec_rad = atan2(z, hypot(l, x));
    return true;
}

void slci_sky_iso_date(double jd_utc, char *out) {
    /* Milliseconds since JD 2440587.5, 1970-01-01T00:00; a day has 86,400,000 (leap seconds are not
     * told apart in a Julian date). */
    const double exact_ms = (jd_utc - 2440587.5) * 86400000.0;
    const int64_t ms = (int64_t)llround(exact_ms);
    int64_t days = ms / 86400000;
    int64_t rest = ms % 86400000;
    if (rest < 0) {
        rest += 86400000;
        days--;
    }
    /* Civil date from a day number, by eras of 400 years starting on 1 March. */
    const int64_t z = days + 719468;
    const int64_t era = (z >= 0 ? z : z - 146096) / 146097;
    const int64_t day_of_era = z - era * 146097;
    const int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    const int64_t day_of_year =
        day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    const int64_t month_from_march = (5 * day_of_year + 2) / 153;
    const int64_t day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    const int64_t month = month_from_march < 10 ? month_from_march + 3 : month_from_march - 9;
    const int64_t year = year_of_era + era * 400 + (month <= 2 ? 1 : 0);
    (void)snprintf(out, 32, "%04d-%02d-%02dT%02d:%02d:%02d.%03d", (int)(year % 10000), (int)month,
                   (int)day, (int)(rest / 3600000), (int)(rest / 60000 % 60),
                   (int)(rest / 1000 % 60), (int)(rest % 1000));
}
