/* What is chosen: bounds that hold for every pixel, methods, counts and the refusals. */
#include "tests/support/test_support.h"

#include <math.h>

#include "core/checked.h"
#include "core/fixed.h"
#include "core/units.h"
#include "kernels/direct.h"

static slc_direct_request request_of(int64_t nx, int64_t ny, double scale, double max_w) {
    return (slc_direct_request){
        .device = SLC_DEVICE_HOST,
        .geometry = {.nx = nx, .ny = ny, .scale_rad = scale, .is_w_projected = true},
        .survey = {.max_w = max_w, .n_samples = 100000, .first_granule_sum = 3.0},
        .n_channels = 1,
        .epsilon = 1e-6,
        .n_parts = 1};
}

static double n_of(double l, double m) {
    return sqrt(fmax(0.0, 1.0 - l * l - m * m));
}

/* The largest |c| over the tile's pixels, in the plain form of its definition. */
static double largest_c(const slc_direct_setup *setup, const slc_direct_tile *tile,
                        bool *is_finite) {
    const slc_direct_geometry *g = &setup->geometry;
    double largest = 0.0;
    *is_finite = false;
    for (int64_t j = tile->y0; j < g->ny && j < tile->y0 + setup->tile_pixels; j++) {
        for (int64_t i = tile->x0; i < g->nx && i < tile->x0 + setup->tile_pixels; i++) {
            const double l = g->centre_l - (double)(i - g->nx / 2) * g->scale_rad;
            const double m = g->centre_m + (double)(j - g->ny / 2) * g->scale_rad;
            if (l * l + m * m < 1.0) {
                *is_finite = true;
                largest = fmax(largest, fabs(n_of(l, m) - n_of(l, tile->m0) - n_of(tile->l0, m) +
                                             n_of(tile->l0, tile->m0)));
            }
        }
    }
    return largest;
}

static void bounds_hold_at_every_pixel(void **state) {
    (void)state;
    static const double scales[] = {1e-4, 0.004, 0.0101, 0.02};
    static const double centres[][2] = {{0, 0}, {0.3, -0.4}, {-0.7, 0.7}};
    for (int64_t s = 0; s < TEST_COUNT(scales); s++) {
        for (int64_t c = 0; c < TEST_COUNT(centres); c++) {
            slc_direct_request request = request_of(201, 130, scales[s], 100.0);
            request.geometry.centre_l = centres[c][0];
            request.geometry.centre_m = centres[c][1];
            slc_direct_setup setup;
            TEST_OK(slc_direct_choose(&request, &setup));
            for (int64_t ty = 0; ty * setup.tile_pixels < 130; ty++) {
                for (int64_t tx = 0; tx * setup.tile_pixels < 201; tx++) {
                    const slc_direct_tile tile = slc_direct_tile_get(&setup, ty, tx);
                    bool is_finite = false;
                    const double c_found = largest_c(&setup, &tile, &is_finite);
                    assert_int_equal(tile.method == SLC_DIRECT_SKIP, !is_finite);
                    assert_true(c_found <= tile.c_max + 1e-15);
                    if (tile.method == SLC_DIRECT_PRODUCT) {
                        double rest = 1.0; /* θ^(P+1)/(P+1)! */
                        for (int p = 1; p <= tile.n_terms + 1; p++) {
                            rest *= 6.283185307179586 * 100.0 * c_found / p;
                        }
                        assert_true(rest <= tile.bound + 1e-12 && tile.bound <= 4.5e-7);
                    }
                }
            }
        }
    }
}

/* The bend of a line at l (or m): 1/n there less that at the tile's centre. */
static double bend_of(const slc_direct_tile *tile, double l, double m) {
    return 1.0 / n_of(l, m) - 1.0 / tile->n0;
}

/* What CUDA's product kernel takes for e^{-2πi w c}, apart from roundings: 1 and coefficients of
 * powers of x, which is f in units of its largest in the tile. With the phase t x + s x² + r x³
 * these are those of the exponential, but that the first power too many is replaced by what is
 * nearest to it in [-1, 1]. */
