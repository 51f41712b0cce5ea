/* What does not show in a prediction: budgets, threads, where the image lies, and interrupts. */
#include "tests/support/test_prediction.h"

#include <unistd.h>

#include "tests/support/test_uvh5.h"

/* Every pixel of a picture is a component, so that there are many granules. */
static void write_full_model(test_prediction *self, int64_t size) {
    slc_image_meta meta = test_prediction_meta(1);
    uint64_t seed = 4;
    double *values = test_allocate(size * size * (int64_t)sizeof *values);
    meta.nx = meta.ny = size;
    meta.scale_rad = 1e-4;
    meta.reference_x = meta.reference_y = (double)(size / 2);
    for (int64_t k = 0; k < size * size; k++) {
        values[k] = test_random_between(&seed, -1.0, 1.0);
    }
    TEST_OK(slc_image_file_write(self->model, &meta, values, true, NULL));
    free(values);
}

static void budgets_do_not_show(void **state) {
    test_prediction *self = *state;
    static const struct {
        int64_t vram_bytes, ram_bytes;
        int n_threads;
        slc_sparse_choice sparse;
    } runs[] = {
        {INT64_C(64) << 20, INT64_C(256) << 20, 2, SLC_SPARSE_RESIDENT},
        {INT64_C(1) << 20, INT64_C(32) << 20, 1, SLC_SPARSE_AUTO},
        {INT64_C(600) << 10, INT64_C(8) << 20, 3, SLC_SPARSE_MAPPED},
        {INT64_C(500) << 10, INT64_C(16) << 20, 2, SLC_SPARSE_STREAMED},
        {INT64_C(64) << 20, INT64_C(256) << 20, 2, SLC_SPARSE_MAPPED},
    };
    char *first = NULL;
    int64_t n_first = 0;
    write_full_model(self, 101);
    for (int64_t r = 0; r < TEST_COUNT(runs); r++) {
        self->options.run.vram_bytes = runs[r].vram_bytes;
        self->options.run.ram_bytes = runs[r].ram_bytes;
        self->options.run.n_threads = runs[r].n_threads;
        self->options.run.sparse = runs[r].sparse;
        TEST_OK(test_prediction_run(self));
        assert_int_equal(self->result.n_components, 101 * 101);
        assert_true(self->result.memory.vram_peak_bytes <= runs[r].vram_bytes);
        assert_true(self->result.memory.host_peak_bytes <= runs[r].ram_bytes);
        assert_true(runs[r].sparse == SLC_SPARSE_AUTO || self->result.sparse == runs[r].sparse);
        int64_t n = 0;
        char *bytes = test_file_read(self->out, &n);
        if (first == NULL) {
            first = bytes;
            n_first = n;
            continue;
        }
        assert_int_equal(n, n_first);
        assert_memory_equal(bytes, first, (size_t)n);
        free(bytes);
    }
    free(first);
}

/* An image that fits neither memory passes by. */
static void an_image_that_fits_nowhere_is_streamed(void **state) {
    test_prediction *self = *state;
    write_full_model(self, 700); /* 3.7 MiB */
    self->options.run.vram_bytes = INT64_C(2) << 20;
    self->options.run.ram_bytes = INT64_C(3) << 20;
    self->options.run.dry_run = true;
    TEST_OK(test_prediction_run(self));
    assert_int_equal(self->result.sparse, SLC_SPARSE_STREAMED);
    assert_int_equal(access(self->out, F_OK), -1);
    self->options.run.sparse = SLC_SPARSE_MAPPED;
    TEST_FAILS(test_prediction_run(self), SLC_ERROR_NO_PLAN, "no plan fits --ram");
}

/* The smallest budget that the refusal names works, and one byte less does not. */
static void the_smallest_budget_is_exact(void **state) {
    test_prediction *self = *state;
    self->options.model_path = self->sky;
    self->options.run.vram_bytes = 1;
    TEST_FAILS(test_prediction_run(self), SLC_ERROR_NO_PLAN, "--vram");
    const char *at = strstr(slc_status_message(), "works is --vram ");
    assert_non_null(at);
    const int64_t smallest = strtoll(at + strlen("works is --vram "), NULL, 10);
    self->options.run.vram_bytes = smallest;
    TEST_OK(test_prediction_run(self));
    self->options.run.vram_bytes = smallest - 1;
    TEST_FAILS(test_prediction_run(self), SLC_ERROR_NO_PLAN, "--vram");
}

static volatile int cancelled;

/* Stops the run when its first tile is done. */
static void stop_at_once(void *context, const char *stage, const char *thing, double done,
                         double total) {
    (void)context;
    (void)stage;
    (void)thing;
    (void)total;
    if (done > 0) {
        cancelled = 1;
    }
}

/* Rows of the output that wait for their chunks give way to a list of the sky, which is there with the
 * smallest --ram that is named. */
