/* FITS where cfitsio was not there when Sluice was built: refused before anything is computed. */
#include "io/image_formats.h"

static slc_status fits_check(const char *name, const slc_image_meta *meta) {
    (void)meta;
    return SLC_FAIL(SLC_ERROR_UNSUPPORTED,
                    "%s: this Sluice was built without cfitsio "
                    "(libcfitsio-dev) and cannot write FITS; name a .h5 file",
                    name);
}

static int64_t fits_bytes(const slc_image_meta *meta) {
    (void)meta;
    return 0;
}

static slc_status fits_write(const char *temporary, const char *name, const slc_image_meta *meta,
                             const double *image, slc_log *log) {
    (void)temporary;
    (void)image;
    (void)log;
    return fits_check(name, meta);
}

const slci_image_format slci_format_fits = {"FITS", fits_check, fits_bytes, fits_write};
