/* From whole numbers to results. Of integers min, max, sum and median stay whole, since a double holds
 * only those of 53 bits; everything else is rounded to a double once. */
#include <math.h>
#include <string.h>

#include "app/stats_job.h"
#include "kernels/stats_exact.h"

static slc_stats_number real_number(double value) {
    return (slc_stats_number){.is_defined = true, .value = value};
}

static slc_stats_number whole_number(slc_fixed whole) {
    return (slc_stats_number){.is_defined = true,
                              .is_whole = true,
                              .whole = whole,
                              .value = slc_fixed_to_double(whole, 0)};
}

static slc_stats_part last_part(const slci_stats_job *job) {
    return job->setup.request.parts[job->setup.request.n_parts - 1];
}

static slc_stats_number number_of_key(const slci_stats_job *job, uint64_t key) {
    const slc_dtype dtype = job->setup.request.dtype;
    slc_fixed whole = slc_fixed_zero();
    if (!slc_dtype_is_integer(dtype)) {
        return real_number(slc_stats_key_value(dtype, last_part(job), key));
    }
    whole.low = slc_stats_key_whole(dtype, key);
    whole.high = slc_dtype_is_signed_integer(dtype) && (int64_t)whole.low < 0 ? -1 : 0;
    slc_stats_number number = whole_number(whole);
    number.value = slc_stats_key_value(dtype, last_part(job), key);
    return number;
}

/* ---- the first pass ----------------------------------------------------------------------------- */

/* Where the array is read as it is, and where it is read in one dimension, flat indices are equal. */
static void read_range(slci_stats_job *job, const uint64_t *word) {
    slc_stats_result *result = &job->result;
    const bool is_single = slc_stats_form_of(result->data.dtype, last_part(job)) == SLC_STATS_F32;
    const uint64_t above = is_single ? 0xff800000u : 0xfff0000000000000u;
    const uint64_t below = is_single ? 0x007fffffu : 0x000fffffffffffffu;
    job->lowest = word[SLC_STATS_LOWEST];
    job->highest = word[SLC_STATS_HIGHEST];
    result->argmin = (int64_t)word[SLC_STATS_PLACE_LOWEST] - 1;
    result->argmax = (int64_t)word[SLC_STATS_PLACE_HIGHEST] - 1;
    if (word[SLC_STATS_N_BELOW] > 0) {
        job->lowest = below;
        result->argmin = (int64_t)word[SLC_STATS_PLACE_BELOW] - 1;
    } else if (result->argmin < 0 && word[SLC_STATS_N_ABOVE] > 0) {
        job->lowest = above;
        result->argmin = (int64_t)word[SLC_STATS_PLACE_ABOVE] - 1;
    }
    if (word[SLC_STATS_N_ABOVE] > 0) {
        job->highest = above;
        result->argmax = (int64_t)word[SLC_STATS_PLACE_ABOVE] - 1;
    } else if (result->argmax < 0 && word[SLC_STATS_N_BELOW] > 0) {
        job->highest = below;
        result->argmax = (int64_t)word[SLC_STATS_PLACE_BELOW] - 1;
    }
    if (result->argmin >= 0) {
        result->min = number_of_key(job, job->lowest);
        result->max = number_of_key(job, job->highest);
    }
}

static int64_t n_values(const uint64_t *word) {
    return (int64_t)(word[SLC_STATS_N] - word[SLC_STATS_N_NAN]);
}