static void rows_give_way_to_a_list(void **state) {
    test_prediction *self = *state;
    enum { ROWS = 40, CHANNELS = 1024, POLS = 4, N_COMPONENTS = 300000 };
    static const int64_t shape[] = {ROWS, CHANNELS, POLS}; /* 2.5 MiB, of which 1 MiB must wait */
    const hsize_t chunk[] = {ROWS, CHANNELS, POLS};
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    const hid_t type = test_h5_complex(H5T_IEEE_F64LE, "r", "i");
    double *values = test_allocate((int64_t)ROWS * CHANNELS * POLS * 2 * (int64_t)sizeof *values);
    memset(values, 0, (size_t)ROWS * CHANNELS * POLS * 2 * sizeof *values);
    assert_true(H5Pset_chunk(list, 3, chunk) >= 0);
    test_uvh5_create(self->model, ROWS, CHANNELS, POLS);
    test_h5_put(self->model, "/Data/visdata", type, type, 3, shape, list, values);
    free(values);
    assert_true(H5Tclose(type) >= 0 && H5Pclose(list) >= 0);
    FILE *sky = fopen(self->sky, "w");
    assert_non_null(sky);
    for (int k = 0; k < N_COMPONENTS; k++) {
        assert_true(fputs("l=0.01 m=0.02 flux=1\n", sky) >= 0);
    }
    assert_int_equal(fclose(sky), 0);
    self->options.in_path = self->model;
    self->options.model_path = self->sky;
    self->options.run.ram_bytes = 1;
    TEST_FAILS(test_prediction_run(self), SLC_ERROR_NO_PLAN, "works is --ram ");
    const char *at = strstr(slc_status_message(), "works is --ram ");
    self->options.run.ram_bytes = strtoll(at + strlen("works is --ram "), NULL, 10);
    self->options.run.cancel = &cancelled;
    self->options.run.progress = stop_at_once;
    cancelled = 0;
    TEST_FAILS(test_prediction_run(self), SLC_ERROR_INTERRUPTED, "interrupted");
    cancelled = 0;
    self->options.run.ram_bytes--;
    TEST_FAILS(test_prediction_run(self), SLC_ERROR_NO_PLAN, "works is --ram ");
}

/* ---- resuming -------------------------------------------------------------------------------- */

/* Stops the run when it is about half done. */
static void stop_half_way(void *context, const char *stage, const char *thing, double done,
                          double total) {
    (void)context;
    (void)stage;
    (void)thing;
    if (done > 0.4 * total) {
        cancelled = 1;
    }
}

/* An interrupted run goes on under other budgets, with its image elsewhere, to the same bytes. */
static void interrupted_runs_go_on(void **state) {
    test_prediction *self = *state;
    static const slc_sparse_choice later[] = {SLC_SPARSE_MAPPED, SLC_SPARSE_RESIDENT,
                                              SLC_SPARSE_STREAMED};
    char checkpoint[TEST_PATH_BYTES];
    int64_t n_first = 0;
    int64_t n = 0;
    write_full_model(self, 101);
    self->options.run.dry_run = true;
    TEST_OK(test_prediction_run(self));
    self->options.run.dry_run = false;
    const int64_t least_bytes = self->result.plan.smallest_device_bytes; /* many small tiles */
    TEST_OK(test_prediction_run(self));
    char *first = test_file_read(self->out, &n_first);
    test_join(self->directory, "run.checkpoint", checkpoint);
    self->options.run.cancel = &cancelled;
    for (int64_t k = 0; k < TEST_COUNT(later); k++) {
        self->options.run.vram_bytes = least_bytes;
        self->options.run.sparse = SLC_SPARSE_AUTO;
        self->options.run.checkpoint_path = checkpoint;
        self->options.run.progress = stop_half_way;
        self->options.run.resume = false;
        cancelled = 0;
        const slc_status status = test_prediction_run(self);
        if (status == SLC_ERROR_UNSUPPORTED) {
            TEST_SKIP("%s", slc_status_message());
        }
        assert_int_equal(status, SLC_ERROR_INTERRUPTED);
        cancelled = 0;
        self->options.run.vram_bytes = INT64_C(4) << 20;
        self->options.run.sparse = later[k];
        self->options.run.progress = NULL;
        self->options.run.resume = true;
        TEST_OK(test_prediction_run(self));
        assert_true(self->result.is_resumed);
        char *bytes = test_file_read(self->out, &n);
        assert_int_equal(n, n_first);
        assert_memory_equal(bytes, first, (size_t)n);
        free(bytes);
        assert_int_equal(access(checkpoint, F_OK), -1);
    }
    free(first);
}

/* A list of which places alone have changed gives other visibilities. */
static void another_list_is_not_gone_on_with(void **state) {
    test_prediction *self = *state;
    char checkpoint[TEST_PATH_BYTES];
    test_join(self->directory, "run.checkpoint", checkpoint);
    test_write_below(self->directory, "sky.txt", "l=0.01 m=0.02 flux=1\nl=0 m=0 flux=2\n");
    self->options.model_path = self->sky;
    self->options.run.dry_run = true;
    TEST_OK(test_prediction_run(self));
    self->options.run.dry_run = false;
    self->options.run.vram_bytes = self->result.plan.smallest_device_bytes;
    self->options.run.checkpoint_path = checkpoint;
    self->options.run.cancel = &cancelled;
    self->options.run.progress = stop_half_way;
    cancelled = 0;
    const slc_status status = test_prediction_run(self);
    if (status == SLC_ERROR_UNSUPPORTED) {
        TEST_SKIP("%s", slc_status_message());
    }
    assert_int_equal(status, SLC_ERROR_INTERRUPTED);
    cancelled = 0;
    self->options.run.progress = NULL;
    self->options.run.resume = true;
    test_write_below(self->directory, "sky.txt", "l=-0.01 m=0.02 flux=1\nl=0 m=0 flux=2\n");
    TEST_FAILS(test_prediction_run(self), SLC_ERROR_INPUT, "hash of the list");
}

#define CASE(function) \
    cmocka_unit_test_setup_teardown(function, test_prediction_create, test_prediction_destroy)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(budgets_do_not_show),          CASE(an_image_that_fits_nowhere_is_streamed),
        CASE(the_smallest_budget_is_exact), CASE(rows_give_way_to_a_list),
        CASE(interrupted_runs_go_on),       CASE(another_list_is_not_gone_on_with),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
