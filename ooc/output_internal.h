/* The outputs of a run: device buffers, staging pieces, and their way to the sinks. For
 * ooc/engine_internal.h alone.
 */
#ifndef SLC_OOC_OUTPUT_INTERNAL_H
#define SLC_OOC_OUTPUT_INTERNAL_H

#include <stdbool.h>

#include "core/box.h"
#include "core/device.h"
#include "core/job.h"
#include "ooc/input_internal.h"
#include "ooc/stopwatch.h"

typedef struct slci_output slci_output;

/* One device buffer of an output or update, and its way to the sink. */
typedef struct slci_out_buffer {
    slci_run *run;
    slci_output *output;
    int operand;
    void *d_data;
    slc_tile tile;
    slc_event *complete; /* compute stream; where the writer copies */
    bool is_draining;    /* guarded by the run's mutex */
} slci_out_buffer;

/* One staging buffer of an output, and what is in it or on its way there. */
typedef struct slci_out_piece {
    slci_out_buffer *buffer; /* whose part it holds */
    slc_box box;             /* that part, within the whole array */
    bool is_last;            /* of the buffer */
    void *staging;
    slc_event *end;       /* copy-out stream */
    slci_stopwatch watch; /* of the copy, on some of them */
    slc_event *landed;    /* `end` of the piece whose copy brought it: its own, or one behind */
    int n_copied_with;    /* pieces that its copy brought; 0: it came with another */
} slci_out_piece;

struct slci_output {
    int operand;
    int n_buffers;
    slci_out_buffer buffer[SLCI_MAX_LINES];
    int current;    /* buffer in use, -1 before the first tile */
    bool is_kept;   /* what the current buffer holds was handed over, or a state has it */
    bool is_direct; /* every buffer has a staging piece of its own that holds all of it */
    int first_waiting, n_waiting; /* of these, complete buffers whose copy is not enqueued yet */
    int64_t newest_tile;          /* of the round, after which the last of them is complete */
    int n_pieces;
    slci_out_piece piece[SLCI_MAX_LINES];
    int64_t n_copied, n_written; /* pieces; the writer's, where it copies */
};

/* ooc/drain.c: the way of outputs. hand_over gives a complete buffer to the writer thread, after the
 * tile enqueued last; wait blocks until the buffer is free again. */
SLC_MUST_USE slc_status slci_drain_start(slci_run *run);
SLC_MUST_USE slc_status slci_drain_hand_over(slci_run *run, slci_out_buffer *buffer);
void slci_drain_wait(slci_run *run, const slci_out_buffer *buffer);
void slci_drain_join(slci_run *run);

#endif
