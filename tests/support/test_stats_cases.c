#include "tests/support/test_stats_cases.h"

#include <math.h>

#include "kernels/stats_exact.h"
#include "kernels/stats_internal.h"
#include "ooc/engine.h"

__extension__ typedef __int128 wide;

static void bind(const slc_job *job, int operand, void *memory, slc_binding *bindings) {
    slc_layout layout;
    if (operand < 0) {
        return;
    }
    TEST_OK(slc_job_full_layout(job, operand, &layout));
    if (job->operands[operand].access == SLC_ACCESS_IN) {
        TEST_OK(slc_source_create_memory(job->operands[operand].name, &layout, memory,
                                         &bindings[operand].source));
    } else {
        TEST_OK(slc_sink_create_memory(job->operands[operand].name, &layout, memory,
                                       &bindings[operand].sink));
    }
}

static void run_engine(slc_device *device, const slc_job *job, const int64_t *tile,
                       const slc_binding *bindings) {
    slc_plan plan;
    slc_device_limits limits;
    slc_engine_report report;
    slc_budget *budget = NULL;
    TEST_OK(slc_device_get_limits(device, &limits));
    slc_plan_request plan_request = {.device_budget_bytes = INT64_C(1) << 28,
                                     .host_budget_bytes = INT64_C(1) << 28,
                                     .allocation_unit_bytes = limits.allocation_unit_bytes,
                                     .reads_in_place = device->has_host_memory};
    memcpy(plan_request.force_tile, tile, sizeof plan_request.force_tile);
    TEST_OK(slc_plan_make(job, &plan_request, &plan));
    TEST_OK(slc_budget_create(INT64_C(1) << 28, INT64_C(1) << 28, &budget));
    const slc_engine_options options = {.device = device,
                                        .pool = device->pool,
                                        .budget = budget,
                                        .bindings = bindings};
    TEST_OK(slc_engine_run(job, &plan, &options, &report));
    slc_budget_destroy(budget);
}

static int64_t bytes_of_sums(const slc_stats_request *request) {
    return request->n_parts * (int64_t)SLC_STATS_WORDS * 8;
}

static int64_t bytes_of_digits(const slc_stats_request *request) {
    return request->n_groups * slc_stats_n_digits(request) * 8;
}

static int64_t bytes_of_bins(const slc_stats_request *request) {
    return request->n_bins > 0 ? (request->n_bins + 2) * 8 : 0;
}

static void run_setup(slc_device *device, const slc_stats_setup *setup, const int64_t *tile,
                      const void *data, const double *edges, test_stats_found *out) {
    slc_job job;
    slc_binding bindings[SLC_MAX_OPERANDS] = {{NULL, 0, NULL}};
    TEST_OK(slc_stats_job_init(setup, device->kind, slc_pool_size(device->pool), &job));
    out->sums = test_allocate(bytes_of_sums(&setup->request));
    out->digits = test_allocate(bytes_of_digits(&setup->request));
    out->bins = test_allocate(bytes_of_bins(&setup->request));
    bind(&job, setup->data, (void *)(uintptr_t)data, bindings);
    bind(&job, setup->edges, (void *)(uintptr_t)edges, bindings);
    bind(&job, setup->sums, out->sums, bindings);
    bind(&job, setup->digits, out->digits, bindings);
    bind(&job, setup->bins, out->bins, bindings);
    run_engine(device, &job, tile, bindings);
    for (int o = 0; o < SLC_MAX_OPERANDS; o++) {
        slc_source_destroy(bindings[o].source);
        slc_sink_destroy(bindings[o].sink);
    }
}

static void expect_same(const slc_stats_request *request, const test_stats_found *a,
                        const test_stats_found *b) {
    assert_memory_equal(a->sums, b->sums, (size_t)bytes_of_sums(request));
    assert_memory_equal(a->digits, b->digits, (size_t)bytes_of_digits(request));
    assert_memory_equal(a->bins, b->bins, (size_t)bytes_of_bins(request));
}

