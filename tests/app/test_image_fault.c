/* Every call of every kind fails once, at every place where the imaging job makes it, in every variant
 * of the job: one clear error of the right class, every thread joined, no file and no object of HDF5
 * left open, and the output folder as it was. Under the address sanitizer this also shows that nothing
 * leaks. Where a variant makes very many calls of a kind, the first fifty and a sample of the rest
 * fail. */
#include <hdf5.h>
#include <pthread.h>

#include "app/image.h"
#include "core/device_check.h"
#include "io/h5_codec.h"
#include "io/h5_file.h"
#include "tests/support/test_belongings.h"
#include "tests/support/test_faults.h"
#include "tests/support/test_npz_file.h"
#include "tests/support/test_uvh5.h"

enum { MAX_FILES = 3, N_DENSE = 50, N_SAMPLED = 12 };

/* What a call that fails must end in. */
static const slc_status expected_status[TEST_FAULT_KINDS] = {
    [TEST_FAULT_SLAB] = SLC_ERROR_NO_PLAN,       [TEST_FAULT_MEMORY] = SLC_ERROR_MEMORY,
    [TEST_FAULT_THREAD] = SLC_ERROR_MEMORY,      [TEST_FAULT_OPEN_INPUT] = SLC_ERROR_INPUT,
    [TEST_FAULT_OPEN_DATA] = SLC_ERROR_INPUT,    [TEST_FAULT_READ] = SLC_ERROR_INPUT,
    [TEST_FAULT_DECODE] = SLC_ERROR_INPUT,       [TEST_FAULT_COMPARE] = SLC_ERROR_INPUT,
    [TEST_FAULT_ARCHIVE] = SLC_ERROR_INPUT,      [TEST_FAULT_WRITE] = SLC_ERROR_OUTPUT,
    [TEST_FAULT_OPEN_OUTPUT] = SLC_ERROR_OUTPUT, [TEST_FAULT_H5_WRITE] = SLC_ERROR_OUTPUT,
    [TEST_FAULT_FITS] = SLC_ERROR_OUTPUT,        [TEST_FAULT_SYNC] = SLC_ERROR_OUTPUT,
    [TEST_FAULT_RENAME] = SLC_ERROR_OUTPUT,
};

/* Where a variant reads and writes. */
typedef struct place {
    char data[TEST_PATH_BYTES], results[TEST_PATH_BYTES];
    char input[2][TEST_PATH_BYTES], output[MAX_FILES][TEST_PATH_BYTES], psf[TEST_PATH_BYTES];
    const char *inputs[2], *outputs[MAX_FILES];
    int n_inputs, n_outputs;
} place;

/* ---- inputs ---------------------------------------------------------------------------------- */

static void use_base(place *self) {
    test_need_shared("cases/base.uvh5", self->input[0]);
}

static void use_two_files(place *self) {
    test_need_shared("cases/base.uvh5", self->input[0]);
    test_need_shared("cases/mixed_order.uvh5", self->input[1]);
    self->n_inputs = 2;
}

static void use_lzf(place *self) {
    test_need_shared("data/m87_vlba_8GHz.lzf.uvh5", self->input[0]);
}

static void use_bitshuffle(place *self) {
    test_need_shared("data/m87_vlba_8GHz.bslz4.uvh5", self->input[0]);
}

static void use_zstd(place *self) {
    enum { ROWS = 24, CHANNELS = 4, POLS = 2, CHUNK_ROWS = 8 };
    const int64_t shape[3] = {ROWS, CHANNELS, POLS};
    const hsize_t chunk[3] = {CHUNK_ROWS, CHANNELS, POLS};
    const unsigned level = 3;
    float vis[ROWS * CHANNELS * POLS * 2];
    test_join(self->data, "zstd.uvh5", self->input[0]);
    test_uvh5_create(self->input[0], ROWS, CHANNELS, POLS);
    test_fill_f32(vis, TEST_COUNT(vis), 1);
    slci_h5_lock(); /* registers the filter */
    slci_h5_unlock();
    const hid_t type = test_h5_complex(H5T_NATIVE_FLOAT, "r", "i");
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    assert_true(H5Pset_chunk(list, 3, chunk) >= 0);
    assert_true(H5Pset_filter(list, SLCI_FILTER_ZSTD, H5Z_FLAG_MANDATORY, 1, &level) >= 0);
    test_h5_put(self->input[0], "/Data/visdata", type, type, 3, shape, list, vis);
    H5Pclose(list);
    H5Tclose(type);
}

