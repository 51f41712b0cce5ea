/* A fixed set of threads and one first-in first-out queue under one mutex.
 *
 * An entry of the queue is a task or a loop. A task leaves the queue when a thread takes it. A loop
 * stays at the head and every thread that comes by joins it, until it has as many workers as it can
 * use or no index is left:
 *
 *     queue:  head -> [loop A][task][task][loop B] <- tail
 *                       ^ joined by each idle thread; removed by the last one that can join,
 *                         or by the first one that finds no index left
 *
 * A thread joins a loop only at the head, and entries leave only from the head. So a loop that has
 * begun and is still queued is at the head, and can be removed without a search. The loop itself
 * lies on the stack of the thread that called slc_pool_for, which leaves only when the loop is
 * out of the queue and its last worker is gone. Nothing in the pool waits for anything else in
 * it, so whatever is queued before a loop ends without it. */
#include "core/pool.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "core/checked.h"
#include "core/spin.h"
#include "core/thread.h"

/* Entries at the start; a run queues a few per slot, so it rarely grows. */
#define FIRST_CAPACITY 64

/* Idle threads that look for work a moment longer before they sleep; the others sleep at once. */
#define MOST_SPINNING 2

struct slc_task_group {
    pthread_mutex_t mutex;
    pthread_cond_t is_empty;
    int64_t n_pending;
    slc_failure first;
};

typedef struct loop {
    slc_loop_body body;
    void *context;
    int64_t n;
    atomic_int_least64_t next; /* the first index not yet begun; n or more: none is left */
    /* The rest is guarded by the pool's mutex. */
    int n_workers_wanted;
    int n_joined;
    int n_running;
    bool is_queued;
    pthread_cond_t is_done;
    slc_failure first;
} loop;

/* A task, or a loop where `loop` is not NULL. */
typedef struct entry {
    loop *loop;
    slc_task task;
    void *argument;
    slc_task_group *group;
} entry;

struct slc_pool {
    pthread_mutex_t mutex;
    pthread_cond_t has_work;
    entry *queue; /* ring of [capacity]; n_queued entries from `head` on */
    int64_t capacity;
    int64_t head;
    int64_t n_queued;
    int n_spinning;
    bool is_stopping;
    int n_threads;
    int n_numbered;     /* threads that have their number */
    pthread_t *threads; /* [n_threads] */
};

/* A thread belongs to one pool for its whole life. */
static _Thread_local int thread_index = -1;

/* --- the queue; all under the pool's mutex --- */

static slc_status queue_grow(slc_pool *pool) {
    int64_t capacity = FIRST_CAPACITY;
    int64_t bytes = 0;
    if ((pool->capacity > 0 && !slc_checked_mul(pool->capacity, 2, &capacity)) ||
        !slc_checked_mul(capacity, (int64_t)sizeof(entry), &bytes)) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "pool: %lld queued tasks cannot be doubled",
                        (long long)pool->capacity);
    }
    entry *queue = malloc((size_t)bytes);
    if (queue == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "pool: no memory for a queue of %lld tasks",
                        (long long)capacity);
    }
    for (int64_t i = 0; i < pool->n_queued; i++) {
        queue[i] = pool->queue[(pool->head + i) % pool->capacity];
    }
    free(pool->queue);
    pool->queue = queue;
    pool->capacity = capacity;
    pool->head = 0;
    return SLC_OK;
}

static slc_status queue_push(slc_pool *pool, const entry *item) {
    if (pool->n_queued == pool->capacity) {
        SLC_TRY(queue_grow(pool));
    }
    pool->queue[(pool->head + pool->n_queued) % pool->capacity] = *item;
    pool->n_queued++;
    return SLC_OK;
}

static void queue_drop_head(slc_pool *pool) {
    assert(pool->n_queued > 0);
    pool->head = (pool->head + 1) % pool->capacity;
    pool->n_queued--;
}

/* --- what a thread does --- */

static void group_end_task(slc_task_group *group, slc_status status) {
    (void)pthread_mutex_lock(&group->mutex);
    if (status != SLC_OK && group->first.status == SLC_OK) {
        slc_status_capture(status, &group->first);
    }
    group->n_pending--;
    if (group->n_pending == 0) {
        (void)pthread_cond_broadcast(&group->is_empty);
    }
    (void)pthread_mutex_unlock(&group->mutex);
}

static void run_task(const entry *item) {
    const slc_status status = item->task(item->argument);
    if (item->group != NULL) {
        group_end_task(item->group, status);
    }
}

