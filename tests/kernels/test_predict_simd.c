/* Every instruction set's loops over rows against the C library's double functions. */
#include "tests/support/test_support.h"

#include <math.h>

#include "kernels/predict_internal.h"

#define TWO_PI 6.283185307179586

/* What the polynomials promise. */
#define CIRCLE_TOLERANCE 3e-12
#define GAUSSIAN_TOLERANCE 1e-11

static const slci_predict_simd *const sets[] = {&slci_predict_simd_plain, &slci_predict_simd_avx2,
                                                &slci_predict_simd_avx512};

/* Paths in metres, which at one wavelength per metre are phases: quarters, halves, whole turns, and
 * anything between. */
static void fill_rows(slci_predict_rows *rows) {
    uint64_t seed = 3;
    memset(rows, 0, sizeof *rows);
    for (int r = 0; r < SLCI_PREDICT_ROWS; r++) {
        rows->u[r] = r < 17 ? 0.125 * (r - 8) : test_random_between(&seed, -40.0, 40.0);
        rows->v[r] = test_random_between(&seed, -20.0, 20.0);
    }
}

static void circles_are_round(void **state) {
    (void)state;
    static slci_predict_rows rows;
    static slci_predict_sums sums;
    const double place[3] = {1.0, 0.0, 0.0};
    const slci_predict_term term = {.place = place,
                                    .n_channels = 2,
                                    .amplitude = {1.0, -0.5},
                                    .scale = {1.0, 3.0}};
    fill_rows(&rows);
    for (int64_t s = 0; s < TEST_COUNT(sets); s++) {
        if (!sets[s]->is_supported()) {
            continue;
        }
        memset(&sums, 0, sizeof sums);
        sets[s]->add(&rows, &term, &sums);
        for (int r = 0; r < SLCI_PREDICT_ROWS; r++) {
            for (int c = 0; c < 2; c++) {
                const double turns = rows.u[r] * term.scale[c];
                const double angle = TWO_PI * (turns - rint(turns));
                const double size = term.amplitude[c];
                assert_true(fabs(sums.re[c][r] - size * cos(angle)) < CIRCLE_TOLERANCE);
                assert_true(fabs(sums.im[c][r] - size * sin(angle)) < CIRCLE_TOLERANCE);
            }
        }
        assert_true(sums.re[2][0] == 0.0); /* channels that were not asked for */
    }
}

/* From exponents near 0 to those far beyond where the factor counts. */
static void gaussians_decay(void **state) {
    (void)state;
    static slci_predict_rows rows;
    static slci_predict_sums sums;
    const double place[3] = {0.0, 0.0, 0.0};
    const double shape[SLC_PREDICT_SHAPE] = {1.0, 0.0, 0.4, 0.1, sin(0.7), cos(0.7)};
    const slci_predict_term term = {
        .place = place, .shape = shape, .n_channels = 1, .amplitude = {1.0}, .scale = {0.9}};
    fill_rows(&rows);
    rows.u[3] = rows.v[3] = 0.0;
    rows.u[4] = 1e12;
    for (int64_t s = 0; s < TEST_COUNT(sets); s++) {
        if (!sets[s]->is_supported()) {
            continue;
        }
        memset(&sums, 0, sizeof sums);
        sets[s]->add(&rows, &term, &sums);
        for (int r = 0; r < SLCI_PREDICT_ROWS; r++) {
            const double along = 0.4 * 0.9 * (rows.u[r] * sin(0.7) + rows.v[r] * cos(0.7));
            const double across = 0.1 * 0.9 * (rows.u[r] * cos(0.7) - rows.v[r] * sin(0.7));
            const double factor = exp(-along * along - across * across);
            assert_true(fabs(sums.re[0][r] - factor) < GAUSSIAN_TOLERANCE);
            assert_true(sums.im[0][r] == 0.0);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(circles_are_round),
        cmocka_unit_test(gaussians_decay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
