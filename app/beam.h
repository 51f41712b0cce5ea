/* The Gaussian beam of a point-spread function.
 * Fits exp(-(a l² + b l m + c m²)) with fixed centre and amplitude to the pixels of at least 0.35
 * that are connected with the centre.
 */
#ifndef SLC_APP_BEAM_H
#define SLC_APP_BEAM_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"
#include "io/image_file.h"

/* Pixels below this share of the peak are not fitted. */
#define SLCI_BEAM_LEVEL 0.35

/* Fewest pixels for a fit. */
#define SLCI_BEAM_MIN_PIXELS 6

typedef struct slci_beam_fit {
    slc_beam beam;        /* is_valid false when there is none */
    bool touches_edge;    /* the lobe reaches the edge of the picture given */
    int64_t n_pixels;     /* in the lobe */
    const char *why_none; /* static text, NULL when valid */
} slci_beam_fit;

/* psf [ny, nx] f64, host, 1 at pixel (nx/2, ny/2); l falls with the column, m rises with the row.
 * SLC_ERROR_MEMORY; a PSF without a beam is not an error. */
SLC_MUST_USE slc_status slci_beam_find(const double *psf, int64_t nx, int64_t ny, double scale_rad,
                                       slci_beam_fit *out);

#endif
