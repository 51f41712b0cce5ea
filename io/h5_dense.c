/* By the file format's specification (sections III.A.2, III.G and III.H), L and O being the bytes
 * of lengths and of addresses:
 *
 *     tree        BTHD │ 0 │ kind (1) │ bytes of a node (4), of a record (2) │ depth (2) │ 2 bytes │
 *                 root (O) │ its records (2) │ all records (L) │ sum (4)
 *     inner node  BTIN │ 0 │ kind │ records │ children, one more, each: address (O), its records, and
 *                 above the lowest but one all below it │ sum
 *     leaf        BTLF │ 0 │ kind │ records │ sum
 *
 *     heap        FRHP │ 0 │ bytes of an id (2), of filters (2) │ flags (1) │ … │ tree of huge
 *                 objects │ … │ width (2) │ first, largest block (L) │ bits of an offset (2) │ 2 │
 *                 root (O) │ rows (2) │ with filters: bytes of the root (L), mask (4), they │ sum
 *     direct      FHDB │ 0 │ heap (O) │ offset │ with flag 2: sum, of zeros in its place │ objects
 *     indirect    FHIB │ 0 │ heap (O) │ offset │ children, a row after the other │ sum
 *
 *     tables      SMTB │ for each: 0 │ kind (1) │ 12 bytes │ list or tree (O) │ heap (O) │ sum
 *
 * Blocks of a row are of one size, that of the first two rows the first block's, twice as large in each
 * row after; those of rows past the largest direct block are indirect ones. */
#include "io/h5_dense.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/checked.h"

/* Signature, version, and kind or filler. */
#define HEAD_BYTES 6

static const char impossible[] = "sizes that none can have";

/* ---- trees ------------------------------------------------------------------------------------ */

/* More levels than any tree has: each has at least twice as many records as the one above it. */
#define MOST_LEVELS 64

typedef struct tree2 {
    slci_h5_blocks *blocks;
    int kind;
    int64_t node_bytes, record_bytes;
    int depth;
    int64_t most[MOST_LEVELS];          /* records of a node */
    size_t all_bytes[MOST_LEVELS];      /* of the number of all below one; 0 for leaves */
    size_t number_bytes;                /* of the number of records of a node */
    int64_t pointer_bytes[MOST_LEVELS]; /* of what leads from a node to one below it */
} tree2;

/* Bytes of a number that may be so large. */
static size_t bytes_of(uint64_t largest) {
    size_t n = 1;
    while (n < 8 && largest >> 8 * n != 0) {
        n++;
    }
    return n;
}

/* What nodes of each level can hold. */
static bool measure(tree2 *tree) {
    const int64_t room = tree->node_bytes - HEAD_BYTES - SLCI_H5_SUM_BYTES;
    uint64_t all = 0;
    for (int u = 0; u <= tree->depth; u++) {
        tree->pointer_bytes[u] = u == 0 ? 0
                                        : (int64_t)(tree->blocks->raw->address_bytes +
                                                    tree->number_bytes + tree->all_bytes[u - 1]);
        tree->most[u] =
            (room - tree->pointer_bytes[u]) / (tree->record_bytes + tree->pointer_bytes[u]);
        if (room <= tree->pointer_bytes[u] || tree->most[u] < 1) {
            return false;
        }
        const uint64_t most = (uint64_t)tree->most[u];
        if (u == 0) {
            all = most;
            tree->number_bytes = bytes_of(most);
        } else if (__builtin_mul_overflow(all, most + 1, &all) ||
                   __builtin_add_overflow(all, most, &all)) {
            return false;
        } else {
            tree->all_bytes[u] = bytes_of(all);
        }
    }
    return true;
}