void test_stats_run(slc_device *device, const slc_stats_request *request,
                    const slc_stats_step *step, const int64_t *tile, const void *data,
                    const double *edges, test_stats_found *out) {
    slc_stats_setup setup;
    TEST_OK(slc_stats_choose(request, &setup));
    setup.step = *step;
    run_setup(device, &setup, tile, data, edges, out);
    for (int s = 0; s < SLCI_STATS_SETS && device->kind == SLC_DEVICE_HOST; s++) {
        test_stats_found found;
        setup.force_simd = slci_stats_sets[s];
        if (slci_stats_sets[s]->is_supported() && slci_stats_sets[s] != slci_stats_simd_get()) {
            run_setup(device, &setup, tile, data, edges, &found);
            expect_same(request, &found, out);
            test_stats_free(&found);
        }
    }
}

void test_stats_free(test_stats_found *found) {
    free(found->sums);
    free(found->digits);
    free(found->bins);
}

/* ---- values that are whole numbers of one unit -------------------------------------------------- */

/* Elements `whole` · 2^exponent of an integer or real type. */
static void *encode(slc_dtype dtype, const int64_t *whole, int64_t n, int exponent) {
    char *data = test_allocate(n * slc_dtype_bytes(dtype));
    for (int64_t k = 0; k < n; k++) {
        const double value = ldexp((double)whole[k], exponent);
        const float single = (float)value;
        if (slc_dtype_is_integer(dtype)) {
            memcpy(data + k * slc_dtype_bytes(dtype), &whole[k], (size_t)slc_dtype_bytes(dtype));
        } else if (dtype == SLC_F64) {
            memcpy(data + k * 8, &value, 8);
        } else {
            memcpy(data + k * 4, &single, 4);
        }
    }
    return data;
}

static void expect_sums(const uint64_t *word, const int64_t *whole, int64_t n, int exponent) {
    const int64_t *sum_digits = (const int64_t *)&word[SLC_STATS_SUM];
    const int64_t *square_digits = (const int64_t *)&word[SLC_STATS_SQUARES];
    wide sum = 0;
    wide squares = 0;
    for (int64_t k = 0; k < n; k++) {
        sum += whole[k];
        squares += (wide)whole[k] * whole[k];
    }
    /* The sums of whole numbers below are far from 2^64 and from the 128 bits of their products. */
    assert_true(slci_exact_sum(sum_digits) == ldexp((double)sum, exponent));
    assert_true(slci_exact_mean(sum_digits, 1) == ldexp((double)sum, exponent));
    const wide variance = squares * n - sum * sum; /* · n² */
    const double deviation = slci_exact_deviation(&sum_digits, &square_digits, 1, n) * (double)n;
    const double expected = ldexp(sqrt((double)variance), exponent);
    /* Below 2^-1022 a double is a multiple of the smallest one. */
    assert_true(fabs(deviation - expected) <= 4e-16 * expected + 0x1p-1074 * (double)n);
}

/* Ends of the range, by value and by first place. */
static void expect_range(const slc_stats_request *request, const uint64_t *word,
                         const int64_t *whole, int64_t n, int exponent) {
    int64_t lowest = 0;
    int64_t highest = 0;
    for (int64_t k = 1; k < n; k++) {
        lowest = whole[k] < whole[lowest] ? k : lowest;
        highest = whole[k] > whole[highest] ? k : highest;
    }
    assert_int_equal(word[SLC_STATS_PLACE_LOWEST], lowest + 1);
    assert_int_equal(word[SLC_STATS_PLACE_HIGHEST], highest + 1);
    assert_true(slc_stats_key_value(request->dtype, request->parts[0], word[SLC_STATS_LOWEST]) ==
                ldexp((double)whole[lowest], exponent));
    assert_true(slc_stats_key_value(request->dtype, request->parts[0], word[SLC_STATS_HIGHEST]) ==
                ldexp((double)whole[highest], exponent));
}

