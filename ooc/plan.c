/* How the planner works.
 *
 * A plan is a tile extent for each axis, an order of the loops and a number of slots. The loops visit
 * tiles like an odometer, order[0] turning slowest. An operand is moved only when its own tile
 * changes, so with loops of n_0, n_1, … tiles (outermost first) an operand whose innermost loop is at
 * depth d moves
 *
 *     n_0 · n_1 · … · n_d      times,
 *
 * of which the product over its own axes are different tiles; the quotient is how often the operand
 * is read again. An output or update may not be revisited (it would have to be read back), which
 * rules out the orders where that quotient is not 1.
 *
 *     order (y, x, row), 2 × 2 image tiles, 4 row tiles        image tile  A A A A B B B B C C C C …
 *                                                              row tile    0 1 2 3 0 1 2 3 0 1 2 3 …
 *
 * Memory grows with every extent and with the slots, so the smallest plan is one granule a tile and
 * one slot; its size is the smallest budget that works. The search walks extents that grow by about
 * 1.4 from one granule to the whole axis, all orders of the axes, and 1 to max_slots slots: for three
 * axes some hundred thousand plans at most, each a few dozen operations.
 *
 * An ordered axis carries state from tile to tile, so nothing may turn faster than it.
 */
#include "ooc/plan.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "core/arena.h"
#include "core/checked.h"

/* Extents tried for one axis; 64 steps of 1.4 reach 2^31 granules, twice where there are units. */
#define MAX_CANDIDATES 136

/* Outputs drain in pieces of about this size, so that a large image needs little pinned memory; at
 * 16 MiB a copy runs at the bus's full speed (MEASURED: 4 MiB 53 GB/s, 16 MiB 55 GB/s). */
#define DRAIN_PIECE_BYTES (16ll << 20)

#define DEFAULT_MAX_SLOTS 4

/* No plan moves more than this of one operand: twelve of them still fit 64 bits. */
#define MOST_BYTES 0x1p59

slc_rates slc_rates_default(slc_device_kind device) {
    /* One core decodes about 1.3 GB/s of compressed data; buses as in a PCIe 4 machine. The host
     * device copies at the speed of one thread's memcpy. */
    slc_rates rates = {.disk_bytes_per_s = 1e9,
                       .read_bytes_per_s = 1.3e9,
                       .tier_bytes_per_s = 8e9,
                       .h2d_bytes_per_s = 20e9,
                       .d2h_bytes_per_s = 20e9,
                       .write_bytes_per_s = 1e9,
                       .device_touches_per_s = 1e10,
                       .mapped_touches_per_s = 5e7,
                       .step_seconds = 20e-6};
    if (device == SLC_DEVICE_HOST) {
        rates.h2d_bytes_per_s = 8e9;
        rates.d2h_bytes_per_s = 8e9;
        rates.step_seconds = 50e-6;
    }
    return rates;
}

/* Rates that are not given are the host's defaults. */
static void fill_rates(slc_rates *rates) {
    const slc_rates usual = slc_rates_default(SLC_DEVICE_HOST);
    double *const given[] = {&rates->read_bytes_per_s, &rates->h2d_bytes_per_s,
                             &rates->d2h_bytes_per_s, &rates->write_bytes_per_s,
                             &rates->step_seconds};
    const double defaults[] = {usual.read_bytes_per_s, usual.h2d_bytes_per_s, usual.d2h_bytes_per_s,
                               usual.write_bytes_per_s, usual.step_seconds};
    for (size_t i = 0; i < sizeof defaults / sizeof defaults[0]; i++) {
        *given[i] = *given[i] > 0 ? *given[i] : defaults[i];
    }
}

const char *slc_bottleneck_name(slc_bottleneck bottleneck) {
    static const char *const names[SLC_BOUND_COUNT] = {
        [SLC_BOUND_KERNEL] = "kernel",
        [SLC_BOUND_READ] = "reading",
        [SLC_BOUND_H2D] = "copies to the device",
        [SLC_BOUND_D2H] = "copies from the device",
        [SLC_BOUND_WRITE] = "writing",
    };
    return (unsigned)bottleneck < SLC_BOUND_COUNT ? names[bottleneck] : "unknown";
}

