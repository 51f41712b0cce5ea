/* The zstd filter of HDF5.
 *
 * HDF5 hands a filter the stored bytes of one chunk and takes back the decoded ones. It says nothing
 * of how many there should be and does not look afterwards, so what is decoded here is bounded
 * before it is allocated: by the caller's word (slci_h5_zstd_expect), else by the frame's own
 * content size, else by HDF5's limit of 4 GiB for a chunk. A frame that was written as a stream
 * has no content size; without the caller's word it is decoded piece by piece into a buffer that
 * grows. Several frames in one chunk follow each other, as the format allows.
 *
 * The encoder sets the frame's checksum, which is the only guard against silent damage in the
 * file. The first filter parameter is the level, as in the registered filter. */
#include "io/h5_zstd.h"

#include <hdf5.h>
#include <stdbool.h>
#include <string.h>
#include <zstd.h>

#define DEFAULT_LEVEL 3
#define MAX_CHUNK_BYTES ((size_t)UINT32_MAX) /* HDF5's limit for one chunk */

/* HDF5 calls the filter on the thread that reads, with no argument of ours. */
static _Thread_local int64_t expected_bytes;

void slci_h5_zstd_expect(int64_t chunk_bytes) {
    expected_bytes = chunk_bytes;
}

/* A frame whose decoded size is known beforehand. Returns the size, 0 where the frame is damaged or
 * does not have it. `*out` is HDF5's to free. */
static size_t decode_known(const void *stored, size_t n_stored, size_t n_decoded, void **out) {
    void *const decoded = H5allocate_memory(n_decoded, 0);
    if (decoded == NULL) {
        return 0;
    }
    const size_t n = ZSTD_decompress(decoded, n_decoded, stored, n_stored);
    if (ZSTD_isError(n) || n != n_decoded) {
        H5free_memory(decoded);
        return 0;
    }
    *out = decoded;
    return n;
}

/* Makes room for more output. False where memory or HDF5's limit ends. */
static bool grow(void **buffer, size_t *capacity) {
    if (*capacity >= MAX_CHUNK_BYTES) {
        return false;
    }
    const size_t larger = *capacity > MAX_CHUNK_BYTES / 2 ? MAX_CHUNK_BYTES : *capacity * 2;
    void *const moved = H5resize_memory(*buffer, larger);
    if (moved == NULL) {
        return false;
    }
    *buffer = moved;
    *capacity = larger;
    return true;
}

/* Frames that do not say how large they are, with nobody who knows: into a growing buffer. */
static size_t decode_stream(const void *stored, size_t n_stored, void **out) {
    ZSTD_DStream *const stream = ZSTD_createDStream();
    size_t capacity = n_stored < 4096 ? 16384 : n_stored * 4;
    void *decoded = H5allocate_memory(capacity, 0);
    ZSTD_inBuffer in = {stored, n_stored, 0};
    size_t n = 0;
    /* What the last call still wants: 0 at the end of a frame. */
    size_t wanted = 1;
    while (stream != NULL && decoded != NULL && (in.pos < in.size || wanted != 0)) {
        if (n == capacity && !grow(&decoded, &capacity)) {
            wanted = 1;
            break;
        }
        ZSTD_outBuffer piece = {decoded, capacity, n};
        const size_t in_before = in.pos;
        wanted = ZSTD_decompressStream(stream, &piece, &in);
        const bool is_stuck = in.pos == in_before && piece.pos == n;
        n = piece.pos;
        if (ZSTD_isError(wanted) || is_stuck) {
            wanted = 1;
            break;
        }
    }
    ZSTD_freeDStream(stream);
    if (decoded == NULL || wanted != 0 || n == 0) {
        H5free_memory(decoded);
        return 0;
    }
    *out = decoded;
    return n;
}

static size_t decode(const void *stored, size_t n_stored, void **out) {
    const unsigned long long content = ZSTD_getFrameContentSize(stored, n_stored);
    if (content == ZSTD_CONTENTSIZE_ERROR) {
        return 0;
    }
    if (expected_bytes > 0) {
        return decode_known(stored, n_stored, (size_t)expected_bytes, out);
    }
    /* The first frame's word covers the chunk only if it is the only frame. */
    const size_t first_frame = ZSTD_findFrameCompressedSize(stored, n_stored);
    if (content == ZSTD_CONTENTSIZE_UNKNOWN || first_frame != n_stored) {
        return decode_stream(stored, n_stored, out);
    }
    if (content == 0 || content > MAX_CHUNK_BYTES) {
        return 0;
    }
    return decode_known(stored, n_stored, (size_t)content, out);
}

static size_t encode(const void *plain, size_t n_plain, int level, void **out, size_t *capacity) {
    const size_t bound = ZSTD_compressBound(n_plain);
    ZSTD_CCtx *const context = ZSTD_createCCtx();
    void *const stored = H5allocate_memory(bound, 0);
    size_t n = 0;
    if (context != NULL && stored != NULL &&
        !ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level)) &&
        !ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1))) {
        n = ZSTD_compress2(context, stored, bound, plain, n_plain);
        if (ZSTD_isError(n)) {
            n = 0;
        }
    }
    ZSTD_freeCCtx(context);
    if (n == 0) {
        H5free_memory(stored);
        return 0;
    }
    *out = stored;
    *capacity = bound;
    return n;
}

/* 0 tells HDF5 that the filter failed, and *buffer is then left as it was. */
static size_t filter_zstd(unsigned flags, size_t n_parameters, const unsigned parameters[],
                          size_t n_bytes, size_t *buffer_bytes, void **buffer) {
    void *result = NULL;
    size_t n = 0;
    size_t capacity = 0;
    if (flags & H5Z_FLAG_REVERSE) {
        n = decode(*buffer, n_bytes, &result);
        capacity = n;
    } else {
        const int level = n_parameters > 0 ? (int)parameters[0] : DEFAULT_LEVEL;
        n = encode(*buffer, n_bytes, level, &result, &capacity);
    }
    if (n == 0) {
        return 0;
    }
    H5free_memory(*buffer);
    *buffer = result;
    *buffer_bytes = capacity;
    return n;
}

slc_status slci_h5_zstd_register(void) {
    const H5Z_class2_t filter = {
        .version = H5Z_CLASS_T_VERS,
        .id = SLCI_H5_ZSTD_ID,
        .encoder_present = 1,
        .decoder_present = 1,
        .name = "zstd",
        .filter = filter_zstd,
    };
    if (H5Zregister(&filter) < 0) {
        return SLC_FAIL(SLC_ERROR_INTERNAL, "HDF5 did not take the zstd filter (%d)",
                        SLCI_H5_ZSTD_ID);
    }
    return SLC_OK;
}
