/* Room on the disk for a run with a checkpoint: while it runs, its journal holds every finished part of
 * the output besides the output itself. Each output was checked alone before. Internal to app.
 *
 *     const slc_outfile_need output = {path, bytes};
 *     const slci_disk_need need = {.outputs = &output, .n_outputs = 1, .journal_bytes = bytes};
 *     SLC_TRY(slci_check_room(&options->run, &need));        // after the checkpoint was begun
 */
#ifndef SLC_APP_DISK_ROOM_H
#define SLC_APP_DISK_ROOM_H

#include <stdint.h>

#include "app/run_options.h"
#include "core/job.h"
#include "io/outfile.h"
#include "ooc/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slci_disk_need {
    const slc_outfile_need
        *outputs; /* [n_outputs], may be none; files that are written meanwhile count as such */
    int n_outputs;
    int64_t journal_bytes; /* once the run is done; 0: unknown */
    int64_t state_bytes;   /* of the largest state, see below */
} slci_disk_need;

/* What a state of the job holds at most: the sums, and what else lives from tile to tile. */
int64_t slci_state_bytes(const slc_job *job, const slc_plan *plan);

/* That outputs and checkpoint fit together, those on one file system side by side; what of the
 * checkpoint is there already needs no more. SLC_ERROR_OUTPUT, SLC_ERROR_MEMORY. */
SLC_MUST_USE slc_status slci_check_room(const slc_run_options *run, const slci_disk_need *need);

#ifdef __cplusplus
}
#endif
#endif
