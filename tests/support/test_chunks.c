/* Encoders from the definitions: io/chunk_*.c say what the formats are. */
#include "tests/support/test_chunks.h"

#include <zstd.h>

#include "io/chunk_encode.h"
#include "io/h5_filter_list.h"
#include "tests/support/test_support.h"

/* Bytes that grow. */
typedef struct bytes {
    int64_t n;
    unsigned char *at;
} bytes;

/* Room for what any of the encoders makes of n bytes in blocks of 8 bytes or more. */
static bytes room_for(int64_t n) {
    return (bytes){0, test_allocate(4 * n + 4096)};
}

static void put(bytes *to, const void *from, int64_t n) {
    memcpy(to->at + to->n, from, (size_t)n);
    to->n += n;
}

static void put_big_endian(bytes *to, uint64_t value, int n) {
    for (int k = n - 1; k >= 0; k--) {
        to->at[to->n++] = (unsigned char)(value >> (8 * k));
    }
}

static void put_little_endian(bytes *to, uint64_t value, int n) {
    for (int k = 0; k < n; k++) {
        to->at[to->n++] = (unsigned char)(value >> (8 * k));
    }
}

/* ---- blocks ----------------------------------------------------------------------------------- */

/* The length of the match at `at` with what lies `distance` before it. */
static int64_t match(const unsigned char *in, int64_t n, int64_t at, int64_t distance) {
    int64_t length = 0;
    while (at >= distance && at + length < n && in[at + length] == in[at + length - distance]) {
        length++;
    }
    return length;
}

static void put_length(bytes *to, int64_t length) {
    if (length >= 15) {
        for (length -= 15; length >= 255; length -= 255) {
            to->at[to->n++] = 255;
        }
        to->at[to->n++] = (unsigned char)length;
    }
}

static int nibble(int64_t length) {
    return length < 15 ? (int)length : 15;
}

/* The last 12 bytes are literals, as the format wants. */
int64_t test_lz4_encode(const unsigned char *in, int64_t n, unsigned char *out) {
    bytes to = {0, out};
    int64_t literals = 0; /* where those not yet written begin */
    for (int64_t at = 0; at < n - 12;) {
        const int64_t near = match(in, n - 5, at, 1);
        const int64_t far = match(in, n - 5, at, 8);
        const int64_t length = near > far ? near : far;
        if (length < 4) {
            at++;
            continue;
        }
        to.at[to.n++] = (unsigned char)(nibble(at - literals) << 4 | nibble(length - 4));
        put_length(&to, at - literals);
        put(&to, in + literals, at - literals);
        put_little_endian(&to, near > far ? 1 : 8, 2);
        put_length(&to, length - 4);
        at += length;
        literals = at;
    }
    to.at[to.n++] = (unsigned char)(nibble(n - literals) << 4);
    put_length(&to, n - literals);
    put(&to, in + literals, n - literals);
    return to.n;
}

static void put_lzf_literals(bytes *to, const unsigned char *in, int64_t n) {
    for (int64_t k = 0; k < n; k += 32) {
        const int64_t m = n - k < 32 ? n - k : 32;
        to->at[to->n++] = (unsigned char)(m - 1);
        put(to, in + k, m);
    }
}

int64_t test_lzf_encode(const unsigned char *in, int64_t n, unsigned char *out) {
    bytes to = {0, out};
    int64_t literals = 0;
    for (int64_t at = 0; at < n;) {
        const int64_t found = match(in, n, at, 8);
        const int64_t length = found > 264 ? 264 : found;
        if (length < 3) {
            at++;
            continue;
        }
        put_lzf_literals(&to, in + literals, at - literals);
        to.at[to.n++] = (unsigned char)((length < 9 ? length - 2 : 7) << 5);
        if (length >= 9) {
            to.at[to.n++] = (unsigned char)(length - 9);
        }
        to.at[to.n++] = 7; /* a distance of 8 */
        at += length;
        literals = at;
    }
    put_lzf_literals(&to, in + literals, n - literals);
    return to.n;
}

static bytes zstd(const unsigned char *in, int64_t n, bool has_checksum) {
    bytes to = room_for(n);
    ZSTD_CCtx *context = ZSTD_createCCtx();
    (void)ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, has_checksum);
    const size_t made = ZSTD_compress2(context, to.at, (size_t)(4 * n + 4096), in, (size_t)n);
    assert_false(ZSTD_isError(made));
    (void)ZSTD_freeCCtx(context);
    to.n = (int64_t)made;
    return to;
}

