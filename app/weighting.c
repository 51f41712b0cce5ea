/* Every number that comes out of here is the same for any budget and any number of threads: survey and
 * density look at the rows in file order on one thread.
 */
#include "app/weighting.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/row_blocks.h"
#include "core/checked.h"
#include "kernels/direct.h"

/* ---- reading blocks of rows ------------------------------------------------------------------- */

static void show_progress(void *context, int64_t done_rows, int64_t n_rows) {
    const slc_image_options *options = *(const slc_image_options *const *)context;
    if (options->run.progress != NULL) {
        options->run.progress(options->run.progress_context, "surveying", "rows", (double)done_rows,
                              (double)n_rows);
    }
}

/* Reads all rows in order, block by block. */
static slc_status visit_rows(slc_source *vis, const slci_survey_options *survey,
                             slci_row_visitor visit, void *context, slc_vis_counts *counts) {
    const slc_image_options *options = survey->options;
    const slci_rows_options rows = {
        .fields = survey->wants_data ? SLCI_ROWS_ALL : SLCI_ROWS_WEIGHT,
        .room_bytes = survey->room_bytes,
        .pool = survey->pool,
        .cancel = options->run.cancel,
        .progress = show_progress,
        .progress_context = &options,
    };
    return slci_rows_visit(vis, &rows, visit, context, counts);
}

int64_t slci_survey_bytes(const slc_vis_meta *meta, int64_t room_bytes) {
    const int64_t granule_rows = slc_direct_granule_rows(meta->n_channels);
    return slc_max_i64(slci_row_block_bytes(meta, SLCI_ROWS_ALL, granule_rows),
                       slci_rows_bytes(meta, SLCI_ROWS_ALL, room_bytes));
}

/* ---- survey ----------------------------------------------------------------------------------- */

/* One polarisation of one row. */
static void survey_row(const double *uvw, const float *weight, const slc_vis_meta *meta,
                       slci_survey *survey) {
    double scale = 0; /* largest wavelengths per metre of a sample in use */
    for (int64_t c = 0; c < meta->n_channels; c++) {
        if (weight[c] > 0) {
            const double here = meta->wavelengths_per_metre[c];
            scale = here > scale ? here : scale;
            survey->n_weighted++;
        }
    }
    if (scale > 0) {
        survey->max_u = fmax(survey->max_u, fabs(uvw[0]) * scale);
        survey->max_v = fmax(survey->max_v, fabs(uvw[1]) * scale);
        survey->max_w = fmax(survey->max_w, fabs(uvw[2]) * scale);
        survey->max_uv = fmax(survey->max_uv, hypot(uvw[0], uvw[1]) * scale);
    }
}

static void survey_block(void *context, const slci_row_block *b, int64_t n_rows,
                         const slc_vis_meta *meta) {
    slci_survey *survey = context;
    for (int64_t r = 0; r < n_rows; r++) {
        for (int i = 0; i < meta->n_imaged; i++) {
            survey_row(&b->uvw[3 * r], b->weight[i] + r * meta->n_channels, meta, &survey[i]);
        }
    }
}

slc_status slci_survey_run(slc_source *vis, const slci_survey_options *options, slci_survey *out) {
    const int n_imaged = slc_vis_get_meta(vis)->n_imaged;
    slci_survey survey[SLC_VIS_MOST_IMAGED] = {{0}};
    slc_vis_counts counts[SLC_VIS_MOST_IMAGED] = {{0}};
    SLC_TRY(visit_rows(vis, options, survey_block, survey, counts));
    for (int i = 0; i < n_imaged; i++) {
        out[i] = survey[i];
        out[i].counts = counts[i];
    }
    return SLC_OK;
}

/* ---- density ---------------------------------------------------------------------------------- */

int64_t slci_density_cell(const slci_density *d, double u, double v) {
    if (v < 0 || (v == 0 && u < 0)) {
        u = -u;
        v = -v;
    }
    const double half = 0.5 / d->scale_rad;
    if (fabs(u) > half || fabs(v) > half) {
        return -1;
    }
    const int64_t iu = (int64_t)floor(u * (double)d->nx * d->scale_rad) + (d->nx + 1) / 2;
    const int64_t iv = (int64_t)floor(v * (double)d->ny * d->scale_rad);
    return iv * d->n_u + iu;
}

