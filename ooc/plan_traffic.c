/* The bytes that a plan moves on each link.
 *
 * The loops visit tiles like an odometer, order[0] turning slowest. An operand is moved only when its
 * own tile changes, so with loops of n_0, n_1, … tiles (outermost first) an operand whose innermost own
 * loop of more than one tile is at depth d moves
 *
 *     n_0 · n_1 · … · n_d      times,
 *
 * of which the product over its own loops are different tiles; the quotient is how often the operand is
 * read again. An output or update may not be revisited (it would have to be read back), which rules
 * out the orders where that quotient is not 1.
 *
 *     order (y, x, row), 2 × 2 image tiles, 4 row tiles        image tile  A A A A B B B B C C C C …
 *                                                              row tile    0 1 2 3 0 1 2 3 0 1 2 3 …
 *
 * A box is a product over dimensions, so the bytes of all tiles together are the product of the sums
 * along each dimension: exact, edges and halos included, without visiting a tile. Where a job skips
 * tiles, or its boxes are functions, this is true of the candidates only, as if no tile were skipped;
 * the plan that was chosen is walked through, and says exactly what will move.
 */
#include <assert.h>
#include <stdlib.h>

#include "core/checked.h"
#include "ooc/plan_internal.h"

/* No plan moves more than this of one operand: twelve of them still fit 64 bits. */
#define MOST_BYTES 0x1p59

/* Σ min(most, first + t · step) over t = 0 … n - 1, for first >= 0. Terms are at most `most`, and the
 * caller knows that n · most fits. */
static int64_t sum_up_to(int64_t first, int64_t step, int64_t most, int64_t n) {
    int64_t n_below = first < most ? slc_ceil_div(most - first, step) : 0;
    n_below = slc_min_i64(n_below, n);
    const int64_t below =
        n_below * first +
        (n_below % 2 == 0 ? n_below / 2 * (n_below - 1) : (n_below - 1) / 2 * n_below) * step;
    return below + (n - n_below) * most;
}

int64_t slci_plan_elements(const slc_job *job, const slc_plan *plan, int o, int d,
                           int64_t n_tiles) {
    const slc_operand *operand = &job->operands[o];
    const int axis = operand->axes[d];
    if (axis == SLC_AXIS_FIXED) {
        return operand->fixed_extent[d];
    }
    const int64_t per_step = slc_max_i64(operand->per_step[d], 1);
    const int64_t extent = job->axes[axis].extent * per_step;
    const int64_t begin = plan->region.origin[axis] * per_step;
    const int64_t end = begin + plan->region.extent[axis] * per_step;
    const int64_t tile = plan->tile[axis] * per_step;
    const int64_t covered = n_tiles < plan->n_tiles_of[axis] ? n_tiles * tile : end - begin;
    const int64_t halo = slc_min_i64(operand->halo[d], extent);
    if (halo == 0 || n_tiles == 0) {
        return covered;
    }
    const int64_t before = sum_up_to(begin, tile, halo, n_tiles);
    /* Behind the tiles, from the last one backwards: full tiles lie one tile apart; the last tile of
     * the region may be a shorter one. */
    const int64_t last_end = begin + covered;
    const int64_t last_step =
        n_tiles < plan->n_tiles_of[axis] || covered % tile == 0 ? tile : covered % tile;
    int64_t after = slc_min_i64(halo, extent - last_end);
    after += sum_up_to(extent - last_end + last_step, tile, halo, n_tiles - 1);
    return covered + before + after;
}

/* Whether the order is one in which ordered axes turn fastest, in the order of their numbers; loops of
 * one tile do not turn. */
static bool keeps_order(const slc_job *job, const slc_plan *plan) {
    int last_ordered = -1;
    for (int depth = 0; depth < plan->n_axes; depth++) {
        const int axis = plan->order[depth];
        if (plan->n_tiles_of[axis] <= 1) {
            continue;
        }
        if (job->axes[axis].kind == SLC_AXIS_ORDERED) {
            if (axis < last_ordered) {
                return false;
            }
            last_ordered = axis;
        } else if (last_ordered >= 0) {
            return false;
        }
    }
    return true;
}