static bool read_tree(tree2 *tree, int64_t address, const slci_h5_tree2_form *form) {
    const size_t address_bytes = tree->blocks->raw->address_bytes;
    const size_t n = 4 + 1 + 1 + 4 + 2 + 2 + 2 + address_bytes + 2 +
                     tree->blocks->raw->length_bytes + SLCI_H5_SUM_BYTES;
    if (!slci_h5_blocks_read(tree->blocks, address, (int64_t)n, "BTHD") ||
        !slci_h5_blocks_sum(tree->blocks, address, (int64_t)n)) {
        return false;
    }
    const unsigned char *data = tree->blocks->data;
    tree->kind = data[5];
    tree->node_bytes = slci_h5_raw_number(data + 6, 4);
    tree->record_bytes = slci_h5_raw_number(data + 10, 2);
    tree->depth = (int)slci_h5_raw_number(data + 12, 2);
    if (tree->kind != form->kind || tree->record_bytes != form->record_bytes) {
        char words[SLCI_H5_BLOCKS_WHY_BYTES / 2];
        (void)snprintf(words, sizeof words,
                       "a tree of kind %d with records of %" PRId64 " bytes, expected kind %d with "
                       "%" PRId64,
                       tree->kind, tree->record_bytes, form->kind, form->record_bytes);
        return slci_h5_blocks_fail(tree->blocks, address, words);
    }
    if (data[4] != 0 || tree->record_bytes < 1 || tree->depth >= MOST_LEVELS || !measure(tree)) {
        return slci_h5_blocks_fail(tree->blocks, address, impossible);
    }
    const slci_h5_block root = {.address = slci_h5_blocks_address(tree->blocks, data + 16),
                                .bytes = tree->node_bytes,
                                .n = slci_h5_raw_number(data + 16 + address_bytes, 2),
                                .level = tree->depth};
    return root.address < 0 || slci_h5_blocks_add(tree->blocks, &root);
}

static bool look_at_node(const tree2 *tree, const slci_h5_block *node) {
    slci_h5_blocks *blocks = tree->blocks;
    const size_t address_bytes = blocks->raw->address_bytes;
    const int64_t pointer = tree->pointer_bytes[node->level];
    const int64_t records_end = HEAD_BYTES + node->n * tree->record_bytes;
    const int64_t n =
        records_end + (node->level > 0 ? (node->n + 1) * pointer : 0) + SLCI_H5_SUM_BYTES;
    if (node->n > tree->most[node->level]) {
        return slci_h5_blocks_fail(blocks, node->address, "more records than one has room for");
    }
    if (!slci_h5_blocks_read(blocks, node->address, n, node->level > 0 ? "BTIN" : "BTLF") ||
        !slci_h5_blocks_sum(blocks, node->address, n)) {
        return false;
    }
    if (blocks->data[4] != 0 || blocks->data[5] != tree->kind) {
        return slci_h5_blocks_fail(blocks, node->address, "a node of another kind of tree");
    }
    for (int64_t k = 0; node->level > 0 && k <= node->n; k++) {
        const unsigned char *to = blocks->data + records_end + k * pointer;
        const slci_h5_block child = {.address = slci_h5_raw_number(to, address_bytes),
                                     .bytes = tree->node_bytes,
                                     .n =
                                         slci_h5_raw_number(to + address_bytes, tree->number_bytes),
                                     .level = node->level - 1};
        if (!slci_h5_blocks_add(blocks, &child)) {
            return false;
        }
    }
    return true;
}

bool slci_h5_tree2_check(slci_h5_blocks *blocks, int64_t address, const slci_h5_tree2_form *form) {
    tree2 tree = {.blocks = blocks};
    slci_h5_blocks_clear(blocks);
    bool is_sound = read_tree(&tree, address, form);
    for (int64_t k = 0; k < blocks->n && is_sound; k++) {
        const slci_h5_block node = blocks->list[k]; /* the list moves when it grows */
        is_sound = look_at_node(&tree, &node);
    }
    return is_sound && slci_h5_blocks_are_apart(blocks);
}

/* ---- heaps ------------------------------------------------------------------------------------ */

/* HDF5's own heaps of links and attributes have 32 and 40. */
#define MOST_OFFSET_BITS 62

typedef struct heap2 {
    slci_h5_blocks *blocks;
    int64_t address;
    bool is_filtered, has_sums;
    int64_t id_bytes; /* of what stands for an object */
    int64_t width;
    int first_bits, most_bits,
        offset_bits; /* sizes of direct blocks, and of all, are powers of 2 */
    size_t offset_bytes;
} heap2;

