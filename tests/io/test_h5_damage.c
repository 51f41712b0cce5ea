/* Chunks that are not what their dataset says: too short or too long once decoded, stored in another
 * size, skipping filters that are not there. HDF5 itself reads past its memory with some of these, so
 * that they are refused without asking it, and the rest of the dataset stays readable. */
#include <hdf5.h>

#include "io/h5_array.h"
#include "tests/support/test_uvh5.h"

/* 4 chunks of 64 numbers. */
enum { N = 256, CHUNK = 64, CHUNK_BYTES = 8 * CHUNK, BAD = 3, MOST_BYTES = 4096 };

static int make(void **state) {
    (void)test_place_create(state, "a.h5");
    return 0;
}

/* The caller closes it. */
static hid_t list_of(bool is_deflated) {
    const hsize_t chunk[1] = {CHUNK};
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(list, 1, chunk);
    if (is_deflated) {
        H5Pset_deflate(list, 4);
    }
    return list;
}

/* Numbers 0 to 255. */
static void put_numbers(const char *path, hid_t list) {
    const int64_t shape[1] = {N};
    int64_t values[N];
    for (int64_t k = 0; k < N; k++) {
        values[k] = k;
    }
    test_h5_put(path, "/x", H5T_STD_I64LE, H5T_NATIVE_INT64, 1, shape, list, values);
    H5Pclose(list);
}

/* Puts these stored bytes in the place of a chunk. */
static void put_chunk(const char *path, int64_t chunk, uint32_t mask, const void *bytes,
                      int64_t n) {
    const hsize_t at[1] = {(hsize_t)(chunk * CHUNK)};
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    const hid_t set = H5Dopen2(file, "/x", H5P_DEFAULT);
    assert_true(H5Dwrite_chunk(set, H5P_DEFAULT, mask, at, (size_t)n, bytes) >= 0);
    H5Dclose(set);
    H5Fclose(file);
}

static slc_status read_rows(const char *path, int64_t begin, int64_t end, int64_t *out) {
    const slc_h5_array_options options = {.path = path, .dataset = "/x"};
    const slc_box box = {.rank = 1, .origin = {begin}, .extent = {end - begin}};
    void *const dst[] = {out};
    slc_source *source = NULL;
    SLC_TRY(slc_h5_array_open(&options, &source));
    const slc_status status = slc_source_read(source, &box, dst);
    slc_source_destroy(source);
    return status;
}

/* The chunk is refused with `words`, whichever of the four it is, and the others are read. */
static void expect_damaged(const char *path, int64_t chunk, const char *words) {
    int64_t found[N];
    TEST_FAILS(read_rows(path, 0, N, found), SLC_ERROR_INPUT, words);
    for (int64_t other = 0; other < N / CHUNK; other++) {
        if (other != chunk) {
            TEST_OK(read_rows(path, other * CHUNK, (other + 1) * CHUNK, found));
            assert_int_equal(found[CHUNK - 1], other * CHUNK + CHUNK - 1);
        }
    }
}

/* A zlib stream of n zeros, of blocks that are stored. */
static int64_t zlib_zeros(int64_t n, unsigned char *out) {
    int64_t used = 2;
    memset(out, 0, MOST_BYTES);
    out[0] = 0x78;
    out[1] = 1;
    out[used++] = 1; /* the last block */
    out[used++] = (unsigned char)n;
    out[used++] = (unsigned char)(n >> 8);
    out[used++] = (unsigned char)~n;
    out[used++] = (unsigned char)(~n >> 8);
    used += n;
    out[used++] = (unsigned char)(n >> 8); /* Adler's sums: n (of those before, 1 each) and 1 */
    out[used++] = (unsigned char)n;
    out[used++] = 0;
    out[used++] = 1;
    return used;
}

