/* Ranks found digit by digit, against a sorted list; groups, narrowing, and counts that contradict. */
#include "app/stats_select.h"
#include "tests/support/test_support.h"

enum { N = 5000 };

static int compare(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* What the kernels count. */
static void count(const uint64_t *keys, const slc_stats_step *step, uint64_t *digits) {
    memset(digits, 0, (size_t)step->n_groups * 65536 * 8);
    for (int64_t k = 0; k < N; k++) {
        for (int g = 0; g < step->n_groups; g++) {
            const int above = step->shift + step->digit_bits;
            if ((above < 64 ? keys[k] >> above : 0) == step->group[g]) {
                const uint64_t digit = keys[k] >> step->shift;
                digits[((int64_t)g << step->digit_bits) +
                       (int64_t)(digit & ((UINT64_C(1) << step->digit_bits) - 1))]++;
            }
        }
    }
}

/* How many steps it takes. */
static int find(const uint64_t *keys, int key_bits, int digit_bits, int most, slci_select *select) {
    static const int64_t ranks[] = {0, 1, N / 3, N / 2, N / 2 + 1, N - 1};
    uint64_t *digits = test_allocate(16 * 65536 * 8);
    slc_stats_step step;
    int n_steps = 0;
    slci_select_init(select, key_bits, digit_bits, ranks, (int)TEST_COUNT(ranks));
    slci_select_narrow(select, keys[0], keys[N - 1]);
    while (slci_select_next(select, most, &step)) {
        assert_true(step.n_groups >= 1 && step.n_groups <= most);
        count(keys, &step, digits);
        TEST_OK(slci_select_take(select, &step, digits));
        n_steps++;
    }
    for (int64_t k = 0; k < TEST_COUNT(ranks); k++) {
        assert_true(select->wanted[k].key == keys[ranks[k]]);
    }
    free(digits);
    return n_steps;
}

static void finds_every_rank(void **state) {
    (void)state;
    static const struct {
        int key_bits, digit_bits, most, value_bits, most_steps;
    } cases[] = {{64, 16, 16, 64, 4}, {64, 8, 16, 64, 8}, {64, 16, 1, 64, 24}, {32, 16, 2, 32, 4},
                 {8, 16, 1, 8, 1},    {8, 8, 3, 8, 1},    {64, 16, 4, 10, 1},  {16, 8, 4, 3, 1}};
    for (int64_t c = 0; c < TEST_COUNT(cases); c++) {
        uint64_t keys[N];
        uint64_t random = (uint64_t)c;
        slci_select select;
        for (int64_t k = 0; k < N; k++) {
            keys[k] = test_random(&random) >> (64 - cases[c].value_bits);
        }
        qsort(keys, N, sizeof keys[0], compare);
        const int n_steps =
            find(keys, cases[c].key_bits, cases[c].digit_bits, cases[c].most, &select);
        assert_true(n_steps <= cases[c].most_steps);
    }
}

/* Where all keys are one, nothing has to be counted. */
static void equal_keys_need_no_step(void **state) {
    (void)state;
    uint64_t keys[N];
    slci_select select;
    for (int64_t k = 0; k < N; k++) {
        keys[k] = 0x123456789abcdef0u;
    }
    assert_int_equal(find(keys, 64, 16, 1, &select), 0);
}

static void data_that_changes_is_refused(void **state) {
    (void)state;
    const int64_t rank = 7;
    uint64_t digits[256] = {3, 4};
    slci_select select;
    slc_stats_step step;
    slci_select_init(&select, 8, 8, &rank, 1);
    assert_true(slci_select_next(&select, 1, &step));
    TEST_FAILS(slci_select_take(&select, &step, digits), SLC_ERROR_INPUT, "finds 7 values");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_every_rank),
        cmocka_unit_test(equal_keys_need_no_step),
        cmocka_unit_test(data_that_changes_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
