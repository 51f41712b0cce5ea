#include "tests/support/test_support.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "core/pool.h"

enum { MAX_THREADS = 8 };

/* --- loops --- */

typedef struct loop_record {
    int n_threads;
    int64_t n;
    atomic_int *n_calls;               /* [n] */
    atomic_int is_active[MAX_THREADS]; /* whether this worker number is in use */
    atomic_int n_bad;
    int64_t fail_at; /* the index that fails, or -1 */
} loop_record;

static slc_status record_call(void *context, int64_t index, int worker) {
    loop_record *record = context;
    if (worker < 0 || worker >= record->n_threads || index < 0 || index >= record->n) {
        atomic_fetch_add(&record->n_bad, 1);
        return SLC_OK;
    }
    if (atomic_exchange(&record->is_active[worker], 1) != 0) {
        atomic_fetch_add(&record->n_bad, 1);
    }
    atomic_fetch_add(&record->n_calls[index], 1);
    atomic_store(&record->is_active[worker], 0);
    return index == record->fail_at ? SLC_FAIL(SLC_ERROR_DEVICE, "index %lld", (long long)index)
                                    : SLC_OK;
}

/* One loop in which every index is to be run once, by workers that never share a number. */
static void run_and_check_loop(slc_pool *pool, int64_t n) {
    loop_record record = {.n_threads = slc_pool_size(pool), .n = n, .fail_at = -1};
    record.n_calls = calloc((size_t)n + 1, sizeof *record.n_calls);
    assert_non_null(record.n_calls);
    TEST_OK(slc_pool_for(pool, n, record_call, &record));
    assert_int_equal(atomic_load(&record.n_bad), 0);
    for (int64_t i = 0; i < n; i++) {
        assert_int_equal(atomic_load(&record.n_calls[i]), 1);
    }
    free(record.n_calls);
}

static void a_loop_runs_every_index_once(void **state) {
    (void)state;
    const int n_threads[] = {1, 2, 5};
    const int64_t n[] = {0, 1, 2, 3, 1000};
    for (int64_t t = 0; t < TEST_COUNT(n_threads); t++) {
        slc_pool *pool = NULL;
        TEST_OK(slc_pool_create(n_threads[t], &pool));
        assert_int_equal(slc_pool_size(pool), n_threads[t]);
        for (int64_t i = 0; i < TEST_COUNT(n); i++) {
            run_and_check_loop(pool, n[i]);
        }
        TEST_FAILS(slc_pool_for(pool, -1, record_call, NULL), SLC_ERROR_ARGUMENT, "-1");
        slc_pool_destroy(pool);
    }
}

static void a_failure_ends_the_loop_and_is_reported(void **state) {
    (void)state;
    slc_pool *pool = NULL;
    TEST_OK(slc_pool_create(3, &pool));
    enum { N = 100000 };
    loop_record record = {.n_threads = 3, .n = N, .fail_at = 10};
    record.n_calls = calloc(N, sizeof *record.n_calls);
    assert_non_null(record.n_calls);
    TEST_FAILS(slc_pool_for(pool, N, record_call, &record), SLC_ERROR_DEVICE, "index 10");
    for (int64_t i = 0; i < N; i++) {
        assert_true(atomic_load(&record.n_calls[i]) <= 1);
    }
    free(record.n_calls);
    run_and_check_loop(pool, 100);

    /* On one thread the order is known: nothing past the failure runs. */
    slc_pool *single = NULL;
    TEST_OK(slc_pool_create(1, &single));
    loop_record short_record = {.n_threads = 1, .n = 20, .fail_at = 10};
    short_record.n_calls = calloc(20, sizeof *short_record.n_calls);
    assert_non_null(short_record.n_calls);
    TEST_FAILS(slc_pool_for(single, 20, record_call, &short_record), SLC_ERROR_DEVICE, "index 10");
    for (int i = 0; i < 20; i++) {
        assert_int_equal(atomic_load(&short_record.n_calls[i]), i <= 10);
    }
    free(short_record.n_calls);
    slc_pool_destroy(single);
    slc_pool_destroy(pool);
}

