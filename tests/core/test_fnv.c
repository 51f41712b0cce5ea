/* The hash's published test vectors (IETF draft-eastlake-fnv, FNV-1a in 64 bits). */
#include <string.h>

#include "core/fnv.h"
#include "tests/support/test_support.h"

static uint64_t hash_of(const char *text) {
    return slci_fnv_add(SLCI_FNV_BEGIN, text, strlen(text));
}

static void published_values(void **state) {
    (void)state;
    assert_true(hash_of("") == UINT64_C(0xcbf29ce484222325));
    assert_true(hash_of("a") == UINT64_C(0xaf63dc4c8601ec8c));
    assert_true(hash_of("foobar") == UINT64_C(0x85944171f73967e8));
}

static void parts_make_a_whole(void **state) {
    (void)state;
    assert_true(slci_fnv_add(hash_of("foo"), "bar", 3) == hash_of("foobar"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_values),
        cmocka_unit_test(parts_make_a_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
