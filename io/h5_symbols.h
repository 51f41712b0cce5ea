/* The structures of the older form that hold the links of a group, and the places of the chunks of a
 * dataset: trees of version 1, without checksums. HDF5 1.10 follows one that leads back into itself
 * until its stack ends, and reads names from past the end of their heap. Internal to io/h5_*.c.
 *
 *     is_sound = slci_h5_symbols_check(&blocks, tree, heap);
 */
#ifndef SLC_IO_H5_SYMBOLS_H
#define SLC_IO_H5_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "io/h5_blocks.h"

/* A group's links: the tree, its leaves, the heap with their names. False where something is not
 * what it should be, in blocks->why, or for want of memory. */
bool slci_h5_symbols_check(slci_h5_blocks *blocks, int64_t tree, int64_t heap);

/* The tree of a dataset's chunks, which have `rank` extents there, that of an element's bytes included.
 * Where the chunks themselves are is not looked at. */
bool slci_h5_chunk_tree_check(slci_h5_blocks *blocks, int64_t tree, int rank);

#endif
