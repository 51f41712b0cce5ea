/* The seconds that a plan is expected to take, and which of two plans is better.
 *
 * Stages overlap: a run takes as long as its longest stage, plus what the others take at its ends, when
 * nothing hides them, and a little of the rest. At the ends stand the first fill of each input, and the
 * last tile of each output, which is copied and written when no kernel runs any more: an output in few
 * large tiles ends late, however many tiles of inputs there are. With a single slot nothing hides
 * anything. Sparse inputs are loaded before the first tile, so their loading comes on top.
 *
 *     load   ▓▓▓▓▓
 *     read        ▓▓▓▓▓▓▓▓▓▓▓▓
 *     copy in       ▒ ▒ ▒ ▒ ▒ ▒
 *     kernel          ████████████
 *     copy out, write             ▒▓
 *
 * The threads of a source fetch stored bytes and decode them, so both times add up for them; tiles that
 * the host tier keeps or gives back are copied by the same threads. So reading is not even: the round
 * in which tiles are read and kept may wait for it although all rounds together are longer in the
 * kernels. Each such run has two parts, whose longest stages add up.
 */
#include <math.h>

#include "core/checked.h"
#include "ooc/plan_internal.h"

/* The part of the shorter stages that shows although they overlap the longest one: the engine is to
 * hide 95 % of them. It makes the planner care about what is hidden too: of two plans that the disk
 * bounds, the one with fewer copies and fewer, larger tiles is better. */
#define NOT_HIDDEN 0.05

/* More slots ride out uneven tiles. Assumed, not measured: 2 % of the longest stage with one slot, 1 %
 * with two, and so on up to the usual number; enough to prefer a second slot where all else is
 * equal. */
#define UNEVEN 0.02

/* Half of a tile's fixed cost is calls that tiles which are copied together share, and how many these
 * are is a share of the slots (ooc/fill.c, ooc/drain.c). */
#define SHARED_STEP 0.5

double slci_read_seconds_per_byte(const slci_planner *planner, const slc_plan *plan, int o) {
    const slc_rates *rates = &planner->request.rates;
    const double share =
        planner->request.stored_share[o] > 0 ? planner->request.stored_share[o] : 1;
    /* A sparse operand is read whole, so each of its units is decoded once. */
    const double unit_reads = planner->job->operands[o].is_sparse ? 1 : plan->unit_reads;
    return (share / rates->disk_bytes_per_s + 1 / rates->read_bytes_per_s) * unit_reads;
}

/* How often a unit of axis `a` is decoded in one pass, on average: a tile that does not end on a unit's
 * edge shares the unit with its neighbour. */
static double unit_reads_of(const slc_plan *plan, int64_t unit, int a) {
    const int64_t tile = plan->tile[a];
    const int64_t begin = plan->region.origin[a];
    const int64_t end = begin + plan->region.extent[a];
    int64_t both = 0;
    if (unit <= 1 || tile >= end - begin || !slci_common_multiple(unit, tile, &both)) {
        return 1;
    }
    /* Of the tiles' borders, one in both / tile is a unit's edge too, where the grids meet at all. */
    const double borders = (double)(plan->n_tiles_of[a] - 1);
    const int64_t shared = unit / (both / tile); /* the largest common divisor */
    const double whole = begin % shared == 0 ? (double)tile / (double)both : 0;
    const double n_units = (double)((end - 1) / unit - begin / unit + 1);
    return 1 + borders * (1 - whole) / n_units;
}

void slci_plan_count_units(const slci_planner *planner, slc_plan *plan) {
    plan->unit_reads = plan->unit_writes = 1;
    for (int a = 0; a < plan->n_axes; a++) {
        if (!planner->request.unit_is_kept) {
            plan->unit_reads *= unit_reads_of(plan, planner->request.unit[a], a);
        }
        plan->unit_writes *= unit_reads_of(plan, planner->request.out_unit[a], a);
    }
}