/* ---- filters ---------------------------------------------------------------------------------- */

static bytes shuffle(const unsigned char *in, int64_t n_bytes, int64_t element_bytes) {
    bytes to = room_for(n_bytes);
    const int64_t n = n_bytes / element_bytes;
    for (int64_t k = 0; k < n * element_bytes; k++) {
        to.at[k % element_bytes * n + k / element_bytes] = in[k];
    }
    to.n = n * element_bytes;
    put(&to, in + to.n, n_bytes - to.n);
    return to;
}

/* Words with the high byte first; 65535 stands for 0 but where all words are 0. */
static bytes fletcher32(const unsigned char *in, int64_t n) {
    bytes to = room_for(n);
    uint64_t sum[2] = {0, 0};
    for (int64_t k = 0; k < n; k += 2) {
        sum[0] += (uint64_t)in[k] << 8 | (k + 1 < n ? in[k + 1] : 0U);
        sum[0] -= sum[0] > 65535 ? 65535 : 0;
        sum[1] += sum[0];
        sum[1] -= sum[1] > 65535 ? 65535 : 0;
    }
    put(&to, in, n);
    put_little_endian(&to, sum[1] << 16 | sum[0], 4);
    return to;
}

/* A zlib stream of blocks that are stored. */
static bytes deflate(const unsigned char *in, int64_t n) {
    bytes to = room_for(n);
    uint64_t a = 1;
    uint64_t b = 0;
    put_big_endian(&to, 0x7801, 2);
    for (int64_t k = 0; k < n; k += 1000) {
        const int64_t m = n - k < 1000 ? n - k : 1000;
        to.at[to.n++] = k + m == n;
        put_little_endian(&to, (uint64_t)m, 2);
        put_little_endian(&to, (uint64_t)~m, 2);
        put(&to, in + k, m);
    }
    for (int64_t k = 0; k < n; k++) {
        a = (a + in[k]) % 65521;
        b = (b + a) % 65521;
    }
    put_big_endian(&to, b << 16 | a, 4);
    return to;
}

static bytes lz4(const unsigned char *in, int64_t n, int64_t block) {
    bytes to = room_for(n);
    put_big_endian(&to, (uint64_t)n, 8);
    put_big_endian(&to, (uint64_t)block, 4);
    unsigned char *one = test_allocate(2 * block + 64);
    for (int64_t k = 0; k < n; k += block) {
        const int64_t m = n - k < block ? n - k : block;
        const int64_t made = test_lz4_encode(in + k, m, one);
        put_big_endian(&to, (uint64_t)(made < m ? made : m), 4);
        put(&to, made < m ? one : in + k, made < m ? made : m);
    }
    free(one);
    return to;
}

static bytes lzf(const unsigned char *in, int64_t n) {
    bytes to = room_for(n);
    to.n = test_lzf_encode(in, n, to.at);
    return to;
}

/* Version 2, one block, copied as it is. */
static bytes blosc(const unsigned char *in, int64_t n, int64_t element_bytes) {
    bytes to = room_for(n);
    const unsigned char head[4] = {2, 1, 2, (unsigned char)element_bytes};
    put(&to, head, 4);
    put_little_endian(&to, (uint64_t)n, 4);
    put_little_endian(&to, (uint64_t)n, 4);
    put_little_endian(&to, (uint64_t)n + 16, 4);
    put(&to, in, n);
    return to;
}

/* One block of n elements: stored bit (8 b + k) n + e is bit k of byte b of element e. */
static void transpose_bits(const unsigned char *in, int64_t n, int64_t element_bytes,
                           unsigned char *out) {
    memset(out, 0, (size_t)(n * element_bytes));
    for (int64_t e = 0; e < n; e++) {
        for (int64_t bit = 0; bit < 8 * element_bytes; bit++) {
            const int64_t to = bit * n + e;
            const int is_set = in[e * element_bytes + bit / 8] >> (bit % 8) & 1;
            out[to / 8] = (unsigned char)(out[to / 8] | is_set << (to % 8));
        }
    }
}

