/* The results for machines (JSON) and for people. docs/summary.md explains every key. */
#include <math.h>
#include <string.h>

#include "app/json.h"
#include "app/run_stats.h"
#include "app/stats.h"
#include "core/print.h"
#include "core/units.h"

#define NUMBER_BYTES 64
#define NAME_BYTES 16
#define BAR_WIDTH 50

typedef struct written {
    const slc_stats_options *options;
    const slc_stats_result *result;
} written;

/* ---- numbers ------------------------------------------------------------------------------------ */

/* Decimal digits of a whole number, and ".5" where a half is more. A negative one and a half is that
 * much nearer to 0: -1 and a half is -0.5. */
static void format_whole(slc_fixed whole, bool has_half, char text[NUMBER_BYTES]) {
    char digits[NUMBER_BYTES];
    int n = 0;
    const bool is_negative = whole.high < 0;
    slc_fixed size = is_negative ? slc_fixed_negate(whole) : whole;
    if (is_negative && has_half) {
        const slc_fixed minus_one = {UINT64_MAX, -1};
        size = slc_fixed_add(size, minus_one);
    }
    uint32_t word[4] = {(uint32_t)((uint64_t)size.high >> 32), (uint32_t)size.high,
                        (uint32_t)(size.low >> 32), (uint32_t)size.low};
    do {
        uint64_t rest = 0;
        for (int w = 0; w < 4; w++) {
            rest = rest << 32 | word[w];
            word[w] = (uint32_t)(rest / 10);
            rest %= 10;
        }
        digits[n++] = (char)('0' + rest);
    } while ((word[0] | word[1] | word[2] | word[3]) != 0);
    int at = 0;
    if (is_negative) {
        text[at++] = '-';
    }
    while (n > 0) {
        text[at++] = digits[--n];
    }
    (void)slci_print(text + at, (size_t)(NUMBER_BYTES - at), "%s", has_half ? ".5" : "");
}

/* "none" for what is not there. */
static void format_stats_number(const slc_stats_number *number, char text[NUMBER_BYTES]) {
    if (!number->is_defined) {
        (void)slci_print(text, NUMBER_BYTES, "none");
    } else if (number->is_whole) {
        format_whole(number->whole, number->has_half, text);
    } else if (!isfinite(number->value)) {
        (void)slci_print(text, NUMBER_BYTES, "%s",
                         isnan(number->value) ? "nan"
                         : number->value > 0  ? "inf"
                                              : "-inf");
    } else {
        slci_format_shortest(number->value, text);
    }
}

static void write_number(slci_json *json, const char *key, const slc_stats_number *number) {
    char text[NUMBER_BYTES];
    format_stats_number(number, text);
    const bool is_null = !number->is_defined || !(number->is_whole || isfinite(number->value));
    slci_json_number(json, key, is_null ? "null" : text);
}

/* One number, or the real and the imaginary part. */
static void write_pair(slci_json *json, const char *key, const slc_stats_number *numbers, int n) {
    if (n == 1) {
        write_number(json, key, numbers);
        return;
    }
    slci_json_open(json, key, '[');
    write_number(json, NULL, &numbers[0]);
    write_number(json, NULL, &numbers[1]);
    slci_json_close(json, ']');
}

static void write_place(slci_json *json, const char *key, int64_t place) {
    if (place < 0) {
        slci_json_number(json, key, "null");
    } else {
        slci_json_i64(json, key, place);
    }
}

/* ---- JSON --------------------------------------------------------------------------------------- */

/* A quantile that is asked for twice is one key. */
static void write_quantiles(slci_json *json, const slc_stats_options *options) {
    slci_json_open(json, "quantiles", '{');
    for (int q = 0; q < options->n_quantiles; q++) {
        bool is_new = true;
        for (int k = 0; k < q; k++) {
            is_new = is_new && options->quantiles[k] != options->quantiles[q];
        }
        if (is_new) {
            char key[SLCI_TEXT_BYTES];
            slci_format_shortest(options->quantiles[q], key);
            write_number(json, key, &options->quantile_values[q]);
        }
    }
    slci_json_close(json, '}');
}

static void write_histogram(slci_json *json, const slc_stats_options *options) {
    const int64_t n_bins = options->n_bins;
    slci_json_open(json, "histogram", '{');
    slci_json_i64(json, "below", options->bins[0]);
    slci_json_i64_list(json, "counts", options->bins + 1, n_bins);
    slci_json_i64(json, "above", options->bins[n_bins + 1]);
    slci_json_open(json, "edges", '[');
    for (int64_t b = 0; b <= n_bins; b++) {
        slci_json_f64(json, NULL, options->edges[b]);
    }
    slci_json_close(json, ']');
    slci_json_close(json, '}');
}

static void json_to(FILE *out, const void *context) {
    const written *what = context;
    const slc_stats_result *result = what->result;
    slci_json json = {.file = out, .flat_depth = 2};
    slci_json_open(&json, NULL, '{');
    slci_json_i64(&json, "count", result->n);
    slci_json_i64(&json, "nan", result->n_nan);
    slci_json_i64(&json, "inf", result->n_inf);
    write_number(&json, "min", &result->min);
    write_number(&json, "max", &result->max);
    write_place(&json, "argmin", result->argmin);
    write_place(&json, "argmax", result->argmax);
    write_pair(&json, "sum", result->sum, result->n_sums);
    write_pair(&json, "mean", result->mean, result->n_sums);
    write_number(&json, "std", &result->std);
    write_number(&json, "median", &result->median);
    if (what->options->n_quantiles > 0) {
        write_quantiles(&json, what->options);
    }
    if (what->options->n_bins > 0 && result->has_bins) {
        write_histogram(&json, what->options);
    } else if (what->options->n_bins > 0) {
        slci_json_number(&json, "histogram", "null");
    }
    slci_json_close(&json, '}');
}

