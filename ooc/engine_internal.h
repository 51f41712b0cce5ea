/* What the files of the engine share: the run, its inputs, its output buffers.
 * Read ooc/engine.c first; ooc/fill.c draws the states of inputs. Nothing here is public.
 */
#ifndef SLC_OOC_ENGINE_INTERNAL_H
#define SLC_OOC_ENGINE_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "core/arena.h"
#include "core/clock.h"
#include "core/queue.h"
#include "ooc/checkpoint.h"
#include "ooc/engine.h"
#include "ooc/input_internal.h"
#include "ooc/output_internal.h"
#include "ooc/stopwatch.h"

#define SLCI_MAX_RING (SLCI_MAX_LINES + 1)

/* A tile on its way through the device. Not every tile has an event recorded behind it: short ones
 * share that of a later tile, so `done` may be another entry's `end`. */
typedef struct slci_ring_entry {
    slci_stopwatch watch; /* on some tiles; with what `leave` enqueues after the tile */
    slc_event *end;       /* compute stream; behind that, too */
    slc_event *done;      /* has happened when the tile has run; NULL: no event stands for it yet */
    int64_t step;         /* of the plan */
    bool is_in_flight;
} slci_ring_entry;

/* Descriptions of tiles for the device. Two halves: one is sent, in one copy, when its first tile is
 * enqueued, and the other's tiles have run by then. */
typedef struct slci_tiles {
    int64_t n_half;
    slc_tile *staging;   /* [2 · n_half] */
    slc_tile *d_tile;    /* [2 · n_half] */
    slc_event *ready[2]; /* copy-in stream */
} slci_tiles;

/* Time of a stage, by the events around some of its work. */
typedef struct slci_timed {
    int64_t ns;         /* of what was timed */
    int64_t n, n_timed; /* pieces of work, and how many of them were timed */
} slci_timed;

/* A stream's clock against the host's, for the trace. */
typedef enum slci_clock {
    SLCI_CLOCK_COPY_IN,
    SLCI_CLOCK_COMPUTE,
    SLCI_CLOCK_COPY_OUT,
    SLCI_CLOCKS
} slci_clock;

typedef struct slci_trace_clock {
    slc_event *origin;
    int64_t origin_ns; /* slc_clock_ns when it happened */
} slci_trace_clock;

/* What a stream did while a stopwatch ran. */
typedef struct slci_trace_interval {
    slc_trace_stage stage; /* H2D, KERNEL or D2H */
    slci_stopwatch *watch;
    int64_t tile, bytes;
    int64_t begin_ns, end_ns; /* set by slci_trace_count where there is a trace; else 0 */
} slci_trace_interval;

/* When a copy to the device could begin, but for its data: the copies before it had run, and the device
 * had room for it. 0: at any time. */
typedef struct slci_copy_start {
    int64_t turn_ns, room_ns;
} slci_copy_start;

/* A part of the iteration space that is still to be done. Of an axis in `begun`, tiles before this part
 * have had the current value, so that `enter` was called for it; of one in `unfinished`, later parts
 * have it, so that `leave` comes with them. One bit an axis. */
typedef struct slci_region {
    slc_box box;
    uint32_t begun, unfinished;
} slci_region;

/* What slc_execute tells the engine besides its options. Zeros: a run that stands for itself. */
typedef struct slci_part {
    slc_checkpoint *checkpoint;
    slci_region region;       /* masks of what is run */
    const slci_region *later; /* what is run after it in this round, by other plans */
    int64_t n_later;
    int64_t round;        /* that the run begins with */
    bool is_part;         /* rounds and the job's finish are the caller's */
    bool is_slab_refused; /* set by the engine: nothing has run, and a smaller plan may */
} slci_part;

/* A tile recorded as a graph, for one set of buffers. */
typedef struct slci_graph {
    const slc_tile *d_tile;
    void *d_operand[SLC_MAX_OPERANDS];
    void *graph;
    void *loop; /* repeats `graph`; NULL where the job does not loop */
} slci_graph;

