/* The structures that hold many links, or many attributes, of an object of the newer form: a fractal
 * heap with what they are, and trees of version 2 that find them. All have checksums, but HDF5 1.10
 * takes sizes from a damaged header before it looks at its own. Internal to io/h5_*.c.
 *
 *     const slci_h5_tree2_form form = {SLCI_H5_TREE_LINK_NAMES, SLCI_H5_LINK_NAME_BYTES};
 *     is_sound = slci_h5_fractal_heap_check(&blocks, heap) &&
 *                slci_h5_tree2_check(&blocks, names, &form);
 */
#ifndef SLC_IO_H5_DENSE_H
#define SLC_IO_H5_DENSE_H

#include <stdbool.h>
#include <stdint.h>

#include "io/h5_blocks.h"

/* What a tree finds, as its blocks say it, by the file format's specification (section III.A.2). */
enum {
    SLCI_H5_TREE_HUGE_INDIRECT = 1,
    SLCI_H5_TREE_HUGE_INDIRECT_FILTERED,
    SLCI_H5_TREE_HUGE_DIRECT,
    SLCI_H5_TREE_HUGE_DIRECT_FILTERED,
    SLCI_H5_TREE_LINK_NAMES,
    SLCI_H5_TREE_LINK_ORDER,
    SLCI_H5_TREE_SHARED,
    SLCI_H5_TREE_ATTRIBUTE_NAMES,
    SLCI_H5_TREE_ATTRIBUTE_ORDER,
    SLCI_H5_TREE_CHUNKS,
    SLCI_H5_TREE_CHUNKS_FILTERED
};

/* Bytes of a record, of those that have one size in all files. Of links a hash (4) or the number of the
 * link (8), and an id in the heap (7); of attributes id (8), flags (1), number (4), and with names a
 * hash (4). */
enum {
    SLCI_H5_LINK_NAME_BYTES = 11,
    SLCI_H5_LINK_ORDER_BYTES = 15,
    SLCI_H5_ATTRIBUTE_NAME_BYTES = 17,
    SLCI_H5_ATTRIBUTE_ORDER_BYTES = 13
};

/* What a tree must be. HDF5 1.10 takes both from the tree, and one of another kind, or with shorter
 * records, has it read what is not there. */
typedef struct slci_h5_tree2_form {
    int kind;
    int64_t record_bytes;
} slci_h5_tree2_form;

/* All blocks, from the header at an address on. False where one is not what it should be, in
 * blocks->why, or for want of memory. */
bool slci_h5_fractal_heap_check(slci_h5_blocks *blocks, int64_t address);
bool slci_h5_tree2_check(slci_h5_blocks *blocks, int64_t address, const slci_h5_tree2_form *form);

/* The tables of parts of headers that objects share, n of them in one block: their heaps and trees. */
bool slci_h5_shared_tables_check(slci_h5_blocks *blocks, int64_t address, int n);

#endif
