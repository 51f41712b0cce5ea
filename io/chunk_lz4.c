/* LZ4 as HDF5 filter 32004. The chunk starts with its decoded size (8 bytes, most significant first)
 * and the size of a block (4 bytes); each block, the last one shorter, with its stored size (4 bytes).
 * A block that did not shrink is stored as it is. */
#include <string.h>

#include "core/checked.h"
#include "io/chunk_stage.h"

#define HEADER_BYTES 12
#define SIZE_BYTES 4

/* One block of `bytes` at in[*at]. */
static slc_status decode_block(const slci_chunk_stage *stage, int64_t *at, unsigned char *out,
                               int64_t bytes) {
    const int64_t left = stage->n_in - *at;
    const int64_t stored =
        left < SIZE_BYTES ? INT64_MAX : (int64_t)slci_load_big_endian(stage->in + *at, SIZE_BYTES);
    if (stored > left - SIZE_BYTES) {
        return SLC_FAIL(SLC_ERROR_INPUT, "the block at byte %lld is cut short", (long long)*at);
    }
    const unsigned char *block = stage->in + *at + SIZE_BYTES;
    if (stored == bytes) {
        memcpy(out, block, (size_t)bytes);
    } else if (slci_lz4_decode(block, stored, out, bytes) != bytes) {
        return SLC_FAIL(SLC_ERROR_INPUT, "the block at byte %lld is damaged", (long long)*at);
    }
    *at += SIZE_BYTES + stored;
    return SLC_OK;
}

slc_status slci_chunk_lz4_decode(slci_chunk_tools *tools, const slci_chunk_stage *stage) {
    (void)tools;
    if (stage->n_in < HEADER_BYTES) {
        return SLC_FAIL(SLC_ERROR_INPUT, "%lld bytes have no room for the header",
                        (long long)stage->n_in);
    }
    const uint64_t total = slci_load_big_endian(stage->in, 8);
    const int64_t block = (int64_t)slci_load_big_endian(stage->in + 8, 4);
    if (total != (uint64_t)stage->n_out || block == 0) {
        return SLC_FAIL(SLC_ERROR_INPUT,
                        "the chunk holds %llu bytes in blocks of %lld in place of %lld",
                        (unsigned long long)total, (long long)block, (long long)stage->n_out);
    }
    int64_t at = HEADER_BYTES;
    for (int64_t made = 0; made < stage->n_out; made += block) {
        SLC_TRY(
            decode_block(stage, &at, stage->out + made, slc_min_i64(block, stage->n_out - made)));
    }
    if (at != stage->n_in) {
        return SLC_FAIL(SLC_ERROR_INPUT, "%lld bytes are left behind the blocks",
                        (long long)(stage->n_in - at));
    }
    return SLC_OK;
}