static void product_takes(int n_terms, const double *phase, double x, double *re, double *im) {
    const double t = phase[0];
    const double s = phase[1];
    const double third[] = {0.0, 0.0, 0.75 * x, x * x * x, x * x * x};
    const double fourth[] = {0.0, 0.0, 0.0, 2.0 * (sqrt(2.0) - 1.0) * x * x, x * x * x * x};
    const double fifth = n_terms < 4 ? 0.0 : 1.25 * x * x * x - 0.3125 * x;
    *re = 1.0;
    *im = n_terms >= 1 ? t * x : 0.0;
    *im -= pow(t, 3.0) / 6.0 * third[n_terms];
    *re += pow(t, 4.0) / 24.0 * fourth[n_terms];
    *im += pow(t, 5.0) / 120.0 * fifth;
    if (n_terms >= 2) {
        *re -= 0.5 * t * t * x * x;
        *im += s * x * x;
    }
    if (n_terms >= 3) {
        *re -= t * s * x * x * x;
        *im += phase[2] * x * x * x;
    }
    *im -= n_terms >= 4 ? 0.5 * t * t * s * pow(x, 4.0) : 0.0;
}

/* What that leaves at a pixel. */
static double product_rest(const slc_direct_tile *tile, double largest, double w, double l,
                           double m) {
    const double turn = 6.283185307179586 * w;
    const double c = n_of(l, m) - n_of(l, tile->m0) - n_of(tile->l0, m) + n_of(tile->l0, tile->m0);
    const double g = bend_of(tile, tile->l0, m);
    const double v = 1.0 + tile->n0 * g;
    const double unit = tile->n0 * largest; /* of f, as n0 g is of g */
    const double phase[] = {turn * tile->n0 * unit * (v - 1.0),
                            0.5 * turn * tile->n0 * unit * unit * pow(v - 1.0, 2.0) * (v + 2.0),
                            0.5 * turn * tile->n0 * pow(unit, 3.0) * pow(v - 1.0, 2.0) *
                                (v * v * v + 2.0 * v * v - 2.0)};
    double re = 0.0;
    double im = 0.0;
    product_takes(tile->n_terms, phase, bend_of(tile, l, tile->m0) / largest, &re, &im);
    return hypot(cos(turn * c) - re, -sin(turn * c) - im);
}

/* The largest rest over some pixels of a tile, of those within the horizon, for w as large as it gets
 * and half of that. */
static double largest_rest(const slc_direct_setup *setup, const slc_direct_tile *tile) {
    const slc_direct_geometry *g = &setup->geometry;
    const int64_t x1 = slc_min_i64(g->nx, tile->x0 + setup->tile_pixels);
    const int64_t y1 = slc_min_i64(g->ny, tile->y0 + setup->tile_pixels);
    double largest_bend = 1e-300;
    for (int64_t i = tile->x0; i < x1; i++) {
        const double l = g->centre_l - (double)(i - g->nx / 2) * g->scale_rad;
        largest_bend = fmax(largest_bend, fabs(bend_of(tile, l, tile->m0)));
    }
    double largest = 0.0;
    for (int64_t j = tile->y0; j < y1; j += 3) {
        for (int64_t i = tile->x0; i < x1; i += 3) {
            const double l = g->centre_l - (double)(i - g->nx / 2) * g->scale_rad;
            const double m = g->centre_m + (double)(j - g->ny / 2) * g->scale_rad;
            if (l * l + m * m < 1.0) {
                largest = fmax(largest, product_rest(tile, largest_bend, setup->max_w, l, m));
                largest =
                    fmax(largest, product_rest(tile, largest_bend, -0.5 * setup->max_w, l, m));
            }
        }
    }
    return largest;
}

