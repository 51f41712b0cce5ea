/* Reading slices.
 *
 * A read of a box of the slice is a box of the array with gaps in it. It is cut until each piece can
 * be read whole and picked from, always along the slowest dimension that allows it, and at the borders
 * of units (chunks), so that no piece needs a chunk of its neighbour's:
 *
 *     a piece is cut where it lies in several units and either is larger than PIECE_BYTES
 *     or has gaps that hold a whole unit
 *
 * A piece is read into memory of its own, picked from, converted, and put where it belongs. Without
 * gaps and conversion the inner source reads straight into place. */
#include "core/source_slice.h"

#include <assert.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/checked.h"
#include "core/convert.h"
#include "core/copy.h"
#include "core/fnv.h"
#include "core/print.h"

/* Of the array, in one piece, where several units are read at once: enough that a read's own cost
 * does not show, and little beside any budget. */
#define PIECE_BYTES (INT64_C(256) << 10)

/* Gaps of that many bytes are not read in an array without units: a page of a file. */
#define GAP_BYTES 4096

/* What a slice is called by: at most so much of its text, and everything beside that and the name of
 * the array. */
#define SLICE_TEXT_BYTES 80
#define SLICE_NAME_BYTES 64

/* ---- reading ---------------------------------------------------------------------------------- */

typedef struct slice_source {
    slc_source base;
    slc_source *inner; /* lent */
    slc_slice_view view;
    bool is_dense; /* every step is 1 */
    bool converts;
    slc_conversion conversion;
    int64_t piece_bytes;    /* of the array, 0: it is read straight into place */
    int64_t piece_elements; /* that fit into them */
    slc_counter n_infinite;
    atomic_bool has_refused; /* a value that the other type cannot hold */
} slice_source;

/* Part of a read: elements [begin, begin + extent) of the slice, numbered as the view counts them, in
 * every dimension of the array. */
typedef struct piece {
    int64_t begin[SLC_MAX_RANK];
    int64_t extent[SLC_MAX_RANK];
} piece;

/* Where a read's elements go: the whole box's layout, with a dimension of 1 for each that the slice
 * drops, and its first element. */
typedef struct destination {
    piece box;
    slc_layout layout;
    char *data;
    int part, n_parts; /* the pieces with this number modulo n_parts are read */
} destination;

/* What a thread reads with: room for a piece of the array, and for its elements that are wanted, before
 * and after their conversion, where there is one. */
typedef struct slice_room {
    void *read, *picked, *converted;
    piece *stack;
} slice_room;

static int64_t inner_index(const slc_slice_view *view, int d, int64_t k) {
    return view->first[d] + k * view->step[d];
}

/* The box of the array from the piece's first element to its last. */
static slc_box covering_box(const slc_slice_view *view, const piece *p) {
    slc_box box = {.rank = view->inner_rank};
    for (int d = 0; d < box.rank; d++) {
        const int64_t a = inner_index(view, d, p->begin[d]);
        const int64_t b = inner_index(view, d, p->begin[d] + p->extent[d] - 1);
        box.origin[d] = slc_min_i64(a, b);
        box.extent[d] = slc_max_i64(a, b) - box.origin[d] + 1;
    }
    return box;
}

