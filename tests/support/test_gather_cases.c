#include "tests/support/test_gather_cases.h"

#include "core/checked.h"
#include "ooc/engine.h"

static int64_t product(const int64_t *shape, int begin, int end) {
    int64_t n = 1;
    for (int d = begin; d < end; d++) {
        n *= shape[d];
    }
    return n;
}

void test_gather_expect(const slc_gather_request *request, const void *data, const int64_t *list,
                        void *out) {
    const int64_t bytes = slc_dtype_bytes(request->dtype);
    const int axis = request->axis;
    if (axis < 0) {
        for (int64_t k = 0; k < request->n_index; k++) {
            int64_t at = 0;
            for (int d = 0; d < request->rank; d++) {
                at = at * request->shape[d] + list[k * request->rank + d];
            }
            memcpy((char *)out + k * bytes, (const char *)data + at * bytes, (size_t)bytes);
        }
        return;
    }
    const int64_t n_along = request->shape[axis];
    const int64_t run = product(request->shape, axis + 1, request->rank) * bytes;
    char *to = out;
    for (int64_t o = 0; o < product(request->shape, 0, axis); o++) {
        for (int64_t k = 0; k < request->n_index; k++) {
            memcpy(to, (const char *)data + (o * n_along + list[k]) * run, (size_t)run);
            to += run;
        }
    }
}

void *test_gather_encode(const int64_t *list, int64_t n, slc_dtype dtype) {
    const int64_t bytes = slc_dtype_bytes(dtype);
    char *values = test_allocate(n * bytes);
    for (int64_t k = 0; k < n; k++) {
        memcpy(values + k * bytes, &list[k], (size_t)bytes); /* the low bytes come first */
    }
    return values;
}

/* Indices within the data that the type can hold. */
static int64_t *make_list(const test_gather *gather) {
    const slc_gather_request *request = &gather->request;
    const int n_coordinates = request->axis < 0 ? request->rank : 1;
    const int64_t bytes = slc_dtype_bytes(request->index_dtype);
    const bool is_signed = slc_dtype_is_signed_integer(request->index_dtype);
    const int64_t most = bytes == 8 ? INT64_MAX : (INT64_C(1) << (8 * bytes - is_signed)) - 1;
    int64_t *list = test_allocate(request->n_index * n_coordinates * (int64_t)sizeof *list);
    uint64_t state = 7;
    for (int64_t k = 0; k < request->n_index; k++) {
        for (int c = 0; c < n_coordinates; c++) {
            const int64_t extent = request->shape[request->axis < 0 ? c : request->axis];
            const int64_t below = slc_min_i64(extent, most);
            list[k * n_coordinates + c] =
                gather->is_sorted ? k * below / request->n_index : test_random_below(&state, below);
        }
    }
    return list;
}

static slc_plan plan_gather(slc_device *device, const test_gather *gather, const slc_job *job) {
    slc_plan plan;
    slc_device_limits limits;
    TEST_OK(slc_device_get_limits(device, &limits));
    slc_plan_request request = {.device_budget_bytes = INT64_C(1) << 30,
                                .host_budget_bytes = INT64_C(1) << 30,
                                .allocation_unit_bytes = limits.allocation_unit_bytes,
                                .sparse = gather->sparse};
    memcpy(request.force_tile, gather->tile, sizeof request.force_tile);
    TEST_OK(slc_plan_make(job, &request, &plan));
    return plan;
}

typedef struct bound {
    slc_binding bindings[SLC_GATHER_N_OPERANDS];
    slc_layout layout[SLC_GATHER_N_OPERANDS];
    void *memory[SLC_GATHER_N_OPERANDS];
} bound;

static void bind(const slc_job *job, const test_gather *gather, const int64_t *list, bound *out) {
    *out = (bound){.memory = {NULL}};
    for (int o = 0; o <= SLC_GATHER_OUT; o++) { /* those behind it are the device's own */
        TEST_OK(slc_job_full_layout(job, o, &out->layout[o]));
        const int64_t bytes = slc_layout_bytes(&out->layout[o]);
        out->memory[o] = o == SLC_GATHER_INDEX
                             ? test_gather_encode(list, slc_layout_count(&out->layout[o]),
                                                  gather->request.index_dtype)
                             : test_allocate(bytes);
        if (o == SLC_GATHER_OUT) {
            memset(out->memory[o], 0xA5, (size_t)bytes);
            TEST_OK(slc_sink_create_memory("out", &out->layout[o], out->memory[o],
                                           &out->bindings[o].sink));
        } else {
            TEST_OK(slc_source_create_memory(job->operands[o].name, &out->layout[o], out->memory[o],
                                             &out->bindings[o].source));
        }
    }
    test_fill(out->memory[SLC_GATHER_DATA], slc_layout_bytes(&out->layout[SLC_GATHER_DATA]), 3);
}