static int64_t n_granules(const slc_axis *axis) {
    return slc_ceil_div(axis->extent, axis->granule);
}

/* The least common multiple of two positive numbers; false when it does not fit. */
static bool common_multiple(int64_t a, int64_t b, int64_t *out) {
    int64_t x = a;
    int64_t y = b;
    while (y != 0) {
        const int64_t rest = x % y;
        x = y;
        y = rest;
    }
    return slc_checked_mul(a / x, b, out);
}

/* Extents from one granule up to the whole axis, growing by about 1.4; one granule for an empty one. */
static int list_candidates(const slc_axis *axis, int64_t unit, int64_t forced, int64_t *extents) {
    if (forced > 0) {
        extents[0] = slc_round_up(forced, axis->granule);
        return 1;
    }
    const int64_t whole = slc_max_i64(n_granules(axis), 1);
    int n = 0;
    for (int64_t granules = 1; granules < whole && n < MAX_CANDIDATES - 1;) {
        extents[n++] = granules * axis->granule;
        granules = slc_max_i64(granules + 1, (int64_t)((double)granules * 1.4));
    }
    /* The same again in steps that are whole units as well as whole granules. */
    int64_t step = 0;
    if (unit > 1 && common_multiple(axis->granule, unit, &step)) {
        for (int64_t steps = 1; steps < slc_ceil_div(axis->extent, step) && n < MAX_CANDIDATES - 1;
             steps = slc_max_i64(steps + 1, (int64_t)((double)steps * 1.4))) {
            extents[n++] = steps * step;
        }
    }
    extents[n++] = whole * axis->granule;
    return n;
}

static bool is_output(const slc_operand *operand) {
    return operand->access == SLC_ACCESS_OUT || operand->access == SLC_ACCESS_UPDATE;
}

static bool is_indexed_by(const slc_operand *operand, int axis) {
    for (int d = 0; d < operand->rank; d++) {
        if (operand->axes[d] == axis) {
            return true;
        }
    }
    return false;
}

/* Bytes of one full tile of an operand, and of the piece in which it is staged. */
static slc_status size_operand(const slc_job *job, const int64_t *extent, int o,
                               slc_plan_operand *out) {
    const slc_operand *operand = &job->operands[o];
    slc_layout tile;
    SLC_TRY(slc_job_tile_layout(job, o, extent, &tile));
    out->tile_bytes = slc_layout_bytes(&tile);
    out->staging_bytes = out->tile_bytes;
    if (is_output(operand) && tile.rank > 0 && tile.shape[0] > 0) {
        const int64_t slice_bytes = out->tile_bytes / tile.shape[0];
        const int64_t slices = slc_max_i64(DRAIN_PIECE_BYTES / slc_max_i64(slice_bytes, 1), 1);
        out->staging_bytes = slice_bytes * slc_min_i64(slices, tile.shape[0]);
    }
    return SLC_OK;
}

