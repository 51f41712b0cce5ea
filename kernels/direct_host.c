/* The direct transform on the host: the tile function and everything around the pixel loops.
 *
 *     engine tile ──> units: (run of one granule) × (group of kernel tiles)     one pool task each
 *       unit:  gather the run's samples that have a weight
 *              for each kernel tile of the group:
 *                  product or sine kernel ──> sums in double, of this run alone
 *                  add them to the image in 128-bit fixed point, under the tile's lock
 *
 * Of several polarisations each has samples, sums and an image of its own, and the same bits as alone:
 * those that use the same samples of the run, as nearly all do, share the right operand of the product
 * and the cosines and sines of the left one.
 *
 * A run's sums depend on the run and the kernel tile alone, and the image is a sum of integers, so
 * neither the split into engine tiles, nor the groups, nor the order of the units can change a bit.
 * A granule has one run, except where one row has more than 4,096 channels. All scratch memory is
 * carved from the work operand, one part for each worker of the pool. */
#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "core/arena.h"
#include "core/checked.h"
#include "core/fixed.h"
#include "core/pool.h"
#include "kernels/direct_internal.h"
#include "kernels/direct_tile.h"
#include "kernels/direct_tuning.h"

/* Locks that the kernel tiles of a picture share. */
#define N_LOCKS 64

/* Declared here too, because the header of a plain reference BLAS lacks it. */
extern void openblas_set_num_threads(int n_threads);

/* What the tile function hands to its stream; copied by value. */
typedef struct host_call {
    const slc_direct_setup *setup;
    slc_pool *pool;
    const slc_tile *tile;
    const double *uvw_m;                       /* [row, 3] */
    const float *vis[SLC_DIRECT_MOST_POLS];    /* [row, n_channels, 2] */
    const float *weight[SLC_DIRECT_MOST_POLS]; /* [row, n_channels] */
    const double *channels;                    /* [n_channels] */
    char *image[SLC_DIRECT_MOST_POLS];
    int64_t image_stride_bytes[2]; /* of y and x; the parts are neighbours */
    char *work;
} host_call;

/* One engine tile while the pool works on it; lives on the stream's stack. */
typedef struct host_run {
    const host_call *call;
    const slci_direct_simd *simd;
    int64_t scratch_bytes;
    int64_t runs_per_granule;
    int64_t first_tile_y, first_tile_x, n_tiles_x, n_tiles;
    int64_t n_groups; /* of kernel tiles, of which each gathers a run's samples once */
    pthread_mutex_t locks[N_LOCKS];
} host_run;

static void *carve(char *base, int64_t *used, int64_t count, size_t element_bytes) {
    char *piece = base == NULL ? NULL : base + *used;
    *used += slc_arena_cost(count * (int64_t)element_bytes);
    return piece;
}

int64_t slci_direct_scratch_carve(const slc_direct_setup *setup, char *base,
                                  slci_direct_scratch *out) {
    const int64_t n_samples = setup->granule_samples;
    const int64_t pixels = setup->tile_pixels;
    const int64_t plane = pixels * pixels;
    const int64_t panel = setup->block_samples * (pixels + SLCI_DIRECT_LANES);
    const int64_t n_terms = slc_max_i64(setup->max_terms, 0);
    int64_t used = 0;
    for (int p = 0; p < setup->n_pols; p++) {
        slci_direct_samples *samples = &out->samples[p];
        samples->u = carve(base, &used, n_samples, sizeof(double));
        samples->v = carve(base, &used, n_samples, sizeof(double));
        samples->w = carve(base, &used, n_samples, sizeof(double));
        samples->argument = carve(base, &used, n_samples, sizeof(double));
        samples->a_re = carve(base, &used, n_samples, sizeof(float));
        samples->a_im = carve(base, &used, n_samples, sizeof(float));
        samples->amplitude = carve(base, &used, n_samples, sizeof(float));
        out->sum[p] = carve(base, &used, (n_terms + 1) * setup->n_parts * plane, sizeof(double));
        out->left[p] = carve(base, &used, 3 * panel, sizeof(float));
    }
    out->step_l = carve(base, &used, pixels, sizeof(double));
    out->curve_l = carve(base, &used, pixels, sizeof(double));
    out->step_m = carve(base, &used, pixels, sizeof(double));
    out->curve_m = carve(base, &used, pixels, sizeof(double));
    out->c = carve(base, &used, plane, sizeof(double));
    out->part = carve(base, &used, plane, sizeof(float));
    out->right = carve(base, &used, 2 * panel, sizeof(float));
    out->column = carve(base, &used, SLCI_DIRECT_SINE_RUN * pixels, sizeof(uint32_t));
    out->row = carve(base, &used, SLCI_DIRECT_SINE_RUN * pixels, sizeof(uint32_t));
    out->circle = setup->n_pols > 1 ? carve(base, &used, 2 * pixels, sizeof(float)) : NULL;
    return used;
}

