/* The loops over rows for AVX-512: one vector is 8 rows. The target holds
 * for this file alone, so one binary runs on every processor; the loops are chosen at run time. */
#include <stddef.h>

#include "kernels/predict_internal.h"

#if defined(__x86_64__)

#pragma GCC optimize("O3")
#pragma GCC target("avx512f,avx512dq,avx512vl,avx2,fma,prefer-vector-width=512")

static inline __attribute__((always_inline)) double multiply_add(double a, double b, double c) {
    return __builtin_fma(a, b, c);
}

#include "kernels/predict_simd_body.h"

static bool is_supported(void) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx2") &&
           __builtin_cpu_supports("fma");
}

#else

#pragma GCC optimize("O3")

static inline double multiply_add(double a, double b, double c) {
    return a * b + c;
}

#include "kernels/predict_simd_body.h"

static bool is_supported(void) {
    return false;
}

#endif

const slci_predict_simd slci_predict_simd_avx512 = {
    .name = "avx512",
    .is_supported = is_supported,
    .add = simd_add,
};
