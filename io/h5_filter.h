/* How the chunks of a dataset that is written are compressed, as data and as the text of `--filter`.
 * Stock HDF5 and h5py read what deflate makes; zstd (32015) and bitshuffle (32008) are read by Sluice,
 * and elsewhere with a plugin: a reader without it says so, it never gives wrong values.
 *
 *     slc_h5_filter filter;
 *     SLC_TRY(slc_h5_filter_parse("deflate:4", &filter));
 *     output.filter = filter;
 */
#ifndef SLC_IO_H5_FILTER_H
#define SLC_IO_H5_FILTER_H

#include <stdbool.h>

#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum slc_h5_filter_kind {
    SLC_H5_FILTER_NONE,
    SLC_H5_FILTER_AS_INPUT, /* as the template's, where stock HDF5 has that; else deflate:4. Of no
                               template: none */
    SLC_H5_FILTER_DEFLATE,
    SLC_H5_FILTER_ZSTD,           /* each frame with its checksum */
    SLC_H5_FILTER_BITSHUFFLE_LZ4, /* in a build with LZ4's library */
    SLC_H5_FILTER_BITSHUFFLE_ZSTD
} slc_h5_filter_kind;

/* Zeros: no filter. Elements of one byte are not shuffled: there is nothing to shuffle. */
typedef struct slc_h5_filter {
    slc_h5_filter_kind kind;
    int level;          /* 0: 4 for deflate (1 to 9), 3 for zstd, 1 for bitshuffle's (1 to 22) */
    bool is_unshuffled; /* of deflate and zstd: the bytes stay in the order of the elements */
    bool has_checksum;  /* of deflate: HDF5's own of every chunk (fletcher32) besides */
} slc_h5_filter;

/* What slc_h5_filter_parse takes, for messages and --help. */
#define SLC_H5_FILTER_WORDS "none, input, deflate:N, zstd:N, bitshuffle-lz4 or bitshuffle-zstd:N"

/* "none", "input", "deflate:4", "zstd:3", "bitshuffle-lz4", "bitshuffle-zstd:1"; without :N the usual
 * level. SLC_ERROR_ARGUMENT says what is accepted. */
SLC_API SLC_MUST_USE slc_status slc_h5_filter_parse(const char *text, slc_h5_filter *out);

/* The same text back; what no text makes is added as "deflate:6 unshuffled with fletcher32". */
#define SLC_H5_FILTER_BYTES 64
SLC_API void slc_h5_filter_print(const slc_h5_filter *filter, char text[SLC_H5_FILTER_BYTES]);

/* Bytes of elements that one thread encodes in a second, about; 0 where nothing is done. For plans: a
 * filter that is not settled, and the machine, are not known better. */
SLC_API double slc_h5_filter_bytes_per_s(const slc_h5_filter *filter);

#ifdef __cplusplus
}
#endif
#endif
