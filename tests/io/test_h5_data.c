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
               "needs /x in the file source.h5, which cannot be opened");
    slci_h5_close(file);
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
        CASE(external_files_are_looked_for),
        CASE(a_set_with_a_missing_filter_is_refused),
        CASE(empty_datasets),
        CASE(parts_of_contiguous_data_are_about_equal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
