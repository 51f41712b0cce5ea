/* What the page of an imaging run says. A page is looked at on a screen, so a picture with more pixels
 * than screens have is shown by the means of blocks of pixels, and the caption says so. */
#include "app/cmd_image_page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/cmd_run.h"
#include "app/image_horizon.h"
#include "app/image_tune.h"
#include "core/checked.h"
#include "core/constants.h"
#include "core/print.h"
#include "core/units.h"

/* Pixels a side that a page shows at most. */
#define MOST_SIDE 1600

/* ---- before the run ---------------------------------------------------------------------------- */

slc_status slci_image_page_begin(slc_image_options *options, slci_image_page *self) {
    int64_t values = 0;
    int64_t bytes = 0;
    const bool is_counted = slc_checked_mul(options->nx, options->ny, &values) &&
                            slc_checked_mul(values, options->n_planes, &values) &&
                            slc_checked_mul(values, slc_vis_count_imaged(&options->vis), &values) &&
                            slc_checked_mul(values, options->is_complex ? 16 : 8, &bytes);
    if (options->run.dry_run || !is_counted || bytes > options->run.ram_bytes) {
        return SLC_OK;
    }
    self->picture = malloc((size_t)bytes);
    if (self->picture == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for the image, %lld bytes", (long long)bytes);
    }
    options->image = self->picture;
    return SLC_OK;
}

void slci_image_page_release(slci_image_page *self) {
    free(self->picture);
    free(self->png.bytes);
    *self = (slci_image_page){.picture = NULL};
}

/* ---- the picture ------------------------------------------------------------------------------- */

/* Plane [ny, nx] of real parts, each pixel the mean of the finite ones of block × block. */
typedef struct shown {
    int64_t plane, block;
    slc_image_meta meta;
    const double *image; /* the plane itself where blocks are single pixels, else `means` */
    double *means;       /* the caller frees it */
} shown;

static int64_t count_planes(const slc_image_meta *meta) {
    return meta->n_planes * meta->n_stokes;
}

/* The first plane that has a value, or the first. */
static int64_t first_plane(const slc_image_meta *meta, const double *image) {
    const int64_t values = meta->nx * meta->ny * meta->n_parts;
    for (int64_t i = 0; i < values * count_planes(meta); i += meta->n_parts) {
        if (isfinite(image[i])) {
            return i / values;
        }
    }
    return 0;
}

static double block_mean(const shown *self, const slc_image_meta *meta, const double *plane,
                         int64_t x, int64_t y) {
    double sum = 0;
    int64_t n = 0;
    for (int64_t j = y * self->block; j < slc_min_i64((y + 1) * self->block, meta->ny); j++) {
        for (int64_t i = x * self->block; i < slc_min_i64((x + 1) * self->block, meta->nx); i++) {
            const double value = plane[(j * meta->nx + i) * meta->n_parts];
            sum += isfinite(value) ? value : 0;
            n += isfinite(value) ? 1 : 0;
        }
    }
    return n > 0 ? sum / (double)n : NAN;
}

static slc_status reduce(const slc_image_meta *meta, const double *image, shown *self) {
    self->plane = first_plane(meta, image);
    self->block = slc_ceil_div(slc_max_i64(meta->nx, meta->ny), MOST_SIDE);
    self->meta = *meta;
    self->meta.nx = slc_ceil_div(meta->nx, self->block);
    self->meta.ny = slc_ceil_div(meta->ny, self->block);
    self->meta.n_planes = 1;
    self->meta.n_stokes = 1;
    self->meta.n_parts = 1;
    const double *plane = image + self->plane * meta->nx * meta->ny * meta->n_parts;
    self->image = plane;
    if (self->block == 1 && meta->n_parts == 1) {
        return SLC_OK;
    }
    self->means = malloc((size_t)(self->meta.nx * self->meta.ny) * sizeof *self->means);
    if (self->means == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for the page's picture");
    }
    self->image = self->means;
    for (int64_t y = 0; y < self->meta.ny; y++) {
        for (int64_t x = 0; x < self->meta.nx; x++) {
            self->means[y * self->meta.nx + x] = block_mean(self, meta, plane, x, y);
        }
    }
    return SLC_OK;
}

static void describe(const slc_image_meta *meta, const shown *self, const slci_png_range *range,
                     slci_page_picture *picture) {
    const char *blank = meta->unit[0] == '\0' ? "" : " ";
    char plane[64] = "";
    char block[96] = "";
    if (count_planes(meta) > 1) {
        (void)slci_print(plane, sizeof plane, "Plane %lld of %lld. ", (long long)self->plane + 1,
                         (long long)count_planes(meta));
    }
    if (self->block > 1) {
        (void)slci_print(block, sizeof block, " Each pixel shown is the mean of %lld x %lld.",
                         (long long)self->block, (long long)self->block);
    }
    (void)
        slci_print(picture->caption, sizeof picture->caption,
                   "%sNorth is up, east left. Black is %.4g%s%s (%g %% of pixels are below), white "
                   "%.4g%s%s (%g %%).%s",
                   plane, range->low, blank, meta->unit, SLCI_PNG_LOW_PERCENT, range->high, blank,
                   meta->unit, SLCI_PNG_HIGH_PERCENT, block);
}

