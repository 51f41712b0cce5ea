/* A bounded first-in first-out queue of pointers between threads.
 * Push waits while it is full, pop while it is empty; close wakes everyone.
 *
 *     slc_queue_push(queue, slot);                       // producer
 *     while (slc_queue_pop(queue, &item)) { use(item); } // consumer, until closed and empty
 */
#ifndef SLC_CORE_QUEUE_H
#define SLC_CORE_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slc_queue slc_queue;

/* Room for `capacity` >= 1 pointers. SLC_ERROR_ARGUMENT, SLC_ERROR_MEMORY. */
SLC_API SLC_MUST_USE slc_status slc_queue_create(int64_t capacity, slc_queue **out);
SLC_API void slc_queue_destroy(slc_queue *queue);

/* False when the queue was closed; the item was not taken then. */
SLC_API bool slc_queue_push(slc_queue *queue, void *item);

/* False when the queue is closed and empty. */
SLC_API bool slc_queue_pop(slc_queue *queue, void **item);

/* As pop, but false at once when the queue is empty. */
SLC_API bool slc_queue_try_pop(slc_queue *queue, void **item);

/* No more pushes; what is queued can still be popped. */
SLC_API void slc_queue_close(slc_queue *queue);

#ifdef __cplusplus
}
#endif
#endif
