/* Every call of every kind fails once, at every place where a prediction makes it, wherever the image
 * lies: one clear error of the right class, every thread joined, no file and no object of HDF5 left
 * open, nothing under the final name. Where a run makes very many calls of a kind, the first fifty and
 * a sample of the rest fail. */
#include <hdf5.h>

#include "app/predict.h"
#include "core/device_check.h"
#include "io/image_file.h"
#include "tests/support/test_belongings.h"
#include "tests/support/test_faults.h"
#include "tests/support/test_uvh5.h"

enum { N_DENSE = 50, N_SAMPLED = 12 };
enum { N_ROWS = 150, SIZE = 70 };

/* What a call that fails must end in; memory of the device that is refused is asked for again,
 * smaller, and where the image cannot be mapped it passes by. */
static const struct {
    test_fault kind;
    slc_status status;
} expected[] = {
    {TEST_FAULT_MEMORY, SLC_ERROR_MEMORY},   {TEST_FAULT_SLAB, SLC_ERROR_NO_PLAN},
    {TEST_FAULT_THREAD, SLC_ERROR_MEMORY},   {TEST_FAULT_OPEN_INPUT, SLC_ERROR_INPUT},
    {TEST_FAULT_OPEN_DATA, SLC_ERROR_INPUT}, {TEST_FAULT_READ, SLC_ERROR_INPUT},
    {TEST_FAULT_WRITE, SLC_ERROR_OUTPUT},    {TEST_FAULT_OPEN_OUTPUT, SLC_ERROR_OUTPUT},
    {TEST_FAULT_H5_WRITE, SLC_ERROR_OUTPUT}, {TEST_FAULT_SYNC, SLC_ERROR_OUTPUT},
    {TEST_FAULT_RENAME, SLC_ERROR_OUTPUT},
};

typedef struct place {
    char data[TEST_PATH_BYTES], results[TEST_PATH_BYTES];
    char in[TEST_PATH_BYTES], model[TEST_PATH_BYTES], sky[TEST_PATH_BYTES], out[TEST_PATH_BYTES];
} place;

static void write_model(const place *self) {
    const slc_image_meta meta = {.nx = SIZE,
                                 .ny = SIZE,
                                 .n_planes = 1,
                                 .n_parts = 1,
                                 .scale_rad = 1e-4,
                                 .reference_x = SIZE / 2,
                                 .reference_y = SIZE / 2,
                                 .frame = "ICRS",
                                 .stokes = 1,
                                 .unit = "Jy/pixel"};
    double *values = test_allocate(SIZE * SIZE * 8);
    test_fill_f64(values, SIZE * SIZE, 3);
    TEST_OK(slc_image_file_write(self->model, &meta, values, false, NULL));
    free(values);
}

static int make(void **state) {
    place *self = test_allocate((int64_t)sizeof *self);
    test_directory_create(self->data);
    test_directory_create(self->results);
    test_fault_set_outputs(self->results);
    test_join(self->data, "in.uvh5", self->in);
    test_join(self->data, "model.h5", self->model);
    test_join(self->data, "sky.txt", self->sky);
    test_join(self->results, "out.uvh5", self->out);
    test_uvh5_create(self->in, N_ROWS, 2, 4);
    test_write_below(self->data, "sky.txt", "l=0.1 m=0.2 flux=1\nl=0 m=0 flux=2 index=1\n");
    write_model(self);
    *state = self;
    return 0;
}

static int remove_place(void **state) {
    place *self = *state;
    test_directory_remove(self->data);
    test_directory_remove(self->results);
    free(self);
    return 0;
}

typedef struct way {
    bool is_list;
    slc_sparse_choice sparse;
} way;

static const way ways[] = {{false, SLC_SPARSE_RESIDENT},
                           {false, SLC_SPARSE_MAPPED},
                           {false, SLC_SPARSE_STREAMED},
                           {true, SLC_SPARSE_AUTO},
                           {false, SLC_SPARSE_AUTO}};

/* `device` NULL opens the host device. */
static slc_status run_once(const place *self, const way *as, slc_device *device) {
    slc_predict_result result;
    const slc_predict_options options = {.model_path = as->is_list ? self->sky : self->model,
                                         .in_path = self->in,
                                         .out_path = self->out,
                                         .run = {.vram_bytes = as->sparse == SLC_SPARSE_RESIDENT
                                                                   ? 400000
                                                                   : 300000,
                                                 .ram_bytes = 8 << 20,
                                                 .device = SLC_CHOOSE_HOST,
                                                 .n_threads = 2,
                                                 .sparse = as->sparse,
                                                 .use_device = device}};
    (void)remove(self->out);
    return slc_predict_run(&options, &result);
}

static bool is_after_refusal(slc_status status) {
    return status == SLC_OK || status == SLC_ERROR_NO_PLAN || status == SLC_ERROR_MEMORY;
}

static void expect_failure(const way *as, test_fault kind, slc_status status, slc_status wanted,
                           int64_t n) {
    const char *const message = status == SLC_OK ? "" : slc_status_message();
    const bool may_recover =
        kind == TEST_FAULT_SLAB || (wanted == SLC_ERROR_MEMORY && as->sparse == SLC_SPARSE_AUTO);
    const bool is_right = may_recover ? is_after_refusal(status) : status == wanted;
    if (!is_right || (status != SLC_OK && message[0] == '\0') || strchr(message, '\n') != NULL) {
        fail_msg("way %d, %s, call %lld: found %s (%s), expected %s", (int)(as - ways),
                 test_fault_name(kind), (long long)n, slc_status_name(status), message,
                 slc_status_name(wanted));
    }
}

