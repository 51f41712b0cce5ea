/* The memory of a plan: bytes of tiles, numbers of buffers, peaks.
 *
 *     operand           on the device                     in host memory
 *     input, moves      one tile a slot                   the same, for staging
 *     input, stays      one tile                          the same
 *     input, in place   as above                          -
 *     output, moves     2 tiles (1 with a single slot)    2 pieces, a piece a slot where a tile takes
 *                                                         more than one (1)
 *       written once,   one tile a slot                   one tile a slot (1 piece)
 *       not too large
 *     output, stays     1 tile                            2 pieces, if it takes more than one (1)
 *     work              1 tile                            -
 *     sparse, resident  the whole array                   pieces for loading it
 *     sparse, mapped    -                                 the whole array
 *
 * With a single slot every number here grows with every extent of a tile (a piece is as large as it
 * may be, not as large as whole rows make it). So one granule a tile and one slot is the least that
 * any plan takes, of device and of host memory at once, and the search may leave out everything above
 * a tile that is too large already.
 */
#include <assert.h>

#include "core/arena.h"
#include "core/checked.h"
#include "ooc/plan_internal.h"

/* Outputs drain, and sparse inputs load, in pieces of about this size, so that a large array needs
 * little pinned memory; at 16 MiB a copy runs at the bus's full speed (MEASURED: 4 MiB 53 GB/s, 16 MiB
 * 55 GB/s). */
#define PIECE_BYTES (16ll << 20)

/* Outputs that every tile writes anew have a buffer for each slot, up to this size, and leave the
 * device in one copy. With two of them, or with pieces, the bus has one copy left to do while the
 * writer wakes up and the scheduler after it, and stands still between pieces: a stream through an H200
 * reached 0.93 of the bus both ways with 64 MiB tiles in pieces of 16, and 0.98 with whole ones. */
#define WHOLE_TILE_BYTES (64ll << 20)

/* Where the caller names no number of slots, tiles get more than the usual number up to so many bytes
 * of each operand, and so many at most where a copy is long enough alone: from 4 slots on, tiles of
 * 8 MiB and more are copied at the same rate (measured on an H200). What is smaller is copied several
 * at a time besides. Fewer are taken where all of them would not stay in the processors' cache
 * (ooc/plan_cost.c). */
#define SLOTS_BYTES (128ll << 20)
#define LONG_COPY_BYTES (8ll << 20)
#define LONG_COPY_SLOTS 8

/* Pieces of a sparse input that are read at the same time, for each slot of the plan. */
#define SPARSE_PIECES_PER_SLOT 2

bool slci_is_output(const slc_operand *operand) {
    return operand->access == SLC_ACCESS_OUT || operand->access == SLC_ACCESS_UPDATE;
}

bool slci_is_indexed_by(const slc_operand *operand, int axis) {
    for (int d = 0; d < operand->rank; d++) {
        if (operand->axes[d] == axis) {
            return true;
        }
    }
    return false;
}

int slci_innermost_own_depth(const slc_job *job, const slc_plan *plan, int o) {
    int depth = plan->n_axes - 1;
    while (depth >= 0 && (plan->n_tiles_of[plan->order[depth]] <= 1 ||
                          !slci_is_indexed_by(&job->operands[o], plan->order[depth]))) {
        depth--;
    }
    return depth;
}

bool slci_common_multiple(int64_t a, int64_t b, int64_t *out) {
    int64_t x = a;
    int64_t y = b;
    while (y != 0) {
        const int64_t rest = x % y;
        x = y;
        y = rest;
    }
    return slc_checked_mul(a / x, b, out);
}

/* Small tiles are copied several at a time (ooc/fill.c), while a kernel runs on others and yet
 * others are on their way back: that takes more slots than large ones need. What is read in place is
 * not copied, and had better be used before it leaves the cache of the processor that has read it:
 * sums of singles took a fifth less processor time with 4 slots of 1 to 2 MiB than with 16. */
int slci_most_slots(const slci_planner *planner, const slc_plan *plan) {
    if (planner->request.max_slots > 0) {
        return planner->request.max_slots;
    }
    if (planner->request.reads_in_place) {
        return SLCI_DEFAULT_SLOTS;
    }
    int64_t bytes = 1;
    for (int o = 0; o < plan->n_operands; o++) {
        const slc_operand *operand = &planner->job->operands[o];
        if (!operand->is_sparse && operand->access != SLC_ACCESS_WORK) {
            bytes = slc_max_i64(bytes, plan->operand[o].tile_bytes);
        }
    }
    const int64_t most = bytes < LONG_COPY_BYTES ? SLC_MAX_SLOTS : LONG_COPY_SLOTS;
    const int64_t n = slc_min_i64(SLOTS_BYTES / bytes, most);
    return (int)slc_max_i64(n, SLCI_DEFAULT_SLOTS);
}

