/* Step 10: back to shared memory, but with two stages: while one is worked on, the card copies the next
 * one by itself, without registers or instructions of the block's (cuda::pipeline).
 *
 * One H200: 0.99 times the step before. Six blocks on a multiprocessor hid the copies already. */
#include <cuda/pipeline>

#include "ladder_cuda.h"

#define STAGE 256
#define STAGES 2
#define PIXELS 4

static __global__ void pipeline(ladder_card card) {
    __shared__ float4 uvw[STAGES][STAGE];
    __shared__ float2 vis[STAGES][STAGE];
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
    /* Each thread has a pipeline of its own for what it copies; a barrier makes it everybody's. */
    auto pipe = cuda::make_pipeline();
    const int n_stages = (card.n + STAGE - 1) / STAGE;
    for (int stage = 0; stage <= n_stages; stage++) {
        const int next = stage * STAGE + thread;
        pipe.producer_acquire();
        if (next < card.n) {
            cuda::memcpy_async(&uvw[stage % STAGES][thread], &card.uvw[next], sizeof(float4), pipe);
            cuda::memcpy_async(&vis[stage % STAGES][thread], &card.vis[next], sizeof(float2), pipe);
        }
        pipe.producer_commit();
        if (stage == 0) {
            continue; /* nothing has arrived yet */
        }
        cuda::pipeline_consumer_wait_prior<1>(pipe);
        __syncthreads();
        const int here = (stage - 1) % STAGES;
        const int count = min(STAGE, card.n - (stage - 1) * STAGE);
        for (int k = 0; k < count; k++) {
            const float along_l = uvw[here][k].x * l;
            for (int p = 0; p < PIXELS; p++) {
                float sine, cosine;
                __sincosf(fmaf(uvw[here][k].z, n1[p], fmaf(uvw[here][k].y, m[p], along_l)), &sine,
                          &cosine);
                sum[p] = fmaf(vis[here][k].x, cosine, fmaf(vis[here][k].y, sine, sum[p]));
            }
        }
        pipe.consumer_release();
        __syncthreads(); /* nobody reads the stage any more: it may be copied over */
    }
    for (int p = 0; p < PIXELS; p++) {
        card.image[(int64_t)(first_j + p) * card.size + i] = sum[p];
    }
}

static const ladder_launch launch = {pipeline, {16, 16}, {16, 16 * PIXELS}, false};

extern "C" const ladder_step ladder_cuda_10 = {"pipeline",
                                               "the next stage is copied while one is worked on",
                                               LADDER_SINGLE_FAST,
                                               LADDER_LIMIT_SPECIAL,
                                               ladder_cuda_run,
                                               &launch};
