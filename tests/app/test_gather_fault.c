/* Every call of every kind fails once, at every place where a gather makes it, whatever is done
 * with the data: one clear error of the right class, every thread joined, no file and no object of
 * HDF5 left open, nothing under the final name. Where a run makes very many calls of a kind, the
 * first fifty and a sample of the rest fail. */
#include <hdf5.h>

#include "app/gather.h"
#include "core/device_check.h"
#include "tests/support/test_faults.h"
#include "tests/support/test_job_faults.h"
#include "tests/support/test_uvh5.h"

enum { N_DATA = 30000, N_INDEX = 2500 };

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
static slc_status run_once(const void *context, int64_t way, slc_device *device) {
    const place *self = context;
    const slc_sparse_choice sparse = ways[way];
    slc_gather_result result;
    const slc_gather_options options = {.data_path = self->in,
                                        .data = "/data",
                                        .index_path = self->in,
                                        .index = "/i",
                                        .out_path = self->out,
                                        .out = "/g/v",
                                        /* By the data's filter. */
                                        .form = {.n_chunk = sparse == SLC_SPARSE_STREAMED ? 2 : 0,
                                                 .chunk = {300, 2}},
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

static test_job_faults faults_of(const place *self) {
    return (test_job_faults){.context = self,
                             .run = run_once,
                             .results = self->results,
                             .output = self->out,
                             .ways = ways,
                             .n_ways = TEST_COUNT(ways)};
}

static void every_call(void **state) {
    const test_job_faults job = faults_of(*state);
    test_job_fail_calls(&job);
}

static void every_device_call(void **state) {
    const test_job_faults job = faults_of(*state);
    test_job_fail_device_calls(&job);
}

/* B42: kernels cannot be given the host's memory, and nobody asked for just that. */
static void data_that_cannot_be_mapped_is_streamed(void **state) {
    const place *self = *state;
    slc_pool *pool = NULL;
    slc_gather_result result;
    TEST_OK(slc_pool_create(2, &pool));
    slc_device *const check = test_job_device_without_mapping(pool);
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
