/* The CUDA product kernel, for either kind of matrix instruction. direct_mma.cu says what it does.
 *
 *     slci_mma_product<SLCI_MMA_WARP, 3, 0><<<grid, slci_mma_form<…>::THREADS, …>>>(arguments);
 */
#ifndef SLC_KERNELS_DIRECT_MMA_KERNEL_CUH
#define SLC_KERNELS_DIRECT_MMA_KERNEL_CUH

#include "kernels/direct_mma_make.cuh"
#include "kernels/direct_mma_sum.cuh"

/* The shape of a kernel. Warps that multiply hold 128 sums, so of 65,536 registers 12 warps get 168
 * each; groups of warps may hand registers on, which leaves enough for 8 makers. */
template <class UNIT, int PRODUCTS, int TERMS> struct slci_mma_form {
    using PLAN = slci_mma_plan<PRODUCTS, TERMS>;
    static constexpr int THREADS = 32 * (UNIT::MAKERS + SLCI_MMA_MULTIPLIERS);
    static constexpr int STAGES = UNIT::MOST_STAGES_BYTES / PLAN::STAGE_BYTES;
    /* Finished sums take the place of the stages. */
    static constexpr int OPERAND_BYTES = STAGES * PLAN::STAGE_BYTES > SLCI_MMA_SUMS_BYTES
                                             ? STAGES *PLAN::STAGE_BYTES
                                             : SLCI_MMA_SUMS_BYTES;
    static constexpr int SHARED_BYTES = OPERAND_BYTES + (int)sizeof(slci_mma_shared);
};

/* Stages of the run now in shared memory. */
static __device__ __forceinline__ int slci_mma_n_stages(const slci_mma_shared *shared) {
    return (shared->n_used + SLCI_MMA_STAGE - 1) / SLCI_MMA_STAGE;
}

/* A maker's share of a run. `*done` counts stages over all runs: it says which slot is next, and how
 * often that has been used. */
template <class UNIT, int PRODUCTS, int TERMS>
static __device__ __forceinline__ void slci_mma_make_run(const slci_direct_cuda_arguments *a,
                                                         slci_mma_shared *shared, char *operands,
                                                         int maker, uint32_t *done) {
    using FORM = slci_mma_form<UNIT, PRODUCTS, TERMS>;
#pragma unroll 1
    for (int stage = 0; stage < slci_mma_n_stages(shared); stage++) {
        const uint32_t slot = *done % FORM::STAGES;
        const uint32_t round = *done / FORM::STAGES;
        if (stage % SLCI_MMA_AHEAD == 0) {
            for (int chunk = maker; chunk < SLCI_MMA_CHUNKS; chunk += UNIT::MAKERS) {
                slci_mma_prepare(a, shared, chunk, stage);
            }
        }
        slci_mma_wait(&shared->empty[slot], (round & 1u) ^ 1u); /* at once in the first round */
        for (int chunk = maker; chunk < SLCI_MMA_CHUNKS; chunk += UNIT::MAKERS) {
            slci_mma_make<PRODUCTS, TERMS>(shared, chunk, stage,
                                           operands + slot * FORM::PLAN::STAGE_BYTES);
        }
        UNIT::publish();
        __syncwarp();
        if (threadIdx.x % 32 == 0) {
            slci_mma_arrive(&shared->full[slot]);
        }
        (*done)++;
    }
}

/* A multiplying warp's share. With one product fp16 itself is so coarse that sums are promoted every
 * fourth stage only. */
template <class UNIT, int PRODUCTS, int TERMS>
static __device__ __forceinline__ void slci_mma_multiply_run(slci_mma_shared *shared,
                                                             const char *operands, int warp,
                                                             uint32_t *done, slci_mma_sums *own) {
    using FORM = slci_mma_form<UNIT, PRODUCTS, TERMS>;
    constexpr int INTERVAL = PRODUCTS > 1 ? 1 : 4;
    slci_mma_clear(own);
#pragma unroll 1
    for (int stage = 0; stage < slci_mma_n_stages(shared); stage++) {
        const uint32_t slot = *done % FORM::STAGES;
        const uint32_t round = *done / FORM::STAGES;
        slci_mma_wait(&shared->full[slot], round & 1u);
        UNIT::template multiply<PRODUCTS, TERMS>(operands + slot * FORM::PLAN::STAGE_BYTES, warp,
                                                 own->part);
        __syncwarp();
        if (threadIdx.x % 32 == 0) {
            slci_mma_arrive(&shared->empty[slot]);
        }
        (*done)++;
        if (stage % INTERVAL == INTERVAL - 1) {
            slci_mma_promote(own);
        }
    }
}

