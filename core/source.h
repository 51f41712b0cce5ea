/* Where a job's inputs come from and where its outputs go.
 * A source gives boxes of one or more fields (arrays that are read together because one reader
 * produces them); a sink takes boxes. The engine knows nothing else about files. Implementations
 * embed the base struct as their first member and fill in its table.
 *
 *     void *dst[] = {uvw, NULL, weight};                      // NULL: this field is not wanted
 *     SLC_TRY(slc_source_read(source, &rows, dst));
 */
#ifndef SLC_CORE_SOURCE_H
#define SLC_CORE_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/box.h"
#include "core/layout.h"
#include "core/status.h"

/* C's atomic and C++'s have the same size and alignment, but no common spelling before C++23. */
#ifdef __cplusplus
#include <atomic>
typedef std::atomic<int64_t> slc_counter;
#else
#include <stdatomic.h>
typedef _Atomic int64_t slc_counter;
#endif

#define SLC_MAX_FIELDS 9
#define SLC_IDENTITY_BYTES 256

typedef struct slc_source slc_source;
typedef struct slc_sink slc_sink;

/* What a source has done so far. Written with atomics, read at any time. */
typedef struct slc_source_counters {
    slc_counter chunks_read;
    slc_counter chunks_decoded;
    slc_counter bytes_read; /* stored bytes fetched from files */
    slc_counter read_ns;    /* time inside read(), summed over threads */
} slc_source_counters;

typedef struct slc_source_ops {
    /* Reads `box` into dst[f], dense in C order, for each field f whose dst is not NULL. The box has
     * `shared_rank` dimensions; a field's further dimensions are read whole. Thread-safe on disjoint
     * boxes; starts no threads; may wait on locks of its own library. */
    slc_status (*read)(slc_source *source, const slc_box *box, void *const *dst);
    /* (optional) Part `part` of n_parts of what read() does, into the same dst: they may be read in any
     * order and at once, and together are the box. The source cuts where it reads fastest, between
     * chunks; a part may be empty. */
    slc_status (*read_part)(slc_source *source, const slc_box *box, void *const *dst, int part,
                            int n_parts);
    /* (optional) The first index past the natural unit (chunk) that holds `index` on axis `axis`. */
    int64_t (*next_unit)(slc_source *source, int axis, int64_t index);
    /* (optional) After the last read: that the inputs did not change meanwhile. */
    slc_status (*finish)(slc_source *source);
    void (*destroy)(slc_source *source);
} slc_source_ops;

struct slc_source {
    const slc_source_ops *ops;
    int shared_rank; /* leading dimensions that all fields have in common */
    int n_fields;
    slc_layout fields[SLC_MAX_FIELDS]; /* shape and in-memory dtype of each field, dense */
    bool is_divisible; /* several threads read parts of a box faster than one thread the whole, */
                       /* wherever it is cut */
    char name[SLC_IDENTITY_BYTES];     /* for messages: usually the file's name */
    char identity[SLC_IDENTITY_BYTES]; /* for resuming: names, sizes, times of the inputs */
    slc_source_counters counters;
};

/* A part of what a sink stores, by a number of the sink's own, in bytes that only a sink for the same
 * result understands: a chunk as it is stored, or as much as has come of one. For a journal. */
typedef struct slc_sink_piece {
    int64_t index;      /* 0 or more */
    int64_t n_elements; /* that have come of it; 0: all of them, and the bytes are what is stored */
    int64_t n_bytes;
} slc_sink_piece;

/* Takes a piece with its bytes [n_bytes], lent for the call. From any thread, several at once. */
typedef void (*slc_piece_keep)(void *context, const slc_sink_piece *piece, const void *bytes);

/* Brings the next n_bytes of a piece that was kept. */
typedef slc_status (*slc_piece_read)(void *context, void *out, int64_t n_bytes);

