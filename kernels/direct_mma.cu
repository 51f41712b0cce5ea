/* Direct imaging on CUDA as a matrix product on the tensor cores.
 *
 *     I(y, x) += Re Σ_k A_k(y) B_k(x),   A = w V e^{-2πi(φ + rows)},  B = e^{-2πi columns}
 *
 * by the split of kernels/direct_tile.h, for tiles of 128 × 128 pixels in which the factor that is left
 * out, e^{-2πi w c}, is within the promise 1 or a polynomial of four correction terms at most. Two real
 * multiply-adds a pair of a sample and a pixel and term, where the sine kernel has eleven instructions.
 *
 * Operands. Left (A) has a line for each row of the picture, right (B) for each column; a line has the
 * real and the imaginary part of each of a stage's 32 samples, so that Re AB is one product of inner
 * length 64. Both are split into two fp16 numbers, A = A' + A", B = B' + B", and A'B" + A"B' + A'B'
 * takes three products; from epsilon 1e-3 on A'B' alone may do. A is scaled by a power of two, so that
 * the largest |w V| of the run lies near 2^14: fp16 pairs then resolve 2^-39 of it, which leaves 1e-8
 * of a run's Σ|wV| to weights of any number of decades.
 *
 *     samples with weight, listed      16 bytes of a line hold 4 samples      sums in registers
 *     global ──> list ──> prepare ──> [128 lines × 8 chunks] × 2 to 6, twice ──> 64 pixels a thread
 *               all        a warp its own chunks of 4 samples: sine,            8 warps, 16 rows
 *                          cosine, fp16 pairs                                   each
 *
 * All eight warps do everything. While the tensor cores multiply one stage, the warps make the
 * operands of the next, each whole chunks of 4 samples from samples that it fetched and prepared
 * itself; a barrier ends a stage. A warp that issues a product of warp groups waits until the
 * tensor cores take it, so products are spread between the lines that are made; with two terms or
 * more, when a warp makes few lines a stage, half of the warps multiplies first instead (spread,
 * two terms reach 10.2). Samples are fetched 8 stages ahead. Sums of a run (a granule, or 4,096
 * samples of one) leave through shared memory and are added to the image by plain loads and stores,
 * for which a block locks the tile.
 *
 * Phases. Tensor cores and double precision share a unit: with a multiply-add in double for each
 * line and sample, makers and tensor cores take turns. So a line's turn is a sum of 32-bit
 * integers: the lane's first line, steps of 32 lines, and what w (N - n0) has beside a slope
 * (slci_mma_lines). That is a product in single precision, counted in units of at least 2^-32
 * turns; from two correction terms on the upper word of the product of two 32-bit integers, which
 * is exact and takes 6 cycles, or 19 beside the tensor cores. An eighth of a turn is added
 * beforehand, so that the upper two bits are the quarter and the other 30 the rest around its
 * middle.
 *
 * Correction. e^{-2πi w c} is a polynomial in f(l) = 1/n(l, m0) - 1/n0, with coefficients that w
 * and m fix (direct_bent.h). So each power is one more product into the same sums, of A times its
 * coefficient and B times the power. The last term is so small that one fp16 product is enough for
 * it; those before it are split as A and B are. More terms leave room for fewer samples in a stage
 * (direct_mma_plan.cuh), and several warps then share a chunk. A kernel has the code for any number
 * of terms, and a block takes what its tile needs, so that one launch has all tiles at work
 * together.
 *
 * Sums. Tensor cores cut off what does not fit when they add, always towards zero. The small products
 * come first in a stage, when the sum is next to nothing, so that four additions (8 samples each) cut
 * off something; then the sum goes into an ordinary one in single precision with compensation: what
 * that rounds off stays in the tensor cores' sum. Coherent sums lose 1.5e-7 this way, whatever
 * their length.
 *
 * Error of one sample relative to w|V|, at most, in units of 1e-7:
 *     turns: 2^-32 and a half of them on either side, without the curve . 0.2
 *     conversion, sine and cosine, twice: 1.25 each, found by trying .... 2.5
 *     amplitude and complex product .................................... 1.0
 *     fp16 pairs: 2^-23 of the left, √2 2^-24 of the right .............. 2.0
 *     A"B" left out .................................................... 1.7
 *     what one addition of the tensor cores cuts off ................... 1.2
 * together 8.6; the curve's rounding counts as what a tile leaves out (direct_bent.h). Of many
 * samples all but the last are independent (a pseudo-random phase of each, added to columns and
 * taken from rows, sees to that for equal ones), and the last is up to 3.0 in a stage.
 * Measured: 2.7e-7 for one visibility, 1.5e-7 at a coherent peak, 1.4e-7 relative L2 of a random field.
 * With one product: 2^-11 of the left and √2 2^-12 of the right, 8.4e-4 together; measured 5.6e-4 for
 * one visibility.
 *
 * Instructions of single warps and of warp groups give the same bits on an H200.
 *
 * Measured on an H200 at 1.98 GHz, 2026-11-30, 1e12 pairs/s, 2·10^5 visibilities, 2048² pixels:
 *                                       group   (512², 10^6 visibilities)
 *     three products                    24.9    24.5
 *     and one term to four of them      21.4, 13.9, 9.4, 8.0
 *     one product                       44.9    45.6
 *     and one term, two                 34.8, 26.1
 * The tensor cores alone would need 1,540 cycles for a stage of three products, which takes 5,500.
 * What the warps' instructions cost beside them, in cycles a processing block (one warp of four has
 * them):
 *                                     alone   beside products of warp groups
 *     single precision                 1.2     1.8, and a product takes 147 cycles instead of 71
 *     integer addition                 1.2     2.0
 *     logic, conversions, fp16         2.2     3.8
 *     upper word of a product          6.4    18.6, and a product takes 92
 *     special function                 8.2    10.5
 *     store of 16 bytes a lane          16      48
 * A product waits while single precision is at work, and everything else while a product is. So 33
 * instructions for each sample and line, of which half are in single precision, are what limits.
 *
 * What was tried besides: all products first, half of the warps making first: 22.2, and 20.5 with
 * the curve as a product of integers. Half of the warps multiplying in the first half of a stage,
 * and sums promoted beside the other half's products: 22.7, perhaps because the code is twice as
 * long. Warps that only make operands (registers for sums and for making do not fit: spilled). fp16
 * pairs split by multiply-adds: a loss of 3 %, since those displace products. The image by two
 * atomic additions of 8 bytes a pixel: 22.5 and 44.4, because all blocks are at it together.
 */
