/* Every copy on the host, whatever the strides: planned as on a device (core/copy_plan.h), then
 * matrix after matrix of the plan's last two dimensions, by rows or in turned blocks. On a pool the
 * plan is cut first, along one dimension where that is long enough, else along several. */
#include "core/copy.h"

#include <string.h>

#include "core/checked.h"
#include "core/copy_host.h"
#include "core/copy_plan.h"

/* A piece has at least this much, so that handing it out costs nothing beside it; several a thread
 * even out threads that come late. */
#define SMALLEST_PIECE_BYTES (INT64_C(1) << 20)
#define PIECES_PER_THREAD 4

/* Pieces of the dimensions in which memory runs are whole lines, and whole tiles of a transpose. */
#define PIECE_UNITS 64

/* More than this does not stay in the caches, and whoever reads it next fetches it from memory
 * anyhow. A transpose, whose stores hit many pages, gains earlier. (Measured on a Xeon with 2 MiB
 * of its own for each processor and much to share: 256 MiB gain by a third, 32 MiB lose a third as
 * rows, and as a transpose become three times as fast.) */
#define LARGE_BYTES (INT64_C(128) << 20)
#define LARGE_TRANSPOSE_BYTES (INT64_C(32) << 20)

/* Copies the matrices of a plan one after the other, the last of the outer dimensions fastest. */
static void run_plan(const slci_copy_plan *plan, char *dst, const char *src, bool streams) {
    const int n_outer = plan->rank - 2;
    int64_t index[SLCI_COPY_MAX_RANK] = {0};
    dst += plan->dst_offset;
    src += plan->src_offset;
    for (;;) {
        if (plan->way == SLCI_COPY_TRANSPOSE) {
            slci_copy_host_turned(plan, dst, src, streams);
        } else {
            slci_copy_host_rows(plan, dst, src, streams);
        }
        int d = n_outer - 1;
        while (d >= 0 && ++index[d] == plan->shape[d]) {
            dst -= (plan->shape[d] - 1) * plan->dst_stride[d];
            src -= (plan->shape[d] - 1) * plan->src_stride[d];
            index[d] = 0;
            d--;
        }
        if (d < 0) {
            break;
        }
        dst += plan->dst_stride[d];
        src += plan->src_stride[d];
    }
    if (streams) {
        slci_stream_end();
    }
}

static bool is_large(const slci_copy_plan *plan, int64_t dst_bytes) {
    return dst_bytes >= (plan->way == SLCI_COPY_TRANSPOSE ? LARGE_TRANSPOSE_BYTES : LARGE_BYTES);
}

slc_status slc_copy_host(void *dst, const slc_layout *dst_layout, const void *src,
                         const slc_layout *src_layout) {
    return slc_copy_host_part(dst, dst_layout, src, src_layout, 0);
}

slc_status slc_copy_host_part(void *dst, const slc_layout *dst_layout, const void *src,
                              const slc_layout *src_layout, int64_t dst_bytes) {
    SLC_TRY(slci_copy_check_pair(dst_layout, src_layout));
    if (slc_layout_count(dst_layout) == 0) {
        return SLC_OK;
    }
    slci_copy_plan plan;
    slci_copy_plan_init_host(dst_layout, src_layout, &plan);
    run_plan(&plan, dst, src, is_large(&plan, slc_max_i64(dst_bytes, plan.n_bytes)));
    return SLC_OK;
}

/* ---- on a pool -------------------------------------------------------------------------------- */

typedef struct cut_copy {
    slci_copy_plan plan;
    char *dst;
    const char *src;
    int64_t extent[SLCI_COPY_MAX_RANK];   /* of a piece */
    int64_t n_pieces[SLCI_COPY_MAX_RANK]; /* along each dimension */
    bool streams;                         /* past the caches */
} cut_copy;

