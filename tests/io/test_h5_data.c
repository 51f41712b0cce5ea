/* Datasets that cannot be read, small values of every kind, strings. */
#include <unistd.h>

#include "io/h5_array.h"
#include "io/h5_header.h"
#include "tests/support/test_uvh5.h"

static int make(void **state) {
    (void)test_place_create(state, "a.h5");
    return 0;
}

/* Reads one text; the file is opened and closed. */
static slc_status get_text(const char *path, const char *name, char *out, size_t capacity) {
    slci_h5_id file;
    TEST_OK(slci_h5_open(path, NULL, &file));
    const slc_status status = slci_h5_get_text(file, path, name, out, capacity);
    slci_h5_close(file);
    return status;
}

static void put_text(const char *path, H5T_str_t padding, size_t bytes, const char *text) {
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, bytes);
    H5Tset_strpad(type, padding);
    test_h5_put(path, "/t", type, type, 0, NULL, H5P_DEFAULT, text);
    H5Tclose(type);
}

/* B21. */
static void strings_of_every_kind(void **state) {
    const test_place *self = *state;
    char out[16];
    put_text(self->path, H5T_STR_NULLTERM, 8, "abc\0\0\0\0");
    TEST_OK(get_text(self->path, "/t", out, sizeof out));
    assert_string_equal(out, "abc");
    put_text(self->path, H5T_STR_NULLPAD, 3, "abc"); /* exactly full, no terminator */
    TEST_OK(get_text(self->path, "/t", out, sizeof out));
    assert_string_equal(out, "abc");
    put_text(self->path, H5T_STR_SPACEPAD, 6, "abc   ");
    TEST_OK(get_text(self->path, "/t", out, sizeof out));
    assert_string_equal(out, "abc");
    const hid_t variable = H5Tcopy(H5T_C_S1);
    H5Tset_size(variable, H5T_VARIABLE);
    H5Tset_cset(variable, H5T_CSET_UTF8);
    const char *text = "two\nlines, and too long";
    const int64_t one = 1;
    test_h5_put(self->path, "/t", variable, variable, 0, NULL, H5P_DEFAULT, &text);
    TEST_OK(get_text(self->path, "/t", out, sizeof out));
    assert_string_equal(out, "two lines, and ");
    test_h5_put(self->path, "/t", variable, variable, 1, &one, H5P_DEFAULT, &text);
    TEST_OK(get_text(self->path, "/t", out, sizeof out));
    test_h5_put(self->path, "/t", variable, variable, 0, NULL, H5P_DEFAULT, NULL);
    TEST_OK(get_text(self->path, "/t", out, sizeof out));
    assert_string_equal(out, "");
    H5Tclose(variable);
    TEST_OK(get_text(self->path, "/absent", out, sizeof out));
    assert_string_equal(out, "");
    test_h5_put_number(self->path, "/t", 1.0);
    TEST_FAILS(get_text(self->path, "/t", out, sizeof out), SLC_ERROR_INPUT, "expected a string");
}

static void numbers_are_checked(void **state) {
    const test_place *self = *state;
    const int64_t three = 3;
    const double values[3] = {1.0, 2.5, 3.0};
    const uint64_t large = (uint64_t)1 << 62;
    test_h5_put_integer(self->path, "/i", -7);
    test_h5_put_number(self->path, "/f", 2.5);
    test_h5_put_number(self->path, "/whole", 12.0);
    test_h5_put(self->path, "/large", H5T_STD_U64BE, H5T_NATIVE_UINT64, 0, NULL, H5P_DEFAULT,
                &large);
    test_h5_put_f64(self->path, "/three", 1, &three, values);
    test_h5_put_text(self->path, "/t", "x");
    slci_h5_id file;
    int64_t integer = 0;
    double number = 0;
    TEST_OK(slci_h5_open(self->path, NULL, &file));
    TEST_OK(slci_h5_get_integer(file, "F", "/i", &integer));
    assert_int_equal(integer, -7);
    TEST_OK(slci_h5_get_integer(file, "F", "/whole", &integer));
    assert_int_equal(integer, 12);
    TEST_OK(slci_h5_get_integer(file, "F", "/large", &integer));
    assert_true(integer == (int64_t)1 << 62);
    TEST_FAILS(slci_h5_get_integer(file, "F", "/f", &integer), SLC_ERROR_INPUT, "/f is 2.5");
    TEST_FAILS(slci_h5_get_integer(file, "F", "/no", &integer), SLC_ERROR_INPUT,
               "F: /no is missing");
    TEST_FAILS(slci_h5_get_integer(file, "F", "/t", &integer), SLC_ERROR_INPUT,
               "expected a number");
    TEST_FAILS(slci_h5_get_integer(file, "F", "/three", &integer), SLC_ERROR_INPUT, "holds 3");
    TEST_OK(slci_h5_get_integer_or(file, "F", "/no", 5, &integer));
    assert_int_equal(integer, 5);
    TEST_OK(slci_h5_get_number_or(file, "F", "/f", 0.0, &number));
    assert_true(number == 2.5);
    double *numbers = NULL;
    int64_t n = 0;
    TEST_OK(slci_h5_get_numbers(file, "F", "/three", 3, &numbers, &n));
    assert_true(n == 3 && numbers[1] == 2.5);
    free(numbers);
    TEST_FAILS(slci_h5_get_numbers(file, "F", "/three", 2, &numbers, &n), SLC_ERROR_INPUT,
               "at most 2");
    slci_h5_kind kind = SLCI_H5_OTHER;
    TEST_OK(slci_h5_find(file, self->path, "/i", &kind));
    assert_int_equal(kind, SLCI_H5_DATASET);
    TEST_OK(slci_h5_find(file, self->path, "/i/j", &kind));
    assert_int_equal(kind, SLCI_H5_ABSENT);
    slci_h5_close(file);
}

