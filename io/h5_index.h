/* Where the chunks of a dataset lie in its file: one entry for each place of the grid of chunks, in C
 * order, so that a lookup is arithmetic. HDF5 1.10 has no call that lists them in less than a time
 * that grows with the square of their number; io/h5_index_driver.c has another way, and
 * io/h5_index_iterate.c uses the call that later versions have.
 *
 *     SLC_TRY(slci_h5_index_create(&request, &index));
 *     const int64_t at = slci_h5_index_find(index, coordinate);    // index->bytes[at] 0: not stored
 */
#ifndef SLC_IO_H5_INDEX_H
#define SLC_IO_H5_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "core/box.h"
#include "core/status.h"
#include "io/h5_file.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A table of more chunks is not made: it would take a gibibyte, mostly of chunks that are not there. */
#define SLCI_H5_MOST_CHUNKS ((int64_t)1 << 26)

typedef struct slci_h5_index {
    int rank;
    int64_t grid[SLC_MAX_RANK]; /* chunks along each dimension */
    int64_t n_chunks;           /* of the grid */
    int64_t n_stored;
    int64_t stored_bytes; /* of all of them */
    uint64_t *offset;     /* [n_chunks]: in the file, from its first byte */
    uint32_t *bytes;      /* [n_chunks]: stored ones; 0: the chunk is not stored */
    uint32_t *mask;       /* [n_chunks]: bit k: filter k was skipped */
    int64_t max_bytes;
    bool is_ascending; /* the stored chunks lie in the file in the order of the grid */
} slci_h5_index;

/* All lent for the call. */
typedef struct slci_h5_index_request {
    const char *path;   /* of the file */
    const char *name;   /* of the dataset in it */
    slci_h5_id dataset; /* open */
    int descriptor;     /* of the file, open for reading */
    int64_t file_bytes; /* chunks that reach past its end are refused */
    int rank;
    int64_t shape[SLC_MAX_RANK], chunk[SLC_MAX_RANK];
} slci_h5_index_request;

/* With the lock of io/h5_file.h held. SLC_ERROR_UNSUPPORTED with a clause: why the chunks cannot be
 * found; SLC_ERROR_INPUT where the file cannot be read or its index is damaged; SLC_ERROR_MEMORY.
 * The caller destroys it. */
SLC_MUST_USE slc_status slci_h5_index_create(const slci_h5_index_request *request,
                                             slci_h5_index **out);
void slci_h5_index_destroy(slci_h5_index *index); /* takes NULL */

/* The chunks of a grid; false where their number does not fit int64_t. */
bool slci_h5_index_places(int rank, const int64_t *shape, const int64_t *chunk, int64_t *out);

/* Bytes of memory that the index of so many chunks takes; INT64_MAX where that has no end. */
int64_t slci_h5_index_bytes(int rank, const int64_t *shape, const int64_t *chunk);

/* The entry of the chunk at place `at` [rank] of the grid. */
int64_t slci_h5_index_find(const slci_h5_index *index, const int64_t *at);

/* The other way: the place [rank] of entry `k`. */
void slci_h5_index_place(const slci_h5_index *index, int64_t k, int64_t *at);

/* Internal to io/h5_index*.c: fills in the entries of the stored chunks, the others are zero, with
 * the lock held. n_named: how many HDF5's own index names. */
SLC_MUST_USE slc_status slci_h5_index_fill(const slci_h5_index_request *request,
                                           slci_h5_index *index, int64_t *n_named);

/* Likewise: has HDF5 count the chunks that its index names. SLC_ERROR_INPUT where it cannot. */
SLC_MUST_USE slc_status slci_h5_index_count(const slci_h5_index_request *request,
                                            slci_h5_id dataset, int64_t *out);

/* Likewise: takes all entries out again. */
void slci_h5_index_clear(slci_h5_index *index);

/* Likewise: enters one chunk, SLC_ERROR_INPUT where it cannot be right. HDF5 is not asked for what it
 * makes of such a chunk: it may read past its own memory. */
typedef struct slci_h5_index_entry {
    uint64_t offset, bytes;
    uint32_t mask;
} slci_h5_index_entry;
SLC_MUST_USE slc_status slci_h5_index_enter(const slci_h5_index_request *request,
                                            slci_h5_index *index, int64_t at,
                                            const slci_h5_index_entry *entry);

#ifdef __cplusplus
}
#endif
#endif
