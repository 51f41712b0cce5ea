#include "app/info.h"

#include <math.h>

#include "app/row_blocks.h"
#include "core/checked.h"

#define DEFAULT_BLOCK_BYTES (INT64_C(64) << 20)
#define PIXELS_PER_FRINGE 3.0
#define SMALLEST_SIZE 64
#define LARGEST_SIZE 8192

/* Widens the ranges by one row, of which channels with `lowest` to `highest` wavelengths per metre
 * are used. */
static void include_row(const double *uvw, double lowest, double highest, slc_info *info) {
    const double length = hypot(uvw[0], uvw[1]);
    if (!isfinite(length) || !isfinite(uvw[2])) {
        return;
    }
    /* fmin and fmax pass over the NaN that the ranges begin with. */
    info->uv_min_m = fmin(info->uv_min_m, length);
    info->uv_max_m = fmax(info->uv_max_m, length);
    info->uv_min_wavelengths = fmin(info->uv_min_wavelengths, length * lowest);
    info->uv_max_wavelengths = fmax(info->uv_max_wavelengths, length * highest);
    info->w_max_wavelengths = fmax(info->w_max_wavelengths, fabs(uvw[2]) * highest);
}

/* Counts the samples of one row that have a weight, and widens the ranges by their channels. */
static void scan_row(const slc_vis_meta *meta, const double *uvw, const float *weight,
                     slc_info *info) {
    double lowest = INFINITY;
    double highest = 0.0;
    int64_t n_used = 0;
    for (int64_t c = 0; c < meta->n_channels; c++) {
        if (weight == NULL || weight[c] > 0.0f) {
            lowest = fmin(lowest, meta->wavelengths_per_metre[c]);
            highest = fmax(highest, meta->wavelengths_per_metre[c]);
            n_used++;
        }
    }
    const bool is_auto = uvw[0] == 0.0 && uvw[1] == 0.0 && uvw[2] == 0.0;
    if (n_used > 0 && (weight != NULL || !is_auto)) {
        include_row(uvw, lowest, highest, info);
    }
    info->n_used += weight == NULL ? 0 : n_used;
}

static void scan_block(void *context, const slci_row_block *rows, int64_t n_rows,
                       const slc_vis_meta *meta) {
    for (int64_t r = 0; r < n_rows; r++) {
        scan_row(meta, rows->uvw + 3 * r,
                 rows->weight[0] == NULL ? NULL : rows->weight[0] + r * meta->n_channels, context);
    }
}

void slc_info_suggest(double uv_min_wavelengths, double uv_max_wavelengths, double *scale_rad,
                      int64_t *size) {
    *scale_rad = NAN;
    *size = 0;
    if (!(uv_max_wavelengths > 0.0)) {
        return;
    }
    const double scale = 1.0 / (PIXELS_PER_FRINGE * uv_max_wavelengths);
    const double shortest =
        uv_min_wavelengths > 0.0 ? uv_min_wavelengths : uv_max_wavelengths / 100.0;
    const double field = fmin(2.0 / shortest, 2.0); /* l from -1 to 1 is the whole sky */
    int64_t side = SMALLEST_SIZE;
    while (side < LARGEST_SIZE && (double)side * scale < field) {
        side *= 2;
    }
    *scale_rad = scale;
    *size = side;
}

slc_status slc_info_scan(slc_source *source, const slc_info_options *options, slc_info *out) {
    const slc_vis_meta *meta = slc_vis_get_meta(source);
    slc_info info = {.is_scanned = !options->skip_data,
                     .n_samples = 0,
                     .uv_min_m = NAN,
                     .uv_max_m = NAN,
                     .uv_min_wavelengths = NAN,
                     .uv_max_wavelengths = NAN,
                     .w_max_wavelengths = NAN};
    if (!slc_checked_mul(meta->n_rows, meta->n_channels, &info.n_samples)) {
        return SLC_FAIL(SLC_ERROR_INPUT, "%s: %lld rows of %lld channels are too many",
                        source->name, (long long)meta->n_rows, (long long)meta->n_channels);
    }
    int n_found = 0;
    SLC_TRY(slc_vis_describe(source, SLC_INFO_MAX_DATASETS, info.datasets, &n_found));
    info.n_datasets = n_found < SLC_INFO_MAX_DATASETS ? n_found : SLC_INFO_MAX_DATASETS;
    const slci_rows_options rows = {
        .fields = options->skip_data ? SLCI_ROWS_UVW : SLCI_ROWS_ALL,
        .room_bytes = options->block_bytes > 0 ? options->block_bytes : DEFAULT_BLOCK_BYTES,
        .cancel = options->cancel,
        .progress = options->progress,
        .progress_context = options->progress_context,
    };
    SLC_TRY(slci_rows_visit(source, &rows, scan_block, &info, &info.counts));
    SLC_TRY(slc_source_finish(source));
    slc_info_suggest(info.uv_min_wavelengths, info.uv_max_wavelengths, &info.suggested_scale_rad,
                     &info.suggested_size);
    *out = info;
    return SLC_OK;
}