/* Of the tile of an output or a sparse input, the bytes that are staged at once where not all are. */
static int64_t piece_bytes(const slc_operand *operand, const slc_layout *tile) {
    const int64_t tile_bytes = slc_layout_bytes(tile);
    if (operand->is_sparse) {
        return slc_min_i64(tile_bytes, PIECE_BYTES);
    }
    if (tile->rank == 0 || tile->shape[0] == 0) {
        return tile_bytes;
    }
    const int64_t row_bytes = tile_bytes / tile->shape[0];
    return slc_min_i64(tile_bytes, slc_max_i64(row_bytes, PIECE_BYTES));
}

/* Bytes of one full tile of an operand, and of what is staged of it. */
static slc_status size_operand(const slc_job *job, const int64_t *extent, int o,
                               slc_plan_operand *out) {
    const slc_operand *operand = &job->operands[o];
    slc_layout tile;
    SLC_TRY(slc_job_tile_layout(job, o, extent, &tile));
    const bool has_pieces = slci_is_output(operand) || operand->is_sparse;
    out->tile_bytes = slc_layout_bytes(&tile);
    out->staging_bytes = has_pieces ? piece_bytes(operand, &tile) : out->tile_bytes;
    return SLC_OK;
}

/* A tile's footprint by a function is known for the tiles of a grid that begins at 0. A region's tiles
 * are pieces of those where it begins on that grid. */
static bool is_on_grid(const slc_job *job, const slc_plan *plan) {
    for (int o = 0; o < job->n_operands; o++) {
        for (int a = 0; a < job->n_axes && job->operands[o].footprint != NULL; a++) {
            if (plan->region.extent[a] > 0 && plan->region.origin[a] % plan->tile[a] != 0) {
                return false;
            }
        }
    }
    return true;
}

bool slci_plan_set_tile(const slci_planner *planner, const int64_t *extent, slc_plan *plan) {
    const slc_job *job = planner->job;
    *plan = (slc_plan){.n_axes = job->n_axes,
                       .n_operands = job->n_operands,
                       .n_tiles = 1,
                       .region = planner->request.region};
    for (int a = 0; a < job->n_axes; a++) {
        plan->tile[a] = extent[a];
        plan->n_tiles_of[a] = slc_ceil_div(plan->region.extent[a], extent[a]);
        if (job->axes[a].kind != SLC_AXIS_PARALLEL) {
            /* A sum over nothing is zero, and somebody has to say so: one tile of extent 0. */
            plan->n_tiles_of[a] = slc_max_i64(plan->n_tiles_of[a], 1);
        }
        if (!slc_checked_mul(plan->n_tiles, plan->n_tiles_of[a], &plan->n_tiles)) {
            plan->n_tiles = -1;
            return false;
        }
    }
    plan->n_visited = plan->n_tiles;
    plan->visited_share = 1;
    int64_t descriptions_bytes = 0;
    if (!slc_checked_mul(plan->n_tiles, (int64_t)sizeof(slc_tile), &descriptions_bytes)) {
        plan->n_tiles = -1;
        return false;
    }
    double points = 1;
    for (int a = 0; a < job->n_axes; a++) {
        points *= (double)plan->region.extent[a];
    }
    for (int o = 0; o < job->n_operands; o++) {
        if (size_operand(job, plan->tile, o, &plan->operand[o]) != SLC_OK) {
            return false;
        }
        plan->operand[o].touches = job->operands[o].touches_per_point * points;
    }
    return is_on_grid(job, plan);
}

static void count_sparse_buffers(slc_placement placement, int n_slots, slc_plan_operand *sized) {
    sized->placement = placement;
    sized->n_buffers = placement == SLC_PLACE_MAPPED ? 0 : 1;
    sized->n_staging = 0;
    if (placement != SLC_PLACE_MAPPED) {
        const int64_t pieces =
            slc_ceil_div(sized->tile_bytes, slc_max_i64(sized->staging_bytes, 1));
        const int64_t most = n_slots > 1 ? SPARSE_PIECES_PER_SLOT * (int64_t)n_slots : 1;
        sized->n_staging = (int)slc_max_i64(slc_min_i64(pieces, most), 1);
    }
}

