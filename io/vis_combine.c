/* A sample that does not count has weight 0 and value 0, never a product with 0: 0 times NaN is NaN.
 * The order of the questions is that of the counts in io/vis.h: outside the range of baselines (not
 * looked at), flagged, without weight, not finite. */
#include "io/vis_combine.h"

#include <math.h>
#include <string.h>

/* The weight of a pair's mean: twice the harmonic sum, so equal weights w give w. */
static double pair_weight(double wx, double wy) {
    return wx > 0.0 && wy > 0.0 ? 2.0 / (1.0 / wx + 1.0 / wy) : 0.0;
}

static double sample_weight(const slci_vis_selection *selection, const slci_vis_row *row,
                            int64_t channel) {
    double weight = 1.0;
    if (row->nsamples[0] != NULL) {
        weight = row->nsamples[0][channel];
        if (selection->n_used == 2) {
            const double other = row->nsamples[1][channel];
            weight = isfinite(other) && isfinite(weight) ? pair_weight(weight, other) : 0.0;
        }
    }
    return weight * row->factor;
}

/* How many of the polarisations used are flagged. */
static int count_flags(const slci_vis_selection *selection, const slci_vis_row *row,
                       int64_t channel) {
    int n = 0;
    for (int k = 0; k < selection->n_used && row->flags[0] != NULL; k++) {
        n += row->flags[k][channel] != 0;
    }
    return n;
}

/* The value in single precision; false where it is not finite. */
static bool sample_value(const slci_vis_selection *selection, const slci_vis_row *row,
                         int64_t channel, float *value) {
    double real = row->values[0][2 * channel];
    double imag = row->values[0][2 * channel + 1];
    if (selection->n_used == 2) {
        const double scale = selection->is_sum ? 1.0 : 0.5;
        real = scale * (real + row->values[1][2 * channel]);
        imag = scale * (imag + row->values[1][2 * channel + 1]);
    }
    value[0] = (float)real;
    value[1] = (float)(selection->conjugate ? -imag : imag);
    return isfinite(value[0]) && isfinite(value[1]);
}

static bool is_in_range(const slci_vis_selection *selection, double length_wavelengths) {
    return length_wavelengths >= selection->uv_min &&
           (selection->uv_max <= 0.0 || length_wavelengths < selection->uv_max);
}

void slci_vis_combine_row(const slci_vis_selection *selection, const slci_vis_row *row, float *vis,
                          float *weight, slc_vis_counts *counts) {
    const size_t n_channels = (size_t)selection->n_channels;
    if (vis != NULL) {
        memset(vis, 0, 2 * n_channels * sizeof *vis);
    }
    if (weight != NULL) {
        memset(weight, 0, n_channels * sizeof *weight);
    }
    if (!row->is_selected) {
        return;
    }
    const double length = hypot(row->uvw[0], row->uvw[1]);
    const bool is_finite = isfinite(length) && isfinite(row->uvw[2]);
    for (int64_t c = 0; c < selection->n_channels; c++) {
        if (selection->has_uv_range && is_finite &&
            !is_in_range(selection, length * selection->wavelengths_per_metre[c])) {
            continue;
        }
        const int n_flagged = count_flags(selection, row, c);
        counts->total += selection->n_used;
        counts->flagged += n_flagged;
        if (n_flagged > 0) {
            continue;
        }
        const float w = (float)sample_weight(selection, row, c);
        if (!(w > 0.0F) || !isfinite(w)) {
            counts->zero_weight++;
            continue;
        }
        float value[2] = {0.0F, 0.0F};
        if (!is_finite || (row->values[0] != NULL && !sample_value(selection, row, c, value))) {
            counts->nonfinite++;
            continue;
        }
        if (weight != NULL) {
            weight[c] = w;
        }
        if (vis != NULL) {
            vis[2 * c] = value[0];
            vis[2 * c + 1] = value[1];
        }
    }
}
