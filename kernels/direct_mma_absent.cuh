/* In place of direct_mma_kernel.cuh where the card that is compiled for lacks the instructions: the
 * same names and nothing behind them. slc_direct_unit_get keeps every picture away from these. */
#ifndef SLC_KERNELS_DIRECT_MMA_ABSENT_CUH
#define SLC_KERNELS_DIRECT_MMA_ABSENT_CUH

#include "kernels/direct_cuda_block.cuh"

struct slci_mma_warp_unit {
    static constexpr bool IS_SHORT = false;
};
struct slci_mma_short_unit {
    static constexpr bool IS_SHORT = true;
};

template <int PRODUCTS, bool IS_SHORT> struct slci_mma_form {
    static constexpr int THREADS = 0;
    static constexpr int SHARED_BYTES = 0;
};

template <class UNIT, int PRODUCTS>
static __global__ void slci_mma_product(const __grid_constant__ slci_direct_cuda_arguments a) {
    (void)a;
}

#endif
