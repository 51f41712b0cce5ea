/* From a run's samples, as they lie in the data, to what the lines of an operand are made of. A warp
 * fetches and prepares the samples of the chunks that it makes, so that it waits for no other.
 *
 *     slci_mma_fetch(a, shared, stock, chunk, stage);       every PLAN::AHEAD_STAGES
 *     slci_mma_prepare(a, shared, stock, chunk, stage);     as often, long after
 */
#ifndef SLC_KERNELS_DIRECT_MMA_SAMPLE_CUH
#define SLC_KERNELS_DIRECT_MMA_SAMPLE_CUH

#include <cuda_pipeline_primitives.h>

#include "kernels/direct_cuda_sample.cuh"
#include "kernels/direct_mma_block.cuh"

/* A fraction of a turn that depends on the sample's place in its run alone: added to columns and
 * taken from rows, so that equal samples are not rounded alike. The multipliers are those of the
 * widely used 32-bit finalizer of MurmurHash3. */
static __device__ inline double slci_mma_scatter(int k) {
    uint32_t h = (uint32_t)k * 0x9e3779b9u + 0x7f4a7c15u;
    h = (h ^ (h >> 16)) * 0x85ebca6bu;
    h = (h ^ (h >> 13)) * 0xc2b2ae35u;
    return (double)(h ^ (h >> 16)) * 0x1p-32;
}

/* The run's sample for this lane, of the chunk's in stages `stage` to stage + 7, and its place. */
template <class PLAN>
static __device__ __forceinline__ int slci_mma_own_sample(int chunk, int stage) {
    const int lane = (int)threadIdx.x % 32;
    return (stage + lane / SLCI_MMA_CHUNK) * PLAN::STAGE + chunk * SLCI_MMA_CHUNK +
           lane % SLCI_MMA_CHUNK;
}

template <class PLAN> static __device__ __forceinline__ int slci_mma_own_place(int stage) {
    return stage % PLAN::AHEAD_STAGES * SLCI_MMA_CHUNK + (int)threadIdx.x % 32;
}

/* Starts copying these samples, one a lane. */
template <class PLAN>
static __device__ inline void slci_mma_fetch(const slci_direct_cuda_arguments *a,
                                             const slci_mma_shared *shared,
                                             slci_mma_stock<PLAN> *stock, int chunk, int stage) {
    const int at = slci_mma_own_sample<PLAN>(chunk, stage);
    if (at < shared->n_used) {
        slci_mma_raw *raw = &stock->raw[chunk][slci_mma_own_place<PLAN>(stage)];
        const uint32_t n_channels = (uint32_t)a->setup.n_channels;
        const uint32_t in_granule = shared->run.first_sample + shared->list[at];
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

/* 1.5 · 2^23: from here to the next power of two, numbers in single precision are whole, and their bits
 * those of this one and how far they are from it. */
#define SLCI_MMA_WHOLE 12582912.0f
#define SLCI_MMA_WHOLE_BITS 0x4b400000u

static __device__ __forceinline__ slci_mma_turns slci_mma_turns_of(double first, double step,
                                                                   uint32_t ahead) {
    const uint64_t fine_first = slci_mma_fixed_turn(first);
    const uint64_t fine_step = slci_mma_fixed_turn(step);
    const uint64_t line = fine_step + (1u << 24); /* to be cut off at 2^-39 */
    return {(uint32_t)((fine_first + (1u << 31)) >> 32) + ahead, (uint32_t)(line >> 32),
            (uint32_t)(line >> 25) & 127u, (uint32_t)((fine_step + (1u << 26)) >> 27)};
}

/* Phases at line 0 and from line to line, as slci_sample_phase has them, with the scatter, with the
 * slope of w (N - n0), and with what the lines' turns are ahead. */
template <class PLAN>
static __device__ __forceinline__ void slci_mma_phase(const slci_mma_shared *shared,
                                                      double scale_rad, const double *uvw,
                                                      double scatter, slci_mma_sample *out) {
    const slci_mma_reference *at = &shared->reference;
    const double w = uvw[2];
    const uint32_t ahead =
        PLAN::AHEAD - (PLAN::IS_CURVE_WHOLE ? 0u : SLCI_MMA_WHOLE_BITS * shared->curve_unit);
    out->columns =
        slci_mma_turns_of(slci_fraction(uvw[0], at->l) + slci_fraction(w, at->l_bent) + scatter,
                          slci_fraction(w, shared->columns.slope) -
                              slci_fraction(uvw[0], scale_rad),
                          ahead);
    out->rows =
        slci_mma_turns_of(slci_fraction(uvw[1], at->m) + slci_fraction(w, at->w_factor) +
                              slci_fraction(w, at->m_bent) - scatter,
                          slci_fraction(w, shared->rows.slope) + slci_fraction(uvw[1], scale_rad),
                          ahead);
    out->w = PLAN::IS_CURVE_WHOLE ? __double2int_rn(w * shared->w_per_unit) : 0;
    out->w_plain = (float)w;
}

/* Turns what was fetched into samples for the makers; those past the run's end have no amplitude. The
 * imaginary part, of blocks with z = 1, is the real part of -i V. */
template <class PLAN>
static __device__ inline void slci_mma_prepare(const slci_direct_cuda_arguments *a,
                                               const slci_mma_shared *shared,
                                               slci_mma_stock<PLAN> *stock, int chunk, int stage) {
    const int at = slci_mma_own_sample<PLAN>(chunk, stage);
    slci_mma_sample own = {{0, 0, 0, 0}, {0, 0, 0, 0}, 0, 0.0f, {0.0f, 0.0f}};
    if (at < shared->n_used) {
        const slci_mma_raw *raw = &stock->raw[chunk][slci_mma_own_place<PLAN>(stage)];
        const uint32_t channel =
            (shared->run.first_sample + shared->list[at]) % (uint32_t)a->setup.n_channels;
        const double per_metre = a->channels[channel];
        const double uvw[3] = {raw->uvw[0] * per_metre, raw->uvw[1] * per_metre,
                               raw->uvw[2] * per_metre};
        slci_mma_phase<PLAN>(shared, a->setup.geometry.scale_rad, uvw, slci_mma_scatter(at), &own);
        const double scale = (double)raw->weight * shared->scale;
        const float2 vis = a->setup.is_psf ? make_float2(1.0f, 0.0f) : raw->vis;
        const float2 value =
            make_float2((float)(scale * (double)vis.x), (float)(scale * (double)vis.y));
        own.a = blockIdx.z == 0 ? value : make_float2(value.y, -value.x);
    }
    __syncwarp(); /* all lanes are done with the samples before */
    stock->sample[chunk][slci_mma_own_place<PLAN>(stage)] = own;
    __syncwarp();
}

#endif
