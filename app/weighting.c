/* Every number that comes out of here is the same for any budget and any number of threads: the survey
 * and the density look at the rows in file order on one thread, and the totals of the weighted
 * source, which several threads fill in any order, are integers (core/fixed.h).
 */
#include "app/weighting.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/row_blocks.h"
#include "core/checked.h"
#include "core/fixed.h"
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

static void survey_block(void *context, const slci_row_block *b, int64_t n_rows,
                         const slc_vis_meta *meta) {
    slci_survey *survey = context;
    for (int64_t r = 0; r < n_rows; r++) {
        double scale = 0; /* largest wavelengths per metre of a sample in use */
        for (int64_t c = 0; c < meta->n_channels; c++) {
            if (b->weight[r * meta->n_channels + c] > 0) {
                const double here = meta->wavelengths_per_metre[c];
                scale = here > scale ? here : scale;
                survey->n_weighted++;
            }
        }
        const double *uvw = &b->uvw[3 * r];
        if (scale > 0) {
            survey->max_u = fmax(survey->max_u, fabs(uvw[0]) * scale);
            survey->max_v = fmax(survey->max_v, fabs(uvw[1]) * scale);
            survey->max_w = fmax(survey->max_w, fabs(uvw[2]) * scale);
            survey->max_uv = fmax(survey->max_uv, hypot(uvw[0], uvw[1]) * scale);
        }
    }
}

slc_status slci_survey_run(slc_source *vis, const slci_survey_options *options, slci_survey *out) {
    slci_survey survey = {0};
    SLC_TRY(visit_rows(vis, options, survey_block, &survey, &survey.counts));
    *out = survey;
    return SLC_OK;
}

/* ---- density ---------------------------------------------------------------------------------- */