enum { PLAIN_ROWS = 40 };

/* u, v, w and the visibilities of a plain set. */
static void fill_plain(double columns[3][PLAIN_ROWS], float vis[2 * PLAIN_ROWS]) {
    for (int d = 0; d < 3; d++) {
        test_fill_f64(columns[d], PLAIN_ROWS, (uint64_t)d);
        for (int k = 0; k < PLAIN_ROWS; k++) {
            columns[d][k] *= 100;
        }
    }
    test_fill_f32(vis, 2 * PLAIN_ROWS, 4);
}

static void use_plain(place *self) {
    static const char *const names[] = {"/u", "/v", "/w"};
    const int64_t shape[1] = {PLAIN_ROWS};
    const hsize_t chunk[1] = {16};
    double columns[3][PLAIN_ROWS];
    float vis[2 * PLAIN_ROWS];
    fill_plain(columns, vis);
    test_join(self->data, "plain.h5", self->input[0]);
    for (int d = 0; d < 3; d++) {
        test_h5_put_f64(self->input[0], names[d], 1, shape, columns[d]);
    }
    const hid_t type = test_h5_complex(H5T_NATIVE_FLOAT, "r", "i");
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    assert_true(H5Pset_chunk(list, 1, chunk) >= 0 && H5Pset_deflate(list, 1) >= 0);
    test_h5_put(self->input[0], "/vis", type, type, 1, shape, list, vis);
    H5Pclose(list);
    H5Tclose(type);
}

static void use_npz(place *self) {
    static const char *const names[] = {"u.npy", "v.npy", "w.npy"};
    double columns[3][PLAIN_ROWS];
    float vis[2 * PLAIN_ROWS];
    test_npz zip = {.n = 0};
    fill_plain(columns, vis);
    for (int d = 0; d < 3; d++) {
        test_npz_add_array(&zip, &(test_npz_array){names[d], "<f8", "False", "(40,)", true,
                                                   columns[d], sizeof columns[d]});
    }
    test_npz_add_array(&zip, &(test_npz_array){"data.npy", "<c8", "False", "(40,)", true, vis,
                                               sizeof vis});
    test_join(self->data, "plain.npz", self->input[0]);
    test_npz_save(&zip, self->input[0]);
}

/* ---- variants -------------------------------------------------------------------------------- */

#define BIT(kind) (1U << TEST_FAULT_##kind)
#define COMPUTING (BIT(MEMORY) | BIT(SLAB) | BIT(THREAD))
#define READING (BIT(OPEN_INPUT) | BIT(OPEN_DATA) | BIT(READ))
#define DECODING (BIT(DECODE) | BIT(COMPARE))
#define WRITING (BIT(OPEN_OUTPUT) | BIT(WRITE) | BIT(SYNC) | BIT(RENAME))

typedef struct variant {
    const char *name;
    void (*use)(place *self); /* names the inputs */
    unsigned kinds; /* which calls fail: those in which it differs from the first variant */
    const char *outputs[MAX_FILES];
    bool has_psf, overwrite, has_pols;
    slc_weighting weighting;
    int64_t n_planes, width;
} variant;

