/* Transposing and repacking: every element stands where it belongs, whatever the budgets, chunks and
 * order; and chunks are decoded as often as the plan says. */
#include "app/rewrite.h"

#include <hdf5.h>

#include "tests/support/test_near.h"
#include "tests/support/test_rewritten.h"

/* Order number k of all n! orders of n dimensions. */
static void order_number(int64_t k, int n, int *order) {
    int left[SLC_MAX_RANK];
    for (int d = 0; d < n; d++) {
        left[d] = d;
    }
    for (int n_left = n; n_left > 0; n_left--) {
        const int taken = (int)(k % n_left);
        k /= n_left;
        order[n - n_left] = left[taken];
        left[taken] = left[n_left - 1];
    }
}

static void every_order_of_four_dimensions(void **state) {
    const test_way *self = *state;
    static const test_array arrays[] = {
        {.rank = 1, .shape = {997}, .chunk = {100}, .is_deflated = true},
        {.rank = 2, .shape = {61, 47}, .chunk = {7, 47}, .is_deflated = true},
        {.rank = 3, .shape = {13, 1, 29}, .chunk = {0}},
        {.rank = 4, .shape = {7, 5, 11, 3}, .chunk = {3, 2, 4, 3}, .is_deflated = true},
    };
    static const int64_t n_orders[] = {1, 2, 6, 24};
    for (int64_t a = 0; a < TEST_COUNT(arrays); a++) {
        test_rewrite_put(self->in, "/x", &arrays[a]);
        slc_rewrite_options options = test_rewrite_options(self);
        slc_rewrite_result result;
        options.n_axes = arrays[a].rank;
        for (int64_t k = 0; k < n_orders[a]; k++) {
            order_number(k, options.n_axes, options.axes);
            TEST_OK(slc_rewrite_run(&options, &result));
            test_rewrite_expect(self->out, "/g/y", &arrays[a], options.axes);
        }
    }
}

/* More dimensions than are cut. */
static void six_dimensions_and_none(void **state) {
    const test_way *self = *state;
    const test_array array = {.rank = 6, .shape = {2, 3, 4, 2, 5, 3}};
    const int order[] = {5, 0, 4, 1, 3, 2};
    slc_rewrite_options options = test_rewrite_options(self);
    slc_rewrite_result result;
    test_rewrite_put(self->in, "/x", &array);
    options.n_axes = 6;
    memcpy(options.axes, order, sizeof order);
    options.run.vram_bytes = 64 << 10;
    TEST_OK(slc_rewrite_run(&options, &result));
    test_rewrite_expect(self->out, "/g/y", &array, order);
    const test_array value = {.rank = 0};
    test_rewrite_put(self->in, "/x", &value);
    options.n_axes = 0;
    options.is_reversed = true;
    TEST_OK(slc_rewrite_run(&options, &result));
    test_rewrite_expect(self->out, "/g/y", &value, order);
    const test_array empty = {.rank = 2, .shape = {0, 5}};
    test_rewrite_put(self->in, "/x", &empty);
    TEST_OK(slc_rewrite_run(&options, &result));
    assert_int_equal(result.n_passes, 0);
    assert_int_equal(result.report.n_tiles, 0);
    test_rewrite_expect(self->out, "/g/y", &empty, (const int[]){1, 0});
}

