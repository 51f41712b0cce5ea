/* Datasets as sources and sinks: every type in both directions and both byte orders, boxes in any
 * order, names, chunks and their counts, and what is refused. */
#include <hdf5.h>
#include <unistd.h>

#include "io/h5_array.h"
#include "tests/support/test_child.h"
#include "tests/support/test_uvh5.h"

static int make(void **state) {
    (void)test_place_create(state, "a.h5");
    return 0;
}

static slc_source *open_set(const char *path, const char *dataset) {
    slc_source *source = NULL;
    TEST_OK(slc_h5_array_open(&(slc_h5_array_options){.path = path, .dataset = dataset}, &source));
    return source;
}

static slc_status try_open(const char *path, const char *dataset) {
    slc_source *source = NULL;
    const slc_status status =
        slc_h5_array_open(&(slc_h5_array_options){.path = path, .dataset = dataset}, &source);
    slc_source_destroy(source);
    return status;
}

static slc_box whole(const slc_layout *layout) {
    slc_box box = {.rank = layout->rank};
    memcpy(box.extent, layout->shape, sizeof box.extent);
    return box;
}

/* Everything in it. The caller frees. */
static void *read_all(slc_source *source) {
    void *values = test_allocate(slc_layout_bytes(&source->fields[0]));
    void *const dst[] = {values};
    const slc_box box = whole(&source->fields[0]);
    TEST_OK(slc_source_read(source, &box, dst));
    return values;
}

static void write_all(const char *path, const char *dataset, const slc_layout *layout,
                      const void *values) {
    const slc_h5_array_output output = {.path = path,
                                        .dataset = dataset,
                                        .layout = *layout,
                                        .overwrite = true};
    const slc_box box = whole(layout);
    slc_sink *sink = NULL;
    TEST_OK(slc_h5_array_check(&output));
    TEST_OK(slc_h5_array_create(&output, &sink));
    TEST_OK(slc_sink_write(sink, &box, values));
    TEST_OK(slc_sink_commit(sink));
    slc_sink_destroy(sink);
}

/* ---- types ------------------------------------------------------------------------------------ */

static void every_type_comes_back(void **state) {
    const test_place *self = *state;
    for (int t = 0; t < SLC_DTYPE_COUNT; t++) {
        slc_layout layout;
        unsigned char values[5 * 16];
        TEST_OK(slc_layout_dense((slc_dtype)t, 2, (const int64_t[]){1, 5}, &layout));
        test_fill(values, sizeof values, (uint64_t)t);
        if (t == SLC_FIXED128) {
            const slc_h5_array_output output = {.path = self->path,
                                                .dataset = "/v",
                                                .layout = layout,
                                                .overwrite = true};
            TEST_FAILS(slc_h5_array_check(&output), SLC_ERROR_ARGUMENT, "no type for fixed128");
            continue;
        }
        write_all(self->path, "/v", &layout, values);
        slc_source *source = open_set(self->path, "v");
        assert_int_equal(source->fields[0].dtype, t);
        assert_int_equal(source->shared_rank, 2);
        assert_int_equal(source->fields[0].shape[1], 5);
        void *found = read_all(source);
        assert_memory_equal(found, values, (size_t)slc_layout_bytes(&layout));
        free(found);
        TEST_OK(slc_source_finish(source));
        slc_source_destroy(source);
    }
}

/* 1, 2, …, 6 in `file_type`, read as the native type. */
static void expect_numbers(const char *path, hid_t file_type, hid_t memory_type, slc_dtype dtype,
                           const void *values) {
    const int64_t six = 6;
    test_h5_put(path, "/x", file_type, memory_type, 1, &six, H5P_DEFAULT, values);
    slc_source *source = open_set(path, "/x");
    assert_int_equal(source->fields[0].dtype, dtype);
    void *found = read_all(source);
    assert_memory_equal(found, values, (size_t)slc_layout_bytes(&source->fields[0]));
    free(found);
    slc_source_destroy(source);
}

