/* The inputs of a run, for the files of the engine: groups that are read tile by tile, their host tier,
 * and sparse arrays that are loaded whole. ooc/engine_internal.h includes it; read ooc/fill.c first.
 */
#ifndef SLC_OOC_INPUT_INTERNAL_H
#define SLC_OOC_INPUT_INTERNAL_H

#include <stdbool.h>

#include "core/job.h"
#include "ooc/plan.h"
#include "ooc/stopwatch.h"

#define SLCI_MAX_LINES SLC_MAX_SLOTS

typedef struct slci_run slci_run;
typedef struct slci_group slci_group;
typedef struct slci_line slci_line;

/* The pieces in which one fill is read or copied, each by its own pool task, at most. */
#define SLCI_MAX_PIECES 16

typedef enum slci_line_state {
    SLCI_LINE_EMPTY,
    SLCI_LINE_FILLING, /* pool tasks read into staging, or copy from the host tier */
    SLCI_LINE_FULL,    /* staging holds a tile */
    /* Its copy is enqueued; staging is free once `arrived` has happened. In place: when the last tile
     * that uses it has run. */
    SLCI_LINE_ON_DEVICE
} slci_line_state;

/* Indices `begin` … `end` - 1 of a fill's leading dimension; or, where the source cuts by itself, part
 * `part` of the fill's n_pieces, and begin and end are those of the whole. */
typedef struct slci_piece {
    slci_line *line;
    int64_t begin, end;
    int part; /* -1: rows */
} slci_piece;

/* What the trace tells of a staging buffer. Moments are those of slc_clock_ns; without a trace they are
 * not kept. */
typedef struct slci_staging_trace {
    int lane;          /* of its track */
    int64_t begun_ns;  /* reading into it began */
    int64_t filled_ns; /* and had ended */
    int64_t freed_ns;  /* the copy out of it had run; 0: there was none in this round */
} slci_staging_trace;

/* The last tile of the round, as slci_run.n_enqueued counts them, that uses a device buffer. */
typedef struct slci_last_user {
    int64_t tile;    /* -1: not known yet, or none */
    slc_event *done; /* has happened when it has run; NULL: nobody has asked for such an event */
    int64_t at_ns;   /* when it had run; 0: not known yet, or there is no trace */
} slci_last_user;

/* One buffer of an input group: staging and device memory for one tile of each of its operands. */
struct slci_line {
    slci_group *group;
    slci_line_state state; /* guarded by the run's mutex; what is ON_DEVICE is the scheduler's */
    slc_tile tile;
    int n_pieces;
    int n_unread; /* pieces not yet in staging; guarded by the run's mutex */
    slci_piece piece[SLCI_MAX_PIECES];
    int64_t tier_slot; /* of the group's host tier that the fill is taken from or kept in; or -1 */
    bool is_from_tier;
    void *staging[SLC_MAX_FIELDS]; /* in place: d_data */
    void *d_data[SLC_MAX_FIELDS];
    slc_event *arrived;         /* copy-in stream */
    slci_stopwatch watch;       /* of the copy, on some of them */
    int64_t first_user;         /* the first tile of the round that uses what it holds */
    slci_last_user last_user;   /* guarded by the run's copy_mutex, as is the next one */
    slci_last_user overwritten; /* the last user of what its copy has overwritten */
    slci_staging_trace traced;
    slc_event *landed; /* `arrived` of the line whose copy brought it: its own, or one before */
    int n_copied_with; /* fills that its copy brought, its own counted; 0: it came with another */
    int64_t copied_to; /* the first fill behind those that its copy brought */
};

/* One decoded tile of each of a group's operands, kept in ordinary memory. */
typedef struct slci_tier_slot {
    int64_t set;     /* slc_tier_use.set of the tile that it holds; -1: it holds none */
    int n_users;     /* fills that read from it or write to it; guarded by the run's mutex */
    bool is_written; /* one of them writes; guarded by the run's mutex */
} slci_tier_slot;

/* The inputs that one source delivers in one call. Fills are numbered; fill k lives in line
 * k mod n_lines. */
struct slci_group {
    slci_run *run;
    slc_source *source;
    int n_operands;
    int operand[SLC_MAX_FIELDS];
    bool is_in_place; /* read into device memory: there is no staging and no copy */
    int n_lines;
    slci_line line[SLCI_MAX_LINES];
    int64_t n_started;   /* fills given to the pool */
    int64_t n_on_device; /* fills that are or were in use; the newest one is */
    int64_t n_released;  /* fills whose last user is known; guarded by the run's copy_mutex */
    int64_t n_copied; /* fills whose copy is enqueued, small ones several at a time; so is this */
    int64_t n_landed; /* fills whose copy is known to have run; more may have */
    int64_t last_copy_ns; /* when the copy counted last ended, in a run that is traced; else 0 */
    int64_t next_step;    /* the step that needs fill n_started; n_tiles: there is none */
    slc_tile current;     /* of the fill in use; its line may already be reading the next one */
    bool has_moved;       /* the compute stream is still to wait for the newest fill's copy */
    int64_t n_tier_slots;
    slci_tier_slot *tier_slot; /* [n_tier_slots] */
    /* Of each operand: n_tier_slots full tiles, one after another. */
    char *tier_data[SLC_MAX_FIELDS];
};