/* One polarisation of one row. */
static void add_row(const double *uvw, const float *weight, const slc_vis_meta *meta,
                    slci_density *density) {
    for (int64_t c = 0; c < meta->n_channels; c++) {
        if (weight[c] > 0) {
            const double scale = meta->wavelengths_per_metre[c];
            const int64_t cell = slci_density_cell(density, uvw[0] * scale, uvw[1] * scale);
            if (cell >= 0) {
                density->cell[cell] += (double)weight[c];
            }
        }
    }
}

static void density_block(void *context, const slci_row_block *b, int64_t n_rows,
                          const slc_vis_meta *meta) {
    slci_density *density = context;
    for (int64_t r = 0; r < n_rows; r++) {
        for (int i = 0; i < meta->n_imaged; i++) {
            add_row(&b->uvw[3 * r], b->weight[i] + r * meta->n_channels, meta, &density[i]);
        }
    }
}

/* f² of Briggs weights: (5 · 10^-R)² ΣD / ΣD², sums over cells. */
static double briggs_f2(const slci_density *density, double robust) {
    double sum = 0;
    double sum_of_squares = 0;
    for (int64_t i = 0; i < density->n_u * density->n_v; i++) {
        sum += density->cell[i];
        sum_of_squares += density->cell[i] * density->cell[i];
    }
    const double factor = 5 * pow(10, -robust);
    return sum_of_squares > 0 ? factor * factor * sum / sum_of_squares : 0;
}

slc_status slci_density_bytes(int64_t nx, int64_t ny, int64_t *bytes) {
    int64_t cells = 0;
    if (!slc_checked_mul((nx + 1) / 2 + nx / 2 + 1, ny / 2 + 1, &cells) ||
        !slc_checked_mul(cells, (int64_t)sizeof(double), bytes)) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "the uv grid of a %lld x %lld image is too large",
                        (long long)nx, (long long)ny);
    }
    return SLC_OK;
}

/* Empty cells. */
static slc_status density_allocate(slci_density *density) {
    int64_t bytes = 0;
    density->n_u = (density->nx + 1) / 2 + density->nx / 2 + 1;
    density->n_v = density->ny / 2 + 1;
    SLC_TRY(slci_density_bytes(density->nx, density->ny, &bytes));
    SLC_TRY(slc_budget_reserve(density->budget, SLC_SPACE_HOST, bytes, "uv density"));
    density->cell = calloc((size_t)(density->n_u * density->n_v), sizeof *density->cell);
    if (density->cell == NULL) {
        slc_budget_release(density->budget, SLC_SPACE_HOST, bytes);
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for the uv density, %lld bytes",
                        (long long)bytes);
    }
    return SLC_OK;
}

slc_status slci_density_create(slc_source *vis, const slci_survey_options *options, int64_t nx,
                               int64_t ny, double scale_rad, slc_budget *budget,
                               slci_density *out) {
    const slc_image_options *image = options->options;
    const int n_imaged = slc_vis_get_meta(vis)->n_imaged;
    slci_density density[SLC_VIS_MOST_IMAGED] = {{0}};
    slc_vis_counts counts[SLC_VIS_MOST_IMAGED] = {{0}};
    slci_survey_options all = *options;
    slc_status status = SLC_OK;
    all.wants_data = true;
    for (int i = 0; i < n_imaged; i++) {
        density[i] = (slci_density){.nx = nx, .ny = ny, .scale_rad = scale_rad, .budget = budget};
        SLC_TRY_GOTO(done, density_allocate(&density[i]));
    }
    SLC_TRY_GOTO(done, visit_rows(vis, &all, density_block, density, counts));
    for (int i = 0; i < n_imaged; i++) {
        density[i].is_briggs = image->weighting == SLC_WEIGHT_BRIGGS;
        density[i].robust_f2 = density[i].is_briggs ? briggs_f2(&density[i], image->robust) : 0;
        out[i] = density[i];
    }
done:
    for (int i = 0; i < n_imaged && status != SLC_OK; i++) {
        slci_density_destroy(&density[i]);
    }
    return status;
}

void slci_density_destroy(slci_density *density) {
    if (density->cell != NULL) {
        slc_budget_release(density->budget, SLC_SPACE_HOST,
                           density->n_u * density->n_v * (int64_t)sizeof(double));
        free(density->cell);
    }
    *density = (slci_density){0};
}