/* Moves of operand `o`, and how many of them are repeats of each tile. */
static int64_t count_moves(const slc_job *job, const slc_plan *plan, int o, int64_t *repeats) {
    const int innermost = slci_innermost_own_depth(job, plan, o);
    int64_t moves = 1;
    *repeats = 1;
    for (int depth = 0; depth <= innermost; depth++) {
        const int axis = plan->order[depth];
        moves *= plan->n_tiles_of[axis]; /* stays within n_tiles, which was checked */
        *repeats *= slci_is_indexed_by(&job->operands[o], axis) ? 1 : plan->n_tiles_of[axis];
    }
    return moves;
}

/* The bytes of all tiles of operand `o`; false when they are too many. */
static bool count_once(const slc_job *job, const slc_plan *plan, int o, int64_t *bytes) {
    const slc_operand *operand = &job->operands[o];
    double about = (double)slc_dtype_bytes(operand->dtype);
    int64_t exact = slc_dtype_bytes(operand->dtype);
    for (int d = 0; d < operand->rank; d++) {
        const int axis = operand->axes[d];
        const int64_t n = axis == SLC_AXIS_FIXED ? 1 : plan->n_tiles_of[axis];
        if (!((double)operand->halo[d] * (double)n < MOST_BYTES)) {
            return false;
        }
        const int64_t elements = slci_plan_elements(job, plan, o, d, n);
        about *= (double)elements;
        if (!(about < MOST_BYTES) || !slc_checked_mul(exact, elements, &exact)) {
            return false;
        }
    }
    *bytes = exact;
    return true;
}

bool slci_plan_count_once(const slci_planner *planner, const slc_plan *plan, int64_t *once) {
    for (int o = 0; o < plan->n_operands; o++) {
        const slc_operand *operand = &planner->job->operands[o];
        once[o] = 0;
        if (operand->is_sparse) {
            once[o] = plan->operand[o].tile_bytes;
        } else if (operand->access != SLC_ACCESS_WORK && plan->n_tiles > 0 &&
                   !count_once(planner->job, plan, o, &once[o])) {
            return false;
        }
        if (!((double)once[o] < MOST_BYTES)) {
            return false;
        }
    }
    return true;
}

/* Whether halos of operand `o` reach from a tile's border to both ends of the array: then the tiles on
 * the two sides need the same box, and the second one is not loaded. */
static bool has_shared_box(const slc_job *job, const slc_plan *plan, int o) {
    const slc_operand *operand = &job->operands[o];
    for (int d = 0; d < operand->rank; d++) {
        const int axis = operand->axes[d];
        if (axis == SLC_AXIS_FIXED || operand->halo[d] == 0 || plan->n_tiles_of[axis] <= 1) {
            continue;
        }
        const int64_t per_step = slc_max_i64(operand->per_step[d], 1);
        const int64_t extent = job->axes[axis].extent * per_step;
        const int64_t begin = plan->region.origin[axis] * per_step;
        const int64_t tile = plan->tile[axis] * per_step;
        const int64_t reached = slc_max_i64(extent - slc_min_i64(operand->halo[d], extent), 0);
        const int64_t steps = slc_max_i64(slc_ceil_div(slc_max_i64(reached - begin, 0), tile), 1);
        if (steps < plan->n_tiles_of[axis] && begin + steps * tile <= operand->halo[d]) {
            return true;
        }
    }
    return false;
}

bool slci_plan_is_irregular(const slc_job *job, const slc_plan *plan, int o) {
    const slc_operand *operand = &job->operands[o];
    return operand->access == SLC_ACCESS_IN && !operand->is_sparse &&
           (operand->footprint != NULL || has_shared_box(job, plan, o));
}

