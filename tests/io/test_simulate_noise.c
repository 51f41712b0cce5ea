#include "tests/support/test_support.h"

#include <math.h>

#include "io/simulate_noise.h"

/* The published known answers of Philox4x32-10. */
static void known_answers(void **state) {
    (void)state;
    static const struct {
        uint32_t counter[4], key[2], expected[4];
    } cases[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (int64_t k = 0; k < TEST_COUNT(cases); k++) {
        uint32_t out[4];
        slci_philox(cases[k].counter, cases[k].key, out);
        assert_memory_equal(out, cases[k].expected, sizeof out);
    }
}

/* Mean 0, deviation 1, the share within one deviation, and nothing in common between real and
 * imaginary parts, polarisations, neighbouring rows, channels and seeds. */
static void statistics(void **state) {
    (void)state;
    enum { N = 200000, N_OTHERS = 5 };
    double sum = 0.0;
    double squares = 0.0;
    int64_t n_within = 0;
    double products[N_OTHERS] = {0.0};
    for (int64_t row = 0; row < N; row++) {
        double z[2];
        double other[2];
        slci_noise(3, row, 0, 0, z);
        sum += z[0] + z[1];
        squares += z[0] * z[0] + z[1] * z[1];
        n_within += (fabs(z[0]) < 1.0) + (fabs(z[1]) < 1.0);
        products[0] += z[0] * z[1];
        slci_noise(3, row, 0, 1, other);
        products[1] += z[0] * other[0];
        slci_noise(3, row, 1, 0, other);
        products[2] += z[0] * other[0];
        slci_noise(3, row + 1, 0, 0, other);
        products[3] += z[0] * other[0];
        slci_noise(4, row, 0, 0, other);
        products[4] += z[0] * other[0];
    }
    /* Five standard errors. */
    assert_true(fabs(sum / (2 * N)) < 5.0 / sqrt(2 * N));
    assert_true(fabs(squares / (2 * N) - 1.0) < 5.0 * sqrt(2.0 / (2 * N)));
    assert_true(fabs((double)n_within / (2 * N) - 0.682689492) < 5.0 * sqrt(0.2166 / (2 * N)));
    for (int k = 0; k < N_OTHERS; k++) {
        assert_true(fabs(products[k] / N) < 5.0 / sqrt(N));
    }
}

/* All of a seed and of a row's number counts, also what lies above 32 bits. */
static void high_bits_count(void **state) {
    (void)state;
    double a[2];
    double b[2];
    slci_noise(1, 5, 0, 0, a);
    slci_noise(1, 5 + ((int64_t)1 << 32), 0, 0, b);
    assert_memory_not_equal(a, b, sizeof a);
    slci_noise(1 + ((uint64_t)1 << 32), 5, 0, 0, b);
    assert_memory_not_equal(a, b, sizeof a);
    slci_noise(1, 5, 0, 0, b);
    assert_memory_equal(a, b, sizeof a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers),
        cmocka_unit_test(statistics),
        cmocka_unit_test(high_bits_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
