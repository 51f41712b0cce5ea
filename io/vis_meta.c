/* What the files of a set mean together: whether they may be one set, which polarisation is imaged,
 * which times there are, and where in the sky it all is. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/constants.h"
#include "io/vis_set.h"

/* Turns of the sky in a day, Meeus 12.4. */
#define SIDEREAL_RATE (360.98564736629 / 360.0)

/* Two phase centres closer than this are one: a hundredth of the finest synthesised beams. */
#define SAME_PLACE_RAD 1e-11

/* ---- polarisations ---------------------------------------------------------------------------- */

/* AIPS memo 117; the codes of FITS are the same. */
const char *slc_vis_polarisation_name(int code) {
    static const char *const names[] = {"YX", "XY", "YY", "XX", "LR", "RL", "LL",
                                        "RR", "?",  "I",  "Q",  "U",  "V"};
    return code >= -8 && code <= 4 ? names[code + 8] : "?";
}

static void list_polarisations(const slci_vis_header *header, char *out, size_t capacity) {
    size_t used = 0;
    out[0] = '\0';
    for (int k = 0; k < header->n_polarisations && used < capacity; k++) {
        used += (size_t)snprintf(out + used, capacity - used, "%s%s (%d)", k > 0 ? ", " : "",
                                 slc_vis_polarisation_name(header->polarisations[k]),
                                 header->polarisations[k]);
    }
}

/* The place of a code in the file, or -1. */
static int find_polarisation(const slci_vis_header *header, int code) {
    for (int k = 0; k < header->n_polarisations; k++) {
        if (header->polarisations[k] == code) {
            return k;
        }
    }
    return -1;
}

static void use_single(slci_vis *vis, int place) {
    const int code = vis->parts[0]->header.polarisations[place];
    vis->selection.n_used = 1;
    vis->selection.used[0] = place;
    vis->meta.stokes = code;
    (void)snprintf(vis->meta.polarisation_text, sizeof vis->meta.polarisation_text, "%s",
                   slc_vis_polarisation_name(code));
}

static bool use_pair(slci_vis *vis, int code) {
    const slci_vis_header *header = &vis->parts[0]->header;
    const int first = find_polarisation(header, code);
    const int second = find_polarisation(header, code - 1);
    if (first < 0 || second < 0) {
        return false;
    }
    vis->selection.n_used = 2;
    vis->selection.used[0] = first;
    vis->selection.used[1] = second;
    vis->selection.is_sum = header->is_polarisation_sum;
    vis->meta.stokes = 1;
    (void)snprintf(vis->meta.polarisation_text, sizeof vis->meta.polarisation_text,
                   header->is_polarisation_sum ? "I = %s + %s (pol_convention 'sum')"
                                               : "I = (%s + %s) / 2",
                   slc_vis_polarisation_name(code), slc_vis_polarisation_name(code - 1));
    return true;
}

/* Whether one of the codes, of which those that are 0 stand for none, is in the file. */
static bool has_any(const slci_vis_header *header, const int *codes, size_t n) {
    for (size_t k = 0; k < n; k++) {
        if (codes[k] != 0 && find_polarisation(header, codes[k]) >= 0) {
            return true;
        }
    }
    return false;
}

static slc_status choose_polarisation(slci_vis *vis, slc_polarisation wanted) {
    enum { CODE_I = 1, CODE_XX = -5, CODE_YY = -6, CODE_RR = -1, CODE_LL = -2 };
    static const int codes[] = {[SLC_POL_XX] = CODE_XX,
                                [SLC_POL_YY] = CODE_YY,
                                [SLC_POL_RR] = CODE_RR,
                                [SLC_POL_LL] = CODE_LL};
    const slci_vis_header *header = &vis->parts[0]->header;
    if ((wanted == SLC_POL_AUTO && header->n_polarisations == 1)) {
        use_single(vis, 0);
        return SLC_OK;
    }
    const bool wants_intensity = wanted == SLC_POL_AUTO || wanted == SLC_POL_I;
    const int place = find_polarisation(header, wants_intensity ? CODE_I : codes[wanted]);
    if (place >= 0) {
        use_single(vis, place);
        return SLC_OK;
    }
    if (wants_intensity && (use_pair(vis, CODE_XX) || use_pair(vis, CODE_RR))) {
        return SLC_OK;
    }
    char names[256];
    list_polarisations(header, names, sizeof names);
    if (wanted == SLC_POL_AUTO && !has_any(header, codes, sizeof codes / sizeof codes[0])) {
        return SLC_FAIL(SLC_ERROR_UNSUPPORTED,
                        "%s: there is nothing to image in this file, it has the polarisations %s, "
                        "expected I, XX, YY, RR or LL",
                        vis->parts[0]->path, names);
    }
    return SLC_FAIL(SLC_ERROR_ARGUMENT,
                    "%s: there is no %s in this file, it has the polarisations %s (--pol)",
                    vis->parts[0]->path,
                    wants_intensity ? "I, nor XX with YY, nor RR with LL"
                                    : slc_vis_polarisation_name(codes[wanted]),
                    names);
}

