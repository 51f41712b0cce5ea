/* The loops over a block for AVX-512, whose vectors hold all lanes. The target holds for this file
 * alone, so one binary runs on every processor; the loops are chosen at run time. */
#include <stddef.h>

#include "kernels/stats_internal.h"

#if defined(__x86_64__)

#include <immintrin.h>

#pragma GCC optimize("O3")
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,prefer-vector-width=512")

#define LANES 8
#include "kernels/stats_simd_body.h"

static inline lanes widen(single_lanes x) {
    return (lanes)_mm512_cvtps_pd((__m256)x);
}

static inline lanes add_square(lanes x, lanes more) {
    return (lanes)_mm512_fmadd_pd((__m512d)x, (__m512d)x, (__m512d)more);
}

static inline lanes square_error(lanes x, lanes square) {
    return (lanes)_mm512_fmsub_pd((__m512d)x, (__m512d)x, (__m512d)square);
}

static inline lanes neighbours(lanes x) {
    return (lanes)_mm512_permute_pd((__m512d)x, 0x55);
}

static inline lanes least_of(lanes a, lanes b) {
    return (lanes)_mm512_min_pd((__m512d)a, (__m512d)b);
}

static inline lanes most_of(lanes a, lanes b) {
    return (lanes)_mm512_max_pd((__m512d)a, (__m512d)b);
}

static bool is_supported(void) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
}

#else

#pragma GCC optimize("O3")

#define LANES 2
#include "kernels/stats_simd_body.h"
#include "kernels/stats_split_body.h"

static bool is_supported(void) {
    return false;
}

#endif

const slci_stats_simd slci_stats_simd_avx512 = {.name = "avx512",
                                                .is_supported = is_supported,
                                                SLCI_STATS_SIMD_LOOPS};
