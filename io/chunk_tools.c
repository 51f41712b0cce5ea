/* What decoders keep from chunk to chunk, and what it costs. */
#include <stdlib.h>
#include <zstd.h>

#include "core/checked.h"
#include "io/chunk_stage.h"

#define ALIGNMENT 64

static bool needs_zstd(const slci_chunk_filter *filter) {
    return filter->id == SLCI_FILTER_ZSTD ||
           (filter->id == SLCI_FILTER_BITSHUFFLE && slci_chunk_bitshuffle_has_zstd(filter));
}

/* Of one of bitshuffle's two buffers. */
static int64_t block_bytes(const slci_chunk_filter *filter, int64_t n_out) {
    return slc_round_up(slci_chunk_bitshuffle_block_bytes(filter, n_out), ALIGNMENT);
}

int64_t slci_chunk_tools_bytes(const slci_chunk_filter *filter, int64_t n_out) {
    const int64_t zstd_bytes = needs_zstd(filter) ? SLCI_CHUNK_ZSTD_BYTES : 0;
    switch (filter->id) {
    case SLCI_FILTER_DEFLATE:
        return SLCI_CHUNK_DEFLATE_BYTES;
    case SLCI_FILTER_BITSHUFFLE:
        return zstd_bytes + 2 * block_bytes(filter, n_out);
    case SLCI_FILTER_BLOSC:
        return slci_chunk_blosc_bytes(n_out);
    case SLCI_FILTER_SZIP:
        return slci_chunk_szip_bytes(n_out);
    default:
        return zstd_bytes;
    }
}

static slc_status prepare_blocks(slci_chunk_tools *tools, const slci_chunk_filter *filter,
                                 int64_t n_out) {
    const int64_t bytes = block_bytes(filter, n_out);
    if (bytes <= tools->block_bytes) {
        return SLC_OK;
    }
    free(tools->block);
    tools->block_bytes = 0;
    tools->block = aligned_alloc(ALIGNMENT, (size_t)(2 * bytes));
    if (tools->block == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for %lld bytes to decode bitshuffle with",
                        (long long)(2 * bytes));
    }
    tools->block_bytes = bytes;
    return SLC_OK;
}

slc_status slci_chunk_tools_prepare(slci_chunk_tools *tools, const slci_chunk_filter *filter,
                                    int64_t n_out) {
    if (needs_zstd(filter) && tools->zstd == NULL) {
        tools->zstd = ZSTD_createDCtx();
        if (tools->zstd == NULL) {
            return SLC_FAIL(SLC_ERROR_MEMORY, "zstd found no memory to decode with");
        }
    }
    if (filter->id == SLCI_FILTER_DEFLATE && tools->deflate == NULL) {
        tools->deflate = slci_chunk_deflate_open();
        if (tools->deflate == NULL) {
            return SLC_FAIL(SLC_ERROR_MEMORY, "no memory to decode deflate with");
        }
    }
    return filter->id == SLCI_FILTER_BITSHUFFLE ? prepare_blocks(tools, filter, n_out) : SLC_OK;
}

void slci_chunk_tools_release(slci_chunk_tools *tools) {
    (void)ZSTD_freeDCtx(tools->zstd);
    if (tools->deflate != NULL) {
        slci_chunk_deflate_close(tools->deflate);
    }
    free(tools->block);
    *tools = (slci_chunk_tools){0};
}