/* The first index of the unit that holds `index`: next_unit only looks forward, but rises. */
static int64_t unit_begin(slc_source *inner, int d, int64_t index) {
    const int64_t end = slc_source_next_unit(inner, d, index);
    int64_t low = 0;
    int64_t high = index;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (slc_source_next_unit(inner, d, middle) == end) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

/* The first element of the slice, counted as the view does, past the unit that holds element k. */
static int64_t next_element(const slice_source *self, int d, int64_t k) {
    const slc_slice_view *view = &self->view;
    const int64_t at = inner_index(view, d, k);
    const int64_t distance = view->step[d] > 0
                                 ? slc_source_next_unit(self->inner, d, at) - view->first[d]
                                 : view->first[d] - unit_begin(self->inner, d, at) + 1;
    const int64_t step = view->step[d] > 0 ? view->step[d] : -view->step[d];
    return slc_max_i64(slc_ceil_div(slc_max_i64(distance, 0), step), k + 1);
}

/* Whether what lies between two elements along d holds a whole unit: of a source that has none there,
 * whether it is worth leaving out. */
static bool has_wide_gaps(const slice_source *self, int d, int64_t at, int64_t row_bytes) {
    const int64_t step = self->view.step[d] > 0 ? self->view.step[d] : -self->view.step[d];
    const int64_t unit = slc_source_next_unit(self->inner, d, at) - unit_begin(self->inner, d, at);
    return unit > 1 ? step > unit : step > 1 && (step - 1) >= slc_ceil_div(GAP_BYTES, row_bytes);
}

/* The dimension to cut a piece along, and its first element behind the cut; -1: it is read whole. */
static int find_cut(const slice_source *self, const piece *p, const slc_box *box, int64_t *cut) {
    int64_t row_bytes[SLC_MAX_RANK + 1]; /* of the box, in dimensions d and later */
    const int rank = box->rank;
    row_bytes[rank] = slc_dtype_bytes(self->inner->fields[0].dtype);
    for (int d = rank - 1; d >= 0; d--) {
        if (!slc_checked_mul(row_bytes[d + 1], box->extent[d], &row_bytes[d])) {
            row_bytes[d] = INT64_MAX;
        }
    }
    for (int d = 0; d < rank; d++) {
        const int64_t end = p->begin[d] + p->extent[d];
        const int64_t next = next_element(self, d, p->begin[d]);
        if (next < end && (row_bytes[0] > PIECE_BYTES ||
                           has_wide_gaps(self, d, box->origin[d], row_bytes[d + 1]))) {
            /* Near the middle, which keeps the depth of cutting low. */
            const int64_t half = next_element(self, d, p->begin[d] + (p->extent[d] - 1) / 2);
            *cut = half < end ? half : next;
            return d;
        }
    }
    return -1;
}

/* "in.h5:/x: [3, 17] is 70000, ..." for element number `at` of the piece. */
static slc_status refuse(slice_source *self, const piece *p, const void *picked, int64_t at) {
    atomic_store(&self->has_refused, true);
    const slc_dtype dtype = self->conversion.from;
    char value[64];
    char place[192];
    int64_t index[SLC_MAX_RANK];
    size_t used = 0;
    slc_element_text(dtype, (const char *)picked + at * slc_dtype_bytes(dtype), value,
                     sizeof value);
    for (int d = self->view.inner_rank - 1; d >= 0; d--) {
        index[d] = inner_index(&self->view, d, p->begin[d] + at % p->extent[d]);
        at /= p->extent[d];
    }
    for (int d = 0; d < self->view.inner_rank; d++) {
        used += (size_t)slci_print(place + used, sizeof place - used, "%s%" PRId64,
                                   d > 0 ? ", " : "", index[d]);
    }
    return SLC_FAIL(SLC_ERROR_INPUT,
                    "%s: element [%s] is %s, which %s cannot hold; expected only values that it "
                    "can hold",
                    self->inner->name, used > 0 ? place : "", value,
                    slc_dtype_name(self->conversion.to));
}

/* Takes the piece's own elements out of what was read, dense, and converts them. */
static slc_status convert_piece(slice_source *self, const piece *p, const slice_room *room,
                                const slc_layout *from) {
    slc_layout picked;
    int64_t n_infinite = 0;
    SLC_TRY(slc_layout_dense(from->dtype, from->rank, from->shape, &picked));
    SLC_TRY(slc_copy_host(room->picked, &picked, room->read, from));
    const int64_t n = slc_layout_count(&picked);
    const int64_t n_done =
        slc_convert(&self->conversion, room->picked, room->converted, n, &n_infinite);
    atomic_fetch_add(&self->n_infinite, n_infinite);
    return n_done == n ? SLC_OK : refuse(self, p, room->picked, n_done);
}

/* Reads the piece whole and picks its elements out. */
static slc_status read_piece(slice_source *self, const piece *p, const slc_box *box,
                             const slice_room *room, const destination *to) {
    const slc_slice_view *view = &self->view;
    void *const dst[] = {room->read};
    slc_layout from;
    slc_box part = {.rank = box->rank};
    SLC_TRY(slc_layout_dense(self->inner->fields[0].dtype, box->rank, box->extent, &from));
    assert(slc_layout_bytes(&from) <= self->piece_bytes);
    SLC_TRY(slc_source_read(self->inner, box, dst));
    for (int d = 0; d < box->rank; d++) {
        from.offset_bytes +=
            (inner_index(view, d, p->begin[d]) - box->origin[d]) * from.stride_bytes[d];
        from.stride_bytes[d] *= view->step[d];
        from.shape[d] = p->extent[d];
        part.origin[d] = p->begin[d] - to->box.begin[d];
        part.extent[d] = p->extent[d];
    }
    const slc_layout into = slc_layout_slice(&to->layout, &part);
    if (!self->converts) {
        return slc_copy_host(to->data, &into, room->read, &from);
    }
    SLC_TRY(convert_piece(self, p, room, &from));
    SLC_TRY(slc_layout_dense(self->conversion.to, from.rank, p->extent, &from));
    return slc_copy_host(to->data, &into, room->converted, &from);
}

/* Pieces still to be read: a cut halves a piece, so the stack holds one for each halving of an extent
 * below 2^63 in each dimension at most. */
#define MOST_PIECES (64 * SLC_MAX_RANK)

static slc_status read_pieces(slice_source *self, const slice_room *room, const destination *to) {
    piece *stack = room->stack;
    int n = 1;
    int turn = 0;
    stack[0] = to->box;
    while (n > 0) {
        piece *p = &stack[n - 1];
        const slc_box box = covering_box(&self->view, p);
        int64_t cut = 0;
        const int d = find_cut(self, p, &box, &cut);
        if (d < 0) {
            if (turn == to->part) {
                SLC_TRY(read_piece(self, p, &box, room, to));
            }
            turn = (turn + 1) % to->n_parts;
            n--;
            continue;
        }
        assert(n < MOST_PIECES);
        piece first = *p;
        first.extent[d] = cut - p->begin[d];
        p->extent[d] -= first.extent[d];
        p->begin[d] = cut;
        stack[n++] = first; /* the lower part first */
    }
    return SLC_OK;
}

/* A box of the result in the view's own dimensions, those that it drops among them. */
static piece piece_of(const slc_slice_view *view, const slc_box *box) {
    piece p = {.begin = {0}};
    for (int d = 0; d < view->inner_rank; d++) {
        p.extent[d] = 1;
    }
    for (int r = 0; r < view->rank; r++) {
        p.begin[view->dim[r]] = box->origin[r];
        p.extent[view->dim[r]] = box->extent[r];
    }
    return p;
}

/* Bytes of a thread's room, and where its parts begin. */
static int64_t room_bytes(const slice_source *self, int64_t begin[3]) {
    const int64_t picked = self->converts ? self->piece_bytes : 0;
    const int64_t converted =
        self->converts ? self->piece_elements * slc_dtype_bytes(self->conversion.to) : 0;
    const int64_t read = slc_round_up(self->piece_bytes, 16);
    begin[0] = read;
    begin[1] = read + slc_round_up(picked, 16);
    begin[2] = begin[1] + slc_round_up(converted, 16);
    return self->piece_bytes == 0 ? 0 : begin[2] + (int64_t)MOST_PIECES * (int64_t)sizeof(piece);
}

/* The part of a read that the destination says. */
static slc_status read_part(slice_source *self, destination *to) {
    int64_t begin[3];
    char *memory = malloc((size_t)room_bytes(self, begin));
    if (memory == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "%s: no memory to read a slice", self->base.name);
    }
    const slice_room room = {memory, memory + begin[0], memory + begin[1],
                             (piece *)(void *)(memory + begin[2])};
    slc_status status = slc_layout_dense(self->base.fields[0].dtype, self->view.inner_rank,
                                         to->box.extent, &to->layout);
    if (status == SLC_OK) {
        status = read_pieces(self, &room, to);
    }
    free(memory);
    return status;
}

