/* From a run's samples, as they lie in the data, to what the lines of an operand are made of.
 *
 *     slci_mma_fetch<PLAN>(a, shared, stock, 0);         a block of samples on its way, all warps
 *     slci_mma_supply<PLAN>(a, shared, stock, 0);        prepared, and the next on its way
 */
#ifndef SLC_KERNELS_DIRECT_MMA_SAMPLE_CUH
#define SLC_KERNELS_DIRECT_MMA_SAMPLE_CUH

#include <cuda_pipeline_primitives.h>

#include "kernels/direct_cuda_sample.cuh"
#include "kernels/direct_mma_block.cuh"
#include "kernels/direct_mma_circle.cuh"

/* A fraction of a turn that depends on the sample's place in its run alone: added to columns and
 * taken from rows, so that equal samples are not rounded alike. The multipliers are those of the
 * widely used 32-bit finalizer of MurmurHash3. */
static __device__ inline double slci_mma_scatter(int k) {
    uint32_t h = (uint32_t)k * 0x9e3779b9u + 0x7f4a7c15u;
    h = (h ^ (h >> 16)) * 0x85ebca6bu;
    h = (h ^ (h >> 13)) * 0xc2b2ae35u;
    return (double)(h ^ (h >> 16)) * 0x1p-32;
}

/* The thread's sample of the block that begins at sample `first`, and whether it has one. Where a
 * block is a single warp's, it is the next one's each time. */
template <class PLAN>
static __device__ __forceinline__ bool slci_mma_own_sample(int first, int *at) {
    const int own = ((int)threadIdx.x - first) & (32 * SLCI_MMA_WARPS - 1);
    *at = first + own;
    return own < PLAN::BLOCK;
}

template <class PLAN>
static __device__ __forceinline__ slci_mma_raw *slci_mma_own_raw(slci_mma_stock<PLAN> *stock,
                                                                 int at) {
    return &stock->raw[at % (int)(sizeof stock->raw / sizeof stock->raw[0])];
}

/* Starts copying the thread's sample of a block. */
template <class PLAN>
static __device__ inline void slci_mma_fetch(const slci_direct_cuda_arguments *a,
                                             const slci_mma_shared *shared,
                                             slci_mma_stock<PLAN> *stock, int first) {
    int at = 0;
    if (slci_mma_own_sample<PLAN>(first, &at) && at < shared->n_used) {
        slci_mma_raw *raw = slci_mma_own_raw(stock, at);
        const uint32_t n_channels = (uint32_t)a->setup.n_channels;
        const uint32_t in_granule = shared->run.first_sample + stock->list[at];
        const int64_t row = shared->run.first_row + in_granule / n_channels;
        const int64_t sample = shared->run.first_row * n_channels + in_granule;
        for (int i = 0; i < 3; i++) {
            __pipeline_memcpy_async(&raw->uvw[i], &a->uvw[3 * row + i], sizeof(double));
        }
        __pipeline_memcpy_async(&raw->weight, &a->weight[sample], sizeof(float));
        if (!a->setup.is_psf) {
            __pipeline_memcpy_async(&raw->vis, &a->vis[sample], sizeof(float2));
        }
    }
    __pipeline_commit();
}

/* A turn, of at most a few, modulo 1 in units of 2^-64. */
static __device__ __forceinline__ uint64_t slci_mma_fixed_turn(double turn) {
    return (uint64_t)__double2ll_rn((turn - rint(turn)) * 0x1p63) << 1;
}

/* The turn of a side at line 0 as the nearest of 32 bits. */
static __device__ __forceinline__ uint32_t slci_mma_nearest(uint64_t fine) {
    return (uint32_t)((fine + (1u << 31)) >> 32);
}

/* `fine_first` and `fine_step` modulo 1 in units of 2^-64 turns. */
static __device__ __forceinline__ slci_mma_turns slci_mma_turns_of(uint64_t fine_first,
                                                                   uint64_t fine_step) {
    const uint64_t line = fine_step + (1u << 24); /* to be cut off at 2^-39 */
    return {slci_mma_nearest(fine_first), (uint32_t)(line >> 32), (uint32_t)(line >> 25) & 127u,
            (uint32_t)((fine_step + (1u << 26)) >> 27)};
}

/* Turns of both sides modulo 1 in units of 2^-64: at line 0, or at the first behind the middle of a
 * tile in pairs, and from line to line. */
typedef struct slci_mma_fine {
    uint64_t column, column_step, row, row_step;
} slci_mma_fine;

