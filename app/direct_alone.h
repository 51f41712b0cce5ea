/* The direct kernel alone: one engine tile by hand, everything in device memory, timed by events on its
 * stream. No engine, so nothing but the kernel's own time. Internal to app.
 *
 *     slci_direct_alone alone;
 *     SLC_TRY_GOTO(done, slci_direct_alone_open(&request, &alone));
 *     SLC_TRY_GOTO(done, slci_direct_alone_put(&alone, SLC_DIRECT_UVW, 0, uvw_m, bytes)); ...
 *     SLC_TRY_GOTO(done, slci_direct_alone_run(&alone, &seconds));
 * done:
 *     status = slci_direct_alone_close(&alone, status);
 */
#ifndef SLC_APP_DIRECT_ALONE_H
#define SLC_APP_DIRECT_ALONE_H

#include "app/machine.h"
#include "core/job.h"
#include "kernels/direct.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slci_direct_alone_request {
    const slci_machine *machine;   /* lent until close; memory is reserved in its ledger */
    const slc_direct_setup *setup; /* copied */
    int64_t n_rows;                /* of the data: at most those of the tile */
    const int64_t *full_extent; /* [3] of the engine tile; NULL: all rows and all of the picture */
    int64_t pinned_bytes;       /* for the caller, in `pinned` */
} slci_direct_alone_request;

typedef struct slci_direct_alone {
    const slci_machine *machine;
    slc_direct_setup setup; /* its tuning may be changed between runs */
    slc_stream *stream;
    slc_event *begin, *end;
    slc_job job;
    int64_t extent[3];
    slc_layout layout[SLC_DIRECT_N_OPERANDS];
    void *d_operand[SLC_DIRECT_N_OPERANDS];
    void *d_tile;
    void *d_slab;
    slc_pinned pinned;
    int64_t device_bytes, host_bytes; /* reserved */
} slci_direct_alone;

/* Takes memory, says what the tile is, and loads the kernels. The object must stay where it is until
 * it is closed, which it has to be either way. SLC_ERROR_MEMORY, SLC_ERROR_DEVICE. */
SLC_MUST_USE slc_status slci_direct_alone_open(const slci_direct_alone_request *request,
                                               slci_direct_alone *alone);

/* Enqueues a copy into an operand, `at_bytes` from its start; `from` (host) may be reused once
 * the stream is synchronised, or, if it is not pinned, at once. */
SLC_MUST_USE slc_status slci_direct_alone_put(slci_direct_alone *alone, int operand,
                                              int64_t at_bytes, const void *from, int64_t bytes);

/* Clears the picture, runs the kernel and waits for it. */
SLC_MUST_USE slc_status slci_direct_alone_run(slci_direct_alone *alone, double *seconds);

/* Waits for what is enqueued and frees everything. Returns `status`, the message of a failure kept. */
slc_status slci_direct_alone_close(slci_direct_alone *alone, slc_status status);

#ifdef __cplusplus
}
#endif
#endif
