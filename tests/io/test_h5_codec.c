/* Sluice's own filters, alone and inside HDF5, on files that other programs wrote. */
#include <hdf5.h>

#include "io/chunk_stage.h"
#include "io/h5_codec.h"
#include "io/h5_data.h"
#include "tests/support/test_support.h"

static void lzf_runs(void **state) {
    (void)state;
    /* "abc", then 5 bytes from distance 3, then 9 + 1 bytes from distance 1. */
    const unsigned char in[] = {2, 'a', 'b', 'c', 3 << 5, 2, 7 << 5, 1, 0};
    char out[32];
    assert_int_equal(slci_lzf_decode(in, sizeof in, out, sizeof out), 18);
    assert_memory_equal(out, "abcabcabbbbbbbbbbb", 18);
    assert_int_equal(slci_lzf_decode(in, sizeof in, out, 17), -1);
    assert_int_equal(slci_lzf_decode(in, sizeof in - 1, out, sizeof out), -1);
    const unsigned char before[] = {0, 'a', 1 << 5, 1};
    assert_int_equal(slci_lzf_decode(before, sizeof before, out, sizeof out), -1);
}

static void lz4_runs(void **state) {
    (void)state;
    /* 3 literals and a match of 4 + 1 at distance 3; 20 literals (15 + 5) at the end. */
    const unsigned char in[] = {0x31, 'a', 'b', 'c', 3,   0,   0xF0, 5,   'A', 'B',
                                'C',  'D', 'E', 'F', 'G', 'H', 'I',  'J', 'K', 'L',
                                'M',  'N', 'O', 'P', 'Q', 'R', 'S',  'T'};
    char out[32];
    assert_int_equal(slci_lz4_decode(in, sizeof in, out, sizeof out), 28);
    assert_memory_equal(out, "abcabcabABCDEFGHIJKLMNOPQRST", 28);
    for (int64_t n = 0; n < (int64_t)sizeof in; n++) {
        assert_true(slci_lz4_decode(in, n, out, sizeof out) < 28);
    }
    assert_int_equal(slci_lz4_decode(in, sizeof in, out, 27), -1);
    const unsigned char far[] = {0x11, 'a', 2, 0, 0x00};
    assert_int_equal(slci_lz4_decode(far, sizeof far, out, sizeof out), -1);
}

/* Reads a whole dataset; the caller frees. */
static slc_status read_set(const char *path, const char *name, slci_h5_dataset *set, void **raw) {
    slci_h5_id file;
    *raw = NULL;
    SLC_TRY(slci_h5_open(path, NULL, &file));
    slc_status status = slci_h5_dataset_open(file, path, name, set);
    if (status == SLC_OK) {
        int64_t bytes = set->type.bytes;
        const int64_t origin[SLC_MAX_RANK] = {0};
        for (int d = 0; d < set->rank; d++) {
            bytes *= set->shape[d];
        }
        *raw = test_allocate(bytes);
        status = slci_h5_dataset_read(set, origin, set->shape, *raw);
        slci_h5_dataset_close(set);
    }
    slci_h5_close(file);
    return status;
}

/* The sum of a dataset of real numbers. */
static double sum_of(const char *relative, const char *name) {
    char path[TEST_PATH_BYTES];
    test_need_shared(relative, path);
    slci_h5_dataset set;
    void *raw;
    TEST_OK(read_set(path, name, &set, &raw));
    int64_t n = 1;
    for (int d = 0; d < set.rank; d++) {
        n *= set.shape[d];
    }
    double *numbers = test_allocate(n * 8);
    slci_element_to_f64(&set.type, raw, set.type.bytes, n, numbers);
    double sum = 0;
    for (int64_t k = 0; k < n; k++) {
        sum += numbers[k];
    }
    free(numbers);
    free(raw);
    return sum;
}

/* B23, B27, B28, B30. */
static void case_files_have_their_sums(void **state) {
    (void)state;
    assert_true(sum_of("cases/zstd_nosize.h5", "/x") == 4950.0);
    assert_true(sum_of("cases/fill.h5", "/x") == -1350.0);
    assert_true(sum_of("cases/filtermask.h5", "/x") == 44850.0);
    assert_true(sum_of("cases/bigendian.h5", "/i") == 5050.0);
}

