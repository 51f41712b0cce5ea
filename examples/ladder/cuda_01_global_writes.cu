/* Step 1: the formula as it stands, a thread for each pixel, everything in double precision.
 *
 * The sum is kept where the result goes, in global memory: as far as the compiler knows the pixel might
 * be one of the visibilities, so it is read and written again for each of them.
 *
 * One H200: 2.2·10^11 pairs a second, 84 % of what sine and cosine in double alone would leave. */
#include "ladder_cuda.h"

static __global__ void global_writes(ladder_card card) {
    const int i = ladder_column();
    const int j = ladder_row();
    const ladder_direction at = ladder_look(card, i, j);
    double *pixel = &card.image_double[(int64_t)j * card.size + i];
    *pixel = 0.0;
    for (int k = 0; k < card.n; k++) {
        const double *uvw = &card.uvw_double[3 * k];
        const double phase = LADDER_TWO_PI * (uvw[0] * at.l + uvw[1] * at.m + uvw[2] * at.n1);
        *pixel += card.vis[k].x * cos(phase) + card.vis[k].y * sin(phase);
    }
}

static const ladder_launch launch = {global_writes, {16, 16}, {16, 16}, true};

extern "C" const ladder_step ladder_cuda_01 = {
    "global writes", "a thread a pixel, double precision, the sum in global memory",
    LADDER_DOUBLE,   LADDER_LIMIT_SINE_DOUBLE,
    ladder_cuda_run, &launch};
