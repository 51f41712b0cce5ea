/* Datasets written with a filter: the elements come back, through Sluice and through HDF5, and the file
 * has the same bytes whatever boxes, order, threads and memory it was written with. */
#include <hdf5.h>

#include "io/h5_array.h"
#include "io/h5_file.h"
#include "tests/support/test_chunks.h"
#include "tests/support/test_uvh5.h"

static const char *const filters[] = {"none", "deflate:4", "zstd:3", "bitshuffle-lz4",
                                      "bitshuffle-zstd:1"};

static int make(void **state) {
    (void)test_place_create(state, "a.h5");
    return 0;
}

/* Writes `values` in boxes cut at random places, in a random order. */
static void write_cut(const slc_h5_array_output *output, const char *values, uint64_t seed) {
    enum { MOST = 512 };
    const slc_layout *layout = &output->layout;
    const int64_t element_bytes = slc_dtype_bytes(layout->dtype);
    slc_box boxes[MOST];
    int n = 0;
    int64_t cut[2][2] = {{0, 0}, {0, 0}};
    for (cut[0][0] = 0; cut[0][0] < layout->shape[0]; cut[0][0] += cut[0][1]) {
        cut[0][1] = 1 + test_random_below(&seed, layout->shape[0] - cut[0][0]);
        for (cut[1][0] = 0; cut[1][0] < layout->shape[1]; cut[1][0] += cut[1][1]) {
            cut[1][1] = 1 + test_random_below(&seed, layout->shape[1] - cut[1][0]);
            assert_true(n < MOST);
            boxes[n++] = (slc_box){.rank = 2,
                                   .origin = {cut[0][0], cut[1][0]},
                                   .extent = {cut[0][1], cut[1][1]}};
        }
    }
    slc_sink *sink = NULL;
    TEST_OK(slc_h5_array_create(output, &sink));
    for (; n > 0; n--) {
        const int64_t k = test_random_below(&seed, n);
        const slc_box box = boxes[k];
        boxes[k] = boxes[n - 1];
        char *part = test_allocate(slc_box_count(&box) * element_bytes);
        for (int64_t row = 0; row < box.extent[0]; row++) {
            memcpy(part + row * box.extent[1] * element_bytes,
                   values +
                       ((box.origin[0] + row) * layout->shape[1] + box.origin[1]) * element_bytes,
                   (size_t)(box.extent[1] * element_bytes));
        }
        TEST_OK(slc_sink_write(sink, &box, part));
        free(part);
    }
    TEST_OK(slc_sink_commit(sink));
    slc_sink_destroy(sink);
}

/* As HDF5 reads it. */
static void expect_by_hdf5(const char *path, hid_t type, const char *values, int64_t n_bytes) {
    char *found = test_allocate(n_bytes);
    slci_h5_lock();
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t set = H5Dopen2(file, "/g/v", H5P_DEFAULT);
    const herr_t result = H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, found);
    (void)H5Dclose(set);
    (void)H5Fclose(file);
    slci_h5_unlock();
    assert_true(result >= 0);
    assert_memory_equal(found, values, (size_t)n_bytes);
    free(found);
}

static void expect_by_sluice(const char *path, const char *values, int64_t n_bytes) {
    slc_source *source = NULL;
    char *found = test_allocate(n_bytes);
    void *const dst[] = {found};
    TEST_OK(slc_h5_array_open(&(slc_h5_array_options){.path = path, .dataset = "/g/v"}, &source));
    const slc_box box = {.rank = 2,
                         .extent = {source->fields[0].shape[0], source->fields[0].shape[1]}};
    TEST_OK(slc_source_read(source, &box, dst));
    assert_memory_equal(found, values, (size_t)n_bytes);
    slc_source_destroy(source);
    free(found);
}

