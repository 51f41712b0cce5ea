/* The imaging job against right values: public cases, weights, beam, geometry. */
#include "tests/support/test_picture.h"

#include <math.h>

/* ---- public cases ----------------------------------------------------------------------------- */

typedef struct place {
    const char *file;
    int64_t nx, ny;
    double scale_rad;
    int64_t x, y;
    double value, tolerance;
    bool is_peak; /* and nothing is larger */
} place;

static const place places[] = {
    {"cases/base.uvh5", 128, 128, 0.002, 39, 49, 1.0, 2e-6, true},
    {"cases/base.uvh5", 128, 128, 0.002, 89, 79, 0.020430, 1e-6, false},
    {"cases/noncoplanar.uvh5", 128, 128, 0.01, 34, 44, 1.0, 2e-6, true},
    {"cases/mixed_order.uvh5", 128, 128, 0.002, 39, 49, 1.0, 2e-6, true},
    {"cases/base.uvh5", 127, 127, 0.002, 38, 48, 1.0, 2e-6, true},
    {"cases/base.uvh5", 128, 100, 0.002, 39, 35, 1.0, 2e-6, true},
    {"cases/base.uvh5", 1, 1, 0.002, 0, 0, 0.034441, 1e-6, true},
    {"cases/freq_down.uvh5", 128, 128, 0.002, 39, 49, 1.0, 2e-6, true},
    {"cases/nan_flagged.uvh5", 128, 128, 0.002, 39, 49, 1.0, 2e-6, true},
    {"cases/chan0_flagged.uvh5", 128, 128, 0.002, 39, 49, 1.0, 2e-6, true},
    {"cases/nsamples_half.uvh5", 128, 128, 0.002, 39, 49, 1.0, 2e-6, true},
    {"cases/pol_sum.uvh5", 128, 128, 0.002, 39, 49, 1.0, 2e-6, true},
    {"cases/pol_avg.uvh5", 128, 128, 0.002, 39, 49, 1.0, 2e-6, true},
    {"cases/one_baseline.uvh5", 128, 128, 0.002, 39, 49, 1.0, 2e-6, false},
    {"cases/irregular_blts.uvh5", 128, 128, 0.002, 39, 49, 1.0, 2e-6, true},
    {"cases/vlen_strings.uvh5", 128, 128, 0.002, 39, 49, 1.0, 2e-6, true},
    {"cases/two_src.uvh5", 128, 128, 0.002, 39, 49, 0.996826, 2e-6, true},
};

static void public_cases(void **state) {
    (void)state;
    for (int64_t i = 0; i < TEST_COUNT(places); i++) {
        const place *c = &places[i];
        test_picture p;
        test_picture_init(&p, c->file, c->nx, c->ny, c->scale_rad);
        TEST_OK(test_picture_run(&p));
        TEST_NEAR_NAMED(test_picture_at(&p, c->x, c->y), c->value, c->tolerance, c->file);
        if (c->is_peak) {
            assert_int_equal(p.result.peak_x, c->x);
            assert_int_equal(p.result.peak_y, c->y);
        }
        free(p.image);
    }
}

static void counts_flags(void **state) {
    (void)state;
    test_picture p;
    test_picture_init(&p, "cases/nan_flagged.uvh5", 32, 32, 0.002);
    TEST_OK(test_picture_run(&p));
    assert_int_equal(p.result.n_flagged, 360);
    assert_int_equal(p.result.n_looked_at, 2880);
    assert_int_equal(p.result.n_used, 180 * 7);
    assert_int_equal(p.result.n_nonfinite, 0);
    free(p.image);
}

