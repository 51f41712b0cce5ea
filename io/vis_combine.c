/* A sample that does not count has weight 0 and value 0, never a product with 0: 0 times NaN is NaN.
 * The order of the questions is that of the counts in io/vis.h: outside the range of baselines (not
 * looked at), flagged, without weight, not finite. What a single cannot hold is counted beside. */
#include "io/vis_combine.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- counts ----------------------------------------------------------------------------------- */

static void add_outsiders(slc_vis_outsiders *sum, const slc_vis_outsiders *more) {
    const bool is_first = more->n > 0 && (sum->n == 0 || more->row < sum->row ||
                                          (more->row == sum->row && more->channel < sum->channel));
    if (is_first) {
        sum->row = more->row;
        sum->channel = more->channel;
    }
    sum->n += more->n;
}

void slc_vis_counts_add(slc_vis_counts *sum, const slc_vis_counts *more) {
    sum->total += more->total;
    sum->flagged += more->flagged;
    sum->nonfinite += more->nonfinite;
    sum->zero_weight += more->zero_weight;
    sum->bad_weight += more->bad_weight;
    for (int k = 0; k < SLC_VIS_N_OUTSIDE; k++) {
        add_outsiders(&sum->outside[k], &more->outside[k]);
    }
}

const char *slc_vis_outside_text(slc_vis_outside which) {
    static const char *const texts[SLC_VIS_N_OUTSIDE] = {
        [SLC_VIS_VALUE_TOO_LARGE] =
            "visibilities are too large for single precision (3.4e38): left out",
        [SLC_VIS_VALUE_TOO_SMALL] = "visibilities are too small for single precision (1.2e-38): "
                                    "used with fewer digits, or as 0",
        [SLC_VIS_WEIGHT_TOO_LARGE] =
            "visibilities have a weight that is too large for single precision (3.4e38): left out",
        [SLC_VIS_WEIGHT_TOO_SMALL] =
            "visibilities have a weight that is above 0 and too small for single precision "
            "(1.4e-45): left out"};
    return texts[which];
}

static void count_outside(slc_vis_counts *counts, slc_vis_outside which, int64_t row,
                          int64_t channel) {
    const slc_vis_outsiders one = {.n = 1, .row = row, .channel = channel};
    add_outsiders(&counts->outside[which], &one);
}

/* ---- samples ---------------------------------------------------------------------------------- */

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

/* A weight in double and in single precision, and whether it was made from what no weight can be:
 * negative or not finite. */
typedef struct sample_weight {
    double exact;
    float single;
    bool is_bad;
} sample_weight;

static inline sample_weight weigh(const slci_vis_combination *imaged, const slci_vis_row *row,
                                  int64_t channel, pair_memory *last) {
    double weight = 1.0;
    bool is_good = row->factor >= 0.0;
    for (int k = 0; k < imaged->n_used && row->nsamples[0] != NULL; k++) {
        const double one = row->nsamples[imaged->hand[k]][channel];
        is_good = is_good && one >= 0.0 && isfinite(one);
        weight = k == 0 ? one : pair_weight(weight, one, last);
    }
    const double exact = is_good ? weight * row->factor : 0.0;
    const float single = (float)exact;
    const bool is_bad = !is_good || !isfinite(single);
    return (sample_weight){exact, is_bad ? 0.0F : single, is_bad};
}

/* Of a sample that is left out for its weight. */
static void count_weightless(const slci_vis_row *row, int64_t channel, const sample_weight *weight,
                             slc_vis_counts *counts) {
    counts->zero_weight++;
    counts->bad_weight += weight->is_bad;
    if (weight->exact > 0.0 && isfinite(weight->exact)) {
        const slc_vis_outside which =
            weight->is_bad ? SLC_VIS_WEIGHT_TOO_LARGE : SLC_VIS_WEIGHT_TOO_SMALL;
        count_outside(counts, which, row->number, channel);
    }
}

/* How many of the polarisations used are flagged. */
static inline int count_flags(const slci_vis_combination *imaged, const slci_vis_row *row,
                              int64_t channel) {
    int n = 0;
    for (int k = 0; k < imaged->n_used && row->flags[0] != NULL; k++) {
        n += row->flags[imaged->hand[k]][channel] != 0;
    }
    return n;
}