static slc_status slice_read(slc_source *source, const slc_box *box, void *const *dst) {
    slice_source *self = (slice_source *)source;
    if (dst[0] == NULL || slc_box_count(box) == 0) {
        return SLC_OK;
    }
    destination to = {.box = piece_of(&self->view, box), .data = dst[0], .n_parts = 1};
    if (self->piece_bytes == 0) {
        const slc_box covering = covering_box(&self->view, &to.box);
        return slc_source_read(self->inner, &covering, dst);
    }
    return read_part(self, &to);
}

static slc_status slice_read_part(slc_source *source, const slc_box *box, void *const *dst,
                                  int part, int n_parts) {
    slice_source *self = (slice_source *)source;
    if (dst[0] == NULL || slc_box_count(box) == 0) {
        return SLC_OK;
    }
    destination to = {.box = piece_of(&self->view, box),
                      .data = dst[0],
                      .part = part,
                      .n_parts = n_parts};
    if (self->piece_bytes == 0) {
        const slc_box covering = covering_box(&self->view, &to.box);
        return slc_source_read_part(self->inner, &covering, dst, part, n_parts);
    }
    return read_part(self, &to);
}

static int64_t slice_next_unit(slc_source *source, int axis, int64_t index) {
    const slice_source *self = (const slice_source *)source;
    const int d = self->view.dim[axis];
    return self->view.count[d] > 0 ? next_element(self, d, index) : index + 1;
}

