/* The header of a UVH5 file, and all that can be contradicted without reading a visibility: shapes
 * against the header's counts, types, versions, filters. What the memo calls optional may be missing,
 * and so may what imaging does not need. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/checked.h"
#include "core/constants.h"
#include "io/h5_header.h"
#include "io/uvh5.h"

/* More channels, polarisations or antennas than these are a damaged header. */
#define MAX_CHANNELS ((int64_t)1 << 28)
#define MAX_POLARISATIONS 64

/* "(180, 8, 2)". */
static void shape_text(int rank, const int64_t *shape, char *out, size_t capacity) {
    size_t used = (size_t)snprintf(out, capacity, "(");
    for (int d = 0; d < rank && used < capacity; d++) {
        used += (size_t)snprintf(out + used, capacity - used, "%s%" PRId64, d > 0 ? ", " : "",
                                 shape[d]);
    }
    if (used < capacity) {
        (void)snprintf(out + used, capacity - used, ")");
    }
}

static slc_status check_shape(const slci_h5_dataset *set, int rank, const int64_t *shape,
                              const char *meaning) {
    bool is_equal = set->rank == rank && !set->is_null;
    for (int d = 0; d < rank && is_equal; d++) {
        is_equal = set->shape[d] == shape[d];
    }
    if (is_equal) {
        return SLC_OK;
    }
    char found[128];
    char expected[128];
    shape_text(set->rank, set->shape, found, sizeof found);
    shape_text(rank, shape, expected, sizeof expected);
    return SLC_FAIL(SLC_ERROR_INPUT, "%s: %s has shape %s, expected %s = %s", set->path, set->name,
                    found, meaning, expected);
}

static slc_status check_type(const slci_h5_dataset *set, bool is_good, const char *expected) {
    if (is_good) {
        return SLC_OK;
    }
    return SLC_FAIL(SLC_ERROR_UNSUPPORTED, "%s: %s is of type %s, expected %s", set->path,
                    set->name, set->type_text, expected);
}

/* A row array [Nblts] of numbers; left closed where it is optional and missing. */
static slc_status open_rows(slci_uvh5 *uvh5, const char *name, bool is_optional, bool is_integer,
                            slci_h5_dataset *set) {
    slci_h5_kind kind = SLCI_H5_DATASET;
    if (is_optional) {
        SLC_TRY(slci_h5_find(uvh5->file, uvh5->base.path, name, &kind));
    }
    if (kind == SLCI_H5_ABSENT) {
        return SLC_OK;
    }
    SLC_TRY(slci_h5_dataset_open(uvh5->file, uvh5->base.path, name, set));
    const bool is_good =
        is_integer ? slci_element_is_integer(&set->type) : slci_element_is_real(&set->type);
    SLC_TRY(check_type(set, is_good, is_integer ? "an integer" : "a real number"));
    return check_shape(set, 1, &uvh5->base.header.n_rows, "(Nblts)");
}

static slc_status open_row_arrays(slci_uvh5 *uvh5) {
    const char *path = uvh5->base.path;
    SLC_TRY(slci_h5_dataset_open(uvh5->file, path, "/Header/uvw_array", &uvh5->uvw));
    SLC_TRY(check_type(&uvh5->uvw, slci_element_is_real(&uvh5->uvw.type), "a real number"));
    const int64_t uvw_shape[2] = {uvh5->base.header.n_rows, 3};
    SLC_TRY(check_shape(&uvh5->uvw, 2, uvw_shape, "(Nblts, 3)"));
    SLC_TRY(open_rows(uvh5, "/Header/ant_1_array", false, true, &uvh5->ant_1));
    SLC_TRY(open_rows(uvh5, "/Header/ant_2_array", false, true, &uvh5->ant_2));
    SLC_TRY(open_rows(uvh5, "/Header/time_array", true, false, &uvh5->time));
    SLC_TRY(open_rows(uvh5, "/Header/lst_array", true, false, &uvh5->lst));
    SLC_TRY(open_rows(uvh5, "/Header/phase_center_id_array", true, true, &uvh5->phase_id));
    /* One number for all rows in the oldest files, else one for each row. */
    const char *name = "/Header/integration_time";
    slci_h5_kind kind = SLCI_H5_ABSENT;
    uvh5->integration_s = (double)NAN;
    SLC_TRY(slci_h5_find(uvh5->file, path, name, &kind));
    if (kind == SLCI_H5_ABSENT) {
        return SLC_OK;
    }
    SLC_TRY(slci_h5_dataset_open(uvh5->file, path, name, &uvh5->integration));
    if (uvh5->integration.rank == 0) {
        slci_h5_dataset_close(&uvh5->integration);
        return slci_h5_get_number_or(uvh5->file, path, name, (double)NAN, &uvh5->integration_s);
    }
    slci_h5_dataset_close(&uvh5->integration);
    return open_rows(uvh5, name, false, false, &uvh5->integration);
}

