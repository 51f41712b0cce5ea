/* The checking device around the host device: it must misbehave exactly as it was told to. (That it
 * forwards everything else, on every device, is shown by test_device.c.) */
#include "tests/support/test_fixture.h"

#include <math.h>

/* ThreadSanitizer would rightly report the race that one test makes on purpose. */
#if defined(__SANITIZE_THREAD__)
static const bool may_race = false;
#else
static const bool may_race = true;
#endif

typedef struct rig {
    slc_pool *pool;
    slc_device *device;
} rig;

static rig rig_create(slc_check_options options) {
    rig self = {0};
    slc_device *inner = NULL;
    TEST_OK(slc_pool_create(2, &self.pool));
    TEST_OK(slc_device_create_host(self.pool, NULL, &inner));
    TEST_OK(slc_device_create_check(inner, &options, &self.device));
    return self;
}

static void rig_destroy(rig *self) {
    assert_int_equal(slc_device_check_alive(self->device), 0);
    slc_device_destroy(self->device);
    slc_pool_destroy(self->pool);
}

static void fresh_memory_is_nan(void **state) {
    (void)state;
    rig self = rig_create((slc_check_options){0});
    enum { N = 1000 };
    const int64_t bytes = N * (int64_t)sizeof(float);
    void *d_memory = NULL;
    slc_pinned pinned;
    slc_mapped mapped;
    TEST_OK(slc_device_allocate(self.device, bytes, &d_memory));
    TEST_OK(slc_pinned_allocate(self.device, bytes, &pinned));
    TEST_OK(slc_mapped_allocate(self.device, bytes, &mapped));
    const float *all[] = {d_memory, pinned.host, mapped.host};
    for (int64_t k = 0; k < TEST_COUNT(all); k++) {
        for (int i = 0; i < N; i++) {
            assert_true(isnan(all[k][i]));
        }
    }
    slc_device_release(self.device, d_memory);
    slc_pinned_release(self.device, &pinned);
    slc_mapped_release(self.device, &mapped);
    rig_destroy(&self);
}

static void what_is_alive_is_counted(void **state) {
    (void)state;
    rig self = rig_create((slc_check_options){0});
    void *d_memory = NULL;
    slc_pinned pinned;
    slc_pinned nothing;
    slc_mapped mapped;
    slc_stream *stream = NULL;
    slc_event *event = NULL;
    assert_int_equal(slc_device_check_alive(self.device), 0);
    TEST_OK(slc_device_allocate(self.device, 10, &d_memory));
    TEST_OK(slc_pinned_allocate(self.device, 10, &pinned));
    TEST_OK(slc_pinned_allocate(self.device, 0, &nothing));
    TEST_OK(slc_mapped_allocate(self.device, 10, &mapped));
    TEST_OK(slc_stream_create(self.device, &stream));
    TEST_OK(slc_event_create(self.device, &event));
    assert_int_equal(slc_device_check_alive(self.device), 5);
    slc_pinned_release(self.device, &nothing);
    slc_event_destroy(event);
    slc_stream_destroy(stream);
    assert_int_equal(slc_device_check_alive(self.device), 3);
    slc_device_release(self.device, d_memory);
    slc_pinned_release(self.device, &pinned);
    slc_mapped_release(self.device, &mapped);
    rig_destroy(&self);
}

static slc_status do_nothing(void *argument) {
    (void)argument;
    return SLC_OK;
}

/* One call of every kind that can fail as a call; gives back what it made and returns the first
 * failure. */
