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

/* The place of a hand in the selection, which gets it if it has it not. */
static int add_hand(slci_vis_selection *selection, int place) {
    int k = 0;
    while (k < selection->n_hands && selection->hands[k] != place) {
        k++;
    }
    if (k == selection->n_hands) {
        selection->hands[selection->n_hands++] = place;
    }
    return k;
}

static void use_single(slci_vis *vis, int place) {
    const int code = vis->parts[0]->header.polarisations[place];
    const int k = vis->selection.n_imaged++;
    vis->selection.imaged[k] = (slci_vis_combination){.n_used = 1,
                                                      .hand = {add_hand(&vis->selection, place)},
                                                      .scale = 1.0};
    vis->meta.imaged[k].stokes = code;
    (void)snprintf(vis->meta.imaged[k].text, sizeof vis->meta.imaged[k].text, "%s",
                   slc_vis_polarisation_name(code));
}

/* The codes of AIPS and FITS that are looked for here. */
enum {
    CODE_I = 1,
    CODE_Q = 2,
    CODE_U = 3,
    CODE_V = 4,
    CODE_RR = -1,
    CODE_LL = -2,
    CODE_RL = -3,
    CODE_LR = -4,
    CODE_XX = -5,
    CODE_YY = -6,
    CODE_XY = -7,
    CODE_YX = -8
};

static const int codes[SLC_POL_N] = {
    [SLC_POL_AUTO] = 0,     [SLC_POL_I] = CODE_I,   [SLC_POL_XX] = CODE_XX, [SLC_POL_YY] = CODE_YY,
    [SLC_POL_RR] = CODE_RR, [SLC_POL_LL] = CODE_LL, [SLC_POL_Q] = CODE_Q,   [SLC_POL_U] = CODE_U,
    [SLC_POL_V] = CODE_V,   [SLC_POL_XY] = CODE_XY, [SLC_POL_YX] = CODE_YX, [SLC_POL_RL] = CODE_RL,
    [SLC_POL_LR] = CODE_LR,
};

int slc_vis_polarisation_code(slc_polarisation polarisation) {
    return (int)polarisation >= 0 && polarisation < SLC_POL_N ? codes[polarisation] : 0;
}

/* How a Stokes parameter is made of two correlations, X being the feed along north and Y that along
 * east: XX = I + Q, YY = I - Q, XY = U + iV, YX = U - iV; RR = I + V, LL = I - V, RL = Q + iU,
 * LR = Q - iU (IAU; Hamaker and Bregman, A&AS 117, 161, 1996). With X along east, Q and V change
 * their signs. */
typedef struct stokes_pair {
    int code, first, second;
    bool is_difference, is_turned; /* turned: times -i */
    bool has_sign_of_x;
} stokes_pair;

static const stokes_pair stokes_pairs[] = {
    {CODE_I, CODE_XX, CODE_YY, false, false, false},
    {CODE_I, CODE_RR, CODE_LL, false, false, false},
    {CODE_Q, CODE_XX, CODE_YY, true, false, true},
    {CODE_Q, CODE_RL, CODE_LR, false, false, false},
    {CODE_U, CODE_XY, CODE_YX, false, false, false},
    {CODE_U, CODE_RL, CODE_LR, true, true, false},
    {CODE_V, CODE_XY, CODE_YX, true, true, true},
    {CODE_V, CODE_RR, CODE_LL, true, false, false},
};

/* What was done, for the user: "I = (XX + YY) / 2". */
static void name_pair(const slci_vis_header *header, const stokes_pair *pair, slc_vis_imaged *out) {
    const bool is_sum = header->is_polarisation_sum;
    const char *unit = pair->is_turned ? "-i " : "";
    const bool has_bracket = !is_sum || pair->is_turned;
    const char *x = !pair->has_sign_of_x ? ""
                    : header->is_x_east  ? ", X is east"
                    : header->is_x_known ? ", X is north"
                                         : ", taking X for north";
    out->stokes = pair->code;
    (void)snprintf(out->text, sizeof out->text, "%s = %s%s%s %c %s%s%s%s%s",
                   slc_vis_polarisation_name(pair->code), unit, has_bracket ? "(" : "",
                   slc_vis_polarisation_name(pair->first), pair->is_difference ? '-' : '+',
                   slc_vis_polarisation_name(pair->second), has_bracket ? ")" : "",
                   is_sum ? "" : " / 2", is_sum ? " (pol_convention 'sum')" : "", x);
}