static void decoded_sizes_are_checked(void **state) {
    const test_place *self = *state;
    static const int64_t sizes[] = {0, 1, CHUNK_BYTES - 1, CHUNK_BYTES + 1, 3 * CHUNK_BYTES};
    unsigned char stored[MOST_BYTES];
    for (int64_t s = 0; s < TEST_COUNT(sizes); s++) {
        for (int64_t chunk = 0; chunk < N / CHUNK; chunk++) {
            put_numbers(self->path, list_of(true));
            put_chunk(self->path, chunk, 0, stored, zlib_zeros(sizes[s], stored));
            expect_damaged(self->path, chunk, "filter 1 (deflate)");
        }
    }
    put_numbers(self->path, list_of(true));
    put_chunk(self->path, 0, 0, stored, zlib_zeros(CHUNK_BYTES, stored));
    int64_t found[N];
    TEST_OK(read_rows(self->path, 0, N, found));
    assert_int_equal(found[CHUNK - 1], 0);
    assert_int_equal(found[CHUNK], CHUNK);
}

static void sizes_of_chunks_that_skip_the_filter_are_checked(void **state) {
    const test_place *self = *state;
    unsigned char stored[MOST_BYTES] = {0};
    for (int64_t chunk = 0; chunk < N / CHUNK; chunk += BAD) {
        put_numbers(self->path, list_of(true));
        put_chunk(self->path, chunk, 1, stored, CHUNK_BYTES - 8);
        expect_damaged(self->path, chunk, "504 bytes are stored in place of 512");
    }
}

/* What the file's index, a B-tree, says of a chunk: its size, mask, place in each dimension and in the
 * bytes of an element, and address. */
enum { ENTRY_SIZE = 0, ENTRY_ELEMENT = 8, ENTRY_ADDRESS = 24, ENTRY_BYTES = 32 };

/* Makes bytes [n] of test_file_read the file's, and frees them. */
static void put_back(const char *path, char *bytes, int64_t n) {
    FILE *file = fopen(path, "wb");
    assert_true(file != NULL && fwrite(bytes, 1, (size_t)n, file) == (size_t)n);
    assert_int_equal(fclose(file), 0);
    free(bytes);
}

/* Changes n_bytes of the entry of the last chunk, which has its full size. */
static void change_entry(const char *path, int64_t what, const void *value, size_t n_bytes) {
    const uint64_t first_element = (uint64_t)BAD * CHUNK;
    const uint32_t size = CHUNK_BYTES;
    int64_t n = 0;
    int n_found = 0;
    char *bytes = test_file_read(path, &n);
    for (int64_t at = 0; at + ENTRY_BYTES <= n; at++) {
        if (memcmp(bytes + at + ENTRY_SIZE, &size, sizeof size) == 0 &&
            memcmp(bytes + at + ENTRY_ELEMENT, &first_element, sizeof first_element) == 0) {
            memcpy(bytes + at + what, value, n_bytes);
            n_found++;
        }
    }
    assert_int_equal(n_found, 1);
    put_back(path, bytes, n);
}

/* Without filters the size is known beforehand, so the dataset is refused. */
static void sizes_without_filters_are_checked(void **state) {
    const test_place *self = *state;
    const uint32_t size = CHUNK_BYTES - 8;
    int64_t found[N];
    put_numbers(self->path, list_of(false));
    change_entry(self->path, ENTRY_SIZE, &size, sizeof size);
    TEST_FAILS(read_rows(self->path, 0, N, found), SLC_ERROR_INPUT,
               "dataset /x: damaged: chunk 3 has 504 bytes, expected 512");
}

/* The same for the chunks at the edge that go without filters. */
static void sizes_of_raw_edges_are_checked(void **state) {
    const test_place *self = *state;
    const int64_t shape[1] = {N - 1};
    const int64_t values[N] = {0};
    unsigned char stored[MOST_BYTES] = {0};
    int64_t found[N];
    const hid_t list = list_of(true);
    H5Pset_chunk_opts(list, H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS);
    test_h5_put(self->path, "/x", H5T_STD_I64LE, H5T_NATIVE_INT64, 1, shape, list, values);
    H5Pclose(list);
    TEST_OK(read_rows(self->path, 0, N - 1, found));
    put_chunk(self->path, BAD, 0, stored, 8);
    TEST_FAILS(read_rows(self->path, 0, N - 1, found), SLC_ERROR_INPUT,
               "dataset /x: damaged: chunk 3 has 8 bytes, expected 512");
}

