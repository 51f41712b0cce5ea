/* A synthetic observation from start to end: defaults, sky, header, and rows block by block from the
 * row maker to the writer. */
#include "io/simulate.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/checked.h"
#include "core/constants.h"
#include "io/outfile.h"
#include "io/simulate_rows.h"
#include "io/simulate_telescope.h"
#include "io/uvh5_write.h"

#define DEFAULT_ARRAY "vla-d"
#define DEFAULT_HOURS 8.0

/* The built-in galaxy fills a picture of this many pixels, three of them to a fringe of the longest
 * baseline at the highest frequency. */
#define PICTURE_PIXELS 512.0
#define PIXELS_PER_FRINGE 3.0

/* A Julian date in double cannot tell times apart that are much closer than this. */
#define MIN_CADENCE_S 0.01

#define MAX_CHANNELS ((int64_t)1 << 24)
#define MAX_ROWS ((int64_t)1 << 48)

/* What a header needs and options do not hold. */
typedef struct header_parts {
    double *freq_hz, *channel_width_hz; /* [n_channels] */
    double *positions_m;                /* [n_antennas, 3] */
    const char **names;                 /* [n_antennas] */
    int polarisations[2];
    char history[256];
} header_parts;

static slc_status find_telescope(const char *name, const slci_telescope **out) {
    const slci_telescope *telescope = slci_telescope_find(name);
    if (telescope != NULL) {
        *out = telescope;
        return SLC_OK;
    }
    int64_t n = 0;
    const slci_telescope *list = slci_telescope_list(&n);
    char names[128] = "";
    size_t used = 0;
    for (int64_t t = 0; t < n && used < sizeof names; t++) {
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", t > 0 ? ", " : "",
                                 list[t].name);
    }
    return SLC_FAIL(SLC_ERROR_ARGUMENT, "there is no array '%.60s'; expected one of %s", name,
                    names);
}

static slc_status check_numbers(const slc_simulate_options *options) {
    if (options->n_rows < 1 || options->n_rows > MAX_ROWS || options->n_channels < 1 ||
        options->n_channels > MAX_CHANNELS) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "%" PRId64 " rows of %" PRId64
                        " channels cannot be simulated; expected 1 to %" PRId64
                        " and 1 to %" PRId64,
                        options->n_rows, options->n_channels, MAX_ROWS, MAX_CHANNELS);
    }
    if (options->n_polarisations < 1 || options->n_polarisations > 2) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "%d polarisations cannot be simulated; expected 1 (Stokes I) or 2 (the "
                        "parallel hands)",
                        options->n_polarisations);
    }
    const double last_hz =
        options->freq_hz + (double)(options->n_channels - 1) * options->channel_width_hz;
    if (!(options->freq_hz > 0.0) || !(options->channel_width_hz > 0.0) || !isfinite(last_hz)) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "channels from %g Hz, each %g Hz wide, cannot be simulated; expected both "
                        "above 0",
                        options->freq_hz, options->channel_width_hz);
    }
    if (!isfinite(options->ra_rad) || !(fabs(options->dec_rad) <= SLC_PI / 2.0)) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "there is no phase centre at right ascension %g, declination %g rad",
                        options->ra_rad, options->dec_rad);
    }
    if (!(options->noise_jy >= 0.0) || !isfinite(options->noise_jy)) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "a noise of %g Jy cannot be simulated; expected 0 or more",
                        options->noise_jy);
    }
    return SLC_OK;
}

static slc_status check_hours(const slc_simulate_options *options) {
    if (!(options->hours > 0.0 && options->hours <= 24.0)) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "a synthesis of %g hours cannot be simulated; expected above 0, up to 24",
                        options->hours);
    }
    return SLC_OK;
}

