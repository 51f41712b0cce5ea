/* A gather from a slice takes what the list names of the slice, whatever is done with the data. */
#include "app/gather.h"
#include "tests/support/test_rewritten.h"
#include "tests/support/test_uvh5.h"

enum { N_INDEX = 40 };

/* [::-3, 2, 1:] of [200, 5, 7] has the shape [67, 6]; along its first dimension, and by coordinates. */
static void indices_count_along_the_slice(void **state) {
    const test_way *self = *state;
    const test_array array = {.rank = 3,
                              .shape = {200, 5, 7},
                              .chunk = {16, 5, 7},
                              .is_deflated = true};
    static const slc_sparse_choice ways[] = {SLC_SPARSE_RESIDENT, SLC_SPARSE_MAPPED,
                                             SLC_SPARSE_STREAMED};
    const int64_t n_index = N_INDEX;
    int64_t list[N_INDEX];
    uint64_t random = 5;
    slc_gather_result result;
    slc_gather_options options = {.data_path = self->in,
                                  .data = "/x",
                                  .index_path = self->in,
                                  .index = "/i",
                                  .out_path = self->out,
                                  .out = "/v",
                                  .run = {.vram_bytes = 1 << 20,
                                          .ram_bytes = 32 << 20,
                                          .device = SLC_CHOOSE_HOST,
                                          .n_threads = 2,
                                          .overwrite = true}};
    for (int k = 0; k < N_INDEX; k++) {
        list[k] = test_random_below(&random, 67);
    }
    test_rewrite_put(self->in, "/x", &array);
    test_h5_put_i64(self->in, "/i", 1, &n_index, list);
    TEST_OK(slc_slice_parse("[::-3, 2, 1:]", &options.data_slice));
    for (int64_t w = 0; w < TEST_COUNT(ways); w++) {
        options.run.sparse = ways[w];
        TEST_OK(slc_gather_run(&options, &result));
        int32_t *values = test_rewrite_get(self->out, "/v", 2, (const int64_t[]){N_INDEX, 6});
        for (int64_t k = 0; k < N_INDEX * 6; k++) {
            const int64_t index[] = {199 - 3 * list[k / 6], 2, 1 + k % 6};
            assert_int_equal(values[k], test_rewrite_value(&array, index));
        }
        free(values);
        assert_true(result.memory.host_peak_bytes <= options.run.ram_bytes);
    }
    list[7] = 67; /* there are 67 of 200 */
    test_h5_put_i64(self->in, "/i", 1, &n_index, list);
    TEST_FAILS(slc_gather_run(&options, &result), SLC_ERROR_INPUT, "[7] is 67, expected 0 to 66");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(indices_count_along_the_slice, test_way_create,
                                        test_way_destroy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