/* Digits count the values of their range, which comparisons of values tell as well. */
static void expect_digits(const slc_stats_request *request, const slc_stats_step *step,
                          const uint64_t *digits, const int64_t *whole, int64_t n, int exponent) {
    for (int64_t d = 0; d < slc_stats_n_digits(request); d++) {
        if (digits[d] == 0) {
            continue;
        }
        const uint64_t first = (uint64_t)d << step->shift;
        const uint64_t last = first + ((UINT64_C(1) << step->shift) - 1);
        const double low = slc_stats_key_value(request->dtype, request->parts[0], first);
        const double high = slc_stats_key_value(request->dtype, request->parts[0], last);
        uint64_t count = 0;
        for (int64_t k = 0; k < n; k++) {
            const double value = ldexp((double)whole[k], exponent);
            /* Ends of floats' ranges may be NaN, beyond the infinities, where no value lies; and -0,
             * whose place no value takes. */
            const bool is_zero_below = value == 0 && high == 0 && signbit(high);
            count += !(value < low) && !(value > high) && !is_zero_below;
        }
        assert_int_equal(digits[d], count);
    }
    uint64_t total = 0;
    for (int64_t d = 0; d < slc_stats_n_digits(request); d++) {
        total += digits[d];
    }
    assert_int_equal(total, n);
}

typedef struct kind {
    slc_dtype dtype;
    int64_t least, most;
    int exponent;
} kind;

static const kind kinds[] = {
    {SLC_U8, 0, 255, 0},
    {SLC_I8, -128, 127, 0},
    {SLC_U16, 0, 65535, 0},
    {SLC_I16, -32768, 32767, 0},
    {SLC_U32, 0, UINT32_MAX, 0},
    {SLC_I32, INT32_MIN, INT32_MAX, 0},
    {SLC_U64, 0, INT64_C(1) << 44, 0},
    {SLC_I64, -(INT64_C(1) << 44), INT64_C(1) << 44, 0},
    {SLC_F32, -(1 << 24), 1 << 24, -12},
    {SLC_F32, -3, 3, -149},
    {SLC_F32, 8388608, 8388611, 0},
    {SLC_F64, -(INT64_C(1) << 44), INT64_C(1) << 44, -1074},
    {SLC_F64, -(INT64_C(1) << 44), INT64_C(1) << 44, 700},
    {SLC_F64, 1000000000, 1000000003, 0},
};

enum { ROWS = 30, COLUMNS = 41, DEPTH = 17 };

/* Every type, in tiles that are whole, long, wide and small, with the digits of the first step. */
static void adds_up_whatever_the_tiles(void **state) {
    static const int64_t tiles[][SLC_MAX_AXES] = {{ROWS, COLUMNS, DEPTH},
                                                  {7, COLUMNS, DEPTH},
                                                  {ROWS, 9, DEPTH},
                                                  {11, 40, 5}};
    const int64_t n = ROWS * COLUMNS * DEPTH;
    test_fixture self;
    test_fixture_open(*state, &self);
    int64_t *whole = test_allocate(n * 8);
    uint64_t random = 5;
    for (int64_t t = 0; t < TEST_COUNT(kinds) * TEST_COUNT(tiles); t++) {
        const kind *of = &kinds[t / TEST_COUNT(tiles)];
        slc_stats_request request = {.dtype = of->dtype,
                                     .rank = 3,
                                     .shape = {ROWS, COLUMNS, DEPTH},
                                     .n_parts = 1,
                                     .n_groups = 1,
                                     .digit_bits = 8};
        const int bits = slc_stats_key_bits(of->dtype, SLC_STATS_VALUE);
        const slc_stats_step step = {.has_moments = true,
                                     .n_groups = 1,
                                     .digit_bits = 8,
                                     .shift = bits - 8};
        test_stats_found found;
        for (int64_t k = 0; k < n; k++) {
            whole[k] = of->least + test_random_below(&random, of->most - of->least + 1);
        }
        void *data = encode(of->dtype, whole, n, of->exponent);
        test_stats_run(self.device, &request, &step, tiles[t % TEST_COUNT(tiles)], data, NULL,
                       &found);
        assert_int_equal(found.sums[SLC_STATS_N], n);
        assert_int_equal(found.sums[SLC_STATS_N_NAN], 0);
        expect_sums(found.sums, whole, n, of->exponent);
        expect_range(&request, found.sums, whole, n, of->exponent);
        if (t % TEST_COUNT(tiles) == 3) {
            expect_digits(&request, &step, found.digits, whole, n, of->exponent);
        }
        test_stats_free(&found);
        free(data);
    }
    free(whole);
    test_fixture_close(&self);
}

