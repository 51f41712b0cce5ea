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
 * among what the lines of a pair have in common. */
template <class PLAN>
static __device__ __forceinline__ void slci_mma_mirrored_phase(const slci_mma_shared *shared,
                                                               double scale_rad, const double *uvw,
                                                               double2 a, slci_mma_sample *out) {
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
                               slci_fraction(w, at->l_bent + at->m_bent));
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

/* Turns what was fetched into samples for rows and columns; those past the run's end have no amplitude.
 * The imaginary part, of blocks with z = 1, is the real part of -i V. */
template <class PLAN>
static __device__ inline void slci_mma_prepare(const slci_direct_cuda_arguments *a,
                                               const slci_mma_shared *shared,
                                               slci_mma_stock<PLAN> *stock, int first) {
    int at = 0;
    if (!slci_mma_own_sample<PLAN>(first, &at)) {
        return;
    }
    const int to = at % (2 * PLAN::BLOCK);
    slci_mma_sample sample = {};
    int own = 0;
    if (at < shared->n_used) {
        const slci_mma_raw *raw = slci_mma_own_raw(stock, at);
        const uint32_t channel =
            (shared->run.first_sample + stock->list[at]) % (uint32_t)a->setup.n_channels;
        const double per_metre = a->channels[channel];
        const double uvw[3] = {raw->uvw[0] * per_metre, raw->uvw[1] * per_metre,
                               raw->uvw[2] * per_metre};
        const double scale = (double)raw->weight * shared->scale;
        const float2 vis = a->setup.is_psf ? make_float2(1.0f, 0.0f) : raw->vis;
        const double2 value = blockIdx.z == 0
                                  ? make_double2(scale * (double)vis.x, scale * (double)vis.y)
                                  : make_double2(scale * (double)vis.y, -scale * (double)vis.x);
        const double scale_rad = a->setup.geometry.scale_rad;
        if constexpr (PLAN::IS_MIRRORED) {
            slci_mma_mirrored_phase<PLAN>(shared, scale_rad, uvw, value, &sample);
            own = __float_as_int(
                (float)((2.0 * slci_mma_scatter(at) - 1.0) * SLCI_CUDA_MIRROR_SCATTER));
        } else {
            slci_mma_phase<PLAN>(shared, scale_rad, uvw, slci_mma_scatter(at), &sample);
            sample.a = make_float2((float)value.x, (float)value.y);
            own = PLAN::IS_CURVE_WHOLE ? __double2int_rn(uvw[2] * shared->w_per_unit) : 0;
        }
    }
    *stock->sample(to) = sample;
    stock->own[to] = own;
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
