#include "tests/support/test_support.h"

#include "core/job.h"

static slc_status do_nothing(void *state, const slc_tile_arguments *arguments) {
    (void)state;
    (void)arguments;
    return SLC_OK;
}

/* Direct imaging: axes (row, y, x); uvw, vis in; image(y, x) update; a resident table. */
enum { UVW, VIS, TABLE, IMAGE, N_OPERANDS };

static slc_job imaging_job(void) {
    const slc_job job = {
        .name = "image",
        .n_axes = 3,
        .axes = {{"row", 1000, 10, SLC_AXIS_REDUCED},
                 {"y", 64, 16, SLC_AXIS_PARALLEL},
                 {"x", 50, 16, SLC_AXIS_PARALLEL}},
        .n_operands = N_OPERANDS,
        .operands = {{.name = "uvw",
                      .dtype = SLC_F64,
                      .access = SLC_ACCESS_IN,
                      .rank = 2,
                      .axes = {0, SLC_AXIS_FIXED},
                      .fixed_extent = {0, 3}},
                     {.name = "vis",
                      .dtype = SLC_C64,
                      .access = SLC_ACCESS_IN,
                      .rank = 1,
                      .axes = {0},
                      .per_step = {4}},
                     {.name = "table", .dtype = SLC_F32, .access = SLC_ACCESS_IN, .rank = 0},
                     {.name = "image",
                      .dtype = SLC_FIXED128,
                      .access = SLC_ACCESS_UPDATE,
                      .rank = 2,
                      .axes = {1, 2}}},
        .tile = do_nothing,
    };
    return job;
}

static slc_tile tile_3d(int64_t row, int64_t y, int64_t x, int64_t n_rows, int64_t ny, int64_t nx) {
    const slc_tile tile = {.origin = {row, y, x}, .extent = {n_rows, ny, nx}};
    return tile;
}

static void expect_box(const slc_box *box, int rank, const int64_t *origin, const int64_t *extent) {
    assert_int_equal(box->rank, rank);
    for (int d = 0; d < rank; d++) {
        assert_int_equal(box->origin[d], origin[d]);
        assert_int_equal(box->extent[d], extent[d]);
    }
}

static void expect_shape(const slc_layout *layout, int rank, const int64_t *shape) {
    assert_int_equal(layout->rank, rank);
    for (int d = 0; d < rank; d++) {
        assert_int_equal(layout->shape[d], shape[d]);
    }
    assert_true(slc_layout_is_contiguous(layout));
}

static void axes_say_what_a_tile_touches(void **state) {
    (void)state;
    const slc_job job = imaging_job();
    TEST_OK(slc_job_check(&job));
    const slc_tile tile = tile_3d(990, 16, 48, 10, 32, 2);
    const slc_box uvw = slc_job_footprint(&job, UVW, &tile);
    expect_box(&uvw, 2, (const int64_t[]){990, 0}, (const int64_t[]){10, 3});
    const slc_box vis = slc_job_footprint(&job, VIS, &tile);
    expect_box(&vis, 1, (const int64_t[]){3960}, (const int64_t[]){40});
    const slc_box image = slc_job_footprint(&job, IMAGE, &tile);
    expect_box(&image, 2, (const int64_t[]){16, 48}, (const int64_t[]){32, 2});
    const slc_box table = slc_job_footprint(&job, TABLE, &tile);
    assert_int_equal(slc_box_count(&table), 1);
}

static void layouts_of_arrays_and_tiles(void **state) {
    (void)state;
    const slc_job job = imaging_job();
    slc_layout layout;
    TEST_OK(slc_job_full_layout(&job, UVW, &layout));
    expect_shape(&layout, 2, (const int64_t[]){1000, 3});
    assert_int_equal(layout.dtype, SLC_F64);
    TEST_OK(slc_job_full_layout(&job, VIS, &layout));
    expect_shape(&layout, 1, (const int64_t[]){4000});
    const int64_t extent[] = {100, 32, 64};
    TEST_OK(slc_job_tile_layout(&job, VIS, extent, &layout));
    expect_shape(&layout, 1, (const int64_t[]){400});
    TEST_OK(slc_job_tile_layout(&job, IMAGE, extent, &layout));
    expect_shape(&layout, 2, (const int64_t[]){32, 50}); /* x is cut at the array's end */
    TEST_OK(slc_job_tile_layout(&job, TABLE, extent, &layout));
    expect_shape(&layout, 0, NULL);
    const int64_t bad[] = {100, 0, 64};
    TEST_FAILS(slc_job_tile_layout(&job, VIS, bad, &layout), SLC_ERROR_ARGUMENT, "axis y");
}

