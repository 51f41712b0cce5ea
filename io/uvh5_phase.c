/* Where the visibilities are phased to. Until version 1.1 the header has phase_type and one centre;
 * since then a catalogue of centres and, for each row, the number of its centre. A catalogue written
 * as JSON text belongs to an undocumented form between the two: it is passed over where the older
 * header is there too and says the same, and refused where it is not. */
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

#define CATALOGUE "/Header/phase_center_catalog"

/* A catalogue with more entries is damaged rather than large. */
#define MAX_CENTRES ((int64_t)1 << 20)

/* An ephemeris with more points, likewise. */
#define MAX_POINTS ((int64_t)1 << 20)

typedef struct centre {
    int64_t id;
    int64_t n_rows;
    char name[64];
} centre;

static slc_status set_frame(const char *path, const char *frame, double epoch, slci_phase *phase) {
    phase->is_frame_assumed = frame[0] == '\0';
    if (phase->is_frame_assumed || strcasecmp(frame, "icrs") == 0) {
        phase->frame = SLC_FRAME_ICRS;
        return SLC_OK;
    }
    if (strcasecmp(frame, "fk5") == 0) {
        phase->frame = SLC_FRAME_FK5;
        phase->equinox = isfinite(epoch) && epoch > 0.0 ? epoch : 2000.0;
        return phase->equinox < 10000.0
                   ? SLC_OK
                   : SLC_FAIL(SLC_ERROR_INPUT,
                              "%s: the epoch of the phase centre is %g, expected a year up to 9999",
                              path, epoch);
    }
    return SLC_FAIL(
        SLC_ERROR_UNSUPPORTED,
        "%s: the phase centre is in the frame '%s': not supported, only icrs and fk5 are", path,
        frame);
}

static slc_status check_place(const char *path, const char *lon_name, const char *lat_name,
                              const slci_phase *phase) {
    if (!slci_vis_is_direction(phase->lon_rad, phase->lat_rad)) {
        return SLC_FAIL(SLC_ERROR_INPUT,
                        "%s: the phase centre is missing or impossible: %s = %g, %s = %g, "
                        "expected " SLCI_VIS_DIRECTION,
                        path, lon_name, phase->lon_rad, lat_name, phase->lat_rad);
    }
    return SLC_OK;
}

/* Versions before 1.1. */
static slc_status read_single(slci_uvh5 *uvh5, const char *wanted) {
    const char *path = uvh5->base.path;
    slci_phase *phase = &uvh5->base.header.phase;
    char type[64];
    char frame[64];
    double epoch;
    SLC_TRY(slci_h5_get_text(uvh5->file, path, "/Header/phase_type", type, sizeof type));
    SLC_TRY(slci_h5_get_text(uvh5->file, path, "/Header/phase_center_frame", frame, sizeof frame));
    SLC_TRY(
        slci_h5_get_number_or(uvh5->file, path, "/Header/phase_center_epoch", (double)NAN, &epoch));
    SLC_TRY(slci_h5_get_number_or(uvh5->file, path, "/Header/phase_center_ra", (double)NAN,
                                  &phase->lon_rad));
    SLC_TRY(slci_h5_get_number_or(uvh5->file, path, "/Header/phase_center_dec", (double)NAN,
                                  &phase->lat_rad));
    (void)snprintf(phase->name, sizeof phase->name, "%s", uvh5->base.header.object);
    if (wanted != NULL && strcmp(wanted, phase->name) != 0) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "%s: there is no phase centre '%s'; the only one is '%s' (--phase-centre)",
                        path, wanted, phase->name);
    }
    if (strcasecmp(type, "phased") == 0) {
        phase->kind = SLCI_PHASE_SKY;
        (void)snprintf(phase->text, sizeof phase->text,
                       "phase_type 'phased': w-projected, phase u l + v m + w (n - 1)");
        SLC_TRY(check_place(path, "/Header/phase_center_ra", "/Header/phase_center_dec", phase));
        return set_frame(path, frame, epoch, phase);
    }
    if (strcasecmp(type, "drift") == 0) {
        phase->kind = SLCI_PHASE_UNPROJECTED;
        phase->frame = SLC_FRAME_UNPROJECTED;
        (void)snprintf(phase->text, sizeof phase->text,
                       "phase_type 'drift': not w-projected, phase u l + v m + w n");
        return SLC_OK;
    }
    return SLC_FAIL(SLC_ERROR_UNSUPPORTED,
                    "%s: /Header/phase_type is '%s': not supported, expected 'phased' or 'drift'%s",
                    path, type, type[0] == '\0' ? " (it is missing)" : "");
}

