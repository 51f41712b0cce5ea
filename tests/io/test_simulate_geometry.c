#include "tests/support/test_near.h"

#include "io/simulate_telescope.h"

#define PI 3.14159265358979323846
#define DEGREES (PI / 180.0)

/* Against astropy 8 with the IERS's polar motion of those days: within the 5 ms that other programs
 * allow. */
static void sidereal_time(void **state) {
    (void)state;
    const double tolerance = 2.0 * PI * 2e-3 / 86400.0;
    TEST_NEAR(slci_sidereal_time(2460000.5, 0.0), 2.6982703760324163, tolerance);
    TEST_NEAR(slci_sidereal_time(2460001.25, 0.0), 1.1403760125797333, tolerance);
    TEST_NEAR(slci_sidereal_time(2460000.5, -1.0), 1.6982703760324163, tolerance);
    TEST_NEAR(slci_sidereal_time(2460000.5, -3.0), 2.0 * PI - 0.3017296239675837, tolerance);
}

static void transit(void **state) {
    (void)state;
    static const double longitudes[] = {-3.1, -1.0, 0.0, 2.0};
    for (int64_t k = 0; k < TEST_COUNT(longitudes); k++) {
        for (int hour = 0; hour < 24; hour++) {
            const double ra = hour * 15.0 * DEGREES;
            const double jd = slci_transit_jd(ra, longitudes[k]);
            assert_true(jd >= SLCI_EPOCH_JD - 1e-6 && jd < SLCI_EPOCH_JD + 1.0);
            /* The date has a resolution of 4e-10 days. */
            TEST_NEAR(remainder(slci_sidereal_time(jd, longitudes[k]) - ra, 2.0 * PI), 0.0, 1e-8);
        }
    }
}

static void apply(double matrix[3][3], double east, double north, double up, double out[3]) {
    for (int k = 0; k < 3; k++) {
        out[k] = matrix[k][0] * east + matrix[k][1] * north + matrix[k][2] * up;
    }
}

/* Directions whose (u, v, w) needs no calculation. */
static void known_directions(void **state) {
    (void)state;
    const double latitude = 0.6;
    double matrix[3][3];
    double uvw[3];
    /* Zenith: u is east, v is north, w is up. */
    slci_uvw_matrix(latitude, 0.0, latitude, matrix);
    apply(matrix, 3.0, 5.0, 7.0, uvw);
    TEST_NEAR(uvw[0], 3.0, 1e-14);
    TEST_NEAR(uvw[1], 5.0, 1e-14);
    TEST_NEAR(uvw[2], 7.0, 1e-14);
    /* Due south at transit, 0.2 rad below the zenith: north baselines are farther from the source. */
    slci_uvw_matrix(latitude, 0.0, latitude - 0.2, matrix);
    apply(matrix, 0.0, 10.0, 0.0, uvw);
    TEST_NEAR(uvw[0], 0.0, 1e-14);
    TEST_NEAR(uvw[1], 10.0 * cos(0.2), 1e-14);
    TEST_NEAR(uvw[2], -10.0 * sin(0.2), 1e-14);
    /* On the equator, six hours after transit, the source sets in the west. */
    slci_uvw_matrix(0.0, PI / 2.0, 0.0, matrix);
    apply(matrix, 4.0, 5.0, 6.0, uvw);
    TEST_NEAR(uvw[0], 6.0, 1e-14);
    TEST_NEAR(uvw[1], 5.0, 1e-14);
    TEST_NEAR(uvw[2], -4.0, 1e-14);
    /* At the celestial pole a baseline along the earth's axis is all w, at any hour. */
    slci_uvw_matrix(latitude, 1.234, PI / 2.0, matrix);
    apply(matrix, 0.0, cos(latitude), sin(latitude), uvw);
    TEST_NEAR(uvw[0], 0.0, 1e-14);
    TEST_NEAR(uvw[1], 0.0, 1e-14);
    TEST_NEAR(uvw[2], 1.0, 1e-14);
}

/* A rotation: lengths and right angles stay, and nothing is mirrored. */
static void is_rotation(void **state) {
    (void)state;
    double m[3][3];
    slci_uvw_matrix(-0.5, 1.1, 0.3, m);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            const double product = m[i][0] * m[j][0] + m[i][1] * m[j][1] + m[i][2] * m[j][2];
            TEST_NEAR(product, i == j ? 1.0 : 0.0, 1e-14);
        }
    }
    TEST_NEAR(m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
                  m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
                  m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]),
              1.0, 1e-14);
}

/* Against pyuvdata 3.2 at the VLA; and by thought on the equator. */
static void earth_fixed_axes(void **state) {
    (void)state;
    const double vla[3] = {100.0, -50.0, 7.0};
    const double equator[3] = {1.0, 2.0, 3.0};
    double ecef[3];
    slci_enu_to_ecef(34.078813 * DEGREES, -107.618334 * DEGREES, vla, ecef);
    TEST_NEAR(ecef[0], 85.07458321, 1e-7);
    TEST_NEAR(ecef[1], -62.49589134, 1e-7);
    TEST_NEAR(ecef[2], -37.49105036, 1e-7);
    slci_enu_to_ecef(0.0, 0.0, equator, ecef);
    TEST_NEAR(ecef[0], 3.0, 0.0);
    TEST_NEAR(ecef[1], 1.0, 0.0);
    TEST_NEAR(ecef[2], 2.0, 0.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sidereal_time),    cmocka_unit_test(transit),
        cmocka_unit_test(known_directions), cmocka_unit_test(is_rotation),
        cmocka_unit_test(earth_fixed_axes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
