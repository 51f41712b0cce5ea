/* The state of one gather, shared by the files that do its parts: app/gather.c runs it,
 * app/gather_check.c looks at the list, app/gather_plan.c decides what is done with the data.
 */
#ifndef SLC_APP_GATHER_JOB_H
#define SLC_APP_GATHER_JOB_H

#include "app/array_job.h"
#include "app/array_output.h"
#include "app/gather.h"
#include "app/machine.h"
#include "core/flatten.h"
#include "io/h5_array.h"
#include "kernels/gather_kernel.h"
#include "ooc/execute.h"

/* One way with its plan. The job points into the setup. */
typedef struct slci_gather_candidate {
    slc_gather_setup setup;
    slc_job job;
    slc_execution execution;
    slc_plan plan;
    int64_t cache_bytes; /* of decoded chunks that the data's reader keeps; not in the plan */
} slci_gather_candidate;

typedef struct slci_gather_job {
    const slc_gather_options *options;
    slci_machine machine;
    slci_array array;               /* the data: a dataset or a slice of one */
    slc_source *data;               /* array.source, lent */
    slci_array index_array;         /* the list, always a whole dataset */
    slc_source *index;              /* index_array.source, lent */
    slc_source *list;               /* the same, [n_index] or [n_index, coordinates] */
    int list_rank;                  /* dimensions of `index` that `list` has as one */
    double data_share, index_share; /* of each array, stored bytes for one decoded byte */
    slci_array_output output;
    int64_t check_bytes; /* that the check of the list took */
    slc_gather_map *map; /* where the list points; NULL: it is not checked yet */
    slci_kept_byte kept; /* whether the data is streamed */
    bool is_form_fixed; /* a checkpoint was begun with `form`, whose tiles another would not have */
    slc_gather_form form;
    slci_gather_candidate candidate[SLC_GATHER_WAYS];
    slc_gather_result result;
} slci_gather_job;

/* That every index lies within the data, and where: makes `map`. SLC_ERROR_INPUT, SLC_ERROR_MEMORY,
 * SLC_ERROR_INTERRUPTED. */
SLC_MUST_USE slc_status slci_gather_check(slci_gather_job *job);

/* app/gather_resume.c: begins the run's checkpoint, if it has one, or goes on with it; before
 * planning. */
SLC_MUST_USE slc_status slci_gather_begin_checkpoint(slci_gather_job *job);

/* Plans every way that is considered and fills in result.ways. SLC_ERROR_NO_PLAN when none fits. */
SLC_MUST_USE slc_status slci_gather_plan(slci_gather_job *job);

/* The fastest way that is still possible, -1 if there is none; and takes it: plan, why. */
int slci_gather_fastest(const slci_gather_job *job);
void slci_gather_take(slci_gather_job *job, int way);

#endif