/* The examples of the HDF Group hold i·j - j for row i and column j (32 x 64). */
static void examples_of_the_filters_are_read(void **state) {
    (void)state;
    double sum = 0;
    for (int i = 0; i < 32; i++) {
        for (int j = 0; j < 64; j++) {
            sum += i * j - j;
        }
    }
    assert_true(sum_of("data/hdf5/h5ex_d_zstd.h5", "/DS1") == 133693440.0); /* by zstd -dc */
    assert_true(sum_of("data/hdf5/h5ex_d_lzf.h5", "/DS1") == sum);
    assert_true(sum_of("data/hdf5/h5ex_d_bshuf.h5", "/DS1") == sum);
    assert_true(sum_of("data/hdf5/h5ex_d_lz4.h5", "/DS1") == sum);
}

/* bitshuffle's own regression file: each array once as it is and once compressed, with LZ4 and zstd. */
static void bitshuffle_reads_what_bitshuffle_wrote(void **state) {
    (void)state;
    char path[TEST_PATH_BYTES];
    test_need_shared("data/hdf5/bitshuffle_regression_0.4.0.h5", path);
    static const char *const kinds[] = {"compressed", "compressed_zstd"};
    slci_h5_id file;
    TEST_OK(slci_h5_open(path, NULL, &file));
    char names[64][64];
    hsize_t n = 0;
    const hid_t group = H5Gopen2((hid_t)file, "/original", H5P_DEFAULT);
    assert_true(group >= 0);
    H5Gget_num_objs(group, &n);
    assert_true(n > 0 && n <= 64);
    for (hsize_t k = 0; k < n; k++) {
        H5Gget_objname_by_idx(group, k, names[k], sizeof names[k]);
    }
    H5Gclose(group);
    slci_h5_close(file);
    int64_t n_compared = 0;
    for (hsize_t k = 0; k < n; k++) {
        char name[160];
        slci_h5_dataset set;
        void *plain;
        void *decoded;
        (void)snprintf(name, sizeof name, "/original/%.60s", names[k]);
        TEST_OK(read_set(path, name, &set, &plain));
        for (int64_t c = 0; c < TEST_COUNT(kinds); c++) {
            (void)snprintf(name, sizeof name, "/%s/%.60s", kinds[c], names[k]);
            TEST_OK(read_set(path, name, &set, &decoded));
            int64_t bytes = set.type.bytes;
            for (int d = 0; d < set.rank; d++) {
                bytes *= set.shape[d];
            }
            assert_memory_equal(plain, decoded, (size_t)bytes);
            n_compared++;
            free(decoded);
        }
        free(plain);
    }
    assert_true(n_compared >= 2);
}

/* Without any plugin; what blosc makes of damaged chunks is looked at in test_chunk_codec.c. */
static void blosc_is_read_where_its_library_is(void **state) {
    (void)state;
    slci_chunk_pipeline pipeline = {.n_filters = 1, .chunk_bytes = 8, .element_bytes = 4};
    pipeline.filter[0].id = SLCI_FILTER_BLOSC;
    char why[SLCI_CHUNK_WHY_BYTES];
    if (!slci_chunk_pipeline_check(&pipeline, why, sizeof why)) {
        TEST_SKIP("%s", why);
    }
    assert_true(sum_of("data/hdf5/hdf5plugin_blosc.h5", "/dset") != 0.0);
}

static void a_missing_filter_is_named(void **state) {
    (void)state;
    char path[TEST_PATH_BYTES];
    slci_h5_dataset set;
    void *raw;
    test_need_shared("cases/missing_filter.h5", path);
    TEST_FAILS(read_set(path, "/x", &set, &raw), SLC_ERROR_UNSUPPORTED,
               "dataset /x needs filter 32999 (unknown), not available; HDF5_PLUGIN_PATH=");
}