/* ---- agreement -------------------------------------------------------------------------------- */

static slc_status disagree(const slci_vis_part *first, const slci_vis_part *other,
                           const char *what) {
    return SLC_FAIL(SLC_ERROR_INPUT, "%s and %s are not one set: they differ in %s", first->path,
                    other->path, what);
}

static slc_status check_part(const slci_vis_part *first, const slci_vis_part *other) {
    const slci_vis_header *a = &first->header;
    const slci_vis_header *b = &other->header;
    if (a->is_plain != b->is_plain) {
        return disagree(first, other, "format");
    }
    if (a->n_channels != b->n_channels) {
        return disagree(first, other, "the number of channels");
    }
    for (int64_t c = 0; c < a->n_channels; c++) {
        const double tolerance = 1e-6 * a->channel_width_hz[c];
        if (fabs(a->freq_hz[c] - b->freq_hz[c]) > tolerance ||
            fabs(a->channel_width_hz[c] - b->channel_width_hz[c]) > tolerance) {
            return disagree(first, other, "the frequencies of the channels");
        }
    }
    if (a->n_polarisations != b->n_polarisations ||
        memcmp(a->polarisations, b->polarisations, (size_t)a->n_polarisations * sizeof(int)) != 0 ||
        a->is_polarisation_sum != b->is_polarisation_sum) {
        return disagree(first, other, "polarisations");
    }
    if (strcmp(a->units, b->units) != 0) {
        return disagree(first, other, "vis_units");
    }
    return SLC_OK;
}

static slc_status check_phase(const slci_vis_part *first, const slci_vis_part *other) {
    const slci_phase *a = &first->header.phase;
    const slci_phase *b = &other->header.phase;
    if (a->kind != b->kind || a->frame != b->frame || a->equinox != b->equinox) {
        return disagree(first, other, "the kind or frame of their phase centre");
    }
    const bool has_place = a->kind != SLCI_PHASE_UNPROJECTED;
    if (has_place && (fabs(remainder(a->lon_rad - b->lon_rad, SLC_TWO_PI)) > SAME_PLACE_RAD ||
                      fabs(a->lat_rad - b->lat_rad) > SAME_PLACE_RAD)) {
        return SLC_FAIL(SLC_ERROR_INPUT,
                        "%s and %s are not one set: their phase centres are (%.9g, %.9g) and "
                        "(%.9g, %.9g) rad",
                        first->path, other->path, a->lon_rad, a->lat_rad, b->lon_rad, b->lat_rad);
    }
    const double latitude_step = fabs(first->header.latitude_rad - other->header.latitude_rad);
    if (a->kind != SLCI_PHASE_SKY && latitude_step > SAME_PLACE_RAD * 1e4) {
        return disagree(first, other, "the telescope's latitude, which is their phase centre's");
    }
    return SLC_OK;
}

slc_status slci_vis_check_agreement(const slci_vis *vis) {
    for (int k = 1; k < vis->n_parts; k++) {
        SLC_TRY(check_part(vis->parts[0], vis->parts[k]));
        SLC_TRY(check_phase(vis->parts[0], vis->parts[k]));
    }
    return SLC_OK;
}

/* ---- choices without rows --------------------------------------------------------------------- */

static slc_status choose_channels(slci_vis *vis, const slc_vis_options *options) {
    const slci_vis_part *first = vis->parts[0];
    const slci_vis_header *header = &first->header;
    const int64_t end = options->channel_end == 0 ? header->n_channels : options->channel_end;
    const int64_t n = end - options->channel_begin;
    if (options->channel_begin < 0 || n < 1 || end > header->n_channels) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "%s: channels %" PRId64 " to %" PRId64 " asked for, the file has %" PRId64
                        " (--channels A:B, 0-based, B not included)",
                        first->path, options->channel_begin, end, header->n_channels);
    }
    vis->freq_hz = malloc((size_t)n * sizeof(double));
    vis->channel_width_hz = malloc((size_t)n * sizeof(double));
    vis->wavelengths_per_metre = malloc((size_t)n * sizeof(double));
    if (vis->freq_hz == NULL || vis->channel_width_hz == NULL ||
        vis->wavelengths_per_metre == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "%s: no memory for %" PRId64 " channels", first->path, n);
    }
    for (int64_t c = 0; c < n; c++) {
        const double freq_hz = header->freq_hz[options->channel_begin + c];
        vis->freq_hz[c] = freq_hz;
        vis->channel_width_hz[c] = header->channel_width_hz[options->channel_begin + c];
        vis->wavelengths_per_metre[c] = header->is_plain ? 1.0 : freq_hz / SLC_SPEED_OF_LIGHT_M_S;
    }
    vis->selection.channel_begin = options->channel_begin;
    vis->selection.n_channels = n;
    vis->selection.wavelengths_per_metre = vis->wavelengths_per_metre;
    return SLC_OK;
}

