/* A run [k, k + n) along a merged dimension, as boxes of what was merged. With the shape (3, 4) the
 * run [2, 11) is
 *
 *      . . 2 3          2 elements of row 0: the rest of a row that is begun
 *      4 5 6 7          whole rows
 *      8 9 10 .         3 elements of row 2
 *
 * and with more dimensions each of these may be cut again. Every step takes the largest box that
 * begins at the current element: whole in as many trailing dimensions as the element is at the
 * start of and the run has left. The pieces follow each other in the run, so each is dense in the
 * caller's memory as long as the box has one element before the merged dimensions. */
#include "core/flatten.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/checked.h"

slc_status slc_layout_flatten(const slc_layout *layout, const slc_flat_dims *dims,
                              slc_layout *out) {
    if (dims->first < 0 || dims->n < 0 || dims->first + dims->n > layout->rank ||
        layout->rank - dims->n + 1 > SLC_MAX_RANK) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "dimensions %d to %d of an array of rank %d cannot become one", dims->first,
                        dims->first + dims->n - 1, layout->rank);
    }
    int64_t shape[SLC_MAX_RANK];
    int rank = 0;
    for (int d = 0; d < dims->first; d++) {
        shape[rank++] = layout->shape[d];
    }
    shape[rank] = 1;
    for (int d = dims->first; d < dims->first + dims->n; d++) {
        if (!slc_checked_mul(shape[rank], layout->shape[d], &shape[rank])) {
            return SLC_FAIL(SLC_ERROR_ARGUMENT, "more than 2^63 elements in dimensions %d to %d",
                            dims->first, d);
        }
    }
    rank++;
    for (int d = dims->first + dims->n; d < layout->rank; d++) {
        shape[rank++] = layout->shape[d];
    }
    return slc_layout_dense(layout->dtype, rank, shape, out);
}

/* ---- pieces ----------------------------------------------------------------------------------- */

/* A walk over the pieces of a box of the merged shape. */
typedef struct piece_walk {
    const slc_flat_dims *dims;
    const int64_t *inner_shape; /* of the array with all its dimensions */
    slc_box box;                /* merged */
    slc_box before;             /* the element in the dimensions before: origins within the box */
    int64_t done;               /* of the run along the merged dimension */
    bool is_over;
} piece_walk;

static void walk_init(piece_walk *walk, const slc_flat_dims *dims, const int64_t *inner_shape,
                      const slc_box *box) {
    *walk = (piece_walk){.dims = dims, .inner_shape = inner_shape, .box = *box};
    walk->is_over = slc_box_count(box) == 0;
}

/* Cuts the next piece off a run of `left` elements from `k` on: sets origin and extent of the
 * merged dimensions, returns its elements. */
static int64_t cut_run(const piece_walk *walk, int64_t k, int64_t left, int64_t *origin,
                       int64_t *extent) {
    const int64_t *shape = walk->inner_shape + walk->dims->first;
    const int n = walk->dims->n;
    int64_t block = 1; /* elements of the dimensions below d */
    int64_t taken = 1;
    bool is_open = true; /* all dimensions below d are whole */
    for (int d = n - 1; d >= 0; d--) {
        origin[d] = k % shape[d];
        k /= shape[d];
        extent[d] = 1;
        if (is_open) {
            extent[d] = slc_min_i64(shape[d] - origin[d], left / block);
            taken = extent[d] * block;
            is_open = extent[d] == shape[d];
            block = taken;
        }
    }
    return taken;
}

/* The next piece as a box of the inner array, and where it begins in the caller's dense memory of
 * the merged box, in elements; false after the last. */
static bool next_piece(piece_walk *walk, slc_box *piece, int64_t *at) {
    if (walk->is_over) {
        return false;
    }
    const int first = walk->dims->first;
    const int n = walk->dims->n;
    const int64_t run = walk->box.extent[first];
    int64_t inner = 1;
    piece->rank = walk->box.rank - 1 + n;
    for (int d = first + 1; d < walk->box.rank; d++) {
        piece->origin[d - 1 + n] = walk->box.origin[d];
        piece->extent[d - 1 + n] = walk->box.extent[d];
        inner *= walk->box.extent[d];
    }
    int64_t row = 0; /* number of the element before the merged dimension */
    for (int d = 0; d < first; d++) {
        piece->origin[d] = walk->box.origin[d] + walk->before.origin[d];
        piece->extent[d] = 1;
        row = row * walk->box.extent[d] + walk->before.origin[d];
    }
    const int64_t taken = cut_run(walk, walk->box.origin[first] + walk->done, run - walk->done,
                                  piece->origin + first, piece->extent + first);
    *at = (row * run + walk->done) * inner;
    walk->done += taken;
    if (walk->done == run) {
        walk->done = 0;
        int d = first - 1;
        while (d >= 0 && ++walk->before.origin[d] == walk->box.extent[d]) {
            walk->before.origin[d--] = 0;
        }
        walk->is_over = d < 0;
    }
    return true;
}

