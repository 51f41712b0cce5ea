/* Synthetic observations: real array layouts, hour-angle synthesis and a sky of points and Gaussians.
 * Visibilities are exact in double before they are stored in single precision, noise comes from a
 * counter-based generator, and rows are written as they are made: the same file for any number of
 * threads, in little memory.
 *
 *     slc_simulate_options options = {.n_rows = 1000000, .path = "sim.uvh5", .pool = pool};
 *     SLC_TRY(slc_simulate_run(&options));
 */
#ifndef SLC_IO_SIMULATE_H
#define SLC_IO_SIMULATE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/log.h"
#include "core/pool.h"
#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One component. Gaussians have their full widths at half maximum in radians; a point has both 0.
 * Flux at frequency f is flux_jy · (f / reference)^spectral_index. */
typedef struct slc_sky_component {
    double l, m; /* direction cosines from the phase centre */
    double flux_jy;
    double major_rad, minor_rad, angle_rad; /* angle north through east */
    double spectral_index;
} slc_sky_component;

typedef struct slc_sky {
    int64_t n_components;
    slc_sky_component *components; /* owned */
    double reference_hz;           /* 0: the first channel's */
} slc_sky;

/* Reads a text file, a component a line, for a phase centre at (ra, dec); '#' starts a comment:
 *     19:59:28.36 +40:44:02.1 1.5               # ra (h:m:s, or degrees), dec (d:m:s, or degrees), Jy
 *     299.9 40.8 0.2 90 45 30 -0.7              # major, minor (arcseconds), angle (degrees), index
 *     l=0.01 m=-0.005 flux=0.5 major=2amin minor=60asec pa=30 index=-0.7
 * Angles without colons may have a unit: deg, amin, asec, mas, uas, rad. A line `reference_hz=1.4e9`
 * sets the frequency of the fluxes. SLC_ERROR_INPUT with file and line, also for what is not an
 * ordinary file or longer than 64 MiB; SLC_ERROR_MEMORY. */
SLC_API SLC_MUST_USE slc_status slc_sky_read(const char *path, double ra_rad, double dec_rad,
                                             slc_sky *out);

/* The built-in sky: a double-lobed radio galaxy with a core and background sources, scaled to the
 * picture `field_rad` wide, at most SLC_SKY_GALAXY_MAX_FIELD_RAD. SLC_ERROR_ARGUMENT,
 * SLC_ERROR_MEMORY. */
#define SLC_SKY_GALAXY_MAX_FIELD_RAD 1.2
SLC_API SLC_MUST_USE slc_status slc_sky_galaxy(double field_rad, slc_sky *out);
SLC_API void slc_sky_destroy(slc_sky *sky);

/* Zero means the default. */
typedef struct slc_simulate_options {
    const char *path;     /* required */
    const char *array;    /* "vla-d" (default), "meerkat", "mwa" */
    const char *sky_path; /* NULL: the built-in galaxy */
    int64_t n_rows; /* exactly as many are written, spread over the hours: time by time, the last
                          * one perhaps not with all baselines; default: the array's own cadence */
    int64_t n_channels; /* default 1 */
    double freq_hz;     /* of the first channel; default by array */
    double channel_width_hz;
    double ra_rad, dec_rad; /* used where has_position, else by array */
    bool has_position;
    double hours;    /* length of the synthesis, centred on transit; default 8 */
    double noise_jy; /* standard deviation of each of real and imaginary part; 0: none */
    uint64_t seed;
    int n_polarisations; /* 1 (pseudo-Stokes I) or 2 (XX, YY; RR, LL for the VLA); default 2 */
    int zstd_level;      /* 0: none */
    bool overwrite;
    slc_pool *pool;                                                     /* lent, required */
    slc_log *log;                                                       /* lent; may be NULL */
    void (*progress)(void *context, int64_t done_rows, int64_t n_rows); /* may be NULL */
    void *progress_context;
    const volatile int *cancel; /* not 0: stop with SLC_ERROR_INTERRUPTED; may be NULL */
} slc_simulate_options;

/* What the defaults become: for --help, messages and tests. */
SLC_API SLC_MUST_USE slc_status slc_simulate_resolve(slc_simulate_options *options);

/* Writes the set. The hour angle is the local sidereal time minus ra: precession, nutation and
 * aberration of the phase centre are left out. SLC_ERROR_INPUT for a sky that is refused,
 * SLC_ERROR_ARGUMENT, SLC_ERROR_OUTPUT, SLC_ERROR_INTERRUPTED, SLC_ERROR_MEMORY. */
SLC_API SLC_MUST_USE slc_status slc_simulate_run(const slc_simulate_options *options);

#ifdef __cplusplus
}
#endif
#endif
