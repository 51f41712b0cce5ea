/* Predicting on the host: blocks of rows and groups of channels, spread over the pool.
 *
 *     for each block of 64 rows and group of 8 channels, in parallel:
 *         for each granule of 4096 components:  sums = 0
 *             for each component:  sums[channel][row] += I · exp(2πi …)     (predict_simd_body.h)
 *             vis[row][channel] += sums
 *
 * A row's sum takes its components one after the other, so neither blocks nor threads show in the
 * bits. Sums and places of a block stay in the first cache; what a term costs is its two
 * polynomials, and all else is paid once for 64 rows or once for 8 channels. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "core/checked.h"
#include "core/pool.h"
#include "kernels/predict_internal.h"

/* Components whose pixels one task fetches. */
#define FETCH_COMPONENTS 1024

/* Measured on one core of a Xeon, points: 2.1·10⁹ terms a second with AVX-512, 1.3·10⁹ with AVX2,
 * 0.4·10⁹ with neither; Gaussians half of that. */
#define TERMS_PER_S_THREAD 1e9

typedef struct host_call {
    slci_predict_view view;
    slc_pool *pool;
} host_call;

typedef struct host_run {
    const slci_predict_view *view;
    const slci_predict_simd *simd;
    int64_t n_rows, n_components, n_channel_groups;
} host_run;

/* What one task computes: some rows by some channels. */
typedef struct host_part {
    const host_run *run;
    int64_t first_row, n_rows, first_channel;
    slci_predict_rows rows;
    slci_predict_term term; /* of the component at hand; its number of channels is the part's */
    slci_predict_sums sums; /* of the granule at hand */
} host_part;

/* ---- pixels -------------------------------------------------------------------------------- */

static double pixel_flux(const slci_predict_view *view, int64_t plane, int64_t pixel) {
    const int64_t at = plane * view->plane_pixels + pixel;
    const double value =
        view->is_f32 ? (double)((const float *)view->image)[at] : ((const double *)view->image)[at];
    return isnan(value) ? 0.0 : value * view->jy_per_unit;
}

static slc_status fetch_part(void *context, int64_t part, int worker) {
    (void)worker;
    const host_run *run = context;
    const slci_predict_view *view = run->view;
    const int64_t begin = part * FETCH_COMPONENTS;
    const int64_t end = slc_min_i64(begin + FETCH_COMPONENTS, run->n_components);
    for (int64_t k = begin; k < end; k++) {
        for (int64_t p = 0; p < view->n_planes; p++) {
            view->flux[k * view->n_planes + p] = pixel_flux(view, p, view->pixel[k]);
        }
    }
    return SLC_OK;
}

/* ---- sums ---------------------------------------------------------------------------------- */

static double term_amplitude(const slci_predict_view *view, int64_t k, const double *channel) {
    if (view->shape == NULL) {
        return view->flux[k * view->n_planes + (int64_t)channel[SLC_PREDICT_PLANE]];
    }
    const double *shape = view->shape + k * SLC_PREDICT_SHAPE;
    const double flux = shape[SLC_PREDICT_SHAPE_FLUX];
    const double index = shape[SLC_PREDICT_SHAPE_INDEX];
    /* No index is a factor of exactly one. */
    return fpclassify(index) == FP_ZERO ? flux : flux * exp(index * channel[SLC_PREDICT_LN_FREQ]);
}

/* Components begin … end - 1 of the tile, of one granule. */
static void sum_granule(host_part *part, int64_t begin, int64_t end) {
    const slci_predict_view *view = part->run->view;
    slci_predict_term *term = &part->term;
    for (int64_t k = begin; k < end; k++) {
        const double *shape = view->shape == NULL ? NULL : view->shape + k * SLC_PREDICT_SHAPE;
        term->place = view->place + 3 * k;
        term->shape = shape != NULL && shape[SLC_PREDICT_SHAPE_MAJOR] > 0.0 ? shape : NULL;
        for (int c = 0; c < term->n_channels; c++) {
            term->amplitude[c] = term_amplitude(view, k,
                                                view->channels + (part->first_channel + c) *
                                                                     SLC_PREDICT_CHANNEL_COLUMNS);
        }
        part->run->simd->add(&part->rows, term, &part->sums);
    }
}