/* Puts one chunk of 100 i32 with these raw bytes behind the filter. */
static void put_chunk(const char *path, int filter, unsigned n_values, const unsigned *values,
                      const void *bytes, size_t n) {
    const hsize_t dims[1] = {100};
    const hsize_t at[1] = {0};
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(list, 1, dims);
    H5Pset_filter(list, filter, H5Z_FLAG_OPTIONAL, n_values, values);
    const hid_t space = H5Screate_simple(1, dims, NULL);
    const hid_t set = H5Dcreate2(file, "x", H5T_STD_I32LE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    assert_true(set >= 0 && H5Dwrite_chunk(set, H5P_DEFAULT, 0, at, n, bytes) >= 0);
    H5Dclose(set);
    H5Sclose(space);
    H5Pclose(list);
    H5Fclose(file);
}

/* A short chunk would make HDF5 read past its end, a long one is not what the shape says. */
static void chunks_of_a_wrong_size_are_refused(void **state) {
    (void)state;
    char directory[TEST_PATH_BYTES];
    char path[TEST_PATH_BYTES];
    test_directory_create(directory);
    test_join(directory, "x.h5", path);
    slci_h5_dataset set;
    void *raw;
    /* A zstd frame (no checksum, size 4, one raw block) of 4 bytes in place of 400. */
    const unsigned char zstd[] = {0x28, 0xB5, 0x2F, 0xFD, 0x20, 4, 0x21, 0, 0, 1, 2, 3, 4};
    const unsigned level[1] = {3};
    put_chunk(path, 32015, 1, level, zstd, sizeof zstd);
    TEST_FAILS(read_set(path, "/x", &set, &raw), SLC_ERROR_INPUT, "dataset /x cannot be read");
    free(raw);
    put_chunk(path, 32015, 1, level, zstd, sizeof zstd - 2);
    TEST_FAILS(read_set(path, "/x", &set, &raw), SLC_ERROR_INPUT, "dataset /x cannot be read");
    free(raw);
    const unsigned char lzf[] = {3, 1, 2, 3, 4};
    const unsigned lzf_values[3] = {4, 261, 4};
    put_chunk(path, 32000, 3, lzf_values, lzf, sizeof lzf);
    TEST_FAILS(read_set(path, "/x", &set, &raw), SLC_ERROR_INPUT, "dataset /x cannot be read");
    free(raw);
    const unsigned char shuffled[] = {0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 32, 0, 1, 2, 3, 4};
    const unsigned shuffle_values[5] = {0, 3, 4, 0, 2};
    put_chunk(path, 32008, 5, shuffle_values, shuffled, sizeof shuffled);
    TEST_FAILS(read_set(path, "/x", &set, &raw), SLC_ERROR_INPUT, "dataset /x cannot be read");
    free(raw);
    const unsigned unknown_mode[5] = {0, 3, 4, 0, 9};
    put_chunk(path, 32008, 5, unknown_mode, shuffled, sizeof shuffled);
    TEST_FAILS(read_set(path, "/x", &set, &raw), SLC_ERROR_UNSUPPORTED, "compression 9");
    test_directory_remove(directory);
}

/* What is written through the filter comes back, and damage is noticed. */
static void zstd_is_written_with_a_checksum(void **state) {
    (void)state;
    unsigned char *data = test_allocate(400);
    for (int k = 0; k < 400; k++) {
        data[k] = (unsigned char)(k / 7);
    }
    slci_h5_lock();
    slci_h5_unlock();
    const unsigned level[1] = {3};
    const int64_t expected[SLCI_H5_CODECS] = {[SLCI_H5_ZSTD] = 400};
    for (int64_t flipped = -1; flipped < 40; flipped++) {
        size_t capacity = 400;
        void *buffer = H5allocate_memory(400, false);
        memcpy(buffer, data, 400);
        const size_t stored = slci_h5_zstd_filter(0, 1, level, 400, &capacity, &buffer);
        assert_true(stored > 20 && stored < 400);
        if (flipped >= 0) {
            ((unsigned char *)buffer)[flipped % (int64_t)stored] ^= 0x10;
        }
        slci_h5_codec_expect(expected);
        const size_t made =
            slci_h5_zstd_filter(H5Z_FLAG_REVERSE, 1, level, stored, &capacity, &buffer);
        /* Some bits of a frame's header mean nothing; what passes must be right. */
        assert_true(made == 0 || made == 400);
        assert_true(flipped >= 0 || made == 400);
        if (made != 0) {
            assert_memory_equal(buffer, data, 400);
        }
        H5free_memory(buffer);
    }
    free(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lzf_runs),
        cmocka_unit_test(lz4_runs),
        cmocka_unit_test(case_files_have_their_sums),
        cmocka_unit_test(examples_of_the_filters_are_read),
        cmocka_unit_test(bitshuffle_reads_what_bitshuffle_wrote),
        cmocka_unit_test(blosc_is_read_where_its_library_is),
        cmocka_unit_test(a_missing_filter_is_named),
        cmocka_unit_test(chunks_of_a_wrong_size_are_refused),
        cmocka_unit_test(zstd_is_written_with_a_checksum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
