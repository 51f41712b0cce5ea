/* Step 1 on the processor: the formula as it stands, in double precision, a pair after the other.
 *
 * Sixteen Xeon cores: 4.1·10^8 pairs a second. */
#include <math.h>

#include "ladder_host.h"

static bool make(const ladder_problem *problem, int i0, int j0, double *image) {
    const int half = problem->size / 2;
    for (int j = j0; j < j0 + LADDER_SQUARE; j++) {
        for (int i = i0; i < i0 + LADDER_SQUARE; i++) {
            const double l = -(i - half) * problem->scale_rad;
            const double m = (j - half) * problem->scale_rad;
            const double r2 = l * l + m * m;
            const double n1 = -r2 / (1.0 + sqrt(1.0 - r2));
            double sum = 0.0;
            for (int k = 0; k < problem->n; k++) {
                const double *uvw = &problem->uvw[3 * k];
                const double phase = LADDER_TWO_PI * (uvw[0] * l + uvw[1] * m + uvw[2] * n1);
                sum += (double)problem->vis[2 * k] * cos(phase) +
                       (double)problem->vis[2 * k + 1] * sin(phase);
            }
            image[(int64_t)j * problem->size + i] = sum;
        }
    }
    return true;
}

static const ladder_square square = {make};

const ladder_step ladder_host_1 = {.name = "scalar",
                                   .change = "the formula, double precision",
                                   .precision = LADDER_DOUBLE,
                                   .limit = -1,
                                   .run = ladder_host_run,
                                   .own = &square};
