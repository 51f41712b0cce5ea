#include "tests/support/test_predict_cases.h"

#include <math.h>

#include "core/budget.h"
#include "core/checked.h"
#include "ooc/engine.h"

#define TWO_PI 6.283185307179586
#define NX 97
#define NY 61
#define MOST_BYTES (INT64_C(1) << 30)

/* A problem of one form, all in host memory: an image of n_planes, of which the pixels in `pixel` are
 * the components, or a list. */
typedef struct problem {
    slc_predict_request request;
    double *uvw, *place, *channels, *flux, *shape;
    int64_t *pixel;
    void *image;
    double *expected; /* [row, channel, 2] */
    double *total;    /* [channel]: Σ|I| */
} problem;

static double *some(int64_t n, uint64_t seed, double scale) {
    double *values = test_allocate(n * (int64_t)sizeof *values);
    test_fill_f64(values, n, seed);
    for (int64_t k = 0; k < n; k++) {
        values[k] *= scale;
    }
    return values;
}

static void make_image(problem *self) {
    const slc_predict_request *request = &self->request;
    const int64_t n_pixels = request->ny * request->nx;
    const int64_t n = request->n_components;
    const int64_t bytes = slc_dtype_bytes(request->dtype);
    self->image = test_allocate(request->n_planes * n_pixels * bytes);
    memset(self->image, 0, (size_t)(request->n_planes * n_pixels * bytes));
    self->pixel = test_allocate(n * (int64_t)sizeof *self->pixel);
    self->flux = test_allocate(n * request->n_planes * (int64_t)sizeof *self->flux);
    uint64_t state = 5;
    for (int64_t k = 0; k < n; k++) {
        self->pixel[k] = k * n_pixels / n;
        for (int64_t p = 0; p < request->n_planes; p++) {
            /* Exact in single precision; one pixel in ten of a plane is no number. */
            const float value = (float)test_random_between(&state, -1.0, 2.0);
            const bool is_nan = test_random_below(&state, 10) == 0;
            const int64_t at = p * n_pixels + self->pixel[k];
            if (request->dtype == SLC_F32) {
                ((float *)self->image)[at] = is_nan ? NAN : value;
            } else {
                ((double *)self->image)[at] = is_nan ? (double)NAN : (double)value;
            }
            self->flux[k * request->n_planes + p] =
                is_nan ? 0.0 : (double)value * request->jy_per_unit;
        }
    }
}

static void make_list(problem *self) {
    const int64_t n = self->request.n_components;
    self->shape = some(n * SLC_PREDICT_SHAPE, 6, 1.0);
    for (int64_t k = 0; k < n; k++) {
        double *shape = self->shape + k * SLC_PREDICT_SHAPE;
        const double angle = 3.0 * shape[SLC_PREDICT_SHAPE_SIN];
        const bool is_point = k % 3 == 0;
        shape[SLC_PREDICT_SHAPE_INDEX] *= k % 2 == 0 ? 0.0 : 1.0;
        shape[SLC_PREDICT_SHAPE_MAJOR] = is_point ? 0.0 : 1e-4 * (1.5 + shape[2]);
        shape[SLC_PREDICT_SHAPE_MINOR] = is_point ? 0.0 : 3e-5 * (1.5 + shape[3]);
        shape[SLC_PREDICT_SHAPE_SIN] = sin(angle);
        shape[SLC_PREDICT_SHAPE_COS] = cos(angle);
    }
}

static double flux_of(const problem *self, int64_t k, int64_t c) {
    const double *channel = self->channels + c * SLC_PREDICT_CHANNEL_COLUMNS;
    if (self->shape == NULL) {
        return self->flux[k * self->request.n_planes + (int64_t)channel[SLC_PREDICT_PLANE]];
    }
    const double *shape = self->shape + k * SLC_PREDICT_SHAPE;
    return shape[SLC_PREDICT_SHAPE_FLUX] *
           exp(shape[SLC_PREDICT_SHAPE_INDEX] * channel[SLC_PREDICT_LN_FREQ]);
}

