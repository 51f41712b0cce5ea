/* The state of one rewriting, shared by the files that do its parts: app/rewrite.c runs it,
 * app/rewrite_plan.c decides on passes and tiles, app/rewrite_store.c keeps the array between passes.
 */
#ifndef SLC_APP_REWRITE_JOB_H
#define SLC_APP_REWRITE_JOB_H

#include "app/array_job.h"
#include "app/array_output.h"
#include "app/machine.h"
#include "app/rewrite.h"
#include "io/h5_array.h"
#include "io/spill.h"
#include "kernels/permute_job.h"
#include "ooc/execute.h"

/* One pass with its plan. The job points into the setup. */
typedef struct slci_rewrite_pass {
    slc_permute_setup setup;
    slc_job job;
    slc_execution execution;
    slc_plan plan;
    int64_t cache_bytes; /* of decoded chunks that the input's reader keeps; not in the plan */
    int64_t cache_rows;  /* of chunks along the outermost loop; 0: none is kept */
    int64_t most_reads, most_writes;
} slci_rewrite_pass;

/* The array between two passes. */
typedef struct slci_rewrite_store {
    slc_sink *sink; /* lent where there is a spill */
    slc_source *source;
    void *memory;
    slc_spill *spill;
    int64_t held_bytes; /* reserved */
} slci_rewrite_store;

typedef struct slci_rewrite_job {
    const slc_rewrite_options *options;
    slci_machine machine;
    slci_array data;
    slc_source *source; /* data.source; with one dimension where that has none */
    slci_array_output output;
    slc_layout in, out; /* as the passes see them: of rank 1 at least */
    int order[SLC_MAX_RANK];
    int64_t in_unit[SLC_MAX_RANK]; /* in which input and output are best cut, by their dimensions */
    int64_t out_unit[SLC_MAX_RANK];
    int n_passes;
    slci_rewrite_pass pass[SLC_REWRITE_PASSES];
    slc_rewrite_store store;
    int64_t block[SLC_MAX_RANK]; /* of a store in a file */
    slci_kept_byte kept;         /* n_passes */
    bool is_form_fixed;          /* a checkpoint was begun with n_fixed passes */
    int n_fixed;
    slc_rewrite_result result;
} slci_rewrite_job;

/* Decides on passes, store and tiles. SLC_ERROR_NO_PLAN when nothing fits. */
SLC_MUST_USE slc_status slci_rewrite_plan(slci_rewrite_job *job);

/* Puts what was decided, or what ran, into the result. */
void slci_rewrite_take(slci_rewrite_job *job);

/* Of a store in a file: its blocks, and what moving them takes of host memory. */
slc_spill_options slci_rewrite_spill(const slci_rewrite_job *job);
int64_t slci_rewrite_spill_bytes(const slci_rewrite_job *job);

/* Makes the store that was decided on. SLC_ERROR_MEMORY, SLC_ERROR_OUTPUT. */
SLC_MUST_USE slc_status slci_rewrite_store_create(const slci_rewrite_job *job,
                                                  slci_rewrite_store *out);
void slci_rewrite_store_destroy(const slci_rewrite_job *job, slci_rewrite_store *store);

/* app/rewrite_resume.c: begins the run's checkpoint, if it has one, or goes on with it; before
 * planning. */
SLC_MUST_USE slc_status slci_rewrite_begin_checkpoint(slci_rewrite_job *job);

#endif
