/* Every call of every kind fails once, at every place where a gather makes it, whatever is done
 * with the data: one clear error of the right class, every thread joined, no file and no object of
 * HDF5 left open, nothing under the final name. Where a run makes very many calls of a kind, the
 * first fifty and a sample of the rest fail. */
#include <hdf5.h>

#include "app/gather.h"
#include "tests/support/test_job_faults.h"
#include "tests/support/test_uvh5.h"

enum { N_DATA = 30000, N_INDEX = 2500 };

static const slc_sparse_choice ways[] = {SLC_SPARSE_STREAMED, SLC_SPARSE_RESIDENT,
                                         SLC_SPARSE_MAPPED, SLC_SPARSE_AUTO};

static slc_gather_options options_for(const test_fault_place *self, const char *out) {
    return (slc_gather_options){.data_path = self->in,
                                .data = "/data",
                                .index_path = self->in,
                                .index = "/i",
                                .out_path = self->out,
                                .out = out};
}

/* `device` NULL opens the host device. */
static slc_status run_once(const void *context, int64_t way, slc_device *device) {
    const test_fault_place *self = context;
    const slc_sparse_choice sparse = ways[way];
    slc_gather_result result;
    slc_gather_options options = options_for(self, "/g/v");
    options.form = (slc_array_form){.n_chunk = sparse == SLC_SPARSE_STREAMED ? 2 : 0,
                                    .chunk = {300, 2}}; /* by the data's filter */
    options.run = (slc_run_options){.vram_bytes = sparse == SLC_SPARSE_RESIDENT ? 300000 : 100000,
                                    .ram_bytes = 8 << 20,
                                    .device = SLC_CHOOSE_HOST,
                                    .n_threads = 2,
                                    .sparse = sparse,
                                    .use_device = device};
    (void)remove(self->out);
    return slc_gather_run(&options, &result);
}

/* [30000, 2] in deflated chunks, and a list. */
static int make(void **state) {
    test_fault_place *self = test_allocate((int64_t)sizeof *self);
    const int64_t shape[2] = {N_DATA, 2};
    const hsize_t chunk[2] = {5000, 2};
    float *data = test_allocate(N_DATA * 2 * 4);
    int64_t *list = test_allocate(N_INDEX * 8);
    const int64_t n_index = N_INDEX;
    uint64_t random = 1;
    test_fault_place_create(self, "in.h5", "out.h5");
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
    self->job = (test_job_faults){.context = self,
                                  .run = run_once,
                                  .results = self->results,
                                  .output = self->out,
                                  .ways = ways,
                                  .n_ways = TEST_COUNT(ways)};
    *state = self;
    return 0;
}

static slc_sparse_choice run_by(const void *context, slc_run_options run) {
    const test_fault_place *self = context;
    slc_gather_result result;
    slc_gather_options options = options_for(self, "/v");
    options.run = run;
    TEST_OK(slc_gather_run(&options, &result));
    return result.sparse;
}

static void data_that_cannot_be_mapped_is_streamed(void **state) {
    test_job_expect_streamed(*state, run_by, 100000);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, make, test_fault_place_destroy)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(test_job_fail_calls),
        CASE(test_job_fail_device_calls),
        CASE(data_that_cannot_be_mapped_is_streamed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