slc_status slc_simulate_resolve(slc_simulate_options *options) {
    slc_simulate_options resolved = *options;
    const slci_telescope *telescope = NULL;
    resolved.array = resolved.array == NULL ? DEFAULT_ARRAY : resolved.array;
    SLC_TRY(find_telescope(resolved.array, &telescope));
    resolved.n_channels = resolved.n_channels == 0 ? 1 : resolved.n_channels;
    resolved.n_polarisations = resolved.n_polarisations == 0 ? 2 : resolved.n_polarisations;
    /* A default is an exact 0; anything else, also a NaN, is the caller's and is checked. */
    resolved.hours = fpclassify(resolved.hours) == FP_ZERO ? DEFAULT_HOURS : resolved.hours;
    resolved.freq_hz =
        fpclassify(resolved.freq_hz) == FP_ZERO ? telescope->freq_hz : resolved.freq_hz;
    resolved.channel_width_hz = fpclassify(resolved.channel_width_hz) == FP_ZERO
                                    ? telescope->channel_width_hz
                                    : resolved.channel_width_hz;
    if (!resolved.has_position) {
        resolved.ra_rad = telescope->ra_deg * SLC_DEGREE_RAD;
        resolved.dec_rad = telescope->dec_deg * SLC_DEGREE_RAD;
        resolved.has_position = true;
    }
    slci_row_order order;
    SLC_TRY(check_hours(&resolved));
    if (resolved.n_rows == 0) {
        const double n_times = floor(resolved.hours * 3600.0 / telescope->cadence_s + 0.5);
        const int64_t n = telescope->n_antennas;
        resolved.n_rows = n * (n - 1) / 2 * slc_max_i64((int64_t)n_times, 1);
    }
    SLC_TRY(check_numbers(&resolved));
    slci_row_order_init(&resolved, telescope, &order);
    if (order.cadence_s < MIN_CADENCE_S) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "%" PRId64 " rows in %g hours are %" PRId64
                        " times, closer to each other than %g s; fewer rows or more hours would do",
                        resolved.n_rows, resolved.hours, order.n_times, MIN_CADENCE_S);
    }
    *options = resolved;
    return SLC_OK;
}

static slc_status open_sky(const slc_simulate_options *options, const slci_telescope *telescope,
                           slc_sky *out) {
    if (options->sky_path != NULL) {
        return slc_sky_read(options->sky_path, options->ra_rad, options->dec_rad, out);
    }
    const double last_hz =
        options->freq_hz + (double)(options->n_channels - 1) * options->channel_width_hz;
    const double longest_wavelengths =
        slci_telescope_longest_m(telescope) * last_hz / SLC_SPEED_OF_LIGHT_M_S;
    /* At frequencies so low that the picture would pass the horizon it is the largest that fits. */
    const double field_rad = PICTURE_PIXELS / (PIXELS_PER_FRINGE * longest_wavelengths);
    return slc_sky_galaxy(fmin(field_rad, SLC_SKY_GALAXY_MAX_FIELD_RAD), out);
}

static void destroy_parts(header_parts *parts) {
    free(parts->freq_hz);
    free(parts->channel_width_hz);
    free(parts->positions_m);
    free(parts->names);
}

static slc_status fill_parts(const slc_simulate_options *options, const slci_telescope *telescope,
                             header_parts *parts) {
    const size_t n_channels = (size_t)options->n_channels;
    const size_t n_antennas = (size_t)telescope->n_antennas;
    parts->freq_hz = calloc(n_channels, sizeof(double));
    parts->channel_width_hz = calloc(n_channels, sizeof(double));
    parts->positions_m = calloc(n_antennas, 3 * sizeof(double));
    parts->names = calloc(n_antennas, sizeof(const char *));
    if (parts->freq_hz == NULL || parts->channel_width_hz == NULL || parts->positions_m == NULL ||
        parts->names == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for a header of %" PRId64 " channels",
                        options->n_channels);
    }
    for (size_t c = 0; c < n_channels; c++) {
        parts->freq_hz[c] = options->freq_hz + (double)c * options->channel_width_hz;
        parts->channel_width_hz[c] = options->channel_width_hz;
    }
    for (size_t a = 0; a < n_antennas; a++) {
        slci_enu_to_ecef(telescope->latitude_deg * SLC_DEGREE_RAD,
                         telescope->longitude_deg * SLC_DEGREE_RAD, telescope->antennas[a].enu_m,
                         parts->positions_m + 3 * a);
        parts->names[a] = telescope->antennas[a].name;
    }
    const bool is_stokes = options->n_polarisations == 1;
    parts->polarisations[0] = is_stokes ? 1 : telescope->polarisations[0];
    parts->polarisations[1] = telescope->polarisations[1];
    (void)snprintf(
        parts->history, sizeof parts->history,
        "Simulated by Sluice: array %s (positions as published, approximate), %s, noise %s "
        "(seed %" PRIu64 ").",
        options->array, options->sky_path != NULL ? "sky from a list" : "built-in radio galaxy",
        options->noise_jy > 0.0 ? "added" : "none", options->seed);
    return SLC_OK;
}

