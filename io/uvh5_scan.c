/* One pass over the row arrays of the header, a run of rows at a time: which times, baselines and
 * antennas there are. What is kept grows with the number of different ones, not with the rows. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "core/checked.h"
#include "core/constants.h"
#include "io/uvh5.h"
#include "io/vis_combine.h"

/* Buffers of a pass, [SLCI_UVH5_PASS_ROWS] each. */
typedef struct pass {
    int64_t *ant_1, *ant_2, *phase_id;
    double *time, *lst, *integration;
    double *uvw; /* three a row; read only where a range of baselines is selected */
    void *raw;
} pass;

static slc_status read_raw(slci_h5_dataset *set, const slci_uvh5_rows *rows) {
    const slci_h5_part all = {.origin = &rows->origin,
                              .extent = &rows->n,
                              .raw = rows->raw,
                              .n_parts = 1};
    return slci_h5_dataset_read_part(set, &all, rows->counters);
}

slc_status slci_uvh5_rows_f64(slci_h5_dataset *set, const slci_uvh5_rows *rows, double *out) {
    SLC_TRY(read_raw(set, rows));
    slci_element_to_f64(&set->type, rows->raw, set->type.bytes, rows->n, out);
    return SLC_OK;
}

slc_status slci_uvh5_rows_i64(slci_h5_dataset *set, const slci_uvh5_rows *rows, int64_t *out) {
    SLC_TRY(read_raw(set, rows));
    slci_element_to_i64(&set->type, rows->raw, set->type.bytes, rows->n, out);
    return SLC_OK;
}

/* The mean sidereal time of Greenwich in radians (Meeus, Astronomical Algorithms, 12.4, without its
 * terms past the linear one: 0.1 s of time in this century), plus the longitude. */
static double sidereal_time(double jd, double longitude_rad) {
    const double degrees = 280.46061837 + 360.98564736629 * (jd - 2451545.0);
    const double angle = fmod(degrees * SLC_DEGREE_RAD + longitude_rad, SLC_TWO_PI);
    return angle < 0.0 ? angle + SLC_TWO_PI : angle;
}

static slc_status read_rows(slci_uvh5 *uvh5, int64_t row, int64_t n,
                            const slci_vis_selection *selection, const pass *rows) {
    const slci_uvh5_rows run = {.origin = row, .n = n, .raw = rows->raw};
    SLC_TRY(slci_uvh5_rows_i64(&uvh5->ant_1, &run, rows->ant_1));
    SLC_TRY(slci_uvh5_rows_i64(&uvh5->ant_2, &run, rows->ant_2));
    if (uvh5->time.id != 0) {
        SLC_TRY(slci_uvh5_rows_f64(&uvh5->time, &run, rows->time));
    }
    if (uvh5->lst.id != 0) {
        SLC_TRY(slci_uvh5_rows_f64(&uvh5->lst, &run, rows->lst));
    }
    if (uvh5->integration.id != 0) {
        SLC_TRY(slci_uvh5_rows_f64(&uvh5->integration, &run, rows->integration));
    }
    if (uvh5->has_other_centres) {
        SLC_TRY(slci_uvh5_rows_i64(&uvh5->phase_id, &run, rows->phase_id));
    }
    if (selection->has_uv_range) {
        const int64_t origin[2] = {row, 0};
        const int64_t extent[2] = {n, 3};
        SLC_TRY(slci_h5_dataset_read(&uvh5->uvw, origin, extent, rows->raw));
        slci_element_to_f64(&uvh5->uvw.type, rows->raw, uvh5->uvw.type.bytes, 3 * n, rows->uvw);
    }
    return SLC_OK;
}

/* Whether the row is in the selection, but for its time: of a row that is left out nothing may enter
 * what is said of the picture. */
static bool is_selected(const slci_uvh5 *uvh5, const pass *rows, int64_t k,
                        const slci_vis_selection *selection) {
    if (uvh5->has_other_centres && rows->phase_id[k] != uvh5->chosen_id) {
        return false;
    }
    if (!selection->use_autos && rows->ant_1[k] == rows->ant_2[k]) {
        return false;
    }
    if (!selection->has_uv_range) {
        return true;
    }
    const double length = hypot(rows->uvw[3 * k], rows->uvw[3 * k + 1]);
    for (int64_t c = 0; c < selection->n_channels; c++) {
        if (slci_vis_is_in_range(selection, length * selection->wavelengths_per_metre[c])) {
            return true;
        }
    }
    return false;
}