static void the_other_byte_order_is_turned(void **state) {
    const test_place *self = *state;
    const int16_t i16[6] = {1, -2, 300, -400, 32767, -32768};
    const uint32_t u32[6] = {1, 2, 3, 4, 5, UINT32_MAX};
    const int64_t i64[6] = {1, -2, INT64_MIN, INT64_MAX, 5, 6};
    const float f32[6] = {1, -2.5F, 1e30F, 4, 5, 6};
    const double f64[6] = {1, -2.5, 1e300, 4, 5, 6};
    const double c128[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, -1e200};
    expect_numbers(self->path, H5T_STD_I16BE, H5T_NATIVE_INT16, SLC_I16, i16);
    expect_numbers(self->path, H5T_STD_U32BE, H5T_NATIVE_UINT32, SLC_U32, u32);
    expect_numbers(self->path, H5T_STD_I64BE, H5T_NATIVE_INT64, SLC_I64, i64);
    expect_numbers(self->path, H5T_IEEE_F32BE, H5T_NATIVE_FLOAT, SLC_F32, f32);
    expect_numbers(self->path, H5T_IEEE_F64BE, H5T_NATIVE_DOUBLE, SLC_F64, f64);
    const hid_t big = test_h5_complex(H5T_IEEE_F64BE, "r", "i");
    const hid_t native = test_h5_complex(H5T_NATIVE_DOUBLE, "r", "i");
    expect_numbers(self->path, big, native, SLC_C128, c128);
    H5Tclose(big);
    H5Tclose(native);
}

/* Under other names, the imaginary part first, or with gaps between. */
static void complex_numbers_of_any_form(void **state) {
    const test_place *self = *state;
    const int64_t two = 2;
    const float parts[4] = {1, -2, 3, -4};
    const hid_t named = test_h5_complex(H5T_NATIVE_FLOAT, "real", "imag");
    test_h5_put(self->path, "/named", named, named, 1, &two, H5P_DEFAULT, parts);
    const hid_t swapped = test_h5_complex(H5T_NATIVE_FLOAT, "i", "r");
    test_h5_put(self->path, "/swapped", swapped, swapped, 1, &two, H5P_DEFAULT, parts);
    const hid_t padded = H5Tcreate(H5T_COMPOUND, 24);
    H5Tinsert(padded, "r", 4, H5T_NATIVE_FLOAT);
    H5Tinsert(padded, "i", 16, H5T_NATIVE_FLOAT);
    float wide[12] = {9, 1, 9, 9, -2, 9, 9, 3, 9, 9, -4, 9};
    test_h5_put(self->path, "/padded", padded, padded, 1, &two, H5P_DEFAULT, wide);
    static const char *const names[] = {"/named", "/swapped", "/padded"};
    const float turned[4] = {-2, 1, -4, 3};
    for (int k = 0; k < 3; k++) {
        slc_source *source = open_set(self->path, names[k]);
        assert_int_equal(source->fields[0].dtype, SLC_C64);
        float *found = read_all(source);
        assert_memory_equal(found, k == 1 ? turned : parts, sizeof parts);
        free(found);
        slc_source_destroy(source);
    }
    H5Tclose(named);
    H5Tclose(swapped);
    H5Tclose(padded);
}

/* Booleans as h5py writes them, in both byte orders of a wider enum, and bits. */
static void enums_are_their_integers(void **state) {
    const test_place *self = *state;
    const int64_t three = 3;
    const int8_t bits[3] = {1, 0, 1};
    const int16_t codes[3] = {7, 300, 7};
    const hid_t boolean = H5Tcreate(H5T_ENUM, 1);
    const hid_t wide = H5Tenum_create(H5T_STD_I16BE);
    const hid_t native = H5Tenum_create(H5T_NATIVE_INT16);
    int16_t seven = 7;
    int16_t many = 300;
    H5Tconvert(H5T_NATIVE_INT16, H5T_STD_I16BE, 1, &seven, NULL, H5P_DEFAULT);
    H5Tconvert(H5T_NATIVE_INT16, H5T_STD_I16BE, 1, &many, NULL, H5P_DEFAULT);
    H5Tenum_insert(boolean, "FALSE", &bits[1]);
    H5Tenum_insert(boolean, "TRUE", &bits[0]);
    H5Tenum_insert(wide, "A", &seven);
    H5Tenum_insert(wide, "B", &many);
    H5Tenum_insert(native, "A", &codes[0]);
    H5Tenum_insert(native, "B", &codes[1]);
    test_h5_put(self->path, "/b", boolean, boolean, 1, &three, H5P_DEFAULT, bits);
    test_h5_put(self->path, "/w", wide, native, 1, &three, H5P_DEFAULT, codes);
    slc_source *source = open_set(self->path, "/b");
    int8_t *found = read_all(source);
    assert_memory_equal(found, bits, sizeof bits);
    free(found);
    slc_source_destroy(source);
    source = open_set(self->path, "/w");
    assert_int_equal(source->fields[0].dtype, SLC_I16);
    int16_t *found_codes = read_all(source);
    assert_memory_equal(found_codes, codes, sizeof codes);
    free(found_codes);
    slc_source_destroy(source);
    H5Tclose(boolean);
    H5Tclose(wide);
    H5Tclose(native);
}