/* The Gaussian as the transform of exp(-4 ln 2 (a²/A² + b²/B²)): exp(-π²/(4 ln 2) (A² s² + B² t²)),
 * with A and B recovered from the columns that hold them times π / (2 √ln 2). */
static double gaussian(const problem *self, int64_t k, double u, double v) {
    const double *shape = self->shape + k * SLC_PREDICT_SHAPE;
    const double to_width = 2.0 * sqrt(log(2.0)) / (0.5 * TWO_PI);
    const double major = shape[SLC_PREDICT_SHAPE_MAJOR] * to_width;
    const double minor = shape[SLC_PREDICT_SHAPE_MINOR] * to_width;
    const double s = u * shape[SLC_PREDICT_SHAPE_SIN] + v * shape[SLC_PREDICT_SHAPE_COS];
    const double t = u * shape[SLC_PREDICT_SHAPE_COS] - v * shape[SLC_PREDICT_SHAPE_SIN];
    const double factor = 0.25 * TWO_PI * TWO_PI / (4.0 * log(2.0));
    return exp(-factor * (major * major * s * s + minor * minor * t * t));
}

static void expect_sample(problem *self, int64_t row, int64_t c) {
    const double scale = self->channels[c * SLC_PREDICT_CHANNEL_COLUMNS + SLC_PREDICT_SCALE];
    const double *uvw = self->uvw + 3 * row;
    double *out = self->expected + 2 * (row * self->request.n_channels + c);
    out[0] = out[1] = 0.0;
    for (int64_t k = 0; k < self->request.n_components; k++) {
        const double *place = self->place + 3 * k;
        const double turns = (uvw[0] * place[0] + uvw[1] * place[1] + uvw[2] * place[2]) * scale;
        double flux = flux_of(self, k, c);
        if (self->shape != NULL) {
            flux *= gaussian(self, k, uvw[0] * scale, uvw[1] * scale);
        }
        out[0] += flux * cos(TWO_PI * (turns - rint(turns)));
        out[1] += flux * sin(TWO_PI * (turns - rint(turns)));
    }
}

/* `reach_m`: the longest baseline. */
static void problem_create(const slc_predict_request *request, double reach_m, problem *self) {
    *self = (problem){.request = *request};
    const int64_t n = request->n_components;
    self->uvw = some(request->n_rows * 3, 1, reach_m);
    self->place = some(n * 3, 2, 0.3);
    self->channels = test_allocate(request->n_channels * SLC_PREDICT_CHANNEL_COLUMNS *
                                   (int64_t)sizeof *self->channels);
    self->expected = some(request->n_rows * request->n_channels * 2, 3, 1.0);
    self->total = some(request->n_channels, 4, 0.0);
    for (int64_t k = 0; k < n; k++) {
        self->place[3 * k + 2] *= -0.2;
    }
    for (int64_t c = 0; c < request->n_channels; c++) {
        double *channel = self->channels + c * SLC_PREDICT_CHANNEL_COLUMNS;
        channel[SLC_PREDICT_SCALE] = 4.7 + 0.013 * (double)c;
        channel[SLC_PREDICT_LN_FREQ] = log(1.0 + 0.1 * (double)c);
        channel[SLC_PREDICT_PLANE] =
            (double)(c * slc_max_i64(request->n_planes, 1) / request->n_channels);
    }
    if (request->form == SLC_PREDICT_LIST) {
        make_list(self);
    } else {
        make_image(self);
    }
    for (int64_t c = 0; c < request->n_channels; c++) {
        self->total[c] = 0.0;
        for (int64_t k = 0; k < n; k++) {
            self->total[c] += fabs(flux_of(self, k, c));
        }
        for (int64_t row = 0; row < request->n_rows; row++) {
            expect_sample(self, row, c);
        }
    }
}

static void problem_destroy(problem *self) {
    free(self->uvw);
    free(self->place);
    free(self->channels);
    free(self->flux);
    free(self->shape);
    free(self->pixel);
    free(self->image);
    free(self->expected);
    free(self->total);
}

