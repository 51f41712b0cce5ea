/* Running a job of your own as the program runs its own: device, ledger, plan, checkpoint, and the
 * outputs committed at the end. You describe axes and operands, bind them to sources and sinks, and
 * give a tile function for each kind of device that the job is to run on.
 *
 *     const slc_own_job own = {.job = job, .bindings = bindings,
 *                              .tile_on = {[SLC_DEVICE_HOST] = my_tile_on_host}};
 *     const slc_run_options options = {.vram_bytes = 1 << 20, .ram_bytes = 8 << 20};
 *     SLC_TRY(slc_own_job_run(&own, &options, &result));
 */
#ifndef SLC_APP_OWN_JOB_H
#define SLC_APP_OWN_JOB_H

#include "app/run_options.h"
#include "core/device.h"
#include "core/job.h"
#include "core/status.h"
#include "ooc/engine.h"
#include "ooc/fingerprint.h"
#include "ooc/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Everything is lent for the call. Sources and sinks stay the caller's, to be destroyed. */
typedef struct slc_own_job {
    slc_job job; /* `tile` is not looked at: the next list has it */
    /* By slc_device_kind; NULL: the job does not run there. With SLC_CHOOSE_AUTO the host is taken
     * where there is nothing for a card. */
    slc_status (*tile_on[SLC_DEVICE_KIND_COUNT])(void *state, const slc_tile_arguments *arguments);
    const slc_binding *bindings; /* [n_operands] */
    double seconds_per_point; /* of the kernel, about; 0: it takes no longer than its transfers */
    /* With a checkpoint: what decides the result (identities of the sources, parameters), and so must
     * be the same when the run is resumed. */
    const slc_fingerprint *fingerprint;
} slc_own_job;

/* What the run did; plain data. */
typedef struct slc_own_job_result {
    slc_plan plan;
    slc_engine_report report; /* zeros after a dry run */
    char device_name[128];
} slc_own_job_result;

/* Plans and runs it, commits all sinks, and then removes the checkpoint; with `dry_run` it only plans.
 * On failure no sink is committed but those before the one whose commit failed, and `result` is not
 * touched. SLC_ERROR_ARGUMENT: no tile function for the device, or a job that contradicts itself;
 * SLC_ERROR_NO_PLAN: the budgets are too small, and the message says what would do; SLC_ERROR_OUTPUT
 * before anything is computed: the disk has no room for the checkpoint; else whatever failed. */
SLC_API SLC_MUST_USE slc_status slc_own_job_run(const slc_own_job *own,
                                                const slc_run_options *options,
                                                slc_own_job_result *result);

#ifdef __cplusplus
}
#endif
#endif
