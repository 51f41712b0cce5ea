/* How the planner works.
 *
 * A plan is a tile extent for each axis, an order of the loops, a number of slots, and a place for each
 * sparse operand. ooc/plan_search.c tries the tiles, orders and slots that are worth trying. For each,
 *
 *     ooc/plan_size.c      adds up device and host memory,
 *     ooc/plan_traffic.c   counts the bytes on each link,
 *     ooc/plan_tier.c      gives the host memory that is left to tiles that come round again, and
 *     ooc/plan_cost.c      turns bytes into seconds and says which of two plans is better.
 *
 * This file checks what is asked for, tries the places of sparse operands, and says what would do when
 * nothing fits. Memory grows with every extent and with the slots, so the smallest plan is one
 * granule a tile and one slot; its size is the smallest budget that works.
 *
 * An ordered axis carries state from tile to tile, so nothing may turn faster than it.
 */
#include "ooc/plan.h"

#include <assert.h>
#include <string.h>

#include "core/checked.h"
#include "core/print.h"
#include "core/units.h"
#include "ooc/plan_internal.h"

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
    const struct {
        double *rate;
        double usual;
    } pairs[] = {{&rates->disk_bytes_per_s, usual.disk_bytes_per_s},
                 {&rates->read_bytes_per_s, usual.read_bytes_per_s},
                 {&rates->tier_bytes_per_s, usual.tier_bytes_per_s},
                 {&rates->h2d_bytes_per_s, usual.h2d_bytes_per_s},
                 {&rates->d2h_bytes_per_s, usual.d2h_bytes_per_s},
                 {&rates->write_bytes_per_s, usual.write_bytes_per_s},
                 {&rates->device_touches_per_s, usual.device_touches_per_s},
                 {&rates->mapped_touches_per_s, usual.mapped_touches_per_s},
                 {&rates->step_seconds, usual.step_seconds}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        *pairs[i].rate = *pairs[i].rate > 0 ? *pairs[i].rate : pairs[i].usual;
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

const char *slc_sparse_choice_name(slc_sparse_choice choice) {
    static const char *const names[SLC_SPARSE_COUNT] = {
        [SLC_SPARSE_AUTO] = "auto",
        [SLC_SPARSE_RESIDENT] = "resident",
        [SLC_SPARSE_MAPPED] = "mapped",
        [SLC_SPARSE_STREAMED] = "streamed",
    };
    return (unsigned)choice < SLC_SPARSE_COUNT ? names[choice] : "unknown";
}

/* ---- what is asked for -------------------------------------------------------------------------- */

static slc_status check_region(const slc_job *job, const slc_box *region) {
    if (region->rank != job->n_axes) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "job %s: a region of rank %d for %d axes", job->name,
                        region->rank, job->n_axes);
    }
    for (int a = 0; a < job->n_axes; a++) {
        const slc_axis *axis = &job->axes[a];
        const int64_t origin = region->origin[a];
        const int64_t extent = region->extent[a];
        if (origin < 0 || extent < 0 || origin > axis->extent || extent > axis->extent - origin ||
            (origin % axis->granule != 0 && extent > 0) ||
            (extent % axis->granule != 0 && origin + extent != axis->extent)) {
            return SLC_FAIL(SLC_ERROR_ARGUMENT,
                            "job %s: a region of %lld from %lld on along axis %s is not whole "
                            "granules of %lld within its %lld",
                            job->name, (long long)extent, (long long)origin, axis->name,
                            (long long)axis->granule, (long long)axis->extent);
        }
    }
    return SLC_OK;
}

static slc_status open_planner(const slc_job *job, const slc_plan_request *request,
                               slci_planner *planner) {
    SLC_TRY(slc_job_check(job));
    if (request->allocation_unit_bytes < 1) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "plan: the allocation unit is %lld bytes, not 1 or more",
                        (long long)request->allocation_unit_bytes);
    }
    *planner = (slci_planner){.job = job, .request = *request};
    fill_rates(&planner->request.rates);
    if (request->sparse == SLC_SPARSE_STREAMED) {
        planner->request.sparse = SLC_SPARSE_AUTO;
    }
    slc_box *region = &planner->request.region;
    if (region->rank == 0) {
        *region = (slc_box){.rank = job->n_axes};
        for (int a = 0; a < job->n_axes; a++) {
            region->extent[a] = job->axes[a].extent;
        }
    }
    return check_region(job, region);
}