static void filters_do_not_show(void **state) {
    const test_place *self = *state;
    slc_pool *pool = NULL;
    TEST_OK(slc_pool_create(3, &pool));
    for (int64_t f = 0; f < TEST_COUNT(filters); f++) {
        if (!test_filter_is_built(filters[f])) {
            continue;
        }
        for (int is_big_endian = 0; is_big_endian < 2; is_big_endian++) {
            slc_h5_array_output output = {.path = self->path,
                                          .dataset = "/g/v",
                                          .chunk = {7, 16},
                                          .is_big_endian = is_big_endian != 0,
                                          .overwrite = true};
            TEST_OK(slc_h5_filter_parse(filters[f], &output.filter));
            TEST_OK(slc_layout_dense(SLC_I32, 2, (const int64_t[]){50, 75}, &output.layout));
            int32_t values[50 * 75];
            for (int32_t k = 0; k < 50 * 75; k++) {
                values[k] = k * k - 70000;
            }
            char *first = NULL;
            int64_t n_first = 0;
            for (uint64_t seed = 0; seed < 6; seed++) {
                output.pool = seed % 3 == 0 ? NULL : pool;
                output.memory_bytes = seed < 3 ? 0 : 1;
                write_cut(&output, (const char *)values, seed);
                expect_by_sluice(self->path, (const char *)values, sizeof values);
                expect_by_hdf5(self->path, H5T_NATIVE_INT32, (const char *)values, sizeof values);
                int64_t n = 0;
                char *bytes = test_file_read(self->path, &n);
                first = first == NULL ? bytes : first;
                n_first = first == bytes ? n : n_first;
                assert_int_equal(n, n_first);
                assert_memory_equal(bytes, first, (size_t)n);
                if (bytes != first) {
                    free(bytes);
                }
            }
            free(first);
            assert_int_equal(test_directory_count(self->directory), 1);
        }
    }
    slc_pool_destroy(pool);
}

/* Whatever no box brings is zero, also where a chunk came in part. */
static void what_is_missing_is_zero(void **state) {
    const test_place *self = *state;
    slc_h5_array_output output = {.path = self->path,
                                  .dataset = "/g/v",
                                  .chunk = {4, 4},
                                  .filter = {.kind = SLC_H5_FILTER_DEFLATE}};
    slc_sink *sink = NULL;
    int16_t expected[9 * 9] = {0};
    const int16_t part[2] = {5, 6};
    expected[3 * 9 + 4] = 5;
    expected[3 * 9 + 5] = 6;
    TEST_OK(slc_layout_dense(SLC_I16, 2, (const int64_t[]){9, 9}, &output.layout));
    TEST_OK(slc_h5_array_create(&output, &sink));
    assert_int_equal(slc_sink_next_unit(sink, 0, 3), 4);
    assert_int_equal(slc_sink_next_unit(sink, 1, 4), 8);
    TEST_OK(slc_sink_write(sink, &(slc_box){.rank = 2, .origin = {3, 4}, .extent = {1, 2}}, part));
    TEST_OK(slc_sink_commit(sink));
    slc_sink_destroy(sink);
    expect_by_sluice(self->path, (const char *)expected, sizeof expected);
}

static void an_element_is_written_once(void **state) {
    const test_place *self = *state;
    slc_h5_array_output output = {.path = self->path,
                                  .dataset = "/g/v",
                                  .chunk = {2, 2},
                                  .filter = {.kind = SLC_H5_FILTER_ZSTD}};
    const float values[4] = {1, 2, 3, 4};
    const slc_box box = {.rank = 2, .extent = {2, 2}};
    slc_sink *sink = NULL;
    TEST_OK(slc_layout_dense(SLC_F32, 2, (const int64_t[]){2, 2}, &output.layout));
    TEST_OK(slc_h5_array_create(&output, &sink));
    TEST_OK(slc_sink_write(sink, &box, values));
    TEST_FAILS(slc_sink_write(sink, &box, values), SLC_ERROR_ARGUMENT, "written already");
    slc_sink_destroy(sink);
    assert_int_equal(test_directory_count(self->directory), 0);
}

