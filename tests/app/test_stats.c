/* Whole runs of statistics, from a file: the same results whatever the budgets, threads and chunks;
 * what is planned of memory is what is taken; the smallest budgets work and no smaller ones; a run that
 * was stopped goes on; slices; everything that is refused. */
#include <hdf5.h>
#include <math.h>

#include "app/stats.h"
#include "tests/support/test_uvh5.h"

enum { ROWS = 400, COLUMNS = 150, N = ROWS * COLUMNS, N_BINS = 10, N_QUANTILES = 3 };

typedef struct place {
    char directory[TEST_PATH_BYTES];
    char in[TEST_PATH_BYTES], checkpoint[TEST_PATH_BYTES];
} place;

/* Results and room for them. */
typedef struct taken {
    slc_stats_options options;
    slc_stats_result result;
    double quantiles[N_QUANTILES];
    slc_stats_number values[N_QUANTILES];
    double edges[N_BINS + 1];
    int64_t bins[N_BINS + 2];
} taken;

/* x[k] = (7 k) mod N - 20000, so that every whole number from -20000 to 39999 is there once. */
static double value_at(int64_t k) {
    return (double)(7 * k % N - 20000);
}

static int make(void **state) {
    place *self = test_allocate((int64_t)sizeof *self);
    const int64_t shape[2] = {ROWS, COLUMNS};
    const hsize_t chunk[2] = {70, 40};
    double *data = test_allocate(N * 8);
    test_directory_create(self->directory);
    test_join(self->directory, "in.h5", self->in);
    test_join(self->directory, "state", self->checkpoint);
    for (int64_t k = 0; k < N; k++) {
        data[k] = value_at(k);
    }
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    assert_true(H5Pset_chunk(properties, 2, chunk) >= 0 && H5Pset_deflate(properties, 1) >= 0);
    test_h5_put(self->in, "/chunked", H5T_IEEE_F64BE, H5T_NATIVE_DOUBLE, 2, shape, properties,
                data);
    test_h5_put(self->in, "/plain", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 2, shape, H5P_DEFAULT, data);
    test_h5_put(self->in, "/whole", H5T_STD_I32BE, H5T_NATIVE_DOUBLE, 2, shape, properties, data);
    H5Pclose(properties);
    free(data);
    *state = self;
    return 0;
}

static int remove_place(void **state) {
    place *self = *state;
    test_directory_remove(self->directory);
    free(self);
    return 0;
}

static void prepare(const place *self, const char *dataset, taken *out) {
    *out = (taken){.quantiles = {0, 0.25, 1}};
    out->options = (slc_stats_options){.in = {.path = self->in, .dataset = dataset},
                                       .n_quantiles = N_QUANTILES,
                                       .quantiles = out->quantiles,
                                       .quantile_values = out->values,
                                       .n_bins = N_BINS,
                                       .edges = out->edges,
                                       .bins = out->bins,
                                       .run = {.vram_bytes = 64 << 20,
                                               .ram_bytes = 64 << 20,
                                               .device = SLC_CHOOSE_HOST,
                                               .n_threads = 2}};
}

/* All of it follows from the whole numbers from -20000 to 39999. */
static void expect_results(const taken *found) {
    const slc_stats_result *result = &found->result;
    const double n = N;
    assert_int_equal(result->n, N);
    assert_int_equal(result->n_nan, 0);
    assert_int_equal(result->n_inf, 0);
    assert_true(result->min.value == -20000 && result->max.value == 39999);
    assert_int_equal(result->argmin, 0);
    assert_true(value_at(result->argmax) == 39999);
    assert_true(result->sum[0].value == n * 9999.5);
    assert_true(result->mean[0].value == 9999.5);
    assert_true(fabs(result->std.value - sqrt((n * n - 1) / 12)) < 1e-11);
    assert_true(result->median.value == 9999.5);
    assert_true(found->values[0].value == -20000);
    assert_true(found->values[1].value == -20000 + 0.25 * (n - 1));
    assert_true(found->values[2].value == 39999);
    assert_int_equal(found->bins[0] + found->bins[N_BINS + 1], 0);
    assert_true(found->edges[0] == -20000 && found->edges[N_BINS] == 39999);
    for (int b = 1; b <= N_BINS; b++) {
        assert_int_equal(found->bins[b], N / N_BINS);
    }
}

