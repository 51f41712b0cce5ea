/* A scale or a size that was mistyped shows in nothing else: the pixels are there, and are NaN. */
#include "app/image_horizon.h"

#include <math.h>

#include "core/print.h"

bool slci_image_format_horizon(int64_t finite_pixels, int64_t pixels,
                               char text[SLCI_IMAGE_HORIZON_BYTES]) {
    if (finite_pixels >= pixels) {
        return false;
    }
    /* A few of many are not to look like none, nor nearly all like all. */
    const double percent = 100.0 * (double)(pixels - finite_pixels) / (double)pixels;
    const double shown = fmin(fmax(percent, 0.1), finite_pixels > 0 ? 99.9 : 100.0);
    (void)slci_print(text, SLCI_IMAGE_HORIZON_BYTES,
                     "%.1f %% of the pixels lie beyond the horizon (l^2 + m^2 >= 1) and are NaN",
                     shown);
    return true;
}
