/* Copies of rows on the host.
 *
 *     rows dense on both sides        runs of bytes, long ones by memcpy or past the caches
 *     dense in the destination only   units gathered one by one
 *     else                            units one by one from anywhere to anywhere
 *
 * A large destination that has a dense stretch of several lines is made stretch by stretch in a
 * buffer of the first-level cache, and goes from there past the other caches. An ordinary store
 * would first fetch the line that it overwrites, half as much traffic again. */
#include "core/copy_host.h"

#include "core/checked.h"

/* A sixth of a first-level cache. */
#define STAGE_BYTES 8192

/* Runs from this size on are worth a call. */
#define LONG_RUN_BYTES 128

/* Stretches from this size on are worth going past the caches: the parts of lines at their ends do
 * not. */
#define STREAM_BYTES 192

/* A matrix of n_rows · n units; strides in bytes. */
typedef struct matrix {
    int64_t n_rows, n;
    int64_t dst_pitch, src_pitch; /* from row to row */
    int64_t dst_step, src_step;   /* from unit to unit */
} matrix;

/* ---- runs ------------------------------------------------------------------------------------- */

/* Fewer than LONG_RUN_BYTES: in pieces of 16 bytes, the last one overlapping the one before. */
SLCI_INLINE void copy_short_run(char *dst, const char *src, int64_t bytes) {
    if (bytes >= 16) {
        for (int64_t at = 0; at + 16 <= bytes; at += 16) {
            memcpy(dst + at, src + at, 16);
        }
        if (bytes % 16 != 0) {
            memcpy(dst + bytes - 16, src + bytes - 16, 16);
        }
    } else if (bytes >= 8) {
        memcpy(dst, src, 8);
        memcpy(dst + bytes - 8, src + bytes - 8, 8);
    } else if (bytes >= 4) {
        memcpy(dst, src, 4);
        memcpy(dst + bytes - 4, src + bytes - 4, 4);
    } else {
        for (int64_t at = 0; at < bytes; at++) {
            dst[at] = src[at];
        }
    }
}

SLCI_INLINE void copy_short_runs_of(char *dst, const char *src, const matrix *m, int64_t bytes) {
    for (int64_t row = 0; row < m->n_rows; row++) {
        copy_short_run(dst + row * m->dst_pitch, src + row * m->src_pitch, bytes);
    }
}

static void copy_short_runs(char *dst, const char *src, const matrix *m) {
    const int64_t bytes = m->n * m->dst_step;
    switch (bytes) {
    case 16: /* without a branch a row */
        copy_short_runs_of(dst, src, m, 16);
        break;
    case 32:
        copy_short_runs_of(dst, src, m, 32);
        break;
    default:
        copy_short_runs_of(dst, src, m, bytes);
    }
}

static void copy_long_runs(char *dst, const char *src, const matrix *m, bool is_large) {
    const int64_t bytes = m->n * m->dst_step;
    for (int64_t row = 0; row < m->n_rows; row++) {
        char *to = dst + row * m->dst_pitch;
        const char *from = src + row * m->src_pitch;
        if (is_large) {
            slci_stream_run(to, from, bytes);
        } else {
            memcpy(to, from, (size_t)bytes);
        }
    }
}

/* ---- units one by one ------------------------------------------------------------------------- */

SLCI_INLINE void copy_units_of(char *dst, const char *src, const matrix *m, int64_t dst_step,
                               int64_t src_step, size_t unit) {
    for (int64_t row = 0; row < m->n_rows; row++) {
        char *to = dst + row * m->dst_pitch;
        const char *from = src + row * m->src_pitch;
        for (int64_t i = 0; i < m->n; i++) {
            /* A constant size is one load and one store, of any alignment. */
            memcpy(to + i * dst_step, from + i * src_step, unit);
        }
    }
}

SLCI_INLINE slci_vector8 reverse_pairs(slci_vector8 v) {
    return (slci_vector8)__builtin_shufflevector((slci_vector16)v, (slci_vector16)v, 7, 6, 5, 4, 3,
                                                 2, 1, 0);
}

/* The units of a vector in the opposite order. */
SLCI_INLINE slci_vector8 reverse(slci_vector8 v, int unit) {
    switch (unit) {
    case 1: { /* pairs, then within pairs: baseline vectors have no shuffle of bytes */
        const slci_vector16 w = (slci_vector16)reverse_pairs(v);
        return (slci_vector8)(w << 8 | w >> 8);
    }
    case 2:
        return reverse_pairs(v);
    case 4:
        return (slci_vector8)__builtin_shufflevector((slci_vector32)v, (slci_vector32)v, 3, 2, 1,
                                                     0);
    case 8:
        return (slci_vector8)__builtin_shufflevector((slci_vector64)v, (slci_vector64)v, 1, 0);
    default:
        return v;
    }
}

