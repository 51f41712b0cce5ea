/* A thread that mostly sleeps and must run at once when it is woken, among others that keep every
 * processor busy. Linux gives processors away in slices, of some 3 ms on a large machine, and a thread
 * that wakes may have to wait for the end of one. One that asks for short slices need not: it has
 * little to do at a time, so whoever runs is put aside for it at once (from Linux 6.12 on; before
 * that, and where it is forbidden, nothing changes). Internal to Sluice.
 *
 *     slci_thread_slice before = slci_thread_slice_shorten();   // of the calling thread
 *     ... it waits, and hands out work ...
 *     slci_thread_slice_restore(&before);
 */
#ifndef SLC_CORE_THREAD_SLICE_H
#define SLC_CORE_THREAD_SLICE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct slci_thread_slice {
    uint64_t ns; /* as it was */
    bool is_changed;
} slci_thread_slice;

slci_thread_slice slci_thread_slice_shorten(void);
void slci_thread_slice_restore(const slci_thread_slice *before);

#endif
