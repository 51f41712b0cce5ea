/* Bars are as high as their counts are of the highest one; a bin that is not empty has one pixel at
 * least, so that it is seen. */
#include "app/stats_picture.h"

#include <math.h>
#include <stdlib.h>

#include "core/checked.h"
#include "core/print.h"

#define HEIGHT 384
#define LEAST_WIDTH 512
#define MOST_WIDTH 4096

/* The highest count of the bins that column i of `width` stands for. */
static int64_t count_at(const slc_stats_options *options, int64_t width, int64_t i) {
    const int64_t first = i * options->n_bins / width;
    const int64_t end = slc_max_i64((i + 1) * options->n_bins / width, first + 1);
    int64_t most = 0;
    for (int64_t b = first; b < end; b++) {
        most = slc_max_i64(most, options->bins[b + 1]);
    }
    return most;
}

static void draw(const slc_stats_options *options, int64_t width, double *image) {
    int64_t most = 1;
    for (int64_t b = 0; b < options->n_bins; b++) {
        most = slc_max_i64(most, options->bins[b + 1]);
    }
    for (int64_t i = 0; i < width; i++) {
        const int64_t count = count_at(options, width, i);
        const int64_t height = (int64_t)ceil((double)count / (double)most * HEIGHT);
        for (int64_t j = 0; j < HEIGHT; j++) {
            image[j * width + i] = j < height ? 1 : (double)NAN;
        }
    }
}

slc_status slci_stats_picture(const slc_stats_options *options, slci_png *out) {
    const int64_t n_bins = options->n_bins;
    const int64_t width =
        n_bins > MOST_WIDTH ? MOST_WIDTH : slc_ceil_div(LEAST_WIDTH, n_bins) * n_bins;
    char text[320];
    (void)slci_print(text, sizeof text,
                     "Histogram of %lld bins from %.6g to %.6g, counts from 0 up; %lld values are "
                     "below and %lld above.",
                     (long long)n_bins, options->edges[0], options->edges[n_bins],
                     (long long)options->bins[0], (long long)options->bins[n_bins + 1]);
    const slc_image_meta meta = {
        .nx = width, .ny = HEIGHT, .n_planes = 1, .n_parts = 1, .picture_text = text};
    double *image = malloc((size_t)(width * HEIGHT) * sizeof *image);
    if (image == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for a picture of a histogram");
    }
    draw(options, width, image);
    const slc_status status = slci_png_encode(&meta, image, out);
    free(image);
    return status;
}