/* --- tasks --- */

typedef struct order_record {
    int order[1000];
    int n;
} order_record;

typedef struct order_task {
    order_record *record;
    int number;
} order_task;

static slc_status append_number(void *argument) {
    const order_task *task = argument;
    task->record->order[task->record->n++] = task->number;
    return SLC_OK;
}

static void tasks_run_in_order_and_destroy_finishes_them(void **state) {
    (void)state;
    enum { N = 1000 }; /* well past the first capacity of the queue */
    static order_task tasks[N];
    static order_record record;
    record.n = 0;
    slc_pool *pool = NULL;
    TEST_OK(slc_pool_create(1, &pool));
    for (int i = 0; i < N; i++) {
        tasks[i].record = &record;
        tasks[i].number = i;
        TEST_OK(slc_pool_submit(pool, NULL, append_number, &tasks[i]));
    }
    slc_pool_destroy(pool);
    assert_int_equal(record.n, N);
    for (int i = 0; i < N; i++) {
        assert_int_equal(record.order[i], i);
    }
}

typedef struct counted_task {
    atomic_int *n_run;
    int fails;
} counted_task;

static slc_status count_or_fail(void *argument) {
    const counted_task *task = argument;
    atomic_fetch_add(task->n_run, 1);
    return task->fails ? SLC_FAIL(SLC_ERROR_INPUT, "chunk %d is damaged", task->fails) : SLC_OK;
}

static void a_group_reports_its_failure_and_can_be_used_again(void **state) {
    (void)state;
    slc_pool *pool = NULL;
    slc_task_group *group = NULL;
    TEST_OK(slc_pool_create(4, &pool));
    TEST_OK(slc_task_group_create(&group));
    TEST_OK(slc_task_group_wait(group));
    atomic_int n_run = 0;
    counted_task good = {.n_run = &n_run};
    counted_task bad = {.n_run = &n_run, .fails = 7};
    for (int i = 0; i < 300; i++) {
        TEST_OK(slc_pool_submit(pool, group, count_or_fail, i == 200 ? &bad : &good));
    }
    TEST_FAILS(slc_task_group_wait(group), SLC_ERROR_INPUT, "chunk 7 is damaged");
    assert_int_equal(atomic_load(&n_run), 300);
    for (int i = 0; i < 10; i++) {
        TEST_OK(slc_pool_submit(pool, group, count_or_fail, &good));
    }
    TEST_OK(slc_task_group_wait(group));
    assert_int_equal(atomic_load(&n_run), 310);
    slc_task_group_destroy(group);
    slc_pool_destroy(pool);
}

/* --- loops beside tasks and other loops --- */

static slc_status wait_for_semaphore(void *argument) {
    while (sem_wait(argument) != 0) {
    }
    return SLC_OK;
}

static void a_loop_ends_although_another_thread_is_busy(void **state) {
    (void)state;
    slc_pool *pool = NULL;
    slc_task_group *group = NULL;
    sem_t release;
    assert_int_equal(sem_init(&release, 0, 0), 0);
    TEST_OK(slc_pool_create(2, &pool));
    TEST_OK(slc_task_group_create(&group));
    TEST_OK(slc_pool_submit(pool, group, wait_for_semaphore, &release));
    /* Were the loop to wait for a thread that it does not need, this would never return. */
    run_and_check_loop(pool, 100);
    run_and_check_loop(pool, 1);
    assert_int_equal(sem_post(&release), 0);
    TEST_OK(slc_task_group_wait(group));
    slc_task_group_destroy(group);
    slc_pool_destroy(pool);
    (void)sem_destroy(&release);
}

