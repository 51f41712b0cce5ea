/* What a visibility set holds, found by streaming over it once in bounded memory.
 * This is `sluice info` as a function: shares of flagged and unusable samples, the range of baseline
 * lengths, and the pixel and picture sizes that suit them.
 *
 *     slc_info info;
 *     SLC_TRY(slc_info_scan(source, &(slc_info_options){.block_bytes = 64 << 20}, &info));
 */
#ifndef SLC_APP_INFO_H
#define SLC_APP_INFO_H

#include <stdbool.h>
#include <stdint.h>

#include "io/vis.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SLC_INFO_MAX_DATASETS 16

/* Zero means the default. */
typedef struct slc_info_options {
    int64_t block_bytes; /* room for one block of rows; default 64 MiB */
    bool skip_data;      /* read the baselines only: no counts, and lengths of all rows */
    void (*progress)(void *context, int64_t done_rows, int64_t n_rows); /* may be NULL */
    void *progress_context;
    const volatile int *cancel; /* not 0: stop with SLC_ERROR_INTERRUPTED; may be NULL */
} slc_info_options;

/* Lengths are of hypot(u, v) over the samples with weight (skip_data: over all rows but those of
 * length 0); NaN where there are none. */
typedef struct slc_info {
    int n_datasets; /* described; at most SLC_INFO_MAX_DATASETS */
    slc_vis_dataset datasets[SLC_INFO_MAX_DATASETS];
    bool is_scanned; /* false after skip_data: then counts and n_used are 0 */
    slc_vis_counts counts;
    int64_t n_samples; /* rows × selected channels */
    int64_t n_used;    /* of them, with a weight */
    double uv_min_m, uv_max_m;
    double uv_min_wavelengths, uv_max_wavelengths;
    double w_max_wavelengths;   /* largest |w| */
    double suggested_scale_rad; /* NaN where the set has no baselines */
    int64_t suggested_size;
} slc_info;

/* Reads the whole source once, block by block. SLC_ERROR_MEMORY, SLC_ERROR_INTERRUPTED, and whatever
 * the source refuses. */
SLC_API SLC_MUST_USE slc_status slc_info_scan(slc_source *source, const slc_info_options *options,
                                              slc_info *out);

/* Pixel and side of a picture for these baseline lengths: three pixels per fringe of the longest;
 * and a power of two from 64 to 8192 that covers twice the fringe of the shortest baseline, which is
 * about the largest structure that the set can see, but no more than the visible sky. */
SLC_API void slc_info_suggest(double uv_min_wavelengths, double uv_max_wavelengths,
                              double *scale_rad, int64_t *size);

#ifdef __cplusplus
}
#endif
#endif