/* As many sets of buffers as may meet: those of 16 descriptions, of 3 lines and of 2 outputs are 48. */
#define SLCI_MAX_GRAPHS 64

struct slci_run {
    const slc_job *job;
    const slc_plan *plan;
    const slc_engine_options *options;
    slc_device *device;
    slci_part *part;

    slc_stream *copy_in, *compute, *copy_out;
    void *d_slab;
    bool is_slab_refused;
    int64_t device_reserved, host_reserved;
    slc_pinned *staging; /* [n_staging]: one piece if it can be pinned whole, else one a buffer */
    int n_staging;
    int64_t staging_bytes, pageable_bytes; /* all of it, and what could not be pinned */
    void *tier;                            /* tier_bytes of the plan, mapped */
    int64_t tier_bytes;                    /* of `tier`; 0: there is none */

    slc_layout layout[SLC_MAX_OPERANDS]; /* of a full tile */
    void *d_work[SLC_MAX_OPERANDS];      /* work operands, and sparse ones */
    int n_sparse;
    slci_sparse sparse[SLC_MAX_OPERANDS];
    int n_groups;
    slci_group group[SLC_MAX_OPERANDS];
    int n_outputs;
    slci_output output[SLC_MAX_OPERANDS];
    int n_ring;
    slci_ring_entry ring[SLCI_MAX_RING]; /* tile n of the round is at n mod n_ring */
    slci_tiles tiles;
    int n_graphs;
    int next_graph; /* where the one that is needed next is looked for first */
    slci_graph graph[SLCI_MAX_GRAPHS];
    slc_loop_state *loop; /* staging for a loop's state; NULL where the job does not loop */
    bool loops_by_hand;   /* the device cannot */
    atomic_int_least64_t
        timing_stride; /* one in so many tiles, copies in and pieces out is timed */

    slc_task_group *reads;
    slc_queue *drains; /* of slci_out_buffer */
    pthread_t writer;
    bool has_writer;

    pthread_mutex_t mutex; /* lines being filled, draining buffers, failure */
    pthread_cond_t changed;
    pthread_mutex_t copy_mutex; /* the order of copies in, h2d.n; taken before `mutex` */
    slc_failure failure;        /* the first one wins */
    atomic_bool has_failed;     /* it is set, for those who need not wait for the mutex to know */

    slci_trace_clock clock[SLCI_CLOCKS]; /* where there is a trace */
    slc_busy read_busy, write_busy;
    slci_timed h2d, kernel, d2h; /* d2h belongs to the writer until it is joined */
    slci_timed load;             /* copies of sparse inputs, which are all timed */
    slc_engine_report report;
    /* Tiles of this round: known to have run, with an event that stands for them, enqueued. */
    atomic_int_least64_t n_done;
    int64_t n_marked, n_enqueued;
    int64_t round_begin_ns;
    int64_t newest_end_ns; /* when tile n_done - 1 had run, where there is a trace */
    int64_t mark_stride;   /* an event is recorded behind one tile in so many */
    int64_t round;
    slc_tile last; /* the tile enqueued last, also of an earlier round */
    bool has_last;
};

/* Keeps the first failure of the run; the calling thread's message goes with it. */
void slci_run_fail(slci_run *run, slc_status status);
bool slci_run_has_failed(slci_run *run);

/* SLC_ERROR_INTERRUPTED when the caller wants the run to stop. */
SLC_MUST_USE slc_status slci_run_check_cancel(const slci_run *run);

/* slc_engine_run as a part of something larger. */
SLC_MUST_USE slc_status slci_engine_run(const slc_job *job, const slc_plan *plan,
                                        const slc_engine_options *options, slci_part *part,
                                        slc_engine_report *report);

/* The event that stands for tile number `n` of the round, which is in the ring. */
SLC_MUST_USE slc_status slci_run_find_mark(slci_run *run, int64_t n, slc_event **done);