/* One way to run it. */
typedef struct way {
    slc_predict_form form;
    slc_sparse_choice sparse;
    int64_t rows, components; /* of a tile; 0: as the planner likes */
} way;

static const void *memory_of(const problem *self, slc_predict_form form, int o) {
    switch (o) {
    case SLC_PREDICT_UVW:
        return self->uvw;
    case SLC_PREDICT_PLACE:
        return self->place;
    case SLC_PREDICT_CHANNELS:
        return self->channels;
    case SLC_PREDICT_FLUX: /* a list's shapes have the same number */
        return form == SLC_PREDICT_LIST ? self->shape : self->flux;
    case SLC_PREDICT_PIXEL:
        return self->pixel;
    default:
        return self->image;
    }
}

static void run(slc_device *device, const problem *self, const way *as, double *vis) {
    slc_predict_request request = self->request;
    slc_predict_setup setup;
    slc_device_limits limits;
    slc_job job;
    slc_plan plan;
    slc_layout layout;
    slc_budget *budget = NULL;
    slc_engine_report report;
    slc_binding bindings[SLC_MAX_OPERANDS] = {{0}};
    request.form = as->form;
    TEST_OK(slc_predict_choose(&request, &setup));
    TEST_OK(slc_predict_job_init(&setup, device->kind, &job));
    TEST_OK(slc_device_get_limits(device, &limits));
    const slc_plan_request planned = {.device_budget_bytes = MOST_BYTES,
                                      .host_budget_bytes = MOST_BYTES,
                                      .allocation_unit_bytes = limits.allocation_unit_bytes,
                                      .sparse = as->sparse,
                                      .force_tile = {as->rows, as->components}};
    TEST_OK(slc_plan_make(&job, &planned, &plan));
    for (int o = 0; o < job.n_operands; o++) {
        TEST_OK(slc_job_full_layout(&job, o, &layout));
        if (o == SLC_PREDICT_VIS) {
            TEST_OK(slc_sink_create_memory("vis", &layout, vis, &bindings[o].sink));
        } else if (job.operands[o].access == SLC_ACCESS_IN) {
            TEST_OK(slc_source_create_memory(job.operands[o].name, &layout,
                                             memory_of(self, as->form, o), &bindings[o].source));
        }
    }
    TEST_OK(slc_budget_create(MOST_BYTES, MOST_BYTES, &budget));
    const slc_engine_options options = {.device = device,
                                        .pool = device->pool,
                                        .budget = budget,
                                        .bindings = bindings};
    TEST_OK(slc_engine_run(&job, &plan, &options, &report));
    for (int o = 0; o < job.n_operands; o++) {
        slc_source_destroy(bindings[o].source);
        slc_sink_destroy(bindings[o].sink);
    }
    slc_budget_destroy(budget);
}

/* Phases are formed in double: the last bit of the path of `reach_m` metres, in radians, may differ. */
static void check(const problem *self, const double *vis, double reach_m) {
    const double slack = TWO_PI * 5.0 * reach_m * 0x1p-52;
    for (int64_t c = 0; c < self->request.n_channels; c++) {
        double worst = 0.0;
        for (int64_t row = 0; row < self->request.n_rows; row++) {
            const int64_t at = 2 * (row * self->request.n_channels + c);
            worst = fmax(worst,
                         hypot(vis[at] - self->expected[at], vis[at + 1] - self->expected[at + 1]));
        }
        if (!(worst <= (SLC_PREDICT_EPSILON + slack) * self->total[c])) {
            print_error("channel %lld is off by %g of %g Jy\n", (long long)c, worst,
                        self->total[c]);
            fail();
        }
    }
}