/* B47: x[r, c] in rows of chunks, in 256 KiB of device memory and 8 MiB of host memory. */
static void a_corner_turn_fits_small_memories(void **state) {
    const test_way *self = *state;
    const test_array array = {.rank = 2,
                              .shape = {997, 1003},
                              .chunk = {10, 1003},
                              .is_deflated = true};
    slc_rewrite_options options = test_rewrite_options(self);
    slc_rewrite_result result;
    test_rewrite_put(self->in, "/x", &array);
    options.is_reversed = true;
    options.form.n_chunk = 2;
    options.form.chunk[0] = 17;
    options.form.chunk[1] = 997;
    options.run.vram_bytes = 256 << 10;
    options.run.ram_bytes = 16 << 20;
    TEST_OK(slc_rewrite_run(&options, &result));
    test_rewrite_expect(self->out, "/g/y", &array, (const int[]){1, 0});
    assert_int_equal(result.n_passes, 2);
    assert_in_range(result.chunks_decoded, 100, 102); /* opening may decode two, to see if it can */
    assert_true(result.memory.vram_peak_bytes <= 256 << 10);
    assert_true(result.memory.host_peak_bytes <= 16 << 20);
    assert_int_equal(result.stored.chunk[0], 17);
    assert_int_equal(result.store, SLC_REWRITE_MEMORY);
    /* In less than the array takes: through a file, of which nothing is left. */
    options.out_path = self->other;
    options.run.ram_bytes = result.memory.smallest_ram_bytes + (512 << 10);
    TEST_OK(slc_rewrite_run(&options, &result));
    assert_int_equal(result.store, SLC_REWRITE_FILE);
    assert_true(result.memory.host_peak_bytes <= options.run.ram_bytes);
    assert_true(result.memory.host_peak_bytes <= result.memory.host_planned_bytes);
    assert_int_equal(test_directory_count(self->directory), 3);
    test_expect_same_files(self->out, self->other);
    /* The same bytes in one pass, where a tile holds everything. */
    options.out_path = self->other;
    options.run.vram_bytes = 64 << 20;
    options.run.ram_bytes = 64 << 20;
    TEST_OK(slc_rewrite_run(&options, &result));
    assert_int_equal(result.n_passes, 1);
    assert_in_range(result.chunks_decoded, 100, 102);
    test_expect_same_files(self->out, self->other);
}

/* Chunks of both sides cut across each other, under many budgets: the same bytes, no chunk read more
 * than twice, and memory as planned. */
static void try_budgets(const test_way *self, const char *filter, int64_t least_ram) {
    const test_array array = {.rank = 3,
                              .shape = {40, 37, 53},
                              .chunk = {8, 5, 53},
                              .is_deflated = true};
    const int64_t n_chunks = 5 * 8;
    static const int64_t vram[] = {24 << 10, 64 << 10, 200 << 10, 1 << 20, 8 << 20};
    const int64_t ram[] = {least_ram, 32 << 20}; /* the array takes 306 KiB */
    slc_rewrite_options options = test_rewrite_options(self);
    slc_rewrite_result result;
    test_rewrite_put(self->in, "/x", &array);
    options.n_axes = 3;
    memcpy(options.axes, (const int[]){2, 0, 1}, 3 * sizeof(int));
    options.form.n_chunk = 3;
    memcpy(options.form.chunk, (const int64_t[]){6, 40, 9}, 3 * sizeof(int64_t));
    options.form.filters = true;
    TEST_OK(slc_h5_filter_parse(filter, &options.form.filter));
    TEST_OK(slc_rewrite_run(&options, &result));
    test_rewrite_expect(self->out, "/g/y", &array, (const int[]){2, 0, 1});
    options.out_path = self->other;
    for (int64_t b = 0; b < TEST_COUNT(vram) * TEST_COUNT(ram); b++) {
        options.run.vram_bytes = vram[b / TEST_COUNT(ram)];
        options.run.ram_bytes = ram[b % TEST_COUNT(ram)];
        options.run.n_threads = 1 + (int)(b % 3);
        TEST_OK(slc_rewrite_run(&options, &result));
        test_expect_same_files(self->out, self->other);
        assert_true(result.chunks_decoded <= 2 * n_chunks);
        assert_true(result.memory.vram_peak_bytes <= options.run.vram_bytes);
        assert_true(result.memory.host_peak_bytes <= options.run.ram_bytes);
        assert_true(result.memory.host_peak_bytes <= result.memory.host_planned_bytes);
    }
}

static void budgets_do_not_show(void **state) {
    try_budgets(*state, "none", 4400 << 10);
    try_budgets(*state, "deflate:1", 12 << 20);
    try_budgets(*state, "zstd:1", 12 << 20);
}