static void unbind(bound *self) {
    for (int o = 0; o <= SLC_GATHER_OUT; o++) {
        slc_source_destroy(self->bindings[o].source);
        slc_sink_destroy(self->bindings[o].sink);
        free(self->memory[o]);
    }
}

void test_gather_run(slc_device *device, const test_gather *gather) {
    slc_gather_setup setup;
    slc_job job;
    bound self;
    slc_engine_report report;
    slc_budget *budget = NULL;
    TEST_OK(slc_gather_choose(&gather->request, &setup));
    TEST_OK(slc_gather_job_init(&setup, device->kind, &job));
    int64_t *list = make_list(gather);
    bind(&job, gather, list, &self);
    const slc_plan plan = plan_gather(device, gather, &job);
    TEST_OK(slc_budget_create(INT64_C(1) << 30, INT64_C(1) << 30, &budget));
    const slc_engine_options options = {.device = device,
                                        .pool = device->pool,
                                        .budget = budget,
                                        .bindings = self.bindings};
    TEST_OK(slc_engine_run(&job, &plan, &options, &report));
    const int64_t bytes = slc_layout_bytes(&self.layout[SLC_GATHER_OUT]);
    void *expected = test_allocate(bytes);
    test_gather_expect(&gather->request, self.memory[SLC_GATHER_DATA], list, expected);
    assert_int_equal(memcmp(self.memory[SLC_GATHER_OUT], expected, (size_t)bytes), 0);
    free(expected);
    free(list);
    unbind(&self);
    slc_budget_destroy(budget);
}

/* ---- cases ------------------------------------------------------------------------------------ */

/* The ways on one device, mapped data in the list's order and in its own; the tile is that of
 * the streamed one, index first. */
static void run_all_ways(void **state, test_gather gather) {
    test_fixture self;
    test_fixture_open(*state, &self);
    gather.request.form = SLC_GATHER_STREAMED;
    test_gather_run(self.device, &gather);
    slc_gather_setup setup;
    gather.request.form = SLC_GATHER_WHOLE;
    TEST_OK(slc_gather_choose(&gather.request, &setup));
    if (setup.outer_dim < 0 && setup.inner_dim < 0) {
        memset(gather.tile + 1, 0, sizeof gather.tile - sizeof gather.tile[0]);
    }
    gather.sparse = SLC_SPARSE_RESIDENT;
    test_gather_run(self.device, &gather);
    gather.sparse = SLC_SPARSE_MAPPED;
    test_gather_run(self.device, &gather);
    gather.request.is_ordered = true;
    test_gather_run(self.device, &gather);
    test_fixture_close(&self);
}

static void takes_every_size_of_element(void **state) {
    static const slc_dtype dtypes[] = {SLC_U8, SLC_F16, SLC_F32, SLC_C64, SLC_C128};
    for (int64_t t = 0; t < TEST_COUNT(dtypes); t++) {
        const test_gather gather = {.request = {.dtype = dtypes[t],
                                                .rank = 1,
                                                .shape = {300000},
                                                .index_dtype = SLC_I64,
                                                .n_index = 5000},
                                    .tile = {1024, 65536}};
        run_all_ways(state, gather);
    }
}

static void takes_every_type_of_index(void **state) {
    static const slc_dtype dtypes[] = {SLC_U8,  SLC_I8,  SLC_U16, SLC_I16,
                                       SLC_U32, SLC_I32, SLC_U64, SLC_I64};
    for (int64_t t = 0; t < TEST_COUNT(dtypes); t++) {
        const test_gather gather = {.request = {.dtype = SLC_F32,
                                                .rank = 1,
                                                .shape = {70000},
                                                .index_dtype = dtypes[t],
                                                .n_index = 3000},
                                    .tile = {2048, 16384},
                                    .is_sorted = t % 2 == 1};
        run_all_ways(state, gather);
    }
}

/* Runs of 3 to 4,000 bytes, before and behind the dimension that is indexed, aligned or not. */
static void takes_slabs_along_any_dimension(void **state) {
    static const int64_t shapes[][4] = {{5, 40, 3, 7},
                                        {40, 6, 1, 16},
                                        {1, 9, 1000, 4},
                                        {3, 3, 3, 3}};
    for (int64_t s = 0; s < TEST_COUNT(shapes); s++) {
        for (int axis = 0; axis < 4; axis++) {
            test_gather gather = {.request = {.dtype = axis % 2 == 0 ? SLC_U8 : SLC_F32,
                                              .rank = 4,
                                              .index_dtype = SLC_I32,
                                              .n_index = 50,
                                              .axis = axis}};
            memcpy(gather.request.shape, shapes[s], sizeof shapes[s]);
            run_all_ways(state, gather);
        }
    }
}

