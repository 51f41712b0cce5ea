/* Every call of every kind fails once, at every place where a prediction makes it, wherever the image
 * lies: one clear error of the right class, every thread joined, no file and no object of HDF5 left
 * open, nothing under the final name. Where a run makes very many calls of a kind, the first fifty and
 * a sample of the rest fail. */
#include <hdf5.h>

#include "app/predict.h"
#include "io/image_file.h"
#include "tests/support/test_job_faults.h"
#include "tests/support/test_uvh5.h"

enum { N_ROWS = 150, SIZE = 70 };

typedef struct place {
    test_fault_place files; /* first */
    char model[TEST_PATH_BYTES], sky[TEST_PATH_BYTES];
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

enum { LIST_WAY = 3 }; /* the model is a list of components, not an image */

static const slc_sparse_choice ways[] = {SLC_SPARSE_RESIDENT, SLC_SPARSE_MAPPED,
                                         SLC_SPARSE_STREAMED, SLC_SPARSE_AUTO, SLC_SPARSE_AUTO};

/* `device` NULL opens the host device. */
static slc_status run_once(const void *context, int64_t way, slc_device *device) {
    const place *self = context;
    const slc_sparse_choice sparse = ways[way];
    slc_predict_result result;
    const slc_predict_options options = {.model_path = way == LIST_WAY ? self->sky : self->model,
                                         .in_path = self->files.in,
                                         .out_path = self->files.out,
                                         .run = {.vram_bytes = sparse == SLC_SPARSE_RESIDENT
                                                                   ? 400000
                                                                   : 300000,
                                                 .ram_bytes = 8 << 20,
                                                 .device = SLC_CHOOSE_HOST,
                                                 .n_threads = 2,
                                                 .sparse = sparse,
                                                 .use_device = device}};
    (void)remove(self->files.out);
    return slc_predict_run(&options, &result);
}

static int make(void **state) {
    place *self = test_allocate((int64_t)sizeof *self);
    test_fault_place *files = &self->files;
    test_fault_place_create(files, "in.uvh5", "out.uvh5");
    test_join(files->data, "model.h5", self->model);
    test_join(files->data, "sky.txt", self->sky);
    test_uvh5_create(files->in, N_ROWS, 2, 4);
    test_write_below(files->data, "sky.txt", "l=0.1 m=0.2 flux=1\nl=0 m=0 flux=2 index=1\n");
    write_model(self);
    self->files.job = (test_job_faults){.context = self,
                                        .run = run_once,
                                        .results = files->results,
                                        .ways = ways,
                                        .n_ways = TEST_COUNT(ways),
                                        .is_unfiltered = true};
    *state = self;
    return 0;
}

static slc_sparse_choice run_by(const void *context, slc_run_options run) {
    const place *self = context;
    slc_predict_result result;
    const slc_predict_options options = {.model_path = self->model,
                                         .in_path = self->files.in,
                                         .out_path = self->files.out,
                                         .run = run};
    TEST_OK(slc_predict_run(&options, &result));
    return result.sparse;
}

static void an_image_that_cannot_be_mapped_passes_by(void **state) {
    test_job_expect_streamed(*state, run_by, 4 << 20);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, make, test_fault_place_destroy)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(test_job_fail_calls),
        CASE(test_job_fail_device_calls),
        CASE(an_image_that_cannot_be_mapped_passes_by),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