/* Fields from arc seconds to the horizon, w from 1 to 10^5, epsilon from 1e-6 to 1e-3: what the tensor
 * cores' kernel leaves out is below the tile's bound, which is within the tolerance and not far off. */
static void bounds_of_the_tensor_cores_kernel_hold(void **state) {
    (void)state;
    uint64_t seed = 3;
    int64_t n_tiles[5] = {0};
    int64_t n_close = 0;
    for (int field = 0; field < 1500; field++) {
        const double scale = pow(10.0, test_random_between(&seed, -6.5, -2.2));
        const double max_w = pow(10.0, test_random_between(&seed, 0.0, 5.0));
        slc_direct_request request = request_of(300, 200, scale, max_w);
        request.device = SLC_DEVICE_CUDA;
        request.card.unit = SLC_DIRECT_UNIT_GROUP;
        request.epsilon = pow(10.0, test_random_between(&seed, -6.0, -2.9));
        request.geometry.centre_l = test_random_between(&seed, -0.7, 0.7);
        request.geometry.centre_m = test_random_between(&seed, -0.7, 0.7);
        slc_direct_setup setup;
        TEST_OK(slc_direct_choose(&request, &setup));
        const slc_direct_tile tile = slc_direct_tile_get(&setup, 0, 1);
        if (tile.method != SLC_DIRECT_PRODUCT || setup.n_products == 0) {
            continue;
        }
        const double rest = largest_rest(&setup, &tile);
        slc_direct_summary summary;
        slc_direct_summarise(&setup, &summary);
        assert_true(rest <= tile.bound + 1e-11 && tile.bound <= summary.worst_bound &&
                    summary.error_bound <= request.epsilon);
        n_tiles[tile.n_terms]++;
        /* With a term the bound has the rounding of its product too, which is not in the rest. */
        n_close += tile.n_terms > 0 || tile.bound <= 30.0 * rest + 1e-11;
    }
    for (int terms = 0; terms <= 4; terms++) {
        print_message("%lld tiles of %d terms\n", (long long)n_tiles[terms], terms);
        assert_true(n_tiles[terms] > 5);
    }
    assert_true(2 * n_close > n_tiles[0] + n_tiles[1]);
}

/* The unit of the card, epsilon and the field pick the kernel; the plan and the record say which. */
static void tensor_cores_take_the_tiles_that_they_can(void **state) {
    (void)state;
    static const struct {
        double scale, max_w, epsilon;
        int n_products, n_terms;
        bool has_sine;
    } cases[] = {{1e-6, 1e3, 1e-6, 3, 0, false},      {4.3e-5, 1300.0, 1e-6, 3, 1, false},
                 {1e-6, 1e3, 1e-3, 1, 0, false},      {1e-4, 1000.0, 1e-6, 3, 2, false},
                 {2.9e-4, 1500.0, 1e-6, 3, 4, false}, {2.9e-4, 6000.0, 1e-6, 3, 4, true},
                 {1e-4, 1000.0, 1e-3, 1, 1, false},   {2.9e-4, 1500.0, 1e-3, 1, 2, false},
                 {5e-4, 1000.0, 1e-3, 3, 4, false}, /* one product would leave tiles to sines */
                 {5e-3, 10000.0, 1e-6, 0, 0, true}};
    for (int64_t i = 0; i < TEST_COUNT(cases); i++) {
        slc_direct_request request = request_of(1024, 1024, cases[i].scale, cases[i].max_w);
        request.device = SLC_DEVICE_CUDA;
        request.card.unit = SLC_DIRECT_UNIT_GROUP;
        request.epsilon = cases[i].epsilon;
        slc_direct_setup setup;
        slc_direct_summary summary;
        TEST_OK(slc_direct_choose(&request, &setup));
        slc_direct_summarise(&setup, &summary);
        assert_int_equal(setup.n_products, cases[i].n_products);
        assert_int_equal(setup.tile_pixels, cases[i].n_products == 0 ? 64 : 128);
        assert_int_equal(summary.max_terms_used, cases[i].n_terms);
        assert_int_equal(summary.n_tiles[SLC_DIRECT_PRODUCT] > 0, cases[i].n_products > 0);
        const int64_t n_sine = summary.n_tiles[SLC_DIRECT_SINE] +
                               summary.n_tiles[SLC_DIRECT_SINE_DOUBLE] +
                               summary.n_tiles[SLC_DIRECT_SINE_WIDE];
        assert_int_equal(n_sine > 0, cases[i].has_sine);
        assert_true(strstr(summary.why, cases[i].n_products == 0 ? "sine" : "tensor cores") !=
                    NULL);
        slc_numerics record = {0};
        slc_direct_record(&setup, SLC_DEVICE_CUDA, &record);
        assert_string_equal(slc_numerics_get(&record, "matrix_unit"),
                            cases[i].n_products == 0 ? "none" : "group");
        /* Another pass of the same run keeps the tile, whatever its own survey says. */
        request.tile_pixels = setup.tile_pixels;
        request.survey.max_w = 1.0;
        slc_direct_setup other;
        TEST_OK(slc_direct_choose(&request, &other));
        assert_int_equal(other.tile_pixels, setup.tile_pixels);
    }
}