static slc_status use_everything(slc_device *device) {
    slc_status status = SLC_OK;
    void *d_memory = NULL;
    slc_mapped mapped = {0};
    slc_stream *stream = NULL;
    slc_event *event = NULL;
    SLC_TRY_GOTO(done, slc_device_allocate(device, 64, &d_memory));
    SLC_TRY_GOTO(done, slc_mapped_allocate(device, 64, &mapped));
    SLC_TRY_GOTO(done, slc_stream_create(device, &stream));
    SLC_TRY_GOTO(done, slc_event_create(device, &event));
    SLC_TRY_GOTO(done, slc_stream_set(stream, d_memory, 0, 64));
    SLC_TRY_GOTO(done, slc_stream_call(stream, do_nothing, NULL, 0));
    SLC_TRY_GOTO(done, slc_stream_copy(stream, d_memory, mapped.host, 64, SLC_COPY_TO_DEVICE));
    SLC_TRY_GOTO(done, slc_event_record(event, stream));
    SLC_TRY_GOTO(done, slc_event_wait(stream, event));
    SLC_TRY_GOTO(done, slc_event_synchronize(event));
    SLC_TRY_GOTO(done, slc_stream_synchronize(stream));
done:
    slc_event_destroy(event);
    slc_stream_destroy(stream);
    slc_mapped_release(device, &mapped);
    slc_device_release(device, d_memory);
    return status;
}

static void the_nth_call_of_a_kind_fails(void **state) {
    (void)state;
    const struct {
        slc_check_kind kind;
        int64_t n_calls; /* in one use_everything */
        slc_status status;
        const char *words;
    } kinds[] = {
        {SLC_CHECK_ALLOCATE, 1, SLC_ERROR_MEMORY, "device memory"},
        {SLC_CHECK_MAPPED, 1, SLC_ERROR_MEMORY, "mapped memory"},
        {SLC_CHECK_STREAM, 2, SLC_ERROR_MEMORY, "stream or event"},
        {SLC_CHECK_EVENT, 4, SLC_ERROR_DEVICE, "event call"},
        {SLC_CHECK_COPY, 1, SLC_ERROR_DEVICE, "copy"},
        {SLC_CHECK_SET, 1, SLC_ERROR_DEVICE, "set"},
        {SLC_CHECK_CALL, 1, SLC_ERROR_DEVICE, "host function"},
    };
    for (int64_t k = 0; k < TEST_COUNT(kinds); k++) {
        for (int64_t at = 1; at <= 2 * kinds[k].n_calls; at++) {
            rig self = rig_create((slc_check_options){.fail_kind = kinds[k].kind, .fail_at = at});
            if (at > kinds[k].n_calls) { /* the second time around */
                TEST_OK(use_everything(self.device));
                assert_int_equal(slc_device_check_calls(self.device, kinds[k].kind),
                                 kinds[k].n_calls);
            }
            TEST_FAILS(use_everything(self.device), kinds[k].status, kinds[k].words);
            assert_int_equal(slc_device_check_calls(self.device, kinds[k].kind), at);
            TEST_OK(use_everything(self.device)); /* only that one call failed */
            rig_destroy(&self);
        }
    }
}

static void some_calls_in_a_row_fail_and_little_is_free(void **state) {
    (void)state;
    rig self = rig_create((slc_check_options){
        .fail_kind = SLC_CHECK_ALLOCATE, .fail_at = 2, .n_fails = 3, .free_bytes = 12345});
    for (int k = 1; k <= 6; k++) {
        void *d_memory = NULL;
        const slc_status status = slc_device_allocate(self.device, 16, &d_memory);
        assert_int_equal(status, k >= 2 && k <= 4 ? SLC_ERROR_MEMORY : SLC_OK);
        slc_device_release(self.device, d_memory);
    }
    slc_device_limits limits;
    TEST_OK(slc_device_get_limits(self.device, &limits));
    assert_int_equal(limits.free_bytes, 12345);
    assert_true(limits.total_bytes > 12345);
    rig_destroy(&self);
}