#include <cuda_runtime.h>

#include "core/device_cuda.h"
#include "kernels/direct_mma_launch.cuh"

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#include "kernels/direct_mma_absent.cuh"
#else
#include "kernels/direct_mma_kernel.cuh"
#endif

template <int PRODUCTS> static slci_mma_launch_form warp_form() {
    return {(const void *)slci_mma_product<slci_mma_warp_unit, PRODUCTS>,
            slci_mma_form<PRODUCTS>::THREADS, slci_mma_form<PRODUCTS>::SHARED_BYTES};
}

extern "C" {
const slci_mma_launch_form slci_mma_warp_forms[2] = {warp_form<1>(), warp_form<3>()};
}

static const slci_mma_launch_form *find_form(const slc_direct_setup *setup) {
    const int index = setup->n_products == 1 ? 0 : 1;
    return setup->unit == SLC_DIRECT_UNIT_GROUP ? &slci_mma_group_forms[index]
                                                : &slci_mma_warp_forms[index];
}

slc_status slci_mma_load(const slc_direct_setup *setup) {
    const slci_mma_launch_form *form = find_form(setup);
    return slc_cuda_status(cudaFuncSetAttribute(form->function,
                                                cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                form->shared_bytes),
                           "cudaFuncSetAttribute (direct imaging product kernel)");
}

slc_status slci_mma_launch(const slci_direct_cuda_arguments *arguments, dim3 grid,
                           cudaStream_t stream) {
    const slci_mma_launch_form *form = find_form(&arguments->setup);
    void *parameters[] = {(void *)(uintptr_t)arguments};
    grid.z = (unsigned)arguments->setup.n_parts;
    return slc_cuda_status(cudaLaunchKernel(form->function, grid, dim3((unsigned)form->threads),
                                            parameters, (size_t)form->shared_bytes, stream),
                           "launch of the direct imaging product kernel");
}
