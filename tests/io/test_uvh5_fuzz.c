/* Damaged files: whatever bytes are changed, opening and reading end in a status. */
#include <math.h>

#include "tests/support/test_uvh5.h"

enum { ROWS = 40, CHANNELS = 4, POLS = 2, SEEDS = 120 };

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

static void changed_bytes_end_in_a_status(void **state) {
    (void)state;
    char directory[TEST_PATH_BYTES];
    char path[TEST_PATH_BYTES];
    char broken[TEST_PATH_BYTES];
    test_directory_create(directory);
    test_join(directory, "a.uvh5", path);
    test_join(directory, "b.uvh5", broken);
    create_mixed(path);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    unsigned char *bytes = test_allocate(1 << 20);
    const int64_t n = (int64_t)fread(bytes, 1, 1 << 20, file);
    fclose(file);
    int64_t n_refused = 0;
    const char *first_text = getenv("FUZZ_FIRST");
    const char *seeds_text = getenv("FUZZ_SEEDS");
    const uint64_t first = first_text ? strtoull(first_text, NULL, 10) : 0;
    const uint64_t seeds = seeds_text ? strtoull(seeds_text, NULL, 10) : SEEDS;
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        uint64_t random = seed;
        unsigned char *copy = test_allocate(n);
        memcpy(copy, bytes, (size_t)n);
        const int64_t n_changes = 1 + test_random_below(&random, 8);
        for (int64_t k = 0; k < n_changes; k++) {
            copy[test_random_below(&random, n)] ^= (unsigned char)(1 + test_random_below(&random, 255));
        }
        file = fopen(broken, "wb");
        assert_non_null(file);
        fwrite(copy, 1, (size_t)n, file);
        fclose(file);
        free(copy);
        if (first_text) { fprintf(stderr, "seed %d\n", (int)seed); }
        n_refused += try_all(broken) != SLC_OK;
    }
    print_message("%d of %d damaged files refused\n", (int)n_refused, (int)seeds);
    TEST_OK(try_all(path));
    free(bytes);
    test_directory_remove(directory);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(changed_bytes_end_in_a_status)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
