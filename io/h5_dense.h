/* The structures that hold many links, or many attributes, of an object of the newer form: a fractal
 * heap with what they are, and trees of version 2 that find them. All have checksums, but HDF5 1.10
 * takes sizes from a damaged header before it looks at its own. Internal to io/h5_*.c.
 *
 *     is_sound = slci_h5_fractal_heap_check(&blocks, heap) && slci_h5_tree2_check(&blocks, names);
 */
#ifndef SLC_IO_H5_DENSE_H
#define SLC_IO_H5_DENSE_H

#include <stdbool.h>
#include <stdint.h>

#include "io/h5_blocks.h"

/* All blocks, from the header at an address on. False where one is not what it should be, in
 * blocks->why, or for want of memory. */
bool slci_h5_fractal_heap_check(slci_h5_blocks *blocks, int64_t address);
bool slci_h5_tree2_check(slci_h5_blocks *blocks, int64_t address);

/* The tables of parts of headers that objects share, n of them in one block: their heaps and trees. */
bool slci_h5_shared_tables_check(slci_h5_blocks *blocks, int64_t address, int n);

#endif
