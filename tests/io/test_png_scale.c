/* Percentiles against sorting, levels against arithmetic, and a colour map that reads in grey. */
#include <math.h>

#include "io/png_scale.h"
#include "tests/support/test_support.h"

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static void finds_percentiles(void **state) {
    (void)state;
    enum { N = 2001 };
    double image[N + 3];
    test_fill_f64(image, N, 3);
    for (int k = 0; k < N; k++) {
        image[k] *= pow(10, k % 7 - 3);
    }
    image[N] = NAN;
    image[N + 1] = INFINITY;
    image[N + 2] = -INFINITY;
    slci_png_range range;
    TEST_OK(slci_png_find_range(image, N + 3, &range));
    qsort(image, N, sizeof image[0], compare);
    assert_int_equal(range.n_finite, N);
    assert_true(range.low == image[10]);    /* 2000 · 0.5 % */
    assert_true(range.high == image[1998]); /* 2000 · 99.9 % */
}

static void scales_odd_images(void **state) {
    (void)state;
    slci_png_range range;
    double image[2000] = {0};
    image[3] = 5;
    /* One source on nothing: both percentiles are 0, and the extremes take over. */
    TEST_OK(slci_png_find_range(image, 2000, &range));
    assert_true(range.low == 0 && range.high == 5);
    image[3] = 0;
    TEST_OK(slci_png_find_range(image, 2000, &range));
    assert_int_equal(slci_png_level(&range, 0), 128);
    assert_int_equal(slci_png_level(&range, NAN), 0);
    image[0] = NAN;
    TEST_OK(slci_png_find_range(image, 1, &range));
    assert_int_equal(range.n_finite, 0);
    assert_int_equal(slci_png_level(&range, NAN), 0);
    const slci_png_range whole = {-1.7e308, 1.7e308, 2};
    assert_int_equal(slci_png_level(&whole, -1.7e308), 1);
    assert_int_equal(slci_png_level(&whole, 0), 128);
    assert_int_equal(slci_png_level(&whole, 1.7e308), 255);
    const slci_png_range unit = {0, 1, 2};
    assert_int_equal(slci_png_level(&unit, -3), 1);
    assert_int_equal(slci_png_level(&unit, 0.25), 65); /* 1 + 63.5, to even */
    assert_int_equal(slci_png_level(&unit, 3), 255);
}

static void reads_in_grey(void **state) {
    (void)state;
    uint8_t colour[256][3];
    slci_png_colours(colour);
    for (int level = 1; level < 256; level++) {
        const double grey =
            0.30 * colour[level][0] + 0.59 * colour[level][1] + 0.11 * colour[level][2];
        /* Rounding of three channels is at most half a step. */
        assert_true(fabs(grey - 255.0 * (level - 1) / 254) < 0.6);
    }
    assert_int_equal(colour[1][0] + colour[1][1] + colour[1][2], 0);
    assert_int_equal(colour[255][0] + colour[255][1] + colour[255][2], 3 * 255);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_percentiles),
        cmocka_unit_test(scales_odd_images),
        cmocka_unit_test(reads_in_grey),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
