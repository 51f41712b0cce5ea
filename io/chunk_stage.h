/* What the decoders of io/chunk_*.c share: one filter undone for one chunk, and the contexts for it.
 * Internal to these files and to the filters that io/h5_*.c brings into HDF5.
 *
 *     slci_chunk_stage stage = {.filter = &zstd, .in = stored, .n_in = n, .out = dst, .n_out = m};
 *     SLC_TRY(slci_chunk_zstd_decode(tools, &stage));
 */
#ifndef SLC_IO_CHUNK_STAGE_H
#define SLC_IO_CHUNK_STAGE_H

#include <string.h>

#include "core/checked.h"
#include "io/chunk_codec.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What decoders keep from chunk to chunk; NULL until slci_chunk_tools_prepare has made it for a filter
 * that needs it. Belongs to one thread at a time. */
typedef struct slci_chunk_tools {
    void *zstd;           /* ZSTD_DCtx */
    void *deflate;        /* struct libdeflate_decompressor */
    unsigned char *block; /* of bitshuffle: two blocks of block_bytes */
    int64_t block_bytes;
} slci_chunk_tools;

/* One filter to be undone. Nothing outside in [n_in] and out [n_out] is touched; success means that all
 * of out was written. The fields of the filter have passed slci_chunk_pipeline_check. */
typedef struct slci_chunk_stage {
    const slci_chunk_filter *filter;
    const unsigned char *in;
    int64_t n_in;
    unsigned char *out; /* NULL: it goes to `runs`, by shuffle and bitshuffle only */
    int64_t n_out;
    const slci_chunk_runs *runs; /* NULL: it goes to `out` */
} slci_chunk_stage;

/* Where bytes `at` to at + n - 1 of the result go; NULL where they do not go to one place. */
static inline unsigned char *slci_chunk_place(const slci_chunk_stage *stage, int64_t at,
                                              int64_t n) {
    if (stage->runs == NULL) {
        return stage->out + at;
    }
    const int64_t inside = at % stage->runs->run_bytes;
    return inside + n <= stage->runs->run_bytes
               ? stage->runs->run[at / stage->runs->run_bytes] + inside
               : NULL;
}

/* Puts bytes `at` to at + n - 1 of the result where they go. */
static inline void slci_chunk_spread(const slci_chunk_stage *stage, int64_t at,
                                     const unsigned char *from, int64_t n) {
    const int64_t run_bytes = stage->runs == NULL ? stage->n_out : stage->runs->run_bytes;
    while (n > 0) {
        const int64_t piece = slc_min_i64(n, run_bytes - at % run_bytes);
        memcpy(slci_chunk_place(stage, at, piece), from, (size_t)piece);
        at += piece;
        from += piece;
        n -= piece;
    }
}

/* Bytes that slci_chunk_tools_prepare takes for this filter, the libraries' share included. */
int64_t slci_chunk_tools_bytes(const slci_chunk_filter *filter, int64_t n_out);

/* Makes what this filter needs for results of up to n_out bytes. SLC_ERROR_MEMORY. What is made lasts
 * until release, which takes zeroed tools too. */
SLC_MUST_USE slc_status slci_chunk_tools_prepare(slci_chunk_tools *tools,
                                                 const slci_chunk_filter *filter, int64_t n_out);
void slci_chunk_tools_release(slci_chunk_tools *tools);

/* SLC_ERROR_INPUT with a clause where the input is damaged or gives another size. */
slc_status slci_chunk_zstd_decode(slci_chunk_tools *tools, const slci_chunk_stage *stage);
slc_status slci_chunk_deflate_decode(slci_chunk_tools *tools, const slci_chunk_stage *stage);
slc_status slci_chunk_shuffle_decode(slci_chunk_tools *tools, const slci_chunk_stage *stage);
slc_status slci_chunk_bitshuffle_decode(slci_chunk_tools *tools, const slci_chunk_stage *stage);
slc_status slci_chunk_lz4_decode(slci_chunk_tools *tools, const slci_chunk_stage *stage);
slc_status slci_chunk_lzf_decode(slci_chunk_tools *tools, const slci_chunk_stage *stage);
slc_status slci_chunk_blosc_decode(slci_chunk_tools *tools, const slci_chunk_stage *stage);
slc_status slci_chunk_szip_decode(slci_chunk_tools *tools, const slci_chunk_stage *stage);

/* Why a filter's values are not understood, as a clause in static storage; NULL: they are. */
const char *slci_chunk_bitshuffle_refuse(const slci_chunk_filter *filter,
                                         const slci_chunk_pipeline *pipeline);
const char *slci_chunk_blosc_refuse(const slci_chunk_filter *filter,
                                    const slci_chunk_pipeline *pipeline);
const char *slci_chunk_szip_refuse(const slci_chunk_filter *filter,
                                   const slci_chunk_pipeline *pipeline);

/* What the values of bitshuffle say: whether there is no compression and so no header, whether it is
 * zstd, and the bytes of a block of a chunk of n_out. */
bool slci_chunk_bitshuffle_is_bare(const slci_chunk_filter *filter);
bool slci_chunk_bitshuffle_has_zstd(const slci_chunk_filter *filter);
int64_t slci_chunk_bitshuffle_block_bytes(const slci_chunk_filter *filter, int64_t n_out);

/* What these libraries allocate at most while they decode n_out bytes. */
int64_t slci_chunk_blosc_bytes(int64_t n_out);
int64_t slci_chunk_szip_bytes(int64_t n_out);

/* One block each, without any header. Both write at most `capacity` bytes and return how many, or -1
 * where the input is damaged or does not fit. */
int64_t slci_lzf_decode(const void *src, int64_t n_bytes, void *dst, int64_t capacity);
int64_t slci_lz4_decode(const void *src, int64_t n_bytes, void *dst, int64_t capacity);

/* The checksum of filter 3, as HDF5 writes it (low byte first). */
uint32_t slci_chunk_fletcher_sum(const unsigned char *in, int64_t n_bytes);

/* Whether the checksum at the end of in is right; out is not used. */
slc_status slci_chunk_fletcher_check(const slci_chunk_stage *stage);

/* Contexts of the libraries; NULL where there is no memory, or no library. */
void *slci_chunk_deflate_open(void);
void slci_chunk_deflate_close(void *context);

/* `n` <= 8 bytes, most significant first. */
static inline uint64_t slci_load_big_endian(const unsigned char *in, int n) {
    uint64_t value = 0;
    for (int k = 0; k < n; k++) {
        value = value << 8 | in[k];
    }
    return value;
}

#define SLCI_CHUNK_ZSTD_BYTES ((int64_t)160 << 10)
#define SLCI_CHUNK_DEFLATE_BYTES ((int64_t)48 << 10) /* zlib's; libdeflate takes a third */

#ifdef __cplusplus
}
#endif
#endif