typedef struct slc_sink_ops {
    /* Writes one dense box from host memory. Called from one thread at a time. */
    slc_status (*write)(slc_sink *sink, const slc_box *box, const void *src);
    /* (optional) As a source's: where the unit (chunk) that holds `index` on axis `axis` ends. Boxes
     * that end there need not be put together again. */
    int64_t (*next_unit)(slc_sink *sink, int axis, int64_t index);
    /* (optional, these three or none) A sink that stores another form than it gets has this form kept,
     * so that a run that is resumed need not make it again. From now on every piece goes to `keep` as
     * soon as it is complete; NULL: no more of them, and no thread is in `keep` any longer. */
    slc_status (*keep_pieces)(slc_sink *sink, slc_piece_keep keep, void *context);
    /* When it returns, all that was written has been kept: pieces under way have been waited for, and
     * incomplete ones given that have grown since the last time. */
    slc_status (*flush_pieces)(slc_sink *sink);
    /* Before the first write: takes a piece back. An incomplete one may come again, of which the last
     * counts, or be followed by the complete one; that comes once. */
    slc_status (*put_piece)(slc_sink *sink, const slc_sink_piece *piece, slc_piece_read read,
                            void *context);
    /* (optional) All of a commit but its last step: the result is durable in the file *path (lent),
     * which is to get the final name. */
    slc_status (*prepare)(slc_sink *sink, const char **path);
    /* Makes the result durable under its final name; after it, or a failure, only destroy. */
    slc_status (*commit)(slc_sink *sink);
    /* Gives everything back; without a commit nothing is left under the final name. */
    void (*destroy)(slc_sink *sink);
} slc_sink_ops;

struct slc_sink {
    const slc_sink_ops *ops;
    slc_layout layout; /* shape and dtype of what is written */
    bool is_divisible; /* several threads may write disjoint boxes at once, and are faster so */
    char name[SLC_IDENTITY_BYTES];
};

#ifdef __cplusplus
extern "C" {
#endif

/* The statuses are the implementation's: SLC_ERROR_INPUT for damaged or contradictory data (file,
 * dataset, found, expected), SLC_ERROR_MEMORY. */
SLC_API SLC_MUST_USE slc_status slc_source_read(slc_source *source, const slc_box *box,
                                                void *const *dst);

/* One of the parts that several threads read at once; `dst` is that of the whole box. Of a source that
 * has no parts the first one is all. The statuses are those of slc_source_read. */
SLC_API SLC_MUST_USE slc_status slc_source_read_part(slc_source *source, const slc_box *box,
                                                     void *const *dst, int part, int n_parts);
SLC_API int64_t slc_source_next_unit(slc_source *source, int axis, int64_t index);
SLC_API SLC_MUST_USE slc_status slc_source_finish(slc_source *source);
SLC_API void slc_source_destroy(slc_source *source);

SLC_API SLC_MUST_USE slc_status slc_sink_write(slc_sink *sink, const slc_box *box, const void *src);
SLC_API int64_t slc_sink_next_unit(slc_sink *sink, int axis, int64_t index);

/* Whether the sink has the three functions for pieces; then these call them. SLC_ERROR_INPUT for a
 * piece that is none of this sink's. */
SLC_API bool slc_sink_has_pieces(const slc_sink *sink);
SLC_API SLC_MUST_USE slc_status slc_sink_keep_pieces(slc_sink *sink, slc_piece_keep keep,
                                                     void *context);
SLC_API SLC_MUST_USE slc_status slc_sink_flush_pieces(slc_sink *sink);
SLC_API SLC_MUST_USE slc_status slc_sink_put_piece(slc_sink *sink, const slc_sink_piece *piece,
                                                   slc_piece_read read, void *context);

/* Before the commit, for who has to note what is about to appear: *path is the file under its
 * temporary name, lent; NULL where the sink writes none, or does all of it in its commit. */
SLC_API SLC_MUST_USE slc_status slc_sink_prepare(slc_sink *sink, const char **path);
SLC_API SLC_MUST_USE slc_status slc_sink_commit(slc_sink *sink);
SLC_API void slc_sink_destroy(slc_sink *sink);

/* A source over one dense array in host memory (lent for the source's life), and a sink into one. */
SLC_API SLC_MUST_USE slc_status slc_source_create_memory(const char *name, const slc_layout *layout,
                                                         const void *data, slc_source **out);
SLC_API SLC_MUST_USE slc_status slc_sink_create_memory(const char *name, const slc_layout *layout,
                                                       void *data, slc_sink **out);

#ifdef __cplusplus
}
#endif
#endif
