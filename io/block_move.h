/* Boxes of an array that lies in a file in blocks, each in one piece at a known place: chunks that are
 * not filtered, an array in one piece (which is one block), a temporary file. What is contiguous in
 * both memory and file is moved in one call; the rest by way of a small memory, in the longest runs
 * that the file has.
 *
 *     const slci_blocks blocks = {.layout = layout, .block = chunk, .place = offsets, .move = put,
 *                                 .context = self};
 *     SLC_TRY(slci_blocks_move(&blocks, &box, elements, memory));
 */
#ifndef SLC_IO_BLOCK_MOVE_H
#define SLC_IO_BLOCK_MOVE_H

#include "core/layout.h"
#include "core/status.h"
#include "io/h5_chunk_turn.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Moves n_bytes between memory and the file, from its byte `at` on. */
typedef slc_status (*slci_block_function)(void *context, void *data, int64_t n_bytes, int64_t at);

/* Everything is lent. */
typedef struct slci_blocks {
    slc_layout layout; /* of the array, dense */
    int64_t
        block[SLC_MAX_RANK]; /* at least 1 each; blocks at the array's end are whole all the same */
    const uint64_t
        *place; /* [blocks, C order], the file's byte where each begins; NULL: one behind */
                /* the other */
    int64_t first_place; /* of those; added to every place */
    bool is_read;        /* from the file to memory */
    slci_turn turn;      /* done to elements on their way, in either direction */
    slci_block_function move;
    void *context;
} slci_blocks;

/* The memory that a move needs: 0 where the array is one block and nothing is turned. */
int64_t slci_blocks_memory_bytes(const slci_blocks *blocks);

/* Moves a box, dense at `data` (not written to unless `is_read`). `memory` has
 * slci_blocks_memory_bytes. Threads may move disjoint boxes at once, each with its own memory. The
 * statuses are those of `move`. */
SLC_MUST_USE slc_status slci_blocks_move(const slci_blocks *blocks, const slc_box *box, void *data,
                                         void *memory);

#ifdef __cplusplus
}
#endif
#endif
