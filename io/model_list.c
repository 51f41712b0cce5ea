/* How the list is found again without being kept: the image is cut into blocks of whole rows, and the
 * pass over it notes how many components lie before each block.
 *
 *     blocks     |  0   |  1   |  2   |  3   |
 *     start      0      17     17     940    1003        components 930 … 950 are in blocks 2 and 3
 *
 * A part of the list is then the blocks that hold it, read again and gone through. Positions are kept
 * besides as long as they fit what they may take; places are made anew from positions each time, which
 * costs a few multiplications and, where the image has another centre than the data, a rotation. */
#include "io/model_list.h"

#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/checked.h"
#include "io/model.h"

/* Of the image that is read at once: a tile of few components reads little that it does not need. */
#define BLOCK_BYTES ((int64_t)256 << 10)

/* Places closer than this (2e-6 arcseconds) are one place: headers have 15 digits. */
#define SAME_PLACE_RAD 1e-11

typedef struct model_list {
    slc_source base;
    slc_source *model;
    const slc_model_meta *meta;
    slc_model_survey survey;
    bool is_w_projected;
    double rotation[3][3]; /* from (l, m, n) of the image to those of the data */
    const volatile int *cancel;
    slc_budget *budget;     /* NULL: nothing is reserved */
    int64_t reserved_bytes; /* of it, for `capacity` positions */
    int64_t block_rows, n_blocks;
    int64_t *start; /* [n_blocks + 1] */
    int64_t *kept;  /* [n_kept] positions; NULL: none */
    int64_t n_kept, capacity, most_kept;
} model_list;

/* Rows of the image in memory. */
typedef struct block {
    int64_t first_row, n_rows, n_pixels; /* per plane */
    void *values;                        /* [n_planes, n_pixels] */
} block;

/* ---- places ----------------------------------------------------------------------------------- */

/* East, north and outward at a place, right ascension counted from the data's. */
static void axes_at(double ra, double dec, double axes[3][3]) {
    const double here[3][3] = {
        {-sin(ra), cos(ra), 0.0},
        {-sin(dec) * cos(ra), -sin(dec) * sin(ra), cos(dec)},
        {cos(dec) * cos(ra), cos(dec) * sin(ra), sin(dec)},
    };
    memcpy(axes, here, sizeof here);
}

static void set_rotation(model_list *list, double ra_rad, double dec_rad) {
    double from[3][3];
    double to[3][3];
    axes_at(list->meta->ra_rad - ra_rad, list->meta->dec_rad, from);
    axes_at(0.0, dec_rad, to);
    double away = 0.0;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            list->rotation[i][j] =
                to[i][0] * from[j][0] + to[i][1] * from[j][1] + to[i][2] * from[j][2];
        }
        away += (from[2][i] - to[2][i]) * (from[2][i] - to[2][i]);
    }
    list->survey.offset_rad = 2.0 * asin(fmin(0.5 * sqrt(away), 1.0));
    list->survey.is_rotated = list->survey.offset_rad > SAME_PLACE_RAD;
}

/* The place of a pixel as the data sees it; false where that is at or beyond either horizon. */
static bool place_pixel(const model_list *list, int64_t pixel, double place[3]) {
    const slc_model_meta *meta = list->meta;
    const double x = (double)(pixel % meta->nx) - meta->reference_x;
    const double y = (double)(pixel / meta->nx) - meta->reference_y;
    double l = meta->step[0][0] * x + meta->step[0][1] * y;
    double m = meta->step[1][0] * x + meta->step[1][1] * y;
    double r2 = l * l + m * m;
    if (!(r2 < 1.0)) {
        return false;
    }
    if (list->survey.is_rotated) {
        const double from[3] = {l, m, sqrt(1.0 - r2)};
        double to[3];
        for (int i = 0; i < 3; i++) {
            to[i] = list->rotation[i][0] * from[0] + list->rotation[i][1] * from[1] +
                    list->rotation[i][2] * from[2];
        }
        l = to[0];
        m = to[1];
        r2 = l * l + m * m;
        if (!(to[2] > 0.0 && r2 < 1.0)) {
            return false;
        }
    }
    const double n = sqrt(1.0 - r2);
    place[0] = l;
    place[1] = m;
    place[2] = list->is_w_projected ? -r2 / (1.0 + n) : n;
    return true;
}

/* ---- blocks ----------------------------------------------------------------------------------- */

/* Rows of a block, whose product with the row's bytes the caller has checked. */
static int64_t block_rows_of(const slc_model_meta *meta) {
    const int64_t row_bytes = meta->nx * slc_dtype_bytes(meta->dtype) * meta->n_planes;
    return slc_min_i64(slc_max_i64(BLOCK_BYTES / slc_max_i64(row_bytes, 1), 1), meta->ny);
}

