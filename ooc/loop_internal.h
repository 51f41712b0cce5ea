/* Jobs that loop on each tile (slc_job.most_iterations), for the files of the engine; for other jobs
 * begin and count do nothing. Read ooc/loop.c first.
 */
#ifndef SLC_OOC_LOOP_INTERNAL_H
#define SLC_OOC_LOOP_INTERNAL_H

#include "ooc/engine_internal.h"

bool slci_loop_is_wanted(const slci_run *run);

/* The work operand that is the loop's state, in device memory. */
slc_loop_state *slci_loop_device_state(const slci_run *run);

/* begin clears the state before a round, count takes the counts of the round after it has run. */
SLC_MUST_USE slc_status slci_loop_begin(slci_run *run);
SLC_MUST_USE slc_status slci_loop_count(slci_run *run);

/* Runs one tile's loop with the host deciding after each iteration. */
SLC_MUST_USE slc_status slci_loop_by_hand(slci_run *run, const slc_tile_arguments *arguments);

#endif
