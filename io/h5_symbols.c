/* By the file format's specification (sections III.A.1, III.B to III.D), L and O being the bytes of
 * lengths and of addresses:
 *
 *     node        TREE │ kind (1) │ level (1) │ n children (2) │ neighbours (2 O) │ key, child (O),
 *                 key, …
 *     leaf        SNOD │ 1 │ 0 │ n links (2) │ links, each: name's place in the heap (L), address (O),
 *                 kind of what is kept here (4) │ 0 (4) │ that (16)
 *     heap        HEAP │ 0 │ 0 (3) │ bytes (L) │ first free part (L) │ address (O)
 *     free part   next free part (L) │ bytes (L)
 *
 * Keys are places in the heap, or, of chunks, bytes (4), mask (4), and the first element's place (8
 * each). */
#include "io/h5_symbols.h"

#include <string.h>

#include "core/checked.h"

enum { KIND_GROUP = 0, KIND_CHUNKS = 1 };

/* The first free part, where there is none. */
#define NO_FREE 1

#define LEAF_HEAD_BYTES 8

typedef struct tree1 {
    slci_h5_blocks *blocks;
    int kind;
    int64_t key_bytes, head_bytes;
    int64_t most;      /* children of a node */
    int64_t names_end; /* places of names are below */
} tree1;

static int64_t node_bytes(const tree1 *tree, int64_t n) {
    const int64_t address_bytes = (int64_t)tree->blocks->raw->address_bytes;
    return tree->head_bytes + n * (tree->key_bytes + address_bytes) + tree->key_bytes;
}

static tree1 make_tree(slci_h5_blocks *blocks, int kind, int64_t key_bytes) {
    tree1 tree = {.blocks = blocks, .kind = kind, .key_bytes = key_bytes};
    tree.head_bytes = 8 + 2 * (int64_t)blocks->raw->address_bytes;
    tree.most = kind == KIND_GROUP ? blocks->raw->n_children : blocks->raw->n_chunks;
    return tree;
}

static bool has_name(const tree1 *tree, const unsigned char *place) {
    return slci_h5_raw_number(place, tree->blocks->raw->length_bytes) < tree->names_end;
}

/* A link by name has what it leads to among the names too. */
static bool is_link(const tree1 *tree, const unsigned char *link) {
    enum { BY_NAME = 2 };
    const slci_h5_raw *raw = tree->blocks->raw;
    const unsigned char *kept = link + raw->length_bytes + raw->address_bytes;
    return has_name(tree, link) && (slci_h5_raw_number(kept, 4) != BY_NAME ||
                                    slci_h5_raw_number(kept + 8, 4) < tree->names_end);
}

static const char no_name[] = "the place of a name is past the end of the names";

static bool look_at_leaf(const tree1 *tree, const slci_h5_block *leaf) {
    slci_h5_blocks *blocks = tree->blocks;
    const int64_t link_bytes =
        (int64_t)(blocks->raw->length_bytes + blocks->raw->address_bytes) + 4 + 4 + 16;
    if (!slci_h5_blocks_read(blocks, leaf->address, LEAF_HEAD_BYTES, "SNOD")) {
        return false;
    }
    const int64_t n = slci_h5_raw_number(blocks->data + 6, 2);
    if (n > blocks->raw->n_symbols) {
        return slci_h5_blocks_fail(blocks, leaf->address, "more links than one has room for");
    }
    if (!slci_h5_blocks_read(blocks, leaf->address, LEAF_HEAD_BYTES + n * link_bytes, "SNOD")) {
        return false;
    }
    for (int64_t k = 0; k < n; k++) {
        if (!is_link(tree, blocks->data + LEAF_HEAD_BYTES + k * link_bytes)) {
            return slci_h5_blocks_fail(blocks, leaf->address, no_name);
        }
    }
    return true;
}

/* Adds the nodes below, which are one level lower; below the lowest are a group's leaves. */
static bool add_children(const tree1 *tree, const slci_h5_block *node, int level, int64_t n) {
    slci_h5_blocks *blocks = tree->blocks;
    const size_t address_bytes = blocks->raw->address_bytes;
    const bool is_lowest = level == 0;
    if (n == 0 || (is_lowest && tree->kind == KIND_CHUNKS)) {
        return true;
    }
    if (!slci_h5_blocks_read(blocks, node->address, node_bytes(tree, n), "TREE")) {
        return false;
    }
    for (int64_t k = 0; k <= n; k++) {
        const unsigned char *key =
            blocks->data + tree->head_bytes + k * (tree->key_bytes + (int64_t)address_bytes);
        if (tree->kind == KIND_GROUP && !has_name(tree, key)) {
            return slci_h5_blocks_fail(blocks, node->address, no_name);
        }
        const slci_h5_block child = {.address = k < n ? slci_h5_raw_number(key + tree->key_bytes,
                                                                           address_bytes)
                                                      : 0,
                                     .bytes = is_lowest ? LEAF_HEAD_BYTES : node_bytes(tree, 0),
                                     .level = level - 1};
        if (k < n && !slci_h5_blocks_add(blocks, &child)) {
            return false;
        }
    }
    return true;
}

