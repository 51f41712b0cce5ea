/* The smallest iteration that converges: square roots by Newton's method, one round a call. The
 * benchmarks measure with it what a loop costs that runs until it is done (slc_job.most_iterations);
 * it says by itself when that is.
 *
 *     const slci_newton newton = {.d_in = d_in, .d_root = d_root, .n = n, .d_state = d_state};
 *     SLC_TRY(slci_newton_enqueue(stream, &newton));
 */
#ifndef SLC_KERNELS_NEWTON_H
#define SLC_KERNELS_NEWTON_H

#include "core/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All in memory of the stream's device. */
typedef struct slci_newton {
    const float *d_in; /* [n], numbers of at least 1 and at most 4 */
    float *d_root;     /* [n], where the roots come to be; what it held before does not matter */
    int64_t n;         /* at least 1 */
    slc_loop_state *d_state; /* is_done is set, n_iterations read: 0 is the first round */
} slci_newton;

/* Where the first round begins. Far above the root each round halves the distance, so that about 92
 * pass before the method is fast, and about 6 more until no number changes any more. */
#define SLCI_NEWTON_START 0x1p93f

/* The next iterate: x' = (x + a / x) / 2. From above, iterates fall until the root is as near as single
 * precision has it; the first one that does not is where it ends. Both devices round every operation
 * alike, so they take the same number of rounds. */
SLC_HOST_DEVICE static inline float slci_newton_next(float a, float x) {
    return 0.5f * (x + a / x);
}

/* The slc_job prepare function: loads the kernels, which cannot be done while a graph is recorded.
 * `state` means nothing. */
SLC_MUST_USE slc_status slci_newton_prepare(void *state, slc_device *device);

/* Enqueues one round on a stream of either kind of device. The struct is read at once.
 * SLC_ERROR_DEVICE. */
SLC_MUST_USE slc_status slci_newton_enqueue(slc_stream *stream, const slci_newton *newton);

/* The CUDA side, for kernels/newton.c alone. Without CUDA in this build: SLC_ERROR_DEVICE. */
SLC_MUST_USE slc_status slci_newton_load_cuda(void);
SLC_MUST_USE slc_status slci_newton_cuda(slc_stream *stream, const slci_newton *newton);

#ifdef __cplusplus
}
#endif
#endif