/* A stencil: in(i, j) with a halo, out(i, j). */
static slc_job stencil_job(void) {
    const slc_job job = {
        .name = "stencil",
        .n_axes = 2,
        .axes = {{"i", 20, 4, SLC_AXIS_PARALLEL}, {"j", 30, 5, SLC_AXIS_PARALLEL}},
        .n_operands = 2,
        .operands = {{.name = "in",
                      .dtype = SLC_F32,
                      .access = SLC_ACCESS_IN,
                      .rank = 2,
                      .axes = {0, 1},
                      .halo = {1, 3}},
                     {.name = "out",
                      .dtype = SLC_F32,
                      .access = SLC_ACCESS_OUT,
                      .rank = 2,
                      .axes = {1, 0}}},
        .tile = do_nothing,
    };
    return job;
}

static void halos_are_cut_at_the_ends(void **state) {
    (void)state;
    const slc_job job = stencil_job();
    TEST_OK(slc_job_check(&job));
    const slc_tile corner = {.origin = {0, 25}, .extent = {4, 5}};
    const slc_box first = slc_job_footprint(&job, 0, &corner);
    expect_box(&first, 2, (const int64_t[]){0, 22}, (const int64_t[]){5, 8});
    const slc_tile middle = {.origin = {8, 10}, .extent = {4, 5}};
    const slc_box box = slc_job_footprint(&job, 0, &middle);
    expect_box(&box, 2, (const int64_t[]){7, 7}, (const int64_t[]){6, 11});
    const slc_box turned = slc_job_footprint(&job, 1, &middle);
    expect_box(&turned, 2, (const int64_t[]){10, 8}, (const int64_t[]){5, 4});
    slc_layout layout;
    TEST_OK(slc_job_tile_layout(&job, 0, (const int64_t[]){4, 25}, &layout));
    expect_shape(&layout, 2, (const int64_t[]){6, 30});
}

/* Twice as many elements the further the tile is from the origin, up to the array's end. */
static slc_box growing_footprint(const void *state, const slc_tile *tile) {
    assert_non_null(state);
    return slc_box_1d(tile->origin[0], 2 * tile->origin[0] + 1);
}

static void footprints_may_be_functions(void **state) {
    (void)state;
    slc_job job = stencil_job();
    int something = 0;
    job.state = &something;
    job.operands[0] = (slc_operand){.name = "in",
                                    .dtype = SLC_F32,
                                    .access = SLC_ACCESS_IN,
                                    .rank = 1,
                                    .axes = {SLC_AXIS_FIXED},
                                    .fixed_extent = {1000},
                                    .footprint = growing_footprint};
    TEST_OK(slc_job_check(&job));
    const slc_tile tile = {.origin = {8, 0}, .extent = {4, 30}};
    const slc_box box = slc_job_footprint(&job, 0, &tile);
    expect_box(&box, 1, (const int64_t[]){8}, (const int64_t[]){17});
    slc_layout layout;
    TEST_OK(slc_job_tile_layout(&job, 0, (const int64_t[]){4, 30}, &layout));
    expect_shape(&layout, 1, (const int64_t[]){33}); /* the tile at 16 */
    job.operands[0].fixed_extent[0] = 30;
    TEST_OK(slc_job_tile_layout(&job, 0, (const int64_t[]){4, 7}, &layout));
    expect_shape(&layout, 1, (const int64_t[]){18}); /* 12 … 36, cut at 30 */
}

static void sparse_operands_are_whole(void **state) {
    (void)state;
    slc_job job = stencil_job();
    job.operands[1].is_sparse = true;
    const slc_tile tile = {.origin = {8, 10}, .extent = {4, 5}};
    const slc_box box = slc_job_footprint(&job, 1, &tile);
    expect_box(&box, 2, (const int64_t[]){0, 0}, (const int64_t[]){30, 20});
    slc_layout layout;
    TEST_OK(slc_job_tile_layout(&job, 1, (const int64_t[]){4, 5}, &layout));
    expect_shape(&layout, 2, (const int64_t[]){30, 20});
}

