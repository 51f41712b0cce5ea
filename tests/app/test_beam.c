#include "tests/support/test_support.h"

#include <math.h>

#include "app/beam.h"

static const double pi = 3.14159265358979323846;

/* A Gaussian with full widths `major` and `minor` in pixels at `angle` north through east. */
static void draw(double *psf, int64_t nx, int64_t ny, double major, double minor, double angle) {
    for (int64_t y = 0; y < ny; y++) {
        for (int64_t x = 0; x < nx; x++) {
            const double east = -(double)(x - nx / 2);
            const double north = (double)(y - ny / 2);
            const double along = north * cos(angle) + east * sin(angle);
            const double across = -north * sin(angle) + east * cos(angle);
            psf[y * nx + x] =
                exp(-4 * log(2) *
                    (along * along / (major * major) + across * across / (minor * minor)));
        }
    }
}

static void finds_the_gaussian_it_was_given(void **state) {
    (void)state;
    static double psf[101 * 90];
    for (int i = -8; i < 8; i++) {
        const double angle = i * pi / 16;
        draw(psf, 101, 90, 14.5, 6.25, angle);
        slci_beam_fit fit;
        TEST_OK(slci_beam_find(psf, 101, 90, 1e-5, &fit));
        assert_true(fit.beam.is_valid);
        assert_true(fabs(fit.beam.major_rad - 14.5e-5) < 1e-12);
        assert_true(fabs(fit.beam.minor_rad - 6.25e-5) < 1e-12);
        const double off = fit.beam.angle_rad - angle;
        assert_true(fabs(off - pi * round(off / pi)) < 1e-9);
        assert_true(fit.beam.angle_rad >= -pi / 2 && fit.beam.angle_rad < pi / 2);
    }
}

static void side_lobes_do_not_count(void **state) {
    (void)state;
    static double psf[64 * 64];
    draw(psf, 64, 64, 5, 4, 0.3);
    psf[5 * 64 + 5] = 0.9;
    slci_beam_fit fit;
    TEST_OK(slci_beam_find(psf, 64, 64, 1, &fit));
    assert_true(fit.beam.is_valid);
    assert_true(fabs(fit.beam.major_rad - 5) < 1e-9);
}

/* A lobe that is larger than the first window is still found whole. */
static void finds_a_large_lobe_in_a_large_picture(void **state) {
    (void)state;
    double *psf = test_allocate(600 * 500 * (int64_t)sizeof *psf);
    draw(psf, 600, 500, 150, 90, 0.4);
    slci_beam_fit fit;
    TEST_OK(slci_beam_find(psf, 600, 500, 1, &fit));
    assert_true(fit.beam.is_valid);
    assert_true(fabs(fit.beam.major_rad - 150) < 1e-6);
    assert_true(fabs(fit.beam.minor_rad - 90) < 1e-6);
    free(psf);
}

static void fails_softly(void **state) {
    (void)state;
    static double psf[32 * 32];
    slci_beam_fit fit;
    draw(psf, 32, 32, 100, 80, 0);
    TEST_OK(slci_beam_find(psf, 32, 32, 1, &fit));
    assert_false(fit.beam.is_valid);
    assert_true(fit.touches_edge);
    assert_non_null(fit.why_none);
    draw(psf, 32, 32, 1, 1, 0);
    TEST_OK(slci_beam_find(psf, 32, 32, 1, &fit));
    assert_false(fit.beam.is_valid);
    assert_non_null(strstr(fit.why_none, "6 pixels"));
    /* A ridge: no ellipse, however it is turned. */
    for (int64_t i = 0; i < 32 * 32; i++) {
        psf[i] = i / 32 == 16 && i % 32 > 10 && i % 32 < 22 ? 1 : 0;
    }
    TEST_OK(slci_beam_find(psf, 32, 32, 1, &fit));
    assert_false(fit.beam.is_valid);
    const double one = 1;
    TEST_OK(slci_beam_find(&one, 1, 1, 1, &fit));
    assert_false(fit.beam.is_valid);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_gaussian_it_was_given),
        cmocka_unit_test(side_lobes_do_not_count),
        cmocka_unit_test(finds_a_large_lobe_in_a_large_picture),
        cmocka_unit_test(fails_softly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