static void takes_points_by_coordinates(void **state) {
    static const int64_t shapes[][3] = {{30, 40, 50}, {700, 1, 9}, {2, 3, 200000}};
    for (int64_t s = 0; s < TEST_COUNT(shapes); s++) {
        test_gather gather = {.request = {.dtype = s == 1 ? SLC_C128 : SLC_F32,
                                          .rank = 3,
                                          .index_dtype = s == 0 ? SLC_U8 : SLC_I64,
                                          .n_index = 3000,
                                          .axis = SLC_GATHER_COORDINATES},
                              .tile = {1024}};
        memcpy(gather.request.shape, shapes[s], sizeof shapes[s]);
        run_all_ways(state, gather);
    }
}

/* Slabs of more than a mebibyte, cut behind the indexed dimension, before it, and on both sides.
 * The axes after the list's are the cut ones in the order inner, outer, data. */
static void cuts_large_slabs(void **state) {
    static const struct {
        slc_dtype dtype;
        int rank, axis, n_cut;
        int64_t shape[SLC_MAX_RANK];
        int64_t tile[SLC_MAX_AXES];
    } cases[] = {
        {SLC_F32, 3, 1, 1, {4, 2, 300001}, {1, 16384 * 3, 1}},
        {SLC_F32, 3, 1, 1, {601, 2, 1000}, {1, 262, 1}},
        {SLC_F64, 3, 1, 2, {40, 2, 20000}, {1, 8192, 16, 1}},
        {SLC_F32, 6, 2, 2, {2, 20, 2, 3, 4000, 2}, {2, 2730, 8, 1}},
        {SLC_U8, 2, 0, 1, {2, 3000001}, {2, 1000000, 1}},
    };
    for (int64_t c = 0; c < TEST_COUNT(cases); c++) {
        test_gather gather = {.request = {.dtype = cases[c].dtype,
                                          .rank = cases[c].rank,
                                          .index_dtype = SLC_U16,
                                          .n_index = 2,
                                          .axis = cases[c].axis}};
        slc_gather_setup setup;
        memcpy(gather.request.shape, cases[c].shape, sizeof cases[c].shape);
        memcpy(gather.tile, cases[c].tile, sizeof cases[c].tile);
        TEST_OK(slc_gather_choose(&gather.request, &setup));
        assert_int_equal((setup.inner_dim >= 0) + (setup.outer_dim >= 0), cases[c].n_cut);
        run_all_ways(state, gather);
    }
}

/* Enough indices in a tile for it to be sorted, and a last tile of few. */
static void takes_long_lists(void **state) {
    static const slc_dtype dtypes[] = {SLC_U8, SLC_F32, SLC_C128};
    for (int64_t t = 0; t < TEST_COUNT(dtypes); t++) {
        const test_gather gather = {.request = {.dtype = dtypes[t],
                                                .rank = 1,
                                                .shape = {1000000},
                                                .index_dtype = t == 1 ? SLC_U32 : SLC_I64,
                                                .n_index = 200000},
                                    .tile = {65536, 262144}};
        run_all_ways(state, gather);
    }
    const test_gather points = {.request = {.dtype = SLC_F32,
                                            .rank = 3,
                                            .shape = {30, 40, 50},
                                            .index_dtype = SLC_I16,
                                            .n_index = 100000,
                                            .axis = SLC_GATHER_COORDINATES},
                                .tile = {65536}};
    run_all_ways(state, points);
    const test_gather rows = {.request = {.dtype = SLC_F32,
                                          .rank = 3,
                                          .shape = {3, 5000, 2},
                                          .index_dtype = SLC_I32,
                                          .n_index = 90000,
                                          .axis = 1},
                              .tile = {65536}};
    run_all_ways(state, rows);
}

static void an_empty_list_is_fine(void **state) {
    const test_gather gather = {
        .request = {.dtype = SLC_F32, .rank = 1, .shape = {10}, .index_dtype = SLC_I64}};
    run_all_ways(state, gather);
}

const test_case test_gather_cases[] = {
    TEST_CASE(takes_every_size_of_element),
    TEST_CASE(takes_every_type_of_index),
    TEST_CASE(takes_slabs_along_any_dimension),
    TEST_CASE(takes_points_by_coordinates),
    TEST_CASE(cuts_large_slabs),
    TEST_CASE(takes_long_lists),
    TEST_CASE(an_empty_list_is_fine),
};
const int64_t test_n_gather_cases = TEST_COUNT(test_gather_cases);
