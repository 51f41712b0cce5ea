/* The host tier's half of a plan: which decoded tiles are kept in RAM.
 *
 * For one input, a loop of more than one tile is either its own (an axis that indexes it) or a
 * repeating one; what turns inside its innermost own loop moves nothing. Its fills are numbered by
 * the odometer of the loops that are left. With the loops s (own), r (repeating) and c (own),
 * outermost first,
 *
 *     set (s)      0 0 0 0 0 0   1 1 1 1 1 1
 *     round (r)    0 0 0 1 1 1   0 0 0 1 1 1
 *     tile (c)     0 1 2 0 1 2   0 1 2 0 1 2
 *     two kept     K K r k k r   K K r k k r      K read and kept, k from RAM, r read
 *
 * each round of r asks for the same tiles again. Of a scan that comes round again as a whole, the first
 * tiles are the ones to keep: a slot that is overwritten before the round ends has saved nothing. When
 * the loops outside r move on, the set of tiles changes and the slots are filled anew.
 *
 * What a byte of RAM saves is the same for every tile of a cycle, so RAM goes to the operands, or
 * rather classes of them, in the order of the seconds that they save a byte. Operands are in one
 * class when the same loops move them: a source may deliver them together, so they are kept
 * together. Only the loops r, s, r', s' (four axes) offer a choice of cycle, and only to one class:
 * a small cycle that fills few slots often, or a large one that saves most if it fits whole. Both
 * are tried.
 */
#include <assert.h>

#include "core/arena.h"
#include "core/checked.h"
#include "ooc/plan_internal.h"

/* Repeating loops that one class can choose between, with at most four loops. */
#define MAX_CYCLES 2

slc_tier_use slc_plan_tier_use(const slc_plan *plan, const slc_job *job, int operand,
                               int64_t index) {
    assert(operand >= 0 && operand < plan->n_operands && index >= 0 && index < plan->n_tiles);
    const slc_plan_operand *planned = &plan->operand[operand];
    const int innermost = slci_innermost_own_depth(job, plan, operand);
    int64_t turn[SLC_MAX_AXES] = {0};
    int64_t rest = index;
    for (int depth = plan->n_axes - 1; depth >= 0; depth--) {
        const int64_t n = plan->n_tiles_of[plan->order[depth]];
        turn[depth] = rest % n;
        rest /= n;
    }
    slc_tier_use use = {.move = SLC_TIER_READ, .slot = -1};
    int64_t place = 0; /* among the different tiles of the cycle */
    bool is_first = true;
    for (int depth = 0; depth <= innermost; depth++) {
        const int64_t n = plan->n_tiles_of[plan->order[depth]];
        use.fill = use.fill * n + turn[depth];
        if (planned->n_tier_tiles == 0) {
            continue;
        }
        if (depth < planned->tier_depth) {
            use.set = use.set * n + turn[depth];
        } else if (slci_is_indexed_by(&job->operands[operand], plan->order[depth])) {
            place = place * n + turn[depth];
        } else {
            is_first = is_first && turn[depth] == 0;
        }
    }
    if (place < planned->n_tier_tiles) {
        use.move = is_first ? SLC_TIER_READ_AND_KEEP : SLC_TIER_FROM_KEPT;
        use.slot = place;
    }
    return use;
}

/* ---- one cycle -------------------------------------------------------------------------------- */

/* The tiles of a cycle, from the loop at `depth` inwards. */
typedef struct cycle {
    int depth;
    int64_t n_tiles, n_rounds;
} cycle;

static cycle cycle_at(const slc_job *job, const slc_plan *plan, int o, int depth) {
    cycle found = {.depth = depth, .n_tiles = 1, .n_rounds = 1};
    const int innermost = slci_innermost_own_depth(job, plan, o);
    for (int d = depth; d <= innermost; d++) {
        const int axis = plan->order[d];
        const bool is_own = slci_is_indexed_by(&job->operands[o], axis);
        found.n_tiles *= is_own ? plan->n_tiles_of[axis] : 1;
        found.n_rounds *= is_own ? 1 : plan->n_tiles_of[axis];
    }
    return found;
}

/* The cycles of operand `o`, outermost first: one for each run of repeating loops. */
static int list_cycles(const slc_job *job, const slc_plan *plan, int o, cycle *cycles) {
    const int innermost = slci_innermost_own_depth(job, plan, o);
    int n = 0;
    bool was_own = true;
    for (int depth = 0; depth < innermost; depth++) {
        const int axis = plan->order[depth];
        if (plan->n_tiles_of[axis] <= 1) {
            continue;
        }
        const bool is_own = slci_is_indexed_by(&job->operands[o], axis);
        if (!is_own && was_own) {
            assert(n < MAX_CYCLES);
            cycles[n++] = cycle_at(job, plan, o, depth);
        }
        was_own = is_own;
    }
    return n;
}

