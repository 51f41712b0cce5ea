/* FITS models where cfitsio was not there when Sluice was built. */
#include "io/model_file.h"

slc_status slci_model_fits_open(const char *path, slci_model_file **out) {
    (void)out;
    return SLC_FAIL(SLC_ERROR_UNSUPPORTED,
                    "%s: this Sluice was built without cfitsio (libcfitsio-dev) and cannot read "
                    "FITS; a .h5 picture or a list of components does without",
                    path);
}
