/* bitshuffle (Masui et al. 2015, arXiv:1503.00638) as HDF5 filter 32008, decoding only.
 *
 * A chunk is cut into blocks of B elements of E bytes. Each block is a matrix of bits, an element a
 * row, and is stored transposed: first bit 0 of byte 0 of all elements, then bit 1, and so on:
 *
 *     stored byte (8 b + k) · B/8 + g, bit j   =   byte b of element 8 g + j, bit k
 *
 * The last block holds the whole groups of 8 that are left; up to 7 elements after it are stored as
 * they are. The filter's values are: two of its version, E, B (0: the default), the compression of the
 * blocks (0 none, 2 LZ4, 3 zstd). With a compression the chunk starts with its size (8 bytes, most
 * significant first) and B · E (4 bytes), and each block with its compressed size (4 bytes). */
#include <hdf5.h>
#include <stdbool.h>
#include <string.h>
#include <zstd.h>

#include "core/checked.h"
#include "io/h5_codec.h"

/* What bitshuffle takes when no block size is given: 8 KiB in whole groups of 8, at least 128. */
#define DEFAULT_BLOCK_BYTES 8192
#define MIN_BLOCK 128
#define GROUP 8
#define HEADER_BYTES 12

/* ---- LZ4 -------------------------------------------------------------------------------------- */

/* A length of 15 goes on in the bytes that follow, up to the first that is not 255. Returns -1 at the
 * end of the input. */
static int64_t read_length(const unsigned char *in, int64_t n_bytes, int64_t *at, int64_t length) {
    if (length != 15) {
        return length;
    }
    int more = 255;
    while (more == 255) {
        if (*at >= n_bytes) {
            return -1;
        }
        more = in[(*at)++];
        length += more;
    }
    return length;
}

/* The LZ4 block format (lz4/doc/lz4_Block_format.md): a token with two lengths, literals, a distance
 * of two bytes; the last sequence ends after its literals. */