static slc_status run_piece(void *context, int64_t index, int worker) {
    (void)worker;
    const cut_copy *self = context;
    slci_copy_plan piece = self->plan;
    for (int d = piece.rank - 1; d >= 0; d--) {
        const int64_t begin = index % self->n_pieces[d] * self->extent[d];
        index /= self->n_pieces[d];
        piece.shape[d] = slc_min_i64(self->extent[d], piece.shape[d] - begin);
        piece.dst_offset += begin * piece.dst_stride[d];
        piece.src_offset += begin * piece.src_stride[d];
    }
    run_plan(&piece, self->dst, self->src, self->streams);
    return SLC_OK;
}

/* The least extent of a piece along `d`. */
static int64_t piece_unit(const slci_copy_plan *plan, int d) {
    const bool is_inner =
        d == plan->rank - 1 || (plan->way == SLCI_COPY_TRANSPOSE && d == plan->rank - 2);
    return is_inner ? PIECE_UNITS : 1;
}

/* Of the uncut dimensions that are long enough for `least` pieces, the destination's slowest:
 * pieces then write apart. Negative where there is none. */
static int slowest_dimension(const cut_copy *self, int64_t least) {
    const slci_copy_plan *plan = &self->plan;
    int slowest = -1;
    for (int d = 0; d < plan->rank; d++) {
        const bool is_long =
            self->n_pieces[d] == 1 && plan->shape[d] / piece_unit(plan, d) >= least;
        if (is_long && (slowest < 0 || slc_abs_i64(plan->dst_stride[d]) >
                                           slc_abs_i64(plan->dst_stride[slowest]))) {
            slowest = d;
        }
    }
    return slowest;
}

/* About as many pieces along `d`, as far as it goes. */
static void cut_dimension(cut_copy *self, int d, int64_t wanted) {
    const int64_t unit = piece_unit(&self->plan, d);
    const int64_t n_units = slc_ceil_div(self->plan.shape[d], unit);
    self->extent[d] = slc_ceil_div(n_units, slc_min_i64(wanted, n_units)) * unit;
    self->n_pieces[d] = slc_ceil_div(self->plan.shape[d], self->extent[d]);
}

/* Along one dimension if that gives about so many pieces, else along one after the other until
 * there are. The number of pieces. */
static int64_t cut(cut_copy *self, int64_t wanted) {
    int64_t n_pieces = 1;
    for (int d = 0; d < self->plan.rank; d++) {
        self->extent[d] = self->plan.shape[d];
        self->n_pieces[d] = 1;
    }
    int d = slowest_dimension(self, wanted);
    d = d < 0 ? slowest_dimension(self, 2) : d;
    while (d >= 0 && 4 * n_pieces < 3 * wanted) { /* nearly as many even out as well */
        cut_dimension(self, d, slc_ceil_div(wanted, n_pieces));
        n_pieces *= self->n_pieces[d];
        d = slowest_dimension(self, 2);
    }
    return n_pieces;
}

slc_status slc_copy_host_parallel(slc_pool *pool, void *dst, const slc_layout *dst_layout,
                                  const void *src, const slc_layout *src_layout) {
    SLC_TRY(slci_copy_check_pair(dst_layout, src_layout));
    if (slc_layout_count(dst_layout) == 0) {
        return SLC_OK;
    }
    cut_copy self = {.dst = dst, .src = src};
    slci_copy_plan_init_host(dst_layout, src_layout, &self.plan);
    self.streams = is_large(&self.plan, self.plan.n_bytes);
    const int64_t most = (int64_t)slc_pool_size(pool) * PIECES_PER_THREAD;
    const int64_t wanted = slc_min_i64(most, self.plan.n_bytes / SMALLEST_PIECE_BYTES);
    const int64_t n_pieces = cut(&self, slc_pool_size(pool) == 1 ? 1 : wanted);
    return n_pieces == 1 ? run_piece(&self, 0, 0) : slc_pool_for(pool, n_pieces, run_piece, &self);
}
