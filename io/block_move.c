/* A box meets each block in a part of it. Of a part of the block, dimensions [n_outer, rank) are one
 * run of the file together: all but the first of them are whole.
 *
 *     block            part of a box        runs (n_outer = 0)     (n_outer = 1)
 *     ┌──────────┐     ┌──────────┐         ┌──────────┐           ┌──────────┐
 *     │          │     ├──────────┤         │ one run  │           │   ┌────┐ │ run
 *     │          │     │          │         │          │           │   ├────┤ │ run
 *     └──────────┘     └──────────┘         └──────────┘           └───┴────┴─┘
 *
 * A run that the caller's memory holds in one piece too is moved from there. Others go through a small
 * memory in pieces: slices of the run along the slowest dimension of which one step fits. */
#include "io/block_move.h"

#include <string.h>

#include "core/checked.h"
#include "core/copy.h"

/* A piece that stays in a core's cache between the copy and the call, and is large enough for the call
 * to cost little. */
#define PIECE_BYTES ((int64_t)128 << 10)

static int64_t block_bytes(const slci_blocks *blocks) {
    int64_t bytes = slc_dtype_bytes(blocks->layout.dtype);
    for (int d = 0; d < blocks->layout.rank; d++) {
        if (!slc_checked_mul(bytes, blocks->block[d], &bytes)) {
            return INT64_MAX;
        }
    }
    return bytes;
}

static bool is_one_block(const slci_blocks *blocks) {
    for (int d = 0; d < blocks->layout.rank; d++) {
        if (blocks->block[d] < blocks->layout.shape[d]) {
            return false;
        }
    }
    return true;
}

int64_t slci_blocks_memory_bytes(const slci_blocks *blocks) {
    const bool is_direct = is_one_block(blocks) && !slci_turn_is_needed(&blocks->turn);
    return is_direct ? 0 : slc_min_i64(block_bytes(blocks), PIECE_BYTES);
}

/* ---- one part of a block ---------------------------------------------------------------------- */

/* The part of a box in one block. */
typedef struct block_part {
    const slci_blocks *blocks;
    int64_t block_at;     /* where the block begins in the file */
    slc_layout block;     /* dense, at 0 */
    slc_box in_block;     /* the part, by the block's elements */
    slc_layout in_memory; /* likewise in the caller's memory, its offset included */
    char *data, *memory;  /* the caller's, and what pieces go through */
    int n_outer;          /* dimensions before the run */
    int split;            /* pieces are slices along this one, n_outer or more, */
    int64_t n_split;      /* of so many steps; runs in one piece: all of them */
    bool is_direct;
} block_part;

/* Runs, and the pieces that they are moved in. */
static void find_pieces(block_part *part) {
    const int rank = part->block.rank;
    const int64_t *extent = part->in_block.extent;
    const int64_t element_bytes = slc_dtype_bytes(part->block.dtype);
    part->n_outer = rank > 0 ? rank - 1 : 0;
    while (part->n_outer > 0 && extent[part->n_outer] == part->block.shape[part->n_outer]) {
        part->n_outer--;
    }
    part->is_direct = !slci_turn_is_needed(&part->blocks->turn);
    int64_t dense_bytes = element_bytes;
    for (int d = rank - 1; d >= part->n_outer; d--) {
        part->is_direct =
            part->is_direct && (extent[d] == 1 || part->in_memory.stride_bytes[d] == dense_bytes);
        dense_bytes *= extent[d];
    }
    part->split = part->n_outer;
    part->n_split = rank > 0 ? extent[part->n_outer] : 1;
    if (part->is_direct || rank == 0) {
        return;
    }
    const int64_t most = slci_blocks_memory_bytes(part->blocks);
    int64_t step_bytes = dense_bytes / extent[part->n_outer];
    while (part->split < rank - 1 && step_bytes > most) {
        part->split++;
        step_bytes /= extent[part->split];
    }
    part->n_split = slc_min_i64(most / step_bytes, extent[part->split]);
}

