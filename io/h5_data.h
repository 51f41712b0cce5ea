/* Datasets of HDF5 files as raw boxes in the file's own element type.
 * Opening checks all that can go wrong later without a word from HDF5: filters that are not there,
 * virtual datasets whose sources are missing, external files, element types. Reading copies bytes;
 * io/vis_element.h makes numbers of them.
 *
 *     SLC_TRY(slci_h5_dataset_open(file, path, "/Data/flags", &flags));
 *     SLC_TRY_GOTO(done, slci_h5_dataset_read(&flags, origin, extent, raw));
 */
#ifndef SLC_IO_H5_DATA_H
#define SLC_IO_H5_DATA_H

#include "core/box.h"
#include "io/h5_chunk_turn.h"
#include "io/h5_codec.h"
#include "io/h5_file.h"
#include "io/vis.h"
#include "io/vis_element.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SLCI_H5_NAME_BYTES 128
#define SLCI_H5_TEXT_BYTES 64
#define SLCI_H5_FILTERS_BYTES 128
#define SLCI_H5_WHY_BYTES 192

struct slci_h5_chunks; /* io/h5_chunks.h */

/* How a dataset is read. */
typedef enum slci_h5_path {
    SLCI_H5_LIBRARY,   /* by HDF5, one thread at a time; the dataset's `why` says why */
    SLCI_H5_CHUNKS,    /* past HDF5, chunk by chunk */
    SLCI_H5_CONTIGUOUS /* likewise, in one piece */
} slci_h5_path;

typedef struct slci_h5_dataset {
    const char *path; /* of the file, lent, for messages */
    char name[SLCI_H5_NAME_BYTES];
    slci_h5_id id, type_id; /* 0: not open */
    slci_element type;
    int type_class; /* HDF5's number, for messages */
    char type_text[SLCI_H5_TEXT_BYTES];
    char filters[SLCI_H5_FILTERS_BYTES];
    bool is_null; /* a dataset without any elements and without a shape */
    bool is_filtered;
    int rank; /* 0: a scalar */
    int64_t shape[SLC_MAX_RANK];
    int64_t chunk[SLC_MAX_RANK];         /* 0: not chunked */
    int64_t codec_bytes[SLCI_H5_CODECS]; /* what each codec must give for a chunk; 0: not known */
    int64_t member_bytes;                /* in an archive that is not HDF5: stored ones */
    struct slci_h5_chunks *chunks;       /* NULL: HDF5 reads; owned */
    slci_turn turn;                      /* from the file's elements to those of type_id */
    char why[SLCI_H5_WHY_BYTES];         /* HDF5 reads, in one clause; "" where it does not */
    int64_t kept_row; /* the last row of chunks that was read, plus 1; 0: none. With the lock */
} slci_h5_dataset;

/* Whether `name` (an absolute path inside the file) is there and what it is. These take the lock. */
typedef enum slci_h5_kind {
    SLCI_H5_ABSENT,
    SLCI_H5_GROUP,
    SLCI_H5_DATASET,
    SLCI_H5_OTHER
} slci_h5_kind;

/* SLC_ERROR_INPUT where a group on the way to it is damaged, SLC_ERROR_MEMORY. */
SLC_MUST_USE slc_status slci_h5_find(slci_h5_id file, const char *path, const char *name,
                                     slci_h5_kind *out);

/* Takes the lock. `path` is kept until the dataset is closed. SLC_ERROR_INPUT: absent, not a dataset,
 * or damaged; SLC_ERROR_UNSUPPORTED: filter, virtual source, rank; SLC_ERROR_MEMORY. `out` is closed
 * with slci_h5_dataset_close, which takes the lock, and a struct of zeros too. */
SLC_MUST_USE slc_status slci_h5_dataset_open(slci_h5_id file, const char *path, const char *name,
                                             slci_h5_dataset *out);
void slci_h5_dataset_close(slci_h5_dataset *dataset);