static slc_status slice_finish(slc_source *source) {
    return slc_source_finish(((const slice_source *)source)->inner);
}

static void slice_destroy(slc_source *source) {
    free(source);
}

static const slc_source_ops slice_ops = {.read = slice_read,
                                         .next_unit = slice_next_unit,
                                         .finish = slice_finish,
                                         .destroy = slice_destroy};

/* Over an inner source that can be read in parts. */
static const slc_source_ops divisible_ops = {.read = slice_read,
                                             .read_part = slice_read_part,
                                             .next_unit = slice_next_unit,
                                             .finish = slice_finish,
                                             .destroy = slice_destroy};

/* ---- making ----------------------------------------------------------------------------------- */

/* The largest piece: a unit, as it was not cut within one, or PIECE_BYTES. */
static slc_status size_pieces(slice_source *self) {
    const slc_slice_view *view = &self->view;
    const int64_t element_bytes = slc_dtype_bytes(self->inner->fields[0].dtype);
    int64_t bytes = element_bytes;
    self->is_dense = true;
    for (int d = 0; d < view->inner_rank; d++) {
        const int64_t n = self->inner->fields[0].shape[d];
        const int64_t unit = n > 0 ? slc_source_next_unit(self->inner, d, 0) : 1;
        self->is_dense = self->is_dense && view->step[d] == 1;
        if (!slc_checked_mul(bytes, slc_min_i64(unit, slc_max_i64(n, 1)), &bytes) ||
            bytes > INT64_MAX / 64) {
            return SLC_FAIL(SLC_ERROR_ARGUMENT, "%s: a chunk's size does not fit 57 bits",
                            self->inner->name);
        }
    }
    bytes = slc_max_i64(bytes, PIECE_BYTES);
    self->piece_bytes = self->is_dense && !self->converts ? 0 : bytes;
    self->piece_elements = bytes / element_bytes;
    return SLC_OK;
}

/* "[0:10, 8::-2, 3] " of what is left of the array, "" where that is too long. Of a range backwards to
 * the first element the end is left out, as in Python. */
static void slice_text(const slc_slice_view *view, char *out, int64_t capacity) {
    int64_t used = slci_print(out, (size_t)capacity, "[");
    for (int d = 0, kept = 0; d < view->inner_rank && used < capacity; d++) {
        const bool is_kept = kept < view->rank && view->dim[kept] == d;
        const int64_t end = view->first[d] + view->count[d] * view->step[d];
        kept += is_kept;
        used += slci_print(out + used, (size_t)(capacity - used), "%s%" PRId64 "%s",
                           d > 0 ? ", " : "", view->first[d], is_kept ? ":" : "");
        if (is_kept && end >= 0 && used < capacity) {
            used += slci_print(out + used, (size_t)(capacity - used), "%" PRId64, end);
        }
        if (is_kept && view->step[d] != 1 && used < capacity) {
            used += slci_print(out + used, (size_t)(capacity - used), ":%" PRId64, view->step[d]);
        }
    }
    used += used < capacity ? slci_print(out + used, (size_t)(capacity - used), "] ") : 0;
    if (used >= capacity) {
        out[0] = '\0';
    }
}

