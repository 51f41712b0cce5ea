/* Files that an input names, in folders that HDF5's variables say: HDF5 reads them there, and so no
 * output takes them. HDF5 reads two of the variables when it starts, so each set of them has a process
 * of its own. */
#include <hdf5.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/h5_array.h"
#include "io/h5_beside.h"
#include "io/h5_files.h"
#include "tests/support/test_uvh5.h"

#define N 8

/* "%s" stands for the folder of the input. */
typedef struct variables {
    const char *linked, *virtual, *raw;
} variables;

static const variables all[] = {
    {"%s/nowhere:%s/links", ":/nowhere::%s/virtual:%s", "${ORIGIN}/raw"},
    {"%s/links", "${ORIGIN}/virtual", "%s/raw"},
    {"%s/links/:", "%s/virtual/", "${ORIGIN}/raw/"},
};

static const char *const folders[] = {"links", "virtual", "raw"};

static char directory[TEST_PATH_BYTES], in[TEST_PATH_BYTES];

static void join(const char *folder, const char *name, char out[TEST_PATH_BYTES]) {
    char path[TEST_PATH_BYTES];
    test_join(directory, folder, path);
    test_join(path, name, out);
}

static void set_variable(const char *name, const char *value) {
    char text[4 * TEST_PATH_BYTES];
    (void)snprintf(text, sizeof text, value, directory, directory);
    assert_int_equal(setenv(name, text, 1), 0);
}

static float value_of(int k) {
    return (float)k + 0.5F;
}

