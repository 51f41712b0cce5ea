/* The oracle: the sum as it is written down, in double, one pixel and one sample at a time. It is
 * slow on purpose; every kernel is held against it. */
#include <math.h>

#include "core/constants.h"
#include "kernels/direct.h"

/* The sum over all samples at one direction; beyond the horizon there is none. */
static void sum_at(double l, double m, bool is_w_projected, int64_t n_rows, int64_t n_channels,
                   const double *uvw_m, const float *vis, const float *weight,
                   const double *channels, double *re, double *im) {
    const double r2 = l * l + m * m;
    const double n = sqrt(1.0 - r2);
    const double w_factor = is_w_projected ? -r2 / (1.0 + n) : n;
    *re = 0.0;
    *im = 0.0;
    for (int64_t row = 0; row < n_rows; row++) {
        for (int64_t channel = 0; channel < n_channels; channel++) {
            const int64_t k = row * n_channels + channel;
            if (!(weight[k] > 0.0f)) {
                continue; /* its value may be anything, NaN too */
            }
            const double u = uvw_m[3 * row] * channels[channel];
            const double v = uvw_m[3 * row + 1] * channels[channel];
            const double w = uvw_m[3 * row + 2] * channels[channel];
            const double turns = u * l + v * m + w * w_factor;
            const double phase = SLC_TWO_PI * (turns - rint(turns));
            const double a = (double)weight[k] * (double)vis[2 * k];
            const double b = (double)weight[k] * (double)vis[2 * k + 1];
            *re += a * cos(phase) + b * sin(phase);
            *im += b * cos(phase) - a * sin(phase);
        }
    }
}

void slc_direct_reference(const slc_direct_geometry *geometry, int n_parts, int64_t n_rows,
                          int64_t n_channels, const double *uvw_m, const float *vis,
                          const float *weight, const double *channels, double *image) {
    for (int64_t j = 0; j < geometry->ny; j++) {
        for (int64_t i = 0; i < geometry->nx; i++) {
            const double l =
                geometry->centre_l - (double)(i - geometry->nx / 2) * geometry->scale_rad;
            const double m =
                geometry->centre_m + (double)(j - geometry->ny / 2) * geometry->scale_rad;
            double parts[2] = {NAN, NAN};
            if (l * l + m * m < 1.0) {
                sum_at(l, m, geometry->is_w_projected, n_rows, n_channels, uvw_m, vis, weight,
                       channels, &parts[0], &parts[1]);
            }
            for (int part = 0; part < n_parts; part++) {
                image[(j * geometry->nx + i) * n_parts + part] = parts[part];
            }
        }
    }
}
