/* The compressions that Sluice brings into HDF5 itself, so that a file reads the same on every machine:
 * zstd (32015), LZF (32000, what h5py and pyuvdata write), bitshuffle (32008, bare, with LZ4, with
 * zstd). Stock systems have no plugin for the first, a broken one for the second, and one for the
 * third that returns wrong data when zstd is inside.
 *
 *     slci_h5_codec_expect(dataset->codec_bytes);      // then H5Dread in the same thread
 */
#ifndef SLC_IO_H5_CODEC_H
#define SLC_IO_H5_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Their numbers in the HDF Group's register of filters. */
enum { SLCI_H5_FILTER_LZF = 32000, SLCI_H5_FILTER_BITSHUFFLE = 32008, SLCI_H5_FILTER_ZSTD = 32015 };

/* The values of bitshuffle's filter; the first two are its version. */
enum {
    SLCI_BITSHUFFLE_ELEMENT_BYTES = 2,
    SLCI_BITSHUFFLE_BLOCK = 3, /* elements of a block, 0: the default */
    SLCI_BITSHUFFLE_MODE = 4   /* the compression of the blocks */
};
enum { SLCI_BITSHUFFLE_BARE = 0, SLCI_BITSHUFFLE_LZ4 = 2, SLCI_BITSHUFFLE_ZSTD = 3 };

typedef enum slci_h5_codec {
    SLCI_H5_ZSTD,
    SLCI_H5_LZF,
    SLCI_H5_BITSHUFFLE,
    SLCI_H5_CODECS
} slci_h5_codec;

/* The codec of a filter's number, or SLCI_H5_CODECS. */
slci_h5_codec slci_h5_codec_of(int filter);

/* What each codec must give for a chunk, for this thread until the next call; 0: not known. HDF5 tells
 * a filter nothing of it, and reads past the end of what a filter gives when that is too short. */
void slci_h5_codec_expect(const int64_t bytes[SLCI_H5_CODECS]);
int64_t slci_h5_codec_expected(slci_h5_codec codec);

/* For filters: memory for what they make, `old` (NULL: none) grown or shrunk to so many bytes; NULL
 * where there is none. It is HDF5's, which frees it. */
void *slci_h5_codec_resize(void *old, int64_t bytes);

/* For filters, at their end: what they made, `n_made` bytes in memory of `capacity`, takes the place of
 * the buffer. Where n_made is 0 it is freed, and the buffer stays. Returns n_made: 0 is how a filter
 * tells HDF5 that it failed. */
size_t slci_h5_codec_finish(void *made, size_t capacity, size_t n_made, size_t *buffer_bytes,
                            void **buffer);

/* HDF5 does not ask why a filter failed. Whether it was for want of memory, in this thread since the
 * last slci_h5_codec_expect; the first is for filters whose libraries allocate. */
void slci_h5_codec_note_no_memory(void);
bool slci_h5_codec_lacks_memory(void);

/* A chunk of HDF5 is smaller than 4 GiB. */
#define SLCI_H5_MAX_CHUNK_BYTES ((int64_t)UINT32_MAX)

/* Makes HDF5 use all of them in this process. With the lock of io/h5_file.h held. */
void slci_h5_codec_register(void);

/* HDF5's filter functions (H5Z_func_t). */
size_t slci_h5_zstd_filter(unsigned flags, size_t n_values, const unsigned values[], size_t n_bytes,
                           size_t *buffer_bytes, void **buffer);
size_t slci_h5_lzf_filter(unsigned flags, size_t n_values, const unsigned values[], size_t n_bytes,
                          size_t *buffer_bytes, void **buffer);
size_t slci_h5_bitshuffle_filter(unsigned flags, size_t n_values, const unsigned values[],
                                 size_t n_bytes, size_t *buffer_bytes, void **buffer);

/* One block each, for bitshuffle and for tests. Both write at most `capacity` bytes and return how
 * many, or -1 where the input is damaged or does not fit. */
int64_t slci_lzf_decode(const void *src, int64_t n_bytes, void *dst, int64_t capacity);
int64_t slci_lz4_decode(const void *src, int64_t n_bytes, void *dst, int64_t capacity);

#ifdef __cplusplus
}
#endif
#endif
