/* The statistics job: what an array in a file holds, of any size. This is `sluice stats` as a function.
 * Counts, range and places, sums, mean and deviation come from one pass; median and quantiles are
 * exact and take up to three more. No result depends on budgets, tiles, threads or the device by as
 * much as a bit: sums are exact until they are rounded once, at the end.
 *
 *     slc_stats_options options = {.in = {.path = "in.h5", .dataset = "/data"}};
 *     options.run.vram_bytes = 256 << 20; options.run.ram_bytes = 1 << 30;
 *     SLC_TRY(slc_stats_run(&options, &result));
 */
#ifndef SLC_APP_STATS_H
#define SLC_APP_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "app/array_name.h"
#include "app/run_options.h"
#include "core/fixed.h"
#include "core/layout.h"
#include "core/status.h"
#include "kernels/stats_kernel.h"
#include "ooc/engine.h"
#include "ooc/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SLC_STATS_MOST_QUANTILES 100

/* A result. Of integers it is a whole number, or a half more than one, as the median of two can be. */
typedef struct slc_stats_number {
    bool is_defined; /* there were values to make it of; NaN and infinity are defined */
    bool is_whole; /* `whole`, and a half if `has_half`, is the number; `value` the nearest to it */
    bool has_half;
    slc_fixed whole;
    double value;
} slc_stats_number;

/* All pointers are lent for the call. */
typedef struct slc_stats_options {
    slc_array_name in;
    /* SLC_STATS_REAL, _IMAG or _ABS: this part of complex numbers. SLC_STATS_VALUE: of complex numbers,
     * sum, mean and deviation as such, and the rest of the absolute values. */
    slc_stats_part part;
    bool no_median; /* one pass less, or up to three */
    int n_quantiles;
    const double *quantiles;           /* [n_quantiles], 0 to 1 */
    slc_stats_number *quantile_values; /* [n_quantiles], filled in */
    int64_t n_bins;                    /* of the histogram; 0: none */
    bool has_range;   /* from `low` to `high`; else from the least finite value to the */
    double low, high; /* greatest, for which the data is read once more */
    double *edges;    /* [n_bins + 1], filled in */
    int64_t *bins;    /* [n_bins + 2], filled in: below, the bins, above */
    slc_run_options run;
} slc_stats_options;

/* What the run found and did; plain data. NaN take part in n and n_nan alone. */
typedef struct slc_stats_result {
    slc_layout data; /* as in the file, or as the slice is */
    slc_stats_part part;
    int64_t n, n_nan, n_inf; /* elements, all of them */
    /* The smallest and the largest value, and the flat index of the first of each; -1: none. */
    slc_stats_number min, max;
    int64_t argmin, argmax;
    int n_sums; /* 2: real and imaginary part */
    slc_stats_number sum[2];
    slc_stats_number mean[2];
    slc_stats_number std;    /* of the population: divided by n */
    slc_stats_number median; /* not defined either where it was not wanted */
    bool has_bins;           /* a histogram was wanted, and there was a range */
    slc_plan plan;           /* of the first pass; all are alike */
    slc_engine_report report;
    int n_passes; /* over the data; of a dry run about how many there would be */
    char axis_names[SLC_MAX_AXES][SLC_AXIS_NAME_BYTES];
    bool is_resumed;
    char device_name[128];
    slc_run_memory memory;
    int64_t chunks_read, chunks_decoded, bytes_stored;
    slc_run_reader reader; /* of the data */
    double total_seconds;
} slc_stats_result;

/* Runs the job. On failure `result` is not touched. SLC_ERROR_ARGUMENT for a quantile, part or range
 * that cannot be; otherwise what opening, planning and running give. */
SLC_API SLC_MUST_USE slc_status slc_stats_run(const slc_stats_options *options,
                                              slc_stats_result *result);

/* The results as one JSON object (docs/summary.md lists the keys) and as text for people. The caller
 * frees the string with free(). SLC_ERROR_MEMORY. */
SLC_API SLC_MUST_USE slc_status slc_stats_json(const slc_stats_options *options,
                                               const slc_stats_result *result, char **out);
SLC_API SLC_MUST_USE slc_status slc_stats_text(const slc_stats_options *options,
                                               const slc_stats_result *result, char **out);

/* The statistics of the run as JSON (docs/stats.md lists the keys), and the plan as text for
 * --dry-run; likewise. */
SLC_API SLC_MUST_USE slc_status slc_stats_run_json(const slc_stats_result *result, char **out);
SLC_API SLC_MUST_USE slc_status slc_stats_plan_text(const slc_stats_result *result, char **out);

#ifdef __cplusplus
}
#endif
#endif
