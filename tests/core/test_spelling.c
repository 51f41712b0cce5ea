#include "tests/support/test_support.h"

#include "core/spelling.h"

static int between(const char *a, const char *b) {
    return slci_spelling_distance(a, strlen(a), b);
}

static void counts_changes(void **state) {
    (void)state;
    assert_int_equal(between("", ""), 0);
    assert_int_equal(between("data", "data"), 0);
    assert_int_equal(between("", "data"), 4);
    assert_int_equal(between("data", ""), 4);
    assert_int_equal(between("dat", "data"), 1);
    assert_int_equal(between("dtaa", "data"), 2);
    assert_int_equal(between("kitten", "sitting"), 3);
    assert_int_equal(between("sitting", "kitten"), 3);
}

static void looks_at_the_beginning_only(void **state) {
    (void)state;
    assert_int_equal(slci_spelling_distance("vram=512M", 4, "vram"), 0);
}

static void words_have_a_limit(void **state) {
    (void)state;
    char longest[SLCI_SPELLING_BYTES + 2];
    memset(longest, 'a', sizeof longest);
    longest[SLCI_SPELLING_BYTES + 1] = '\0';
    assert_int_equal(between(longest, "a"), SLCI_SPELLING_BYTES + 1);
    assert_int_equal(between("a", longest), SLCI_SPELLING_BYTES + 1);
    longest[SLCI_SPELLING_BYTES] = '\0';
    assert_int_equal(between(longest, "a"), SLCI_SPELLING_BYTES - 1);
    assert_int_equal(between("b", longest), SLCI_SPELLING_BYTES);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_changes),
        cmocka_unit_test(looks_at_the_beginning_only),
        cmocka_unit_test(words_have_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