/* Without a word the input's filter stays where HDF5 writes it itself, but not in one piece. */
static void the_filter_is_the_input_s(void **state) {
    const test_way *self = *state;
    test_array array = {.rank = 2, .shape = {300, 200}, .chunk = {30, 200}, .is_deflated = true};
    slc_rewrite_options options = test_rewrite_options(self);
    slc_rewrite_result result;
    test_rewrite_put(self->in, "/x", &array);
    TEST_OK(slc_rewrite_run(&options, &result));
    assert_int_equal(result.stored.filter.kind, SLC_H5_FILTER_DEFLATE);
    assert_int_equal(result.stored.filter.level, 1);
    assert_int_equal(result.stored.n_chunks, 10);
    assert_in_range(result.stored.bytes, 1, 300 * 200 * 4 - 1);
    test_rewrite_expect(self->out, "/g/y", &array, (const int[]){0, 1});
    options.form.is_contiguous = true;
    TEST_OK(slc_rewrite_run(&options, &result));
    assert_int_equal(result.stored.filter.kind, SLC_H5_FILTER_NONE);
    assert_int_equal(result.stored.n_chunks, 0);
    assert_int_equal(result.stored.bytes, 300 * 200 * 4);
    options.form.filters = true;
    options.form.filter.kind = SLC_H5_FILTER_ZSTD;
    TEST_FAILS(slc_rewrite_run(&options, &result), SLC_ERROR_ARGUMENT, "--chunk none");
    /* Chunks are chosen where the data has none. */
    array = (test_array){.rank = 2, .shape = {300, 200}};
    test_rewrite_put(self->in, "/x", &array);
    options.form.is_contiguous = false;
    TEST_OK(slc_rewrite_run(&options, &result));
    assert_int_equal(result.stored.chunk[0], 300);
    assert_int_equal(result.stored.filter.kind, SLC_H5_FILTER_ZSTD);
    test_rewrite_expect(self->out, "/g/y", &array, (const int[]){0, 1});
}