/* Sum and mean of one part, as arithmetic has them where there are infinities. */
static void read_sum(slci_stats_job *job, int k, const uint64_t *word) {
    slc_stats_result *result = &job->result;
    const int64_t *digits = (const int64_t *)&word[SLC_STATS_SUM];
    const bool is_above = word[SLC_STATS_N_ABOVE] > 0;
    const bool is_below = word[SLC_STATS_N_BELOW] > 0;
    const int64_t n = n_values(word);
    if (is_above || is_below) {
        const double infinite = is_above && is_below ? (double)NAN
                                : is_above           ? (double)INFINITY
                                                     : -(double)INFINITY;
        result->sum[k] = result->mean[k] = real_number(infinite);
        return;
    }
    result->sum[k] = real_number(slci_exact_sum(digits));
    if (slc_dtype_is_integer(result->data.dtype)) {
        slc_fixed whole = slc_fixed_zero();
        slci_exact_whole(digits, &whole.low, &whole.high);
        const double nearest = result->sum[k].value;
        result->sum[k] = whole_number(whole);
        result->sum[k].value = nearest;
    }
    if (n > 0) {
        result->mean[k] = real_number(slci_exact_mean(digits, n));
    }
}

static void read_deviation(slci_stats_job *job, int n_sums, const uint64_t *sums) {
    const int64_t *sum[SLC_STATS_MOST_PARTS];
    const int64_t *squares[SLC_STATS_MOST_PARTS];
    bool is_finite = true;
    for (int k = 0; k < n_sums; k++) {
        const uint64_t *word = sums + k * (int64_t)SLC_STATS_WORDS;
        sum[k] = (const int64_t *)&word[SLC_STATS_SUM];
        squares[k] = (const int64_t *)&word[SLC_STATS_SQUARES];
        is_finite = is_finite && word[SLC_STATS_N_ABOVE] == 0 && word[SLC_STATS_N_BELOW] == 0;
    }
    const int64_t n = n_values(sums);
    if (n > 0) {
        job->result.std =
            real_number(is_finite ? slci_exact_deviation(sum, squares, n_sums, n) : (double)NAN);
    }
}

void slci_stats_read_sums(slci_stats_job *job) {
    slc_stats_result *result = &job->result;
    const int n_parts = job->setup.request.n_parts;
    const uint64_t *sums = job->tables.sums;
    const uint64_t *last = sums + (n_parts - 1) * (int64_t)SLC_STATS_WORDS;
    result->n_nan = (int64_t)last[SLC_STATS_N_NAN];
    result->n_inf = (int64_t)(last[SLC_STATS_N_ABOVE] + last[SLC_STATS_N_BELOW]);
    read_range(job, last);
    for (int k = 0; k < result->n_sums; k++) {
        read_sum(job, k, sums + k * (int64_t)SLC_STATS_WORDS);
    }
    read_deviation(job, result->n_sums, sums);
}

/* ---- quantiles ---------------------------------------------------------------------------------- */

/* Its number among the ranks. */
static int want_rank(int64_t *ranks, int *n_ranks, int64_t rank) {
    for (int k = 0; k < *n_ranks; k++) {
        if (ranks[k] == rank) {
            return k;
        }
    }
    ranks[*n_ranks] = rank;
    return (*n_ranks)++;
}

/* The place (n - 1) q, in double precision as numpy forms it, lies between two ranks. */
static slci_stats_quantile want_quantile(int64_t *ranks, int *n_ranks, int64_t n, double q) {
    const double place = (double)(n - 1) * q;
    const double last = (double)(n - 1);
    const double below = place < last ? floor(place) : last;
    const int64_t rank = below < last ? (int64_t)below : n - 1;
    slci_stats_quantile quantile = {.fraction = place < last ? place - below : 0};
    const bool is_between = quantile.fraction > 0 && rank < n - 1;
    quantile.below = want_rank(ranks, n_ranks, rank);
    quantile.above = is_between ? want_rank(ranks, n_ranks, rank + 1) : quantile.below;
    return quantile;
}

/* Halves are exact where n - 1 is, and beyond. */
static slci_stats_quantile want_median(int64_t *ranks, int *n_ranks, int64_t n) {
    slci_stats_quantile quantile = {.fraction = n % 2 == 0 ? 0.5 : 0};
    quantile.below = want_rank(ranks, n_ranks, (n - 1) / 2);
    quantile.above = want_rank(ranks, n_ranks, n / 2);
    return quantile;
}

