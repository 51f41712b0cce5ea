#include "tests/support/test_support.h"

#include "core/array.h"

enum { N = 1000 };

static test_devices devices;

static int set_up(void **state) {
    (void)state;
    test_devices_open(2, &devices);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    test_devices_close(&devices);
    return 0;
}

static slc_layout floats(int64_t n) {
    slc_layout layout;
    TEST_OK(slc_layout_dense(SLC_F32, 1, &n, &layout));
    return layout;
}

static void arrays_are_paid_from_their_space(void **state) {
    (void)state;
    const slc_layout layout = floats(N);
    assert_int_equal(slc_array_bytes(&layout), N * 4);
    for (int i = 0; i < devices.n; i++) {
        slc_budget *budget = NULL;
        TEST_OK(slc_budget_create(N * 4, N * 8, &budget));
        slc_array *array[3] = {NULL};
        for (int kind = 0; kind < 3; kind++) {
            TEST_OK(slc_array_create(devices.device[i], budget, (slc_array_kind)kind, &layout,
                                     &array[kind]));
        }
        assert_null(array[SLC_ARRAY_DEVICE]->host);
        assert_non_null(array[SLC_ARRAY_DEVICE]->d_data);
        assert_non_null(array[SLC_ARRAY_PINNED]->host);
        assert_null(array[SLC_ARRAY_PINNED]->d_data);
        assert_non_null(array[SLC_ARRAY_MAPPED]->host);
        assert_non_null(array[SLC_ARRAY_MAPPED]->d_data);
        assert_int_equal(slc_budget_get(budget, SLC_SPACE_DEVICE).used_bytes, N * 4);
        assert_int_equal(slc_budget_get(budget, SLC_SPACE_HOST).used_bytes, N * 8);
        for (int kind = 0; kind < 3; kind++) {
            slc_array *more = NULL;
            TEST_FAILS(slc_array_create(devices.device[i], budget, (slc_array_kind)kind, &layout,
                                        &more),
                       SLC_ERROR_MEMORY, "budget");
            assert_null(more);
        }
        for (int kind = 0; kind < 3; kind++) {
            slc_array_destroy(array[kind]);
        }
        assert_int_equal(slc_budget_get(budget, SLC_SPACE_DEVICE).used_bytes, 0);
        assert_int_equal(slc_budget_get(budget, SLC_SPACE_HOST).used_bytes, 0);
        slc_budget_destroy(budget);
    }
    slc_array_destroy(NULL);
}

/* pinned → device → mapped; the mapped one is then read through its host address. */
static void data_goes_through_all_kinds(void **state) {
    (void)state;
    const slc_layout layout = floats(N);
    for (int i = 0; i < devices.n; i++) {
        slc_device *device = devices.device[i];
        slc_array *pinned = NULL;
        slc_array *memory = NULL;
        slc_array *mapped = NULL;
        slc_stream *stream = NULL;
        TEST_OK(slc_array_create(device, NULL, SLC_ARRAY_PINNED, &layout, &pinned));
        TEST_OK(slc_array_create(device, NULL, SLC_ARRAY_DEVICE, &layout, &memory));
        TEST_OK(slc_array_create(device, NULL, SLC_ARRAY_MAPPED, &layout, &mapped));
        TEST_OK(slc_stream_create(device, &stream));
        test_fill_f32(pinned->host, N, 8);
        TEST_OK(slc_stream_copy(stream, memory->d_data, pinned->host, N * 4, SLC_COPY_TO_DEVICE));
        TEST_OK(slc_stream_copy(stream, mapped->d_data, memory->d_data, N * 4, SLC_COPY_ON_DEVICE));
        TEST_OK(slc_stream_synchronize(stream));
        assert_memory_equal(mapped->host, pinned->host, N * 4);
        slc_stream_destroy(stream);
        slc_array_destroy(mapped);
        slc_array_destroy(memory);
        slc_array_destroy(pinned);
    }
}

static void layouts_that_are_not_dense_are_refused(void **state) {
    (void)state;
    slc_layout layouts[3] = {floats(0), floats(N), floats(N)};
    layouts[1].stride_bytes[0] = 8;
    layouts[2].offset_bytes = 4;
    slc_array *array = NULL;
    for (int64_t i = 0; i < TEST_COUNT(layouts); i++) {
        TEST_FAILS(slc_array_create(devices.device[0], NULL, SLC_ARRAY_DEVICE, &layouts[i], &array),
                   SLC_ERROR_ARGUMENT, "dense");
    }
    const slc_layout good = floats(N);
    TEST_FAILS(slc_array_create(devices.device[0], NULL, (slc_array_kind)7, &good, &array),
               SLC_ERROR_ARGUMENT, "kind 7");
    assert_null(array);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_are_paid_from_their_space),
        cmocka_unit_test(data_goes_through_all_kinds),
        cmocka_unit_test(layouts_that_are_not_dense_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
