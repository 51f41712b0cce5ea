/* Direct imaging on CUDA: one cosine per (sample, pixel) pair.
 *
 *     I(l, m) += w |V| cos 2π(p - arg V),   p = ul + vm + w n1(l, m)        (n1: n - 1, or n)
 *
 * which is the real part of w V exp(-2πi p); where the imaginary part is wanted too it takes the sine
 * of the same angle. By the split of kernels/direct_tile.h the angle is
 *     [column turn, less arg V] + [row turn] + w c(l, m).
 *
 * Threads. Block (x, y) computes the 64 × 64 pixels of kernel tile x of the engine tile for run y
 * (and y + gridDim.y, ...). A run is a granule, or at most 4,096 samples of one. Thread t has columns
 * 4 (t mod 16) to +3 and ROWS rows from ROWS (t / 16): 256 threads with 4 × 4 pixels, or, where more
 * registers a pixel are needed (imaginary parts, w c in two words), 512 threads with 4 × 2.
 *
 *      32 raw samples -> amplitudes, phases  -> 128 turns each -> sums in registers -> image
 *      cp.async          one warp, in double;   all threads,      8 or 16 pixels       64-bit
 *                        weight 0 dropped       in double         a thread             atomics
 *      chunk i + 3       chunk i + 2            chunk i + 1       chunk i
 *
 * One barrier a step: all four stages of the line run between two barriers, each on its own chunk, so
 * neither the double arithmetic nor global memory is waited for. A tile takes one of four variants:
 * by its bound of w c FLAT, SINGLE or DOUBLE, and WIDE in place of DOUBLE on cards that are slow at
 * double precision or from 2^19 turns on (direct_cuda_pair.cuh); a launch for each that the picture
 * may need, of which the blocks of other variants' tiles leave at once.
 *
 * The cosine is one odd polynomial of five terms, y P(y²) with y = |turn| - 1/4, whose coefficients
 * carry the sample's amplitude, so neither quadrants nor a multiplication by w|V| are needed. Phases
 * stay in units of 2^-32 turns until one multiply-add scales them, takes the absolute value and
 * subtracts the quarter. The special-function unit would take fewer instructions, but gives one value
 * in eight issue cycles and errs by up to 5.4e-7 in the same way at the same phase, so that errors of
 * a coherent sum add up: with it, the picture of a small data set was off by 1.0e-6 of itself.
 *
 * A pair's instructions (sm_90, counted in the machine code, 8 samples × 16 or 8 pixels a loop; every
 * one takes an issue slot, of which a multiprocessor has 128 a clock):
 *                                    FLAT   SINGLE  DOUBLE   WIDE
 *     integer: turn, w c              1      1       1        2
 *     conversion to single            1      1       1        1
 *     w c, or the rest of it          0      1       1        2
 *     scale, fold, less a quarter     1      1       1        1
 *     polynomial, its square and sum  6      6       6        6
 *     promotion                       0.4    0.4     0.4      0.4
 *     loads, moves, loop              0.4    0.4     0.5      0.8
 *     together                        9.8   10.8    10.9     13.2
 *     registers                     110    124     128       94
 *     1e12 pairs/s                    2.73   2.42    2.15     1.87
 * Shared memory 43,408 bytes, nothing spilled (sm_80: 22 bytes in DOUBLE, 8 in FLAT). Measured on an
 * H200, 2026-11-30, where the common form reaches 1.69. What each step bought there, from a first
 * version with two barriers a chunk:
 *     first version                   2.39   2.02             1.68
 *     scale and fold in one           2.60   2.11             1.81
 *     one barrier; registers freed    2.67   2.30             1.84
 *     SINGLE four terms at a time            2.38
 *     DOUBLE, 4 × 2 pixels                           2.00
 *     DOUBLE, 4 × 4, four terms at a time            2.10
 *     the tile's reference kept       2.73   2.42    2.15     1.87
 * Registers are freed by reading again, for each chunk, what only its making needs (the thread's
 * number, the run). With them the compiler takes each step of the polynomial for all pixels together,
 * so that an operand they share is read once: an instruction with three operands read afresh holds up
 * the issue. The reference pixel's l, m and n take a square root and a division in double, and all wait
 * for the warp that compacts. Slots are used to 86 % (FLAT), 84 % (SINGLE), 75 % (DOUBLE) and 79 %
 * (WIDE, whose integer products have half a pipe). DOUBLE with 143 registers and one block: 1.98;
 * with eight terms at a time and 16 bytes spilled: 2.07 (both before the last step).
 * A multiprocessor holds two blocks of 256 threads, or one of 512 (sm_75: one of either).
 *
 * Error of a pair, relative to w|V|, at most, in units of 1e-7. s and c are the sine and cosine of the
 * pair's angle: an error of the angle counts in full only where the pair adds nothing, the rounding
 * of a sum only by what has been added. u is 2^-24 = 0.6.
 *     turns: three roundings to 2^-33 turns (DOUBLE: four) ..... 0.03 s
 *     conversion, one rounding below 1/2: 2^-26 turns .......... 0.94 s
 *     w c left out (FLAT) ...................................... 0.47 s
 *     w c added: one rounding (SINGLE) or two (WIDE) ........... 0.94 s or 1.88 s
 *     the factors of w c, each u of it ......................... 0.23 s
 *     polynomial ............................................... 0.12
 *     its coefficients, each u of its term: at most 2.3 u ...... 1.4 c
 *     its evaluation: 1.65 u, and 0.5 u from the square ........ 1.3 c
 *     sum of eight terms: eight roundings at most .............. 4.8 c
 *     promotion, where the sum is smaller than its addend ...... 0.6
 * The largest of a s + b c is sqrt(a² + b²), so together at most 0.72 + sqrt(1.5² + 7.5²) = 8.4
 * (FLAT), 0.72 + sqrt(2.2² + 7.5²) = 8.6 (SINGLE), 0.72 + sqrt(1.0² + 7.5²) = 8.3 (DOUBLE),
 * 0.72 + sqrt(3.1² + 7.5²) = 8.9 (WIDE): below 9e-7 for any input. Without the sum a pair is within
 * 2.3, 2.5, 2.3 and 3.1 (largest found over 2·10^7 random phases and amplitudes each, w c as large as
 * the variant takes it), and 0.5, 0.6, 0.5 and 0.7 in the mean square. The complex form has the same
 * bound for each part. Of the card only its speed at double precision matters, which picks DOUBLE or
 * WIDE and is in the numerics record (double_limit).
 */