/* Fills in buffers and memory for tile extents and slots; false when a size does not fit int64_t. */
static bool size_plan(const slc_job *job, const slc_plan_request *request, int n_slots,
                      slc_plan *plan) {
    int64_t device_bytes = 0;
    int64_t host_bytes = 0;
    plan->n_slots = n_slots;
    for (int o = 0; o < job->n_operands; o++) {
        const slc_operand *operand = &job->operands[o];
        slc_plan_operand *sized = &plan->operand[o];
        bool moves = false; /* more than one tile of its own */
        for (int a = 0; a < job->n_axes; a++) {
            moves = moves || (is_indexed_by(operand, a) && plan->n_tiles_of[a] > 1);
        }
        if (size_operand(job, plan->tile, o, sized) != SLC_OK) {
            return false;
        }
        sized->placement = moves ? SLC_PLACE_STREAMED : SLC_PLACE_RESIDENT;
        if (operand->access == SLC_ACCESS_WORK) {
            sized->n_buffers = 1;
            sized->n_staging = 0;
        } else if (is_output(operand)) {
            sized->n_buffers = moves && n_slots > 1 ? 2 : 1;
            sized->n_staging =
                sized->staging_bytes < sized->tile_bytes || moves ? SLC_DRAIN_PIECES : 1;
        } else {
            sized->n_buffers = moves ? n_slots : 1;
            sized->n_staging = sized->n_buffers;
        }
        int64_t bytes = 0;
        if (!slc_checked_mul(slc_arena_cost(sized->tile_bytes), sized->n_buffers, &bytes) ||
            !slc_checked_add(device_bytes, bytes, &device_bytes) ||
            !slc_checked_mul(slc_arena_cost(sized->staging_bytes), sized->n_staging, &bytes) ||
            !slc_checked_add(host_bytes, bytes, &host_bytes)) {
            return false;
        }
    }
    /* One tile description per slot and one being filled, on both sides. */
    const int64_t tiles_bytes = (n_slots + 1) * slc_arena_cost((int64_t)sizeof(slc_tile));
    if (!slc_checked_add(device_bytes, tiles_bytes, &device_bytes) ||
        !slc_checked_add(host_bytes, tiles_bytes, &host_bytes) ||
        device_bytes > INT64_MAX - request->allocation_unit_bytes) {
        return false;
    }
    plan->device_peak_bytes = slc_round_up(device_bytes, request->allocation_unit_bytes);
    plan->host_peak_bytes = host_bytes;
    return true;
}

/* Σ of an operand's extents along dimension `d` over all tiles of its axis: the extent itself, plus
 * the halos that lie inside the array. */
static double sum_of_extents(const slc_job *job, const slc_plan *plan, const slc_operand *operand,
                             int d) {
    const int axis = operand->axes[d];
    if (axis == SLC_AXIS_FIXED) {
        return (double)operand->fixed_extent[d];
    }
    const int64_t step = operand->per_step[d] > 0 ? operand->per_step[d] : 1;
    const int64_t extent = job->axes[axis].extent * step;
    double sum = (double)extent;
    if (operand->halo[d] > 0) {
        for (int64_t t = 0; t < plan->n_tiles_of[axis]; t++) {
            const int64_t begin = t * plan->tile[axis] * step;
            const int64_t end = slc_min_i64(begin + plan->tile[axis] * step, extent);
            sum += (double)slc_min_i64(operand->halo[d], begin);
            sum += (double)slc_min_i64(operand->halo[d], extent - end);
        }
    }
    return sum;
}

/* How often a unit of `axis` is decoded in one pass, on average: a tile that is no whole number of
 * units shares the unit at each of its ends with a neighbour. */
static double unit_reads(const slc_axis *axis, int64_t unit, int64_t tile) {
    if (unit <= 1 || tile % unit == 0 || tile >= axis->extent || axis->extent == 0) {
        return 1;
    }
    const double n_units = (double)slc_ceil_div(axis->extent, unit);
    const double boundaries = (double)(slc_ceil_div(axis->extent, tile) - 1);
    /* Boundaries that fall on a unit's edge split none; they are one in lcm / tile. */
    int64_t both = 0;
    const double whole = common_multiple(unit, tile, &both) ? (double)tile / (double)both : 0;
    return 1 + boundaries * (1 - whole) / n_units;
}

/* Whether ordered axes turn fastest, in the order of their numbers. */
static bool keeps_order(const slc_job *job, const int *order) {
    for (int depth = 1; depth < job->n_axes; depth++) {
        if (job->axes[order[depth - 1]].kind == SLC_AXIS_ORDERED &&
            (job->axes[order[depth]].kind != SLC_AXIS_ORDERED || order[depth] < order[depth - 1])) {
            return false;
        }
    }
    return true;
}

/* How often and how much every operand moves in this order; false when an output would be revisited.
 * The counts are exact while they fit a double's 53 bits. */
