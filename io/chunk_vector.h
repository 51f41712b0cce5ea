/* Vectors of 16 bytes and the interleaving of their bytes, for transposes. They are the compiler's own
 * (SSE2 on x86-64, NEON on ARM), so there is one text for all processors. Internal to io/chunk_*.c.
 *
 * Interleaving the bytes of vector i with those of vector i + n/2 moves the highest bit of the vector's
 * number to the lowest place of the byte's (n = 8):
 *
 *     vector v2 v1 v0, byte b3 b2 b1 b0    ->    vector v1 v0 b3, byte b2 b1 b0 v2
 *
 * After log2(n) rounds, n rows of 16 bytes have become 16 rows of n bytes, one after the other.
 */
#ifndef SLC_IO_CHUNK_VECTOR_H
#define SLC_IO_CHUNK_VECTOR_H

#include <stdint.h>
#include <string.h>

#define SLCI_VECTOR 16
#define SLCI_VECTOR_INLINE static inline __attribute__((always_inline))

typedef unsigned char slci_bytes16 __attribute__((vector_size(SLCI_VECTOR)));

SLCI_VECTOR_INLINE slci_bytes16 slci_vector_load(const unsigned char *in) {
    slci_bytes16 v;
    memcpy(&v, in, sizeof v);
    return v;
}

SLCI_VECTOR_INLINE slci_bytes16 slci_vector_low(slci_bytes16 a, slci_bytes16 b) {
    return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}

SLCI_VECTOR_INLINE slci_bytes16 slci_vector_high(slci_bytes16 a, slci_bytes16 b) {
    return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15,
                                   31);
}

/* One round for v[2 · half]; half is 4, 2 or 1 and known to the compiler. */
SLCI_VECTOR_INLINE void slci_vector_interleave(slci_bytes16 *v, int half) {
    slci_bytes16 t[8];
#pragma GCC unroll 4
    for (int64_t k = 0; k < half; k++) {
        t[2 * k] = slci_vector_low(v[k], v[k + half]);
        t[2 * k + 1] = slci_vector_high(v[k], v[k + half]);
    }
    memcpy(v, t, 2 * (size_t)half * sizeof *v);
}

/* All rounds for v[n], n being 8, 4 or 2. */
SLCI_VECTOR_INLINE void slci_vector_transpose(slci_bytes16 *v, int n) {
    slci_vector_interleave(v, n / 2);
    if (n > 2) {
        slci_vector_interleave(v, n / 2);
    }
    if (n > 4) {
        slci_vector_interleave(v, n / 2);
    }
}

#endif
