/* The CUDA cosine kernel against the double-precision oracle: the promise |ΔI| <= 1e-6 Σw|V| at every
 * pixel, for one visibility and for many, over every phase, in narrow fields and to the horizon, for
 * every size of w c and both ways in which a large one is formed, whatever this card prefers; and the
 * same bits however the work is tiled. Without a card every case is skipped. */
#include "tests/support/test_support.h"

#include <math.h>

#include "core/fixed.h"
#include "kernels/direct.h"
#include "tests/support/test_direct.h"

/* What one pair may be off by before it is summed: the account in kernels/direct_cuda.cu less the
 * sum. */
#define PAIR_ERROR 4.3e-7

/* What the kernel is asked for; the card may be taken for one that is fast at double precision. */
typedef struct wish {
    double epsilon;
    bool has_fast_double;
} wish;

/* On every card: both ways of a large w c, and the promises that are made. */
static const wish wishes[] = {{1e-6, false}, {1e-5, false}, {1e-3, false},
                              {1e-6, true},  {1e-5, true},  {1e-3, true}};
static const wish *const slow_double = &wishes[0];
static const wish *const fast_double = &wishes[3];

/* A picture and random data for it. */
typedef struct scene {
    const char *name;
    int64_t nx, ny;
    double scale_rad, centre_l, centre_m;
    bool is_w_projected;
    int64_t n_rows, n_channels;
    double reach_uv, reach_w; /* wavelengths at the first channel */
    double constant_v;        /* V of every sample where not 0; else random in the unit square */
    double share_used;        /* of the samples; the rest have weight 0 and V = NaN */
    int n_parts;
    bool is_psf;
    slc_direct_method method; /* of at least one tile, on a card with slow double precision */
} scene;

typedef struct scene_data {
    double *uvw_m, *channels;
    float *vis, *weight;
    double size; /* Σw|V| */
    double max_w;
} scene_data;

typedef struct card {
    slc_pool *pool;
    slc_device *device;
} card;