static bool count_traffic(const slc_job *job, slc_plan *plan) {
    if (!keeps_order(job, plan->order)) {
        return false;
    }
    plan->n_passes = 1;
    plan->bytes_read = plan->bytes_h2d = plan->bytes_d2h = plan->bytes_written = 0;
    for (int o = 0; o < job->n_operands; o++) {
        const slc_operand *operand = &job->operands[o];
        slc_plan_operand *moved = &plan->operand[o];
        int64_t moves = 1;
        int64_t own = 1;
        int64_t up_to_here = 1;
        for (int depth = 0; depth < job->n_axes; depth++) {
            const int64_t n = plan->n_tiles_of[plan->order[depth]];
            up_to_here *= n;
            if (is_indexed_by(operand, plan->order[depth])) {
                own *= n; /* both stay within n_tiles, which was checked */
                /* A loop of one tile changes nothing, so it does not make outer loops count. */
                moves = n > 1 ? up_to_here : moves;
            }
        }
        if (plan->n_tiles == 0) {
            moves = own = 0;
        }
        const int64_t repeats = own > 0 ? moves / own : 0;
        if (is_output(operand) && repeats > 1) {
            return false;
        }
        double bytes = (double)slc_dtype_bytes(operand->dtype) * (double)repeats;
        for (int d = 0; d < operand->rank; d++) {
            bytes *= sum_of_extents(job, plan, operand, d);
        }
        if (!(bytes < MOST_BYTES)) {
            return false;
        }
        moved->n_moves = operand->access == SLC_ACCESS_WORK ? 0 : moves;
        moved->bytes_moved = operand->access == SLC_ACCESS_WORK ? 0 : (int64_t)bytes;
        if (is_output(operand)) {
            plan->bytes_d2h += moved->bytes_moved;
            plan->bytes_written += moved->bytes_moved;
        } else if (operand->access == SLC_ACCESS_IN) {
            plan->bytes_read += moved->bytes_moved;
            plan->bytes_h2d += moved->bytes_moved;
            plan->n_passes = slc_max_i64(plan->n_passes, repeats);
        }
    }
    plan->bytes_h2d += plan->n_tiles * (int64_t)sizeof(slc_tile);
    return true;
}

/* Expected seconds: the longest stage hides the others but for the first fill and the last drain; a
 * single slot hides nothing. */
static void estimate_seconds(const slc_job *job, const slc_plan_request *request, slc_plan *plan) {
    const slc_rates *rates = &request->rates;
    double points = 1;
    double cells = 1;
    double whole_cells = 1;
    for (int a = 0; a < job->n_axes; a++) {
        points *= (double)job->axes[a].extent;
        cells *= (double)slc_ceil_div(plan->tile[a], job->axes[a].granule);
        whole_cells *= (double)slc_max_i64(n_granules(&job->axes[a]), 1);
    }
    double idle = 1; /* how much longer a tile takes because its cells do not fill the device */
    if (request->parallel_units > 0) {
        const double units = (double)request->parallel_units;
        const double filled = fmin(cells, whole_cells);
        idle = ceil(filled / units) * units / filled;
    }
    double tile_points = 1;
    for (int a = 0; a < job->n_axes; a++) {
        tile_points *= (double)slc_min_i64(plan->tile[a], job->axes[a].extent);
    }
    plan->seconds_tile = tile_points * request->seconds_per_point * idle;
    double seconds[SLC_BOUND_COUNT];
    seconds[SLC_BOUND_KERNEL] =
        points * request->seconds_per_point * idle + (double)plan->n_tiles * rates->step_seconds;
    plan->unit_reads = 1;
    for (int a = 0; a < job->n_axes && !request->unit_is_kept; a++) {
        plan->unit_reads *= unit_reads(&job->axes[a], request->unit[a], plan->tile[a]);
    }
    seconds[SLC_BOUND_READ] = (double)plan->bytes_read * plan->unit_reads / rates->read_bytes_per_s;
    seconds[SLC_BOUND_H2D] = (double)plan->bytes_h2d / rates->h2d_bytes_per_s;
    seconds[SLC_BOUND_D2H] = (double)plan->bytes_d2h / rates->d2h_bytes_per_s;
    seconds[SLC_BOUND_WRITE] = (double)plan->bytes_written / rates->write_bytes_per_s;

    double sum = 0;
    plan->bottleneck = SLC_BOUND_KERNEL;
    for (int b = 0; b < SLC_BOUND_COUNT; b++) {
        sum += seconds[b];
        if (seconds[b] > seconds[plan->bottleneck]) {
            plan->bottleneck = (slc_bottleneck)b;
        }
    }
    const double longest = seconds[plan->bottleneck];
    const double parts = plan->n_slots > 1 ? (double)slc_max_i64(plan->n_tiles, 1) : 1;
    plan->seconds_total = longest + (sum - longest) / parts;
    /* More slots ride out uneven tiles. Assumed, not measured: 2 % of the longest stage with one slot,
     * 1 % with two, and so on; enough to prefer a second slot where all else is equal. */
    plan->seconds_total += 0.02 * longest / plan->n_slots;
    plan->seconds_kernel = seconds[SLC_BOUND_KERNEL];
    plan->seconds_read = seconds[SLC_BOUND_READ];
    plan->seconds_h2d = seconds[SLC_BOUND_H2D];
    plan->seconds_d2h = seconds[SLC_BOUND_D2H];
    plan->seconds_write = seconds[SLC_BOUND_WRITE];
}