slci_sparse_seconds slci_plan_sparse_seconds(const slci_planner *planner, const slc_plan *plan,
                                             int only) {
    const slc_rates *rates = &planner->request.rates;
    slci_sparse_seconds seconds = {0};
    for (int o = 0; o < plan->n_operands; o++) {
        const slc_operand *operand = &planner->job->operands[o];
        if (!operand->is_sparse || (only >= 0 && o != only)) {
            continue;
        }
        const slc_plan_operand *planned = &plan->operand[o];
        const double bytes = (double)planned->tile_bytes;
        const double read = bytes * slci_read_seconds_per_byte(planner, plan, o);
        if (planner->sparse[o] == SLC_PLACE_MAPPED) {
            seconds.load += read;
            seconds.touch += planned->touches / rates->mapped_touches_per_s;
        } else {
            seconds.load += fmax(read, bytes / rates->h2d_bytes_per_s);
            seconds.touch += planned->touches / rates->device_touches_per_s;
        }
    }
    return seconds;
}

/* How much longer a tile takes because its cells do not fill the device. */
static double idle_factor(const slci_planner *planner, const slc_plan *plan) {
    if (planner->request.parallel_units <= 0) {
        return 1;
    }
    double cells = 1;
    double whole_cells = 1;
    for (int a = 0; a < plan->n_axes; a++) {
        const int64_t granule = planner->job->axes[a].granule;
        cells *= (double)slc_ceil_div(plan->tile[a], granule);
        whole_cells *= (double)slc_max_i64(slc_ceil_div(plan->region.extent[a], granule), 1);
    }
    const double units = (double)planner->request.parallel_units;
    const double filled = fmin(cells, whole_cells);
    return ceil(filled / units) * units / filled;
}

/* The fixed cost of one tile; `step_seconds` is that with the usual number of slots. */
static double step_seconds(const slci_planner *planner, const slc_plan *plan) {
    const double usual = SLCI_DEFAULT_SLOTS;
    const double more = fmax(plan->n_slots / usual, 1);
    return planner->request.rates.step_seconds * (1 - SHARED_STEP + SHARED_STEP / more);
}

/* What falls into the first rounds of tiles that the host tier keeps, and into the later ones. */
typedef struct round_seconds {
    double first, later;
} round_seconds;

/* The part of all tiles that lies in first rounds: of the input that takes most from the tier. 1:
 * nothing is kept, and reading is as even as the kernels are. */
static double first_share(const slc_plan *plan) {
    int64_t most_bytes = 0;
    double share = 1;
    for (int o = 0; o < plan->n_operands; o++) {
        const slc_plan_operand *moved = &plan->operand[o];
        const int64_t taken_bytes = moved->bytes_moved - moved->bytes_read;
        if (moved->n_tier_tiles > 0 && taken_bytes > most_bytes) {
            most_bytes = taken_bytes;
            share = 1 / (double)moved->tier_rounds;
        }
    }
    return share;
}

/* Seconds of the threads that read while tiles run: sources, and copies to and from the tier. */
static round_seconds stream_read_seconds(const slci_planner *planner, const slc_plan *plan) {
    const double tier_rate = planner->request.rates.tier_bytes_per_s;
    const double share = first_share(plan);
    round_seconds seconds = {0};
    for (int o = 0; o < plan->n_operands; o++) {
        const slc_plan_operand *moved = &plan->operand[o];
        if (planner->job->operands[o].access != SLC_ACCESS_IN ||
            planner->job->operands[o].is_sparse) {
            continue;
        }
        const double per_byte = slci_read_seconds_per_byte(planner, plan, o);
        const double read = (double)moved->bytes_read;
        if (moved->n_tier_tiles == 0) {
            seconds.first += share * read * per_byte;
            seconds.later += (1 - share) * read * per_byte;
            continue;
        }
        const double rounds = (double)moved->tier_rounds;
        const double taken = (double)(moved->bytes_moved - moved->bytes_read);
        const double kept = taken / (rounds - 1);
        const double unkept = (read - kept) / rounds; /* each round */
        seconds.first += (kept + unkept) * per_byte + kept / tier_rate;
        seconds.later += (rounds - 1) * unkept * per_byte + taken / tier_rate;
    }
    return seconds;
}

/* The longest stages, one after the other: while tiles are read for the first time that may be reading,
 * however fast the rounds after it are, which take them from RAM. All other stages are as even as the
 * tiles are. `seconds` by stage. */
static double longest_seconds(const slc_plan *plan, const double *seconds,
                              const round_seconds *read) {
    const double share = first_share(plan);
    round_seconds longest = *read;
    for (int b = 0; b < SLC_BOUND_COUNT; b++) {
        if (b != SLC_BOUND_READ) {
            longest.first = fmax(longest.first, share * seconds[b]);
            longest.later = fmax(longest.later, (1 - share) * seconds[b]);
        }
    }
    return longest.first + longest.later;
}

