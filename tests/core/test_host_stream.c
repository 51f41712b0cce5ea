/* The host device's streams from the inside: host functions hold a stream where the test wants it. */
#include "tests/support/test_fixture.h"

#include <semaphore.h>
#include <unistd.h>

#include "core/device_internal.h"

typedef struct gate {
    sem_t *semaphore;
} gate;

static slc_status wait_at_gate(void *argument) {
    const gate *self = argument;
    while (sem_wait(self->semaphore) != 0) {
    }
    return SLC_OK;
}

/* The stream gets no further until somebody posts. */
static void hold(slc_stream *stream, sem_t *semaphore) {
    const gate argument = {semaphore};
    TEST_OK(slc_stream_call(stream, wait_at_gate, &argument, sizeof argument));
}

typedef struct append {
    int64_t *list;
    int64_t *n;
    int64_t value;
} append;

static slc_status append_value(void *argument) {
    const append *self = argument;
    self->list[(*self->n)++] = self->value;
    return SLC_OK;
}

static void calls_keep_their_order_while_the_queue_grows(void **state) {
    test_fixture self;
    test_fixture_open(*state, &self);
    enum { N = 1000 };
    int64_t *list = test_allocate(N * (int64_t)sizeof *list);
    int64_t n = 0;
    sem_t closed;
    assert_int_equal(sem_init(&closed, 0, 0), 0);
    slc_stream *stream = NULL;
    TEST_OK(slc_stream_create(self.device, &stream));
    hold(stream, &closed);
    for (int64_t i = 0; i < N; i++) {
        const append argument = {list, &n, i};
        TEST_OK(slc_stream_call(stream, append_value, &argument, sizeof argument));
    }
    assert_int_equal(sem_post(&closed), 0);
    TEST_OK(slc_stream_synchronize(stream));
    assert_int_equal(n, N);
    for (int64_t i = 0; i < N; i++) {
        assert_int_equal(list[i], i);
    }
    slc_stream_destroy(stream);
    (void)sem_destroy(&closed);
    free(list);
    test_fixture_close(&self);
}

static slc_status sum_argument(void *argument) {
    int64_t *result = NULL;
    unsigned char *bytes = argument;
    memcpy(&result, bytes, sizeof(int64_t *));
    *result = 0;
    for (int i = (int)sizeof(int64_t *); i < SLCI_CALL_BYTES; i++) {
        *result += bytes[i];
    }
    return SLC_OK;
}

static void arguments_are_copied(void **state) {
    test_fixture self;
    test_fixture_open(*state, &self);
    unsigned char argument[SLCI_CALL_BYTES + 1];
    int64_t sum = -1;
    int64_t *result = &sum;
    slc_stream *stream = NULL;
    TEST_OK(slc_stream_create(self.device, &stream));
    memset(argument, 2, sizeof argument);
    memcpy(argument, &result, sizeof result);
    TEST_OK(slc_stream_call(stream, sum_argument, argument, SLCI_CALL_BYTES));
    memset(argument, 0, sizeof argument);
    TEST_FAILS(slc_stream_call(stream, sum_argument, argument, SLCI_CALL_BYTES + 1),
               SLC_ERROR_ARGUMENT, "1024");
    TEST_OK(slc_stream_synchronize(stream));
    assert_int_equal(sum, 2 * (SLCI_CALL_BYTES - (int64_t)sizeof result));
    slc_stream_destroy(stream);
    test_fixture_close(&self);
}

/* A wait belongs to the record that was the latest when it was enqueued: neither an earlier nor a
 * later one releases or holds it. */
static void a_wait_keeps_its_record(void **state) {
    test_fixture self;
    test_fixture_open(*state, &self);
    sem_t first;
    sem_t second;
    assert_int_equal(sem_init(&first, 0, 0), 0);
    assert_int_equal(sem_init(&second, 0, 0), 0);
    slc_stream *held = NULL;
    slc_stream *idle = NULL;
    slc_stream *waiter = NULL;
    slc_event *event = NULL;
    slc_event *passed = NULL;
    TEST_OK(slc_stream_create(self.device, &held));
    TEST_OK(slc_stream_create(self.device, &idle));
    TEST_OK(slc_stream_create(self.device, &waiter));
    TEST_OK(slc_event_create_timed(self.device, &event));
    TEST_OK(slc_event_create_timed(self.device, &passed));

    hold(held, &first);
    TEST_OK(slc_event_record(event, held));
    TEST_OK(slc_event_wait(waiter, event));
    TEST_OK(slc_event_record(passed, waiter));
    TEST_OK(slc_event_record(event, idle)); /* happens at once; the waiter still waits */
    TEST_OK(slc_event_synchronize(event));
    bool is_done = true;
    (void)usleep(2000);
    TEST_OK(slc_event_query(passed, &is_done));
    assert_false(is_done);

    hold(held, &second);
    TEST_OK(slc_event_record(event, held)); /* later than the wait, so it does not hold it */
    assert_int_equal(sem_post(&first), 0);
    TEST_OK(slc_event_synchronize(passed));
    TEST_OK(slc_event_query(event, &is_done));
    assert_false(is_done);
    int64_t ns = 0;
    TEST_FAILS(slc_event_elapsed(passed, event, &ns), SLC_ERROR_ARGUMENT, "happened");
    assert_int_equal(sem_post(&second), 0);
    TEST_OK(slc_event_synchronize(event));
    TEST_OK(slc_event_elapsed(passed, event, &ns));
    assert_true(ns >= 0);
    slc_stream_destroy(held);
    slc_stream_destroy(idle);
    slc_stream_destroy(waiter);
    slc_event_destroy(event);
    slc_event_destroy(passed);
    (void)sem_destroy(&first);
    (void)sem_destroy(&second);
    test_fixture_close(&self);
}

