/* The box is a set of runs, each dense in the file and in memory:
 *
 *     file    ──────[run]──────────────[run]──────────────[run]────
 *     memory  [run][run][run]   or   [run]····[run]····[run]
 *
 * Runs that follow each other in the file are read by one call, which puts each where it belongs
 * (preadv). Where runs are shorter than what a call costs, whole stretches of the file are read into a
 * buffer, gaps included, and copied from there; but never across a gap that costs more than a call. */
#include "io/h5_chunk_span.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/checked.h"
#include "core/copy.h"

/* Shorter runs are read through the buffer: an entry of preadv costs about as much as copying so many
 * bytes. */
#define SHORT_RUN_BYTES 512

/* Distances up to this are read through: a call costs about as much as reading so many bytes that the
 * page cache holds. */
#define NEAR_BYTES 8192

/* Pieces in one call (POSIX promises 16, Linux 1024), and bytes where they are turned while they are in
 * the cache. */
#define MAX_PIECES 256
#define TURNED_BYTES ((int64_t)256 << 10)

typedef struct batch {
    const slci_span *span;
    int64_t offset, bytes; /* of the file, that the pieces take */
    int n;
    struct iovec piece[MAX_PIECES];
} batch;

static slc_status fail_short(ssize_t result, int64_t bytes, int64_t offset) {
    return SLC_FAIL(SLC_ERROR_INPUT,
                    "%" PRId64 " bytes at byte %" PRId64 " of it cannot be read: %s", bytes, offset,
                    result < 0 ? strerror(errno) : "the file ends before them");
}

/* Takes `n` bytes off the front of the pieces; returns the first one that is left. */
static int advance(struct iovec *piece, int n_pieces, int first, int64_t n) {
    while (first < n_pieces && n > 0 && n >= (int64_t)piece[first].iov_len) {
        n -= (int64_t)piece[first].iov_len;
        first++;
    }
    if (first < n_pieces && n > 0) {
        piece[first].iov_base = (char *)piece[first].iov_base + n;
        piece[first].iov_len -= (size_t)n;
    }
    return first;
}

static slc_status fetch_pieces(int descriptor, struct iovec *piece, int n_pieces, int64_t bytes,
                               int64_t offset) {
    int first = 0;
    while (bytes > 0) {
        const ssize_t n =
            n_pieces - first == 1
                ? pread(descriptor, piece[first].iov_base, piece[first].iov_len, (off_t)offset)
                : preadv(descriptor, piece + first, n_pieces - first, (off_t)offset);
        if (n == 0 || (n < 0 && errno != EINTR)) {
            return fail_short(n, bytes, offset);
        }
        if (n > 0) {
            first = advance(piece, n_pieces, first, n);
            bytes -= n;
            offset += n;
        }
    }
    return SLC_OK;
}

slc_status slci_span_fetch(int descriptor, void *dst, int64_t bytes, int64_t offset) {
    struct iovec piece = {.iov_base = dst, .iov_len = (size_t)bytes};
    return fetch_pieces(descriptor, &piece, 1, bytes, offset);
}

/* ---- long runs -------------------------------------------------------------------------------- */

static slc_status flush(batch *b) {
    struct iovec left[MAX_PIECES];
    memcpy(left, b->piece, (size_t)b->n * sizeof *left);
    if (b->n > 0) {
        SLC_TRY(fetch_pieces(b->span->descriptor, left, b->n, b->bytes, b->offset));
    }
    if (slci_turn_is_needed(&b->span->turn)) {
        for (int k = 0; k < b->n; k++) {
            slci_turn_elements(&b->span->turn, b->piece[k].iov_base, (int64_t)b->piece[k].iov_len);
        }
    }
    b->n = 0;
    b->bytes = 0;
    return SLC_OK;
}

static slc_status add_piece(batch *b, char *dst, int64_t bytes, int64_t offset) {
    if (b->n == MAX_PIECES || (b->n > 0 && b->offset + b->bytes != offset)) {
        SLC_TRY(flush(b));
    }
    if (b->n == 0) {
        b->offset = offset;
    }
    b->piece[b->n++] = (struct iovec){.iov_base = dst, .iov_len = (size_t)bytes};
    b->bytes += bytes;
    return SLC_OK;
}

/* A long run is one piece, or many where they are turned one by one. */
static slc_status add_run(batch *b, char *dst, int64_t bytes, int64_t offset) {
    const bool is_turned = slci_turn_is_needed(&b->span->turn);
    const int64_t unit = b->span->element_bytes;
    const int64_t most = is_turned ? slc_max_i64(TURNED_BYTES / unit, 1) * unit : bytes;
    while (bytes > 0) {
        const int64_t n = slc_min_i64(bytes, most);
        SLC_TRY(add_piece(b, dst, n, offset));
        if (is_turned && b->bytes >= TURNED_BYTES) {
            SLC_TRY(flush(b));
        }
        dst += n;
        offset += n;
        bytes -= n;
    }
    return SLC_OK;
}

/* ---- the walk --------------------------------------------------------------------------------- */

/* Byte distances of the array in the file. */
static void file_strides(const slci_span *span, int64_t *stride) {
    int64_t bytes = span->element_bytes;
    for (int d = span->rank - 1; d >= 0; d--) {
        stride[d] = bytes;
        bytes *= span->shape[d];
    }
}

