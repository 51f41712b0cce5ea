#include "tests/support/test_support.h"

#include "core/box.h"

static slc_box box_2d(int64_t y, int64_t x, int64_t ny, int64_t nx) {
    const slc_box box = {.rank = 2, .origin = {y, x}, .extent = {ny, nx}};
    return box;
}

static void counts(void **state) {
    (void)state;
    const slc_box rows = slc_box_1d(4096, 512);
    assert_int_equal(rows.rank, 1);
    assert_int_equal(slc_box_count(&rows), 512);
    const slc_box point = {.rank = 0};
    assert_int_equal(slc_box_count(&point), 1);
    const slc_box huge = box_2d(0, 0, INT64_C(1) << 40, INT64_C(1) << 40);
    assert_int_equal(slc_box_count(&huge), -1);
    const slc_box empty = {.rank = 3, .extent = {INT64_MAX, INT64_MAX, 0}};
    assert_int_equal(slc_box_count(&empty), 0);
}

static void equality(void **state) {
    (void)state;
    const slc_box a = box_2d(1, 2, 3, 4);
    const slc_box same = box_2d(1, 2, 3, 4);
    const slc_box moved = box_2d(1, 1, 3, 4);
    const slc_box larger = box_2d(1, 2, 3, 5);
    const slc_box flat = slc_box_1d(1, 3);
    assert_true(slc_box_equal(&a, &same));
    assert_false(slc_box_equal(&a, &moved));
    assert_false(slc_box_equal(&a, &larger));
    assert_false(slc_box_equal(&a, &flat));
}

static void containment(void **state) {
    (void)state;
    const slc_box outer = box_2d(10, 20, 5, 5);
    const slc_box corner = box_2d(14, 24, 1, 1);
    const slc_box beyond = box_2d(14, 24, 1, 2);
    const slc_box before = box_2d(9, 20, 2, 2);
    const slc_box empty = box_2d(1000, 1000, 0, 7);
    assert_true(slc_box_contains(&outer, &outer));
    assert_true(slc_box_contains(&outer, &corner));
    assert_false(slc_box_contains(&outer, &beyond));
    assert_false(slc_box_contains(&outer, &before));
    assert_true(slc_box_contains(&outer, &empty));
}

static void intersection(void **state) {
    (void)state;
    const slc_box a = box_2d(0, 0, 10, 10);
    const slc_box b = box_2d(-3, 8, 5, 100);
    const slc_box both = slc_box_intersect(&a, &b);
    const slc_box expected = box_2d(0, 8, 2, 2);
    assert_true(slc_box_equal(&both, &expected));
    const slc_box apart = box_2d(10, 0, 3, 3);
    const slc_box none = slc_box_intersect(&a, &apart);
    assert_int_equal(slc_box_count(&none), 0);
    const slc_box far_away = box_2d(50, 0, 3, 3);
    const slc_box nothing = slc_box_intersect(&far_away, &a);
    assert_int_equal(slc_box_count(&nothing), 0);
    assert_int_equal(nothing.extent[0], 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts),
        cmocka_unit_test(equality),
        cmocka_unit_test(containment),
        cmocka_unit_test(intersection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