#include <cuda_runtime.h>

#include "core/checked.h"
#include "core/device_cuda.h"
#include "kernels/direct_cuda_call.cuh"
#include "kernels/direct_cuda_pixels.cuh"
#include "kernels/direct_cuda_reach.cuh"
#include "kernels/direct_cuda_sample.cuh"
#include "kernels/direct_mma_launch.cuh"
#include "kernels/direct_tuning.h"

/* One run into the thread's sums; whether it has any weight. In step i the threads add chunk i, after
 * making their share of the turns of chunk i + 1; one warp (each in its turn) compacts chunk i + 2,
 * and chunk i + 3 is on its way from global memory. */
template <int VARIANT, int ROWS, int N_PARTS>
static __device__ __forceinline__ bool sum_run(const slci_direct_cuda_arguments *a,
                                               slci_direct_shared *shared,
                                               pixels<ROWS, N_PARTS> *own) {
    constexpr int THREADS = SLCI_CUDA_TILE / 4 * SLCI_CUDA_TILE / ROWS;
    bool has_weight = false;
    clear(own);
    slci_block_stage(a, 0, shared);
    slci_block_stage(a, 1, shared);
    __pipeline_wait_prior(1);
    __syncthreads();
    if (slci_block_thread() < 32) {
        slci_block_compact<VARIANT>(a, 0, shared);
    }
#pragma unroll 1
    for (int chunk = -1; chunk * SLCI_CUDA_CHUNK < shared->run.n_samples; chunk++) {
        __pipeline_wait_prior(0);
        __syncthreads(); /* every step of the chunks before is done */
        slci_block_stage(a, chunk + 3, shared);
        slci_block_turns<THREADS>(a, chunk + 1, shared);
        if (slci_block_thread() / 32 == (chunk + 1) % (THREADS / 32)) {
            slci_block_compact<VARIANT>(a, chunk + 2, shared);
        }
        if (chunk >= 0) {
            has_weight = has_weight || shared->n_used[chunk % 4] != 0;
            add_chunk<VARIANT, ROWS, N_PARTS>(shared, chunk, own);
        }
    }
    __pipeline_wait_prior(0);
    __syncthreads(); /* the next run may overwrite everything */
    return has_weight;
}