bool slci_plan_count(const slci_planner *planner, const int64_t *once, slc_plan *plan) {
    const slc_job *job = planner->job;
    if (!keeps_order(job, plan)) {
        return false;
    }
    plan->n_passes = 1;
    for (int o = 0; o < job->n_operands; o++) {
        const slc_operand *operand = &job->operands[o];
        slc_plan_operand *moved = &plan->operand[o];
        moved->n_moves = moved->bytes_moved = moved->bytes_read = moved->n_tier_tiles = 0;
        if (operand->access == SLC_ACCESS_WORK || plan->n_tiles == 0) {
            continue;
        }
        if (operand->is_sparse) {
            moved->n_moves = 1;
            moved->bytes_read = once[o];
            moved->bytes_moved = planner->sparse[o] == SLC_PLACE_MAPPED ? 0 : once[o];
            continue;
        }
        int64_t repeats = 1;
        moved->n_moves = count_moves(job, plan, o, &repeats);
        if ((slci_is_output(operand) && repeats > 1) ||
            !((double)once[o] * (double)repeats < MOST_BYTES)) {
            return false;
        }
        moved->bytes_moved = once[o] * repeats;
        if (operand->access == SLC_ACCESS_IN) {
            moved->bytes_read = moved->bytes_moved;
            plan->n_passes = slc_max_i64(plan->n_passes, repeats);
        }
    }
    slci_plan_sum_bytes(job, plan);
    return true;
}

/* ---- walking over the tiles -------------------------------------------------------------------- */

/* Up to so many tiles are asked whether they are skipped: some tenths of a second. Of more, as
 * many that lie evenly are asked, and all bytes are scaled by what they say. */
#define MOST_ASKED_TILES (1 << 20)

/* What is on the way of each operand: the box of the tile before, and what the tier's slots hold
 * (the set, and 1 more: 0 is nothing). */
typedef struct walk {
    bool is_walked[SLC_MAX_OPERANDS];
    slc_box before[SLC_MAX_OPERANDS]; /* rank -1: none yet */
    int64_t *kept[SLC_MAX_OPERANDS];  /* [n_tier_tiles] or NULL */
} walk;

static bool is_visited(const slc_job *job, const slc_tile *tile) {
    return job->touches == NULL || job->touches(job->state, tile);
}

static double points_of(const slc_plan *plan, const slc_tile *tile) {
    double points = 1;
    for (int a = 0; a < plan->n_axes; a++) {
        points *= (double)tile->extent[a];
    }
    return points;
}

/* Whether the tier gives operand `o` this fill; what it is to keep is noted. */
static bool is_from_tier(const slc_job *job, const slc_plan *plan, walk *w, int o, int64_t index) {
    if (w->kept[o] == NULL) {
        return false;
    }
    const slc_tier_use use = slc_plan_tier_use(plan, job, o, index);
    const bool is_kept = use.slot >= 0 && w->kept[o][use.slot] == use.set + 1;
    if (use.slot >= 0) {
        w->kept[o][use.slot] = use.set + 1;
    }
    return is_kept;
}

static void walk_tile(const slc_job *job, slc_plan *plan, walk *w, const slc_tile *tile) {
    for (int o = 0; o < job->n_operands; o++) {
        if (!w->is_walked[o]) {
            continue;
        }
        slc_plan_operand *moved = &plan->operand[o];
        const slc_box box = slc_job_footprint(job, o, tile);
        if (w->before[o].rank < 0 || !slc_box_equal(&w->before[o], &box)) {
            const int64_t bytes = slc_box_count(&box) * slc_dtype_bytes(job->operands[o].dtype);
            moved->n_moves++;
            moved->bytes_moved += bytes;
            if (job->operands[o].access == SLC_ACCESS_IN &&
                !is_from_tier(job, plan, w, o, tile->index)) {
                moved->bytes_read += bytes;
            }
        }
        w->before[o] = box;
    }
}

