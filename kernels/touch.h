/* Random reads: how fast a device reaches single elements of its own memory, or of mapped host memory.
 * Touch number i reads the 4-byte element number `place(i)`, a fixed pseudo-random function, and
 * all that was read is summed, so that nothing of it can be left out. The probe and the benchmarks
 * measure with it; mapped arrays are placed by what it finds.
 *
 *     const slc_touch touch = {.d_data = d_data, .n_elements = n, .n_touches = 1 << 20,
 *                              .d_sum = d_sum};
 *     SLC_TRY(slc_touch_enqueue(stream, &touch));
 */
#ifndef SLC_KERNELS_TOUCH_H
#define SLC_KERNELS_TOUCH_H

#include "core/device.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slc_touch {
    const uint32_t *d_data; /* [n_elements], device or mapped (the alias) */
    int64_t n_elements;     /* at least 1 */
    int64_t first;          /* number of the first touch: other numbers are other places */
    int64_t n_touches;      /* may be 0 */
    uint32_t *d_sum;        /* device: gets the sum of the elements touched added, modulo 2^32 */
} slc_touch;

/* The element that touch number `i` reads: the finaliser of SplitMix64 (Steele, Lea and Flood, "Fast
 * splittable pseudorandom number generators", 2014), modulo n. */
SLC_HOST_DEVICE static inline int64_t slc_touch_place(int64_t i, int64_t n_elements) {
    uint64_t x = (uint64_t)i * 0x9e3779b97f4a7c15u + 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return (int64_t)((x ^ (x >> 31)) % (uint64_t)n_elements);
}

/* Enqueues one pass of touches on a stream of either kind of device; the struct is read at once, the
 * memory must live until it has run. SLC_ERROR_ARGUMENT, SLC_ERROR_DEVICE. */
SLC_API SLC_MUST_USE slc_status slc_touch_enqueue(slc_stream *stream, const slc_touch *touch);

#ifdef __cplusplus
}
#endif
#endif
