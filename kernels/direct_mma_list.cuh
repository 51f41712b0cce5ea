/* The list of a run's used samples.
 *
 *     slci_mma_list_run<PLAN::RUN>(a, shared, list);    all threads, at the start of a run
 */
#ifndef SLC_KERNELS_DIRECT_MMA_LIST_CUH
#define SLC_KERNELS_DIRECT_MMA_LIST_CUH

#include "kernels/direct_mma_block.cuh"

/* Below the exponent of any w V that is not 0. */
#define SLCI_MMA_NO_EXPONENT -2000

/* An exponent e with |w V| < 2^e for one sample of weight > 0; products of two floats are normal
 * numbers in double. */
static __device__ __forceinline__ int slci_mma_exponent(float weight, float2 vis) {
    const double size = (double)fmaxf(fabsf(vis.x), fabsf(vis.y));
    const int exponent = (__double2hiint((double)weight * size) >> 20) - 1023;
    return size > 0.0 ? exponent + 2 : SLCI_MMA_NO_EXPONENT; /* |V|: at most √2 of it */
}

/* Steps of 32 samples that a warp has on their way at a time. */
#define SLCI_MMA_LIST_AT_ONCE 16

/* Which of the lane's samples, each 32 after the one before it, all lanes use: a mask for each. Those
 * from `n` on are none of the run's. */
static __device__ __forceinline__ void slci_mma_look(const slci_direct_cuda_arguments *a,
                                                     const slci_mma_shared *shared, int at,
                                                     unsigned *masks, int *exponent) {
    const slci_direct_run *run = &shared->run;
    const int64_t first = run->first_row * a->setup.n_channels + run->first_sample;
    float weight[SLCI_MMA_LIST_AT_ONCE];
    float2 vis[SLCI_MMA_LIST_AT_ONCE];
#pragma unroll
    for (int j = 0; j < SLCI_MMA_LIST_AT_ONCE; j++) {
        const int64_t k = first + min(at + 32 * j, run->n_samples - 1);
        weight[j] = a->weight[k];
        vis[j] = a->setup.is_psf ? make_float2(1.0f, 0.0f) : a->vis[k];
    }
#pragma unroll
    for (int j = 0; j < SLCI_MMA_LIST_AT_ONCE; j++) {
        const bool is_used = at + 32 * j < run->n_samples && weight[j] > 0.0f;
        const int own = is_used ? slci_mma_exponent(weight[j], vis[j]) : SLCI_MMA_NO_EXPONENT;
        *exponent = max(*exponent, own);
        masks[j] = __ballot_sync(0xffffffffu, is_used);
    }
}

/* Lists the samples of the run that have a weight, in the order of the file, and finds the exponent
 * of the largest |wV|. All threads; ends with a barrier. Not inlined, because nothing of it should be
 * kept in registers while stages are multiplied. */
template <int RUN>
static __device__ __noinline__ void slci_mma_list_run(const slci_direct_cuda_arguments *a,
                                                      slci_mma_shared *shared, uint16_t *list) {
    constexpr int STEPS = RUN / 32 / SLCI_MMA_WARPS; /* of 32 samples of a warp */
    const int lane = (int)threadIdx.x % 32;
    const int warp = (int)threadIdx.x / 32;
    const int first = warp * STEPS * 32 + lane;
    unsigned masks[STEPS];
    int exponent = SLCI_MMA_NO_EXPONENT;
    int count = 0;
#pragma unroll
    for (int step = 0; step < STEPS; step += SLCI_MMA_LIST_AT_ONCE) {
        slci_mma_look(a, shared, first + 32 * step, masks + step, &exponent);
    }
#pragma unroll
    for (int step = 0; step < STEPS; step++) {
        count += __popc(masks[step]);
    }
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
        exponent = max(exponent, __shfl_xor_sync(0xffffffffu, exponent, step));
    }
    if (lane == 0) {
        shared->warp_count[warp] = count;
        shared->warp_exponent[warp] = exponent;
    }
    __syncthreads();
    int to = 0;
    int n_used = 0;
#pragma unroll
    for (int other = 0; other < SLCI_MMA_WARPS; other++) {
        to += other < warp ? shared->warp_count[other] : 0;
        n_used += shared->warp_count[other];
        exponent = max(exponent, shared->warp_exponent[other]);
    }
#pragma unroll
    for (int step = 0; step < STEPS; step++) {
        if ((masks[step] >> lane & 1u) != 0) {
            list[to + __popc(masks[step] & ((1u << lane) - 1u))] = (uint16_t)(first + 32 * step);
        }
        to += __popc(masks[step]);
    }
    if (threadIdx.x == 0) {
        shared->left_bits = SLCI_MMA_LEFT_BIT - exponent;
        shared->scale = ldexp(1.0, SLCI_MMA_LEFT_BIT - exponent);
        shared->n_used = exponent > SLCI_MMA_NO_EXPONENT ? n_used : 0;
    }
    __syncthreads();
}

#endif
