/* Stands in for chunk_deflate_libdeflate.c where libdeflate is missing: zlib, which HDF5 needs anyway,
 * reads the same format more slowly. HDF5's own filter would not do: it does not look at how many bytes
 * a chunk has decoded. */
#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

#include "core/checked.h"
#include "io/chunk_stage.h"

void *slci_chunk_deflate_open(void) {
    z_stream *stream = calloc(1, sizeof *stream);
    if (stream != NULL && inflateInit(stream) != Z_OK) {
        free(stream);
        return NULL;
    }
    return stream;
}

void slci_chunk_deflate_close(void *context) {
    (void)inflateEnd(context);
    free(context);
}

/* zlib counts in unsigned int, so a chunk of nearly 4 GiB takes several calls. What is left of the room
 * for the output goes to *room. */
static int inflate_all(z_stream *stream, const slci_chunk_stage *stage, int64_t *room) {
    int64_t left = stage->n_in;
    int result = inflateReset(stream);
    stream->next_in = (Bytef *)(uintptr_t)stage->in;
    stream->next_out = stage->out;
    *room = stage->n_out;
    while (result == Z_OK) {
        const int64_t n_in = slc_min_i64(left, INT_MAX);
        const int64_t n_out = slc_min_i64(*room, INT_MAX);
        stream->avail_in = (uInt)n_in;
        stream->avail_out = (uInt)n_out;
        result = inflate(stream, Z_NO_FLUSH);
        left -= n_in - (int64_t)stream->avail_in;
        *room -= n_out - (int64_t)stream->avail_out;
    }
    return result;
}

slc_status slci_chunk_deflate_decode(slci_chunk_tools *tools, const slci_chunk_stage *stage) {
    int64_t room = 0;
    const int result = inflate_all(tools->deflate, stage, &room);
    if (result == Z_BUF_ERROR && room == 0) {
        return SLC_FAIL(SLC_ERROR_INPUT, "the deflate stream holds more than %lld bytes",
                        (long long)stage->n_out);
    }
    if (result != Z_STREAM_END) {
        return SLC_FAIL(SLC_ERROR_INPUT,
                        "the deflate stream is damaged or its Adler-32 checksum is wrong");
    }
    if (room != 0) {
        return SLC_FAIL(SLC_ERROR_INPUT, "the deflate stream holds %lld bytes in place of %lld",
                        (long long)(stage->n_out - room), (long long)stage->n_out);
    }
    return SLC_OK;
}
