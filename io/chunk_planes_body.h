/* The loops of io/chunk_planes.h, included once by each instruction set's file, which has said how
 * many lanes a vector has and how one is stored past the caches: store_past(lane, out), of a lane to an
 * aligned place, and settle.
 *
 * Up to 8 planes are taken together, 16 elements of each as one lane. 64 elements are done at a
 * time, which is a whole cache line of each plane: planes a power of two apart share cache sets. */
#include "core/checked.h"
#include "io/chunk_planes.h"
#include "io/chunk_vector.h"

#define LINE 64
#define GROUP 8

/* Lane l of v[n] to out[l · n · 16], one vector after the other; `lane` is l, known to the
 * compiler. */
SLCI_VECTOR_INLINE void store_lane(const slci_bytes *v, int n, int lane, unsigned char *out) {
#pragma GCC unroll 8
    for (int64_t k = 0; k < n; k++) {
        memcpy(out + ((int64_t)lane * n + k) * SLCI_LANE,
               (const unsigned char *)&v[k] + lane * SLCI_LANE, SLCI_LANE);
    }
}

/* The same past the caches: decoded elements are more than those hold, and a store into a cache reads
 * the line first. */
SLCI_VECTOR_INLINE void store_lane_past(const slci_bytes *v, int n, int lane, unsigned char *out) {
#pragma GCC unroll 8
    for (int64_t k = 0; k < n; k++) {
        store_past((const unsigned char *)&v[k] + lane * SLCI_LANE,
                   out + ((int64_t)lane * n + k) * SLCI_LANE);
    }
}

/* n vectors are whole lines of the caches, if they begin with one. */
SLCI_VECTOR_INLINE void store_lines(const slci_bytes *v, int n, unsigned char *out) {
#pragma GCC unroll 2
    for (int lane = 0; lane < SLCI_VECTOR_LANES; lane++) {
        store_lane_past(v, n, lane, out);
    }
}

SLCI_VECTOR_INLINE void store(const slci_bytes *v, int n, unsigned char *out) {
#pragma GCC unroll 2
    for (int lane = 0; lane < SLCI_VECTOR_LANES; lane++) {
        store_lane(v, n, lane, out);
    }
}

/* ---- elements --------------------------------------------------------------------------------- */

/* As many elements as a vector has bytes, of `width` (8, 4 or 2, known to the compiler) planes, to
 * every `stride` bytes of out. */
SLCI_VECTOR_INLINE void gather(const unsigned char *in, int64_t plane, int width,
                               unsigned char *out, int64_t stride) {
    slci_bytes v[8];
#pragma GCC unroll 8
    for (int k = 0; k < width; k++) {
        v[k] = slci_vector_load(in + k * plane);
    }
    slci_vector_transpose(v, width);
    if (stride == width && (uintptr_t)out % LINE == 0 && width * SLCI_VECTOR % LINE == 0) {
        store_lines(v, width, out);
        return;
    }
    if (stride == width) {
        store(v, width, out);
        return;
    }
    unsigned char packed[8 * SLCI_VECTOR];
    store(v, width, packed);
#pragma GCC unroll 32
    for (int64_t k = 0; k < SLCI_VECTOR; k++) {
        memcpy(out + k * stride, packed + k * width, (size_t)width);
    }
}

/* `n` elements, a multiple of a vector, of 8, 4, 2 planes or one. */
static void gather_8(const unsigned char *in, int64_t plane, int64_t n, unsigned char *out,
                     int64_t stride) {
    for (int64_t k = 0; k < n; k += SLCI_VECTOR) {
        gather(in + k, plane, 8, out + k * stride, stride);
    }
}

static void gather_4(const unsigned char *in, int64_t plane, int64_t n, unsigned char *out,
                     int64_t stride) {
    for (int64_t k = 0; k < n; k += SLCI_VECTOR) {
        gather(in + k, plane, 4, out + k * stride, stride);
    }
}