int64_t slci_lz4_decode(const void *src, int64_t n_bytes, void *dst, int64_t capacity) {
    const unsigned char *in = src;
    unsigned char *out = dst;
    int64_t at = 0;
    int64_t made = 0;
    while (at < n_bytes) {
        const int token = in[at++];
        const int64_t n_literal = read_length(in, n_bytes, &at, token >> 4);
        if (n_literal < 0 || n_literal > n_bytes - at || n_literal > capacity - made) {
            return -1;
        }
        memcpy(out + made, in + at, (size_t)n_literal);
        at += n_literal;
        made += n_literal;
        if (at == n_bytes) {
            return made;
        }
        if (n_bytes - at < 2) {
            return -1;
        }
        const int64_t distance = in[at] + 256 * (int64_t)in[at + 1];
        at += 2;
        int64_t n_match = read_length(in, n_bytes, &at, token & 15);
        n_match += n_match < 0 ? 0 : 4;
        if (n_match < 0 || distance == 0 || distance > made || n_match > capacity - made) {
            return -1;
        }
        for (int64_t k = 0; k < n_match; k++) {
            out[made + k] = out[made + k - distance];
        }
        made += n_match;
    }
    return -1;
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

/* n elements, a multiple of 8. */
static void unshuffle(const unsigned char *in, int64_t n, int64_t element_bytes,
                      unsigned char *out) {
    const int64_t n_groups = n / GROUP;
    for (int64_t b = 0; b < element_bytes; b++) {
        const unsigned char *plane = in + b * GROUP * n_groups;
        for (int64_t g = 0; g < n_groups; g++) {
            uint64_t bits = 0;
            for (int k = 0; k < GROUP; k++) {
                bits |= (uint64_t)plane[k * n_groups + g] << (8 * k);
            }
            bits = transpose_8x8(bits);
            unsigned char *to = out + g * GROUP * element_bytes + b;
            for (int j = 0; j < GROUP; j++) {
                to[j * element_bytes] = (unsigned char)(bits >> (8 * j));
            }
        }
    }
}

/* ---- blocks ----------------------------------------------------------------------------------- */

static uint64_t load_big_endian(const unsigned char *in, int n) {
    uint64_t value = 0;
    for (int k = 0; k < n; k++) {
        value = value << 8 | in[k];
    }
    return value;
}

/* What is being decoded. */
typedef struct chunk {
    const unsigned char *in;
    int64_t n_bytes, at; /* of the input */
    int compression;
    int64_t element_bytes, block;
    unsigned char *plain; /* one block, decompressed; NULL without compression */
} chunk;

/* Brings the next block of `bytes` decompressed bytes; NULL where the input is damaged. */
static const unsigned char *next_block(chunk *from, int64_t bytes) {
    int64_t stored = bytes;
    if (from->compression != SLCI_BITSHUFFLE_BARE) {
        if (from->n_bytes - from->at < 4) {
            return NULL;
        }
        stored = (int64_t)load_big_endian(from->in + from->at, 4);
        from->at += 4;
    }
    if (stored > from->n_bytes - from->at) {
        return NULL;
    }
    const unsigned char *block = from->in + from->at;
    from->at += stored;
    if (from->compression == SLCI_BITSHUFFLE_BARE) {
        return block;
    }
    int64_t made;
    if (from->compression == SLCI_BITSHUFFLE_LZ4) {
        made = slci_lz4_decode(block, stored, from->plain, bytes);
    } else {
        const size_t result = ZSTD_decompress(from->plain, (size_t)bytes, block, (size_t)stored);
        made = ZSTD_isError(result) ? -1 : (int64_t)result;
    }
    return made == bytes ? from->plain : NULL;
}

/* All of a chunk's `total` bytes into `out`. Returns 0, or -1 where the input is damaged. */
static int decode_blocks(chunk *from, int64_t total, unsigned char *out) {
    const int64_t n = total / from->element_bytes;
    const int64_t n_grouped = n / GROUP * GROUP;
    for (int64_t k = 0; k < n_grouped; k += from->block) {
        const int64_t m = slc_min_i64(from->block, n_grouped - k);
        const unsigned char *bits = next_block(from, m * from->element_bytes);
        if (bits == NULL) {
            return -1;
        }
        unshuffle(bits, m, from->element_bytes, out + k * from->element_bytes);
    }
    const int64_t rest = total - n_grouped * from->element_bytes;
    if (rest != from->n_bytes - from->at) {
        return -1;
    }
    memcpy(out + n_grouped * from->element_bytes, from->in + from->at, (size_t)rest);
    return 0;
}

/* Fills in `from` from the filter's values and the chunk's header. Returns the decoded size, -1 where
 * they make no sense. */
static int64_t begin(chunk *from, size_t n_values, const unsigned values[]) {
    if (n_values <= SLCI_BITSHUFFLE_ELEMENT_BYTES || values[SLCI_BITSHUFFLE_ELEMENT_BYTES] == 0) {
        return -1;
    }
    from->element_bytes = values[SLCI_BITSHUFFLE_ELEMENT_BYTES];
    from->block = n_values > SLCI_BITSHUFFLE_BLOCK ? values[SLCI_BITSHUFFLE_BLOCK] : 0;
    from->compression = n_values > SLCI_BITSHUFFLE_MODE ? (int)values[SLCI_BITSHUFFLE_MODE] : 0;
    if (from->block == 0) {
        from->block =
            slc_max_i64(DEFAULT_BLOCK_BYTES / from->element_bytes / GROUP * GROUP, MIN_BLOCK);
    }
    int64_t total = from->n_bytes;
    if (from->compression != SLCI_BITSHUFFLE_BARE) {
        if (from->n_bytes < HEADER_BYTES) {
            return -1;
        }
        const uint64_t stated = load_big_endian(from->in, 8);
        total = stated > (uint64_t)SLCI_H5_MAX_CHUNK_BYTES ? -1 : (int64_t)stated;
        from->block = (int64_t)load_big_endian(from->in + 8, 4) / from->element_bytes;
        from->at = HEADER_BYTES;
    }
    const int64_t expected = slci_h5_codec_expected(SLCI_H5_BITSHUFFLE);
    const bool is_known = from->compression == SLCI_BITSHUFFLE_BARE ||
                          from->compression == SLCI_BITSHUFFLE_LZ4 ||
                          from->compression == SLCI_BITSHUFFLE_ZSTD;
    if (!is_known || total <= 0 || total > SLCI_H5_MAX_CHUNK_BYTES ||
        (expected > 0 && total != expected) || from->block <= 0 || from->block % GROUP != 0 ||
        from->element_bytes > SLCI_H5_MAX_CHUNK_BYTES) {
        return -1;
    }
    from->block = slc_min_i64(from->block, slc_round_up(total / from->element_bytes + 1, GROUP));
    return total;
}

size_t slci_h5_bitshuffle_filter(unsigned flags, size_t n_values, const unsigned values[],
                                 size_t n_bytes, size_t *buffer_bytes, void **buffer) {
    if ((flags & H5Z_FLAG_REVERSE) == 0) {
        return 0;
    }
    chunk from = {.in = *buffer, .n_bytes = (int64_t)n_bytes};
    const int64_t total = begin(&from, n_values, values);
    if (total < 0) {
        return 0;
    }
    unsigned char *const out = slci_h5_codec_resize(NULL, total);
    from.plain = slci_h5_codec_resize(NULL, from.block * from.element_bytes);
    const bool is_good = from.plain != NULL && out != NULL && decode_blocks(&from, total, out) == 0;
    (void)H5free_memory(from.plain);
    return slci_h5_codec_finish(out, (size_t)total, is_good ? (size_t)total : 0, buffer_bytes,
                                buffer);
}