/* Whether the block has a tile of this kernel; sets it and the barriers up. All threads. */
template <class UNIT, int PRODUCTS, int TERMS>
static __device__ __forceinline__ bool slci_mma_begin(const slci_direct_cuda_arguments *a,
                                                      slci_mma_shared *shared) {
    using FORM = slci_mma_form<UNIT, PRODUCTS, TERMS>;
    const int64_t across = blockIdx.x % a->tiles_x * SLCI_MMA_TILE;
    const int64_t down = blockIdx.x / a->tiles_x * SLCI_MMA_TILE;
    if (across >= a->tile->extent[2] || down >= a->tile->extent[1]) {
        return false;
    }
    if (threadIdx.x == 0) {
        shared->tile = slci_direct_tile_at(&a->setup, (a->tile->origin[1] + down) / SLCI_MMA_TILE,
                                           (a->tile->origin[2] + across) / SLCI_MMA_TILE);
        shared->is_inside = slci_mma_is_inside(&a->setup, &shared->tile);
        for (int slot = 0; slot < FORM::STAGES; slot++) {
            slci_mma_barrier_init(&shared->full[slot], UNIT::MAKERS);
            slci_mma_barrier_init(&shared->empty[slot], SLCI_MMA_MULTIPLIERS);
        }
    }
    __syncthreads();
    if (shared->tile.method != SLC_DIRECT_PRODUCT || shared->tile.n_terms != TERMS) {
        return false;
    }
    slci_mma_lines(&a->setup, shared);
    if (TERMS > 0) {
        slci_mma_bends(&a->setup, shared);
    }
    return true;
}

/* Makes run `index` the block's: all threads, after everything of the run before. */
static __device__ __forceinline__ void slci_mma_next_run(const slci_direct_cuda_arguments *a,
                                                         int64_t index, slci_mma_shared *shared) {
    __syncthreads();
    if (threadIdx.x == 0) {
        shared->run = slci_block_run(a, index);
    }
    __syncthreads();
    slci_mma_list_run(a, shared);
}

template <class UNIT, int PRODUCTS, int TERMS>
static __global__ void __launch_bounds__(slci_mma_form<UNIT, PRODUCTS, TERMS>::THREADS, 1)
    slci_mma_product(const __grid_constant__ slci_direct_cuda_arguments a) {
    using FORM = slci_mma_form<UNIT, PRODUCTS, TERMS>;
    extern __shared__ __align__(128) char operands[];
    slci_mma_shared *shared = (slci_mma_shared *)(operands + FORM::OPERAND_BYTES);
    if (!slci_mma_begin<UNIT, PRODUCTS, TERMS>(&a, shared)) {
        return; /* the whole block */
    }
    /* The same for all threads of a warp, and known to be. */
    const int warp = __shfl_sync(0xffffffffu, (int)threadIdx.x / 32, 0);
    uint32_t done = 0;
    if (warp >= SLCI_MMA_MULTIPLIERS) {
        UNIT::give_registers();
        for (int64_t index = blockIdx.y; index < slci_block_n_runs(&a); index += gridDim.y) {
            slci_mma_next_run(&a, index, shared);
            slci_mma_make_run<UNIT, PRODUCTS, TERMS>(&a, shared, operands,
                                                     warp - SLCI_MMA_MULTIPLIERS, &done);
            __syncthreads(); /* the stages are read */
            __syncthreads(); /* the sums are handed over */
            slci_mma_store_image(&a, shared, (const float *)operands,
                                 (int)threadIdx.x - 32 * SLCI_MMA_MULTIPLIERS, 32 * UNIT::MAKERS);
        }
    } else {
        UNIT::take_registers();
        for (int64_t index = blockIdx.y; index < slci_block_n_runs(&a); index += gridDim.y) {
            slci_mma_next_run(&a, index, shared);
            slci_mma_sums own;
            slci_mma_multiply_run<UNIT, PRODUCTS, TERMS>(shared, operands, warp, &done, &own);
            __syncthreads(); /* the stages are read */
            slci_mma_hand_over(&own, warp, (float *)operands);
            __syncthreads(); /* the sums are handed over */
        }
    }
}

#endif
