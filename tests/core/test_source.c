#include "tests/support/test_support.h"

#include <time.h>

#include "core/source.h"

enum { NY = 6, NX = 8 };

/* An image whose element (y, x) is 100 y + x, and its layout. */
static void make_image(float image[NY][NX], slc_layout *layout) {
    for (int y = 0; y < NY; y++) {
        for (int x = 0; x < NX; x++) {
            image[y][x] = (float)(100 * y + x);
        }
    }
    TEST_OK(slc_layout_dense(SLC_F32, 2, (const int64_t[]){NY, NX}, layout));
}

static slc_box box_2d(int64_t y, int64_t x, int64_t ny, int64_t nx) {
    const slc_box box = {.rank = 2, .origin = {y, x}, .extent = {ny, nx}};
    return box;
}

static void memory_is_read_in_boxes(void **state) {
    (void)state;
    float image[NY][NX];
    slc_layout layout;
    make_image(image, &layout);
    slc_source *source = NULL;
    TEST_OK(slc_source_create_memory("image", &layout, image, &source));
    assert_int_equal(source->n_fields, 1);
    assert_int_equal(source->shared_rank, 2);
    assert_string_equal(source->name, "image");
    const slc_box box = box_2d(2, 5, 3, 2);
    float read[3][2] = {{0}};
    void *dst[] = {read};
    TEST_OK(slc_source_read(source, &box, dst));
    for (int y = 0; y < 3; y++) {
        for (int x = 0; x < 2; x++) {
            assert_true(read[y][x] == (float)(100 * (y + 2) + x + 5));
        }
    }
    void *nothing[] = {NULL};
    TEST_OK(slc_source_read(source, &box, nothing));
    const slc_box empty = box_2d(NY, 0, 0, NX);
    TEST_OK(slc_source_read(source, &empty, dst));
    assert_int_equal(slc_source_next_unit(source, 0, 3), 4);
    TEST_OK(slc_source_finish(source));
    assert_true(atomic_load(&source->counters.read_ns) > 0);
    assert_int_equal(atomic_load(&source->counters.bytes_read), 0); /* no file was read */
    slc_source_destroy(source);
    slc_source_destroy(NULL);
}

static void a_strided_array_is_read_as_a_dense_one(void **state) {
    (void)state;
    float image[NY][NX];
    slc_layout layout;
    make_image(image, &layout);
    const slc_layout turned = slc_layout_permute(&layout, (const int[]){1, 0});
    const slc_layout backwards = slc_layout_reverse(&turned, 0);
    slc_source *source = NULL;
    TEST_OK(slc_source_create_memory("turned", &backwards, image, &source));
    assert_true(slc_layout_is_contiguous(&source->fields[0]));
    const slc_box box = box_2d(1, 2, 2, 3);
    float read[2][3] = {{0}};
    void *dst[] = {read};
    TEST_OK(slc_source_read(source, &box, dst));
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 3; j++) {
            assert_true(read[i][j] == (float)(100 * (j + 2) + (NX - 1 - (i + 1))));
        }
    }
    slc_source_destroy(source);
}

static void boxes_outside_are_refused(void **state) {
    (void)state;
    float image[NY][NX];
    slc_layout layout;
    make_image(image, &layout);
    slc_source *source = NULL;
    slc_sink *sink = NULL;
    TEST_OK(slc_source_create_memory("image", &layout, image, &source));
    TEST_OK(slc_sink_create_memory("copy", &layout, image, &sink));
    const slc_box outside[] = {
        box_2d(0, 0, NY + 1, 1), box_2d(0, -1, 1, 1),        box_2d(0, 7, 1, 2),
        box_2d(0, 0, -1, 1),     box_2d(1, 0, INT64_MAX, 1),
    };
    float read[NY * NX];
    void *dst[] = {read};
    for (int64_t i = 0; i < TEST_COUNT(outside); i++) {
        TEST_FAILS(slc_source_read(source, &outside[i], dst), SLC_ERROR_ARGUMENT, "image");
        TEST_FAILS(slc_sink_write(sink, &outside[i], read), SLC_ERROR_ARGUMENT, "copy");
    }
    const slc_box flat = slc_box_1d(0, 1);
    TEST_FAILS(slc_source_read(source, &flat, dst), SLC_ERROR_ARGUMENT, "rank 1, expected 2");
    slc_sink_destroy(sink);
    slc_source_destroy(source);
}

