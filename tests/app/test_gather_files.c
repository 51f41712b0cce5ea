/* Where a gather may write: not over the files that it reads, whichever of both it is, also through the
 * C function, where no command has looked at the names. */
#include "app/gather.h"
#include "tests/support/test_uvh5.h"

static void inputs_are_not_replaced(void **state) {
    const test_way *self = *state;
    const double data[4] = {1, 2, 3, 4};
    const int64_t list[2] = {3, 0};
    const int64_t n_data = 4;
    const int64_t n_index = 2;
    const char *const inputs[] = {self->in, self->other};
    test_h5_put_f64(self->in, "/data", 1, &n_data, data);
    test_h5_put_i64(self->other, "/i", 1, &n_index, list);
    for (int64_t k = 0; k < TEST_COUNT(inputs); k++) {
        const slc_gather_options options = {.data_path = self->in,
                                            .data = "/data",
                                            .index_path = self->other,
                                            .index = "/i",
                                            .out_path = inputs[k],
                                            .out = "/v",
                                            .run = {.vram_bytes = 1 << 20,
                                                    .ram_bytes = 8 << 20,
                                                    .device = SLC_CHOOSE_HOST,
                                                    .overwrite = true}};
        slc_gather_result result;
        int64_t n_before = 0;
        int64_t n_after = 0;
        char *before = test_file_read(inputs[k], &n_before);
        TEST_FAILS(slc_gather_run(&options, &result), SLC_ERROR_ARGUMENT, "is an output");
        char *after = test_file_read(inputs[k], &n_after);
        assert_int_equal(n_after, n_before);
        assert_memory_equal(after, before, (size_t)n_before);
        free(before);
        free(after);
    }
    assert_int_equal(test_directory_count(self->directory), 2); /* nothing beside them */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(inputs_are_not_replaced, test_way_create, test_way_destroy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
