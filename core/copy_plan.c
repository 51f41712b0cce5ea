/* Choosing how a device copies between two layouts.
 *
 * The pair is sorted and coalesced first (core/layout.h), which makes most copies a single run or a
 * set of rows; those the driver does well where one side is the host. On the card two kernels do
 * all but the single run. They differ in how they keep neighbouring threads on neighbouring
 * addresses on both sides:
 *
 *     general:    threads follow the last dimension; good if both sides are closest together there
 *     transpose:  the sides are closest together in different dimensions, so squares of both go
 *                 through shared memory
 *
 * A kernel moves units, not elements: as many bytes at once as every address allows, up to 16. */
#include "core/copy_plan.h"

#include <assert.h>
#include <stdbool.h>

#include "core/checked.h"

/* Widest load and store of one thread. */
#define WIDEST_BYTES 16

/* Below this a square of the transpose kernel would be mostly empty, and the general one is better. */
#define TRANSPOSE_MIN_EXTENT 16

slc_status slci_copy_check_pair(const slc_layout *dst, const slc_layout *src) {
    if (dst->dtype != src->dtype) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "copy: from %s to %s; a copy does not convert",
                        slc_dtype_name(src->dtype), slc_dtype_name(dst->dtype));
    }
    if (dst->rank != src->rank || dst->rank < 0 || dst->rank > SLC_MAX_RANK) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "copy: from rank %d to rank %d; the ranks must be the same, 0 to %d",
                        src->rank, dst->rank, SLC_MAX_RANK);
    }
    for (int d = 0; d < dst->rank; d++) {
        if (dst->shape[d] != src->shape[d]) {
            return SLC_FAIL(SLC_ERROR_ARGUMENT,
                            "copy: dimension %d has %lld elements in the source and %lld in the "
                            "destination; the shapes must be the same",
                            d, (long long)src->shape[d], (long long)dst->shape[d]);
        }
        if (dst->stride_bytes[d] == 0 && dst->shape[d] > 1) {
            return SLC_FAIL(SLC_ERROR_ARGUMENT,
                            "copy: dimension %d of the destination has stride 0; only a source can "
                            "be broadcast",
                            d);
        }
    }
    return SLC_OK;
}

static void swap_dimensions(slci_copy_plan *plan, int a, int b) {
    const int64_t shape = plan->shape[a];
    const int64_t dst_stride = plan->dst_stride[a];
    const int64_t src_stride = plan->src_stride[a];
    plan->shape[a] = plan->shape[b];
    plan->dst_stride[a] = plan->dst_stride[b];
    plan->src_stride[a] = plan->src_stride[b];
    plan->shape[b] = shape;
    plan->dst_stride[b] = dst_stride;
    plan->src_stride[b] = src_stride;
}

/* The dimension in which the destination's units are closest together; the last of several. */
static int find_fastest(const slci_copy_plan *plan) {
    int fastest = plan->rank - 1;
    for (int d = fastest - 1; d >= 0; d--) {
        if (slc_abs_i64(plan->dst_stride[d]) < slc_abs_i64(plan->dst_stride[fastest])) {
            fastest = d;
        }
    }
    return fastest;
}

/* The largest power of two, up to WIDEST_BYTES, that divides every number or-ed into `bits`. */
static int common_unit(uint64_t bits) {
    const uint64_t capped = bits | WIDEST_BYTES;
    return (int)(capped & (~capped + 1));
}

/* cudaDevAttrMaxPitch is 2^31 - 1 on every card. */
#define MAX_PITCH_BYTES INT32_MAX

/* Whether a driver's 2-D copy can do it: rows apart, none on top of another. */
static bool is_pitched(const slci_copy_plan *plan) {
    const int64_t row_bytes = plan->shape[1] * plan->unit_bytes;
    return plan->rank == 2 && plan->dst_stride[1] == plan->unit_bytes &&
           plan->src_stride[1] == plan->unit_bytes && plan->dst_stride[0] >= row_bytes &&
           plan->src_stride[0] >= row_bytes && plan->dst_stride[0] <= MAX_PITCH_BYTES &&
           plan->src_stride[0] <= MAX_PITCH_BYTES;
}

/* Makes units as wide as the addresses allow: wider than elements along a dimension that both sides
 * have dense, narrower where an element's address is not a multiple of its size. */
static void choose_unit(slci_copy_plan *plan, uint64_t address_bits) {
    const int last = plan->rank - 1;
    const int element = plan->unit_bytes;
    const bool is_run = plan->dst_stride[last] == element && plan->src_stride[last] == element;
    uint64_t bits = address_bits;
    for (int d = 0; d < plan->rank - (is_run ? 1 : 0); d++) {
        bits |= (uint64_t)plan->dst_stride[d] | (uint64_t)plan->src_stride[d];
    }
    const int64_t inner_bytes = is_run ? plan->shape[last] * element : element;
    plan->unit_bytes = common_unit(bits | (uint64_t)inner_bytes);
    if (is_run) {
        plan->shape[last] = inner_bytes / plan->unit_bytes;
        plan->dst_stride[last] = plan->unit_bytes;
        plan->src_stride[last] = plan->unit_bytes;
    } else if (plan->unit_bytes < element) {
        assert(plan->rank < SLCI_COPY_MAX_RANK);
        plan->shape[plan->rank] = element / plan->unit_bytes;
        plan->dst_stride[plan->rank] = plan->unit_bytes;
        plan->src_stride[plan->rank] = plan->unit_bytes;
        plan->rank++;
    }
}