/* An ephemeris: three arrays of one length, or one point. */
static slc_status read_points(slci_uvh5 *uvh5, const char *group, slci_phase *phase) {
    const char *path = uvh5->base.path;
    static const char *const names[3] = {"cat_times", "cat_lon", "cat_lat"};
    double *columns[3] = {NULL, NULL, NULL};
    int64_t n[3] = {0, 0, 0};
    slc_status status = SLC_OK;
    for (int k = 0; k < 3 && status == SLC_OK; k++) {
        char name[SLCI_H5_NAME_BYTES + 16];
        (void)snprintf(name, sizeof name, "%s/%s", group, names[k]);
        slci_h5_kind kind = SLCI_H5_DATASET;
        status = k > 0 ? SLC_OK : slci_h5_find(uvh5->file, path, name, &kind);
        if (status == SLC_OK && kind == SLCI_H5_DATASET) {
            status = slci_h5_get_numbers(uvh5->file, path, name, MAX_POINTS, &columns[k], &n[k]);
        }
    }
    if (status == SLC_OK && (n[1] < 1 || n[1] != n[2] || (n[1] > 1 && n[0] != n[1]))) {
        status = SLC_FAIL(SLC_ERROR_INPUT,
                          "%s: %s: cat_times, cat_lon and cat_lat hold %" PRId64 ", %" PRId64
                          " and %" PRId64 " numbers, expected as many of each",
                          path, group, n[0], n[1], n[2]);
    }
    if (status == SLC_OK && n[1] > 1) {
        uvh5->points = malloc((size_t)n[1] * 3 * sizeof *uvh5->points);
        if (uvh5->points == NULL) {
            status = SLC_FAIL(SLC_ERROR_MEMORY, "%s: no memory for the ephemeris", path);
        }
        for (int k = 0; k < 3 && status == SLC_OK; k++) {
            memcpy(uvh5->points + k * n[1], columns[k], (size_t)n[1] * sizeof *uvh5->points);
            uvh5->n_points = n[1];
        }
    }
    for (int64_t k = 0; k < n[1] && status == SLC_OK; k++) {
        if (n[1] > 1 && (!slci_vis_is_direction(columns[1][k], columns[2][k]) ||
                         !slci_vis_is_date(columns[0][k]))) {
            status = SLC_FAIL(SLC_ERROR_INPUT,
                              "%s: %s: point %" PRId64
                              " is impossible: cat_times = %g, expected " SLCI_VIS_DATE
                              ", cat_lon = %g and cat_lat = %g, expected " SLCI_VIS_DIRECTION,
                              path, group, k, columns[0][k], columns[1][k], columns[2][k]);
        }
    }
    if (status == SLC_OK) {
        phase->lon_rad = columns[1][0];
        phase->lat_rad = columns[2][0];
    }
    for (int k = 0; k < 3; k++) {
        free(columns[k]);
    }
    return status;
}