/* 2^1000, 1, -2^1000 and 2^-1000, in all orders and mixed with zeros, add up to 1 + 2^-1000. */
static void loses_nothing_between_sizes(void **state) {
    static const double sizes[4] = {0x1p1000, 1, -0x1p1000, 0x1p-1000};
    const int64_t n = 5000;
    const int64_t tile[SLC_MAX_AXES] = {1024};
    const slc_stats_request request = {.dtype = SLC_F64, .rank = 1, .shape = {5000}, .n_parts = 1};
    const slc_stats_step step = {.has_moments = true};
    test_fixture self;
    test_fixture_open(*state, &self);
    double *data = test_allocate(n * 8);
    for (int64_t first = 0; first < 4; first++) {
        test_stats_found found;
        memset(data, 0, (size_t)n * 8);
        for (int64_t k = 0; k < 4; k++) {
            data[17 + k * 1111] = sizes[(first + k) % 4];
        }
        test_stats_run(self.device, &request, &step, tile, data, NULL, &found);
        const int64_t *sum = (const int64_t *)&found.sums[SLC_STATS_SUM];
        assert_true(slci_exact_sum(sum) == 1.0);
        double rest[1];
        int64_t digits[SLCI_SUM_DIGITS];
        memcpy(digits, sum, sizeof digits);
        slci_exact_add(digits, SLCI_SUM_POINT, -1.0);
        rest[0] = slci_exact_sum(digits);
        assert_true(rest[0] == 0x1p-1000);
        test_stats_free(&found);
    }
    free(data);
    test_fixture_close(&self);
}

/* NaN count alone; infinities have places; -0 is 0, so the first zero is the smallest. */
static void knows_what_is_no_number(void **state) {
    const double data[12] = {
        NAN, 3, 0.0, -0.0, (double)INFINITY, 5, -(double)INFINITY, NAN, 5, 0.0, (double)INFINITY,
        2};
    const double zeros[12] = {0.0, -0.0, 0.0, -0.0, 1, 1, 0, 0, 0, 0, 0, 0};
    const int64_t tile[SLC_MAX_AXES] = {0};
    const slc_stats_request request = {
        .dtype = SLC_F64, .rank = 1, .shape = {12}, .n_parts = 1, .n_bins = 2};
    const slc_stats_step step = {.has_moments = true, .has_bins = true};
    const double edges[3] = {0, 2, 5};
    test_stats_found found;
    test_fixture self;
    test_fixture_open(*state, &self);
    test_stats_run(self.device, &request, &step, tile, data, edges, &found);
    const uint64_t *word = found.sums;
    assert_int_equal(word[SLC_STATS_N], 12);
    assert_int_equal(word[SLC_STATS_N_NAN], 2);
    assert_int_equal(word[SLC_STATS_N_ABOVE], 2);
    assert_int_equal(word[SLC_STATS_N_BELOW], 1);
    assert_int_equal(word[SLC_STATS_PLACE_ABOVE], 5);
    assert_int_equal(word[SLC_STATS_PLACE_BELOW], 7);
    assert_int_equal(word[SLC_STATS_PLACE_LOWEST], 3);
    assert_int_equal(word[SLC_STATS_PLACE_HIGHEST], 6);
    assert_true(slci_exact_sum((const int64_t *)&word[SLC_STATS_SUM]) == 15.0);
    const uint64_t bins[4] = {1, 3, 4, 2}; /* -inf; 0 -0 0; 3 5 5 2; inf inf */
    assert_memory_equal(found.bins, bins, sizeof bins);
    test_stats_free(&found);
    test_stats_run(self.device, &request, &step, tile, zeros, edges, &found);
    assert_int_equal(found.sums[SLC_STATS_PLACE_LOWEST], 1);
    assert_true(slc_stats_key_value(SLC_F64, SLC_STATS_VALUE, found.sums[SLC_STATS_LOWEST]) == 0);
    assert_false(
        signbit(slc_stats_key_value(SLC_F64, SLC_STATS_VALUE, found.sums[SLC_STATS_LOWEST])));
    test_stats_free(&found);
    test_fixture_close(&self);
}