/* One staging buffer on its way to a sparse input's memory. */
typedef struct slci_sparse_lane {
    slci_run *run;
    int operand;
    void *staging; /* NULL while pieces are read straight into mapped memory */
    void *target;  /* where the piece is read to */
    slci_staging_trace traced;
    slc_box box; /* the piece, in the dimensions that the source's fields share */
    int64_t offset_bytes, bytes;
    int64_t copied_bytes; /* of the copy that the watch holds */
    bool is_reading;      /* guarded by the run's mutex */
    slc_event *arrived;   /* copy-in stream */
    slci_stopwatch watch; /* of the copy */
} slci_sparse_lane;

/* An input that any tile may touch anywhere: the whole array, in device memory or mapped. */
typedef struct slci_sparse {
    int operand;
    void *d_data;      /* device memory, or the device's alias of `mapped` */
    slc_mapped mapped; /* zeros when it is resident */
    int n_lanes;
    slci_sparse_lane lane[SLCI_MAX_LINES];
} slci_sparse;

/* ooc/fill.c. The first step at or after `step` that the job does not skip; whether operand `o` needs
 * another box for `b` than for `a`. */
int64_t slci_visited_step(const slci_run *run, int64_t step);
bool slci_needs_other_box(const slci_run *run, int o, const slc_tile *a, const slc_tile *b);

/* start gives the pool the reads that have a free line; one whose copy has not run yet is waited
 * for only when `must_start` says that the next fill is needed now. advance makes the newest
 * fill on the device the one that `tile` needs; copy_ahead, which any thread may call, enqueues
 * the copies of those behind it that are there. until waits for an event, and starts reads
 * meanwhile. count_copies adds the time of copies that have run, and were not counted yet, to the
 * run's. */
SLC_MUST_USE slc_status slci_fill_start(slci_run *run, slci_group *group, bool must_start);
SLC_MUST_USE slc_status slci_fill_until(slci_run *run, slc_event *event);
SLC_MUST_USE slc_status slci_fill_advance(slci_run *run, slci_group *group, const slc_tile *tile);
SLC_MUST_USE slc_status slci_fill_copy_ahead(slci_run *run, slci_group *group);
SLC_MUST_USE slc_status slci_fill_count_copies(slci_run *run, slci_group *group);

/* ooc/tier.c. create maps the memory that the plan keeps tiles in; rewind forgets them. claim says how
 * the group's next fill, for `step`, gets its tile, and holds the slot until `unclaim`; it is refused
 * while a fill before it still works on the slot. copy moves one piece between slot and staging. */
SLC_MUST_USE slc_status slci_tier_create(slci_run *run);
void slci_tier_release(slci_run *run);
void slci_tier_rewind(slci_run *run);
bool slci_tier_claim(slci_run *run, slci_group *group, slci_line *line, int64_t step);
void slci_tier_unclaim(slci_line *line); /* the run's mutex is held */
void slci_tier_copy(const slci_piece *piece);

/* ooc/fill_read.c. read gives the pool the fill of the line, in pieces, of which `is_short` says that
 * they take no longer than waking a thread; the line is FULL when all are in staging. bytes is what the
 * fill moves, of all its operands; row_bytes those of group operand `i` for one index of the leading
 * dimension that the group's fields share, in the fill's box. Where they share none, the fill is one
 * row. */
SLC_MUST_USE slc_status slci_fill_read(slci_line *line, bool is_short);
int64_t slci_fill_bytes(const slci_line *line);
int64_t slci_fill_row_bytes(const slci_line *line, int i);

/* ooc/sparse.c. create makes mapped arrays and the lanes' events (memory from the slab and staging is
 * the caller's business); load brings every sparse input to where kernels see it. */
SLC_MUST_USE slc_status slci_sparse_create(slci_run *run, slci_sparse *sparse);
void slci_sparse_release(slci_run *run);
SLC_MUST_USE slc_status slci_sparse_load(slci_run *run);

/* Adds the time of copies that have run, and were not counted yet, to the run's. */
SLC_MUST_USE slc_status slci_sparse_count_copies(slci_run *run);

#endif
