/* From the polarisations of one row to one value and one weight a channel.
 * Everything that decides whether a sample counts is here: flags, weights, the range of baselines,
 * values that are not finite, baselines that nobody has.
 *
 *     const bool is_possible = slci_vis_place_row(&row, SLCI_LONGEST_M, uvw);
 *     if (slci_vis_combine_row(selection, &row, vis, weight, counts) && !is_possible) { refuse }
 */
#ifndef SLC_IO_VIS_COMBINE_H
#define SLC_IO_VIS_COMBINE_H

#include "io/vis_part.h"

#ifdef __cplusplus
extern "C" {
#endif

/* No baseline is longer: three times the way to the Moon, or to the far ends of the orbits of the
 * telescopes that were in space. Phases are formed in double and lose 2^-53 of their turns, so what
 * lies beyond, a unit that was taken for another or a damaged number, would become a picture of
 * nothing. The limit in wavelengths is that in metres at 300 GHz. */
#define SLCI_LONGEST_M 1e9
#define SLCI_LONGEST_WAVELENGTHS 1e12

/* One row, converted. values [n_channels, 2], flags and nsamples [n_channels] of each polarisation
 * used; a NULL member means: values not wanted, nothing flagged, all ones. In place of values there may
 * be singles: pairs of floats as they lie in a file, `single_stride` bytes from channel to channel. */
typedef struct slci_vis_row {
    double uvw[3];
    bool is_selected;
    double factor; /* of the weights */
    const double *values[2];
    const unsigned char *singles[2];
    int64_t single_stride;
    const uint8_t *flags[2];
    const double *nsamples[2];
} slci_vis_row;

/* Fills uvw [3] (may be NULL): the row's, or 0 where they are not finite or past `longest`. False where
 * they are past it; a file in which such a row counts is to be refused. */
bool slci_vis_place_row(const slci_vis_row *row, double longest, double *uvw);

/* Fills vis [n_channels, 2] and weight [n_channels] (either may be NULL) and adds to the counts. True
 * where a sample of the row counts. */
bool slci_vis_combine_row(const slci_vis_selection *selection, const slci_vis_row *row, float *vis,
                          float *weight, slc_vis_counts *counts);

/* Whether a baseline of this length is in the range that is selected. */
bool slci_vis_is_in_range(const slci_vis_selection *selection, double length_wavelengths);

#ifdef __cplusplus
}
#endif
#endif
