/* Exact sums: rounding at every kind of edge, whole numbers, and deviations that cancel. */
#include <float.h>
#include <math.h>

#include "kernels/stats_exact.h"
#include "tests/support/test_support.h"

typedef struct sums {
    int64_t sum[SLCI_SUM_DIGITS];
    int64_t squares[SLCI_SQUARE_DIGITS];
} sums;

static void add(sums *to, double value) {
    slci_exact_add(to->sum, SLCI_SUM_POINT, value);
    slci_exact_add_square(to->squares, value);
}

static double sum_of(const double *values, int64_t n) {
    sums all = {{0}, {0}};
    for (int64_t k = 0; k < n; k++) {
        add(&all, values[k]);
    }
    return slci_exact_sum(all.sum);
}

/* Ties go to the even neighbour, and what is a little more than a tie does not. */
static void rounds_to_nearest(void **state) {
    (void)state;
    assert_true(sum_of((double[]){1, 0x1p-53}, 2) == 1);
    assert_true(sum_of((double[]){1 + 0x1p-52, 0x1p-53}, 2) == 1 + 0x1p-51);
    assert_true(sum_of((double[]){1, 0x1p-53, 0x1p-1074}, 3) == 1 + 0x1p-52);
    assert_true(sum_of((double[]){-1, -0x1p-53, -0x1p-1074}, 3) == -1 - 0x1p-52);
    assert_true(sum_of((double[]){1, 0x1p-54}, 2) == 1);
    assert_true(sum_of((double[]){0x1p-1074, 0x1p-1074, -0x1p-1073}, 3) == 0);
    assert_true(sum_of((double[]){0x1p-1022, -0x1p-1074}, 2) == 0x1p-1022 - 0x1p-1074);
    assert_true(sum_of((double[]){DBL_MAX, 0x1p969}, 2) == DBL_MAX);
    assert_true(isinf(sum_of((double[]){DBL_MAX, 0x1p970}, 2)));
    assert_true(sum_of((double[]){DBL_MAX, DBL_MAX, -DBL_MAX}, 3) == DBL_MAX);
    assert_true(sum_of((double[]){-DBL_MAX, -DBL_MAX}, 2) == -(double)INFINITY);
    assert_true(sum_of((double[]){0.0, -0.0}, 2) == 0);
}

static void divides_exactly(void **state) {
    (void)state;
    sums all = {{0}, {0}};
    add(&all, 1);
    assert_true(slci_exact_mean(all.sum, 3) == 1.0 / 3);
    assert_true(slci_exact_mean(all.sum, INT64_MAX) == 0x1p-63);
    add(&all, DBL_MAX);
    add(&all, DBL_MAX);
    assert_true(slci_exact_mean(all.sum, 2) == DBL_MAX);
    sums smallest = {{0}, {0}};
    add(&smallest, 0x1p-1074);
    assert_true(slci_exact_mean(smallest.sum, 2) == 0); /* a tie, to the even one */
    add(&smallest, 0x1p-1073);
    assert_true(slci_exact_mean(smallest.sum, 2) == 0x1p-1073); /* 1.5 smallest, likewise */
}

static double deviation_of(const sums *all, int64_t n) {
    const int64_t *const sum = all->sum;
    const int64_t *const squares = all->squares;
    return slci_exact_deviation(&sum, &squares, 1, n);
}

/* a ± b have the deviation b, however small beside a; and sizes whose squares no double holds. */
static void deviations_survive_any_mean(void **state) {
    (void)state;
    static const double pairs[][2] = {{1e9, 1},     {0x1p52, 1},    {0, 3},
                                      {0, 0x1p900}, {0, 0x1p-1074}, {0x1p1000, 0x1p950},
                                      {1, 0x1p-52}};
    for (int64_t p = 0; p < TEST_COUNT(pairs); p++) {
        sums all = {{0}, {0}};
        add(&all, pairs[p][0] + pairs[p][1]);
        add(&all, pairs[p][0] - pairs[p][1]);
        assert_true(deviation_of(&all, 2) == pairs[p][1]);
    }
    sums equal = {{0}, {0}};
    for (int k = 0; k < 10; k++) {
        add(&equal, 0.1);
    }
    assert_true(deviation_of(&equal, 10) == 0);
    sums three = {{0}, {0}};
    add(&three, 0);
    add(&three, 0);
    add(&three, 3);
    assert_true(deviation_of(&three, 3) == sqrt(2));
}

/* Deviations of both parts of complex numbers add up as squares do. */
static void joins_parts(void **state) {
    (void)state;
    sums re = {{0}, {0}};
    sums im = {{0}, {0}};
    add(&re, 3);
    add(&re, -3);
    add(&im, 14);
    add(&im, 6);
    const int64_t *const sum[2] = {re.sum, im.sum};
    const int64_t *const squares[2] = {re.squares, im.squares};
    assert_true(slci_exact_deviation(sum, squares, 2, 2) == 5);
}

static void holds_whole_numbers(void **state) {
    (void)state;
    sums all = {{0}, {0}};
    uint64_t low = 0;
    int64_t high = 0;
    for (int k = 0; k < 3; k++) {
        slci_exact_add_whole(all.sum, SLCI_SUM_POINT, UINT64_C(1) << 63, 0, 1);
    }
    slci_exact_whole(all.sum, &low, &high);
    assert_int_equal(high, -2); /* -3 · 2^63 = -2 · 2^64 + 2^63 */
    assert_true(low == UINT64_C(1) << 63);
    for (int k = 0; k < 5; k++) {
        slci_exact_add_whole(all.sum, SLCI_SUM_POINT, UINT64_MAX, 0, 0);
    }
    slci_exact_whole(all.sum, &low, &high);
    assert_int_equal(high, 3); /* 5 · 2^64 - 5 - 1.5 · 2^64 = 3.5 · 2^64 - 5 */
    assert_true(low == (UINT64_C(1) << 63) - 5);
}

/* Digits that are nearly full make room and keep their value. */
static void carries(void **state) {
    (void)state;
    sums all = {{0}, {0}};
    for (int64_t k = 0; k < 100000; k++) {
        add(&all, k % 2 == 0 ? -1.0 - 0x1p-30 : 0x1p40);
        if (k % 1000 == 0) {
            slci_exact_carry(all.sum, SLCI_SUM_DIGITS);
            slci_exact_carry(all.squares, SLCI_SQUARE_DIGITS);
        }
    }
    for (int d = 0; d < SLCI_SUM_DIGITS - 1; d++) {
        assert_true(all.sum[d] > -(INT64_C(1) << 44) && all.sum[d] < INT64_C(1) << 44);
    }
    assert_true(slci_exact_sum(all.sum) == 50000 * (0x1p40 - 1) - 50000 * 0x1p-30);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounds_to_nearest),           cmocka_unit_test(divides_exactly),
        cmocka_unit_test(deviations_survive_any_mean), cmocka_unit_test(joins_parts),
        cmocka_unit_test(holds_whole_numbers),         cmocka_unit_test(carries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
