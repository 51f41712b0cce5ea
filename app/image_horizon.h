/* How a note, a plan and a page say that pixels of a picture show no sky. Internal to app.
 *
 *     char text[SLCI_IMAGE_HORIZON_BYTES];
 *     if (slci_image_format_horizon(result->finite_pixels, nx * ny, text)) { ... }
 */
#ifndef SLC_APP_IMAGE_HORIZON_H
#define SLC_APP_IMAGE_HORIZON_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SLCI_IMAGE_HORIZON_BYTES 96

/* "21.5 % of the pixels lie beyond the horizon (...) and are NaN"; false where none does. */
bool slci_image_format_horizon(int64_t finite_pixels, int64_t pixels,
                               char text[SLCI_IMAGE_HORIZON_BYTES]);

#ifdef __cplusplus
}
#endif
#endif
