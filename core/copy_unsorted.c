/* On the host device the unsorted copy is one call on the stream's thread, which cuts the first
 * dimension that is long enough into pieces for the pool. */
#include "core/copy_unsorted.h"

#include <string.h>

#include "core/checked.h"
#include "core/copy_plan.h"

#define PIECES_PER_THREAD 2

typedef struct unsorted_work {
    slc_pool *pool;
    char *dst;
    const char *src;
    slci_copy_plan plan;
    int cut; /* the dimension that is cut, and the elements of it in a piece */
    int64_t piece_extent;
} unsorted_work;

/* Always expanded for a constant size. */
__attribute__((always_inline)) static inline void
copy_row_of(char *dst, const char *src, const slci_copy_plan *plan, int64_t n, size_t unit) {
    const int64_t dst_step = plan->dst_stride[plan->rank - 1];
    const int64_t src_step = plan->src_stride[plan->rank - 1];
    for (int64_t i = 0; i < n; i++) {
        memcpy(dst + i * dst_step, src + i * src_step, unit);
    }
}

static void copy_row(char *dst, const char *src, const slci_copy_plan *plan, int64_t n) {
    switch (plan->unit_bytes) {
    case 1:
        copy_row_of(dst, src, plan, n, 1);
        break;
    case 2:
        copy_row_of(dst, src, plan, n, 2);
        break;
    case 4:
        copy_row_of(dst, src, plan, n, 4);
        break;
    case 8:
        copy_row_of(dst, src, plan, n, 8);
        break;
    default:
        copy_row_of(dst, src, plan, n, 16);
    }
}

static slc_status run_piece(void *context, int64_t piece, int worker) {
    (void)worker;
    const unsorted_work *self = context;
    const slci_copy_plan *plan = &self->plan;
    const int last = plan->rank - 1;
    int64_t index[SLCI_COPY_MAX_RANK] = {0};
    int64_t end[SLCI_COPY_MAX_RANK];
    memcpy(end, plan->shape, sizeof end);
    const int64_t begin = piece * self->piece_extent;
    index[self->cut] = begin;
    end[self->cut] = slc_min_i64(begin + self->piece_extent, plan->shape[self->cut]);
    for (int d = 0; d >= 0;) {
        char *dst = self->dst + plan->dst_offset;
        const char *src = self->src + plan->src_offset;
        for (int e = 0; e <= last; e++) {
            dst += index[e] * plan->dst_stride[e];
            src += index[e] * plan->src_stride[e];
        }
        copy_row(dst, src, plan, end[last] - index[last]);
        d = last - 1;
        while (d >= 0 && ++index[d] == end[d]) {
            index[d] = d == self->cut ? begin : 0;
            d--;
        }
    }
    return SLC_OK;
}

static slc_status run_call(void *argument) {
    unsorted_work *self = argument;
    const int64_t wanted = (int64_t)slc_pool_size(self->pool) * PIECES_PER_THREAD;
    while (self->cut < self->plan.rank - 1 && self->plan.shape[self->cut] < wanted) {
        self->cut++;
    }
    const int64_t extent = self->plan.shape[self->cut];
    self->piece_extent = slc_ceil_div(extent, wanted);
    return slc_pool_for(self->pool, slc_ceil_div(extent, self->piece_extent), run_piece, self);
}

slc_status slci_stream_copy_unsorted(slc_stream *stream, void *d_dst, const slc_layout *dst_layout,
                                     const void *d_src, const slc_layout *src_layout) {
    if (stream->device->kind == SLC_DEVICE_CUDA) {
        return slci_copy_unsorted_cuda(stream, d_dst, dst_layout, d_src, src_layout);
    }
    unsorted_work work = {.pool = stream->device->pool, .dst = d_dst, .src = d_src};
    slci_copy_plan_init_unsorted(dst_layout, src_layout, &work.plan);
    return slc_stream_call(stream, run_call, &work, sizeof work);
}
