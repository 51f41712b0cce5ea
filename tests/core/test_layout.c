#include "tests/support/test_support.h"

#include "core/layout.h"

static slc_layout dense(slc_dtype dtype, int rank, const int64_t *shape) {
    slc_layout layout;
    TEST_OK(slc_layout_dense(dtype, rank, shape, &layout));
    return layout;
}

static slc_layout cube(void) {
    return dense(SLC_F32, 3, (const int64_t[]){2, 3, 5});
}

/* Fails unless the layout has exactly these dimensions. */
static void expect(const slc_layout *layout, int rank, const int64_t *shape, const int64_t *stride,
                   int64_t offset_bytes) {
    assert_int_equal(layout->rank, rank);
    for (int d = 0; d < rank; d++) {
        assert_int_equal(layout->shape[d], shape[d]);
        assert_int_equal(layout->stride_bytes[d], stride[d]);
    }
    assert_int_equal(layout->offset_bytes, offset_bytes);
}

static void dense_layouts(void **state) {
    (void)state;
    const slc_layout layout = cube();
    expect(&layout, 3, (const int64_t[]){2, 3, 5}, (const int64_t[]){60, 20, 4}, 0);
    assert_int_equal(slc_layout_count(&layout), 30);
    assert_int_equal(slc_layout_bytes(&layout), 120);
    const slc_layout scalar = dense(SLC_C128, 0, NULL);
    assert_int_equal(slc_layout_count(&scalar), 1);
    assert_int_equal(slc_layout_bytes(&scalar), 16);
    const slc_layout empty = dense(SLC_F64, 2, (const int64_t[]){0, 3});
    assert_int_equal(slc_layout_count(&empty), 0);
    assert_true(slc_layout_is_contiguous(&empty));
}

static void bad_layouts_are_refused(void **state) {
    (void)state;
    slc_layout layout = {.rank = 77};
    const int64_t shape[] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    TEST_FAILS(slc_layout_dense(SLC_F32, 9, shape, &layout), SLC_ERROR_ARGUMENT, "rank 9");
    TEST_FAILS(slc_layout_dense(SLC_F32, -1, shape, &layout), SLC_ERROR_ARGUMENT, "rank -1");
    TEST_FAILS(slc_layout_dense((slc_dtype)99, 1, shape, &layout), SLC_ERROR_ARGUMENT, "99");
    TEST_FAILS(slc_layout_dense(SLC_F32, 2, (const int64_t[]){3, -4}, &layout), SLC_ERROR_ARGUMENT,
               "-4");
    TEST_FAILS(slc_layout_dense(SLC_F64, 2, (const int64_t[]){INT64_C(1) << 31, INT64_C(1) << 29},
                                &layout),
               SLC_ERROR_ARGUMENT, "2^63");
    assert_int_equal(layout.rank, 77);
    const slc_layout largest =
        dense(SLC_F64, 2, (const int64_t[]){INT64_C(1) << 30, INT64_C(1) << 29});
    assert_true(slc_layout_bytes(&largest) == INT64_C(1) << 62);
}

static void slices_move_the_offset(void **state) {
    (void)state;
    const slc_layout layout = cube();
    const slc_box box = {.rank = 3, .origin = {1, 0, 2}, .extent = {1, 2, 3}};
    const slc_layout slice = slc_layout_slice(&layout, &box);
    expect(&slice, 3, (const int64_t[]){1, 2, 3}, (const int64_t[]){60, 20, 4}, 68);
    assert_false(slc_layout_is_contiguous(&slice));
    const slc_box nowhere = {.rank = 3, .origin = {100, 0, 0}, .extent = {0, 3, 5}};
    const slc_layout empty = slc_layout_slice(&layout, &nowhere);
    assert_int_equal(slc_layout_count(&empty), 0);
    assert_int_equal(empty.offset_bytes, 0);
}

static void permutations_and_reversals(void **state) {
    (void)state;
    const slc_layout layout = cube();
    const slc_layout turned = slc_layout_permute(&layout, (const int[]){2, 0, 1});
    expect(&turned, 3, (const int64_t[]){5, 2, 3}, (const int64_t[]){4, 60, 20}, 0);
    const slc_layout backwards = slc_layout_reverse(&layout, 1);
    expect(&backwards, 3, (const int64_t[]){2, 3, 5}, (const int64_t[]){60, -20, 4}, 40);
    const slc_layout again = slc_layout_reverse(&backwards, 1);
    expect(&again, 3, (const int64_t[]){2, 3, 5}, (const int64_t[]){60, 20, 4}, 0);
}

static void coalescing_merges_what_is_one(void **state) {
    (void)state;
    const slc_layout layout = cube();
    const slc_layout flat = slc_layout_coalesce(&layout);
    expect(&flat, 1, (const int64_t[]){30}, (const int64_t[]){4}, 0);
    const slc_box rows = {.rank = 3, .origin = {0, 1, 0}, .extent = {2, 2, 5}};
    const slc_layout slice = slc_layout_slice(&layout, &rows);
    const slc_layout merged = slc_layout_coalesce(&slice);
    expect(&merged, 2, (const int64_t[]){2, 10}, (const int64_t[]){60, 4}, 20);
    const slc_layout ones = dense(SLC_U8, 3, (const int64_t[]){1, 1, 1});
    const slc_layout none = slc_layout_coalesce(&ones);
    assert_int_equal(none.rank, 0);
    const slc_layout backwards = slc_layout_reverse(&layout, 2);
    const slc_layout kept = slc_layout_coalesce(&backwards);
    expect(&kept, 2, (const int64_t[]){6, 5}, (const int64_t[]){20, -4}, 16);
}

