/* zstd as HDF5 filter 32015: a chunk is one frame, which ends where the chunk ends. A frame that gives
 * more or less than the chunk is refused. Frames of the library's versions before 1.0 are too: their
 * decoders are old, and no HDF5 file has them. */
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "io/chunk_stage.h"

static bool begins_with_magic(const unsigned char *in, int64_t n) {
    static const unsigned char magic[4] = {0x28, 0xB5, 0x2F, 0xFD};
    return n >= 4 && memcmp(in, magic, sizeof magic) == 0;
}

slc_status slci_chunk_zstd_decode(slci_chunk_tools *tools, const slci_chunk_stage *stage) {
    const size_t n_in = (size_t)stage->n_in;
    if (!begins_with_magic(stage->in, stage->n_in)) {
        return SLC_FAIL(SLC_ERROR_INPUT, "no zstd frame begins here: damaged");
    }
    if (ZSTD_findFrameCompressedSize(stage->in, n_in) != n_in) {
        return SLC_FAIL(SLC_ERROR_INPUT,
                        "the zstd frame does not end with the %lld stored bytes: damaged",
                        (long long)stage->n_in);
    }
    const size_t made =
        ZSTD_decompressDCtx(tools->zstd, stage->out, (size_t)stage->n_out, stage->in, n_in);
    if (ZSTD_isError(made)) {
        if (ZSTD_getErrorCode(made) == ZSTD_error_memory_allocation) {
            return SLC_FAIL(SLC_ERROR_MEMORY, "zstd found no memory to decode with");
        }
        if (ZSTD_getErrorCode(made) == ZSTD_error_dstSize_tooSmall) {
            return SLC_FAIL(SLC_ERROR_INPUT, "the zstd frame holds more than %lld bytes",
                            (long long)stage->n_out);
        }
        return SLC_FAIL(SLC_ERROR_INPUT, "the zstd frame is damaged (%s)", ZSTD_getErrorName(made));
    }
    if ((int64_t)made != stage->n_out) {
        return SLC_FAIL(SLC_ERROR_INPUT, "the zstd frame holds %lld bytes in place of %lld",
                        (long long)made, (long long)stage->n_out);
    }
    return SLC_OK;
}