static void events_and_streams_may_go_while_others_wait(void **state) {
    test_fixture self;
    test_fixture_open(*state, &self);
    for (int round = 0; round < 20; round++) {
        sem_t closed;
        assert_int_equal(sem_init(&closed, 0, 0), 0);
        slc_stream *held = NULL;
        slc_stream *waiter = NULL;
        slc_event *event = NULL;
        TEST_OK(slc_stream_create(self.device, &held));
        TEST_OK(slc_stream_create(self.device, &waiter));
        TEST_OK(slc_event_create(self.device, &event));
        hold(held, &closed);
        TEST_OK(slc_event_record(event, held));
        TEST_OK(slc_event_wait(waiter, event));
        slc_event_destroy(event); /* recorded and waited for, neither of which has happened */
        assert_int_equal(sem_post(&closed), 0);
        slc_stream_destroy(held); /* perhaps before the waiter has looked */
        TEST_OK(slc_stream_synchronize(waiter));
        slc_stream_destroy(waiter);
        (void)sem_destroy(&closed);
    }
    test_fixture_close(&self);
}

static slc_status fail_with_number(void *argument) {
    return SLC_FAIL(SLC_ERROR_INPUT, "call number %d", *(int *)argument);
}

static void the_first_failure_sticks(void **state) {
    test_fixture self;
    test_fixture_open(*state, &self);
    slc_stream *stream = NULL;
    slc_stream *other = NULL;
    slc_event *before = NULL;
    slc_event *after = NULL;
    TEST_OK(slc_stream_create(self.device, &stream));
    TEST_OK(slc_stream_create(self.device, &other));
    TEST_OK(slc_event_create(self.device, &before));
    TEST_OK(slc_event_create(self.device, &after));
    unsigned char byte = 1;
    bool is_done = false;
    TEST_OK(slc_event_record(before, stream));
    TEST_OK(slc_stream_call(stream, fail_with_number, &(int){1}, sizeof(int)));
    TEST_OK(slc_stream_call(stream, fail_with_number, &(int){2}, sizeof(int)));
    TEST_OK(slc_stream_set(stream, &byte, 7, 1));
    TEST_OK(slc_event_record(after, stream));
    TEST_OK(slc_event_wait(other, before));
    TEST_OK(slc_stream_synchronize(other)); /* what came before the failure is good */
    TEST_FAILS(slc_event_synchronize(after), SLC_ERROR_INPUT, "call number 1");
    TEST_FAILS(slc_event_query(after, &is_done), SLC_ERROR_INPUT, "call number 1");
    TEST_FAILS(slc_stream_synchronize(stream), SLC_ERROR_INPUT, "call number 1");
    TEST_FAILS(slc_stream_synchronize(stream), SLC_ERROR_INPUT, "call number 1");
    TEST_OK(slc_event_synchronize(before));
    assert_int_equal(byte, 1); /* later work was passed over */
    /* A stream that waits for it takes the failure over. */
    TEST_OK(slc_event_wait(other, after));
    TEST_OK(slc_stream_set(other, &byte, 7, 1));
    TEST_FAILS(slc_stream_synchronize(other), SLC_ERROR_INPUT, "call number 1");
    assert_int_equal(byte, 1);
    slc_stream_destroy(stream);
    slc_stream_destroy(other);
    slc_event_destroy(before);
    slc_event_destroy(after);
    test_fixture_close(&self);
}

static const test_case cases[] = {
    TEST_CASE(calls_keep_their_order_while_the_queue_grows),
    TEST_CASE(arguments_are_copied),
    TEST_CASE(a_wait_keeps_its_record),
    TEST_CASE(events_and_streams_may_go_while_others_wait),
    TEST_CASE(the_first_failure_sticks),
};

int main(void) {
    return test_run_everywhere(cases, TEST_COUNT(cases), TEST_ON_HOST);
}
