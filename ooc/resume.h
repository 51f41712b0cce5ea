/* What the engine does for a run with a checkpoint; without one these do nothing. Internal to ooc.
 * ooc/resume.c says how, ooc/checkpoint.c what the files are.
 *
 *     SLC_TRY(slci_checkpoint_visit(run, &next_tile));      // between two tiles
 */
#ifndef SLC_OOC_RESUME_H
#define SLC_OOC_RESUME_H

#include "ooc/engine_internal.h"

/* Called between two tiles, with the next one, or NULL after the last: writes a state when one is
 * due, or wanted because the run is to stop. */
SLC_MUST_USE slc_status slci_checkpoint_visit(slci_run *run, const slc_tile *next);

/* Bring back what an earlier run had summed of an output's new tile, and what a work operand held. */
SLC_MUST_USE slc_status slci_checkpoint_fill_update(slci_run *run, const slci_out_buffer *buffer);
SLC_MUST_USE slc_status slci_checkpoint_fill_work(slci_run *run, const slc_tile *tile);

/* Counts the run's rounds. */
void slci_checkpoint_next_round(slci_run *run);

/* Whether a region that is left touches `box` of operand `o`. */
bool slci_regions_touch(const slc_job *job, const slci_region *region, int64_t n_regions, int o,
                        const slc_box *box);

/* ooc/checkpoint_journal.c: a box has gone to its sink. From the writer thread. */
void slci_checkpoint_drained(slci_run *run, int operand, const slc_box *box, const void *data);

#endif