/* Cards by their shared memory, 64 KiB to 163 or 227, and by their instructions. */
static void cards_have_their_units(void **state) {
    (void)state;
    static const struct {
        int compute_capability;
        slc_direct_unit unit;
    } cards[] = {{0, SLC_DIRECT_UNIT_NONE},    {61, SLC_DIRECT_UNIT_NONE},
                 {70, SLC_DIRECT_UNIT_NONE},   {75, SLC_DIRECT_UNIT_SHORT},
                 {80, SLC_DIRECT_UNIT_SHORT},  {86, SLC_DIRECT_UNIT_SHORT},
                 {87, SLC_DIRECT_UNIT_SHORT},  {89, SLC_DIRECT_UNIT_SHORT},
                 {90, SLC_DIRECT_UNIT_GROUP},  {100, SLC_DIRECT_UNIT_WARP},
                 {103, SLC_DIRECT_UNIT_WARP},  {110, SLC_DIRECT_UNIT_WARP},
                 {120, SLC_DIRECT_UNIT_SHORT}, {121, SLC_DIRECT_UNIT_SHORT}};
    for (int64_t i = 0; i < TEST_COUNT(cards); i++) {
        assert_int_equal(slc_direct_unit_get(cards[i].compute_capability), cards[i].unit);
    }
}

/* A device without tensor cores is not measured. */
static void a_host_is_no_card(void **state) {
    (void)state;
    slc_pool *pool = NULL;
    slc_device *device = NULL;
    TEST_OK(slc_pool_create(1, &pool));
    TEST_OK(slc_device_create_host(pool, NULL, &device));
    slc_direct_card card = {.unit = SLC_DIRECT_UNIT_WARP, .compute_capability = 1};
    TEST_OK(slc_direct_card_get(device, &card));
    assert_int_equal(card.unit, SLC_DIRECT_UNIT_NONE);
    assert_int_equal(card.reason, SLC_DIRECT_REASON_NONE);
    assert_int_equal(card.compute_capability, 0);
    slc_device_destroy(device);
    slc_pool_destroy(pool);
}

static slc_direct_setup choose_for(slc_direct_card card, double scale, double max_w, double epsilon,
                                   slc_direct_summary *summary) {
    slc_direct_request request = request_of(1024, 1024, scale, max_w);
    request.device = SLC_DEVICE_CUDA;
    request.card = card;
    request.epsilon = epsilon;
    slc_direct_setup setup;
    TEST_OK(slc_direct_choose(&request, &setup));
    slc_direct_summarise(&setup, summary);
    assert_true(summary->error_bound <= epsilon);
    return setup;
}

