/* A visibility set: its parts, its selection and its metadata. Shared by io/vis.c, which opens and
 * reads, and io/vis_meta.c, which decides what the files mean together.
 */
#ifndef SLC_IO_VIS_SET_H
#define SLC_IO_VIS_SET_H

#include <stdatomic.h>

#include "io/vis_part.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slci_vis {
    slc_source base;
    slc_vis_meta meta;
    slci_vis_selection selection;
    int n_parts;
    slci_vis_part **parts;                                      /* [n_parts], owned */
    int64_t *first_row;                                         /* [n_parts + 1] */
    atomic_int current;                                         /* the part that was read last */
    double *freq_hz, *channel_width_hz, *wavelengths_per_metre; /* [n_channels] */
} slci_vis;

/* That all files have the axes, polarisations and phase centre of the first. */
SLC_MUST_USE slc_status slci_vis_check_agreement(const slci_vis *vis);

/* Polarisation, channels and the other choices that need no rows: fills in the selection and the part
 * of the metadata that follows. */
SLC_MUST_USE slc_status slci_vis_choose(slci_vis *vis, const slc_vis_options *options);

/* Puts what reading may take into the selection, as slc_vis_options has it. */
void slci_vis_set_room(slci_vis *vis, int64_t block_bytes, int64_t cache_bytes);

/* What the rows say: times (and their selection), baselines, phase centre. */
SLC_MUST_USE slc_status slci_vis_place(slci_vis *vis, const slci_vis_sets *sets,
                                       const slc_vis_options *options);

#ifdef __cplusplus
}
#endif
#endif
