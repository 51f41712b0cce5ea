/* The built-in sky. A radio galaxy with two bright hotspots, lobes that fill in behind them, a jet on
 * one side and a core, among background sources; nothing in it is symmetric, so a picture that is
 * mirrored or turned is not the same picture. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/constants.h"
#include "io/simulate.h"

/* The galaxy's axis, north through east: neither along an axis nor along a diagonal. */
#define AXIS_RAD (64.0 * SLC_DEGREE_RAD)

/* All lengths in parts of the picture's width. */
typedef struct blob {
    double along, across; /* from the core: along the axis, and to its left */
    double flux_jy;
    double major, minor;
    double angle_deg; /* of the major axis against the galaxy's, towards the left */
    double spectral_index;
} blob;

static const blob galaxy[] = {
    /* core, and the knots of the jet */
    {0.000, 0.000, 0.108, 0.000, 0.000, 0, 0.0},
    {0.021, 0.002, 0.029, 0.012, 0.004, 3, -0.6},
    {0.051, 0.003, 0.023, 0.014, 0.005, 5, -0.6},
    {0.086, 0.006, 0.034, 0.016, 0.006, 4, -0.6},
    {0.125, 0.007, 0.039, 0.018, 0.006, 2, -0.6},
    {0.162, 0.009, 0.029, 0.016, 0.006, 1, -0.6},
    /* the lobe that the jet feeds: hotspots, then back towards the core */
    {0.226, 0.009, 0.270, 0.009, 0.006, 80, -0.5},
    {0.213, -0.017, 0.135, 0.011, 0.008, 30, -0.6},
    {0.208, 0.006, 0.164, 0.031, 0.025, 70, -0.7},
    {0.184, -0.015, 0.152, 0.039, 0.027, 15, -0.8},
    {0.178, 0.026, 0.126, 0.036, 0.025, -20, -0.8},
    {0.146, 0.005, 0.152, 0.047, 0.035, 5, -0.9},
    {0.112, -0.018, 0.101, 0.047, 0.035, 20, -1.0},
    {0.094, 0.026, 0.075, 0.043, 0.031, -25, -1.0},
    {0.060, 0.006, 0.051, 0.047, 0.039, 0, -1.2},
    /* the other lobe, a little shorter and bent */
    {-0.197, 0.028, 0.210, 0.010, 0.007, 70, -0.5},
    {-0.182, 0.045, 0.105, 0.012, 0.009, 120, -0.6},
    {-0.177, 0.026, 0.138, 0.034, 0.027, 100, -0.7},
    {-0.153, 0.006, 0.138, 0.041, 0.029, -30, -0.8},
    {-0.146, 0.046, 0.101, 0.037, 0.025, -10, -0.8},
    {-0.115, 0.018, 0.126, 0.048, 0.035, -20, -0.9},
    {-0.080, 0.033, 0.075, 0.043, 0.031, -40, -1.0},
    {-0.065, -0.009, 0.057, 0.041, 0.033, 10, -1.1},
    {-0.036, 0.015, 0.032, 0.041, 0.035, 0, -1.2},
};

/* East and north of the centre. */
typedef struct background {
    double east, north, flux_jy, spectral_index;
} background;

static const background sources[] = {
    {-0.412, 0.231, 0.046, -0.7},  {0.298, 0.387, 0.031, -0.8},   {0.071, -0.268, 0.058, -0.7},
    {-0.187, -0.394, 0.022, -0.6}, {0.436, -0.119, 0.027, -0.8},  {-0.341, -0.163, 0.035, -0.9},
    {0.164, 0.291, 0.015, -0.7},   {-0.099, 0.334, 0.040, -0.8},  {0.352, -0.347, 0.018, 0.1},
    {-0.276, 0.418, 0.012, -0.7},  {-0.443, -0.371, 0.029, -1.0}, {0.239, -0.212, 0.011, -0.7},
    {0.018, 0.446, 0.020, -0.5},   {-0.228, 0.118, 0.014, -0.8},  {0.123, -0.431, 0.016, -0.7},
    {0.407, 0.164, 0.013, -0.7},   {-0.062, -0.201, 0.010, 0.0},  {-0.379, 0.046, 0.017, -0.8},
};

#define N_GALAXY ((int64_t)(sizeof galaxy / sizeof galaxy[0]))
#define N_SOURCES ((int64_t)(sizeof sources / sizeof sources[0]))

slc_status slc_sky_galaxy(double field_rad, slc_sky *out) {
    if (!(field_rad > 0.0 && field_rad <= SLC_SKY_GALAXY_MAX_FIELD_RAD)) {
        return SLC_FAIL(
            SLC_ERROR_ARGUMENT,
            "the built-in galaxy does not fit a field of %g rad; expected above 0, up to "
            "%g rad",
            field_rad, SLC_SKY_GALAXY_MAX_FIELD_RAD);
    }
    slc_sky_component *components = calloc((size_t)(N_GALAXY + N_SOURCES), sizeof *components);
    if (components == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for the built-in galaxy");
    }
    for (int64_t k = 0; k < N_GALAXY; k++) {
        const blob *b = &galaxy[k];
        /* To the left of an axis that points north lies east, where l grows. */
        components[k] = (slc_sky_component){
            .l = field_rad * (b->along * sin(AXIS_RAD) + b->across * cos(AXIS_RAD)),
            .m = field_rad * (b->along * cos(AXIS_RAD) - b->across * sin(AXIS_RAD)),
            .flux_jy = b->flux_jy,
            .major_rad = field_rad * b->major,
            .minor_rad = field_rad * b->minor,
            .angle_rad = AXIS_RAD + b->angle_deg * SLC_DEGREE_RAD,
            .spectral_index = b->spectral_index};
    }
    for (int64_t k = 0; k < N_SOURCES; k++) {
        components[N_GALAXY + k] = (slc_sky_component){.l = field_rad * sources[k].east,
                                                       .m = field_rad * sources[k].north,
                                                       .flux_jy = sources[k].flux_jy,
                                                       .spectral_index = sources[k].spectral_index};
    }
    *out = (slc_sky){.n_components = N_GALAXY + N_SOURCES, .components = components};
    return SLC_OK;
}

void slc_sky_destroy(slc_sky *sky) {
    free(sky->components);
    *sky = (slc_sky){0};
}
