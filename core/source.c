/* The checks that all sources and sinks share, and the two that live in host memory. */
#include "core/source.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/clock.h"
#include "core/copy.h"

/* Whether `box` lies in the first box->rank dimensions of `shape`; the message names the dimension. */
static slc_status check_box(const char *name, const slc_box *box, int rank, const int64_t *shape) {
    if (box->rank != rank) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "%s: a box of rank %d, expected %d", name, box->rank,
                        rank);
    }
    for (int d = 0; d < rank; d++) {
        if (box->origin[d] < 0 || box->extent[d] < 0 || box->origin[d] > shape[d] ||
            box->extent[d] > shape[d] - box->origin[d]) {
            return SLC_FAIL(SLC_ERROR_ARGUMENT,
                            "%s: %lld elements from %lld on in dimension %d, which has %lld", name,
                            (long long)box->extent[d], (long long)box->origin[d], d,
                            (long long)shape[d]);
        }
    }
    return SLC_OK;
}

slc_status slc_source_read(slc_source *source, const slc_box *box, void *const *dst) {
    SLC_TRY(check_box(source->name, box, source->shared_rank, source->fields[0].shape));
    const int64_t begin_ns = slc_clock_ns();
    const slc_status status = source->ops->read(source, box, dst);
    atomic_fetch_add(&source->counters.read_ns, slc_clock_ns() - begin_ns);
    return status;
}

slc_status slc_source_read_part(slc_source *source, const slc_box *box, void *const *dst, int part,
                                int n_parts) {
    assert(part >= 0 && part < n_parts);
    if (source->ops->read_part == NULL) {
        return part == 0 ? slc_source_read(source, box, dst) : SLC_OK;
    }
    SLC_TRY(check_box(source->name, box, source->shared_rank, source->fields[0].shape));
    const int64_t begin_ns = slc_clock_ns();
    const slc_status status = source->ops->read_part(source, box, dst, part, n_parts);
    atomic_fetch_add(&source->counters.read_ns, slc_clock_ns() - begin_ns);
    return status;
}

int64_t slc_source_next_unit(slc_source *source, int axis, int64_t index) {
    assert(axis >= 0 && axis < source->shared_rank);
    if (source->ops->next_unit == NULL) {
        return index + 1; /* nothing to gain from splitting at one place rather than another */
    }
    return source->ops->next_unit(source, axis, index);
}

slc_status slc_source_finish(slc_source *source) {
    return source->ops->finish == NULL ? SLC_OK : source->ops->finish(source);
}

void slc_source_destroy(slc_source *source) {
    if (source != NULL) {
        source->ops->destroy(source);
    }
}

slc_status slc_sink_write(slc_sink *sink, const slc_box *box, const void *src) {
    SLC_TRY(check_box(sink->name, box, sink->layout.rank, sink->layout.shape));
    return sink->ops->write(sink, box, src);
}

int64_t slc_sink_next_unit(slc_sink *sink, int axis, int64_t index) {
    assert(axis >= 0 && axis < sink->layout.rank);
    return sink->ops->next_unit == NULL ? index + 1 : sink->ops->next_unit(sink, axis, index);
}

bool slc_sink_has_pieces(const slc_sink *sink) {
    return sink->ops->keep_pieces != NULL;
}

slc_status slc_sink_keep_pieces(slc_sink *sink, slc_piece_keep keep, void *context) {
    return sink->ops->keep_pieces(sink, keep, context);
}

slc_status slc_sink_flush_pieces(slc_sink *sink) {
    return sink->ops->flush_pieces(sink);
}

slc_status slc_sink_put_piece(slc_sink *sink, const slc_sink_piece *piece, slc_piece_read read,
                              void *context) {
    return sink->ops->put_piece(sink, piece, read, context);
}

slc_status slc_sink_prepare(slc_sink *sink, const char **path) {
    *path = NULL;
    return sink->ops->prepare == NULL ? SLC_OK : sink->ops->prepare(sink, path);
}

