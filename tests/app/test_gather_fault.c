/* Every call of every kind fails once, at every place where a gather makes it, whatever is done
 * with the data: one clear error of the right class, every thread joined, no file and no object of
 * HDF5 left open, nothing under the final name. Where a run makes very many calls of a kind, the
 * first fifty and a sample of the rest fail. */
#include <hdf5.h>

#include "app/gather.h"
#include "core/device_check.h"
#include "tests/support/test_belongings.h"
#include "tests/support/test_faults.h"
#include "tests/support/test_uvh5.h"

enum { N_DENSE = 50, N_SAMPLED = 12 };
enum { N_DATA = 30000, N_INDEX = 2500 };

/* What a call that fails must end in; memory of the device that is refused is asked for again,
 * smaller, and mapped memory that cannot be had leaves other ways. */
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
    char in[TEST_PATH_BYTES], out[TEST_PATH_BYTES];
} place;

/* [30000, 2] in deflated chunks, and a list. */
static int make(void **state) {
    place *self = test_allocate((int64_t)sizeof *self);
    const int64_t shape[2] = {N_DATA, 2};
    const hsize_t chunk[2] = {5000, 2};
    float *data = test_allocate(N_DATA * 2 * 4);
    int64_t *list = test_allocate(N_INDEX * 8);
    const int64_t n_index = N_INDEX;
    uint64_t random = 1;
    test_directory_create(self->data);
    test_directory_create(self->results);
    test_fault_set_outputs(self->results);
    test_join(self->data, "in.h5", self->in);
    test_join(self->results, "out.h5", self->out);
    test_fill_f32(data, N_DATA * 2, 2);
    for (int64_t k = 0; k < N_INDEX; k++) {
        list[k] = test_random_below(&random, N_DATA);
    }
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    assert_true(H5Pset_chunk(properties, 2, chunk) >= 0 && H5Pset_deflate(properties, 1) >= 0);
    test_h5_put(self->in, "/data", H5T_IEEE_F32BE, H5T_NATIVE_FLOAT, 2, shape, properties, data);
    H5Pclose(properties);
    test_h5_put_i64(self->in, "/i", 1, &n_index, list);
    free(data);
    free(list);
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

static const slc_sparse_choice ways[] = {SLC_SPARSE_STREAMED, SLC_SPARSE_RESIDENT,
                                         SLC_SPARSE_MAPPED, SLC_SPARSE_AUTO};

/* `device` NULL opens the host device. */
static slc_status run_once(const place *self, slc_sparse_choice sparse, slc_device *device) {
    slc_gather_result result;
    const slc_gather_options options = {.data_path = self->in,
                                        .data = "/data",
                                        .index_path = self->in,
                                        .index = "/i",
                                        .out_path = self->out,
                                        .out = "/g/v",
                                        .run = {.vram_bytes =
                                                    sparse == SLC_SPARSE_RESIDENT ? 300000 : 100000,
                                                .ram_bytes = 8 << 20,
                                                .device = SLC_CHOOSE_HOST,
                                                .n_threads = 2,
                                                .sparse = sparse,
                                                .use_device = device}};
    (void)remove(self->out);
    return slc_gather_run(&options, &result);
}

static bool is_after_refusal(slc_status status) {
    return status == SLC_OK || status == SLC_ERROR_NO_PLAN || status == SLC_ERROR_MEMORY;
}

static void expect_failure(test_fault kind, slc_sparse_choice sparse, slc_status status,
                           slc_status wanted, int64_t n) {
    const char *const message = status == SLC_OK ? "" : slc_status_message();
    const bool may_recover =
        kind == TEST_FAULT_SLAB || (wanted == SLC_ERROR_MEMORY && sparse == SLC_SPARSE_AUTO);
    const bool is_right = may_recover ? is_after_refusal(status) : status == wanted;
    if (!is_right || (status != SLC_OK && message[0] == '\0') || strchr(message, '\n') != NULL) {
        fail_msg("way %d, %s, call %lld: found %s (%s), expected %s", (int)sparse,
                 test_fault_name(kind), (long long)n, slc_status_name(status), message,
                 slc_status_name(wanted));
    }
}

/* Returns how many calls of the kind there were: fewer than n, and it was never reached. */
static int64_t fail_once(const place *self, slc_sparse_choice sparse, int64_t e, int64_t n) {
    const test_belongings before = test_belongings_count();
    test_fault_arm(expected[e].kind, n);
    const slc_status status = run_once(self, sparse, NULL);
    const int64_t n_calls = test_fault_disarm();
    if (n_calls < n) {
        TEST_OK(status);
        return n_calls;
    }
    expect_failure(expected[e].kind, sparse, status, expected[e].status, n);
    assert_int_equal(test_directory_count(self->results), status == SLC_OK);
    test_belongings_expect(&before);
    return n_calls;
}

static void every_call(void **state) {
    const place *self = *state;
    for (int64_t w = 0; w < TEST_COUNT(ways); w++) {
        TEST_OK(run_once(self, ways[w], NULL)); /* makes what is made once */
        for (int64_t e = 0; e < TEST_COUNT(expected); e++) {
            const int64_t n_calls = fail_once(self, ways[w], e, INT64_MAX);
            const int64_t rest = n_calls - N_DENSE;
            const int64_t step = rest > N_SAMPLED ? rest / N_SAMPLED : 1;
            assert_true(n_calls > 0);
            for (int64_t n = 1; n <= n_calls; n += n < N_DENSE ? 1 : step) {
                (void)fail_once(self, ways[w], e, n);
            }
        }
    }
}

/* Whether the call was not reached. */
static bool fail_on_device(const place *self, slc_pool *pool, slc_sparse_choice sparse,
                           const slc_check_options *options) {
    slc_device *check = NULL;
    TEST_OK(slc_device_create_host(pool, NULL, &check));
    TEST_OK(slc_device_create_check(check, options, &check));
    const slc_status status = run_once(self, sparse, check);
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
            while (!fail_on_device(self, pool, ways[w], &options)) {
                options.fail_at += options.fail_at < N_DENSE ? 1 : options.fail_at / 3;
            }
        }
    }
    slc_pool_destroy(pool);
}

/* B42: kernels cannot be given the host's memory, and nobody asked for just that. */
static void data_that_cannot_be_mapped_is_streamed(void **state) {
    const place *self = *state;
    slc_pool *pool = NULL;
    slc_device *check = NULL;
    slc_gather_result result;
    const slc_check_options fails = {.fail_kind = SLC_CHECK_MAPPED, .fail_at = 1};
    TEST_OK(slc_pool_create(2, &pool));
    TEST_OK(slc_device_create_host(pool, NULL, &check));
    TEST_OK(slc_device_create_check(check, &fails, &check));
    slc_gather_options options = {.data_path = self->in,
                                  .data = "/data",
                                  .index_path = self->in,
                                  .index = "/i",
                                  .out_path = self->out,
                                  .out = "/v",
                                  .run = {.vram_bytes = 100000,
                                          .ram_bytes = 8 << 20,
                                          .overwrite = true,
                                          .use_device = check}};
    /* Rates that make mapping the best of what fits. */
    options.run.rates = slc_rates_default(SLC_DEVICE_HOST);
    options.run.rates.h2d_bytes_per_s = 1e5;
    options.run.rates.mapped_touches_per_s = 1e12;
    TEST_OK(slc_gather_run(&options, &result));
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
        CASE(data_that_cannot_be_mapped_is_streamed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
