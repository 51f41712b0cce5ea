/* The loops over rows for any processor, and the choice among the sets that were compiled. */
#include <stddef.h>

#include "kernels/predict_internal.h"

#pragma GCC optimize("O3")

/* Two roundings: a fused operation without hardware for it would be a slow library call. */
static inline double multiply_add(double a, double b, double c) {
    return a * b + c;
}

#include "kernels/predict_simd_body.h"

static bool is_supported(void) {
    return true;
}

const slci_predict_simd slci_predict_simd_plain = {
    .name = "plain",
    .is_supported = is_supported,
    .add = simd_add,
};

const slci_predict_simd *slci_predict_simd_get(void) {
    if (slci_predict_simd_avx512.is_supported()) {
        return &slci_predict_simd_avx512;
    }
    return slci_predict_simd_avx2.is_supported() ? &slci_predict_simd_avx2
                                                 : &slci_predict_simd_plain;
}