/* Short stages have two terms at most: fields that need more are the sine kernel's. */
static void short_stages_take_what_they_can(void **state) {
    (void)state;
    const slc_direct_card of_graphics = {.compute_capability = 86, .unit = SLC_DIRECT_UNIT_SHORT};
    static const struct {
        double scale, max_w, epsilon;
        int n_products, n_terms;
    } cases[] = {{1e-6, 1e3, 1e-6, 3, 0},       {1e-6, 1e3, 1e-3, 1, 0},
                 {4.3e-5, 1300.0, 1e-5, 3, 1},  {4.3e-5, 1300.0, 1e-6, 3, 1},
                 {1e-4, 1000.0, 1e-3, 1, 1},    {2.9e-4, 1500.0, 1e-3, 1, 2},
                 {2.9e-4, 6000.0, 1e-6, 0, 0},  {1e-4, 1000.0, 1e-6, 3, 2},
                 {4.3e-5, 1300.0, 9.2e-7, 3, 1}};
    for (int64_t i = 0; i < TEST_COUNT(cases); i++) {
        slc_direct_summary summary;
        const slc_direct_setup setup =
            choose_for(of_graphics, cases[i].scale, cases[i].max_w, cases[i].epsilon, &summary);
        print_message("%g %g %g: %d products, %d terms: %s\n", cases[i].scale, cases[i].max_w,
                      cases[i].epsilon, setup.n_products, summary.max_terms_used, summary.why);
        assert_int_equal(setup.n_products, cases[i].n_products);
        assert_int_equal(summary.max_terms_used, cases[i].n_terms);
        assert_int_equal(setup.reason, cases[i].n_products > 0 ? SLC_DIRECT_REASON_NONE
                                                               : SLC_DIRECT_REASON_FIELD);
        slc_numerics record = {0};
        slc_direct_record(&setup, SLC_DEVICE_CUDA, &record);
        if (setup.n_products > 0) {
            assert_string_equal(slc_numerics_get(&record, "matrix_unit"), "short");
            assert_string_equal(slc_numerics_get(&record, "compute_capability"), "86");
        } else {
            assert_string_equal(slc_numerics_get(&record, "matrix_unit"), "none");
            assert_true(strstr(summary.why, "save nothing") != NULL);
        }
    }
}

/* The plan says why a field that products would do is left to sines. */
static void the_plan_says_why_there_are_no_products(void **state) {
    (void)state;
    static const struct {
        slc_direct_card card;
        const char *words;
    } cases[] = {{{.compute_capability = 61}, "no tensor cores"},
                 {{.compute_capability = 61, .reason = SLC_DIRECT_REASON_CARD}, "no tensor cores"},
                 {{.compute_capability = 75, .reason = SLC_DIRECT_REASON_PROBE}, "cut off more"}};
    slc_direct_summary summary;
    for (int64_t i = 0; i < TEST_COUNT(cases); i++) {
        const slc_direct_setup setup = choose_for(cases[i].card, 1e-6, 1e3, 1e-6, &summary);
        assert_int_equal(setup.unit, SLC_DIRECT_UNIT_NONE);
        assert_int_equal(setup.tile_pixels, 64);
        assert_int_equal(summary.n_tiles[SLC_DIRECT_PRODUCT], 0);
        assert_true(strstr(summary.why, "by the sine kernel, because ") != NULL);
        assert_true(strstr(summary.why, cases[i].words) != NULL);
        assert_true(strchr(summary.why, ')') != NULL); /* the whole sentence */
    }
}