/* visdata gives the shape; flags and nsamples must have the same. */
static slc_status open_data(slci_uvh5 *uvh5, const slc_vis_options *options) {
    const char *path = uvh5->base.path;
    slci_vis_header *header = &uvh5->base.header;
    int64_t n_channels;
    int64_t n_polarisations;
    int64_t n_windows;
    SLC_TRY(slci_h5_get_integer(uvh5->file, path, "/Header/Nblts", &header->n_rows));
    SLC_TRY(slci_h5_get_integer(uvh5->file, path, "/Header/Nfreqs", &n_channels));
    SLC_TRY(slci_h5_get_integer(uvh5->file, path, "/Header/Npols", &n_polarisations));
    SLC_TRY(slci_h5_get_integer_or(uvh5->file, path, "/Header/Nspws", 1, &n_windows));
    if (header->n_rows < 0 || n_channels < 1 || n_channels > MAX_CHANNELS || n_polarisations < 1 ||
        n_polarisations > MAX_POLARISATIONS || n_windows < 1 || n_windows > n_channels) {
        return SLC_FAIL(SLC_ERROR_INPUT,
                        "%s: the header has impossible counts: Nblts %" PRId64 ", Nspws %" PRId64
                        ", Nfreqs %" PRId64 ", Npols %" PRId64,
                        path, header->n_rows, n_windows, n_channels, n_polarisations);
    }
    slci_h5_dataset *vis = &uvh5->vis.set;
    SLC_TRY(slci_h5_dataset_open(uvh5->file, path, "/Data/visdata", vis));
    SLC_TRY(check_type(vis, slci_element_is_complex(&vis->type),
                       "a compound of two members of one float or signed integer type"));
    /* Flexible windows share one channel axis; in rank-4 data their axis then has extent 1. */
    uvh5->is_flexible = n_windows > 1 && (vis->rank != 4 || vis->shape[1] == 1);
    uvh5->n_windows = uvh5->is_flexible || vis->rank != 4 ? 1 : n_windows;
    uvh5->n_window_channels = n_channels;
    if (vis->rank == 4) {
        const int64_t shape[4] = {header->n_rows, uvh5->n_windows, n_channels, n_polarisations};
        SLC_TRY(check_shape(vis, 4, shape, "(Nblts, Nspws, Nfreqs, Npols)"));
    } else {
        const int64_t shape[3] = {header->n_rows, n_channels, n_polarisations};
        SLC_TRY(check_shape(vis, 3, shape, "(Nblts, Nfreqs, Npols)"));
    }
    slci_h5_dataset *flags = &uvh5->flags.set;
    SLC_TRY(slci_h5_dataset_open(uvh5->file, path, "/Data/flags", flags));
    SLC_TRY(check_type(flags, slci_element_is_integer(&flags->type), "a boolean or an integer"));
    SLC_TRY(check_shape(flags, vis->rank, vis->shape, "the shape of visdata"));
    if (!options->use_unit_weights) {
        slci_h5_dataset *nsamples = &uvh5->nsamples.set;
        slci_h5_kind kind = SLCI_H5_ABSENT;
        SLC_TRY(slci_h5_find(uvh5->file, path, "/Data/nsamples", &kind));
        if (kind == SLCI_H5_ABSENT) {
            return SLC_FAIL(
                SLC_ERROR_INPUT,
                "%s: /Data/nsamples is missing; weights of 1 do without it (--unit-weights)", path);
        }
        SLC_TRY(slci_h5_dataset_open(uvh5->file, path, "/Data/nsamples", nsamples));
        SLC_TRY(check_type(nsamples, slci_element_is_real(&nsamples->type), "a real number"));
        SLC_TRY(check_shape(nsamples, vis->rank, vis->shape, "the shape of visdata"));
    }
    header->n_channels = uvh5->n_windows * n_channels;
    header->n_polarisations = (int)n_polarisations;
    return SLC_OK;
}