static slc_status block_create(const model_list *list, block *out) {
    const int64_t value_bytes = slc_dtype_bytes(list->meta->dtype);
    int64_t bytes = 0;
    *out = (block){0};
    if (!slc_checked_mul(list->block_rows, list->meta->nx, &bytes) ||
        !slc_checked_mul(bytes, list->meta->n_planes, &bytes) ||
        !slc_checked_mul(bytes, value_bytes, &bytes) ||
        (out->values = malloc((size_t)bytes)) == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "%s: no memory for %lld rows of the image",
                        list->base.name, (long long)list->block_rows);
    }
    return SLC_OK;
}

static slc_status block_read(const model_list *list, int64_t b, block *out) {
    const slc_model_meta *meta = list->meta;
    out->first_row = b * list->block_rows;
    out->n_rows = slc_min_i64(list->block_rows, meta->ny - out->first_row);
    out->n_pixels = out->n_rows * meta->nx;
    const slc_box box = {.rank = 3,
                         .origin = {0, out->first_row, 0},
                         .extent = {meta->n_planes, out->n_rows, meta->nx}};
    void *const dst[] = {out->values};
    return slc_source_read(list->model, &box, dst);
}

static double block_value(const model_list *list, const block *here, int64_t plane, int64_t i) {
    const int64_t at = plane * here->n_pixels + i;
    return list->meta->dtype == SLC_F32 ? (double)((const float *)here->values)[at]
                                        : ((const double *)here->values)[at];
}

static bool is_component(const model_list *list, const block *here, int64_t i) {
    for (int64_t p = 0; p < list->meta->n_planes; p++) {
        const double value = block_value(list, here, p, i);
        if (!isnan(value) && fpclassify(value) != FP_ZERO) {
            return true;
        }
    }
    return false;
}

/* ---- the ledger -------------------------------------------------------------------------------- */

static slc_status reserve(model_list *list, int64_t bytes) {
    if (list->budget != NULL) {
        SLC_TRY(slc_budget_reserve(list->budget, SLC_SPACE_HOST, bytes, "positions of pixels"));
        list->reserved_bytes += bytes;
    }
    return SLC_OK;
}

static void release(model_list *list, int64_t bytes) {
    if (list->budget != NULL) {
        slc_budget_release(list->budget, SLC_SPACE_HOST, bytes);
        list->reserved_bytes -= bytes;
    }
}

/* ---- the pass --------------------------------------------------------------------------------- */

static void keep_none(model_list *list) {
    release(list, list->capacity * (int64_t)sizeof *list->kept);
    free(list->kept);
    list->kept = NULL;
    list->n_kept = list->most_kept = list->capacity = 0;
}

/* Adds a position to those kept, or keeps none any more where there are too many. */
static slc_status keep(model_list *list, int64_t pixel) {
    if (list->n_kept == list->most_kept) {
        keep_none(list);
        return SLC_OK;
    }
    if (list->n_kept == list->capacity) {
        const int64_t wanted = slc_min_i64(slc_max_i64(2 * list->capacity, 4096), list->most_kept);
        const int64_t more_bytes = (wanted - list->capacity) * (int64_t)sizeof *list->kept;
        /* Positions are a convenience: without room they are made from the image again. */
        if (reserve(list, more_bytes) != SLC_OK) {
            keep_none(list);
            return SLC_OK;
        }
        int64_t *larger = realloc(list->kept, (size_t)wanted * sizeof *list->kept);
        if (larger == NULL) {
            release(list, more_bytes);
            return SLC_FAIL(SLC_ERROR_MEMORY, "%s: no memory for the positions of %lld pixels",
                            list->base.name, (long long)wanted);
        }
        list->kept = larger;
        list->capacity = wanted;
    }
    list->kept[list->n_kept++] = pixel;
    return SLC_OK;
}