static slc_status fill_picture(slci_image_page *self, const slc_image_meta *meta,
                               slci_page_picture *picture) {
    shown reduced = {.image = NULL};
    slc_status status = SLC_OK;
    SLC_TRY_GOTO(done, reduce(meta, self->picture, &reduced));
    status = slci_png_encode(&reduced.meta, reduced.image, &self->png);
    if (status == SLC_ERROR_UNSUPPORTED) {
        (void)slci_print(picture->caption, sizeof picture->caption, "%s", slc_status_message());
        status = SLC_OK;
    } else if (status == SLC_OK) {
        picture->png = self->png.bytes;
        picture->n_bytes = self->png.n_bytes;
        describe(meta, &reduced, &self->png.range, picture);
    }
done:
    free(reduced.means);
    return status;
}

/* ---- the facts --------------------------------------------------------------------------------- */

static void add_sky(const slc_image_result *result, slci_page *page) {
    const slc_image_meta *meta = &result->meta;
    const char *blank = meta->unit[0] == '\0' ? "" : " ";
    char a[SLCI_TEXT_BYTES];
    char b[SLCI_TEXT_BYTES];
    if (isfinite(result->peak)) {
        slci_format_ra(result->peak_ra_rad, a);
        slci_format_dec(result->peak_dec_rad, b);
        slci_page_add(page, "peak", "%.6g%s%s at pixel (%lld, %lld), RA %s Dec %s", result->peak,
                      blank, meta->unit, (long long)result->peak_x, (long long)result->peak_y, a,
                      b);
        slci_page_add(page, "rms", "%.4g%s%s", result->rms, blank, meta->unit);
    }
    if (meta->beam.is_valid) {
        slci_format_angle(meta->beam.major_rad, 4, a);
        slci_format_angle(meta->beam.minor_rad, 4, b);
        slci_page_add(page, "beam", "%s x %s at %.1f deg", a, b,
                      meta->beam.angle_rad * SLC_RADIAN_DEG);
    } else {
        slci_page_add(page, "beam", "none%s%s", result->beam_why[0] == '\0' ? "" : ": ",
                      result->beam_why);
    }
}

static void add_facts(const slc_image_options *options, const slc_image_result *result,
                      slci_page *page) {
    const slc_image_meta *meta = &result->meta;
    char text[SLCI_TEXT_BYTES];
    char horizon[SLCI_IMAGE_HORIZON_BYTES];
    for (int i = 0; i < options->n_outputs && i < SLCI_PAGE_ROWS / 4; i++) {
        slci_page_add(page, i == 0 ? "output" : "", "%s", options->outputs[i]);
    }
    slci_format_angle(meta->scale_rad, 6, text);
    slci_page_add(page, "image", "%lld x %lld pixels of %s, %lld plane%s", (long long)meta->nx,
                  (long long)meta->ny, text, (long long)count_planes(meta),
                  count_planes(meta) == 1 ? "" : "s");
    if (slci_image_format_horizon(result->finite_pixels, meta->nx * meta->ny, horizon)) {
        slci_page_add(page, "", "%s", horizon);
    }
    if (!options->run.dry_run) {
        add_sky(result, page);
    }
    slci_page_add(page, "visibilities", "%lld used, %lld of %lld samples flagged",
                  (long long)result->n_used, (long long)result->n_flagged,
                  (long long)result->n_looked_at);
    slci_page_add(page, "error", "at most %g of the largest value any pixel could have",
                  meta->epsilon);
    slci_page_add(page, "kernels", "%s", result->kernel_why);
    for (int i = 0; i < result->tuning.n; i++) {
        char split[SLCI_IMAGE_SPLIT_BYTES];
        slci_image_format_split(&result->tuning.launch[i], split);
        slci_page_add(page, i == 0 ? "division of work" : "", "%s", split);
    }
    if (result->pairs_per_second > 0) {
        slci_format_number(result->pairs_per_second, 3, text);
        slci_page_add(page, "pairs a second", "%s", text);
    }
    slci_format_bytes(result->bytes_stored, text);
    slci_page_add(page, "chunks", "%lld read, %lld of them decoded, %s stored",
                  (long long)result->chunks_read, (long long)result->chunks_decoded, text);
    slci_format_seconds(result->survey_seconds, text);
    slci_page_add(page, "survey", "%s", text);
}

slc_status slci_image_page_fill(slci_image_page *self, const slc_image_options *options,
                                const slc_image_result *result, slci_page *page) {
    static const char *const axis_names[] = {"rows", "y", "x"};
    page->command = "sluice image";
    page->inputs = options->inputs;
    page->n_inputs = options->n_inputs;
    page->device_name = result->device_name;
    page->total_seconds = result->total_seconds;
    slci_page_set_memory(page, &result->memory);
    page->plan = &result->plan;
    page->report = options->run.dry_run ? NULL : &result->report;
    page->axis_names = axis_names;
    page->numerics = &result->numerics;
    add_facts(options, result, page);
    return self->picture != NULL ? fill_picture(self, &result->meta, &page->picture) : SLC_OK;
}
