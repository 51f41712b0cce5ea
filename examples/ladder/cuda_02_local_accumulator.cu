/* Step 2: the sum is kept in a register and written once.
 *
 * One H200: 1.02 times the step before. A cache took the writes; what takes the time are the 108
 * instructions of a pair, nearly all of them in the two functions. */
#include "ladder_cuda.h"

static __global__ void local_accumulator(ladder_card card) {
    const int i = ladder_column();
    const int j = ladder_row();
    const ladder_direction at = ladder_look(card, i, j);
    double sum = 0.0;
    for (int k = 0; k < card.n; k++) {
        const double *uvw = &card.uvw_double[3 * k];
        const double phase = LADDER_TWO_PI * (uvw[0] * at.l + uvw[1] * at.m + uvw[2] * at.n1);
        sum += card.vis[k].x * cos(phase) + card.vis[k].y * sin(phase);
    }
    card.image_double[(int64_t)j * card.size + i] = sum;
}

static const ladder_launch launch = {local_accumulator, {16, 16}, {16, 16}, true};

extern "C" const ladder_step ladder_cuda_02 = {"local accumulator",
                                               "the sum in a register, written once",
                                               LADDER_DOUBLE,
                                               LADDER_LIMIT_SINE_DOUBLE,
                                               ladder_cuda_run,
                                               &launch};
