/* The two ways in which the host copies what a plan says: row by row, and in turned blocks. For
 * core/copy.c alone.
 *
 *     slci_copy_plan_init_host(&dst_layout, &src_layout, &plan);
 *     slci_copy_host_rows(&plan, first_dst, first_src, is_large);
 */
#ifndef SLC_CORE_COPY_HOST_H
#define SLC_CORE_COPY_HOST_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/copy_plan.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A function for constant arguments, expanded for each set of them. */
#define SLCI_INLINE __attribute__((always_inline)) static inline

/* What every processor's vectors have; the compiler makes single elements of them where it must. */
#define SLCI_VECTOR_BYTES 16

typedef uint8_t slci_vector8 __attribute__((vector_size(SLCI_VECTOR_BYTES)));
typedef uint16_t slci_vector16 __attribute__((vector_size(SLCI_VECTOR_BYTES)));
typedef uint32_t slci_vector32 __attribute__((vector_size(SLCI_VECTOR_BYTES)));
typedef uint64_t slci_vector64 __attribute__((vector_size(SLCI_VECTOR_BYTES)));

/* Of a cache; what is written past the caches goes in whole lines. */
#define SLCI_LINE_BYTES 64

/* Each copies one matrix, the last two dimensions of the plan, whose first unit is given. With
 * `is_large` the destination is written past the caches: it would not stay in them. */
void slci_copy_host_rows(const slci_copy_plan *plan, char *dst, const char *src, bool is_large);
void slci_copy_host_turned(const slci_copy_plan *plan, char *dst, const char *src, bool is_large);

/* Writes one line, aligned to its size, past the caches. A processor that has no such stores takes
 * ordinary ones. */
#if defined(__SSE2__)
static inline void slci_stream_line(void *dst, const void *src) {
    const __m128i *from = (const __m128i *)src;
    __m128i *to = (__m128i *)dst;
    const __m128i a = _mm_loadu_si128(from);
    const __m128i b = _mm_loadu_si128(from + 1);
    const __m128i c = _mm_loadu_si128(from + 2);
    const __m128i d = _mm_loadu_si128(from + 3);
    _mm_stream_si128(to, a);
    _mm_stream_si128(to + 1, b);
    _mm_stream_si128(to + 2, c);
    _mm_stream_si128(to + 3, d);
}

/* Such stores are not ordered; after this they are, like any others. */
static inline void slci_stream_end(void) {
    _mm_sfence();
}
#else
static inline void slci_stream_line(void *dst, const void *src) {
    memcpy(dst, src, SLCI_LINE_BYTES);
}

static inline void slci_stream_end(void) {
}
#endif

/* A run of bytes past the caches, but for the parts of lines at its ends. */
static inline void slci_stream_run(char *dst, const char *src, int64_t bytes) {
    int64_t at = (int64_t)(-(uintptr_t)dst % SLCI_LINE_BYTES);
    at = at < bytes ? at : bytes;
    memcpy(dst, src, (size_t)at);
    for (; at + SLCI_LINE_BYTES <= bytes; at += SLCI_LINE_BYTES) {
        slci_stream_line(dst + at, src + at);
    }
    memcpy(dst + at, src + at, (size_t)(bytes - at));
}

#ifdef __cplusplus
}
#endif
#endif