static void other_types_are_refused(void **state) {
    const test_place *self = *state;
    const hid_t pair = test_h5_complex(H5T_NATIVE_INT16, "r", "i");
    const int64_t one = 1;
    test_h5_put_text(self->path, "/text", "abc");
    test_h5_put(self->path, "/ci16", pair, pair, 1, &one, H5P_DEFAULT, NULL);
    TEST_FAILS(try_open(self->path, "/text"), SLC_ERROR_UNSUPPORTED, "/text is string, expected");
    TEST_FAILS(try_open(self->path, "/ci16"), SLC_ERROR_UNSUPPORTED, "/ci16 is ");
    H5Tclose(pair);
}

/* ---- names ------------------------------------------------------------------------------------ */

static void missing_names_are_helped(void **state) {
    const test_place *self = *state;
    test_h5_put_integer(self->path, "/data", 1);
    TEST_FAILS(try_open(self->path, "/dta"), SLC_ERROR_INPUT,
               "/dta is missing; the datasets in it are /data");
    test_h5_put_integer(self->path, "/weights", 1);
    test_h5_put_integer(self->path, "/group/date", 1);
    test_h5_put_integer(self->path, "/dates", 1);
    test_h5_put_integer(self->path, "/day", 1);
    TEST_FAILS(try_open(self->path, "/dta"), SLC_ERROR_INPUT,
               "/dta is missing; the nearest datasets in it are /data, /day, /dates");
    TEST_FAILS(try_open(self->path, "/group"), SLC_ERROR_INPUT, "/group is not a dataset");
    TEST_FAILS(try_open(self->path, "/no/such"), SLC_ERROR_INPUT, "/no/such is missing");
    TEST_FAILS(try_open(self->path, "/a//b"), SLC_ERROR_ARGUMENT, "'/a//b' is no name");
    TEST_FAILS(try_open(self->path, "/"), SLC_ERROR_ARGUMENT, "is no name");
    TEST_FAILS(try_open(self->path, "/../x"), SLC_ERROR_ARGUMENT, "is no name");
    char longer[300];
    memset(longer, 'x', sizeof longer);
    longer[299] = '\0';
    TEST_FAILS(try_open(self->path, longer), SLC_ERROR_ARGUMENT, "at most");
    char absent[TEST_PATH_BYTES];
    test_join(self->directory, "absent.h5", absent);
    TEST_FAILS(try_open(absent, "/data"), SLC_ERROR_INPUT, "absent.h5: cannot be opened");
}

static void an_empty_file_has_no_names(void **state) {
    const test_place *self = *state;
    const hid_t file = H5Fcreate(self->path, H5F_ACC_EXCL, H5P_DEFAULT, H5P_DEFAULT);
    H5Fclose(file);
    TEST_FAILS(try_open(self->path, "/x"), SLC_ERROR_INPUT, "the file holds no dataset");
}

static void a_missing_filter_is_named(void **state) {
    (void)state;
    char path[TEST_PATH_BYTES];
    test_need_shared("cases/missing_filter.h5", path);
    TEST_FAILS(try_open(path, "/x"), SLC_ERROR_UNSUPPORTED, "needs filter 32999");
}

/* B43: what has no elements, or no shape at all. */
static void shapes_without_elements(void **state) {
    (void)state;
    char path[TEST_PATH_BYTES];
    test_need_shared("cases/empty.h5", path);
    slc_source *source = open_set(path, "/zero");
    assert_int_equal(source->fields[0].shape[0], 0);
    free(read_all(source));
    slc_source_destroy(source);
    TEST_FAILS(try_open(path, "/null"), SLC_ERROR_INPUT, "/null has no elements and no shape");
}

