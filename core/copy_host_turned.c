/* Transposes on the host. The source's units are closest together along the plan's last dimension
 * (x), the destination's along the one before (y). Where both sides are dense, squares of vectors
 * are turned in registers: n rows of n units by log2 n rounds in which row i and row i + n/2 are
 * interleaved.
 *
 * A small copy turns one tile after the other from the source into the destination. It walks the
 * side whose rows lie further apart, and uses each line up at once; the tile's lines of the other
 * side stay in a cache meanwhile. The processor sees no pattern in so many rows side by side, and
 * is asked for the lines beforehand: for those that are walked one row of squares before their
 * turn, for those of the other side during the tile before. No earlier: rows that lie a power of
 * two apart share a few places of a cache. (On a Xeon of 2023 two threads then turn 65,536 x 64
 * numbers of 32 bits at 54 GB/s, and at 41 if they ask for nothing; they copy 64.)
 *
 * A large copy turns a tile into a buffer of the first-level cache and writes it from there past
 * the other caches, so that each line of the source is read once and each line of the destination
 * written once. Asking for the source's next lines is worth 8 % there. */
#include "core/copy_host.h"

#include <stdlib.h>

#include "core/checked.h"

/* Lines that a tile writes side by side: a memory page of the destination is then visited 16 times,
 * not 64, and the lines of one visit are fetched or written together. */
#define TILE_ROW_BYTES 256
#define MOST_TILE_ROWS 64

/* Squares are of vectors: along a side of a tile, and in the length of a line. */
#define MOST_SQUARES (TILE_ROW_BYTES / SLCI_VECTOR_BYTES)
#define SQUARES_PER_LINE (SLCI_LINE_BYTES / SLCI_VECTOR_BYTES)

/* The first or second halves of a and b, units taken in turns. */
SLCI_INLINE slci_vector8 interleave_low(slci_vector8 a, slci_vector8 b, int unit) {
    switch (unit) {
    case 1:
        return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7,
                                       23);
    case 2:
        return (slci_vector8)__builtin_shufflevector((slci_vector16)a, (slci_vector16)b, 0, 8, 1, 9,
                                                     2, 10, 3, 11);
    case 4:
        return (slci_vector8)__builtin_shufflevector((slci_vector32)a, (slci_vector32)b, 0, 4, 1,
                                                     5);
    default:
        return (slci_vector8)__builtin_shufflevector((slci_vector64)a, (slci_vector64)b, 0, 2);
    }
}

SLCI_INLINE slci_vector8 interleave_high(slci_vector8 a, slci_vector8 b, int unit) {
    switch (unit) {
    case 1:
        return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30,
                                       15, 31);
    case 2:
        return (slci_vector8)__builtin_shufflevector((slci_vector16)a, (slci_vector16)b, 4, 12, 5,
                                                     13, 6, 14, 7, 15);
    case 4:
        return (slci_vector8)__builtin_shufflevector((slci_vector32)a, (slci_vector32)b, 2, 6, 3,
                                                     7);
    default:
        return (slci_vector8)__builtin_shufflevector((slci_vector64)a, (slci_vector64)b, 1, 3);
    }
}

/* A square of SLCI_VECTOR_BYTES / unit units a side, rows dense on both sides. */
SLCI_INLINE void turn_square(char *dst, int64_t dst_pitch, const char *src, int64_t src_pitch,
                             int unit) {
    const int n = SLCI_VECTOR_BYTES / unit;
    slci_vector8 row[SLCI_VECTOR_BYTES];
    slci_vector8 next[SLCI_VECTOR_BYTES];
#pragma GCC unroll 16
    for (int i = 0; i < n; i++) {
        memcpy(&row[i], src + i * src_pitch, SLCI_VECTOR_BYTES);
    }
#pragma GCC unroll 4
    for (int half = 1; half < n; half *= 2) {
#pragma GCC unroll 8
        for (int i = 0; i < n / 2; i++) {
            next[(int64_t)2 * i] = interleave_low(row[i], row[i + n / 2], unit);
            next[2 * i + 1] = interleave_high(row[i], row[i + n / 2], unit);
        }
#pragma GCC unroll 16
        for (int i = 0; i < n; i++) {
            row[i] = next[i];
        }
    }
#pragma GCC unroll 16
    for (int i = 0; i < n; i++) {
        memcpy(dst + i * dst_pitch, &row[i], SLCI_VECTOR_BYTES);
    }
}

/* Strides in bytes. Turned, it is dense along y and `pitch` apart from x to x, in the buffer or,
 * `in_place`, in the destination. */
typedef struct tile {
    int64_t n_x, n_y;
    int64_t src_x, src_y;
    int64_t pitch;
    bool in_place;
    uintptr_t next_src, next_dst; /* where the tile after this one begins; need not be there */
} tile;

