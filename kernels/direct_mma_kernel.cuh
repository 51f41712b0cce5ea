/* The CUDA product kernel, for either kind of matrix instruction. direct_mma.cu says what it does.
 *
 *     using form = slci_mma_form<3, slci_mma_group_unit::IS_SHORT>;
 *     slci_mma_product<slci_mma_group_unit, 3><<<grid, form::THREADS, …>>>(arguments);
 */
#ifndef SLC_KERNELS_DIRECT_MMA_KERNEL_CUH
#define SLC_KERNELS_DIRECT_MMA_KERNEL_CUH

#include "kernels/direct_mma_columns.cuh"
#include "kernels/direct_mma_list.cuh"
#include "kernels/direct_mma_rows.cuh"
#include "kernels/direct_mma_sample.cuh"
#include "kernels/direct_mma_sum.cuh"

/* Whether the card that is compiled for has the shared memory of stages that are not short. Where
 * it has not, their kernels have nothing in them: no such card takes them (slc_direct_unit_get). */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define SLCI_MMA_HAS_LONG false
#else
#define SLCI_MMA_HAS_LONG true
#endif

/* Dynamic shared memory, in its order: slci_mma_shared; two stages of operands, whose place finished
 * sums take; and the stock of samples. */
#define SLCI_MMA_OPERANDS_AT (((int)sizeof(slci_mma_shared) + 127) / 128 * 128)

template <class PLAN> struct slci_mma_layout {
    static constexpr int STOCK_AT =
        SLCI_MMA_OPERANDS_AT + (2 * PLAN::STAGE_BYTES > slci_mma_sums_bytes(PLAN::PIECE_ROWS)
                                    ? 2 * PLAN::STAGE_BYTES
                                    : slci_mma_sums_bytes(PLAN::PIECE_ROWS));
    static constexpr int BYTES = STOCK_AT + (int)sizeof(slci_mma_stock<PLAN>);
};

/* The most that any number of terms from this one on needs. */
template <int PRODUCTS, bool IS_SHORT, int TERMS = 0> static constexpr int slci_mma_bytes() {
    using PLAN = slci_mma_plan<PRODUCTS, TERMS, IS_SHORT, false>;
    using OTHER = slci_mma_plan<PRODUCTS, TERMS, IS_SHORT, !IS_SHORT>;
    constexpr int own = slci_mma_layout<PLAN>::BYTES > slci_mma_layout<OTHER>::BYTES
                            ? slci_mma_layout<PLAN>::BYTES
                            : slci_mma_layout<OTHER>::BYTES;
    if constexpr (PLAN::HAS_MORE) {
        constexpr int others = slci_mma_bytes<PRODUCTS, IS_SHORT, TERMS + 1>();
        return own > others ? own : others;
    } else {
        return own;
    }
}

/* The shape of a kernel: 8 warps of 255 registers a thread, of which 128 hold sums. */
template <int PRODUCTS, bool IS_SHORT> struct slci_mma_form {
    static constexpr int THREADS = 32 * SLCI_MMA_WARPS;
    static constexpr int SHARED_BYTES = slci_mma_bytes<PRODUCTS, IS_SHORT>();
    static_assert(SHARED_BYTES <= (IS_SHORT ? SLCI_MMA_SHORT_BYTES : SLCI_MMA_LONG_BYTES),
                  "a block has no more");
};

/* Where a block's things are in dynamic shared memory. */
template <class PLAN> struct slci_mma_places {
    char *operands; /* [2] of PLAN::STAGE_BYTES */
    slci_mma_stock<PLAN> *stock;
    slci_mma_shared *shared;

    __device__ __forceinline__ char *stage(int stage) const {
        return operands + stage % 2 * PLAN::STAGE_BYTES;
    }
    /* The first sample of a stage's step, in the stock. */
    static __device__ __forceinline__ int sample(int stage, int step) {
        return (stage * PLAN::STAGE) % (2 * PLAN::BLOCK) + step * SLCI_MMA_STEP;
    }
};

/* Has the tensor cores multiply terms TERM down to 1 of a step. A commit for each, and then the wait
 * for the one before, so that few operands are in registers at a time. */
