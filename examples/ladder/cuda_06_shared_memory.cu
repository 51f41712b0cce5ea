/* Step 6: visibilities go through shared memory. A block of 256 threads loads 256 of them, one a
 * thread, and then every thread reads them all from there.
 *
 * One H200: 1.5 times the step before, and 96 % of the special-function unit's rate: from here on no
 * step can gain by doing the same more cleverly. */
#include "ladder_cuda.h"

#define STAGE 256 /* threads of a block, and visibilities staged at a time: 6 KiB */

static __global__ void shared_memory(ladder_card card) {
    __shared__ float4 uvw[STAGE];
    __shared__ float2 vis[STAGE];
    const int thread = (int)(threadIdx.y * blockDim.x + threadIdx.x);
    const int i = ladder_column();
    const int j = ladder_row();
    const ladder_direction at = ladder_look(card, i, j);
    const float l = (float)(LADDER_TWO_PI * at.l);
    const float m = (float)(LADDER_TWO_PI * at.m);
    const float n1 = (float)(LADDER_TWO_PI * at.n1);
    float sum = 0.0f;
    for (int first = 0; first < card.n; first += STAGE) {
        const int count = min(STAGE, card.n - first);
        __syncthreads(); /* everybody is done with the stage before */
        if (thread < count) {
            uvw[thread] = card.uvw[first + thread];
            vis[thread] = card.vis[first + thread];
        }
        __syncthreads();
        for (int k = 0; k < count; k++) {
            float sine, cosine;
            __sincosf(uvw[k].x * l + uvw[k].y * m + uvw[k].z * n1, &sine, &cosine);
            sum += vis[k].x * cosine + vis[k].y * sine;
        }
    }
    card.image[(int64_t)j * card.size + i] = sum;
}

static const ladder_launch launch = {shared_memory, {16, 16}, {16, 16}, false};

extern "C" const ladder_step ladder_cuda_06 = {"shared memory",
                                               "256 visibilities at a time, loaded once a block",
                                               LADDER_SINGLE_FAST,
                                               LADDER_LIMIT_SPECIAL,
                                               ladder_cuda_run,
                                               &launch};
