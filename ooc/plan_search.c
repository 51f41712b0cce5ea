/* The search for the fastest plan: which tiles, loop orders and slots are tried.
 *
 * With at most four axes all orders are tried. Tiles cannot all be: an axis of a million granules has a
 * million extents. Two facts help. The traffic depends on the number of tiles along an axis, and of all
 * extents that make k tiles the least one, ⌈granules / k⌉, takes the least memory. So the extents worth
 * trying are these for k = 1, 2, 3, …, and above ten tiles every k that is about a tenth larger than
 * the last; the same again in steps of whole units of the source. And memory only grows with every
 * extent (ooc/plan_size.c), so that what lies above a tile that is too large need not be looked at.
 *
 *   1. Coarse: a grid of tiles that takes a few of those extents from each axis, in all orders.
 *   2. Fine: the best few plans of the grid, each of another order, are improved by changing the extent
 *      along one axis by a few places of its list, alone, or so that memory goes from one axis to
 *      another: a second axis takes the largest extent that still fits, the rest as they are, or all
 *      others begin at their smallest and are filled up one after the other. Until nothing helps.
 *
 *      extent of y                 · coarse   ∘ fine
 *          │ ·      ·      ·         × does not fit
 *          │        ∘∘  ×
 *          │ ·     ∘·∘   ×  ·×
 *          │         ∘∘∘   ×
 *          │ ·      ·    ∘ ·  ×
 *          └──────────────────── extent of x
 */
#include <math.h>
#include <stdlib.h>

#include "core/checked.h"
#include "ooc/plan_internal.h"

/* Extents of one axis, in steps of granules and again in steps of units, at most: of sources, of sinks,
 * and of both at once. */
#define MAX_STEPS 128
#define MAX_EXTENTS (4 * MAX_STEPS)

/* Up to so many tiles along an axis every number of them is tried. */
#define MOST_EXACT_TILES 10
#define NEXT_TILES 1.1

/* Extents of the coarse grid for each axis, by the number of axes: some thousand tiles in all. */
static const int coarse_extents[SLC_MAX_AXES + 1] = {1, 128, 40, 13, 6};

/* Plans of the grid that are improved, and how far. Measured on one core of a server: four axes and
 * twelve operands are planned in 35 ms, three axes and three operands in 2 ms. */
#define MAX_STARTS 3
#define FINE_REACH 5
#define MOST_STEPS 12

/* Tiles of a job whose footprints are functions have to be asked one by one. */
#define MOST_ASKED_TILES (1 << 16)

typedef struct extents {
    int n_fine, n_coarse;
    int64_t fine[MAX_EXTENTS]; /* rising */
    int64_t coarse[MAX_EXTENTS];
} extents;

typedef struct search {
    const slci_planner *planner;
    bool has_footprint;
    extents axis[SLC_MAX_AXES];
    int n_starts;
    slc_plan start[MAX_STARTS]; /* the best plans of the grid, one an order */
} search;

/* ---- the extents ------------------------------------------------------------------------------- */

/* The least extents, in steps, that cut `n_steps` steps into different numbers of tiles; falling. */
static int list_steps(int64_t n_steps, int64_t *steps) {
    /* A longer stride where a tenth would give too many. */
    const double tail =
        log((double)n_steps / MOST_EXACT_TILES) / (MAX_STEPS - 2.0 * MOST_EXACT_TILES);
    const double stride = fmax(NEXT_TILES, exp(tail));
    int n = 0;
    for (double tiles = 1; tiles < (double)n_steps && n < MAX_STEPS - 1;) {
        const int64_t step = slc_ceil_div(n_steps, (int64_t)tiles);
        if (n == 0 || step < steps[n - 1]) {
            steps[n++] = step;
        }
        tiles = tiles < MOST_EXACT_TILES ? tiles + 1 : ceil(tiles * stride);
    }
    if (n == 0 || steps[n - 1] > 1) {
        steps[n++] = 1;
    }
    return n;
}

