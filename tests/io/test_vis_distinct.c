/* The set that numbers pairs of keys in the order of their coming. */
#include "tests/support/test_support.h"

#include "io/vis_distinct.h"

/* Adds a pair and checks the number it gets. */
static void add(slci_distinct *set, int64_t a, int64_t b, int64_t number, bool is_first) {
    int64_t index = -1;
    bool is_new = !is_first;
    TEST_OK(slci_distinct_add(set, a, b, &index, &is_new));
    assert_int_equal(index, number);
    assert_int_equal(is_new, is_first);
}

static void numbers_follow_the_order_of_coming(void **state) {
    (void)state;
    slci_distinct set = {0};
    add(&set, 7, 3, 0, true);
    add(&set, 3, 7, 1, true); /* another pair */
    add(&set, 7, 3, 0, false);
    add(&set, 0, 0, 2, true); /* zero is a key like any other */
    add(&set, INT64_MIN, INT64_MAX, 3, true);
    add(&set, -1, -1, 4, true);
    add(&set, INT64_MIN, INT64_MAX, 3, false);
    add(&set, 0, 0, 2, false);
    assert_int_equal(set.n, 5);
    assert_int_equal(set.members[2], 3);
    assert_int_equal(set.members[3], 7);
    slci_distinct_destroy(&set);
    assert_int_equal(set.n, 0);
    slci_distinct_destroy(&set);
}

/* Keys that differ only in high or in low bits, through many growths. */
static void numbers_survive_growth(void **state) {
    (void)state;
    enum { N = 5000 };
    slci_distinct set = {0};
    for (int64_t k = 0; k < N; k++) {
        add(&set, k << 40, k % 3, k, true);
    }
    for (int64_t k = 0; k < N; k++) {
        add(&set, k << 40, k % 3, k, false);
    }
    assert_int_equal(set.n, N);
    assert_true(set.n_slots >= 2 * N);
    slci_distinct_destroy(&set);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_follow_the_order_of_coming),
        cmocka_unit_test(numbers_survive_growth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
