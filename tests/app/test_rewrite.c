/* Transposing and repacking: every element stands where it belongs, whatever the budgets, chunks and
 * order; and chunks are decoded as often as the plan says. */
#include "app/rewrite.h"

#include "tests/support/test_rewritten.h"

typedef struct place {
    char directory[TEST_PATH_BYTES];
    char in[TEST_PATH_BYTES], out[TEST_PATH_BYTES], other[TEST_PATH_BYTES];
} place;

static int make(void **state) {
    place *self = test_allocate((int64_t)sizeof *self);
    test_directory_create(self->directory);
    test_join(self->directory, "in.h5", self->in);
    test_join(self->directory, "out.h5", self->out);
    test_join(self->directory, "other.h5", self->other);
    *state = self;
    return 0;
}

static int remove_place(void **state) {
    place *self = *state;
    test_directory_remove(self->directory);
    free(self);
    return 0;
}

static slc_rewrite_options options_of(const place *self) {
    return (slc_rewrite_options){.in = {.path = self->in, .dataset = "/x"},
                                 .out_path = self->out,
                                 .out = "/g/y",
                                 .run = {.vram_bytes = 64 << 20,
                                         .ram_bytes = 64 << 20,
                                         .device = SLC_CHOOSE_HOST,
                                         .n_threads = 2,
                                         .overwrite = true}};
}

/* The next permutation in lexical order; false after the last. */
static bool next_order(int *order, int n) {
    int i = n - 2;
    while (i >= 0 && order[i] > order[i + 1]) {
        i--;
    }
    if (i < 0) {
        return false;
    }
    int j = n - 1;
    while (order[j] < order[i]) {
        j--;
    }
    const int kept = order[i];
    order[i] = order[j];
    order[j] = kept;
    for (int a = i + 1, b = n - 1; a < b; a++, b--) {
        const int swapped = order[a];
        order[a] = order[b];
        order[b] = swapped;
    }
    return true;
}

static void every_order_of_four_dimensions(void **state) {
    const place *self = *state;
    static const test_array arrays[] = {
        {.rank = 1, .shape = {997}, .chunk = {100}, .is_deflated = true},
        {.rank = 2, .shape = {61, 47}, .chunk = {7, 47}, .is_deflated = true},
        {.rank = 3, .shape = {13, 1, 29}, .chunk = {0}},
        {.rank = 4, .shape = {7, 5, 11, 3}, .chunk = {3, 2, 4, 3}, .is_deflated = true},
    };
    for (int64_t k = 0; k < TEST_COUNT(arrays); k++) {
        test_rewrite_put(self->in, "/x", &arrays[k]);
        slc_rewrite_options options = options_of(self);
        slc_rewrite_result result;
        options.n_axes = arrays[k].rank;
        for (int d = 0; d < options.n_axes; d++) {
            options.axes[d] = d;
        }
        do {
            int order[SLC_MAX_RANK];
            memcpy(order, options.axes, sizeof order);
            TEST_OK(slc_rewrite_run(&options, &result));
            test_rewrite_expect(self->out, "/g/y", &arrays[k], order);
        } while (next_order(options.axes, options.n_axes));
    }
}

