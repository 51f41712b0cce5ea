#include "tests/support/test_support.h"

#include "core/hash.h"

/* Published values of XXH64: of nothing, and of a text (xxHash's own documentation and test
 * vectors). */
static void gives_the_published_sums(void **state) {
    (void)state;
    if (!slci_hash_is_built()) {
        TEST_SKIP("this build has no xxHash");
    }
    assert_true(slci_hash_of("", 0, 0) == UINT64_C(0xef46db3751d8e999));
    assert_true(slci_hash_of("a", 1, 0) == UINT64_C(0xd24ec4f1a98c6e5b));
    assert_true(slci_hash_of("abc", 3, 0) == UINT64_C(0x44bc2cf5ad770999));
}

static void sums_do_not_depend_on_pieces(void **state) {
    (void)state;
    if (!slci_hash_is_built()) {
        TEST_SKIP("this build has no xxHash");
    }
    unsigned char data[1000];
    test_fill(data, (int64_t)sizeof data, 7);
    for (int64_t piece = 1; piece < 100; piece += 7) {
        slci_hash hash;
        slci_hash_begin(&hash, 5);
        for (int64_t at = 0; at < (int64_t)sizeof data; at += piece) {
            const int64_t left = (int64_t)sizeof data - at;
            slci_hash_add(&hash, data + at, left < piece ? left : piece);
        }
        assert_true(slci_hash_end(&hash) == slci_hash_of(data, (int64_t)sizeof data, 5));
    }
    assert_true(slci_hash_of(data, 100, 5) != slci_hash_of(data, 100, 6));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_the_published_sums),
        cmocka_unit_test(sums_do_not_depend_on_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