static void chunks_are_chosen(void **state) {
    (void)state;
    int64_t chunk[SLC_MAX_RANK];
    slc_layout layout;
    TEST_OK(slc_layout_dense(SLC_F32, 2, (const int64_t[]){1000000, 1024}, &layout));
    slc_h5_array_choose_chunk(&layout, chunk);
    assert_int_equal(chunk[0], 512); /* 2 MiB of rows of 4 KiB, in equal parts: 1954 of them */
    assert_int_equal(chunk[1], 1024);
    TEST_OK(slc_layout_dense(SLC_F64, 2, (const int64_t[]){3, 1 << 20}, &layout));
    slc_h5_array_choose_chunk(&layout, chunk);
    assert_int_equal(chunk[0], 1);
    assert_int_equal(chunk[1], 1 << 18);
    TEST_OK(slc_layout_dense(SLC_F64, 2, (const int64_t[]){0, 5}, &layout));
    slc_h5_array_choose_chunk(&layout, chunk);
    assert_int_equal(chunk[0], 1);
    assert_int_equal(chunk[1], 5);
}

/* The filter and the attributes of another dataset. */
static void a_template_is_followed(void **state) {
    const test_place *self = *state;
    char path[TEST_PATH_BYTES];
    test_join(self->directory, "template.h5", path);
    slc_h5_array_output output = {.path = path,
                                  .dataset = "/g/v",
                                  .chunk = {2, 3},
                                  .filter = {.kind = SLC_H5_FILTER_DEFLATE,
                                             .level = 7,
                                             .is_unshuffled = true,
                                             .has_checksum = true}};
    const int32_t values[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    TEST_OK(slc_layout_dense(SLC_I32, 2, (const int64_t[]){4, 3}, &output.layout));
    write_cut(&output, (const char *)values, 1);
    const double scale = 2.5;
    slci_h5_lock();
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    const hid_t set = H5Dopen2(file, "/g/v", H5P_DEFAULT);
    const hid_t space = H5Screate(H5S_SCALAR);
    const hid_t attribute =
        H5Acreate2(set, "scale", H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT);
    (void)H5Awrite(attribute, H5T_NATIVE_DOUBLE, &scale);
    (void)H5Aclose(attribute);
    (void)H5Sclose(space);
    (void)H5Dclose(set);
    (void)H5Fclose(file);
    slci_h5_unlock();

    slc_h5_array_output copy = {.path = self->path,
                                .dataset = "/g/v",
                                .layout = output.layout,
                                .filter = {.kind = SLC_H5_FILTER_AS_INPUT},
                                .template_path = path,
                                .template_dataset = "/g/v"};
    slc_h5_array_output settled = copy;
    char text[SLC_H5_FILTER_BYTES];
    TEST_OK(slc_h5_array_settle(&settled));
    slc_h5_filter_print(&settled.filter, text);
    assert_string_equal(text, "deflate:7 unshuffled with fletcher32");
    assert_int_equal(settled.chunk[1], 3);
    write_cut(&copy, (const char *)values, 2);
    expect_by_hdf5(self->path, H5T_NATIVE_INT32, (const char *)values, sizeof values);
    double found = 0;
    slci_h5_lock();
    const hid_t made = H5Fopen(self->path, H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t read = H5Aopen_by_name(made, "/g/v", "scale", H5P_DEFAULT, H5P_DEFAULT);
    (void)H5Aread(read, H5T_NATIVE_DOUBLE, &found);
    (void)H5Aclose(read);
    (void)H5Fclose(made);
    slci_h5_unlock();
    assert_true(found == scale);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, make, test_place_destroy)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(filters_do_not_show),        CASE(what_is_missing_is_zero),
        CASE(an_element_is_written_once), cmocka_unit_test(chunks_are_chosen),
        CASE(a_template_is_followed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