/* The same of singles; and where there is no number at all, there is neither an end nor a place. */
static void knows_zeros_and_nan_of_singles(void **state) {
    const float zeros[6] = {NAN, 1, -0.0f, 0.0f, -0.0f, 1};
    const float nothing[6] = {NAN, NAN, -NAN, NAN, -NAN, NAN};
    const int64_t tile[SLC_MAX_AXES] = {0};
    const slc_stats_request request = {.dtype = SLC_F32, .rank = 1, .shape = {6}, .n_parts = 1};
    const slc_stats_step step = {.has_moments = true};
    test_stats_found found;
    test_fixture self;
    test_fixture_open(*state, &self);
    test_stats_run(self.device, &request, &step, tile, zeros, NULL, &found);
    const double low = slc_stats_key_value(SLC_F32, SLC_STATS_VALUE, found.sums[SLC_STATS_LOWEST]);
    assert_int_equal(found.sums[SLC_STATS_PLACE_LOWEST], 3);
    assert_int_equal(found.sums[SLC_STATS_PLACE_HIGHEST], 2);
    assert_true(low == 0 && !signbit(low));
    test_stats_free(&found);
    test_stats_run(self.device, &request, &step, tile, nothing, NULL, &found);
    assert_int_equal(found.sums[SLC_STATS_N_NAN], 6);
    assert_int_equal(found.sums[SLC_STATS_PLACE_LOWEST], 0);
    assert_int_equal(found.sums[SLC_STATS_PLACE_HIGHEST], 0);
    assert_true(slci_exact_sum((const int64_t *)&found.sums[SLC_STATS_SUM]) == 0);
    test_stats_free(&found);
    test_fixture_close(&self);
}

/* Half precision by its bits: 1, 2, the largest, the smallest, minus two, infinite, NaN. */
static void reads_half_precision(void **state) {
    const uint16_t data[7] = {0x3c00, 0x4000, 0x7bff, 0x0001, 0xc000, 0x7c00, 0x7e01};
    const int64_t tile[SLC_MAX_AXES] = {0};
    const slc_stats_request request = {.dtype = SLC_F16, .rank = 1, .shape = {7}, .n_parts = 1};
    const slc_stats_step step = {.has_moments = true};
    test_stats_found found;
    test_fixture self;
    test_fixture_open(*state, &self);
    test_stats_run(self.device, &request, &step, tile, data, NULL, &found);
    assert_true(slci_exact_sum((const int64_t *)&found.sums[SLC_STATS_SUM]) == 65505.0 + 0x1p-24);
    assert_int_equal(found.sums[SLC_STATS_N_NAN], 1);
    assert_int_equal(found.sums[SLC_STATS_PLACE_ABOVE], 6);
    assert_int_equal(found.sums[SLC_STATS_PLACE_LOWEST], 5);
    assert_int_equal(found.sums[SLC_STATS_PLACE_HIGHEST], 3);
    test_stats_free(&found);
    test_fixture_close(&self);
}

