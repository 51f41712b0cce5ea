/* The CUDA product kernel, for either kind of matrix instruction. direct_mma.cu says what it does.
 *
 *     slci_mma_product<slci_mma_group_unit, 3><<<grid, slci_mma_form<3>::THREADS, …>>>(arguments);
 */
#ifndef SLC_KERNELS_DIRECT_MMA_KERNEL_CUH
#define SLC_KERNELS_DIRECT_MMA_KERNEL_CUH

#include "kernels/direct_mma_list.cuh"
#include "kernels/direct_mma_make.cuh"
#include "kernels/direct_mma_sum.cuh"

/* Dynamic shared memory, in its order: slci_mma_shared; two stages of operands, whose place finished
 * sums take; and the stock of samples. */
#define SLCI_MMA_OPERANDS_AT (((int)sizeof(slci_mma_shared) + 127) / 128 * 128)

template <class PLAN> struct slci_mma_layout {
    static constexpr int STOCK_AT =
        SLCI_MMA_OPERANDS_AT +
        (2 * PLAN::STAGE_BYTES > SLCI_MMA_SUMS_BYTES ? 2 * PLAN::STAGE_BYTES : SLCI_MMA_SUMS_BYTES);
    static constexpr int BYTES = STOCK_AT + (int)sizeof(slci_mma_stock<PLAN>);
};

/* The most that any number of terms from this one on needs. */
template <int PRODUCTS, int TERMS = 0> static constexpr int slci_mma_bytes() {
    using PLAN = slci_mma_plan<PRODUCTS, TERMS>;
    constexpr int own = slci_mma_layout<PLAN>::BYTES;
    if constexpr (PLAN::HAS_MORE) {
        constexpr int others = slci_mma_bytes<PRODUCTS, TERMS + 1>();
        return own > others ? own : others;
    } else {
        return own;
    }
}

/* The shape of a kernel: 8 warps of 255 registers a thread, of which 128 hold sums. */
template <int PRODUCTS> struct slci_mma_form {
    static constexpr int THREADS = 32 * SLCI_MMA_WARPS;
    static constexpr int SHARED_BYTES = slci_mma_bytes<PRODUCTS>();
    static_assert(SHARED_BYTES <= 232448, "compute capability 9.0 has no more for a block");
};

/* Where a block's things are in dynamic shared memory. */
template <class PLAN> struct slci_mma_places {
    char *operands; /* [2] of PLAN::STAGE_BYTES */
    slci_mma_stock<PLAN> *stock;
    slci_mma_shared *shared;
};

/* The first of the 8 stages, of those prepared together from `stage` on, for which the warp
 * prepares. */
template <class PLAN>
static __device__ __forceinline__ int slci_mma_own_stage(int warp, int stage) {
    return stage + (PLAN::SHARERS > 1 ? warp / PLAN::CHUNKS * 8 : 0);
}

template <class PLAN> static __device__ __forceinline__ int slci_mma_own_chunk(int warp, int c) {
    return PLAN::SHARERS > 1 ? warp % PLAN::CHUNKS : warp + c * SLCI_MMA_WARPS;
}

/* Before stage `stage` is made: every PLAN::AHEAD_STAGES the samples for as many are prepared, and
 * those after them fetched. A warp makes the chunks that it has prepared, or all wait for all. */
template <class PLAN>
static __device__ __forceinline__ void slci_mma_supply(const slci_direct_cuda_arguments *a,
                                                       const slci_mma_places<PLAN> *at, int warp,
                                                       int stage) {
    if (stage % PLAN::AHEAD_STAGES != 0) {
        return;
    }
    const int own_stage = slci_mma_own_stage<PLAN>(warp, stage);
    __pipeline_wait_prior(0);
#pragma unroll 1
    for (int c = 0; c < PLAN::OWN_CHUNKS; c++) {
        const int chunk = slci_mma_own_chunk<PLAN>(warp, c);
        slci_mma_prepare<PLAN>(a, at->shared, at->stock, chunk, own_stage);
        slci_mma_fetch<PLAN>(a, at->shared, at->stock, chunk, own_stage + PLAN::AHEAD_STAGES);
    }
    if (PLAN::SHARERS > 1) {
        __syncthreads();
    }
}