/* HDF5 reads fill values where the source of a virtual dataset is missing, and says nothing. */
static void virtual_datasets_need_their_sources(void **state) {
    const test_place *self = *state;
    const hsize_t dims[1] = {4};
    const int64_t four = 4;
    const int64_t values[4] = {1, 2, 3, 4};
    const int64_t origin[1] = {0};
    int64_t out[4] = {0};
    char source[TEST_PATH_BYTES];
    test_join(self->directory, "source.h5", source);
    test_h5_put_i64(source, "/x", 1, &four, values);
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    const hid_t space = H5Screate_simple(1, dims, NULL);
    assert_true(H5Pset_virtual(list, space, "source.h5", "/x", space) >= 0);
    test_h5_put(self->path, "/v", H5T_STD_I64LE, H5T_NATIVE_INT64, 1, &four, list, NULL);
    H5Sclose(space);
    H5Pclose(list);
    slci_h5_id file;
    slci_h5_dataset set;
    TEST_OK(slci_h5_open(self->path, NULL, &file));
    TEST_OK(slci_h5_dataset_open(file, self->path, "/v", &set));
    TEST_OK(slci_h5_dataset_read(&set, origin, &four, out));
    assert_memory_equal(out, values, sizeof out);
    slci_h5_dataset_close(&set);
    slci_h5_close(file);
    assert_int_equal(remove(source), 0);
    TEST_OK(slci_h5_open(self->path, NULL, &file));
    TEST_FAILS(slci_h5_dataset_open(file, self->path, "/v", &set), SLC_ERROR_INPUT,
               "needs /x in the file source.h5, which is not there");
    slci_h5_close(file);
}