/* log2 of a power of 2; -1 of anything else. */
static int bits_of(int64_t size) {
    int n = 0;
    while (n < 62 && INT64_C(1) << n < size) {
        n++;
    }
    return INT64_C(1) << n == size ? n : -1;
}

static int row_bits(const heap2 *heap, int row) {
    return heap->first_bits + (row > 1 ? row - 1 : 0);
}

/* Rows of direct blocks. */
static int direct_rows(const heap2 *heap) {
    return heap->most_bits - heap->first_bits + 2;
}

static int64_t entry_bytes(const heap2 *heap, int row) {
    const bool is_direct = row < direct_rows(heap);
    return (int64_t)heap->blocks->raw->address_bytes +
           (is_direct && heap->is_filtered ? (int64_t)heap->blocks->raw->length_bytes + 4 : 0);
}

static int64_t indirect_bytes(const heap2 *heap, int64_t n_rows) {
    int64_t n =
        5 + (int64_t)(heap->blocks->raw->address_bytes + heap->offset_bytes) + SLCI_H5_SUM_BYTES;
    for (int row = 0; row < n_rows; row++) {
        n += heap->width * entry_bytes(heap, row);
    }
    return n;
}

/* The rows that together are as large as an indirect block of `bits`. */
static int64_t rows_of(const heap2 *heap, int bits) {
    return bits - heap->first_bits - bits_of(heap->width) + 1;
}

/* Direct blocks are of no level here, indirect ones of level 1; n: rows of these. */
static bool add_root(heap2 *heap, int64_t rows, const unsigned char *root) {
    const size_t address_bytes = heap->blocks->raw->address_bytes;
    slci_h5_block block = {.address = slci_h5_blocks_address(heap->blocks, root),
                           .bytes = INT64_C(1) << heap->first_bits};
    if (block.address < 0) {
        return true;
    }
    if (rows > 0) {
        block.level = 1;
        block.n = rows;
        block.bytes = indirect_bytes(heap, rows);
    } else if (heap->is_filtered) {
        block.bytes = slci_h5_raw_number(root + address_bytes + 2, heap->blocks->raw->length_bytes);
    }
    return slci_h5_blocks_add(heap->blocks, &block);
}

/* Where parts of the header are. */
typedef struct heap2_places {
    size_t huge, width, first, most, bits, root, rows, filtered, end;
} heap2_places;

static heap2_places places_in(const slci_h5_raw *raw) {
    const size_t lengths = raw->length_bytes;
    const size_t addresses = raw->address_bytes;
    heap2_places at = {.huge = 14 + lengths, .width = 14 + 10 * lengths + 2 * addresses};
    at.first = at.width + 2;
    at.most = at.first + lengths;
    at.bits = at.most + lengths;
    at.root = at.bits + 4;
    at.rows = at.root + addresses;
    at.filtered = at.rows + 2;
    at.end = at.filtered + SLCI_H5_SUM_BYTES;
    return at;
}

/* The tree of huge objects is looked at by the caller, behind the heap's own blocks. */
static bool read_heap(heap2 *heap, int64_t *huge_tree) {
    slci_h5_blocks *blocks = heap->blocks;
    const heap2_places at = places_in(blocks->raw);
    const size_t lengths = blocks->raw->length_bytes;
    if (!slci_h5_blocks_read(blocks, heap->address, (int64_t)at.end, "FRHP")) {
        return false;
    }
    const int64_t filter_bytes = slci_h5_raw_number(blocks->data + 7, 2);
    heap->is_filtered = filter_bytes > 0;
    const int64_t n =
        (int64_t)at.end + (heap->is_filtered ? (int64_t)lengths + 4 + filter_bytes : 0);
    if (!slci_h5_blocks_read(blocks, heap->address, n, "FRHP") ||
        !slci_h5_blocks_sum(blocks, heap->address, n)) {
        return false;
    }
    const unsigned char *data = blocks->data;
    const int64_t rows = slci_h5_raw_number(data + at.rows, 2);
    heap->has_sums = (data[9] & 2) != 0;
    heap->id_bytes = slci_h5_raw_number(data + 5, 2);
    heap->width = slci_h5_raw_number(data + at.width, 2);
    heap->first_bits = bits_of(slci_h5_raw_number(data + at.first, lengths));
    heap->most_bits = bits_of(slci_h5_raw_number(data + at.most, lengths));
    heap->offset_bits = (int)slci_h5_raw_number(data + at.bits, 2);
    heap->offset_bytes = ((size_t)heap->offset_bits + 7) / 8;
    if (data[4] != 0 || bits_of(heap->width) < 0 || heap->first_bits < 0 || heap->most_bits > 32 ||
        heap->most_bits < heap->first_bits || heap->offset_bits > MOST_OFFSET_BITS ||
        heap->offset_bits < heap->most_bits || rows > rows_of(heap, heap->offset_bits)) {
        return slci_h5_blocks_fail(blocks, heap->address, impossible);
    }
    *huge_tree = slci_h5_blocks_address(blocks, data + at.huge);
    return add_root(heap, rows, data + at.root);
}

