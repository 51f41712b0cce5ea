/* Step 3: single precision. Arithmetic and sine cost a fraction of what they cost in double.
 *
 * It is paid for: a phase of a thousand turns is known to 10^-4 turns only, and the sum loses a little
 * with each term. sinf and cosf are exact to the last bit but one, whatever the size of the phase,
 * which takes them some twenty-five instructions each.
 *
 * One H200: 2.0 times the step before. */
#include "ladder_cuda.h"

static __global__ void single_precision(ladder_card card) {
    const int i = ladder_column();
    const int j = ladder_row();
    const ladder_direction at = ladder_look(card, i, j);
    const float l = (float)at.l;
    const float m = (float)at.m;
    const float n1 = (float)at.n1;
    float sum = 0.0f;
    for (int k = 0; k < card.n; k++) {
        const float4 uvw = card.uvw[k];
        const float phase = (float)LADDER_TWO_PI * (uvw.x * l + uvw.y * m + uvw.z * n1);
        sum += card.vis[k].x * cosf(phase) + card.vis[k].y * sinf(phase);
    }
    card.image[(int64_t)j * card.size + i] = sum;
}

static const ladder_launch launch = {single_precision, {16, 16}, {16, 16}, false};

extern "C" const ladder_step ladder_cuda_03 = {"single precision", "float in place of double",
                                               LADDER_SINGLE,      LADDER_LIMIT_SINE_SINGLE,
                                               ladder_cuda_run,    &launch};