/* The next place of the first `n` dimensions; false after the last. */
static bool step(int n, const int64_t *extent, int64_t *at) {
    for (int d = n - 1; d >= 0; d--) {
        if (++at[d] < extent[d]) {
            return true;
        }
        at[d] = 0;
    }
    return false;
}

static slc_status read_runs(const slci_span *span, const int64_t *stride, int n_outer,
                            int64_t run_bytes, int64_t first_offset) {
    batch b = {.span = span};
    int64_t at[SLC_MAX_RANK] = {0};
    do {
        int64_t offset = first_offset;
        char *dst = span->dst;
        for (int d = 0; d < n_outer; d++) {
            offset += at[d] * stride[d];
            dst += at[d] * span->dst_stride[d];
        }
        SLC_TRY(add_run(&b, dst, run_bytes, offset));
    } while (step(n_outer, span->extent, at));
    return flush(&b);
}

/* ---- short runs ------------------------------------------------------------------------------- */

slc_status slci_span_copy_box(const slci_span_copy *copy, void *dst, const void *src) {
    static const struct {
        int64_t bytes;
        slc_dtype dtype;
    } sizes[] = {{1, SLC_U8}, {2, SLC_U16}, {4, SLC_U32}, {8, SLC_U64}, {16, SLC_C128}};
    slc_layout to = {.dtype = SLC_U8, .rank = copy->rank};
    bool is_found = false;
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        if (sizes[k].bytes == copy->element_bytes) {
            to.dtype = sizes[k].dtype;
            is_found = true;
        }
    }
    memcpy(to.shape, copy->shape, sizeof to.shape);
    memcpy(to.stride_bytes, copy->dst_stride, sizeof to.stride_bytes);
    slc_layout from = to;
    memcpy(from.stride_bytes, copy->src_stride, sizeof from.stride_bytes);
    if (!is_found &&
        copy->rank > 0) { /* elements of another size lie densely in the last dimension */
        const int last = copy->rank - 1;
        to.shape[last] *= copy->element_bytes;
        to.stride_bytes[last] = 1;
        from.shape[last] = to.shape[last];
        from.stride_bytes[last] = 1;
    }
    return slc_copy_host(dst, &to, src, &from);
}

/* The rows of dimension `inner` that `copy` is of, from `offset` in the file on: read with what lies
 * between them, and copied. */
static slc_status read_stretch(const slci_span *span, const int64_t *stride, int inner,
                               const slci_span_copy *copy, int64_t offset, char *dst) {
    int64_t bytes = span->element_bytes;
    for (int d = inner; d < span->rank; d++) {
        bytes += (copy->shape[d - inner] - 1) * stride[d];
    }
    SLC_TRY(slci_span_fetch(span->descriptor, span->buffer, bytes, offset));
    slci_turn_elements(&span->turn, span->buffer, bytes);
    return slci_span_copy_box(copy, dst, span->buffer);
}

static slc_status read_stretches(const slci_span *span, const int64_t *stride, int64_t first) {
    int inner = span->rank - 1;
    while (inner > 0 && stride[inner - 1] <= NEAR_BYTES) {
        inner--;
    }
    slci_span_copy copy = {.rank = span->rank - inner, .element_bytes = span->element_bytes};
    for (int d = inner; d < span->rank; d++) {
        copy.shape[d - inner] = span->extent[d];
        copy.dst_stride[d - inner] = span->dst_stride[d];
        copy.src_stride[d - inner] = stride[d];
    }
    const int64_t rows = slc_max_i64(SLCI_SPAN_BUFFER_BYTES / stride[inner], 1);
    int64_t at[SLC_MAX_RANK] = {0};
    do {
        int64_t offset = first;
        char *dst = span->dst;
        for (int d = 0; d < inner; d++) {
            offset += at[d] * stride[d];
            dst += at[d] * span->dst_stride[d];
        }
        for (int64_t row = 0; row < span->extent[inner]; row += rows) {
            copy.shape[0] = slc_min_i64(rows, span->extent[inner] - row);
            SLC_TRY(read_stretch(span, stride, inner, &copy, offset + row * stride[inner],
                                 dst + row * span->dst_stride[inner]));
        }
    } while (step(inner, span->extent, at));
    return SLC_OK;
}

/* The length of a run, and how many dimensions count the runs. */
static int find_runs(const slci_span *span, const int64_t *stride, int64_t *run_bytes) {
    int n_outer = span->rank;
    *run_bytes = span->element_bytes;
    while (n_outer > 0 && stride[n_outer - 1] == *run_bytes &&
           span->dst_stride[n_outer - 1] == *run_bytes) {
        n_outer--;
        *run_bytes *= span->extent[n_outer];
    }
    return n_outer;
}

bool slci_span_needs_buffer(const slci_span *span) {
    int64_t stride[SLC_MAX_RANK];
    int64_t run_bytes;
    file_strides(span, stride);
    const int n_outer = find_runs(span, stride, &run_bytes);
    return n_outer > 0 && run_bytes < SHORT_RUN_BYTES;
}

slc_status slci_span_read(const slci_span *span) {
    int64_t stride[SLC_MAX_RANK];
    int64_t run_bytes;
    int64_t offset = span->offset;
    file_strides(span, stride);
    for (int d = 0; d < span->rank; d++) {
        offset += span->origin[d] * stride[d];
    }
    const int n_outer = find_runs(span, stride, &run_bytes);
    if (n_outer > 0 && run_bytes < SHORT_RUN_BYTES) {
        return read_stretches(span, stride, offset);
    }
    return read_runs(span, stride, n_outer, run_bytes, offset);
}
