#include "tests/support/test_support.h"

#include <math.h>

#include "core/sky.h"

static const double degree = 0.017453292519943295;

static void the_tangent_point_is_at_zero(void **state) {
    (void)state;
    double l = 1;
    double m = 1;
    assert_true(slci_sky_to_cosines(1.0, -0.5, 1.0, -0.5, &l, &m));
    assert_true(fabs(l) < 1e-15 && fabs(m) < 1e-15);
}

/* The source of the BASE case: (0.05, -0.03)... its pixel is at RA 60.616608°, Dec -30.327190°. */
static void places_the_base_source(void **state) {
    (void)state;
    double ra = 0;
    double dec = 0;
    assert_true(slci_sky_from_cosines(1.0, -0.5, 0.05, -0.03, &ra, &dec));
    assert_true(fabs(ra / degree - 60.616608) < 1e-6);
    assert_true(fabs(dec / degree + 30.327190) < 1e-6);
}

static void there_and_back(void **state) {
    (void)state;
    uint64_t random = 7;
    for (int i = 0; i < 1000; i++) {
        const double ra0 = test_random_between(&random, 0, 6.28);
        const double dec0 = test_random_between(&random, -1.57, 1.57);
        const double l = test_random_between(&random, -0.7, 0.7);
        const double m = test_random_between(&random, -0.7, 0.7);
        double ra, dec, l_back, m_back;
        assert_true(slci_sky_from_cosines(ra0, dec0, l, m, &ra, &dec));
        assert_true(ra >= 0 && ra < 6.2831853071795865);
        assert_true(slci_sky_to_cosines(ra0, dec0, ra, dec, &l_back, &m_back));
        assert_true(fabs(l - l_back) < 1e-12 && fabs(m - m_back) < 1e-12);
    }
}

static void refuses_what_lies_behind(void **state) {
    (void)state;
    double a = 0;
    double b = 0;
    assert_false(slci_sky_from_cosines(0, 0, 0.8, 0.7, &a, &b));
    assert_false(slci_sky_to_cosines(0, 0, 3.0, 0, &a, &b));
}

static void writes_dates(void **state) {
    (void)state;
    char text[32];
    slci_sky_iso_date(2451545.0, text);
    assert_string_equal(text, "2000-01-01T12:00:00.000");
    slci_sky_iso_date(2440587.5, text);
    assert_string_equal(text, "1970-01-01T00:00:00.000");
    slci_sky_iso_date(2460369.5, text);
    assert_string_equal(text, "2024-02-29T00:00:00.000");
    slci_sky_iso_date(2436116.25, text);
    assert_string_equal(text, "1957-10-04T18:00:00.000");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tangent_point_is_at_zero),
        cmocka_unit_test(places_the_base_source),
        cmocka_unit_test(there_and_back),
        cmocka_unit_test(refuses_what_lies_behind),
        cmocka_unit_test(writes_dates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
