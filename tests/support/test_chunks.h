/* Encoded chunks for tests of the decoders: plain, slow encoders written from the formats' definitions.
 *
 *     test_chunk *chunk = test_chunk_create(&pipeline, 0, seed);   // chunk->stored, chunk->raw
 */
#ifndef SLC_TESTS_SUPPORT_TEST_CHUNKS_H
#define SLC_TESTS_SUPPORT_TEST_CHUNKS_H

#include "io/chunk_codec.h"

typedef struct test_chunk {
    int64_t n_raw, n_stored;
    unsigned char *raw, *stored;
} test_chunk;

/* A filter by its number and values, the rest being 0. */
#define TEST_FILTER(id_, ...)                                                                     \
    ((slci_chunk_filter){.id = (id_),                                                             \
                         .n_values = (int)(sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)), \
                         .values = {__VA_ARGS__}})

/* chunk_bytes of compressible data, encoded by the filters whose bit in the mask is 0: shuffle,
 * fletcher32, deflate (stored blocks), zstd (with a checksum), LZF, LZ4 (values[0]: bytes of a block),
 * bitshuffle (5 values), blosc (values[2]: bytes of an element; stored as it is). */
test_chunk *test_chunk_create(const slci_chunk_pipeline *pipeline, uint32_t mask, uint64_t seed);
void test_chunk_destroy(test_chunk *chunk);

/* Whether this build can write such a filter ("bitshuffle-lz4"); if not, it is printed why. */
bool test_filter_is_built(const char *text);

/* One block of LZ4 or LZF: literals, and a match wherever the bytes repeat at the distance of 8 or 1.
 * Returns the bytes made; out has room for 2 n + 64. */
int64_t test_lz4_encode(const unsigned char *in, int64_t n, unsigned char *out);
int64_t test_lzf_encode(const unsigned char *in, int64_t n, unsigned char *out);

#endif
