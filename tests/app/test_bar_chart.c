/* Bars of a chart: their lengths, and that names and numbers stand where they belong. */
#include <math.h>

#include "app/bar_chart.h"
#include "tests/support/test_support.h"

/* Runs of filled pixels in a row of the picture: how long the longest one is. */
static int64_t longest_run(const slci_bar_picture *picture, int64_t row, double level) {
    int64_t longest = 0;
    int64_t run = 0;
    for (int64_t x = 0; x < picture->nx; x++) {
        run = picture->pixels[row * picture->nx + x] == level ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

/* Lengths of the bars from the top to the bottom: out[n]. */
static void find_bars(const slci_bar_picture *picture, int n, int64_t *out) {
    int found = 0;
    bool is_inside = false;
    for (int64_t row = picture->ny - 1; row >= 0; row--) {
        const int64_t length = longest_run(picture, row, SLCI_BAR_FILL);
        if (length > 0 && !is_inside) {
            assert_true(found < n);
            out[found++] = length;
        }
        is_inside = length > 0;
    }
    assert_int_equal(found, n);
}

static slci_bar_picture draw(const slci_bar *bars, int n) {
    slci_bar_picture picture;
    TEST_OK(slci_bar_chart_draw(bars, n, &picture));
    return picture;
}

static void bars_grow_with_the_logarithm(void **state) {
    (void)state;
    const slci_bar bars[] = {{"a tenth", 2e9}, {"one", 2e10}, {"ten", 2e11}};
    slci_bar_picture picture = draw(bars, 3);
    int64_t length[3];
    find_bars(&picture, 3, length);
    assert_true(length[0] > 0 && length[0] < length[1]);
    assert_in_range(length[2] - length[1], length[1] - length[0] - 1, length[1] - length[0] + 1);
    free(picture.pixels);
}

/* The scale begins below the smallest value, so that even that one is seen. */
static void every_bar_is_seen(void **state) {
    (void)state;
    const slci_bar one = {"exactly a power of ten", 1e12};
    slci_bar_picture picture = draw(&one, 1);
    int64_t length = 0;
    find_bars(&picture, 1, &length);
    assert_true(length > 0);
    free(picture.pixels);
}

static int64_t count_ink(const slci_bar_picture *picture, int64_t end_column) {
    int64_t n = 0;
    for (int64_t row = 0; row < picture->ny; row++) {
        for (int64_t x = 0; x < end_column; x++) {
            n += picture->pixels[row * picture->nx + x] == SLCI_BAR_INK ? 1 : 0;
        }
    }
    return n;
}

/* In the left quarter stand names alone: the same for capitals, nothing for what has no letter. */
static void names_are_drawn(void **state) {
    (void)state;
    const slci_bar small = {"sine 2-3/x,y+z.", 5.0};
    const slci_bar capital = {"SINE 2-3/X,Y+Z.", 5.0};
    const slci_bar none = {"\t#~ \x80\xff", 5.0};
    slci_bar_picture first = draw(&small, 1);
    slci_bar_picture second = draw(&capital, 1);
    slci_bar_picture third = draw(&none, 1);
    const int64_t names = first.nx / 4;
    assert_true(count_ink(&first, names) > 0);
    assert_memory_equal(first.pixels, second.pixels,
                        (size_t)(first.nx * first.ny) * sizeof *first.pixels);
    assert_int_equal(count_ink(&third, names), 0);
    assert_true(count_ink(&third, third.nx) > 0); /* the value's digits */
    free(first.pixels);
    free(second.pixels);
    free(third.pixels);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bars_grow_with_the_logarithm),
        cmocka_unit_test(every_bar_is_seen),
        cmocka_unit_test(names_are_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