/* Where an index of the merged shape lies in the array with all its dimensions: index `inner_index` of
 * dimension `inner_axis`, each of which is `block` indices of the merged shape; 0: units have no place
 * there. */
typedef struct unmerged {
    int inner_axis;
    int64_t inner_index, block;
} unmerged;

static unmerged unmerge(const slc_flat_dims *dims, const int64_t *inner_shape, int axis,
                        int64_t index) {
    if (axis != dims->first) {
        return (unmerged){axis < dims->first ? axis : axis - 1 + dims->n, index, 1};
    }
    int64_t block = dims->n == 0 ? 0 : 1;
    for (int d = dims->first + 1; d < dims->first + dims->n; d++) {
        block *= inner_shape[d];
    }
    return (unmerged){dims->first, block == 0 ? 0 : index / block, block};
}

/* ---- the source ------------------------------------------------------------------------------- */

typedef struct flat_source {
    slc_source base;
    slc_source *inner; /* lent */
    slc_flat_dims dims;
} flat_source;

/* Elements of field f for one element of the shared dimensions, times their size. */
static int64_t unshared_bytes(const slc_source *source, int f) {
    int64_t bytes = slc_dtype_bytes(source->fields[f].dtype);
    for (int d = source->shared_rank; d < source->fields[f].rank; d++) {
        bytes *= source->fields[f].shape[d];
    }
    return bytes;
}

/* A part of every piece; where there are many, each is begun by another thread, because a small piece
 * may have no more than one part in it. */
static slc_status flat_read_part(slc_source *source, const slc_box *box, void *const *dst, int part,
                                 int n_parts) {
    const flat_source *flat = (const flat_source *)source;
    piece_walk walk;
    slc_box piece;
    int64_t at = 0;
    walk_init(&walk, &flat->dims, flat->inner->fields[0].shape, box);
    for (int64_t k = 0; next_piece(&walk, &piece, &at); k++) {
        void *to[SLC_MAX_FIELDS] = {NULL};
        for (int f = 0; f < flat->inner->n_fields; f++) {
            to[f] = dst[f] == NULL ? NULL : (char *)dst[f] + at * unshared_bytes(flat->inner, f);
        }
        SLC_TRY(
            slc_source_read_part(flat->inner, &piece, to, (int)((part + k) % n_parts), n_parts));
    }
    return SLC_OK;
}

static slc_status flat_read(slc_source *source, const slc_box *box, void *const *dst) {
    return flat_read_part(source, box, dst, 0, 1);
}

static int64_t flat_next_unit(slc_source *source, int axis, int64_t index) {
    const flat_source *flat = (const flat_source *)source;
    const unmerged at = unmerge(&flat->dims, flat->inner->fields[0].shape, axis, index);
    return at.block == 0
               ? index + 1
               : slc_source_next_unit(flat->inner, at.inner_axis, at.inner_index) * at.block;
}

static slc_status flat_finish(slc_source *source) {
    return slc_source_finish(((const flat_source *)source)->inner);
}

static void flat_source_destroy(slc_source *source) {
    free(source);
}

static const slc_source_ops flat_source_ops = {.read = flat_read,
                                               .next_unit = flat_next_unit,
                                               .finish = flat_finish,
                                               .destroy = flat_source_destroy};

/* Of a source that has parts. */
static const slc_source_ops flat_parts_ops = {.read = flat_read,
                                              .read_part = flat_read_part,
                                              .next_unit = flat_next_unit,
                                              .finish = flat_finish,
                                              .destroy = flat_source_destroy};

static slc_status init_source(flat_source *flat, slc_source *inner) {
    slc_source *base = &flat->base;
    if (flat->dims.first + flat->dims.n > inner->shared_rank ||
        (flat->dims.n == 0 && inner->n_fields != 1)) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "%s: only dimensions that all fields share become one",
                        inner->name);
    }
    base->ops = inner->ops->read_part != NULL ? &flat_parts_ops : &flat_source_ops;
    base->shared_rank = inner->shared_rank - flat->dims.n + 1;
    base->n_fields = inner->n_fields;
    base->is_divisible = inner->is_divisible;
    memcpy(base->name, inner->name, sizeof base->name);
    memcpy(base->identity, inner->identity, sizeof base->identity);
    for (int f = 0; f < inner->n_fields; f++) {
        SLC_TRY(slc_layout_flatten(&inner->fields[f], &flat->dims, &base->fields[f]));
    }
    return SLC_OK;
}

