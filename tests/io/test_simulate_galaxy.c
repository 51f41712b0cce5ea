#include "tests/support/test_near.h"

#include "io/simulate.h"

/* It fits the picture, is bright enough to be seen, and grows with the field. */
static void fits_the_field(void **state) {
    (void)state;
    slc_sky sky;
    slc_sky larger;
    TEST_OK(slc_sky_galaxy(0.04, &sky));
    TEST_OK(slc_sky_galaxy(0.4, &larger));
    assert_true(sky.n_components >= 30 && sky.n_components <= 60);
    assert_int_equal(larger.n_components, sky.n_components);
    double flux_jy = 0.0;
    for (int64_t k = 0; k < sky.n_components; k++) {
        const slc_sky_component *c = &sky.components[k];
        assert_true(fabs(c->l) < 0.02 && fabs(c->m) < 0.02);
        assert_true(c->major_rad >= c->minor_rad && c->minor_rad >= 0.0 && c->flux_jy > 0.0);
        TEST_NEAR(larger.components[k].l, 10.0 * c->l, 1e-15);
        TEST_NEAR(larger.components[k].m, 10.0 * c->m, 1e-15);
        TEST_NEAR(larger.components[k].major_rad, 10.0 * c->major_rad, 1e-15);
        TEST_NEAR(larger.components[k].flux_jy, c->flux_jy, 0.0);
        flux_jy += c->flux_jy;
    }
    assert_true(flux_jy > 1.0 && flux_jy < 10.0);
    slc_sky_destroy(&sky);
    slc_sky_destroy(&larger);
}

/* Flux that falls on a component's mirror image: what the four flips of a picture would keep. */
static double overlap(const slc_sky *sky, double sign_l, double sign_m, bool is_swapped) {
    const double near_rad = 0.01; /* the field is 1 rad wide */
    double flux_jy = 0.0;
    for (int64_t k = 0; k < sky->n_components; k++) {
        const double l = sign_l * (is_swapped ? sky->components[k].m : sky->components[k].l);
        const double m = sign_m * (is_swapped ? sky->components[k].l : sky->components[k].m);
        for (int64_t j = 0; j < sky->n_components; j++) {
            if (hypot(sky->components[j].l - l, sky->components[j].m - m) < near_rad) {
                flux_jy += fmin(sky->components[j].flux_jy, sky->components[k].flux_jy);
                break;
            }
        }
    }
    return flux_jy;
}

static void is_asymmetric(void **state) {
    (void)state;
    slc_sky sky;
    TEST_OK(slc_sky_galaxy(1.0, &sky));
    const double all_jy = overlap(&sky, 1.0, 1.0, false);
    assert_true(overlap(&sky, -1.0, 1.0, false) < 0.2 * all_jy);
    assert_true(overlap(&sky, 1.0, -1.0, false) < 0.2 * all_jy);
    assert_true(overlap(&sky, -1.0, -1.0, false) < 0.2 * all_jy);
    assert_true(overlap(&sky, 1.0, 1.0, true) < 0.2 * all_jy);
    slc_sky_destroy(&sky);
}

static void refusals(void **state) {
    (void)state;
    slc_sky sky;
    TEST_FAILS(slc_sky_galaxy(0.0, &sky), SLC_ERROR_ARGUMENT, "field");
    TEST_FAILS(slc_sky_galaxy((double)NAN, &sky), SLC_ERROR_ARGUMENT, "field");
    TEST_FAILS(slc_sky_galaxy(1.01 * SLC_SKY_GALAXY_MAX_FIELD_RAD, &sky), SLC_ERROR_ARGUMENT,
               "field");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fits_the_field),
        cmocka_unit_test(is_asymmetric),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
