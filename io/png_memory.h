/* Internal: a picture as PNG in memory, for pages that carry their pictures within them.
 *
 *     slci_png png;
 *     SLC_TRY(slci_png_encode(&meta, image, &png));
 *     ... png.bytes [png.n_bytes] ...
 *     free(png.bytes);
 */
#ifndef SLC_IO_PNG_MEMORY_H
#define SLC_IO_PNG_MEMORY_H

#include "io/image_file.h"
#include "io/png_scale.h"

typedef struct slci_png {
    uint8_t *bytes; /* the caller frees them */
    int64_t n_bytes;
    slci_png_range range; /* the values shown black and white */
} slci_png;

/* image [ny, nx] f64, as a PNG file would show it. SLC_ERROR_UNSUPPORTED where libpng was not there
 * when Sluice was built, or for a picture too large for PNG; SLC_ERROR_MEMORY. */
SLC_MUST_USE slc_status slci_png_encode(const slc_image_meta *meta, const double *image,
                                        slci_png *out);

#endif