/* An array that must have as many numbers as the header says. */
static slc_status get_counted(const slci_uvh5 *uvh5, const char *name, int64_t expected,
                              const char *meaning, double **out) {
    int64_t n = 0;
    double *numbers = NULL;
    SLC_TRY(slci_h5_get_numbers(uvh5->file, uvh5->base.path, name, MAX_CHANNELS, &numbers, &n));
    if (n != expected) {
        free(numbers);
        return SLC_FAIL(SLC_ERROR_INPUT, "%s: %s holds %" PRId64 " numbers, expected %s = %" PRId64,
                        uvh5->base.path, name, n, meaning, expected);
    }
    *out = numbers;
    return SLC_OK;
}

/* A scalar width (before version 1.0) is that of every channel. Falling frequencies have negative
 * widths in some files. */
static slc_status read_widths(slci_uvh5 *uvh5) {
    const char *name = "/Header/channel_width";
    const char *path = uvh5->base.path;
    slci_vis_header *header = &uvh5->base.header;
    double *widths = NULL;
    int64_t n = 0;
    SLC_TRY(slci_h5_get_numbers(uvh5->file, path, name, MAX_CHANNELS, &widths, &n));
    const int64_t n_channels = header->n_channels;
    header->channel_width_hz = malloc((size_t)n_channels * sizeof(double));
    slc_status status = SLC_OK;
    if (header->channel_width_hz == NULL) {
        status = SLC_FAIL(SLC_ERROR_MEMORY, "%s: no memory for the channels", path);
    } else if (n != 1 && n != n_channels) {
        status = SLC_FAIL(SLC_ERROR_INPUT,
                          "%s: %s holds %" PRId64 " numbers, expected 1 or Nfreqs = %" PRId64, path,
                          name, n, n_channels);
    }
    for (int64_t c = 0; c < n_channels && status == SLC_OK; c++) {
        const double width = fabs(widths[n == 1 ? 0 : c]);
        header->channel_width_hz[c] = width;
        if (!slci_vis_is_frequency(width)) {
            status = SLC_FAIL(SLC_ERROR_INPUT,
                              "%s: %s is %g in channel %" PRId64
                              ", expected a width in Hz, not 0 and below 10^15",
                              path, name, widths[n == 1 ? 0 : c], c);
        }
    }
    free(widths);
    return status;
}

static slc_status read_channels(slci_uvh5 *uvh5) {
    const char *path = uvh5->base.path;
    slci_vis_header *header = &uvh5->base.header;
    SLC_TRY(get_counted(uvh5, "/Header/freq_array", header->n_channels, "Nspws x Nfreqs",
                        &header->freq_hz));
    for (int64_t c = 0; c < header->n_channels; c++) {
        if (!slci_vis_is_frequency(header->freq_hz[c])) {
            return SLC_FAIL(SLC_ERROR_INPUT,
                            "%s: /Header/freq_array is %g in channel %" PRId64
                            ", expected " SLCI_VIS_FREQUENCY,
                            path, header->freq_hz[c], c);
        }
    }
    SLC_TRY(read_widths(uvh5));
    if (uvh5->is_flexible || uvh5->n_windows > 1) {
        for (int64_t c = 1; c < header->n_channels; c++) {
            const double first = header->channel_width_hz[0];
            if (fabs(header->channel_width_hz[c] - first) > 1e-6 * first) {
                return SLC_FAIL(SLC_ERROR_UNSUPPORTED,
                                "%s: spectral windows of different channel widths (%g and %g Hz): "
                                "not supported, only several of one width",
                                path, first, header->channel_width_hz[c]);
            }
        }
    }
    return SLC_OK;
}

/* The numbers of polarization_array as AIPS codes, each of which a file has once. */
static slc_status convert_codes(const char *path, const double *numbers, int n, int *codes) {
    for (int k = 0; k < n; k++) {
        const double number = numbers[k];
        const bool is_code = number >= -8.0 && number <= 4.0 && number != 0.0;
        if (!is_code || number != trunc(number)) {
            return SLC_FAIL(SLC_ERROR_INPUT,
                            "%s: /Header/polarization_array: number %d is %.17g, expected a code "
                            "from -8 (YX) to -1 (RR) or from 1 (I) to 4 (V)",
                            path, k, number);
        }
        codes[k] = (int)number;
        for (int j = 0; j < k; j++) {
            if (codes[j] == codes[k]) {
                return SLC_FAIL(SLC_ERROR_INPUT,
                                "%s: /Header/polarization_array: %d (%s) is there twice, expected "
                                "each polarisation once",
                                path, codes[k], slc_vis_polarisation_name(codes[k]));
            }
        }
    }
    return SLC_OK;
}