/* The operand's dimension that the loop at `depth` moves; -1 if it moves none. */
static int dimension_at(const slc_job *job, const slc_plan *plan, int o, int depth) {
    const slc_operand *operand = &job->operands[o];
    for (int d = 0; d < operand->rank; d++) {
        if (operand->axes[d] == plan->order[depth]) {
            return d;
        }
    }
    return -1;
}

/* Elements of the first `n` tiles of the cycle, in the dimensions that its loops move. The number n is
 * written in digits of the loops; each digit stands for a block of whole inner loops. */
static int64_t elements_inside(const slc_job *job, const slc_plan *plan, int o,
                               const cycle *repeated, int64_t n) {
    const int innermost = slci_innermost_own_depth(job, plan, o);
    int64_t elements = 0;
    int64_t lead = 1; /* extents at the digits so far */
    int64_t inner = repeated->n_tiles;
    for (int depth = repeated->depth; depth <= innermost; depth++) {
        const int d = dimension_at(job, plan, o, depth);
        if (d < 0) {
            continue;
        }
        inner /= plan->n_tiles_of[plan->order[depth]];
        const int64_t digit = n / inner;
        n %= inner;
        int64_t block = slci_plan_elements(job, plan, o, d, digit);
        const int64_t upto = digit < plan->n_tiles_of[plan->order[depth]]
                                 ? slci_plan_elements(job, plan, o, d, digit + 1)
                                 : block;
        const int64_t here = upto - block;
        for (int deeper = depth + 1; deeper <= innermost; deeper++) {
            const int e = dimension_at(job, plan, o, deeper);
            block *=
                e < 0 ? 1
                      : slci_plan_elements(job, plan, o, e, plan->n_tiles_of[plan->order[deeper]]);
        }
        elements += lead * block;
        lead *= here;
    }
    return elements;
}

/* Bytes that go into slots over the run when the first `n` tiles of the cycle are kept: once for each
 * set. Each of them is then taken n_rounds - 1 times. */
static int64_t bytes_kept(const slc_job *job, const slc_plan *plan, int o, const cycle *repeated,
                          int64_t n) {
    const slc_operand *operand = &job->operands[o];
    if (n == repeated->n_tiles) {
        return plan->operand[o].bytes_moved / repeated->n_rounds; /* each round moves them all */
    }
    int64_t bytes = slc_dtype_bytes(operand->dtype) * elements_inside(job, plan, o, repeated, n);
    const int innermost = slci_innermost_own_depth(job, plan, o);
    bool is_inside[SLC_MAX_AXES] = {false};
    for (int depth = 0; depth <= innermost; depth++) {
        const int axis = plan->order[depth];
        is_inside[axis] = depth >= repeated->depth;
        if (depth < repeated->depth && !slci_is_indexed_by(operand, axis)) {
            bytes *= plan->n_tiles_of[axis];
        }
    }
    for (int d = 0; d < operand->rank; d++) {
        const int axis = operand->axes[d];
        if (axis == SLC_AXIS_FIXED) {
            bytes *= operand->fixed_extent[d];
        } else if (!is_inside[axis]) {
            bytes *= slci_plan_elements(job, plan, o, d, plan->n_tiles_of[axis]);
        }
    }
    return bytes;
}

/* ---- sharing RAM out -------------------------------------------------------------------------- */

/* Operands that the same loops move. */
typedef struct operand_class {
    unsigned axes; /* bit a: axis a moves them */
    int n_operands;
    int operand[SLC_MAX_OPERANDS];
    int64_t tile_bytes; /* what one kept tile of all of them costs */
    int n_cycles;
    cycle cycles[MAX_CYCLES];
} operand_class;

static unsigned moving_axes(const slc_job *job, const slc_plan *plan, int o) {
    unsigned axes = 0;
    for (int a = 0; a < plan->n_axes; a++) {
        if (plan->n_tiles_of[a] > 1 && slci_is_indexed_by(&job->operands[o], a)) {
            axes |= 1u << a;
        }
    }
    return axes;
}

/* The classes whose tiles come round again. */
static int list_classes(const slc_job *job, const slc_plan *plan, operand_class *classes) {
    int n = 0;
    for (int o = 0; o < job->n_operands; o++) {
        const slc_operand *operand = &job->operands[o];
        cycle cycles[MAX_CYCLES];
        if (operand->access != SLC_ACCESS_IN || operand->is_sparse ||
            plan->operand[o].tile_bytes == 0) {
            continue;
        }
        const int n_cycles = list_cycles(job, plan, o, cycles);
        if (n_cycles == 0 || slci_plan_is_irregular(job, plan, o)) {
            continue;
        }
        const unsigned axes = moving_axes(job, plan, o);
        int c = 0;
        while (c < n && classes[c].axes != axes) {
            c++;
        }
        if (c == n) {
            classes[n++] = (operand_class){.axes = axes, .n_cycles = n_cycles};
            for (int i = 0; i < n_cycles; i++) {
                classes[c].cycles[i] = cycles[i];
            }
        }
        classes[c].operand[classes[c].n_operands++] = o;
        classes[c].tile_bytes += slc_arena_cost(plan->operand[o].tile_bytes);
    }
    return n;
}