static slc_status add_component(model_list *list, const block *here, int64_t i) {
    const slc_model_meta *meta = list->meta;
    const int64_t pixel = here->first_row * meta->nx + i;
    double place[3];
    for (int64_t p = 0; p < meta->n_planes; p++) {
        if (isinf(block_value(list, here, p, i))) {
            return SLC_FAIL(SLC_ERROR_INPUT,
                            "%s: pixel (%" PRId64 ", %" PRId64 ") of plane %" PRId64
                            " is infinite (x and y from 0)",
                            list->base.name, pixel % meta->nx, pixel / meta->nx, p);
        }
    }
    if (!place_pixel(list, pixel, place)) {
        return SLC_FAIL(SLC_ERROR_INPUT,
                        "%s: pixel (%" PRId64 ", %" PRId64
                        ") is not zero but lies at or beyond the horizon of the %s (x and y from "
                        "0); set it to zero",
                        list->base.name, pixel % meta->nx, pixel / meta->nx,
                        list->survey.is_rotated ? "image or of the data" : "image");
    }
    const double flux = block_value(list, here, 0, i) * meta->jy_per_unit;
    if (!isnan(flux)) {
        list->survey.flux_jy += flux;
        list->survey.abs_flux_jy += fabs(flux);
    }
    list->survey.n_components++;
    return keep(list, pixel);
}

static slc_status survey_block(model_list *list, const block *here) {
    for (int64_t p = 0; p < list->meta->n_planes; p++) {
        for (int64_t i = 0; i < here->n_pixels; i++) {
            list->survey.n_nan += isnan(block_value(list, here, p, i)) != 0;
        }
    }
    for (int64_t i = 0; i < here->n_pixels; i++) {
        if (is_component(list, here, i)) {
            SLC_TRY(add_component(list, here, i));
        }
    }
    return SLC_OK;
}

static void tell_memory(model_list *list) {
    list->survey.is_kept = list->kept != NULL;
    list->survey.bytes = (list->n_blocks + 1 + list->capacity) * (int64_t)sizeof *list->start;
}

static slc_status survey_image(model_list *list) {
    block here;
    SLC_TRY(block_create(list, &here));
    slc_status status = SLC_OK;
    for (int64_t b = 0; b < list->n_blocks && status == SLC_OK; b++) {
        list->start[b] = list->survey.n_components;
        status = list->cancel != NULL && *list->cancel != 0
                     ? SLC_FAIL(SLC_ERROR_INTERRUPTED, "interrupted")
                     : block_read(list, b, &here);
        if (status == SLC_OK) {
            status = survey_block(list, &here);
        }
    }
    list->start[list->n_blocks] = list->survey.n_components;
    free(here.values);
    SLC_TRY(status);
    if (list->survey.n_components == 0) {
        return SLC_FAIL(SLC_ERROR_INPUT, "%s: no pixel of the image differs from zero",
                        list->base.name);
    }
    tell_memory(list);
    return SLC_OK;
}

/* ---- the source ------------------------------------------------------------------------------- */

/* Where the fields of a part of the list go; NULL: not wanted. */
typedef struct target {
    int64_t *pixel;
    double *place, *flux;
} target;

/* Component number `k` of the part is `pixel`. */
static void give_place(const model_list *list, const target *to, int64_t k, int64_t pixel) {
    double place[3] = {0.0, 0.0, 0.0};
    if (to->pixel != NULL) {
        to->pixel[k] = pixel;
    }
    if (to->place != NULL && place_pixel(list, pixel, place)) {
        memcpy(to->place + 3 * k, place, sizeof place);
    }
}

/* Component number `k` of the part is pixel number `i` of the block. */
static void give(const model_list *list, const target *to, int64_t k, const block *here,
                 int64_t i) {
    const slc_model_meta *meta = list->meta;
    give_place(list, to, k, here->first_row * meta->nx + i);
    for (int64_t p = 0; p < meta->n_planes && to->flux != NULL; p++) {
        const double value = block_value(list, here, p, i);
        to->flux[k * meta->n_planes + p] = isnan(value) ? 0.0 : value * meta->jy_per_unit;
    }
}

