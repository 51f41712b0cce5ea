/* One pass over a visibility set, in blocks of rows that end where the file's chunks end, so that
 * each chunk is decoded once. */
#include "app/info.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/checked.h"

#define DEFAULT_BLOCK_BYTES (INT64_C(64) << 20)
#define PIXELS_PER_FRINGE 3.0
#define SMALLEST_SIZE 64
#define LARGEST_SIZE 8192

/* Where the rows of one block go. */
typedef struct block {
    int64_t n_rows; /* room */
    int64_t n_channels;
    double *uvw;   /* [n_rows, 3] metres */
    float *vis;    /* [n_rows, n_channels, 2]; NULL: baselines only */
    float *weight; /* [n_rows, n_channels]; NULL likewise */
} block;

static void block_destroy(block *rows) {
    free(rows->uvw);
    free(rows->vis);
    free(rows->weight);
}

static slc_status block_create(const slc_vis_meta *meta, const slc_info_options *options,
                               block *out) {
    const int64_t room = options->block_bytes > 0 ? options->block_bytes : DEFAULT_BLOCK_BYTES;
    int64_t row_bytes = 0;
    int64_t n_values = 0;
    if (!slc_checked_mul(meta->n_channels, 12, &row_bytes) ||
        !slc_checked_add(row_bytes, 24, &row_bytes)) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "a row of %lld channels does not fit memory",
                        (long long)meta->n_channels);
    }
    block rows = {.n_rows = slc_max_i64(slc_min_i64(room / row_bytes, meta->n_rows), 1),
                  .n_channels = meta->n_channels};
    bool is_made = slc_checked_mul(rows.n_rows, rows.n_channels, &n_values);
    rows.uvw = is_made ? malloc((size_t)rows.n_rows * 3 * sizeof *rows.uvw) : NULL;
    is_made = rows.uvw != NULL;
    if (is_made && !options->skip_data) {
        rows.vis = malloc((size_t)n_values * 2 * sizeof *rows.vis);
        rows.weight = malloc((size_t)n_values * sizeof *rows.weight);
        is_made = rows.vis != NULL && rows.weight != NULL;
    }
    if (!is_made) {
        block_destroy(&rows);
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for a block of %lld rows of %lld bytes",
                        (long long)rows.n_rows, (long long)row_bytes);
    }
    *out = rows;
    return SLC_OK;
}

/* The end of the block that begins at `begin`: the last chunk boundary within reach, or as far as
 * the room goes where a chunk is longer than that. */
static int64_t block_end(slc_source *source, int64_t begin, int64_t room, int64_t n_rows) {
    const int64_t reach = room < n_rows - begin ? begin + room : n_rows;
    int64_t end = begin;
    while (end < reach) {
        const int64_t next = slc_source_next_unit(source, 0, end);
        if (next <= end || next > reach) {
            break;
        }
        end = next;
    }
    return end > begin ? end : reach;
}

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

static slc_status scan_block(slc_source *source, const slc_vis_meta *meta, const slc_box *box,
                             const block *rows, slc_info *info) {
    void *dst[SLC_VIS_N_FIELDS] = {
        [SLC_VIS_UVW] = rows->uvw, [SLC_VIS_DATA] = rows->vis, [SLC_VIS_WEIGHT] = rows->weight};
    if (rows->weight == NULL) {
        SLC_TRY(slc_source_read(source, box, dst));
    } else {
        slc_vis_counts counts = {0};
        SLC_TRY(slc_vis_read_counted(source, box, dst, &counts));
        info->counts.total += counts.total;
        info->counts.flagged += counts.flagged;
        info->counts.nonfinite += counts.nonfinite;
        info->counts.zero_weight += counts.zero_weight;
    }
    for (int64_t r = 0; r < box->extent[0]; r++) {
        scan_row(meta, rows->uvw + 3 * r,
                 rows->weight == NULL ? NULL : rows->weight + r * meta->n_channels, info);
    }
    return SLC_OK;
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
    block rows = {0};
    slc_status status = SLC_OK;
    if (!slc_checked_mul(meta->n_rows, meta->n_channels, &info.n_samples)) {
        return SLC_FAIL(SLC_ERROR_INPUT, "%s: %lld rows of %lld channels are too many",
                        source->name, (long long)meta->n_rows, (long long)meta->n_channels);
    }
    int n_found = 0;
    SLC_TRY(slc_vis_describe(source, SLC_INFO_MAX_DATASETS, info.datasets, &n_found));
    info.n_datasets = n_found < SLC_INFO_MAX_DATASETS ? n_found : SLC_INFO_MAX_DATASETS;
    SLC_TRY(block_create(meta, options, &rows));
    for (int64_t begin = 0; begin < meta->n_rows;) {
        if (options->cancel != NULL && *options->cancel != 0) {
            status = SLC_FAIL(SLC_ERROR_INTERRUPTED, "interrupted while reading %s", source->name);
            goto done;
        }
        const int64_t end = block_end(source, begin, rows.n_rows, meta->n_rows);
        const slc_box box = slc_box_1d(begin, end - begin);
        SLC_TRY_GOTO(done, scan_block(source, meta, &box, &rows, &info));
        begin = end;
        if (options->progress != NULL) {
            options->progress(options->progress_context, begin, meta->n_rows);
        }
    }
    SLC_TRY_GOTO(done, slc_source_finish(source));
    slc_info_suggest(info.uv_min_wavelengths, info.uv_max_wavelengths, &info.suggested_scale_rad,
                     &info.suggested_size);
    *out = info;
done:
    block_destroy(&rows);
    return status;
}