/* ---- places of sparse operands ------------------------------------------------------------------ */

/* Few jobs have more than two sparse operands; those after the sixth go where the sixth goes. */
#define MOST_CHOICES 6
#define MOST_PLACINGS (1 << MOST_CHOICES)

/* One way to place all sparse operands: what its smallest plan takes, and how fast any is at best. */
typedef struct placing {
    slc_placement place[SLC_MAX_OPERANDS];
    int64_t device_bytes, host_bytes;
    double least_seconds;
    bool is_tried;
} placing;

/* All ways; bit i of a placing's number says whether the i-th sparse operand is mapped. */
typedef struct placings {
    int n;
    placing at[MOST_PLACINGS];
} placings;

/* Places as number `choice` says; returns how many ways there are. */
static int place_sparse(const slci_planner *planner, int choice, slc_placement *place) {
    const slc_sparse_choice asked = planner->request.sparse;
    int n = 0;
    for (int o = 0; o < planner->job->n_operands; o++) {
        if (planner->job->operands[o].is_sparse) {
            const int bit = n < MOST_CHOICES ? n : MOST_CHOICES - 1;
            const bool is_mapped = asked == SLC_SPARSE_MAPPED ||
                                   (asked == SLC_SPARSE_AUTO && (choice >> bit) % 2 == 1);
            place[o] = is_mapped ? SLC_PLACE_MAPPED : SLC_PLACE_RESIDENT;
            n++;
        }
    }
    return asked == SLC_SPARSE_AUTO ? 1 << (n < MOST_CHOICES ? n : MOST_CHOICES) : 1;
}

/* Lists the ways with their smallest plans: one granule a tile (or the forced extents), one slot. */
static slc_status list_placings(slci_planner *planner, placings *all) {
    int64_t extent[SLC_MAX_AXES] = {0};
    slci_plan_smallest_tile(planner, extent);
    slc_plan plan;
    bool fits = slci_plan_set_tile(planner, extent, &plan);
    for (int i = 0; i < all->n && fits; i++) {
        placing *here = &all->at[i];
        *here = (placing){.is_tried = false};
        all->n = place_sparse(planner, i, here->place);
        memcpy(planner->sparse, here->place, sizeof planner->sparse);
        fits = slci_plan_set_slots(planner, 1, &plan);
        here->device_bytes = plan.device_peak_bytes;
        here->host_bytes = plan.host_peak_bytes;
        const slci_sparse_seconds seconds = slci_plan_sparse_seconds(planner, &plan, -1);
        here->least_seconds = seconds.load + seconds.touch;
    }
    if (!fits) {
        return SLC_FAIL(SLC_ERROR_UNSUPPORTED,
                        "job %s: the size of one tile, or the number of the smallest ones, does "
                        "not fit 64 bits",
                        planner->job->name);
    }
    return SLC_OK;
}

/* The least device memory of the ways that the host budget allows, of all where it allows none; and the
 * other way round. */
static void find_smallest(const slci_planner *planner, const placings *all, slc_plan *out) {
    int64_t any_device = INT64_MAX;
    int64_t any_host = INT64_MAX;
    int64_t device = INT64_MAX;
    int64_t host = INT64_MAX;
    for (int i = 0; i < all->n; i++) {
        const placing *here = &all->at[i];
        any_device = slc_min_i64(any_device, here->device_bytes);
        any_host = slc_min_i64(any_host, here->host_bytes);
        if (here->host_bytes <= planner->request.host_budget_bytes) {
            device = slc_min_i64(device, here->device_bytes);
        }
        if (here->device_bytes <= planner->request.device_budget_bytes) {
            host = slc_min_i64(host, here->host_bytes);
        }
    }
    out->smallest_device_bytes = device < INT64_MAX ? device : any_device;
    out->smallest_host_bytes = host < INT64_MAX ? host : any_host;
}