/* Walks dimension `d` the other way on both sides. */
static void flip_dimension(slci_copy_plan *plan, int d) {
    plan->dst_offset += (plan->shape[d] - 1) * plan->dst_stride[d];
    plan->src_offset += (plan->shape[d] - 1) * plan->src_stride[d];
    plan->dst_stride[d] = -plan->dst_stride[d];
    plan->src_stride[d] = -plan->src_stride[d];
}

/* Whether it is worth a square: the sides are closest together in different dimensions, both long.
 * A short one is the fastest instead, and the other one next to it: then the units that a block of
 * threads has are close together on either side. */
static slci_copy_way arrange_exchanged(slci_copy_plan *plan, int fast) {
    const int last = plan->rank - 1;
    swap_dimensions(plan, fast, last - 1);
    if (plan->shape[last] >= TRANSPOSE_MIN_EXTENT &&
        plan->shape[last - 1] >= TRANSPOSE_MIN_EXTENT) {
        if (plan->dst_stride[last - 1] < 0) {
            flip_dimension(plan, last - 1);
        }
        return SLCI_COPY_TRANSPOSE;
    }
    if (plan->shape[last - 1] < plan->shape[last]) {
        swap_dimensions(plan, last - 1, last);
    }
    return SLCI_COPY_GENERAL;
}

/* Orders the dimensions of a sorted plan for the kernel that suits it. Stores that run backwards
 * become loads that do. */
static slci_copy_way arrange(slci_copy_plan *plan) {
    const int last = plan->rank - 1;
    const int fast = find_fastest(plan);
    if (fast != last && plan->src_stride[last] != 0) {
        return arrange_exchanged(plan, fast);
    }
    /* A broadcast reads one element over and over; so the stores decide. */
    swap_dimensions(plan, fast, last);
    if (plan->dst_stride[last] < 0) {
        flip_dimension(plan, last);
    }
    return SLCI_COPY_GENERAL;
}

/* The dimensions as they are. */
static slci_copy_plan take_pair(const slc_layout *dst, const slc_layout *src) {
    slci_copy_plan plan = {.way = SLCI_COPY_GENERAL,
                           .rank = dst->rank,
                           .unit_bytes = (int)slc_dtype_bytes(dst->dtype),
                           .n_bytes = slc_layout_bytes(dst),
                           .dst_offset = dst->offset_bytes,
                           .src_offset = src->offset_bytes};
    for (int d = 0; d < plan.rank; d++) {
        plan.shape[d] = dst->shape[d];
        plan.dst_stride[d] = dst->stride_bytes[d];
        plan.src_stride[d] = src->stride_bytes[d];
    }
    if (plan.rank == 0) { /* one element: a run of one */
        plan.rank = 1;
        plan.shape[0] = 1;
        plan.dst_stride[0] = plan.unit_bytes;
        plan.src_stride[0] = plan.unit_bytes;
    }
    return plan;
}

static slci_copy_plan sort_pair(const slc_layout *dst_layout, const slc_layout *src_layout) {
    slc_layout dst = *dst_layout;
    slc_layout src = *src_layout;
    slc_layout_sort_pair(&dst, &src);
    return take_pair(&dst, &src);
}

static bool is_one_run(const slci_copy_plan *plan) {
    return plan->rank == 1 && plan->dst_stride[0] == plan->unit_bytes &&
           plan->src_stride[0] == plan->unit_bytes;
}

void slci_copy_plan_init(const void *dst, const slc_layout *dst_layout, const void *src,
                         const slc_layout *src_layout, slci_copy_plan *out) {
    slci_copy_plan plan = sort_pair(dst_layout, src_layout);
    if (is_one_run(&plan)) {
        plan.way = SLCI_COPY_CONTIGUOUS;
    } else {
        const bool has_pitches = is_pitched(&plan);
        const uintptr_t dst_address = (uintptr_t)dst + (uintptr_t)plan.dst_offset;
        const uintptr_t src_address = (uintptr_t)src + (uintptr_t)plan.src_offset;
        choose_unit(&plan, (uint64_t)dst_address | (uint64_t)src_address);
        const slci_copy_way way = arrange(&plan);
        plan.way = has_pitches ? SLCI_COPY_PITCHED : way;
    }
    *out = plan;
}

void slci_copy_plan_init_host(const slc_layout *dst_layout, const slc_layout *src_layout,
                              slci_copy_plan *out) {
    *out = sort_pair(dst_layout, src_layout);
    out->way = is_one_run(out) ? SLCI_COPY_CONTIGUOUS : arrange(out);
}

void slci_copy_plan_init_unsorted(const slc_layout *dst_layout, const slc_layout *src_layout,
                                  slci_copy_plan *out) {
    *out = take_pair(dst_layout, src_layout);
    out->is_unsorted = true;
}