slc_status slci_vis_choose(slci_vis *vis, const slc_vis_options *options) {
    const slci_vis_header *header = &vis->parts[0]->header;
    slci_vis_selection *selection = &vis->selection;
    if ((int)options->polarisation < SLC_POL_AUTO || options->polarisation > SLC_POL_LL) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "there is no polarisation number %d",
                        (int)options->polarisation);
    }
    const double uv_min = options->uv_min_wavelengths;
    const double uv_max = options->uv_max_wavelengths;
    if (!(uv_min >= 0.0) || !(uv_max >= 0.0) || (uv_max > 0.0 && uv_max <= uv_min)) {
        return SLC_FAIL(
            SLC_ERROR_ARGUMENT,
            "baselines from %g to %g wavelengths asked for (--uv-range A:B, 0 <= A < B)", uv_min,
            uv_max);
    }
    SLC_TRY(choose_polarisation(vis, options->polarisation));
    SLC_TRY(choose_channels(vis, options));
    selection->use_autos = options->use_autos;
    selection->use_unit_weights = options->use_unit_weights;
    selection->weight_by_time = options->weight_by_time;
    selection->conjugate = options->conjugate;
    selection->has_uv_range = uv_min > 0.0 || uv_max > 0.0;
    selection->uv_min = uv_min;
    selection->uv_max = uv_max;
    slci_vis_set_room(vis, options->block_bytes, options->cache_bytes);
    slc_vis_meta *meta = &vis->meta;
    memcpy(meta->format, header->format, sizeof meta->format);
    memcpy(meta->telescope, header->telescope, sizeof meta->telescope);
    memcpy(meta->object, header->object, sizeof meta->object);
    memcpy(meta->units, header->units, sizeof meta->units);
    memcpy(meta->phase_text, header->phase.text, sizeof meta->phase_text);
    memcpy(meta->phase_centre_name, header->phase.name, sizeof meta->phase_centre_name);
    meta->n_files = vis->n_parts;
    meta->n_file_channels = header->n_channels;
    meta->n_channels = selection->n_channels;
    meta->n_file_polarisations = header->n_polarisations;
    meta->freq_hz = vis->freq_hz;
    meta->channel_width_hz = vis->channel_width_hz;
    meta->wavelengths_per_metre = vis->wavelengths_per_metre;
    meta->polarisations = header->polarisations;
    meta->is_w_projected = header->phase.kind != SLCI_PHASE_UNPROJECTED;
    meta->is_plain = header->is_plain;
    return SLC_OK;
}

/* ---- what the rows say ------------------------------------------------------------------------ */

static int compare_times(const void *a, const void *b) {
    const double x = ((const slci_time_info *)a)->jd;
    const double y = ((const slci_time_info *)b)->jd;
    return (x > y) - (x < y);
}

/* `times` [n] is sorted. */
static slc_status choose_times(slci_vis *vis, const slci_time_info *times, int64_t n,
                               const slc_vis_options *options) {
    const int64_t begin = options->time_begin;
    const int64_t end = options->time_end == 0 ? n : options->time_end;
    slci_vis_selection *selection = &vis->selection;
    if (begin < 0 || end < begin || end > n) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "%s: times %" PRId64 " to %" PRId64 " asked for, the set has %" PRId64
                        " (--times A:B, 0-based, B not included)",
                        vis->parts[0]->path, begin, end, n);
    }
    selection->has_times = begin > 0 || end < n;
    selection->time_low = begin < n ? times[begin].jd : (double)INFINITY;
    selection->time_high = end < n ? times[end].jd : (double)INFINITY;
    return SLC_OK;
}

/* The first and the last time that selected rows of the chosen phase centre have; NULL: none. */
static void find_used(const slci_vis_selection *selection, const slci_time_info *times, int64_t n,
                      const slci_time_info **first, const slci_time_info **last) {
    *first = NULL;
    *last = NULL;
    for (int64_t k = 0; k < n; k++) {
        const bool is_in = !selection->has_times || (times[k].jd >= selection->time_low &&
                                                     times[k].jd < selection->time_high);
        if (times[k].is_used && is_in) {
            *first = *first == NULL ? &times[k] : *first;
            *last = &times[k];
        }
    }
}