/* 160 pixels are more than one kernel tile, in a picture of 16 rows, which is quick. */
static const variant variants[] = {
    {"plain", use_base, COMPUTING | READING | WRITING | BIT(H5_WRITE), .outputs = {"image.h5"},
     .width = 160},
    {"--psf", use_base, COMPUTING | WRITING, .outputs = {"image.h5"}, .has_psf = true},
    {"--channels-out", use_base, COMPUTING | READING, .outputs = {"image.h5"}, .n_planes = 4},
    {"--weight uniform", use_base, BIT(MEMORY), .outputs = {"image.h5"},
     .weighting = SLC_WEIGHT_UNIFORM},
    {"--weight briggs", use_base, BIT(MEMORY) | BIT(READ), .outputs = {"image.h5"},
     .weighting = SLC_WEIGHT_BRIGGS},
    {"--pol XX,YY", use_base, BIT(MEMORY) | BIT(READ) | BIT(H5_WRITE), .outputs = {"image.h5"},
     .has_psf = true, .has_pols = true, .weighting = SLC_WEIGHT_UNIFORM},
    {"--overwrite", use_base, WRITING, .outputs = {"image.h5"}, .has_psf = true, .overwrite = true},
    {"three outputs", use_base, BIT(MEMORY) | WRITING | BIT(H5_WRITE) | BIT(FITS),
     .outputs = {"a.fits", "b.h5", "c.png"}},
    {"two inputs", use_two_files, BIT(MEMORY) | READING, .outputs = {"image.h5"}},
    {"zstd", use_zstd, BIT(MEMORY) | BIT(READ) | DECODING, .outputs = {"image.h5"}},
    {"lzf", use_lzf, BIT(MEMORY) | DECODING, .outputs = {"image.h5"}},
    {"bitshuffle", use_bitshuffle, BIT(MEMORY) | DECODING, .outputs = {"image.h5"}},
    {"plain set", use_plain, BIT(MEMORY) | READING, .outputs = {"image.h5"}},
    {"npz", use_npz, BIT(MEMORY) | BIT(OPEN_INPUT) | BIT(ARCHIVE), .outputs = {"image.h5"}},
};

/* Variants whose calls of the device fail too: the first ones. */
enum { N_ON_DEVICE = 3 };

static void place_open(const variant *of, place *self) {
    memset(self, 0, sizeof *self);
    test_directory_create(self->data);
    test_directory_create(self->results);
    test_fault_set_outputs(self->results);
    test_join(self->results, "psf.h5", self->psf);
    self->n_inputs = 1;
    of->use(self);
    for (int i = 0; i < self->n_inputs; i++) {
        self->inputs[i] = self->input[i];
    }
    for (int i = 0; i < MAX_FILES && of->outputs[i] != NULL; i++) {
        test_join(self->results, of->outputs[i], self->output[i]);
        self->outputs[i] = self->output[i];
        self->n_outputs++;
    }
}

static void place_close(const place *self) {
    test_directory_remove(self->data);
    test_directory_remove(self->results);
}

/* `device` NULL opens the host device. */
static slc_status run_once(const variant *of, const place *self, slc_device *device,
                           slc_image_result *result) {
    slc_image_options options;
    slc_image_options_init(&options);
    options.inputs = self->inputs;
    options.n_inputs = self->n_inputs;
    options.outputs = self->outputs;
    options.n_outputs = self->n_outputs;
    options.psf_path = of->has_psf ? self->psf : NULL;
    options.nx = of->width > 0 ? of->width : 16;
    options.ny = 16;
    options.scale_rad = 0.002;
    options.epsilon = 1e-5;
    options.weighting = of->weighting;
    options.vis.polarisation = of->has_pols ? SLC_POL_XX : SLC_POL_AUTO;
    options.vis.more[0] = of->has_pols ? SLC_POL_YY : SLC_POL_AUTO;
    options.n_planes = of->n_planes > 0 ? of->n_planes : 1;
    options.run.overwrite = of->overwrite;
    options.run.vram_bytes = 3 << 20;
    options.run.ram_bytes = 64 << 20;
    options.run.device = SLC_CHOOSE_HOST;
    options.run.n_threads = 2;
    options.run.use_device = device;
    return slc_image_run(&options, result);
}

/* ---- the folder of the results --------------------------------------------------------------- */

static const char old_text[] = "what was here before";

/* As before a run: empty, or with old files where the variant replaces them. */
static void results_reset(const variant *of, const place *self) {
    for (int i = 0; i < self->n_outputs; i++) {
        (void)remove(self->output[i]);
    }
    (void)remove(self->psf);
    for (int i = 0; of->overwrite && i < MAX_FILES && of->outputs[i] != NULL; i++) {
        test_write_below(self->results, of->outputs[i], old_text);
    }
}

static bool is_old(const char *path) {
    char text[sizeof old_text + 8] = "";
    FILE *const file = fopen(path, "rb");
    assert_non_null(file);
    const size_t n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    return n == strlen(old_text) && memcmp(text, old_text, n) == 0;
}

/* After a failed run. A file that was replaced stays replaced where only its folder could not be
 * synced, or a later one not be renamed. */