/* IMAGING: l beyond ±0.35 with w of 10^4 needs the sine kernel; a narrow field no term at all. */
static void methods_follow_the_field(void **state) {
    (void)state;
    slc_direct_setup setup;
    slc_direct_summary summary;
    slc_direct_request request = request_of(512, 512, 1e-6, 1000.0);
    TEST_OK(slc_direct_choose(&request, &setup));
    slc_direct_summarise(&setup, &summary);
    assert_int_equal(summary.n_tiles[SLC_DIRECT_SINE], 0);
    assert_int_equal(summary.n_tiles[SLC_DIRECT_SINE_WIDE], 0);
    assert_int_equal(summary.max_terms_used, 0);
    assert_true(strstr(summary.why, "matrix product") != NULL);
    assert_true(summary.flops_per_sample > 0.0);

    request = request_of(512, 512, 2.2 / 512, 10000.0);
    TEST_OK(slc_direct_choose(&request, &setup));
    slc_direct_summarise(&setup, &summary);
    assert_true(summary.n_tiles[SLC_DIRECT_SINE_WIDE] > 0);
    assert_true(strstr(summary.why, "sine") != NULL);

    request = request_of(512, 512, 1.2 / 512, 60.0);
    TEST_OK(slc_direct_choose(&request, &setup));
    slc_direct_summarise(&setup, &summary);
    assert_true(summary.n_tiles[SLC_DIRECT_PRODUCT] > 0);
    assert_true(summary.max_terms_used > 1);

    request.device = SLC_DEVICE_CUDA;
    TEST_OK(slc_direct_choose(&request, &setup));
    slc_direct_summarise(&setup, &summary);
    assert_int_equal(setup.tile_pixels, 64);
    assert_int_equal(summary.n_tiles[SLC_DIRECT_PRODUCT], 0);
    assert_true(summary.n_tiles[SLC_DIRECT_SINE] > 0);
}

/* On CUDA a large w c is formed in double where the card is fast at it and the product fits; what is
 * beyond two words too is refused. */
static void large_w_follows_the_card(void **state) {
    (void)state;
    slc_direct_setup setup;
    slc_direct_summary summary;
    slc_direct_request request = request_of(64, 64, 8e-3, 1.0);
    request.device = SLC_DEVICE_CUDA;
    request.geometry.centre_l = request.geometry.centre_m = 0.35;
    TEST_OK(slc_direct_choose(&request, &setup));
    const double c_max = slc_direct_tile_get(&setup, 0, 0).c_max;
    static const struct {
        double turns;
        bool has_fast_double;
        slc_direct_method method;
    } cases[] = {{0.031, true, SLC_DIRECT_SINE},         {0.0315, true, SLC_DIRECT_SINE_DOUBLE},
                 {0.0315, false, SLC_DIRECT_SINE_WIDE},  {524287.0, true, SLC_DIRECT_SINE_DOUBLE},
                 {524289.0, true, SLC_DIRECT_SINE_WIDE}, {2097151.0, true, SLC_DIRECT_SINE_WIDE}};
    for (int64_t i = 0; i < TEST_COUNT(cases); i++) {
        request.survey.max_w = cases[i].turns / c_max;
        request.card.has_fast_double = cases[i].has_fast_double;
        TEST_OK(slc_direct_choose(&request, &setup));
        slc_direct_summarise(&setup, &summary);
        assert_int_equal(summary.n_tiles[cases[i].method], 1);
        slc_numerics record = {0};
        slc_direct_record(&setup, SLC_DEVICE_CUDA, &record);
        assert_string_equal(slc_numerics_get(&record, "double_limit"),
                            cases[i].has_fast_double ? "524288" : "0");
    }
    request.survey.max_w = 2097153.0 / c_max;
    TEST_FAILS(slc_direct_choose(&request, &setup), SLC_ERROR_UNSUPPORTED, "--device host");
}

