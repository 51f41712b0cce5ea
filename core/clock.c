#include "core/clock.h"

#include <assert.h>
#include <time.h>

int64_t slc_clock_ns(void) {
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * SLC_NS_PER_S + now.tv_nsec;
}

void slc_busy_init(slc_busy *busy) {
    (void)pthread_mutex_init(&busy->mutex, NULL);
    busy->active = 0;
    busy->since_ns = 0;
    busy->total_ns = 0;
}

void slc_busy_destroy(slc_busy *busy) {
    (void)pthread_mutex_destroy(&busy->mutex);
}

void slc_busy_begin(slc_busy *busy) {
    (void)pthread_mutex_lock(&busy->mutex);
    if (busy->active == 0) {
        /* Read under the lock, so that it cannot lie before the end of the last interval. */
        busy->since_ns = slc_clock_ns();
    }
    busy->active++;
    (void)pthread_mutex_unlock(&busy->mutex);
}

void slc_busy_end(slc_busy *busy) {
    (void)pthread_mutex_lock(&busy->mutex);
    assert(busy->active > 0);
    busy->active--;
    if (busy->active == 0) {
        busy->total_ns += slc_clock_ns() - busy->since_ns;
    }
    (void)pthread_mutex_unlock(&busy->mutex);
}

int64_t slc_busy_ns(slc_busy *busy) {
    (void)pthread_mutex_lock(&busy->mutex);
    const int64_t open_ns = busy->active > 0 ? slc_clock_ns() - busy->since_ns : 0;
    const int64_t total_ns = busy->total_ns + open_ns;
    (void)pthread_mutex_unlock(&busy->mutex);
    return total_ns;
}
