/* What is said of a dataset that is not there: links that lead nowhere, names that are near, and how
 * far they were looked for. */
#include <string.h>

#include "io/h5_array.h"
#include "tests/support/test_uvh5.h"

/* More than are looked at. */
enum { N_MANY = 10010 };

static void expect_missing(const char *path, const char *name, const char *words) {
    const slc_h5_array_options options = {.path = path, .dataset = name};
    slc_source *source = NULL;
    TEST_FAILS(slc_h5_array_open(&options, &source), SLC_ERROR_INPUT, words);
}

static hid_t create(const char *path) {
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(file >= 0);
    return file;
}

static void put_numbers(hid_t place, const char *name, hid_t list) {
    const hsize_t n = 4;
    const hid_t space = H5Screate_simple(1, &n, NULL);
    const hid_t set = H5Dcreate2(place, name, H5T_STD_I32LE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    assert_true(set >= 0 && H5Dclose(set) >= 0 && H5Sclose(space) >= 0);
}

static void put_soft(hid_t place, const char *name, const char *target) {
    assert_true(H5Lcreate_soft(target, place, name, H5P_DEFAULT, H5P_DEFAULT) >= 0);
}

/* The last part of a path, which is how a file beside it is named. */
static const char *file_of(const char *path) {
    return strrchr(path, '/') + 1;
}

static void links_that_lead_nowhere_are_named(void **state) {
    const test_way *self = *state;
    char words[TEST_PATH_BYTES + 128];
    hid_t file = create(self->other);
    put_numbers(file, "there", H5P_DEFAULT);
    assert_true(H5Fclose(file) >= 0);
    file = create(self->in);
    put_soft(file, "nowhere", "/nope");
    put_soft(file, "round", "/about");
    put_soft(file, "about", "/round");
    assert_true(H5Lcreate_external("no such file.h5", "/x", file, "outside", H5P_DEFAULT,
                                   H5P_DEFAULT) >= 0);
    assert_true(H5Lcreate_external(file_of(self->other), "/x", file, "beside", H5P_DEFAULT,
                                   H5P_DEFAULT) >= 0);
    assert_true(H5Fclose(file) >= 0);
    expect_missing(self->in, "/nowhere",
                   "/nowhere is a soft link to /nope, which leads to nothing");
    expect_missing(self->in, "/round", "/round is a soft link to /about, which leads to nothing");
    expect_missing(
        self->in, "/outside",
        "/outside is an external link to /x in the file no such file.h5, which is not there");
    (void)snprintf(words, sizeof words, "/x in the file %s, which has nothing of this name",
                   file_of(self->other));
    expect_missing(self->in, "/beside", words);
}

/* Links by name are names too, but none is followed. */
static void chains_of_links_are_not_followed(void **state) {
    const test_way *self = *state;
    const hid_t file = create(self->in);
    put_numbers(file, "x", H5P_DEFAULT);
    for (int k = 0; k < 5000; k++) {
        char name[32];
        char target[32];
        (void)snprintf(name, sizeof name, "link %d", k);
        (void)snprintf(target, sizeof target, "/link %d", k + 1);
        put_soft(file, name, target);
    }
    assert_true(H5Fclose(file) >= 0);
    expect_missing(self->in, "/missing", "/missing is missing; the datasets in it are /x");
}

static void a_search_that_ends_early_says_so(void **state) {
    const test_way *self = *state;
    hid_t file = create(self->in);
    const hid_t group = H5Gcreate2(file, "/g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    for (int k = 0; k < N_MANY; k++) {
        char name[32];
        (void)snprintf(name, sizeof name, "link %d", k);
        put_soft(group, name, "/x");
    }
    put_numbers(file, "z", H5P_DEFAULT);
    assert_true(H5Gclose(group) >= 0 && H5Fclose(file) >= 0);
    expect_missing(self->in, "/y",
                   "none of the 10000 names in it that were looked at is a dataset");
    file = H5Fopen(self->in, H5F_ACC_RDWR, H5P_DEFAULT);
    put_numbers(file, "a", H5P_DEFAULT);
    assert_true(H5Fclose(file) >= 0);
    expect_missing(self->in, "/y", "the nearest datasets among the first 10000 names in it are /a");
}

static void an_empty_file_holds_none(void **state) {
    const test_way *self = *state;
    assert_true(H5Fclose(create(self->in)) >= 0);
    expect_missing(self->in, "/x", "/x is missing; the file holds no dataset");
}

static void sources_that_are_not_there_are_told_from_files(void **state) {
    const test_way *self = *state;
    char words[TEST_PATH_BYTES + 128];
    const hsize_t n = 4;
    assert_true(H5Fclose(create(self->other)) >= 0);
    const hid_t file = create(self->in);
    const hid_t space = H5Screate_simple(1, &n, NULL);
    const char *const names[] = {file_of(self->other), "no such file.h5"};
    for (int k = 0; k < 2; k++) {
        const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
        assert_true(H5Pset_virtual(list, space, names[k], "/x", space) >= 0);
        put_numbers(file, k == 0 ? "beside" : "outside", list);
        assert_true(H5Pclose(list) >= 0);
    }
    assert_true(H5Sclose(space) >= 0 && H5Fclose(file) >= 0);
    (void)snprintf(words, sizeof words, "needs /x in the file %s, which has no such dataset",
                   file_of(self->other));
    expect_missing(self->in, "/beside", words);
    expect_missing(self->in, "/outside",
                   "needs /x in the file no such file.h5, which is not there");
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, test_way_create, test_way_destroy)

int main(void) {
    (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    const struct CMUnitTest tests[] = {
        CASE(links_that_lead_nowhere_are_named),
        CASE(chains_of_links_are_not_followed),
        CASE(a_search_that_ends_early_says_so),
        CASE(an_empty_file_holds_none),
        CASE(sources_that_are_not_there_are_told_from_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
