/* The decoders against HDF5: chunks that its own filters made, and every file of the shared data,
 * compared with H5Dread. Sluice's filters are not brought into HDF5 here, so that nothing is compared
 * with itself. */
#include <hdf5.h>

#include "io/chunk_codec.h"
#include "tests/support/test_guard.h"
#include "tests/support/test_support.h"

static void add_filter(hid_t list, unsigned k, slci_chunk_pipeline *pipeline) {
    unsigned flags;
    unsigned config;
    unsigned values[SLCI_CHUNK_FILTER_VALUES] = {0};
    size_t n_values = SLCI_CHUNK_FILTER_VALUES;
    slci_chunk_filter *filter = &pipeline->filter[k];
    filter->id = (int)H5Pget_filter2(list, k, &flags, &n_values, values, 0, NULL, &config);
    filter->n_values =
        n_values > SLCI_CHUNK_FILTER_VALUES ? SLCI_CHUNK_FILTER_VALUES : (int)n_values;
    for (int v = 0; v < filter->n_values; v++) {
        filter->values[v] = values[v];
    }
}

/* False where the dataset is not chunked, or not for the decoders; chunk[rank]. */
static bool pipeline_of(hid_t set, slci_chunk_pipeline *pipeline, hsize_t *chunk, int rank) {
    char why[SLCI_CHUNK_WHY_BYTES];
    const hid_t list = H5Dget_create_plist(set);
    const hid_t type = H5Dget_type(set);
    memset(pipeline, 0, sizeof *pipeline);
    bool is_chunked = H5Pget_layout(list) == H5D_CHUNKED;
    if (is_chunked) {
        assert_int_equal(H5Pget_chunk(list, rank, chunk), rank);
        pipeline->n_filters = H5Pget_nfilters(list);
        pipeline->element_bytes = pipeline->chunk_bytes = (int64_t)H5Tget_size(type);
        for (int d = 0; d < rank; d++) {
            pipeline->chunk_bytes *= (int64_t)chunk[d];
        }
        for (int k = 0; k < pipeline->n_filters && k < SLCI_CHUNK_MAX_FILTERS; k++) {
            add_filter(list, (unsigned)k, pipeline);
        }
        is_chunked = slci_chunk_pipeline_check(pipeline, why, sizeof why);
        if (!is_chunked) {
            print_message("left out: %s\n", why);
        }
    }
    H5Tclose(type);
    H5Pclose(list);
    return is_chunked;
}

/* The stored chunk at `at`, decoded into *out, in memory that ends at a guarded page. */
static slc_status decode_at(hid_t set, const slci_chunk_pipeline *pipeline, const hsize_t *at,
                            test_guard *out) {
    hsize_t n = 0;
    uint32_t mask = 0;
    assert_true(H5Dget_chunk_storage_size(set, at, &n) >= 0);
    test_guard stored;
    test_guard_open((int64_t)n, &stored);
    assert_true(H5Dread_chunk(set, H5P_DEFAULT, at, &mask, stored.bytes) >= 0);
    slci_chunk_decoder *decoder = NULL;
    TEST_OK(slci_chunk_decoder_create(pipeline, &decoder));
    const slc_status status =
        slci_chunk_decode(decoder, mask, stored.bytes, (int64_t)n, out->bytes);
    slci_chunk_decoder_destroy(decoder);
    test_guard_close(&stored);
    return status;
}

/* ---- HDF5's own encoders ---------------------------------------------------------------------- */

typedef enum step { END, SHUFFLE, DEFLATE, FLETCHER, SZIP_EC, SZIP_NN, N_STEPS } step;

static void set_steps(hid_t list, const step *steps) {
    for (int k = 0; steps[k] != END; k++) {
        herr_t code = 0;
        switch (steps[k]) {
        case SHUFFLE:
            code = H5Pset_shuffle(list);
            break;
        case DEFLATE:
            code = H5Pset_deflate(list, 6);
            break;
        case FLETCHER:
            code = H5Pset_fletcher32(list);
            break;
        case SZIP_EC:
            code = H5Pset_szip(list, H5_SZIP_EC_OPTION_MASK, 8);
            break;
        default:
            code = H5Pset_szip(list, H5_SZIP_NN_OPTION_MASK, 32);
            break;
        }
        assert_true(code >= 0);
    }
}

