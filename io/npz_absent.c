/* Stands in for io/npz_libzip.c where libzip was not there when Sluice was built. */
#include "io/vis_part.h"

slc_status slci_npz_open(const char *path, const slc_vis_options *options, slci_vis_part **out) {
    (void)options;
    (void)out;
    return SLC_FAIL(SLC_ERROR_UNSUPPORTED,
                    "%s: this build of Sluice reads no .npz archives; build it with libzip "
                    "(libzip-dev)",
                    path);
}