/* Sources that are numbered: HDF5 takes as many as there are. */
static void sources_by_a_pattern_are_refused(void **state) {
    const test_place *self = *state;
    const hsize_t start = 0;
    const hsize_t stride = 4;
    const hsize_t count = H5S_UNLIMITED;
    const hsize_t n = 4;
    const hsize_t most = H5S_UNLIMITED;
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    const hid_t source = H5Screate_simple(1, &n, NULL);
    const hid_t space = H5Screate_simple(1, &n, &most);
    assert_true(H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, &stride, &count, &n) >= 0);
    assert_true(H5Pset_virtual(list, space, "part%b.h5", "/x", source) >= 0);
    const hid_t file = H5Fcreate(self->path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t set = H5Dcreate2(file, "/v", H5T_STD_I64LE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    assert_true(set >= 0 && H5Dclose(set) >= 0 && H5Fclose(file) >= 0);
    assert_true(H5Pclose(list) >= 0 && H5Sclose(source) >= 0 && H5Sclose(space) >= 0);
    slci_h5_id opened;
    slci_h5_dataset dataset;
    TEST_OK(slci_h5_open(self->path, NULL, &opened));
    TEST_FAILS(slci_h5_dataset_open(opened, self->path, "/v", &dataset), SLC_ERROR_UNSUPPORTED,
               "has its sources by a pattern (/x in part%b.h5): not supported");
    slci_h5_close(opened);
}

static void external_files_are_looked_for(void **state) {
    const test_place *self = *state;
    const int64_t four = 4;
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_external(list, "no_such_file.raw", 0, 32);
    test_h5_put(self->path, "/x", H5T_STD_I64LE, H5T_NATIVE_INT64, 1, &four, list, NULL);
    H5Pclose(list);
    slci_h5_id file;
    slci_h5_dataset set;
    TEST_OK(slci_h5_open(self->path, NULL, &file));
    TEST_FAILS(slci_h5_dataset_open(file, self->path, "/x", &set), SLC_ERROR_INPUT,
               "no_such_file.raw");
    slci_h5_close(file);
}

/* Writes so many bytes of a raw file, which are numbers of 8 bytes from 1 on. */
static void write_raw(const char *path, size_t bytes) {
    static const int64_t numbers[6] = {1, 2, 3, 4, 5, 6};
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(numbers, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
}

static void try_raw(const test_place *self, const char *dataset, const char *words) {
    slci_h5_id file;
    slci_h5_dataset set;
    TEST_OK(slci_h5_open(self->path, NULL, &file));
    if (words == NULL) {
        TEST_OK(slci_h5_dataset_open(file, self->path, dataset, &set));
        slci_h5_dataset_close(&set);
    } else {
        TEST_FAILS(slci_h5_dataset_open(file, self->path, dataset, &set), SLC_ERROR_INPUT, words);
    }
    slci_h5_close(file);
}

/* Four numbers of 8 bytes: two from byte 16 of one file on, the others in another one of any length. */
static void cut_external_files_are_refused(void **state) {
    const test_place *self = *state;
    const int64_t four = 4;
    const hsize_t n = 4;
    char raw[2][TEST_PATH_BYTES];
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    const hid_t virtual_list = H5Pcreate(H5P_DATASET_CREATE);
    const hid_t space = H5Screate_simple(1, &n, NULL);
    for (int k = 0; k < 2; k++) {
        test_join(self->directory, k == 0 ? "first.raw" : "second.raw", raw[k]);
        H5Pset_external(list, raw[k], k == 0 ? 16 : 0, k == 0 ? 16 : H5F_UNLIMITED);
    }
    test_h5_put(self->path, "/x", H5T_STD_I64LE, H5T_NATIVE_INT64, 1, &four, list, NULL);
    assert_true(H5Pset_virtual(virtual_list, space, ".", "/x", space) >= 0);
    test_h5_put(self->path, "/v", H5T_STD_I64LE, H5T_NATIVE_INT64, 1, &four, virtual_list, NULL);
    assert_true(H5Pclose(virtual_list) >= 0 && H5Pclose(list) >= 0 && H5Sclose(space) >= 0);
    write_raw(raw[0], 32);
    write_raw(raw[1], 16);
    try_raw(self, "/x", NULL);
    try_raw(self, "/v", NULL);
    write_raw(raw[0], 31);
    try_raw(self, "/x", "dataset /x keeps 16 bytes in the file ");
    try_raw(self, "/v", "from its byte 16 on, but that has 31: damaged data");
    write_raw(raw[0], 32);
    write_raw(raw[1], 0);
    try_raw(self, "/x", "from its byte 0 on, but that has 0: damaged data");
}

/* By an external link to the file that they are in, and by one to another file, which leads back. */
static void chunks_behind_a_link_back_are_found(void **state) {
    const test_place *self = *state;
    enum { N = 1000 };
    const int64_t n = N;
    const int64_t origin = 0;
    const hsize_t chunk = 100;
    static const char *const names[] = {"/self", "/there"};
    char other[TEST_PATH_BYTES];
    float values[N];
    for (int k = 0; k < N; k++) {
        values[k] = (float)k;
    }
    test_join(self->directory, "other.h5", other);
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    assert_true(H5Pset_chunk(list, 1, &chunk) >= 0 && H5Pset_deflate(list, 1) >= 0);
    test_h5_put(self->path, "/x", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, 1, &n, list, values);
    assert_true(H5Pclose(list) >= 0);
    const hid_t here = H5Fopen(self->path, H5F_ACC_RDWR, H5P_DEFAULT);
    const hid_t away = H5Fcreate(other, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Lcreate_external(self->path, "/x", here, "/self", H5P_DEFAULT, H5P_DEFAULT) >=
                    0 &&
                H5Lcreate_external(other, "/back", here, "/there", H5P_DEFAULT, H5P_DEFAULT) >= 0 &&
                H5Lcreate_external(self->path, "/x", away, "/back", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    assert_true(H5Fclose(away) >= 0 && H5Fclose(here) >= 0);
    for (int64_t k = 0; k < TEST_COUNT(names); k++) {
        slci_h5_id file;
        slci_h5_dataset set;
        float found[N] = {0.0F};
        TEST_OK(slci_h5_open(self->path, NULL, &file));
        TEST_OK(slci_h5_dataset_open(file, self->path, names[k], &set));
        TEST_OK(slci_h5_dataset_read_past(&set, NULL));
        assert_non_null(set.chunks);
        TEST_OK(slci_h5_dataset_read(&set, &origin, &n, found));
        assert_memory_equal(found, values, sizeof found);
        slci_h5_dataset_close(&set);
        slci_h5_close(file);
    }
}

/* B32 in a visibility set: before any reading, and by the dataset's name. */
static void a_set_with_a_missing_filter_is_refused(void **state) {
    const test_place *self = *state;
    const int64_t shape[3] = {12, 3, 2};
    const hsize_t chunk[3] = {4, 3, 2};
    const unsigned value[1] = {0};
    test_uvh5_create(self->path, 12, 3, 2);
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(list, 3, chunk);
    H5Pset_filter(list, 32999, H5Z_FLAG_OPTIONAL, 1, value);
    test_h5_put(self->path, "/Data/flags", H5T_STD_I8LE, H5T_NATIVE_INT8, 3, shape, list, NULL);
    H5Pclose(list);
    TEST_FAILS(
        test_vis_try(self->path, NULL), SLC_ERROR_UNSUPPORTED,
        "dataset /Data/flags needs filter 32999 (unknown), not available; HDF5_PLUGIN_PATH=");
}

/* B26: what has no elements is not a number; a null array is. */
static void empty_datasets(void **state) {
    (void)state;
    char path[TEST_PATH_BYTES];
    slci_h5_id file;
    slci_h5_dataset set;
    double number = 0;
    test_need_shared("cases/empty.h5", path);
    TEST_OK(slci_h5_open(path, NULL, &file));
    TEST_OK(slci_h5_dataset_open(file, path, "/zero", &set));
    assert_true(set.rank == 2 && set.shape[0] == 0 && set.shape[1] == 64);
    const int64_t origin[2] = {0, 0};
    TEST_OK(slci_h5_dataset_read(&set, origin, set.shape, NULL));
    slci_h5_dataset_close(&set);
    TEST_OK(slci_h5_get_number_or(file, path, "/null", 9.0, &number));
    assert_true(number == 9.0);
    TEST_OK(slci_h5_get_number_or(file, path, "/scalar", 9.0, &number));
    assert_true(number == 3.0);
    slci_h5_close(file);
}

/* However the box is shaped, so that threads end together; 7 along the slowest dimension is fewer than
 * there are parts. */
static void parts_of_contiguous_data_are_about_equal(void **state) {
    const test_place *self = *state;
    enum { N_PARTS = 16, SLOW = 7, MIDDLE = 30, FAST = 40 };
    const int64_t shape[3] = {SLOW, MIDDLE, FAST};
    const slc_h5_array_options options = {.path = self->path, .dataset = "/x"};
    const slc_box boxes[] = {
        {.rank = 3, .extent = {SLOW, MIDDLE, FAST}},
        {.rank = 3, .origin = {2, 1, 0}, .extent = {5, MIDDLE - 2, FAST}},
        {.rank = 3, .origin = {3, 4, 0}, .extent = {1, 25, FAST}},
        {.rank = 3, .origin = {0, 5, 0}, .extent = {SLOW, 1, FAST}},
    };
    double values[SLOW * MIDDLE * FAST];
    double found[SLOW * MIDDLE * FAST];
    void *const dst[] = {found};
    slc_source *source = NULL;
    test_fill_f64(values, SLOW * MIDDLE * FAST, 3);
    test_h5_put_f64(self->path, "/x", 3, shape, values);
    TEST_OK(slc_h5_array_open(&options, &source));
    for (int64_t b = 0; b < TEST_COUNT(boxes); b++) {
        const int64_t bytes = slc_box_count(&boxes[b]) * (int64_t)sizeof(double);
        for (int part = 0; part < N_PARTS; part++) {
            const int64_t before = source->counters.bytes_read;
            TEST_OK(slc_source_read_part(source, &boxes[b], dst, part, N_PARTS));
            const int64_t n = source->counters.bytes_read - before;
            assert_in_range(n * N_PARTS, bytes * 3 / 4, bytes * 5 / 4);
        }
    }
    slc_source_destroy(source);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, make, test_place_destroy)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(strings_of_every_kind),
        CASE(numbers_are_checked),
        CASE(virtual_datasets_need_their_sources),
        CASE(sources_by_a_pattern_are_refused),
        CASE(external_files_are_looked_for),
        CASE(cut_external_files_are_refused),
        CASE(chunks_behind_a_link_back_are_found),
        CASE(a_set_with_a_missing_filter_is_refused),
        CASE(empty_datasets),
        CASE(parts_of_contiguous_data_are_about_equal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
