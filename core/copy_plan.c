/* Choosing how a device copies between two layouts.
 *
 * The pair is sorted and coalesced first (core/layout.h), which makes most copies a single run or a
 * set of rows; those the driver does well. What is left is done by two kernels that differ in how
 * they keep neighbouring threads on neighbouring addresses on both sides:
 *
 *     general:    threads follow the last dimension; good if both sides are dense there
 *     transpose:  the sides are dense in different dimensions, so squares of both go through
 *                 shared memory
 *
 * A kernel moves units, not elements: as many bytes at once as every address allows, up to 16. */
#include "core/copy_plan.h"

#include <assert.h>
#include <stdbool.h>

/* Widest load and store of one thread. */
#define WIDEST_BYTES 16

/* Below this a square of the transpose kernel would be mostly empty, and the general one is better. */
#define TRANSPOSE_MIN_EXTENT 16

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

/* The dimension in which the destination's elements are neighbours; -1 if there is none. */
static int find_dense(const slci_copy_plan *plan) {
    for (int d = plan->rank - 1; d >= 0; d--) {
        if (plan->dst_stride[d] == plan->unit_bytes) {
            return d;
        }
    }
    return -1;
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

/* General, or transpose with the destination's dense dimension moved next to last. */
static void choose_kernel(slci_copy_plan *plan) {
    const int last = plan->rank - 1;
    const int dense = find_dense(plan);
    plan->way = SLCI_COPY_GENERAL;
    if (dense < 0 || dense == last) {
        return;
    }
    if (plan->src_stride[last] == 0) {
        /* A broadcast reads one element over and over; so the stores decide. */
        swap_dimensions(plan, dense, last);
    } else if (plan->src_stride[last] == plan->unit_bytes &&
               plan->shape[last] >= TRANSPOSE_MIN_EXTENT &&
               plan->shape[dense] >= TRANSPOSE_MIN_EXTENT) {
        swap_dimensions(plan, dense, last - 1);
        plan->way = SLCI_COPY_TRANSPOSE;
    }
}

void slci_copy_plan_init(const void *dst, const slc_layout *dst_layout, const void *src,
                         const slc_layout *src_layout, slci_copy_plan *out) {
    slc_layout d_layout = *dst_layout;
    slc_layout s_layout = *src_layout;
    slc_layout_sort_pair(&d_layout, &s_layout);
    slci_copy_plan plan = {.rank = d_layout.rank,
                           .unit_bytes = (int)slc_dtype_bytes(d_layout.dtype),
                           .n_bytes = slc_layout_bytes(&d_layout),
                           .dst_offset = d_layout.offset_bytes,
                           .src_offset = s_layout.offset_bytes};
    for (int d = 0; d < plan.rank; d++) {
        plan.shape[d] = d_layout.shape[d];
        plan.dst_stride[d] = d_layout.stride_bytes[d];
        plan.src_stride[d] = s_layout.stride_bytes[d];
    }
    if (plan.rank == 0) { /* one element: a run of one */
        plan.rank = 1;
        plan.shape[0] = 1;
        plan.dst_stride[0] = plan.unit_bytes;
        plan.src_stride[0] = plan.unit_bytes;
    }
    if (plan.rank == 1 && plan.dst_stride[0] == plan.unit_bytes &&
        plan.src_stride[0] == plan.unit_bytes) {
        plan.way = SLCI_COPY_CONTIGUOUS;
    } else if (is_pitched(&plan)) {
        plan.way = SLCI_COPY_PITCHED;
    } else {
        const uintptr_t dst_address = (uintptr_t)dst + (uintptr_t)plan.dst_offset;
        const uintptr_t src_address = (uintptr_t)src + (uintptr_t)plan.src_offset;
        choose_unit(&plan, (uint64_t)dst_address | (uint64_t)src_address);
        choose_kernel(&plan);
    }
    *out = plan;
}