static int64_t work_bytes(const slc_direct_setup *setup, int n_threads) {
    slci_direct_scratch scratch;
    return slci_direct_scratch_carve(setup, NULL, &scratch) * n_threads;
}

bool slci_direct_is_small(const slci_direct_view *view, const slci_direct_samples *samples) {
    const double along_l = samples->max_u * view->reach_l;
    const double along_m = samples->max_v * view->reach_m;
    return 2.0 + fmax(along_l, along_m) + samples->max_w < SLCI_SMALL_TURNS;
}

/* Takes in one sample of weight > 0; its amplitude is kept in double until the scale is known. */
static void take_sample(slci_direct_samples *samples, const double *uvw_m, double per_metre,
                        double re, double im) {
    const int64_t k = samples->n;
    samples->u[k] = uvw_m[0] * per_metre;
    samples->v[k] = uvw_m[1] * per_metre;
    samples->w[k] = uvw_m[2] * per_metre;
    samples->max_u = fmax(samples->max_u, fabs(samples->u[k]));
    samples->max_v = fmax(samples->max_v, fabs(samples->v[k]));
    samples->max_w = fmax(samples->max_w, fabs(samples->w[k]));
    samples->a_re[k] = (float)re;
    samples->a_im[k] = (float)im;
    samples->n = k + 1;
}

/* `count` (row, channel) pairs in file order from (row, channel) on. */
typedef struct run_place {
    int64_t row, channel, count;
} run_place;

/* A power of two by which products w V are divided: single precision then holds any weights. */
static double run_scale(const host_call *call, const run_place *place, int pol) {
    const float *vis = call->vis[pol];
    double largest = 0.0;
    for (int64_t k = 0; k < place->count; k++) {
        const int64_t at = place->row * call->setup->n_channels + place->channel + k;
        const double weight = (double)call->weight[pol][at];
        if (weight > 0.0) {
            const double re = call->setup->is_psf ? 1.0 : (double)vis[2 * at];
            const double im = call->setup->is_psf ? 0.0 : (double)vis[2 * at + 1];
            largest = fmax(largest, weight * fmax(fabs(re), fabs(im)));
        }
    }
    int exponent = 0;
    (void)frexp(largest, &exponent);
    return largest > 0.0 && isfinite(largest) ? ldexp(1.0, exponent) : 1.0;
}

/* Fills in the samples of a run of one polarisation. */
static slc_status gather(const host_call *call, const run_place *place, int pol,
                         slci_direct_samples *samples) {
    const slc_direct_setup *setup = call->setup;
    const float *vis = call->vis[pol];
    const int scale_bits = slc_direct_scale_bits(setup, pol);
    samples->n = 0;
    samples->max_u = samples->max_v = samples->max_w = 0.0;
    samples->is_polar = false;
    samples->scale = run_scale(call, place, pol);
    double size = 0.0;
    int64_t r = place->row;
    int64_t c = place->channel;
    for (int64_t k = 0; k < place->count; k++) {
        const int64_t at = r * setup->n_channels + c;
        const double weight = (double)call->weight[pol][at] / samples->scale;
        if (weight > 0.0) {
            const double re = weight * (setup->is_psf ? 1.0 : (double)vis[2 * at]);
            const double im = weight * (setup->is_psf ? 0.0 : (double)vis[2 * at + 1]);
            size += sqrt(re * re + im * im);
            take_sample(samples, call->uvw_m + 3 * r, call->channels[c], re, im);
        }
        c++;
        if (c == setup->n_channels) {
            c = 0;
            r++;
        }
    }
    if (!(ldexp(size * samples->scale, scale_bits) < ldexp(1.0, SLC_FIXED_LAST_BIT))) {
        return SLC_FAIL(
            SLC_ERROR_INPUT,
            "row %lld and the samples after it: the sum of weight times |visibility| is "
            "%g, more than 2^%d times that of the first rows, beyond the range of the "
            "picture's sums; flag these rows, or check their weights",
            (long long)(call->tile->origin[0] + place->row), size * samples->scale,
            SLC_FIXED_LAST_BIT - SLC_FIXED_FIRST_BIT);
    }
    return SLC_OK;
}

