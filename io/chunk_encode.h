/* Chunks of HDF5 datasets, from the elements to the bytes that are stored: the counterpart of
 * io/chunk_codec.h, memory in, memory out, without HDF5. An encoder belongs to one thread at a time and
 * has contexts and scratch memory of its own; nothing is allocated for a chunk. What it makes depends
 * on the pipeline and the elements alone.
 *
 *     if (slci_chunk_encoder_check(&pipeline, why, sizeof why)) {
 *         SLC_TRY(slci_chunk_encoder_create(&pipeline, &encoder));
 *         SLC_TRY_GOTO(done, slci_chunk_encode(encoder, elements, stored, &n_stored));
 */
#ifndef SLC_IO_CHUNK_ENCODE_H
#define SLC_IO_CHUNK_ENCODE_H

#include "io/chunk_codec.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether chunks can be encoded so here: shuffle or nothing, one of deflate, zstd and bitshuffle or
 * nothing, fletcher32 or nothing. If not, `why` gets the reason as one clause. */
bool slci_chunk_encoder_check(const slci_chunk_pipeline *pipeline, char *why, size_t capacity);

typedef struct slci_chunk_encoder slci_chunk_encoder;

/* Bytes of host memory that an encoder takes at most, the libraries' own share included. */
int64_t slci_chunk_encoder_bytes(const slci_chunk_pipeline *pipeline);

/* What a stored chunk has at most; INT64_MAX where that is no chunk of HDF5 any more. */
int64_t slci_chunk_encoded_most(const slci_chunk_pipeline *pipeline);

/* Of a pipeline that has passed the check, which is copied. Destroy takes NULL. SLC_ERROR_MEMORY. */
SLC_MUST_USE slc_status slci_chunk_encoder_create(const slci_chunk_pipeline *pipeline,
                                                  slci_chunk_encoder **out);
void slci_chunk_encoder_destroy(slci_chunk_encoder *encoder);

/* Encodes chunk_bytes of elements into `stored` (slci_chunk_encoded_most bytes), all filters applied.
 * The two do not overlap. SLC_ERROR_MEMORY where a library found none. */
SLC_MUST_USE slc_status slci_chunk_encode(slci_chunk_encoder *encoder, const void *elements,
                                          void *stored, int64_t *n_stored);

#ifdef __cplusplus
}
#endif
#endif
