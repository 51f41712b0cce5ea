/* Internal: from pixels in double to levels and colours for a picture to look at.
 *
 *     slci_png_range range;
 *     SLC_TRY(slci_png_find_range(image, n, &range));
 *     level = slci_png_level(&range, image[k]);    // 0: no value; 1 to 255: dark to bright
 */
#ifndef SLC_IO_PNG_SCALE_H
#define SLC_IO_PNG_SCALE_H

#include <stdint.h>

#include "core/status.h"

#define SLCI_PNG_LOW_PERCENT 0.5
#define SLCI_PNG_HIGH_PERCENT 99.9

typedef struct slci_png_range {
    double low, high; /* values shown darkest and brightest; equal where all values are */
    int64_t n_finite;
} slci_png_range;

/* The values at the two percentages of the finite pixels (the smallest and largest where these two
 * coincide): exact, in a few passes over image [n], in 512 KiB. SLC_ERROR_MEMORY. */
SLC_MUST_USE slc_status slci_png_find_range(const double *image, int64_t n, slci_png_range *out);

/* 0 for what is not finite, else 1 to 255, linear in the value; the middle where all are equal. */
int slci_png_level(const slci_png_range *range, double value);

/* Red, green and blue of each level [256, 3]; level 0 is a neutral grey. */
void slci_png_colours(uint8_t colour[256][3]);

#endif
