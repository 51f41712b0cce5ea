/* bitshuffle (Masui et al. 2015, arXiv:1503.00638; HDF5 filter 32008) undone.
 *
 * A chunk is cut into blocks of B elements of E bytes. Each block is a matrix of bits, an element a
 * row, and is stored transposed: first bit 0 of byte 0 of all elements, then bit 1, and so on:
 *
 *     stored byte (8 b + k) · B/8 + g, bit j   =   byte b of element 8 g + j, bit k
 *
 * The last block holds the whole groups of 8 that are left; up to 7 elements after it are stored as
 * they are. The filter's values are: two of its version, E, B (0: the default), the compression of the
 * blocks (0 none, 2 LZ4, 3 zstd). With a compression the chunk starts with its size (8 bytes, most
 * significant first) and B · E (4 bytes), and each block with its compressed size (4 bytes).
 *
 * A block is decompressed into one buffer; its bits become planes of bytes in another, all in the first
 * level of cache; and the planes become elements in the destination, as in shuffle. */
#include <string.h>

#include "core/checked.h"
#include "io/chunk_planes.h"
#include "io/chunk_shuffle.h"
#include "io/chunk_stage.h"

/* What bitshuffle takes when no block size is given: 8 KiB in whole groups of 8, at least 128. */
#define DEFAULT_BLOCK_BYTES 8192
#define MIN_BLOCK 128
#define GROUP 8
#define HEADER_BYTES 12
#define SIZE_BYTES 4

/* ---- values ----------------------------------------------------------------------------------- */

static int mode_of(const slci_chunk_filter *filter) {
    return filter->n_values > SLCI_BITSHUFFLE_MODE ? (int)filter->values[SLCI_BITSHUFFLE_MODE]
                                                   : SLCI_BITSHUFFLE_BARE;
}

static int64_t block_of(const slci_chunk_filter *filter) {
    const int64_t element_bytes = filter->values[SLCI_BITSHUFFLE_ELEMENT_BYTES];
    if (filter->n_values > SLCI_BITSHUFFLE_BLOCK && filter->values[SLCI_BITSHUFFLE_BLOCK] != 0) {
        return filter->values[SLCI_BITSHUFFLE_BLOCK];
    }
    return slc_max_i64(DEFAULT_BLOCK_BYTES / element_bytes / GROUP * GROUP, MIN_BLOCK);
}

const char *slci_chunk_bitshuffle_refuse(const slci_chunk_filter *filter,
                                         const slci_chunk_pipeline *pipeline) {
    const int64_t element_bytes = filter->n_values > SLCI_BITSHUFFLE_ELEMENT_BYTES
                                      ? filter->values[SLCI_BITSHUFFLE_ELEMENT_BYTES]
                                      : 0;
    if (element_bytes < 1 || element_bytes > pipeline->chunk_bytes) {
        return "the size of its elements makes no sense";
    }
    const int64_t block = block_of(filter);
    if (block % GROUP != 0 || block > SLCI_CHUNK_MAX_BYTES / element_bytes) {
        return "the size of its blocks makes no sense";
    }
    const int mode = mode_of(filter);
    const bool is_known =
        mode == SLCI_BITSHUFFLE_BARE || mode == SLCI_BITSHUFFLE_LZ4 || mode == SLCI_BITSHUFFLE_ZSTD;
    return is_known ? NULL : "its compression is none of 0 (none), 2 (LZ4) and 3 (zstd)";
}

bool slci_chunk_bitshuffle_is_bare(const slci_chunk_filter *filter) {
    return mode_of(filter) == SLCI_BITSHUFFLE_BARE;
}

bool slci_chunk_bitshuffle_has_zstd(const slci_chunk_filter *filter) {
    return mode_of(filter) == SLCI_BITSHUFFLE_ZSTD;
}

int64_t slci_chunk_bitshuffle_block_bytes(const slci_chunk_filter *filter, int64_t n_out) {
    const int64_t element_bytes = filter->values[SLCI_BITSHUFFLE_ELEMENT_BYTES];
    return slc_min_i64(block_of(filter) * element_bytes, n_out);
}

/* ---- blocks ----------------------------------------------------------------------------------- */

/* A chunk being decoded. */
typedef struct chunk {
    slci_chunk_tools *tools;
    const slci_chunk_stage *stage;
    int64_t at; /* of the input */
    int mode;
    int64_t element_bytes, block;
} chunk;

