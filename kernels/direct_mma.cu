/* ESSAY */
#include <cuda_runtime.h>

#include "core/checked.h"
#include "core/device_cuda.h"
#include "kernels/direct_mma.h"

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#include "kernels/direct_mma_absent.cuh"
#else
#include "kernels/direct_mma_kernel.cuh"
#endif

/* Blocks that a multiprocessor should get, so that the last ones end together. */
#define BLOCKS_PER_PROCESSOR 8

template <int PRODUCTS, int TERMS> static slci_mma_launch_form warp_form() {
    using FORM = slci_mma_form<slci_mma_warp_unit, PRODUCTS, TERMS>;
    return {(const void *)slci_mma_product<slci_mma_warp_unit, PRODUCTS, TERMS>, FORM::THREADS,
            FORM::SHARED_BYTES};
}

extern "C" {
const slci_mma_launch_form slci_mma_warp_forms[2][SLCI_CUDA_MOST_TERMS + 1] = {
    {warp_form<1, 0>(), warp_form<1, 1>()},
    {warp_form<3, 0>(), warp_form<3, 1>()},
};
}

static const slci_mma_launch_form *find_form(const slc_direct_setup *setup, int terms) {
    const int index = setup->n_products == 1 ? 0 : 1;
    return setup->unit == SLC_DIRECT_UNIT_GROUP ? &slci_mma_group_forms[index][terms]
                                                : &slci_mma_warp_forms[index][terms];
}

slc_status slci_mma_load(const slc_direct_setup *setup) {
    for (int terms = 0; terms <= SLCI_CUDA_MOST_TERMS; terms++) {
        const slci_mma_launch_form *form = find_form(setup, terms);
        SLC_TRY(slc_cuda_status(cudaFuncSetAttribute(form->function,
                                                     cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                     form->shared_bytes),
                                "cudaFuncSetAttribute (direct imaging product kernel)"));
    }
    return SLC_OK;
}

/* Blocks along y: each loops over runs, and sets its tile up once. Any number gives the same bits. */
static slc_status count_blocks(int64_t n_tiles, int64_t n_runs, unsigned *out) {
    int device = 0;
    int n_processors = 0;
    SLC_TRY(slc_cuda_status(cudaGetDevice(&device), "cudaGetDevice"));
    SLC_TRY(slc_cuda_status(cudaDeviceGetAttribute(&n_processors, cudaDevAttrMultiProcessorCount,
                                                   device),
                            "cudaDeviceGetAttribute"));
    const int64_t wanted = slc_ceil_div((int64_t)BLOCKS_PER_PROCESSOR * n_processors, n_tiles);
    *out = (unsigned)slc_min_i64(wanted, n_runs);
    return SLC_OK;
}

slc_status slci_mma_launch(const slci_direct_cuda_arguments *arguments, int most_terms,
                           int64_t n_tiles, int64_t n_runs, cudaStream_t stream) {
    unsigned n_blocks = 0;
    SLC_TRY(count_blocks(n_tiles, n_runs, &n_blocks));
    const dim3 grid((unsigned)n_tiles, n_blocks, (unsigned)arguments->setup.n_parts);
    for (int terms = 0; terms <= most_terms; terms++) {
        const slci_mma_launch_form *form = find_form(&arguments->setup, terms);
        void *parameters[] = {(void *)(uintptr_t)arguments};
        SLC_TRY(
            slc_cuda_status(cudaLaunchKernel(form->function, grid, dim3((unsigned)form->threads),
                                             parameters, (size_t)form->shared_bytes, stream),
                            "launch of the direct imaging product kernel"));
    }
    return SLC_OK;
}
