/* Directions on the sky: right ascension and declination against direction cosines.
 * The orthographic (SIN) projection about a tangent point, as in FITS, and the date that goes with it.
 * Internal to Sluice.
 *
 *     if (slci_sky_to_cosines(ra0_rad, dec0_rad, ra_rad, dec_rad, &l, &m)) { ... }
 */
#ifndef SLC_CORE_SKY_H
#define SLC_CORE_SKY_H

#include <stdbool.h>

/* l (east) and m (north) of a direction seen from the tangent point, all radians; false when it lies
 * 90 degrees or more away. Source: FITS WCS paper II, Calabretta & Greisen 2002, section 5.1.5. */
bool slci_sky_to_cosines(double ra0_rad, double dec0_rad, double ra_rad, double dec_rad, double *l,
                         double *m);

/* The inverse; ra in [0, 2π). False beyond the horizon (l² + m² > 1). */
bool slci_sky_from_cosines(double ra0_rad, double dec0_rad, double l, double m, double *ra_rad,
                           double *dec_rad);

/* "2017-04-11T01:02:03.456" for a Julian date in UTC; `out` has at least 32 bytes. */
void slci_sky_iso_date(double jd_utc, char *out);

#endif
