/* What a gather plans of memory is what it takes, also where the check of the list takes more than the
 * run, and where there is nothing to do. */
#include <hdf5.h>

#include "app/gather.h"
#include "io/h5_array.h"
#include "tests/support/test_fixture.h"
#include "tests/support/test_uvh5.h"

/* A few numbers, and a list of `n_index` full coordinates into them, all 0. */
static slc_gather_options prepare(const test_way *self, int64_t n_index) {
    const int64_t data_shape[1] = {10};
    const int64_t list_shape[2] = {n_index, 1};
    const int64_t data[10] = {7};
    int64_t *list = test_allocate((n_index + 1) * (int64_t)sizeof *list);
    memset(list, 0, (size_t)(n_index + 1) * sizeof *list);
    test_h5_put(self->in, "/data", H5T_NATIVE_INT64, H5T_NATIVE_INT64, 1, data_shape, H5P_DEFAULT,
                data);
    test_h5_put(self->in, "/i", H5T_NATIVE_INT64, H5T_NATIVE_INT64, 2, list_shape, H5P_DEFAULT,
                list);
    free(list);
    return (slc_gather_options){.data_path = self->in,
                                .data = "/data",
                                .index_path = self->in,
                                .index = "/i",
                                .out_path = self->out,
                                .out = "/v",
                                .is_coordinates = true,
                                .run = {.vram_bytes = 64 << 20,
                                        .ram_bytes = 64 << 20,
                                        .device = SLC_CHOOSE_HOST,
                                        .n_threads = 2,
                                        .overwrite = true}};
}

/* What reading both arrays takes by three threads: those of the pool, and the engine's own. */
static int64_t reading_bytes(const test_way *self) {
    static const char *const names[] = {"/data", "/i"};
    int64_t bytes = 0;
    for (int k = 0; k < 2; k++) {
        slc_source *source = NULL;
        TEST_OK(slc_h5_array_open(&(slc_h5_array_options){.path = self->in, .dataset = names[k]},
                                  &source));
        bytes += slc_h5_array_reader_bytes(source, 3);
        slc_source_destroy(source);
    }
    assert_true(bytes > 0);
    return bytes;
}

/* 200,000 coordinates of 8 bytes are looked at in one block of 1.6 MB. Where --vram makes the tiles
 * smaller than that, the block is the most that the run takes. */
static void the_check_of_the_list_is_planned(void **state) {
    const test_way *self = *state;
    slc_gather_options options = prepare(self, 200000);
    slc_gather_result result;
    static const struct {
        int64_t vram_bytes, ram_bytes;
    } budgets[] = {{300000, 64 << 20},
                   {1 << 20, 4 << 20},
                   {64 << 20, 64 << 20},
                   {5 << 20, 9 << 20}};
    for (int64_t b = 0; b < TEST_COUNT(budgets); b++) {
        options.run.vram_bytes = budgets[b].vram_bytes;
        options.run.ram_bytes = budgets[b].ram_bytes;
        options.run.dry_run = true;
        TEST_OK(slc_gather_run(&options, &result));
        const int64_t planned_bytes = result.memory.host_planned_bytes;
        options.run.dry_run = false;
        TEST_OK(slc_gather_run(&options, &result));
        assert_int_equal(result.memory.host_planned_bytes, planned_bytes);
        assert_int_equal(result.memory.host_peak_bytes, planned_bytes);
        assert_int_equal(result.memory.vram_peak_bytes, result.plan.device_peak_bytes);
        assert_true(b > 0 || planned_bytes == reading_bytes(self) + 200000 * 8);
    }
}

static void nothing_is_planned_where_nothing_runs(void **state) {
    const test_way *self = *state;
    slc_gather_options options = prepare(self, 0);
    slc_gather_result result;
    TEST_OK(slc_gather_run(&options, &result));
    assert_int_equal(result.memory.host_planned_bytes, reading_bytes(self));
    assert_int_equal(result.memory.host_peak_bytes, reading_bytes(self));
    assert_int_equal(result.plan.device_peak_bytes, 0);
    assert_int_equal(result.memory.vram_peak_bytes, 0);
    assert_int_equal(result.plan.n_tiles, 0);
    assert_true(result.plan.seconds_total <= 0);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, test_way_create, test_way_destroy)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(the_check_of_the_list_is_planned),
        CASE(nothing_is_planned_where_nothing_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
