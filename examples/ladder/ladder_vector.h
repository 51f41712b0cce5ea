/* A cosine that is plain arithmetic, and which instructions the processor has for it.
 *
 * A loop over an array that calls ladder_cosine becomes vectors: no branch, no table, no call. It is
 * compiled once for each set of instructions, by functions with that target around the same body, and
 * the best that the processor has is taken when it runs. */
#ifndef LADDER_VECTOR_H
#define LADDER_VECTOR_H

#include <math.h>

/* Inlined always, or a function for one target could not take it in. */
#define LADDER_INLINE static inline __attribute__((always_inline))

/* gcc takes vectors of half the width unless told; clang does not know the word. */
#if defined(__x86_64__) && defined(__clang__)
#define LADDER_AVX2 __attribute__((target("avx2,fma")))
#define LADDER_AVX512 __attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,avx2,fma")))
#elif defined(__x86_64__)
#define LADDER_AVX2 __attribute__((target("avx2,fma")))
#define LADDER_AVX512 \
    __attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,avx2,fma,prefer-vector-width=512")))
#else
#define LADDER_AVX2
#define LADDER_AVX512
#endif

typedef enum ladder_vectors { LADDER_PLAIN, LADDER_HAS_AVX2, LADDER_HAS_AVX512 } ladder_vectors;

ladder_vectors ladder_vectors_get(void);

/* Adding and subtracting 1.5 · 2^23, or 1.5 · 2^52 in double, rounds to the nearest whole number: a
 * number of that size has no fraction. */
#define LADDER_TO_WHOLE 12582912.0f
#define LADDER_TO_WHOLE_DOUBLE 6755399441055744.0

/* cos 2πt = sin(π/2 · x) with x = 1 - 4|t| for t within half a turn: one odd polynomial. Its
 * coefficients are single-precision numbers chosen together for the least error on [-1, 1], 7.5e-9.
 * sin 2πt is the cosine a quarter of a turn before. */
LADDER_INLINE float ladder_cosine(float turns) {
    const float x = 1.0f - 4.0f * fabsf(turns - ((turns + LADDER_TO_WHOLE) - LADDER_TO_WHOLE));
    const float x2 = x * x;
    return x * (0x1.921fb4p+0f +
                x2 * (-0x1.4abba4p-1f +
                      x2 * (0x1.466580p-4f + x2 * (-0x1.320c42p-8f + x2 * 0x1.3a4c42p-13f))));
}

#endif