static void merge_sums(const host_part *part) {
    const slci_predict_view *view = part->run->view;
    for (int64_t r = 0; r < part->n_rows; r++) {
        const int64_t row = part->first_row + r;
        double *vis = view->vis + 2 * (row * view->n_channels + part->first_channel);
        for (int64_t c = 0; c < part->term.n_channels; c++) {
            vis[2 * c] += part->sums.re[c][r];
            vis[2 * c + 1] += part->sums.im[c][r];
        }
    }
}

static slc_status sum_part(void *context, int64_t number, int worker) {
    (void)worker;
    const host_run *run = context;
    const slci_predict_view *view = run->view;
    const int64_t first = number % run->n_channel_groups * SLCI_PREDICT_CHANNELS;
    const int64_t first_row = number / run->n_channel_groups * SLCI_PREDICT_ROWS;
    host_part part; /* 9 KiB, of which only the rows must start as zero */
    part.run = run;
    part.first_row = first_row;
    part.n_rows = slc_min_i64(SLCI_PREDICT_ROWS, run->n_rows - first_row);
    part.first_channel = first;
    part.term.n_channels = (int)slc_min_i64(SLCI_PREDICT_CHANNELS, view->n_channels - first);
    memset(&part.rows, 0, sizeof part.rows); /* rows that are not there are at the origin */
    for (int64_t r = 0; r < part.n_rows; r++) {
        const double *uvw = view->uvw + 3 * (first_row + r);
        part.rows.u[r] = uvw[0];
        part.rows.v[r] = uvw[1];
        part.rows.w[r] = uvw[2];
    }
    for (int c = 0; c < part.term.n_channels; c++) {
        part.term.scale[c] =
            view->channels[(first + c) * SLC_PREDICT_CHANNEL_COLUMNS + SLC_PREDICT_SCALE];
    }
    for (int64_t begin = 0; begin < run->n_components; begin += SLC_PREDICT_GRANULE) {
        const int64_t end = slc_min_i64(begin + SLC_PREDICT_GRANULE, run->n_components);
        memset(&part.sums, 0, sizeof part.sums);
        sum_granule(&part, begin, end);
        merge_sums(&part);
    }
    return SLC_OK;
}

/* Runs on the stream: spreads one tile over the pool. */
static slc_status run_tile(void *argument) {
    const host_call *call = argument;
    const slci_predict_view *view = &call->view;
    host_run run = {.view = view,
                    .simd = slci_predict_simd_get(),
                    .n_rows = view->tile->extent[0],
                    .n_components = view->tile->extent[1],
                    .n_channel_groups = slc_ceil_div(view->n_channels, SLCI_PREDICT_CHANNELS)};
    assert(view->tile->origin[1] % SLC_PREDICT_GRANULE == 0);
    if (view->pixel != NULL) {
        SLC_TRY(slc_pool_for(call->pool, slc_ceil_div(run.n_components, FETCH_COMPONENTS),
                             fetch_part, &run));
    }
    return slc_pool_for(call->pool,
                        slc_ceil_div(run.n_rows, SLCI_PREDICT_ROWS) * run.n_channel_groups,
                        sum_part, &run);
}

static slc_status enqueue_tile(void *state, const slc_tile_arguments *arguments) {
    host_call call = {.pool = arguments->device->pool};
    slci_predict_view_init(state, arguments, &call.view);
    return slc_stream_call(arguments->stream, run_tile, &call, sizeof call);
}

static double terms_per_s(const slc_device_limits *limits) {
    return TERMS_PER_S_THREAD * limits->n_processors;
}

const slc_predict_kernel slci_predict_host = {.name = "predict/host",
                                              .device = SLC_DEVICE_HOST,
                                              .tile = enqueue_tile,
                                              .terms_per_s = terms_per_s};
