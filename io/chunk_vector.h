/* Vectors of bytes, and the interleaving of their bytes and bits, for transposes. They are the
 * compiler's own (SSE2 or AVX2 on x86-64, NEON on ARM), so there is one text for all processors. A
 * file that is for AVX2 sets SLCI_VECTOR_LANES to 2 before it includes this one: then a vector is
 * two lanes of 16 bytes, and whatever is said here of a vector holds of each lane. Internal to
 * io/chunk_*.c.
 *
 * Interleaving the bytes of vector i with those of vector i + n/2 moves the highest bit of the
 * vector's number to the lowest place of the byte's (n = 8):
 *
 *     vector v2 v1 v0, byte b3 b2 b1 b0    ->    vector v1 v0 b3, byte b2 b1 b0 v2
 *
 * After log2(n) rounds, n rows of 16 bytes have become 16 rows of n bytes, one after the other.
 */
#ifndef SLC_IO_CHUNK_VECTOR_H
#define SLC_IO_CHUNK_VECTOR_H

#include <stdint.h>
#include <string.h>

#ifndef SLCI_VECTOR_LANES
#define SLCI_VECTOR_LANES 1
#endif
#define SLCI_LANE INT64_C(16)
#define SLCI_VECTOR (SLCI_LANE * SLCI_VECTOR_LANES)
#define SLCI_VECTOR_INLINE static inline __attribute__((always_inline))

typedef unsigned char slci_bytes __attribute__((vector_size(SLCI_VECTOR)));
typedef uint16_t slci_byte_pairs __attribute__((vector_size(SLCI_VECTOR)));

SLCI_VECTOR_INLINE slci_bytes slci_vector_load(const unsigned char *in) {
    slci_bytes v;
    memcpy(&v, in, sizeof v);
    return v;
}

/* The lower and the upper halves of two lanes, byte by byte. */
#if SLCI_VECTOR_LANES == 1
SLCI_VECTOR_INLINE slci_bytes slci_vector_low(slci_bytes a, slci_bytes b) {
    return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}

SLCI_VECTOR_INLINE slci_bytes slci_vector_high(slci_bytes a, slci_bytes b) {
    return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15,
                                   31);
}
#else
SLCI_VECTOR_INLINE slci_bytes slci_vector_low(slci_bytes a, slci_bytes b) {
    return __builtin_shufflevector(a, b, 0, 32, 1, 33, 2, 34, 3, 35, 4, 36, 5, 37, 6, 38, 7, 39, 16,
                                   48, 17, 49, 18, 50, 19, 51, 20, 52, 21, 53, 22, 54, 23, 55);
}

SLCI_VECTOR_INLINE slci_bytes slci_vector_high(slci_bytes a, slci_bytes b) {
    return __builtin_shufflevector(a, b, 8, 40, 9, 41, 10, 42, 11, 43, 12, 44, 13, 45, 14, 46, 15,
                                   47, 24, 56, 25, 57, 26, 58, 27, 59, 28, 60, 29, 61, 30, 62, 31,
                                   63);
}
#endif

/* One round for v[2 · half]; half is 4, 2 or 1 and known to the compiler. */
SLCI_VECTOR_INLINE void slci_vector_interleave(slci_bytes *v, int half) {
    slci_bytes t[8];
#pragma GCC unroll 4
    for (int64_t k = 0; k < half; k++) {
        t[2 * k] = slci_vector_low(v[k], v[k + half]);
        t[2 * k + 1] = slci_vector_high(v[k], v[k + half]);
    }
    memcpy(v, t, 2 * (size_t)half * sizeof *v);
}

/* All rounds for v[n], n being 8, 4 or 2. */
SLCI_VECTOR_INLINE void slci_vector_transpose(slci_bytes *v, int n) {
    slci_vector_interleave(v, n / 2);
    if (n > 2) {
        slci_vector_interleave(v, n / 2);
    }
    if (n > 4) {
        slci_vector_interleave(v, n / 2);
    }
}

/* Swaps the bits `mask` << shift of a with the bits `mask` of b. Shifts go over pairs of bytes; the
 * masks remove what crosses from one to the other. */
SLCI_VECTOR_INLINE void slci_vector_swap_bits(slci_bytes *a, slci_bytes *b, int shift, int mask) {
    const slci_byte_pairs masks = (slci_byte_pairs){0} + (uint16_t)(mask << 8 | mask);
    const slci_byte_pairs t = (((slci_byte_pairs)*a >> shift) ^ (slci_byte_pairs)*b) & masks;
    *b = (slci_bytes)((slci_byte_pairs)*b ^ t);
    *a = (slci_bytes)((slci_byte_pairs)*a ^ (t << shift));
}

/* Bit j of byte k becomes bit k of byte j (Warren, Hacker's Delight, 7-3). */
static inline uint64_t slci_transpose_8x8(uint64_t x) {
    uint64_t t = (x ^ (x >> 7)) & 0x00AA00AA00AA00AAULL;
    x ^= t ^ (t << 7);
    t = (x ^ (x >> 14)) & 0x0000CCCC0000CCCCULL;
    x ^= t ^ (t << 14);
    t = (x ^ (x >> 28)) & 0x00000000F0F0F0F0ULL;
    return x ^ t ^ (t << 28);
}

#endif