void slci_uvh5_phase_at(slci_uvh5 *uvh5, double jd, slc_log *log) {
    const int64_t n = uvh5->n_points;
    if (n < 2 || !isfinite(jd)) {
        return;
    }
    const double *times = uvh5->points;
    const double *lon = times + n;
    const double *lat = lon + n;
    /* The picture is the same wherever its centre is said to be, so this is no reason to refuse. */
    if (jd < times[0] || jd > times[n - 1]) {
        slc_log_warning(log,
                        "%s: the ephemeris of phase centre '%s' goes from JD %.6f to %.6f, and the "
                        "middle of the data is at %.6f: positions are those of its nearer end",
                        uvh5->base.path, uvh5->base.header.phase.name, times[0], times[n - 1], jd);
    }
    int64_t k = 0;
    while (k < n - 2 && jd >= times[k + 1]) {
        k++;
    }
    const double span = times[k + 1] - times[k];
    const double part = span > 0.0 ? fmin(fmax((jd - times[k]) / span, 0.0), 1.0) : 0.0;
    /* The shorter way round, because right ascension jumps by a turn at 0. */
    uvh5->base.header.phase.lon_rad = lon[k] + part * remainder(lon[k + 1] - lon[k], SLC_TWO_PI);
    uvh5->base.header.phase.lat_rad = lat[k] + part * (lat[k + 1] - lat[k]);
}

/* The chosen entry of the catalogue. */
static slc_status read_entry(slci_uvh5 *uvh5, const centre *entry) {
    const char *path = uvh5->base.path;
    slci_phase *phase = &uvh5->base.header.phase;
    char group[SLCI_H5_NAME_BYTES];
    char name[SLCI_H5_NAME_BYTES + 16];
    char type[32];
    char frame[64];
    double epoch;
    (void)snprintf(group, sizeof group, CATALOGUE "/%" PRId64, entry->id);
    (void)snprintf(phase->name, sizeof phase->name, "%s", entry->name);
    (void)snprintf(name, sizeof name, "%s/cat_type", group);
    SLC_TRY(slci_h5_get_text(uvh5->file, path, name, type, sizeof type));
    (void)snprintf(name, sizeof name, "%s/cat_frame", group);
    SLC_TRY(slci_h5_get_text(uvh5->file, path, name, frame, sizeof frame));
    (void)snprintf(name, sizeof name, "%s/cat_epoch", group);
    SLC_TRY(slci_h5_get_number_or(uvh5->file, path, name, (double)NAN, &epoch));
    const bool is_projected = strcmp(type, "unprojected") != 0;
    (void)snprintf(phase->text, sizeof phase->text, "cat_type '%.16s': %sw-projected, phase %s",
                   type, is_projected ? "" : "not ",
                   is_projected ? "u l + v m + w (n - 1)" : "u l + v m + w n");
    if (!is_projected) {
        phase->kind = SLCI_PHASE_UNPROJECTED;
        phase->frame = SLC_FRAME_UNPROJECTED;
        return SLC_OK;
    }
    const bool is_driftscan = strcmp(type, "driftscan") == 0;
    if (!is_driftscan && strcmp(type, "sidereal") != 0 && strcmp(type, "ephem") != 0) {
        return SLC_FAIL(SLC_ERROR_UNSUPPORTED,
                        "%s: phase centre '%s' has cat_type '%s': not supported; sidereal, ephem, "
                        "driftscan and unprojected are",
                        path, entry->name, type);
    }
    SLC_TRY(read_points(uvh5, group, phase));
    SLC_TRY(check_place(path, "cat_lon", "cat_lat", phase));
    if (is_driftscan) {
        phase->kind = SLCI_PHASE_DRIFTSCAN;
        phase->frame = SLC_FRAME_UNPROJECTED;
        return SLC_OK;
    }
    phase->kind = SLCI_PHASE_SKY;
    return set_frame(path, frame, epoch, phase);
}

