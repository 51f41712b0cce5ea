/* Going through a visibility set once, in file order, in blocks of rows that end where its chunks
 * end, so that each chunk is decoded once. A pool's threads read a block, the calling thread looks
 * at it. Internal to app.
 *
 *     const slci_rows_options options = {.fields = SLCI_ROWS_ALL, .room_bytes = 4 << 20};
 *     SLC_TRY(slci_rows_visit(source, &options, count_block, &sums, &counts));
 */
#ifndef SLC_APP_ROW_BLOCKS_H
#define SLC_APP_ROW_BLOCKS_H

#include <stdint.h>

#include "core/pool.h"
#include "io/vis.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How much of a row is read. */
typedef enum slci_row_fields { SLCI_ROWS_UVW, SLCI_ROWS_WEIGHT, SLCI_ROWS_ALL } slci_row_fields;

/* Buffers for one block of rows. */
typedef struct slci_row_block {
    int64_t n_rows; /* room */
    int64_t n_channels;
    double *uvw; /* [n_rows, 3] metres */
    /* Of each polarisation that is imaged. */
    float *vis[SLC_VIS_MOST_IMAGED];    /* [n_rows, n_channels, 2]; NULL: not wanted */
    float *weight[SLC_VIS_MOST_IMAGED]; /* [n_rows, n_channels]; NULL: not wanted */
} slci_row_block;

/* Room for `n_rows` rows, at least one and no more than the set has. The caller destroys the block,
 * which takes a struct of zeros too. SLC_ERROR_MEMORY. */
SLC_MUST_USE slc_status slci_row_block_create(const slc_vis_meta *meta, slci_row_fields fields,
                                              int64_t n_rows, slci_row_block *out);
/* What it takes. */
int64_t slci_row_block_bytes(const slc_vis_meta *meta, slci_row_fields fields, int64_t n_rows);
void slci_row_block_destroy(slci_row_block *block);

/* What happens with the first `n_rows` rows of each block, which is lent for the call. */
typedef void (*slci_row_visitor)(void *context, const slci_row_block *block, int64_t n_rows,
                                 const slc_vis_meta *meta);

typedef struct slci_rows_options {
    slci_row_fields fields;
    int64_t room_bytes;         /* of a block; a single row may take more */
    slc_pool *pool;             /* whose threads read; NULL: the calling thread does */
    const volatile int *cancel; /* not 0: stop with SLC_ERROR_INTERRUPTED; may be NULL */
    void (*progress)(void *context, int64_t done_rows, int64_t n_rows); /* may be NULL */
    void *progress_context;
} slci_rows_options;

/* What visiting takes for rows, with so many room_bytes. */
int64_t slci_rows_bytes(const slc_vis_meta *meta, slci_row_fields fields, int64_t room_bytes);

/* Where the fields of a source lie from row `at` of the block on, for slc_vis_read_counted. */
void slci_row_block_place(const slci_row_block *block, int64_t at, void *dst[SLC_MAX_FIELDS]);

/* Reads all rows and adds to `counts` [n_imaged], to which SLCI_ROWS_UVW adds nothing.
 * SLC_ERROR_MEMORY, SLC_ERROR_INTERRUPTED, and whatever the source refuses. */
SLC_MUST_USE slc_status slci_rows_visit(slc_source *source, const slci_rows_options *options,
                                        slci_row_visitor visit, void *context,
                                        slc_vis_counts *counts);

#ifdef __cplusplus
}
#endif
#endif