SLCI_INLINE void turn_units(char *to, const char *src, const tile *t, int64_t x_begin,
                            int64_t y_begin, int unit) {
    for (int64_t y = 0; y < t->n_y; y++) {
        for (int64_t x = y < y_begin ? x_begin : 0; x < t->n_x; x++) {
            memcpy(to + x * t->pitch + y * unit, src + y * t->src_y + x * t->src_x, (size_t)unit);
        }
    }
}

/* Asks for the lines of rows `begin` to `end` of `bytes` each, which need not be there. */
SLCI_INLINE void prefetch_rows(uintptr_t first, int64_t pitch, uint64_t begin, uint64_t end,
                               int64_t bytes) {
    for (uint64_t row = begin; row < end; row++) {
        for (int64_t at = 0; at < bytes; at += SLCI_LINE_BYTES) {
            __builtin_prefetch((const void *)(first + row * (uint64_t)pitch + (uint64_t)at));
        }
    }
}

/* Into the buffer, line after line of the source: each is read once. */
SLCI_INLINE void turn_to_buffer(char *to, const char *src, const tile *t, int64_t n_x, int64_t n_y,
                                int unit) {
    const int n = SLCI_VECTOR_BYTES / unit;
    for (int64_t y = 0; y < n_y; y += n) {
        const char *row = src + y * t->src_y;
        for (int64_t x = 0; x < n_x; x += n) {
            if (x * unit % SLCI_LINE_BYTES == 0) {
                prefetch_rows((uintptr_t)row + (uintptr_t)((x + t->n_x) * unit), t->src_y, 0,
                              (uint64_t)n, SLCI_LINE_BYTES);
            }
            turn_square(to + x * t->pitch + y * unit, t->pitch, row + x * unit, t->src_y, unit);
        }
    }
}

/* What is asked for while a row of squares is turned: that row of the walked side that comes next, and
 * some rows of the other side that the next tile wants. */
typedef struct wish {
    uintptr_t row, share;
    int64_t row_pitch, share_pitch;
    uint64_t n_share;
    int64_t share_bytes;
} wish;

/* Evenly, a little before each square k of the row: more at once would have to wait for one another. */
SLCI_INLINE void prefetch(const wish *w, uint64_t k, int unit) {
    if (unit == SLCI_VECTOR_BYTES) {
        return; /* whole vectors are copied faster without */
    }
    const uint64_t n = (uint64_t)(SLCI_VECTOR_BYTES / unit);
    const uint64_t in_line = k % SQUARES_PER_LINE;
    prefetch_rows(w->row + k / SQUARES_PER_LINE * SLCI_LINE_BYTES, w->row_pitch,
                  n * in_line / SQUARES_PER_LINE, n * (in_line + 1) / SQUARES_PER_LINE, 1);
    prefetch_rows(w->share, w->share_pitch, w->n_share * k / MOST_SQUARES,
                  w->n_share * (k + 1) / MOST_SQUARES, w->share_bytes);
}

/* In place, line after line of the source. */
SLCI_INLINE void turn_by_rows(char *to, const char *src, const tile *t, int64_t n_x, int64_t n_y,
                              int unit) {
    const int n = SLCI_VECTOR_BYTES / unit;
    const int64_t n_share = n_y > 0 ? slc_ceil_div(n_x * n, n_y) : 0;
    for (int64_t y = 0; y < n_y; y += n) {
        const char *row = src + y * t->src_y;
        const wish w = {.row =
                            y + n < n_y ? (uintptr_t)row + (uintptr_t)(n * t->src_y) : t->next_src,
                        .share = t->next_dst + (uintptr_t)(y / n * n_share * t->pitch),
                        .row_pitch = t->src_y,
                        .share_pitch = t->pitch,
                        .n_share = (uint64_t)n_share,
                        .share_bytes = n_y * unit};
        for (int64_t x = 0; x < n_x; x += n) {
            prefetch(&w, (uint64_t)(x / n), unit);
            turn_square(to + x * t->pitch + y * unit, t->pitch, row + x * unit, t->src_y, unit);
        }
    }
}

/* In place, line after line of the destination: each is written whole before the next few. */
SLCI_INLINE void turn_by_columns(char *to, const char *src, const tile *t, int64_t n_x, int64_t n_y,
                                 int unit) {
    const int n = SLCI_VECTOR_BYTES / unit;
    const int64_t n_share = n_x > 0 ? slc_ceil_div(n_y * n, n_x) : 0;
    for (int64_t x = 0; x < n_x; x += n) {
        char *row = to + x * t->pitch;
        const wish w = {.row =
                            x + n < n_x ? (uintptr_t)row + (uintptr_t)(n * t->pitch) : t->next_dst,
                        .share = t->next_src + (uintptr_t)(x / n * n_share * t->src_y),
                        .row_pitch = t->pitch,
                        .share_pitch = t->src_y,
                        .n_share = (uint64_t)n_share,
                        .share_bytes = n_x * unit};
        for (int64_t y = 0; y < n_y; y += n) {
            prefetch(&w, (uint64_t)(y / n), unit);
            turn_square(row + y * unit, t->pitch, src + y * t->src_y + x * unit, t->src_y, unit);
        }
    }
}

