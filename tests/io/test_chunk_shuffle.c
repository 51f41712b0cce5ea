/* Planes of bytes to elements, against the definition. */
#include "io/chunk_shuffle.h"

#include "tests/support/test_guard.h"
#include "tests/support/test_support.h"

/* Byte b of element k to plane b. */
static void shuffle(const unsigned char *in, int64_t n_bytes, int64_t element_bytes,
                    unsigned char *out) {
    const int64_t n = n_bytes / element_bytes;
    for (int64_t k = 0; k < n * element_bytes; k++) {
        out[k % element_bytes * n + k / element_bytes] = in[k];
    }
    memcpy(out + n * element_bytes, in + n * element_bytes, (size_t)(n_bytes - n * element_bytes));
}

static void check(int64_t n_bytes, int64_t element_bytes, uint64_t seed) {
    test_guard raw;
    test_guard planes;
    test_guard found;
    test_guard_open(n_bytes, &raw);
    test_guard_open(n_bytes, &planes);
    test_guard_open(n_bytes, &found);
    test_fill(raw.bytes, n_bytes, seed);
    shuffle(raw.bytes, n_bytes, element_bytes, planes.bytes);
    slci_chunk_unshuffle(planes.bytes, n_bytes, element_bytes, found.bytes);
    assert_memory_equal(found.bytes, raw.bytes, (size_t)n_bytes);
    test_guard_close(&found);
    test_guard_close(&planes);
    test_guard_close(&raw);
}

static void all_small_elements_and_counts(void **state) {
    (void)state;
    for (int64_t element = 1; element <= 40; element++) {
        for (int64_t n = 0; n < 150; n += 1 + n / 20) {
            check(n * element, element, (uint64_t)(element * 1000 + n));
        }
    }
}

static void what_is_left_of_an_element_is_copied(void **state) {
    (void)state;
    for (int64_t rest = 1; rest < 8; rest++) {
        check(2664 + rest, 8, (uint64_t)rest);
    }
    check(7, 8, 1);
    check(4003, 1000, 2);
}

static void large_elements(void **state) {
    (void)state;
    check(409900, 4099, 3);
    check(210000, 70000, 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_small_elements_and_counts),
        cmocka_unit_test(what_is_left_of_an_element_is_copied),
        cmocka_unit_test(large_elements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