template <class UNIT, class PLAN, int TERM>
static __device__ __forceinline__ void slci_mma_multiply_terms(const slci_mma_rows *rows,
                                                               const slci_mma_values *values,
                                                               uint32_t right, float *part) {
    if constexpr (TERM > 0) {
        slci_mma_left left;
        slci_mma_make_term<PLAN, TERM>(rows, values, &left);
        UNIT::settle(left.high);
        if (PLAN::is_split(TERM)) {
            UNIT::settle(left.low);
        }
        UNIT::begin();
        if (PLAN::is_split(TERM)) {
            UNIT::multiply(part, left.high, right + PLAN::right_line(TERM) + PLAN::LOW_LINE);
            UNIT::multiply(part, left.low, right + PLAN::right_line(TERM));
        }
        UNIT::multiply(part, left.high, right + PLAN::right_line(TERM));
        UNIT::commit();
        UNIT::template wait<1>();
        slci_mma_multiply_terms<UNIT, PLAN, TERM - 1>(rows, values, right, part);
    }
}

/* Has them multiply what is small of a step: all terms but 0, and of that all but high · high, or,
 * where nothing is split, all there is. The commit is the caller's. */
template <class UNIT, class PLAN>
static __device__ __forceinline__ void
slci_mma_multiply_small(const slci_mma_rows *rows, const slci_mma_values *values,
                        slci_mma_left *left, uint32_t right, float *part) {
    slci_mma_multiply_terms<UNIT, PLAN, PLAN::N_TERMS>(rows, values, right, part);
    UNIT::settle(left->high);
    if (PLAN::IS_SPLIT) {
        UNIT::settle(left->low);
    }
    UNIT::begin();
    if (PLAN::IS_SPLIT) {
        if (PLAN::HAS_LOWS) {
            UNIT::multiply(part, left->low, right + PLAN::LOW_LINE);
        }
        UNIT::multiply(part, left->high, right + PLAN::LOW_LINE);
        UNIT::multiply(part, left->low, right);
    } else {
        UNIT::multiply(part, left->high, right);
    }
}

/* A stage: its rows step by step, multiplied as they are made, and between them the columns of the next
 * stage. High · high of term 0 comes last. `values` has the first step's, and in the end those of
 * the next stage's. What a piece of work needs from shared memory is loaded before the piece that
 * precedes it. */
template <class UNIT, class PLAN>
static __device__ __forceinline__ void slci_mma_sum_stage(const slci_mma_places<PLAN> *at,
                                                          const slci_mma_rows *rows, int stage,
                                                          slci_mma_values *values, float *part) {
    const uint32_t right = slci_mma_line(at->stage(stage));
    slci_mma_left left[PLAN::STEPS];
    slci_mma_row_samples samples;
    slci_mma_columns columns;
#pragma unroll
    for (int step = 0; step < PLAN::STEPS; step++) {
        const bool is_last = step == PLAN::STEPS - 1;
        if (step == PLAN::FIRST_COLUMNS) {
            slci_mma_load_columns<PLAN>(at->shared, at->stock, rows->warp, stage + 1, 0, &columns);
        }
        if (step > 0) {
            slci_mma_make_values<PLAN>(rows, &samples, values);
        }
        slci_mma_make_term<PLAN, 0>(rows, values, &left[step]);
        slci_mma_multiply_small<UNIT, PLAN>(rows, values, &left[step],
                                            right + step * 2 * SLCI_MMA_TILE, part);
        if (PLAN::IS_SPLIT && is_last) {
#pragma unroll
            for (int k = 0; k < PLAN::STEPS; k++) {
                UNIT::multiply(part, left[k].high, right + k * 2 * SLCI_MMA_TILE);
            }
        }
        UNIT::commit();
        UNIT::template wait<1>();
        slci_mma_load_rows<PLAN>(rows, at->stock,
                                 is_last ? at->sample(stage + 1, 0) : at->sample(stage, step + 1),
                                 &samples);
#pragma unroll
        for (int group = 0; group < PLAN::GROUPS; group++) {
            if (group >= PLAN::columns_before(step) && group < PLAN::columns_before(step + 1)) {
                slci_mma_make_columns<PLAN>(rows->curve_unit, rows->warp, group,
                                            at->stage(stage + 1), &columns);
                if (group + 1 < PLAN::GROUPS) {
                    slci_mma_load_columns<PLAN>(at->shared, at->stock, rows->warp, stage + 1,
                                                group + 1, &columns);
                }
            }
        }
    }
    slci_mma_make_values<PLAN>(rows, &samples, values);
    UNIT::template wait<0>();
    UNIT::settle(part);
}

/* A run. While a stage is multiplied, the columns of the next are made, beside the last stage those of
 * one that is never multiplied: samples past the run's end have a place too. */
