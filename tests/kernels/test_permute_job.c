#include "tests/support/test_fixture.h"

#include "kernels/permute_job.h"
#include "ooc/engine.h"

static void axes_and_granules_follow_units(void **state) {
    (void)state;
    /* Rows of 10 in, 64 columns out: whole dimensions ask for nothing. */
    slc_permute_request request = {.dtype = SLC_I32,
                                   .rank = 2,
                                   .shape = {997, 1003},
                                   .order = {1, 0},
                                   .in_unit = {10, 1003},
                                   .out_unit = {64, 997}};
    slc_permute_setup setup;
    TEST_OK(slc_permute_choose(&request, &setup));
    assert_int_equal(setup.n_axes, 2);
    assert_int_equal(setup.axes[0].extent, 1003);
    assert_int_equal(setup.axes[0].granule, 64);
    assert_int_equal(setup.axes[1].granule, 10);
    /* Units of both sides along one dimension: what divides both. */
    request.out_unit[1] = 15;
    TEST_OK(slc_permute_choose(&request, &setup));
    assert_int_equal(setup.axes[1].granule, 5);
    /* No units at all: patches of 64 by 64. */
    memset(request.in_unit, 0, sizeof request.in_unit);
    memset(request.out_unit, 0, sizeof request.out_unit);
    TEST_OK(slc_permute_choose(&request, &setup));
    assert_int_equal(setup.axes[0].granule, 64);
    assert_int_equal(setup.axes[1].granule, 64);
}

static void the_longest_dimensions_are_cut(void **state) {
    (void)state;
    const slc_permute_request request = {.dtype = SLC_F32,
                                         .rank = 6,
                                         .shape = {5, 3, 90, 4, 70, 6},
                                         .order = {5, 4, 3, 2, 1, 0}};
    slc_permute_setup setup;
    TEST_OK(slc_permute_choose(&request, &setup));
    assert_int_equal(setup.n_axes, 4);
    assert_int_equal(setup.axis_of[0], 0); /* 6 */
    assert_int_equal(setup.axis_of[1], 1); /* 70 */
    assert_int_equal(setup.axis_of[2], SLC_AXIS_FIXED);
    assert_int_equal(setup.axis_of[3], 2); /* 90 */
    assert_int_equal(setup.axis_of[4], SLC_AXIS_FIXED);
    assert_int_equal(setup.axis_of[5], 3); /* 5 */
}

static void what_is_no_order_is_refused(void **state) {
    (void)state;
    slc_permute_request request = {.dtype = SLC_F32, .rank = 2, .shape = {3, 4}, .order = {1, 1}};
    slc_permute_setup setup;
    TEST_FAILS(slc_permute_choose(&request, &setup), SLC_ERROR_ARGUMENT, "each of 0 to 1 once");
    request.rank = 0;
    TEST_FAILS(slc_permute_choose(&request, &setup), SLC_ERROR_ARGUMENT, "0 dimensions");
}

/* Runs tiles of this shape through the engine on every device; element k of the input is k. */
static void run_tiles(test_fixture *self, const slc_permute_request *request,
                      const int64_t *force_tile) {
    slc_permute_setup setup;
    slc_engine_report report;
    slc_plan plan;
    slc_budget *budget = NULL;
    slc_binding bindings[SLC_PERMUTE_N_OPERANDS] = {{.field = 0}};
    slc_layout layout[SLC_PERMUTE_N_OPERANDS];
    slc_plan_request planned = {.device_budget_bytes = 1 << 30,
                                .host_budget_bytes = 1 << 30,
                                .allocation_unit_bytes = 1};
    memcpy(planned.force_tile, force_tile, sizeof planned.force_tile);
    TEST_OK(slc_permute_choose(request, &setup));
    const slc_job job = slc_permute_job(&setup);
    TEST_OK(slc_job_check(&job));
    TEST_OK(slc_plan_make(&job, &planned, &plan));
    TEST_OK(slc_job_full_layout(&job, SLC_PERMUTE_IN, &layout[SLC_PERMUTE_IN]));
    TEST_OK(slc_job_full_layout(&job, SLC_PERMUTE_OUT, &layout[SLC_PERMUTE_OUT]));
    const int64_t n = slc_layout_count(&layout[SLC_PERMUTE_IN]);
    int32_t *in = test_allocate(n * 4);
    int32_t *out = test_allocate(n * 4);
    for (int64_t k = 0; k < n; k++) {
        in[k] = (int32_t)k;
    }
    TEST_OK(slc_source_create_memory("in", &layout[SLC_PERMUTE_IN], in,
                                     &bindings[SLC_PERMUTE_IN].source));
    TEST_OK(slc_sink_create_memory("out", &layout[SLC_PERMUTE_OUT], out,
                                   &bindings[SLC_PERMUTE_OUT].sink));
    TEST_OK(slc_budget_create(1 << 30, 1 << 30, &budget));
    const slc_engine_options options = {.device = self->device,
                                        .pool = self->device->pool,
                                        .budget = budget,
                                        .bindings = bindings};
    TEST_OK(slc_engine_run(&job, &plan, &options, &report));
    int64_t place[SLC_MAX_RANK] = {0};
    for (int64_t k = 0; k < n; k++) {
        int64_t at = 0; /* of the element in the input */
        for (int d = 0; d < request->rank; d++) {
            int e = 0;
            while (request->order[e] != d) {
                e++;
            }
            at = at * request->shape[d] + place[e];
        }
        assert_int_equal(out[k], at);
        for (int d = request->rank - 1; d >= 0 && ++place[d] == request->shape[request->order[d]];
             d--) {
            place[d] = 0;
        }
    }
    slc_source_destroy(bindings[SLC_PERMUTE_IN].source);
    slc_sink_destroy(bindings[SLC_PERMUTE_OUT].sink);
    slc_budget_destroy(budget);
    free(in);
    free(out);
}

static void tiles_of_any_shape_are_turned(void **state) {
    static const struct {
        slc_permute_request request;
        int64_t tile[SLC_MAX_AXES];
    } cases[] = {
        {{.dtype = SLC_I32, .rank = 2, .shape = {211, 130}, .order = {1, 0}}, {64, 64}},
        {{.dtype = SLC_I32, .rank = 2, .shape = {211, 130}, .order = {0, 1}}, {5, 130}},
        {{.dtype = SLC_I32, .rank = 3, .shape = {9, 80, 70}, .order = {2, 0, 1}}, {64, 2, 64}},
        {{.dtype = SLC_I32, .rank = 4, .shape = {3, 20, 5, 33}, .order = {3, 1, 0, 2}},
         {33, 7, 2, 5}},
        {{.dtype = SLC_I32, .rank = 5, .shape = {2, 20, 5, 33, 3}, .order = {4, 3, 1, 2, 0}},
         {1, 33, 20, 1}},
    };
    for (int64_t c = 0; c < TEST_COUNT(cases); c++) {
        test_fixture self;
        test_fixture_open(*state, &self);
        run_tiles(&self, &cases[c].request, cases[c].tile);
        test_fixture_close(&self);
    }
}

static const test_case cases[] = {
    TEST_CASE(tiles_of_any_shape_are_turned),
};

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(axes_and_granules_follow_units),
        cmocka_unit_test(the_longest_dimensions_are_cut),
        cmocka_unit_test(what_is_no_order_is_refused),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed + test_run_everywhere(cases, TEST_COUNT(cases), TEST_ON_ALL);
}