static void refuses_what_has_no_data(void **state) {
    (void)state;
    test_picture p;
    test_picture_init(&p, "cases/all_flagged.uvh5", 32, 32, 0.002);
    TEST_FAILS(test_picture_run(&p), SLC_ERROR_INPUT,
               "no unflagged visibilities: 2880 of 2880 flagged");
    free(p.image);
    test_picture_init(&p, "cases/nsamples_zero.uvh5", 32, 32, 0.002);
    TEST_FAILS(test_picture_run(&p), SLC_ERROR_INPUT, "nsamples");
    TEST_FAILS(test_picture_run(&p), SLC_ERROR_INPUT, "--unit-weights");
    p.options.vis.use_unit_weights = true;
    p.options.nx = p.options.ny = 128;
    TEST_OK(test_picture_run(&p));
    TEST_NEAR_NAMED(test_picture_at(&p, 39, 49), 1.0, 2e-6, "unit weights");
    free(p.image);
}

static void one_baseline_is_a_fringe(void **state) {
    (void)state;
    test_picture p;
    test_picture_init(&p, "cases/one_baseline.uvh5", 128, 128, 0.002);
    TEST_OK(test_picture_run(&p));
    double lowest = 1;
    double highest = -1;
    for (int64_t i = 0; i < 128 * 128; i++) {
        lowest = fmin(lowest, p.image[i]);
        highest = fmax(highest, p.image[i]);
    }
    TEST_NEAR_NAMED(lowest, -1, 1e-3, "lowest");
    TEST_NEAR_NAMED(highest, 1, 1e-3, "highest");
    TEST_NEAR_NAMED(p.result.rms, 0.7071, 2e-3, "rms");
    assert_false(p.result.meta.beam.is_valid);
    free(p.image);
}

static void a_cube_has_nan_where_a_channel_is_flagged(void **state) {
    (void)state;
    test_picture p;
    test_picture_init(&p, "cases/chan0_flagged.uvh5", 128, 128, 0.002);
    p.options.n_planes = 8;
    TEST_OK(test_picture_run(&p));
    for (int64_t plane = 0; plane < 8; plane++) {
        const double value = p.image[(plane * 128 + 49) * 128 + 39];
        if (plane == 0) {
            assert_true(isnan(value));
        } else {
            TEST_NEAR_NAMED(value, 1.0, 2e-6, "plane");
        }
    }
    assert_int_equal(p.result.n_fully_flagged_planes, 1);
    assert_int_equal(p.result.peak_plane, 1);
    free(p.image);
}

static void the_smallest_pictures_work(void **state) {
    (void)state;
    test_picture p;
    test_picture_init(&p, "cases/base.uvh5", 2, 2, 0.002);
    TEST_OK(test_picture_run(&p));
    double highest = -1;
    for (int64_t i = 0; i < 4; i++) {
        highest = fmax(highest, p.image[i]);
    }
    TEST_NEAR_NAMED(highest, 0.081577, 1e-6, "2 x 2");
    free(p.image);
}

/* CRPIX - 1 is size / 2, for odd sizes too. */
static void the_reference_pixel_is_the_middle(void **state) {
    (void)state;
    const int64_t sizes[][2] = {{127, 127}, {128, 100}, {1, 1}};
    const double reference[][2] = {{63, 63}, {64, 50}, {0, 0}};
    for (int i = 0; i < 3; i++) {
        test_picture p;
        test_picture_init(&p, "cases/base.uvh5", sizes[i][0], sizes[i][1], 0.002);
        TEST_OK(test_picture_run(&p));
        assert_true(p.result.meta.reference_x == reference[i][0]);
        assert_true(p.result.meta.reference_y == reference[i][1]);
        free(p.image);
    }
}

/* 4096² pixels, 128 MiB: the same bits whether the sums fit the budget or not. */
static void a_large_picture_is_the_same_at_every_budget(void **state) {
    (void)state;
    test_picture p;
    test_picture_init(&p, "cases/base.uvh5", 4096, 4096, 5e-5);
    const int64_t budgets[] = {64 << 20, 256 << 20, 2ll << 30};
    test_same_at_budgets(&p, budgets, TEST_COUNT(budgets));
    free(p.image);
}