/* Both kinds of block say which heap they are of, and what offset in it. */
static bool is_of_heap(const heap2 *heap, const slci_h5_block *block) {
    const size_t address_bytes = heap->blocks->raw->address_bytes;
    const unsigned char *data = heap->blocks->data;
    return data[4] == 0 && slci_h5_raw_number(data + 5, address_bytes) == heap->address &&
           slci_h5_raw_number(data + 5 + address_bytes, heap->offset_bytes) ==
               (int64_t)block->offset;
}

static const char of_another[] = "a block of another heap";

static bool look_at_direct(const heap2 *heap, const slci_h5_block *block) {
    slci_h5_blocks *blocks = heap->blocks;
    const size_t head = 5 + blocks->raw->address_bytes + heap->offset_bytes;
    unsigned char stored[SLCI_H5_SUM_BYTES];
    if (heap->is_filtered) {
        return true; /* what is stored is not what it says once it is decoded */
    }
    if (block->bytes < (int64_t)head + SLCI_H5_SUM_BYTES) {
        return slci_h5_blocks_fail(blocks, block->address, impossible);
    }
    if (!slci_h5_blocks_read(blocks, block->address, block->bytes, "FHDB")) {
        return false;
    }
    if (!is_of_heap(heap, block)) {
        return slci_h5_blocks_fail(blocks, block->address, of_another);
    }
    memcpy(stored, blocks->data + head, SLCI_H5_SUM_BYTES);
    memset(blocks->data + head, 0, SLCI_H5_SUM_BYTES);
    return !heap->has_sums || slci_h5_blocks_is_sum(blocks, block->address, block->bytes, stored);
}

static bool look_at_indirect(const heap2 *heap, const slci_h5_block *block) {
    slci_h5_blocks *blocks = heap->blocks;
    const size_t address_bytes = blocks->raw->address_bytes;
    int64_t at = 5 + (int64_t)(address_bytes + heap->offset_bytes);
    uint64_t offset = block->offset;
    if (!slci_h5_blocks_read(blocks, block->address, block->bytes, "FHIB") ||
        !slci_h5_blocks_sum(blocks, block->address, block->bytes)) {
        return false;
    }
    if (!is_of_heap(heap, block)) {
        return slci_h5_blocks_fail(blocks, block->address, of_another);
    }
    for (int row = 0; row < block->n; row++) {
        const bool is_direct = row < direct_rows(heap);
        const int bits = row_bits(heap, row);
        for (int64_t k = 0; k < heap->width; k++, at += entry_bytes(heap, row)) {
            const unsigned char *to = blocks->data + at;
            slci_h5_block child = {.address = slci_h5_blocks_address(blocks, to),
                                   .bytes = INT64_C(1) << bits,
                                   .offset = offset,
                                   .level = is_direct ? 0 : 1};
            if (!is_direct) {
                child.n = rows_of(heap, bits);
                child.bytes = indirect_bytes(heap, child.n);
            } else if (heap->is_filtered) {
                child.bytes = slci_h5_raw_number(to + address_bytes, blocks->raw->length_bytes);
            }
            if (child.address >= 0 && !slci_h5_blocks_add(blocks, &child)) {
                return false;
            }
            offset += UINT64_C(1) << bits;
        }
    }
    return true;
}