/* Along which direction X lies: only some files say. */
static slc_status read_orientation(slci_uvh5 *uvh5) {
    slci_vis_header *header = &uvh5->base.header;
    char x[32];
    SLC_TRY(slci_h5_get_text(uvh5->file, uvh5->base.path, "/Header/x_orientation", x, sizeof x));
    header->is_x_east = strcasecmp(x, "east") == 0 || strcasecmp(x, "e") == 0;
    header->is_x_known =
        header->is_x_east || strcasecmp(x, "north") == 0 || strcasecmp(x, "n") == 0;
    if (x[0] != '\0' && !header->is_x_known) {
        return SLC_FAIL(SLC_ERROR_UNSUPPORTED,
                        "%s: /Header/x_orientation is '%s': not supported, expected 'east', "
                        "'north' or nothing",
                        uvh5->base.path, x);
    }
    return SLC_OK;
}

static slc_status read_polarisations(slci_uvh5 *uvh5) {
    const char *path = uvh5->base.path;
    slci_vis_header *header = &uvh5->base.header;
    double *codes = NULL;
    char convention[32];
    SLC_TRY(slci_h5_get_text(uvh5->file, path, "/Header/pol_convention", convention,
                             sizeof convention));
    if (convention[0] != '\0' && strcasecmp(convention, "sum") != 0 &&
        strcasecmp(convention, "avg") != 0) {
        return SLC_FAIL(SLC_ERROR_UNSUPPORTED,
                        "%s: /Header/pol_convention is '%s': not supported, expected 'sum' or "
                        "'avg'",
                        path, convention);
    }
    header->is_polarisation_sum = strcasecmp(convention, "sum") == 0;
    SLC_TRY(read_orientation(uvh5));
    SLC_TRY(
        get_counted(uvh5, "/Header/polarization_array", header->n_polarisations, "Npols", &codes));
    header->polarisations = malloc((size_t)header->n_polarisations * sizeof(int));
    const slc_status status =
        header->polarisations == NULL
            ? SLC_FAIL(SLC_ERROR_MEMORY, "%s: no memory for the polarisations", path)
            : convert_codes(path, codes, header->n_polarisations, header->polarisations);
    free(codes);
    return status;
}

/* Datasets that Sluice does not use, but that would show a header that contradicts itself. */
static slc_status check_unused(slci_uvh5 *uvh5) {
    const struct {
        const char *name;
        const char *count_name;
        int64_t per_count;
        int64_t expected; /* -1: read count_name */
    } arrays[] = {
        {"/Header/antenna_numbers", "/Header/Nants_telescope", 1, -1},
        {"/Header/antenna_positions", "/Header/Nants_telescope", 3, -1},
        {"/Header/spw_array", "/Header/Nspws", 1, -1},
        {"/Header/flex_spw_id_array", "Nfreqs", 1, uvh5->base.header.n_channels},
    };
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++) {
        int64_t expected = arrays[k].expected;
        if (expected < 0) {
            SLC_TRY(slci_h5_get_integer_or(uvh5->file, uvh5->base.path, arrays[k].count_name, -1,
                                           &expected));
        }
        slci_h5_kind kind = SLCI_H5_ABSENT;
        if (expected >= 0) {
            SLC_TRY(slci_h5_find(uvh5->file, uvh5->base.path, arrays[k].name, &kind));
        }
        if (kind == SLCI_H5_ABSENT) {
            continue;
        }
        slci_h5_dataset set;
        SLC_TRY(slci_h5_dataset_open(uvh5->file, uvh5->base.path, arrays[k].name, &set));
        int64_t n = set.is_null ? 0 : 1;
        for (int d = 0; d < set.rank; d++) {
            n *= set.shape[d];
        }
        const bool is_null = set.is_null;
        slci_h5_dataset_close(&set);
        if (!is_null && n != expected * arrays[k].per_count) {
            return SLC_FAIL(SLC_ERROR_INPUT,
                            "%s: %s holds %" PRId64 " numbers, expected %" PRId64 " (%s = %" PRId64
                            ")",
                            uvh5->base.path, arrays[k].name, n, expected * arrays[k].per_count,
                            arrays[k].count_name, expected);
        }
    }
    return SLC_OK;
}