/* The warp's chunks of a stage, or its share of one; `between(group)` after each of PLAN::GROUPS. */
template <class UNIT, class PLAN, class BETWEEN>
static __device__ __forceinline__ void slci_mma_make_stage(const slci_mma_places<PLAN> *at,
                                                           int warp, int stage, BETWEEN between) {
    const int first_line =
        PLAN::SHARERS > 1 ? warp / PLAN::CHUNKS * (SLCI_MMA_TILE / PLAN::SHARERS) : 0;
#pragma unroll
    for (int c = 0; c < PLAN::OWN_CHUNKS; c++) {
        slci_mma_make<PLAN>(at->shared, at->stock, slci_mma_own_chunk<PLAN>(warp, c), first_line,
                            stage, at->operands + stage % 2 * PLAN::STAGE_BYTES,
                            [&](int group) { between(c * PLAN::CHUNK_GROUPS + group); });
    }
    UNIT::publish();
}

/* Has the tensor cores multiply a stage: steps from `first` to before `end`. */
template <class UNIT, class PLAN>
static __device__ __forceinline__ void slci_mma_multiply(const slci_mma_places<PLAN> *at, int warp,
                                                         int stage, int first, int end,
                                                         float *part) {
    if (first == 0) {
        UNIT::begin();
    }
#pragma unroll(UNIT::STEPS_AT_ONCE)
    for (int step = first; step < end; step++) {
        UNIT::template step<PLAN>(at->operands + stage % 2 * PLAN::STAGE_BYTES, warp, step, part);
    }
    if (end == PLAN::STEPS) {
        UNIT::commit();
    }
}

/* Whether products are spread between the lines that are made. Where warps share a chunk, a warp makes
 * so few that products would be waited for all the same. */
template <class UNIT, class PLAN> static __host__ __device__ constexpr bool slci_mma_is_spread() {
    return UNIT::IS_ASYNC && PLAN::SHARERS == 1;
}

/* The share of stage `stage`'s products after `group` of the lines of the next. The last eighth of the
 * lines has none, so that the products are done when the lines are. */
template <class UNIT, class PLAN>
static __device__ __forceinline__ void slci_mma_between(const slci_mma_places<PLAN> *at, int warp,
                                                        int stage, int group, float *part) {
    constexpr int GROUPS = PLAN::GROUPS - PLAN::GROUPS / 8;
    constexpr bool IS_SPREAD = slci_mma_is_spread<UNIT, PLAN>();
    if (IS_SPREAD && group < GROUPS) {
        slci_mma_multiply<UNIT, PLAN>(at, warp, stage, group * PLAN::STEPS / GROUPS,
                                      (group + 1) * PLAN::STEPS / GROUPS, part);
    }
}

/* A run. While a stage is multiplied, the next is made. A warp that has a product for the tensor cores
 * waits until they take it, so products of warp groups are spread between the lines that are made.
 * Where they are not, half of the warps multiplies first and the other half makes first. */
template <class UNIT, class PLAN>
static __device__ __forceinline__ void slci_mma_sum_run(const slci_direct_cuda_arguments *a,
                                                        const slci_mma_places<PLAN> *at, int warp,
                                                        slci_mma_sums *own) {
    const int n_stages = (at->shared->n_used + PLAN::STAGE - 1) / PLAN::STAGE;
    constexpr bool IS_SPREAD = slci_mma_is_spread<UNIT, PLAN>();
    const bool is_first = !IS_SPREAD && warp < SLCI_MMA_WARPS / 2;
    slci_mma_clear(own);
    for (int c = 0; c < PLAN::OWN_CHUNKS; c++) {
        slci_mma_fetch<PLAN>(a, at->shared, at->stock, slci_mma_own_chunk<PLAN>(warp, c),
                             slci_mma_own_stage<PLAN>(warp, 0));
    }
    slci_mma_supply<PLAN>(a, at, warp, 0);
    slci_mma_make_stage<UNIT, PLAN>(at, warp, 0, [](int) {});
    __syncthreads();
#pragma unroll 1
    for (int stage = 0; stage < n_stages; stage++) {
        const bool is_last = stage + 1 == n_stages;
        if (is_last || is_first) {
            slci_mma_multiply<UNIT, PLAN>(at, warp, stage, 0, PLAN::STEPS, own->part);
        }
        if (!is_last) {
            slci_mma_supply<PLAN>(a, at, warp, stage + 1);
            slci_mma_make_stage<UNIT, PLAN>(at, warp, stage + 1, [&](int group) {
                slci_mma_between<UNIT, PLAN>(at, warp, stage, group, own->part);
            });
        }
        if (!IS_SPREAD && !is_last && !is_first) {
            slci_mma_multiply<UNIT, PLAN>(at, warp, stage, 0, PLAN::STEPS, own->part);
        }
        UNIT::end(own->part);
        if (stage % PLAN::INTERVAL == PLAN::INTERVAL - 1) {
            slci_mma_promote(own);
        }
        __syncthreads();
    }
}