/* Files without times have one: 0, "unknown", as some with times write it. */
static slc_status add_time(const slci_uvh5 *uvh5, int64_t row, int64_t k, const pass *rows,
                           slci_vis_sets *sets, int64_t *last_time) {
    const double jd = uvh5->time.id != 0 ? rows->time[k] : 0.0;
    if (jd != 0.0 && !slci_vis_is_date(jd)) {
        return SLC_FAIL(SLC_ERROR_INPUT,
                        "%s: /Header/time_array: row %" PRId64 " is %.17g, expected " SLCI_VIS_DATE,
                        uvh5->base.path, row + k, jd);
    }
    if (uvh5->lst.id != 0 && fabs(rows->lst[k]) > 2.0 * SLC_TWO_PI) {
        return SLC_FAIL(SLC_ERROR_INPUT,
                        "%s: /Header/lst_array: row %" PRId64
                        " is %g, expected radians, within 4 pi of 0",
                        uvh5->base.path, row + k, rows->lst[k]);
    }
    if (*last_time < 0 || sets->time_info[*last_time].jd != jd) {
        SLC_TRY(slci_vis_sets_add_time(sets, jd, last_time));
    }
    slci_time_info *info = &sets->time_info[*last_time];
    const bool is_chosen = is_selected(uvh5, rows, k, sets->selection);
    if (is_chosen && uvh5->integration.id != 0) {
        sets->integration_low_s = fmin(sets->integration_low_s, rows->integration[k]);
        sets->integration_high_s = fmax(sets->integration_high_s, rows->integration[k]);
    }
    if (is_chosen && !info->is_used) {
        info->is_used = true;
        info->integration_s =
            uvh5->integration.id != 0 ? rows->integration[k] : uvh5->integration_s;
        info->lst_rad = uvh5->lst.id != 0 ? rows->lst[k]
                        : jd > 0.0        ? sidereal_time(jd, uvh5->base.header.longitude_rad)
                                          : (double)NAN;
    }
    return SLC_OK;
}

static slc_status add_rows(const slci_uvh5 *uvh5, int64_t row, int64_t n, const pass *rows,
                           slci_vis_sets *sets, double *jd_low, double *jd_high) {
    int64_t last_time = -1;
    for (int64_t k = 0; k < n; k++) {
        int64_t index;
        bool is_new;
        SLC_TRY(add_time(uvh5, row, k, rows, sets, &last_time));
        const slci_time_info *info = &sets->time_info[last_time];
        if (info->is_used) {
            *jd_low = fmin(*jd_low, info->jd);
            *jd_high = fmax(*jd_high, info->jd);
        }
        const int64_t low = slc_min_i64(rows->ant_1[k], rows->ant_2[k]);
        const int64_t high = slc_max_i64(rows->ant_1[k], rows->ant_2[k]);
        SLC_TRY(slci_distinct_add(&sets->baselines, low, high, &index, &is_new));
        if (is_new) { /* an antenna can only be new in a new pair */
            SLC_TRY(slci_distinct_add(&sets->antennas, low, 0, &index, &is_new));
            SLC_TRY(slci_distinct_add(&sets->antennas, high, 0, &index, &is_new));
        }
    }
    return SLC_OK;
}

slc_status slci_uvh5_scan(slci_vis_part *part, slci_vis_sets *sets) {
    slci_uvh5 *uvh5 = (slci_uvh5 *)part;
    enum { N_BUFFERS = 12, NUMBER_BYTES = 8 };
    char *memory = malloc((size_t)SLCI_UVH5_PASS_ROWS * NUMBER_BYTES * N_BUFFERS);
    if (memory == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "%s: no memory to read its header", part->path);
    }
    char *at[N_BUFFERS];
    for (int k = 0; k < N_BUFFERS; k++) {
        at[k] = memory + (size_t)k * SLCI_UVH5_PASS_ROWS * NUMBER_BYTES;
    }
    const pass rows = {
        .ant_1 = (int64_t *)(void *)at[0],
        .ant_2 = (int64_t *)(void *)at[1],
        .phase_id = (int64_t *)(void *)at[2],
        .time = (double *)(void *)at[3],
        .lst = (double *)(void *)at[4],
        .integration = (double *)(void *)at[5],
        .uvw = (double *)(void *)at[6],
        .raw = at[9], /* three numbers a row too */
    };
    double jd_low = (double)INFINITY;
    double jd_high = -(double)INFINITY;
    slc_status status = SLC_OK;
    for (int64_t row = 0; row < part->header.n_rows && status == SLC_OK;
         row += SLCI_UVH5_PASS_ROWS) {
        const int64_t n = slc_min_i64(SLCI_UVH5_PASS_ROWS, part->header.n_rows - row);
        status = read_rows(uvh5, row, n, sets->selection, &rows);
        if (status == SLC_OK) {
            status = add_rows(uvh5, row, n, &rows, sets, &jd_low, &jd_high);
        }
    }
    free(memory);
    SLC_TRY(status);
    slci_uvh5_phase_at(uvh5, 0.5 * (jd_low + jd_high), sets->log);
    return SLC_OK;
}
