/* From boxes of an array to encoded chunks in their order: the writing counterpart of a chunked reader,
 * without HDF5. Boxes come in any order and shape; chunks are put together in memory, encoded by the
 * pool's threads, and handed on one at a time in C order, so that what is written does not depend on
 * boxes, threads or memory. What does not fit in memory waits in a nameless file.
 *
 *     SLC_TRY(slci_chunk_sink_create(&options, &sink));
 *     SLC_TRY_GOTO(done, slci_chunk_sink_write(sink, &box, elements));      // as often as needed
 *     SLC_TRY_GOTO(done, slci_chunk_sink_finish(sink));                     // every chunk was put
 */
#ifndef SLC_IO_CHUNK_SINK_H
#define SLC_IO_CHUNK_SINK_H

#include "core/layout.h"
#include "core/pool.h"
#include "core/source.h"
#include "io/chunk_codec.h"
#include "io/h5_chunk_turn.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Takes the encoded chunk number `index` (C order). By one thread at a time, from 0 on, each once;
 * `stored` is lent for the call. */
typedef slc_status (*slci_chunk_put)(void *context, int64_t index, const void *stored,
                                     int64_t n_stored);

/* Everything is lent for the sink's life. */
typedef struct slci_chunk_sink_options {
    const char *path;            /* of the output: for messages, and for the place of the file */
    slc_layout layout;           /* of the array, dense, of rank 1 at least */
    int64_t chunk[SLC_MAX_RANK]; /* at least 1 each */
    slci_chunk_pipeline pipeline;
    slci_turn turn;       /* done to elements before they are encoded */
    slc_pool *pool;       /* NULL: the thread that writes encodes */
    int64_t memory_bytes; /* 0: the usual */
    slci_chunk_put put;
    void *context;
} slci_chunk_sink_options;

/* What has happened, for statistics and tests. */
typedef struct slci_chunk_sink_counts {
    int64_t n_encoded;    /* chunks */
    int64_t n_cut;        /* of these, those that came in more than one box */
    int64_t n_put_away;   /* times that one waited in the file */
    int64_t n_taken_back; /* chunks that another sink had encoded */
    int64_t stored_bytes; /* of all chunks, encoded */
} slci_chunk_sink_counts;

typedef struct slci_chunk_sink slci_chunk_sink;

/* Memory that a sink takes at most, and the threads that encode: all of the pool's, or as many as
 * memory_bytes has room for, one at least. */
int64_t slci_chunk_sink_bytes(const slci_chunk_sink_options *options);
int slci_chunk_sink_encoders(const slci_chunk_sink_options *options);

/* Of a pipeline that slci_chunk_encoder_check has found good. SLC_ERROR_MEMORY. */
SLC_MUST_USE slc_status slci_chunk_sink_create(const slci_chunk_sink_options *options,
                                               slci_chunk_sink **out);

/* Takes a box of elements, dense. By one thread at a time, which is none of the pool's; `src` may be
 * reused when it returns. Each element once. The first failure of any chunk is returned, at the latest
 * by finish: those of `put`, SLC_ERROR_OUTPUT of the file, SLC_ERROR_ARGUMENT for a chunk that was
 * complete already. */
SLC_MUST_USE slc_status slci_chunk_sink_write(slci_chunk_sink *sink, const slc_box *box,
                                              const void *src);

/* The functions of core/source.h for a sink's pieces, which are chunks. Nothing may be written at the
 * same time; what was written before is waited for. Whoever puts has not written yet. The statuses are
 * those of write, and SLC_ERROR_INPUT for a piece that is no chunk of this sink, or comes twice. */
SLC_MUST_USE slc_status slci_chunk_sink_keep(slci_chunk_sink *sink, slc_piece_keep keep,
                                             void *context);
SLC_MUST_USE slc_status slci_chunk_sink_flush(slci_chunk_sink *sink);
SLC_MUST_USE slc_status slci_chunk_sink_put(slci_chunk_sink *sink, const slc_sink_piece *piece,
                                            slc_piece_read read, void *context);

/* After the last box: what no box brought is zero, and every chunk is put. */
SLC_MUST_USE slc_status slci_chunk_sink_finish(slci_chunk_sink *sink);

slci_chunk_sink_counts slci_chunk_sink_get_counts(slci_chunk_sink *sink);

/* Waits for what is being encoded. Takes NULL. */
void slci_chunk_sink_destroy(slci_chunk_sink *sink);

#ifdef __cplusplus
}
#endif
#endif
