/* The weighted source: a visibility set with the weights of the picture applied, as the engine reads
 * it, and what is counted on the way. The totals, which several threads fill in any order, are integers
 * (core/fixed.h), so that they are the same for any budget and any number of threads. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "app/row_blocks.h"
#include "app/weighting.h"
#include "core/checked.h"
#include "core/fixed.h"
#include "kernels/direct.h"

/* One polarisation of it. */
typedef struct weighted_pol {
    const slci_density *density; /* lent; NULL: natural */
    double largest_granule;      /* refused past this Σw|V| */
    int abs_bits, weight_bits;   /* scales of abs_sum and weight_sum */
    /* Under the source's mutex: */
    unsigned char *counted; /* [n_granules] */
    slc_fixed abs_sum, weight_sum;
    slci_totals totals;
} weighted_pol;

typedef struct weighted {
    slc_source base;
    slc_source *vis;          /* lent */
    const slc_vis_meta *meta; /* lent */
    bool is_psf;              /* V = 1 in the sums that guard the accumulators */
    int64_t granule_rows;
    pthread_mutex_t mutex;
    weighted_pol pol[SLC_VIS_MOST_IMAGED]; /* [n_imaged] */
} weighted;

/* One polarisation of some rows, as they were read. */
typedef struct weighted_rows {
    const double *uvw;
    float *vis, *weight; /* NULL: this one is not read */
    int64_t first_row, n_rows;
} weighted_rows;

static weighted_rows rows_of(const slc_box *box, void *const *dst, int imaged) {
    return (weighted_rows){.uvw = dst[SLC_VIS_UVW],
                           .vis = dst[slc_vis_data_field(imaged)],
                           .weight = dst[slc_vis_weight_field(imaged)],
                           .first_row = box->origin[0],
                           .n_rows = box->extent[0]};
}