/* The tables of one kernel tile: where its columns and rows lie, and c where it is needed. */
static void make_view(const slc_direct_setup *setup, const slci_direct_simd *simd,
                      const slc_direct_tile *tile, slci_direct_scratch *scratch,
                      slci_direct_view *out) {
    const slc_direct_geometry *geometry = &setup->geometry;
    const int64_t pixels = setup->tile_pixels;
    out->setup = setup;
    out->simd = simd;
    out->tile = *tile;
    out->n_columns = slci_direct_extent(tile->x0, pixels, geometry->nx);
    out->n_rows = slci_direct_extent(tile->y0, pixels, geometry->ny);
    out->n = (int)slc_round_up(out->n_columns, SLCI_DIRECT_LANES);
    out->m = (int)slc_round_up(out->n_rows, SLCI_DIRECT_LANES);
    const double at_centre = slci_direct_n_minus_1(tile->l0, tile->m0);
    for (int64_t x = 0; x < out->n; x++) {
        const double l = x < out->n_columns ? slci_direct_l(geometry, tile->x0 + x) : tile->l0;
        scratch->step_l[x] = l - tile->l0;
        scratch->curve_l[x] = slci_direct_n_minus_1(l, tile->m0) - at_centre;
    }
    for (int64_t y = 0; y < out->m; y++) {
        const double m = y < out->n_rows ? slci_direct_m(geometry, tile->y0 + y) : tile->m0;
        scratch->step_m[y] = m - tile->m0;
        scratch->curve_m[y] = slci_direct_n_minus_1(tile->l0, m) - at_centre;
    }
    out->reach_l = fabs(scratch->step_l[0]);
    out->reach_m = fabs(scratch->step_m[0]);
    if (tile->method == SLC_DIRECT_PRODUCT && tile->n_terms == 0) {
        return;
    }
    for (int64_t y = 0; y < out->n_rows; y++) {
        const double m = tile->m0 + scratch->step_m[y];
        for (int64_t x = 0; x < out->n; x++) {
            const double l = tile->l0 + scratch->step_l[x];
            const double along = scratch->curve_l[x] + scratch->curve_m[y];
            scratch->c[y * pixels + x] = slci_direct_n_minus_1(l, m) - at_centre - along;
        }
    }
}

/* Whether every pixel of the tile lies within the horizon. Rounding keeps order, so that no pixel is
 * farther out than the corner of the largest |l| and |m| that the tile has. */
static bool is_within(const slci_direct_view *view) {
    const slc_direct_geometry *geometry = &view->setup->geometry;
    const slc_direct_tile *tile = &view->tile;
    const double l = fmax(fabs(slci_direct_l(geometry, tile->x0)),
                          fabs(slci_direct_l(geometry, tile->x0 + view->n_columns - 1)));
    const double m = fmax(fabs(slci_direct_m(geometry, tile->y0)),
                          fabs(slci_direct_m(geometry, tile->y0 + view->n_rows - 1)));
    return slci_direct_r2(l, m) < 1.0;
}