static bool use_pair(slci_vis *vis, const stokes_pair *wanted) {
    const slci_vis_header *header = &vis->parts[0]->header;
    stokes_pair pair = *wanted;
    if (pair.has_sign_of_x && header->is_x_east) {
        pair.first = wanted->second;
        pair.second = wanted->first;
    }
    const int first = find_polarisation(header, pair.first);
    const int second = find_polarisation(header, pair.second);
    if (first < 0 || second < 0) {
        return false;
    }
    const int k = vis->selection.n_imaged++;
    vis->selection.imaged[k] =
        (slci_vis_combination){.n_used = 2,
                               .hand = {add_hand(&vis->selection, first),
                                        add_hand(&vis->selection, second)},
                               .scale = header->is_polarisation_sum ? 1.0 : 0.5,
                               .is_difference = pair.is_difference,
                               .is_turned = pair.is_turned};
    name_pair(header, &pair, &vis->meta.imaged[k]);
    return true;
}

/* Whether a polarisation is in the file that is imaged without being asked for by name. */
static bool has_any(const slci_vis_header *header) {
    for (size_t k = SLC_POL_I; k <= SLC_POL_LL; k++) {
        if (find_polarisation(header, codes[k]) >= 0) {
            return true;
        }
    }
    return false;
}

static slc_status refuse_polarisation(const slci_vis *vis, slc_polarisation wanted, int code) {
    const slci_vis_header *header = &vis->parts[0]->header;
    static const char *const pairs[] = {
        [CODE_I] = "I, nor XX with YY, nor RR with LL",
        [CODE_Q] = "Q, nor XX with YY, nor RL with LR",
        [CODE_U] = "U, nor XY with YX, nor RL with LR",
        [CODE_V] = "V, nor XY with YX, nor RR with LL",
    };
    char names[256];
    list_polarisations(header, names, sizeof names);
    if (wanted == SLC_POL_AUTO && !has_any(header)) {
        return SLC_FAIL(SLC_ERROR_UNSUPPORTED,
                        "%s: there is nothing to image in this file, it has the polarisations %s, "
                        "expected I, XX, YY, RR or LL",
                        vis->parts[0]->path, names);
    }
    return SLC_FAIL(SLC_ERROR_ARGUMENT,
                    "%s: there is no %s in this file, it has the polarisations %s (--pol)",
                    vis->parts[0]->path, code > 0 ? pairs[code] : slc_vis_polarisation_name(code),
                    names);
}

static slc_status choose_polarisation(slci_vis *vis, slc_polarisation wanted) {
    const slci_vis_header *header = &vis->parts[0]->header;
    if ((wanted == SLC_POL_AUTO && header->n_polarisations == 1)) {
        use_single(vis, 0);
        return SLC_OK;
    }
    const int code = wanted == SLC_POL_AUTO ? CODE_I : codes[wanted];
    const int place = find_polarisation(header, code);
    if (place >= 0) {
        use_single(vis, place);
        return SLC_OK;
    }
    for (size_t k = 0; k < sizeof stokes_pairs / sizeof stokes_pairs[0]; k++) {
        if (stokes_pairs[k].code == code && use_pair(vis, &stokes_pairs[k])) {
            return SLC_OK;
        }
    }
    return refuse_polarisation(vis, wanted, code);
}

int slc_vis_count_imaged(const slc_vis_options *options) {
    int n = 1;
    while (n < SLC_VIS_MOST_IMAGED && options->more[n - 1] != SLC_POL_AUTO) {
        n++;
    }
    return n;
}

/* The polarisations of the options, in their order. */
static slc_status choose_polarisations(slci_vis *vis, const slc_vis_options *options) {
    slc_polarisation wanted[SLC_VIS_MOST_IMAGED] = {options->polarisation};
    memcpy(wanted + 1, options->more, sizeof options->more);
    const int n = slc_vis_count_imaged(options);
    for (int k = 0; k < n; k++) {
        if ((int)wanted[k] < SLC_POL_AUTO || wanted[k] >= SLC_POL_N ||
            (n > 1 && wanted[k] == SLC_POL_AUTO)) {
            return SLC_FAIL(SLC_ERROR_ARGUMENT, "there is no polarisation number %d",
                            (int)wanted[k]);
        }
        for (int j = 0; j < k; j++) {
            if (wanted[j] == wanted[k]) {
                return SLC_FAIL(SLC_ERROR_ARGUMENT, "the polarisation %s is asked for twice",
                                slc_vis_polarisation_name(codes[wanted[k]]));
            }
        }
        SLC_TRY(choose_polarisation(vis, wanted[k]));
    }
    vis->meta.n_imaged = n;
    return SLC_OK;
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
        a->is_polarisation_sum != b->is_polarisation_sum || a->is_x_east != b->is_x_east) {
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
    const double uv_min = options->uv_min_wavelengths;
    const double uv_max = options->uv_max_wavelengths;
    if (!(uv_min >= 0.0) || !(uv_max >= 0.0) || (uv_max > 0.0 && uv_max <= uv_min)) {
        return SLC_FAIL(
            SLC_ERROR_ARGUMENT,
            "baselines from %g to %g wavelengths asked for (--uv-range A:B, 0 <= A < B)", uv_min,
            uv_max);
    }
    SLC_TRY(choose_polarisations(vis, options));
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
    if (begin < 0 || end < begin || end > n || (begin == n && n > 0)) {
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