/* More dimensions than are cut. */
static void six_dimensions_and_none(void **state) {
    const place *self = *state;
    const test_array array = {.rank = 6, .shape = {2, 3, 4, 2, 5, 3}};
    const int order[] = {5, 0, 4, 1, 3, 2};
    slc_rewrite_options options = options_of(self);
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
    const place *self = *state;
    const test_array array = {.rank = 2,
                              .shape = {997, 1003},
                              .chunk = {10, 1003},
                              .is_deflated = true};
    slc_rewrite_options options = options_of(self);
    slc_rewrite_result result;
    test_rewrite_put(self->in, "/x", &array);
    options.is_reversed = true;
    options.n_chunk = 2;
    options.chunk[0] = 17;
    options.chunk[1] = 997;
    options.run.vram_bytes = 256 << 10;
    options.run.ram_bytes = 16 << 20;
    TEST_OK(slc_rewrite_run(&options, &result));
    test_rewrite_expect(self->out, "/g/y", &array, (const int[]){1, 0});
    assert_int_equal(result.n_passes, 2);
    assert_in_range(result.chunks_decoded, 100, 102); /* opening may decode two, to see if it can */
    assert_true(result.memory.vram_peak_bytes <= 256 << 10);
    assert_true(result.memory.host_peak_bytes <= 16 << 20);
    assert_int_equal(result.out_chunk[0], 17);
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
static void budgets_do_not_show(void **state) {
    const place *self = *state;
    const test_array array = {.rank = 3,
                              .shape = {40, 37, 53},
                              .chunk = {8, 5, 53},
                              .is_deflated = true};
    const int64_t n_chunks = 5 * 8;
    static const int64_t vram[] = {24 << 10, 64 << 10, 200 << 10, 1 << 20, 8 << 20};
    static const int64_t ram[] = {4400 << 10, 32 << 20}; /* the array takes 306 KiB */
    slc_rewrite_options options = options_of(self);
    slc_rewrite_result result;
    test_rewrite_put(self->in, "/x", &array);
    options.n_axes = 3;
    memcpy(options.axes, (const int[]){2, 0, 1}, 3 * sizeof(int));
    options.n_chunk = 3;
    memcpy(options.chunk, (const int64_t[]){6, 40, 9}, 3 * sizeof(int64_t));
    TEST_OK(slc_rewrite_run(&options, &result));
    test_rewrite_expect(self->out, "/g/y", &array, (const int[]){2, 0, 1});
    options.out_path = self->other;
    for (int64_t b = 0; b < TEST_COUNT(vram) * TEST_COUNT(ram); b++) {
        options.run.vram_bytes = vram[b / TEST_COUNT(ram)];
        options.run.ram_bytes = ram[b % TEST_COUNT(ram)];
        TEST_OK(slc_rewrite_run(&options, &result));
        test_expect_same_files(self->out, self->other);
        assert_true(result.chunks_decoded <= 2 * n_chunks);
        assert_true(result.memory.vram_peak_bytes <= options.run.vram_bytes);
        assert_true(result.memory.host_peak_bytes <= options.run.ram_bytes);
        assert_true(result.memory.host_peak_bytes <= result.memory.host_planned_bytes);
    }
}

/* B40: one chunk of 1 MiB, an eighth of which fits the device. */
static void a_chunk_larger_than_the_device_is_decoded_once(void **state) {
    const place *self = *state;
    const test_array array = {.rank = 2,
                              .shape = {512, 512},
                              .chunk = {512, 512},
                              .is_deflated = true};
    slc_rewrite_options options = options_of(self);
    slc_rewrite_result result;
    test_rewrite_put(self->in, "/x", &array);
    options.run.vram_bytes = 512 << 10;
    TEST_OK(slc_rewrite_run(&options, &result));
    test_rewrite_expect(self->out, "/g/y", &array, (const int[]){0, 1});
    assert_true(result.chunks_decoded <= 2);
}

/* What is named as smallest works, and one byte less does not. */
static void the_smallest_budgets_work(void **state) {
    const place *self = *state;
    const test_array array = {.rank = 2, .shape = {300, 200}, .chunk = {30, 200}};
    slc_rewrite_options options = options_of(self);
    slc_rewrite_result result;
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

static void slices_are_taken_before(void **state) {
    const place *self = *state;
    const test_array array = {.rank = 3, .shape = {20, 30, 7}, .chunk = {4, 8, 7}};
    slc_rewrite_options options = options_of(self);
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
    const place *self = *state;
    const test_array array = {.rank = 2, .shape = {30, 20}, .chunk = {7, 20}};
    slc_rewrite_options options = options_of(self);
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
    TEST_FAILS(slc_rewrite_run(&options, &result), SLC_ERROR_INPUT, "which u8 cannot hold");
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
    const place *self = *state;
    const test_array array = {.rank = 2, .shape = {3, 4}};
    slc_rewrite_options options = options_of(self);
    slc_rewrite_result result;
    test_rewrite_put(self->in, "/x", &array);
    options.n_axes = 2;
    TEST_FAILS(slc_rewrite_run(&options, &result), SLC_ERROR_ARGUMENT, "0 stands there twice");
    options.axes[1] = 2;
    TEST_FAILS(slc_rewrite_run(&options, &result), SLC_ERROR_ARGUMENT, "2 is no dimension");
    options.n_axes = 3;
    TEST_FAILS(slc_rewrite_run(&options, &result), SLC_ERROR_ARGUMENT, "--axes names 3 dimensions");
    options.n_axes = 0;
    options.n_chunk = 1;
    TEST_FAILS(slc_rewrite_run(&options, &result), SLC_ERROR_ARGUMENT, "--chunk names 1 dimension");
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, make, remove_place)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(every_order_of_four_dimensions),
        CASE(six_dimensions_and_none),
        CASE(a_corner_turn_fits_small_memories),
        CASE(budgets_do_not_show),
        CASE(a_chunk_larger_than_the_device_is_decoded_once),
        CASE(the_smallest_budgets_work),
        CASE(slices_are_taken_before),
        CASE(elements_become_another_type),
        CASE(wrong_wishes_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
