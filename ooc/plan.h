/* The planner: axes, operands and budgets in; tiles, loop order, slots and what they cost out.
 * A pure function: no device, no I/O, no clock. It tries every loop order and the tile shapes worth
 * trying, predicts bytes on each link and seconds, and takes the fastest plan that fits. When none
 * fits it says the smallest device budget that does, exactly.
 *
 *     slc_plan plan;
 *     slc_status status = slc_plan_make(&job, &request, &plan);
 *     if (status == SLC_ERROR_NO_PLAN) { ... plan.smallest_device_bytes ... }
 */
#ifndef SLC_OOC_PLAN_H
#define SLC_OOC_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "core/job.h"
#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of any plan; more gain nothing, however small the tiles are. */
#define SLC_MAX_SLOTS 16

/* What the machine does, as measured or assumed; bytes a second. They never decide a bit of a
 * result, only which plan is taken. */
typedef struct slc_rates {
    double disk_bytes_per_s; /* stored bytes from files */
    double read_bytes_per_s; /* decoding of what was fetched, all threads together */
    double tier_bytes_per_s; /* from RAM into staging, all threads together */
    double h2d_bytes_per_s;
    double d2h_bytes_per_s;
    double write_bytes_per_s;    /* into the sink */
    double device_touches_per_s; /* random elements of device memory that kernels read */
    double mapped_touches_per_s; /* the same of mapped host memory */
    double step_seconds;         /* fixed cost of one tile: launches and events */
} slc_rates;

/* Where sparse operands go. */
typedef enum slc_sparse_choice {
    SLC_SPARSE_AUTO, /* whichever is faster, of what fits */
    SLC_SPARSE_RESIDENT,
    SLC_SPARSE_MAPPED,
    SLC_SPARSE_STREAMED, /* for jobs that can do without a sparse operand; to the planner: auto */
    SLC_SPARSE_COUNT
} slc_sparse_choice;

/* "auto", "resident", "mapped", "streamed". Static storage. */
SLC_API const char *slc_sparse_choice_name(slc_sparse_choice choice);

typedef struct slc_plan_request {
    int64_t device_budget_bytes;
    int64_t host_budget_bytes;
    int64_t allocation_unit_bytes; /* the slab is a whole multiple of this; >= 1 */
    double seconds_per_point;      /* kernel time of one point of the iteration space, */
    double seconds_per_tile;       /* and of a tile besides, however large it is */
    slc_rates rates;               /* zeros: the defaults of slc_rates_default */
    double most_tile_seconds; /* tiles no longer than this where possible, because an interrupt */
                              /* waits for the tiles in flight; 0: no limit */
    int max_slots;            /* buffers per streamed input; 0: 4, of small tiles more where they */
                              /* are copied */
    int64_t cache_bytes;      /* staging of streams that takes no more stays in the processors' */
                              /* cache; 0: as much as you like does */
    int64_t parallel_units;   /* granule cells a device works on at once; 0: does not matter */
    int64_t unit[SLC_MAX_AXES];     /* steps of the source's natural unit (chunk); 0: none */
    int64_t out_unit[SLC_MAX_AXES]; /* the same of the sinks' units; 0: none */
    bool unit_is_kept;              /* the source keeps what it decoded last, so that neighbours */
                                    /* share a unit: where tiles end then does not matter */
    int64_t force_tile[SLC_MAX_AXES];      /* tests: extents to use; 0: free */
    double stored_share[SLC_MAX_OPERANDS]; /* stored bytes of an input per decoded byte; 0: 1 */
    slc_sparse_choice sparse;
    bool no_tier;        /* decoded tiles are not kept in RAM */
    bool reads_in_place; /* inputs are read into device memory (slc_device.has_host_memory) */
    /* The part of the iteration space to plan for: rank n_axes, begins and ends on granules or the
     * axis's end. Halos at its edges still read their neighbours. Rank 0: all of it. */
    slc_box region;
} slc_plan_request;

/* Buffers of a large output or an update, and staging pieces of one that stays: one is written to the
 * sink while the next one is copied. */
#define SLC_DRAIN_PIECES 2

typedef enum slc_placement {
    SLC_PLACE_RESIDENT, /* one buffer for the whole run: loaded once or kept until the end */
    SLC_PLACE_STREAMED, /* a ring of n_buffers tiles */
    SLC_PLACE_MAPPED    /* in mapped host memory */
} slc_placement;

typedef struct slc_plan_operand {
    slc_placement placement;
    int n_buffers;      /* device buffers; 0 if mapped */
    int n_staging;      /* pinned host buffers; 0 for work operands, mapped ones and in place */
    bool is_in_place;   /* an input that is read into its device buffers, and not copied to them */
    int64_t tile_bytes; /* of a full tile; of the whole array if sparse */
    /* Of one staging buffer: a full tile; the piece that is drained; of a sparse input, the piece that
     * is loaded. */
    int64_t staging_bytes;
    int64_t n_moves; /* tiles loaded or drained over the run; a sparse input is loaded once */
    /* Over the link or in place, whole run, edge tiles counted exactly; 0 if mapped. */
    int64_t bytes_moved;
    /* Host tier, see slc_plan_tier_use. `tier_cycle` different tiles come round again with each turn of
     * the loop at depth `tier_depth`, `tier_rounds` times in all before others take their place; the
     * first `n_tier_tiles` of them are kept decoded in RAM, each in a buffer of tile_bytes. 0: none is,
     * and the other three mean nothing. Inputs that the same moving axes index, which one source may
     * deliver together, have equal numbers here. */
    int64_t tier_cycle, tier_rounds, n_tier_tiles;
    int tier_depth;
    int64_t bytes_read; /* from the source; the rest of bytes_moved comes from the tier. A sparse */
                        /* input is read once, before the first tile */
    double touches;     /* sparse: elements touched over the run, about */
    char why[160];      /* sparse: why it is resident or mapped, one sentence; else "" */
} slc_plan_operand;

