/* HDF5's shuffle (filter 2) undone: a transpose of bytes, from planes to elements.
 * Up to 8 planes are taken together, 16 elements of each as one vector (io/chunk_vector.h). 64
 * elements are done at a time, which is a whole cache line of each plane: planes a power of two apart
 * share cache sets. */
#include "io/chunk_shuffle.h"

#include "core/checked.h"
#include "io/chunk_stage.h"
#include "io/chunk_vector.h"

#define VECTOR SLCI_VECTOR
#define LINE 64

/* 16 elements of `width` (8, 4 or 2, known to the compiler) planes, to every `stride` bytes of out. */
SLCI_VECTOR_INLINE void transpose(const unsigned char *in, int64_t plane, int width,
                                  unsigned char *out, int64_t stride) {
    slci_bytes16 v[8];
#pragma GCC unroll 8
    for (int k = 0; k < width; k++) {
        v[k] = slci_vector_load(in + k * plane);
    }
    slci_vector_transpose(v, width);
    if (stride == width) {
        memcpy(out, v, (size_t)width * VECTOR);
        return;
    }
#pragma GCC unroll 16
    for (int64_t k = 0; k < VECTOR; k++) {
        memcpy(out + k * stride, (const unsigned char *)v + k * width, (size_t)width);
    }
}

/* `n` elements, a multiple of 16, of 8, 4, 2 planes or one. */
static void gather_8(const unsigned char *in, int64_t plane, int64_t n, unsigned char *out,
                     int64_t stride) {
    for (int64_t k = 0; k < n; k += VECTOR) {
        transpose(in + k, plane, 8, out + k * stride, stride);
    }
}

static void gather_4(const unsigned char *in, int64_t plane, int64_t n, unsigned char *out,
                     int64_t stride) {
    for (int64_t k = 0; k < n; k += VECTOR) {
        transpose(in + k, plane, 4, out + k * stride, stride);
    }
}

static void gather_2(const unsigned char *in, int64_t plane, int64_t n, unsigned char *out,
                     int64_t stride) {
    for (int64_t k = 0; k < n; k += VECTOR) {
        transpose(in + k, plane, 2, out + k * stride, stride);
    }
}

static void gather_1(const unsigned char *in, int64_t n, unsigned char *out, int64_t stride) {
    for (int64_t k = 0; k < n; k++) {
        out[k * stride] = in[k];
    }
}

/* `n` elements, a multiple of 16 and at most a line, of all planes. */
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

void slci_chunk_unshuffle(const unsigned char *in, int64_t n_bytes, int64_t element_bytes,
                          unsigned char *out) {
    const int64_t n = n_bytes / element_bytes;
    if (element_bytes == 1 || n <= 1) {
        memcpy(out, in, (size_t)n_bytes);
        return;
    }
    const int64_t n_vectors = n / VECTOR * VECTOR;
    for (int64_t k = 0; k < n_vectors; k += LINE) {
        gather_line(in + k, n, slc_min_i64(LINE, n_vectors - k), out + k * element_bytes,
                    element_bytes);
    }
    for (int64_t b = 0; b < element_bytes && n_vectors < n; b++) {
        gather_1(in + b * n + n_vectors, n - n_vectors, out + n_vectors * element_bytes + b,
                 element_bytes);
    }
    const int64_t rest = n_bytes - n * element_bytes;
    memcpy(out + n * element_bytes, in + n * element_bytes, (size_t)rest);
}

slc_status slci_chunk_shuffle_decode(slci_chunk_tools *tools, const slci_chunk_stage *stage) {
    (void)tools;
    if (stage->n_in != stage->n_out) {
        return SLC_FAIL(SLC_ERROR_INPUT, "%lld bytes in place of %lld", (long long)stage->n_in,
                        (long long)stage->n_out);
    }
    slci_chunk_unshuffle(stage->in, stage->n_in, (int64_t)stage->filter->values[0], stage->out);
    return SLC_OK;
}