/* A sample's turns, with what lines are ahead. */
template <class PLAN>
static __device__ __forceinline__ void
slci_mma_put_turns(const slci_mma_shared *shared, const slci_mma_fine *fine, slci_mma_sample *out) {
    const uint32_t ahead =
        PLAN::AHEAD - (PLAN::HAS_WHOLE_BITS ? SLCI_MMA_WHOLE_BITS * shared->curve_unit : 0u);
    out->columns = slci_mma_turns_of(fine->column, fine->column_step);
    out->columns.first += ahead;
#pragma unroll
    for (int warp = 0; warp < SLCI_MMA_WARPS; warp++) {
        const uint64_t rows = (uint64_t)(PLAN::WARP_TURNS * warp + PLAN::FIRST_TURN);
        out->row_turn[warp] = slci_mma_nearest(fine->row + fine->row_step * rows) + ahead;
    }
    out->row_step = slci_mma_nearest(fine->row_step);
}

/* `a` e^{-2πi turn}. */
static __device__ __forceinline__ double2 slci_mma_turned(double2 a, double turn) {
    double s = 0.0;
    double c = 0.0;
    sincospi(2.0 * (turn - rint(turn)), &s, &c);
    return make_double2(fma(a.y, s, a.x * c), fma(-a.x, s, a.y * c));
}

/* Of a mirrored tile: phases from the middle to the first line behind it and from line to line, and the
 * amplitude with the phase in the middle. That would take the scatter away, so it is a small one here,
 * of `scatter` radians, among what the columns of a pair have in common. */
template <class PLAN>
static __device__ __forceinline__ void
slci_mma_mirrored_phase(const slci_mma_shared *shared, double scale_rad, const double *uvw,
                        double2 a, float scatter, slci_mma_sample *out) {
    const slci_mma_reference *at = &shared->reference;
    const double w = uvw[2];
    const uint64_t column = slci_mma_fixed_turn(slci_fraction(w, 0.5 * shared->columns.slope) -
                                                slci_fraction(uvw[0], 0.5 * scale_rad));
    const uint64_t row = slci_mma_fixed_turn(slci_fraction(w, 0.5 * shared->rows.slope) +
                                             slci_fraction(uvw[1], 0.5 * scale_rad));
    const slci_mma_fine fine = {column, 2 * column, row, 2 * row};
    slci_mma_put_turns<PLAN>(shared, &fine, out);
    const double2 turned =
        slci_mma_turned(a, slci_fraction(uvw[0], at->l) + slci_fraction(uvw[1], at->m) +
                               slci_fraction(w, at->w_factor) +
                               slci_fraction(w, at->l_bent + at->m_bent) -
                               0.15915494309189535 * (double)scatter);
    out->a = make_float2((float)turned.x, (float)turned.y);
    out->w_plain = (float)w;
}

/* Phases at line 0 and from line to line, as slci_sample_phase has them, with the scatter and with the
 * slope of w (N - n0). */
template <class PLAN>
static __device__ __forceinline__ void slci_mma_phase(const slci_mma_shared *shared,
                                                      double scale_rad, const double *uvw,
                                                      double scatter, slci_mma_sample *out) {
    const slci_mma_reference *at = &shared->reference;
    const double w = uvw[2];
    const slci_mma_fine fine = {
        slci_mma_fixed_turn(slci_fraction(uvw[0], at->l) + slci_fraction(w, at->l_bent) + scatter),
        slci_mma_fixed_turn(slci_fraction(w, shared->columns.slope) -
                            slci_fraction(uvw[0], scale_rad)),
        slci_mma_fixed_turn(slci_fraction(uvw[1], at->m) + slci_fraction(w, at->w_factor) +
                            slci_fraction(w, at->m_bent) - scatter),
        slci_mma_fixed_turn(slci_fraction(w, shared->rows.slope) +
                            slci_fraction(uvw[1], scale_rad))};
    slci_mma_put_turns<PLAN>(shared, &fine, out);
    out->w_plain = (float)w;
}

/* Tensor cores cut off up to 2^-23 of a sum when they add, always towards zero. So an amplitude is
 * larger by half of that for each addition of a stage's large products from its own step's on: each is
 * then 2^-24 of the sum off at most, either way. */
template <class PLAN> static __device__ __forceinline__ double slci_mma_less_cut(int at) {
    const int additions = PLAN::STEPS - at % PLAN::STAGE / SLCI_MMA_STEP;
    return fma((double)additions, 0x1p-24, 1.0);
}

/* w V of the thread's sample, which was fetched. The imaginary part, of blocks with z = 1, is the real
 * part of -i V. */
static __device__ __forceinline__ double2 slci_mma_amplitude(const slci_direct_cuda_arguments *a,
                                                             const slci_mma_raw *raw,
                                                             double scale) {
    const double by = (double)raw->weight * scale;
    const float2 vis = a->setup.is_psf ? make_float2(1.0f, 0.0f) : raw->vis;
    return blockIdx.z == 0 ? make_double2(by * (double)vis.x, by * (double)vis.y)
                           : make_double2(by * (double)vis.y, -by * (double)vis.x);
}

/* Sizes of samples are told apart by factors of 16, down to so many. */
#define SLCI_MMA_SIZES 4