/* The entries' numbers and names. *is_json: the undocumented form. */
static slc_status list_centres(const slci_uvh5 *uvh5, centre **out, int64_t *n, bool *is_json) {
    const char *path = uvh5->base.path;
    int64_t count = 0;
    slci_h5_kind kind = SLCI_H5_ABSENT;
    SLC_TRY(slci_h5_find(uvh5->file, path, CATALOGUE, &kind));
    *is_json = kind == SLCI_H5_DATASET;
    if (*is_json) {
        return SLC_OK;
    }
    SLC_TRY(slci_h5_list(uvh5->file, path, CATALOGUE, 0, NULL, &count));
    if (count < 1 || count > MAX_CENTRES) {
        return SLC_FAIL(SLC_ERROR_INPUT,
                        "%s: " CATALOGUE " has %" PRId64 " entries, expected 1 or more", path,
                        count);
    }
    char(*names)[SLCI_H5_LIST_NAME_BYTES] = calloc((size_t)count, sizeof *names);
    centre *centres = calloc((size_t)count, sizeof *centres);
    slc_status status =
        names == NULL || centres == NULL
            ? SLC_FAIL(SLC_ERROR_MEMORY, "%s: no memory for the phase centres", path)
            : slci_h5_list(uvh5->file, path, CATALOGUE, count, names, &count);
    for (int64_t k = 0; k < count && status == SLC_OK && !*is_json; k++) {
        char name[SLCI_H5_NAME_BYTES];
        char *end = NULL;
        (void)snprintf(name, sizeof name, CATALOGUE "/%s", names[k]);
        centres[k].id = strtoll(names[k], &end, 10);
        status = slci_h5_find(uvh5->file, path, name, &kind);
        *is_json = status == SLC_OK && kind == SLCI_H5_DATASET;
        if (status != SLC_OK) {
            break;
        }
        if (!*is_json && (*end != '\0' || end == names[k])) {
            status = SLC_FAIL(SLC_ERROR_INPUT, "%s: %s: expected a number as the entry's name",
                              path, name);
        } else if (!*is_json) {
            (void)snprintf(name, sizeof name, CATALOGUE "/%s/cat_name", names[k]);
            status =
                slci_h5_get_text(uvh5->file, path, name, centres[k].name, sizeof centres[k].name);
        }
    }
    free(names);
    if (status != SLC_OK || *is_json) {
        free(centres);
        return status;
    }
    *out = centres;
    *n = count;
    return SLC_OK;
}

static centre *find_id(centre *centres, int64_t n, int64_t id) {
    for (int64_t k = 0; k < n; k++) {
        if (centres[k].id == id) {
            return &centres[k];
        }
    }
    return NULL;
}

/* Counts the rows of each centre. */
static slc_status count_rows(slci_uvh5 *uvh5, centre *centres, int64_t n) {
    const int64_t n_rows = uvh5->base.header.n_rows;
    int64_t *ids = malloc((size_t)2 * SLCI_UVH5_PASS_ROWS * sizeof *ids);
    if (ids == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "%s: no memory to read the rows' phase centres",
                        uvh5->base.path);
    }
    slc_status status = SLC_OK;
    centre *last = NULL;
    for (int64_t row = 0; row < n_rows && status == SLC_OK; row += SLCI_UVH5_PASS_ROWS) {
        const int64_t m = slc_min_i64(SLCI_UVH5_PASS_ROWS, n_rows - row);
        const slci_uvh5_rows rows = {.origin = row, .n = m, .raw = ids + SLCI_UVH5_PASS_ROWS};
        status = slci_uvh5_rows_i64(&uvh5->phase_id, &rows, ids);
        for (int64_t k = 0; k < m && status == SLC_OK; k++) {
            last = last != NULL && last->id == ids[k] ? last : find_id(centres, n, ids[k]);
            if (last == NULL) {
                status =
                    SLC_FAIL(SLC_ERROR_INPUT,
                             "%s: /Header/phase_center_id_array: row %" PRId64
                             " has the phase centre %" PRId64 ", which is not in the catalogue",
                             uvh5->base.path, row + k, ids[k]);
            } else {
                last->n_rows++;
            }
        }
    }
    free(ids);
    return status;
}