slc_status slc_sink_commit(slc_sink *sink) {
    return sink->ops->commit(sink);
}

void slc_sink_destroy(slc_sink *sink) {
    if (sink != NULL) {
        sink->ops->destroy(sink);
    }
}

/* --- in host memory --- */

typedef struct memory_source {
    slc_source base;
    slc_layout layout; /* where the elements lie in `data` */
    const void *data;  /* lent */
} memory_source;

typedef struct memory_sink {
    slc_sink base;
    slc_layout layout; /* where the elements lie in `data` */
    void *data;        /* lent */
} memory_sink;

static slc_status memory_read(slc_source *source, const slc_box *box, void *const *dst) {
    if (dst[0] == NULL) {
        return SLC_OK;
    }
    const memory_source *memory = (const memory_source *)source;
    const slc_layout from = slc_layout_slice(&memory->layout, box);
    slc_layout to;
    SLC_TRY(slc_layout_dense(from.dtype, from.rank, from.shape, &to));
    return slc_copy_host(dst[0], &to, memory->data, &from);
}

static void memory_source_destroy(slc_source *source) {
    free(source);
}

static const slc_source_ops memory_source_ops = {
    .read = memory_read,
    .destroy = memory_source_destroy,
};

slc_status slc_source_create_memory(const char *name, const slc_layout *layout, const void *data,
                                    slc_source **out) {
    slc_layout dense;
    SLC_TRY(slc_layout_dense(layout->dtype, layout->rank, layout->shape, &dense));
    memory_source *memory = calloc(1, sizeof *memory);
    if (memory == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "%s: no memory for a source", name);
    }
    memory->layout = *layout;
    memory->data = data;
    memory->base.ops = &memory_source_ops;
    memory->base.shared_rank = layout->rank;
    memory->base.n_fields = 1;
    memory->base.fields[0] = dense;
    memory->base.is_divisible = true;
    (void)snprintf(memory->base.name, sizeof memory->base.name, "%s", name);
    (void)snprintf(memory->base.identity, sizeof memory->base.identity, "memory:%lld:%s:%.200s",
                   (long long)slc_layout_bytes(&dense), slc_dtype_name(dense.dtype), name);
    *out = &memory->base;
    return SLC_OK;
}

static slc_status memory_write(slc_sink *sink, const slc_box *box, const void *src) {
    const memory_sink *memory = (const memory_sink *)sink;
    const slc_layout to = slc_layout_slice(&memory->layout, box);
    slc_layout from;
    SLC_TRY(slc_layout_dense(to.dtype, to.rank, to.shape, &from));
    return slc_copy_host_part(memory->data, &to, src, &from, slc_layout_bytes(&memory->layout));
}

/* Memory has no name to appear under: what is written is there at once. */
static slc_status memory_commit(slc_sink *sink) {
    (void)sink;
    return SLC_OK;
}

static void memory_sink_destroy(slc_sink *sink) {
    free(sink);
}

static const slc_sink_ops memory_sink_ops = {
    .write = memory_write,
    .commit = memory_commit,
    .destroy = memory_sink_destroy,
};

slc_status slc_sink_create_memory(const char *name, const slc_layout *layout, void *data,
                                  slc_sink **out) {
    slc_layout dense;
    SLC_TRY(slc_layout_dense(layout->dtype, layout->rank, layout->shape, &dense));
    memory_sink *memory = calloc(1, sizeof *memory);
    if (memory == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "%s: no memory for a sink", name);
    }
    memory->layout = *layout;
    memory->data = data;
    memory->base.ops = &memory_sink_ops;
    memory->base.layout = dense;
    memory->base.is_divisible = true;
    (void)snprintf(memory->base.name, sizeof memory->base.name, "%s", name);
    *out = &memory->base;
    return SLC_OK;
}