template <int VARIANT, int ROWS, int N_PARTS>
static __global__ void __launch_bounds__(SLCI_CUDA_TILE / 4 * SLCI_CUDA_TILE / ROWS,
                                         ROWS == 4 ? 2 : 1)
    direct_cosine(const __grid_constant__ slci_direct_cuda_arguments a) {
    __shared__ slci_direct_shared shared;
    const int64_t across = blockIdx.x % a.tiles_x * SLCI_CUDA_TILE;
    const int64_t down = blockIdx.x / a.tiles_x * SLCI_CUDA_TILE;
    if (across >= a.tile->extent[2] || down >= a.tile->extent[1]) {
        return; /* the whole block */
    }
    if (threadIdx.x == 0) {
        shared.tile = slci_block_tile(&a, a.tile->origin[1] + down, a.tile->origin[2] + across);
        if (VARIANT == SLCI_CUDA_WIDE) {
            slci_block_units(&a.setup, &shared);
        }
    }
    __syncthreads();
    if (shared.tile.method == SLC_DIRECT_SKIP ||
        slci_cuda_variant(&a.setup, a.setup.max_w * shared.tile.c_max) != VARIANT) {
        return; /* the whole block */
    }
    slci_block_w_factors(&a.setup, &shared);
    __syncthreads();
    pixels<ROWS, N_PARTS> own;
    find_c<VARIANT>(&a, &shared, &own);

    /* The number of runs is formed anew each time: kept, it would take registers that pixels need. */
    for (int64_t index = blockIdx.y; index < slci_block_n_runs(&a); index += gridDim.y) {
        if (threadIdx.x == 0) {
            shared.run = slci_block_run(&a, index);
        }
        __syncthreads();
        if (sum_run<VARIANT, ROWS, N_PARTS>(&a, &shared, &own)) {
            store(&a, &shared.tile, &own);
        }
    }
}

typedef struct direct_form {
    void (*function)(const slci_direct_cuda_arguments);
    int threads;
} direct_form;

/* [parts - 1][variant]; 512 threads with two rows of pixels each, or 256 with four */
static const direct_form direct_forms[2][SLCI_CUDA_N_VARIANTS] = {
    {{direct_cosine<SLCI_CUDA_FLAT, 4, 1>, 256},
     {direct_cosine<SLCI_CUDA_SINGLE, 4, 1>, 256},
     {direct_cosine<SLCI_CUDA_DOUBLE, 4, 1>, 256},
     {direct_cosine<SLCI_CUDA_WIDE, 2, 1>, 512}},
    {{direct_cosine<SLCI_CUDA_FLAT, 2, 2>, 512},
     {direct_cosine<SLCI_CUDA_SINGLE, 2, 2>, 512},
     {direct_cosine<SLCI_CUDA_DOUBLE, 2, 2>, 512},
     {direct_cosine<SLCI_CUDA_WIDE, 2, 2>, 512}},
};

