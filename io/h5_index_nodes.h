/* Takes the chunks out of the nodes of a B-tree of HDF5's version 1, which indexes the chunks of
 * most files, while HDF5 walks it. That takes a sixth of the time of looking all of them up.
 * Internal to io/h5_index_driver.c.
 *
 *     slci_h5_index_nodes nodes = {.request = &request, .index = index, .address_bytes = 8};
 *     SLC_TRY(slci_h5_index_nodes_init(&nodes));
 *     slci_h5_index_nodes_see(&nodes, node, n_bytes);     // one by one, as HDF5 reads them
 *     slci_h5_index_nodes_release(&nodes);
 */
#ifndef SLC_IO_H5_INDEX_NODES_H
#define SLC_IO_H5_INDEX_NODES_H

#include "io/h5_index.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slci_h5_index_nodes {
    const slci_h5_index_request *request; /* lent */
    slci_h5_index *index;                 /* lent: chunks are entered here */
    int address_bytes;                    /* of an address in the file */
    uint64_t base;                        /* where the file has its address 0 */
    int64_t last;                         /* the place that was entered last; -1: none */
    uint8_t *ends; /* [n_chunks / 8 + 1]: bit k: chunk k is the first or the last of a node */
    bool is_odd;   /* a node was not as expected: what was entered is of no use */
} slci_h5_index_nodes;

/* SLC_ERROR_MEMORY. The caller releases it, whatever comes of it. */
SLC_MUST_USE slc_status slci_h5_index_nodes_init(slci_h5_index_nodes *nodes);
void slci_h5_index_nodes_release(slci_h5_index_nodes *nodes);

/* Enters the chunks of one node. Anything but a node of such a tree, a chunk outside of the grid, one
 * that cannot be right, or one that does not follow the chunk before it in C order makes it odd. */
void slci_h5_index_nodes_see(slci_h5_index_nodes *nodes, const void *node, size_t n_bytes);

/* Whether the chunk of a place is the first or the last one of its node. */
static inline bool slci_h5_index_nodes_is_end(const slci_h5_index_nodes *nodes, int64_t place) {
    return (nodes->ends[place / 8] >> place % 8 & 1) != 0;
}

#ifdef __cplusplus
}
#endif
#endif
