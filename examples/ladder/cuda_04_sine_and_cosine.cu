/* Step 4: the card's own sine and cosine, asked for together.
 *
 * __sincosf scales its argument to turns once and then asks the special-function unit twice. It is off
 * by 2^-21 near zero, and more with the size of the phase, which single precision has spoilt
 * already.
 *
 * One H200: 2.9 times the step before, 14 instructions a pair in place of 64. The unit itself is busy
 * for 64 % of the time only: two loads a pair are in its way. */
#include "ladder_cuda.h"

static __global__ void sine_and_cosine(ladder_card card) {
    const int i = ladder_column();
    const int j = ladder_row();
    const ladder_direction at = ladder_look(card, i, j);
    const float l = (float)at.l;
    const float m = (float)at.m;
    const float n1 = (float)at.n1;
    float sum = 0.0f;
    for (int k = 0; k < card.n; k++) {
        const float4 uvw = card.uvw[k];
        float sine, cosine;
        __sincosf((float)LADDER_TWO_PI * (uvw.x * l + uvw.y * m + uvw.z * n1), &sine, &cosine);
        sum += card.vis[k].x * cosine + card.vis[k].y * sine;
    }
    card.image[(int64_t)j * card.size + i] = sum;
}

static const ladder_launch launch = {sine_and_cosine, {16, 16}, {16, 16}, false};

extern "C" const ladder_step ladder_cuda_04 = {
    "sine and cosine",  "the special-function unit's, both from one argument",
    LADDER_SINGLE_FAST, LADDER_LIMIT_SPECIAL,
    ladder_cuda_run,    &launch};
