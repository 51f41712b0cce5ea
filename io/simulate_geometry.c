/* Axes, hour angles and sidereal time: where a baseline points as seen from the sky. */
#include <math.h>
#include <stddef.h>

#include "core/constants.h"
#include "io/simulate_telescope.h"

#define J2000_JD 2451545.0
#define DAYS_PER_CENTURY 36525.0
/* Of the IERS for 2023 February 25; it stays within a millisecond over two days. */
#define UT1_MINUS_UTC_S (-0.0152)
#define TT_MINUS_UTC_S 69.184
/* Turns of the earth per day of UT1. */
#define EARTH_RATE 1.00273781191135448

void slci_enu_to_ecef(double latitude_rad, double longitude_rad, const double enu_m[3],
                      double ecef_m[3]) {
    const double sin_lat = sin(latitude_rad);
    const double cos_lat = cos(latitude_rad);
    const double sin_lon = sin(longitude_rad);
    const double cos_lon = cos(longitude_rad);
    /* Away from the axis, in the meridian plane of the place. */
    const double outward = cos_lat * enu_m[2] - sin_lat * enu_m[1];
    ecef_m[0] = cos_lon * outward - sin_lon * enu_m[0];
    ecef_m[1] = sin_lon * outward + cos_lon * enu_m[0];
    ecef_m[2] = sin_lat * enu_m[2] + cos_lat * enu_m[1];
}

void slci_uvw_matrix(double latitude_rad, double hour_angle_rad, double dec_rad,
                     double matrix[3][3]) {
    const double sin_lat = sin(latitude_rad);
    const double cos_lat = cos(latitude_rad);
    const double sin_ha = sin(hour_angle_rad);
    const double cos_ha = cos(hour_angle_rad);
    const double sin_dec = sin(dec_rad);
    const double cos_dec = cos(dec_rad);
    matrix[0][0] = cos_ha;
    matrix[0][1] = -sin_ha * sin_lat;
    matrix[0][2] = sin_ha * cos_lat;
    matrix[1][0] = sin_dec * sin_ha;
    matrix[1][1] = sin_dec * cos_ha * sin_lat + cos_dec * cos_lat;
    matrix[1][2] = cos_dec * sin_lat - sin_dec * cos_ha * cos_lat;
    matrix[2][0] = -cos_dec * sin_ha;
    matrix[2][1] = sin_dec * cos_lat - cos_dec * cos_ha * sin_lat;
    matrix[2][2] = sin_dec * sin_lat + cos_dec * cos_ha * cos_lat;
}

/* Nutation in longitude. What is left out adds up to less than 0.05 arcseconds. */
static double nutation_in_longitude(double centuries) {
    /* Multiples of the moon's mean elongation, the sun's and the moon's anomaly, the moon's argument
     * of latitude and its node; amplitude in units of 0.0001 arcseconds. */
    static const double terms[][6] = {
        {0, 0, 0, 0, 1, -171996}, {-2, 0, 0, 2, 2, -13187}, {0, 0, 0, 2, 2, -2274},
        {0, 0, 0, 0, 2, 2062},    {0, 1, 0, 0, 0, 1426},    {0, 0, 1, 0, 0, 712},
        {-2, 1, 0, 2, 2, -517},   {0, 0, 0, 2, 1, -386},    {0, 0, 1, 2, 2, -301},
        {-2, -1, 0, 2, 2, 217},   {-2, 0, 1, 0, 0, -158},   {-2, 0, 0, 2, 1, 129},
        {0, 0, -1, 2, 2, 123},    {2, 0, 0, 0, 0, 63},      {0, 0, 1, 0, 1, 63},
        {2, 0, -1, 2, 2, -59},    {0, 0, -1, 0, 1, -58},    {0, 0, 1, 2, 1, -51},
    };
    const double arguments[5] = {
        (297.85036 + 445267.111480 * centuries) * SLC_DEGREE_RAD,
        (357.52772 + 35999.050340 * centuries) * SLC_DEGREE_RAD,
        (134.96298 + 477198.867398 * centuries) * SLC_DEGREE_RAD,
        (93.27191 + 483202.017538 * centuries) * SLC_DEGREE_RAD,
        (125.04452 - 1934.136261 * centuries) * SLC_DEGREE_RAD,
    };
    double sum = 0.0;
    for (size_t k = 0; k < sizeof terms / sizeof terms[0]; k++) {
        double angle = 0.0;
        for (int a = 0; a < 5; a++) {
            angle += terms[k][a] * arguments[a];
        }
        sum += terms[k][5] * sin(angle);
    }
    return sum * 1e-4 * SLC_ARCSECOND_RAD;
}

double slci_sidereal_time(double jd_utc, double longitude_rad) {
    const double days_ut1 = (jd_utc - J2000_JD) + UT1_MINUS_UTC_S / SLC_SECONDS_PER_DAY;
    const double t =
        ((jd_utc - J2000_JD) + TT_MINUS_UTC_S / SLC_SECONDS_PER_DAY) / DAYS_PER_CENTURY;
    /* Whole turns of the two products are taken out apart, or their rounding would show. */
    const double turns =
        0.7790572732640 + fmod(days_ut1, 1.0) + fmod((EARTH_RATE - 1.0) * days_ut1, 1.0);
    const double precession =
        (0.014506 + t * (4612.156534 + t * (1.3915817 - t * 0.00000044))) * SLC_ARCSECOND_RAD;
    const double obliquity = (84381.406 - 46.836769 * t) * SLC_ARCSECOND_RAD;
    const double node = (125.04452 - 1934.136261 * t) * SLC_DEGREE_RAD;
    const double equinoxes = nutation_in_longitude(t) * cos(obliquity) +
                             (0.00264 * sin(node) + 0.000063 * sin(2.0 * node)) * SLC_ARCSECOND_RAD;
    const double angle =
        fmod(SLC_TWO_PI * turns + precession + equinoxes + longitude_rad, SLC_TWO_PI);
    return angle < 0.0 ? angle + SLC_TWO_PI : angle;
}

double slci_transit_jd(double ra_rad, double longitude_rad) {
    double jd = SLCI_EPOCH_JD;
    double ahead = fmod(ra_rad - slci_sidereal_time(jd, longitude_rad), SLC_TWO_PI);
    ahead += ahead < 0.0 ? SLC_TWO_PI : 0.0;
    /* The second step takes out what nutation changes on the way. */
    for (int k = 0; k < 3; k++) {
        jd += ahead / SLC_TWO_PI / EARTH_RATE;
        ahead = remainder(ra_rad - slci_sidereal_time(jd, longitude_rad), SLC_TWO_PI);
    }
    return jd;
}
