/* Damaged files: whatever bytes are changed in the data of a file (numbers and strings of the header,
 * compressed chunks), opening and reading end in a status.
 * The structures of HDF5 itself are left alone here: with one byte changed in them, the library reads
 * past its own buffers for about one file in two thousand (1.10.8). */
#include <math.h>

#include "tests/support/test_uvh5.h"

/* ThreadSanitizer lays memory out so that such a read may end the process, and one thread has no races
 * to find. */
#if defined(__SANITIZE_THREAD__)
static const bool may_damage = false;
#else
static const bool may_damage = true;
#endif

enum { ROWS = 40, CHANNELS = 4, POLS = 2, SEEDS = 500 };

/* A set with zstd, shuffle and deflate in it. */
static void create_mixed(const char *path) {
    enum { N = ROWS * CHANNELS * POLS };
    const int64_t shape[3] = {ROWS, CHANNELS, POLS};
    const hsize_t chunk[3] = {16, 4, 2};
    const unsigned level[1] = {3};
    float numbers[2 * N];
    for (int k = 0; k < 2 * N; k++) {
        numbers[k] = (float)(k / 3);
    }
    test_uvh5_create(path, ROWS, CHANNELS, POLS);
    slc_source_destroy(test_vis_open(path, NULL)); /* brings the zstd filter into the process */
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(list, 3, chunk);
    H5Pset_shuffle(list);
    H5Pset_filter(list, 32015, H5Z_FLAG_MANDATORY, 1, level);
    const hid_t type = test_h5_complex(H5T_NATIVE_FLOAT, "r", "i");
    test_h5_put(path, "/Data/visdata", type, type, 3, shape, list, numbers);
    H5Tclose(type);
    H5Pclose(list);
    list = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(list, 3, chunk);
    H5Pset_deflate(list, 4);
    H5Pset_fletcher32(list);
    test_h5_put(path, "/Data/nsamples", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, 3, shape, list, numbers);
    H5Pclose(list);
}

/* Opens and reads all; any status will do, but what is read has to be usable. */
static slc_status try_all(const char *path) {
    const slc_vis_options options = {0};
    slc_source *source = NULL;
    SLC_TRY(slc_vis_open(&path, 1, &options, &source));
    const slc_vis_meta *meta = slc_vis_get_meta(source);
    slc_status status = SLC_OK;
    if (meta->n_rows <= ROWS && meta->n_channels <= CHANNELS) {
        double uvw[ROWS * 3];
        float vis[ROWS * CHANNELS * 2];
        float weight[ROWS * CHANNELS];
        void *const dst[SLC_VIS_N_FIELDS] = {uvw, vis, weight};
        const slc_box box = slc_box_1d(0, meta->n_rows);
        slc_vis_counts counts;
        status = slc_vis_read_counted(source, &box, dst, &counts);
        for (int64_t k = 0; status == SLC_OK && k < meta->n_rows * meta->n_channels; k++) {
            assert_true(isfinite(vis[2 * k]) && isfinite(weight[k]) && weight[k] >= 0.0F);
        }
    }
    slc_source_destroy(source);
    return status;
}

/* Where the data of all datasets lie in a file. */
typedef struct data_bytes {
    int64_t n;
    int64_t at[1 << 16];
} data_bytes;

static void add_bytes(data_bytes *where, int64_t offset, int64_t n) {
    for (int64_t k = 0; k < n && where->n < TEST_COUNT(where->at); k++) {
        where->at[where->n++] = offset + k;
    }
}

static herr_t add_dataset(hid_t object, const char *name, const H5O_info_t *info, void *context) {
    if (info->type != H5O_TYPE_DATASET) {
        return 0;
    }
    const hid_t set = H5Dopen2(object, name, H5P_DEFAULT);
    const hid_t space = H5Dget_space(set);
    hsize_t n_chunks = 0;
    const haddr_t offset = H5Dget_offset(set);
    if (offset != HADDR_UNDEF) {
        add_bytes(context, (int64_t)offset, (int64_t)H5Dget_storage_size(set));
    } else if (H5Dget_num_chunks(set, space, &n_chunks) >= 0) {
        for (hsize_t k = 0; k < n_chunks; k++) {
            haddr_t at;
            hsize_t bytes;
            assert_true(H5Dget_chunk_info(set, space, k, NULL, NULL, &at, &bytes) >= 0);
            add_bytes(context, (int64_t)at, (int64_t)bytes);
        }
    }
    H5Sclose(space);
    H5Dclose(set);
    return 0;
}

static data_bytes *find_data(const char *path) {
    data_bytes *where = test_allocate(sizeof *where);
    where->n = 0;
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_INC, add_dataset, where, H5O_INFO_BASIC) >=
                0);
    H5Fclose(file);
    assert_true(where->n > 1000);
    return where;
}

/* Changes 1 to 8 bytes of a copy of `bytes` [n] and writes it. */
static void write_damaged(const char *path, const unsigned char *bytes, int64_t n,
                          const data_bytes *where, uint64_t seed) {
    uint64_t random = seed;
    unsigned char *copy = test_allocate(n);
    memcpy(copy, bytes, (size_t)n);
    const int64_t n_changes = 1 + test_random_below(&random, 8);
    for (int64_t k = 0; k < n_changes; k++) {
        const int64_t at = where->at[test_random_below(&random, where->n)];
        copy[at] ^= (unsigned char)(1 + test_random_below(&random, 255));
    }
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(copy, 1, (size_t)n, file), n);
    fclose(file);
    free(copy);
}

static void changed_bytes_end_in_a_status(void **state) {
    (void)state;
    char directory[TEST_PATH_BYTES];
    char path[TEST_PATH_BYTES];
    char broken[TEST_PATH_BYTES];
    if (!may_damage) {
        TEST_SKIP("libhdf5 1.10.8 reads past its buffers on damaged types, which crashes under "
                  "ThreadSanitizer");
    }
    test_directory_create(directory);
    test_join(directory, "a.uvh5", path);
    test_join(directory, "b.uvh5", broken);
    create_mixed(path);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    unsigned char *bytes = test_allocate(1 << 20);
    const int64_t n = (int64_t)fread(bytes, 1, 1 << 20, file);
    fclose(file);
    data_bytes *where = find_data(path);
    int64_t n_refused = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        write_damaged(broken, bytes, n, where, seed);
        n_refused += try_all(broken) != SLC_OK;
    }
    print_message("%d of %d damaged files refused\n", (int)n_refused, SEEDS);
    TEST_OK(try_all(path));
    free(bytes);
    free(where);
    test_directory_remove(directory);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(changed_bytes_end_in_a_status)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
