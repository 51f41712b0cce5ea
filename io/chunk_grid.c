/* Arithmetic on numbers of chunks. */
#include "io/chunk_grid.h"

#include "core/checked.h"

slci_chunk_grid slci_chunk_grid_of(const slc_layout *layout, const int64_t *chunk) {
    slci_chunk_grid grid = {.rank = layout->rank, .n_chunks = 1};
    for (int d = 0; d < grid.rank; d++) {
        grid.shape[d] = layout->shape[d];
        grid.chunk[d] = chunk[d];
        grid.n_of[d] = slc_ceil_div(grid.shape[d], chunk[d]);
        grid.n_chunks *= grid.n_of[d];
    }
    return grid;
}

slc_box slci_chunk_grid_box(const slci_chunk_grid *grid, int64_t index) {
    slc_box box = {.rank = grid->rank};
    for (int d = box.rank - 1; d >= 0; d--) {
        box.origin[d] = index % grid->n_of[d] * grid->chunk[d];
        box.extent[d] = slc_min_i64(grid->chunk[d], grid->shape[d] - box.origin[d]);
        index /= grid->n_of[d];
    }
    return box;
}

slc_box slci_chunk_grid_chunks(const slci_chunk_grid *grid, const slc_box *box) {
    slc_box chunks = {.rank = box->rank};
    for (int d = 0; d < box->rank; d++) {
        chunks.origin[d] = box->origin[d] / grid->chunk[d];
        chunks.extent[d] =
            slc_ceil_div(box->origin[d] + box->extent[d], grid->chunk[d]) - chunks.origin[d];
    }
    return chunks;
}

int64_t slci_chunk_grid_index(const slci_chunk_grid *grid, const slc_box *chunks, int64_t k) {
    int64_t index = 0;
    int64_t step = 1;
    for (int d = chunks->rank - 1; d >= 0; d--) {
        index += (chunks->origin[d] + k % chunks->extent[d]) * step;
        k /= chunks->extent[d];
        step *= grid->n_of[d];
    }
    return index;
}
