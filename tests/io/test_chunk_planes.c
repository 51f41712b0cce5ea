/* Planes of bits and of bytes, against the definition, by every instruction set that is here. */
#include "io/chunk_planes.h"

#include "tests/support/test_guard.h"
#include "tests/support/test_support.h"

static const slci_chunk_planes *const sets[] = {&slci_chunk_planes_plain, &slci_chunk_planes_avx2};

enum { N_SETS = (int)(sizeof sets / sizeof sets[0]) };

/* Bit `bit` of the array, as bits are numbered in bytes. */
static unsigned bit_of(const unsigned char *bytes, int64_t byte, int64_t bit) {
    return (unsigned)bytes[byte] >> bit & 1U;
}

static void expect_bits(const unsigned char *in, int64_t n, int64_t element_bytes,
                        const unsigned char *out) {
    for (int64_t b = 0; b < element_bytes; b++) {
        for (int64_t k = 0; k < 8 * n; k++) {
            const int64_t bit = k / n;     /* row of the plane */
            const int64_t element = k % n; /* n bits a row, n / 8 bytes */
            const unsigned found = bit_of(out, b * n + element, bit);
            const unsigned wanted = bit_of(in, b * n + bit * (n / 8) + element / 8, element % 8);
            if (found != wanted) {
                fail_msg("%d elements of %d bytes: byte %d, bit %d of element %d is %u", (int)n,
                         (int)element_bytes, (int)b, (int)bit, (int)element, found);
            }
        }
    }
}

static void expect_elements(const unsigned char *in, int64_t n, int64_t element_bytes,
                            const unsigned char *out) {
    for (int64_t k = 0; k < n; k++) {
        for (int64_t b = 0; b < element_bytes; b++) {
            if (out[k * element_bytes + b] != in[b * n + k]) {
                fail_msg("%d elements of %d bytes: byte %d of element %d is wrong", (int)n,
                         (int)element_bytes, (int)b, (int)k);
            }
        }
    }
}

/* Guards end at a page that cannot be touched: nothing is read or written past the arrays. */
static void check(const slci_chunk_planes *set, int64_t n, int64_t element_bytes) {
    test_guard in;
    test_guard out;
    test_guard_open(n * element_bytes, &in);
    test_guard_open(n * element_bytes, &out);
    test_fill(in.bytes, n * element_bytes, (uint64_t)(n * 100 + element_bytes));
    set->to_elements(in.bytes, n, element_bytes, out.bytes, n);
    expect_elements(in.bytes, n, element_bytes, out.bytes);
    /* The last of them alone. */
    set->to_elements(in.bytes + n / 2, n, element_bytes, out.bytes + n / 2 * element_bytes,
                     n - n / 2);
    expect_elements(in.bytes, n, element_bytes, out.bytes);
    if (n % 8 == 0) {
        set->from_bits(in.bytes, n, element_bytes, out.bytes);
        expect_bits(in.bytes, n, element_bytes, out.bytes);
    }
    test_guard_close(&out);
    test_guard_close(&in);
}

static void every_set_follows_the_definition(void **state) {
    static const int64_t counts[] = {1,  8,   15,  16,  31,  32,  40, 63,
                                     64, 128, 136, 255, 256, 264, 520};
    (void)state;
    for (int s = 0; s < N_SETS; s++) {
        if (!sets[s]->is_supported()) {
            print_message("%s: not for this processor\n", sets[s]->name);
            continue;
        }
        for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++) {
            for (int64_t element_bytes = 1; element_bytes <= 17; element_bytes++) {
                check(sets[s], counts[k], element_bytes);
            }
        }
    }
}

static void one_that_is_supported_is_taken(void **state) {
    (void)state;
    assert_true(slci_chunk_planes_get()->is_supported());
    assert_true(slci_chunk_planes_plain.is_supported());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_set_follows_the_definition),
        cmocka_unit_test(one_that_is_supported_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