/* Returns how many calls of the kind there were: fewer than n, and it was never reached. */
static int64_t fail_once(const place *self, const way *as, int64_t e, int64_t n) {
    const test_belongings before = test_belongings_count();
    test_fault_arm(expected[e].kind, n);
    const slc_status status = run_once(self, as, NULL);
    const int64_t n_calls = test_fault_disarm();
    if (n_calls < n) {
        TEST_OK(status);
        return n_calls;
    }
    expect_failure(as, expected[e].kind, status, expected[e].status, n);
    assert_int_equal(test_directory_count(self->results), status == SLC_OK);
    test_belongings_expect(&before);
    return n_calls;
}

static void every_call(void **state) {
    const place *self = *state;
    for (int64_t w = 0; w < TEST_COUNT(ways); w++) {
        TEST_OK(run_once(self, &ways[w], NULL)); /* makes what is made once */
        for (int64_t e = 0; e < TEST_COUNT(expected); e++) {
            const int64_t n_calls = fail_once(self, &ways[w], e, INT64_MAX);
            const int64_t rest = n_calls - N_DENSE;
            const int64_t step = rest > N_SAMPLED ? rest / N_SAMPLED : 1;
            assert_true(n_calls > 0);
            for (int64_t n = 1; n <= n_calls; n += n < N_DENSE ? 1 : step) {
                (void)fail_once(self, &ways[w], e, n);
            }
        }
    }
}

/* Whether the call was not reached. */
static bool fail_on_device(const place *self, slc_pool *pool, const way *as,
                           const slc_check_options *options) {
    slc_device *check = NULL;
    TEST_OK(slc_device_create_host(pool, NULL, &check));
    TEST_OK(slc_device_create_check(check, options, &check));
    const slc_status status = run_once(self, as, check);
    const bool is_reached = slc_device_check_calls(check, options->fail_kind) >= options->fail_at;
    const bool is_memory =
        options->fail_kind == SLC_CHECK_ALLOCATE || options->fail_kind == SLC_CHECK_MAPPED;
    assert_int_equal(slc_device_check_alive(check), 0);
    slc_device_destroy(check);
    if (!is_reached) {
        TEST_OK(status);
    } else if (is_memory) {
        assert_true(is_after_refusal(status));
    } else {
        assert_true(status == SLC_ERROR_DEVICE || status == SLC_ERROR_MEMORY);
    }
    assert_int_equal(test_directory_count(self->results), status == SLC_OK);
    return !is_reached;
}

/* Device memory, mapped memory, streams, events, copies, sets and launches. */
static void every_device_call(void **state) {
    const place *self = *state;
    slc_pool *pool = NULL;
    TEST_OK(slc_pool_create(2, &pool));
    for (int64_t w = 0; w < TEST_COUNT(ways) - 1; w++) {
        for (int kind = SLC_CHECK_ALLOCATE; kind < SLC_CHECK_KIND_COUNT; kind++) {
            if (kind == SLC_CHECK_PINNED) {
                continue; /* falls back to pageable memory */
            }
            slc_check_options options = {.fail_kind = (slc_check_kind)kind, .fail_at = 1};
            while (!fail_on_device(self, pool, &ways[w], &options)) {
                options.fail_at += options.fail_at < N_DENSE ? 1 : options.fail_at / 3;
            }
        }
    }
    slc_pool_destroy(pool);
}

/* Kernels cannot be given the host's memory, and nobody asked for just that. */
static void an_image_that_cannot_be_mapped_passes_by(void **state) {
    const place *self = *state;
    slc_pool *pool = NULL;
    slc_device *check = NULL;
    slc_predict_result result;
    const slc_check_options fails = {.fail_kind = SLC_CHECK_MAPPED, .fail_at = 1};
    TEST_OK(slc_pool_create(2, &pool));
    TEST_OK(slc_device_create_host(pool, NULL, &check));
    TEST_OK(slc_device_create_check(check, &fails, &check));
    slc_predict_options options = {.model_path = self->model,
                                   .in_path = self->in,
                                   .out_path = self->out,
                                   .run = {.vram_bytes = 4 << 20,
                                           .ram_bytes = 8 << 20,
                                           .overwrite = true,
                                           .use_device = check}};
    /* Rates that make mapping the best of what fits. */
    options.run.rates = slc_rates_default(SLC_DEVICE_HOST);
    options.run.rates.h2d_bytes_per_s = 1e5;
    options.run.rates.mapped_touches_per_s = 1e12;
    TEST_OK(slc_predict_run(&options, &result));
    assert_int_equal(slc_device_check_calls(check, SLC_CHECK_MAPPED), 1);
    assert_int_equal(result.sparse, SLC_SPARSE_STREAMED);
    slc_device_destroy(check);
    slc_pool_destroy(pool);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, make, remove_place)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(every_call),
        CASE(every_device_call),
        CASE(an_image_that_cannot_be_mapped_passes_by),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