/* Right ascension and declination of a place fixed to the ground, at a sidereal time. */
static void from_horizon(double azimuth, double elevation, double latitude, double lst, double *ra,
                         double *dec) {
    const double sin_dec =
        sin(latitude) * sin(elevation) + cos(latitude) * cos(elevation) * cos(azimuth);
    const double hour_angle =
        atan2(-sin(azimuth) * cos(elevation),
              cos(latitude) * sin(elevation) - sin(latitude) * cos(elevation) * cos(azimuth));
    *dec = asin(fmin(fmax(sin_dec, -1.0), 1.0));
    *ra = lst - hour_angle;
}

static double positive_angle(double angle) {
    const double turned = fmod(angle, SLC_TWO_PI);
    return turned < 0.0 ? turned + SLC_TWO_PI : turned;
}

/* Data that follow the ground: where that was in the sky in the middle of the set. */
static void place_horizon(slci_vis *vis, const slci_time_info *first, const slci_time_info *last,
                          slc_log *log) {
    const slci_vis_header *header = &vis->parts[0]->header;
    slc_vis_meta *meta = &vis->meta;
    double lst = 0.0;
    if (first != NULL && isfinite(first->lst_rad)) {
        const double turned = (last->jd - first->jd) * SIDEREAL_RATE * SLC_TWO_PI;
        lst = first->lst_rad + 0.5 * turned;
        meta->smear_rad = turned;
        meta->equinox =
            first->jd > 0.0 ? 2000.0 + (0.5 * (first->jd + last->jd) - 2451545.0) / 365.25 : 0.0;
    } else {
        slc_log_warning(
            log,
            "%s: neither lst_array nor time_array with a longitude: the sidereal time is "
            "unknown, 0 is used as the right ascension",
            vis->parts[0]->path);
    }
    if (header->phase.kind == SLCI_PHASE_DRIFTSCAN) {
        from_horizon(header->phase.lon_rad, header->phase.lat_rad, header->latitude_rad, lst,
                     &meta->ra_rad, &meta->dec_rad);
    } else {
        meta->ra_rad = lst;
        meta->dec_rad = header->latitude_rad;
    }
    meta->ra_rad = positive_angle(meta->ra_rad);
}

static void place_sky(slci_vis *vis, slc_log *log) {
    const slci_vis_header *header = &vis->parts[0]->header;
    slc_vis_meta *meta = &vis->meta;
    meta->equinox = header->phase.equinox;
    meta->ra_rad = positive_angle(header->phase.lon_rad);
    meta->dec_rad = header->phase.lat_rad;
    if (header->is_place_assumed) {
        slc_log_note(log, "%s: no phase centre (attributes ra_rad and dec_rad): (0, 0) is used",
                     vis->parts[0]->path);
    } else if (header->phase.is_frame_assumed) {
        slc_log_note(log, "%s: the frame of the phase centre is not given: ICRS is used",
                     vis->parts[0]->path);
    }
}

slc_status slci_vis_place(slci_vis *vis, const slci_vis_sets *sets,
                          const slc_vis_options *options) {
    const slci_vis_header *header = &vis->parts[0]->header;
    slc_vis_meta *meta = &vis->meta;
    const slci_time_info *first = NULL;
    const slci_time_info *last = NULL;
    if (sets->times.n > 0) {
        qsort(sets->time_info, (size_t)sets->times.n, sizeof *sets->time_info, compare_times);
    }
    meta->n_times = sets->times.n;
    meta->n_baselines = sets->baselines.n;
    meta->n_antennas = sets->antennas.n;
    SLC_TRY(choose_times(vis, sets->time_info, sets->times.n, options));
    find_used(&vis->selection, sets->time_info, sets->times.n, &first, &last);
    if (first != NULL && first->jd > 0.0 && header->is_time_utc) {
        const double half = isfinite(first->integration_s) ? 0.5 * first->integration_s : 0.0;
        meta->start_jd_utc = first->jd - half / SLC_SECONDS_PER_DAY;
    }
    /* Averages over baseline-dependent times, which some correlators write. */
    if (sets->integration_high_s > 1.000001 * sets->integration_low_s && !options->weight_by_time &&
        !options->use_unit_weights) {
        slc_log_note(
            options->log,
            "%s: integration times from %g to %g s: samples are weighted by nsamples alone "
            "(--weight-by-time multiplies by the time)",
            vis->parts[0]->path, sets->integration_low_s, sets->integration_high_s);
    }
    meta->frame = header->phase.frame;
    if (header->phase.kind == SLCI_PHASE_SKY) {
        place_sky(vis, options->log);
    } else {
        place_horizon(vis, first, last, options->log);
    }
    return SLC_OK;
}
