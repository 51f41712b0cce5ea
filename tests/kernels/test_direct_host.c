/* The host's direct kernel against the double-precision oracle: the promise
 * |ΔI| <= epsilon Σw|V|/Σw for inputs of every kind, and the methods that must have served them.
 * Each case stays below 2·10^7 pairs. */
#include "tests/support/test_support.h"

#include <math.h>

#include "core/fixed.h"
#include "kernels/direct.h"
#include "tests/support/test_direct.h"

/* How the visibilities look. */
typedef enum sky {
    SKY_NOISE,    /* independent values: nothing coherent */
    SKY_CENTRE,   /* V = 0.3 everywhere: a lone source at the phase centre */
    SKY_SOURCE,   /* a lone source of 0.3 on a pixel off the centre */
    SKY_DOMINATED /* weights over twelve decades, V of 0.3 */
} sky;

typedef struct accuracy_case {
    const char *name;
    int64_t nx, ny;
    double scale_rad, centre_l, centre_m;
    bool is_w_projected, is_psf;
    int n_parts;
    int64_t n_rows, n_channels;
    double reach_uv, reach_w; /* wavelengths */
    sky sky;
    double epsilon;
    slc_direct_method method; /* that at least one tile must take */
} accuracy_case;

static const accuracy_case cases[] = {
    {"narrow field", 96, 80, 1e-5, 0, 0, true, false, 1, 2000, 1, 2e4, 2e3, SKY_NOISE, 1e-6,
     SLC_DIRECT_PRODUCT},
    {"narrow field, complex", 50, 33, 1e-5, 0, 0, true, false, 2, 2000, 3, 2e4, 2e3, SKY_NOISE,
     1e-6, SLC_DIRECT_PRODUCT},
    {"lone source at the centre", 32, 32, 1e-5, 0, 0, true, false, 1, 9000, 1, 2e4, 2e3, SKY_CENTRE,
     1e-6, SLC_DIRECT_PRODUCT},
    {"lone source, long baselines", 24, 24, 2e-4, 0.2, -0.3, true, false, 1, 4500, 1, 3e6, 1e4,
     SKY_SOURCE, 1e-6, SLC_DIRECT_PRODUCT},
    {"one visibility", 128, 100, 1e-4, 0.1, 0.2, true, false, 2, 1, 1, 1e4, 1e3, SKY_SOURCE, 1e-6,
     SLC_DIRECT_PRODUCT},
    {"smallest epsilon, one visibility", 128, 100, 1e-4, 0.1, 0.2, true, false, 2, 1, 1, 1e4, 1e3,
     SKY_SOURCE, 6e-7, SLC_DIRECT_PRODUCT},
    {"weights over decades", 64, 64, 1e-4, 0, 0, true, false, 1, 4000, 1, 1e4, 1e3, SKY_DOMINATED,
     1e-6, SLC_DIRECT_PRODUCT},
    {"several terms", 150, 140, 1.5e-3, 0, 0, true, false, 1, 500, 1, 300, 150, SKY_SOURCE, 1e-6,
     SLC_DIRECT_PRODUCT},
    {"several terms, complex", 150, 140, 1.5e-3, 0, 0, true, false, 2, 500, 1, 300, 150, SKY_NOISE,
     1e-6, SLC_DIRECT_PRODUCT},
    {"several terms, 1e-3", 150, 140, 1.5e-3, 0, 0, true, false, 1, 500, 1, 300, 150, SKY_SOURCE,
     1e-3, SLC_DIRECT_PRODUCT},
    {"several terms, 1e-5", 150, 140, 1.5e-3, 0, 0, true, false, 1, 500, 1, 300, 150, SKY_SOURCE,
     1e-5, SLC_DIRECT_PRODUCT},
    {"wide field, l to 0.35", 140, 140, 5e-3, 0, 0, true, false, 1, 900, 1, 2e3, 1e4, SKY_SOURCE,
     1e-6, SLC_DIRECT_SINE_WIDE},
    {"wide field, a million turns", 140, 20, 5e-3, 0, 0, true, false, 2, 900, 1, 3e6, 1e4,
     SKY_SOURCE, 1e-6, SLC_DIRECT_SINE_WIDE},
    {"wide field, l to 0.35, 1e-3", 140, 140, 5e-3, 0, 0, true, false, 1, 900, 1, 2e3, 1e4,
     SKY_SOURCE, 1e-3, SLC_DIRECT_SINE},
    {"wide field, l to 0.35, 1e-5", 140, 140, 5e-3, 0, 0, true, false, 1, 900, 1, 2e3, 1e4,
     SKY_SOURCE, 1e-5, SLC_DIRECT_SINE_WIDE},
    {"wide field, a million turns, 1e-3", 140, 20, 5e-3, 0, 0, true, false, 2, 900, 1, 3e6, 1e4,
     SKY_SOURCE, 1e-3, SLC_DIRECT_SINE},
    {"wide field, a million turns, 1e-5", 140, 20, 5e-3, 0, 0, true, false, 2, 900, 1, 3e6, 1e4,
     SKY_SOURCE, 1e-5, SLC_DIRECT_SINE_WIDE},
    {"to the horizon", 120, 120, 0.018, 0, 0, true, false, 1, 900, 1, 100, 1e4, SKY_NOISE, 1e-6,
     SLC_DIRECT_SINE_WIDE},
    {"to the horizon, 1e-3", 120, 120, 0.018, 0, 0, true, false, 1, 900, 1, 100, 1e4, SKY_SOURCE,
     1e-3, SLC_DIRECT_SINE_WIDE},
    {"to the horizon, 1e-5", 120, 120, 0.018, 0, 0, true, false, 1, 900, 1, 100, 1e4, SKY_SOURCE,
     1e-5, SLC_DIRECT_SINE_WIDE},
    {"to the horizon, lone centre", 90, 90, 0.023, 0, 0, true, false, 2, 900, 1, 100, 30,
     SKY_CENTRE, 1e-6, SLC_DIRECT_SINE_WIDE},
    {"no w-projection", 120, 120, 0.018, 0, 0, false, false, 1, 900, 1, 100, 0.05, SKY_SOURCE, 1e-6,
     SLC_DIRECT_PRODUCT},
    {"point spread function", 64, 64, 1e-3, 0, 0, false, true, 1, 900, 4, 500, 50, SKY_NOISE, 1e-6,
     SLC_DIRECT_PRODUCT},
    {"one row of 9000 channels", 20, 20, 1e-4, 0, 0, true, false, 1, 2, 9000, 2e3, 100, SKY_NOISE,
     1e-6, SLC_DIRECT_PRODUCT},
    {"one pixel", 1, 1, 1e-4, 0, 0, true, false, 1, 3000, 2, 2e3, 100, SKY_NOISE, 1e-6,
     SLC_DIRECT_PRODUCT},
};

