#include "tests/support/test_direct_scene.h"

#include <math.h>

#include "core/fixed.h"
#include "kernels/direct_tuning.h"

typedef struct card {
    slc_pool *pool;
    slc_device *device;
} card;

int test_card_open(void **state) {
    static card self;
    TEST_OK(slc_pool_create(1, &self.pool));
    const slc_device_options options = {.choice = SLC_CHOOSE_CUDA, .pool = self.pool};
    if (slc_device_create(&options, &self.device) != SLC_OK) {
        print_message("SKIP: no CUDA device: %s\n", slc_status_message());
        self.device = NULL;
    }
    *state = &self;
    return 0;
}

int test_card_close(void **state) {
    const card *self = *state;
    slc_device_destroy(self->device);
    slc_pool_destroy(self->pool);
    return 0;
}

slc_device *test_card_need(void **state) {
    const card *self = *state;
    if (self->device == NULL) {
        skip();
    }
    return self->device;
}

void test_scene_fill(const test_scene *s, test_scene_data *data) {
    const int64_t n = s->n_rows * s->n_channels;
    uint64_t seed = 11;
    *data = (test_scene_data){test_allocate(24 * s->n_rows),
                              test_allocate(8 * s->n_channels),
                              test_allocate(8 * n),
                              test_allocate(4 * n),
                              0.0,
                              0.0};
    for (int64_t c = 0; c < s->n_channels; c++) {
        data->channels[c] = 1.0 + 0.01 * (double)c;
    }
    for (int64_t row = 0; row < s->n_rows; row++) {
        double *uvw = data->uvw_m + 3 * row;
        uvw[0] = test_random_between(&seed, -s->reach_uv, s->reach_uv);
        uvw[1] = test_random_between(&seed, -s->reach_uv, s->reach_uv);
        uvw[2] = test_random_between(&seed, -s->reach_w, s->reach_w);
    }
    for (int64_t k = 0; k < n; k++) {
        float *vis = data->vis + 2 * k;
        const bool is_used = test_random_between(&seed, 0.0, 1.0) < s->share_used;
        const bool is_constant = s->constant_v != 0.0;
        vis[0] = is_constant ? (float)s->constant_v : (float)test_random_between(&seed, -1, 1);
        vis[1] = is_constant ? 0.0f : (float)test_random_between(&seed, -1, 1);
        const double weight = s->decades > 0.0
                                  ? pow(10.0, s->decades * test_random_between(&seed, -0.5, 0.5))
                                  : test_random_between(&seed, 0.1, 2.0);
        data->weight[k] = is_used ? (float)weight : 0.0f;
        if (!is_used) {
            vis[0] = NAN; /* must never be looked at */
            continue;
        }
        const double v = s->is_psf ? 1.0 : hypot((double)vis[0], (double)vis[1]);
        const double w = data->uvw_m[3 * (k / s->n_channels) + 2];
        data->size += (double)data->weight[k] * v;
        data->max_w = fmax(data->max_w, fabs(w * data->channels[k % s->n_channels]));
    }
}

void test_scene_free(test_scene_data *data) {
    free(data->uvw_m);
    free(data->channels);
    free(data->vis);
    free(data->weight);
}

static slc_direct_geometry scene_geometry(const test_scene *s) {
    return (slc_direct_geometry){s->nx,       s->ny,       s->scale_rad,
                                 s->centre_l, s->centre_m, s->is_w_projected};
}

slc_direct_setup test_scene_setup(const test_scene *s, const test_scene_data *data,
                                  const test_wish *asked) {
    const slc_direct_request request = {.device = SLC_DEVICE_CUDA,
                                        .geometry = scene_geometry(s),
                                        .survey = {s->reach_uv, s->reach_uv, data->max_w,
                                                   s->n_rows * s->n_channels, data->size},
                                        .n_channels = s->n_channels,
                                        .epsilon = asked->epsilon,
                                        .n_parts = s->n_parts,
                                        .is_psf = s->is_psf,
                                        .card = {.has_fast_double = asked->has_fast_double,
                                                 .unit = asked->unit}};
    slc_direct_setup setup;
    TEST_OK(slc_direct_choose(&request, &setup));
    return setup;
}

slc_fixed *test_scene_image(const test_scene *s, const test_scene_data *data,
                            const slc_direct_setup *setup, slc_device *device,
                            test_direct_tiling tiling) {
    const int64_t n = s->nx * s->ny * s->n_parts;
    slc_fixed *image = test_allocate((int64_t)sizeof(slc_fixed) * n);
    const test_direct_data rows = {s->n_rows, s->n_channels, data->uvw_m,
                                   data->vis, data->weight,  data->channels};
    TEST_OK(test_direct_run(device, setup, &rows, &tiling, image));
    return image;
}

/* The oracle's picture; for a PSF it is given V = 1 and the phased formula. */
static double *scene_reference(const test_scene *s, const test_scene_data *data) {
    const int64_t n = s->n_rows * s->n_channels;
    slc_direct_geometry geometry = scene_geometry(s);
    geometry.is_w_projected = geometry.is_w_projected || s->is_psf;
    float *vis = test_allocate(8 * n);
    for (int64_t k = 0; k < n; k++) {
        const bool is_used = data->weight[k] > 0.0f;
        vis[2 * k] = s->is_psf ? 1.0f : is_used ? data->vis[2 * k] : 0.0f;
        vis[2 * k + 1] = s->is_psf || !is_used ? 0.0f : data->vis[2 * k + 1];
    }
    double *image = test_allocate(8 * geometry.nx * geometry.ny * s->n_parts);
    slc_direct_reference(&geometry, s->n_parts, s->n_rows, s->n_channels, data->uvw_m, vis,
                         data->weight, data->channels, image);
    free(vis);
    return image;
}