static void masks_of_more_filters_are_refused(void **state) {
    const test_place *self = *state;
    unsigned char stored[MOST_BYTES] = {0};
    int64_t found[N];
    put_numbers(self->path, list_of(true));
    put_chunk(self->path, 1, 2, stored, CHUNK_BYTES);
    TEST_FAILS(read_rows(self->path, 0, N, found), SLC_ERROR_INPUT,
               "dataset /x: damaged: chunk 1 skipped filters that are not there (mask 2)");
}

static void chunks_outside_of_the_file_are_refused(void **state) {
    const test_place *self = *state;
    int64_t found[N];
    int64_t n = 0;
    put_numbers(self->path, list_of(false));
    free(test_file_read(self->path, &n));
    const uint64_t addresses[] = {(uint64_t)n - 1, (uint64_t)n, (uint64_t)n + 4096, INT64_MAX};
    for (int64_t k = 0; k < TEST_COUNT(addresses); k++) {
        put_numbers(self->path, list_of(false));
        change_entry(self->path, ENTRY_ADDRESS, &addresses[k], sizeof addresses[k]);
        const slc_status status = read_rows(self->path, 0, N, found);
        if (status != SLC_ERROR_INPUT) {
            fail_msg("a chunk at byte %llu of %lld: %s", (unsigned long long)addresses[k],
                     (long long)n, slc_status_name(status));
        }
    }
}

/* Writes another extent over the n_places of the first dimension's, the limit of its growth behind
 * it. */
static void change_extent(const char *path, uint64_t extent, bool has_limit) {
    const uint64_t both[2] = {N, N};
    const uint64_t changed[2] = {extent, has_limit ? extent : N};
    int64_t n = 0;
    int n_found = 0;
    char *bytes = test_file_read(path, &n);
    for (int64_t at = 0; at + (int64_t)sizeof both <= n; at++) {
        if (memcmp(bytes + at, both, sizeof both) == 0) {
            memcpy(bytes + at, changed, sizeof changed);
            n_found++;
        }
    }
    assert_int_equal(n_found, 1);
    put_back(path, bytes, n);
}

/* A shape is refused when the dataset is opened, where it cannot be what the file holds. */
static void shapes_that_cannot_be_are_refused(void **state) {
    const test_place *self = *state;
    const uint64_t extents[] = {N + 1, UINT64_C(1) << 31, UINT64_C(1) << 52};
    int64_t found[N];
    for (int64_t k = 0; k < TEST_COUNT(extents); k++) {
        put_numbers(self->path, list_of(false));
        change_extent(self->path, extents[k], false);
        TEST_FAILS(read_rows(self->path, 0, N, found), SLC_ERROR_INPUT,
                   "but may grow to 256 only: damaged data");
        put_numbers(self->path, H5Pcreate(H5P_DATASET_CREATE));
        change_extent(self->path, extents[k], true);
        TEST_FAILS(read_rows(self->path, 0, N, found), SLC_ERROR_INPUT,
                   "bytes by its shape, but 2048 are stored");
    }
    put_numbers(self->path, list_of(false)); /* with chunks any shape may be */
    change_extent(self->path, UINT64_C(1) << 16, true);
    TEST_OK(read_rows(self->path, 0, N, found));
    assert_int_equal(found[N - 1], N - 1);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, make, test_place_destroy)

int main(void) {
    (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    const struct CMUnitTest tests[] = {
        CASE(decoded_sizes_are_checked),
        CASE(sizes_of_chunks_that_skip_the_filter_are_checked),
        CASE(sizes_without_filters_are_checked),
        CASE(sizes_of_raw_edges_are_checked),
        CASE(masks_of_more_filters_are_refused),
        CASE(chunks_outside_of_the_file_are_refused),
        CASE(shapes_that_cannot_be_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