/* Adds the run's sums to the picture of a polarisation, under the tile's lock. */
static void merge(const host_call *call, const slci_direct_view *view,
                  const slci_direct_scratch *scratch, int pol) {
    const slc_direct_setup *setup = call->setup;
    const int64_t pixels = setup->tile_pixels;
    const double scale = scratch->samples[pol].scale;
    const int scale_bits = slc_direct_scale_bits(setup, pol);
    const bool has_horizon = !is_within(view);
    for (int64_t y = 0; y < view->n_rows; y++) {
        const int64_t j = view->tile.y0 + y;
        const double m = slci_direct_m(&setup->geometry, j);
        char *line = call->image[pol] + (j - call->tile->origin[1]) * call->image_stride_bytes[0];
        for (int64_t x = 0; x < view->n_columns; x++) {
            const int64_t i = view->tile.x0 + x;
            if (has_horizon && !(slci_direct_r2(slci_direct_l(&setup->geometry, i), m) < 1.0)) {
                continue;
            }
            slc_fixed *pixel = (slc_fixed *)(void *)(line + (i - call->tile->origin[2]) *
                                                                call->image_stride_bytes[1]);
            for (int r = 0; r < setup->n_parts; r++) {
                const double value = scratch->sum[pol][(r * pixels + y) * pixels + x] * scale;
                pixel[r] = slc_fixed_add(pixel[r], slc_fixed_from_double(value, scale_bits));
            }
        }
    }
}

/* Whether two polarisations use the same samples of a run: then all that follows from their places is
 * the same too. */
static bool are_alike(const host_call *call, const run_place *place, int one, int other) {
    const int64_t first = place->row * call->setup->n_channels + place->channel;
    const float *a = call->weight[one] + first;
    const float *b = call->weight[other] + first;
    int64_t k = 0;
    while (k < place->count && (a[k] > 0.0f) == (b[k] > 0.0f)) {
        k++;
    }
    return k == place->count;
}

/* Gathers a run's samples and puts polarisations that use the same ones together; those that use none
 * are left out. */
static slc_status gather_all(const host_call *call, const run_place *place,
                             slci_direct_scratch *scratch, slci_direct_alike *sets, int *n_sets) {
    *n_sets = 0;
    for (int p = 0; p < call->setup->n_pols; p++) {
        SLC_TRY(gather(call, place, p, &scratch->samples[p]));
        if (scratch->samples[p].n == 0) {
            continue;
        }
        int s = 0;
        while (s < *n_sets && !are_alike(call, place, sets[s].pol[0], p)) {
            s++;
        }
        if (s == *n_sets) {
            sets[(*n_sets)++].n = 0;
        }
        sets[s].pol[sets[s].n++] = p;
    }
    return SLC_OK;
}

/* One kernel tile, of polarisations that are alike. */
static void run_set(const slci_direct_view *view, const slci_direct_alike *alike,
                    slci_direct_scratch *scratch) {
    if (view->tile.method == SLC_DIRECT_PRODUCT) {
        slci_direct_product_tile(view, alike, scratch);
        return;
    }
    for (int i = 0; i < alike->n; i++) {
        slci_direct_sine_tile(view, alike->pol[i], scratch);
    }
}

/* One unit: samples of one run, summed over a group of kernel tiles. */
static slc_status run_unit(void *context, int64_t index, int worker) {
    host_run *run = context;
    const host_call *call = run->call;
    const slc_direct_setup *setup = call->setup;
    slci_direct_scratch scratch;
    (void)slci_direct_scratch_carve(setup, call->work + worker * run->scratch_bytes, &scratch);

    const int64_t part = index / run->n_groups;
    run_place place = {.row = part / run->runs_per_granule * setup->granule_rows,
                       .channel = part % run->runs_per_granule * setup->granule_samples};
    const int64_t n_rows = slc_min_i64(setup->granule_rows, call->tile->extent[0] - place.row);
    place.count = slc_min_i64(setup->granule_samples, n_rows * setup->n_channels - place.channel);
    slci_direct_alike sets[SLC_DIRECT_MOST_POLS];
    int n_sets = 0;
    SLC_TRY(gather_all(call, &place, &scratch, sets, &n_sets));
    if (n_sets == 0) {
        return SLC_OK;
    }
    const int64_t first = index % run->n_groups * run->n_tiles / run->n_groups;
    const int64_t last = (index % run->n_groups + 1) * run->n_tiles / run->n_groups;
    for (int64_t t = first; t < last; t++) {
        const slc_direct_tile tile =
            slci_direct_tile_at(setup, run->first_tile_y + t / run->n_tiles_x,
                                run->first_tile_x + t % run->n_tiles_x);
        if (tile.method == SLC_DIRECT_SKIP) {
            continue;
        }
        slci_direct_view view;
        make_view(setup, run->simd, &tile, &scratch, &view);
        for (int s = 0; s < n_sets; s++) {
            run_set(&view, &sets[s], &scratch);
        }
        pthread_mutex_lock(&run->locks[t % N_LOCKS]);
        for (int p = 0; p < setup->n_pols; p++) {
            if (scratch.samples[p].n > 0) {
                merge(call, &view, &scratch, p);
            }
        }
        pthread_mutex_unlock(&run->locks[t % N_LOCKS]);
    }
    return SLC_OK;
}