static void empty_axes_are_legal(void **state) {
    (void)state;
    slc_job job = imaging_job();
    job.axes[0].extent = 0;
    TEST_OK(slc_job_check(&job));
    slc_layout layout;
    TEST_OK(slc_job_tile_layout(&job, VIS, (const int64_t[]){10, 16, 16}, &layout));
    assert_int_equal(slc_layout_count(&layout), 0);
}

static void bad_axes_and_functions_are_named(void **state) {
    (void)state;
    slc_job job = imaging_job();
    job.tile = NULL;
    TEST_FAILS(slc_job_check(&job), SLC_ERROR_ARGUMENT, "tile function");
    job = imaging_job();
    job.name = NULL;
    TEST_FAILS(slc_job_check(&job), SLC_ERROR_ARGUMENT, "name");
    job = imaging_job();
    job.n_axes = 5;
    TEST_FAILS(slc_job_check(&job), SLC_ERROR_ARGUMENT, "5 axes");
    job = imaging_job();
    job.axes[1].granule = 0;
    TEST_FAILS(slc_job_check(&job), SLC_ERROR_ARGUMENT, "axis y");
    job = imaging_job();
    job.axes[2].kind = (slc_axis_kind)9;
    TEST_FAILS(slc_job_check(&job), SLC_ERROR_ARGUMENT, "axis x");
    job = imaging_job();
    job.n_operands = SLC_MAX_OPERANDS + 1;
    TEST_FAILS(slc_job_check(&job), SLC_ERROR_ARGUMENT, "17 operands");
}

static void bad_operands_are_named(void **state) {
    (void)state;
    slc_job job = imaging_job();
    job.operands[VIS].axes[0] = 3;
    TEST_FAILS(slc_job_check(&job), SLC_ERROR_ARGUMENT, "operand vis names axis 3");
    job = imaging_job();
    job.operands[IMAGE].axes[1] = 1;
    TEST_FAILS(slc_job_check(&job), SLC_ERROR_ARGUMENT, "axis y in dimensions 0 and 1");
    job = imaging_job();
    job.operands[IMAGE].axes[1] = 0;
    TEST_FAILS(slc_job_check(&job), SLC_ERROR_ARGUMENT, "not indexed by parallel axis x");
    job = imaging_job();
    job.operands[IMAGE].access = SLC_ACCESS_OUT;
    TEST_FAILS(slc_job_check(&job), SLC_ERROR_ARGUMENT, "not indexed by reduced axis row");
    job.axes[0].granule = 1000; /* one tile along the rows writes every element once */
    TEST_OK(slc_job_check(&job));
    job = imaging_job();
    job.operands[IMAGE].halo[0] = 1;
    TEST_FAILS(slc_job_check(&job), SLC_ERROR_ARGUMENT, "halo");
    job = imaging_job();
    job.operands[UVW].fixed_extent[1] = -3;
    TEST_FAILS(slc_job_check(&job), SLC_ERROR_ARGUMENT, "uvw");
    job = imaging_job();
    job.operands[VIS].per_step[0] = INT64_MAX / 10;
    TEST_FAILS(slc_job_check(&job), SLC_ERROR_ARGUMENT, "2^63");
    job = imaging_job();
    job.operands[UVW].fixed_extent[1] = INT64_MAX / 1000;
    TEST_FAILS(slc_job_check(&job), SLC_ERROR_ARGUMENT, "job image: operand uvw");
    job = imaging_job();
    job.operands[TABLE].dtype = SLC_DTYPE_COUNT;
    TEST_FAILS(slc_job_check(&job), SLC_ERROR_ARGUMENT, "operand table");
    job = imaging_job();
    job.operands[IMAGE].footprint = growing_footprint;
    TEST_FAILS(slc_job_check(&job), SLC_ERROR_ARGUMENT, "footprint");
    job.operands[IMAGE].footprint = NULL;
    job.operands[IMAGE].is_sparse = true;
    TEST_FAILS(slc_job_check(&job), SLC_ERROR_UNSUPPORTED, "only inputs");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(axes_say_what_a_tile_touches),
        cmocka_unit_test(layouts_of_arrays_and_tiles),
        cmocka_unit_test(halos_are_cut_at_the_ends),
        cmocka_unit_test(footprints_may_be_functions),
        cmocka_unit_test(sparse_operands_are_whole),
        cmocka_unit_test(empty_axes_are_legal),
        cmocka_unit_test(bad_axes_and_functions_are_named),
        cmocka_unit_test(bad_operands_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