static void *run_many_loops(void *argument) {
    for (int i = 0; i < 200; i++) {
        run_and_check_loop(argument, 1 + i % 40);
    }
    return NULL;
}

static void many_threads_run_loops_while_tasks_are_queued(void **state) {
    (void)state;
    enum { N_CALLERS = 4, N_TASKS = 2000 };
    slc_pool *pool = NULL;
    slc_task_group *group = NULL;
    TEST_OK(slc_pool_create(3, &pool));
    TEST_OK(slc_task_group_create(&group));
    pthread_t callers[N_CALLERS];
    for (int i = 0; i < N_CALLERS; i++) {
        assert_int_equal(pthread_create(&callers[i], NULL, run_many_loops, pool), 0);
    }
    atomic_int n_run = 0;
    counted_task task = {.n_run = &n_run};
    for (int i = 0; i < N_TASKS; i++) {
        TEST_OK(slc_pool_submit(pool, group, count_or_fail, &task));
    }
    for (int i = 0; i < N_CALLERS; i++) {
        assert_int_equal(pthread_join(callers[i], NULL), 0);
    }
    TEST_OK(slc_task_group_wait(group));
    assert_int_equal(atomic_load(&n_run), N_TASKS);
    slc_task_group_destroy(group);
    slc_pool_destroy(pool);
}

#define N_INDEXED 3

/* Stays in the pool until every thread of it is in here, so that each runs one task. */
typedef struct indexed {
    pthread_barrier_t all_here;
    atomic_int n_seen[N_INDEXED];
} indexed;

static slc_status note_index(void *argument) {
    indexed *self = argument;
    (void)pthread_barrier_wait(&self->all_here);
    const int index = slc_pool_thread_index();
    if (index < 0 || index >= N_INDEXED) {
        return SLC_FAIL(SLC_ERROR_INTERNAL, "index %d", index);
    }
    (void)atomic_fetch_add(&self->n_seen[index], 1);
    return SLC_OK;
}

static void threads_have_their_numbers(void **state) {
    (void)state;
    indexed self;
    slc_pool *pool = NULL;
    slc_task_group *group = NULL;
    assert_int_equal(pthread_barrier_init(&self.all_here, NULL, N_INDEXED), 0);
    TEST_OK(slc_pool_create(N_INDEXED, &pool));
    TEST_OK(slc_task_group_create(&group));
    for (int i = 0; i < N_INDEXED; i++) {
        atomic_init(&self.n_seen[i], 0);
    }
    for (int i = 0; i < N_INDEXED; i++) {
        TEST_OK(slc_pool_submit(pool, group, note_index, &self));
    }
    TEST_OK(slc_task_group_wait(group));
    for (int i = 0; i < N_INDEXED; i++) {
        assert_int_equal(atomic_load(&self.n_seen[i]), 1);
    }
    assert_int_equal(slc_pool_thread_index(), -1);
    slc_task_group_destroy(group);
    slc_pool_destroy(pool);
    (void)pthread_barrier_destroy(&self.all_here);
}

static void a_pool_needs_a_thread(void **state) {
    (void)state;
    slc_pool *pool = NULL;
    TEST_FAILS(slc_pool_create(0, &pool), SLC_ERROR_ARGUMENT, "0 threads");
    assert_null(pool);
    slc_pool_destroy(NULL);
    slc_task_group_destroy(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loop_runs_every_index_once),
        cmocka_unit_test(a_failure_ends_the_loop_and_is_reported),
        cmocka_unit_test(tasks_run_in_order_and_destroy_finishes_them),
        cmocka_unit_test(a_group_reports_its_failure_and_can_be_used_again),
        cmocka_unit_test(a_loop_ends_although_another_thread_is_busy),
        cmocka_unit_test(many_threads_run_loops_while_tasks_are_queued),
        cmocka_unit_test(threads_have_their_numbers),
        cmocka_unit_test(a_pool_needs_a_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
