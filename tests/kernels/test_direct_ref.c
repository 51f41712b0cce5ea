/* The oracle against values that arithmetic gives: signs, axes, horizon and n. */
#include "tests/support/test_support.h"

#include <math.h>

#include "kernels/direct.h"

#define TWO_PI 6.283185307179586

static const double one_channel = 1.0;

/* l grows to the left and m upwards: a quarter turn of u at the pixel left of the centre. */
static void signs_and_axes(void **state) {
    (void)state;
    const slc_direct_geometry geometry = {.nx = 3,
                                          .ny = 3,
                                          .scale_rad = 0.01,
                                          .is_w_projected = true};
    const double uvw[3] = {25.0, 10.0, 0.0};
    const float vis[2] = {1.0f, 0.0f};
    const float weight[1] = {2.0f};
    double image[9][2];
    slc_direct_reference(&geometry, 2, 1, 1, uvw, vis, weight, &one_channel, &image[0][0]);
    assert_true(fabs(image[4][0] - 2.0) < 1e-12 && fabs(image[4][1]) < 1e-12);
    /* (row 1, column 0): l = +0.01, a quarter turn: exp(-iπ/2) = -i. */
    assert_true(fabs(image[3][0]) < 1e-12 && fabs(image[3][1] + 2.0) < 1e-12);
    /* (row 2, column 1): m = +0.01, a tenth of a turn. */
    assert_true(fabs(image[7][0] - 2.0 * cos(TWO_PI / 10)) < 1e-12);
    assert_true(fabs(image[7][1] + 2.0 * sin(TWO_PI / 10)) < 1e-12);
}

/* l = 0.6, m = 0: n = 0.8 exactly, so w = 1 turns by -0.2 (phased) or 0.8 (not). */
static void n_and_n_minus_1(void **state) {
    (void)state;
    slc_direct_geometry geometry = {
        .nx = 1, .ny = 1, .scale_rad = 0.1, .centre_l = 0.6, .is_w_projected = true};
    const double uvw[3] = {0.0, 0.0, 1.0};
    const float vis[2] = {0.0f, 1.0f};
    const float weight[1] = {1.0f};
    double image[2];
    slc_direct_reference(&geometry, 2, 1, 1, uvw, vis, weight, &one_channel, image);
    assert_true(fabs(image[0] + sin(TWO_PI * 0.2)) < 1e-12); /* Re i e^{+2πi 0.2} */
    assert_true(fabs(image[1] - cos(TWO_PI * 0.2)) < 1e-12);
    geometry.is_w_projected = false;
    slc_direct_reference(&geometry, 2, 1, 1, uvw, vis, weight, &one_channel, image);
    assert_true(fabs(image[0] - sin(TWO_PI * 0.8)) < 1e-12); /* Re i e^{-2πi 0.8} */
    assert_true(fabs(image[1] - cos(TWO_PI * 0.8)) < 1e-12);
}

/* A source peaks on its pixel with Σw times its flux, channels scale uvw, weight 0 is never read. */
static void a_source_peaks_on_its_pixel(void **state) {
    (void)state;
    enum { N_ROWS = 40, N_CHANNELS = 2 };
    const slc_direct_geometry geometry = {.nx = 9,
                                          .ny = 8,
                                          .scale_rad = 0.01,
                                          .is_w_projected = true};
    const double channels[N_CHANNELS] = {1.0, 1.25};
    const double l = 0.03; /* column 1 */
    const double m = 0.02; /* row 6 */
    const double n_minus_1 = sqrt(1.0 - l * l - m * m) - 1.0;
    static double uvw[3 * N_ROWS];
    static float vis[2 * N_ROWS * N_CHANNELS];
    static float weight[N_ROWS * N_CHANNELS];
    test_fill_f64(uvw, 3 * N_ROWS, 4);
    double sum = 0.0;
    for (int64_t k = 0; k < (int64_t)N_ROWS * N_CHANNELS; k++) {
        double *row = &uvw[3 * (k / N_CHANNELS)];
        if (k % N_CHANNELS == 0) {
            row[0] *= 500;
            row[1] *= 500;
            row[2] *= 500;
        }
        const double turns =
            (row[0] * l + row[1] * m + row[2] * n_minus_1) * channels[k % N_CHANNELS];
        vis[2 * k] = (float)(2.5 * cos(TWO_PI * turns));
        vis[2 * k + 1] = (float)(2.5 * sin(TWO_PI * turns));
        weight[k] = (float)(k % 3);
        sum += (double)(k % 3);
        if (k % 3 == 0) {
            vis[2 * k] = NAN;
        }
    }
    double image[8 * 9];
    slc_direct_reference(&geometry, 1, N_ROWS, N_CHANNELS, uvw, vis, weight, channels, image);
    int64_t peak = 0;
    for (int64_t k = 0; k < 72; k++) {
        peak = image[k] > image[peak] ? k : peak;
    }
    assert_int_equal(peak, 6 * 9 + 1);
    assert_true(fabs(image[peak] / sum - 2.5) < 1e-6); /* vis is single precision */
}

static void the_horizon_is_nan(void **state) {
    (void)state;
    const slc_direct_geometry geometry = {.nx = 5,
                                          .ny = 1,
                                          .scale_rad = 0.5,
                                          .is_w_projected = true};
    const double uvw[3] = {0.0, 0.0, 0.0};
    const float vis[2] = {1.0f, 0.0f};
    const float weight[1] = {1.0f};
    double image[5]; /* l = 1, 0.5, 0, -0.5, -1 */
    slc_direct_reference(&geometry, 1, 1, 1, uvw, vis, weight, &one_channel, image);
    assert_true(isnan(image[0]) && isnan(image[4]));
    assert_true(image[1] == 1.0 && image[2] == 1.0 && image[3] == 1.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signs_and_axes),
        cmocka_unit_test(n_and_n_minus_1),
        cmocka_unit_test(a_source_peaks_on_its_pixel),
        cmocka_unit_test(the_horizon_is_nan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