static void gather_2(const unsigned char *in, int64_t plane, int64_t n, unsigned char *out,
                     int64_t stride) {
    for (int64_t k = 0; k < n; k += SLCI_VECTOR) {
        gather(in + k, plane, 2, out + k * stride, stride);
    }
}

static void gather_1(const unsigned char *in, int64_t n, unsigned char *out, int64_t stride) {
    for (int64_t k = 0; k < n; k++) {
        out[k * stride] = in[k];
    }
}

/* `n` elements, a multiple of a vector and at most a line, of all planes. */
static void gather_line(const unsigned char *in, int64_t plane, int64_t n, unsigned char *out,
                        int64_t element_bytes) {
    int64_t b = 0;
    for (; element_bytes - b >= 8; b += 8) {
        gather_8(in + b * plane, plane, n, out + b, element_bytes);
    }
    if (element_bytes - b >= 4) {
        gather_4(in + b * plane, plane, n, out + b, element_bytes);
        b += 4;
    }
    if (element_bytes - b >= 2) {
        gather_2(in + b * plane, plane, n, out + b, element_bytes);
        b += 2;
    }
    if (element_bytes > b) {
        gather_1(in + b * plane, n, out + b, element_bytes);
    }
}

static void to_elements(const unsigned char *in, int64_t n, int64_t element_bytes,
                        unsigned char *out, int64_t count) {
    const int64_t n_vectors = count / SLCI_VECTOR * SLCI_VECTOR;
    for (int64_t k = 0; k < n_vectors; k += LINE) {
        gather_line(in + k, n, slc_min_i64(LINE, n_vectors - k), out + k * element_bytes,
                    element_bytes);
    }
    for (int64_t b = 0; b < element_bytes && n_vectors < count; b++) {
        gather_1(in + b * n + n_vectors, count - n_vectors, out + n_vectors * element_bytes + b,
                 element_bytes);
    }
}

/* ---- bits ------------------------------------------------------------------------------------- */

/* As many groups of 8 elements as a vector has bytes, from 8 rows of bits `row` bytes apart. */
SLCI_VECTOR_INLINE void groups(const unsigned char *in, int64_t row, unsigned char *out) {
    slci_bytes v[GROUP];
#pragma GCC unroll 8
    for (int k = 0; k < GROUP; k++) {
        v[k] = slci_vector_load(in + k * row);
    }
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++) {
        slci_vector_swap_bits(&v[k], &v[k + 4], 4, 0x0F);
    }
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++) {
        const int first = (k & 2) * 2 + (k & 1);
        slci_vector_swap_bits(&v[first], &v[first + 2], 2, 0x33);
    }
#pragma GCC unroll 4
    for (int64_t k = 0; k < 4; k++) {
        slci_vector_swap_bits(&v[2 * k], &v[2 * k + 1], 1, 0x55);
    }
    /* Byte g of vector j now belongs to element 8 g + j. */
    slci_vector_transpose(v, GROUP);
    store(v, GROUP, out);
}

static void group_1(const unsigned char *in, int64_t row, unsigned char *out) {
    uint64_t bits = 0;
    for (int k = 0; k < GROUP; k++) {
        bits |= (uint64_t)in[k * row] << (8 * k);
    }
    bits = slci_transpose_8x8(bits);
    for (int j = 0; j < GROUP; j++) {
        out[j] = (unsigned char)(bits >> (8 * j));
    }
}

static void from_bits(const unsigned char *in, int64_t n, int64_t element_bytes,
                      unsigned char *out) {
    const int64_t row = n / GROUP;
    const int64_t n_vectors = row / SLCI_VECTOR * SLCI_VECTOR;
    for (int64_t b = 0; b < element_bytes; b++) {
        const unsigned char *rows = in + b * n;
        unsigned char *plane = out + b * n;
        for (int64_t g = 0; g < n_vectors; g += SLCI_VECTOR) {
            groups(rows + g, row, plane + g * GROUP);
        }
        for (int64_t g = n_vectors; g < row; g++) {
            group_1(rows + g, row, plane + g * GROUP);
        }
    }
}