/* An object that is too large for the blocks: address (O) │ bytes (L) │ with filters a mask (4) and
 * the bytes once they are undone (L). Where that is more than an id has room for, beside a byte of
 * flags, the id is a number, and stands in the record too (L). */
static slci_h5_tree2_form huge_form(const heap2 *heap) {
    const int64_t lengths = (int64_t)heap->blocks->raw->length_bytes;
    const int64_t bytes =
        (int64_t)heap->blocks->raw->address_bytes + lengths + (heap->is_filtered ? 4 + lengths : 0);
    return bytes <= heap->id_bytes - 1
               ? (slci_h5_tree2_form){heap->is_filtered ? SLCI_H5_TREE_HUGE_DIRECT_FILTERED
                                                        : SLCI_H5_TREE_HUGE_DIRECT,
                                      bytes}
               : (slci_h5_tree2_form){heap->is_filtered ? SLCI_H5_TREE_HUGE_INDIRECT_FILTERED
                                                        : SLCI_H5_TREE_HUGE_INDIRECT,
                                      bytes + lengths};
}

bool slci_h5_fractal_heap_check(slci_h5_blocks *blocks, int64_t address) {
    heap2 heap = {.blocks = blocks, .address = address};
    int64_t huge_tree = -1;
    slci_h5_blocks_clear(blocks);
    bool is_sound = read_heap(&heap, &huge_tree);
    for (int64_t k = 0; k < blocks->n && is_sound; k++) {
        const slci_h5_block block = blocks->list[k]; /* the list moves when it grows */
        is_sound =
            block.level > 0 ? look_at_indirect(&heap, &block) : look_at_direct(&heap, &block);
    }
    is_sound = is_sound && slci_h5_blocks_are_apart(blocks);
    const slci_h5_tree2_form huge = huge_form(&heap);
    return is_sound && (huge_tree < 0 || slci_h5_tree2_check(blocks, huge_tree, &huge));
}

/* ---- shared parts of headers ------------------------------------------------------------------ */

/* A list of few is left to HDF5. A record is where the part is (1) │ a hash (4) │ of one in the heap:
 * how many share it (4), id (8); of one in a header: four bytes, address. */
static bool look_at_table(slci_h5_blocks *blocks, int kind, int64_t index, int64_t heap) {
    enum { TREE = 1, HEAD = 5, IN_HEAP = 4 + 8, IN_HEADER = 4 };
    const int64_t place_bytes =
        slc_max_i64(IN_HEAP, IN_HEADER + (int64_t)blocks->raw->address_bytes);
    const slci_h5_tree2_form form = {SLCI_H5_TREE_SHARED, HEAD + place_bytes};
    return (heap < 0 || slci_h5_fractal_heap_check(blocks, heap)) &&
           (index < 0 || kind != TREE || slci_h5_tree2_check(blocks, index, &form));
}

bool slci_h5_shared_tables_check(slci_h5_blocks *blocks, int64_t address, int n) {
    enum { MOST_TABLES = 8, HEAD = 4, BEFORE = 14 }; /* as many as HDF5 has */
    const size_t address_bytes = blocks->raw->address_bytes;
    const size_t table_bytes = BEFORE + 2 * address_bytes;
    const int64_t bytes = HEAD + n * (int64_t)table_bytes + SLCI_H5_SUM_BYTES;
    int64_t found[MOST_TABLES][2];
    int kinds[MOST_TABLES];
    if (n > MOST_TABLES) {
        return slci_h5_blocks_fail(blocks, address, "more tables than a file may have");
    }
    if (!slci_h5_blocks_read(blocks, address, bytes, "SMTB") ||
        !slci_h5_blocks_sum(blocks, address, bytes)) {
        return false;
    }
    for (int k = 0; k < n; k++) {
        const unsigned char *table = blocks->data + HEAD + (size_t)k * table_bytes;
        kinds[k] = table[1];
        for (int part = 0; part < 2; part++) {
            found[k][part] =
                slci_h5_blocks_address(blocks, table + BEFORE + (size_t)part * address_bytes);
        }
    }
    bool is_sound = true;
    for (int k = 0; k < n && is_sound; k++) {
        is_sound = look_at_table(blocks, kinds[k], found[k][0], found[k][1]);
    }
    return is_sound;
}
