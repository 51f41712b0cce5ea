/* Constants of nature and of notation, each written once. Internal to Sluice.
 *
 *     const double wavelengths_per_metre = freq_hz / SLC_SPEED_OF_LIGHT_M_S;
 */
#ifndef SLC_CORE_CONSTANTS_H
#define SLC_CORE_CONSTANTS_H

/* Exact by the definition of the metre (CGPM 1983). */
#define SLC_SPEED_OF_LIGHT_M_S 299792458.0

#define SLC_PI 3.14159265358979323846
#define SLC_TWO_PI (2.0 * SLC_PI)

/* Angles in radians, and hours of right ascension. */
#define SLC_DEGREE_RAD (SLC_PI / 180.0)
#define SLC_HOUR_RAD (SLC_PI / 12.0)
#define SLC_ARCMINUTE_RAD (SLC_PI / 10800.0)
#define SLC_ARCSECOND_RAD (SLC_PI / 648000.0)

/* And the other way round: not 1 over the above, which would round twice. */
#define SLC_RADIAN_DEG (180.0 / SLC_PI)

#define SLC_SECONDS_PER_DAY 86400.0

#endif