static double pixel_l(const accuracy_case *c, int64_t i) {
    return c->centre_l - (double)(i - c->nx / 2) * c->scale_rad;
}

static double pixel_m(const accuracy_case *c, int64_t j) {
    return c->centre_m + (double)(j - c->ny / 2) * c->scale_rad;
}

/* One value of the sky at (u, v, w) in wavelengths. */
static void sky_value(const accuracy_case *c, const double *uvw, uint64_t *seed, float *re,
                      float *im) {
    if (c->sky == SKY_NOISE) {
        *re = (float)test_random_between(seed, -1, 1);
        *im = (float)test_random_between(seed, -1, 1);
        return;
    }
    double turns = 0.0;
    if (c->sky == SKY_SOURCE) {
        const double l = pixel_l(c, c->nx / 3);
        const double m = pixel_m(c, 2 * c->ny / 3);
        const double n = sqrt(1.0 - l * l - m * m);
        turns = uvw[0] * l + uvw[1] * m + uvw[2] * (c->is_w_projected ? n - 1.0 : n);
    }
    *re = (float)(0.3 * cos(6.283185307179586 * (turns - rint(turns))));
    *im = (float)(0.3 * sin(6.283185307179586 * (turns - rint(turns))));
}

typedef struct problem {
    double *uvw_m, *channels;
    float *vis, *weight;
    double max_w, first_sum, size; /* size: Σw|V| */
    test_direct_data data;
} problem;