template <class UNIT, class PLAN>
static __device__ __forceinline__ void slci_mma_sum_run(const slci_direct_cuda_arguments *a,
                                                        const slci_mma_places<PLAN> *at, int warp,
                                                        slci_mma_sums *own) {
    const int n_stages = (at->shared->n_used + PLAN::STAGE - 1) / PLAN::STAGE;
    slci_mma_rows rows;
    slci_mma_columns columns;
    slci_mma_row_samples samples;
    slci_mma_values values;
    slci_mma_find_rows<PLAN>(at->shared, warp, &rows);
    slci_mma_clear(own);
    slci_mma_fetch<PLAN>(a, at->shared, at->stock, 0);
    slci_mma_supply<PLAN>(a, at->shared, at->stock, 0);
    __syncthreads();
#pragma unroll
    for (int group = 0; group < PLAN::GROUPS; group++) {
        slci_mma_load_columns<PLAN>(at->shared, at->stock, warp, 0, group, &columns);
        slci_mma_make_columns<PLAN>(rows.curve_unit, warp, group, at->stage(0), &columns);
    }
    slci_mma_load_rows<PLAN>(&rows, at->stock, 0, &samples);
    slci_mma_make_values<PLAN>(&rows, &samples, &values);
    UNIT::publish();
    __syncthreads();
#pragma unroll 1
    for (int stage = 0; stage < n_stages; stage++) {
        if (stage * PLAN::STAGE % PLAN::BLOCK == 0) {
            slci_mma_supply<PLAN>(a, at->shared, at->stock, stage * PLAN::STAGE + PLAN::BLOCK);
        }
        slci_mma_sum_stage<UNIT, PLAN>(at, &rows, stage, &values, own->part);
        if (stage % PLAN::INTERVAL == PLAN::INTERVAL - 1) {
            slci_mma_promote<PLAN>(own);
        }
        UNIT::publish();
        __syncthreads();
    }
}

/* Whether the corner that is farthest out lies within the horizon. */
static __device__ inline bool slci_mma_is_inside(const slc_direct_setup *setup,
                                                 const slc_direct_tile *tile) {
    const double half = 0.5 * SLCI_MMA_TILE * setup->geometry.scale_rad;
    return slci_direct_r2(fabs(tile->l0) + half, fabs(tile->m0) + half) < 1.0;
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
        slci_mma_list_run<PLAN::RUN>(a, at.shared, at.stock->list);
        slci_mma_sums own;
        slci_mma_sum_run<UNIT, PLAN>(a, &at, warp, &own);
        slci_mma_store_sums<PLAN>(a, at.shared, &own, warp, (float *)at.operands);
    }
}

/* By as many terms as the tile needs: TERMS or more. */
template <class UNIT, int PRODUCTS, int TERMS>
static __device__ __forceinline__ void slci_mma_sum_terms(const slci_direct_cuda_arguments *a,
                                                          int n_terms, bool is_mirrored,
                                                          char *memory) {
    using PLAN = slci_mma_plan<PRODUCTS, TERMS, UNIT::IS_SHORT, false>;
    if (n_terms > TERMS) {
        if constexpr (PLAN::HAS_MORE) {
            slci_mma_sum_terms<UNIT, PRODUCTS, TERMS + 1>(a, n_terms, is_mirrored, memory);
        }
    } else if (!is_mirrored) {
        slci_mma_sum_tile<UNIT, PLAN>(a, memory);
    } else if constexpr (!UNIT::IS_SHORT) {
        slci_mma_sum_tile<UNIT, slci_mma_plan<PRODUCTS, TERMS, false, true>>(a, memory);
    }
}

template <class UNIT, int PRODUCTS>
static __global__ void __launch_bounds__(slci_mma_form<PRODUCTS, UNIT::IS_SHORT>::THREADS, 1)
    slci_mma_product(const __grid_constant__ slci_direct_cuda_arguments a) {
    if constexpr (UNIT::IS_SHORT || SLCI_MMA_HAS_LONG) {
        extern __shared__ __align__(128) char memory[];
        slci_mma_shared *shared = (slci_mma_shared *)memory;
        if (slci_mma_begin(&a, shared)) {
            slci_mma_sum_terms<UNIT, PRODUCTS, 0>(&a, shared->tile.n_terms,
                                                  shared->tile.is_mirrored, memory);
        }
    }
}

#endif
