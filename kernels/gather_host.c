/* Gathering on the host: runs of bytes, spread over the pool by parts of the list and of the rows
 * around it. A part first finds which of its indices point into the data at hand, and where, with
 * loops that have no branches, since where data is streamed nearly all of them point elsewhere;
 * then it copies row by row. */
#include <string.h>

#include "core/checked.h"
#include "core/pool.h"
#include "kernels/gather_internal.h"
#include "kernels/gather_tile.h"

/* Indices of one part: their places lie on the thread's stack. */
#define PART 1024

/* Parts for each thread, so that all are busy to the end. */
#define PARTS_PER_THREAD 4

typedef struct host_call {
    slci_gather_view view;
    slc_pool *pool;
} host_call;

typedef struct host_run {
    const slci_gather_view *view;
    slci_gather_counts counts;
    int64_t n_list_parts;
    int64_t rows_per_part;
} host_run;

/* A constant size becomes a single load and store. */
static void copy_run(char *dst, const char *src, int64_t bytes) {
    switch (bytes) {
    case 1:
        *dst = *src;
        break;
    case 2:
        memcpy(dst, src, 2);
        break;
    case 4:
        memcpy(dst, src, 4);
        break;
    case 8:
        memcpy(dst, src, 8);
        break;
    case 16:
        memcpy(dst, src, 16);
        break;
    default:
        memcpy(dst, src, (size_t)bytes);
        break;
    }
}

/* Numbers at, at + step, ... of the list, as 64 bits: what is negative, or no int64_t holds, has
 * the highest bit. */
static void load_list(const slci_gather_view *view, int64_t at, int64_t step, int64_t n,
                      uint64_t *values) {
    const char *list = (const char *)view->index + at * view->index_bytes;
    const int shift = 64 - 8 * view->index_bytes;
    switch (view->index_bytes) {
    case 1:
        for (int64_t k = 0; k < n; k++) {
            values[k] = ((const uint8_t *)list)[k * step];
        }
        break;
    case 2:
        for (int64_t k = 0; k < n; k++) {
            values[k] = ((const uint16_t *)list)[k * step];
        }
        break;
    case 4:
        for (int64_t k = 0; k < n; k++) {
            values[k] = ((const uint32_t *)list)[k * step];
        }
        break;
    default:
        for (int64_t k = 0; k < n; k++) {
            values[k] = ((const uint64_t *)list)[k * step];
        }
        break;
    }
    for (int64_t k = 0; k < n && view->is_index_signed && shift > 0; k++) {
        values[k] = (uint64_t)((int64_t)(values[k] << shift) >> shift);
    }
}

/* The indices of a part that point into the data at hand. */
typedef struct part_hits {
    int64_t n;
    int64_t k[PART];     /* from the part's first */
    int64_t place[PART]; /* in elements */
} part_hits;

static void find_hits(const slci_gather_view *view, int64_t first, int64_t n, part_hits *hits) {
    uint64_t value[PART];
    int64_t place[PART] = {0};
    uint8_t is_elsewhere[PART] = {0};
    for (int c = 0; c < view->n_coordinates; c++) {
        const int axis = view->coordinate_axis[c];
        const uint64_t begin = axis < 0 ? 0 : (uint64_t)view->tile->origin[axis];
        const uint64_t extent =
            (uint64_t)(axis < 0 ? view->coordinate_extent[c] : view->tile->extent[axis]);
        const uint64_t stride = (uint64_t)view->coordinate_stride[c];
        load_list(view, first * view->n_coordinates + c, view->n_coordinates, n, value);
        for (int64_t k = 0; k < n; k++) {
            const uint64_t i = value[k] - begin; /* wraps to a large number before the beginning */
            is_elsewhere[k] |= i >= extent;
            place[k] += (int64_t)(i * stride);
        }
    }
    hits->n = 0;
    for (int64_t k = 0; k < n; k++) {
        hits->k[hits->n] = k;
        hits->place[hits->n] = place[k];
        hits->n += is_elsewhere[k] == 0;
    }
}

static slc_status run_part(void *context, int64_t part, int worker) {
    (void)worker;
    const host_run *run = context;
    const slci_gather_view *view = run->view;
    const slci_gather_counts *counts = &run->counts;
    part_hits hits;
    const int64_t first = part % run->n_list_parts * PART;
    find_hits(view, first, slc_min_i64(PART, counts->n_index - first), &hits);
    const int64_t begin = part / run->n_list_parts * run->rows_per_part;
    const int64_t end = slc_min_i64(begin + run->rows_per_part, counts->n_rows);
    const int64_t run_bytes = counts->n_run * view->element_bytes;
    const int64_t step_bytes = view->index_stride * view->element_bytes;
    for (int64_t r = begin; r < end && hits.n > 0; r++) {
        const int64_t out_row = slci_gather_row(view, counts, view->out_stride, r);
        const int64_t data_row = slci_gather_row(view, counts, view->data_stride, r);
        char *out = (char *)view->out + out_row * view->element_bytes + first * step_bytes;
        const char *data =
            (const char *)view->data + (counts->data_begin + data_row) * view->element_bytes;
        for (int64_t h = 0; h < hits.n; h++) {
            copy_run(out + hits.k[h] * step_bytes, data + hits.place[h] * view->element_bytes,
                     run_bytes);
        }
    }
    return SLC_OK;
}

/* Runs on the stream: spreads one tile over the pool. */
static slc_status run_tile(void *argument) {
    const host_call *call = argument;
    host_run run = {.view = &call->view, .counts = slci_gather_count(&call->view)};
    const slci_gather_counts *counts = &run.counts;
    if (counts->n_index <= 0 || counts->n_rows <= 0 || counts->n_run <= 0) {
        return SLC_OK;
    }
    run.n_list_parts = slc_ceil_div(counts->n_index, PART);
    const int64_t wanted = PARTS_PER_THREAD * (int64_t)slc_pool_size(call->pool);
    const int64_t row_parts = slc_min_i64(counts->n_rows, slc_ceil_div(wanted, run.n_list_parts));
    run.rows_per_part = slc_ceil_div(counts->n_rows, row_parts);
    return slc_pool_for(call->pool,
                        run.n_list_parts * slc_ceil_div(counts->n_rows, run.rows_per_part),
                        run_part, &run);
}

static slc_status enqueue_tile(void *state, const slc_tile_arguments *arguments) {
    host_call call = {.pool = arguments->device->pool};
    slci_gather_view_init(state, arguments, &call.view);
    return slc_stream_call(arguments->stream, run_tile, &call, sizeof call);
}

const slc_gather_kernel slci_gather_host = {.name = "gather/host",
                                            .device = SLC_DEVICE_HOST,
                                            .tile = enqueue_tile};