static void results_do_not_depend_on_the_run(void **state) {
    static const char *const datasets[] = {"/chunked", "/plain", "/whole"};
    static const struct {
        int64_t vram_bytes, ram_bytes;
        int n_threads;
    } runs[] = {{64 << 20, 64 << 20, 1},
                {64 << 20, 64 << 20, 3},
                {4 << 20, 8 << 20, 2},
                {150000, 8 << 20, 2},
                {60000, 4 << 20, 1}};
    for (int64_t r = 0; r < TEST_COUNT(runs) * TEST_COUNT(datasets); r++) {
        taken found;
        prepare(*state, datasets[r % TEST_COUNT(datasets)], &found);
        found.options.run.vram_bytes = runs[r / TEST_COUNT(datasets)].vram_bytes;
        found.options.run.ram_bytes = runs[r / TEST_COUNT(datasets)].ram_bytes;
        found.options.run.n_threads = runs[r / TEST_COUNT(datasets)].n_threads;
        TEST_OK(slc_stats_run(&found.options, &found.result));
        expect_results(&found);
        const slc_run_memory *memory = &found.result.memory;
        assert_true(memory->vram_peak_bytes <= found.options.run.vram_bytes);
        assert_int_equal(memory->vram_peak_bytes, found.result.plan.device_peak_bytes);
        assert_int_equal(memory->host_peak_bytes, memory->host_planned_bytes);
    }
}

static void integers_stay_whole(void **state) {
    taken found;
    prepare(*state, "/whole", &found);
    TEST_OK(slc_stats_run(&found.options, &found.result));
    assert_true(found.result.sum[0].is_whole && found.result.sum[0].whole.low == 599970000);
    assert_true(found.result.median.is_whole && found.result.median.has_half);
    assert_int_equal(found.result.median.whole.low, 9999);
    assert_true(found.result.min.is_whole && found.result.min.whole.high == -1);
    assert_false(found.result.mean[0].is_whole);
}

/* The least of one budget with plenty of the other; a byte less is refused with the same number. */
static void smallest_budgets_are_exact(void **state) {
    taken found;
    slc_stats_result result;
    prepare(*state, "/chunked", &found);
    slc_run_options *run = &found.options.run;
    run->dry_run = true;
    TEST_OK(slc_stats_run(&found.options, &result));
    const int64_t vram_bytes = result.plan.smallest_device_bytes;
    const int64_t ram_bytes = result.memory.smallest_ram_bytes;
    char words[64];
    run->dry_run = false;
    run->vram_bytes = vram_bytes;
    TEST_OK(slc_stats_run(&found.options, &found.result));
    expect_results(&found);
    run->vram_bytes = vram_bytes - 1;
    (void)snprintf(words, sizeof words, "--vram %lld", (long long)vram_bytes);
    TEST_FAILS(slc_stats_run(&found.options, &result), SLC_ERROR_NO_PLAN, words);
    run->vram_bytes = 64 << 20;
    run->ram_bytes = ram_bytes;
    TEST_OK(slc_stats_run(&found.options, &found.result));
    expect_results(&found);
    run->ram_bytes = ram_bytes - 1;
    (void)snprintf(words, sizeof words, "--ram %lld", (long long)ram_bytes);
    TEST_FAILS(slc_stats_run(&found.options, &result), SLC_ERROR_NO_PLAN, words);
}

static void slices_are_arrays(void **state) {
    taken found;
    prepare(*state, "/chunked", &found);
    TEST_OK(slc_slice_parse("[10:20:3, -1]", &found.options.in.slice));
    TEST_OK(slc_stats_run(&found.options, &found.result));
    double sum = 0;
    for (int64_t row = 10; row < 20; row += 3) {
        sum += value_at(row * COLUMNS + COLUMNS - 1);
    }
    assert_int_equal(found.result.n, 4);
    assert_true(found.result.sum[0].value == sum);
    TEST_OK(slc_slice_parse("[5:5]", &found.options.in.slice));
    TEST_OK(slc_stats_run(&found.options, &found.result));
    assert_int_equal(found.result.n, 0);
    assert_int_equal(found.result.argmin, -1);
    assert_false(found.result.min.is_defined || found.result.median.is_defined ||
                 found.values[0].is_defined || found.result.has_bins);
    assert_true(found.result.sum[0].is_defined && found.result.sum[0].value == 0);
}

/* Chunks are 70 by 40, six rows of four. Whether tiles are smaller than chunks, or a slice begins
 * within one, each is decoded once a pass, if it is not there still from the pass before. */
