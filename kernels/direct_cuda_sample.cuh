/* From raw samples to the turns of a kernel tile's columns and rows, all in double: the second and
 * third step of a block of the CUDA cosine kernel.
 *
 *     slci_block_compact<VARIANT>(a, chunk, shared);   one warp
 *     slci_block_turns<THREADS>(a, chunk, shared);          all threads, after a barrier
 */
#ifndef SLC_KERNELS_DIRECT_CUDA_SAMPLE_CUH
#define SLC_KERNELS_DIRECT_CUDA_SAMPLE_CUH

#include "kernels/direct_cuda_block.cuh"

/* a · b modulo 1, in [-1/2, 1/2], as exact as a and b are. */
static __device__ inline double slci_fraction(double a, double b) {
    const double whole = rint(a * b);
    return fma(a, b, -whole);
}

/* Phases of one sample at the tile's reference pixel (x0 + 32, y0 + 32), and its steps. `argument`
 * is what V takes off the phase, in turns. */
static __device__ inline slci_direct_phase slci_sample_phase(const slci_direct_reference *at,
                                                             double scale_rad, double u, double v,
                                                             double w, double argument) {
    slci_direct_phase phase;
    phase.columns.x = -slci_fraction(u, scale_rad);
    phase.columns.y = SLCI_TURN_MAGIC + (slci_fraction(u, at->l) - argument);
    phase.rows.x = slci_fraction(v, scale_rad);
    phase.rows.y = SLCI_TURN_MAGIC + (slci_fraction(v, at->m) + slci_fraction(w, at->w_factor));
    phase.w = w;
    return phase;
}

/* What the pairs of a sample of amplitude `a` need, in two vectors: the scaled polynomial, w, and the
 * variant's own form of w in the last two words. */
template <int VARIANT>
static __device__ inline void slci_sample_pack(double a, double w, double w_unit, float4 *packed) {
    int low = 0;
    int high = 0;
    if (VARIANT == SLCI_CUDA_DOUBLE) {
        low = __double2loint(w);
        high = __double2hiint(w);
    } else if (VARIANT == SLCI_CUDA_WIDE) {
        const double whole = rint(w / w_unit);
        low = __float_as_int((float)(w - whole * w_unit));
        high = (int)whole;
    }
    packed[0] = make_float4((float)(a * SLCI_SINE_0), (float)(a * SLCI_SINE_1),
                            (float)(a * SLCI_SINE_2), (float)(a * SLCI_SINE_3));
    packed[1] =
        make_float4((float)(a * SLCI_SINE_4), (float)w, __int_as_float(low), __int_as_float(high));
}

/* One raw sample, the chunk's `lane`-th, to entry `slot` of the chunk's lists. */
template <int VARIANT>
static __device__ inline void slci_sample_prepare(const slci_direct_cuda_arguments *arguments,
                                                  int chunk, int lane, int slot,
                                                  slci_direct_shared *shared) {
    const slci_direct_raw *raw = &shared->raw[chunk % 2];
    const uint32_t n_channels = (uint32_t)arguments->setup.n_channels;
    const uint32_t first = shared->run.first_sample + (uint32_t)(chunk * SLCI_CUDA_CHUNK);
    const uint32_t index = first + (uint32_t)lane;
    const int row = (int)(index / n_channels - first / n_channels);
    const double per_metre = arguments->channels[index % n_channels];
    const double w = raw->uvw[3 * row + 2] * per_metre;
    const double re = arguments->setup.is_psf ? 1.0 : (double)raw->vis[lane].x;
    const double im = arguments->setup.is_psf ? 0.0 : (double)raw->vis[lane].y;
    const double argument = atan2(im, re) * (1.0 / 6.283185307179586);
    shared->phases[chunk % 2][slot] =
        slci_sample_phase(&shared->reference, arguments->setup.geometry.scale_rad,
                          raw->uvw[3 * row] * per_metre, raw->uvw[3 * row + 1] * per_metre, w,
                          argument);
    slci_sample_pack<VARIANT>(-(double)raw->weight[lane] * sqrt(re * re + im * im), w,
                              shared->w_unit, shared->samples[chunk % 4][slot]);
}

/* One warp turns the chunk's raw samples into phases and amplitudes, leaving out those without
 * weight and keeping the order, and fills the last group with samples of amplitude 0. A chunk past
 * the end has no samples. */
template <int VARIANT>
static __device__ inline void slci_block_compact(const slci_direct_cuda_arguments *a, int chunk,
                                                 slci_direct_shared *shared) {
    const int lane = slci_block_thread() % 32;
    const int half = chunk % 2;
    const bool is_used = chunk * SLCI_CUDA_CHUNK + lane < shared->run.n_samples &&
                         shared->raw[half].weight[lane] > 0.0f;
    const unsigned mask = __ballot_sync(0xffffffffu, is_used);
    const int n_used = __popc(mask);
    const int n_padded = (n_used + SLCI_CUDA_GROUP - 1) / SLCI_CUDA_GROUP * SLCI_CUDA_GROUP;
    if (is_used) {
        const int slot = __popc(mask & ((1u << lane) - 1u));
        slci_sample_prepare<VARIANT>(a, chunk, lane, slot, shared);
    }
    if (lane >= n_used && lane < n_padded) {
        const slci_direct_phase still = {{0.0, SLCI_TURN_MAGIC}, {0.0, SLCI_TURN_MAGIC}, 0.0};
        shared->phases[half][lane] = still;
        shared->samples[chunk % 4][lane][0] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        shared->samples[chunk % 4][lane][1] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    }
    if (lane == 0) {
        shared->n_used[chunk % 4] = n_padded;
    }
}

/* base + step · pixel + w · w_factor, modulo 1 in units of 2^-32. */
static __device__ __forceinline__ uint32_t slci_turn(double2 line, double pixel, double w,
                                                     double w_factor, bool is_near) {
    const double bent = is_near ? fma(w, w_factor, line.y) : line.y + slci_fraction(w, w_factor);
    return (uint32_t)__double2loint(fma(line.x, pixel, bent));
}

/* A turn for each used sample and each column and row: two multiply-adds in double. A thread has the
 * column and the row of one number. */
template <int THREADS>
static __device__ inline void slci_block_turns(const slci_direct_cuda_arguments *a, int chunk,
                                               slci_direct_shared *shared) {
    const int thread = slci_block_thread();
    const int at = thread % SLCI_CUDA_TILE;
    const double pixel = (double)(at - SLCI_CUDA_TILE / 2);
    const double column_factor = shared->w_factor[at];
    const double row_factor = shared->w_factor[SLCI_CUDA_TILE + at];
    const bool is_near = a->setup.max_w <= SLCI_CUDA_NEAR_W;
    const int n_used = shared->n_used[chunk % 4];
#pragma unroll 2
    for (int k = thread / SLCI_CUDA_TILE; k < n_used; k += THREADS / SLCI_CUDA_TILE) {
        const slci_direct_phase *phase = &shared->phases[chunk % 2][k];
        slci_direct_turns *turns = &shared->turns[chunk % 2][k];
        ((uint32_t *)turns->columns)[at] =
            slci_turn(phase->columns, pixel, phase->w, column_factor, is_near);
        ((uint32_t *)turns->rows)[at] =
            slci_turn(phase->rows, pixel, phase->w, row_factor, is_near);
    }
}

#endif