/* A dataset "x" of numbers from first on. */
static void put_set(const char *path, int first) {
    float values[N];
    const hsize_t n = N;
    for (int k = 0; k < N; k++) {
        values[k] = value_of(first + k);
    }
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t space = H5Screate_simple(1, &n, NULL);
    const hid_t set =
        H5Dcreate2(file, "x", H5T_NATIVE_FLOAT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Dwrite(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    assert_true(H5Dclose(set) >= 0 && H5Sclose(space) >= 0 && H5Fclose(file) >= 0);
}

static void put_raw(const char *path, int first) {
    float values[N];
    for (int k = 0; k < N; k++) {
        values[k] = value_of(first + k);
    }
    FILE *raw = fopen(path, "wb");
    assert_true(raw != NULL && fwrite(values, sizeof values, 1, raw) == 1 && fclose(raw) == 0);
}

static void put_named(hid_t file, const char *name, hid_t list) {
    const hsize_t n = N;
    const hid_t space = H5Screate_simple(1, &n, NULL);
    const hid_t set =
        H5Dcreate2(file, name, H5T_NATIVE_FLOAT, space, H5P_DEFAULT, list, H5P_DEFAULT);
    assert_true(set >= 0 && H5Dclose(set) >= 0 && H5Sclose(space) >= 0 && H5Pclose(list) >= 0);
}

/* The input leads to other files, to three of them by names alone. */
static void make_input(void) {
    const hsize_t n = N;
    char path[TEST_PATH_BYTES];
    const hid_t file = H5Fcreate(in, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t space = H5Screate_simple(1, &n, NULL);
    const hid_t virtual = H5Pcreate(H5P_DATASET_CREATE);
    const hid_t raw = H5Pcreate(H5P_DATASET_CREATE);
    const hid_t absolute = H5Pcreate(H5P_DATASET_CREATE);
    assert_true(H5Lcreate_external("linked.h5", "/x", file, "linked", H5P_DEFAULT, H5P_DEFAULT) >=
                0);
    assert_true(H5Pset_virtual(virtual, space, "virtual.h5", "x", space) >= 0);
    put_named(file, "virtual", virtual);
    assert_true(H5Pset_external(raw, "raw.bin", 0, N * sizeof(float)) >= 0);
    put_named(file, "raw", raw);
    join("links", "other.bin", path);
    assert_true(H5Pset_external(absolute, path, 0, N * sizeof(float)) >= 0);
    put_named(file, "absolute", absolute);
    assert_true(H5Sclose(space) >= 0 && H5Fclose(file) >= 0);
}

/* All of them, and beside the input others of the same names with other numbers. */
static void make_files(void) {
    static const struct {
        const char *folder, *name;
        int first;
        bool is_raw;
    } files[] = {{"links", "linked.h5", 100, false}, {"virtual", "virtual.h5", 200, false},
                 {"raw", "raw.bin", 300, true},      {"links", "other.bin", 400, true},
                 {".", "linked.h5", 1000, false},    {".", "virtual.h5", 1000, false},
                 {".", "raw.bin", 1000, true}};
    make_input();
    for (int64_t k = 0; k < TEST_COUNT(files); k++) {
        char path[TEST_PATH_BYTES];
        join(files[k].folder, files[k].name, path);
        if (files[k].is_raw) {
            put_raw(path, files[k].first);
        } else {
            put_set(path, files[k].first);
        }
    }
}

static void expect_numbers(const char *name, int first) {
    const slc_h5_array_options options = {.path = in, .dataset = name};
    const slc_box box = slc_box_1d(0, N);
    float values[N] = {0};
    void *const dst[] = {values};
    slc_source *source = NULL;
    TEST_OK(slc_h5_array_open(&options, &source));
    TEST_OK(slc_source_read(source, &box, dst));
    slc_source_destroy(source);
    for (int k = 0; k < N; k++) {
        assert_true(values[k] == value_of(first + k));
    }
}

static slc_status exclude(const char *name, const char *output) {
    const slc_h5_reading reading = {.path = in, .names = &name, .n_names = 1};
    return slc_h5_files_exclude(&reading, &output, 1);
}

static void files_are_where_the_variables_say(void **state) {
    static const struct {
        const char *name, *folder, *file;
        int first;
    } cases[] = {{"/linked", "links", "linked.h5", 100},
                 {"/virtual", "virtual", "virtual.h5", 200},
                 {"/raw", "raw", "raw.bin", 300},
                 {"/absolute", "links", "other.bin", 400}};
    (void)state;
    make_files();
    for (int k = 0; k < TEST_COUNT(cases); k++) {
        char path[TEST_PATH_BYTES];
        expect_numbers(cases[k].name, cases[k].first);
        join(cases[k].folder, cases[k].file, path);
        TEST_FAILS(exclude(cases[k].name, path), SLC_ERROR_ARGUMENT, "name another output");
        join(".", cases[k].file, path);
        TEST_OK(exclude(cases[k].name, path)); /* nobody reads the one beside the input */
    }
}

/* Where the variables lead to nothing, HDF5 looks beside the file. */
static void other_places_come_after(void **state) {
    char path[TEST_PATH_BYTES];
    (void)state;
    make_files();
    join("links", "linked.h5", path);
    assert_int_equal(unlink(path), 0);
    join("virtual", "virtual.h5", path);
    assert_int_equal(unlink(path), 0);
    expect_numbers("/linked", 1000);
    expect_numbers("/virtual", 1000);
    join(".", "linked.h5", path);
    TEST_FAILS(exclude("/linked", path), SLC_ERROR_ARGUMENT, "name another output");
    join(".", "virtual.h5", path);
    TEST_FAILS(exclude("/virtual", path), SLC_ERROR_ARGUMENT, "name another output");
}

/* One that is there, but not to be read, is told from none. */
static void what_is_wrong_is_said(void **state) {
    char why[SLCI_H5_BESIDE_WHY_BYTES];
    char path[TEST_PATH_BYTES];
    (void)state;
    make_files();
    slci_h5_lock();
    assert_true(slci_h5_open_linked(in, "no such file.h5", why) < 0);
    assert_string_equal(why, "");
    assert_true(slci_h5_open_linked(in, "raw.bin", why) < 0);
    assert_true(why[0] != '\0');
    slci_h5_unlock();
    join("links", "linked.h5", path);
    put_raw(path, 0);
    join(".", "linked.h5", path);
    put_raw(path, 0);
    const slc_h5_array_options options = {.path = in, .dataset = "/linked"};
    slc_source *source = NULL;
    TEST_FAILS(slc_h5_array_open(&options, &source), SLC_ERROR_INPUT,
               "in the file linked.h5, which cannot be opened: ");
    join("virtual", "virtual.h5", path);
    put_raw(path, 0);
    join(".", "virtual.h5", path);
    put_raw(path, 0);
    const slc_h5_array_options other = {.path = in, .dataset = "/virtual"};
    TEST_FAILS(slc_h5_array_open(&other, &source), SLC_ERROR_INPUT,
               "in the file virtual.h5, which cannot be opened: ");
}

static int run_with(const variables *self) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(files_are_where_the_variables_say),
                                       cmocka_unit_test(other_places_come_after),
                                       cmocka_unit_test(what_is_wrong_is_said)};
    set_variable("HDF5_EXT_PREFIX", self->linked);
    set_variable("HDF5_VDS_PREFIX", self->virtual);
    set_variable("HDF5_EXTFILE_PREFIX", self->raw);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void) {
    int n_failed = 0;
    test_directory_create(directory);
    test_join(directory, "in.h5", in);
    for (int k = 0; k < TEST_COUNT(folders); k++) {
        char path[TEST_PATH_BYTES];
        test_join(directory, folders[k], path);
        n_failed += mkdir(path, 0777) != 0;
    }
    for (int k = 0; k < TEST_COUNT(all); k++) {
        int state = 0;
        const pid_t child = fork();
        if (child == 0) {
            _exit(run_with(&all[k]) == 0 ? 0 : 1);
        }
        n_failed += child < 0 || waitpid(child, &state, 0) != child || state != 0;
    }
    test_directory_remove(directory);
    return n_failed == 0 ? 0 : 1;
}