static int64_t direct_cuda_work_bytes(const slc_direct_setup *setup, int n_threads) {
    (void)setup;
    (void)n_threads;
    return 1; /* everything is in registers and shared memory */
}

/* Loads the kernels now: done lazily at the first launch, it would take device memory in the run. */
static slc_status direct_cuda_prepare(void *state, slc_device *device) {
    const slc_direct_setup *setup = (const slc_direct_setup *)state;
    (void)device;
    if (setup->unit != SLC_DIRECT_UNIT_NONE) {
        SLC_TRY(slci_mma_load(setup));
    }
    for (int parts = 0; parts < 2; parts++) {
        for (int variant = 0; variant < SLCI_CUDA_N_VARIANTS; variant++) {
            struct cudaFuncAttributes attributes;
            SLC_TRY(slc_cuda_status(
                cudaFuncGetAttributes(&attributes,
                                      (const void *)direct_forms[parts][variant].function),
                "cudaFuncGetAttributes (direct imaging kernel)"));
        }
    }
    return SLC_OK;
}

/* Enqueues the variants; the blocks of tiles that are another variant's leave at once. */
static slc_status launch_sine(const slci_direct_call *call) {
    const slc_tile_arguments *arguments = call->arguments;
    const slc_direct_setup setup = slci_direct_sine_setup(call->setup);
    slci_direct_cuda_arguments a;
    dim3 grid;
    slci_call_arguments(&setup, call, &a);
    SLC_TRY(slci_call_blocks(&setup, SLC_DIRECT_LAUNCH_SINE, arguments->full_extent, &a, &grid));
    const int last = slci_cuda_variant(&setup, slci_reach_find(&setup).turns);
    for (int variant = 0; variant <= last; variant++) {
        if (variant == SLCI_CUDA_DOUBLE && setup.double_limit == 0.0) {
            continue; /* WIDE has its tiles */
        }
        const direct_form *form = &direct_forms[setup.n_parts - 1][variant];
        form->function<<<grid, form->threads, 0, slc_stream_get_cuda(arguments->stream)>>>(a);
        SLC_TRY(slc_cuda_status(cudaGetLastError(), "launch of the direct imaging kernel"));
    }
    return SLC_OK;
}

/* Enqueues the product kernel, and the sine kernel where it may have tiles of the picture. */
static slc_status launch_pol(const slci_direct_call *call) {
    const slc_direct_setup *setup = call->setup;
    const slc_tile_arguments *arguments = call->arguments;
    bool is_all_product = false;
    if (setup->unit != SLC_DIRECT_UNIT_NONE) {
        is_all_product = slci_reach_is_all_product(setup);
        slci_direct_cuda_arguments a;
        dim3 grid;
        slci_call_arguments(setup, call, &a);
        SLC_TRY(
            slci_call_blocks(setup, SLC_DIRECT_LAUNCH_PRODUCT, arguments->full_extent, &a, &grid));
        SLC_TRY(slci_mma_launch(&a, grid, slc_stream_get_cuda(arguments->stream)));
    }
    return is_all_product ? SLC_OK : launch_sine(call);
}

/* Polarisations follow one another on the stream, each as if it were alone. */
static slc_status direct_cuda_tile(void *state, const slc_tile_arguments *arguments) {
    const slc_direct_setup *setup = (const slc_direct_setup *)state;
    for (int pol = 0; pol < setup->n_pols; pol++) {
        const slc_direct_setup alone = slc_direct_pol_setup(setup, pol);
        const slci_direct_call call = {&alone, arguments, pol};
        SLC_TRY(launch_pol(&call));
    }
    return SLC_OK;
}

extern "C" {
extern const slc_direct_kernel slci_direct_cuda;
const slc_direct_kernel slci_direct_cuda = {
    "direct/cuda", SLC_DEVICE_CUDA, direct_cuda_work_bytes, direct_cuda_tile, direct_cuda_prepare,
};
}
