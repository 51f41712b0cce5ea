/* The product kernel with the instructions of warp groups, built for compute capability 9.0a alone
 * (CMakeLists.txt). What it does and what it reaches is in direct_mma.cu. */
#include "kernels/direct_mma_group.cuh"
#include "kernels/direct_mma_kernel.cuh"
#include "kernels/direct_mma_launch.cuh"

template <int PRODUCTS> static slci_mma_launch_form group_form() {
    return {(const void *)slci_mma_product<slci_mma_group_unit, PRODUCTS>,
            slci_mma_form<PRODUCTS, false>::THREADS, slci_mma_form<PRODUCTS, false>::SHARED_BYTES};
}

extern "C" {
const slci_mma_launch_form slci_mma_group_forms[2] = {group_form<1>(), group_form<3>()};
}
