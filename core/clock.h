/* Monotonic time in nanoseconds, and the busy time of a stage that several threads share.
 *
 *     slc_busy_begin(&busy);  ... work ...  slc_busy_end(&busy);
 *     int64_t ns = slc_busy_ns(&busy);     // the union of all such intervals
 */
#ifndef SLC_CORE_CLOCK_H
#define SLC_CORE_CLOCK_H

#include <pthread.h>
#include <stdint.h>

#include "core/api.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SLC_NS_PER_S 1000000000

/* Nanoseconds since an arbitrary, fixed moment; the clock is CLOCK_MONOTONIC. */
SLC_API int64_t slc_clock_ns(void);

/* The union of the intervals in which at least one thread was between begin and end. The caller owns
 * it; init fills it, destroy frees its mutex. Thread-safe. */
typedef struct slc_busy {
    pthread_mutex_t mutex;
    int64_t active;
    int64_t since_ns;
    int64_t total_ns;
} slc_busy;

SLC_API void slc_busy_init(slc_busy *busy);
SLC_API void slc_busy_destroy(slc_busy *busy);
SLC_API void slc_busy_begin(slc_busy *busy);
SLC_API void slc_busy_end(slc_busy *busy);
SLC_API int64_t slc_busy_ns(slc_busy *busy);

#ifdef __cplusplus
}
#endif
#endif
