/* The loops over a block for any processor, and the choice among the sets that were compiled. */
#include <stddef.h>

#include "kernels/stats_internal.h"

#pragma GCC optimize("O3")

/* What the least of all processors with vectors has. */
#define LANES 2
#include "kernels/stats_simd_body.h"
#include "kernels/stats_split_body.h"

static bool is_supported(void) {
    return true;
}

const slci_stats_simd slci_stats_simd_plain = {.name = "plain",
                                               .is_supported = is_supported,
                                               SLCI_STATS_SIMD_LOOPS};

const slci_stats_simd *const slci_stats_sets[SLCI_STATS_SETS] = {&slci_stats_simd_avx512,
                                                                 &slci_stats_simd_avx2,
                                                                 &slci_stats_simd_plain};

const slci_stats_simd *slci_stats_simd_get(void) {
    int s = 0;
    while (!slci_stats_sets[s]->is_supported()) {
        s++; /* the last one is */
    }
    return slci_stats_sets[s];
}