static int compare_extents(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a;
    const int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int sort_unique(int64_t *values, int n) {
    qsort(values, (size_t)n, sizeof *values, compare_extents);
    int n_unique = 0;
    for (int i = 0; i < n; i++) {
        if (n_unique == 0 || values[i] != values[n_unique - 1]) {
            values[n_unique++] = values[i];
        }
    }
    return n_unique;
}

/* Adds about `most` of `n` falling steps to the coarse list, evenly by ratio, both ends included. */
static void add_coarse(const int64_t *steps, int n, int64_t step_extent, int most, extents *out) {
    const double ratio =
        most > 1 ? pow((double)steps[0] / (double)steps[n - 1], 1.0 / (most - 1)) : 1;
    double next = (double)steps[0];
    for (int i = 0; i < n && out->n_coarse < MAX_EXTENTS; i++) {
        if ((double)steps[i] <= next * 1.0001 || i == n - 1) {
            out->coarse[out->n_coarse++] = steps[i] * step_extent;
            next = (double)steps[i] / ratio;
        }
    }
}

/* Extents that are whole units as well as whole granules; fewer than an axis has. */
static void add_unit_extents(const slci_planner *planner, int a, int64_t unit, extents *out) {
    const int64_t granule = planner->job->axes[a].granule;
    const int64_t extent = planner->request.region.extent[a];
    int64_t step_extent = 0;
    int64_t steps[MAX_STEPS];
    if (unit <= 1 || !slci_common_multiple(granule, unit, &step_extent) || step_extent >= extent ||
        step_extent <= granule) {
        return;
    }
    const int n = list_steps(slc_ceil_div(extent, step_extent), steps);
    for (int i = 1; i < n; i++) { /* the first one is the whole axis again */
        out->fine[out->n_fine++] = steps[i] * step_extent;
    }
    if (n > 1) {
        add_coarse(steps + 1, n - 1, step_extent, coarse_extents[planner->job->n_axes], out);
    }
}

static void list_extents(const slci_planner *planner, int a, extents *out) {
    const slc_plan_request *request = &planner->request;
    const slc_axis *axis = &planner->job->axes[a];
    *out = (extents){0};
    if (request->force_tile[a] > 0) {
        out->fine[0] = out->coarse[0] = slc_round_up(request->force_tile[a], axis->granule);
        out->n_fine = out->n_coarse = 1;
        return;
    }
    const int most = coarse_extents[planner->job->n_axes];
    const int64_t extent = slc_max_i64(request->region.extent[a], 1);
    int64_t steps[MAX_STEPS];
    const int n = list_steps(slc_ceil_div(extent, axis->granule), steps);
    for (int i = 0; i < n; i++) {
        out->fine[out->n_fine++] = steps[i] * axis->granule;
    }
    add_coarse(steps, n, axis->granule, most, out);
    int64_t both = 0;
    add_unit_extents(planner, a, request->unit[a], out);
    add_unit_extents(planner, a, request->out_unit[a], out);
    if (request->unit[a] > 1 && request->out_unit[a] > 1 &&
        slci_common_multiple(request->unit[a], request->out_unit[a], &both)) {
        add_unit_extents(planner, a, both, out);
    }
    out->n_fine = sort_unique(out->fine, out->n_fine);
    out->n_coarse = sort_unique(out->coarse, out->n_coarse);
}

void slci_plan_smallest_tile(const slci_planner *planner, int64_t *extent) {
    for (int a = 0; a < planner->job->n_axes; a++) {
        const int64_t granule = planner->job->axes[a].granule;
        const int64_t forced = planner->request.force_tile[a];
        extent[a] = forced > 0 ? slc_round_up(forced, granule) : granule;
    }
}

/* ---- one tile ---------------------------------------------------------------------------------- */

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

/* A loop of one tile may stand anywhere; of the orders that differ in nothing else, one is enough. */
static bool is_same_as_earlier(const slc_plan *plan) {
    for (int depth = 1; depth < plan->n_axes; depth++) {
        const int before = plan->order[depth - 1];
        const int here = plan->order[depth];
        if (before > here && (plan->n_tiles_of[before] <= 1 || plan->n_tiles_of[here] <= 1)) {
            return true;
        }
    }
    return false;
}

/* One tile and order with 1 to as many slots as fit, or with the most that fit alone; `plan` has the
 * tile, its sizes and the order, `once` what slci_plan_count_once says. Whether `best` has become
 * better. */
static bool try_order(const search *s, const int64_t *once, bool all_slots, slc_plan *plan,
                      slc_plan *best) {
    const slci_planner *planner = s->planner;
    bool is_better = false;
    bool is_counted = slci_plan_count(planner, once, plan);
    for (int n_slots = slci_most_slots(planner, plan); n_slots >= 1 && is_counted; n_slots--) {
        if (!slci_plan_set_slots(planner, n_slots, plan) || !slci_plan_fits(planner, plan)) {
            continue;
        }
        slci_plan_choose_tier(planner, plan);
        slci_plan_estimate(planner, plan);
        if (best->n_slots == 0 || slci_plan_is_better(&planner->request, plan, best)) {
            *best = *plan;
            is_better = true;
        }
        is_counted = all_slots;
    }
    return is_better;
}

/* Whether a tile has so many others beside it that asking each for its footprint takes too long. The
 * smallest one is asked anyway, because the smallest budget is named after it. */
static bool has_too_many(const search *s, const int64_t *extent) {
    int64_t n_tiles = 1;
    bool is_smallest = true;
    for (int a = 0; a < s->planner->job->n_axes; a++) {
        const int64_t n = slc_ceil_div(s->planner->request.region.extent[a], extent[a]);
        is_smallest = is_smallest && extent[a] == s->axis[a].fine[0];
        if (!slc_checked_mul(n_tiles, n, &n_tiles)) {
            return true;
        }
    }
    return n_tiles > MOST_ASKED_TILES && !is_smallest;
}

static bool has_room(const search *s, const int64_t *extent, int n_slots, slc_plan *plan) {
    plan->n_tiles = -1;
    return !(s->has_footprint && has_too_many(s, extent)) &&
           slci_plan_set_tile(s->planner, extent, plan) &&
           slci_plan_set_slots(s->planner, n_slots, plan) && slci_plan_fits(s->planner, plan);
}

/* ---- the coarse grid --------------------------------------------------------------------------- */

static bool is_same_order(const slc_plan *a, const slc_plan *b) {
    for (int depth = 0; depth < a->n_axes; depth++) {
        if (a->order[depth] != b->order[depth]) {
            return false;
        }
    }
    return true;
}

/* Keeps the best plans, one for each order, the best one first. */
static void add_start(search *s, const slc_plan *plan) {
    int place = 0;
    while (place < s->n_starts && !is_same_order(&s->start[place], plan)) {
        place++;
    }
    if (place == s->n_starts && s->n_starts < MAX_STARTS) {
        s->n_starts++;
    } else {
        place = place < s->n_starts ? place : MAX_STARTS - 1;
        if (!slci_plan_is_better(&s->planner->request, plan, &s->start[place])) {
            return;
        }
    }
    for (; place > 0 && slci_plan_is_better(&s->planner->request, plan, &s->start[place - 1]);
         place--) {
        s->start[place] = s->start[place - 1];
    }
    s->start[place] = *plan;
}

static void try_all_orders(search *s, slc_plan *plan) {
    const int n = plan->n_axes;
    for (int a = 0; a < n; a++) {
        plan->order[a] = a;
    }
    slci_plan_count_units(s->planner, plan);
    int64_t once[SLC_MAX_OPERANDS];
    if (!slci_plan_count_once(s->planner, plan, once)) {
        return;
    }
    do {
        slc_plan best;
        best.n_slots = 0;
        if (!is_same_as_earlier(plan) && try_order(s, once, false, plan, &best)) {
            add_start(s, &best);
        }
    } while (next_order(plan->order, n));
}

/* Turns axis `turned` of the grid on, and the axes before it when it has come round; false when all
 * have. */
static bool next_place(const search *s, int turned, int *place) {
    for (int a = turned; a >= 0; a--) {
        place[a]++;
        if (place[a] < s->axis[a].n_coarse) {
            return true;
        }
        place[a] = 0;
    }
    return false;
}

/* The axis to turn after a tile that is too large. So is everything above it: the larger extents of the
 * last axis that is not at its first one, with any extents of those behind it. -1: all others are. */
static int axis_to_turn(const int *place, int n_axes) {
    int a = n_axes - 1;
    while (a > 0 && place[a] == 0) {
        a--;
    }
    return a - 1;
}

static void search_grid(search *s) {
    const int n_axes = s->planner->job->n_axes;
    int place[SLC_MAX_AXES] = {0};
    int64_t extent[SLC_MAX_AXES] = {0};
    slc_plan plan;
    for (bool more = true; more;) {
        for (int a = 0; a < n_axes; a++) {
            extent[a] = s->axis[a].coarse[place[a]];
        }
        if (has_room(s, extent, 1, &plan)) {
            try_all_orders(s, &plan);
            more = next_place(s, n_axes - 1, place);
        } else if (s->has_footprint || plan.n_tiles < 0) {
            more = next_place(s, n_axes - 1, place); /* too many tiles: larger ones may do */
        } else {
            const int turned = axis_to_turn(place, n_axes);
            for (int a = turned + 1; a < n_axes; a++) {
                place[a] = 0;
            }
            more = turned >= 0 && next_place(s, turned, place);
        }
    }
}

/* ---- the fine search --------------------------------------------------------------------------- */

static int place_of(const extents *axis, int64_t extent) {
    int place = 0;
    while (place < axis->n_fine - 1 && axis->fine[place] < extent) {
        place++;
    }
    return place;
}

/* The order of `best` with other extents; whether `best` has become better. */
static bool try_fine(const search *s, const int64_t *extent, slc_plan *best) {
    slc_plan plan;
    if (!has_room(s, extent, 1, &plan)) {
        return false;
    }
    for (int depth = 0; depth < plan.n_axes; depth++) {
        plan.order[depth] = best->order[depth];
    }
    slci_plan_count_units(s->planner, &plan);
    int64_t once[SLC_MAX_OPERANDS];
    return slci_plan_count_once(s->planner, &plan, once) && try_order(s, once, true, &plan, best);
}

/* Gives axis `b` the largest extent that fits with `n_slots` slots; false when none does. */
static bool fill_up(const search *s, int b, int n_slots, int64_t *extent) {
    const extents *axis = &s->axis[b];
    slc_plan plan;
    int fits = -1;
    int too_large = axis->n_fine;
    while (too_large - fits > 1) {
        const int middle = (fits + too_large) / 2;
        extent[b] = axis->fine[middle];
        if (has_room(s, extent, n_slots, &plan)) {
            fits = middle;
        } else {
            too_large = middle;
        }
    }
    extent[b] = fits >= 0 ? axis->fine[fits] : 0;
    return fits >= 0;
}

/* Axis `a` has another extent, and what room it leaves with `n_slots` slots goes to axis `b` first. */
typedef struct exchange {
    int a, b, n_slots;
} exchange;

/* With axis a as `extent` says, gives what room is left to axis b: the others as they are, or begun
 * anew from their smallest extents and filled up after b. Whether `best` has become better. */
static bool try_filled(const search *s, const exchange *tried, const int64_t *extent,
                       slc_plan *best) {
    const int n_axes = s->planner->job->n_axes;
    const int a = tried->a;
    const int b = tried->b;
    int64_t kept[SLC_MAX_AXES];
    int64_t anew[SLC_MAX_AXES];
    for (int c = 0; c < n_axes; c++) {
        kept[c] = extent[c];
        anew[c] = c == a ? extent[c] : s->axis[c].fine[0];
    }
    bool has_improved = fill_up(s, b, tried->n_slots, kept) && try_fine(s, kept, best);
    bool fits = n_axes > 2;
    for (int i = 0; i < n_axes && fits; i++) {
        const int c = (b + i) % n_axes;
        fits = c == a || fill_up(s, c, tried->n_slots, anew);
    }
    return (fits && try_fine(s, anew, best)) || has_improved;
}

/* Tries axis `a` at each of its places nearby, alone and with what is then left going to the other
 * axes; whether `best` has become better. */
static bool improve_along(const search *s, int a, slc_plan *best) {
    const int n_axes = s->planner->job->n_axes;
    const extents *axis = &s->axis[a];
    const int n_slots = best->n_slots;
    const int here = place_of(axis, best->tile[a]);
    int64_t extent[SLC_MAX_AXES] = {0};
    for (int b = 0; b < n_axes; b++) {
        extent[b] = best->tile[b];
    }
    bool has_improved = false;
    for (int place = here - FINE_REACH; place <= here + FINE_REACH; place++) {
        if (place < 0 || place >= axis->n_fine) {
            continue;
        }
        extent[a] = axis->fine[place];
        has_improved = try_fine(s, extent, best) || has_improved;
        for (int b = 0; b < n_axes; b++) {
            const exchange lean = {.a = a, .b = b, .n_slots = 1};
            const exchange full = {.a = a, .b = b, .n_slots = n_slots};
            if (b != a) {
                has_improved = try_filled(s, &lean, extent, best) || has_improved;
            }
            if (b != a && n_slots > 1) {
                has_improved = try_filled(s, &full, extent, best) || has_improved;
            }
        }
    }
    return has_improved;
}

static void improve(const search *s, slc_plan *plan) {
    bool more = true;
    for (int step = 0; step < MOST_STEPS && more; step++) {
        more = false;
        for (int a = 0; a < plan->n_axes; a++) {
            more = improve_along(s, a, plan) || more;
        }
    }
}

void slci_plan_search(const slci_planner *planner, slc_plan *best, bool *found) {
    search s = {.planner = planner};
    for (int a = 0; a < planner->job->n_axes; a++) {
        list_extents(planner, a, &s.axis[a]);
    }
    for (int o = 0; o < planner->job->n_operands; o++) {
        s.has_footprint = s.has_footprint || planner->job->operands[o].footprint != NULL;
    }
    search_grid(&s);
    for (int i = 0; i < s.n_starts; i++) {
        improve(&s, &s.start[i]);
        if (!*found || slci_plan_is_better(&planner->request, &s.start[i], best)) {
            *best = s.start[i];
            *found = true;
        }
    }
}