/* ---- text --------------------------------------------------------------------------------------- */

static void number_line(FILE *out, const char *name, const slc_stats_number *number,
                        const char *rest) {
    char text[NUMBER_BYTES];
    format_stats_number(number, text);
    (void)fprintf(out, "%-*s %s%s\n", NAME_BYTES, name, text, rest);
}

/* " at [3, 17]"; "" where there is no place, and for a single value. */
static void format_place(const slc_layout *data, int64_t place, char text[192]) {
    int64_t index[SLC_MAX_RANK];
    size_t used = 0;
    text[0] = '\0';
    if (place < 0 || data->rank == 0) {
        return;
    }
    for (int d = data->rank - 1; d >= 0; d--) {
        index[d] = place % data->shape[d];
        place /= data->shape[d];
    }
    for (int d = 0; d < data->rank; d++) {
        used += (size_t)slci_print(text + used, 192 - used, "%s%lld", d > 0 ? ", " : " at [",
                                   (long long)index[d]);
    }
    (void)slci_print(text + used, 192 - used, "]");
}

static void place_line(FILE *out, const char *name, const slc_stats_result *result,
                       const slc_stats_number *number, int64_t place) {
    char text[192];
    format_place(&result->data, place, text);
    number_line(out, name, number, text);
}

static void pair_line(FILE *out, const char *name, const slc_stats_number *numbers, int n) {
    char text[NUMBER_BYTES];
    char rest[NUMBER_BYTES + 8] = "";
    if (n == 2) {
        format_stats_number(&numbers[1], text);
        (void)slci_print(rest, sizeof rest, ", %s i", text);
    }
    number_line(out, name, &numbers[0], rest);
}

/* "[0, 0.5)", the last bin "[9.5, 10]"; then the count and a bar. */
static void histogram_lines(FILE *out, const slc_stats_options *options) {
    const int64_t n_bins = options->n_bins;
    int64_t most = 1;
    for (int64_t b = 1; b <= n_bins; b++) {
        most = options->bins[b] > most ? options->bins[b] : most;
    }
    (void)fprintf(out, "%-*s %lld below, %lld above\n", NAME_BYTES, "histogram",
                  (long long)options->bins[0], (long long)options->bins[n_bins + 1]);
    for (int64_t b = 0; b < n_bins; b++) {
        char low[SLCI_TEXT_BYTES];
        char high[SLCI_TEXT_BYTES];
        char range[2 * SLCI_TEXT_BYTES + 8];
        char bar[BAR_WIDTH + 1];
        const int64_t count = options->bins[b + 1];
        const int length = (int)((double)count / (double)most * BAR_WIDTH + 0.5);
        slci_format_number(options->edges[b], 6, low);
        slci_format_number(options->edges[b + 1], 6, high);
        (void)slci_print(range, sizeof range, "[%s, %s%s", low, high, b == n_bins - 1 ? "]" : ")");
        memset(bar, '#', sizeof bar);
        bar[length] = '\0';
        (void)fprintf(out, "  %-28s %14lld %s\n", range, (long long)count, bar);
    }
}

static void text_to(FILE *out, const void *context) {
    const written *what = context;
    const slc_stats_result *result = what->result;
    (void)fprintf(out, "%-*s %lld\n", NAME_BYTES, "count", (long long)result->n);
    (void)fprintf(out, "%-*s %lld\n", NAME_BYTES, "nan", (long long)result->n_nan);
    (void)fprintf(out, "%-*s %lld\n", NAME_BYTES, "inf", (long long)result->n_inf);
    place_line(out, "min", result, &result->min, result->argmin);
    place_line(out, "max", result, &result->max, result->argmax);
    pair_line(out, "sum", result->sum, result->n_sums);
    pair_line(out, "mean", result->mean, result->n_sums);
    number_line(out, "std", &result->std, "");
    if (!what->options->no_median) {
        number_line(out, "median", &result->median, "");
    }
    for (int q = 0; q < what->options->n_quantiles; q++) {
        char fraction[SLCI_TEXT_BYTES];
        char name[SLCI_TEXT_BYTES + 16];
        slci_format_shortest(what->options->quantiles[q], fraction);
        (void)slci_print(name, sizeof name, "quantile %s", fraction);
        number_line(out, name, &what->options->quantile_values[q], "");
    }
    if (what->options->n_bins > 0 && result->has_bins) {
        histogram_lines(out, what->options);
    } else if (what->options->n_bins > 0) {
        (void)fprintf(out, "%-*s none: there is no finite value\n", NAME_BYTES, "histogram");
    }
}

slc_status slc_stats_json(const slc_stats_options *options, const slc_stats_result *result,
                          char **out) {
    return slci_stats_text(json_to, &(written){options, result}, out);
}

slc_status slc_stats_text(const slc_stats_options *options, const slc_stats_result *result,
                          char **out) {
    return slci_stats_text(text_to, &(written){options, result}, out);
}