/* ---- chunks ----------------------------------------------------------------------------------- */

enum { ROWS = 20, COLUMNS = 12 };

/* [20, 12] in chunks of [8, 5], deflated, or with a filter that only HDF5 decodes. */
static void put_filtered(const char *path, bool is_for_library) {
    const int64_t shape[2] = {ROWS, COLUMNS};
    const hsize_t chunk[2] = {8, 5};
    int64_t values[ROWS * COLUMNS];
    for (int64_t k = 0; k < ROWS * COLUMNS; k++) {
        values[k] = 100 * (k / COLUMNS) + k % COLUMNS;
    }
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(list, 2, chunk);
    assert_true((is_for_library ? H5Pset_scaleoffset(list, H5Z_SO_INT, H5Z_SO_INT_MINBITS_DEFAULT)
                                : H5Pset_deflate(list, 1)) >= 0);
    test_h5_put(path, "/c", H5T_STD_I64LE, H5T_NATIVE_INT64, 2, shape, list, values);
    H5Pclose(list);
}

static void put_chunked(const char *path) {
    put_filtered(path, false);
}

static void boxes_of_chunks(void **state) {
    const test_place *self = *state;
    put_chunked(self->path);
    slc_source *source = open_set(self->path, "/c");
    assert_int_equal(slc_source_next_unit(source, 0, 0), 8);
    assert_int_equal(slc_source_next_unit(source, 0, 8), 16);
    assert_int_equal(slc_source_next_unit(source, 1, 4), 5);
    assert_int_equal(slc_h5_array_row_bytes(source, 0), 8 * 15 * 8);
    assert_int_equal(slc_h5_array_row_bytes(source, 1), 24 * 5 * 8);
    assert_true(slc_h5_array_stored_bytes(source) > 0);
    uint64_t random = 5;
    for (int turn = 0; turn < 50; turn++) {
        int64_t found[ROWS * COLUMNS];
        void *const dst[] = {found};
        slc_box box = {.rank = 2};
        box.origin[0] = test_random_below(&random, ROWS);
        box.origin[1] = test_random_below(&random, COLUMNS);
        box.extent[0] = test_random_below(&random, ROWS + 1 - box.origin[0]);
        box.extent[1] = test_random_below(&random, COLUMNS + 1 - box.origin[1]);
        TEST_OK(slc_source_read(source, &box, dst));
        for (int64_t k = 0; k < slc_box_count(&box); k++) {
            assert_int_equal(found[k], 100 * (box.origin[0] + k / box.extent[1]) + box.origin[1] +
                                           k % box.extent[1]);
        }
    }
    slc_source_destroy(source);
}

/* Rows in fours: without a cache each of the three rows of chunks is fetched for each read that
 * touches it, with one once. */
static int64_t count_chunks(const char *path, int64_t cache_bytes) {
    slc_source *source = open_set(path, "/c");
    int64_t found[ROWS * COLUMNS];
    void *const dst[] = {found};
    TEST_OK(slc_h5_array_set_cache(source, cache_bytes));
    for (int64_t row = 0; row < ROWS; row += 4) {
        slc_box box = {.rank = 2, .origin = {row, 0}, .extent = {4, COLUMNS}};
        TEST_OK(slc_source_read(source, &box, dst));
        assert_int_equal(found[0], 100 * row);
    }
    const int64_t n_chunks = source->counters.chunks_read;
    assert_int_equal(source->counters.chunks_decoded, n_chunks);
    assert_true(source->counters.bytes_read > 0);
    slc_source_destroy(source);
    return n_chunks;
}

static void chunks_are_counted(void **state) {
    const test_place *self = *state;
    put_chunked(self->path);
    assert_int_equal(count_chunks(self->path, 0), 5 * 3);
    assert_int_equal(count_chunks(self->path, 8 * 15 * 8), 3 * 3);
}