/* Without a walk: what all tiles move, times the share of those asked that are visited. */
static void scale_to_share(const slc_job *job, slc_plan *plan) {
    int64_t n = 0;
    for (int64_t i = 0; i < MOST_ASKED_TILES; i++) {
        const slc_tile tile =
            slc_plan_tile(plan, (int64_t)((double)i / MOST_ASKED_TILES * (double)plan->n_tiles));
        n += is_visited(job, &tile);
    }
    plan->visited_share = (double)n / MOST_ASKED_TILES;
    plan->n_visited = (int64_t)(plan->visited_share * (double)plan->n_tiles);
    for (int o = 0; o < job->n_operands; o++) {
        slc_plan_operand *moved = &plan->operand[o];
        if (!job->operands[o].is_sparse) {
            moved->n_moves = (int64_t)(plan->visited_share * (double)moved->n_moves);
            moved->bytes_moved = (int64_t)(plan->visited_share * (double)moved->bytes_moved);
            moved->bytes_read = (int64_t)(plan->visited_share * (double)moved->bytes_read);
        }
    }
}

static slc_status begin_walk(const slc_job *job, slc_plan *plan, walk *w) {
    for (int o = 0; o < job->n_operands; o++) {
        slc_plan_operand *moved = &plan->operand[o];
        const slc_operand *operand = &job->operands[o];
        const bool moves = operand->access != SLC_ACCESS_WORK && !operand->is_sparse;
        w->is_walked[o] = moves && (job->touches != NULL || slci_plan_is_irregular(job, plan, o));
        w->before[o] = (slc_box){.rank = -1};
        if (w->is_walked[o]) {
            moved->n_moves = moved->bytes_moved = moved->bytes_read = 0;
        }
        if (w->is_walked[o] && moved->n_tier_tiles > 0) {
            w->kept[o] = calloc((size_t)moved->n_tier_tiles, sizeof *w->kept[o]);
            if (w->kept[o] == NULL) {
                return SLC_FAIL(SLC_ERROR_MEMORY, "no memory to plan with %lld kept tiles",
                                (long long)moved->n_tier_tiles);
            }
        }
    }
    return SLC_OK;
}

static slc_status walk_tiles(const slc_job *job, slc_plan *plan) {
    walk w = {.is_walked = {false}};
    slc_status status = SLC_OK;
    double all = 0;
    double visited = 0;
    SLC_TRY_GOTO(done, begin_walk(job, plan, &w));
    plan->n_visited = 0;
    for (int64_t index = 0; index < plan->n_tiles; index++) {
        const slc_tile tile = slc_plan_tile(plan, index);
        const double points = points_of(plan, &tile);
        all += points;
        if (is_visited(job, &tile)) {
            visited += points;
            plan->n_visited++;
            walk_tile(job, plan, &w, &tile);
        }
    }
    plan->visited_share = all > 0 ? visited / all : 1;
done:
    for (int o = 0; o < job->n_operands; o++) {
        free(w.kept[o]);
    }
    return status;
}

slc_status slci_plan_walk(const slci_planner *planner, slc_plan *plan, bool *has_changed) {
    const slc_job *job = planner->job;
    *has_changed = job->touches != NULL;
    for (int o = 0; o < job->n_operands; o++) {
        *has_changed = *has_changed || slci_plan_is_irregular(job, plan, o);
    }
    if (!*has_changed) {
        return SLC_OK;
    }
    if (job->touches != NULL && plan->n_tiles > MOST_ASKED_TILES) {
        scale_to_share(job, plan);
    } else {
        SLC_TRY(walk_tiles(job, plan));
    }
    slci_plan_sum_bytes(job, plan);
    return SLC_OK;
}

void slci_plan_sum_bytes(const slc_job *job, slc_plan *plan) {
    plan->bytes_read = plan->bytes_tier = plan->bytes_d2h = 0;
    plan->bytes_h2d = plan->n_visited * (int64_t)sizeof(slc_tile);
    for (int o = 0; o < job->n_operands; o++) {
        const slc_plan_operand *moved = &plan->operand[o];
        if (slci_is_output(&job->operands[o])) {
            plan->bytes_d2h += moved->bytes_moved;
        } else if (job->operands[o].access == SLC_ACCESS_IN) {
            plan->bytes_read += moved->bytes_read;
            plan->bytes_h2d += moved->is_in_place ? 0 : moved->bytes_moved;
            plan->bytes_tier +=
                job->operands[o].is_sparse ? 0 : moved->bytes_moved - moved->bytes_read;
        }
    }
    plan->bytes_written = plan->bytes_d2h;
}
