/* What of a dataset is stored, whatever shape it says that it has: a damaged one says 2^60 elements,
 * and one with chunks may have few of them. Internal to io/h5_*.c; all with the lock. Where a function
 * is false, HDF5's account of errors says why.
 *
 *     static bool look(void *context, const slci_h5_region *piece) { ... }
 *     is_ok = slci_h5_each_stored(dataset, MOST_ELEMENTS, look, &self);
 */
#ifndef SLC_IO_H5_STORED_H
#define SLC_IO_H5_STORED_H

#include <hdf5.h>
#include <stdbool.h>
#include <stdint.h>

/* A box of elements, of any rank that HDF5 has; of rank 0: the one element. */
typedef struct slci_h5_region {
    int rank;
    hsize_t origin[H5S_MAX_RANK], extent[H5S_MAX_RANK];
} slci_h5_region;

hsize_t slci_h5_region_count(const slci_h5_region *region);

/* Spaces for H5Dread and H5Dwrite: the region in the dataset, dense in memory. The caller closes both,
 * on failure too; negative ones are not open. */
typedef struct slci_h5_spaces {
    hid_t file, memory;
} slci_h5_spaces;
bool slci_h5_region_select(hid_t dataset, const slci_h5_region *region, slci_h5_spaces *out);
void slci_h5_spaces_close(const slci_h5_spaces *spaces);

/* Calls `visit` for pieces of at most `most` elements, together all that are stored; ends where it is
 * false. Elements past the end of the file make it false with a reason of the input's. */
typedef bool slci_h5_visit(void *context, const slci_h5_region *piece);
bool slci_h5_each_stored(hid_t dataset, hsize_t most, slci_h5_visit *visit, void *context);

/* Calls `visit` for each stored chunk, its bytes as they are stored, until it is false. */
typedef struct slci_h5_stored_chunk {
    const hsize_t *origin; /* [rank], in elements */
    hsize_t bytes;
    uint32_t mask;
    bool is_edge; /* reaches past the end of the dataset */
} slci_h5_stored_chunk;
typedef bool slci_h5_visit_chunk(void *context, const slci_h5_stored_chunk *chunk);
bool slci_h5_each_chunk(hid_t dataset, slci_h5_visit_chunk *visit, void *context);

#endif
