/* zstd as HDF5 filter 32015, in the process, because stock systems have no plugin for it.
 * The one value of the filter is the compression level. Frames are written with a checksum: without
 * it damage goes unnoticed. When decoding, a frame need not state its size, so the output grows up to
 * what the chunk may hold; a frame that gives more or less than the chunk is refused, because HDF5
 * would read past the end of a short one. */
#include <hdf5.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "core/checked.h"
#include "io/h5_codec.h"

/* First guess for a frame without a stated size, as a multiple of its length. */
#define GROWTH_GUESS 4

/* Makes room for `bytes` in *out, keeping what is there. */
static int grow(void **out, size_t *capacity, size_t bytes) {
    void *larger = slci_h5_codec_resize(*out, (int64_t)bytes);
    if (larger == NULL) {
        return -1;
    }
    *out = larger;
    *capacity = bytes;
    return 0;
}

/* The room to begin with: what the chunk or the frame says, else a guess. */
static size_t first_capacity(const void *src, size_t src_bytes, int64_t expected_bytes,
                             int64_t limit) {
    const unsigned long long stated = ZSTD_getFrameContentSize(src, src_bytes);
    if (stated != ZSTD_CONTENTSIZE_UNKNOWN && stated != ZSTD_CONTENTSIZE_ERROR) {
        return stated > (unsigned long long)limit ? 0 : (size_t)(stated > 0 ? stated : 1);
    }
    if (expected_bytes > 0) {
        return (size_t)expected_bytes;
    }
    return (size_t)slc_max_i64(slc_min_i64((int64_t)src_bytes * GROWTH_GUESS, limit), 1);
}

/* Decodes one frame that must end exactly with the input. Returns the bytes made, 0 on any error. */
static size_t decode_stream(ZSTD_DCtx *context, const void *src, size_t src_bytes,
                            int64_t expected_bytes, void **out, size_t *out_capacity) {
    const int64_t limit = expected_bytes > 0 ? expected_bytes : SLCI_H5_MAX_CHUNK_BYTES;
    const size_t first = first_capacity(src, src_bytes, expected_bytes, limit);
    if (first == 0 || grow(out, out_capacity, first) != 0) {
        return 0;
    }
    ZSTD_inBuffer input = {src, src_bytes, 0};
    ZSTD_outBuffer output = {*out, *out_capacity, 0};
    for (;;) {
        const size_t used_before = input.pos;
        const size_t made_before = output.pos;
        const size_t left = ZSTD_decompressStream(context, &output, &input);
        if (ZSTD_isError(left)) {
            if (ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation) {
                slci_h5_codec_note_no_memory();
            }
            return 0;
        }
        if (left == 0) {
            return input.pos == input.size ? output.pos : 0;
        }
        if (output.pos == output.size) {
            if ((int64_t)output.size >= limit) {
                return 0;
            }
            const size_t larger = (size_t)slc_min_i64((int64_t)output.size * 2, limit);
            if (grow(out, out_capacity, larger) != 0) {
                return 0;
            }
            output.dst = *out;
            output.size = *out_capacity;
        } else if (input.pos == used_before && output.pos == made_before) {
            return 0; /* the frame is cut short */
        }
    }
}

static size_t decode(size_t src_bytes, size_t *buffer_bytes, void **buffer) {
    const int64_t expected_bytes = slci_h5_codec_expected(SLCI_H5_ZSTD);
    ZSTD_DCtx *context = ZSTD_createDCtx();
    if (context == NULL) {
        slci_h5_codec_note_no_memory();
        return 0;
    }
    void *out = NULL;
    size_t capacity = 0;
    size_t made = decode_stream(context, *buffer, src_bytes, expected_bytes, &out, &capacity);
    ZSTD_freeDCtx(context);
    if (expected_bytes > 0 && made != (size_t)expected_bytes) {
        made = 0;
    }
    return slci_h5_codec_finish(out, capacity, made, buffer_bytes, buffer);
}

static size_t encode(int level, size_t src_bytes, size_t *buffer_bytes, void **buffer) {
    const size_t bound = ZSTD_compressBound(src_bytes);
    void *out = slci_h5_codec_resize(NULL, (int64_t)bound);
    ZSTD_CCtx *context = ZSTD_createCCtx();
    size_t made = 0;
    if (out != NULL && context != NULL &&
        !ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level)) &&
        !ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1))) {
        made = ZSTD_compress2(context, out, bound, *buffer, src_bytes);
    }
    ZSTD_freeCCtx(context);
    made = ZSTD_isError(made) ? 0 : made;
    return slci_h5_codec_finish(out, bound, made, buffer_bytes, buffer);
}

/* Returning 0 is how a filter reports failure. */
size_t slci_h5_zstd_filter(unsigned flags, size_t n_values, const unsigned values[], size_t n_bytes,
                           size_t *buffer_bytes, void **buffer) {
    if ((flags & H5Z_FLAG_REVERSE) != 0) {
        return decode(n_bytes, buffer_bytes, buffer);
    }
    const int level = n_values > 0 ? (int)values[0] : 0;
    return encode(level, n_bytes, buffer_bytes, buffer);
}
