/* Numbers of chunks and the boxes that they stand for. */
#include "tests/support/test_support.h"

#include "io/chunk_grid.h"

/* [5, 7] in chunks of [2, 3]:  0 1 2 / 3 4 5 / 6 7 8, the last ones cut. */
static slci_chunk_grid make_grid(void) {
    slc_layout layout;
    TEST_OK(slc_layout_dense(SLC_U8, 2, (const int64_t[]){5, 7}, &layout));
    return slci_chunk_grid_of(&layout, (const int64_t[]){2, 3});
}

static void chunks_are_boxes(void **state) {
    (void)state;
    const slci_chunk_grid grid = make_grid();
    assert_int_equal(grid.n_chunks, 9);
    const slc_box middle = slci_chunk_grid_box(&grid, 4);
    assert_true(slc_box_equal(&middle, &(slc_box){.rank = 2, .origin = {2, 3}, .extent = {2, 3}}));
    const slc_box last = slci_chunk_grid_box(&grid, 8);
    assert_true(slc_box_equal(&last, &(slc_box){.rank = 2, .origin = {4, 6}, .extent = {1, 1}}));
}

static void boxes_touch_chunks(void **state) {
    (void)state;
    static const int64_t touched[] = {4, 5, 7, 8};
    const slci_chunk_grid grid = make_grid();
    const slc_box box = {.rank = 2, .origin = {3, 5}, .extent = {2, 2}};
    const slc_box chunks = slci_chunk_grid_chunks(&grid, &box);
    assert_int_equal(slc_box_count(&chunks), 4);
    for (int64_t k = 0; k < 4; k++) {
        assert_int_equal(slci_chunk_grid_index(&grid, &chunks, k), touched[k]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_are_boxes),
        cmocka_unit_test(boxes_touch_chunks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
