#include "tests/support/test_support.h"

#include "ooc/checkpoint_internal.h"

static slc_fingerprint make(double epsilon, int64_t nx) {
    slc_fingerprint print = {0};
    slc_numerics record = {0};
    slc_numerics_set_text(&record, "method", "direct");
    slc_fingerprint_add_text(&print, "input", "1 file(s)");
    slc_fingerprint_add_f64(&print, "epsilon", epsilon);
    slc_fingerprint_add_i64(&print, "nx", nx);
    slc_fingerprint_add_numerics(&print, &record);
    return print;
}

static void names_the_first_difference(void **state) {
    (void)state;
    slc_fingerprint a = make(1e-6, 512);
    slc_fingerprint same = make(1e-6, 512);
    slc_fingerprint other = make(1e-5, 256);
    slc_fingerprint longer = make(1e-6, 512);
    slc_fingerprint_add_text(&longer, "psf", "yes");
    TEST_OK(slci_fingerprint_compare("f.ck", &a, &same));
    TEST_FAILS(slci_fingerprint_compare("f.ck", &a, &other), SLC_ERROR_INPUT,
               "f.ck belongs to another run: epsilon is '9.9999999999999995e-07' there and "
               "'1.0000000000000001e-05' here");
    TEST_FAILS(slci_fingerprint_compare("f.ck", &a, &longer), SLC_ERROR_INPUT, "'psf'");
    TEST_FAILS(slci_fingerprint_compare("f.ck", &longer, &a), SLC_ERROR_INPUT, "'psf'");
    slc_fingerprint_destroy(&a);
    slc_fingerprint_destroy(&same);
    slc_fingerprint_destroy(&other);
    slc_fingerprint_destroy(&longer);
}

/* The smallest change of a double shows, and values that run into one another do not. */
static void nothing_is_lost(void **state) {
    (void)state;
    slc_fingerprint a = make(1.0, 1);
    slc_fingerprint b = make(1.0 + 0x1p-52, 1);
    TEST_FAILS(slci_fingerprint_compare("f.ck", &a, &b), SLC_ERROR_INPUT, "epsilon");
    slc_fingerprint_destroy(&a);
    slc_fingerprint_destroy(&b);
    slc_fingerprint_add_text(&a, "x", "12");
    slc_fingerprint_add_text(&a, "y", "3");
    slc_fingerprint_add_text(&b, "x", "1");
    slc_fingerprint_add_text(&b, "y", "23");
    TEST_FAILS(slci_fingerprint_compare("f.ck", &a, &b), SLC_ERROR_INPUT, "x is '12'");
    slc_fingerprint_destroy(&a);
    slc_fingerprint_destroy(&b);
}

static void grows_as_it_must(void **state) {
    (void)state;
    slc_fingerprint print = {0};
    char value[300];
    memset(value, 'v', sizeof value - 1);
    value[sizeof value - 1] = '\0';
    for (int k = 0; k < 50; k++) {
        slc_fingerprint_add_text(&print, "name", value);
    }
    assert_false(print.is_incomplete);
    assert_int_equal(print.n_bytes, 50 * (5 + sizeof value));
    slc_fingerprint_destroy(&print);
    assert_null(print.text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_the_first_difference),
        cmocka_unit_test(nothing_is_lost),
        cmocka_unit_test(grows_as_it_must),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