static slc_status read_one_row(void *context, int64_t row, int worker) {
    slc_source *source = context;
    int64_t found[COLUMNS];
    void *const dst[] = {found};
    const slc_box box = {.rank = 2, .origin = {row % ROWS, 0}, .extent = {1, COLUMNS}};
    (void)worker;
    SLC_TRY(slc_source_read(source, &box, dst));
    return found[0] == 100 * (row % ROWS) && found[COLUMNS - 1] == found[0] + COLUMNS - 1
               ? SLC_OK
               : SLC_FAIL(SLC_ERROR_INTERNAL, "row %lld is wrong", (long long)(row % ROWS));
}

/* Reading is thread-safe by HDF5 too; the thread sanitiser sees where it is not. */
static void threads_read_by_the_library(void **state) {
    const test_place *self = *state;
    const char *why = NULL;
    slc_pool *pool = NULL;
    put_filtered(self->path, true);
    slc_source *source = open_set(self->path, "/c");
    assert_string_equal(slc_h5_array_reader(source, &why), "library");
    TEST_OK(slc_h5_array_set_cache(source, 8 * 15 * 8));
    TEST_OK(slc_pool_create(3, &pool));
    TEST_OK(slc_pool_for(pool, INT64_C(4) * ROWS, read_one_row, source));
    slc_pool_destroy(pool);
    assert_true(source->counters.chunks_decoded >= 3 * 3);
    slc_source_destroy(source);
}

static void a_changed_file_is_noticed(void **state) {
    const test_place *self = *state;
    put_chunked(self->path);
    slc_source *source = open_set(self->path, "/c");
    TEST_OK(slc_source_finish(source));
    assert_int_equal(truncate(self->path, 100), 0);
    TEST_FAILS(slc_source_finish(source), SLC_ERROR_INPUT, "changed while it was read");
    slc_source_destroy(source);
}

/* ---- the sink --------------------------------------------------------------------------------- */

/* Writes [6, 7] in boxes of two rows and some columns, from the front or from the back. */
static char *write_in_pieces(const char *path, bool is_chunked, bool backwards, int64_t *n) {
    slc_h5_array_output output = {.path = path, .dataset = "/g/h/v", .overwrite = true};
    slc_sink *sink = NULL;
    TEST_OK(slc_layout_dense(SLC_F32, 2, (const int64_t[]){6, 7}, &output.layout));
    if (is_chunked) {
        output.chunk[0] = 4;
        output.chunk[1] = 3;
    }
    TEST_OK(slc_h5_array_create(&output, &sink));
    for (int64_t k = 0; k < 6; k++) {
        const int64_t piece = backwards ? 5 - k : k;
        slc_box box = {.rank = 2, .origin = {piece / 2 * 2, piece % 2 * 5}, .extent = {2, 5}};
        box.extent[1] = piece % 2 == 0 ? 5 : 2;
        float values[10];
        for (int64_t e = 0; e < slc_box_count(&box); e++) {
            values[e] = (float)(10 * (box.origin[0] + e / box.extent[1]) + box.origin[1] +
                                e % box.extent[1]);
        }
        TEST_OK(slc_sink_write(sink, &box, values));
    }
    assert_int_equal(access(path, F_OK), -1);
    TEST_OK(slc_sink_commit(sink));
    slc_sink_destroy(sink);
    char *bytes = test_file_read(path, n);
    slc_source *source = open_set(path, "/g/h/v");
    float *found = read_all(source);
    for (int64_t k = 0; k < 42; k++) {
        assert_true(found[k] == (float)(10 * (k / 7) + k % 7));
    }
    free(found);
    slc_source_destroy(source);
    assert_int_equal(remove(path), 0);
    return bytes;
}

static void the_order_of_boxes_does_not_show(void **state) {
    const test_place *self = *state;
    for (int is_chunked = 0; is_chunked < 2; is_chunked++) {
        int64_t n = 0;
        int64_t n_backwards = 0;
        char *bytes = write_in_pieces(self->path, is_chunked, false, &n);
        char *backwards = write_in_pieces(self->path, is_chunked, true, &n_backwards);
        assert_int_equal(n, n_backwards);
        assert_memory_equal(bytes, backwards, (size_t)n);
        free(bytes);
        free(backwards);
    }
}

