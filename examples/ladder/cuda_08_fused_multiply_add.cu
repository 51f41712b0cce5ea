/* Step 8: multiply-adds are written as such: fmaf rounds once, and is one instruction.
 *
 * nvcc joins a*b + c by itself, but it may not change the order of a sum: s + (a*b + c*d) stays three
 * instructions, fmaf(a, b, fmaf(c, d, s)) is two.
 *
 * One H200: 1.08 times the step before, 8 instructions a pair in place of 10; as fast as step 6. */
#include "ladder_cuda.h"

#define STAGE 256
#define PIXELS 4

static __global__ void fused_multiply_add(ladder_card card) {
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
            const float along_l = uvw[k].x * l;
            for (int p = 0; p < PIXELS; p++) {
                float sine, cosine;
                __sincosf(fmaf(uvw[k].z, n1[p], fmaf(uvw[k].y, m[p], along_l)), &sine, &cosine);
                sum[p] = fmaf(vis[k].x, cosine, fmaf(vis[k].y, sine, sum[p]));
            }
        }
    }
    for (int p = 0; p < PIXELS; p++) {
        card.image[(int64_t)(first_j + p) * card.size + i] = sum[p];
    }
}

static const ladder_launch launch = {fused_multiply_add, {16, 16}, {16, 16 * PIXELS}, false};

extern "C" const ladder_step ladder_cuda_08 = {"fused multiply-add",
                                               "four of them a pair, written out",
                                               LADDER_SINGLE_FAST,
                                               LADDER_LIMIT_SPECIAL,
                                               ladder_cuda_run,
                                               &launch};
