/* A node, as HDF5's file format specification lays it out (III.A.1, version 1 B-trees, node type 1):
 *
 *     "TREE"  type 1  level 0  number of chunks (2)  two neighbours' addresses
 *     key  address  key  address  …  key
 *
 * A key is the stored bytes (4), the filter mask (4), and the first element of the chunk in each
 * dimension (8 each), one more dimension being that of the bytes of an element, always 0. Nodes of
 * higher levels lead to others, and hold no chunks. */
#include "io/h5_index_nodes.h"

#include <stdlib.h>
#include <string.h>

#define SIGNATURE "TREE"
#define SIGNATURE_BYTES 4
#define HEAD_BYTES 8 /* up to the neighbours */
#define KEY_HEAD_BYTES 8

enum { TYPE_AT = 4, LEVEL_AT = 5, COUNT_AT = 6, TYPE_CHUNKS = 1 };

slc_status slci_h5_index_nodes_init(slci_h5_index_nodes *nodes) {
    nodes->last = -1;
    nodes->ends = calloc((size_t)(nodes->index->n_chunks / 8 + 1), 1);
    return nodes->ends != NULL
               ? SLC_OK
               : SLC_FAIL(SLC_ERROR_MEMORY, "%s: dataset %s: no memory to look its chunks up",
                          nodes->request->path, nodes->request->name);
}

void slci_h5_index_nodes_release(slci_h5_index_nodes *nodes) {
    free(nodes->ends);
    nodes->ends = NULL;
}

/* Numbers in the file have their lowest byte first, as all machines that Sluice runs on. */
static uint64_t number_at(const unsigned char *at, int n_bytes) {
    uint64_t number = 0;
    memcpy(&number, at, (size_t)n_bytes);
    return number;
}

/* The place in the grid of the chunk of a key; -1 where it has none. Like HDF5, which knows no chunk
 * that begins inside of another. */
static int64_t place_of(const slci_h5_index_nodes *nodes, const unsigned char *key) {
    const slci_h5_index_request *request = nodes->request;
    int64_t at[SLC_MAX_RANK];
    for (int d = 0; d < request->rank; d++) {
        const uint64_t element = number_at(key + KEY_HEAD_BYTES + (size_t)8 * (size_t)d, 8);
        const uint64_t number = element / (uint64_t)request->chunk[d];
        if (number >= (uint64_t)nodes->index->grid[d]) {
            return -1;
        }
        at[d] = (int64_t)number;
    }
    return slci_h5_index_find(nodes->index, at);
}

/* Whether the chunk could be entered. The tree is in C order; lookups rely on that. */
static bool enter(slci_h5_index_nodes *nodes, const unsigned char *key, size_t key_bytes) {
    const int64_t place = place_of(nodes, key);
    const uint64_t address = number_at(key + key_bytes, nodes->address_bytes);
    if (place <= nodes->last || address > (uint64_t)nodes->request->file_bytes) {
        return false;
    }
    const slci_h5_index_entry entry = {.bytes = number_at(key, 4),
                                       .mask = (uint32_t)number_at(key + 4, 4),
                                       .offset = nodes->base + address};
    nodes->last = place;
    return slci_h5_index_enter(nodes->request, nodes->index, place, &entry) == SLC_OK;
}

static void mark_end(slci_h5_index_nodes *nodes, int64_t place) {
    nodes->ends[place / 8] |= (uint8_t)(1U << (uint64_t)place % 8);
}

void slci_h5_index_nodes_see(slci_h5_index_nodes *nodes, const void *node, size_t n_bytes) {
    const unsigned char *bytes = node;
    const size_t address_bytes = (size_t)nodes->address_bytes;
    const size_t key_bytes = KEY_HEAD_BYTES + (size_t)8 * (size_t)(nodes->request->rank + 1);
    const size_t head_bytes = HEAD_BYTES + 2 * address_bytes;
    if (n_bytes < head_bytes || memcmp(bytes, SIGNATURE, SIGNATURE_BYTES) != 0 ||
        bytes[TYPE_AT] != TYPE_CHUNKS) {
        nodes->is_odd = true;
        return;
    }
    const size_t n = (size_t)number_at(bytes + COUNT_AT, 2);
    if (bytes[LEVEL_AT] != 0 || n == 0) {
        return;
    }
    if (head_bytes + n * (key_bytes + address_bytes) > n_bytes) {
        nodes->is_odd = true;
    }
    const unsigned char *key = bytes + head_bytes;
    for (size_t k = 0; k < n && !nodes->is_odd; k++) {
        nodes->is_odd = !enter(nodes, key, key_bytes);
        if (!nodes->is_odd && (k == 0 || k == n - 1)) {
            mark_end(nodes, nodes->last);
        }
        key += key_bytes + address_bytes;
    }
}