/* (3, 4), (0, -2), NaN in one part, infinite in one part, and sizes whose squares no double holds. */
static void takes_complex_numbers_apart(void **state) {
    const double data[6][2] = {{3, 4},         {0, -2},         {NAN, 1}, {1, (double)INFINITY},
                               {3e300, 4e300}, {6e-310, 8e-310}};
    const int64_t tile[SLC_MAX_AXES] = {0};
    const slc_stats_request request = {.dtype = SLC_C128,
                                       .rank = 1,
                                       .shape = {6},
                                       .n_parts = 3,
                                       .parts = {SLC_STATS_REAL, SLC_STATS_IMAG, SLC_STATS_ABS}};
    const slc_stats_step step = {.has_moments = true};
    test_stats_found found;
    test_fixture self;
    test_fixture_open(*state, &self);
    test_stats_run(self.device, &request, &step, tile, data, NULL, &found);
    const uint64_t *imag = found.sums + SLC_STATS_WORDS;
    const uint64_t *size = found.sums + 2 * SLC_STATS_WORDS;
    assert_int_equal(found.sums[SLC_STATS_N_NAN], 1);
    assert_int_equal(imag[SLC_STATS_N_NAN], 1);
    assert_int_equal(size[SLC_STATS_N_NAN], 1);
    assert_int_equal(found.sums[SLC_STATS_N_ABOVE], 0);
    assert_int_equal(imag[SLC_STATS_N_ABOVE], 1);
    assert_int_equal(size[SLC_STATS_PLACE_ABOVE], 4);
    assert_int_equal(size[SLC_STATS_PLACE_HIGHEST], 5);
    assert_int_equal(size[SLC_STATS_PLACE_LOWEST], 6);
    const double largest = slc_stats_key_value(SLC_C128, SLC_STATS_ABS, size[SLC_STATS_HIGHEST]);
    const double smallest = slc_stats_key_value(SLC_C128, SLC_STATS_ABS, size[SLC_STATS_LOWEST]);
    assert_true(fabs(largest - 5e300) <= 1e-15 * 5e300);
    assert_true(fabs(smallest - 1e-309) <= 1e-320);
    assert_int_equal(imag[SLC_STATS_PLACE_LOWEST], 0);
    assert_int_equal(imag[SLC_STATS_PLACE_HIGHEST], 0);
    for (int w = SLC_STATS_SUM; w < SLC_STATS_WORDS; w++) {
        assert_int_equal(size[w], 0);
    }
    test_stats_free(&found);
    test_fixture_close(&self);
}

/* Where the absolute value is least and largest, by its square, which is whole. */
static void expect_sizes(const uint64_t *word, const int64_t *whole[2], int64_t n, int exponent) {
    int64_t lowest = 0;
    int64_t highest = 0;
    int64_t square[2] = {INT64_MAX, -1};
    for (int64_t k = 0; k < n; k++) {
        const int64_t here = whole[0][k] * whole[0][k] + whole[1][k] * whole[1][k];
        lowest = here < square[0] ? k : lowest;
        square[0] = here < square[0] ? here : square[0];
        highest = here > square[1] ? k : highest;
        square[1] = here > square[1] ? here : square[1];
    }
    assert_int_equal(word[SLC_STATS_PLACE_LOWEST], lowest + 1);
    assert_int_equal(word[SLC_STATS_PLACE_HIGHEST], highest + 1);
    assert_true(slc_stats_key_value(SLC_C64, SLC_STATS_ABS, word[SLC_STATS_LOWEST]) ==
                ldexp(sqrt((double)square[0]), exponent));
    assert_true(slc_stats_key_value(SLC_C64, SLC_STATS_ABS, word[SLC_STATS_HIGHEST]) ==
                ldexp(sqrt((double)square[1]), exponent));
}

/* Single complex numbers, all parts at once: of one size, and with some that are far smaller than the
 * others, in blocks that are full and that are not. */
