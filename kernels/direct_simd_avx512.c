/* The pixel loops for AVX-512: one vector is 16 pixels, 8 in double. The target holds for this
 * file alone, so one binary runs on every processor; the loops are chosen at run time. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "kernels/direct_internal.h"

#if defined(__x86_64__)

#pragma GCC optimize("O3")
#pragma GCC target("avx512f,avx512dq,avx512vl,avx512bw,avx2,fma,prefer-vector-width=512")

static inline __attribute__((always_inline)) float multiply_add(float a, float b, float c) {
    return __builtin_fmaf(a, b, c);
}

static inline __attribute__((always_inline)) double multiply_add_double(double a, double b,
                                                                        double c) {
    return __builtin_fma(a, b, c);
}

#include "kernels/direct_simd_body.h"

static bool is_supported(void) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

#else

#pragma GCC optimize("O3")

static inline float multiply_add(float a, float b, float c) {
    return a * b + c;
}

static inline double multiply_add_double(double a, double b, double c) {
    return a * b + c;
}

#include "kernels/direct_simd_body.h"

static bool is_supported(void) {
    return false;
}

#endif

const slci_direct_simd slci_direct_simd_avx512 = {
    .name = "avx512",
    .is_supported = is_supported,
    .scaled = simd_scaled,
    .circle = simd_circle,
    .turned = simd_turned,
    .turns = simd_turns,
    .promote = simd_promote,
    .scale = simd_scale,
    .cosines = simd_cosines,
};
