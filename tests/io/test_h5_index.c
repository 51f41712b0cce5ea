/* The index against HDF5's own answer for every chunk: with user blocks, short addresses, deep
 * trees, the indices of later versions, whatever the order of writing, and with gaps. And a tree
 * that leads astray. */
#include <fcntl.h>
#include <hdf5.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/h5_index.h"
#include "tests/support/test_support.h"

enum { ROWS = 23, COLUMNS = 31, N = ROWS * COLUMNS, CHUNK_BYTES = 3 * 2 * 4, MOST_BYTES = 40 };

/* The last chunks reach past the array. */
static const int64_t array_shape[2] = {3 * ROWS - 1, 2 * COLUMNS - 1};
static const int64_t array_chunk[2] = {3, 2};

static int make(void **state) {
    (void)test_place_create(state, "a.h5");
    return 0;
}

/* How a file is made. */
typedef struct form {
    hsize_t user_block;
    size_t address_bytes;
    unsigned fanout;     /* 0: HDF5's own */
    bool is_late;        /* in the newest format */
    bool can_grow;       /* later versions then have another index */
    bool is_backwards;   /* written so */
    unsigned gaps;       /* one chunk in so many is not written; 0: all are */
    int64_t rows_kept;   /* the array is cut to so many rows of chunks afterwards; 0: it is not */
    bool skips_a_filter; /* every fifth chunk does */
} form;

static bool is_written(const form *f, int64_t k) {
    return f->gaps == 0 || (uint64_t)k * 2654435761U % 1000 >= 1000 / f->gaps;
}

/* The caller closes it. */
static hid_t create_file(const char *path, const form *f) {
    const hid_t list = H5Pcreate(H5P_FILE_CREATE);
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_userblock(list, f->user_block);
    H5Pset_sizes(list, f->address_bytes, 8);
    if (f->fanout > 0) {
        H5Pset_istore_k(list, f->fanout);
    }
    if (f->is_late) {
        H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    }
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, list, access);
    assert_true(file >= 0);
    H5Pclose(list);
    H5Pclose(access);
    return file;
}