/* `level`: the one it must have; negative: any. */
static bool look_at_node(const tree1 *tree, const slci_h5_block *node, int level) {
    slci_h5_blocks *blocks = tree->blocks;
    if (!slci_h5_blocks_read(blocks, node->address, tree->head_bytes, "TREE")) {
        return false;
    }
    const int found = blocks->data[5];
    const int64_t n = slci_h5_raw_number(blocks->data + 6, 2);
    if (blocks->data[4] != tree->kind) {
        return slci_h5_blocks_fail(blocks, node->address, "a node of another kind of tree");
    }
    if (level >= 0 && found != level) {
        return slci_h5_blocks_fail(blocks, node->address, "a node of another level of the tree");
    }
    if (n > tree->most) {
        return slci_h5_blocks_fail(blocks, node->address, "more children than one has room for");
    }
    return add_children(tree, node, found, n);
}

static bool look_at_tree(const tree1 *tree, int64_t address) {
    slci_h5_blocks *blocks = tree->blocks;
    const slci_h5_block root = {.address = address, .bytes = node_bytes(tree, 0)};
    slci_h5_blocks_clear(blocks);
    bool is_sound = slci_h5_blocks_add(blocks, &root);
    for (int64_t k = 0; k < blocks->n && is_sound; k++) {
        const slci_h5_block block = blocks->list[k]; /* the list moves when it grows */
        is_sound = k > 0 && block.level < 0 ? look_at_leaf(tree, &block)
                                            : look_at_node(tree, &block, k > 0 ? block.level : -1);
    }
    return is_sound && slci_h5_blocks_are_apart(blocks);
}

bool slci_h5_chunk_tree_check(slci_h5_blocks *blocks, int64_t tree, int rank) {
    const tree1 chunks = make_tree(blocks, KIND_CHUNKS, 8 + 8 * (int64_t)rank);
    return look_at_tree(&chunks, tree);
}

/* ---- heaps ------------------------------------------------------------------------------------ */

/* A list that HDF5 reads with the heap. */
static bool look_at_free(slci_h5_blocks *blocks, int64_t address, int64_t first, int64_t n_bytes) {
    const size_t length_bytes = blocks->raw->length_bytes;
    const int64_t part_bytes = 2 * (int64_t)length_bytes;
    int64_t left = n_bytes; /* of all parts together */
    while (first != NO_FREE) {
        if (first > n_bytes - part_bytes || left < part_bytes) {
            return slci_h5_blocks_fail(blocks, address, "the list of free parts leads nowhere");
        }
        const unsigned char *part = blocks->data + first;
        const int64_t bytes = slci_h5_raw_number(part + length_bytes, length_bytes);
        if (bytes > n_bytes - first) {
            return slci_h5_blocks_fail(blocks, address, "a free part is larger than the whole");
        }
        left -= slc_max_i64(bytes, part_bytes);
        first = slci_h5_raw_number(part, length_bytes);
    }
    return true;
}

/* Where the last name ends: HDF5 reads each up to its end, wherever that is. */
static bool look_at_heap(slci_h5_blocks *blocks, int64_t address, int64_t *names_end) {
    const size_t length_bytes = blocks->raw->length_bytes;
    const size_t n = 8 + 2 * length_bytes + blocks->raw->address_bytes;
    *names_end = 0;
    if (!slci_h5_blocks_read(blocks, address, (int64_t)n, "HEAP")) {
        return false;
    }
    const int64_t bytes = slci_h5_raw_number(blocks->data + 8, length_bytes);
    const int64_t first_free = slci_h5_raw_number(blocks->data + 8 + length_bytes, length_bytes);
    const int64_t data =
        slci_h5_raw_number(blocks->data + 8 + 2 * length_bytes, blocks->raw->address_bytes);
    if (bytes == 0) {
        return true;
    }
    if (!slci_h5_blocks_get(blocks, data, bytes) ||
        !look_at_free(blocks, address, first_free, bytes)) {
        return false;
    }
    *names_end = bytes;
    while (*names_end > 0 && blocks->data[*names_end - 1] != '\0') {
        --*names_end;
    }
    return true;
}

bool slci_h5_symbols_check(slci_h5_blocks *blocks, int64_t tree, int64_t heap) {
    tree1 links = make_tree(blocks, KIND_GROUP, (int64_t)blocks->raw->length_bytes);
    return look_at_heap(blocks, heap, &links.names_end) && look_at_tree(&links, tree);
}