slc_status slc_source_flatten(slc_source *inner, const slc_flat_dims *dims, slc_source **out) {
    flat_source *flat = calloc(1, sizeof *flat);
    if (flat == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "%s: no memory for a source", inner->name);
    }
    flat->inner = inner;
    flat->dims = *dims;
    const slc_status status = init_source(flat, inner);
    if (status != SLC_OK) {
        free(flat);
        return status;
    }
    *out = &flat->base;
    return SLC_OK;
}

/* ---- the sink --------------------------------------------------------------------------------- */

typedef struct flat_sink {
    slc_sink base;
    slc_sink *inner; /* lent */
    slc_flat_dims dims;
} flat_sink;

static slc_status flat_write(slc_sink *sink, const slc_box *box, const void *src) {
    const flat_sink *flat = (const flat_sink *)sink;
    const int64_t element_bytes = slc_dtype_bytes(sink->layout.dtype);
    piece_walk walk;
    slc_box piece;
    int64_t at = 0;
    walk_init(&walk, &flat->dims, flat->inner->layout.shape, box);
    while (next_piece(&walk, &piece, &at)) {
        SLC_TRY(slc_sink_write(flat->inner, &piece, (const char *)src + at * element_bytes));
    }
    return SLC_OK;
}

static int64_t flat_sink_next_unit(slc_sink *sink, int axis, int64_t index) {
    const flat_sink *flat = (const flat_sink *)sink;
    const unmerged at = unmerge(&flat->dims, flat->inner->layout.shape, axis, index);
    return at.block == 0
               ? index + 1
               : slc_sink_next_unit(flat->inner, at.inner_axis, at.inner_index) * at.block;
}

static slc_status flat_keep_pieces(slc_sink *sink, slc_piece_keep keep, void *context) {
    return slc_sink_keep_pieces(((const flat_sink *)sink)->inner, keep, context);
}

static slc_status flat_flush_pieces(slc_sink *sink) {
    return slc_sink_flush_pieces(((const flat_sink *)sink)->inner);
}

static slc_status flat_put_piece(slc_sink *sink, const slc_sink_piece *piece, slc_piece_read read,
                                 void *context) {
    return slc_sink_put_piece(((const flat_sink *)sink)->inner, piece, read, context);
}

static slc_status flat_prepare(slc_sink *sink, const char **path) {
    return slc_sink_prepare(((const flat_sink *)sink)->inner, path);
}

static slc_status flat_commit(slc_sink *sink) {
    return slc_sink_commit(((const flat_sink *)sink)->inner);
}

static void flat_sink_destroy(slc_sink *sink) {
    free(sink);
}

static const slc_sink_ops flat_sink_ops = {.write = flat_write,
                                           .next_unit = flat_sink_next_unit,
                                           .prepare = flat_prepare,
                                           .commit = flat_commit,
                                           .destroy = flat_sink_destroy};

/* Of a sink that has pieces, which are the same whatever its dimensions are called. */
static const slc_sink_ops flat_pieces_ops = {.write = flat_write,
                                             .next_unit = flat_sink_next_unit,
                                             .keep_pieces = flat_keep_pieces,
                                             .flush_pieces = flat_flush_pieces,
                                             .put_piece = flat_put_piece,
                                             .prepare = flat_prepare,
                                             .commit = flat_commit,
                                             .destroy = flat_sink_destroy};

slc_status slc_sink_flatten(slc_sink *inner, const slc_flat_dims *dims, slc_sink **out) {
    slc_layout layout;
    SLC_TRY(slc_layout_flatten(&inner->layout, dims, &layout));
    flat_sink *flat = calloc(1, sizeof *flat);
    if (flat == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "%s: no memory for a sink", inner->name);
    }
    flat->base.ops = slc_sink_has_pieces(inner) ? &flat_pieces_ops : &flat_sink_ops;
    flat->base.layout = layout;
    memcpy(flat->base.name, inner->name, sizeof flat->base.name);
    flat->inner = inner;
    flat->dims = *dims;
    *out = &flat->base;
    return SLC_OK;
}
