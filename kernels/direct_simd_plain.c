/* The pixel loops for any processor, and the choice among the sets that were compiled. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "kernels/direct_internal.h"

#pragma GCC optimize("O3")

/* Two roundings: a fused operation without hardware for it would be a slow library call. */
static inline float multiply_add(float a, float b, float c) {
    return a * b + c;
}

static inline double multiply_add_double(double a, double b, double c) {
    return a * b + c;
}

#include "kernels/direct_simd_body.h"

static bool is_supported(void) {
    return true;
}

const slci_direct_simd slci_direct_simd_plain = {
    .name = "plain",
    .is_supported = is_supported,
    .scaled = simd_scaled,
    .circle = simd_circle,
    .turned = simd_turned,
    .turns = simd_turns,
    .promote = simd_promote,
    .scale = simd_scale,
    .cosines = simd_cosines,
};

const slci_direct_simd *slci_direct_simd_get(void) {
    if (slci_direct_simd_avx512.is_supported()) {
        return &slci_direct_simd_avx512;
    }
    return slci_direct_simd_avx2.is_supported() ? &slci_direct_simd_avx2 : &slci_direct_simd_plain;
}