static void chunks_are_decoded_once(void **state) {
    static const struct {
        const char *slice;
        int64_t n_chunks; /* that it touches */
    } slices[] = {{"[:]", 24}, {"[13:, 7:]", 24}, {"[69:141, 39:81]", 9}, {"[::-1, 5:-5]", 24}};
    static const int64_t vram_bytes[] = {40000, 150000, 8 << 20};
    for (int64_t k = 0; k < TEST_COUNT(slices) * TEST_COUNT(vram_bytes); k++) {
        taken found;
        prepare(*state, "/chunked", &found);
        TEST_OK(slc_slice_parse(slices[k % TEST_COUNT(slices)].slice, &found.options.in.slice));
        found.options.run.vram_bytes = vram_bytes[k / TEST_COUNT(slices)];
        TEST_OK(slc_stats_run(&found.options, &found.result));
        const slc_stats_result *result = &found.result;
        const int64_t n_chunks = slices[k % TEST_COUNT(slices)].n_chunks;
        assert_true(result->chunks_decoded >= n_chunks);
        assert_true(result->chunks_decoded <= n_chunks * result->n_passes);
        assert_int_equal(result->memory.host_peak_bytes, result->memory.host_planned_bytes);
    }
}

/* Stops in the pass number `pass`, half-way. */
typedef struct stopper {
    int pass, n_passes;
    bool was_late;
    volatile int cancel;
} stopper;

static void stop_there(void *context, const char *stage, const char *thing, double done,
                       double total) {
    stopper *self = context;
    (void)stage;
    (void)thing;
    const bool is_late = done > 0.4 * total;
    self->n_passes += is_late && !self->was_late;
    self->was_late = is_late;
    if (self->n_passes >= self->pass) {
        self->cancel = 1;
    }
}

static void a_stopped_run_goes_on(void **state) {
    const place *self = *state;
    for (int pass = 1; pass <= 4; pass++) {
        taken found;
        stopper stop = {.pass = pass};
        prepare(self, "/chunked", &found);
        slc_run_options *run = &found.options.run;
        run->vram_bytes = 100000;
        run->ram_bytes = 8 << 20;
        run->checkpoint_path = self->checkpoint;
        run->progress = stop_there;
        run->progress_context = &stop;
        run->cancel = &stop.cancel;
        const slc_status status = slc_stats_run(&found.options, &found.result);
        if (status == SLC_ERROR_UNSUPPORTED) {
            TEST_SKIP("%s", slc_status_message());
        }
        assert_int_equal(status, SLC_ERROR_INTERRUPTED);
        run->progress = NULL;
        run->cancel = NULL;
        run->resume = true;
        run->vram_bytes = 16 << 20;
        run->n_threads = 3;
        TEST_OK(slc_stats_run(&found.options, &found.result));
        assert_true(found.result.is_resumed);
        expect_results(&found);
        assert_int_equal(test_directory_count(self->directory), 1);
    }
}

static void what_cannot_be_is_refused(void **state) {
    taken found;
    prepare(*state, "/chunked", &found);
    slc_stats_options bad = found.options;
    bad.part = SLC_STATS_REAL;
    TEST_FAILS(slc_stats_run(&bad, &found.result), SLC_ERROR_ARGUMENT, "--part");
    bad = found.options;
    found.quantiles[1] = 1.5;
    TEST_FAILS(slc_stats_run(&bad, &found.result), SLC_ERROR_ARGUMENT, "quantile 1.5");
    found.quantiles[1] = NAN;
    TEST_FAILS(slc_stats_run(&bad, &found.result), SLC_ERROR_ARGUMENT, "quantile");
    found.quantiles[1] = 0.5;
    bad.has_range = true;
    bad.low = bad.high = 3;
    TEST_FAILS(slc_stats_run(&bad, &found.result), SLC_ERROR_ARGUMENT, "from 3 to 3");
    bad = found.options;
    bad.in.dataset = "/none";
    TEST_FAILS(slc_stats_run(&bad, &found.result), SLC_ERROR_INPUT, "none");
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, make, remove_place)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(results_do_not_depend_on_the_run), CASE(integers_stay_whole),
        CASE(smallest_budgets_are_exact),       CASE(slices_are_arrays),
        CASE(chunks_are_decoded_once),          CASE(a_stopped_run_goes_on),
        CASE(what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
