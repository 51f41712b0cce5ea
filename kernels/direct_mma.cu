/* Direct imaging on CUDA as a matrix product on the tensor cores.
 *
 *     I(y, x) += Re Σ_k A_k(y) B_k(x),   A = w V e^{-2πi(φ + rows)},  B = e^{-2πi columns}
 *
 * by the split of kernels/direct_tile.h, for tiles of 128 × 128 pixels in which the factor that is left
 * out, e^{-2πi w c}, is 1 within the promise, or 1 and one correction term. Two real multiply-adds a
 * pair of a sample and a pixel, where the sine kernel has eleven instructions.
 *
 * Operands. Left (A) has a line for each row of the picture, right (B) for each column; a line has the
 * real and the imaginary part of each of a stage's 32 samples, so that Re AB is one product of inner
 * length 64. Both are split into two fp16 numbers, A = A' + A", B = B' + B", and A'B" + A"B' + A'B'
 * takes three products; from epsilon 1e-3 on A'B' alone will do. A is scaled by a power of two, so that
 * the largest |w V| of the run lies near 2^14: fp16 pairs then resolve 2^-39 of it, which leaves 1e-8
 * of a run's Σ|wV| to weights of any number of decades.
 *
 *     samples with weight, listed      16 bytes of a line hold 4 samples      sums in registers
 *     global ──> list ──> prepare ──> [128 lines × 8 chunks] × 2 to 6, twice ──> 64 pixels a thread
 *               all        a warp its own chunks of 4 samples: sine,            8 warps, 16 rows
 *                          cosine, fp16 pairs                                   each
 *
 * All eight warps do everything. While the tensor cores multiply one stage, the warps make the operands
 * of the next, each whole chunks of 4 samples from samples that it fetched and prepared itself; a
 * barrier ends a stage. A warp that issues products of warp groups waits until the tensor cores take
 * them, so half of the warps multiplies first and the other half makes first. Samples are fetched 8
 * stages ahead. Sums of a run (a granule, or 4,096 samples of one) leave through shared memory.
 *
 * Phases. Tensor cores and double precision share a unit: with a multiply-add in double for each line
 * and sample, makers and tensor cores take turns. So a line's turn is a sum of 32-bit integers: the
 * lane's first line from 64 bits, steps of 32 lines, and for what w (N - n0) has beside a slope the
 * upper word of the product of two 32-bit integers (slci_mma_lines). An eighth of a turn is added
 * beforehand, so that the upper two bits are the quarter and the other 30 the rest around its middle.
 *
 * Correction. c(l, m) is close to -n0³ f(l) g(m) with f = 1/n(l, m0) - 1/n0 and g = 1/n(l0, m) - 1/n0:
 * c is the integral of -st ν(s, t), ν = 1/n³, and this is that of -st ν(s, m0) ν(l0, t) / ν(l0, m0).
 * So the term -2πi w c A B is one more product into the same sums, of -i w g A and f B, and a single
 * fp16 product is enough for it (slci_direct_bent_terms has the bound).
 *
 * Sums. Tensor cores cut off what does not fit when they add, always towards zero. The small products
 * come first in a stage, when the sum is next to nothing, so that four additions (8 samples each) cut
 * off something; then the sum goes into an ordinary one in single precision with compensation: what
 * that rounds off stays in the tensor cores' sum. Coherent sums lose 1.5e-7 this way, whatever
 * their length.
 *
 * Error of one sample relative to w|V|, at most, in units of 1e-7:
 *     turns: 2^-32 and a half of them on either side .................... 0.2
 *     conversion, sine and cosine, twice: 1.25 each, found by trying .... 2.5
 *     amplitude and complex product .................................... 1.0
 *     fp16 pairs: 2^-23 of the left, √2 2^-24 of the right .............. 2.0
 *     A"B" left out .................................................... 1.7
 *     what one addition of the tensor cores cuts off ................... 1.2
 * together 8.6. Of many samples all but the last are independent (a pseudo-random phase of each, added
 * to columns and taken from rows, sees to that for equal ones), and the last is up to 3.0 in a stage.
 * Measured: 2.7e-7 for one visibility, 1.5e-7 at a coherent peak, 1.4e-7 relative L2 of a random field.
 * With one product: 2^-11 of the left and √2 2^-12 of the right, 8.4e-4 together; measured 5.6e-4 for
 * one visibility.
 *
 * Instructions of single warps and of warp groups give the same bits on an H200.
 *
 * Measured on an H200 at 1.98 GHz, 2026-11-30, 1e12 pairs/s, 2·10^5 visibilities, 2048² pixels:
 *                                       group   warp
 *     three products                    20.5    15.5   (512², 10^6 visibilities: 20.9, 15.6)
 *     three products and the term       18.4
 *     one product                       36.9
 *     one product and the term          30.1
 * A stage of three products takes 6,700 cycles, where the tensor cores alone take 1,540 and the
 * instructions of all warps, at one a cycle, 2,800. By the clock of one warp: 2,200 to 2,500 until the
 * tensor cores have taken its products, though four warps alone need 770; 2,400 making; 350 to 400
 * preparing; 320 promoting; 150 to 390 at the barrier; and of the run's start and end, a stage's share,
 * 180 for the list and 500 for the image.
 * What was tried besides: four or eight warps that only make operands, and mbarriers (17.0 and 16.9,
 * whatever a warp does): in a kernel with 168 or fewer registers a thread the compiler puts the
 * makers' instructions in a chain, or spills. Phases in double: 19.8. Products spread between the
 * lines that are made instead of all first: 20.0. All warps multiplying first: 20.0.
 */
#include <cuda_runtime.h>

#include "core/checked.h"
#include "core/device_cuda.h"
#include "kernels/direct_mma_launch.cuh"

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