/* The resident sparse inputs' share of the bytes to the device. */
static double sparse_copy_seconds(const slci_planner *planner, const slc_plan *plan) {
    double bytes = 0;
    for (int o = 0; o < plan->n_operands; o++) {
        bytes += planner->job->operands[o].is_sparse ? (double)plan->operand[o].bytes_moved : 0;
    }
    return bytes / planner->request.rates.h2d_bytes_per_s;
}

static double sparse_read_seconds(const slci_planner *planner, const slc_plan *plan) {
    double seconds = 0;
    for (int o = 0; o < plan->n_operands; o++) {
        if (planner->job->operands[o].is_sparse) {
            seconds +=
                (double)plan->operand[o].bytes_read * slci_read_seconds_per_byte(planner, plan, o);
        }
    }
    return seconds;
}

/* Whether the staging of streams is too large for the processors' cache. The card then fetches what
 * it copies from memory, and the writer what it writes. */
static bool leaves_cache(const slci_planner *planner, const slc_plan *plan) {
    const int64_t cache_bytes = planner->request.cache_bytes;
    int64_t left_bytes = cache_bytes;
    for (int o = 0; o < plan->n_operands; o++) {
        const slc_plan_operand *moved = &plan->operand[o];
        if (moved->placement == SLC_PLACE_STREAMED) {
            left_bytes -= moved->is_in_place ? moved->n_buffers * moved->tile_bytes
                                             : moved->n_staging * moved->staging_bytes;
        }
    }
    return cache_bytes > 0 && left_bytes < 0;
}

/* Adds the way to memory and back of what is staged outside the cache. */
static void add_memory_seconds(const slci_planner *planner, const slc_plan *plan,
                               round_seconds *read, double *write) {
    if (!leaves_cache(planner, plan)) {
        return;
    }
    const double rate = planner->request.rates.tier_bytes_per_s;
    const double share = first_share(plan);
    for (int o = 0; o < plan->n_operands; o++) {
        const slc_plan_operand *moved = &plan->operand[o];
        const double seconds = (double)moved->bytes_moved / rate;
        if (moved->placement != SLC_PLACE_STREAMED) {
            continue;
        }
        if (slci_is_output(&planner->job->operands[o])) {
            *write += seconds;
        } else {
            read->first += share * seconds;
            read->later += (1 - share) * seconds;
        }
    }
}

/* What each stage takes for the first fill of every input or for the last tile of every output; of
 * several moves the average one. Seconds by stage. */
static void end_seconds(const slci_planner *planner, const slc_plan *plan, double *ends) {
    const slc_rates *rates = &planner->request.rates;
    ends[SLC_BOUND_KERNEL] = plan->seconds_tile + step_seconds(planner, plan);
    ends[SLC_BOUND_READ] = ends[SLC_BOUND_H2D] = ends[SLC_BOUND_D2H] = ends[SLC_BOUND_WRITE] = 0;
    for (int o = 0; o < plan->n_operands; o++) {
        const slc_operand *operand = &planner->job->operands[o];
        const slc_plan_operand *moved = &plan->operand[o];
        const double bytes =
            moved->n_moves > 0 ? (double)moved->bytes_moved / (double)moved->n_moves : 0;
        if (slci_is_output(operand)) {
            ends[SLC_BOUND_D2H] += bytes / rates->d2h_bytes_per_s;
            ends[SLC_BOUND_WRITE] += bytes * plan->unit_writes / rates->write_bytes_per_s;
        } else if (operand->access == SLC_ACCESS_IN && !operand->is_sparse) {
            ends[SLC_BOUND_READ] += bytes * slci_read_seconds_per_byte(planner, plan, o);
            ends[SLC_BOUND_H2D] += moved->is_in_place ? 0 : bytes / rates->h2d_bytes_per_s;
        }
    }
}

