/* The work behind the host device's copies: large ones are cut into pieces for the pool, because one
 * core fills only a part of the memory bus (on one server 8.5 GB/s, four threads 27). A piece has at
 * least 1 MiB, so that handing it out costs nothing beside it; two pieces a thread even out
 * threads that come late. */
#include <string.h>

#include "core/checked.h"
#include "core/copy.h"
#include "core/device_host.h"

#define SMALLEST_PIECE_BYTES (1 << 20)
#define PIECES_PER_THREAD 2

/* Pieces of whole cache lines, so that no two threads write to one. */
#define PIECE_ALIGNMENT 4096

typedef struct span {
    char *dst;
    const char *src; /* NULL: set to `value` */
    int64_t bytes;
    int64_t piece_bytes;
    uint8_t value;
} span;

static slc_status run_piece(void *context, int64_t index, int worker) {
    (void)worker;
    const span *self = context;
    const int64_t begin = index * self->piece_bytes;
    const size_t bytes = (size_t)slc_min_i64(self->piece_bytes, self->bytes - begin);
    if (self->src != NULL) {
        memcpy(self->dst + begin, self->src + begin, bytes);
    } else {
        memset(self->dst + begin, self->value, bytes);
    }
    return SLC_OK;
}

static slc_status run_span(slc_pool *pool, span *self) {
    const int64_t wanted = (int64_t)slc_pool_size(pool) * PIECES_PER_THREAD;
    const int64_t n_pieces = slc_min_i64(wanted, self->bytes / SMALLEST_PIECE_BYTES);
    if (n_pieces < 2 || slc_pool_size(pool) == 1) {
        self->piece_bytes = self->bytes;
        return run_piece(self, 0, 0);
    }
    self->piece_bytes = slc_round_up(slc_ceil_div(self->bytes, n_pieces), PIECE_ALIGNMENT);
    return slc_pool_for(pool, slc_ceil_div(self->bytes, self->piece_bytes), run_piece, self);
}

slc_status slci_host_run_copy(slc_pool *pool, void *dst, const void *src, int64_t bytes) {
    span work = {.dst = dst, .src = src, .bytes = bytes};
    return run_span(pool, &work);
}

slc_status slci_host_run_set(slc_pool *pool, void *memory, uint8_t value, int64_t bytes) {
    span work = {.dst = memory, .bytes = bytes, .value = value};
    return run_span(pool, &work);
}

slc_status slci_host_run_copy_strided(slc_pool *pool, void *dst, const slc_layout *dst_layout,
                                      const void *src, const slc_layout *src_layout) {
    return slc_copy_host_parallel(pool, dst, dst_layout, src, src_layout);
}