typedef enum slc_bottleneck {
    SLC_BOUND_KERNEL,
    SLC_BOUND_READ, /* files and decoding */
    SLC_BOUND_H2D,
    SLC_BOUND_D2H,
    SLC_BOUND_WRITE,
    SLC_BOUND_COUNT
} slc_bottleneck;

/* Plain data; copied freely. */
typedef struct slc_plan {
    int n_axes;
    slc_box region;             /* of the iteration space; all of it unless another was asked for */
    int64_t tile[SLC_MAX_AXES]; /* extents of a full tile */
    int64_t n_tiles_of[SLC_MAX_AXES];
    int order[SLC_MAX_AXES]; /* order[0] is the outermost loop's axis */
    int64_t n_tiles;         /* tiles of the whole run */
    int64_t n_visited;       /* of them, those that the job does not skip; bytes, moves and */
                             /* seconds are of these. Of more than a million tiles, about */
    double visited_share;    /* their part of the iteration space */
    int64_t n_passes;        /* how often the streamed input that moves most is read */
    int n_slots;             /* staging slots of streamed inputs */
    int n_operands;
    slc_plan_operand operand[SLC_MAX_OPERANDS];
    int64_t device_peak_bytes;        /* the slab, rounded up to the allocation unit */
    int64_t host_peak_bytes;          /* staging, tier and mapped arrays together */
    int64_t tier_bytes, mapped_bytes; /* parts of host_peak_bytes */
    int64_t bytes_read;               /* decoded, from sources */
    int64_t bytes_tier;               /* from the host tier instead */
    int64_t bytes_h2d, bytes_d2h, bytes_written;
    double unit_reads;   /* how often a natural unit is decoded in one pass, on average; */
                         /* 1: tiles are whole units, or there are no units */
    double unit_writes;  /* in how many parts a unit of the output comes to its sink; likewise */
    double seconds_read; /* fetching, decoding, and copies to and from the tier: the same threads */
    double seconds_h2d, seconds_kernel, seconds_d2h, seconds_write;
    double seconds_total; /* expected, stages overlapping */
    double seconds_tile;  /* kernel time of a full tile */
    /* Each tile's launches are recorded once for each set of buffers and replayed as one, because they
     * would take over 5 % of the tile's time. */
    bool uses_graphs;
    slc_bottleneck bottleneck;
    /* The least device budget that works with the request's host budget, and the least host budget that
     * works with its device budget. (Where the other one is too small for any plan, the least at
     * all.) */
    int64_t smallest_device_bytes, smallest_host_bytes;
    /* What one slot with a tile of whole natural units takes: with less, units are decoded, or written,
     * several times. Zeros where there are none, or a sparse operand. */
    int64_t whole_device_bytes, whole_host_bytes;
} slc_plan;

SLC_API slc_rates slc_rates_default(slc_device_kind device);

/* Makes the plan. SLC_ERROR_NO_PLAN when nothing fits: then only the smallest_… members are set and
 * the message names them; with that budget a plan is found, with one byte less none is.
 * SLC_ERROR_UNSUPPORTED where the numbers of no plan fit 64 bits; SLC_ERROR_ARGUMENT for a job that
 * contradicts itself. */
SLC_API SLC_MUST_USE slc_status slc_plan_make(const slc_job *job, const slc_plan_request *request,
                                              slc_plan *out);

/* Tile number `index` (0 … n_tiles - 1) in the order of the run. */
SLC_API slc_tile slc_plan_tile(const slc_plan *plan, int64_t index);

/* What the host tier does for one fill of an input. */
typedef enum slc_tier_move {
    SLC_TIER_READ,          /* read from the source; not kept */
    SLC_TIER_READ_AND_KEEP, /* read from the source, then kept in `slot` */
    SLC_TIER_FROM_KEPT      /* `slot` holds it: the source is not asked */
} slc_tier_move;

typedef struct slc_tier_use {
    slc_tier_move move;
    int64_t fill; /* number of the fill among the operand's own, in the order of the run, from 0 */
    int64_t slot; /* 0 … n_tier_tiles - 1; -1 for SLC_TIER_READ */
    int64_t set;  /* rises when the kept tiles make room for others: a slot's content is the tile */
                  /* that is asked for when it was kept in the same set, and only then */
} slc_tier_use;

/* How input `operand` (not sparse) gets its tile for tile number `index` of the run. This is the only
 * home of the rule: the plan's bytes are counted by it. A run that skips tiles may find that a slot
 * to be taken from was not kept in `set`; then it reads the tile and keeps it. */
SLC_API slc_tier_use slc_plan_tier_use(const slc_plan *plan, const slc_job *job, int operand,
                                       int64_t index);

/* "kernel", "reading", ... Static storage. */
SLC_API const char *slc_bottleneck_name(slc_bottleneck bottleneck);

#ifdef __cplusplus
}
#endif
#endif
