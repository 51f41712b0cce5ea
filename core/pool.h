/* A fixed pool of worker threads for decoding, host kernels and encoding.
 * Tasks run in the order they were submitted and never wait for each other; whoever needs a result
 * waits outside the pool, on a group. The pool is the only place where `--threads` is spent.
 *
 *     slc_pool *pool;
 *     SLC_TRY(slc_pool_create(8, &pool));
 *     SLC_TRY(slc_pool_for(pool, n_tiles, image_one_tile, &context));   // returns when all are done
 */
#ifndef SLC_CORE_POOL_H
#define SLC_CORE_POOL_H

#include <stdint.h>

#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slc_pool slc_pool;

/* One task. A failure is kept (the first one wins) and reported by the wait. */
typedef slc_status (*slc_task)(void *argument);

/* One index of a parallel loop. `worker` is in [0, slc_pool_size): no two calls that run at the same
 * time within one loop share it, so it selects scratch memory. */
typedef slc_status (*slc_loop_body)(void *context, int64_t index, int worker);

/* A set of tasks that one waiter waits for. Owned by the waiter. */
typedef struct slc_task_group slc_task_group;

/* Starts `n_threads` >= 1 threads. SLC_ERROR_ARGUMENT, SLC_ERROR_MEMORY. */
SLC_API SLC_MUST_USE slc_status slc_pool_create(int n_threads, slc_pool **out);

/* Finishes what is queued, then joins. Takes NULL. */
SLC_API void slc_pool_destroy(slc_pool *pool);

SLC_API int slc_pool_size(const slc_pool *pool);

/* Which of its pool's threads the calling thread is, from 0; -1 for a thread of no pool. */
SLC_API int slc_pool_thread_index(void);

/* Queues one task; `argument` must live until it has run. `group` may be NULL for fire and forget,
 * else the task is counted in it. Allocates nothing in the steady state (the queue grows by
 * doubling). SLC_ERROR_MEMORY. Thread-safe. */
SLC_API SLC_MUST_USE slc_status slc_pool_submit(slc_pool *pool, slc_task_group *group,
                                                slc_task task, void *argument);

/* The same for a task that takes less time than it takes to wake a thread: none is woken for it
 * while one is awake and looks for work. */
SLC_API SLC_MUST_USE slc_status slc_pool_submit_short(slc_pool *pool, slc_task_group *group,
                                                      slc_task task, void *argument);

SLC_API SLC_MUST_USE slc_status slc_task_group_create(slc_task_group **out);
SLC_API void slc_task_group_destroy(slc_task_group *group);

/* Waits until every task of the group has run; returns the first failure and its message, and leaves
 * the group empty and reusable. Never call it from a task. */
SLC_API SLC_MUST_USE slc_status slc_task_group_wait(slc_task_group *group);

/* Runs body(context, 0 … n-1, worker) on all threads and returns when all have run; after a failure
 * the indices not yet begun are skipped and the first failure is returned. Never call it from a
 * task. Several threads may run loops on one pool at the same time; they take turns. */
SLC_API SLC_MUST_USE slc_status slc_pool_for(slc_pool *pool, int64_t n, slc_loop_body body,
                                             void *context);

#ifdef __cplusplus
}
#endif
#endif
