/* A gather that was stopped goes on with data treated as it was begun, under any budget, and writes
 * the bytes of an unbroken run. */
#include "app/gather.h"
#include "tests/support/test_uvh5.h"

enum { N_DATA = 60000, N_INDEX = 20000 };

typedef struct place {
    char directory[TEST_PATH_BYTES];
    char in[TEST_PATH_BYTES], out[TEST_PATH_BYTES], whole[TEST_PATH_BYTES];
    char checkpoint[TEST_PATH_BYTES];
} place;

static int make(void **state) {
    place *self = test_allocate((int64_t)sizeof *self);
    const int64_t n_data = N_DATA;
    const int64_t n_index = N_INDEX;
    double *data = test_allocate(N_DATA * 8);
    int64_t *list = test_allocate(N_INDEX * 8);
    uint64_t random = 9;
    test_directory_create(self->directory);
    test_join(self->directory, "in.h5", self->in);
    test_join(self->directory, "out.h5", self->out);
    test_join(self->directory, "whole.h5", self->whole);
    test_join(self->directory, "state", self->checkpoint);
    test_fill_f64(data, N_DATA, 3);
    for (int64_t k = 0; k < N_INDEX; k++) {
        list[k] = test_random_below(&random, N_DATA);
    }
    test_h5_put_f64(self->in, "/data", 1, &n_data, data);
    test_h5_put_i64(self->in, "/i", 1, &n_index, list);
    free(data);
    free(list);
    *state = self;
    return 0;
}

static int remove_place(void **state) {
    place *self = *state;
    test_directory_remove(self->directory);
    free(self);
    return 0;
}

/* Stops the run once so many tiles are behind it. */
typedef struct stopper {
    double share;
    volatile int cancel;
} stopper;

static void stop_there(void *context, const char *stage, const char *thing, double done,
                       double total) {
    stopper *self = context;
    (void)thing;
    if (strcmp(stage, "gathering") == 0 && done >= self->share * total) {
        self->cancel = 1;
    }
}

static slc_gather_options options_of(const place *self, slc_sparse_choice sparse) {
    return (
        slc_gather_options){.data_path = self->in,
                            .data = "/data",
                            .index_path = self->in,
                            .index = "/i",
                            .out_path = self->out,
                            .out = "/v",
                            .run = {.vram_bytes = sparse == SLC_SPARSE_RESIDENT ? 600000 : 100000,
                                    .ram_bytes = 16 << 20,
                                    .device = SLC_CHOOSE_HOST,
                                    .n_threads = 2,
                                    .overwrite = true,
                                    .sparse = sparse,
                                    .checkpoint_path = self->checkpoint}};
}

static void expect_same_files(const char *a, const char *b) {
    FILE *files[2] = {fopen(a, "rb"), fopen(b, "rb")};
    int byte = 0;
    assert_true(files[0] != NULL && files[1] != NULL);
    while (byte != EOF) {
        byte = getc(files[0]);
        assert_int_equal(getc(files[1]), byte);
    }
    fclose(files[0]);
    fclose(files[1]);
}

/* Begins one way and stops half-way. */
static void begin(const place *self, slc_sparse_choice sparse) {
    slc_gather_result result;
    stopper stop = {.share = 0.5};
    slc_gather_options options = options_of(self, sparse);
    options.run.progress = stop_there;
    options.run.progress_context = &stop;
    options.run.cancel = &stop.cancel;
    TEST_FAILS(slc_gather_run(&options, &result), SLC_ERROR_INTERRUPTED, "interrupted");
}

/* Goes on with plenty of memory and no wish; returns how. */
static slc_sparse_choice go_on(const place *self, slc_sparse_choice wanted) {
    slc_gather_result result;
    slc_gather_options options = options_of(self, wanted);
    options.run.vram_bytes = 16 << 20;
    options.run.resume = true;
    TEST_OK(slc_gather_run(&options, &result));
    assert_true(result.is_resumed);
    expect_same_files(self->out, self->whole);
    assert_int_equal(test_directory_count(self->directory), 3); /* in, out, whole */
    return result.sparse;
}

static void a_stopped_gather_goes_on(void **state) {
    const place *self = *state;
    slc_gather_result result;
    slc_gather_options options = options_of(self, SLC_SPARSE_RESIDENT);
    options.out_path = self->whole;
    const slc_status status = slc_gather_run(&options, &result);
    if (status == SLC_ERROR_UNSUPPORTED) {
        TEST_SKIP("%s", slc_status_message());
    }
    TEST_OK(status);
    begin(self, SLC_SPARSE_STREAMED);
    options = options_of(self, SLC_SPARSE_RESIDENT);
    options.run.resume = true;
    TEST_FAILS(slc_gather_run(&options, &result), SLC_ERROR_ARGUMENT,
               "--sparse resident: the checkpoint was begun with the data streamed");
    assert_int_equal(go_on(self, SLC_SPARSE_AUTO), SLC_SPARSE_STREAMED);
    begin(self, SLC_SPARSE_MAPPED);
    assert_int_equal(go_on(self, SLC_SPARSE_RESIDENT), SLC_SPARSE_RESIDENT);
    begin(self, SLC_SPARSE_RESIDENT);
    assert_int_not_equal(go_on(self, SLC_SPARSE_AUTO), SLC_SPARSE_STREAMED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_stopped_gather_goes_on, make, remove_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