/* The hash tells slices apart, the text says which it is where there is room for both. */
static void name_slice(slice_source *self) {
    char text[SLICE_TEXT_BYTES];
    const slc_slice_view *view = &self->view;
    const int64_t room = SLC_IDENTITY_BYTES - SLICE_NAME_BYTES -
                         (int64_t)strnlen(self->inner->identity, SLC_IDENTITY_BYTES);
    slice_text(view, text, slc_max_i64(slc_min_i64(room, SLICE_TEXT_BYTES), 1));
    uint64_t hash = SLCI_FNV_BEGIN;
    for (int d = 0; d < view->inner_rank; d++) {
        hash = slci_fnv_add(hash, &view->first[d], sizeof view->first[d]);
        hash = slci_fnv_add(hash, &view->step[d], sizeof view->step[d]);
        hash = slci_fnv_add(hash, &view->count[d], sizeof view->count[d]);
    }
    hash = slci_fnv_add(hash, view->dim, (size_t)view->rank * sizeof view->dim[0]);
    memcpy(self->base.name, self->inner->name, sizeof self->base.name);
    (void)slci_print(self->base.identity, sizeof self->base.identity,
                     "slice %s%016" PRIx64 "%s%s%s of %.200s", text, hash,
                     self->converts ? " as " : "",
                     self->converts ? slc_dtype_name(self->conversion.to) : "",
                     self->conversion.saturates ? ", saturated," : "", self->inner->identity);
}

static slc_status set_conversion(slice_source *self, const slc_source_view *view) {
    const slc_dtype from = self->inner->fields[0].dtype;
    if (!view->converts || view->dtype == from) {
        return SLC_OK;
    }
    self->converts = true;
    self->conversion =
        (slc_conversion){.from = from, .to = view->dtype, .saturates = view->saturates};
    const slc_status status = slc_conversion_check(&self->conversion);
    return status == SLC_OK ? status : slc_status_prefix(status, "%s", self->inner->name);
}

static slc_status init_slice(slice_source *self, const slc_source_view *view) {
    slc_source *base = &self->base;
    const slc_source *inner = self->inner;
    if (inner->n_fields != 1 || inner->shared_rank != inner->fields[0].rank) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "%s: only a source of a single array can be sliced",
                        inner->name);
    }
    SLC_TRY(slc_slice_resolve(&view->slice, inner->name, &inner->fields[0], &self->view));
    SLC_TRY(set_conversion(self, view));
    int64_t shape[SLC_MAX_RANK];
    for (int r = 0; r < self->view.rank; r++) {
        shape[r] = self->view.count[self->view.dim[r]];
    }
    SLC_TRY(slc_layout_dense(self->converts ? view->dtype : inner->fields[0].dtype, self->view.rank,
                             shape, &base->fields[0]));
    base->ops = inner->ops->read_part != NULL ? &divisible_ops : &slice_ops;
    base->shared_rank = self->view.rank;
    base->n_fields = 1;
    base->is_divisible = inner->is_divisible;
    name_slice(self);
    return size_pieces(self);
}

slc_status slc_source_slice(slc_source *inner, const slc_source_view *view, slc_source **out) {
    slice_source *self = calloc(1, sizeof *self);
    if (self == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "%s: no memory for a source", inner->name);
    }
    self->inner = inner;
    const slc_status status = init_slice(self, view);
    if (status != SLC_OK) {
        free(self);
        return status;
    }
    *out = &self->base;
    return SLC_OK;
}

int64_t slc_source_slice_bytes(const slc_source *source) {
    int64_t begin[3];
    return room_bytes((const slice_source *)source, begin);
}

int64_t slc_source_slice_infinite(const slc_source *source) {
    return atomic_load(&((const slice_source *)source)->n_infinite);
}

bool slc_source_slice_has_refused(const slc_source *source) {
    return atomic_load(&((const slice_source *)source)->has_refused);
}