/* Squares as far as they go, the rest of the tile unit by unit. */
SLCI_INLINE void turn_tile_of(char *to, const char *src, const tile *t, int unit) {
    const int n = SLCI_VECTOR_BYTES / unit;
    const bool has_squares = t->src_x == unit;
    const int64_t n_x = has_squares ? t->n_x - t->n_x % n : 0;
    const int64_t n_y = has_squares ? t->n_y - t->n_y % n : 0;
    if (!t->in_place) {
        turn_to_buffer(to, src, t, n_x, n_y, unit);
    } else if (llabs(t->pitch) >= llabs(t->src_y)) {
        turn_by_columns(to, src, t, n_x, n_y, unit);
    } else {
        turn_by_rows(to, src, t, n_x, n_y, unit);
    }
    turn_units(to, src, t, n_x, n_y, unit);
}

static void turn_tile(char *to, const char *src, const tile *t, int unit) {
    switch (unit) {
    case 1:
        turn_tile_of(to, src, t, 1);
        break;
    case 2:
        turn_tile_of(to, src, t, 2);
        break;
    case 4:
        turn_tile_of(to, src, t, 4);
        break;
    case 8:
        turn_tile_of(to, src, t, 8);
        break;
    default:
        turn_tile_of(to, src, t, 16);
    }
}

static void stream_tile(char *dst, int64_t dst_pitch, const char *stage, const tile *t,
                        int64_t unit) {
    for (int64_t x = 0; x < t->n_x; x++) {
        slci_stream_run(dst + x * dst_pitch, stage + x * t->pitch, t->n_y * unit);
    }
}

/* A destination that is dense nowhere takes unit after unit. */
static void scatter_tile(char *dst, const slci_copy_plan *plan, const char *stage, const tile *t) {
    const int last = plan->rank - 1;
    for (int64_t x = 0; x < t->n_x; x++) {
        for (int64_t y = 0; y < t->n_y; y++) {
            memcpy(dst + x * plan->dst_stride[last] + y * plan->dst_stride[last - 1],
                   stage + x * TILE_ROW_BYTES + y * plan->unit_bytes, (size_t)plan->unit_bytes);
        }
    }
}

void slci_copy_host_turned(const slci_copy_plan *plan, char *dst, const char *src, bool is_large) {
    _Alignas(SLCI_LINE_BYTES) char stage[MOST_TILE_ROWS * TILE_ROW_BYTES];
    const int last = plan->rank - 1;
    const int64_t unit = plan->unit_bytes;
    const int64_t side_y = TILE_ROW_BYTES / unit;
    const int64_t side_x = slc_min_i64(MOST_TILE_ROWS, side_y);
    const bool is_dense = plan->dst_stride[last - 1] == unit;
    tile t = {.src_x = plan->src_stride[last],
              .src_y = plan->src_stride[last - 1],
              .in_place = is_dense && !is_large};
    t.pitch = t.in_place ? plan->dst_stride[last] : TILE_ROW_BYTES;
    for (int64_t y = 0; y < plan->shape[last - 1]; y += side_y) {
        t.n_y = slc_min_i64(side_y, plan->shape[last - 1] - y);
        for (int64_t x = 0; x < plan->shape[last]; x += side_x) {
            t.n_x = slc_min_i64(side_x, plan->shape[last] - x);
            char *to = dst + x * plan->dst_stride[last] + y * plan->dst_stride[last - 1];
            const bool is_last = x + side_x >= plan->shape[last];
            const int64_t next_x = is_last ? 0 : x + side_x;
            const int64_t next_y = is_last ? y + side_y : y;
            t.next_src = (uintptr_t)src + (uintptr_t)(next_x * t.src_x + next_y * t.src_y);
            t.next_dst = (uintptr_t)dst + (uintptr_t)(next_x * t.pitch + next_y * unit);
            turn_tile(t.in_place ? to : stage, src + x * t.src_x + y * t.src_y, &t,
                      plan->unit_bytes);
            if (is_dense && is_large) {
                stream_tile(to, plan->dst_stride[last], stage, &t, unit);
            } else if (!is_dense) {
                scatter_tile(to, plan, stage, &t);
            }
        }
    }
}
