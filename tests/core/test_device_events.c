/* Events of every device, bare and inside a checking device that delays copies: they order streams, and
 * the timed ones say how long work took. */
#include "tests/support/test_fixture.h"

#include "core/device_internal.h"

static void an_event_never_recorded_has_happened(void **state) {
    test_fixture self;
    test_fixture_open(*state, &self);
    slc_event *event = NULL;
    slc_event *other = NULL;
    slc_stream *stream = NULL;
    TEST_OK(slc_event_create_timed(self.device, &event));
    TEST_OK(slc_event_create_timed(self.device, &other));
    TEST_OK(slc_stream_create(self.device, &stream));
    bool is_done = false;
    int64_t ns = 0;
    TEST_OK(slc_event_query(event, &is_done));
    assert_true(is_done);
    TEST_OK(slc_event_synchronize(event));
    TEST_OK(slc_event_wait(stream, event));
    TEST_OK(slc_stream_synchronize(stream));
    TEST_FAILS(slc_event_elapsed(event, other, &ns), SLC_ERROR_ARGUMENT, "recorded");
    slc_stream_destroy(stream);
    slc_event_destroy(event);
    slc_event_destroy(other);
    test_fixture_close(&self);
}

static void elapsed_time_is_that_of_the_work_between(void **state) {
    test_fixture self;
    test_fixture_open(*state, &self);
    slc_event *begin = NULL;
    slc_event *end = NULL;
    slc_stream *stream = NULL;
    TEST_OK(slc_event_create_timed(self.device, &begin));
    TEST_OK(slc_event_create_timed(self.device, &end));
    TEST_OK(slc_stream_create(self.device, &stream));
    TEST_OK(slc_event_record(begin, stream));
    assert_non_null(self.device->ops->pause);
    TEST_OK(self.device->ops->pause(stream, 20000000));
    TEST_OK(slc_event_record(end, stream));
    TEST_OK(slc_event_synchronize(end));
    int64_t ns = 0;
    TEST_OK(slc_event_elapsed(begin, end, &ns));
    assert_true(ns >= 19000000); /* CUDA measures in steps of half a microsecond */
    slc_stream_destroy(stream);
    slc_event_destroy(begin);
    slc_event_destroy(end);
    test_fixture_close(&self);
}

/* A pipeline as the engine's: copy in on one stream, across on a second, out on a third, buffers
 * used again and again, and nothing but events between them. */
static void an_event_that_only_orders_has_no_time(void **state) {
    test_fixture self;
    test_fixture_open(*state, &self);
    slc_event *plain = NULL;
    slc_event *timed = NULL;
    slc_stream *stream = NULL;
    TEST_OK(slc_event_create(self.device, &plain));
    TEST_OK(slc_event_create_timed(self.device, &timed));
    TEST_OK(slc_stream_create(self.device, &stream));
    TEST_OK(slc_event_record(plain, stream));
    TEST_OK(slc_event_record(timed, stream));
    TEST_OK(slc_event_synchronize(timed));
    int64_t ns = 0;
    TEST_FAILS(slc_event_elapsed(plain, timed, &ns), SLC_ERROR_ARGUMENT, "keeps no time");
    TEST_FAILS(slc_event_elapsed(timed, plain, &ns), SLC_ERROR_ARGUMENT, "keeps no time");
    TEST_OK(slc_event_elapsed(timed, timed, &ns));
    assert_int_equal(ns, 0);
    slc_stream_destroy(stream);
    slc_event_destroy(plain);
    slc_event_destroy(timed);
    test_fixture_close(&self);
}

static void events_alone_order_three_streams(void **state) {
    test_fixture self;
    test_fixture_open(*state, &self);
    const int n_rounds = 100;
    const int64_t n_bytes = 4000;
    enum { IN, ACROSS, OUT, N_STREAMS };
    slc_pinned source;
    slc_pinned result;
    void *d_a = NULL;
    void *d_b = NULL;
    slc_stream *stream[N_STREAMS] = {0};
    slc_event *event[N_STREAMS] = {0};
    TEST_OK(slc_pinned_allocate(self.device, n_rounds * n_bytes, &source));
    TEST_OK(slc_pinned_allocate(self.device, n_rounds * n_bytes, &result));
    TEST_OK(slc_device_allocate(self.device, n_bytes, &d_a));
    TEST_OK(slc_device_allocate(self.device, n_bytes, &d_b));
    for (int s = 0; s < N_STREAMS; s++) {
        TEST_OK(slc_stream_create(self.device, &stream[s]));
        TEST_OK(slc_event_create(self.device, &event[s]));
    }
    test_fill(source.host, source.bytes, 77);
    for (int round = 0; round < n_rounds; round++) {
        const char *from = (const char *)source.host + round * n_bytes;
        char *to = (char *)result.host + round * n_bytes;
        TEST_OK(slc_event_wait(stream[IN], event[ACROSS])); /* a is free again */
        TEST_OK(slc_stream_copy(stream[IN], d_a, from, n_bytes, SLC_COPY_TO_DEVICE));
        TEST_OK(slc_event_record(event[IN], stream[IN]));
        TEST_OK(slc_event_wait(stream[ACROSS], event[IN]));
        TEST_OK(slc_event_wait(stream[ACROSS], event[OUT])); /* b is free again */
        TEST_OK(slc_stream_copy(stream[ACROSS], d_b, d_a, n_bytes, SLC_COPY_ON_DEVICE));
        TEST_OK(slc_event_record(event[ACROSS], stream[ACROSS]));
        TEST_OK(slc_event_wait(stream[OUT], event[ACROSS]));
        TEST_OK(slc_stream_copy(stream[OUT], to, d_b, n_bytes, SLC_COPY_FROM_DEVICE));
        TEST_OK(slc_event_record(event[OUT], stream[OUT]));
    }
    TEST_OK(slc_event_synchronize(event[OUT]));
    assert_true(memcmp(source.host, result.host, (size_t)source.bytes) == 0);
    for (int s = 0; s < N_STREAMS; s++) {
        slc_stream_destroy(stream[s]);
        slc_event_destroy(event[s]);
    }
    slc_device_release(self.device, d_a);
    slc_device_release(self.device, d_b);
    slc_pinned_release(self.device, &source);
    slc_pinned_release(self.device, &result);
    test_fixture_close(&self);
}

static const test_case cases[] = {
    TEST_CASE(an_event_never_recorded_has_happened),
    TEST_CASE(elapsed_time_is_that_of_the_work_between),
    TEST_CASE(an_event_that_only_orders_has_no_time),
    TEST_CASE(events_alone_order_three_streams),
};

int main(void) {
    return test_run_everywhere(cases, TEST_COUNT(cases), TEST_ON_ALL);
}
