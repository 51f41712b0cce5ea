/* An output takes no file that its input's elements lie in, whatever name the input has. */
#include <hdf5.h>
#include <stdio.h>
#include <unistd.h>

#include "io/h5_array.h"
#include "io/h5_files.h"
#include "tests/support/test_uvh5.h"

#define N 8

typedef struct place {
    char directory[TEST_PATH_BYTES], in[TEST_PATH_BYTES], source[TEST_PATH_BYTES];
    char raw[TEST_PATH_BYTES];
} place;

static void make_place(place *self) {
    test_directory_create(self->directory);
    test_join(self->directory, "in.h5", self->in);
    test_join(self->directory, "source.h5", self->source);
    test_join(self->directory, "raw.bin", self->raw);
}

static void make_source(const place *self) {
    static const float values[N] = {1, 2, 3, 4, 5, 6, 7, 8};
    const hsize_t n = N;
    const hid_t file = H5Fcreate(self->source, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t space = H5Screate_simple(1, &n, NULL);
    const hid_t set =
        H5Dcreate2(file, "x", H5T_NATIVE_FLOAT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Dwrite(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    assert_true(H5Dclose(set) >= 0 && H5Sclose(space) >= 0 && H5Fclose(file) >= 0);
}

static void make_set(hid_t file, const char *name, hid_t list) {
    const hsize_t n = N;
    const hid_t space = H5Screate_simple(1, &n, NULL);
    const hid_t set =
        H5Dcreate2(file, name, H5T_NATIVE_FLOAT, space, H5P_DEFAULT, list, H5P_DEFAULT);
    assert_true(set >= 0 && H5Dclose(set) >= 0 && H5Sclose(space) >= 0);
}

/* The input: a dataset behind an external link, one of a virtual source, one of a raw file, and one of
 * its own. */
static void make_input(const place *self) {
    const hsize_t n = N;
    const hid_t file = H5Fcreate(self->in, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t space = H5Screate_simple(1, &n, NULL);
    const hid_t virtual_list = H5Pcreate(H5P_DATASET_CREATE);
    const hid_t raw_list = H5Pcreate(H5P_DATASET_CREATE);
    assert_true(H5Lcreate_external("source.h5", "/x", file, "linked", H5P_DEFAULT, H5P_DEFAULT) >=
                0);
    assert_true(H5Pset_virtual(virtual_list, space, "source.h5", "x", space) >= 0);
    make_set(file, "virtual", virtual_list);
    assert_true(H5Pset_external(raw_list, self->raw, 0, N * sizeof(float)) >= 0);
    make_set(file, "raw", raw_list);
    make_set(file, "own", H5P_DEFAULT);
    assert_true(H5Pclose(raw_list) >= 0 && H5Pclose(virtual_list) >= 0 && H5Sclose(space) >= 0);
    assert_true(H5Fclose(file) >= 0);
}

static slc_status check(const place *self, const char *dataset, const char *output) {
    const int64_t n = N;
    slc_h5_array_output to = {.path = output,
                              .dataset = "/y",
                              .template_path = self->in,
                              .template_dataset = dataset,
                              .keeps_type = true,
                              .overwrite = true};
    SLC_TRY(slc_layout_dense(SLC_F32, 1, &n, &to.layout));
    return slc_h5_array_check(&to);
}

static void an_output_takes_no_file_of_its_input(void **state) {
    static const char zeros[N * sizeof(float)] = {0};
    place self;
    (void)state;
    make_place(&self);
    FILE *raw = fopen(self.raw, "w");
    assert_true(raw != NULL && fwrite(zeros, sizeof zeros, 1, raw) == 1 && fclose(raw) == 0);
    make_source(&self);
    make_input(&self);
    TEST_FAILS(check(&self, "/linked", self.source), SLC_ERROR_ARGUMENT, "elements of");
    TEST_FAILS(check(&self, "/virtual", self.source), SLC_ERROR_ARGUMENT, "elements of");
    TEST_FAILS(check(&self, "/raw", self.raw), SLC_ERROR_ARGUMENT, "elements of");
    TEST_FAILS(check(&self, "/own", self.in), SLC_ERROR_ARGUMENT, "elements of");
    TEST_OK(check(&self, "/own", self.source));
    TEST_OK(check(&self, "/linked", self.raw));
    test_directory_remove(self.directory);
}

/* Links that lead in circles, within a file and from file to file, and a virtual dataset that is a
 * source of itself, end; and what lies behind them is found. */
static void circles_end(void **state) {
    const hsize_t n = N;
    place self;
    (void)state;
    make_place(&self);
    make_source(&self);
    const hid_t source = H5Fopen(self.source, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(H5Lcreate_external("in.h5", "/a", source, "back", H5P_DEFAULT, H5P_DEFAULT) >= 0 &&
                H5Lcreate_external("in.h5", "/a", source, "again", H5P_DEFAULT, H5P_DEFAULT) >= 0 &&
                H5Fclose(source) >= 0);
    const hid_t file = H5Fcreate(self.in, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t group = H5Gcreate2(file, "a", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t space = H5Screate_simple(1, &n, NULL);
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    assert_true(H5Lcreate_hard(file, "a", group, "self", H5P_DEFAULT, H5P_DEFAULT) >= 0 &&
                H5Lcreate_soft("/a/round", group, "round", H5P_DEFAULT, H5P_DEFAULT) >= 0 &&
                H5Lcreate_external("source.h5", "/", group, "out", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    assert_true(H5Pset_virtual(list, space, ".", "/a/v", space) >= 0);
    make_set(file, "/a/v", list);
    assert_true(H5Pclose(list) >= 0 && H5Sclose(space) >= 0 && H5Gclose(group) >= 0 &&
                H5Fclose(file) >= 0);
    const char *const names[] = {"absent", "a/round", "a"};
    const slc_h5_reading reading = {.path = self.in, .names = names, .n_names = 3};
    const char *outputs[] = {NULL, self.raw};
    TEST_OK(slc_h5_files_exclude(&reading, outputs, 2));
    test_write_below(self.directory, "raw.bin", "not read");
    TEST_OK(slc_h5_files_exclude(&reading, outputs, 2));
    outputs[0] = self.source;
    TEST_FAILS(slc_h5_files_exclude(&reading, outputs, 2), SLC_ERROR_ARGUMENT,
               ":/a/out/x lie in it; name another output");
    const slc_h5_reading none = {.path = self.raw, .names = names, .n_names = 3};
    TEST_OK(slc_h5_files_exclude(&none, outputs, 1));
    test_directory_remove(self.directory);
}

/* Where HDF5 looks for a file: an absolute name of before a move, and beside the file that a link is
 * to. */
static void moved_and_linked_files_are_found(void **state) {
    static const char *const targets[] = {"/nowhere/at/all/source.h5", "source.h5"};
    char elsewhere[TEST_PATH_BYTES];
    char way[TEST_PATH_BYTES];
    place self;
    (void)state;
    make_place(&self);
    test_directory_create(elsewhere);
    test_join(elsewhere, "way.h5", way);
    make_source(&self);
    assert_int_equal(symlink(self.in, way), 0);
    for (int k = 0; k < 2; k++) {
        const hid_t file = H5Fcreate(self.in, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
        assert_true(H5Lcreate_external(targets[k], "/x", file, "x", H5P_DEFAULT, H5P_DEFAULT) >=
                        0 &&
                    H5Fclose(file) >= 0);
        const char *const name = "/x";
        const char *const output = self.source;
        const slc_h5_reading readings[] = {{.path = self.in, .names = &name, .n_names = 1},
                                           {.path = way, .names = &name, .n_names = 1}};
        for (int r = 0; r < 2; r++) {
            const slc_h5_array_options options = {.path = readings[r].path, .dataset = name};
            slc_source *source = NULL;
            TEST_OK(slc_h5_array_open(&options, &source)); /* as HDF5 itself finds it */
            slc_source_destroy(source);
            TEST_FAILS(slc_h5_files_exclude(&readings[r], &output, 1), SLC_ERROR_ARGUMENT,
                       "lie in it");
        }
    }
    test_directory_remove(elsewhere);
    test_directory_remove(self.directory);
}

static hid_t create_input(const place *self) {
    const hid_t file = H5Fcreate(self->in, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(file >= 0);
    test_write_below(self->directory, "raw.bin", "an output");
    return file;
}

static slc_status exclude(const place *self, const char *name) {
    const slc_h5_reading reading = {.path = self->in, .names = &name, .n_names = 1};
    const char *const output = self->raw;
    return slc_h5_files_exclude(&reading, &output, 1);
}

/* Where the search cannot go on it is not known what the input needs. */
static void an_end_of_the_search_is_said(void **state) {
    enum { DEPTH = 130, LONG = 5000 };
    char target[LONG + 1];
    char name[2 * DEPTH + 1] = "";
    place self;
    (void)state;
    make_place(&self);
    memset(target, 'x', LONG);
    target[LONG] = '\0';
    hid_t file = create_input(&self);
    assert_true(H5Gclose(H5Gcreate2(file, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)) >= 0 &&
                H5Lcreate_soft(target, file, "/g/long", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    for (int k = 0; k < DEPTH; k++) {
        memcpy(name + (size_t)2 * (size_t)k, "/d", 3);
        assert_true(H5Gclose(H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)) >= 0);
    }
    assert_true(H5Fclose(file) >= 0);
    TEST_FAILS(exclude(&self, "/g"), SLC_ERROR_INPUT,
               ":/g/long: whether an output replaces a file that it needs is not known: a link");
    TEST_FAILS(exclude(&self, "/d"), SLC_ERROR_INPUT,
               "over 128 groups and links lead to it; name outputs that do not exist yet");
    test_directory_remove(self.directory);
}

/* Nor is followed what reading does not follow: names behind a dataset, or with nothing there, and more
 * links in a row than HDF5 goes through. */
static void what_is_not_read_is_no_error(void **state) {
    enum { N_LINKS = 40 };
    char name[16];
    char next[16];
    place self;
    (void)state;
    make_place(&self);
    hid_t file = create_input(&self);
    make_set(file, "set", H5P_DEFAULT);
    for (int k = 0; k < N_LINKS; k++) {
        (void)snprintf(name, sizeof name, "link%d", k);
        (void)snprintf(next, sizeof next, "link%d", k + 1);
        assert_true(H5Lcreate_soft(next, file, name, H5P_DEFAULT, H5P_DEFAULT) >= 0);
    }
    assert_true(H5Lcreate_external("none.h5", "/x", file, "out", H5P_DEFAULT, H5P_DEFAULT) >= 0 &&
                H5Fclose(file) >= 0);
    static const char *const names[] = {"/set/x", "/none/x", "/link0", "/out", "/set"};
    for (int k = 0; k < TEST_COUNT(names); k++) {
        TEST_OK(exclude(&self, names[k]));
    }
    test_directory_remove(self.directory);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(an_output_takes_no_file_of_its_input),
                                       cmocka_unit_test(circles_end),
                                       cmocka_unit_test(moved_and_linked_files_are_found),
                                       cmocka_unit_test(an_end_of_the_search_is_said),
                                       cmocka_unit_test(what_is_not_read_is_no_error)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