/* Seconds that keeping the first `n` tiles of the cycle saves: reads, less the copies into and out of
 * the slots. */
static double seconds_saved(const slci_planner *planner, const slc_plan *plan,
                            const operand_class *class, const cycle *repeated, int64_t n) {
    double seconds = 0;
    for (int i = 0; i < class->n_operands; i++) {
        const int o = class->operand[i];
        const double kept = (double)bytes_kept(planner->job, plan, o, repeated, n);
        const double taken = kept * (double)(repeated->n_rounds - 1);
        seconds += taken * slci_read_seconds_per_byte(planner, plan, o) -
                   (kept + taken) / planner->request.rates.tier_bytes_per_s;
    }
    return seconds;
}

/* What is given to each class. */
typedef struct shares {
    double seconds_saved;
    const cycle *repeated[SLC_MAX_OPERANDS];
    int64_t n_tiles[SLC_MAX_OPERANDS]; /* [n_classes] */
} shares;

/* Gives `left_bytes` away, the class that saves most a byte first. A class with several cycles takes
 * number `choice`. */
static shares share_out(const slci_planner *planner, const slc_plan *plan,
                        const operand_class *classes, int n_classes, int choice) {
    shares given = {0};
    double worth[SLC_MAX_OPERANDS] = {0};
    int64_t left_bytes = planner->request.host_budget_bytes - plan->host_peak_bytes;
    for (int c = 0; c < n_classes; c++) {
        const int last = classes[c].n_cycles - 1;
        const cycle *repeated = &classes[c].cycles[choice < last ? choice : last];
        given.repeated[c] = repeated;
        worth[c] = seconds_saved(planner, plan, &classes[c], repeated, repeated->n_tiles) /
                   ((double)repeated->n_tiles * (double)classes[c].tile_bytes);
    }
    for (;;) {
        int best = -1;
        for (int c = 0; c < n_classes; c++) {
            if (worth[c] > 0 && (best < 0 || worth[c] > worth[best])) {
                best = c;
            }
        }
        if (best < 0) {
            return given;
        }
        const cycle *repeated = given.repeated[best];
        const int64_t n = slc_min_i64(left_bytes / classes[best].tile_bytes, repeated->n_tiles);
        given.n_tiles[best] = n;
        given.seconds_saved += seconds_saved(planner, plan, &classes[best], repeated, n);
        left_bytes -= n * classes[best].tile_bytes;
        worth[best] = 0;
    }
}

static void take_share(const slci_planner *planner, const operand_class *class,
                       const cycle *repeated, int64_t n, slc_plan *plan) {
    for (int i = 0; i < class->n_operands; i++) {
        const int o = class->operand[i];
        slc_plan_operand *planned = &plan->operand[o];
        const int64_t taken =
            bytes_kept(planner->job, plan, o, repeated, n) * (repeated->n_rounds - 1);
        planned->tier_depth = repeated->depth;
        planned->tier_cycle = repeated->n_tiles;
        planned->tier_rounds = repeated->n_rounds;
        planned->n_tier_tiles = n;
        planned->bytes_read = planned->bytes_moved - taken;
    }
    plan->tier_bytes += n * class->tile_bytes;
    plan->host_peak_bytes += n * class->tile_bytes;
}

void slci_plan_choose_tier(const slci_planner *planner, slc_plan *plan) {
    operand_class classes[SLC_MAX_OPERANDS];
    if (planner->request.no_tier || plan->n_passes <= 1) {
        return;
    }
    for (int o = 0; o < plan->n_operands; o++) {
        slc_plan_operand *planned = &plan->operand[o];
        if (planned->n_tier_tiles > 0) { /* for another number of slots */
            planned->bytes_read = planned->bytes_moved;
            planned->n_tier_tiles = 0;
        }
    }
    const int n_classes = list_classes(planner->job, plan, classes);
    int n_choices = 1;
    for (int c = 0; c < n_classes; c++) {
        n_choices = classes[c].n_cycles > n_choices ? classes[c].n_cycles : n_choices;
    }
    shares best = share_out(planner, plan, classes, n_classes, 0);
    for (int choice = 1; choice < n_choices; choice++) {
        const shares given = share_out(planner, plan, classes, n_classes, choice);
        best = given.seconds_saved > best.seconds_saved ? given : best;
    }
    for (int c = 0; c < n_classes; c++) {
        if (best.n_tiles[c] > 0) {
            take_share(planner, &classes[c], best.repeated[c], best.n_tiles[c], plan);
        }
    }
    slci_plan_sum_bytes(planner->job, plan);
}