/* The cell of a sample, -1 outside the band that the image can show. */
static int64_t cell_of(const slci_density *d, double u, double v) {
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

static void density_block(void *context, const slci_row_block *b, int64_t n_rows,
                          const slc_vis_meta *meta) {
    slci_density *density = context;
    for (int64_t r = 0; r < n_rows; r++) {
        for (int64_t c = 0; c < meta->n_channels; c++) {
            const float weight = b->weight[r * meta->n_channels + c];
            if (weight > 0) {
                const double scale = meta->wavelengths_per_metre[c];
                const int64_t cell =
                    cell_of(density, b->uvw[3 * r] * scale, b->uvw[3 * r + 1] * scale);
                if (cell >= 0) {
                    density->cell[cell] += (double)weight;
                }
            }
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

slc_status slci_density_create(slc_source *vis, const slci_survey_options *options, int64_t nx,
                               int64_t ny, double scale_rad, slc_budget *budget,
                               slci_density *out) {
    slci_density density = {.nx = nx, .ny = ny, .scale_rad = scale_rad, .budget = budget};
    density.n_u = (nx + 1) / 2 + nx / 2 + 1;
    density.n_v = ny / 2 + 1;
    int64_t bytes = 0;
    SLC_TRY(slci_density_bytes(nx, ny, &bytes));
    SLC_TRY(slc_budget_reserve(budget, SLC_SPACE_HOST, bytes, "uv density"));
    density.cell = calloc((size_t)(density.n_u * density.n_v), sizeof *density.cell);
    slc_status status = SLC_OK;
    if (density.cell == NULL) {
        status = SLC_FAIL(SLC_ERROR_MEMORY, "no memory for the uv density, %lld bytes",
                          (long long)bytes);
    } else {
        slc_vis_counts counts = {0};
        slci_survey_options all = *options;
        all.wants_data = true;
        status = visit_rows(vis, &all, density_block, &density, &counts);
    }
    if (status != SLC_OK) {
        free(density.cell);
        slc_budget_release(budget, SLC_SPACE_HOST, bytes);
        return status;
    }
    if (options->options->weighting == SLC_WEIGHT_BRIGGS) {
        density.is_briggs = true;
        density.robust_f2 = briggs_f2(&density, options->options->robust);
    }
    *out = density;
    return SLC_OK;
}

void slci_density_destroy(slci_density *density) {
    if (density->cell != NULL) {
        slc_budget_release(density->budget, SLC_SPACE_HOST,
                           density->n_u * density->n_v * (int64_t)sizeof(double));
        free(density->cell);
    }
    *density = (slci_density){0};
}

/* ---- weighted source -------------------------------------------------------------------------- */

typedef struct weighted {
    slc_source base;
    slc_source *vis;             /* lent */
    const slc_vis_meta *meta;    /* lent */
    const slci_density *density; /* lent; NULL: natural */
    bool is_psf;                 /* V = 1 in the sums that guard the accumulators */
    int64_t granule_rows;
    double largest_granule;    /* refused past this Σw|V| */
    int abs_bits, weight_bits; /* scales of abs_sum and weight_sum */
    pthread_mutex_t mutex;     /* everything below */
    unsigned char *counted;    /* [n_granules] */
    slc_fixed abs_sum, weight_sum;
    slci_totals totals;
} weighted;

static void apply_density(const weighted *w, const double *uvw, float *vis, float *weight,
                          int64_t n_rows, int64_t *n_outside) {
    const slci_density *density = w->density;
    for (int64_t r = 0; r < n_rows; r++) {
        for (int64_t c = 0; c < w->meta->n_channels; c++) {
            const int64_t s = r * w->meta->n_channels + c;
            if (!(weight[s] > 0)) {
                continue;
            }
            const double scale = w->meta->wavelengths_per_metre[c];
            const int64_t cell = cell_of(density, uvw[3 * r] * scale, uvw[3 * r + 1] * scale);
            if (cell < 0) {
                weight[s] = 0;
                vis[2 * s] = 0;
                vis[2 * s + 1] = 0;
                (*n_outside)++;
            } else if (density->is_briggs) {
                weight[s] =
                    (float)((double)weight[s] / (1 + density->cell[cell] * density->robust_f2));
            } else {
                weight[s] = (float)((double)weight[s] / density->cell[cell]);
            }
        }
    }
}

/* Σw, Σw|V| and samples in use of one granule, in file order. */
typedef struct granule_sum {
    double weight, abs;
    int64_t n_used;
} granule_sum;

static granule_sum sum_granule(const weighted *w, const float *vis, const float *weight,
                               int64_t n_rows) {
    granule_sum sum = {0};
    for (int64_t s = 0; s < n_rows * w->meta->n_channels; s++) {
        if (weight[s] > 0) {
            const double modulus = hypot((double)vis[2 * s], (double)vis[2 * s + 1]);
            sum.weight += (double)weight[s];
            sum.abs += (double)weight[s] * modulus;
            sum.n_used++;
        }
    }
    return sum;
}

/* What the accumulators of the pass take from a granule at most: in the PSF every |V| is 1. */
static double guarded_sum(const weighted *w, const granule_sum *sum) {
    return w->is_psf ? sum->weight : sum->abs;
}

/* What a block of rows adds to the totals. */
typedef struct block_sum {
    slc_fixed abs, weight;
    int64_t n_used;
    int64_t n_outside;
    slc_vis_counts counts;
} block_sum;

/* Sums the block's granules and checks each against the accumulators' range. */
static slc_status sum_granules(const weighted *w, const slc_box *box, const float *vis,
                               const float *weight, block_sum *sums) {
    for (int64_t row = 0; row < box->extent[0]; row += w->granule_rows) {
        const int64_t n_rows = slc_min_i64(w->granule_rows, box->extent[0] - row);
        const int64_t first = row * w->meta->n_channels;
        const granule_sum sum = sum_granule(w, vis + 2 * first, weight + first, n_rows);
        if (guarded_sum(w, &sum) > w->largest_granule) {
            return SLC_FAIL(SLC_ERROR_INPUT,
                            "%s: rows %lld to %lld hold weighted amplitudes of %g, more than 2^50 "
                            "times those of the first rows with data; flag what is wrong there",
                            w->vis->name, (long long)(box->origin[0] + row),
                            (long long)(box->origin[0] + row + n_rows - 1), guarded_sum(w, &sum));
        }
        sums->abs = slc_fixed_add(sums->abs, slc_fixed_from_double(sum.abs, w->abs_bits));
        sums->weight =
            slc_fixed_add(sums->weight, slc_fixed_from_double(sum.weight, w->weight_bits));
        sums->n_used += sum.n_used;
    }
    return SLC_OK;
}

/* Adds the block to the totals if none of its granules was counted before; says how many were. It is
 * decided under the lock, because two slots may hold the same rows for two tiles of the image at the
 * same time, and all at once, so that a checkpoint finds totals and marks that agree. */
static int64_t count_block(weighted *w, const slc_box *box, const block_sum *sums) {
    const int64_t first = box->origin[0] / w->granule_rows;
    const int64_t n_granules = slc_ceil_div(box->extent[0], w->granule_rows);
    int64_t n_counted = 0;
    pthread_mutex_lock(&w->mutex);
    for (int64_t g = 0; g < n_granules; g++) {
        n_counted += w->counted[first + g];
    }
    if (n_counted == 0) {
        memset(w->counted + first, 1, (size_t)n_granules);
        w->abs_sum = slc_fixed_add(w->abs_sum, sums->abs);
        w->weight_sum = slc_fixed_add(w->weight_sum, sums->weight);
        w->totals.n_used += sums->n_used;
        w->totals.n_outside += sums->n_outside;
        slci_counts_add(&w->totals.counts, &sums->counts);
    }
    pthread_mutex_unlock(&w->mutex);
    return n_counted;
}

static slc_status read_and_weigh(weighted *w, const slc_box *box, void *const *dst,
                                 slc_vis_counts *counts, int64_t *n_outside) {
    SLC_TRY(slc_vis_read_counted(w->vis, box, dst, counts));
    if (w->density != NULL) {
        apply_density(w, dst[SLC_VIS_UVW], dst[SLC_VIS_DATA], dst[SLC_VIS_WEIGHT], box->extent[0],
                      n_outside);
    }
    return SLC_OK;
}

static slc_status weighted_read(slc_source *source, const slc_box *box, void *const *dst);

/* Rows `row` to row + n - 1 of the box that dst is of. */
static slc_status read_some(weighted *w, const slc_box *box, int64_t row, int64_t n,
                            void *const *dst) {
    const slc_box some = slc_box_1d(box->origin[0] + row, n);
    const int64_t first = row * w->meta->n_channels;
    void *const place[SLC_VIS_N_FIELDS] = {(double *)dst[SLC_VIS_UVW] + 3 * row,
                                           (float *)dst[SLC_VIS_DATA] + 2 * first,
                                           (float *)dst[SLC_VIS_WEIGHT] + first};
    return weighted_read(&w->base, &some, place);
}

static slc_status weighted_read(slc_source *source, const slc_box *box, void *const *dst) {
    weighted *w = (weighted *)source;
    block_sum sums = {.n_used = 0};
    SLC_TRY(read_and_weigh(w, box, dst, &sums.counts, &sums.n_outside));
    SLC_TRY(sum_granules(w, box, dst[SLC_VIS_DATA], dst[SLC_VIS_WEIGHT], &sums));
    const int64_t n_granules = slc_ceil_div(box->extent[0], w->granule_rows);
    const int64_t n_counted = count_block(w, box, &sums);
    if (n_counted == 0 || n_counted == n_granules) {
        return SLC_OK;
    }
    /* A resumed run has other tiles than the one before it: some granules are new, some are not. They
     * are read again one by one, into the same place. */
    for (int64_t row = 0; row < box->extent[0]; row += w->granule_rows) {
        SLC_TRY(read_some(w, box, row, slc_min_i64(w->granule_rows, box->extent[0] - row), dst));
    }
    return SLC_OK;
}

/* Parts are whole granules, whose sums are the same whoever forms them. */
static slc_status weighted_read_part(slc_source *source, const slc_box *box, void *const *dst,
                                     int part, int n_parts) {
    weighted *w = (weighted *)source;
    const int64_t begin = slc_vis_cut(w->vis, box, w->granule_rows, part, n_parts);
    const int64_t end = slc_vis_cut(w->vis, box, w->granule_rows, part + 1, n_parts);
    return begin < end ? read_some(w, box, begin - box->origin[0], end - begin, dst) : SLC_OK;
}

static int64_t weighted_next_unit(slc_source *source, int axis, int64_t index) {
    return slc_source_next_unit(((weighted *)source)->vis, axis, index);
}

static slc_status weighted_finish(slc_source *source) {
    return slc_source_finish(((weighted *)source)->vis);
}

static void weighted_destroy(slc_source *source) {
    weighted *w = (weighted *)source;
    pthread_mutex_destroy(&w->mutex);
    free(w->counted);
    free(w);
}

static const slc_source_ops weighted_ops = {.read = weighted_read,
                                            .read_part = weighted_read_part,
                                            .next_unit = weighted_next_unit,
                                            .finish = weighted_finish,
                                            .destroy = weighted_destroy};

slc_status slci_weighted_create(slc_source *vis, const slci_density *density, slc_source **out) {
    weighted *w = calloc(1, sizeof *w);
    if (w == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for a source");
    }
    w->vis = vis;
    w->meta = slc_vis_get_meta(vis);
    w->density = density;
    w->granule_rows = slc_direct_granule_rows(w->meta->n_channels);
    w->largest_granule = INFINITY;
    const int64_t n_granules = slc_ceil_div(w->meta->n_rows, w->granule_rows);
    w->counted = calloc((size_t)slc_max_i64(n_granules, 1), 1);
    if (w->counted == NULL) {
        free(w);
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for the marks of %lld granules",
                        (long long)n_granules);
    }
    pthread_mutex_init(&w->mutex, NULL);
    w->base.ops = &weighted_ops;
    w->base.shared_rank = vis->shared_rank;
    w->base.n_fields = vis->n_fields;
    w->base.is_divisible = vis->is_divisible;
    memcpy(w->base.fields, vis->fields, sizeof w->base.fields);
    memcpy(w->base.name, vis->name, sizeof w->base.name);
    memcpy(w->base.identity, vis->identity, sizeof w->base.identity);
    *out = &w->base;
    return SLC_OK;
}

/* Reads one granule with its weights; the granule is not counted. */
static slc_status peek_granule(weighted *w, const slc_box *box, const slci_row_block *b,
                               granule_sum *sum) {
    void *const dst[SLC_VIS_N_FIELDS] = {b->uvw, b->vis, b->weight};
    slc_vis_counts counts = {0};
    int64_t n_outside = 0;
    SLC_TRY(read_and_weigh(w, box, dst, &counts, &n_outside));
    *sum = sum_granule(w, b->vis, b->weight, box->extent[0]);
    return SLC_OK;
}

slc_status slci_weighted_find_first(slc_source *source, bool is_psf, double *first_sum,
                                    bool *has_weight) {
    weighted *w = (weighted *)source;
    w->is_psf = is_psf;
    *first_sum = 0;
    *has_weight = false;
    double first_weight = 0;
    slci_row_block b = {0};
    SLC_TRY(slci_row_block_create(w->meta, SLCI_ROWS_ALL, w->granule_rows, &b));
    slc_status status = SLC_OK;
    for (int64_t row = 0; row < w->meta->n_rows && *first_sum <= 0; row += w->granule_rows) {
        const slc_box box = slc_box_1d(row, slc_min_i64(w->granule_rows, w->meta->n_rows - row));
        granule_sum sum = {0};
        SLC_TRY_GOTO(done, peek_granule(w, &box, &b, &sum));
        *has_weight = *has_weight || sum.n_used > 0;
        *first_sum = guarded_sum(w, &sum);
        first_weight = first_weight > 0 ? first_weight : sum.weight;
    }
    if (*has_weight) {
        w->weight_bits = slc_fixed_scale_bits(first_weight);
    }
    if (*first_sum > 0) {
        if (!is_psf) {
            w->abs_bits = slc_fixed_scale_bits(*first_sum);
        }
        w->largest_granule = ldexp(*first_sum, SLC_FIXED_LAST_BIT - SLC_FIXED_FIRST_BIT);
    }
done:
    slci_row_block_destroy(&b);
    return status;
}

/* ---- checkpoints ------------------------------------------------------------------------------ */

/* What is kept: this, then the marks of the granules. */
typedef struct kept_totals {
    slc_fixed abs_sum, weight_sum;
    int64_t n_granules, n_used, n_outside;
    slc_vis_counts counts;
} kept_totals;

static int64_t n_marks(const weighted *w) {
    return slc_ceil_div(w->meta->n_rows, w->granule_rows);
}

int64_t slci_weighted_kept_bytes(const slc_source *source) {
    return (int64_t)sizeof(kept_totals) + n_marks((const weighted *)source);
}

void slci_weighted_keep(slc_source *source, void *out) {
    weighted *w = (weighted *)source;
    kept_totals kept;
    memset(&kept, 0, sizeof kept); /* padding too: it is written to a file */
    pthread_mutex_lock(&w->mutex);
    kept.abs_sum = w->abs_sum;
    kept.weight_sum = w->weight_sum;
    kept.n_granules = n_marks(w);
    kept.n_used = w->totals.n_used;
    kept.n_outside = w->totals.n_outside;
    kept.counts = w->totals.counts;
    memcpy(out, &kept, sizeof kept);
    memcpy((unsigned char *)out + sizeof kept, w->counted, (size_t)kept.n_granules);
    pthread_mutex_unlock(&w->mutex);
}

slc_status slci_weighted_restore(slc_source *source, const void *data) {
    weighted *w = (weighted *)source;
    kept_totals kept;
    memcpy(&kept, data, sizeof kept);
    if (kept.n_granules != n_marks(w)) {
        return SLC_FAIL(SLC_ERROR_INPUT, "%s: the checkpoint has %lld granules of rows, not %lld",
                        w->vis->name, (long long)kept.n_granules, (long long)n_marks(w));
    }
    w->abs_sum = kept.abs_sum;
    w->weight_sum = kept.weight_sum;
    w->totals =
        (slci_totals){.n_used = kept.n_used, .n_outside = kept.n_outside, .counts = kept.counts};
    memcpy(w->counted, (const unsigned char *)data + sizeof kept, (size_t)kept.n_granules);
    return SLC_OK;
}

slci_totals slci_weighted_totals(const slc_source *source) {
    const weighted *w = (const weighted *)source;
    slci_totals totals = w->totals;
    totals.weight_sum = slc_fixed_to_double(w->weight_sum, w->weight_bits);
    totals.abs_sum = slc_fixed_to_double(w->abs_sum, w->abs_bits);
    return totals;
}