/* Runs on the stream: spreads one engine tile over the pool. */
static slc_status run_tile(void *argument) {
    const host_call *call = argument;
    const slc_direct_setup *setup = call->setup;
    const slc_tile *tile = call->tile;
    if (tile->extent[0] <= 0 || tile->extent[1] <= 0 || tile->extent[2] <= 0) {
        return SLC_OK;
    }
    assert(tile->origin[0] % setup->granule_rows == 0);
    assert(tile->origin[1] % setup->tile_pixels == 0);
    assert(tile->origin[2] % setup->tile_pixels == 0);
    host_run run = {.call = call, .simd = slci_direct_simd_get()};
    slci_direct_scratch scratch;
    run.scratch_bytes = slci_direct_scratch_carve(setup, NULL, &scratch);
    run.runs_per_granule =
        slc_ceil_div(setup->granule_rows * setup->n_channels, setup->granule_samples);
    run.first_tile_y = tile->origin[1] / setup->tile_pixels;
    run.first_tile_x = tile->origin[2] / setup->tile_pixels;
    run.n_tiles_x = slc_ceil_div(tile->extent[2], setup->tile_pixels);
    run.n_tiles = run.n_tiles_x * slc_ceil_div(tile->extent[1], setup->tile_pixels);
    const int64_t n_runs =
        slc_ceil_div(tile->extent[0], setup->granule_rows) * run.runs_per_granule;
    const slci_direct_work work = {.setup = setup,
                                   .device = SLC_DEVICE_HOST,
                                   .n_processors = slc_pool_size(call->pool),
                                   .full_extent = tile->extent};
    run.n_groups = slci_direct_split_get(&work, SLC_DIRECT_LAUNCH_HOST);
    for (int i = 0; i < N_LOCKS; i++) {
        pthread_mutex_init(&run.locks[i], NULL);
    }
    const slc_status status = slc_pool_for(call->pool, n_runs * run.n_groups, run_unit, &run);
    for (int i = 0; i < N_LOCKS; i++) {
        pthread_mutex_destroy(&run.locks[i]);
    }
    return status;
}

static slc_status enqueue_tile(void *state, const slc_tile_arguments *arguments) {
    const slc_direct_setup *setup = state;
    const slc_layout *image = &arguments->layout[SLC_DIRECT_IMAGE];
    host_call call = {
        .setup = setup,
        .pool = arguments->device->pool,
        .tile = arguments->d_tile,
        .uvw_m = arguments->d_operand[SLC_DIRECT_UVW],
        .channels = arguments->d_operand[SLC_DIRECT_CHANNELS],
        .image_stride_bytes = {image->stride_bytes[0], image->stride_bytes[1]},
        .work = arguments->d_operand[SLC_DIRECT_WORK],
    };
    for (int p = 0; p < setup->n_pols; p++) {
        call.vis[p] = arguments->d_operand[slc_direct_operand(SLC_DIRECT_VIS, p)];
        call.weight[p] = arguments->d_operand[slc_direct_operand(SLC_DIRECT_WEIGHT, p)];
        call.image[p] = arguments->d_operand[slc_direct_operand(SLC_DIRECT_IMAGE, p)];
    }
    return slc_stream_call(arguments->stream, run_tile, &call, sizeof call);
}

/* Our pool's threads call BLAS, each for itself: its own threads would only add overhead, and the
 * shape of a product split over threads would no longer be ours to fix. */
static slc_status prepare(void *state, slc_device *device) {
    const slc_direct_setup *setup = state;
    openblas_set_num_threads(1);
    return setup->max_terms < 0 ? SLC_OK : slci_direct_blas_reserve(slc_pool_size(device->pool));
}

const slc_direct_kernel slci_direct_host = {
    .name = "direct/host",
    .device = SLC_DEVICE_HOST,
    .work_bytes = work_bytes,
    .tile = enqueue_tile,
    .prepare = prepare,
};