void slci_stats_begin_search(slci_stats_job *job) {
    const slc_stats_options *options = job->options;
    const int64_t n = job->result.n - job->result.n_nan;
    int64_t ranks[SLCI_SELECT_MOST];
    int n_ranks = 0;
    job->n_quantiles = 0;
    if (n > 0 && !options->no_median) {
        job->quantiles[job->n_quantiles++] = want_median(ranks, &n_ranks, n);
    }
    for (int q = 0; n > 0 && q < options->n_quantiles; q++) {
        job->quantiles[job->n_quantiles++] =
            want_quantile(ranks, &n_ranks, n, options->quantiles[q]);
    }
    slci_select_init(&job->select, slc_stats_key_bits(job->result.data.dtype, last_part(job)),
                     job->digit_bits, ranks, n_ranks);
}

/* From a to b >= a: infinities stay what they are, except that there is nothing between the two. */
static double between(double a, double b, double fraction) {
    if (a == b || fraction == 0) {
        return a;
    }
    if (isinf(a) || isinf(b)) {
        return isinf(a) && isinf(b) ? (double)NAN : isinf(a) ? a : b;
    }
    const double step = b - a;
    if (isinf(step)) {
        return a * (1 - fraction) + b * fraction;
    }
    return fraction < 0.5 ? a + step * fraction : b - step * (1 - fraction);
}

/* Half of a whole number's lowest bit. */
static slc_fixed halve(slc_fixed value) {
    slc_fixed half;
    half.low = value.low >> 1 | (uint64_t)value.high << 63;
    half.high = (value.high - (value.high & 1)) / 2;
    return half;
}

static slc_stats_number middle_of(const slc_stats_number *a, const slc_stats_number *b) {
    if (!a->is_whole) {
        /* Half of each first: their sum may be past the largest double. */
        const double sum = a->value + b->value;
        return real_number(isinf(sum) && isfinite(a->value) && isfinite(b->value)
                               ? a->value / 2 + b->value / 2
                               : sum / 2);
    }
    const slc_fixed sum = slc_fixed_add(a->whole, b->whole);
    slc_stats_number number = whole_number(halve(sum));
    number.has_half = (sum.low & 1u) != 0;
    number.value = ldexp(slc_fixed_to_double(sum, 0), -1);
    return number;
}

static slc_stats_number read_quantile(const slci_stats_job *job, const slci_stats_quantile *at) {
    const slc_stats_number a = number_of_key(job, job->select.wanted[at->below].key);
    const slc_stats_number b = number_of_key(job, job->select.wanted[at->above].key);
    if (at->below == at->above) {
        return a;
    }
    if (at->fraction == 0.5) {
        return middle_of(&a, &b);
    }
    return real_number(between(a.value, b.value, at->fraction));
}

void slci_stats_read_quantiles(slci_stats_job *job) {
    const slc_stats_options *options = job->options;
    const bool has_median = job->n_quantiles > 0 && !options->no_median;
    if (has_median) {
        job->result.median = read_quantile(job, &job->quantiles[0]);
    }
    for (int q = 0; q < options->n_quantiles; q++) {
        options->quantile_values[q] =
            job->n_quantiles > 0 ? read_quantile(job, &job->quantiles[q + (has_median ? 1 : 0)])
                                 : (slc_stats_number){.is_defined = false};
    }
}

/* ---- the histogram ------------------------------------------------------------------------------ */

/* As numpy.linspace has them; where the width is past the largest double, from both ends. Rising in any
 * case, however narrow the range. */
void slci_stats_set_edges(double low, double high, int64_t n_bins, double *edges) {
    const double step = (high - low) / (double)n_bins;
    edges[0] = low;
    for (int64_t b = 1; b <= n_bins; b++) {
        const double fraction = (double)b / (double)n_bins;
        const double edge =
            isfinite(step) ? (double)b * step + low : low * (1 - fraction) + high * fraction;
        edges[b] = b == n_bins || edge > high ? high : edge < edges[b - 1] ? edges[b - 1] : edge;
    }
}
