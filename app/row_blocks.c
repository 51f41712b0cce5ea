#include "app/row_blocks.h"

#include <stdbool.h>
#include <stdlib.h>

#include "core/checked.h"

/* Bytes of a row in a block; false where they do not fit. */
static bool row_bytes_of(const slc_vis_meta *meta, slci_row_fields fields, int64_t *bytes) {
    static const int64_t channel_bytes[] = {
        [SLCI_ROWS_UVW] = 0, [SLCI_ROWS_WEIGHT] = 4, [SLCI_ROWS_ALL] = 12};
    return slc_checked_mul(meta->n_channels, channel_bytes[fields], bytes) &&
           slc_checked_mul(*bytes, meta->n_imaged, bytes) && slc_checked_add(*bytes, 24, bytes);
}

static int64_t rows_within(const slc_vis_meta *meta, int64_t n_rows) {
    return slc_max_i64(slc_min_i64(n_rows, meta->n_rows), 1);
}

int64_t slci_row_block_bytes(const slc_vis_meta *meta, slci_row_fields fields, int64_t n_rows) {
    int64_t bytes = 0;
    return row_bytes_of(meta, fields, &bytes) &&
                   slc_checked_mul(bytes, rows_within(meta, n_rows), &bytes)
               ? bytes
               : INT64_MAX / 4; /* more than any budget */
}

int64_t slci_rows_bytes(const slc_vis_meta *meta, slci_row_fields fields, int64_t room_bytes) {
    int64_t row_bytes = 1;
    (void)row_bytes_of(meta, fields, &row_bytes);
    return slci_row_block_bytes(meta, fields, room_bytes / slc_max_i64(row_bytes, 1));
}

slc_status slci_row_block_create(const slc_vis_meta *meta, slci_row_fields fields, int64_t n_rows,
                                 slci_row_block *out) {
    slci_row_block block = {.n_rows = rows_within(meta, n_rows), .n_channels = meta->n_channels};
    int64_t row_bytes = 0;
    int64_t block_bytes = 0;
    /* If the whole block fits, each of its parts does. */
    bool is_made = row_bytes_of(meta, fields, &row_bytes) &&
                   slc_checked_mul(row_bytes, block.n_rows, &block_bytes);
    if (is_made) {
        const size_t n_samples = (size_t)(block.n_rows * block.n_channels);
        block.uvw = malloc((size_t)block.n_rows * 3 * sizeof *block.uvw);
        is_made = block.uvw != NULL;
        for (int k = 0; k < meta->n_imaged && is_made && fields >= SLCI_ROWS_WEIGHT; k++) {
            block.weight[k] = malloc(n_samples * sizeof *block.weight[k]);
            is_made = block.weight[k] != NULL;
        }
        for (int k = 0; k < meta->n_imaged && is_made && fields == SLCI_ROWS_ALL; k++) {
            block.vis[k] = malloc(n_samples * 2 * sizeof *block.vis[k]);
            is_made = block.vis[k] != NULL;
        }
    }
    if (!is_made) {
        slci_row_block_destroy(&block);
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for a block of %lld rows of %lld channels",
                        (long long)block.n_rows, (long long)block.n_channels);
    }
    *out = block;
    return SLC_OK;
}

void slci_row_block_destroy(slci_row_block *block) {
    free(block->uvw);
    block->uvw = NULL;
    for (int k = 0; k < SLC_VIS_MOST_IMAGED; k++) {
        free(block->vis[k]);
        free(block->weight[k]);
        block->vis[k] = NULL;
        block->weight[k] = NULL;
    }
}

void slci_row_block_place(const slci_row_block *block, int64_t at, void *dst[SLC_MAX_FIELDS]) {
    const int64_t first = at * block->n_channels;
    dst[SLC_VIS_UVW] = block->uvw + 3 * at;
    for (int k = 0; k < SLC_VIS_MOST_IMAGED; k++) {
        dst[slc_vis_data_field(k)] = block->vis[k] == NULL ? NULL : block->vis[k] + 2 * first;
        dst[slc_vis_weight_field(k)] = block->weight[k] == NULL ? NULL : block->weight[k] + first;
    }
}

