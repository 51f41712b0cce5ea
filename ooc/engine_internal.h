/* What the files of the engine share: the run, its input groups, its output buffers.
 * Read ooc/engine.c first; it draws the states. Nothing here is public.
 */
#ifndef SLC_OOC_ENGINE_INTERNAL_H
#define SLC_OOC_ENGINE_INTERNAL_H

#include <pthread.h>
#include <stdbool.h>

#include "core/arena.h"
#include "core/clock.h"
#include "core/queue.h"
#include "ooc/engine.h"

/* Slots are small numbers: the planner never asks for more. */
#define SLCI_MAX_LINES 16
#define SLCI_MAX_RING (SLCI_MAX_LINES + 1)
#define SLCI_OUT_BUFFERS 2 /* as many as ooc/plan.c asks for */

typedef struct slci_run slci_run;
typedef struct slci_group slci_group;

typedef enum slci_line_state {
    SLCI_LINE_EMPTY,
    SLCI_LINE_FILLING,  /* a pool task reads into staging */
    SLCI_LINE_FULL,     /* staging holds a tile */
    SLCI_LINE_ON_DEVICE /* its copy is enqueued; staging is free once `arrived` has happened */
} slci_line_state;

/* One buffer of an input group: staging and device memory for one tile of each of its operands. */
typedef struct slci_line {
    slci_group *group;
    slci_line_state state; /* guarded by the run's mutex while FILLING */
    slc_tile tile;
    void *staging[SLC_MAX_FIELDS];
    void *d_data[SLC_MAX_FIELDS];
    slc_event *copy_begin; /* copy-in stream */
    slc_event *arrived;    /* copy-in stream */
    slc_event *released;   /* compute stream: the last tile that uses the line has run */
    bool is_timed;         /* copy_begin and arrived hold an interval not yet counted */
} slci_line;

/* The inputs that one source delivers in one call. Fills are numbered; fill k lives in line
 * k mod n_lines. */
struct slci_group {
    slci_run *run;
    slc_source *source;
    int n_operands;
    int operand[SLC_MAX_FIELDS];
    int n_lines;
    slci_line line[SLCI_MAX_LINES];
    int64_t n_started;   /* fills given to the pool */
    int64_t n_on_device; /* fills whose copy is enqueued; the newest one is in use */
    int64_t next_step;   /* the step that needs fill n_started; n_tiles: there is none */
    slc_tile current;    /* of the fill in use; its line may already be reading the next one */
};

/* One device buffer of an output or update, and its way to the sink. */
typedef struct slci_out_buffer {
    slci_run *run;
    int operand;
    void *d_data;
    slc_tile tile;
    slc_event *complete; /* compute stream */
    bool is_draining;    /* guarded by the run's mutex */
} slci_out_buffer;

typedef struct slci_output {
    int operand;
    int n_buffers;
    slci_out_buffer buffer[SLCI_OUT_BUFFERS];
    int current; /* buffer in use, -1 before the first tile */
    int n_pieces;
    void *staging[SLC_DRAIN_PIECES];
    slc_event *piece_begin[SLC_DRAIN_PIECES];
    slc_event *piece_end[SLC_DRAIN_PIECES];
} slci_output;

/* A tile description on its way through the device. */
typedef struct slci_ring_entry {
    slc_tile *staging;
    slc_tile *d_tile;
    slc_event *ready; /* copy-in stream: description and inputs are there */
    slc_event *begin; /* compute stream */
    slc_event *end;   /* compute stream */
    int64_t step;     /* of the plan */
    bool is_in_flight;
} slci_ring_entry;

struct slci_run {
    const slc_job *job;
    const slc_plan *plan;
    const slc_engine_options *options;
    slc_device *device;

    slc_stream *copy_in, *compute, *copy_out;
    void *d_slab;
    bool is_slab_refused;
    int64_t device_reserved, host_reserved;
    slc_pinned *staging; /* [n_staging]: one piece if it can be pinned whole, else one a buffer */
    int n_staging;
    int64_t pageable_bytes;

    slc_layout layout[SLC_MAX_OPERANDS]; /* of a full tile */
    void *d_work[SLC_MAX_OPERANDS];
    int n_groups;
    slci_group group[SLC_MAX_OPERANDS];
    int n_outputs;
    slci_output output[SLC_MAX_OPERANDS];
    int n_ring;
    slci_ring_entry ring[SLCI_MAX_RING];

    slc_task_group *reads;
    slc_queue *drains; /* of slci_out_buffer */
    pthread_t writer;
    bool has_writer;

    pthread_mutex_t mutex; /* lines being filled, draining buffers, failure */
    pthread_cond_t changed;
    slc_failure failure; /* the first one wins */

    slc_busy read_busy, write_busy;
    int64_t h2d_ns, kernel_ns, d2h_ns; /* d2h_ns belongs to the writer until it is joined */
    slc_engine_report report;
    int64_t n_done;
};

/* Keeps the first failure of the run; the calling thread's message goes with it. */
void slci_run_fail(slci_run *run, slc_status status);
bool slci_run_has_failed(slci_run *run);

/* slc_engine_run, which also says whether it failed because the device refused the slab: then nothing
 * has run and a smaller plan may. */
SLC_MUST_USE slc_status slci_engine_run(const slc_job *job, const slc_plan *plan,
                                        const slc_engine_options *options,
                                        slc_engine_report *report, bool *is_slab_refused);

/* ooc/buffers.c: carves slab and staging as the plan says, makes streams and events. Everything is
 * released by slci_buffers_release, also after a failure half-way. */
SLC_MUST_USE slc_status slci_buffers_create(slci_run *run);
void slci_buffers_release(slci_run *run);

/* ooc/fill.c. The first step at or after `step` that the job does not skip; whether operand `o` needs
 * another box for `b` than for `a`. */
int64_t slci_visited_step(const slci_run *run, int64_t step);
bool slci_needs_other_box(const slci_run *run, int o, const slc_tile *a, const slc_tile *b);

/* start gives the pool the reads that have a free line; one whose copy has not run yet is waited for
 * only when `must_start` says that the next fill is needed now. advance makes the newest fill on the
 * device the one that `tile` needs. count_copy adds a finished copy's time to the run's. */
SLC_MUST_USE slc_status slci_fill_start(slci_run *run, slci_group *group, bool must_start);
SLC_MUST_USE slc_status slci_fill_advance(slci_run *run, slci_group *group, const slc_tile *tile);
SLC_MUST_USE slc_status slci_fill_count_copy(slci_run *run, slci_line *line);

/* ooc/drain.c: the writer thread. hand_over gives it a complete buffer; wait blocks until the buffer
 * is free again. */
SLC_MUST_USE slc_status slci_drain_start(slci_run *run);
SLC_MUST_USE slc_status slci_drain_hand_over(slci_run *run, slci_out_buffer *buffer);
void slci_drain_wait(slci_run *run, const slci_out_buffer *buffer);
void slci_drain_join(slci_run *run);

#endif
