/* The structures of the newer form that hold the places of a dataset's chunks where a tree does not: a
 * fixed array, where no dimension can grow, and an extensible one, where one can. All blocks have
 * checksums, but HDF5 1.10 takes sizes and counts from sound ones as they are, and reads entries past
 * the end of an array that has too few. Internal to io/h5_*.c.
 *
 *     const slci_h5_entries entries = {.n = n_chunks, .chunk_bytes = bytes};
 *     is_sound = slci_h5_fixed_array_check(&blocks, address, &entries);
 */
#ifndef SLC_IO_H5_CHUNK_ARRAYS_H
#define SLC_IO_H5_CHUNK_ARRAYS_H

#include <stdbool.h>
#include <stdint.h>

#include "io/h5_blocks.h"

/* What the dataset's header says of the entries, one a chunk. */
typedef struct slci_h5_entries {
    int64_t n;           /* a fixed array has no fewer */
    int64_t chunk_bytes; /* decoded */
    bool are_filtered;   /* and say how many bytes are stored */
} slci_h5_entries;

/* Bytes of an entry, as of a record of a tree but for its place. */
int64_t slci_h5_entry_bytes(const slci_h5_blocks *blocks, const slci_h5_entries *entries);

/* All blocks, from the header at an address on. False where one is not what it should be, in
 * blocks->why, or for want of memory. Where the chunks themselves are is not looked at. */
bool slci_h5_fixed_array_check(slci_h5_blocks *blocks, int64_t address,
                               const slci_h5_entries *entries);
bool slci_h5_extensible_array_check(slci_h5_blocks *blocks, int64_t address,
                                    const slci_h5_entries *entries);

#endif