static void cubes_say_where_their_planes_lie(void **state) {
    (void)state;
    test_picture p;
    test_picture_init(&p, "cases/base.uvh5", 16, 16, 0.002);
    p.options.n_planes = 4;
    TEST_OK(test_picture_run(&p));
    TEST_NEAR_NAMED(p.result.meta.freq_hz, 150.5e6, 1, "first plane");
    TEST_NEAR_NAMED(p.result.meta.freq_step_hz, 2e6, 1, "step");
    free(p.image);
}

static void a_cube_counts_the_flags_of_empty_planes(void **state) {
    (void)state;
    test_picture p;
    test_picture_init(&p, "cases/chan0_flagged.uvh5", 16, 16, 0.002);
    p.options.n_planes = 8;
    TEST_OK(test_picture_run(&p));
    assert_int_equal(p.result.n_flagged, 360);
    assert_int_equal(p.result.n_looked_at, 2880);
    p.options.n_planes = 3;
    TEST_FAILS(test_picture_run(&p), SLC_ERROR_ARGUMENT, "does not divide the 8 channels");
    free(p.image);
}

static void an_empty_selection_is_named(void **state) {
    (void)state;
    test_picture p;
    test_picture_init(&p, "cases/base.uvh5", 16, 16, 0.002);
    p.options.vis.uv_min_wavelengths = 1e9;
    p.options.vis.uv_max_wavelengths = 2e9;
    TEST_FAILS(
        test_picture_run(&p), SLC_ERROR_INPUT,
        "--uv-range 1000000000:2000000000 leaves no visibilities: the baselines are 50.0346 to "
        "284.505 wavelengths long");
    p.options.vis.uv_max_wavelengths = 0;
    TEST_FAILS(test_picture_run(&p), SLC_ERROR_INPUT, "--uv-range 1000000000: leaves no");
    free(p.image);
}

static void describes_the_sky(void **state) {
    (void)state;
    test_picture p;
    test_picture_init(&p, "cases/base.uvh5", 128, 128, 0.002);
    TEST_OK(test_picture_run(&p));
    TEST_NEAR_NAMED(p.result.peak_ra_rad * 57.29577951308232, 60.616608, 1e-5, "right ascension");
    TEST_NEAR_NAMED(p.result.peak_dec_rad * 57.29577951308232, -30.327190, 1e-5, "declination");
    TEST_NEAR_NAMED(p.result.meta.freq_hz, 153.5e6, 1, "frequency");
    TEST_NEAR_NAMED(p.result.meta.width_hz, 8e6, 1, "bandwidth");
    assert_string_equal(p.result.meta.object, "test");
    assert_string_equal(p.result.meta.telescope, "SLUICETEST");
    assert_string_equal(p.result.meta.unit, "Jy/beam");
    free(p.image);
}

static void a_moved_centre_shows_the_same_sky(void **state) {
    (void)state;
    test_picture whole;
    test_picture moved;
    test_picture_init(&whole, "cases/base.uvh5", 128, 128, 0.002);
    test_picture_init(&moved, "cases/base.uvh5", 32, 32, 0.002);
    TEST_OK(test_picture_run(&whole));
    moved.options.has_centre = true;
    moved.options.centre_ra_rad = whole.result.peak_ra_rad;
    moved.options.centre_dec_rad = whole.result.peak_dec_rad;
    TEST_OK(test_picture_run(&moved));
    for (int64_t y = -16; y < 16; y++) {
        for (int64_t x = -16; x < 16; x++) {
            TEST_NEAR_NAMED(test_picture_at(&moved, 16 + x, 16 + y),
                            test_picture_at(&whole, 39 + x, 49 + y), 2e-6, "pixel");
        }
    }
    TEST_NEAR_NAMED(moved.result.meta.reference_x, 16 + 25, 1e-6, "reference pixel x");
    TEST_NEAR_NAMED(moved.result.meta.reference_y, 16 + 15, 1e-6, "reference pixel y");
    free(whole.image);
    free(moved.image);
}