/* Rows dense on both sides, the source's backwards: vectors, then the units that make none. */
SLCI_INLINE void copy_reversed(char *dst, const char *src, const matrix *m, int64_t n_units,
                               int unit) {
    const int n = SLCI_VECTOR_BYTES / unit;
    for (int64_t row = 0; row < m->n_rows; row++) {
        char *to = dst + row * m->dst_pitch;
        const char *from = src + row * m->src_pitch;
        int64_t i = 0;
        for (; i + n <= n_units; i += n) {
            slci_vector8 v;
            memcpy(&v, from - (i + n - 1) * unit, SLCI_VECTOR_BYTES);
            v = reverse(v, unit);
            memcpy(to + i * unit, &v, SLCI_VECTOR_BYTES);
        }
        for (; i < n_units; i++) {
            memcpy(to + i * unit, from - i * unit, (size_t)unit);
        }
    }
}

/* Constant steps let the compiler use vectors. */
SLCI_INLINE void copy_units_sized(char *dst, const char *src, const matrix *m, int unit) {
    if (m->dst_step == unit && m->src_step == -unit && m->n * unit == SLCI_VECTOR_BYTES) {
        copy_reversed(dst, src, m, SLCI_VECTOR_BYTES / unit, unit); /* no loop for each row */
    } else if (m->dst_step == unit && m->src_step == -unit) {
        copy_reversed(dst, src, m, m->n, unit);
    } else if (m->dst_step == unit && m->src_step == 0) {
        copy_units_of(dst, src, m, unit, 0, (size_t)unit);
    } else {
        copy_units_of(dst, src, m, m->dst_step, m->src_step, (size_t)unit);
    }
}

static void copy_units(char *dst, const char *src, const matrix *m, int unit) {
    switch (unit) {
    case 1:
        copy_units_sized(dst, src, m, 1);
        break;
    case 2:
        copy_units_sized(dst, src, m, 2);
        break;
    case 4:
        copy_units_sized(dst, src, m, 4);
        break;
    case 8:
        copy_units_sized(dst, src, m, 8);
        break;
    default:
        copy_units_sized(dst, src, m, 16);
    }
}

/* ---- matrices --------------------------------------------------------------------------------- */

static void copy_part(char *dst, const char *src, const matrix *m, int unit) {
    if (m->dst_step == unit && m->src_step == unit) {
        copy_short_runs(dst, src, m);
    } else {
        copy_units(dst, src, m, unit);
    }
}

/* A matrix whose rows are dense in the destination, each of at most STAGE_BYTES and continuing the
 * one before: as many rows at a time as the buffer holds. */
static void stage_rows(char *dst, const char *src, const matrix *m, int unit) {
    _Alignas(SLCI_LINE_BYTES) char stage[STAGE_BYTES];
    const int64_t row_bytes = m->n * unit;
    matrix part = *m;
    part.dst_pitch = row_bytes;
    for (int64_t row = 0; row < m->n_rows; row += part.n_rows) {
        part.n_rows = slc_min_i64(STAGE_BYTES / row_bytes, m->n_rows - row);
        copy_part(stage, src + row * m->src_pitch, &part, unit);
        slci_stream_run(dst + row * row_bytes, stage, part.n_rows * row_bytes);
    }
}

/* One whose rows are dense, but do not continue one another or are longer: piece by piece. */
static void stage_pieces(char *dst, const char *src, const matrix *m, int unit) {
    _Alignas(SLCI_LINE_BYTES) char stage[STAGE_BYTES];
    matrix part = *m;
    part.n_rows = 1;
    for (int64_t row = 0; row < m->n_rows; row++) {
        for (int64_t i = 0; i < m->n; i += part.n) {
            part.n = slc_min_i64(STAGE_BYTES / unit, m->n - i);
            copy_part(stage, src + row * m->src_pitch + i * m->src_step, &part, unit);
            slci_stream_run(dst + row * m->dst_pitch + i * unit, stage, part.n * unit);
        }
    }
}

void slci_copy_host_rows(const slci_copy_plan *plan, char *dst, const char *src, bool is_large) {
    const int last = plan->rank - 1;
    const int unit = plan->unit_bytes;
    const matrix m = {.n_rows = last > 0 ? plan->shape[last - 1] : 1,
                      .n = plan->shape[last],
                      .dst_pitch = last > 0 ? plan->dst_stride[last - 1] : 0,
                      .src_pitch = last > 0 ? plan->src_stride[last - 1] : 0,
                      .dst_step = plan->dst_stride[last],
                      .src_step = plan->src_stride[last]};
    const int64_t row_bytes = m.n * unit;
    const bool is_dense = m.dst_step == unit;
    const bool continues = is_dense && m.dst_pitch == row_bytes;
    if (is_dense && m.src_step == unit && row_bytes >= LONG_RUN_BYTES) {
        copy_long_runs(dst, src, &m, is_large);
    } else if (is_large && continues && row_bytes <= STAGE_BYTES) {
        stage_rows(dst, src, &m, unit);
    } else if (is_large && is_dense && row_bytes >= STREAM_BYTES) {
        stage_pieces(dst, src, &m, unit);
    } else {
        copy_part(dst, src, &m, unit);
    }
}