/* From here on the dataset is read past HDF5 if that is legal (io/h5_chunk_open.c), else `why` says why
 * it is not, as a line of --verbose does. `type_id` and `turn` have been set. While nobody reads. Takes
 * the lock. SLC_ERROR_MEMORY; SLC_ERROR_INPUT where the file cannot be read. */
SLC_MUST_USE slc_status slci_h5_dataset_read_past(slci_h5_dataset *dataset, slc_log *log);

slci_h5_path slci_h5_dataset_path(const slci_h5_dataset *dataset);
const char *slci_h5_path_name(slci_h5_path path); /* "library", "chunks", "contiguous" */

/* Room for decoded chunks that boxes ended in: of filtered datasets only, the others are faster
 * without. While nobody reads. Where HDF5 reads, it opens the dataset anew: `id` is another one then, 0
 * on failure. Takes the lock. SLC_ERROR_MEMORY; SLC_ERROR_INPUT where it cannot be opened again. */
SLC_MUST_USE slc_status slci_h5_dataset_set_cache(slci_h5_id file, slci_h5_dataset *dataset,
                                                  int64_t bytes);

/* Decoded bytes of the chunks that a box with this extent in dimensions 1 and up (origin and extent
 * [rank]) covers in one row of chunks; 0 where the dataset is not filtered. */
int64_t slci_h5_dataset_chunk_row_bytes(const slci_h5_dataset *dataset, const int64_t *origin,
                                        const int64_t *extent);

/* Reads the box into `raw` (dense, C order, elements of type_id: the file's own, if nobody changed it).
 * Thread-safe: takes the lock where HDF5 reads, and none otherwise. SLC_ERROR_INPUT for damaged data:
 * file, dataset, chunk; SLC_ERROR_MEMORY. */
SLC_MUST_USE slc_status slci_h5_dataset_read(const slci_h5_dataset *dataset, const int64_t *origin,
                                             const int64_t *extent, void *raw);

/* The same for one of n_parts parts of a box, which threads share: together they are the box. What the
 * part took is added to a source's counters (NULL: to nothing). */
typedef struct slci_h5_part {
    const int64_t *origin, *extent; /* [rank], of the whole box */
    void *raw;                      /* likewise */
    int part, n_parts;              /* 0 of 1: all of it */
    bool keeps_row;                 /* HDF5's cache may hold the row of chunks read last, decoded */
} slci_h5_part;
SLC_MUST_USE slc_status slci_h5_dataset_read_part(slci_h5_dataset *dataset,
                                                  const slci_h5_part *part,
                                                  slc_source_counters *counters);

/* What reading takes besides the window of slci_h5_dataset_set_cache: once, and for each thread that
 * reads. What HDF5 allocates is not known, and counted as one chunk. */
int64_t slci_h5_dataset_index_bytes(const slci_h5_dataset *dataset);
int64_t slci_h5_dataset_thread_bytes(const slci_h5_dataset *dataset);

/* Frees what the threads took, as far as none is reading now. Thread-safe. */
void slci_h5_dataset_rest(const slci_h5_dataset *dataset);

/* What its elements take in the file. HDF5 goes through all chunks for it, so it is asked only here.
 * Takes the lock. */
int64_t slci_h5_dataset_stored_bytes(const slci_h5_dataset *dataset);

/* For `sluice info`. Takes the lock. */
void slci_h5_dataset_describe(const slci_h5_dataset *dataset, slc_vis_dataset *out);

/* Internal to io/h5_*.c: what an HDF5 type is, and whether a dataset can be decoded. With the lock. */
void slci_h5_type_describe(slci_h5_id type, slci_element *element, int *type_class, char *text,
                           size_t capacity);
SLC_MUST_USE slc_status slci_h5_check_storage(slci_h5_dataset *dataset, slci_h5_id properties);

#ifdef __cplusplus
}
#endif
#endif