static void finite_pixels_are_counted_exactly(void **state) {
    (void)state;
    /* 0.05 and 1/16 put pixels exactly on the horizon: (0, ±1), (±0.6, ±0.8) or close by. */
    static const double scales[] = {0.05, 0.0625, 0.0131, 0.4, 3.0};
    static const double centres[][2] = {{0, 0}, {0.61, 0.3}, {5.0, 0.0}, {0.0, -0.999}};
    for (int64_t s = 0; s < TEST_COUNT(scales); s++) {
        for (int64_t c = 0; c < TEST_COUNT(centres); c++) {
            slc_direct_request request = request_of(97, 64, scales[s], 10.0);
            request.geometry.centre_l = centres[c][0];
            request.geometry.centre_m = centres[c][1];
            slc_direct_setup setup;
            TEST_OK(slc_direct_choose(&request, &setup));
            int64_t n_finite = 0;
            for (int64_t k = 0; k < INT64_C(97) * 64; k++) {
                const double l = centres[c][0] - (double)(k % 97 - 48) * scales[s];
                const double m = centres[c][1] + (double)(k / 97 - 32) * scales[s];
                n_finite += l * l + m * m < 1.0;
            }
            slc_direct_summary summary;
            slc_direct_summarise(&setup, &summary);
            assert_int_equal(summary.finite_pixels, n_finite);
        }
    }
}

static void granules_are_runs_of_4096_samples(void **state) {
    (void)state;
    static const int64_t cases[][3] = {
        {1, 4096, 4096}, {8, 512, 4096}, {768, 5, 3840}, {4096, 1, 4096}, {9000, 1, 4096}};
    for (int64_t i = 0; i < TEST_COUNT(cases); i++) {
        slc_direct_request request = request_of(10, 10, 1e-3, 1.0);
        request.n_channels = cases[i][0];
        slc_direct_setup setup;
        TEST_OK(slc_direct_choose(&request, &setup));
        assert_int_equal(setup.granule_rows, cases[i][1]);
        assert_int_equal(setup.granule_samples, cases[i][2]);
        assert_int_equal(setup.scale_bits, slc_fixed_scale_bits(3.0));
    }
}

static void large_pictures_are_chosen_quickly(void **state) {
    (void)state;
    slc_direct_request request = request_of(65537, 65537, 1e-5, 1000.0);
    slc_direct_setup setup;
    slc_direct_summary summary;
    TEST_OK(slc_direct_choose(&request, &setup));
    slc_direct_summarise(&setup, &summary);
    assert_int_equal(summary.finite_pixels, INT64_C(65537) * 65537);
}

static void what_cannot_be_promised_is_refused(void **state) {
    (void)state;
    slc_direct_setup setup;
    slc_direct_request request = request_of(10, 10, 1e-3, 1.0);
    request.epsilon = 1e-7;
    TEST_FAILS(slc_direct_choose(&request, &setup), SLC_ERROR_ARGUMENT, "6e-07");
    request.device = SLC_DEVICE_CUDA;
    TEST_FAILS(slc_direct_choose(&request, &setup), SLC_ERROR_ARGUMENT, "9e-07");
    request.epsilon = 1.0;
    TEST_FAILS(slc_direct_choose(&request, &setup), SLC_ERROR_ARGUMENT, "epsilon");
    request.epsilon = NAN;
    TEST_FAILS(slc_direct_choose(&request, &setup), SLC_ERROR_ARGUMENT, "epsilon");
    request = request_of(0, 10, 1e-3, 1.0);
    TEST_FAILS(slc_direct_choose(&request, &setup), SLC_ERROR_ARGUMENT, "0 x 10");
    request = request_of(10, 10, 0.0, 1.0);
    TEST_FAILS(slc_direct_choose(&request, &setup), SLC_ERROR_ARGUMENT, "scale");
    request = request_of(10, 10, 1e-3, 1.0);
    request.n_parts = 3;
    TEST_FAILS(slc_direct_choose(&request, &setup), SLC_ERROR_ARGUMENT, "3 parts");
}

/* At 10^10 wavelengths and a direction cosine of 0.3 the product alone is rounded by 2^-53 · 3·10^9
 * turns, 2·10^-6 rad. */