/* ---- weights and beam ------------------------------------------------------------------------- */

static void uniform_and_briggs_weights(void **state) {
    (void)state;
    test_picture p;
    test_picture_init(&p, "cases/base.uvh5", 128, 128, 0.002);
    p.options.weighting = SLC_WEIGHT_UNIFORM;
    TEST_OK(test_picture_run(&p));
    TEST_NEAR_NAMED(test_picture_at(&p, 10, 20), 0.0236540, 5e-7, "BASE uniform");
    assert_int_equal(p.result.n_used, 1391);
    TEST_NEAR_NAMED(p.result.weight_sum, 512, 1e-3, "BASE sum of uniform weights");
    p.options.weighting = SLC_WEIGHT_BRIGGS;
    TEST_OK(test_picture_run(&p));
    TEST_NEAR_NAMED(test_picture_at(&p, 10, 20), 0.0236065, 5e-7, "BASE briggs:0");
    free(p.image);
}

static void m87_weights_and_beam(void **state) {
    (void)state;
    double scale = 0;
    free(test_read_expected("data/expected/m87_256.h5", 256 * 256, &scale));
    test_picture p;
    test_picture_init(&p, "data/m87_vlba_8GHz.contig.uvh5", 256, 256, scale);
    TEST_OK(test_picture_run(&p));
    assert_true(p.result.meta.beam.is_valid);
    TEST_NEAR_NAMED(p.result.meta.beam.major_rad / scale, 11.540, 1e-3, "major axis");
    TEST_NEAR_NAMED(p.result.meta.beam.minor_rad / scale, 6.089, 1e-3, "minor axis");
    TEST_NEAR_NAMED(p.result.meta.beam.angle_rad * 57.29577951308232, -7.257, 2e-3, "angle");
    p.options.weighting = SLC_WEIGHT_UNIFORM;
    TEST_OK(test_picture_run(&p));
    TEST_NEAR_NAMED(test_picture_at(&p, 10, 20), 0.0185938, 5e-7, "m87 uniform");
    TEST_NEAR_NAMED(p.result.weight_sum, 339, 1e-3, "m87 sum of uniform weights");
    p.options.weighting = SLC_WEIGHT_BRIGGS;
    TEST_OK(test_picture_run(&p));
    TEST_NEAR_NAMED(test_picture_at(&p, 10, 20), 0.0234455, 5e-7, "m87 briggs:0");
    free(p.image);
}

/* The same set twice is the same picture; rows of two files follow each other. */
/* The second file holds the same baselines, half of them in the opposite order. */
static void several_files_are_one_set(void **state) {
    (void)state;
    test_picture p;
    char second[TEST_PATH_BYTES];
    test_need_shared("cases/mixed_order.uvh5", second);
    test_picture_init(&p, "cases/base.uvh5", 64, 64, 0.002);
    TEST_OK(test_picture_run(&p));
    double *once = p.image;
    const int64_t n_used = p.result.n_used;
    p.image = test_allocate(64 * 64 * (int64_t)sizeof(double));
    const char *const both[] = {p.path, second};
    p.options.inputs = both;
    p.options.n_inputs = 2;
    p.options.image = p.image;
    TEST_OK(slc_image_run(&p.options, &p.result));
    assert_int_equal(p.result.n_used, 2 * n_used);
    assert_true(test_image_error(p.image, once, 64 * 64) < 1e-6);
    const char *const twice[] = {p.path, second, p.path};
    p.options.inputs = twice;
    p.options.n_inputs = 3;
    TEST_FAILS(slc_image_run(&p.options, &p.result), SLC_ERROR_ARGUMENT,
               "base.uvh5 is given twice");
    free(once);
    free(p.image);
}

