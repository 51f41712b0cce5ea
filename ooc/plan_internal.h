/* What the files of the planner share. Read ooc/plan.c first. Nothing here is public.
 */
#ifndef SLC_OOC_PLAN_INTERNAL_H
#define SLC_OOC_PLAN_INTERNAL_H

#include "ooc/plan.h"

/* One planning: the job, the request with rates and region filled in, and where sparse operands go. */
typedef struct slci_planner {
    const slc_job *job;
    slc_plan_request request;
    slc_placement sparse[SLC_MAX_OPERANDS]; /* of sparse operands only */
} slci_planner;

bool slci_is_output(const slc_operand *operand);
bool slci_is_indexed_by(const slc_operand *operand, int axis);

/* The depth of the innermost loop of more than one tile that indexes operand `o`; -1: there is none,
 * and the operand is loaded once. */
int slci_innermost_own_depth(const slc_job *job, const slc_plan *plan, int o);

/* The least common multiple of two positive numbers; false when it does not fit. */
bool slci_common_multiple(int64_t a, int64_t b, int64_t *out);

/* ---- ooc/plan_size.c: memory ------------------------------------------------------------------- */

#define SLCI_DEFAULT_SLOTS 4

/* Of a plan with its tile set: how many slots are worth trying. */
int slci_most_slots(const slci_planner *planner, const slc_plan *plan);

/* Starts a plan with tiles of `extent` [n_axes]: counts of tiles, bytes of an operand's tile. False
 * when a number does not fit int64_t. */
bool slci_plan_set_tile(const slci_planner *planner, const int64_t *extent, slc_plan *plan);

/* Buffers and peaks for a number of slots, the tier not included. False when a size does not fit. */
bool slci_plan_set_slots(const slci_planner *planner, int n_slots, slc_plan *plan);

/* Whether the peaks are within the request's budgets. */
bool slci_plan_fits(const slci_planner *planner, const slc_plan *plan);

/* ---- ooc/plan_traffic.c: bytes on the links ---------------------------------------------------- */

/* Elements along dimension `d` of operand `o`, summed over the first `n_tiles` tiles of the dimension's
 * axis, halos inside the array included. The whole dimension where no axis indexes it. */
int64_t slci_plan_elements(const slc_job *job, const slc_plan *plan, int o, int d, int64_t n_tiles);

/* The bytes of all tiles of each operand together, [n_operands]; they need no order. False when they
 * are too many. */
bool slci_plan_count_once(const slci_planner *planner, const slc_plan *plan, int64_t *once);

/* Counts what every operand moves in the plan's order, as if nothing were kept in RAM. False when the
 * order is not allowed, or a number is too large. */
bool slci_plan_count(const slci_planner *planner, const int64_t *once, slc_plan *plan);

/* Whether the loops alone do not say what operand `o` moves: its box is a function, or has halos so
 * wide that two tiles in a row may need the same box. */
bool slci_plan_is_irregular(const slc_job *job, const slc_plan *plan, int o);

/* Counts again by going through all tiles: irregular operands, and all where the job skips tiles (of
 * very many tiles, about). `has_changed`: there was something to count. SLC_ERROR_MEMORY. */
SLC_MUST_USE slc_status slci_plan_walk(const slci_planner *planner, slc_plan *plan,
                                       bool *has_changed);

/* Sums the operands' bytes into the plan's. */
void slci_plan_sum_bytes(const slc_job *job, slc_plan *plan);

/* ---- ooc/plan_tier.c: tiles kept in RAM -------------------------------------------------------- */

/* Gives what is left of the host budget to tiles that come round again; host_peak_bytes grows by it. */
void slci_plan_choose_tier(const slci_planner *planner, slc_plan *plan);

/* ---- ooc/plan_cost.c: seconds ------------------------------------------------------------------ */

/* Seconds for one byte of input `o` out of its source. */
double slci_read_seconds_per_byte(const slci_planner *planner, const slc_plan *plan, int o);

/* How often natural units are decoded; needs no order. */
void slci_plan_count_units(const slci_planner *planner, slc_plan *plan);
void slci_plan_estimate(const slci_planner *planner, slc_plan *plan);

/* Whether `a` is the better plan: tiles short enough first, then the faster one, then less memory. */
bool slci_plan_is_better(const slc_plan_request *request, const slc_plan *a, const slc_plan *b);

/* What sparse operands add to any plan: the seconds before the first tile, and those that their touches
 * add to the kernels. Of operand `only`, or of all with -1. Reading and copying are taken to
 * overlap. */
typedef struct slci_sparse_seconds {
    double load, touch;
} slci_sparse_seconds;

slci_sparse_seconds slci_plan_sparse_seconds(const slci_planner *planner, const slc_plan *plan,
                                             int only);

/* ---- ooc/plan_search.c ------------------------------------------------------------------------- */

/* The extents of the smallest tile that the request allows. */
void slci_plan_smallest_tile(const slci_planner *planner, int64_t *extent);

/* The best plan with the planner's placement of sparse operands, if any fits; `best` is replaced by a
 * better one only. */
void slci_plan_search(const slci_planner *planner, slc_plan *best, bool *found);

#endif