/* The least memory for tiles of whole units, where there are units. */
static void find_whole(const slci_planner *planner, slc_plan *out) {
    int64_t extent[SLC_MAX_AXES] = {0};
    slc_plan plan;
    bool has_units = false;
    slci_plan_smallest_tile(planner, extent);
    for (int a = 0; a < planner->job->n_axes; a++) {
        const int64_t unit = planner->request.unit[a];
        const int64_t granule = planner->job->axes[a].granule;
        if (unit > extent[a] && planner->request.force_tile[a] == 0) {
            const int64_t most = slc_max_i64(planner->request.region.extent[a], 1);
            int64_t whole = most;
            if (!slci_common_multiple(unit, granule, &whole) || whole > most) {
                whole = slc_round_up(most, granule);
            }
            extent[a] = whole;
            has_units = true;
        }
    }
    for (int o = 0; o < planner->job->n_operands; o++) {
        has_units = has_units && !planner->job->operands[o].is_sparse;
    }
    if (has_units && slci_plan_set_tile(planner, extent, &plan) &&
        slci_plan_set_slots(planner, 1, &plan)) {
        out->whole_device_bytes = plan.device_peak_bytes;
        out->whole_host_bytes = plan.host_peak_bytes;
    }
}

/* Tries the ways, the one that may be fastest first, until no other can be faster than what was
 * found. */
static bool search_placings(slci_planner *planner, placings *all, slc_plan *best) {
    bool found = false;
    for (;;) {
        placing *next = NULL;
        for (int i = 0; i < all->n; i++) {
            placing *here = &all->at[i];
            if (!here->is_tried && here->device_bytes <= planner->request.device_budget_bytes &&
                here->host_bytes <= planner->request.host_budget_bytes &&
                (next == NULL || here->least_seconds < next->least_seconds)) {
                next = here;
            }
        }
        if (next == NULL || (found && next->least_seconds >= best->seconds_total)) {
            return found;
        }
        next->is_tried = true;
        memcpy(planner->sparse, next->place, sizeof planner->sparse);
        slci_plan_search(planner, best, &found);
    }
}

/* The way that differs from the plan's in operand `o` alone; NULL where it was not to be chosen. */
static const placing *other_place(const slci_planner *planner, const placings *all,
                                  const slc_plan *plan, int o) {
    for (int i = 0; i < all->n; i++) {
        bool is_other = true;
        for (int p = 0; p < plan->n_operands; p++) {
            if (planner->job->operands[p].is_sparse) {
                const bool is_same = all->at[i].place[p] == plan->operand[p].placement;
                is_other = is_other && is_same == (p != o);
            }
        }
        if (is_other) {
            return &all->at[i];
        }
    }
    return NULL;
}

/* Says for operand `o` why it is where it is. */
static void explain(slci_planner *planner, const placings *all, slc_plan *plan, int o) {
    slc_plan_operand *planned = &plan->operand[o];
    const bool is_mapped = planned->placement == SLC_PLACE_MAPPED;
    const placing *other = other_place(planner, all, plan, o);
    const char *place = is_mapped ? "mapped" : "resident";
    if (other == NULL) {
        const bool is_free = planner->request.sparse == SLC_SPARSE_AUTO;
        (void)slci_print(planned->why, sizeof planned->why, "%s, %s", place,
                         is_free ? "as the other sparse operands" : "as was asked for");
        return;
    }
    if (other->device_bytes > planner->request.device_budget_bytes) {
        (void)slci_print(planned->why, sizeof planned->why,
                         "mapped: resident, the job needs %lld bytes of device memory, %lld are "
                         "allowed",
                         (long long)other->device_bytes,
                         (long long)planner->request.device_budget_bytes);
        return;
    }
    if (other->host_bytes > planner->request.host_budget_bytes) {
        (void)slci_print(planned->why, sizeof planned->why,
                         "resident: mapped, the job needs %lld bytes of host memory, %lld are "
                         "allowed",
                         (long long)other->host_bytes,
                         (long long)planner->request.host_budget_bytes);
        return;
    }
    char seconds[2][SLCI_TEXT_BYTES];
    char touches[SLCI_TEXT_BYTES];
    for (int mapped = 0; mapped < 2; mapped++) {
        planner->sparse[o] = mapped ? SLC_PLACE_MAPPED : SLC_PLACE_RESIDENT;
        const slci_sparse_seconds taken = slci_plan_sparse_seconds(planner, plan, o);
        slci_format_seconds(taken.load + taken.touch, seconds[mapped]);
    }
    planner->sparse[o] = planned->placement;
    slci_format_number(planned->touches, 3, touches);
    (void)slci_print(planned->why, sizeof planned->why,
                     "%s: loading and %s touches take %s resident, %s mapped", place, touches,
                     seconds[0], seconds[1]);
}

