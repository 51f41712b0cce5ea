/* Where what Sluice writes lies in the file. */
#include <hdf5.h>

#include "io/h5_array.h"
#include "io/h5_output.h"
#include "tests/support/test_uvh5.h"

#define N_ROWS 3

static int make(void **state) {
    (void)test_place_create(state, "o.h5");
    return 0;
}

/* Bytes [N_ROWS, row_bytes], in one piece, or a row a chunk. */
static void write_rows(const char *path, int64_t row_bytes, bool is_chunked, slc_h5_filter filter) {
    slc_h5_array_output output = {.path = path,
                                  .dataset = "/rows",
                                  .filter = filter,
                                  .overwrite = true};
    const slc_box box = {.rank = 2, .extent = {N_ROWS, row_bytes}};
    slc_sink *sink = NULL;
    TEST_OK(slc_layout_dense(SLC_U8, 2, box.extent, &output.layout));
    if (is_chunked) {
        output.chunk[0] = 1;
        output.chunk[1] = row_bytes;
    }
    unsigned char *rows = test_allocate(N_ROWS * row_bytes);
    test_fill(rows, N_ROWS * row_bytes, 7); /* of which no filter can make less */
    TEST_OK(slc_h5_array_create(&output, &sink));
    TEST_OK(slc_sink_write(sink, &box, rows));
    TEST_OK(slc_sink_commit(sink));
    slc_sink_destroy(sink);
    free(rows);
}

/* How far behind the beginning of a page the furthest of its chunks, or its data, begins. */
static int64_t furthest_from_a_page(const char *path) {
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t set = H5Dopen2(file, "/rows", H5P_DEFAULT);
    const hid_t list = H5Dget_create_plist(set);
    const hid_t space = H5Dget_space(set);
    haddr_t furthest = 0;
    if (H5Pget_layout(list) == H5D_CONTIGUOUS) {
        furthest = H5Dget_offset(set) % SLCI_H5_ALIGNMENT_BYTES;
    } else {
        hsize_t n = 0;
        assert_true(H5Dget_num_chunks(set, space, &n) >= 0);
        assert_int_equal(n, N_ROWS);
        for (hsize_t k = 0; k < n; k++) {
            haddr_t at = 0;
            assert_true(H5Dget_chunk_info(set, space, k, NULL, NULL, &at, NULL) >= 0);
            const haddr_t off = at % SLCI_H5_ALIGNMENT_BYTES;
            furthest = off > furthest ? off : furthest;
        }
    }
    H5Sclose(space);
    H5Pclose(list);
    H5Dclose(set);
    H5Fclose(file);
    return (int64_t)furthest;
}

static void large_pieces_begin_with_a_page(void **state) {
    const test_place *self = *state;
    const slc_h5_filter none = {.kind = SLC_H5_FILTER_NONE};
    const slc_h5_filter deflate = {.kind = SLC_H5_FILTER_DEFLATE, .level = 1};
    const int64_t odd_bytes = SLCI_H5_ALIGNED_FROM_BYTES + 1234;
    write_rows(self->path, odd_bytes, false, none);
    assert_int_equal(furthest_from_a_page(self->path), 0);
    write_rows(self->path, odd_bytes, true, none);
    assert_int_equal(furthest_from_a_page(self->path), 0);
    write_rows(self->path, odd_bytes, true, deflate);
    assert_int_equal(furthest_from_a_page(self->path), 0);
}

/* Nothing lies between chunks for which a page would be much. */
static void small_chunks_lie_closely(void **state) {
    const test_place *self = *state;
    const slc_h5_filter none = {.kind = SLC_H5_FILTER_NONE};
    write_rows(self->path, 1000, true, none);
    assert_true(furthest_from_a_page(self->path) > 0);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, make, test_place_destroy)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(large_pieces_begin_with_a_page),
        CASE(small_chunks_lie_closely),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
