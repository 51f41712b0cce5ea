/* The CUDA product kernel, for either kind of matrix instruction. direct_mma.cu says what it does.
 *
 *     slci_mma_product<slci_mma_group_unit, 3, 0><<<grid, slci_mma_form<…>::THREADS, …>>>(arguments);
 */
#ifndef SLC_KERNELS_DIRECT_MMA_KERNEL_CUH
#define SLC_KERNELS_DIRECT_MMA_KERNEL_CUH

#include "kernels/direct_mma_make.cuh"
#include "kernels/direct_mma_sum.cuh"

/* The shape of a kernel: 8 warps of 255 registers a thread, of which 128 hold sums. */
template <class UNIT, int PRODUCTS, int TERMS> struct slci_mma_form {
    using PLAN = slci_mma_plan<PRODUCTS, TERMS>;
    static constexpr int THREADS = 32 * SLCI_MMA_WARPS;
    /* Finished sums take the place of the two stages. */
    static constexpr int OPERAND_BYTES =
        2 * PLAN::STAGE_BYTES > SLCI_MMA_SUMS_BYTES ? 2 * PLAN::STAGE_BYTES : SLCI_MMA_SUMS_BYTES;
    static constexpr int SHARED_AT = OPERAND_BYTES + (int)sizeof(slci_mma_stock<PLAN>);
    static constexpr int SHARED_BYTES = SHARED_AT + (int)sizeof(slci_mma_shared);
};

/* Where a block's things are in dynamic shared memory. */
template <class PLAN> struct slci_mma_places {
    char *operands; /* [2] of PLAN::STAGE_BYTES */
    slci_mma_stock<PLAN> *stock;
    slci_mma_shared *shared;
};

/* Before stage `stage` is made: every SLCI_MMA_AHEAD stages the samples for as many are prepared, and
 * those after them fetched. */
template <class PLAN>
static __device__ __forceinline__ void slci_mma_supply(const slci_direct_cuda_arguments *a,
                                                       const slci_mma_places<PLAN> *at, int warp,
                                                       int stage) {
    if (stage % SLCI_MMA_AHEAD != 0) {
        return;
    }
    __pipeline_wait_prior(0);
#pragma unroll 1
    for (int c = 0; c < PLAN::OWN_CHUNKS; c++) {
        const int chunk = warp + c * SLCI_MMA_WARPS;
        slci_mma_prepare<PLAN>(a, at->shared, at->stock, chunk, stage);
        slci_mma_fetch<PLAN>(a, at->shared, at->stock, chunk, stage + SLCI_MMA_AHEAD);
    }
}

/* The warp's chunks of a stage. */
template <class UNIT, class PLAN>
static __device__ __forceinline__ void slci_mma_make_stage(const slci_mma_places<PLAN> *at,
                                                           int warp, int stage) {
#pragma unroll
    for (int c = 0; c < PLAN::OWN_CHUNKS; c++) {
        slci_mma_make<PLAN>(at->shared, at->stock, warp + c * SLCI_MMA_WARPS, stage,
                            at->operands + stage % 2 * PLAN::STAGE_BYTES);
    }
    UNIT::publish();
}

/* Has the tensor cores multiply a stage. */
template <class UNIT, class PLAN>
static __device__ __forceinline__ void slci_mma_multiply_stage(const slci_mma_places<PLAN> *at,
                                                               int warp, int stage, float *part) {
    UNIT::begin();
#pragma unroll(UNIT::STEPS_AT_ONCE)
    for (int step = 0; step < PLAN::STEPS; step++) {
        UNIT::template step<PLAN>(at->operands + stage % 2 * PLAN::STAGE_BYTES, warp, step, part);
    }
    UNIT::commit();
}

/* A run. While a stage is multiplied, the next is made. A warp that multiplies waits for the tensor
 * cores, so one half of the warps multiplies first and the other makes first. */
