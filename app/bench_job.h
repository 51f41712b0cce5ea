/* Copying through: the job that does nothing but move bytes to the device and back, tile by tile.
 * What it takes longer than a loop written by hand is the engine's own. Internal to app.
 *
 *     slci_copy_job job = {.machine = &machine, .tile_bytes = 8 << 20, .n_tiles = 256};
 *     SLC_TRY(slci_copy_job_run(&job, &result));
 */
#ifndef SLC_APP_BENCH_JOB_H
#define SLC_APP_BENCH_JOB_H

#include "app/machine.h"
#include "ooc/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Its operands. */
enum { SLCI_COPY_JOB_IN, SLCI_COPY_JOB_OUT, SLCI_COPY_JOB_OPERANDS };

typedef struct slci_copy_job {
    const slci_machine *machine; /* lent */
    const slc_run_options *run;  /* lent */
    int64_t tile_bytes;
    int64_t n_tiles;
    int max_slots;    /* 0: the planner's own */
    const void *from; /* [n_tiles · tile_bytes], or NULL: nothing is read, tiles hold anything */
    void *to;         /* likewise; NULL: nothing is written */
} slci_copy_job;

typedef struct slci_copy_result {
    slc_plan plan;
    slc_engine_report report;
} slci_copy_result;

/* SLC_ERROR_NO_PLAN when a tile does not fit the budgets; else whatever the run gives. */
SLC_MUST_USE slc_status slci_copy_job_run(const slci_copy_job *job, slci_copy_result *out);

#ifdef __cplusplus
}
#endif
#endif
