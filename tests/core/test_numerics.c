#include "tests/support/test_locale.h"

#include "core/numerics.h"

static void entries_are_kept_in_order_and_replaced(void **state) {
    (void)state;
    slc_numerics record = {0};
    slc_numerics_set_i64(&record, "granule", 4096);
    slc_numerics_set_i64(&record, "least", INT64_MIN);
    slc_numerics_set_text(&record, "core", "SkylakeX");
    slc_numerics_set_i64(&record, "granule", 512);
    assert_int_equal(record.n_entries, 3);
    assert_string_equal(record.name[0], "granule");
    assert_string_equal(slc_numerics_get(&record, "granule"), "512");
    assert_string_equal(slc_numerics_get(&record, "least"), "-9223372036854775808");
    assert_string_equal(slc_numerics_get(&record, "core"), "SkylakeX");
    assert_null(slc_numerics_get(&record, "gran"));
}

static void doubles_come_back_exactly(void **state) {
    (void)state;
    slc_numerics record = {0};
    uint64_t random = 7;
    for (int i = 0; i < 1000; i++) {
        const double value = test_random_between(&random, -1, 1);
        slc_numerics_set_f64(&record, "epsilon", value);
        double back = 0;
        assert_int_equal(sscanf(slc_numerics_get(&record, "epsilon"), "%lf", &back), 1);
        assert_true(back == value);
    }
    slc_numerics_set_f64(&record, "epsilon", 1e-6);
    assert_string_equal(slc_numerics_get(&record, "epsilon"), "9.9999999999999995e-07");
    slc_numerics_set_f64(&record, "epsilon", 3);
    assert_string_equal(slc_numerics_get(&record, "epsilon"), "3");
}

static void the_locale_changes_nothing(void **state) {
    (void)state;
    slc_numerics record = {0};
    test_begin_comma_locale();
    slc_numerics_set_f64(&record, "epsilon", -0.5);
    slc_numerics_set_i64(&record, "rows", 1000000);
    test_end_locale();
    assert_string_equal(slc_numerics_get(&record, "epsilon"), "-0.5");
    assert_string_equal(slc_numerics_get(&record, "rows"), "1000000");
}

static void equality_is_of_names_values_and_order(void **state) {
    (void)state;
    slc_numerics a = {0};
    slc_numerics b = {0};
    assert_true(slc_numerics_equal(&a, &b));
    slc_numerics_set_i64(&a, "tile", 128);
    assert_false(slc_numerics_equal(&a, &b));
    slc_numerics_set_i64(&b, "tile", 64);
    assert_false(slc_numerics_equal(&a, &b));
    slc_numerics_set_i64(&b, "tile", 128);
    assert_true(slc_numerics_equal(&a, &b));
    slc_numerics_set_i64(&a, "terms", 3);
    slc_numerics_set_i64(&b, "term", 3);
    assert_false(slc_numerics_equal(&a, &b));
}

static void there_is_room_for_all_entries(void **state) {
    (void)state;
    slc_numerics record = {0};
    char name[SLC_NUMERICS_NAME_BYTES];
    for (int i = 0; i < SLC_NUMERICS_ENTRIES; i++) {
        (void)snprintf(name, sizeof name, "%031d", i); /* the longest name there is */
        slc_numerics_set_i64(&record, name, i);
    }
    assert_int_equal(record.n_entries, SLC_NUMERICS_ENTRIES);
    assert_string_equal(slc_numerics_get(&record, name), "23");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_are_kept_in_order_and_replaced),
        cmocka_unit_test(doubles_come_back_exactly),
        cmocka_unit_test(the_locale_changes_nothing),
        cmocka_unit_test(equality_is_of_names_values_and_order),
        cmocka_unit_test(there_is_room_for_all_entries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
