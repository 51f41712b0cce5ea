/* Direct imaging on CUDA as a matrix product on the tensor cores.
 *
 *     I(y, x) += Re Σ_k A_k(y) B_k(x),   A = w V e^{-2πi(φ + rows)},  B = e^{-2πi columns}
 *
 * by the split of kernels/direct_tile.h, for tiles of 128 × 128 pixels in which the factor that is
 * left out, e^{-2πi w c}, is within the promise 1 or a polynomial of four correction terms at most.
 * Two real multiply-adds a pair of a sample and a pixel and term, where the sine kernel has eleven
 * instructions.
 *
 * Operands. Left (A) has a line for each row of the picture, right (B) for each column; a line has
 * the real and the imaginary part of each of a stage's 32 samples, so that Re AB is one product of
 * inner length 64. Both are split into two fp16 numbers, A = A' + A", B = B' + B", and A'B" + A"B'
 * + A'B' takes three products; from epsilon 1e-3 on A'B' alone may do. A is scaled by a power of
 * two, so that the largest |w V| of the run lies near 2^14: fp16 pairs then resolve 2^-39 of it,
 * which leaves 1e-8 of a run's Σ|wV| to weights of any number of decades.
 *
 *     samples ──> list ──> ring of 512, ──┬──> rows: each warp its 16, in registers ───┬──> sums
 *     with weight          prepared       └──> columns: [128 lines × 8 chunks] × 2, ──┘
 *                                              in shared memory, a warp its own chunks
 *
 * All eight warps do everything. A lane makes those values of its warp's rows that the matrix
 * instructions take from its registers, two rows of two samples for a step of 8 samples, and none
 * is made twice; only the columns, which all warps multiply by, go through shared memory: 16 bytes
 * of a line hold 4 samples. Four steps are a stage. Between the rows of the steps a warp makes its
 * part of the next stage's columns, while the tensor cores work; a barrier ends a stage. What is
 * made next is loaded from shared memory before what is made now. Samples are prepared 256 at a
 * time, a thread each, and fetched as long before. Sums, 64 pixels a thread, leave at the end of a
 * run (a granule, or 8,192 samples of one, 16,384 where no tile has two correction terms) through
 * shared memory and are added to the image by plain loads and stores, for which a block locks the tile.
 *
 * Phases. Tensor cores and double precision share a unit: with a multiply-add in double for each
 * line and sample, instructions and tensor cores take turns. So a line's turn is a sum of 32-bit
 * integers: the turn at some line, steps from it, and what w (N - n0) has beside a slope
 * (slci_mma_lines). That is a product in single precision, counted in units of at least 2^-32
 * turns; from two correction terms on the upper word of the product of two 32-bit integers, which
 * is exact and takes 6 cycles, or 19 beside the tensor cores. A quarter of a turn is added
 * beforehand, so that the upper bit is the half turn and the other 31 the rest around its
 * middle. A lane's two rows are counted from the middle of its warp's 16, at which each sample has
 * its turn prepared.
 *
 * Pairs. Two lines that mirror each other in the tile's middle have turns ±θ + ε, with ε what the
 * curve has in common there, and a scatter. So one circle of θ is enough for both, with a short
 * polynomial for cos ε and sin ε (slci_mma_common); the middle's phase goes into the amplitude, by a
 * sine in double precision once a sample. A lane's two rows are such a pair, and a lane makes such
 * columns. Without correction terms lines are all as far apart, so a lane's second pair of columns, 32
 * further on, is made by the product of the first one's circle and one that is prepared with the
 * sample. Tiles whose curve is too large for it are made line by line, as short stages are.
 *
 * Correction. e^{-2πi w c} is a polynomial in f(l) = 1/n(l, m0) - 1/n0, with coefficients that w
 * and m fix (direct_bent.h). So each power is one more product into the same sums, of A times its
 * coefficient and B times the power. The last term is so small that one fp16 product is enough for
 * it; those before it are split as A and B are. Rows of a term are made of the row's values when it
 * is multiplied. From three terms on there is room for 16 samples in a stage (direct_mma_plan.cuh),
 * and two warps then share a chunk of columns. A kernel has the code for any number of terms, and a
 * block takes what its tile needs, so that one launch has all tiles at work together.
 *
 * Short stages. Cards other than 9.0, 10.x and 11.x have 64 to 163 KiB of shared memory for a block,
 * so there is a form that takes 64: stages of 16 samples without terms and 8 with one or two, no more
 * terms than that, samples prepared 32 at a time, by one warp after the other, and sums that leave
 * warp by warp. The instructions of 7.5 have half the inner length and go twice.
 *
 * Sums. Tensor cores cut off what does not fit when they add, always towards zero: on an H200 what
 * lies 25 places below the leading bit of the largest of 16 products and the sum, and then what
 * single precision does not hold of the new sum (direct_probe.h, by which each card is asked). The
 * small products come first in a stage, when the sum is next to nothing, so that four additions (8
 * samples each; eight in stages of 64) cut off something; then the sum goes into an ordinary one in
 * single precision with compensation: what that rounds off stays in the tensor cores' sum. An amplitude
 * is larger by half of what the additions from its own on cut off at most (slci_mma_less_cut).
 *
 * One large sample would take away what is added after it: samples of 2^-25 of it altogether, of
 * larger ones a bit at each addition. In the order of the data that broke the promise (1.2e-6, of 64
 * samples of which the first has nearly all). So each warp's samples go in the order of their sizes
 * (slci_mma_place): the largest are in the last step, and what comes before them is added while the
 * sum is small. Measured over such fields: 5.9e-7 at most.
 *
 * Error of one sample relative to w|V|, at most, in units of 1e-7:
 *     turns: 1.5 · 2^-32 of a column, 4.5 of a row, without the curve ... 0.2
 *     conversion, sine and cosine: 2.3 a line, found by trying, and
 *       3.7 of a column that was turned on .............................. 6.0
 *     amplitude and complex product .................................... 1.0
 *     fp16 pairs: 2^-23 of the left, √2 2^-24 of the right .............. 2.0
 *     A"B" left out .................................................... 1.7
 *     what one addition of the tensor cores cuts off, less half ......... 0.6
 * They are not at their largest together: the whole of one sample, with the same arithmetic on a
 * processor, was off by 6.2 in 4·10^7 tries at random over phases, angles and amplitudes in pairs, by
 * 5.5 line by line. 8.6 stands for both, 8.7 with short stages, whose cards may keep 24 places. The
 * curve's rounding counts as what a tile leaves out (direct_bent.h). Of many samples all but what is
 * cut off are independent: a pseudo-random phase of each, added to columns and taken from rows, sees to
 * that for equal ones. With one product: 2^-11 of the left and √2 2^-12 of the right, 8.4e-4 together;
 * measured 5.6e-4 for one visibility.
 *
 * Instructions of single warps and of warp groups give the same bits on an H200, in the same stages.
 *
 * Measured on an H200 at 1.98 GHz, 1e12 pairs/s, 2048² pixels: 31.0 with three products and no term,
 * 55.7 with one. Before circles of half turns, columns turned on and granules of 16,384 samples, of
 * 1·10^5 visibilities, in pairs (and line by line):
 *     three products                    28.7 (25.7)
 *     and one term to four of them      22.7, 16.2, 11.4, 9.7 (23.2, 14.8, 10.8, 9.2)
 *     one product                       54.1 (46.7)
 *     and one term, two                 37.0, 27.0 (37.4, 26.5)
 * What follows was measured line by line.
 * The tensor cores alone would need 1,540 cycles for a stage of three products, which takes 5,300,
 * and the warps issue some 3,000 instructions in it. What instructions cost beside the tensor cores, in
 * cycles a processing block (one warp of four has them):
 *                                     alone   beside products of warp groups
 *     single precision                 1.2     1.8, and a product takes 147 cycles instead of 71
 *     integer addition                 1.2     2.0
 *     logic, conversions, fp16         2.2     3.8
 *     upper word of a product          6.4    18.6, and a product takes 92
 *     special function                 8.2    10.5
 *     store of 16 bytes a lane          16      48
 * A product waits while single precision is at work, and everything else while a product is, as if
 * both went through the same ports of the registers, where the sums are. So a stage takes about as
 * long as its instructions and its products one after the other. With two warps a scheduler, and
 * registers that the compiler fills with two circles at a time in each, latency is not hidden
 * either: 42 % of the cycles issue nothing.
 *
 * What was tried besides: rows through shared memory as columns are, 24.9, 21.4, 13.9, 9.4, 8.0,
 * 44.9, 34.8 and 26.1 in the order above: half of the stores less is worth little, shorter stages
 * of many terms cost more. Products spread evenly between halves of what is made, one at a time,
 * instead of two a step and all high · high of a stage at once: 24.7. The same with a dependence
 * that keeps the compiler from moving them: 24.9. Half of the warps multiplying in the first half
 * of a stage, and sums promoted beside the other half's products: 22.7, perhaps because the code is
 * twice as long. fp16 pairs split by multiply-adds: a loss of 3 %, since those displace products.
 * The image by two atomic additions of 8 bytes a pixel: 22.5 and 44.4, because all blocks are at it
 * together. (Adding to the image takes 8 % of the time with three products and 14 % with one: 26.4 and
 * 51.7 without it, where 24.5 and 45.2 were with it.) Its lines fetched into the second level of caches
 * when a run begins: 25.6, where 26.0 were without; three stages before its end: 24.7; and 16 pixels a
 * thread on their way instead of 8 besides: 22.7. Two or four tiles that share their columns, each
 * making a part, through the shared memory of a cluster's blocks: 23.8 and 20.4 by remote stores
 * with a barrier of the cluster a stage, where 25.2 were without. By bulk copies behind barriers in
 * shared memory, in a draft that took 16 % and 25 % fewer instructions but whose sums were not
 * right yet: 24.5 and 24.0, where 24.5 were without. Four more warps that prepare samples and make
 * all columns, beside the eight that make rows and multiply, 208 registers for those and 88 for
 * them (setmaxnreg has no more than the launch, 3 · 168), two to four stages of columns between
 * them and no barrier of the block: the same bits, 26.3, 22.8 and 14.9 with three products and no
 * term to two, 43.0 with one, where the same loads without them made 24.9, 21.0, 14.5 and 44.6.
 * That is a few percent for a second structure that only 9.0 can have, and it was not tried with
 * the loads ahead of their use that are here now.
 */