static hid_t memory_file(void) {
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    assert_true(H5Pset_fapl_core(access, 1 << 20, false) >= 0);
    const hid_t file = H5Fcreate("memory.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    assert_true(file >= 0);
    H5Pclose(access);
    return file;
}

/* One chunk of n elements written through the steps, and decoded. */
static void there_and_back(hid_t type, int64_t n, const step *steps, uint64_t seed) {
    const hsize_t dims[1] = {(hsize_t)n};
    const hsize_t at[1] = {0};
    const int64_t bytes = n * (int64_t)H5Tget_size(type);
    const hid_t file = memory_file();
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(list, 1, dims);
    set_steps(list, steps);
    const hid_t space = H5Screate_simple(1, dims, NULL);
    const hid_t set = H5Dcreate2(file, "x", type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    assert_true(set >= 0);
    unsigned char *raw = test_allocate(bytes);
    test_fill(raw, bytes, seed);
    for (int64_t k = 0; k < bytes; k++) {
        raw[k] = (unsigned char)(k % 3 == 0 ? raw[k] & 3 : k / 100);
    }
    assert_true(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, raw) >= 0);
    assert_true(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
    slci_chunk_pipeline pipeline;
    hsize_t chunk[1];
    if (pipeline_of(set, &pipeline, chunk, 1)) {
        test_guard out;
        test_guard_open(bytes, &out);
        TEST_OK(decode_at(set, &pipeline, at, &out));
        assert_memory_equal(out.bytes, raw, (size_t)bytes);
        test_guard_close(&out);
    }
    free(raw);
    H5Dclose(set);
    H5Sclose(space);
    H5Pclose(list);
    H5Fclose(file);
}

static void what_hdf5_writes_is_read(void **state) {
    (void)state;
    static const step pipes[][4] = {
        {END},
        {SHUFFLE, END},
        {DEFLATE, END},
        {FLETCHER, END},
        {SHUFFLE, DEFLATE, END},
        {SHUFFLE, DEFLATE, FLETCHER},
        {FLETCHER, SHUFFLE, DEFLATE},
        {SHUFFLE, FLETCHER, DEFLATE},
    };
    const hid_t types[] = {H5T_STD_I8LE,   H5T_STD_U16LE,  H5T_STD_I32BE,
                           H5T_IEEE_F32LE, H5T_IEEE_F64LE, H5Tcreate(H5T_OPAQUE, 13)};
    static const int64_t counts[] = {1, 7, 64, 1000, 4099};
    uint64_t seed = 1;
    for (int64_t p = 0; p < TEST_COUNT(pipes); p++) {
        step steps[4] = {END, END, END, END};
        memcpy(steps, pipes[p], 3 * sizeof steps[0]);
        for (int64_t t = 0; t < TEST_COUNT(types); t++) {
            for (int64_t c = 0; c < TEST_COUNT(counts); c++) {
                there_and_back(types[t], counts[c], steps, seed++);
            }
        }
    }
    H5Tclose(types[5]);
}

/* Words of 0 and 65535 only, where a sum modulo 65535 has two names for 0. */
static void checksums_of_extremes_are_right(void **state) {
    (void)state;
    const hsize_t at[1] = {0};
    static const unsigned char bytes[] = {0x00, 0xFF};
    for (int64_t n = 1; n < 40000; n = n * 3 + 1) {
        for (int b = 0; b < 2; b++) {
            const hsize_t dims[1] = {(hsize_t)n};
            const hid_t file = memory_file();
            const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
            H5Pset_chunk(list, 1, dims);
            H5Pset_fletcher32(list);
            const hid_t space = H5Screate_simple(1, dims, NULL);
            const hid_t set =
                H5Dcreate2(file, "x", H5T_STD_U8LE, space, H5P_DEFAULT, list, H5P_DEFAULT);
            unsigned char *raw = test_allocate(n);
            memset(raw, bytes[b], (size_t)n);
            assert_true(H5Dwrite(set, H5T_STD_U8LE, H5S_ALL, H5S_ALL, H5P_DEFAULT, raw) >= 0);
            assert_true(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
            slci_chunk_pipeline pipeline;
            hsize_t chunk[1];
            test_guard out;
            test_guard_open(n, &out);
            assert_true(pipeline_of(set, &pipeline, chunk, 1));
            TEST_OK(decode_at(set, &pipeline, at, &out));
            assert_memory_equal(out.bytes, raw, (size_t)n);
            test_guard_close(&out);
            free(raw);
            H5Dclose(set);
            H5Sclose(space);
            H5Pclose(list);
            H5Fclose(file);
        }
    }
}

static void szip_is_read(void **state) {
    (void)state;
    unsigned about = 0;
    if (H5Zget_filter_info(H5Z_FILTER_SZIP, &about) < 0 ||
        (about & H5Z_FILTER_CONFIG_ENCODE_ENABLED) == 0) {
        TEST_SKIP("this HDF5 cannot encode szip");
    }
    static const step pipes[][4] = {{SZIP_EC, END},
                                    {SZIP_NN, END},
                                    {SHUFFLE, SZIP_NN, END},
                                    {SZIP_NN, FLETCHER, END}};
    const hid_t types[] = {H5T_STD_U8LE,  H5T_STD_I16BE,  H5T_STD_I32LE,
                           H5T_STD_I32BE, H5T_IEEE_F32LE, H5T_IEEE_F64LE};
    static const int64_t counts[] = {32, 50, 1000, 5001};
    uint64_t seed = 1;
    for (int64_t p = 0; p < TEST_COUNT(pipes); p++) {
        for (int64_t t = 0; t < TEST_COUNT(types); t++) {
            for (int64_t c = 0; c < TEST_COUNT(counts); c++) {
                there_and_back(types[t], counts[c], pipes[p], seed++);
            }
        }
    }
}

/* ---- files of others -------------------------------------------------------------------------- */

typedef struct tally {
    int64_t n_decoded, n_compared;
} tally;

/* The part of a chunk inside the dataset, from its decoded bytes. */
static void crop(const unsigned char *chunk_bytes, int rank, const hsize_t *chunk,
                 const hsize_t *count, size_t element, unsigned char *out) {
    hsize_t n = 1;
    for (int d = 0; d < rank; d++) {
        n *= count[d];
    }
    for (hsize_t k = 0; k < n; k++) {
        hsize_t rest = k;
        hsize_t from = 0;
        hsize_t stride = 1;
        for (int d = rank - 1; d >= 0; d--) {
            from += rest % count[d] * stride;
            rest /= count[d];
            stride *= chunk[d];
        }
        memcpy(out + k * element, chunk_bytes + from * element, element);
    }
}

/* Decodes one chunk, and compares where HDF5 has the filters. */
static void compare_chunk(hid_t set, const slci_chunk_pipeline *pipeline, const hsize_t *at,
                          const hsize_t *chunk, tally *counts) {
    hsize_t dims[H5S_MAX_RANK] = {0};
    hsize_t count[H5S_MAX_RANK] = {0};
    const hid_t space = H5Dget_space(set);
    const int rank = H5Sget_simple_extent_dims(space, dims, NULL);
    assert_in_range(rank, 1, H5S_MAX_RANK);
    for (int d = 0; d < rank; d++) {
        count[d] = dims[d] - at[d] < chunk[d] ? dims[d] - at[d] : chunk[d];
    }
    const size_t element = (size_t)pipeline->element_bytes;
    const hid_t type = H5Dget_type(set);
    const hid_t memory = H5Screate_simple(rank, count, NULL);
    test_guard out;
    test_guard_open(pipeline->chunk_bytes, &out);
    unsigned char *cropped = test_allocate(pipeline->chunk_bytes);
    unsigned char *expected = test_allocate(pipeline->chunk_bytes);
    TEST_OK(decode_at(set, pipeline, at, &out));
    counts->n_decoded++;
    H5Sselect_hyperslab(space, H5S_SELECT_SET, at, NULL, count, NULL);
    if (H5Dread(set, type, memory, space, H5P_DEFAULT, expected) >= 0) {
        crop(out.bytes, rank, chunk, count, element, cropped);
        assert_memory_equal(cropped, expected,
                            (size_t)H5Sget_simple_extent_npoints(memory) * element);
        counts->n_compared++;
    }
    free(expected);
    free(cropped);
    test_guard_close(&out);
    H5Sclose(memory);
    H5Tclose(type);
    H5Sclose(space);
}

static herr_t compare_object(hid_t object, const char *name, const H5O_info_t *info,
                             void *context) {
    enum { MOST = 200 };
    if (info->type != H5O_TYPE_DATASET) {
        return 0;
    }
    const hid_t set = H5Dopen2(object, name, H5P_DEFAULT);
    const hid_t type = H5Dget_type(set);
    const hid_t space = H5Dget_space(set);
    const int rank = H5Sget_simple_extent_ndims(space);
    slci_chunk_pipeline pipeline;
    hsize_t chunk[H5S_MAX_RANK] = {0};
    hsize_t n = 0;
    const bool is_plain = H5Tdetect_class(type, H5T_VLEN) <= 0 && H5Tis_variable_str(type) <= 0;
    if (rank > 0 && is_plain && pipeline_of(set, &pipeline, chunk, rank)) {
        H5Dget_num_chunks(set, space, &n);
    }
    for (hsize_t k = 0; k < n && k < MOST; k++) {
        hsize_t at[H5S_MAX_RANK] = {0};
        haddr_t address;
        hsize_t bytes;
        assert_true(H5Dget_chunk_info(set, space, k, at, NULL, &address, &bytes) >= 0);
        compare_chunk(set, &pipeline, at, chunk, context);
    }
    H5Sclose(space);
    H5Tclose(type);
    H5Dclose(set);
    return 0;
}

static void files_of_others_are_read(void **state) {
    (void)state;
    static const char *const files[] = {
        "bitshuffle_regression_0.4.0.h5",
        "h5ex_d_bshuf.h5",
        "h5ex_d_lz4.h5",
        "h5ex_d_lzf.h5",
        "h5ex_d_zstd.h5",
        "hdf5plugin_bitshuffle.h5",
        "hdf5plugin_blosc.h5",
        "jhdf_chunked_v4_datasets.hdf5",
        "jhdf_implicit_index_datasets.hdf5",
        "kerchunk_hdf5_compression_bitshuffle.h5",
        "kerchunk_hdf5_compression_lz4.h5",
        "ligo_H-H1_LOSC_4_V2-1126259446-32.hdf5",
        "pytables_szip.h5",
    };
    int64_t n_files = 0;
    for (int64_t k = 0; k < TEST_COUNT(files); k++) {
        char relative[128];
        char path[TEST_PATH_BYTES];
        tally counts = {0, 0};
        (void)snprintf(relative, sizeof relative, "data/hdf5/%s", files[k]);
        if (!test_shared_path(relative, path)) {
            continue;
        }
        n_files++;
        const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
        assert_true(file >= 0);
        assert_true(H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_INC, compare_object, &counts,
                              H5O_INFO_BASIC) >= 0);
        H5Fclose(file);
        print_message("%-42s %lld chunks decoded, %lld compared with HDF5\n", files[k],
                      (long long)counts.n_decoded, (long long)counts.n_compared);
    }
    if (n_files == 0) {
        TEST_SKIP("none of the shared files is here");
    }
}

int main(void) {
    (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_hdf5_writes_is_read),
        cmocka_unit_test(checksums_of_extremes_are_right),
        cmocka_unit_test(szip_is_read),
        cmocka_unit_test(files_of_others_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