static slc_status read_version(slci_uvh5 *uvh5, slc_log *log) {
    const char *path = uvh5->base.path;
    char version[16];
    SLC_TRY(slci_h5_get_text(uvh5->file, path, "/Header/version", version, sizeof version));
    char *rest = version;
    const long major = version[0] == '\0' ? 0 : strtol(version, &rest, 10);
    if ((version[0] != '\0' && rest == version) || major < 0 || major > 1) {
        return SLC_FAIL(
            SLC_ERROR_UNSUPPORTED,
            "%s: /Header/version is '%s': not supported, expected 0.x or 1.x (1.2 is the "
            "newest known)",
            path, version);
    }
    const long minor = rest[0] == '.' ? strtol(rest + 1, NULL, 10) : 0;
    if (major == 1 && minor > 2) {
        slc_log_note(log, "%s: UVH5 version %s is newer than 1.2; read as 1.2", path, version);
    }
    (void)snprintf(uvh5->base.header.format, sizeof uvh5->base.header.format, "UVH5 %s",
                   version[0] == '\0' ? "0.x" : version);
    slci_h5_kind kind = SLCI_H5_ABSENT;
    SLC_TRY(slci_h5_find(uvh5->file, path, "/Header/flex_spw_polarization_array", &kind));
    if (kind == SLCI_H5_DATASET) {
        slci_h5_dataset set;
        SLC_TRY(
            slci_h5_dataset_open(uvh5->file, path, "/Header/flex_spw_polarization_array", &set));
        const bool is_null = set.is_null;
        slci_h5_dataset_close(&set);
        if (!is_null) {
            return SLC_FAIL(SLC_ERROR_UNSUPPORTED,
                            "%s: /Header/flex_spw_polarization_array: spectral windows of "
                            "different polarisations are not supported",
                            path);
        }
    }
    return SLC_OK;
}

static slc_status read_texts(slci_uvh5 *uvh5) {
    const char *path = uvh5->base.path;
    slci_vis_header *header = &uvh5->base.header;
    char text[64];
    double degrees;
    SLC_TRY(slci_h5_get_text(uvh5->file, path, "/Header/telescope_name", header->telescope,
                             sizeof header->telescope));
    SLC_TRY(slci_h5_get_text(uvh5->file, path, "/Header/object_name", header->object,
                             sizeof header->object));
    SLC_TRY(slci_h5_get_text(uvh5->file, path, "/Header/vis_units", header->units,
                             sizeof header->units));
    SLC_TRY(slci_h5_get_text(uvh5->file, path, "/Header/timesys", text, sizeof text));
    header->is_time_utc = text[0] == '\0' || strcasecmp(text, "utc") == 0;
    SLC_TRY(slci_h5_get_number_or(uvh5->file, path, "/Header/latitude", (double)NAN, &degrees));
    header->latitude_rad = degrees * SLC_DEGREE_RAD;
    SLC_TRY(slci_h5_get_number_or(uvh5->file, path, "/Header/longitude", (double)NAN, &degrees));
    header->longitude_rad = degrees * SLC_DEGREE_RAD;
    if (fabs(degrees) > 360.0) {
        return SLC_FAIL(SLC_ERROR_INPUT,
                        "%s: /Header/longitude is %g, expected degrees, within 360 of 0", path,
                        degrees);
    }
    SLC_TRY(slci_h5_get_text(uvh5->file, path, "/Header/telescope_frame", text, sizeof text));
    if (strcasecmp(text, "mcmf") == 0) {
        header->longitude_rad =
            (double)NAN; /* no sidereal time on the Moon from a terrestrial one */
    }
    return SLC_OK;
}

/* A zenith needs a latitude, a sidereal time is wanted but can be done without. */
static slc_status check_horizon_frame(const slci_uvh5 *uvh5) {
    const slci_vis_header *header = &uvh5->base.header;
    if (header->phase.kind != SLCI_PHASE_SKY &&
        !(fabs(header->latitude_rad) <= SLC_PI / 2.0 + 1e-9)) {
        return SLC_FAIL(
            SLC_ERROR_INPUT,
            "%s: /Header/latitude is %g rad, expected the telescope's latitude, which is "
            "the declination of data that follow the zenith",
            uvh5->base.path, header->latitude_rad);
    }
    return SLC_OK;
}

/* From here on no dataset that grows with the rows needs HDF5 to be read, where that is legal. */
static slc_status read_past(slci_uvh5 *uvh5, slc_log *log) {
    slci_h5_dataset *const sets[] = {&uvh5->vis.set, &uvh5->flags.set,   &uvh5->nsamples.set,
                                     &uvh5->uvw,     &uvh5->ant_1,       &uvh5->ant_2,
                                     &uvh5->time,    &uvh5->integration, &uvh5->lst,
                                     &uvh5->phase_id};
    for (size_t k = 0; k < sizeof sets / sizeof sets[0]; k++) {
        if (sets[k]->id != 0) {
            SLC_TRY(slci_h5_dataset_read_past(sets[k], log));
        }
    }
    return SLC_OK;
}

