/* Which vectors this processor has. */
#include "ladder_vector.h"

#if defined(__x86_64__)

ladder_vectors ladder_vectors_get(void) {
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw")) {
        return LADDER_HAS_AVX512;
    }
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? LADDER_HAS_AVX2
                                                                           : LADDER_PLAIN;
}

#else

ladder_vectors ladder_vectors_get(void) {
    return LADDER_PLAIN;
}

#endif