static slc_status create_writer(const slc_simulate_options *options,
                                const slci_telescope *telescope, slc_uvh5_writer **out) {
    header_parts parts = {0};
    slci_row_order order;
    slci_row_order_init(options, telescope, &order);
    slc_status status = fill_parts(options, telescope, &parts);
    if (status == SLC_OK) {
        const slc_uvh5_header header = {.n_rows = options->n_rows,
                                        .n_channels = options->n_channels,
                                        .n_polarisations = options->n_polarisations,
                                        .n_antennas = telescope->n_antennas,
                                        .n_times = order.n_times,
                                        .n_baselines = order.n_baselines,
                                        .latitude_deg = telescope->latitude_deg,
                                        .longitude_deg = telescope->longitude_deg,
                                        .altitude_m = telescope->altitude_m,
                                        .ra_rad = options->ra_rad,
                                        .dec_rad = options->dec_rad,
                                        .freq_hz = parts.freq_hz,
                                        .channel_width_hz = parts.channel_width_hz,
                                        .polarisations = parts.polarisations,
                                        .antenna_names = parts.names,
                                        .antenna_positions_m = parts.positions_m,
                                        .antenna_diameter_m = telescope->diameter_m,
                                        .telescope = telescope->observatory,
                                        .object = options->sky_path != NULL ? "simulated sky"
                                                                            : "simulated galaxy",
                                        .history = parts.history};
        const slc_uvh5_options writing = {.zstd_level = options->zstd_level,
                                          .overwrite = options->overwrite};
        status = slc_outfile_check(options->path, options->overwrite,
                                   slc_uvh5_needed_bytes(&header, &writing));
        if (status == SLC_OK) {
            status = slc_uvh5_writer_create(options->path, &header, &writing, out);
        }
    }
    destroy_parts(&parts);
    return status;
}

/* Nothing sees through the ground, but the sum is as good there as anywhere. */
static void warn_of_horizon(const slc_simulate_options *options, const slci_telescope *telescope) {
    const double latitude_rad = telescope->latitude_deg * SLC_DEGREE_RAD;
    const double half_turn = options->hours / 24.0 * SLC_PI;
    const double sine_of_elevation = sin(options->dec_rad) * sin(latitude_rad) +
                                     cos(options->dec_rad) * cos(latitude_rad) * cos(half_turn);
    if (sine_of_elevation < 0.0) {
        slc_log_warning(
            options->log,
            "the phase centre is below the horizon of %s for a part of the %g hours; it "
            "is simulated all the same",
            telescope->observatory, options->hours);
    }
}

static slc_status write_rows(const slc_simulate_options *options, slci_row_maker *maker,
                             slc_uvh5_writer *writer) {
    const int64_t block = slci_row_maker_block(maker);
    for (int64_t row = 0; row < options->n_rows; row += block) {
        const int64_t n = slc_min_i64(block, options->n_rows - row);
        slc_uvh5_rows rows;
        SLC_TRY(slci_row_maker_make(maker, row, n, &rows));
        SLC_TRY(slc_uvh5_writer_append(writer, &rows));
        if (options->progress != NULL) {
            options->progress(options->progress_context, row + n, options->n_rows);
        }
    }
    return SLC_OK;
}

slc_status slc_simulate_run(const slc_simulate_options *options) {
    slc_simulate_options resolved = *options;
    const slci_telescope *telescope = NULL;
    slc_sky sky = {0};
    slci_row_maker *maker = NULL;
    slc_uvh5_writer *writer = NULL;
    slc_status status = SLC_OK;
    if (options->path == NULL || options->pool == NULL) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "a simulation needs a path and a pool");
    }
    SLC_TRY(slc_simulate_resolve(&resolved));
    SLC_TRY(find_telescope(resolved.array, &telescope));
    SLC_TRY_GOTO(done, open_sky(&resolved, telescope, &sky));
    SLC_TRY_GOTO(done, slci_row_maker_create(&resolved, telescope, &sky, &maker));
    warn_of_horizon(&resolved, telescope);
    SLC_TRY_GOTO(done, create_writer(&resolved, telescope, &writer));
    SLC_TRY_GOTO(done, write_rows(&resolved, maker, writer));
    status = slc_uvh5_writer_commit(writer);
done:
    slc_uvh5_writer_destroy(writer);
    slci_row_maker_destroy(maker);
    slc_sky_destroy(&sky);
    return status;
}