/* "'A' (0), 'B' (1)" of the centres that have rows. */
static void name_centres(const centre *centres, int64_t n, char *out, size_t capacity) {
    size_t used = 0;
    out[0] = '\0';
    for (int64_t k = 0; k < n && used < capacity; k++) {
        if (centres[k].n_rows > 0) {
            used += (size_t)snprintf(out + used, capacity - used, "%s'%s' (%" PRId64 ")",
                                     used > 0 ? ", " : "", centres[k].name, centres[k].id);
        }
    }
}

static slc_status choose(slci_uvh5 *uvh5, const centre *centres, int64_t n, const char *wanted) {
    const char *path = uvh5->base.path;
    int64_t n_with_rows = 0;
    int64_t n_matching = 0;
    const centre *chosen = &centres[0];
    for (int64_t k = 0; k < n; k++) {
        char id[24];
        (void)snprintf(id, sizeof id, "%" PRId64, centres[k].id);
        const bool has_rows = centres[k].n_rows > 0;
        const bool is_matching =
            wanted == NULL || strcmp(wanted, centres[k].name) == 0 || strcmp(wanted, id) == 0;
        n_with_rows += has_rows;
        n_matching += has_rows && is_matching;
        chosen = has_rows && is_matching ? &centres[k] : chosen;
    }
    if (n_matching != 1 && !(wanted == NULL && n_with_rows == 0)) {
        char names[512];
        name_centres(centres, n, names, sizeof names);
        if (wanted == NULL) {
            return SLC_FAIL(SLC_ERROR_ARGUMENT,
                            "%s: there are %" PRId64
                            " phase centres: %s; choose one of them (--phase-centre NAME)",
                            path, n_with_rows, names);
        }
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "%s: %s phase centre '%s'; there are: %s; a name or a number chooses "
                        "one (--phase-centre)",
                        path, n_matching == 0 ? "there is no" : "there is more than one", wanted,
                        names);
    }
    uvh5->chosen_id = chosen->id;
    uvh5->has_other_centres = n_with_rows > 1;
    return read_entry(uvh5, chosen);
}

slc_status slci_uvh5_phase_read(slci_uvh5 *uvh5, const char *wanted) {
    const char *path = uvh5->base.path;
    slci_h5_kind kind = SLCI_H5_ABSENT;
    SLC_TRY(slci_h5_find(uvh5->file, path, CATALOGUE, &kind));
    if (kind == SLCI_H5_ABSENT) {
        return read_single(uvh5, wanted);
    }
    centre *centres = NULL;
    int64_t n = 0;
    bool is_json = false;
    SLC_TRY(list_centres(uvh5, &centres, &n, &is_json));
    if (is_json) {
        int64_t n_centres = 1;
        SLC_TRY(slci_h5_get_integer_or(uvh5->file, path, "/Header/Nphase", 1, &n_centres));
        SLC_TRY(slci_h5_find(uvh5->file, path, "/Header/phase_type", &kind));
        if (n_centres == 1 && kind == SLCI_H5_DATASET) {
            return read_single(uvh5, wanted);
        }
        return SLC_FAIL(SLC_ERROR_UNSUPPORTED,
                        "%s: " CATALOGUE " is JSON text, an undocumented form from before version "
                        "1.1: not supported; write the file again with a newer pyuvdata",
                        path);
    }
    slc_status status = SLC_OK;
    if (uvh5->phase_id.id != 0) {
        status = count_rows(uvh5, centres, n);
    } else if (n > 1) {
        status = SLC_FAIL(SLC_ERROR_INPUT,
                          "%s: " CATALOGUE " has %" PRId64
                          " entries, but /Header/phase_center_id_array is missing",
                          path, n);
    } else {
        centres[0].n_rows = uvh5->base.header.n_rows;
    }
    if (status == SLC_OK) {
        status = choose(uvh5, centres, n, wanted);
    }
    free(centres);
    return status;
}