/* The block that holds component `k`. */
static int64_t block_of(const model_list *list, int64_t k) {
    int64_t low = 0;
    int64_t high = list->n_blocks - 1;
    while (low < high) {
        const int64_t middle = low + (high - low + 1) / 2;
        if (list->start[middle] <= k) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

static slc_status read_from_image(const model_list *list, int64_t begin, int64_t n,
                                  const target *to) {
    block here;
    SLC_TRY(block_create(list, &here));
    slc_status status = SLC_OK;
    int64_t k = begin;
    for (int64_t b = block_of(list, begin); k < begin + n && status == SLC_OK; b++) {
        int64_t number = list->start[b];
        status = list->start[b + 1] > number ? block_read(list, b, &here) : SLC_OK;
        for (int64_t i = 0;
             status == SLC_OK && number < list->start[b + 1] && i < here.n_pixels && k < begin + n;
             i++) {
            if (is_component(list, &here, i)) {
                if (number == k) {
                    give(list, to, k - begin, &here, i);
                    k++;
                }
                number++;
            }
        }
        /* A block that has lost components since the pass would be looked for past the last one. */
        if (status == SLC_OK && k < begin + n && k < list->start[b + 1]) {
            status = SLC_FAIL(SLC_ERROR_INPUT, "%s: the file was changed while it was read",
                              list->base.name);
        }
    }
    free(here.values);
    return status;
}

static slc_status list_read(slc_source *source, const slc_box *box, void *const *dst) {
    const model_list *list = (const model_list *)source;
    const target to = {dst[SLC_MODEL_PIXEL], dst[SLC_MODEL_PLACE], dst[SLC_MODEL_FLUX]};
    const int64_t begin = box->origin[0];
    const int64_t n = box->extent[0];
    if (n <= 0) {
        return SLC_OK;
    }
    if (list->kept == NULL || to.flux != NULL) {
        return read_from_image(list, begin, n, &to);
    }
    for (int64_t k = 0; k < n; k++) {
        give_place(list, &to, k, list->kept[begin + k]);
    }
    return SLC_OK;
}

static slc_status list_finish(slc_source *source) {
    return slc_source_finish(((model_list *)source)->model);
}

static void list_destroy(slc_source *source) {
    model_list *list = (model_list *)source;
    release(list, list->reserved_bytes);
    free(list->start);
    free(list->kept);
    free(list);
}

static const slc_source_ops list_ops = {.read = list_read,
                                        .finish = list_finish,
                                        .destroy = list_destroy};

static slc_status create(model_list *list, const slc_model_list_options *options) {
    const slc_model_meta *meta = list->meta;
    int64_t row_bytes = 0;
    if (!slc_checked_mul(meta->nx, slc_dtype_bytes(meta->dtype) * meta->n_planes, &row_bytes)) {
        return SLC_FAIL(SLC_ERROR_INPUT, "%s: a row of the image does not fit 63 bits",
                        list->base.name);
    }
    set_rotation(list, options->ra_rad, options->dec_rad);
    list->block_rows = block_rows_of(meta);
    list->n_blocks = slc_ceil_div(meta->ny, list->block_rows);
    list->most_kept = options->keep_bytes / (int64_t)sizeof *list->kept;
    list->start = malloc((size_t)(list->n_blocks + 1) * sizeof *list->start);
    if (list->start == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "%s: no memory for its %lld blocks", list->base.name,
                        (long long)list->n_blocks);
    }
    SLC_TRY(survey_image(list));
    const int64_t n = list->survey.n_components;
    slc_source *base = &list->base;
    base->shared_rank = 1;
    base->n_fields = SLC_MODEL_N_FIELDS;
    SLC_TRY(slc_layout_dense(SLC_I64, 1, &n, &base->fields[SLC_MODEL_PIXEL]));
    SLC_TRY(slc_layout_dense(SLC_F64, 2, (const int64_t[]){n, 3}, &base->fields[SLC_MODEL_PLACE]));
    return slc_layout_dense(SLC_F64, 2, (const int64_t[]){n, meta->n_planes},
                            &base->fields[SLC_MODEL_FLUX]);
}

int64_t slc_model_list_least_bytes(const slc_source *model) {
    const slc_model_meta *meta = slc_model_get_meta(model);
    return (slc_ceil_div(meta->ny, block_rows_of(meta)) + 1) * (int64_t)sizeof(int64_t);
}

int64_t slc_model_list_block_bytes(const slc_source *model) {
    const slc_model_meta *meta = slc_model_get_meta(model);
    return block_rows_of(meta) * meta->nx * slc_dtype_bytes(meta->dtype) * meta->n_planes;
}

slc_status slc_model_list_create(const slc_model_list_options *options, slc_source **out) {
    model_list *list = calloc(1, sizeof *list);
    if (list == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "%s: no memory for its components", options->model->name);
    }
    list->base.ops = &list_ops;
    list->model = options->model;
    list->meta = slc_model_get_meta(options->model);
    list->is_w_projected = options->is_w_projected;
    list->cancel = options->cancel;
    list->budget = options->budget;
    memcpy(list->base.name, options->model->name, sizeof list->base.name);
    memcpy(list->base.identity, options->model->identity, sizeof list->base.identity);
    const slc_status status = create(list, options);
    if (status != SLC_OK) {
        list_destroy(&list->base);
        return status;
    }
    *out = &list->base;
    return SLC_OK;
}

void slc_model_list_forget(slc_source *source) {
    model_list *list = (model_list *)source;
    keep_none(list);
    tell_memory(list);
}

const slc_model_survey *slc_model_list_survey(const slc_source *source) {
    return &((const model_list *)source)->survey;
}
