/* By the file format's specification (section IV.A.2.i) the message is, O being the bytes of an
 * address,
 *
 *     before 3   version │ rank │ class │ 0 (5) │ address (O), unless compact │ extents (4 each)
 *     3          3 │ class │ with chunks: rank │ address │ extents (4 each)
 *     4          4 │ class │ with chunks: flags │ rank │ bytes of an extent │ extents │ kind of index │
 *                what it needs │ address
 *
 * and what the kinds of version 4 need is: a single chunk, with flag 2, its bytes (a length's) and mask
 * (4); chunks one behind the other nothing; a fixed array 1 byte, one that grows 5, a tree 6. */
#include "io/h5_layout_check.h"

#include "core/checked.h"
#include "io/h5_chunk_arrays.h"
#include "io/h5_dense.h"
#include "io/h5_symbols.h"

enum { COMPACT, CONTIGUOUS, CHUNKED };
enum { INDEX_OLD_TREE, INDEX_SINGLE, INDEX_IMPLICIT, INDEX_FIXED, INDEX_GROWING, INDEX_TREE };

/* Of a chunk along a dimension, in a tree. */
#define PLACE_BYTES INT64_C(8)

/* HDF5 keeps them in 32 bits. */
#define MOST_CHUNK_BYTES INT64_C(0xFFFFFFFF)

void slci_h5_layout_see_space(slci_h5_layout *layout, const unsigned char *space, size_t n,
                              size_t length_bytes) {
    enum { HAS_LIMITS = 1, OLD_HEAD = 8, HEAD = 4 };
    const size_t head = n > 0 && space[0] == 1 ? OLD_HEAD : HEAD;
    if (n < head || space[1] > H5S_MAX_RANK) {
        return;
    }
    const size_t rank = space[1];
    const bool has_limits = (space[2] & HAS_LIMITS) != 0;
    if (head + (has_limits ? 2 : 1) * rank * length_bytes > n) {
        return;
    }
    const unsigned char *most = space + head + (has_limits ? rank * length_bytes : 0);
    layout->rank = (int)rank;
    for (size_t d = 0; d < rank; d++) {
        const unsigned char *limit = most + d * length_bytes;
        size_t k = 0;
        while (k < length_bytes && limit[k] == 0xFF) {
            k++;
        }
        layout->most[d] = k == length_bytes ? INT64_MAX : slci_h5_raw_number(limit, length_bytes);
    }
}

/* `at`: where the extents stand, extent_bytes each. HDF5 divides by them. */
static bool see_chunk(slci_h5_layout *layout, const unsigned char *message, size_t n, size_t at,
                      size_t extent_bytes) {
    bool is_possible = layout->chunk_rank >= 2 && layout->chunk_rank <= H5S_MAX_RANK + 1 &&
                       extent_bytes >= 1 && extent_bytes <= 8;
    layout->chunk_bytes = 1;
    for (int d = 0; d < layout->chunk_rank && is_possible; d++, at += extent_bytes) {
        is_possible = at + extent_bytes <= n;
        layout->chunk[d] = is_possible ? slci_h5_raw_number(message + at, extent_bytes) : 0;
        is_possible =
            layout->chunk[d] > 0 &&
            slc_checked_mul(layout->chunk_bytes, layout->chunk[d], &layout->chunk_bytes) &&
            layout->chunk_bytes <= MOST_CHUNK_BYTES;
    }
    return is_possible;
}

/* The address at byte `at`; -1 where there is none. */
static int64_t place_at(const slci_h5_blocks *blocks, const unsigned char *message, size_t n,
                        size_t at) {
    return at + blocks->raw->address_bytes > n ? -1 : slci_h5_blocks_address(blocks, message + at);
}

