/* A sample that does not count has weight 0 and value 0, never a product with 0: 0 times NaN is NaN.
 * The order of the questions is that of the counts in io/vis.h: outside the range of baselines (not
 * looked at), flagged, without weight, not finite. */
#include "io/vis_combine.h"

#include <math.h>
#include <string.h>

/* The weight of a pair, and of which: mostly it is that of the channel before, and three divisions take
 * longer than all else that is done for a sample. */
typedef struct pair_memory {
    double wx, wy, weight;
} pair_memory;

/* The weight of a pair's mean: twice the harmonic sum, so equal weights w give w. */
static inline double pair_weight(double wx, double wy, pair_memory *last) {
    if (wx != last->wx || wy != last->wy) {
        const double weight = wx > 0.0 && wy > 0.0 ? 2.0 / (1.0 / wx + 1.0 / wy) : 0.0;
        *last = (pair_memory){wx, wy, weight};
    }
    return last->weight;
}

/* The weight, and whether it was made from what no weight can be: negative or not finite. */
static inline float sample_weight(const slci_vis_selection *selection, const slci_vis_row *row,
                                  int64_t channel, pair_memory *last, bool *is_bad) {
    double weight = 1.0;
    bool is_good = row->factor >= 0.0;
    for (int k = 0; k < selection->n_used && row->nsamples[0] != NULL; k++) {
        const double one = row->nsamples[k][channel];
        is_good = is_good && one >= 0.0 && isfinite(one);
        weight = k == 0 ? one : pair_weight(weight, one, last);
    }
    const float scaled = is_good ? (float)(weight * row->factor) : 0.0F;
    *is_bad = !is_good || !isfinite(scaled);
    return *is_bad ? 0.0F : scaled;
}

/* How many of the polarisations used are flagged. */
static inline int count_flags(const slci_vis_selection *selection, const slci_vis_row *row,
                              int64_t channel) {
    int n = 0;
    for (int k = 0; k < selection->n_used && row->flags[0] != NULL; k++) {
        n += row->flags[k][channel] != 0;
    }
    return n;
}

static inline void load_value(const slci_vis_row *row, int k, int64_t channel, double *value) {
    if (row->singles[0] == NULL) {
        value[0] = row->values[k][2 * channel];
        value[1] = row->values[k][2 * channel + 1];
        return;
    }
    float pair[2];
    memcpy(pair, row->singles[k] + channel * row->single_stride, sizeof pair);
    value[0] = (double)pair[0];
    value[1] = (double)pair[1];
}

/* The value in single precision; false where it is not finite. */
static inline bool sample_value(const slci_vis_selection *selection, const slci_vis_row *row,
                                int64_t channel, float *value) {
    double sum[2];
    load_value(row, 0, channel, sum);
    if (selection->n_used == 2) {
        const double scale = selection->is_sum ? 1.0 : 0.5;
        double other[2];
        load_value(row, 1, channel, other);
        sum[0] = scale * (sum[0] + other[0]);
        sum[1] = scale * (sum[1] + other[1]);
    }
    value[0] = (float)sum[0];
    value[1] = (float)(selection->conjugate ? -sum[1] : sum[1]);
    return isfinite(value[0]) && isfinite(value[1]);
}

bool slci_vis_is_in_range(const slci_vis_selection *selection, double length_wavelengths) {
    return length_wavelengths >= selection->uv_min &&
           (selection->uv_max <= 0.0 || length_wavelengths < selection->uv_max);
}

static bool is_finite(const slci_vis_row *row) {
    return isfinite(row->uvw[0]) && isfinite(row->uvw[1]) && isfinite(row->uvw[2]);
}

bool slci_vis_place_row(const slci_vis_row *row, double longest, double *uvw) {
    const bool has_place = is_finite(row);
    const bool is_far = has_place && (fabs(row->uvw[0]) > longest || fabs(row->uvw[1]) > longest ||
                                      fabs(row->uvw[2]) > longest);
    for (int d = 0; d < 3 && uvw != NULL; d++) {
        uvw[d] = has_place && !is_far ? row->uvw[d] : 0.0;
    }
    return !is_far;
}

bool slci_vis_combine_row(const slci_vis_selection *selection, const slci_vis_row *row, float *vis,
                          float *weight, slc_vis_counts *counts) {
    const size_t n_channels = (size_t)selection->n_channels;
    if (vis != NULL) {
        memset(vis, 0, 2 * n_channels * sizeof *vis);
    }
    if (weight != NULL) {
        memset(weight, 0, n_channels * sizeof *weight);
    }
    if (!row->is_selected) {
        return false;
    }
    const double length = selection->has_uv_range ? hypot(row->uvw[0], row->uvw[1]) : 0.0;
    const bool has_place = is_finite(row);
    const bool has_values = row->values[0] != NULL || row->singles[0] != NULL;
    pair_memory last = {0.0, 0.0, 0.0};
    bool is_used = false;
    for (int64_t c = 0; c < selection->n_channels; c++) {
        if (selection->has_uv_range && has_place &&
            !slci_vis_is_in_range(selection, length * selection->wavelengths_per_metre[c])) {
            continue;
        }
        const int n_flagged = count_flags(selection, row, c);
        counts->total += selection->n_used;
        counts->flagged += n_flagged;
        if (n_flagged > 0) {
            continue;
        }
        bool is_bad = false;
        const float w = sample_weight(selection, row, c, &last, &is_bad);
        if (!(w > 0.0F)) {
            counts->zero_weight++;
            counts->bad_weight += is_bad;
            continue;
        }
        float value[2] = {0.0F, 0.0F};
        if (!has_place || (has_values && !sample_value(selection, row, c, value))) {
            counts->nonfinite++;
            continue;
        }
        is_used = true;
        if (weight != NULL) {
            weight[c] = w;
        }
        if (vis != NULL) {
            vis[2 * c] = value[0];
            vis[2 * c + 1] = value[1];
        }
    }
    return is_used;
}
