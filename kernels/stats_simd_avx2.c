/* The loops over a block for AVX2 with fused multiply-add. The target holds for this file alone, so one
 * binary runs on every processor; the loops are chosen at run time. */
#include <stddef.h>

#include "kernels/stats_internal.h"

#if defined(__x86_64__)

#include <immintrin.h>

#pragma GCC optimize("O3")
#pragma GCC target("avx2,fma")

#define LANES 4
#include "kernels/stats_simd_body.h"

static inline lanes widen(single_lanes x) {
    return (lanes)_mm256_cvtps_pd((__m128)x);
}

static inline lanes add_square(lanes x, lanes more) {
    return (lanes)_mm256_fmadd_pd((__m256d)x, (__m256d)x, (__m256d)more);
}

static inline lanes square_error(lanes x, lanes square) {
    return (lanes)_mm256_fmsub_pd((__m256d)x, (__m256d)x, (__m256d)square);
}

static inline lanes neighbours(lanes x) {
    return (lanes)_mm256_permute_pd((__m256d)x, 5);
}

static inline lanes least_of(lanes a, lanes b) {
    return (lanes)_mm256_min_pd((__m256d)a, (__m256d)b);
}

static inline lanes most_of(lanes a, lanes b) {
    return (lanes)_mm256_max_pd((__m256d)a, (__m256d)b);
}

static bool is_supported(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
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

const slci_stats_simd slci_stats_simd_avx2 = {.name = "avx2",
                                              .is_supported = is_supported,
                                              SLCI_STATS_SIMD_LOOPS};