/* How many of a warp's samples go before the lane's: those that are smaller, and of its size those that
 * come before it in the data. */
static __device__ __forceinline__ int slci_mma_rank(double2 value) {
    const int lane = (int)threadIdx.x % 32;
    const unsigned size = __float_as_uint(fmaxf(fabsf((float)value.x), fabsf((float)value.y)));
    unsigned most;
    asm volatile("redux.sync.max.u32 %0, %1, 0xffffffff;"
                 : "=r"(most)
                 : "r"(size)); /* from 8.0 on */
    /* 25: all but the two lowest bits of the exponent. */
    const int below = min((int)((most - size) >> 25), SLCI_MMA_SIZES - 1);
    int rank = 0;
    int smaller = 0;
#pragma unroll
    for (int other = SLCI_MMA_SIZES - 1; other >= 0; other--) {
        const unsigned alike = __ballot_sync(0xffffffffu, below == other);
        rank = below == other ? smaller + __popc(alike & ((1u << lane) - 1u)) : rank;
        smaller += __popc(alike);
    }
    return rank;
}

/* The place among the used samples that the thread's is multiplied at, which lies at `at` in the data.
 * A tensor core drops what is 2^-25 of its sum, so that one large sample would take the small ones
 * after it away: a warp's samples are multiplied in the order of their sizes. Of stages of 64 each of
 * two warps has a chunk of every step; in those of 16 and less little follows a sample. */
template <class PLAN> static __device__ __forceinline__ int slci_mma_place(int at, double2 value) {
    if constexpr (PLAN::STAGE < 32) {
        return at;
    } else {
        const int rank = slci_mma_rank(value);
        return PLAN::STAGE == 32 ? at / 32 * 32 + rank
                                 : at / 64 * 64 + rank / SLCI_MMA_CHUNK * SLCI_MMA_STEP +
                                       at / 32 % 2 * SLCI_MMA_CHUNK + rank % SLCI_MMA_CHUNK;
    }
}

/* Turns what was fetched into samples for rows and columns; those past the run's end have no
 * amplitude. */
template <class PLAN>
static __device__ inline void slci_mma_prepare(const slci_direct_cuda_arguments *a,
                                               const slci_mma_shared *shared,
                                               slci_mma_stock<PLAN> *stock, int first) {
    int at = 0;
    if (!slci_mma_own_sample<PLAN>(first, &at)) {
        return;
    }
    const slci_mma_raw *raw = slci_mma_own_raw(stock, at);
    const bool is_used = at < shared->n_used;
    const double2 plain =
        is_used ? slci_mma_amplitude(a, raw, shared->scale) : make_double2(0.0, 0.0);
    const int to = slci_mma_place<PLAN>(at, plain) % (2 * PLAN::BLOCK);
    slci_mma_sample sample = {};
    int own = 0;
    if (is_used) {
        const uint32_t channel =
            (shared->run.first_sample + stock->list[at]) % (uint32_t)a->setup.n_channels;
        const double per_metre = a->channels[channel];
        const double uvw[3] = {raw->uvw[0] * per_metre, raw->uvw[1] * per_metre,
                               raw->uvw[2] * per_metre};
        const double more = slci_mma_less_cut<PLAN>(to);
        const double2 value = make_double2(plain.x * more, plain.y * more);
        const double scale_rad = a->setup.geometry.scale_rad;
        if constexpr (PLAN::IS_MIRRORED) {
            const float scatter =
                (float)((2.0 * slci_mma_scatter(at) - 1.0) * SLCI_CUDA_MIRROR_SCATTER);
            slci_mma_mirrored_phase<PLAN>(shared, scale_rad, uvw, value, scatter, &sample);
            own = __float_as_int(scatter);
        } else {
            slci_mma_phase<PLAN>(shared, scale_rad, uvw, slci_mma_scatter(at), &sample);
            sample.a = make_float2((float)value.x, (float)value.y);
            own = PLAN::IS_CURVE_WHOLE ? __double2int_rn(uvw[2] * shared->w_per_unit) : 0;
        }
    }
    *stock->sample(to) = sample;
    stock->own[to] = own;
    if constexpr (PLAN::IS_TURNED) {
        const uint32_t turn = sample.columns.step_32 + PLAN::AHEAD;
        slci_mma_circles<PLAN, 1>(&turn, stock->turned(to));
    }
}

/* Prepares the block of samples that begins at `first`, which was fetched, and fetches the next. Others
 * see it after a barrier. */
template <class PLAN>
static __device__ __forceinline__ void slci_mma_supply(const slci_direct_cuda_arguments *a,
                                                       const slci_mma_shared *shared,
                                                       slci_mma_stock<PLAN> *stock, int first) {
    __pipeline_wait_prior(0);
    slci_mma_prepare<PLAN>(a, shared, stock, first);
    slci_mma_fetch<PLAN>(a, shared, stock, first + PLAN::BLOCK);
}

#endif
