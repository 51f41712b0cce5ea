#include "tests/support/test_support.h"

#include <pthread.h>

#include "core/queue.h"

static void first_in_first_out(void **state) {
    (void)state;
    slc_queue *queue = NULL;
    TEST_OK(slc_queue_create(3, &queue));
    int items[10];
    void *item = NULL;
    for (int i = 0; i < 10; i++) {
        assert_true(slc_queue_push(queue, &items[i]));
        if (i >= 2) {
            assert_true(slc_queue_pop(queue, &item));
            assert_ptr_equal(item, &items[i - 2]);
        }
    }
    slc_queue_close(queue);
    assert_false(slc_queue_push(queue, &items[0]));
    assert_true(slc_queue_pop(queue, &item));
    assert_true(slc_queue_pop(queue, &item));
    assert_ptr_equal(item, &items[9]);
    assert_false(slc_queue_pop(queue, &item));
    slc_queue_destroy(queue);
    slc_queue_destroy(NULL);
}

static void a_queue_needs_room(void **state) {
    (void)state;
    slc_queue *queue = NULL;
    TEST_FAILS(slc_queue_create(0, &queue), SLC_ERROR_ARGUMENT, "capacity 0");
    TEST_FAILS(slc_queue_create(INT64_MAX, &queue), SLC_ERROR_ARGUMENT, "capacity");
    assert_null(queue);
}

typedef struct consumer {
    slc_queue *queue;
    int64_t n;
    int64_t sum;
} consumer;

static void *consume(void *argument) {
    consumer *self = argument;
    void *item = NULL;
    while (slc_queue_pop(self->queue, &item)) {
        self->n++;
        self->sum += *(const int64_t *)item;
    }
    return NULL;
}

static void nothing_is_lost_between_threads(void **state) {
    (void)state;
    enum { N = 5000, N_CONSUMERS = 3 };
    static int64_t numbers[N];
    slc_queue *queue = NULL;
    TEST_OK(slc_queue_create(2, &queue));
    consumer consumers[N_CONSUMERS] = {{0}};
    pthread_t threads[N_CONSUMERS];
    for (int i = 0; i < N_CONSUMERS; i++) {
        consumers[i].queue = queue;
        assert_int_equal(pthread_create(&threads[i], NULL, consume, &consumers[i]), 0);
    }
    for (int i = 0; i < N; i++) {
        numbers[i] = i;
        assert_true(slc_queue_push(queue, &numbers[i]));
    }
    slc_queue_close(queue);
    int64_t n = 0;
    int64_t sum = 0;
    for (int i = 0; i < N_CONSUMERS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        n += consumers[i].n;
        sum += consumers[i].sum;
    }
    assert_int_equal(n, N);
    assert_int_equal(sum, (int64_t)N * (N - 1) / 2);
    slc_queue_destroy(queue);
}

static void *push_one_more(void *queue) {
    return slc_queue_push(queue, queue) ? queue : NULL;
}

static void close_wakes_a_waiting_producer(void **state) {
    (void)state;
    slc_queue *queue = NULL;
    TEST_OK(slc_queue_create(1, &queue));
    assert_true(slc_queue_push(queue, queue));
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, push_one_more, queue), 0);
    slc_queue_close(queue);
    void *result = queue;
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_null(result);
    slc_queue_destroy(queue);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_in_first_out),
        cmocka_unit_test(a_queue_needs_room),
        cmocka_unit_test(nothing_is_lost_between_threads),
        cmocka_unit_test(close_wakes_a_waiting_producer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
