/* Step 7: four pixels a thread, below one another. What is read of a visibility serves all four, and so
 * does u l, because they share their column.
 *
 * One H200: 0.94 times the step before. There are fewer instructions, 10 a pair in place of 11, but the
 * special-function unit, which was busy nearly all the time, waits a little more often. */
#include "ladder_cuda.h"

#define STAGE 256
#define PIXELS 4

static __global__ void coarsening(ladder_card card) {
    __shared__ float4 uvw[STAGE];
    __shared__ float2 vis[STAGE];
    const int thread = (int)(threadIdx.y * blockDim.x + threadIdx.x);
    const int i = ladder_column();
    const int first_j = PIXELS * ladder_row();
    const float l = (float)(LADDER_TWO_PI * ladder_look(card, i, first_j).l);
    float m[PIXELS], n1[PIXELS], sum[PIXELS];
    for (int p = 0; p < PIXELS; p++) {
        const ladder_direction at = ladder_look(card, i, first_j + p);
        m[p] = (float)(LADDER_TWO_PI * at.m);
        n1[p] = (float)(LADDER_TWO_PI * at.n1);
        sum[p] = 0.0f;
    }
    for (int first = 0; first < card.n; first += STAGE) {
        const int count = min(STAGE, card.n - first);
        __syncthreads();
        if (thread < count) {
            uvw[thread] = card.uvw[first + thread];
            vis[thread] = card.vis[first + thread];
        }
        __syncthreads();
        for (int k = 0; k < count; k++) {
            for (int p = 0; p < PIXELS; p++) {
                float sine, cosine;
                __sincosf(uvw[k].x * l + uvw[k].y * m[p] + uvw[k].z * n1[p], &sine, &cosine);
                sum[p] += vis[k].x * cosine + vis[k].y * sine;
            }
        }
    }
    for (int p = 0; p < PIXELS; p++) {
        card.image[(int64_t)(first_j + p) * card.size + i] = sum[p];
    }
}

static const ladder_launch launch = {coarsening, {16, 16}, {16, 16 * PIXELS}, false};

extern "C" const ladder_step ladder_cuda_07 = {"coarsening",       "four pixels a thread",
                                               LADDER_SINGLE_FAST, LADDER_LIMIT_SPECIAL,
                                               ladder_cuda_run,    &launch};
