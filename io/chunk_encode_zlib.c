/* Stands in for chunk_encode_libdeflate.c where libdeflate is missing: zlib, which HDF5 needs anyway,
 * makes the same format more slowly. */
#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

#include "core/checked.h"
#include "io/chunk_encode_stage.h"

/* zconf.h: (1 << (windowBits + 2)) + (1 << (memLevel + 9)) with 15 and 8, and the state itself. */
#define CONTEXT_BYTES ((int64_t)300 << 10)

int64_t slci_deflate_most(int64_t n_bytes) {
    return (int64_t)compressBound((uLong)n_bytes);
}

int64_t slci_deflate_context_bytes(void) {
    return CONTEXT_BYTES;
}

void *slci_deflate_open(int level) {
    z_stream *stream = calloc(1, sizeof *stream);
    if (stream != NULL && deflateInit(stream, level) != Z_OK) {
        free(stream);
        return NULL;
    }
    return stream;
}

void slci_deflate_close(void *context) {
    if (context != NULL) {
        (void)deflateEnd(context);
        free(context);
    }
}

/* zlib counts in unsigned int, so a chunk of nearly 4 GiB takes several calls. */
int64_t slci_deflate_encode(void *context, const void *in, int64_t n_bytes, void *out,
                            int64_t capacity) {
    z_stream *stream = context;
    int64_t left = n_bytes;
    int64_t room = capacity;
    int result = deflateReset(stream);
    stream->next_in = (Bytef *)(uintptr_t)in;
    stream->next_out = out;
    while (result == Z_OK) {
        const int64_t n_in = slc_min_i64(left, INT_MAX);
        const int64_t n_out = slc_min_i64(room, INT_MAX);
        stream->avail_in = (uInt)n_in;
        stream->avail_out = (uInt)n_out;
        result = deflate(stream, n_in == left ? Z_FINISH : Z_NO_FLUSH);
        left -= n_in - (int64_t)stream->avail_in;
        room -= n_out - (int64_t)stream->avail_out;
        if (n_out == 0) {
            break;
        }
    }
    return result == Z_STREAM_END ? capacity - room : 0;
}