static void problem_make(const accuracy_case *c, problem *p) {
    const int64_t n = c->n_rows * c->n_channels;
    uint64_t seed = 7;
    p->uvw_m = test_allocate(24 * c->n_rows);
    p->channels = test_allocate(8 * c->n_channels);
    p->vis = test_allocate(8 * n);
    p->weight = test_allocate(4 * n);
    p->max_w = p->size = p->first_sum = 0.0;
    for (int64_t k = 0; k < c->n_channels; k++) {
        p->channels[k] = 0.5 + 0.5 * (double)(k + 1) / (double)c->n_channels;
    }
    for (int64_t row = 0; row < c->n_rows; row++) {
        p->uvw_m[3 * row] = test_random_between(&seed, -c->reach_uv, c->reach_uv);
        p->uvw_m[3 * row + 1] = test_random_between(&seed, -c->reach_uv, c->reach_uv);
        p->uvw_m[3 * row + 2] = test_random_between(&seed, -c->reach_w, c->reach_w);
        for (int64_t k = 0; k < c->n_channels; k++) {
            const int64_t at = row * c->n_channels + k;
            const double uvw[3] = {p->uvw_m[3 * row] * p->channels[k],
                                   p->uvw_m[3 * row + 1] * p->channels[k],
                                   p->uvw_m[3 * row + 2] * p->channels[k]};
            sky_value(c, uvw, &seed, &p->vis[2 * at], &p->vis[2 * at + 1]);
            const bool is_used = n == 1 || test_random_below(&seed, 10) > 0;
            const double decades = test_random_between(&seed, -6, 6);
            p->weight[at] = !is_used                  ? 0.0f
                            : c->sky == SKY_DOMINATED ? (float)pow(10.0, decades)
                                                      : 1.5f;
            if (is_used) {
                const double size =
                    c->is_psf ? 1.0 : hypot((double)p->vis[2 * at], (double)p->vis[2 * at + 1]);
                p->size += (double)p->weight[at] * size;
                p->max_w = fmax(p->max_w, fabs(uvw[2]));
            } else {
                p->vis[2 * at] = NAN; /* must never be looked at */
            }
        }
    }
    p->first_sum = p->size; /* of the right order is enough here */
    p->data =
        (test_direct_data){c->n_rows, c->n_channels, p->uvw_m, p->vis, p->weight, p->channels};
}

static void problem_free(problem *p) {
    free(p->uvw_m);
    free(p->channels);
    free(p->vis);
    free(p->weight);
}

static void choose(const accuracy_case *c, const problem *p, slc_direct_setup *setup) {
    const slc_direct_request request = {.device = SLC_DEVICE_HOST,
                                        .geometry = {c->nx, c->ny, c->scale_rad, c->centre_l,
                                                     c->centre_m, c->is_w_projected},
                                        .survey = {.max_u = c->reach_uv,
                                                   .max_v = c->reach_uv,
                                                   .max_w = p->max_w,
                                                   .n_samples = c->n_rows * c->n_channels,
                                                   .first_granule_sum = p->first_sum},
                                        .n_channels = c->n_channels,
                                        .epsilon = c->epsilon,
                                        .n_parts = c->n_parts,
                                        .is_psf = c->is_psf};
    TEST_OK(slc_direct_choose(&request, setup));
    slc_direct_summary summary;
    slc_direct_summarise(setup, &summary);
    assert_true(summary.n_tiles[c->method] > 0);
    assert_true(summary.worst_bound <= c->epsilon);
}

/* The oracle's picture of the same data. For a PSF it is given V = 1 and n - 1. */
static double *reference(const accuracy_case *c, const problem *p) {
    const int64_t n = c->n_rows * c->n_channels;
    slc_direct_geometry geometry = {c->nx,       c->ny,       c->scale_rad,
                                    c->centre_l, c->centre_m, c->is_w_projected || c->is_psf};
    double *image = test_allocate(8 * c->nx * c->ny * c->n_parts);
    float *vis = test_allocate(8 * n);
    for (int64_t k = 0; k < 2 * n; k++) {
        vis[k] = c->is_psf ? (float)(k % 2 == 0) : p->vis[k];
    }
    slc_direct_reference(&geometry, c->n_parts, c->n_rows, c->n_channels, p->uvw_m, vis, p->weight,
                         p->channels, image);
    free(vis);
    return image;
}

/* The worst error in units of Σw|V|, the largest sum that any pixel could have. */
static double worst_error(const accuracy_case *c, const problem *p, const slc_direct_setup *setup,
                          const slc_fixed *image, const double *exact, double *relative) {
    double worst = 0.0;
    double sum_difference = 0.0;
    double sum_exact = 0.0;
    for (int64_t k = 0; k < c->nx * c->ny * c->n_parts; k++) {
        const double value = slc_fixed_to_double(image[k], setup->scale_bits);
        if (isnan(exact[k])) {
            assert_true(image[k].low == 0 && image[k].high == 0); /* beyond the horizon */
            continue;
        }
        const double difference = fabs(value - exact[k]);
        worst = fmax(worst, difference / p->size);
        sum_difference += difference * difference;
        sum_exact += exact[k] * exact[k];
    }
    *relative = sqrt(sum_difference / sum_exact);
    return worst;
}