/* Whether the block has a tile of this kernel; finds it. All threads. */
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
        slci_mma_target *target = &shared->target;
        target->row_step = a->row_pixels * a->setup.n_parts;
        target->corner =
            a->image + (down * target->row_step + across * a->setup.n_parts + blockIdx.z);
        target->n_rows = (int)min(a->tile->extent[1] - down, (int64_t)SLCI_MMA_TILE);
        target->n_columns = (int)min(a->tile->extent[2] - across, (int64_t)SLCI_MMA_TILE);
    }
    __syncthreads();
    return shared->tile.method == SLC_DIRECT_PRODUCT;
}

/* The block's share of the runs over its tile. */
template <class UNIT, class PLAN>
static __device__ __forceinline__ void slci_mma_sum_tile(const slci_direct_cuda_arguments *a,
                                                         char *memory) {
    const slci_mma_places<PLAN> at = {memory + SLCI_MMA_OPERANDS_AT,
                                      (slci_mma_stock<PLAN> *)(memory +
                                                               slci_mma_layout<PLAN>::STOCK_AT),
                                      (slci_mma_shared *)memory};
    /* The same for all threads of a warp, and known to be. */
    const int warp = __shfl_sync(0xffffffffu, (int)threadIdx.x / 32, 0);
    slci_mma_lines<PLAN>(&a->setup, at.shared);
    if (PLAN::N_TERMS > 0) {
        slci_mma_bends(&a->setup, at.shared);
    }
    for (int64_t index = blockIdx.y; index < slci_block_n_runs(a); index += gridDim.y) {
        __syncthreads(); /* everything of the run before is done */
        if (threadIdx.x == 0) {
            at.shared->run = slci_block_run(a, index);
        }
        __syncthreads();
        slci_mma_list_run(a, at.shared);
        slci_mma_sums own;
        slci_mma_sum_run<UNIT, PLAN>(a, &at, warp, &own);
        slci_mma_hand_over(&own, warp, (float *)at.operands);
        __syncthreads();
        slci_mma_store_image(a, at.shared, (const float *)at.operands);
    }
}

/* By as many terms as the tile needs: TERMS or more. */
template <class UNIT, int PRODUCTS, int TERMS>
static __device__ __forceinline__ void slci_mma_sum_terms(const slci_direct_cuda_arguments *a,
                                                          int n_terms, char *memory) {
    using PLAN = slci_mma_plan<PRODUCTS, TERMS>;
    if (n_terms == TERMS) {
        slci_mma_sum_tile<UNIT, PLAN>(a, memory);
    } else if constexpr (PLAN::HAS_MORE) {
        slci_mma_sum_terms<UNIT, PRODUCTS, TERMS + 1>(a, n_terms, memory);
    }
}

template <class UNIT, int PRODUCTS>
static __global__ void __launch_bounds__(slci_mma_form<PRODUCTS>::THREADS, 1)
    slci_mma_product(const __grid_constant__ slci_direct_cuda_arguments a) {
    extern __shared__ __align__(128) char memory[];
    slci_mma_shared *shared = (slci_mma_shared *)memory;
    if (slci_mma_begin(&a, shared)) {
        slci_mma_sum_terms<UNIT, PRODUCTS, 0>(&a, shared->tile.n_terms, memory);
    }
}

#endif