static void contiguity(void **state) {
    (void)state;
    const slc_layout layout = cube();
    assert_true(slc_layout_is_contiguous(&layout));
    const slc_layout turned = slc_layout_permute(&layout, (const int[]){1, 0, 2});
    assert_false(slc_layout_is_contiguous(&turned));
    const slc_box slab = {.rank = 3, .origin = {1, 0, 0}, .extent = {1, 3, 5}};
    const slc_layout one = slc_layout_slice(&layout, &slab);
    assert_true(slc_layout_is_contiguous(&one));
    const slc_layout backwards = slc_layout_reverse(&layout, 2);
    assert_false(slc_layout_is_contiguous(&backwards));
}

/* dst[i] is dense; src is a dense array looked at through `order`. */
static bool turning_is_transpose(const int64_t *shape, const int *order) {
    const slc_layout from = dense(SLC_C64, 3, shape);
    const slc_layout turned = slc_layout_permute(&from, order);
    const slc_layout to = dense(SLC_C64, 3, turned.shape);
    const bool is_transpose = slc_layout_is_transpose(&to, &turned);
    assert_int_equal(is_transpose, slc_layout_is_transpose(&turned, &to));
    return is_transpose;
}

static void transposes_are_recognised(void **state) {
    (void)state;
    const int64_t shape[] = {4, 6, 7};
    assert_true(turning_is_transpose(shape, (const int[]){0, 2, 1}));  /* a batch */
    assert_true(turning_is_transpose(shape, (const int[]){2, 0, 1}));  /* 24 × 7 */
    assert_true(turning_is_transpose(shape, (const int[]){1, 2, 0}));  /* 4 × 42 */
    assert_false(turning_is_transpose(shape, (const int[]){0, 1, 2})); /* a plain copy */
    assert_false(turning_is_transpose(shape, (const int[]){1, 0, 2})); /* of whole rows */
    assert_false(turning_is_transpose(shape, (const int[]){2, 1, 0})); /* not of a matrix */
}

static void a_tile_of_a_matrix_is_transposed_too(void **state) {
    (void)state;
    const slc_layout matrix = dense(SLC_F32, 2, (const int64_t[]){100, 80});
    const slc_box box = {.rank = 2, .origin = {16, 32}, .extent = {8, 10}};
    const slc_layout tile = slc_layout_slice(&matrix, &box);
    const slc_layout turned = slc_layout_permute(&tile, (const int[]){1, 0});
    const slc_layout buffer = dense(SLC_F32, 2, (const int64_t[]){10, 8});
    assert_false(slc_layout_is_transpose(&buffer, &tile));  /* of other shape */
    assert_true(slc_layout_is_transpose(&turned, &buffer)); /* into the tile */
    const slc_layout exchanged = slc_layout_permute(&buffer, (const int[]){1, 0});
    assert_true(slc_layout_is_transpose(&exchanged, &tile)); /* out of it */
    const slc_layout doubles = dense(SLC_F64, 2, (const int64_t[]){8, 10});
    assert_false(slc_layout_is_transpose(&doubles, &tile));
}

static void a_sorted_pair_runs_along_the_source(void **state) {
    (void)state;
    const slc_layout from = cube();
    slc_layout src = slc_layout_permute(&from, (const int[]){2, 0, 1}); /* strides 4, 60, 20 */
    slc_layout dst = dense(SLC_F32, 3, (const int64_t[]){5, 2, 3});     /* strides 24, 12, 4 */
    slc_layout_sort_pair(&dst, &src);
    expect(&src, 2, (const int64_t[]){6, 5}, (const int64_t[]){20, 4}, 0);
    expect(&dst, 2, (const int64_t[]){6, 5}, (const int64_t[]){4, 24}, 0);
}

static void a_sorted_pair_walks_forwards(void **state) {
    (void)state;
    const slc_layout plain = cube();
    slc_layout src = slc_layout_reverse(&plain, 0);
    slc_layout dst = slc_layout_reverse(&plain, 0);
    slc_layout_sort_pair(&dst, &src);
    expect(&src, 1, (const int64_t[]){30}, (const int64_t[]){4}, 0);
    expect(&dst, 1, (const int64_t[]){30}, (const int64_t[]){4}, 0);
    src = slc_layout_reverse(&plain, 2);
    dst = plain;
    slc_layout_sort_pair(&dst, &src);
    expect(&src, 2, (const int64_t[]){6, 5}, (const int64_t[]){20, 4}, 0);
    expect(&dst, 2, (const int64_t[]){6, 5}, (const int64_t[]){20, -4}, 16);
}

static void a_broadcast_runs_along_the_destination(void **state) {
    (void)state;
    slc_layout src = {.dtype = SLC_F32, .rank = 2, .shape = {4, 9}, .stride_bytes = {4, 0}};
    slc_layout dst = dense(SLC_F32, 2, (const int64_t[]){4, 9});
    slc_layout_sort_pair(&dst, &src);
    expect(&src, 2, (const int64_t[]){4, 9}, (const int64_t[]){4, 0}, 0);
    expect(&dst, 2, (const int64_t[]){4, 9}, (const int64_t[]){36, 4}, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dense_layouts),
        cmocka_unit_test(bad_layouts_are_refused),
        cmocka_unit_test(slices_move_the_offset),
        cmocka_unit_test(permutations_and_reversals),
        cmocka_unit_test(coalescing_merges_what_is_one),
        cmocka_unit_test(contiguity),
        cmocka_unit_test(transposes_are_recognised),
        cmocka_unit_test(a_tile_of_a_matrix_is_transposed_too),
        cmocka_unit_test(a_sorted_pair_runs_along_the_source),
        cmocka_unit_test(a_sorted_pair_walks_forwards),
        cmocka_unit_test(a_broadcast_runs_along_the_destination),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