static void keeps_the_promise(void **state) {
    (void)state;
    slc_pool *pool = NULL;
    slc_device *device = NULL;
    TEST_OK(slc_pool_create(2, &pool));
    TEST_OK(slc_device_create_host(pool, NULL, &device));
    for (int64_t i = 0; i < TEST_COUNT(cases); i++) {
        const accuracy_case *c = &cases[i];
        problem p;
        problem_make(c, &p);
        slc_direct_setup setup;
        choose(c, &p, &setup);
        slc_fixed *image = test_allocate((int64_t)sizeof(slc_fixed) * c->nx * c->ny * c->n_parts);
        test_direct_tiling tiling = {0};
        TEST_OK(test_direct_run(device, &setup, &p.data, &tiling, image));
        double *exact = reference(c, &p);
        double relative = 0.0;
        const double worst = worst_error(c, &p, &setup, image, exact, &relative);
        print_message("%-34s T %3lld P %d: worst %.1e of epsilon %.0e, relative L2 %.1e\n", c->name,
                      (long long)setup.tile_pixels, setup.max_terms, worst, c->epsilon, relative);
        assert_true(worst <= c->epsilon);
        free(exact);
        free(image);
        problem_free(&p);
    }
    slc_device_destroy(device);
    slc_pool_destroy(pool);
}

/* Many samples of a lone source must not drift: V = 0.3 and one pixel, so the exact sum is
 * 0.3f · n to the last digit of double. */
static void long_sums_do_not_drift(void **state) {
    (void)state;
    static const double one = 1.0;
    const int64_t n = 300000;
    slc_pool *pool = NULL;
    slc_device *device = NULL;
    TEST_OK(slc_pool_create(2, &pool));
    TEST_OK(slc_device_create_host(pool, NULL, &device));
    double *uvw = test_allocate(24 * n);
    float *vis = test_allocate(8 * n);
    float *weight = test_allocate(4 * n);
    test_fill_f64(uvw, 3 * n, 3);
    for (int64_t k = 0; k < n; k++) {
        vis[2 * k] = 0.3f;
        vis[2 * k + 1] = 0.0f;
        weight[k] = 1.0f;
    }
    const slc_direct_request request = {
        .device = SLC_DEVICE_HOST,
        .geometry = {.nx = 1, .ny = 1, .scale_rad = 1e-4, .is_w_projected = true},
        .survey = {1, 1, 1, n, 0.3 * 4096},
        .n_channels = 1,
        .epsilon = 1e-6,
        .n_parts = 2};
    slc_direct_setup setup;
    TEST_OK(slc_direct_choose(&request, &setup));
    const test_direct_data data = {n, 1, uvw, vis, weight, &one};
    slc_fixed image[2];
    test_direct_tiling tiling = {0};
    TEST_OK(test_direct_run(device, &setup, &data, &tiling, image));
    const double exact = (double)0.3f * (double)n;
    const double error = fabs(slc_fixed_to_double(image[0], setup.scale_bits) - exact) / exact;
    const double other = fabs(slc_fixed_to_double(image[1], setup.scale_bits)) / exact;
    print_message("lone source, %lld samples: error %.1e, imaginary part %.1e\n", (long long)n,
                  error, other);
    assert_true(error < 5e-8); /* half a unit in the last place of single precision is 6e-8 */
    assert_true(other < 5e-8);
    free(uvw);
    free(vis);
    free(weight);
    slc_device_destroy(device);
    slc_pool_destroy(pool);
}

/* A granule far beyond the first one's size is refused by name, not wrapped. */
static void a_granule_out_of_range_is_refused(void **state) {
    (void)state;
    accuracy_case c = cases[0];
    c.n_rows = 8200;
    problem p;
    problem_make(&c, &p);
    p.weight[8195] = 3e38f;
    p.first_sum = 1e-2;
    slc_direct_setup setup;
    choose(&c, &p, &setup);
    slc_pool *pool = NULL;
    slc_device *device = NULL;
    TEST_OK(slc_pool_create(1, &pool));
    TEST_OK(slc_device_create_host(pool, NULL, &device));
    slc_fixed *image = test_allocate((int64_t)sizeof(slc_fixed) * c.nx * c.ny);
    test_direct_tiling tiling = {0};
    TEST_FAILS(test_direct_run(device, &setup, &p.data, &tiling, image), SLC_ERROR_INPUT,
               "row 8192");
    free(image);
    problem_free(&p);
    slc_device_destroy(device);
    slc_pool_destroy(pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_the_promise),
        cmocka_unit_test(long_sums_do_not_drift),
        cmocka_unit_test(a_granule_out_of_range_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