static bool see_new_chunks(slci_h5_layout *layout, const slci_h5_blocks *blocks,
                           const unsigned char *message, size_t n) {
    enum { HEAD = 5, IS_FILTERED = 2, MASK_BYTES = 4 };
    static const size_t needs[] = {
        [INDEX_IMPLICIT] = 0, [INDEX_FIXED] = 1, [INDEX_GROWING] = 5, [INDEX_TREE] = 6};
    const size_t extent_bytes = message[4];
    layout->chunk_rank = message[3];
    if (!see_chunk(layout, message, n, HEAD, extent_bytes)) {
        return false;
    }
    const size_t at = HEAD + (size_t)layout->chunk_rank * extent_bytes;
    layout->index = at < n ? message[at] : INDEX_OLD_TREE;
    if (layout->index == INDEX_SINGLE) {
        const bool has_bytes = (message[2] & IS_FILTERED) != 0;
        const size_t size_bytes = has_bytes ? blocks->raw->length_bytes : 0;
        const bool is_there = at + 1 + size_bytes <= n;
        layout->single_bytes = has_bytes && is_there
                                   ? slci_h5_raw_number(message + at + 1, size_bytes)
                                   : layout->chunk_bytes;
        layout->place =
            place_at(blocks, message, n, at + 1 + size_bytes + (has_bytes ? MASK_BYTES : 0));
    } else if (layout->index > INDEX_SINGLE && layout->index <= INDEX_TREE) {
        layout->place = place_at(blocks, message, n, at + 1 + needs[layout->index]);
    }
    return true; /* HDF5 refuses other kinds */
}

bool slci_h5_layout_see(slci_h5_layout *layout, const slci_h5_blocks *blocks,
                        const unsigned char *message, size_t n) {
    const int version = message[0];
    const int class = message[version < 3 ? 2 : 1];
    const size_t at = version < 3 ? 8 : class == CHUNKED ? 3 : 2;
    layout->place = -1;
    layout->is_chunked = class == CHUNKED;
    if (version > 3 && class == CHUNKED) {
        return see_new_chunks(layout, blocks, message, n);
    }
    if (class == COMPACT || (version > 3 && class != CONTIGUOUS)) {
        return true;
    }
    layout->place = place_at(blocks, message, n, at);
    layout->chunk_rank = message[version < 3 ? 1 : 2];
    return class != CHUNKED || see_chunk(layout, message, n, at + blocks->raw->address_bytes, 4);
}

/* How many chunks there can be; INT64_MAX: no limit. 0 where the shape is not known, which may stand
 * elsewhere. */
static int64_t n_chunks_of(const slci_h5_layout *layout) {
    int64_t n = layout->is_chunked && layout->rank == layout->chunk_rank - 1 ? 1 : 0;
    for (int d = 0; d < layout->rank && n > 0; d++) {
        const bool has_limit = layout->most[d] < INT64_MAX;
        n = has_limit && slc_checked_mul(n, slc_ceil_div(layout->most[d], layout->chunk[d]), &n)
                ? n
                : INT64_MAX;
    }
    return n;
}

/* n bytes from the address on, which hold chunks. */
static bool are_there(const slci_h5_layout *layout, slci_h5_blocks *blocks, int64_t n) {
    const slci_h5_block chunks = {.address = layout->place, .bytes = n};
    slci_h5_blocks_clear(blocks);
    return slci_h5_blocks_add(blocks, &chunks);
}

bool slci_h5_layout_check(const slci_h5_layout *layout, slci_h5_blocks *blocks) {
    const int64_t n_chunks = n_chunks_of(layout);
    const slci_h5_entries entries = {.n = n_chunks,
                                     .chunk_bytes = layout->chunk_bytes,
                                     .are_filtered = layout->is_filtered};
    const slci_h5_tree2_form tree = {layout->is_filtered ? SLCI_H5_TREE_CHUNKS_FILTERED
                                                         : SLCI_H5_TREE_CHUNKS,
                                     slci_h5_entry_bytes(blocks, &entries) +
                                         PLACE_BYTES * (layout->chunk_rank - 1)};
    int64_t all_bytes = 0;
    if (!layout->is_chunked || layout->place < 0) {
        return true;
    }
    if (layout->rank > 0 && layout->rank != layout->chunk_rank - 1) {
        return slci_h5_blocks_fail(blocks, layout->place, "chunks of another rank");
    }
    switch (layout->index) {
    case INDEX_OLD_TREE:
        return slci_h5_chunk_tree_check(blocks, layout->place, layout->chunk_rank);
    case INDEX_SINGLE:
        return are_there(layout, blocks, layout->single_bytes);
    case INDEX_IMPLICIT:
        return slc_checked_mul(n_chunks, layout->chunk_bytes, &all_bytes)
                   ? are_there(layout, blocks, all_bytes)
                   : slci_h5_blocks_fail(blocks, layout->place, "more chunks than any file has");
    case INDEX_FIXED:
        return slci_h5_fixed_array_check(blocks, layout->place, &entries);
    case INDEX_GROWING:
        return slci_h5_extensible_array_check(blocks, layout->place, &entries);
    default:
        return slci_h5_tree2_check(blocks, layout->place, &tree);
    }
}