/* The method that a tile of the scene must have. Scenes beyond 2^19 turns are for slow cards alone. */
static slc_direct_method scene_method(const test_scene *s, const test_wish *asked) {
    return asked->has_fast_double && s->method == SLC_DIRECT_SINE_WIDE ? SLC_DIRECT_SINE_DOUBLE
                                                                       : s->method;
}

/* Runs the scene in one tile and returns the worst error in units of Σw|V|, which must be within what
 * was asked for. Pixels beyond the horizon must not have been touched. */
static double scene_error(const test_scene *s, const test_scene_data *data, const double *exact,
                          const test_wish *asked, slc_device *device) {
    const slc_direct_setup setup = test_scene_setup(s, data, asked);
    const slc_direct_method method = scene_method(s, asked);
    slc_direct_summary summary;
    slc_direct_summarise(&setup, &summary);
    assert_true(summary.n_tiles[method] > 0);
    slc_fixed *image = test_scene_image(s, data, &setup, device, (test_direct_tiling){0});
    double worst = 0.0;
    for (int64_t p = 0; p < s->nx * s->ny * s->n_parts; p++) {
        if (isnan(exact[p])) {
            assert_true(image[p].low == 0 && image[p].high == 0);
        } else {
            const double value = slc_fixed_to_double(image[p], setup.scale_bits);
            worst = fmax(worst, fabs(value - exact[p]) / data->size);
        }
    }
    free(image);
    print_message("%-32s epsilon %.0e%s: worst error %.2e of sum w|V|\n", s->name, asked->epsilon,
                  method == SLC_DIRECT_SINE_DOUBLE ? ", double" : "", worst);
    assert_true(worst <= asked->epsilon);
    return worst;
}

double test_scene_compare(const test_scene *s, const test_scene_data *data, const test_wish *asked,
                          int64_t n, slc_device *device) {
    double *exact = scene_reference(s, data);
    double worst = 0.0;
    for (int64_t i = 0; i < n; i++) {
        worst = fmax(worst, scene_error(s, data, exact, &asked[i], device));
    }
    free(exact);
    return worst;
}

double test_scene_check(const test_scene *s, const test_wish *asked, int64_t n,
                        slc_device *device) {
    test_scene_data data;
    test_scene_fill(s, &data);
    const double worst = test_scene_compare(s, &data, asked, n, device);
    test_scene_free(&data);
    return worst;
}

/* The same bits for every tiling as for one tile of everything. */
void test_scene_check_tilings(const test_scene *s, const test_wish *asked, slc_device *device) {
    static const test_direct_tiling tilings[] = {{1, 1, 1, 0},
                                                 {2, 1, 2, 0},
                                                 {0, 2, 1, 0},
                                                 {3, 0, 0, 0}};
    test_scene_data data;
    test_scene_fill(s, &data);
    const slc_direct_setup setup = test_scene_setup(s, &data, asked);
    const int64_t bytes = (int64_t)sizeof(slc_fixed) * s->nx * s->ny * s->n_parts;
    slc_fixed *whole = test_scene_image(s, &data, &setup, device, (test_direct_tiling){0});
    for (int64_t i = 0; i < TEST_COUNT(tilings); i++) {
        slc_fixed *tiled = test_scene_image(s, &data, &setup, device, tilings[i]);
        assert_memory_equal(whole, tiled, (size_t)bytes);
        free(tiled);
    }
    free(whole);
    test_scene_free(&data);
}

/* The tuned set of the launch over the whole picture, and three more: [SLCI_DIRECT_MOST_SPLITS + 3]. */
static int list_splits(const test_scene *s, const slc_direct_setup *setup, slc_device *device,
                       slc_direct_launch launch, uint64_t *seed, int64_t *splits) {
    const int64_t full_extent[] = {s->n_rows, s->ny, s->nx};
    slc_device_limits limits;
    slci_direct_division division;
    int n = 0;
    TEST_OK(slc_device_get_limits(device, &limits));
    const slci_direct_work work = {setup, NULL, device->kind, limits.n_processors, full_extent};
    if (slci_direct_divide(&work, launch, &division)) {
        n = slci_direct_splits(&division, splits);
        splits[n++] = 1 + test_random_below(seed, division.n_pieces);
        splits[n++] = division.n_pieces + 1;
        splits[n++] = INT64_MAX;
    }
    return n;
}

void test_scene_check_splits(const test_scene *s, const test_scene_data *data,
                             const slc_direct_setup *setup, slc_device *device, uint64_t *seed) {
    const int64_t bytes = (int64_t)sizeof(slc_fixed) * s->nx * s->ny * s->n_parts;
    slc_fixed *usual = test_scene_image(s, data, setup, device, (test_direct_tiling){0});
    for (int launch = 0; launch < SLC_DIRECT_N_LAUNCHES; launch++) {
        int64_t splits[SLCI_DIRECT_MOST_SPLITS + 3];
        const int n = list_splits(s, setup, device, (slc_direct_launch)launch, seed, splits);
        for (int i = 0; i < n; i++) {
            const test_direct_tiling tiling = {.granules = test_random_below(seed, 3)};
            slc_direct_setup other = *setup;
            other.tuning.split[launch] = splits[i];
            slc_fixed *image = test_scene_image(s, data, &other, device, tiling);
            assert_memory_equal(usual, image, (size_t)bytes);
            free(image);
        }
    }
    free(usual);
}