static void memory_is_written_in_boxes(void **state) {
    (void)state;
    float image[NY][NX];
    slc_layout layout;
    make_image(image, &layout);
    const slc_layout turned = slc_layout_permute(&layout, (const int[]){1, 0});
    slc_sink *sink = NULL;
    TEST_OK(slc_sink_create_memory("turned", &turned, image, &sink));
    assert_int_equal(sink->layout.shape[0], NX);
    const float written[2][3] = {{-1, -2, -3}, {-4, -5, -6}};
    const slc_box box = box_2d(3, 1, 2, 3);
    TEST_OK(slc_sink_write(sink, &box, written));
    TEST_OK(slc_sink_commit(sink));
    slc_sink_destroy(sink);
    slc_sink_destroy(NULL);
    for (int y = 0; y < NY; y++) {
        for (int x = 0; x < NX; x++) {
            const bool is_inside = x >= 3 && x < 5 && y >= 1 && y < 4;
            const float expected = is_inside ? written[x - 3][y - 1] : (float)(100 * y + x);
            assert_true(image[y][x] == expected);
        }
    }
}

/* --- a source of two fields, for what the wrappers do with the optional entries --- */

typedef struct two_fields {
    slc_source base;
    int n_finished;
    int n_destroyed;
} two_fields;

static slc_status slow_read(slc_source *source, const slc_box *box, void *const *dst) {
    (void)source;
    (void)dst;
    const struct timespec duration = {.tv_nsec = 3000000};
    (void)nanosleep(&duration, NULL);
    return box->origin[0] == 13 ? SLC_FAIL(SLC_ERROR_INPUT, "row 13") : SLC_OK;
}

static int64_t units_of_ten(slc_source *source, int axis, int64_t index) {
    (void)source;
    return axis == 0 ? index / 10 * 10 + 10 : index + 1;
}

static slc_status count_finish(slc_source *source) {
    ((two_fields *)source)->n_finished++;
    return SLC_OK;
}

static void count_destroy(slc_source *source) {
    ((two_fields *)source)->n_destroyed++;
}

static void optional_entries_are_used(void **state) {
    (void)state;
    const slc_source_ops ops = {.read = slow_read,
                                .next_unit = units_of_ten,
                                .finish = count_finish,
                                .destroy = count_destroy};
    two_fields source = {.base = {.ops = &ops, .shared_rank = 1, .n_fields = 2, .name = "two"}};
    TEST_OK(slc_layout_dense(SLC_F64, 2, (const int64_t[]){100, 3}, &source.base.fields[0]));
    TEST_OK(slc_layout_dense(SLC_C64, 2, (const int64_t[]){100, 7}, &source.base.fields[1]));
    void *dst[] = {NULL, NULL};
    const slc_box rows = slc_box_1d(90, 10);
    const slc_box bad_row = slc_box_1d(13, 1);
    TEST_OK(slc_source_read(&source.base, &rows, dst));
    TEST_FAILS(slc_source_read(&source.base, &bad_row, dst), SLC_ERROR_INPUT, "row 13");
    assert_true(atomic_load(&source.base.counters.read_ns) >= 6000000);
    assert_int_equal(slc_source_next_unit(&source.base, 0, 9), 10);
    assert_int_equal(slc_source_next_unit(&source.base, 0, 10), 20);
    TEST_OK(slc_source_finish(&source.base));
    slc_source_destroy(&source.base);
    assert_int_equal(source.n_finished, 1);
    assert_int_equal(source.n_destroyed, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_read_in_boxes),
        cmocka_unit_test(a_strided_array_is_read_as_a_dense_one),
        cmocka_unit_test(boxes_outside_are_refused),
        cmocka_unit_test(memory_is_written_in_boxes),
        cmocka_unit_test(optional_entries_are_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