static void single_values_and_empty_arrays(void **state) {
    const test_place *self = *state;
    slc_layout layout;
    const double value = 2.5;
    TEST_OK(slc_layout_dense(SLC_F64, 0, NULL, &layout));
    write_all(self->path, "/v", &layout, &value);
    slc_source *source = open_set(self->path, "/v");
    assert_int_equal(source->shared_rank, 0);
    double *found = read_all(source);
    assert_true(*found == 2.5);
    free(found);
    slc_source_destroy(source);
    TEST_OK(slc_layout_dense(SLC_F64, 2, (const int64_t[]){3, 0}, &layout));
    write_all(self->path, "/v", &layout, &value);
    source = open_set(self->path, "/v");
    assert_int_equal(source->fields[0].shape[0], 3);
    assert_int_equal(source->fields[0].shape[1], 0);
    free(read_all(source));
    slc_source_destroy(source);
}

static void files_that_exist_are_kept(void **state) {
    const test_place *self = *state;
    slc_h5_array_output output = {.path = self->path, .dataset = "/v"};
    slc_sink *sink = NULL;
    const int64_t four = 4;
    const int64_t values[4] = {1, 2, 3, 4};
    const slc_box box = slc_box_1d(0, 4);
    test_h5_put_i64(self->path, "/old", 1, &four, values);
    TEST_OK(slc_layout_dense(SLC_I64, 1, &four, &output.layout));
    TEST_FAILS(slc_h5_array_check(&output), SLC_ERROR_OUTPUT, "exists; overwriting");
    TEST_FAILS(slc_h5_array_create(&output, &sink), SLC_ERROR_OUTPUT, "exists; overwriting");
    output.overwrite = true;
    TEST_OK(slc_h5_array_create(&output, &sink));
    TEST_OK(slc_sink_write(sink, &box, values));
    slc_sink_destroy(sink); /* not committed */
    assert_int_equal(test_directory_count(self->directory), 1);
    slc_source *source = open_set(self->path, "/old");
    slc_source_destroy(source);
    output.chunk[0] = -1;
    TEST_FAILS(slc_h5_array_check(&output), SLC_ERROR_ARGUMENT, "a chunk of -1");
    output.chunk[0] = 100; /* of 4 elements: HDF5 refuses it, and its reason is handed on */
    TEST_FAILS(slc_h5_array_create(&output, &sink), SLC_ERROR_OUTPUT, "hunk size");
    assert_int_equal(test_directory_count(self->directory), 1);
    output.chunk[0] = 0;
    output.layout.shape[0] = INT64_MAX / 2;
    TEST_FAILS(slc_h5_array_check(&output), SLC_ERROR_ARGUMENT, "does not fit 63 bits");
}

/* Already where an output is settled, so that nobody counts memory for more than fit 63 bits. */
static void too_many_chunks_are_refused(void **state) {
    (void)state;
    static const int64_t shape[2] = {INT64_C(1) << 29, INT64_C(1) << 29};
    slc_h5_array_output output = {.path = "x.h5", .dataset = "/v", .chunk = {1, 1}};
    TEST_OK(slc_layout_dense(SLC_U8, 2, shape, &output.layout));
    for (int f = 0; f < 2; f++) {
        output.filter.kind = f == 0 ? SLC_H5_FILTER_NONE : SLC_H5_FILTER_DEFLATE;
        TEST_FAILS(slc_h5_array_settle(&output), SLC_ERROR_ARGUMENT,
                   "it would have 288230376151711744 chunks, at most 67108864 work");
        TEST_FAILS(slc_h5_array_check(&output), SLC_ERROR_ARGUMENT, "288230376151711744 chunks");
    }
    output.layout.shape[0] = INT64_C(1) << 40;
    TEST_FAILS(slc_h5_array_settle(&output), SLC_ERROR_ARGUMENT, "more than 9223372036854775807");
    output.chunk[0] = INT64_C(1) << 27;
    output.chunk[1] = INT64_C(1) << 16; /* as many bytes as do not fit a chunk */
    TEST_FAILS(slc_h5_array_settle(&output), SLC_ERROR_ARGUMENT, "less than 4 GiB");
    output.chunk[0] = INT64_C(1) << 16;
    output.chunk[1] = INT64_C(1) << 15;
    output.layout.shape[0] = INT64_C(1) << 28; /* 2^12 by 2^14 chunks: exactly the most */
    TEST_OK(slc_h5_array_settle(&output));
    output.layout.shape[0]++;
    TEST_FAILS(slc_h5_array_settle(&output), SLC_ERROR_ARGUMENT, "67125248 chunks");
}

