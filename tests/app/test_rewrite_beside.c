/* What goes along with an array that is stored anew, where the input is odd or damaged. */
#include "app/rewrite.h"

#include <hdf5.h>

#include "tests/support/test_rewritten.h"

/* A list of scales that is none, here one of numbers, is no reason to refuse the data. */
static void a_list_of_no_scales_is_left_out(void **state) {
    const test_way *self = *state;
    const test_array array = {.rank = 2, .shape = {30, 20}};
    const slc_rewrite_options options = test_rewrite_options(self);
    slc_rewrite_result result;
    const hsize_t rank = 2;
    int numbers[] = {1, 2};
    const hvl_t lists[] = {{1, numbers}, {2, numbers}};
    test_rewrite_put(self->in, "/x", &array);
    const hid_t type = H5Tvlen_create(H5T_NATIVE_INT);
    const hid_t space = H5Screate_simple(1, &rank, NULL);
    hid_t file = H5Fopen(self->in, H5F_ACC_RDWR, H5P_DEFAULT);
    const hid_t list = H5Acreate_by_name(file, "/x", "DIMENSION_LIST", type, space, H5P_DEFAULT,
                                         H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Awrite(list, type, lists) >= 0);
    H5Aclose(list);
    H5Fclose(file);
    H5Sclose(space);
    H5Tclose(type);
    TEST_OK(slc_rewrite_run(&options, &result));
    test_rewrite_expect(self->out, "/g/y", &array, (const int[]){0, 1});
    file = H5Fopen(self->out, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(H5Aexists_by_name(file, "/g/y", "DIMENSION_LIST", H5P_DEFAULT) == 0);
    H5Fclose(file);
}

typedef struct odd_attribute {
    const char *name, *words;
    hsize_t n;
    size_t text_bytes; /* of each value; 0: they are numbers */
} odd_attribute;

static const odd_attribute odd_attributes[] = {
    {"DIMENSION_LABELS", ":/x has 3 values, expected 2", 3, 8},
    {"DIMENSION_LABELS", ":/x holds no text", 2, 0},
    {"DIMENSION_LABELS", ":/x has values of 9000 bytes, at most 8192", 2, 9000},
    {"DIMENSION_LIST", ":/x holds no list", 2, 0},
};

static void put_odd(const char *path, const odd_attribute *odd) {
    static const char zeros[2 * 9000];
    const hid_t type = H5Tcopy(odd->text_bytes > 0 ? H5T_C_S1 : H5T_NATIVE_INT);
    const hid_t space = H5Screate_simple(1, &odd->n, NULL);
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(odd->text_bytes == 0 || H5Tset_size(type, odd->text_bytes) >= 0);
    const hid_t attribute = H5Acreate_by_name(file, "/x", odd->name, type, space, H5P_DEFAULT,
                                              H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Awrite(attribute, type, zeros) >= 0);
    assert_true(H5Aclose(attribute) >= 0 && H5Fclose(file) >= 0);
    assert_true(H5Sclose(space) >= 0 && H5Tclose(type) >= 0);
}

typedef struct note {
    int n;
    char line[1024];
} note;

static void keep_note(void *context, slc_log_level level, const char *line) {
    note *heard = context;
    if (level == SLC_LOG_NOTE && strstr(line, "left out") != NULL) {
        heard->n++;
        (void)snprintf(heard->line, sizeof heard->line, "%s", line);
    }
}

/* Nothing is lost without a word: labels and lists that are not one for each dimension, or no labels
 * and lists at all. */
static void what_does_not_fit_the_dimensions_is_said(void **state) {
    const test_way *self = *state;
    const test_array array = {.rank = 2, .shape = {30, 20}};
    for (int64_t k = 0; k < TEST_COUNT(odd_attributes); k++) {
        const odd_attribute *odd = &odd_attributes[k];
        slc_rewrite_options options = test_rewrite_options(self);
        slc_rewrite_result result;
        slc_log log;
        note heard = {0};
        slc_log_init(&log, SLC_LOG_NOTE, keep_note, &heard);
        options.run.log = &log;
        test_rewrite_put(self->in, "/x", &array);
        put_odd(self->in, odd);
        TEST_OK(slc_rewrite_run(&options, &result));
        slc_log_destroy(&log);
        assert_int_equal(heard.n, 1);
        assert_non_null(strstr(heard.line, odd->name));
        assert_non_null(strstr(heard.line, odd->words));
        const hid_t file = H5Fopen(self->out, H5F_ACC_RDONLY, H5P_DEFAULT);
        assert_true(H5Aexists_by_name(file, "/g/y", odd->name, H5P_DEFAULT) == 0);
        assert_true(H5Fclose(file) >= 0);
    }
}

static H5L_type_t link_type(hid_t file, const char *name) {
    H5L_info_t info;
    assert_true(H5Lget_info(file, name, &info, H5P_DEFAULT) >= 0);
    return info.type;
}

static haddr_t address_of(hid_t file, const char *name) {
    H5O_info_t info;
    assert_true(H5Oget_info_by_name(file, name, &info, H5P_DEFAULT) >= 0);
    return info.addr;
}

/* With what else is in the group: links by name stay links, a second name of the data is one of the
 * result. */
static void links_stay_links(void **state) {
    const test_way *self = *state;
    const test_array array = {.rank = 2, .shape = {30, 20}};
    slc_rewrite_options options = test_rewrite_options(self);
    slc_rewrite_result result;
    char target[8];
    test_rewrite_put(self->in, "/x", &array);
    test_rewrite_put(self->in, "/deep/z", &array);
    hid_t file = H5Fopen(self->in, H5F_ACC_RDWR, H5P_DEFAULT);
    const char *const folders[] = {"/", "/deep"};
    for (int64_t k = 0; k < TEST_COUNT(folders); k++) {
        const hid_t group = H5Gopen2(file, folders[k], H5P_DEFAULT);
        assert_true(H5Lcreate_soft("deep/z", group, "soft", H5P_DEFAULT, H5P_DEFAULT) >= 0);
        assert_true(H5Lcreate_soft("gone", group, "dead", H5P_DEFAULT, H5P_DEFAULT) >= 0);
        assert_true(H5Lcreate_external("a.h5", "/b", group, "ext", H5P_DEFAULT, H5P_DEFAULT) >= 0);
        H5Gclose(group);
    }
    assert_true(H5Lcreate_hard(file, "x", file, "again", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    H5Fclose(file);
    options.copies_rest = true;
    TEST_OK(slc_rewrite_run(&options, &result));
    file = H5Fopen(self->out, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_int_equal(link_type(file, "/g/soft"), H5L_TYPE_SOFT);
    assert_int_equal(link_type(file, "/g/dead"), H5L_TYPE_SOFT);
    assert_int_equal(link_type(file, "/g/ext"), H5L_TYPE_EXTERNAL);
    assert_int_equal(link_type(file, "/g/deep/soft"), H5L_TYPE_SOFT);
    assert_int_equal(link_type(file, "/g/deep/ext"), H5L_TYPE_EXTERNAL);
    assert_true(H5Lget_val(file, "/g/dead", target, sizeof target, H5P_DEFAULT) >= 0);
    assert_string_equal(target, "gone");
    assert_true(address_of(file, "/g/soft") == address_of(file, "/g/deep/z"));
    assert_true(address_of(file, "/g/again") == address_of(file, "/g/y"));
    assert_true(H5Lexists(file, "/g/x", H5P_DEFAULT) == 0);
    H5Fclose(file);
}

/* An object beside the data that HDF5 cannot read is the input's fault. */
static void a_damaged_neighbour_is_named(void **state) {
    const test_way *self = *state;
    const test_array array = {.rank = 2, .shape = {30, 20}};
    slc_rewrite_options options = test_rewrite_options(self);
    slc_rewrite_result result;
    test_rewrite_put(self->in, "/x", &array);
    test_rewrite_put(self->in, "/broken", &array);
    const hid_t file = H5Fopen(self->in, H5F_ACC_RDONLY, H5P_DEFAULT);
    const haddr_t header = address_of(file, "/broken");
    H5Fclose(file);
    FILE *bytes = fopen(self->in, "r+b");
    assert_non_null(bytes);
    assert_int_equal(fseek(bytes, (long)header, SEEK_SET), 0);
    assert_int_equal(fwrite("\377\377\377\377", 1, 4, bytes), 4);
    assert_int_equal(fclose(bytes), 0);
    TEST_OK(slc_rewrite_run(&options, &result));
    assert_int_equal(remove(self->out), 0);
    options.copies_rest = true;
    TEST_FAILS(slc_rewrite_run(&options, &result), SLC_ERROR_INPUT,
               "in.h5: 'broken' of / cannot be copied");
    assert_int_equal(test_directory_count(self->directory), 1);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, test_way_create, test_way_destroy)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(a_list_of_no_scales_is_left_out),
        CASE(what_does_not_fit_the_dimensions_is_said),
        CASE(links_stay_links),
        CASE(a_damaged_neighbour_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