/* Called and returns with the mutex held; `work` is at the head of the queue. */
static void run_loop(slc_pool *pool, loop *work) {
    const int worker = work->n_joined++;
    work->n_running++;
    if (work->n_joined == work->n_workers_wanted) {
        queue_drop_head(pool);
        work->is_queued = false;
    }
    (void)pthread_mutex_unlock(&pool->mutex);

    slc_status status = SLC_OK;
    int64_t index = atomic_fetch_add(&work->next, 1);
    while (index < work->n && status == SLC_OK) {
        status = work->body(work->context, index, worker);
        index = atomic_fetch_add(&work->next, 1);
    }
    if (status != SLC_OK) {
        atomic_store(&work->next, work->n);
    }

    (void)pthread_mutex_lock(&pool->mutex);
    if (status != SLC_OK && work->first.status == SLC_OK) {
        slc_status_capture(status, &work->first);
    }
    if (work->is_queued) {
        assert(pool->queue[pool->head].loop == work);
        queue_drop_head(pool);
        work->is_queued = false;
    }
    work->n_running--;
    if (work->n_running == 0) {
        (void)pthread_cond_signal(&work->is_done);
    }
}

/* Called and returns with the mutex held. */
static void wait_for_work(slc_pool *pool) {
    slci_spin spin = {0};
    const bool may_spin = pool->n_spinning < MOST_SPINNING;
    pool->n_spinning += may_spin ? 1 : 0;
    while (may_spin && pool->n_queued == 0 && !pool->is_stopping &&
           slci_spin_once(&spin, &pool->mutex)) {
    }
    pool->n_spinning -= may_spin ? 1 : 0;
    while (pool->n_queued == 0 && !pool->is_stopping) {
        (void)pthread_cond_wait(&pool->has_work, &pool->mutex);
    }
}

static void *thread_main(void *argument) {
    slc_pool *pool = argument;
    (void)pthread_mutex_lock(&pool->mutex);
    thread_index = pool->n_numbered++;
    for (;;) {
        wait_for_work(pool);
        if (pool->n_queued == 0) {
            break;
        }
        const entry item = pool->queue[pool->head];
        if (item.loop != NULL) {
            run_loop(pool, item.loop);
            continue;
        }
        queue_drop_head(pool);
        if (pool->n_queued > 0 && pool->n_spinning == 0) {
            (void)pthread_cond_signal(&pool->has_work); /* see submit */
        }
        (void)pthread_mutex_unlock(&pool->mutex);
        run_task(&item);
        (void)pthread_mutex_lock(&pool->mutex);
    }
    (void)pthread_mutex_unlock(&pool->mutex);
    return NULL;
}

/* --- the pool --- */

/* Starts threads with all signals blocked, so that an interrupt reaches a thread of the program and
 * never cuts a read short. Returns how many could be started. */
static int start_threads(slc_pool *pool, int n_threads) {
    sigset_t all;
    sigset_t before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    int n_started = 0;
    while (n_started < n_threads &&
           slci_thread_start(&pool->threads[n_started], thread_main, pool) == 0) {
        n_started++;
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return n_started;
}

slc_status slc_pool_create(int n_threads, slc_pool **out) {
    if (n_threads < 1) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "pool: %d threads, expected 1 or more", n_threads);
    }
    slc_pool *pool = calloc(1, sizeof *pool);
    if (pool == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "pool: no memory for %d threads", n_threads);
    }
    (void)pthread_mutex_init(&pool->mutex, NULL);
    (void)pthread_cond_init(&pool->has_work, NULL);
    pool->threads = calloc((size_t)n_threads, sizeof *pool->threads);
    slc_status status = SLC_OK;
    if (pool->threads == NULL) {
        status = SLC_FAIL(SLC_ERROR_MEMORY, "pool: no memory for %d threads", n_threads);
        goto failed;
    }
    SLC_TRY_GOTO(failed, queue_grow(pool));
    pool->n_threads = start_threads(pool, n_threads);
    if (pool->n_threads < n_threads) {
        status = SLC_FAIL(SLC_ERROR_MEMORY,
                          "pool: the system started %d of %d threads; fewer (--threads) would help",
                          pool->n_threads, n_threads);
        goto failed;
    }
    *out = pool;
    return SLC_OK;
failed:
    slc_pool_destroy(pool);
    return status;
}

