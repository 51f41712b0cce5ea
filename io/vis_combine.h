/* From the polarisations of one row to one value and one weight a channel.
 * Everything that decides whether a sample counts is here: flags, weights, the range of baselines,
 * values that are not finite.
 *
 *     slci_vis_combine_row(selection, &row, vis, weight, counts);
 */
#ifndef SLC_IO_VIS_COMBINE_H
#define SLC_IO_VIS_COMBINE_H

#include "io/vis_part.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One row, converted. values [n_channels, 2], flags and nsamples [n_channels] of each polarisation
 * used; a NULL member means: values not wanted, nothing flagged, all ones. */
typedef struct slci_vis_row {
    double uvw[3];
    bool is_selected;
    double factor; /* of the weights */
    const double *values[2];
    const uint8_t *flags[2];
    const double *nsamples[2];
} slci_vis_row;

/* Fills vis [n_channels, 2] and weight [n_channels] (either may be NULL) and adds to the counts. */
void slci_vis_combine_row(const slci_vis_selection *selection, const slci_vis_row *row, float *vis,
                          float *weight, slc_vis_counts *counts);

#ifdef __cplusplus
}
#endif
#endif