static void expect_results(const variant *of, const place *self, test_fault kind) {
    const bool may_be_new =
        kind == TEST_FAULT_SYNC || kind == TEST_FAULT_RENAME || kind == TEST_FAULT_OPEN_OUTPUT;
    assert_int_equal(test_directory_count(self->results), of->overwrite ? self->n_outputs : 0);
    for (int i = 0; of->overwrite && i < self->n_outputs; i++) {
        assert_true(is_old(self->output[i]) || (may_be_new && H5Fis_hdf5(self->output[i]) > 0));
    }
}

/* A slab that is refused is asked for again, smaller: the run succeeds, or there is no plan. */
static bool is_after_refusal(slc_status status) {
    return status == SLC_OK || status == SLC_ERROR_NO_PLAN || status == SLC_ERROR_MEMORY;
}

/* ---- calls of the library -------------------------------------------------------------------- */

/* That a run has the result of one in which no call failed. */
static bool is_same(const slc_image_result *a, const slc_image_result *b) {
    return a->abs_sum == b->abs_sum && a->weight_sum == b->weight_sum && a->peak == b->peak &&
           a->rms == b->rms && a->n_used == b->n_used && a->n_flagged == b->n_flagged;
}

/* The n-th call fails; `whole` is of a run in which none does. */
static void fail_once(const variant *of, const place *self, const slc_image_result *whole,
                      test_fault kind, int64_t n) {
    slc_image_result result;
    const test_belongings before = test_belongings_count();
    results_reset(of, self);
    test_fault_arm(kind, n);
    const slc_status status = run_once(of, self, NULL, &result);
    if (test_fault_disarm() < n) {
        TEST_OK(status); /* threads share the calls out differently from run to run */
        return;
    }
    const char *const message = slc_status_message();
    /* A chunk that is refused as its dataset is opened is read by who needs it, rightly this time. */
    const bool may_recover = kind == TEST_FAULT_COMPARE && status == SLC_OK;
    const bool is_right = kind == TEST_FAULT_SLAB ? is_after_refusal(status)
                                                  : may_recover || status == expected_status[kind];
    if (status == SLC_OK && is_right) {
        assert_true(is_same(&result, whole));
        test_belongings_expect(&before);
        return;
    }
    if (!is_right || message[0] == '\0' || strchr(message, '\n') != NULL) {
        fail_msg("%s, %s, call %lld: found %s (%s), expected %s", of->name, test_fault_name(kind),
                 (long long)n, slc_status_name(status), status == SLC_OK ? "" : message,
                 slc_status_name(expected_status[kind]));
    }
    test_belongings_expect(&before);
    expect_results(of, self, kind);
}

/* Calls of the kind in a run that succeeds. */
static int64_t count_calls(const variant *of, const place *self, test_fault kind,
                           slc_image_result *whole) {
    results_reset(of, self);
    test_fault_arm(kind, INT64_MAX);
    const slc_status status = run_once(of, self, NULL, whole);
    const int64_t n_calls = test_fault_disarm();
    TEST_OK(status);
    return n_calls;
}

static void every_call_of_a_kind(const variant *of, const place *self, test_fault kind) {
    slc_image_result whole;
    const int64_t n_calls = count_calls(of, self, kind, &whole);
    const int64_t rest = n_calls - N_DENSE;
    const int64_t step = rest > N_SAMPLED ? rest / N_SAMPLED : 1;
    if (n_calls == 0) {
        fail_msg("%s: no call of the kind '%s'", of->name, test_fault_name(kind));
    }
    for (int64_t n = 1; n <= n_calls; n += n < N_DENSE ? 1 : step) {
        fail_once(of, self, &whole, kind, n);
    }
    print_message("  %s: %lld calls\n", test_fault_name(kind), (long long)n_calls);
}

static void every_call(void **state) {
    const variant *const of = *state;
    place self;
    slc_image_result result;
    place_open(of, &self);
    results_reset(of, &self);
    const slc_status status = run_once(of, &self, NULL, &result); /* makes what is made once */
    if (status == SLC_ERROR_ARGUMENT || status == SLC_ERROR_UNSUPPORTED) { /* not built in */
        place_close(&self);
        TEST_SKIP("%s", slc_status_message());
    }
    TEST_OK(status);
    for (int kind = TEST_FAULT_NONE + 1; kind < TEST_FAULT_KINDS; kind++) {
        if ((of->kinds >> kind & 1) != 0) {
            every_call_of_a_kind(of, &self, (test_fault)kind);
        }
    }
    place_close(&self);
}

