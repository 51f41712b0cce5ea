/* Chunks of HDF5 datasets, from the stored bytes to the elements: memory in, memory out, without HDF5.
 * A pipeline is what was done to a chunk when it was written, in that order; a decoder undoes it in one
 * thread, with contexts and scratch memory of its own, so that many threads decode at once and nothing
 * is allocated for a chunk. Whatever the stored bytes are, no byte outside the buffers is touched.
 *
 *     if (slci_chunk_pipeline_check(&pipeline, why, sizeof why)) {
 *         SLC_TRY(slci_chunk_decoder_create(&pipeline, &decoder));
 *         SLC_TRY_GOTO(done, slci_chunk_decode(decoder, mask, stored, n_stored, dst));
 */
#ifndef SLC_IO_CHUNK_CODEC_H
#define SLC_IO_CHUNK_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers of the HDF Group's register of filters. */
enum {
    SLCI_FILTER_DEFLATE = 1,
    SLCI_FILTER_SHUFFLE = 2,
    SLCI_FILTER_FLETCHER32 = 3,
    SLCI_FILTER_SZIP = 4,
    SLCI_FILTER_LZF = 32000,
    SLCI_FILTER_BLOSC = 32001,
    SLCI_FILTER_LZ4 = 32004,
    SLCI_FILTER_BITSHUFFLE = 32008,
    SLCI_FILTER_ZSTD = 32015
};

/* The values of bitshuffle's filter; the first two are its version. */
enum {
    SLCI_BITSHUFFLE_ELEMENT_BYTES = 2,
    SLCI_BITSHUFFLE_BLOCK = 3, /* elements of a block, 0: the default */
    SLCI_BITSHUFFLE_MODE = 4,  /* the compression of the blocks */
    SLCI_BITSHUFFLE_LEVEL = 5  /* of zstd alone */
};
enum { SLCI_BITSHUFFLE_BARE = 0, SLCI_BITSHUFFLE_LZ4 = 2, SLCI_BITSHUFFLE_ZSTD = 3 };

#define SLCI_CHUNK_MAX_FILTERS 8
#define SLCI_CHUNK_FILTER_VALUES 8
#define SLCI_CHUNK_WHY_BYTES 256

/* A chunk of HDF5 is smaller than 4 GiB. */
#define SLCI_CHUNK_MAX_BYTES ((int64_t)UINT32_MAX)

typedef struct slci_chunk_filter {
    int id;
    int n_values; /* at most SLCI_CHUNK_FILTER_VALUES; of more the first ones are kept */
    uint32_t values[SLCI_CHUNK_FILTER_VALUES];
} slci_chunk_filter;

typedef struct slci_chunk_pipeline {
    int n_filters; /* a pipeline of more than SLCI_CHUNK_MAX_FILTERS is not for these decoders */
    slci_chunk_filter filter[SLCI_CHUNK_MAX_FILTERS]; /* in the order of writing */
    int64_t chunk_bytes;                              /* decoded */
    int64_t element_bytes;
} slci_chunk_pipeline;

/* Whether every chunk written so can be decoded here: known filters with values that make sense, at
 * most one compression, and behind it nothing but checksums. If not, `why` (any capacity >= 1;
 * SLCI_CHUNK_WHY_BYTES holds all) gets the reason as one clause: "filter 32013 is not one of ...". */
bool slci_chunk_pipeline_check(const slci_chunk_pipeline *pipeline, char *why, size_t capacity);

typedef struct slci_chunk_decoder slci_chunk_decoder;

/* Bytes of host memory that one decoder takes at most, the libraries' own share included; 0 for a
 * pipeline that slci_chunk_pipeline_check refuses. */
int64_t slci_chunk_decoder_bytes(const slci_chunk_pipeline *pipeline);

/* Copies the pipeline, which slci_chunk_pipeline_check has found good. For one thread at a time.
 * Destroy takes NULL. SLC_ERROR_UNSUPPORTED with the reason for other pipelines; SLC_ERROR_MEMORY. */
SLC_MUST_USE slc_status slci_chunk_decoder_create(const slci_chunk_pipeline *pipeline,
                                                  slci_chunk_decoder **out);
void slci_chunk_decoder_destroy(slci_chunk_decoder *decoder);

/* Decodes one chunk: `stored` (n_stored bytes of any alignment) into `dst`, which gets exactly
 * chunk_bytes. Bit k of the mask says that filter k was skipped for this chunk. The two may not
 * overlap. SLC_ERROR_INPUT: damaged, a wrong size or a wrong checksum; the message is a clause
 * ("filter 2 (zstd): ...") to which the caller adds file, dataset and chunk with slc_status_prefix.
 * SLC_ERROR_MEMORY where a library found none. After a failure the content of dst is undefined. */
SLC_MUST_USE slc_status slci_chunk_decode(slci_chunk_decoder *decoder, uint32_t filter_mask,
                                          const void *stored, int64_t n_stored, void *dst);

/* A decoded chunk in pieces: piece k of it goes to run[k] [run_bytes]. */
typedef struct slci_chunk_runs {
    int64_t n_runs, run_bytes; /* whole elements; together chunk_bytes */
    unsigned char *const *run; /* [n_runs] */
} slci_chunk_runs;

/* Whether a chunk with this mask is decoded into runs without being put together first: where the last
 * filter that is undone is shuffle or bitshuffle. */
bool slci_chunk_decodes_runs(const slci_chunk_decoder *decoder, uint32_t filter_mask);

/* The same as slci_chunk_decode, of such a chunk. */
SLC_MUST_USE slc_status slci_chunk_decode_runs(slci_chunk_decoder *decoder, uint32_t filter_mask,
                                               const void *stored, int64_t n_stored,
                                               const slci_chunk_runs *runs);

/* The place of the level among a filter's values; negative: it has none. */
int slci_chunk_filter_level_place(const slci_chunk_filter *filter);

/* "shuffle"; NULL for a filter that has no decoder here. Static storage. */
const char *slci_chunk_filter_name(int id);

#ifdef __cplusplus
}
#endif
#endif
