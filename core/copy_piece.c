/* Kernels spend their time on addresses, so these are kept in 32 bits: offsets count units, not
 * bytes, which reaches 2 GiB of bytes and 32 GiB of units of 16. What reaches further is halved
 * until it fits; memory is finite, so that makes few pieces. */
#include "core/copy_piece.h"

#include <assert.h>

#include "core/checked.h"

slci_copy_divider slci_copy_divider_make(int64_t divisor) {
    assert(divisor >= 1 && divisor <= INT32_MAX);
    uint32_t shift = 0;
    while ((INT64_C(1) << shift) < divisor) {
        shift++;
    }
    /* 2^32 · (2^shift - divisor) / divisor + 1; below 2^32, because 2^shift < 2 · divisor. */
    const uint64_t excess = (UINT64_C(1) << shift) - (uint64_t)divisor;
    const uint64_t multiplier = (excess << 32) / (uint64_t)divisor + 1;
    return (slci_copy_divider){.divisor = (uint32_t)divisor,
                               .multiplier = (uint32_t)multiplier,
                               .shift = shift};
}

/* How far apart the first and the last unit of dimension `d` are on one side, in units. It lies
 * within memory, so the product fits. */
static int64_t side_span(const slci_copy_plan *plan, const int64_t *stride, int d) {
    return (plan->shape[d] - 1) * (slc_abs_i64(stride[d]) / plan->unit_bytes);
}

bool slci_copy_piece_fits(const slci_copy_plan *plan) {
    int64_t n = 1;
    int64_t dst_span = 0;
    int64_t src_span = 0;
    for (int d = 0; d < plan->rank; d++) {
        if (plan->shape[d] > SLCI_COPY_PIECE_UNITS / n) {
            return false;
        }
        n *= plan->shape[d];
        dst_span += side_span(plan, plan->dst_stride, d);
        src_span += side_span(plan, plan->src_stride, d);
        if (dst_span > INT32_MAX || src_span > INT32_MAX) {
            return false;
        }
    }
    return true;
}

/* On the side where it is more. A source of stride 0 has no span there, but its units are counted. */
static int64_t dimension_span(const slci_copy_plan *plan, int d) {
    const int64_t span =
        slc_max_i64(side_span(plan, plan->dst_stride, d), side_span(plan, plan->src_stride, d));
    return slc_max_i64(span, plan->shape[d] - 1);
}

void slci_copy_plan_halve(slci_copy_plan *plan, slci_copy_plan *second) {
    int longest = 0;
    int64_t most = -1;
    for (int d = 0; d < plan->rank; d++) {
        const int64_t span = dimension_span(plan, d);
        if (span > most) {
            most = span;
            longest = d;
        }
    }
    assert(plan->shape[longest] > 1);
    const int64_t n_first = plan->shape[longest] / 2;
    *second = *plan;
    second->shape[longest] -= n_first;
    second->dst_offset += n_first * plan->dst_stride[longest];
    second->src_offset += n_first * plan->src_stride[longest];
    plan->shape[longest] = n_first;
}

void slci_copy_piece_init(const slci_copy_plan *plan, slci_copy_piece *out) {
    slci_copy_piece piece = {.n = 1};
    for (int d = plan->rank - 1; d >= 0; d--) {
        /* The two fastest are kept whatever their extents, because a transpose asks for them. */
        if (plan->shape[d] == 1 && d < plan->rank - 2) {
            continue;
        }
        const bool is_used = plan->shape[d] > 1;
        const int64_t dst_stride = is_used ? plan->dst_stride[d] / plan->unit_bytes : 0;
        const int64_t src_stride = is_used ? plan->src_stride[d] / plan->unit_bytes : 0;
        piece.extent[piece.rank] = slci_copy_divider_make(plan->shape[d]);
        piece.dst_stride[piece.rank] = (int32_t)dst_stride;
        piece.src_stride[piece.rank] = (int32_t)src_stride;
        piece.n *= (uint32_t)plan->shape[d];
        piece.rank++;
    }
    *out = piece;
}

void slci_copy_piece_coarsen(slci_copy_piece *piece, int d, int step) {
    const uint32_t extent = piece->extent[d].divisor;
    const int64_t n_steps = slc_ceil_div(extent, step);
    piece->n = (uint32_t)(piece->n / extent * n_steps);
    piece->extent[d] = slci_copy_divider_make(n_steps);
    /* The stride of a single step is not used; of several, n_steps · step · stride is within reach.
     * */
    const int64_t factor = n_steps > 1 ? step : 0;
    piece->dst_stride[d] = (int32_t)(piece->dst_stride[d] * factor);
    piece->src_stride[d] = (int32_t)(piece->src_stride[d] * factor);
}

int slci_copy_group_units(const void *d_dst, const slci_copy_plan *plan) {
    const int last = plan->rank - 1;
    const int units = SLCI_COPY_GROUP_BYTES / plan->unit_bytes;
    uint64_t bits = (uint64_t)(uintptr_t)d_dst + (uint64_t)plan->dst_offset;
    for (int d = 0; d < last; d++) {
        bits |= plan->shape[d] > 1 ? (uint64_t)plan->dst_stride[d] : 0;
    }
    const bool is_aligned = bits % SLCI_COPY_GROUP_BYTES == 0 && plan->shape[last] % units == 0;
    return is_aligned && plan->dst_stride[last] == plan->unit_bytes && !plan->is_unsorted ? units
                                                                                          : 1;
}