static void apply_density(const slci_density *density, const slc_vis_meta *meta,
                          const weighted_rows *rows, int64_t *n_outside) {
    for (int64_t r = 0; r < rows->n_rows; r++) {
        for (int64_t c = 0; c < meta->n_channels; c++) {
            const int64_t s = r * meta->n_channels + c;
            float *const weight = &rows->weight[s];
            if (!(*weight > 0)) {
                continue;
            }
            const double scale = meta->wavelengths_per_metre[c];
            const int64_t cell =
                slci_density_cell(density, rows->uvw[3 * r] * scale, rows->uvw[3 * r + 1] * scale);
            if (cell < 0) {
                *weight = 0;
                rows->vis[2 * s] = 0;
                rows->vis[2 * s + 1] = 0;
                (*n_outside)++;
            } else if (density->is_briggs) {
                *weight = (float)((double)*weight / (1 + density->cell[cell] * density->robust_f2));
            } else {
                *weight = (float)((double)*weight / density->cell[cell]);
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
static slc_status sum_granules(const weighted *w, const weighted_pol *pol,
                               const weighted_rows *rows, block_sum *sums) {
    for (int64_t row = 0; row < rows->n_rows; row += w->granule_rows) {
        const int64_t n_rows = slc_min_i64(w->granule_rows, rows->n_rows - row);
        const int64_t first = row * w->meta->n_channels;
        const granule_sum sum = sum_granule(w, rows->vis + 2 * first, rows->weight + first, n_rows);
        if (guarded_sum(w, &sum) > pol->largest_granule) {
            return SLC_FAIL(SLC_ERROR_INPUT,
                            "%s: rows %lld to %lld hold weighted amplitudes of %g, more than 2^50 "
                            "times those of the first rows with data; flag what is wrong there",
                            w->vis->name, (long long)(rows->first_row + row),
                            (long long)(rows->first_row + row + n_rows - 1), guarded_sum(w, &sum));
        }
        sums->abs = slc_fixed_add(sums->abs, slc_fixed_from_double(sum.abs, pol->abs_bits));
        sums->weight =
            slc_fixed_add(sums->weight, slc_fixed_from_double(sum.weight, pol->weight_bits));
        sums->n_used += sum.n_used;
    }
    return SLC_OK;
}

/* Adds the block to the totals if none of its granules was counted before; says how many were. It is
 * decided under the lock, because two slots may hold the same rows for two tiles of the image at the
 * same time, and all at once, so that a checkpoint finds totals and marks that agree. */
static int64_t count_block(weighted *w, weighted_pol *pol, const weighted_rows *rows,
                           const block_sum *sums) {
    const int64_t first = rows->first_row / w->granule_rows;
    const int64_t n_granules = slc_ceil_div(rows->n_rows, w->granule_rows);
    int64_t n_counted = 0;
    pthread_mutex_lock(&w->mutex);
    for (int64_t g = 0; g < n_granules; g++) {
        n_counted += pol->counted[first + g];
    }
    if (n_counted == 0) {
        memset(pol->counted + first, 1, (size_t)n_granules);
        pol->abs_sum = slc_fixed_add(pol->abs_sum, sums->abs);
        pol->weight_sum = slc_fixed_add(pol->weight_sum, sums->weight);
        pol->totals.n_used += sums->n_used;
        pol->totals.n_outside += sums->n_outside;
        slc_vis_counts_add(&pol->totals.counts, &sums->counts);
    }
    pthread_mutex_unlock(&w->mutex);
    return n_counted;
}

/* Reads, and applies the densities; counts and n_outside [n_imaged]. */
static slc_status read_and_weigh(weighted *w, const slc_box *box, void *const *dst,
                                 slc_vis_counts *counts, int64_t *n_outside) {
    SLC_TRY(slc_vis_read_counted(w->vis, box, dst, counts));
    for (int i = 0; i < w->meta->n_imaged; i++) {
        const weighted_rows rows = rows_of(box, dst, i);
        if (w->pol[i].density != NULL && rows.weight != NULL) {
            apply_density(w->pol[i].density, w->meta, &rows, &n_outside[i]);
        }
    }
    return SLC_OK;
}

static slc_status weighted_read(slc_source *source, const slc_box *box, void *const *dst);

/* Rows `row` to row + n - 1 of the box that dst is of. */
static slc_status read_some(weighted *w, const slc_box *box, int64_t row, int64_t n,
                            void *const *dst) {
    const slc_box some = slc_box_1d(box->origin[0] + row, n);
    const int64_t first = row * w->meta->n_channels;
    void *place[SLC_MAX_FIELDS] = {(double *)dst[SLC_VIS_UVW] + 3 * row};
    for (int i = 0; i < w->meta->n_imaged; i++) {
        const weighted_rows rows = rows_of(box, dst, i);
        place[slc_vis_data_field(i)] = rows.vis == NULL ? NULL : rows.vis + 2 * first;
        place[slc_vis_weight_field(i)] = rows.weight == NULL ? NULL : rows.weight + first;
    }
    return weighted_read(&w->base, &some, place);
}

/* Counts what was read of the polarisations wanted; *is_partial: of one of them some granules are new
 * and some are not, and none was counted. */
static slc_status count_all(weighted *w, const slc_box *box, void *const *dst, block_sum *sums,
                            bool *is_partial) {
    const int64_t n_granules = slc_ceil_div(box->extent[0], w->granule_rows);
    *is_partial = false;
    for (int i = 0; i < w->meta->n_imaged; i++) {
        const weighted_rows rows = rows_of(box, dst, i);
        if (rows.weight != NULL) {
            SLC_TRY(sum_granules(w, &w->pol[i], &rows, &sums[i]));
            const int64_t n_counted = count_block(w, &w->pol[i], &rows, &sums[i]);
            *is_partial = *is_partial || (n_counted > 0 && n_counted < n_granules);
        }
    }
    return SLC_OK;
}

static slc_status weighted_read(slc_source *source, const slc_box *box, void *const *dst) {
    weighted *w = (weighted *)source;
    block_sum sums[SLC_VIS_MOST_IMAGED] = {{.n_used = 0}};
    slc_vis_counts counts[SLC_VIS_MOST_IMAGED] = {{0}};
    int64_t n_outside[SLC_VIS_MOST_IMAGED] = {0};
    bool is_partial = false;
    SLC_TRY(read_and_weigh(w, box, dst, counts, n_outside));
    for (int i = 0; i < w->meta->n_imaged; i++) {
        sums[i].counts = counts[i];
        sums[i].n_outside = n_outside[i];
    }
    SLC_TRY(count_all(w, box, dst, sums, &is_partial));
    /* A resumed run has other tiles than the one before it: some granules are new, some are not. They
     * are read again one by one, into the same place. */
    for (int64_t row = 0; row < box->extent[0] && is_partial; row += w->granule_rows) {
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
    for (int i = 0; i < SLC_VIS_MOST_IMAGED; i++) {
        free(w->pol[i].counted);
    }
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
    w->granule_rows = slc_direct_granule_rows(w->meta->n_channels);
    pthread_mutex_init(&w->mutex, NULL);
    const int64_t n_granules = slc_ceil_div(w->meta->n_rows, w->granule_rows);
    for (int i = 0; i < w->meta->n_imaged; i++) {
        w->pol[i].density = density == NULL ? NULL : &density[i];
        w->pol[i].largest_granule = INFINITY;
        w->pol[i].counted = calloc((size_t)slc_max_i64(n_granules, 1), 1);
        if (w->pol[i].counted == NULL) {
            weighted_destroy(&w->base);
            return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for the marks of %lld granules",
                            (long long)n_granules);
        }
    }
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

/* Reads one granule with its weights; the granule is not counted. sum [n_imaged]. */
static slc_status peek_granule(weighted *w, const slc_box *box, const slci_row_block *b,
                               granule_sum *sum) {
    void *dst[SLC_MAX_FIELDS];
    slc_vis_counts counts[SLC_VIS_MOST_IMAGED] = {{0}};
    int64_t n_outside[SLC_VIS_MOST_IMAGED] = {0};
    slci_row_block_place(b, 0, dst);
    SLC_TRY(read_and_weigh(w, box, dst, counts, n_outside));
    for (int i = 0; i < w->meta->n_imaged; i++) {
        sum[i] = sum_granule(w, b->vis[i], b->weight[i], box->extent[0]);
    }
    return SLC_OK;
}

/* Takes a granule in, of polarisations whose first one was not found before; whether all are. */
static bool take_first(const weighted *w, const granule_sum *sum, slci_first *out,
                       double *first_weight) {
    bool has_all = true;
    for (int i = 0; i < w->meta->n_imaged; i++) {
        if (out[i].sum <= 0) {
            out[i].has_weight = out[i].has_weight || sum[i].n_used > 0;
            out[i].sum = guarded_sum(w, &sum[i]);
            first_weight[i] = first_weight[i] > 0 ? first_weight[i] : sum[i].weight;
        }
        has_all = has_all && out[i].sum > 0;
    }
    return has_all;
}

slc_status slci_weighted_find_first(slc_source *source, bool is_psf, slci_first *out) {
    weighted *w = (weighted *)source;
    slci_first found[SLC_VIS_MOST_IMAGED] = {{0}};
    double first_weight[SLC_VIS_MOST_IMAGED] = {0};
    slci_row_block b = {0};
    bool has_all = false;
    w->is_psf = is_psf;
    SLC_TRY(slci_row_block_create(w->meta, SLCI_ROWS_ALL, w->granule_rows, &b));
    slc_status status = SLC_OK;
    for (int64_t row = 0; row < w->meta->n_rows && !has_all; row += w->granule_rows) {
        const slc_box box = slc_box_1d(row, slc_min_i64(w->granule_rows, w->meta->n_rows - row));
        granule_sum sum[SLC_VIS_MOST_IMAGED] = {{0}};
        SLC_TRY_GOTO(done, peek_granule(w, &box, &b, sum));
        has_all = take_first(w, sum, found, first_weight);
    }
    for (int i = 0; i < w->meta->n_imaged; i++) {
        weighted_pol *pol = &w->pol[i];
        if (found[i].has_weight) {
            pol->weight_bits = slc_fixed_scale_bits(first_weight[i]);
        }
        if (found[i].sum > 0) {
            pol->abs_bits = is_psf ? pol->abs_bits : slc_fixed_scale_bits(found[i].sum);
            pol->largest_granule = ldexp(found[i].sum, SLC_FIXED_LAST_BIT - SLC_FIXED_FIRST_BIT);
        }
        out[i] = found[i];
    }
done:
    slci_row_block_destroy(&b);
    return status;
}

/* ---- checkpoints ------------------------------------------------------------------------------ */

/* What is kept of each polarisation: this, then the marks of the granules. */
typedef struct kept_totals {
    slc_fixed abs_sum, weight_sum;
    int64_t n_granules, n_used, n_outside;
    slc_vis_counts counts;
} kept_totals;

static int64_t n_marks(const weighted *w) {
    return slc_ceil_div(w->meta->n_rows, w->granule_rows);
}

static int64_t kept_bytes_of_one(const weighted *w) {
    return (int64_t)sizeof(kept_totals) + n_marks(w);
}

int64_t slci_weighted_kept_bytes(const slc_source *source) {
    const weighted *w = (const weighted *)source;
    return w->meta->n_imaged * kept_bytes_of_one(w);
}

static void keep_one(const weighted *w, const weighted_pol *pol, unsigned char *out) {
    kept_totals kept;
    memset(&kept, 0, sizeof kept); /* padding too: it is written to a file */
    kept.abs_sum = pol->abs_sum;
    kept.weight_sum = pol->weight_sum;
    kept.n_granules = n_marks(w);
    kept.n_used = pol->totals.n_used;
    kept.n_outside = pol->totals.n_outside;
    kept.counts = pol->totals.counts;
    memcpy(out, &kept, sizeof kept);
    memcpy(out + sizeof kept, pol->counted, (size_t)kept.n_granules);
}

void slci_weighted_keep(slc_source *source, void *out) {
    weighted *w = (weighted *)source;
    pthread_mutex_lock(&w->mutex);
    for (int i = 0; i < w->meta->n_imaged; i++) {
        keep_one(w, &w->pol[i], (unsigned char *)out + i * kept_bytes_of_one(w));
    }
    pthread_mutex_unlock(&w->mutex);
}

static slc_status restore_one(const weighted *w, const unsigned char *data, weighted_pol *pol) {
    kept_totals kept;
    memcpy(&kept, data, sizeof kept);
    if (kept.n_granules != n_marks(w)) {
        return SLC_FAIL(SLC_ERROR_INPUT, "%s: the checkpoint has %lld granules of rows, not %lld",
                        w->vis->name, (long long)kept.n_granules, (long long)n_marks(w));
    }
    pol->abs_sum = kept.abs_sum;
    pol->weight_sum = kept.weight_sum;
    pol->totals =
        (slci_totals){.n_used = kept.n_used, .n_outside = kept.n_outside, .counts = kept.counts};
    memcpy(pol->counted, data + sizeof kept, (size_t)kept.n_granules);
    return SLC_OK;
}

slc_status slci_weighted_restore(slc_source *source, const void *data) {
    weighted *w = (weighted *)source;
    for (int i = 0; i < w->meta->n_imaged; i++) {
        SLC_TRY(restore_one(w, (const unsigned char *)data + i * kept_bytes_of_one(w), &w->pol[i]));
    }
    return SLC_OK;
}

slci_totals slci_weighted_totals(const slc_source *source, int imaged) {
    const weighted_pol *pol = &((const weighted *)source)->pol[imaged];
    slci_totals totals = pol->totals;
    totals.weight_sum = slc_fixed_to_double(pol->weight_sum, pol->weight_bits);
    totals.abs_sum = slc_fixed_to_double(pol->abs_sum, pol->abs_bits);
    return totals;
}