/* ---- planning ----------------------------------------------------------------------------------- */

static slc_status no_plan(const slc_job *job, const slc_plan_request *request,
                          const slc_plan *plan) {
    if (plan->smallest_device_bytes > request->device_budget_bytes) {
        return SLC_FAIL(SLC_ERROR_NO_PLAN,
                        "job %s: no plan fits %lld bytes of device memory; the smallest that works "
                        "is %lld (--vram)",
                        job->name, (long long)request->device_budget_bytes,
                        (long long)plan->smallest_device_bytes);
    }
    if (plan->smallest_host_bytes <= request->host_budget_bytes) {
        /* Memory would do, so it is the traffic (slci_plan_count_once). */
        return SLC_FAIL(SLC_ERROR_UNSUPPORTED,
                        "job %s: all its plans move 512 PiB or more of one array, which is more "
                        "than can be counted; a part of it works",
                        job->name);
    }
    return SLC_FAIL(SLC_ERROR_NO_PLAN,
                    "job %s: no plan fits %lld bytes of host memory for staging; the smallest that "
                    "works is %lld bytes more of it (--ram)",
                    job->name, (long long)request->host_budget_bytes,
                    (long long)(plan->smallest_host_bytes - request->host_budget_bytes));
}

slc_status slc_plan_make(const slc_job *job, const slc_plan_request *request, slc_plan *out) {
    slci_planner planner;
    SLC_TRY(open_planner(job, request, &planner));
    placings all = {.n = 1};
    SLC_TRY(list_placings(&planner, &all));
    slc_plan best = {0};
    const bool found = search_placings(&planner, &all, &best);
    find_smallest(&planner, &all, &best);
    find_whole(&planner, &best);
    *out = best;
    if (!found) {
        return no_plan(job, request, &best);
    }
    for (int o = 0; o < job->n_operands; o++) {
        if (job->operands[o].is_sparse) {
            planner.sparse[o] = out->operand[o].placement;
        }
    }
    for (int o = 0; o < job->n_operands; o++) {
        if (job->operands[o].is_sparse) {
            explain(&planner, &all, out, o);
        }
    }
    bool has_changed = false;
    SLC_TRY(slci_plan_walk(&planner, out, &has_changed));
    if (has_changed) {
        slci_plan_estimate(&planner, out);
    }
    return SLC_OK;
}

slc_tile slc_plan_tile(const slc_plan *plan, int64_t index) {
    assert(index >= 0 && index < plan->n_tiles);
    slc_tile tile = {.index = index};
    int64_t rest = index;
    for (int depth = plan->n_axes - 1; depth >= 0; depth--) {
        const int a = plan->order[depth];
        const int64_t offset = rest % plan->n_tiles_of[a] * plan->tile[a];
        tile.origin[a] = plan->region.origin[a] + offset;
        tile.extent[a] = slc_min_i64(plan->tile[a], plan->region.extent[a] - offset);
        rest /= plan->n_tiles_of[a];
    }
    return tile;
}
