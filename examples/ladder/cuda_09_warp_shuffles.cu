/* Step 9: no shared memory and no barrier. Each lane of a warp holds one visibility in registers, and
 * hands it to the others by shuffles.
 *
 * One H200: as fast as the step before. Five shuffles a visibility take the place of two loads from
 * shared memory, 9 instructions a pair, and the special-function unit decides. */
#include "ladder_cuda.h"

#define LANES 32
#define ALL_LANES 0xffffffffu
#define PIXELS 4

static __global__ void warp_shuffles(ladder_card card) {
    const int lane = (int)(threadIdx.y * blockDim.x + threadIdx.x) % LANES;
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
    for (int first = 0; first < card.n; first += LANES) { /* n is a multiple of LANES */
        const float4 uvw = card.uvw[first + lane];
        const float2 vis = card.vis[first + lane];
        for (int k = 0; k < LANES; k++) {
            const float along_l = __shfl_sync(ALL_LANES, uvw.x, k) * l;
            const float v = __shfl_sync(ALL_LANES, uvw.y, k);
            const float w = __shfl_sync(ALL_LANES, uvw.z, k);
            const float re = __shfl_sync(ALL_LANES, vis.x, k);
            const float im = __shfl_sync(ALL_LANES, vis.y, k);
            for (int p = 0; p < PIXELS; p++) {
                float sine, cosine;
                __sincosf(fmaf(w, n1[p], fmaf(v, m[p], along_l)), &sine, &cosine);
                sum[p] = fmaf(re, cosine, fmaf(im, sine, sum[p]));
            }
        }
    }
    for (int p = 0; p < PIXELS; p++) {
        card.image[(int64_t)(first_j + p) * card.size + i] = sum[p];
    }
}

static const ladder_launch launch = {warp_shuffles, {16, 16}, {16, 16 * PIXELS}, false};

extern "C" const ladder_step ladder_cuda_09 = {
    "warp shuffles",    "visibilities from lane to lane, no shared memory, no barrier",
    LADDER_SINGLE_FAST, LADDER_LIMIT_SPECIAL,
    ladder_cuda_run,    &launch};