/* The end of the block that begins at `begin`: the last chunk boundary within reach, or as far as
 * the room goes where a chunk is longer than that. */
static int64_t block_end(slc_source *source, int64_t begin, int64_t room, int64_t n_rows) {
    const int64_t reach = room < n_rows - begin ? begin + room : n_rows;
    int64_t end = begin;
    while (end < reach) {
        const int64_t next = slc_source_next_unit(source, 0, end);
        if (next <= end || next > reach) {
            break;
        }
        end = next;
    }
    return end > begin ? end : reach;
}

static slc_status read_rows(slc_source *source, const slc_box *rows, const slci_row_block *block,
                            int64_t at, slc_vis_counts *counts) {
    void *dst[SLC_MAX_FIELDS];
    slci_row_block_place(block, at, dst);
    return block->weight[0] == NULL ? slc_source_read(source, rows, dst)
                                    : slc_vis_read_counted(source, rows, dst, counts);
}

/* A block that threads share. Fewer rows than these are not worth handing out. */
#define SMALLEST_PART_ROWS 64
#define MAX_PARTS 64

typedef struct shared_block {
    slc_source *source;
    const slc_box *box;
    const slci_row_block *block;
    int64_t n_parts;
    slc_vis_counts counts[MAX_PARTS][SLC_VIS_MOST_IMAGED];
} shared_block;

static slc_status read_part(void *context, int64_t part, int worker) {
    shared_block *shared = context;
    const int64_t n = shared->box->extent[0];
    const int64_t begin = n * part / shared->n_parts;
    const int64_t end = n * (part + 1) / shared->n_parts;
    const slc_box rows = slc_box_1d(shared->box->origin[0] + begin, end - begin);
    (void)worker;
    return read_rows(shared->source, &rows, shared->block, begin, shared->counts[part]);
}

static slc_status read_block(slc_source *source, const slc_box *box, const slci_row_block *block,
                             slc_pool *pool, slc_vis_counts *counts) {
    shared_block shared = {.source = source, .box = box, .block = block, .n_parts = 1};
    if (pool != NULL) {
        const int64_t n = slc_min_i64(slc_pool_size(pool), box->extent[0] / SMALLEST_PART_ROWS);
        shared.n_parts = slc_max_i64(slc_min_i64(n, MAX_PARTS), 1);
    }
    SLC_TRY(shared.n_parts == 1 ? read_part(&shared, 0, 0)
                                : slc_pool_for(pool, shared.n_parts, read_part, &shared));
    for (int64_t k = 0; k < shared.n_parts; k++) {
        for (int i = 0; i < slc_vis_get_meta(source)->n_imaged; i++) {
            slc_vis_counts_add(&counts[i], &shared.counts[k][i]); /* in any order to the same */
        }
    }
    return SLC_OK;
}

slc_status slci_rows_visit(slc_source *source, const slci_rows_options *options,
                           slci_row_visitor visit, void *context, slc_vis_counts *counts) {
    const slc_vis_meta *meta = slc_vis_get_meta(source);
    slci_row_block block = {0};
    slc_status status = SLC_OK;
    int64_t row_bytes = 0;
    if (!row_bytes_of(meta, options->fields, &row_bytes)) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "%s: a row of %lld channels does not fit memory",
                        source->name, (long long)meta->n_channels);
    }
    SLC_TRY(slci_row_block_create(meta, options->fields, options->room_bytes / row_bytes, &block));
    for (int64_t begin = 0; begin < meta->n_rows;) {
        if (options->cancel != NULL && *options->cancel != 0) {
            status = SLC_FAIL(SLC_ERROR_INTERRUPTED, "interrupted while reading %s", source->name);
            goto done;
        }
        const int64_t end = block_end(source, begin, block.n_rows, meta->n_rows);
        const slc_box box = slc_box_1d(begin, end - begin);
        SLC_TRY_GOTO(done, read_block(source, &box, &block, options->pool, counts));
        visit(context, &block, end - begin, meta);
        begin = end;
        if (options->progress != NULL) {
            options->progress(options->progress_context, begin, meta->n_rows);
        }
    }
done:
    slci_row_block_destroy(&block);
    return status;
}
