/* The survey of a visibility set and the weights of its samples (app/weighting.c), and the set with
 * them applied (app/weighted_source.c).
 * The survey is one quick look at all rows: how far the baselines reach, how many samples count, and
 * for uniform and Briggs weights the density of samples in the uv plane. The weighted source is the
 * visibility source with those weights applied; it is what the engine reads.
 */
#ifndef SLC_APP_WEIGHTING_H
#define SLC_APP_WEIGHTING_H

#include <stdbool.h>
#include <stdint.h>

#include "app/image.h"
#include "core/budget.h"
#include "core/pool.h"
#include "core/source.h"
#include "io/vis.h"

/* Σ of natural weights in each cell of the uv plane. Cells are 1 / (n · scale) wavelengths wide, and
 * (u, v) and (-u, -v) share one. Source of the weights: D. Briggs, "High fidelity deconvolution of
 * moderately resolved sources", thesis, New Mexico Tech 1995, chapter 3. */
typedef struct slci_density {
    int64_t nx, ny; /* of the image */
    double scale_rad;
    int64_t n_u, n_v; /* cells kept: u in [-1/2, 1/2] of the band, v in [0, 1/2] */
    double *cell;     /* [n_v, n_u], owned */
    bool is_briggs;   /* weight w / (1 + D f²); else uniform, w / D */
    double robust_f2;
    slc_budget *budget; /* lent; `cell` is reserved there */
} slci_density;

typedef struct slci_survey {
    double max_u, max_v, max_w; /* wavelengths, samples with weight */
    double max_uv;              /* longest baseline, wavelengths */
    int64_t n_weighted;         /* row × channel with weight > 0 */
    slc_vis_counts counts;
} slci_survey;

typedef struct slci_survey_options {
    bool wants_data;                  /* read values too: non-finite samples then count as unused */
    const slc_image_options *options; /* for progress and cancel */
    slc_pool *pool;                   /* whose threads read; NULL: the calling thread does */
    int64_t room_bytes;               /* of the rows that are looked at together */
} slci_survey_options;

/* Memory for rows: of a survey with so much room, or of the first granule of a weighted set. */
int64_t slci_survey_bytes(const slc_vis_meta *meta, int64_t room_bytes);

/* Looks at every row once, in order; out [n_imaged], one survey a polarisation. */
SLC_MUST_USE slc_status slci_survey_run(slc_source *vis, const slci_survey_options *options,
                                        slci_survey *out);

/* What the density of an image of nx × ny pixels takes. SLC_ERROR_MEMORY: more than 64 bits count. */
SLC_MUST_USE slc_status slci_density_bytes(int64_t nx, int64_t ny, int64_t *bytes);

/* Fills the densities [n_imaged], one a polarisation, from every row, values looked at whatever the
 * options say; `vis` holds all selected channels. */
SLC_MUST_USE slc_status slci_density_create(slc_source *vis, const slci_survey_options *options,
                                            int64_t nx, int64_t ny, double scale_rad,
                                            slc_budget *budget, slci_density *out);
void slci_density_destroy(slci_density *density);

/* The cell of a sample, -1 outside the band that the image can show. */
int64_t slci_density_cell(const slci_density *density, double u, double v);

/* What the weighted source has counted: every granule once, however often it was read. */
typedef struct slci_totals {
    int64_t n_used;    /* row × channel with weight > 0 */
    int64_t n_outside; /* row × channel outside the uv cells of uniform and Briggs weights */
    slc_vis_counts counts;
    double weight_sum; /* Σw */
    double abs_sum;    /* Σw|V| */
} slci_totals;

/* The set as the engine reads it, with the fields of `vis`. That and `density` [n_imaged] (NULL:
 * natural) are lent. Polarisations are read together or apart: what is counted is each one's own.
 * SLC_ERROR_MEMORY. */
SLC_MUST_USE slc_status slci_weighted_create(slc_source *vis, const slci_density *density,
                                             slc_source **out);

/* What is found of one polarisation before a pass. */
typedef struct slci_first {
    double sum;      /* 0 when no sample has a weight and a value */
    bool has_weight; /* that some sample has */
} slci_first;

/* Prepares the source for a pass: reads granules from the start until one has Σw|V| > 0 (for a PSF,
 * Σw > 0), whose sum scales the accumulators; out [n_imaged], each polarisation for itself. To be
 * called before each pass, first for an image, since that fixes the scale of the totals. */
SLC_MUST_USE slc_status slci_weighted_find_first(slc_source *weighted, bool is_psf,
                                                 slci_first *out);

/* Of one polarisation. */
slci_totals slci_weighted_totals(const slc_source *weighted, int imaged);

/* What has been counted, for a checkpoint: as bytes that restore takes back, before anything is read.
 * keep may be called while others read. SLC_ERROR_INPUT for bytes of another set. */
int64_t slci_weighted_kept_bytes(const slc_source *weighted);
void slci_weighted_keep(slc_source *weighted, void *out);
SLC_MUST_USE slc_status slci_weighted_restore(slc_source *weighted, const void *data);

#endif
