/* The tuned set by the clock: one engine tile of the direct kernel with every split that may be worth
 * while, over data made up within what the survey found. Internal to app.
 *
 *     SLC_TRY(slci_direct_tune(&request, &trials));
 *     split = slci_direct_trial_split(&trials.trial[0]);
 */
#ifndef SLC_APP_DIRECT_TUNE_H
#define SLC_APP_DIRECT_TUNE_H

#include "app/machine.h"
#include "kernels/direct_tuning.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All lent for the call. */
typedef struct slci_direct_tune_request {
    const slci_machine
        *machine; /* memory is reserved in its ledger: one engine tile on the device */
    const slc_direct_setup *setup;
    const slc_direct_summary *summary;
    const slc_direct_survey *survey;
    int64_t n_rows;             /* of the job */
    const int64_t *full_extent; /* [3] of an engine tile: rows, y, x */
    const slc_run_options *run; /* whom to tell, and whether to stop */
} slci_direct_tune_request;

typedef struct slci_direct_try {
    int64_t split;
    double seconds; /* of the engine tile, the best of a few */
} slci_direct_try;

/* One launch's tuned set; the others' splits are what was found for them, or the model's. */
typedef struct slci_direct_trial {
    slc_direct_launch launch;
    slci_direct_division division;
    int n;
    slci_direct_try tried[SLCI_DIRECT_MOST_SPLITS];
    int model, best; /* the model's choice and the fastest, in `tried` */
} slci_direct_trial;

typedef struct slci_direct_trials {
    int n;
    slci_direct_trial trial[SLC_DIRECT_N_LAUNCHES];
} slci_direct_trials;

/* SLC_ERROR_MEMORY where a tile does not fit, SLC_ERROR_DEVICE, SLC_ERROR_INTERRUPTED. */
SLC_MUST_USE slc_status slci_direct_tune(const slci_direct_tune_request *request,
                                         slci_direct_trials *out);

/* What is worth remembering: the fastest, or the model's choice where that is as fast but for noise. */
int64_t slci_direct_trial_split(const slci_direct_trial *trial);

/* How fast the model's choice is, as a share of the fastest. */
double slci_direct_trial_share(const slci_direct_trial *trial);

#ifdef __cplusplus
}
#endif
#endif
