/* Stands in for chunk_lz4_liblz4.c: one block of LZ4 without its library, at a fraction of the
 * speed. */
#include <string.h>

#include "io/chunk_stage.h"

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
