/* PNG where libpng was not there when Sluice was built: refused before anything is computed. */
#include "io/image_formats.h"
#include "io/png_memory.h"

static slc_status png_check(const char *name, const slc_image_meta *meta) {
    (void)meta;
    return SLC_FAIL(SLC_ERROR_UNSUPPORTED,
                    "%s: this Sluice was built without libpng "
                    "(libpng-dev) and cannot write PNG; name a .h5 file",
                    name);
}

static int64_t png_bytes(const slc_image_meta *meta) {
    (void)meta;
    return 0;
}

static slc_status png_write(const char *temporary, const char *name, const slc_image_meta *meta,
                            const double *image, slc_log *log) {
    (void)temporary;
    (void)image;
    (void)log;
    return png_check(name, meta);
}

slc_status slci_png_encode(const slc_image_meta *meta, const double *image, slci_png *out) {
    (void)meta;
    (void)image;
    (void)out;
    return SLC_FAIL(SLC_ERROR_UNSUPPORTED,
                    "this Sluice was built without libpng (libpng-dev) and shows no picture");
}

const slci_image_format slci_format_png = {"PNG", png_check, png_bytes, png_write};