/* All ways give the right values, and those that must, the same bits. */
static void run_ways(void **state, const slc_predict_request *request, double reach_m,
                     const way *ways, int64_t n_ways) {
    test_fixture self;
    problem here;
    test_fixture_open(*state, &self);
    problem_create(request, reach_m, &here);
    const int64_t n = request->n_rows * request->n_channels * 2;
    double *first = some(n, 8, 1.0);
    double *vis = some(n, 9, 1.0);
    for (int64_t w = 0; w < n_ways; w++) {
        run(self.device, &here, &ways[w], w == 0 ? first : vis);
        if (w == 0) {
            check(&here, first, reach_m);
        } else {
            assert_memory_equal(vis, first, (size_t)n * sizeof *vis);
        }
    }
    free(vis);
    free(first);
    problem_destroy(&here);
    test_fixture_close(&self);
}

/* ---- cases ------------------------------------------------------------------------------------ */

static const way image_ways[] = {
    {SLC_PREDICT_IMAGE, SLC_SPARSE_RESIDENT, 0, 0},
    {SLC_PREDICT_IMAGE, SLC_SPARSE_RESIDENT, 64, 4096},
    {SLC_PREDICT_IMAGE, SLC_SPARSE_MAPPED, 128, 4096},
    {SLC_PREDICT_IMAGE, SLC_SPARSE_MAPPED, 64, 8192},
    {SLC_PREDICT_STREAMED, SLC_SPARSE_AUTO, 0, 0},
    {SLC_PREDICT_STREAMED, SLC_SPARSE_AUTO, 64, 4096},
};

static const way list_ways[] = {
    {SLC_PREDICT_LIST, SLC_SPARSE_AUTO, 0, 0},
    {SLC_PREDICT_LIST, SLC_SPARSE_AUTO, 64, 4096},
    {SLC_PREDICT_LIST, SLC_SPARSE_AUTO, 128, 8192},
};

static const slc_predict_request image = {.form = SLC_PREDICT_IMAGE,
                                          .n_rows = 150,
                                          .n_components = 4700,
                                          .n_channels = 3,
                                          .n_planes = 2,
                                          .ny = NY,
                                          .nx = NX,
                                          .dtype = SLC_F32,
                                          .jy_per_unit = 0.125};

static void predicts_an_image(void **state) {
    run_ways(state, &image, 3000.0, image_ways, TEST_COUNT(image_ways));
}

static void predicts_an_image_of_doubles(void **state) {
    slc_predict_request request = image;
    request.dtype = SLC_F64;
    request.n_planes = 1;
    request.n_channels = 1;
    request.n_rows = 70;
    run_ways(state, &request, 3000.0, image_ways, TEST_COUNT(image_ways));
}

/* More channels than a group of either kernel has, and not a multiple of it. */
static void predicts_many_channels(void **state) {
    slc_predict_request request = image;
    request.n_rows = 9;
    request.n_channels = 21;
    request.n_planes = 5;
    request.n_components = 300;
    run_ways(state, &request, 3000.0, image_ways, 1);
}

static void predicts_a_list(void **state) {
    const slc_predict_request request = {.form = SLC_PREDICT_LIST,
                                         .n_rows = 133,
                                         .n_components = 5000,
                                         .n_channels = 3};
    run_ways(state, &request, 900.0, list_ways, TEST_COUNT(list_ways));
}

static void predicts_one_component_for_one_row(void **state) {
    const slc_predict_request request = {.form = SLC_PREDICT_LIST,
                                         .n_rows = 1,
                                         .n_components = 1,
                                         .n_channels = 1};
    run_ways(state, &request, 900.0, list_ways, 1);
}

/* Ten million metres of baseline: up to 2·10⁷ turns. */
static void predicts_many_turns(void **state) {
    slc_predict_request request = image;
    request.n_rows = 40;
    request.n_components = 500;
    run_ways(state, &request, 1e7, image_ways, 2);
}

const test_case test_predict_cases[] = {
    TEST_CASE(predicts_an_image),
    TEST_CASE(predicts_an_image_of_doubles),
    TEST_CASE(predicts_many_channels),
    TEST_CASE(predicts_a_list),
    TEST_CASE(predicts_one_component_for_one_row),
    TEST_CASE(predicts_many_turns),
};
const int64_t test_n_predict_cases = TEST_COUNT(test_predict_cases);
