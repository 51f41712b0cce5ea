#include "tests/support/test_support.h"

#include "app/dataset_name.h"

static void divides_at_the_last_colon(void **state) {
    (void)state;
    slci_dataset_name name;
    TEST_OK(slci_dataset_name_parse("in.h5:/data", &name));
    assert_string_equal(name.path, "in.h5");
    assert_string_equal(name.dataset, "/data");
    TEST_OK(slci_dataset_name_parse("/a:/b/c:d.h5:/g/h", &name));
    assert_string_equal(name.path, "/a:/b/c:d.h5");
    assert_string_equal(name.dataset, "/g/h");
}

static void parts_must_be_there(void **state) {
    (void)state;
    static const char *const bad[] = {"", "in.h5", "in.h5:data", ":/data", "in.h5:/", "in.h5/data"};
    slci_dataset_name name;
    for (int64_t k = 0; k < TEST_COUNT(bad); k++) {
        TEST_FAILS(slci_dataset_name_parse(bad[k], &name), SLC_ERROR_ARGUMENT,
                   "names no dataset: expected FILE:/DATASET, such as in.h5:/data");
    }
}

static void long_names_are_refused(void **state) {
    (void)state;
    static char text[SLC_PATH_BYTES + 16];
    slci_dataset_name name;
    memset(text, 'x', SLC_PATH_BYTES);
    memcpy(text + SLC_PATH_BYTES, ":/d", 4);
    TEST_FAILS(slci_dataset_name_parse(text, &name), SLC_ERROR_ARGUMENT, "too long");
    TEST_OK(slci_dataset_name_parse(text + 1, &name));
    memset(text, 'x', SLCI_DATASET_BYTES + 8);
    memcpy(text, "f:/", 3);
    text[SLCI_DATASET_BYTES + 2] = '\0';
    TEST_FAILS(slci_dataset_name_parse(text, &name), SLC_ERROR_ARGUMENT, "too long");
    text[SLCI_DATASET_BYTES + 1] = '\0';
    TEST_OK(slci_dataset_name_parse(text, &name));
}

static void a_slice_ends_the_name(void **state) {
    (void)state;
    slci_dataset_name name;
    TEST_OK(slci_dataset_name_parse_slice("in.h5:/a/b[1:5, ..., -1]", &name));
    assert_string_equal(name.path, "in.h5");
    assert_string_equal(name.dataset, "/a/b");
    assert_int_equal(name.slice.n_parts, 3);
    TEST_OK(slci_dataset_name_parse_slice("in.h5:/a", &name));
    assert_int_equal(name.slice.n_parts, 0);
    /* Of a dataset that is called /a[0]. */
    TEST_OK(slci_dataset_name_parse_slice("in[1].h5:/a[0][...]", &name));
    assert_string_equal(name.path, "in[1].h5");
    assert_string_equal(name.dataset, "/a[0]");
    assert_int_equal(name.slice.n_parts, 1);
    TEST_FAILS(slci_dataset_name_parse_slice("in.h5:/a[x]", &name), SLC_ERROR_ARGUMENT,
               "slice '[x]': character 2, 'x'");
    /* Half a slice; what is none is a name. */
    TEST_FAILS(slci_dataset_name_parse_slice("in.h5:/a[0:3", &name), SLC_ERROR_ARGUMENT,
               "slice '[0:3': expected ] as the last character, number 5");
    TEST_FAILS(slci_dataset_name_parse_slice("in.h5:/a0:3]", &name), SLC_ERROR_ARGUMENT,
               "'in.h5:/a0:3]': a slice ends here, but no [ begins it");
    TEST_OK(slci_dataset_name_parse_slice("in.h5:/a[m", &name));
    assert_string_equal(name.dataset, "/a[m");
    TEST_OK(slci_dataset_name_parse_slice("in.h5:/a[0[:]", &name));
    assert_string_equal(name.dataset, "/a[0");
    TEST_OK(slci_dataset_name_parse_slice("in[1.h5:/a", &name));
    assert_string_equal(name.path, "in[1.h5");
    TEST_FAILS(slci_dataset_name_parse_slice("in.h5:/[1]", &name), SLC_ERROR_ARGUMENT,
               "names no dataset");
    TEST_FAILS(slci_dataset_name_parse("in.h5:/a[1]", &name), SLC_ERROR_ARGUMENT,
               "a slice cannot stand here");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(divides_at_the_last_colon),
        cmocka_unit_test(parts_must_be_there),
        cmocka_unit_test(long_names_are_refused),
        cmocka_unit_test(a_slice_ends_the_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