/* Tiles short enough first, then the faster one; where two are equally fast, less memory. */
static bool is_better(const slc_plan_request *request, const slc_plan *a, const slc_plan *b) {
    const double most = request->most_tile_seconds;
    if (most > 0 && (a->seconds_tile > most || b->seconds_tile > most) &&
        a->seconds_tile != b->seconds_tile) {
        return a->seconds_tile < b->seconds_tile;
    }
    if (a->seconds_total != b->seconds_total) {
        return a->seconds_total < b->seconds_total;
    }
    return a->device_peak_bytes < b->device_peak_bytes;
}

/* The next permutation of order[0 … n) in lexical order; false after the last one. */
static bool next_order(int *order, int n) {
    int i = n - 2;
    while (i >= 0 && order[i] > order[i + 1]) {
        i--;
    }
    if (i < 0) {
        return false;
    }
    int j = n - 1;
    while (order[j] < order[i]) {
        j--;
    }
    const int swapped = order[i];
    order[i] = order[j];
    order[j] = swapped;
    for (int a = i + 1, b = n - 1; a < b; a++, b--) {
        const int reversed = order[a];
        order[a] = order[b];
        order[b] = reversed;
    }
    return true;
}

static bool set_tile(const slc_job *job, const int64_t *extent, slc_plan *plan) {
    plan->n_axes = job->n_axes;
    plan->n_operands = job->n_operands;
    plan->n_tiles = 1;
    for (int a = 0; a < job->n_axes; a++) {
        const slc_axis *axis = &job->axes[a];
        plan->tile[a] = extent[a];
        plan->n_tiles_of[a] = slc_ceil_div(axis->extent, extent[a]);
        if (axis->kind != SLC_AXIS_PARALLEL) {
            /* A sum over nothing is zero, and somebody has to say so: one tile of extent 0. */
            plan->n_tiles_of[a] = slc_max_i64(plan->n_tiles_of[a], 1);
        }
        if (!slc_checked_mul(plan->n_tiles, plan->n_tiles_of[a], &plan->n_tiles)) {
            return false;
        }
    }
    return true;
}

/* All orders and slots for one choice of tile extents; keeps the best plan that fits. */
static void try_tile(const slc_job *job, const slc_plan_request *request, const int64_t *extent,
                     slc_plan *best, bool *found) {
    slc_plan plan = {0};
    if (!set_tile(job, extent, &plan)) {
        return;
    }
    const int max_slots = request->max_slots > 0 ? request->max_slots : DEFAULT_MAX_SLOTS;
    for (int n_slots = max_slots; n_slots >= 1; n_slots--) {
        if (!size_plan(job, request, n_slots, &plan) ||
            plan.device_peak_bytes > request->device_budget_bytes ||
            plan.host_peak_bytes > request->host_budget_bytes) {
            continue;
        }
        for (int a = 0; a < job->n_axes; a++) {
            plan.order[a] = a;
        }
        do {
            if (!count_traffic(job, &plan)) {
                continue;
            }
            estimate_seconds(job, request, &plan);
            if (!*found || is_better(request, &plan, best)) {
                *best = plan;
                *found = true;
            }
        } while (next_order(plan.order, job->n_axes));
    }
}