/* Refused before anything is read: the output is what is wrong, not the input. */
static void an_output_that_cannot_hold_the_picture_is_refused(void **state) {
    (void)state;
    test_picture p;
    test_picture_init(&p, "cases/base.uvh5", 1000001, 1, 0.002);
    const char *const png[] = {"wide.png"};
    p.options.outputs = png;
    p.options.n_outputs = 1;
    TEST_FAILS(slc_image_run(&p.options, &p.result), SLC_ERROR_ARGUMENT, "wide.png");
    const char *const fits[] = {"complex.fits"};
    p.options.outputs = fits;
    p.options.nx = 16;
    p.options.is_complex = true;
    TEST_FAILS(slc_image_run(&p.options, &p.result), SLC_ERROR_ARGUMENT, "complex.fits");
}

/* The plan has what the run will have. What of the files is fetched again depends on what their reader
 * still has, so it is counted and not planned. */
static void the_plan_counts_what_is_read(void **state) {
    (void)state;
    test_picture p;
    test_picture_init(&p, "data/m87_vlba_8GHz.gzshuf.uvh5", 64, 64, 1e-9);
    TEST_OK(test_picture_run(&p));
    assert_true(p.result.chunks_read > 0);
    assert_int_equal(p.result.plan.bytes_read, p.result.report.bytes_read);
    assert_int_equal(p.result.plan.bytes_tier, p.result.report.bytes_tier);
    char *json = NULL;
    TEST_OK(slc_image_stats_json(&p.result, &json));
    const char *const keys[] = {"\"chunks_read\"", "\"chunks_decoded\"", "\"bytes_stored\""};
    for (int64_t k = 0; k < TEST_COUNT(keys); k++) {
        const char *first = strstr(json, keys[k]);
        assert_non_null(first);
        assert_null(strstr(first + 1, keys[k])); /* a second one would be the plan's */
    }
    free(json);
    assert_int_equal(p.result.n_planned, p.result.n_used);
    assert_int_equal(p.result.n_planned_flagged, p.result.n_flagged);
    free(p.image);
}

static void complex_images_have_the_real_part(void **state) {
    (void)state;
    test_picture p;
    test_picture_init(&p, "cases/base.uvh5", 64, 64, 0.002);
    TEST_OK(test_picture_run(&p));
    double *real = p.image;
    p.image = NULL;
    p.options.is_complex = true;
    TEST_OK(test_picture_run(&p));
    double imaginary = 0;
    for (int64_t i = 0; i < 64 * 64; i++) {
        TEST_NEAR_NAMED(p.image[2 * i], real[i], 2e-6, "real part");
        imaginary = fmax(imaginary, fabs(p.image[2 * i + 1]));
    }
    assert_true(imaginary > 0.01);
    free(real);
    free(p.image);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(public_cases),
        cmocka_unit_test(counts_flags),
        cmocka_unit_test(refuses_what_has_no_data),
        cmocka_unit_test(one_baseline_is_a_fringe),
        cmocka_unit_test(a_cube_has_nan_where_a_channel_is_flagged),
        cmocka_unit_test(the_smallest_pictures_work),
        cmocka_unit_test(the_reference_pixel_is_the_middle),
        cmocka_unit_test(a_large_picture_is_the_same_at_every_budget),
        cmocka_unit_test(cubes_say_where_their_planes_lie),
        cmocka_unit_test(a_cube_counts_the_flags_of_empty_planes),
        cmocka_unit_test(an_empty_selection_is_named),
        cmocka_unit_test(describes_the_sky),
        cmocka_unit_test(a_moved_centre_shows_the_same_sky),
        cmocka_unit_test(uniform_and_briggs_weights),
        cmocka_unit_test(m87_weights_and_beam),
        cmocka_unit_test(several_files_are_one_set),
        cmocka_unit_test(an_output_that_cannot_hold_the_picture_is_refused),
        cmocka_unit_test(the_plan_counts_what_is_read),
        cmocka_unit_test(complex_images_have_the_real_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
