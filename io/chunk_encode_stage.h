/* What the encoders of io/chunk_encode*.c share: bytes into planes, and the libraries behind one
 * compression each. Internal to these files.
 *
 *     n = slci_deflate_encode(context, planes, n_bytes, out, capacity);
 */
#ifndef SLC_IO_CHUNK_ENCODE_STAGE_H
#define SLC_IO_CHUNK_ENCODE_STAGE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The reverse of slci_chunk_unshuffle: byte b of element k goes to out[b·n + k]. */
void slci_chunk_shuffle(const unsigned char *in, int64_t n_bytes, int64_t element_bytes,
                        unsigned char *out);

/* Planes of n bytes (a multiple of 8), one for each byte of an element: every plane becomes 8 rows of
 * n / 8 bytes, row k with the bits k. */
void slci_chunk_planes_to_bits(const unsigned char *planes, int64_t n, int64_t element_bytes,
                               unsigned char *out);

/* A stream of zlib's format. most: what `n_bytes` become at most. open gives NULL for want of memory.
 * encode gives the bytes made, 0 where they do not fit. */
int64_t slci_deflate_most(int64_t n_bytes);
int64_t slci_deflate_context_bytes(void);
void *slci_deflate_open(int level);
void slci_deflate_close(void *context);
int64_t slci_deflate_encode(void *context, const void *in, int64_t n_bytes, void *out,
                            int64_t capacity);

/* One block of LZ4; false where the build has no LZ4 to compress with: the others are not called. */
extern const bool slci_lz4_has_encoder;
int64_t slci_lz4_most(int64_t n_bytes);
int64_t slci_lz4_encode(const void *in, int64_t n_bytes, void *out, int64_t capacity);

#ifdef __cplusplus
}
#endif
#endif
