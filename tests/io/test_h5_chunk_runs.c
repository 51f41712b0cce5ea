/* Chunks narrower than the box that is read, of rows that are long enough to be decoded one by one
 * where they go: what was written comes back, at the edges and inside, whatever the filters and
 * byte order. */
#include <hdf5.h>

#include "io/h5_array.h"
#include "tests/support/test_uvh5.h"

enum { ROWS = 5, COLUMNS = 7, DEPTH = 1400 };

static int make(void **state) {
    (void)test_place_create(state, "a.h5");
    return 0;
}

static void write_set(const char *path, int choice, const double *values) {
    const hsize_t shape[3] = {ROWS, COLUMNS, DEPTH};
    const hsize_t chunk[3] = {2, 3, DEPTH / 2};
    const hid_t type = choice % 2 == 0 ? H5T_IEEE_F64BE : H5T_IEEE_F64LE;
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    const hid_t space = H5Screate_simple(3, shape, NULL);
    H5Pset_chunk(list, 3, chunk);
    test_h5_set_filters(list, choice);
    const hid_t set = H5Dcreate2(file, "/x", type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    assert_true(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Dclose(set);
    H5Sclose(space);
    H5Pclose(list);
    H5Fclose(file);
}

static void expect_box(slc_source *source, const slc_box *box, int n_parts, const double *values) {
    const int64_t n = slc_box_count(box);
    double *found = test_allocate(n * (int64_t)sizeof *found);
    void *const dst[] = {found};
    test_fill(found, n * (int64_t)sizeof *found, 9);
    for (int part = n_parts - 1; part >= 0; part--) {
        TEST_OK(slc_source_read_part(source, box, dst, part, n_parts));
    }
    for (int64_t k = 0; k < n; k++) {
        const int64_t z = box->origin[2] + k % box->extent[2];
        const int64_t y = box->origin[1] + k / box->extent[2] % box->extent[1];
        const int64_t x = box->origin[0] + k / box->extent[2] / box->extent[1];
        assert_memory_equal(&found[k], &values[(x * COLUMNS + y) * DEPTH + z], sizeof *found);
    }
    free(found);
}

static void what_was_written_comes_back(void **state) {
    const test_place *self = *state;
    const slc_box boxes[] = {{.rank = 3, .extent = {ROWS, COLUMNS, DEPTH}},
                             {.rank = 3, .origin = {1, 2, 0}, .extent = {4, 5, DEPTH}},
                             {.rank = 3, .origin = {0, 0, 300}, .extent = {4, 7, 1100}}};
    const slc_h5_array_options options = {.path = self->path, .dataset = "/x"};
    double *values = test_allocate((int64_t)sizeof(double) * ROWS * COLUMNS * DEPTH);
    test_fill_f64(values, (int64_t)ROWS * COLUMNS * DEPTH, 4);
    for (int choice = 0; choice < 8; choice++) {
        const char *why = NULL;
        slc_source *source = NULL;
        write_set(self->path, choice, values);
        TEST_OK(slc_h5_array_open(&options, &source));
        assert_string_equal(slc_h5_array_reader(source, &why), "chunks");
        for (int64_t b = 0; b < TEST_COUNT(boxes); b++) {
            expect_box(source, &boxes[b], 1, values);
            expect_box(source, &boxes[b], 5, values);
        }
        slc_source_destroy(source);
    }
    free(values);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_was_written_comes_back, make, test_place_destroy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