/* One piece: `piece` is its box in the part. */
static slc_status move_piece(const block_part *part, const slc_box *piece) {
    const slci_blocks *blocks = part->blocks;
    const slc_layout place = slc_layout_slice(&part->in_memory, piece);
    const int64_t bytes = slc_box_count(piece) * slc_dtype_bytes(part->block.dtype);
    int64_t at = part->block_at;
    for (int d = 0; d < piece->rank; d++) {
        at += (part->in_block.origin[d] + piece->origin[d]) * part->block.stride_bytes[d];
    }
    if (part->is_direct) {
        return blocks->move(blocks->context, part->data + place.offset_bytes, bytes, at);
    }
    slc_layout dense;
    SLC_TRY(slc_layout_dense(part->block.dtype, piece->rank, piece->extent, &dense));
    if (blocks->is_read) {
        SLC_TRY(blocks->move(blocks->context, part->memory, bytes, at));
    } else {
        SLC_TRY(slc_copy_host(part->memory, &dense, part->data, &place));
    }
    if (slci_turn_is_needed(&blocks->turn)) {
        slci_turn_elements(&blocks->turn, part->memory, bytes);
    }
    return blocks->is_read ? slc_copy_host(part->data, &place, part->memory, &dense)
                           : blocks->move(blocks->context, part->memory, bytes, at);
}

/* All pieces, in the file's order. */
static slc_status move_pieces(const block_part *part) {
    const int rank = part->block.rank;
    slc_box piece = part->in_block;
    memset(piece.origin, 0, sizeof piece.origin);
    for (int d = 0; d < part->split && d < rank; d++) {
        piece.extent[d] = 1;
    }
    for (;;) {
        if (rank > 0) {
            const int64_t left = part->in_block.extent[part->split] - piece.origin[part->split];
            piece.extent[part->split] = slc_min_i64(part->n_split, left);
        }
        SLC_TRY(move_piece(part, &piece));
        int d = rank > 0 ? part->split : -1;
        while (d >= 0) {
            piece.origin[d] += d == part->split ? part->n_split : 1;
            if (piece.origin[d] < part->in_block.extent[d]) {
                break;
            }
            piece.origin[d--] = 0;
        }
        if (d < 0) {
            return SLC_OK;
        }
    }
}

/* ---- boxes ------------------------------------------------------------------------------------ */

/* The part in the block at `number` [rank] of the grid. */
static slc_status move_part(block_part *part, const slc_box *box, const slc_layout *whole,
                            const int64_t *number) {
    const slci_blocks *blocks = part->blocks;
    slc_box block = {.rank = box->rank};
    int64_t index = 0;
    for (int d = 0; d < box->rank; d++) {
        block.origin[d] = number[d] * blocks->block[d];
        block.extent[d] = blocks->block[d];
        index = index * slc_ceil_div(blocks->layout.shape[d], blocks->block[d]) + number[d];
    }
    slc_box both = slc_box_intersect(&block, box);
    part->block_at =
        blocks->first_place + (blocks->place != NULL ? (int64_t)blocks->place[index]
                                                     : index * slc_layout_bytes(&part->block));
    part->in_block = both;
    for (int d = 0; d < box->rank; d++) {
        part->in_block.origin[d] -= block.origin[d];
        both.origin[d] -= box->origin[d];
    }
    part->in_memory = slc_layout_slice(whole, &both);
    find_pieces(part);
    return move_pieces(part);
}

slc_status slci_blocks_move(const slci_blocks *blocks, const slc_box *box, void *data,
                            void *memory) {
    block_part part = {.blocks = blocks, .data = data, .memory = memory};
    slc_layout whole;
    int64_t first[SLC_MAX_RANK];
    int64_t number[SLC_MAX_RANK];
    if (slc_box_count(box) == 0) {
        return SLC_OK;
    }
    SLC_TRY(slc_layout_dense(blocks->layout.dtype, box->rank, box->extent, &whole));
    SLC_TRY(slc_layout_dense(blocks->layout.dtype, box->rank, blocks->block, &part.block));
    for (int d = 0; d < box->rank; d++) {
        number[d] = first[d] = box->origin[d] / blocks->block[d];
    }
    for (int d = 0; d >= 0;) {
        SLC_TRY(move_part(&part, box, &whole, number));
        d = box->rank - 1;
        while (d >= 0 && ++number[d] * blocks->block[d] >= box->origin[d] + box->extent[d]) {
            number[d] = first[d];
            d--;
        }
    }
    return SLC_OK;
}
