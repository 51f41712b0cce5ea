#include "core/queue.h"

#include <pthread.h>
#include <stdlib.h>

#include "core/checked.h"
#include "core/spin.h"

struct slc_queue {
    pthread_mutex_t mutex;
    pthread_cond_t has_item;
    pthread_cond_t has_room;
    void **items; /* ring of [capacity]; `count` items from `head` on */
    int64_t capacity;
    int64_t head;
    int64_t count;
    bool is_closed;
};

slc_status slc_queue_create(int64_t capacity, slc_queue **out) {
    int64_t bytes = 0;
    if (capacity < 1 || !slc_checked_mul(capacity, (int64_t)sizeof(void *), &bytes)) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "queue: capacity %lld, expected 1 or more",
                        (long long)capacity);
    }
    slc_queue *queue = calloc(1, sizeof *queue);
    if (queue == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "queue: no memory for a queue");
    }
    queue->items = malloc((size_t)bytes);
    if (queue->items == NULL) {
        free(queue);
        return SLC_FAIL(SLC_ERROR_MEMORY, "queue: no memory for %lld items", (long long)capacity);
    }
    queue->capacity = capacity;
    (void)pthread_mutex_init(&queue->mutex, NULL);
    (void)pthread_cond_init(&queue->has_item, NULL);
    (void)pthread_cond_init(&queue->has_room, NULL);
    *out = queue;
    return SLC_OK;
}

void slc_queue_destroy(slc_queue *queue) {
    if (queue == NULL) {
        return;
    }
    (void)pthread_cond_destroy(&queue->has_room);
    (void)pthread_cond_destroy(&queue->has_item);
    (void)pthread_mutex_destroy(&queue->mutex);
    free(queue->items);
    free(queue);
}

bool slc_queue_push(slc_queue *queue, void *item) {
    (void)pthread_mutex_lock(&queue->mutex);
    while (queue->count == queue->capacity && !queue->is_closed) {
        (void)pthread_cond_wait(&queue->has_room, &queue->mutex);
    }
    const bool is_taken = !queue->is_closed;
    if (is_taken) {
        queue->items[(queue->head + queue->count) % queue->capacity] = item;
        queue->count++;
        (void)pthread_cond_signal(&queue->has_item);
    }
    (void)pthread_mutex_unlock(&queue->mutex);
    return is_taken;
}

/* Called with the mutex held. */
static bool take(slc_queue *queue, void **item) {
    if (queue->count == 0) {
        return false;
    }
    *item = queue->items[queue->head];
    queue->head = (queue->head + 1) % queue->capacity;
    queue->count--;
    (void)pthread_cond_signal(&queue->has_room);
    return true;
}

bool slc_queue_pop(slc_queue *queue, void **item) {
    (void)pthread_mutex_lock(&queue->mutex);
    slci_spin spin = {0};
    while (queue->count == 0 && !queue->is_closed) {
        if (!slci_spin_once(&spin, &queue->mutex)) {
            (void)pthread_cond_wait(&queue->has_item, &queue->mutex);
        }
    }
    const bool has_item = take(queue, item);
    (void)pthread_mutex_unlock(&queue->mutex);
    return has_item;
}

bool slc_queue_try_pop(slc_queue *queue, void **item) {
    (void)pthread_mutex_lock(&queue->mutex);
    const bool has_item = take(queue, item);
    (void)pthread_mutex_unlock(&queue->mutex);
    return has_item;
}

void slc_queue_close(slc_queue *queue) {
    (void)pthread_mutex_lock(&queue->mutex);
    queue->is_closed = true;
    (void)pthread_cond_broadcast(&queue->has_item);
    (void)pthread_cond_broadcast(&queue->has_room);
    (void)pthread_mutex_unlock(&queue->mutex);
}
