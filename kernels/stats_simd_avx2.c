/* The loops over a block for AVX2 with fused multiply-add. The target holds for this file alone, so one
 * binary runs on every processor; the loops are chosen at run time. */
#include <stddef.h>

#include "kernels/stats_internal.h"

#if defined(__x86_64__)

#include <immintrin.h>

#pragma GCC optimize("O3")
#pragma GCC target("avx2,fma")

#include "kernels/stats_simd_body.h"

static inline void square_error(const lanes *x, const lanes *square, lanes *error) {
    const __m256d *value = (const __m256d *)x;
    const __m256d *rounded = (const __m256d *)square;
    __m256d *out = (__m256d *)error;
    out[0] = _mm256_fmsub_pd(value[0], value[0], rounded[0]);
    out[1] = _mm256_fmsub_pd(value[1], value[1], rounded[1]);
}

static bool is_supported(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

#else

#pragma GCC optimize("O3")

#include "kernels/stats_simd_body.h"
#include "kernels/stats_split_body.h"

static bool is_supported(void) {
    return false;
}

#endif

const slci_stats_simd slci_stats_simd_avx2 = {.name = "avx2",
                                              .is_supported = is_supported,
                                              SLCI_STATS_SIMD_LOOPS};
