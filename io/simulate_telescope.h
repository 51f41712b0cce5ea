/* Internal: the arrays that a simulation knows, and what follows from a direction and a time. */
#ifndef SLC_IO_SIMULATE_TELESCOPE_H
#define SLC_IO_SIMULATE_TELESCOPE_H

#include <stdint.h>

typedef struct slci_antenna {
    char name[8];
    double enu_m[3]; /* east, north, up of the array's reference point */
} slci_antenna;

typedef struct slci_telescope {
    const char *name;                               /* as options spell it: "vla-d" */
    const char *observatory;                        /* as headers spell it: "VLA" */
    double latitude_deg, longitude_deg, altitude_m; /* of the reference point, WGS84 */
    double diameter_m;
    int64_t n_antennas;
    const slci_antenna *antennas;
    int polarisations[2]; /* AIPS codes of the parallel hands */
    /* Defaults of a simulation. */
    double freq_hz, channel_width_hz;
    double ra_deg, dec_deg;
    double cadence_s;
} slci_telescope;

/* All of them; *n receives how many. */
const slci_telescope *slci_telescope_list(int64_t *n);

/* NULL when there is none of that name. */
const slci_telescope *slci_telescope_find(const char *name);

/* Length of the longest baseline. */
double slci_telescope_longest_m(const slci_telescope *telescope);

/* East, north, up at a geodetic place to axes parallel to the earth-fixed ones (x towards longitude
 * 0 on the equator, z towards the north pole): a rotation, no shift. */
void slci_enu_to_ecef(double latitude_rad, double longitude_rad, const double enu_m[3],
                      double ecef_m[3]);

/* Rows of the matrix from a baseline in east, north, up to (u, v, w), w towards a direction at this
 * hour angle and declination. Source: Thompson, Moran & Swenson, Interferometry and Synthesis in
 * Radio Astronomy, chapter 4. */
void slci_uvw_matrix(double latitude_rad, double hour_angle_rad, double dec_rad,
                     double matrix[3][3]);

/* Local apparent sidereal time in [0, 2π) at a Julian date in UTC. Good to a few milliseconds around
 * SLCI_EPOCH_JD. Source: IAU 2006 sidereal time; the large terms of the IAU 1980 nutation. */
double slci_sidereal_time(double jd_utc, double longitude_rad);

/* Simulations take place on this day (2023 February 25, 0 h UTC) or the next. */
#define SLCI_EPOCH_JD 2460000.5

/* The first moment after SLCI_EPOCH_JD at which the sidereal time is `ra_rad`: transit. */
double slci_transit_jd(double ra_rad, double longitude_rad);

#endif
