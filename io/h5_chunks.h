/* Reading a dataset past HDF5: where its bytes lie is known, so any number of threads fetch, check and
 * decode them at once, without a lock, straight to where they are wanted.
 *
 *     stored chunk ──pread──▶ buffer of the thread ──decode──▶ destination, where it lies densely
 *                                                    └──▶ window or scratch ──copy──▶ destination
 *     chunk that no filter touched, contiguous data ──preadv──▶ destination
 *
 * io/h5_chunk_open.c says when this is legal; otherwise HDF5 reads, and the reason is kept.
 *
 *     SLC_TRY(slci_h5_chunks_create(&request, &chunks));           // with HDF5's lock
 *     SLC_TRY(slci_h5_chunks_read(chunks, &box, &counts));         // without
 */
#ifndef SLC_IO_H5_CHUNKS_H
#define SLC_IO_H5_CHUNKS_H

#include <pthread.h>

#include "core/source.h"
#include "io/chunk_codec.h"
#include "io/h5_chunk_turn.h"
#include "io/h5_chunk_window.h"
#include "io/h5_index.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What one thread needs to fetch and decode; kept in a list while nobody reads. */
typedef struct slci_chunk_worker slci_chunk_worker;

typedef struct slci_h5_chunks {
    char *path, *name; /* owned copies, for messages */
    int descriptor;    /* -1: not open */
    int rank;
    int64_t shape[SLC_MAX_RANK];
    int64_t chunk[SLC_MAX_RANK]; /* all 0: contiguous */
    int64_t element_bytes, chunk_bytes;
    int64_t offset;       /* of contiguous data */
    slci_h5_index *index; /* NULL: contiguous */
    slci_chunk_pipeline pipeline;
    bool has_raw_edges; /* chunks that reach past the shape are stored without filters */
    slci_turn turn;
    unsigned char *fill;       /* [element_bytes]: of elements that are not stored, turned */
    slci_chunk_window *window; /* NULL: none */
    pthread_mutex_t mutex;     /* of the list */
    slci_chunk_worker *workers;
} slci_h5_chunks;

/* A box and where it goes, dense. Of n_parts that threads share, this is part `part`; one reads all
 * where n_parts is 0. Parts are whole chunks; of contiguous data, about as many elements each. */
typedef struct slci_h5_chunk_box {
    const int64_t *origin, *extent; /* [rank]; no extent is 0 */
    void *dst;
    int part, n_parts;
} slci_h5_chunk_box;

typedef struct slci_h5_chunk_counts {
    int64_t n_chunks, n_decoded, stored_bytes;
    bool has_io_failed; /* a failure was one to read, not one to decode */
} slci_h5_chunk_counts;

/* Thread-safe. SLC_ERROR_INPUT with file, dataset and chunk; SLC_ERROR_MEMORY. Adds to counts. */
SLC_MUST_USE slc_status slci_h5_chunks_read(slci_h5_chunks *chunks, const slci_h5_chunk_box *box,
                                            slci_h5_chunk_counts *counts);

/* Keeps so many bytes of decoded chunks, of filtered datasets only. While nobody reads.
 * SLC_ERROR_MEMORY. */
SLC_MUST_USE slc_status slci_h5_chunks_keep(slci_h5_chunks *chunks, int64_t bytes);

/* Frees what threads that read have left behind for the next ones. Thread-safe. */
void slci_h5_chunks_rest(slci_h5_chunks *chunks);

/* What the index takes, and what each thread that reads takes at most. */
int64_t slci_h5_chunks_index_bytes(const slci_h5_chunks *chunks);
int64_t slci_h5_chunks_thread_bytes(const slci_h5_chunks *chunks);

void slci_h5_chunks_destroy(slci_h5_chunks *chunks); /* takes NULL */

/* io/h5_chunk_open.c: what is asked of HDF5, under its lock. All lent for the call. */
typedef struct slci_h5_chunks_request {
    const char *path, *name;
    slci_h5_id dataset, type; /* open */
    int rank;
    const int64_t *shape, *chunk; /* [rank]; a chunk of zeros: not chunked */
    int64_t element_bytes;        /* as stored */
    slci_turn turn;
} slci_h5_chunks_request;

/* SLC_ERROR_UNSUPPORTED with one clause where only HDF5 can read the dataset; SLC_ERROR_INPUT where the
 * file cannot be read at all; SLC_ERROR_MEMORY. */
SLC_MUST_USE slc_status slci_h5_chunks_create(const slci_h5_chunks_request *request,
                                              slci_h5_chunks **out);

#ifdef __cplusplus
}
#endif
#endif
