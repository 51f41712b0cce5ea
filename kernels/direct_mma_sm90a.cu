/* The product kernel with the instructions of warp groups, built for compute capability 9.0a alone
 * (CMakeLists.txt). What it does and what it reaches is in direct_mma.cu. */
#include "kernels/direct_mma_group.cuh"
#include "kernels/direct_mma_kernel.cuh"
#include "kernels/direct_mma_launch.cuh"

template <int PRODUCTS, int TERMS> static slci_mma_launch_form group_form() {
    using FORM = slci_mma_form<slci_mma_group_unit, PRODUCTS, TERMS>;
    return {(const void *)slci_mma_product<slci_mma_group_unit, PRODUCTS, TERMS>, FORM::THREADS,
            FORM::SHARED_BYTES};
}

extern "C" {
const slci_mma_launch_form slci_mma_group_forms[2][SLCI_CUDA_MOST_TERMS + 1] = {
    {group_form<1, 0>(), group_form<1, 1>()},
    {group_form<3, 0>(), group_form<3, 1>()},
};
}
