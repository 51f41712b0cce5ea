/* Ends of a stream that cost nothing. */
#include "core/source_null.h"

#include <stdio.h>
#include <stdlib.h>

static slc_status null_read(slc_source *source, const slc_box *box, void *const *dst) {
    (void)source;
    (void)box;
    (void)dst;
    return SLC_OK;
}

static void null_source_destroy(slc_source *source) {
    free(source);
}

static const slc_source_ops null_source_ops = {.read = null_read, .destroy = null_source_destroy};

slc_status slci_source_create_null(const char *name, const slc_layout *layout, slc_source **out) {
    slc_layout dense;
    SLC_TRY(slc_layout_dense(layout->dtype, layout->rank, layout->shape, &dense));
    slc_source *source = calloc(1, sizeof *source);
    if (source == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "%s: no memory for a source", name);
    }
    source->ops = &null_source_ops;
    source->shared_rank = layout->rank;
    source->n_fields = 1;
    source->fields[0] = dense;
    (void)snprintf(source->name, sizeof source->name, "%s", name);
    (void)snprintf(source->identity, sizeof source->identity, "null:%.200s", name);
    *out = source;
    return SLC_OK;
}

static slc_status null_write(slc_sink *sink, const slc_box *box, const void *src) {
    (void)sink;
    (void)box;
    (void)src;
    return SLC_OK;
}

static slc_status null_commit(slc_sink *sink) {
    (void)sink;
    return SLC_OK;
}

static void null_sink_destroy(slc_sink *sink) {
    free(sink);
}

static const slc_sink_ops null_sink_ops = {.write = null_write,
                                           .commit = null_commit,
                                           .destroy = null_sink_destroy};

slc_status slci_sink_create_null(const char *name, const slc_layout *layout, slc_sink **out) {
    slc_layout dense;
    SLC_TRY(slc_layout_dense(layout->dtype, layout->rank, layout->shape, &dense));
    slc_sink *sink = calloc(1, sizeof *sink);
    if (sink == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "%s: no memory for a sink", name);
    }
    sink->ops = &null_sink_ops;
    sink->layout = dense;
    (void)snprintf(sink->name, sizeof sink->name, "%s", name);
    *out = sink;
    return SLC_OK;
}
