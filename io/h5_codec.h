/* The compressions that Sluice brings into HDF5 itself, so that a file reads the same on every machine:
 * zstd (32015), LZF (32000, what h5py and pyuvdata write), LZ4 (32004), bitshuffle (32008, bare, with
 * LZ4, with zstd) and, where its library is there, blosc (32001). Stock systems have no plugin for
 * the first, a broken one for the second, one that reads out of bounds for the third, and one for the
 * fourth that returns wrong data when zstd is inside. The decoding is that of io/chunk_codec.h.
 *
 *     slci_h5_codec_expect(dataset->codec_bytes);      // then H5Dread in the same thread
 */
#ifndef SLC_IO_H5_CODEC_H
#define SLC_IO_H5_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/chunk_codec.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum slci_h5_codec {
    SLCI_H5_ZSTD,
    SLCI_H5_LZF,
    SLCI_H5_BITSHUFFLE,
    SLCI_H5_LZ4,
    SLCI_H5_BLOSC,
    SLCI_H5_CODECS
} slci_h5_codec;

/* The codec of a filter's number, or SLCI_H5_CODECS. */
slci_h5_codec slci_h5_codec_of(int filter);

/* The number of a codec's filter. */
int slci_h5_codec_filter(slci_h5_codec codec);

/* What each codec must give for a chunk, for this thread until the next call; 0: not known. HDF5 tells
 * a filter nothing of it, and reads past the end of what a filter gives when that is too short. */
void slci_h5_codec_expect(const int64_t bytes[SLCI_H5_CODECS]);

/* HDF5 does not ask why a filter failed. Whether it was for want of memory, in this thread since the
 * last slci_h5_codec_expect. */
bool slci_h5_codec_lacks_memory(void);

/* Whether the library that a codec needs was there when Sluice was built. */
bool slci_h5_codec_is_built_in(slci_h5_codec codec);

/* Makes HDF5 use all that are built in, in this process. With the lock of io/h5_file.h held. */
void slci_h5_codec_register(void);

/* HDF5's filter functions (H5Z_func_t) of the codecs. zstd encodes; the others decline every chunk,
 * which is then stored as it is. */
size_t slci_h5_zstd_filter(unsigned flags, size_t n_values, const unsigned values[], size_t n_bytes,
                           size_t *buffer_bytes, void **buffer);
size_t slci_h5_lzf_filter(unsigned flags, size_t n_values, const unsigned values[], size_t n_bytes,
                          size_t *buffer_bytes, void **buffer);
size_t slci_h5_bitshuffle_filter(unsigned flags, size_t n_values, const unsigned values[],
                                 size_t n_bytes, size_t *buffer_bytes, void **buffer);
size_t slci_h5_lz4_filter(unsigned flags, size_t n_values, const unsigned values[], size_t n_bytes,
                          size_t *buffer_bytes, void **buffer);
size_t slci_h5_blosc_filter(unsigned flags, size_t n_values, const unsigned values[],
                            size_t n_bytes, size_t *buffer_bytes, void **buffer);

#ifdef __cplusplus
}
#endif
#endif