/* A scale is cut as its dimension is, and is the dimension's of the result. */
static void scales_go_with_their_dimensions(void **state) {
    const test_way *self = *state;
    const test_array array = {.rank = 2, .shape = {30, 20}, .chunk = {7, 20}, .is_deflated = true};
    slc_rewrite_options options = test_rewrite_options(self);
    slc_rewrite_result result;
    test_rewrite_put(self->in, "/x", &array);
    test_rewrite_describe(self->in, "/x", 1, "/s");
    options.is_reversed = true;
    TEST_OK(slc_slice_parse("[:, 17:2:-3]", &options.in.slice)); /* 17, 14, 11, 8, 5 */
    TEST_OK(slc_rewrite_run(&options, &result));
    const hid_t file = H5Fopen(self->out, H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t set = H5Dopen2(file, "/g/y", H5P_DEFAULT);
    const hid_t scale = H5Dopen2(file, "/g/s", H5P_DEFAULT);
    const hid_t list = H5Aopen(set, "DIMENSION_LIST", H5P_DEFAULT);
    const hid_t type = H5Aget_type(list);
    const hid_t space = H5Aget_space(list);
    double values[5];
    hvl_t lists[2];
    char name[8];
    assert_true(H5Dread(scale, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    for (int k = 0; k < 5; k++) {
        TEST_NEAR(values[k], 0.5 * (17 - 3 * k), 0);
    }
    double fill = 0;
    const hid_t form = H5Dget_create_plist(scale);
    assert_true(H5Pget_fill_value(form, H5T_NATIVE_DOUBLE, &fill) >= 0 && H5Pclose(form) >= 0);
    TEST_NEAR(fill, TEST_SCALE_FILL, 0);
    assert_true(H5Aread(list, type, lists) >= 0);
    assert_int_equal(lists[0].len, 1);
    assert_int_equal(lists[1].len, 0);
    const hid_t found = H5Rdereference2(set, H5P_DEFAULT, H5R_OBJECT, lists[0].p);
    assert_true(H5Iget_name(found, name, sizeof name) > 0);
    assert_string_equal(name, "/g/s");
    assert_true(H5Aexists(set, "units") > 0 && H5Aexists(set, "DIMENSION_LABELS") > 0);
    assert_true(H5Aexists(scale, "REFERENCE_LIST") > 0);
    H5Dvlen_reclaim(type, space, H5P_DEFAULT, lists);
    H5Oclose(found);
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(list);
    H5Dclose(scale);
    H5Dclose(set);
    H5Fclose(file);
}

/* Makes the list of scales of dimension `d`, of two, name its only one again and again. */
static void repeat_scale(const char *path, const char *dataset, int d) {
    enum { N_TIMES = 50 }; /* more than a file of ours has scales */
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    const hid_t set = H5Dopen2(file, dataset, H5P_DEFAULT);
    const hid_t list = H5Aopen(set, "DIMENSION_LIST", H5P_DEFAULT);
    const hid_t type = H5Aget_type(list);
    const hid_t space = H5Aget_space(list);
    hvl_t lists[2];
    hobj_ref_t many[N_TIMES];
    assert_true(H5Aread(list, type, lists) >= 0);
    assert_int_equal(lists[d].len, 1);
    for (int k = 0; k < N_TIMES; k++) {
        memcpy(&many[k], lists[d].p, sizeof many[k]);
    }
    hvl_t repeated[2] = {{0, NULL}, {0, NULL}};
    repeated[d] = (hvl_t){N_TIMES, many};
    assert_true(H5Awrite(list, type, repeated) >= 0);
    H5Dvlen_reclaim(type, space, H5P_DEFAULT, lists);
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(list);
    H5Dclose(set);
    H5Fclose(file);
}

/* A damaged list is no reason to write past one's own. */
static void a_scale_that_is_named_often_is_taken_once(void **state) {
    const test_way *self = *state;
    const test_array array = {.rank = 2, .shape = {30, 20}};
    slc_rewrite_options options = test_rewrite_options(self);
    slc_rewrite_result result;
    test_rewrite_put(self->in, "/x", &array);
    test_rewrite_describe(self->in, "/x", 1, "/s");
    repeat_scale(self->in, "/x", 1);
    TEST_OK(slc_rewrite_run(&options, &result));
    const hid_t file = H5Fopen(self->out, H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t list = H5Aopen_by_name(file, "/g/y", "DIMENSION_LIST", H5P_DEFAULT, H5P_DEFAULT);
    const hid_t type = H5Aget_type(list);
    const hid_t space = H5Aget_space(list);
    hvl_t lists[2];
    assert_true(H5Aread(list, type, lists) >= 0);
    assert_int_equal(lists[0].len, 0);
    assert_int_equal(lists[1].len, 1);
    H5Dvlen_reclaim(type, space, H5P_DEFAULT, lists);
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(list);
    H5Fclose(file);
}

/* A scale that was removed leaves its reference, which is no reason to refuse the data. */
static void a_scale_that_was_removed_is_left_out(void **state) {
    const test_way *self = *state;
    const test_array array = {.rank = 2, .shape = {30, 20}};
    const slc_rewrite_options options = test_rewrite_options(self);
    slc_rewrite_result result;
    test_rewrite_put(self->in, "/x", &array);
    test_rewrite_describe(self->in, "/x", 1, "/s");
    hid_t file = H5Fopen(self->in, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(H5Ldelete(file, "/s", H5P_DEFAULT) >= 0);
    H5Fclose(file);
    TEST_OK(slc_rewrite_run(&options, &result));
    test_rewrite_expect(self->out, "/g/y", &array, (const int[]){0, 1});
    file = H5Fopen(self->out, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(H5Lexists(file, "/g/s", H5P_DEFAULT) == 0);
    assert_true(H5Aexists_by_name(file, "/g/y", "DIMENSION_LABELS", H5P_DEFAULT) > 0);
    assert_true(H5Aexists_by_name(file, "/g/y", "DIMENSION_LIST", H5P_DEFAULT) == 0);
    H5Fclose(file);
}

/* As h5py writes them from an array of bytes. */
static void labels_of_one_length_are_turned(void **state) {
    const test_way *self = *state;
    const test_array array = {.rank = 2, .shape = {30, 20}};
    const hsize_t rank = 2;
    slc_rewrite_options options = test_rewrite_options(self);
    slc_rewrite_result result;
    char found[2][4];
    test_rewrite_put(self->in, "/x", &array);
    const hid_t text = H5Tcopy(H5T_C_S1);
    const hid_t space = H5Screate_simple(1, &rank, NULL);
    hid_t file = H5Fopen(self->in, H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t set = H5Dopen2(file, "/x", H5P_DEFAULT);
    assert_true(H5Tset_size(text, sizeof found[0]) >= 0);
    hid_t labels = H5Acreate2(set, "DIMENSION_LABELS", text, space, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Awrite(labels, text, "row\0col") >= 0);
    H5Aclose(labels);
    H5Dclose(set);
    H5Fclose(file);
    options.is_reversed = true;
    TEST_OK(slc_rewrite_run(&options, &result));
    file = H5Fopen(self->out, H5F_ACC_RDONLY, H5P_DEFAULT);
    set = H5Dopen2(file, "/g/y", H5P_DEFAULT);
    labels = H5Aopen(set, "DIMENSION_LABELS", H5P_DEFAULT);
    assert_true(H5Aread(labels, text, found) >= 0);
    assert_string_equal(found[0], "col");
    assert_string_equal(found[1], "row");
    H5Aclose(labels);
    H5Dclose(set);
    H5Fclose(file);
    H5Sclose(space);
    H5Tclose(text);
}

/* B40: one chunk of 1 MiB, an eighth of which fits the device. */
static void a_chunk_larger_than_the_device_is_decoded_once(void **state) {
    const test_way *self = *state;
    const test_array array = {.rank = 2,
                              .shape = {512, 512},
                              .chunk = {512, 512},
                              .is_deflated = true};
    slc_rewrite_options options = test_rewrite_options(self);
    slc_rewrite_result result;
    test_rewrite_put(self->in, "/x", &array);
    options.run.vram_bytes = 512 << 10;
    TEST_OK(slc_rewrite_run(&options, &result));
    test_rewrite_expect(self->out, "/g/y", &array, (const int[]){0, 1});
    assert_true(result.chunks_decoded <= 2);
}

/* What is named as smallest works, and one byte less does not. */
static void try_smallest(const test_way *self, const char *filter) {
    const test_array array = {.rank = 2, .shape = {300, 200}, .chunk = {30, 200}};
    slc_rewrite_options options = test_rewrite_options(self);
    slc_rewrite_result result;
    options.form.filters = true;
    TEST_OK(slc_h5_filter_parse(filter, &options.form.filter));
    test_rewrite_put(self->in, "/x", &array);
    options.is_reversed = true;
    options.run.dry_run = true;
    TEST_OK(slc_rewrite_run(&options, &result));
    const int64_t vram = result.pass[0].plan.smallest_device_bytes;
    options.run.dry_run = false;
    options.run.vram_bytes = vram;
    TEST_OK(slc_rewrite_run(&options, &result));
    test_rewrite_expect(self->out, "/g/y", &array, (const int[]){1, 0});
    options.run.vram_bytes = vram - 1;
    TEST_FAILS(slc_rewrite_run(&options, &result), SLC_ERROR_NO_PLAN,
               "the smallest that works is --vram");
    options.run.vram_bytes = 64 << 20;
    options.run.ram_bytes = 1000;
    TEST_FAILS(slc_rewrite_run(&options, &result), SLC_ERROR_NO_PLAN,
               "the smallest that works is --ram");
    const char *named = strstr(slc_status_message(), "works is --ram ");
    const int64_t ram = strtoll(named + strlen("works is --ram "), NULL, 10);
    options.run.ram_bytes = ram;
    TEST_OK(slc_rewrite_run(&options, &result));
    test_rewrite_expect(self->out, "/g/y", &array, (const int[]){1, 0});
    options.run.ram_bytes = ram - 1;
    TEST_FAILS(slc_rewrite_run(&options, &result), SLC_ERROR_NO_PLAN, "--ram");
}

static void the_smallest_budgets_work(void **state) {
    try_smallest(*state, "none");
    try_smallest(*state, "deflate:4");
}

static void slices_are_taken_before(void **state) {
    const test_way *self = *state;
    const test_array array = {.rank = 3, .shape = {20, 30, 7}, .chunk = {4, 8, 7}};
    slc_rewrite_options options = test_rewrite_options(self);
    slc_rewrite_result result;
    test_rewrite_put(self->in, "/x", &array);
    TEST_OK(slc_slice_parse("[::-3, 5:25:4, 2]", &options.in.slice));
    options.is_reversed = true;
    TEST_OK(slc_rewrite_run(&options, &result));
    int32_t *values = test_rewrite_get(self->out, "/g/y", 2, (const int64_t[]){5, 7});
    for (int64_t y = 0; y < 5; y++) {
        for (int64_t x = 0; x < 7; x++) {
            const int64_t index[] = {19 - 3 * x, 5 + 4 * y, 2};
            assert_int_equal(values[y * 7 + x], test_rewrite_value(&array, index));
        }
    }
    free(values);
    TEST_OK(slc_slice_parse("[20]", &options.in.slice));
    TEST_FAILS(slc_rewrite_run(&options, &result), SLC_ERROR_ARGUMENT, "index 20 in dimension 0");
}

static void elements_become_another_type(void **state) {
    const test_way *self = *state;
    const test_array array = {.rank = 2, .shape = {30, 20}, .chunk = {7, 20}};
    slc_rewrite_options options = test_rewrite_options(self);
    slc_rewrite_result result;
    test_rewrite_put(self->in, "/x", &array);
    options.converts = true;
    options.dtype = SLC_F64;
    TEST_OK(slc_rewrite_run(&options, &result));
    assert_int_equal(result.out.dtype, SLC_F64);
    assert_int_equal(result.in.dtype, SLC_I32);
    test_rewrite_expect(self->out, "/g/y", &array, (const int[]){0, 1});
    options.dtype = SLC_U8;
    assert_int_equal(remove(self->out), 0);
    TEST_FAILS(slc_rewrite_run(&options, &result), SLC_ERROR_INPUT, "which u1 cannot hold");
    assert_int_equal(test_directory_count(self->directory), 1);
    options.saturates = true;
    TEST_OK(slc_rewrite_run(&options, &result));
    int32_t *values = test_rewrite_get(self->out, "/g/y", 2, array.shape);
    for (int k = 0; k < 600; k++) {
        assert_int_equal(values[k], k < 255 ? k : 255);
    }
    free(values);
}

static void wrong_wishes_are_named(void **state) {
    const test_way *self = *state;
    const test_array array = {.rank = 2, .shape = {3, 4}};
    slc_rewrite_options options = test_rewrite_options(self);
    slc_rewrite_result result;
    test_rewrite_put(self->in, "/x", &array);
    options.n_axes = 2;
    TEST_FAILS(slc_rewrite_run(&options, &result), SLC_ERROR_ARGUMENT, "0 stands there twice");
    options.axes[1] = 2;
    TEST_FAILS(slc_rewrite_run(&options, &result), SLC_ERROR_ARGUMENT, "2 is no dimension");
    options.n_axes = 3;
    TEST_FAILS(slc_rewrite_run(&options, &result), SLC_ERROR_ARGUMENT, "--axes names 3 dimensions");
    options.n_axes = 0;
    options.form.n_chunk = 1;
    TEST_FAILS(slc_rewrite_run(&options, &result), SLC_ERROR_ARGUMENT, "--chunk names 1 dimension");
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, test_way_create, test_way_destroy)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(every_order_of_four_dimensions),
        CASE(six_dimensions_and_none),
        CASE(a_corner_turn_fits_small_memories),
        CASE(budgets_do_not_show),
        CASE(the_filter_is_the_input_s),
        CASE(scales_go_with_their_dimensions),
        CASE(a_scale_that_is_named_often_is_taken_once),
        CASE(a_scale_that_was_removed_is_left_out),
        CASE(labels_of_one_length_are_turned),
        CASE(a_chunk_larger_than_the_device_is_decoded_once),
        CASE(the_smallest_budgets_work),
        CASE(slices_are_taken_before),
        CASE(elements_become_another_type),
        CASE(wrong_wishes_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