/* Reads the header of a compressed chunk. */
static slc_status begin(chunk *from) {
    const slci_chunk_stage *stage = from->stage;
    if (stage->n_in < HEADER_BYTES) {
        return SLC_FAIL(SLC_ERROR_INPUT, "%lld bytes have no room for the header",
                        (long long)stage->n_in);
    }
    const uint64_t total = slci_load_big_endian(stage->in, 8);
    if (total != (uint64_t)stage->n_out) {
        return SLC_FAIL(SLC_ERROR_INPUT, "the chunk holds %llu bytes in place of %lld",
                        (unsigned long long)total, (long long)stage->n_out);
    }
    const int64_t block_bytes = (int64_t)slci_load_big_endian(stage->in + 8, 4);
    from->block = block_bytes / from->element_bytes;
    if (from->block < 1 || from->block % GROUP != 0 ||
        slc_min_i64(from->block * from->element_bytes, stage->n_out) > from->tools->block_bytes) {
        return SLC_FAIL(SLC_ERROR_INPUT, "blocks of %lld bytes do not go with the filter's values",
                        (long long)block_bytes);
    }
    from->at = HEADER_BYTES;
    return SLC_OK;
}

/* Decompresses `stored` bytes into the first buffer of the tools. */
static slc_status decompress(const chunk *from, int64_t stored, int64_t bytes) {
    const slci_chunk_stage block = {.in = from->stage->in + from->at,
                                    .n_in = stored,
                                    .out = from->tools->block,
                                    .n_out = bytes};
    if (from->mode == SLCI_BITSHUFFLE_ZSTD) {
        return slci_chunk_zstd_decode(from->tools, &block);
    }
    if (slci_lz4_decode(block.in, block.n_in, block.out, block.n_out) != bytes) {
        return SLC_FAIL(SLC_ERROR_INPUT, "the LZ4 block at byte %lld is damaged",
                        (long long)from->at);
    }
    return SLC_OK;
}

/* Brings the next block of `bytes` decompressed bytes. */
static slc_status next_block(chunk *from, int64_t bytes, const unsigned char **block) {
    const int64_t left = from->stage->n_in - from->at;
    if (from->mode == SLCI_BITSHUFFLE_BARE) {
        if (bytes > left) {
            return SLC_FAIL(SLC_ERROR_INPUT, "the chunk is cut short");
        }
        *block = from->stage->in + from->at;
        from->at += bytes;
        return SLC_OK;
    }
    const int64_t stored =
        left < SIZE_BYTES ? INT64_MAX
                          : (int64_t)slci_load_big_endian(from->stage->in + from->at, SIZE_BYTES);
    if (stored > left - SIZE_BYTES) {
        return SLC_FAIL(SLC_ERROR_INPUT, "the block at byte %lld is cut short",
                        (long long)from->at);
    }
    from->at += SIZE_BYTES;
    SLC_TRY(decompress(from, stored, bytes));
    from->at += stored;
    *block = from->tools->block;
    return SLC_OK;
}

static slc_status decode_blocks(chunk *from) {
    const slci_chunk_stage *stage = from->stage;
    const int64_t n = stage->n_out / from->element_bytes;
    const int64_t n_grouped = n / GROUP * GROUP;
    for (int64_t k = 0; k < n_grouped; k += from->block) {
        const int64_t m = slc_min_i64(from->block, n_grouped - k);
        const int64_t bytes = m * from->element_bytes;
        unsigned char *const second = from->tools->block + from->tools->block_bytes;
        unsigned char *place = slci_chunk_place(stage, k * from->element_bytes, bytes);
        /* What does not go to one place becomes elements in the first buffer, whose bits have been
         * read by then; bytes are elements at once. */
        unsigned char *out = place != NULL              ? place
                             : from->element_bytes == 1 ? second
                                                        : from->tools->block;
        unsigned char *planes = from->element_bytes == 1 ? out : second;
        const unsigned char *bits = NULL;
        SLC_TRY(next_block(from, bytes, &bits));
        slci_chunk_planes_get()->from_bits(bits, m, from->element_bytes, planes);
        if (planes != out) {
            slci_chunk_unshuffle(planes, bytes, from->element_bytes, out);
        }
        if (out != place) {
            slci_chunk_spread(stage, k * from->element_bytes, out, bytes);
        }
    }
    const int64_t rest = stage->n_out - n_grouped * from->element_bytes;
    if (rest != stage->n_in - from->at) {
        return SLC_FAIL(SLC_ERROR_INPUT, "%lld bytes are left behind the blocks in place of %lld",
                        (long long)(stage->n_in - from->at), (long long)rest);
    }
    slci_chunk_spread(stage, n_grouped * from->element_bytes, stage->in + from->at, rest);
    return SLC_OK;
}

slc_status slci_chunk_bitshuffle_decode(slci_chunk_tools *tools, const slci_chunk_stage *stage) {
    chunk from = {.tools = tools,
                  .stage = stage,
                  .mode = mode_of(stage->filter),
                  .element_bytes = stage->filter->values[SLCI_BITSHUFFLE_ELEMENT_BYTES],
                  .block = block_of(stage->filter)};
    if (from.mode != SLCI_BITSHUFFLE_BARE) {
        SLC_TRY(begin(&from));
    }
    return decode_blocks(&from);
}