/* Has `stream` wait until tile number `n` of the round has run, or for such an event, which any thread
 * may ask for; nothing where that is known. */
SLC_MUST_USE slc_status slci_run_wait_for_tile(slci_run *run, slc_stream *stream, int64_t n);
SLC_MUST_USE slc_status slci_run_wait_for_mark(const slci_run *run, slc_stream *stream,
                                               slc_event *done);

/* Whether tile number `n` of the round has run; it is waited for where `must_wait` says so. */
SLC_MUST_USE slc_status slci_run_ask_for_tile(slci_run *run, int64_t n, bool must_wait,
                                              bool *has_run);

/* Depth of the outermost loop whose value differs between two tiles; 0 when there is no tile yet. */
int slci_changed_depth(const slci_run *run, const slc_tile *before, const slc_tile *now);

/* Waits until everything enqueued for the device has run; gives a finished output tile to the writer.
 */
SLC_MUST_USE slc_status slci_run_quiesce(slci_run *run);
SLC_MUST_USE slc_status slci_run_hand_over(slci_run *run, slci_output *output);

/* ooc/buffers.c: carves slab and staging as the plan says, makes streams and events. Everything is
 * released by slci_buffers_release, also after a failure half-way. */
SLC_MUST_USE slc_status slci_buffers_create(slci_run *run);
void slci_buffers_release(slci_run *run);

/* ooc/bindings.c: that every input has a source and every output a sink of its type and shape. */
SLC_MUST_USE slc_status slci_bindings_check(const slc_job *job, const slc_engine_options *options);

/* ooc/graph.c. Enqueues the tile function's work; where the plan says so, as a graph that is recorded
 * when its set of buffers first meets. clear forgets all graphs; nothing launched may still run. */
SLC_MUST_USE slc_status slci_graph_enqueue(slci_run *run, const slc_tile_arguments *arguments);
void slci_graph_clear(slci_run *run);

/* ooc/trace_run.c: what the run adds to its trace; nothing happens where there is none. start takes
 * the streams' clocks. now is the host's clock, which host and wait take as the begin of what ends when
 * they are called; a wait's name has static storage. */
SLC_MUST_USE slc_status slci_trace_start(slci_run *run);
void slci_trace_release(slci_run *run);
int64_t slci_trace_now(const slci_run *run);
void slci_trace_host(const slci_run *run, slc_trace_stage stage, int64_t tile, int64_t begin_ns,
                     int64_t bytes);
void slci_trace_wait(const slci_run *run, const char *name, int64_t tile, int64_t begin_ns);
/* Adds what the stopwatch holds to the stage's time, too, trace or not; nothing if it did not run. */
SLC_MUST_USE slc_status slci_trace_count(const slci_run *run, slci_trace_interval *interval,
                                         slci_timed *timed);
/* When an event of that clock's stream happened, which it has. */
SLC_MUST_USE slc_status slci_trace_moment(const slci_run *run, slci_clock clock, slc_event *event,
                                          int64_t *at_ns);

/* ooc/trace_staging.c: the way of a staging buffer, for the trace; nothing happens where there is none.
 * begin and end are called around what fills it, copied when the copy of the interval is known to have
 * run. copied_lines is that for all lines that one copy has brought; tile_ended is told of each tile of
 * the round that has run. */
void slci_trace_name_lanes(slci_run *run);
void slci_trace_begin_fill(const slci_run *run, slci_staging_trace *staging, int64_t tile);
void slci_trace_end_fill(const slci_run *run, slci_staging_trace *staging, int64_t tile,
                         int64_t bytes);
void slci_trace_copied(const slci_run *run, slci_staging_trace *staging,
                       const slci_copy_start *could, const slci_trace_interval *copy);
SLC_MUST_USE slc_status slci_trace_copied_lines(slci_run *run, slci_line *line,
                                                const slci_trace_interval *copy);
void slci_trace_tile_ended(slci_run *run, int64_t tile, int64_t at_ns);

#endif
