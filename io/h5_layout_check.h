/* What the header of a dataset says of where its elements are, gathered from three of its messages, and
 * then whether the index of its chunks, of any kind that HDF5 has, is sound. Internal to io/h5_*.c.
 *
 *     slci_h5_layout layout = {0};
 *     slci_h5_layout_see_space(&layout, space, n_space, length_bytes);
 *     is_sound = slci_h5_layout_see(&layout, &blocks, message, n_message) &&
 *                slci_h5_layout_check(&layout, &blocks);
 */
#ifndef SLC_IO_H5_LAYOUT_CHECK_H
#define SLC_IO_H5_LAYOUT_CHECK_H

#include <hdf5.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/h5_blocks.h"

typedef struct slci_h5_layout {
    int rank;                   /* of the dataset; 0: not known, or without dimensions */
    int64_t most[H5S_MAX_RANK]; /* [rank], what each may grow to; INT64_MAX: no limit */
    bool is_filtered;
    int64_t place; /* address of the elements, or of the index; negative: none */
    bool is_chunked;
    int index;                       /* what kind of index */
    int chunk_rank;                  /* one more, the bytes of an element being the last extent */
    int64_t chunk[H5S_MAX_RANK + 1]; /* [chunk_rank] */
    int64_t chunk_bytes;
    int64_t single_bytes; /* stored of one that needs no index */
} slci_h5_layout;

/* The message of the shape, n bytes. One that HDF5 cannot read leaves the rank unknown. */
void slci_h5_layout_see_space(slci_h5_layout *layout, const unsigned char *space, size_t n,
                              size_t length_bytes);

/* The message of the layout itself, n bytes, at least 8 of them there. False where chunks have an
 * extent of zero, or more bytes than any has. */
bool slci_h5_layout_see(slci_h5_layout *layout, const slci_h5_blocks *blocks,
                        const unsigned char *message, size_t n);

/* All blocks of the index, once all messages were seen. False where one is not what it should be, in
 * blocks->why, or for want of memory. */
bool slci_h5_layout_check(const slci_h5_layout *layout, slci_h5_blocks *blocks);

#endif
