/* Every call of every kind fails once, at every place where a prediction makes it, wherever the image
 * lies: one clear error of the right class, every thread joined, no file and no object of HDF5 left
 * open, nothing under the final name. Where a run makes very many calls of a kind, the first fifty and
 * a sample of the rest fail. */
#include <hdf5.h>

#include "app/predict.h"
#include "core/device_check.h"
#include "io/image_file.h"
#include "tests/support/test_faults.h"
#include "tests/support/test_job_faults.h"
#include "tests/support/test_uvh5.h"

enum { N_ROWS = 150, SIZE = 70 };

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

enum { LIST_WAY = 3 }; /* the model is a list of components, not an image */

static const slc_sparse_choice ways[] = {SLC_SPARSE_RESIDENT, SLC_SPARSE_MAPPED,
                                         SLC_SPARSE_STREAMED, SLC_SPARSE_AUTO, SLC_SPARSE_AUTO};

/* `device` NULL opens the host device. */
static slc_status run_once(const void *context, int64_t way, slc_device *device) {
    const place *self = context;
    const slc_sparse_choice sparse = ways[way];
    slc_predict_result result;
    const slc_predict_options options = {.model_path = way == LIST_WAY ? self->sky : self->model,
                                         .in_path = self->in,
                                         .out_path = self->out,
                                         .run = {.vram_bytes = sparse == SLC_SPARSE_RESIDENT
                                                                   ? 400000
                                                                   : 300000,
                                                 .ram_bytes = 8 << 20,
                                                 .device = SLC_CHOOSE_HOST,
                                                 .n_threads = 2,
                                                 .sparse = sparse,
                                                 .use_device = device}};
    (void)remove(self->out);
    return slc_predict_run(&options, &result);
}

static test_job_faults faults_of(const place *self) {
    return (test_job_faults){.context = self,
                             .run = run_once,
                             .results = self->results,
                             .ways = ways,
                             .n_ways = TEST_COUNT(ways),
                             .is_unfiltered = true};
}

static void every_call(void **state) {
    const test_job_faults job = faults_of(*state);
    test_job_fail_calls(&job);
}

static void every_device_call(void **state) {
    const test_job_faults job = faults_of(*state);
    test_job_fail_device_calls(&job);
}

/* Kernels cannot be given the host's memory, and nobody asked for just that. */
static void an_image_that_cannot_be_mapped_passes_by(void **state) {
    const place *self = *state;
    slc_pool *pool = NULL;
    slc_predict_result result;
    TEST_OK(slc_pool_create(2, &pool));
    slc_device *const check = test_job_device_without_mapping(pool);
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