#include <cuda_runtime.h>

#include "core/device_cuda.h"
#include "kernels/direct_mma_launch.cuh"

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 750
#include "kernels/direct_mma_absent.cuh"
#else
#include "kernels/direct_mma_kernel.cuh"
#endif

template <class UNIT, int PRODUCTS> static slci_mma_launch_form form_of() {
    using form = slci_mma_form<PRODUCTS, UNIT::IS_SHORT>;
    return {(const void *)slci_mma_product<UNIT, PRODUCTS>, form::THREADS, form::SHARED_BYTES};
}

extern "C" {
const slci_mma_launch_form slci_mma_short_forms[2] = {form_of<slci_mma_short_unit, 1>(),
                                                      form_of<slci_mma_short_unit, 3>()};
const slci_mma_launch_form slci_mma_warp_forms[2] = {form_of<slci_mma_warp_unit, 1>(),
                                                     form_of<slci_mma_warp_unit, 3>()};
}

static const slci_mma_launch_form *find_form(const slc_direct_setup *setup) {
    const int index = setup->n_products == 1 ? 0 : 1;
    return setup->unit == SLC_DIRECT_UNIT_GROUP  ? &slci_mma_group_forms[index]
           : setup->unit == SLC_DIRECT_UNIT_WARP ? &slci_mma_warp_forms[index]
                                                 : &slci_mma_short_forms[index];
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
