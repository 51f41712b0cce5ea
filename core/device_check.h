/* A device for tests: it wraps another one and misbehaves on purpose.
 * Fresh memory is filled with NaN, host copies are delayed so that a missing event shows as wrong
 * data, and the N-th call of a kind fails. It counts what is alive, so a test can ask for leaks.
 *
 *     slc_device *check;
 *     SLC_TRY(slc_device_create_check(inner, &(slc_check_options){.fail_kind = SLC_CHECK_COPY,
 *                                                                 .fail_at = 3}, &check));
 */
#ifndef SLC_CORE_DEVICE_CHECK_H
#define SLC_CORE_DEVICE_CHECK_H

#include "core/device.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum slc_check_kind {
    SLC_CHECK_NONE,
    SLC_CHECK_ALLOCATE, /* device memory */
    SLC_CHECK_PINNED,   /* registering fails: memory comes back pageable; see pinned_limit_bytes */
    SLC_CHECK_MAPPED,
    SLC_CHECK_STREAM, /* creating streams and events */
    SLC_CHECK_EVENT,  /* record, wait, synchronize */
    SLC_CHECK_COPY,
    SLC_CHECK_SET,
    SLC_CHECK_CALL,  /* host functions: the launches of the host device */
    SLC_CHECK_GRAPH, /* graphs: begins of recordings, and launches */
    SLC_CHECK_KIND_COUNT
} slc_check_kind;

typedef struct slc_check_options {
    slc_check_kind fail_kind;
    int64_t fail_at;            /* the N-th call of that kind, from 1, fails; 0: none does */
    int64_t n_fails;            /* so many calls from that one on fail; 0: it alone */
    int64_t free_bytes;         /* limits say that so much is free; 0: as the inner device says */
    int64_t pinned_limit_bytes; /* pinned allocations above this fail to pin; 0: no limit */
    int64_t delay_us;           /* each copy waits up to this long first (pseudo-random) */
    bool has_no_loops;          /* loops are refused, as by a device that has none */
} slc_check_options;

/* Takes ownership of `inner` on success. SLC_ERROR_MEMORY. */
SLC_API SLC_MUST_USE slc_status slc_device_create_check(slc_device *inner,
                                                        const slc_check_options *options,
                                                        slc_device **out);

/* Calls of `kind` so far, and objects (memory, streams, events) not yet given back. */
SLC_API int64_t slc_device_check_calls(const slc_device *check, slc_check_kind kind);
SLC_API int64_t slc_device_check_alive(const slc_device *check);

#ifdef __cplusplus
}
#endif
#endif