static slc_status read_header(slci_uvh5 *uvh5, const slc_vis_options *options) {
    SLC_TRY(read_version(uvh5, options->log));
    SLC_TRY(open_data(uvh5, options));
    SLC_TRY(open_row_arrays(uvh5));
    SLC_TRY(read_channels(uvh5));
    SLC_TRY(read_polarisations(uvh5));
    SLC_TRY(check_unused(uvh5));
    SLC_TRY(read_texts(uvh5));
    SLC_TRY(slci_uvh5_phase_read(uvh5, options->phase_centre));
    SLC_TRY(check_horizon_frame(uvh5));
    if (uvh5->base.header.object[0] == '\0') {
        memcpy(uvh5->base.header.object, uvh5->base.header.phase.name,
               sizeof uvh5->base.header.object);
    }
    if (options->weight_by_time && uvh5->integration.id == 0 && !isfinite(uvh5->integration_s)) {
        return SLC_FAIL(SLC_ERROR_INPUT,
                        "%s: /Header/integration_time is missing, which weighting by time needs "
                        "(--weight-by-time)",
                        uvh5->base.path);
    }
    return read_past(uvh5, options->log);
}

static void destroy(slci_vis_part *part) {
    slci_uvh5 *uvh5 = (slci_uvh5 *)part;
    slci_h5_dataset *const sets[] = {&uvh5->vis.set, &uvh5->flags.set,   &uvh5->nsamples.set,
                                     &uvh5->uvw,     &uvh5->ant_1,       &uvh5->ant_2,
                                     &uvh5->time,    &uvh5->integration, &uvh5->lst,
                                     &uvh5->phase_id};
    for (size_t k = 0; k < sizeof sets / sizeof sets[0]; k++) {
        slci_h5_dataset_close(sets[k]);
    }
    slci_h5_close(uvh5->file);
    slci_uvh5_rest(part);
    (void)pthread_mutex_destroy(&uvh5->mutex);
    free(uvh5->points);
    slci_vis_part_fini(part);
    free(uvh5);
}

static int64_t next_unit(slci_vis_part *part, int64_t row) {
    const slci_uvh5 *uvh5 = (const slci_uvh5 *)part;
    const int64_t unit = slc_max_i64(uvh5->vis.set.chunk[0], 1);
    return slc_min_i64((row / unit + 1) * unit, part->header.n_rows);
}

static slc_status describe(slci_vis_part *part, int capacity, slc_vis_dataset *out, int *n) {
    const slci_uvh5 *uvh5 = (const slci_uvh5 *)part;
    const slci_h5_dataset *const sets[] = {&uvh5->vis.set, &uvh5->flags.set, &uvh5->nsamples.set,
                                           &uvh5->uvw};
    *n = 0;
    for (size_t k = 0; k < sizeof sets / sizeof sets[0]; k++) {
        if (sets[k]->id != 0) {
            if (*n < capacity) {
                slci_h5_dataset_describe(sets[k], &out[*n]);
            }
            (*n)++;
        }
    }
    return SLC_OK;
}

const slci_vis_part_ops slci_uvh5_ops = {
    .scan = slci_uvh5_scan,
    .select = slci_uvh5_select,
    .read = slci_uvh5_read,
    .next_unit = next_unit,
    .cost = slci_uvh5_cost,
    .rest = slci_uvh5_rest,
    .describe = describe,
    .destroy = destroy,
};

slc_status slci_uvh5_open(const char *path, slci_h5_id file, const slc_vis_options *options,
                          slci_vis_part **out) {
    slci_uvh5 *uvh5 = calloc(1, sizeof *uvh5);
    if (uvh5 == NULL) {
        slci_h5_close(file);
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory to open %s", path);
    }
    uvh5->file = file;
    (void)pthread_mutex_init(&uvh5->mutex, NULL);
    slc_status status = slci_vis_part_init(&uvh5->base, &slci_uvh5_ops, path);
    if (status == SLC_OK) {
        status = read_header(uvh5, options);
    }
    if (status != SLC_OK) {
        destroy(&uvh5->base);
        return status;
    }
    *out = &uvh5->base;
    return SLC_OK;
}
