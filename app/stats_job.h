/* The state of one statistics job, shared by the files that do its parts: app/stats.c runs it,
 * app/stats_plan.c plans it, app/stats_result.c makes numbers of what the kernels give.
 */
#ifndef SLC_APP_STATS_JOB_H
#define SLC_APP_STATS_JOB_H

#include "app/array_job.h"
#include "app/machine.h"
#include "app/stats.h"
#include "app/stats_select.h"
#include "ooc/execute.h"

/* What a pass gives, in host memory, one block that is held for the run. */
typedef struct slci_stats_tables {
    void *memory;
    int64_t n_bytes;  /* reserved, or missing */
    uint64_t *sums;   /* [n_parts, SLC_STATS_WORDS] */
    uint64_t *digits; /* [n_groups, 2^digit_bits] */
    uint64_t *bins;   /* [n_bins + 2] */
    double *edges;    /* [n_bins + 1] */
} slci_stats_tables;

/* Bits of the digits of a search: long ones take 1 MiB for each quantile, short ones 4 KiB. */
#define SLCI_STATS_LONG_DIGIT 16
#define SLCI_STATS_SHORT_DIGIT 8

/* A rank that is wanted is the fraction of the way from one value to the next. */
typedef struct slci_stats_quantile {
    int below, above; /* numbers of the ranks in the search */
    double fraction;
} slci_stats_quantile;

typedef struct slci_stats_job {
    const slc_stats_options *options;
    slci_machine machine;
    slci_array array;
    slc_source *flat;   /* NULL: the array is read as it is */
    slc_source *source; /* what is read */
    slc_stats_setup setup;
    slc_job job;
    slc_execution execution;
    slci_stats_tables tables;
    slci_select select;
    int n_quantiles; /* the median, if it is wanted, and those of the options */
    slci_stats_quantile quantiles[SLC_STATS_MOST_QUANTILES + 1];
    int digit_bits;
    slci_kept_byte kept; /* digit_bits */
    bool is_width_fixed; /* a checkpoint was begun with digits of that many bits */
    int fixed_width;
    int64_t cache_bytes;      /* for decoded chunks that tiles share, as planned */
    bool needs_bins;          /* their range was not known in the first pass */
    uint64_t lowest, highest; /* keys of the last part's values, infinities included */
    slc_stats_result result;
} slci_stats_job;

/* In app/stats_plan.c. Chooses the kernels' job and plans it, with the longest digits that the budgets
 * allow; what is least is what the shortest need. The statuses are those of planning. */
SLC_MUST_USE slc_status slci_stats_plan(slci_stats_job *job);

/* Words of a pass's results. */
int64_t slci_stats_count_words(const slc_stats_request *request);

/* From the first pass: counts, range and places, sums, mean, deviation. */
void slci_stats_read_sums(slci_stats_job *job);

/* The ranks of all quantiles. Without values there are none. */
void slci_stats_begin_search(slci_stats_job *job);

/* From what the search found: the median and the quantiles. */
void slci_stats_read_quantiles(slci_stats_job *job);

/* Fills edges from `low` to `high`. */
void slci_stats_set_edges(double low, double high, int64_t n_bins, double *edges);

#endif
