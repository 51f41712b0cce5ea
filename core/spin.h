/* Waiting a moment before sleeping. Putting a thread to sleep and waking it takes 10 to 50 us, most of
 * it in whoever wakes; work that is handed from thread to thread every few microseconds must not pay
 * that each time. So a waiter first looks again for as long as that, giving its processor to anybody
 * who wants it. Internal to Sluice.
 *
 *     slci_spin spin = {0};
 *     while (!is_ready) {                               // guarded by `mutex`, which is held
 *         if (!slci_spin_once(&spin, &mutex)) {
 *             pthread_cond_wait(&changed, &mutex);
 *         }
 *     }
 */
#ifndef SLC_CORE_SPIN_H
#define SLC_CORE_SPIN_H

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>

#include "core/clock.h"

/* Longer than a few small tiles take, which are handed over together: a stream of tiles of 256
 * KiB takes 10 to 20 us a tile, and whoever wakes a sleeper on a virtual machine pays 5 to 10 us
 * for it. */
#define SLCI_SPIN_NS 100000

/* Between two looks, about 1 us: whoever holds the mutex in turn is not to meet those who look. */
#define SLCI_SPIN_PAUSES 32
#if defined(__x86_64__)
#define SLCI_PAUSE() __builtin_ia32_pause()
#else
#define SLCI_PAUSE() ((void)0)
#endif

static inline void slci_spin_pause(void) {
    for (int i = 0; i < SLCI_SPIN_PAUSES; i++) {
        SLCI_PAUSE();
    }
    (void)sched_yield();
}

typedef struct slci_spin {
    int64_t until_ns; /* 0: not begun */
} slci_spin;

/* Lets go of the mutex for a moment and takes it again; false, and nothing done, when it is time to
 * sleep. */
static inline bool slci_spin_once(slci_spin *spin, pthread_mutex_t *mutex) {
    const int64_t now_ns = slc_clock_ns();
    if (spin->until_ns == 0) {
        spin->until_ns = now_ns + SLCI_SPIN_NS;
    }
    if (now_ns >= spin->until_ns) {
        return false;
    }
    (void)pthread_mutex_unlock(mutex);
    slci_spin_pause();
    (void)pthread_mutex_lock(mutex);
    return true;
}

#endif
