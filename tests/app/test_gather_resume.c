/* A gather that was stopped goes on with data treated as it was begun, under any budget, and writes
 * the bytes of an unbroken run. */
#include "app/gather.h"
#include "tests/support/test_rewritten.h"
#include "tests/support/test_stopper.h"
#include "tests/support/test_uvh5.h"

enum { N_DATA = 60000, N_INDEX = 20000 };

static int make(void **state) {
    const int64_t n_data = N_DATA;
    const int64_t n_index = N_INDEX;
    double *data = test_allocate(N_DATA * 8);
    int64_t *list = test_allocate(N_INDEX * 8);
    uint64_t random = 9;
    (void)test_way_create(state);
    const test_way *self = *state;
    test_fill_f64(data, N_DATA, 3);
    for (int64_t k = 0; k < N_INDEX; k++) {
        list[k] = test_random_below(&random, N_DATA);
    }
    test_h5_put_f64(self->in, "/data", 1, &n_data, data);
    test_h5_put_i64(self->in, "/i", 1, &n_index, list);
    free(data);
    free(list);
    return 0;
}

static slc_gather_options options_of(const test_way *self, slc_sparse_choice sparse) {
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

/* Begins one way and stops half-way. */
static void begin(const test_way *self, slc_sparse_choice sparse) {
    slc_gather_result result;
    test_stopper stop = {.stage = "gathering", .share = 0.5};
    slc_gather_options options = options_of(self, sparse);
    test_stopper_watch(&stop, &options.run);
    TEST_FAILS(slc_gather_run(&options, &result), SLC_ERROR_INTERRUPTED, "interrupted");
}

/* Goes on with plenty of memory and no wish; returns how. */
static slc_sparse_choice go_on(const test_way *self, slc_sparse_choice wanted) {
    slc_gather_result result;
    slc_gather_options options = options_of(self, wanted);
    options.run.vram_bytes = 16 << 20;
    options.run.resume = true;
    TEST_OK(slc_gather_run(&options, &result));
    assert_true(result.is_resumed);
    test_expect_same_files(self->out, self->other);
    assert_int_equal(test_directory_count(self->directory), 3); /* in, out, other */
    return result.sparse;
}

static void a_stopped_gather_goes_on(void **state) {
    const test_way *self = *state;
    slc_gather_result result;
    slc_gather_options options = options_of(self, SLC_SPARSE_RESIDENT);
    options.out_path = self->other;
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
        cmocka_unit_test_setup_teardown(a_stopped_gather_goes_on, make, test_way_destroy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
