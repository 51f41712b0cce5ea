/* From the hands of one row to one value and one weight a channel, for each polarisation imaged.
 * Everything that decides whether a sample counts is here: flags, weights, the range of baselines,
 * values that are not finite, baselines that nobody has.
 *
 *     const bool is_possible = slci_vis_place_row(&row, SLCI_LONGEST_M, uvw);
 *     const slci_vis_samples out = {vis, weight, counts};
 *     const bool is_used = slci_vis_combine_row(selection, &selection->imaged[k], &row, &out);
 *     if (is_used && !is_possible) { refuse }
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

/* One row, converted. values [n_channels, 2], flags and nsamples [n_channels] of each hand of the
 * selection; a NULL member means: values not wanted, nothing flagged, all ones. In place of values
 * there may be singles: pairs of floats as they lie in a file, `single_stride` bytes from channel to
 * channel. */
typedef struct slci_vis_row {
    int64_t number; /* of the file's rows */
    double uvw[3];
    bool is_selected;
    double factor; /* of the weights */
    const double *values[SLCI_VIS_MOST_HANDS];
    const unsigned char *singles[SLCI_VIS_MOST_HANDS];
    int64_t single_stride;
    const uint8_t *flags[SLCI_VIS_MOST_HANDS];
    const double *nsamples[SLCI_VIS_MOST_HANDS];
} slci_vis_row;

/* Where one polarisation of a row goes. */
typedef struct slci_vis_samples {
    float *vis;             /* [n_channels, 2]; may be NULL */
    float *weight;          /* [n_channels]; may be NULL */
    slc_vis_counts *counts; /* are added to */
} slci_vis_samples;

/* Fills uvw [3] (may be NULL): the row's, or 0 where they are not finite or past `longest`. False where
 * they are past it; a file in which such a row counts is to be refused. */
bool slci_vis_place_row(const slci_vis_row *row, double longest, double *uvw);

/* Makes the samples of one of the selection's polarisations. True where one of them counts. */
bool slci_vis_combine_row(const slci_vis_selection *selection, const slci_vis_combination *imaged,
                          const slci_vis_row *row, const slci_vis_samples *out);

/* The same for every polarisation that the target wants, whose row `at` it is; counts [n_imaged]. */
bool slci_vis_combine(const slci_vis_selection *selection, const slci_vis_row *row,
                      const slci_vis_target *target, int64_t at, slc_vis_counts *counts);

/* Whether a baseline of this length is in the range that is selected. */
bool slci_vis_is_in_range(const slci_vis_selection *selection, double length_wavelengths);

#ifdef __cplusplus
}
#endif
#endif