static void baselines_beyond_double_precision_are_refused(void **state) {
    (void)state;
    static const slc_device_kind devices[] = {SLC_DEVICE_HOST, SLC_DEVICE_CUDA};
    for (int64_t i = 0; i < TEST_COUNT(devices); i++) {
        slc_direct_setup setup;
        slc_direct_summary summary;
        slc_direct_request request = request_of(10, 10, 1e-6, 1.0);
        request.device = devices[i];
        request.geometry.centre_l = 0.3;
        request.survey.max_u = 1e10;
        TEST_FAILS(slc_direct_choose(&request, &setup), SLC_ERROR_ARGUMENT,
                   "baselines up to 1e+10 wavelengths");
        request.epsilon = 1e-5;
        TEST_OK(slc_direct_choose(&request, &setup));
        slc_direct_summarise(&setup, &summary);
        assert_true(summary.error_bound > 2e-6 && summary.error_bound <= request.epsilon);
        request.epsilon = 1e-6;
        request.geometry.centre_l = 0.0; /* the same baselines, towards the phase centre */
        TEST_OK(slc_direct_choose(&request, &setup));
    }
}

/* Whatever its seventh digit: the number that a refusal names is accepted, and one of its units less is
 * not. */
static void the_smallest_epsilon_named_works(void **state) {
    (void)state;
    for (int i = 0; i < 40; i++) {
        slc_direct_setup setup;
        slc_direct_request request = request_of(10, 10, 1e-6, 1.0);
        request.device = i % 2 == 0 ? SLC_DEVICE_HOST : SLC_DEVICE_CUDA;
        request.geometry.centre_l = 0.3;
        request.survey.max_u = 1e10 * pow(1.123, i);
        request.epsilon = 1e-12;
        static const char words[] = "the smallest that works is ";
        TEST_FAILS(slc_direct_choose(&request, &setup), SLC_ERROR_ARGUMENT, words);
        double named = 0.0;
        TEST_OK(slci_parse_number(strstr(slc_status_message(), words) + strlen(words), &named));
        request.epsilon = named;
        TEST_OK(slc_direct_choose(&request, &setup));
        request.epsilon = named - 1.01 * pow(10.0, floor(log10(named)) - 5.0);
        TEST_FAILS(slc_direct_choose(&request, &setup), SLC_ERROR_ARGUMENT, words);
    }
}

static void the_record_says_what_fixes_the_bits(void **state) {
    (void)state;
    slc_direct_setup setup;
    const slc_direct_request request = request_of(300, 300, 1e-5, 100.0);
    TEST_OK(slc_direct_choose(&request, &setup));
    slc_numerics record = {0};
    slc_direct_record(&setup, SLC_DEVICE_HOST, &record);
    assert_string_equal(slc_numerics_get(&record, "kernel"), "direct/host");
    assert_string_equal(slc_numerics_get(&record, "granule_samples"), "4096");
    assert_non_null(slc_numerics_get(&record, "blas"));
    assert_non_null(slc_numerics_get(&record, "simd"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_hold_at_every_pixel),
        cmocka_unit_test(bounds_of_the_tensor_cores_kernel_hold),
        cmocka_unit_test(cards_have_their_units),
        cmocka_unit_test(a_host_is_no_card),
        cmocka_unit_test(tensor_cores_take_the_tiles_that_they_can),
        cmocka_unit_test(short_stages_take_what_they_can),
        cmocka_unit_test(the_plan_says_why_there_are_no_products),
        cmocka_unit_test(methods_follow_the_field),
        cmocka_unit_test(large_w_follows_the_card),
        cmocka_unit_test(finite_pixels_are_counted_exactly),
        cmocka_unit_test(granules_are_runs_of_4096_samples),
        cmocka_unit_test(large_pictures_are_chosen_quickly),
        cmocka_unit_test(what_cannot_be_promised_is_refused),
        cmocka_unit_test(baselines_beyond_double_precision_are_refused),
        cmocka_unit_test(the_smallest_epsilon_named_works),
        cmocka_unit_test(the_record_says_what_fixes_the_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