typedef struct full_disk {
    char directory[TEST_PATH_BYTES];
    int64_t limit_bytes; /* 0: a small file system */
    slc_h5_filter filter;
    int64_t chunk; /* 0: none */
} full_disk;

/* Two mebibytes, on a disk of one or into a file of at most so many bytes. */
static slc_status fill_disk(void *context) {
    const full_disk *disk = context;
    char path[TEST_PATH_BYTES];
    const int64_t n = INT64_C(2) << 20;
    slc_h5_array_output output = {.path = path,
                                  .dataset = "/v",
                                  .chunk = {disk->chunk},
                                  .filter = disk->filter};
    test_join(disk->directory, "big.h5", path);
    SLC_TRY(slc_layout_dense(SLC_U8, 1, &n, &output.layout));
    if (disk->limit_bytes > 0) {
        test_limit_file_size(disk->limit_bytes);
    } else if (!test_mount_small(disk->directory, 1 << 20)) {
        return TEST_CHILD_SKIPPED;
    }
    void *values = test_allocate(n);
    const slc_box box = slc_box_1d(0, n);
    slc_sink *sink = NULL;
    test_fill(values, n, 1);
    slc_status status = slc_h5_array_create(&output, &sink);
    status = status == SLC_OK ? slc_sink_write(sink, &box, values) : status;
    status = status == SLC_OK ? slc_sink_commit(sink) : status;
    slc_failure failure;
    slc_status_capture(status, &failure);
    slc_sink_destroy(sink);
    free(values);
    if (test_directory_count(disk->directory) != 0) {
        return SLC_FAIL(SLC_ERROR_INTERNAL, "something is left behind");
    }
    return slc_status_restore(&failure);
}

static bool try_full_disk(full_disk *disk) {
    test_directory_create(disk->directory);
    for (disk->limit_bytes = 1; disk->limit_bytes < 4096; disk->limit_bytes += 397) {
        const slc_failure found = test_child_run(fill_disk, disk);
        test_child_expect(&found, SLC_ERROR_OUTPUT, "File too large");
    }
    disk->limit_bytes = 1 << 20;
    slc_failure found = test_child_run(fill_disk, disk);
    test_child_expect(&found, SLC_ERROR_OUTPUT, "File too large");
    disk->limit_bytes = 0;
    found = test_child_run(fill_disk, disk);
    test_directory_remove(disk->directory);
    if (found.status == TEST_CHILD_SKIPPED) {
        return false;
    }
    test_child_expect(&found, SLC_ERROR_OUTPUT, "No space left on device");
    return true;
}

static void full_disks_are_errors(void **state) {
    (void)state;
    full_disk disks[] = {
        {.chunk = 0}, /* in one piece */
        {.chunk = 1000},
        {.chunk = 1000, .filter = {.kind = SLC_H5_FILTER_DEFLATE, .level = 1}},
        {.chunk = 100000, .filter = {.kind = SLC_H5_FILTER_ZSTD}},
    };
    bool has_disk = true;
    for (int64_t k = 0; k < TEST_COUNT(disks); k++) {
        has_disk = try_full_disk(&disks[k]) && has_disk;
    }
    if (!has_disk) {
        TEST_SKIP("no file system can be mounted here; only the limits were tried");
    }
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, make, test_place_destroy)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(every_type_comes_back),
        CASE(the_other_byte_order_is_turned),
        CASE(complex_numbers_of_any_form),
        CASE(enums_are_their_integers),
        CASE(other_types_are_refused),
        CASE(missing_names_are_helped),
        CASE(an_empty_file_has_no_names),
        cmocka_unit_test(a_missing_filter_is_named),
        cmocka_unit_test(shapes_without_elements),
        CASE(boxes_of_chunks),
        CASE(chunks_are_counted),
        CASE(threads_read_by_the_library),
        CASE(a_changed_file_is_noticed),
        CASE(the_order_of_boxes_does_not_show),
        CASE(single_values_and_empty_arrays),
        CASE(files_that_exist_are_kept),
        cmocka_unit_test(too_many_chunks_are_refused),
        cmocka_unit_test(full_disks_are_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