static hid_t create_set(hid_t file, const form *f) {
    const hsize_t shape[2] = {(hsize_t)array_shape[0], (hsize_t)array_shape[1]};
    const hsize_t chunk[2] = {(hsize_t)array_chunk[0], (hsize_t)array_chunk[1]};
    const hsize_t most[2] = {H5S_UNLIMITED, H5S_UNLIMITED};
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    const hid_t space = H5Screate_simple(2, shape, f->can_grow ? most : NULL);
    H5Pset_chunk(list, 2, chunk);
    H5Pset_deflate(list, 1);
    const hid_t set = H5Dcreate2(file, "/x", H5T_STD_I32LE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    assert_true(set >= 0);
    H5Sclose(space);
    H5Pclose(list);
    return set;
}

/* Chunks of differing sizes, whose bytes nobody decodes here. */
static void write_file(const char *path, const form *f) {
    static const unsigned char bytes[MOST_BYTES] = {1};
    const hid_t file = create_file(path, f);
    const hid_t set = create_set(file, f);
    for (int64_t i = 0; i < N; i++) {
        const int64_t k = f->is_backwards ? N - 1 - i : i;
        const hsize_t at[2] = {(hsize_t)(k / COLUMNS * array_chunk[0]),
                               (hsize_t)(k % COLUMNS * array_chunk[1])};
        const uint32_t mask = f->skips_a_filter && k % 5 == 0 ? 1 : 0;
        if (is_written(f, k)) {
            assert_true(H5Dwrite_chunk(set, H5P_DEFAULT, mask, at,
                                       (size_t)(CHUNK_BYTES + k % (MOST_BYTES - CHUNK_BYTES)),
                                       bytes) >= 0);
        }
    }
    if (f->rows_kept > 0) {
        const hsize_t cut[2] = {(hsize_t)(f->rows_kept * array_chunk[0]), (hsize_t)array_shape[1]};
        assert_true(H5Dset_extent(set, cut) >= 0);
    }
    H5Dclose(set);
    H5Fclose(file);
}

/* A file that is open, as the index wants it. */
typedef struct opened {
    slci_h5_id file;
    slci_h5_index_request request;
} opened;

/* Takes the lock; the caller closes. */
static void open_file(const char *path, const form *f, opened *out) {
    struct stat about;
    TEST_OK(slci_h5_open(path, NULL, &out->file));
    slci_h5_lock();
    out->request = (slci_h5_index_request){.path = path,
                                           .name = "/x",
                                           .dataset = H5Dopen2((hid_t)out->file, "/x", H5P_DEFAULT),
                                           .descriptor = open(path, O_RDONLY),
                                           .rank = 2};
    assert_true(out->request.dataset >= 0);
    assert_int_equal(fstat(out->request.descriptor, &about), 0);
    out->request.file_bytes = (int64_t)about.st_size;
    memcpy(out->request.shape, array_shape, sizeof array_shape);
    memcpy(out->request.chunk, array_chunk, sizeof array_chunk);
    if (f->rows_kept > 0) {
        out->request.shape[0] = f->rows_kept * array_chunk[0];
    }
}

static void close_file(opened *self) {
    H5Dclose((hid_t)self->request.dataset);
    (void)close(self->request.descriptor);
    slci_h5_unlock();
    slci_h5_close(self->file);
}

static void expect_entry(const opened *self, const form *f, const slci_h5_index *index, int64_t k) {
    const hsize_t at[2] = {(hsize_t)(k / COLUMNS * array_chunk[0]),
                           (hsize_t)(k % COLUMNS * array_chunk[1])};
    unsigned mask = 0;
    haddr_t offset = 0;
    hsize_t bytes = 0;
    assert_true(
        H5Dget_chunk_info_by_coord((hid_t)self->request.dataset, at, &mask, &offset, &bytes) >= 0);
    assert_int_equal(bytes != 0, is_written(f, k));
    assert_int_equal(index->bytes[k], bytes);
    if (bytes > 0) { /* HDF5 1.10 gives addresses behind the user block */
        assert_int_equal(index->offset[k], offset + f->user_block);
        assert_int_equal(index->mask[k], mask);
    }
}

static void expect_file(const char *path, const form *f) {
    opened self;
    slci_h5_index *index = NULL;
    int64_t n_stored = 0;
    int64_t stored_bytes = 0;
    write_file(path, f);
    open_file(path, f, &self);
    TEST_OK(slci_h5_index_create(&self.request, &index));
    assert_int_equal(index->n_chunks, f->rows_kept > 0 ? f->rows_kept * COLUMNS : N);
    for (int64_t k = 0; k < index->n_chunks; k++) {
        expect_entry(&self, f, index, k);
        n_stored += is_written(f, k) ? 1 : 0;
        stored_bytes += (int64_t)index->bytes[k];
    }
    assert_int_equal(index->n_stored, n_stored);
    assert_int_equal(index->stored_bytes, stored_bytes);
    slci_h5_index_destroy(index);
    close_file(&self);
}

static void every_chunk_is_found(void **state) {
    const test_place *self = *state;
    static const form forms[] = {
        {.address_bytes = 8},
        {.address_bytes = 8, .is_backwards = true, .skips_a_filter = true},
        {.address_bytes = 8, .fanout = 2, .gaps = 3},
        {.address_bytes = 8, .fanout = 500, .gaps = 2, .is_backwards = true},
        {.address_bytes = 4, .fanout = 3, .user_block = 1024, .skips_a_filter = true},
        {.address_bytes = 8, .user_block = 512, .gaps = 5, .rows_kept = 11, .can_grow = true},
        {.address_bytes = 8, .gaps = 1},
        {.address_bytes = 8, .is_late = true, .gaps = 4, .skips_a_filter = true},
        {.address_bytes = 8, .is_late = true, .can_grow = true, .user_block = 512, .gaps = 2},
    };
    for (int64_t i = 0; i < TEST_COUNT(forms); i++) {
        expect_file(self->path, &forms[i]);
    }
}

/* The file, whole. The caller frees it. */
static unsigned char *read_bytes(const char *path, int64_t *n) {
    struct stat about;
    const int descriptor = open(path, O_RDONLY);
    assert_int_equal(fstat(descriptor, &about), 0);
    unsigned char *bytes = test_allocate((int64_t)about.st_size);
    assert_int_equal(read(descriptor, bytes, (size_t)about.st_size), about.st_size);
    (void)close(descriptor);
    *n = (int64_t)about.st_size;
    return bytes;
}

/* A node that leads to others says that they begin elsewhere: each of them is whole and in order, but
 * who looks a chunk up does not come to it. */
static void a_tree_that_leads_astray_is_refused(void **state) {
    const test_place *self = *state;
    const form f = {.address_bytes = 8, .fanout = 4};
    int64_t n;
    write_file(self->path, &f);
    unsigned char *bytes = read_bytes(self->path, &n);
    int64_t at = 0;
    while (at + 8 < n && (memcmp(bytes + at, "TREE\1\1", 6) != 0 || bytes[at + 6] < 3)) {
        at++;
    }
    assert_true(at + 8 < n);
    free(bytes);
    const int64_t second_key = at + 24 + 32 + 8; /* behind a head, a key and an address */
    const uint64_t astray[2] = {0, 0};
    const int descriptor = open(self->path, O_RDWR);
    assert_int_equal(pwrite(descriptor, astray, sizeof astray, (off_t)(second_key + 8)),
                     sizeof astray);
    (void)close(descriptor);
    opened file;
    slci_h5_index *index = NULL;
    open_file(self->path, &f, &file);
    const slc_status status = slci_h5_index_create(&file.request, &index);
    slci_h5_index_destroy(index);
    close_file(&file);
    if (status == SLC_OK) {
        TEST_SKIP("this HDF5 lists chunks, and none has to be looked up");
    }
    TEST_FAILS(status, SLC_ERROR_INPUT, "its index names 713 chunks, of which");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_chunk_is_found, make, test_place_destroy),
        cmocka_unit_test_setup_teardown(a_tree_that_leads_astray_is_refused, make,
                                        test_place_destroy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