static inline void load_value(const slci_vis_row *row, int hand, int64_t channel, double *value) {
    if (row->singles[0] == NULL) {
        value[0] = row->values[hand][2 * channel];
        value[1] = row->values[hand][2 * channel + 1];
        return;
    }
    float pair[2];
    memcpy(pair, row->singles[hand] + channel * row->single_stride, sizeof pair);
    value[0] = (double)pair[0];
    value[1] = (double)pair[1];
}

/* Whether a value that is not 0 is below what singles hold with all their digits. */
static inline bool is_too_small(const float *value, const double *exact) {
    return fabsf(value[0]) < FLT_MIN && fabsf(value[1]) < FLT_MIN &&
           (exact[0] != 0.0 || exact[1] != 0.0);
}

/* The value of a polarisation in double. */
static inline void combine_value(const slci_vis_combination *imaged, const slci_vis_row *row,
                                 int64_t channel, double *value) {
    double sum[2];
    load_value(row, imaged->hand[0], channel, sum);
    if (imaged->n_used == 2) {
        const double sign = imaged->is_difference ? -1.0 : 1.0;
        double other[2];
        load_value(row, imaged->hand[1], channel, other);
        sum[0] = imaged->scale * (sum[0] + sign * other[0]);
        sum[1] = imaged->scale * (sum[1] + sign * other[1]);
    }
    value[0] = imaged->is_turned ? sum[1] : sum[0]; /* -i (x + iy) = y - ix */
    value[1] = imaged->is_turned ? -sum[0] : sum[1];
}

/* The value in single precision; false where it is not finite. What singles cannot hold is counted. */
static inline bool sample_value(const slci_vis_selection *selection,
                                const slci_vis_combination *imaged, const slci_vis_row *row,
                                int64_t channel, float *value, slc_vis_counts *counts) {
    double exact[2];
    combine_value(imaged, row, channel, exact);
    value[0] = (float)exact[0];
    value[1] = (float)(selection->conjugate ? -exact[1] : exact[1]);
    const int64_t file_channel = selection->channel_begin + channel;
    if (isfinite(value[0]) && isfinite(value[1])) {
        if (is_too_small(value, exact)) {
            count_outside(counts, SLC_VIS_VALUE_TOO_SMALL, row->number, file_channel);
        }
        return true;
    }
    if (isfinite(exact[0]) && isfinite(exact[1])) {
        count_outside(counts, SLC_VIS_VALUE_TOO_LARGE, row->number, file_channel);
    }
    return false;
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

bool slci_vis_combine_row(const slci_vis_selection *selection, const slci_vis_combination *imaged,
                          const slci_vis_row *row, const slci_vis_samples *out) {
    float *const vis = out->vis;
    float *const weight = out->weight;
    slc_vis_counts *const counts = out->counts;
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
        const int n_flagged = count_flags(imaged, row, c);
        counts->total += imaged->n_used;
        counts->flagged += n_flagged;
        if (n_flagged > 0) {
            continue;
        }
        const sample_weight w = weigh(imaged, row, c, &last);
        if (!(w.single > 0.0F)) {
            count_weightless(row, selection->channel_begin + c, &w, counts);
            continue;
        }
        float value[2] = {0.0F, 0.0F};
        if (!has_place || (has_values && !sample_value(selection, imaged, row, c, value, counts))) {
            counts->nonfinite++;
            continue;
        }
        is_used = true;
        if (weight != NULL) {
            weight[c] = w.single;
        }
        if (vis != NULL) {
            vis[2 * c] = value[0];
            vis[2 * c + 1] = value[1];
        }
    }
    return is_used;
}

bool slci_vis_combine(const slci_vis_selection *selection, const slci_vis_row *row,
                      const slci_vis_target *target, int64_t at, slc_vis_counts *counts) {
    const int64_t n_channels = selection->n_channels;
    bool is_used = false;
    for (int k = 0; k < selection->n_imaged; k++) {
        float *const vis = target->vis[k];
        float *const weight = target->weight[k];
        const slci_vis_samples out = {.vis = vis == NULL ? NULL : vis + 2 * at * n_channels,
                                      .weight = weight == NULL ? NULL : weight + at * n_channels,
                                      .counts = &counts[k]};
        const bool is_wanted = vis != NULL || weight != NULL;
        if (is_wanted && slci_vis_combine_row(selection, &selection->imaged[k], row, &out)) {
            is_used = true;
        }
    }
    return is_used;
}