/* ---- calls of the device --------------------------------------------------------------------- */

/* Whether the call was not reached. */
static bool fail_on_device(const variant *of, const place *self, slc_pool *pool,
                           const slc_check_options *options) {
    slc_device *check = NULL;
    slc_image_result result;
    TEST_OK(slc_device_create_host(pool, NULL, &check));
    TEST_OK(slc_device_create_check(check, options, &check));
    results_reset(of, self);
    const slc_status status = run_once(of, self, check, &result);
    const bool is_memory = options->fail_kind == SLC_CHECK_ALLOCATE;
    const bool is_reached = slc_device_check_calls(check, options->fail_kind) >= options->fail_at;
    assert_int_equal(slc_device_check_alive(check), 0);
    slc_device_destroy(check);
    if (!is_reached) {
        TEST_OK(status);
    } else if (is_memory) {
        assert_true(is_after_refusal(status));
    } else {
        assert_true(status == SLC_ERROR_DEVICE || status == SLC_ERROR_MEMORY);
    }
    if (status != SLC_OK) {
        expect_results(of, self, TEST_FAULT_NONE);
    }
    return !is_reached;
}

/* Device memory, streams, events, copies, sets and launches, by the checking device. */
static void every_device_call(void **state) {
    const variant *const of = *state;
    place self;
    slc_pool *pool = NULL;
    place_open(of, &self);
    TEST_OK(slc_pool_create(2, &pool));
    for (int kind = SLC_CHECK_ALLOCATE; kind < SLC_CHECK_KIND_COUNT; kind++) {
        if (kind == SLC_CHECK_PINNED || kind == SLC_CHECK_MAPPED) {
            continue; /* pinned memory falls back to pageable; imaging maps nothing */
        }
        slc_check_options options = {.fail_kind = (slc_check_kind)kind, .fail_at = 1};
        while (!fail_on_device(of, &self, pool, &options)) {
            options.fail_at += options.fail_at < N_DENSE ? 1 : options.fail_at / 3;
        }
    }
    slc_pool_destroy(pool);
    place_close(&self);
}

/* ---- reports --------------------------------------------------------------------------------- */

static void every_allocation_of_a_report(void **state) {
    slc_status (*const writers[])(const slc_image_result *, char **) = {slc_image_stats_json,
                                                                        slc_image_plan_text};
    place self;
    slc_image_result result;
    (void)state;
    place_open(&variants[0], &self);
    TEST_OK(run_once(&variants[0], &self, NULL, &result));
    for (int64_t k = 0; k < TEST_COUNT(writers); k++) {
        char *text = NULL;
        test_fault_arm(TEST_FAULT_MEMORY, 1);
        const slc_status status = writers[k](&result, &text);
        assert_int_equal(test_fault_disarm(), 1);
        assert_int_equal(status, SLC_ERROR_MEMORY);
        assert_null(text);
    }
    place_close(&self);
}

int main(void) {
    enum { MAX_TESTS = 64 };
    static char names[MAX_TESTS][64];
    static struct CMUnitTest tests[MAX_TESTS];
    size_t n = 0;
    for (int64_t k = 0; k < TEST_COUNT(variants); k++) {
        (void)snprintf(names[n], sizeof names[n], "every call: %s", variants[k].name);
        tests[n] = (struct CMUnitTest)cmocka_unit_test_prestate(every_call,
                                                                (void *)(uintptr_t)&variants[k]);
        tests[n].name = names[n];
        n++;
    }
    for (int64_t k = 0; k < N_ON_DEVICE; k++) {
        (void)snprintf(names[n], sizeof names[n], "every device call: %s", variants[k].name);
        tests[n] = (struct CMUnitTest)cmocka_unit_test_prestate(every_device_call,
                                                                (void *)(uintptr_t)&variants[k]);
        tests[n].name = names[n];
        n++;
    }
    tests[n++] = (struct CMUnitTest)cmocka_unit_test(every_allocation_of_a_report);
    return _cmocka_run_group_tests("faults of the imaging job", tests, n, NULL, NULL);
}
