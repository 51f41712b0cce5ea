/* The buffers and the decoder of one thread at a time. Internal to io/h5_chunk*.c.
 *
 *     SLC_TRY(slci_chunk_worker_acquire(chunks, &worker));
 *     SLC_TRY_GOTO(done, slci_chunk_worker_decode(worker, place, mask, more_bytes, &runs));
 * done:
 *     slci_chunk_worker_release(worker);
 */
#ifndef SLC_IO_H5_CHUNK_WORKER_H
#define SLC_IO_H5_CHUNK_WORKER_H

#include "io/h5_chunks.h"

#ifdef __cplusplus
extern "C" {
#endif

struct slci_chunk_worker {
    slci_chunk_worker *next;
    slci_h5_chunks *chunks;
    slci_chunk_decoder *decoder; /* NULL: no filters */
    unsigned char *buffer;       /* [buffer_bytes] when it was first needed: stored bytes */
    int64_t buffer_bytes;
    int64_t held_offset, held_bytes; /* what of the file is in it */
    bool has_io_failed;              /* the last failure was one to read */
    unsigned char *scratch;          /* [chunk_bytes] when it was first needed */
};

/* One that no thread has, a new one where there is none; release gives it back, for the next who wants
 * one. Thread-safe, both. SLC_ERROR_MEMORY. */
SLC_MUST_USE slc_status slci_chunk_worker_acquire(slci_h5_chunks *chunks, slci_chunk_worker **out);
void slci_chunk_worker_release(slci_chunk_worker *worker);

/* Frees one that is not among those of the chunks. */
void slci_chunk_worker_destroy(slci_chunk_worker *worker);

/* What one takes at most: its buffers and its decoder. */
int64_t slci_chunk_worker_bytes(const slci_h5_chunks *chunks);

/* The buffer, whose stored bytes are lost. SLC_ERROR_MEMORY. */
SLC_MUST_USE slc_status slci_chunk_worker_buffer(slci_chunk_worker *worker, void **out);

/* Memory for one decoded chunk. SLC_ERROR_MEMORY. */
SLC_MUST_USE slc_status slci_chunk_worker_scratch(slci_chunk_worker *worker, void **out);

/* Fetches the chunk at a place of the index, with `more_bytes` that follow it in the file and will be
 * wanted next, as far as the buffer holds them; decodes and turns it. `mask` is the filters that it
 * skipped. More than one run only where slci_chunk_decodes_runs says so. The failure is a clause. */
SLC_MUST_USE slc_status slci_chunk_worker_decode(slci_chunk_worker *worker, int64_t place,
                                                 uint32_t mask, int64_t more_bytes,
                                                 const slci_chunk_runs *to);

/* Whether the chunk's stored bytes are in the buffer. */
bool slci_chunk_worker_holds(const slci_chunk_worker *worker, int64_t place);

#ifdef __cplusplus
}
#endif
#endif