/* Of all stages together, what comes on top of the longest. */
static double shown_seconds(const slci_planner *planner, const slc_plan *plan,
                            const double *seconds, int longest) {
    double ends[SLC_BOUND_COUNT];
    double shown = 0;
    end_seconds(planner, plan, ends);
    for (int b = 0; b < SLC_BOUND_COUNT; b++) {
        if (b != longest) {
            const double seen = fmin(ends[b] + NOT_HIDDEN * seconds[b], seconds[b]);
            shown += plan->n_slots > 1 ? seen : seconds[b];
        }
    }
    return shown;
}

/* Share of a tile's time that its launches may take before they are replayed as a graph. */
#define GRAPHS_FROM 0.05

void slci_plan_estimate(const slci_planner *planner, slc_plan *plan) {
    const slc_plan_request *request = &planner->request;
    const slc_rates *rates = &request->rates;
    double points = 1;
    double tile_points = 1;
    for (int a = 0; a < plan->n_axes; a++) {
        points *= (double)plan->region.extent[a];
        tile_points *= (double)slc_min_i64(plan->tile[a], plan->region.extent[a]);
    }
    const slci_sparse_seconds sparse = slci_plan_sparse_seconds(planner, plan, -1);
    const double seconds_per_point = request->seconds_per_point * idle_factor(planner, plan) +
                                     (points > 0 ? sparse.touch / points : 0);
    plan->seconds_tile = tile_points * seconds_per_point + request->seconds_per_tile;
    double seconds[SLC_BOUND_COUNT];
    seconds[SLC_BOUND_KERNEL] =
        points * plan->visited_share * seconds_per_point +
        (double)plan->n_visited * (request->seconds_per_tile + step_seconds(planner, plan));
    round_seconds read = stream_read_seconds(planner, plan);
    seconds[SLC_BOUND_H2D] = (double)plan->bytes_h2d / rates->h2d_bytes_per_s;
    seconds[SLC_BOUND_D2H] = (double)plan->bytes_d2h / rates->d2h_bytes_per_s;
    seconds[SLC_BOUND_WRITE] =
        (double)plan->bytes_written * plan->unit_writes / rates->write_bytes_per_s;
    add_memory_seconds(planner, plan, &read, &seconds[SLC_BOUND_WRITE]);
    seconds[SLC_BOUND_READ] = read.first + read.later;
    const double sparse_copy = sparse_copy_seconds(planner, plan);
    seconds[SLC_BOUND_H2D] -= sparse_copy;

    int longest = 0;
    for (int b = 0; b < SLC_BOUND_COUNT; b++) {
        longest = seconds[b] > seconds[longest] ? b : longest;
    }
    plan->seconds_total = sparse.load + longest_seconds(plan, seconds, &read) +
                          shown_seconds(planner, plan, seconds, longest);
    plan->seconds_total +=
        UNEVEN * seconds[longest] / (double)slc_min_i64(plan->n_slots, SLCI_DEFAULT_SLOTS);
    seconds[SLC_BOUND_H2D] += sparse_copy;
    seconds[SLC_BOUND_READ] += sparse_read_seconds(planner, plan);
    plan->bottleneck = SLC_BOUND_KERNEL;
    for (int b = 0; b < SLC_BOUND_COUNT; b++) {
        if (seconds[b] > seconds[plan->bottleneck]) {
            plan->bottleneck = (slc_bottleneck)b;
        }
    }
    plan->uses_graphs =
        (double)plan->n_visited * rates->step_seconds > GRAPHS_FROM * plan->seconds_total;
    plan->seconds_kernel = seconds[SLC_BOUND_KERNEL];
    plan->seconds_read = seconds[SLC_BOUND_READ];
    plan->seconds_h2d = seconds[SLC_BOUND_H2D];
    plan->seconds_d2h = seconds[SLC_BOUND_D2H];
    plan->seconds_write = seconds[SLC_BOUND_WRITE];
}

bool slci_plan_is_better(const slc_plan_request *request, const slc_plan *a, const slc_plan *b) {
    const double most = request->most_tile_seconds;
    if (most > 0 && (a->seconds_tile > most || b->seconds_tile > most) &&
        a->seconds_tile != b->seconds_tile) {
        return a->seconds_tile < b->seconds_tile;
    }
    if (a->seconds_total != b->seconds_total) {
        return a->seconds_total < b->seconds_total;
    }
    if (a->device_peak_bytes != b->device_peak_bytes) {
        return a->device_peak_bytes < b->device_peak_bytes;
    }
    return a->host_peak_bytes < b->host_peak_bytes;
}