/* The smallest budgets: one granule a tile (or the forced extents) and one slot. */
static slc_status find_smallest(const slc_job *job, const slc_plan_request *request,
                                const int64_t *smallest_extent, slc_plan *out) {
    slc_plan plan = {0};
    if (!set_tile(job, smallest_extent, &plan) || !size_plan(job, request, 1, &plan)) {
        return SLC_FAIL(SLC_ERROR_NO_PLAN, "job %s: one tile's size does not fit 64 bits",
                        job->name);
    }
    out->smallest_device_bytes = plan.device_peak_bytes;
    out->smallest_host_bytes = plan.host_peak_bytes;
    return SLC_OK;
}

static slc_status no_plan(const slc_job *job, const slc_plan_request *request,
                          const slc_plan *plan) {
    if (plan->smallest_device_bytes > request->device_budget_bytes) {
        return SLC_FAIL(SLC_ERROR_NO_PLAN,
                        "job %s: no plan fits %lld bytes of device memory; the smallest that works "
                        "is --vram %lld",
                        job->name, (long long)request->device_budget_bytes,
                        (long long)plan->smallest_device_bytes);
    }
    return SLC_FAIL(SLC_ERROR_NO_PLAN,
                    "job %s: no plan fits %lld bytes of host memory for staging; the smallest that "
                    "works is %lld bytes more --ram",
                    job->name, (long long)request->host_budget_bytes,
                    (long long)(plan->smallest_host_bytes - request->host_budget_bytes));
}

slc_status slc_plan_make(const slc_job *job, const slc_plan_request *request, slc_plan *out) {
    SLC_TRY(slc_job_check(job));
    if (request->allocation_unit_bytes < 1) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "plan: the allocation unit is %lld bytes, not 1 or more",
                        (long long)request->allocation_unit_bytes);
    }
    for (int o = 0; o < job->n_operands; o++) {
        if (job->operands[o].is_sparse) {
            return SLC_FAIL(SLC_ERROR_UNSUPPORTED,
                            "job %s: operand %s is sparse, which the planner does not place yet",
                            job->name, job->operands[o].name);
        }
    }
    slc_plan_request filled = *request;
    fill_rates(&filled.rates);
    int64_t candidate[SLC_MAX_AXES][MAX_CANDIDATES];
    int n_candidates[SLC_MAX_AXES] = {0};
    int64_t extent[SLC_MAX_AXES] = {0};
    for (int a = 0; a < job->n_axes; a++) {
        n_candidates[a] =
            list_candidates(&job->axes[a], request->unit[a], request->force_tile[a], candidate[a]);
        extent[a] = candidate[a][0];
    }
    slc_plan smallest = {0};
    SLC_TRY(find_smallest(job, request, extent, &smallest));

    slc_plan best = {0};
    bool found = false;
    int turn[SLC_MAX_AXES] = {0};
    for (bool more = true; more;) {
        for (int a = 0; a < job->n_axes; a++) {
            extent[a] = candidate[a][turn[a]];
        }
        try_tile(job, &filled, extent, &best, &found);
        more = false;
        for (int a = job->n_axes - 1; a >= 0 && !more; a--) {
            turn[a] = (turn[a] + 1) % n_candidates[a];
            more = turn[a] != 0;
        }
    }
    best.smallest_device_bytes = smallest.smallest_device_bytes;
    best.smallest_host_bytes = smallest.smallest_host_bytes;
    *out = best;
    return found ? SLC_OK : no_plan(job, request, &best);
}

slc_tile slc_plan_tile(const slc_plan *plan, const slc_job *job, int64_t index) {
    assert(index >= 0 && index < plan->n_tiles);
    slc_tile tile = {.index = index};
    int64_t rest = index;
    for (int depth = plan->n_axes - 1; depth >= 0; depth--) {
        const int a = plan->order[depth];
        tile.origin[a] = rest % plan->n_tiles_of[a] * plan->tile[a];
        tile.extent[a] = slc_min_i64(plan->tile[a], job->axes[a].extent - tile.origin[a]);
        rest /= plan->n_tiles_of[a];
    }
    return tile;
}