static bytes bitshuffle(const unsigned char *in, int64_t n_bytes, const uint32_t *values) {
    bytes to = room_for(n_bytes);
    const int64_t element = values[SLCI_BITSHUFFLE_ELEMENT_BYTES];
    const uint32_t mode = values[SLCI_BITSHUFFLE_MODE];
    int64_t block = values[SLCI_BITSHUFFLE_BLOCK];
    if (block == 0) {
        block = 8192 / element / 8 * 8 > 128 ? 8192 / element / 8 * 8 : 128;
    }
    if (mode != SLCI_BITSHUFFLE_BARE) {
        put_big_endian(&to, (uint64_t)n_bytes, 8);
        put_big_endian(&to, (uint64_t)(block * element), 4);
    }
    const int64_t n = n_bytes / element / 8 * 8;
    unsigned char *turned = test_allocate(block * element);
    unsigned char *packed = test_allocate(2 * block * element + 64);
    for (int64_t k = 0; k < n; k += block) {
        const int64_t m = n - k < block ? n - k : block;
        transpose_bits(in + k * element, m, element, turned);
        if (mode == SLCI_BITSHUFFLE_BARE) {
            put(&to, turned, m * element);
        } else if (mode == SLCI_BITSHUFFLE_LZ4) {
            const int64_t made = test_lz4_encode(turned, m * element, packed);
            put_big_endian(&to, (uint64_t)made, 4);
            put(&to, packed, made);
        } else {
            const bytes frame = zstd(turned, m * element, false);
            put_big_endian(&to, (uint64_t)frame.n, 4);
            put(&to, frame.at, frame.n);
            free(frame.at);
        }
    }
    free(packed);
    free(turned);
    put(&to, in + n * element, n_bytes - n * element);
    return to;
}

static bytes encode(const slci_chunk_filter *filter, const bytes *in) {
    switch (filter->id) {
    case SLCI_FILTER_SHUFFLE:
        return shuffle(in->at, in->n, filter->values[0]);
    case SLCI_FILTER_FLETCHER32:
        return fletcher32(in->at, in->n);
    case SLCI_FILTER_DEFLATE:
        return deflate(in->at, in->n);
    case SLCI_FILTER_LZF:
        return lzf(in->at, in->n);
    case SLCI_FILTER_LZ4:
        return lz4(in->at, in->n, filter->values[0]);
    case SLCI_FILTER_BLOSC:
        return blosc(in->at, in->n, filter->values[2]);
    case SLCI_FILTER_BITSHUFFLE:
        return bitshuffle(in->at, in->n, filter->values);
    default:
        assert_int_equal(filter->id, SLCI_FILTER_ZSTD);
        return zstd(in->at, in->n, true);
    }
}

/* Ramps with a little noise, and stretches that repeat. */
static void fill(unsigned char *out, int64_t n, uint64_t seed) {
    test_fill(out, n, seed);
    for (int64_t k = 0; k < n; k++) {
        const unsigned char ramp = (unsigned char)(k % 4 == 0 ? out[k] & 7 : k / 300 + k % 4);
        const unsigned char repeated = (unsigned char)(k % 8 + k / 512);
        out[k] = k / 512 % 3 == 0 ? repeated : ramp;
    }
}

test_chunk *test_chunk_create(const slci_chunk_pipeline *pipeline, uint32_t mask, uint64_t seed) {
    test_chunk *chunk = test_allocate(sizeof *chunk);
    chunk->n_raw = pipeline->chunk_bytes;
    chunk->raw = test_allocate(chunk->n_raw);
    fill(chunk->raw, chunk->n_raw, seed);
    bytes now = room_for(chunk->n_raw);
    put(&now, chunk->raw, chunk->n_raw);
    for (int k = 0; k < pipeline->n_filters; k++) {
        if ((mask >> k & 1U) == 0) {
            const bytes next = encode(&pipeline->filter[k], &now);
            free(now.at);
            now = next;
        }
    }
    chunk->stored = now.at;
    chunk->n_stored = now.n;
    return chunk;
}

void test_chunk_destroy(test_chunk *chunk) {
    free(chunk->raw);
    free(chunk->stored);
    free(chunk);
}

bool test_filter_is_built(const char *text) {
    slc_h5_filter filter;
    slci_chunk_pipeline pipeline;
    char why[SLCI_CHUNK_WHY_BYTES];
    TEST_OK(slc_h5_filter_parse(text, &filter));
    slci_h5_filter_pipeline(&filter, 64, 4, &pipeline);
    const bool is_built =
        pipeline.n_filters == 0 || slci_chunk_encoder_check(&pipeline, why, sizeof why);
    if (!is_built) {
        print_message("left out: %s: %s\n", text, why);
    }
    return is_built;
}