/* Of an output. `moves`: it has more than one tile. */
static void count_output_buffers(const slc_job *job, int o, bool moves, slc_plan *plan) {
    const slc_operand *operand = &job->operands[o];
    slc_plan_operand *sized = &plan->operand[o];
    const int n_slots = plan->n_slots;
    slc_layout tile;
    const slc_status status = slc_job_tile_layout(job, o, plan->tile, &tile);
    assert(status == SLC_OK); /* the tile was sized before */
    (void)status;
    const bool is_whole = operand->access == SLC_ACCESS_OUT && moves && n_slots > 1 &&
                          sized->tile_bytes <= WHOLE_TILE_BYTES;
    sized->staging_bytes = is_whole ? sized->tile_bytes : piece_bytes(operand, &tile);
    const bool is_cut = sized->staging_bytes < sized->tile_bytes;
    const int n_several = is_whole ? n_slots : SLC_DRAIN_PIECES;
    sized->n_buffers = moves && n_slots > 1 ? n_several : 1;
    const int n_pieces = !moves ? SLC_DRAIN_PIECES : is_cut ? n_slots : n_several;
    sized->n_staging = (moves || is_cut) && n_slots > 1 ? n_pieces : 1;
}

static void count_buffers(const slci_planner *planner, int o, slc_plan *plan) {
    const slc_operand *operand = &planner->job->operands[o];
    slc_plan_operand *sized = &plan->operand[o];
    if (operand->is_sparse) {
        count_sparse_buffers(planner->sparse[o], plan->n_slots, sized);
        return;
    }
    bool moves = false; /* more than one tile of its own */
    for (int a = 0; a < plan->n_axes; a++) {
        moves = moves || (plan->n_tiles_of[a] > 1 && slci_is_indexed_by(operand, a));
    }
    sized->placement = moves ? SLC_PLACE_STREAMED : SLC_PLACE_RESIDENT;
    if (operand->access == SLC_ACCESS_WORK) {
        sized->n_buffers = 1;
        sized->n_staging = 0;
    } else if (slci_is_output(operand)) {
        count_output_buffers(planner->job, o, moves, plan);
    } else {
        sized->n_buffers = moves ? plan->n_slots : 1;
        sized->is_in_place = planner->request.reads_in_place;
        sized->n_staging = sized->is_in_place ? 0 : sized->n_buffers;
    }
}

static bool add_buffers(int64_t bytes, int n, int64_t *sum) {
    int64_t cost = 0;
    return slc_checked_mul(slc_arena_cost(bytes), n, &cost) && slc_checked_add(*sum, cost, sum);
}

bool slci_plan_set_slots(const slci_planner *planner, int n_slots, slc_plan *plan) {
    int64_t device_bytes = 0;
    int64_t host_bytes = 0;
    plan->n_slots = n_slots;
    plan->mapped_bytes = plan->tier_bytes = 0;
    for (int o = 0; o < plan->n_operands; o++) {
        const slc_plan_operand *sized = &plan->operand[o];
        count_buffers(planner, o, plan);
        if (!add_buffers(sized->tile_bytes, sized->n_buffers, &device_bytes) ||
            !add_buffers(sized->staging_bytes, sized->n_staging, &host_bytes) ||
            !add_buffers(sized->tile_bytes, sized->placement == SLC_PLACE_MAPPED ? 1 : 0,
                         &plan->mapped_bytes)) {
            return false;
        }
    }
    /* One tile description per slot and one being filled, on both sides. */
    const int64_t tiles_bytes = (n_slots + 1) * slc_arena_cost((int64_t)sizeof(slc_tile));
    /* The state of a loop on each tile is looked at by the host. */
    const int64_t loop_bytes =
        planner->job->most_iterations > 0 ? slc_arena_cost((int64_t)sizeof(slc_loop_state)) : 0;
    if (!slc_checked_add(device_bytes, tiles_bytes, &device_bytes) ||
        !slc_checked_add(host_bytes, tiles_bytes + loop_bytes, &host_bytes) ||
        !slc_checked_add(host_bytes, plan->mapped_bytes, &host_bytes) ||
        device_bytes > INT64_MAX - planner->request.allocation_unit_bytes) {
        return false;
    }
    plan->device_peak_bytes = slc_round_up(device_bytes, planner->request.allocation_unit_bytes);
    plan->host_peak_bytes = host_bytes;
    return true;
}

bool slci_plan_fits(const slci_planner *planner, const slc_plan *plan) {
    return plan->device_peak_bytes <= planner->request.device_budget_bytes &&
           plan->host_peak_bytes <= planner->request.host_budget_bytes;
}