static int open_card(void **state) {
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

static int close_card(void **state) {
    const card *self = *state;
    slc_device_destroy(self->device);
    slc_pool_destroy(self->pool);
    return 0;
}

static slc_device *need_card(void **state) {
    const card *self = *state;
    if (self->device == NULL) {
        skip();
    }
    return self->device;
}

static void scene_fill(const scene *s, scene_data *data) {
    const int64_t n = s->n_rows * s->n_channels;
    uint64_t seed = 11;
    *data = (scene_data){test_allocate(24 * s->n_rows),
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
        data->weight[k] = is_used ? (float)test_random_between(&seed, 0.1, 2.0) : 0.0f;
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

static void scene_free(scene_data *data) {
    free(data->uvw_m);
    free(data->channels);
    free(data->vis);
    free(data->weight);
}

static slc_direct_geometry scene_geometry(const scene *s) {
    return (slc_direct_geometry){s->nx,       s->ny,       s->scale_rad,
                                 s->centre_l, s->centre_m, s->is_w_projected};
}

static slc_direct_setup scene_setup(const scene *s, const scene_data *data, const wish *asked) {
    const slc_direct_request request = {.device = SLC_DEVICE_CUDA,
                                        .geometry = scene_geometry(s),
                                        .survey = {s->reach_uv, s->reach_uv, data->max_w,
                                                   s->n_rows * s->n_channels, data->size},
                                        .n_channels = s->n_channels,
                                        .epsilon = asked->epsilon,
                                        .n_parts = s->n_parts,
                                        .is_psf = s->is_psf,
                                        .has_fast_double = asked->has_fast_double};
    slc_direct_setup setup;
    TEST_OK(slc_direct_choose(&request, &setup));
    return setup;
}

static slc_fixed *scene_image(const scene *s, const scene_data *data, const slc_direct_setup *setup,
                              slc_device *device, test_direct_tiling tiling) {
    const int64_t n = s->nx * s->ny * s->n_parts;
    slc_fixed *image = test_allocate((int64_t)sizeof(slc_fixed) * n);
    const test_direct_data rows = {s->n_rows, s->n_channels, data->uvw_m,
                                   data->vis, data->weight,  data->channels};
    TEST_OK(test_direct_run(device, setup, &rows, &tiling, image));
    return image;
}

/* The oracle's picture; for a PSF it is given V = 1 and the phased formula. */
static double *scene_reference(const scene *s, const scene_data *data) {
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
static slc_direct_method scene_method(const scene *s, const wish *asked) {
    return asked->has_fast_double && s->method == SLC_DIRECT_SINE_WIDE ? SLC_DIRECT_SINE_DOUBLE
                                                                       : s->method;
}

/* Runs the scene in one tile and returns the worst error in units of Σw|V|, which must be within what
 * was asked for. Pixels beyond the horizon must not have been touched. */
static double scene_error(const scene *s, const scene_data *data, const double *exact,
                          const wish *asked, slc_device *device) {
    const slc_direct_setup setup = scene_setup(s, data, asked);
    const slc_direct_method method = scene_method(s, asked);
    slc_direct_summary summary;
    slc_direct_summarise(&setup, &summary);
    assert_true(summary.n_tiles[method] > 0);
    slc_fixed *image = scene_image(s, data, &setup, device, (test_direct_tiling){0});
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

/* The worst error over `n` wishes. */
static double check_scene(const scene *s, const wish *asked, int64_t n, slc_device *device) {
    scene_data data;
    scene_fill(s, &data);
    double *exact = scene_reference(s, &data);
    double worst = 0.0;
    for (int64_t i = 0; i < n; i++) {
        worst = fmax(worst, scene_error(s, &data, exact, &asked[i], device));
    }
    free(exact);
    scene_free(&data);
    return worst;
}

/* Scenes that tests name. */
enum { W_IN_SINGLE = 1, TO_THE_HORIZON = 4, COMPLEX_WIDE = 8 };

static const scene scenes[] = {
    {"narrow field, no w c", 150, 130, 1e-6, 0, 0, true, 2000, 1, 1e5, 1e3, 0, 0.9, 1, false,
     SLC_DIRECT_SINE},
    {"narrow field, w c in single", 130, 70, 1e-4, 0.02, -0.03, true, 2000, 3, 5e3, 5e3, 0, 0.7, 1,
     false, SLC_DIRECT_SINE},
    {"w c in two words, l to 0.35", 130, 130, 5e-3, 0, 0, true, 1000, 1, 1e4, 1e4, 0, 1.0, 1, false,
     SLC_DIRECT_SINE_WIDE},
    {"a million turns a source", 70, 70, 5e-3, 0.1, 0, true, 1500, 1, 4e6, 1e4, 0, 1.0, 1, false,
     SLC_DIRECT_SINE_WIDE},
    {"to the horizon, w to 200,000", 128, 128, 0.017, 0, 0, true, 600, 2, 1e4, 2e5, 0, 1.0, 1,
     false, SLC_DIRECT_SINE_WIDE},
    {"no w-projection, to the horizon", 128, 128, 0.017, 0, 0, false, 600, 2, 1e3, 1e3, 0, 1.0, 1,
     false, SLC_DIRECT_SINE_WIDE},
    {"w of 10^9, far from the centre", 64, 64, 1e-7, 0.2, 0.1, true, 1000, 1, 1e9, 1e9, 0, 1.0, 1,
     false, SLC_DIRECT_SINE},
    {"complex", 100, 100, 1e-4, 0, 0, true, 1000, 2, 5e3, 5e3, 0, 0.8, 2, false, SLC_DIRECT_SINE},
    {"complex, wide", 100, 100, 0.02, 0, 0, true, 500, 2, 1e3, 1e4, 0, 0.8, 2, false,
     SLC_DIRECT_SINE_WIDE},
    {"point spread function", 100, 100, 1e-4, 0, 0, false, 1000, 2, 5e3, 5e3, 0, 0.8, 1, true,
     SLC_DIRECT_SINE},
    {"one row of 9000 channels", 64, 10, 1e-4, 0, 0, true, 1, 9000, 5e3, 10, 0, 0.9, 1, false,
     SLC_DIRECT_SINE},
    {"one pixel", 1, 1, 1e-4, 0, 0, true, 5000, 1, 5e3, 10, 0, 0.9, 1, false, SLC_DIRECT_SINE},
    {"one sample in fifty", 64, 64, 1e-4, 0, 0, true, 9000, 1, 5e3, 100, 0, 0.02, 1, false,
     SLC_DIRECT_SINE},
    {"lone source at the centre", 40, 40, 1e-6, 0, 0, true, 9000, 1, 1e5, 1e3, 0.3, 1.0, 1, false,
     SLC_DIRECT_SINE},
    {"lone source, w c in single", 40, 40, 1e-4, 0, 0, true, 9000, 1, 5e3, 2e4, 0.3, 1.0, 1, false,
     SLC_DIRECT_SINE},
    {"lone source, w c in two words", 40, 40, 0.01, 0, 0, true, 9000, 1, 1e3, 1e5, 0.3, 1.0, 1,
     false, SLC_DIRECT_SINE_WIDE},
};

static void keeps_the_promise(void **state) {
    slc_device *device = need_card(state);
    for (int64_t i = 0; i < TEST_COUNT(scenes); i++) {
        const bool is_wide = scenes[i].method == SLC_DIRECT_SINE_WIDE;
        (void)check_scene(&scenes[i], wishes, is_wide ? TEST_COUNT(wishes) : 1, device);
    }
}

/* One kernel tile, between l, m = 0.1 and 0.6, in which |w c| may reach `turns`. */
static scene one_tile(const char *name, double turns, slc_direct_method method) {
    scene s = {name, 64, 64, 8e-3, 0.35, 0.35, true, 300, 2, 1e3, 1.0, 0, 0.9, 1, false, method};
    const scene_data unit = {.size = 1.0, .max_w = 1.0};
    const slc_direct_setup setup = scene_setup(&s, &unit, slow_double);
    s.reach_w = turns / slc_direct_tile_get(&setup, 0, 0).c_max / 1.01; /* of the second channel */
    return s;
}

/* Real, complex and, without w-projection, a point spread function. */
static void check_forms(scene s, const wish *asked, slc_device *device) {
    for (int form = 0; form < 3; form++) {
        s.n_parts = form == 1 ? 2 : 1;
        s.is_psf = form == 2;
        s.is_w_projected = form != 2;
        (void)check_scene(&s, asked, 1, device);
    }
}

static void keeps_the_promise_for_every_size_of_w_c(void **state) {
    slc_device *device = need_card(state);
    static const double turns[] = {0x1.1p-5, 0.5, 10.0, 1e3, 489178.0};
    for (int64_t i = 0; i < TEST_COUNT(turns); i++) {
        const scene s = one_tile("large w c", turns[i], SLC_DIRECT_SINE_WIDE);
        check_forms(s, fast_double, device);
        check_forms(s, slow_double, device);
    }
    check_forms(one_tile("2^19 to 2^21 turns", 2e6, SLC_DIRECT_SINE_WIDE), slow_double, device);
    check_forms(one_tile("w c in single", 0x1.fp-6, SLC_DIRECT_SINE), slow_double, device);
    check_forms(one_tile("no w c", 0x1p-28, SLC_DIRECT_SINE), slow_double, device);
}

/* Every kernel once, on as little as uses every entry of its rings of buffers twice over. */
static void every_variant_once(void **state) {
    slc_device *device = need_card(state);
    scene flat = one_tile("one tile, no w c", 0x1p-28, SLC_DIRECT_SINE);
    scene single = one_tile("one tile, w c in single", 0x1p-6, SLC_DIRECT_SINE);
    scene wide = one_tile("one tile, large w c", 100.0, SLC_DIRECT_SINE_WIDE);
    for (int parts = 1; parts <= 2; parts++) {
        flat.n_parts = single.n_parts = wide.n_parts = parts;
        (void)check_scene(&flat, slow_double, 1, device);
        (void)check_scene(&single, slow_double, 1, device);
        (void)check_scene(&wide, slow_double, 1, device);
        (void)check_scene(&wide, fast_double, 1, device);
    }
}

/* One visibility of one picture is a quarter of a million phases: each must be right by itself.
 * The three scenes take the four ways in which w c enters a phase. */
static void keeps_the_promise_for_one_visibility(void **state) {
    slc_device *device = need_card(state);
    static const scene lone[] = {
        {"one visibility, no w c", 512, 512, 1e-6, 0, 0, true, 1, 1, 9e4, 1, 0, 1.0, 1, false,
         SLC_DIRECT_SINE},
        {"one visibility, w c in single", 512, 512, 1e-4, 0, 0, true, 1, 1, 4e3, 4e3, 0, 1.0, 2,
         false, SLC_DIRECT_SINE},
        {"one visibility, w c in two words", 512, 512, 4e-3, 0, 0, true, 1, 1, 1e5, 1e6, 0, 1.0, 1,
         false, SLC_DIRECT_SINE_WIDE},
    };
    for (int64_t i = 0; i < TEST_COUNT(lone); i++) {
        const bool is_wide = lone[i].method == SLC_DIRECT_SINE_WIDE;
        const int64_t n = is_wide ? TEST_COUNT(wishes) : 1;
        assert_true(check_scene(&lone[i], wishes, n, device) <= PAIR_ERROR);
    }
}

/* Equal samples are the worst that a sum can meet: their roundings all have one sign. */
static void equal_samples_do_not_drift(void **state) {
    slc_device *device = need_card(state);
    static const double values[] = {0.3, 0.7, 0.999, 1.0 / 3.0};
    for (int64_t i = 0; i < TEST_COUNT(values); i++) {
        const scene s = {
            "equal samples", 9, 8, 1e-6, 0, 0, true, 20000, 1, 0.0, 0.0, values[i], 1.0, 1, false,
            SLC_DIRECT_SINE};
        (void)check_scene(&s, slow_double, 1, device);
    }
}

/* The same bits for every tiling as for one tile of everything. */
static void check_tilings(const scene *s, const wish *asked, slc_device *device) {
    static const test_direct_tiling tilings[] = {{1, 1, 1, 0},
                                                 {2, 1, 2, 0},
                                                 {0, 2, 1, 0},
                                                 {3, 0, 0, 0}};
    scene_data data;
    scene_fill(s, &data);
    const slc_direct_setup setup = scene_setup(s, &data, asked);
    const int64_t bytes = (int64_t)sizeof(slc_fixed) * s->nx * s->ny * s->n_parts;
    slc_fixed *whole = scene_image(s, &data, &setup, device, (test_direct_tiling){0});
    for (int64_t i = 0; i < TEST_COUNT(tilings); i++) {
        slc_fixed *tiled = scene_image(s, &data, &setup, device, tilings[i]);
        assert_memory_equal(whole, tiled, (size_t)bytes);
        free(tiled);
    }
    free(whole);
    scene_free(&data);
}

static void gives_the_same_bits_for_every_tiling(void **state) {
    slc_device *device = need_card(state);
    static const int64_t chosen[] = {W_IN_SINGLE, TO_THE_HORIZON, COMPLEX_WIDE};
    for (int64_t c = 0; c < TEST_COUNT(chosen); c++) {
        scene s = scenes[chosen[c]];
        s.n_rows = 20000 / s.n_channels;
        check_tilings(&s, slow_double, device);
        if (s.method == SLC_DIRECT_SINE_WIDE) {
            check_tilings(&s, fast_double, device);
        }
    }
}

/* Pictures and rows that end in the middle of a tile and of a granule. Tiles are whole granules and
 * pass their ends; buffers do not, so whatever is read or written beyond them is seen by a memory
 * checker, and a row of pixels of the wrong length by the comparison. */
static void tiles_larger_than_the_data_stay_in_their_buffers(void **state) {
    slc_device *device = need_card(state);
    static const int64_t sizes[][2] = {{135, 70}, {65, 63}, {1, 129}, {127, 1}};
    for (int64_t i = 0; i < TEST_COUNT(sizes); i++) {
        scene s = scenes[1];
        s.name = "edges of tiles";
        s.nx = sizes[i][0];
        s.ny = sizes[i][1];
        s.n_rows = 3150;
        s.n_channels = 2;
        s.n_parts = 1 + (int)(i % 2);
        s.is_psf = i == 2;
        s.reach_w = 3e5; /* enough for w c in single */
        (void)check_scene(&s, slow_double, 1, device);
        check_tilings(&s, slow_double, device);
    }
}

/* A granule without any weight adds nothing: appending one leaves every bit as it was. */
static void granules_without_weight_change_nothing(void **state) {
    slc_device *device = need_card(state);
    scene s = scenes[1];
    s.n_rows = 6000;
    scene_data data;
    scene_fill(&s, &data);
    const slc_direct_setup setup = scene_setup(&s, &data, slow_double);
    const int64_t rows = s.n_rows / 2 / setup.granule_rows * setup.granule_rows;
    assert_true(rows > 0);
    for (int64_t k = rows * s.n_channels; k < s.n_rows * s.n_channels; k++) {
        data.weight[k] = 0.0f;
        data.vis[2 * k] = NAN;
    }
    slc_fixed *longer = scene_image(&s, &data, &setup, device, (test_direct_tiling){0});
    s.n_rows = rows;
    slc_fixed *shorter = scene_image(&s, &data, &setup, device, (test_direct_tiling){0});
    assert_memory_equal(longer, shorter, sizeof(slc_fixed) * (size_t)(s.nx * s.ny));
    free(shorter);
    free(longer);
    scene_free(&data);
}

/* With an argument only the case of that name, for checkers that are slow. */
int main(int argc, char **argv) {
    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_the_promise),
        cmocka_unit_test(keeps_the_promise_for_every_size_of_w_c),
        cmocka_unit_test(every_variant_once),
        cmocka_unit_test(keeps_the_promise_for_one_visibility),
        cmocka_unit_test(equal_samples_do_not_drift),
        cmocka_unit_test(gives_the_same_bits_for_every_tiling),
        cmocka_unit_test(tiles_larger_than_the_data_stay_in_their_buffers),
        cmocka_unit_test(granules_without_weight_change_nothing),
    };
    return cmocka_run_group_tests(tests, open_card, close_card);
}
