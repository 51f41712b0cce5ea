/* Runs along merged dimensions, for every origin and length, against the elements that the shape
 * says. */
#include "tests/support/test_support.h"

#include "core/flatten.h"

/* 1000 a + 100 b + 10 c + d, for readable failures. */
static void number_elements(const slc_layout *layout, int32_t *values) {
    for (int64_t k = 0; k < slc_layout_count(layout); k++) {
        int64_t rest = k;
        int32_t value = 0;
        int32_t scale = 1;
        for (int d = layout->rank - 1; d >= 0; d--) {
            value += scale * (int32_t)(rest % layout->shape[d]);
            rest /= layout->shape[d];
            scale *= 10;
        }
        values[k] = value;
    }
}

/* Reads and writes every box of the merged array; both sides are dense, so an element has the same
 * number in both. */
static void walk_boxes(const int64_t *shape, int rank, slc_flat_dims dims) {
    slc_layout full;
    slc_layout flat;
    slc_source *source = NULL;
    slc_source *list = NULL;
    slc_sink *sink = NULL;
    slc_sink *flat_sink = NULL;
    int32_t values[512];
    int32_t written[512];
    TEST_OK(slc_layout_dense(SLC_I32, rank, shape, &full));
    TEST_OK(slc_layout_flatten(&full, &dims, &flat));
    assert_int_equal(slc_layout_count(&flat), slc_layout_count(&full));
    assert_true(slc_layout_count(&full) <= 512);
    number_elements(&full, values);
    TEST_OK(slc_source_create_memory("x", &full, values, &source));
    TEST_OK(slc_source_flatten(source, &dims, &list));
    TEST_OK(slc_sink_create_memory("y", &full, written, &sink));
    TEST_OK(slc_sink_flatten(sink, &dims, &flat_sink));
    for (int64_t begin = 0; begin < flat.shape[dims.first]; begin++) {
        for (int64_t n = 0; begin + n <= flat.shape[dims.first]; n++) {
            int32_t found[512];
            void *const dst[] = {found};
            slc_box box = {.rank = flat.rank};
            memcpy(box.extent, flat.shape, sizeof box.extent);
            box.origin[dims.first] = begin;
            box.extent[dims.first] = n;
            const slc_layout part = slc_layout_slice(&flat, &box);
            TEST_OK(slc_source_read(list, &box, dst));
            memset(written, 0xFF, sizeof written);
            TEST_OK(slc_sink_write(flat_sink, &box, found));
            const int64_t below = part.stride_bytes[dims.first] / 4;
            for (int64_t k = 0; k < slc_layout_count(&full); k++) {
                const int64_t along = k / below % flat.shape[dims.first];
                const bool is_in = along >= begin && along < begin + n;
                assert_int_equal(written[k], is_in ? values[k] : -1);
            }
        }
    }
    TEST_OK(slc_sink_commit(flat_sink));
    TEST_OK(slc_source_finish(list));
    slc_sink_destroy(flat_sink);
    slc_sink_destroy(sink);
    slc_source_destroy(list);
    slc_source_destroy(source);
}

static void every_run_is_its_elements(void **state) {
    (void)state;
    walk_boxes((const int64_t[]){24}, 1, (slc_flat_dims){0, 1});
    walk_boxes((const int64_t[]){3, 4}, 2, (slc_flat_dims){0, 2});
    walk_boxes((const int64_t[]){2, 3, 4}, 3, (slc_flat_dims){0, 3});
    walk_boxes((const int64_t[]){3, 1, 2, 3}, 4, (slc_flat_dims){0, 4});
    walk_boxes((const int64_t[]){2, 3, 4, 2}, 4, (slc_flat_dims){0, 3});
    walk_boxes((const int64_t[]){3, 2, 4, 2}, 4, (slc_flat_dims){1, 2});
    walk_boxes((const int64_t[]){2, 3, 2, 3}, 4, (slc_flat_dims){2, 2});
    walk_boxes((const int64_t[]){2, 3}, 2, (slc_flat_dims){1, 0});
    walk_boxes((const int64_t[]){5}, 1, (slc_flat_dims){0, 0});
}

/* A list of one number, which is an array without dimensions. */
static void a_single_value_is_a_list_of_one(void **state) {
    (void)state;
    slc_layout scalar;
    slc_source *source = NULL;
    slc_source *list = NULL;
    const int32_t value = 42;
    int32_t found = 0;
    void *const dst[] = {&found};
    const slc_box one = slc_box_1d(0, 1);
    TEST_OK(slc_layout_dense(SLC_I32, 0, NULL, &scalar));
    TEST_OK(slc_source_create_memory("x", &scalar, &value, &source));
    TEST_OK(slc_source_flatten(source, &(slc_flat_dims){0, 0}, &list));
    assert_int_equal(list->fields[0].rank, 1);
    TEST_OK(slc_source_read(list, &one, dst));
    assert_int_equal(found, 42);
    slc_source_destroy(list);
    slc_source_destroy(source);
}

/* A source whose chunks are 2 x 5 elements. */
static int64_t chunk_next(slc_source *source, int axis, int64_t index) {
    (void)source;
    const int64_t chunk = axis == 0 ? 2 : 5;
    return (index / chunk + 1) * chunk;
}

static void units_are_rows_of_chunks(void **state) {
    (void)state;
    static const slc_source_ops ops = {.next_unit = chunk_next};
    slc_source source = {.ops = &ops, .shared_rank = 3, .n_fields = 1, .name = "chunks"};
    slc_source *list = NULL;
    TEST_OK(slc_layout_dense(SLC_I32, 3, (const int64_t[]){10, 7, 8}, &source.fields[0]));
    TEST_OK(slc_source_flatten(&source, &(slc_flat_dims){0, 2}, &list));
    assert_int_equal(slc_source_next_unit(list, 0, 0), 14);
    assert_int_equal(slc_source_next_unit(list, 0, 13), 14);
    assert_int_equal(slc_source_next_unit(list, 0, 14), 28);
    assert_int_equal(slc_source_next_unit(list, 1, 3), 5);
    slc_source_destroy(list);
}

static void what_cannot_be_merged_is_refused(void **state) {
    (void)state;
    slc_layout layout;
    slc_layout out;
    TEST_OK(slc_layout_dense(SLC_U8, 2, (const int64_t[]){2, 3}, &layout));
    TEST_FAILS(slc_layout_flatten(&layout, &(slc_flat_dims){1, 2}, &out), SLC_ERROR_ARGUMENT,
               "dimensions 1 to 2 of an array of rank 2");
    TEST_FAILS(slc_layout_flatten(&layout, &(slc_flat_dims){-1, 1}, &out), SLC_ERROR_ARGUMENT,
               "dimensions -1");
    slc_source source = {.shared_rank = 1, .n_fields = 2, .name = "two fields"};
    slc_source *list = NULL;
    source.fields[0] = source.fields[1] = layout;
    TEST_FAILS(slc_source_flatten(&source, &(slc_flat_dims){0, 2}, &list), SLC_ERROR_ARGUMENT,
               "two fields: only dimensions that all fields share");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_run_is_its_elements),
        cmocka_unit_test(a_single_value_is_a_list_of_one),
        cmocka_unit_test(units_are_rows_of_chunks),
        cmocka_unit_test(what_cannot_be_merged_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
