/* What the engine runs: an iteration space, the arrays it touches, and the functions that compute.
 * A job says nothing about memory, files or devices; one planner serves them all by looking at its
 * axes and operands. Direct imaging is axes (row, y, x), uvw, vis and weight indexed by row in,
 * image(y, x) update.
 *
 *     slc_job job = {.name = "sum", .n_axes = 1, .axes = {{"row", n, 1, SLC_AXIS_REDUCED}},
 *                    .n_operands = 2, .operands = {...}, .tile = enqueue_sum};
 *     SLC_TRY(slc_engine_run(&job, &plan, &engine_options, &report));
 */
#ifndef SLC_CORE_JOB_H
#define SLC_CORE_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "core/device.h"
#include "core/layout.h"
#include "core/source.h"
#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SLC_MAX_AXES 4
#define SLC_MAX_OPERANDS 16

typedef enum slc_axis_kind {
    SLC_AXIS_PARALLEL, /* tiles are independent */
    SLC_AXIS_REDUCED,  /* updates without this axis are summed over it; order is free */
    SLC_AXIS_ORDERED   /* tiles come in rising order and carry state (a scan) */
} slc_axis_kind;

/* Tiles are whole granules: origins are multiples of `granule`, extents too but for the last. */
typedef struct slc_axis {
    const char *name;
    int64_t extent;
    int64_t granule;
    slc_axis_kind kind;
} slc_axis;

typedef enum slc_access {
    SLC_ACCESS_IN,     /* read from a source */
    SLC_ACCESS_OUT,    /* every element written by exactly one tile */
    SLC_ACCESS_UPDATE, /* starts as zero bytes, accumulated by tiles, drained once complete */
    SLC_ACCESS_WORK    /* device only, uninitialised, alive for the whole run */
} slc_access;

/* One piece of the iteration space. Lies in device memory when a tile function sees it. */
typedef struct slc_tile {
    int64_t origin[SLC_MAX_AXES];
    int64_t extent[SLC_MAX_AXES];
    int64_t index; /* position in the order of the run, from 0 */
} slc_tile;

#define SLC_AXIS_FIXED (-1)

/* One array. Dimension d is indexed by axis axes[d], or is SLC_AXIS_FIXED: of extent
 * fixed_extent[d] and always whole. An axis dimension holds `per_step[d]` elements (0 means 1) for
 * each step of the axis. An input with no axis is resident. */
typedef struct slc_operand {
    const char *name;
    slc_dtype dtype;
    slc_access access;
    int rank;
    int axes[SLC_MAX_RANK];
    int64_t fixed_extent[SLC_MAX_RANK];
    int64_t per_step[SLC_MAX_RANK];
    int64_t halo[SLC_MAX_RANK]; /* elements beyond the tile on both sides; inputs only */
    /* Inputs only: any tile may touch any element. The whole array is loaded before the first tile,
     * into device memory or mapped host memory, as the plan says. */
    bool is_sparse;
    /* Sparse: how many elements one point of the iteration space touches, about. For the plan. */
    double touches_per_point;
    /* Work: holds what later tiles need, so a checkpoint saves it. */
    bool keeps_state;
    /* (optional) The box a tile reads, where axes and halo do not say it. Pure. */
    slc_box (*footprint)(const void *state, const slc_tile *tile);
} slc_operand;

/* What a tile function may use. d_operand[o] points at the operand's tile, dense with the strides
 * of a full tile: layout[o] has the shape of a full tile. An operand's element (i, …) of the tile is
 * at index i minus the tile's origin. Edge tiles fill only the first extents. */
typedef struct slc_tile_arguments {
    slc_device *device;
    slc_stream *stream;
    const slc_tile *d_tile;
    const int64_t *full_extent; /* [n_axes], host: extents of a full tile, for the launch shape */
    void *d_operand[SLC_MAX_OPERANDS];
    const slc_layout *layout; /* [n_operands], host */
} slc_tile_arguments;

typedef struct slc_job {
    const char *name;
    int n_axes;
    slc_axis axes[SLC_MAX_AXES];
    int n_operands;
    slc_operand operands[SLC_MAX_OPERANDS];
    void *state;

    /* (optional) Makes handles, plans and graphs, before the memory baseline is read. */
    slc_status (*prepare)(void *state, slc_device *device);
    /* Enqueues one tile on its stream: no allocation, no synchronisation. It must not look at
     * anything but the arguments, so that a captured graph can be replayed. */
    slc_status (*tile)(void *state, const slc_tile_arguments *arguments);
    /* (optional) Enqueued on the same stream before the first and after the last tile of each value
     * of `axis`. */
    slc_status (*enter)(void *state, int axis, const slc_tile_arguments *arguments);
    slc_status (*leave)(void *state, int axis, const slc_tile_arguments *arguments);
    /* (optional) False lets the engine skip a tile altogether. An output tile all of whose tiles are
     * skipped is not written: what its sink held before stands. Pure. */
    bool (*touches)(const void *state, const slc_tile *tile);
    /* (optional) Called when all tiles are done: whether to run them all again. */
    slc_status (*next_round)(void *state, bool *again);
    /* (optional) Called once at the very end, on the host. */
    slc_status (*finish)(void *state);

    /* (optional) A loop: on each tile the tile function runs again and again, until it has set is_done
     * of the slc_loop_state that work operand number `loop_operand` (i64, 4 elements, no axis) is, and
     * `most_iterations` times at most. The card decides by itself where it can. 0: it runs once. */
    int64_t most_iterations;
    int loop_operand;
} slc_job;

/* Where operand o is read from or written to: IN needs a source and a field, OUT and UPDATE a sink,
 * WORK neither. Operands with the same source are read together, in one call. */
typedef struct slc_binding {
    slc_source *source;
    int field;
    slc_sink *sink;
} slc_binding;

/* Whether axes, operands and functions fit together; SLC_ERROR_ARGUMENT names what does not. */
SLC_API SLC_MUST_USE slc_status slc_job_check(const slc_job *job);

/* The box of operand `o` that `tile` (extents > 0) touches, within the operand's full shape. */
SLC_API slc_box slc_job_footprint(const slc_job *job, int o, const slc_tile *tile);

/* The full shape of operand `o`, and the shape of its largest tile when tiles are `extent` [n_axes].
 * SLC_ERROR_ARGUMENT when a size does not fit int64_t. */
SLC_API SLC_MUST_USE slc_status slc_job_full_layout(const slc_job *job, int o, slc_layout *out);
SLC_API SLC_MUST_USE slc_status slc_job_tile_layout(const slc_job *job, int o,
                                                    const int64_t *extent, slc_layout *out);

#ifdef __cplusplus
}
#endif
#endif