void slc_pool_destroy(slc_pool *pool) {
    if (pool == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&pool->mutex);
    pool->is_stopping = true;
    (void)pthread_cond_broadcast(&pool->has_work);
    (void)pthread_mutex_unlock(&pool->mutex);
    for (int i = 0; i < pool->n_threads; i++) {
        (void)pthread_join(pool->threads[i], NULL);
    }
    (void)pthread_cond_destroy(&pool->has_work);
    (void)pthread_mutex_destroy(&pool->mutex);
    free(pool->threads);
    free(pool->queue);
    free(pool);
}

int slc_pool_size(const slc_pool *pool) {
    return pool->n_threads;
}

int slc_pool_thread_index(void) {
    return thread_index;
}

static slc_status submit(slc_pool *pool, const entry *item, bool is_short) {
    slc_task_group *group = item->group;
    if (group != NULL) {
        (void)pthread_mutex_lock(&group->mutex);
        group->n_pending++;
        (void)pthread_mutex_unlock(&group->mutex);
    }
    (void)pthread_mutex_lock(&pool->mutex);
    assert(!pool->is_stopping);
    const slc_status status = queue_push(pool, item);
    /* Those who look again need no call. Whoever takes a task calls another for the rest, if nobody is
     * left who looks. */
    const bool is_seen = is_short ? pool->n_spinning > 0 : pool->n_queued <= pool->n_spinning;
    if (status == SLC_OK && !is_seen) {
        (void)pthread_cond_signal(&pool->has_work);
    }
    (void)pthread_mutex_unlock(&pool->mutex);
    if (status != SLC_OK && group != NULL) {
        /* The task never existed: it is no failure of the group, the caller has it. */
        group_end_task(group, SLC_OK);
    }
    return status;
}

slc_status slc_pool_submit(slc_pool *pool, slc_task_group *group, slc_task task, void *argument) {
    const entry item = {.task = task, .argument = argument, .group = group};
    return submit(pool, &item, false);
}

slc_status slc_pool_submit_short(slc_pool *pool, slc_task_group *group, slc_task task,
                                 void *argument) {
    const entry item = {.task = task, .argument = argument, .group = group};
    return submit(pool, &item, true);
}

slc_status slc_pool_for(slc_pool *pool, int64_t n, slc_loop_body body, void *context) {
    if (n < 0) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "pool: a loop of %lld indices", (long long)n);
    }
    if (n == 0) {
        return SLC_OK;
    }
    loop work = {.body = body, .context = context, .n = n};
    work.n_workers_wanted = (int)slc_min_i64(n, pool->n_threads);
    atomic_init(&work.next, 0);
    (void)pthread_cond_init(&work.is_done, NULL);
    const entry item = {.loop = &work};

    (void)pthread_mutex_lock(&pool->mutex);
    assert(!pool->is_stopping);
    const slc_status status = queue_push(pool, &item);
    if (status == SLC_OK) {
        work.is_queued = true;
        (void)pthread_cond_broadcast(&pool->has_work);
        while (work.is_queued || work.n_running > 0) {
            (void)pthread_cond_wait(&work.is_done, &pool->mutex);
        }
    }
    (void)pthread_mutex_unlock(&pool->mutex);
    (void)pthread_cond_destroy(&work.is_done);
    if (status != SLC_OK) {
        return status;
    }
    return work.first.status == SLC_OK ? SLC_OK : slc_status_restore(&work.first);
}

/* --- groups --- */

slc_status slc_task_group_create(slc_task_group **out) {
    slc_task_group *group = calloc(1, sizeof *group);
    if (group == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "pool: no memory for a group of tasks");
    }
    (void)pthread_mutex_init(&group->mutex, NULL);
    (void)pthread_cond_init(&group->is_empty, NULL);
    *out = group;
    return SLC_OK;
}

void slc_task_group_destroy(slc_task_group *group) {
    if (group == NULL) {
        return;
    }
    assert(group->n_pending == 0);
    (void)pthread_cond_destroy(&group->is_empty);
    (void)pthread_mutex_destroy(&group->mutex);
    free(group);
}

slc_status slc_task_group_wait(slc_task_group *group) {
    (void)pthread_mutex_lock(&group->mutex);
    while (group->n_pending > 0) {
        (void)pthread_cond_wait(&group->is_empty, &group->mutex);
    }
    const slc_failure first = group->first;
    group->first.status = SLC_OK;
    (void)pthread_mutex_unlock(&group->mutex);
    return first.status == SLC_OK ? SLC_OK : slc_status_restore(&first);
}
