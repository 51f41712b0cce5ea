/* Bytes of elements gathered from planes: the way back of HDF5's shuffle filter, and the second half of
 * bitshuffle's. Internal to io/chunk_*.c.
 *
 *     slci_chunk_unshuffle(planes, n_bytes, 8, elements);
 */
#ifndef SLC_IO_CHUNK_SHUFFLE_H
#define SLC_IO_CHUNK_SHUFFLE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* n = n_bytes / element_bytes elements: byte b of element k lies at in[b·n + k] and goes to
 * out[k·element_bytes + b]. What is left of n_bytes is copied. The two do not overlap. */
void slci_chunk_unshuffle(const unsigned char *in, int64_t n_bytes, int64_t element_bytes,
                          unsigned char *out);

#ifdef __cplusplus
}
#endif
#endif
