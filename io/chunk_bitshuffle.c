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
#include "core/checked.h"
#include "io/chunk_shuffle.h"
#include "io/chunk_stage.h"
#include "io/chunk_vector.h"

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

/* ---- bits ------------------------------------------------------------------------------------- */

/* Bit j of byte k becomes bit k of byte j (Warren, Hacker's Delight, 7-3). */
static uint64_t transpose_8x8(uint64_t x) {
    uint64_t t = (x ^ (x >> 7)) & 0x00AA00AA00AA00AAULL;
    x ^= t ^ (t << 7);
    t = (x ^ (x >> 14)) & 0x0000CCCC0000CCCCULL;
    x ^= t ^ (t << 14);
    t = (x ^ (x >> 28)) & 0x00000000F0F0F0F0ULL;
    return x ^ t ^ (t << 28);
}

/* Shifts go over pairs of bytes; the masks remove what crosses from one to the other. */
typedef uint16_t pairs8 __attribute__((vector_size(SLCI_VECTOR)));

/* Swaps the bits `mask` << shift of a with the bits `mask` of b. */
SLCI_VECTOR_INLINE void swap_bits(slci_bytes16 *a, slci_bytes16 *b, int shift, int mask) {
    const pairs8 masks = (pairs8){0} + (uint16_t)(mask << 8 | mask);
    const pairs8 t = (((pairs8)*a >> shift) ^ (pairs8)*b) & masks;
    *b = (slci_bytes16)((pairs8)*b ^ t);
    *a = (slci_bytes16)((pairs8)*a ^ (t << shift));
}

/* 16 groups, from 8 rows of bits `row` bytes apart: 128 bytes of a plane. */
SLCI_VECTOR_INLINE void groups_16(const unsigned char *in, int64_t row, unsigned char *out) {
    slci_bytes16 v[GROUP];
#pragma GCC unroll 8
    for (int k = 0; k < GROUP; k++) {
        v[k] = slci_vector_load(in + k * row);
    }
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++) {
        swap_bits(&v[k], &v[k + 4], 4, 0x0F);
    }
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++) {
        const int first = (k & 2) * 2 + (k & 1);
        swap_bits(&v[first], &v[first + 2], 2, 0x33);
    }
#pragma GCC unroll 4
    for (int64_t k = 0; k < 4; k++) {
        swap_bits(&v[2 * k], &v[2 * k + 1], 1, 0x55);
    }
    /* Byte g of vector j now belongs to element 8 g + j. */
    slci_vector_transpose(v, GROUP);
    memcpy(out, v, sizeof v);
}

static void group_1(const unsigned char *in, int64_t row, unsigned char *out) {
    uint64_t bits = 0;
    for (int k = 0; k < GROUP; k++) {
        bits |= (uint64_t)in[k * row] << (8 * k);
    }
    bits = transpose_8x8(bits);
    for (int j = 0; j < GROUP; j++) {
        out[j] = (unsigned char)(bits >> (8 * j));
    }
}

/* All bits of n elements, a multiple of 8: 8 rows of bits become a plane of n bytes. */
static void bits_to_planes(const unsigned char *in, int64_t n, int64_t element_bytes,
                           unsigned char *planes) {
    const int64_t row = n / GROUP;
    const int64_t n_vectors = row / SLCI_VECTOR * SLCI_VECTOR;
    for (int64_t b = 0; b < element_bytes; b++) {
        const unsigned char *rows = in + b * n;
        unsigned char *plane = planes + b * n;
        for (int64_t g = 0; g < n_vectors; g += SLCI_VECTOR) {
            groups_16(rows + g, row, plane + g * GROUP);
        }
        for (int64_t g = n_vectors; g < row; g++) {
            group_1(rows + g, row, plane + g * GROUP);
        }
    }
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
        unsigned char *out = stage->out + k * from->element_bytes;
        unsigned char *planes =
            from->element_bytes == 1 ? out : from->tools->block + from->tools->block_bytes;
        const unsigned char *bits = NULL;
        SLC_TRY(next_block(from, bytes, &bits));
        bits_to_planes(bits, m, from->element_bytes, planes);
        if (planes != out) {
            slci_chunk_unshuffle(planes, bytes, from->element_bytes, out);
        }
    }
    const int64_t rest = stage->n_out - n_grouped * from->element_bytes;
    if (rest != stage->n_in - from->at) {
        return SLC_FAIL(SLC_ERROR_INPUT, "%lld bytes are left behind the blocks in place of %lld",
                        (long long)(stage->n_in - from->at), (long long)rest);
    }
    memcpy(stage->out + n_grouped * from->element_bytes, stage->in + from->at, (size_t)rest);
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