static void adds_up_pairs(void **state) {
    static const int64_t sizes[] = {1, 2, 3, 7, 1024, 1025, 5000, 40001};
    const int64_t most = 40001;
    const int64_t tile[SLC_MAX_AXES] = {3072};
    const slc_stats_step step = {.has_moments = true};
    test_fixture self;
    test_fixture_open(*state, &self);
    int64_t *parts[2] = {test_allocate(most * 8), test_allocate(most * 8)};
    const int64_t *whole[2] = {parts[0], parts[1]};
    float *data = test_allocate(2 * most * (int64_t)sizeof *data);
    uint64_t random = 8;
    for (int64_t t = 0; t < 2 * TEST_COUNT(sizes); t++) {
        const int64_t n = sizes[t / 2];
        const bool has_small = t % 2 == 1;
        const slc_stats_request request = {.dtype = SLC_C64,
                                           .rank = 1,
                                           .shape = {n},
                                           .n_parts = 3,
                                           .parts = {SLC_STATS_REAL, SLC_STATS_IMAG,
                                                     SLC_STATS_ABS}};
        test_stats_found found;
        for (int64_t k = 0; k < 2 * n; k++) {
            const int shift = has_small ? (int)test_random_below(&random, 23) : 5;
            parts[k % 2][k / 2] = test_random_below(&random, 1 << 24) / (1 << shift) - (1 << 18);
            data[k] = ldexpf((float)parts[k % 2][k / 2], -30);
        }
        test_stats_run(self.device, &request, &step, tile, data, NULL, &found);
        for (int p = 0; p < 2; p++) {
            assert_int_equal(found.sums[p * SLC_STATS_WORDS + SLC_STATS_N], n);
            expect_sums(found.sums + p * SLC_STATS_WORDS, whole[p], n, -30);
        }
        expect_sizes(found.sums + 2 * SLC_STATS_WORDS, whole, n, -30);
        test_stats_free(&found);
    }
    free(data);
    free(parts[0]);
    free(parts[1]);
    test_fixture_close(&self);
}

/* Keys of a group alone count, and the groups' own digits are kept apart. */
static void counts_digits_by_group(void **state) {
    enum { N = 60000 };
    const int64_t tile[SLC_MAX_AXES] = {7168};
    const slc_stats_request request = {
        .dtype = SLC_U32, .rank = 1, .shape = {N}, .n_parts = 1, .n_groups = 3, .digit_bits = 8};
    const slc_stats_step step = {.n_groups = 3, .digit_bits = 8, .shift = 8, .group = {1, 2, 700}};
    uint32_t *data = test_allocate(N * 4);
    uint64_t expected[3][256] = {{0}};
    uint64_t random = 2;
    test_stats_found found;
    test_fixture self;
    test_fixture_open(*state, &self);
    for (int64_t k = 0; k < N; k++) {
        data[k] = (uint32_t)test_random_below(&random, 1 << 18);
        const uint32_t group = data[k] >> 16;
        if (group == 1 || group == 2) {
            expected[group - 1][data[k] >> 8 & 255]++;
        }
    }
    test_stats_run(self.device, &request, &step, tile, data, NULL, &found);
    assert_memory_equal(found.digits, expected, sizeof expected);
    test_stats_free(&found);
    free(data);
    test_fixture_close(&self);
}

const test_case test_stats_cases[] = {
    TEST_CASE(adds_up_whatever_the_tiles),
    TEST_CASE(loses_nothing_between_sizes),
    TEST_CASE(knows_what_is_no_number),
    TEST_CASE(knows_zeros_and_nan_of_singles),
    TEST_CASE(reads_half_precision),
    TEST_CASE(takes_complex_numbers_apart),
    TEST_CASE(adds_up_pairs),
    TEST_CASE(counts_digits_by_group),
};
const int64_t test_n_stats_cases = TEST_COUNT(test_stats_cases);
