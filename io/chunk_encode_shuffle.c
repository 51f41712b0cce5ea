/* Shuffle and the bits of bitshuffle on their way into a file: transposes of bytes and bits.
 *
 * The rounds of io/chunk_vector.h move the place of a byte (v vectors of 16: log2(v) + 4 bits) around
 * by one bit each. Going back from elements to planes takes log2(v) rounds the other way, or 4 more of
 * the same, which bring the place around in full:
 *
 *     width 8:  8 vectors, place v2 v1 v0 b3 b2 b1 b0; 3 rounds make elements of planes, 4 the reverse
 *
 * so there is nothing new to compute with. 64 elements are done at a time, a cache line of each
 * plane. */
#include "core/checked.h"
#include "io/chunk_encode_stage.h"
#include "io/chunk_vector.h"

#define VECTOR SLCI_VECTOR
#define LINE 64
#define GROUP 8

/* v[n], n being 8, 4 or 2 and known to the compiler: what slci_vector_transpose does, undone. */
SLCI_VECTOR_INLINE void untranspose(slci_bytes *v, int n) {
#pragma GCC unroll 4
    for (int round = 0; round < 4; round++) {
        slci_vector_interleave(v, n / 2);
    }
}

/* 16 elements of `width` (8, 4 or 2, known to the compiler) bytes, every `stride` bytes, to planes. */
SLCI_VECTOR_INLINE void scatter(const unsigned char *in, int64_t stride, int width,
                                unsigned char *out, int64_t plane) {
    unsigned char packed[8 * VECTOR];
    slci_bytes v[8];
    const unsigned char *from = in;
    if (stride != width) {
#pragma GCC unroll 16
        for (int64_t k = 0; k < VECTOR; k++) {
            memcpy(packed + k * width, in + k * stride, (size_t)width);
        }
        from = packed;
    }
#pragma GCC unroll 8
    for (int k = 0; k < width; k++) {
        v[k] = slci_vector_load(from + (int64_t)k * VECTOR);
    }
    untranspose(v, width);
#pragma GCC unroll 8
    for (int k = 0; k < width; k++) {
        memcpy(out + k * plane, &v[k], VECTOR);
    }
}

/* `n` elements, a multiple of 16, of 8, 4, 2 bytes or one. */
static void scatter_8(const unsigned char *in, int64_t stride, int64_t n, unsigned char *out,
                      int64_t plane) {
    for (int64_t k = 0; k < n; k += VECTOR) {
        scatter(in + k * stride, stride, 8, out + k, plane);
    }
}

static void scatter_4(const unsigned char *in, int64_t stride, int64_t n, unsigned char *out,
                      int64_t plane) {
    for (int64_t k = 0; k < n; k += VECTOR) {
        scatter(in + k * stride, stride, 4, out + k, plane);
    }
}

static void scatter_2(const unsigned char *in, int64_t stride, int64_t n, unsigned char *out,
                      int64_t plane) {
    for (int64_t k = 0; k < n; k += VECTOR) {
        scatter(in + k * stride, stride, 2, out + k, plane);
    }
}

static void scatter_1(const unsigned char *in, int64_t stride, int64_t n, unsigned char *out) {
    for (int64_t k = 0; k < n; k++) {
        out[k] = in[k * stride];
    }
}

/* `n` elements, a multiple of 16 and at most a line, of all bytes. */
static void scatter_line(const unsigned char *in, int64_t element_bytes, int64_t n,
                         unsigned char *out, int64_t plane) {
    int64_t b = 0;
    for (; element_bytes - b >= 8; b += 8) {
        scatter_8(in + b, element_bytes, n, out + b * plane, plane);
    }
    if (element_bytes - b >= 4) {
        scatter_4(in + b, element_bytes, n, out + b * plane, plane);
        b += 4;
    }
    if (element_bytes - b >= 2) {
        scatter_2(in + b, element_bytes, n, out + b * plane, plane);
        b += 2;
    }
    if (element_bytes > b) {
        scatter_1(in + b, element_bytes, n, out + b * plane);
    }
}

void slci_chunk_shuffle(const unsigned char *in, int64_t n_bytes, int64_t element_bytes,
                        unsigned char *out) {
    const int64_t n = n_bytes / element_bytes;
    if (element_bytes == 1 || n <= 1) {
        memcpy(out, in, (size_t)n_bytes);
        return;
    }
    const int64_t n_vectors = n / VECTOR * VECTOR;
    for (int64_t k = 0; k < n_vectors; k += LINE) {
        scatter_line(in + k * element_bytes, element_bytes, slc_min_i64(LINE, n_vectors - k),
                     out + k, n);
    }
    for (int64_t b = 0; b < element_bytes && n_vectors < n; b++) {
        scatter_1(in + n_vectors * element_bytes + b, element_bytes, n - n_vectors,
                  out + b * n + n_vectors);
    }
    const int64_t rest = n_bytes - n * element_bytes;
    memcpy(out + n * element_bytes, in + n * element_bytes, (size_t)rest);
}

/* ---- bits ------------------------------------------------------------------------------------- */

/* 128 bytes of a plane, to 8 rows of bits `row` bytes apart: 16 bytes of each. */
SLCI_VECTOR_INLINE void bits_128(const unsigned char *in, unsigned char *out, int64_t row) {
    slci_bytes v[GROUP];
    memcpy(v, in, sizeof v);
    untranspose(v, GROUP);
    /* Byte g of vector j belongs to element 8 g + j. */
#pragma GCC unroll 4
    for (int64_t k = 0; k < 4; k++) {
        slci_vector_swap_bits(&v[2 * k], &v[2 * k + 1], 1, 0x55);
    }
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++) {
        const int first = (k & 2) * 2 + (k & 1);
        slci_vector_swap_bits(&v[first], &v[first + 2], 2, 0x33);
    }
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++) {
        slci_vector_swap_bits(&v[k], &v[k + 4], 4, 0x0F);
    }
#pragma GCC unroll 8
    for (int k = 0; k < GROUP; k++) {
        memcpy(out + k * row, &v[k], VECTOR);
    }
}

static void bits_8(const unsigned char *in, unsigned char *out, int64_t row) {
    uint64_t bits = 0;
    for (int j = 0; j < GROUP; j++) {
        bits |= (uint64_t)in[j] << (8 * j);
    }
    bits = slci_transpose_8x8(bits);
    for (int k = 0; k < GROUP; k++) {
        out[k * row] = (unsigned char)(bits >> (8 * k));
    }
}

void slci_chunk_planes_to_bits(const unsigned char *planes, int64_t n, int64_t element_bytes,
                               unsigned char *out) {
    const int64_t row = n / GROUP;
    const int64_t n_vectors = row / VECTOR * VECTOR;
    for (int64_t b = 0; b < element_bytes; b++) {
        const unsigned char *plane = planes + b * n;
        unsigned char *rows = out + b * n;
        for (int64_t g = 0; g < n_vectors; g += VECTOR) {
            bits_128(plane + g * GROUP, rows + g, row);
        }
        for (int64_t g = n_vectors; g < row; g++) {
            bits_8(plane + g * GROUP, rows + g, row);
        }
    }
}