static void pinning_fails_into_pageable_memory(void **state) {
    (void)state;
    rig self = rig_create((slc_check_options){.fail_kind = SLC_CHECK_PINNED,
                                              .fail_at = 2,
                                              .pinned_limit_bytes = 1000});
    const int64_t bytes[] = {1000, 1000, 1000, 1001};
    const bool is_pinned[] = {true, false, true, false};
    for (int64_t i = 0; i < TEST_COUNT(bytes); i++) {
        slc_pinned pinned;
        TEST_OK(slc_pinned_allocate(self.device, bytes[i], &pinned));
        assert_true(pinned.is_pinned == is_pinned[i]);
        assert_true(isnan(((float *)pinned.host)[249]));
        memset(pinned.host, 1, (size_t)bytes[i]);
        slc_pinned_release(self.device, &pinned);
    }
    rig_destroy(&self);
}

/* Two streams, one buffer between them. Returns how often of N_ROUNDS the second stream came too
 * early, with or without the event that orders them. */
enum { N_ROUNDS = 100 };

static int count_wrong_rounds(slc_device *device, bool with_event) {
    enum { N_BYTES = 4096 };
    int n_wrong = 0;
    slc_pinned in;
    slc_pinned out;
    void *d_memory = NULL;
    slc_stream *first = NULL;
    slc_stream *second = NULL;
    slc_event *event = NULL;
    TEST_OK(slc_pinned_allocate(device, N_BYTES, &in));
    TEST_OK(slc_pinned_allocate(device, N_BYTES, &out));
    TEST_OK(slc_device_allocate(device, N_BYTES, &d_memory));
    TEST_OK(slc_stream_create(device, &first));
    TEST_OK(slc_stream_create(device, &second));
    TEST_OK(slc_event_create(device, &event));
    for (int round = 0; round < N_ROUNDS; round++) {
        test_fill(in.host, N_BYTES, (uint64_t)round);
        TEST_OK(slc_stream_copy(first, d_memory, in.host, N_BYTES, SLC_COPY_TO_DEVICE));
        if (with_event) {
            TEST_OK(slc_event_record(event, first));
            TEST_OK(slc_event_wait(second, event));
        }
        TEST_OK(slc_stream_copy(second, out.host, d_memory, N_BYTES, SLC_COPY_FROM_DEVICE));
        TEST_OK(slc_stream_synchronize(first));
        TEST_OK(slc_stream_synchronize(second));
        n_wrong += memcmp(in.host, out.host, N_BYTES) != 0;
    }
    slc_event_destroy(event);
    slc_stream_destroy(first);
    slc_stream_destroy(second);
    slc_device_release(device, d_memory);
    slc_pinned_release(device, &in);
    slc_pinned_release(device, &out);
    return n_wrong;
}

static void delays_show_a_missing_event(void **state) {
    (void)state;
    rig self = rig_create((slc_check_options){.delay_us = 400});
    assert_int_equal(count_wrong_rounds(self.device, true), 0);
    if (may_race) {
        const int n_wrong = count_wrong_rounds(self.device, false);
        print_message("without the event %d of %d rounds were wrong\n", n_wrong, N_ROUNDS);
        assert_true(n_wrong >= N_ROUNDS / 10);
    }
    rig_destroy(&self);
}

static void optional_entries_follow_the_inner_device(void **state) {
    (void)state;
    rig self = rig_create((slc_check_options){0});
    assert_non_null(self.device->ops->call);
    assert_non_null(self.device->ops->peer_copy);
    assert_true(slc_device_has_graphs(self.device));
    assert_int_equal(self.device->kind, SLC_DEVICE_HOST);
    assert_false(self.device->has_host_memory); /* so that every copy is seen */
    assert_ptr_equal(self.device->pool, self.pool);
    rig_destroy(&self);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fresh_memory_is_nan),
        cmocka_unit_test(what_is_alive_is_counted),
        cmocka_unit_test(the_nth_call_of_a_kind_fails),
        cmocka_unit_test(some_calls_in_a_row_fail_and_little_is_free),
        cmocka_unit_test(pinning_fails_into_pageable_memory),
        cmocka_unit_test(delays_show_a_missing_event),
        cmocka_unit_test(optional_entries_follow_the_inner_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
