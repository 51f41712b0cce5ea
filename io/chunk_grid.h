/* Where chunks lie in an array: they are numbered in C order. Internal to io.
 *
 *     const slci_chunk_grid grid = slci_chunk_grid_of(&layout, chunk);
 *     const slc_box box = slci_chunk_grid_box(&grid, index);
 */
#ifndef SLC_IO_CHUNK_GRID_H
#define SLC_IO_CHUNK_GRID_H

#include "core/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slci_chunk_grid {
    int rank;
    int64_t shape[SLC_MAX_RANK]; /* of the array */
    int64_t chunk[SLC_MAX_RANK];
    int64_t n_of[SLC_MAX_RANK]; /* chunks in each dimension */
    int64_t n_chunks;           /* the caller knows that it fits int64_t */
} slci_chunk_grid;

/* `chunk` has at least 1 in each dimension. */
slci_chunk_grid slci_chunk_grid_of(const slc_layout *layout, const int64_t *chunk);

/* What of the array is in a chunk. */
slc_box slci_chunk_grid_box(const slci_chunk_grid *grid, int64_t index);

/* The chunks that a box of elements touches, as a box of chunks; and the number of the k-th of these,
 * counted in C order too. */
slc_box slci_chunk_grid_chunks(const slci_chunk_grid *grid, const slc_box *box);
int64_t slci_chunk_grid_index(const slci_chunk_grid *grid, const slc_box *chunks, int64_t k);

#ifdef __cplusplus
}
#endif
#endif