template <class UNIT, class PLAN>
static __device__ __forceinline__ void slci_mma_sum_run(const slci_direct_cuda_arguments *a,
                                                        const slci_mma_places<PLAN> *at, int warp,
                                                        slci_mma_sums *own) {
    const int n_stages = (at->shared->n_used + PLAN::STAGE - 1) / PLAN::STAGE;
    slci_mma_clear(own);
    for (int c = 0; c < PLAN::OWN_CHUNKS; c++) {
        slci_mma_fetch<PLAN>(a, at->shared, at->stock, warp + c * SLCI_MMA_WARPS, 0);
    }
    slci_mma_supply<PLAN>(a, at, warp, 0);
    slci_mma_make_stage<UNIT, PLAN>(at, warp, 0);
    __syncthreads();
#pragma unroll 1
    for (int stage = 0; stage < n_stages; stage++) {
        if (warp < SLCI_MMA_WARPS / 2) {
            slci_mma_multiply_stage<UNIT, PLAN>(at, warp, stage, own->part);
        }
        if (stage + 1 < n_stages) {
            slci_mma_supply<PLAN>(a, at, warp, stage + 1);
            slci_mma_make_stage<UNIT, PLAN>(at, warp, stage + 1);
        }
        if (warp >= SLCI_MMA_WARPS / 2) {
            slci_mma_multiply_stage<UNIT, PLAN>(at, warp, stage, own->part);
        }
        UNIT::end(own->part);
        if (stage % PLAN::INTERVAL == PLAN::INTERVAL - 1) {
            slci_mma_promote(own);
        }
        __syncthreads();
    }
}

/* Whether the block has a tile of this kernel; sets it up. All threads. */
template <class PLAN>
static __device__ __forceinline__ bool slci_mma_begin(const slci_direct_cuda_arguments *a,
                                                      slci_mma_shared *shared) {
    const int64_t across = blockIdx.x % a->tiles_x * SLCI_MMA_TILE;
    const int64_t down = blockIdx.x / a->tiles_x * SLCI_MMA_TILE;
    if (across >= a->tile->extent[2] || down >= a->tile->extent[1]) {
        return false;
    }
    if (threadIdx.x == 0) {
        shared->tile = slci_direct_tile_at(&a->setup, (a->tile->origin[1] + down) / SLCI_MMA_TILE,
                                           (a->tile->origin[2] + across) / SLCI_MMA_TILE);
        shared->is_inside = slci_mma_is_inside(&a->setup, &shared->tile);
    }
    __syncthreads();
    if (shared->tile.method != SLC_DIRECT_PRODUCT || shared->tile.n_terms != PLAN::N_TERMS) {
        return false;
    }
    slci_mma_lines(&a->setup, shared);
    if (PLAN::N_TERMS > 0) {
        slci_mma_bends(&a->setup, shared);
    }
    return true;
}

template <class UNIT, int PRODUCTS, int TERMS>
static __global__ void __launch_bounds__(slci_mma_form<UNIT, PRODUCTS, TERMS>::THREADS, 1)
    slci_mma_product(const __grid_constant__ slci_direct_cuda_arguments a) {
    using FORM = slci_mma_form<UNIT, PRODUCTS, TERMS>;
    using PLAN = typename FORM::PLAN;
    extern __shared__ __align__(128) char memory[];
    const slci_mma_places<PLAN> at = {memory,
                                      (slci_mma_stock<PLAN> *)(memory + FORM::OPERAND_BYTES),
                                      (slci_mma_shared *)(memory + FORM::SHARED_AT)};
    if (!slci_mma_begin<PLAN>(&a, at.shared)) {
        return; /* the whole block */
    }
    /* The same for all threads of a warp, and known to be. */
    const int warp = __shfl_sync(0xffffffffu, (int)threadIdx.x / 32, 0);
    for (int64_t index = blockIdx.y; index < slci_block_n_runs(&a); index += gridDim.y) {
        __syncthreads(); /* everything of the run before is done */
        if (threadIdx.x == 0) {
            at.shared->run = slci_block_run(&a, index);
        }
        __syncthreads();
        slci_mma_list_run(&a, at.shared);
        slci_mma_sums own;
        slci_mma_sum_run<UNIT, PLAN>(&a, &at, warp, &own);
        slci_mma_hand_over(&own, warp, (float *)memory);
        __syncthreads();
        slci_mma_store_image(&a, at.shared, (const float *)memory);
    }
}

#endif
