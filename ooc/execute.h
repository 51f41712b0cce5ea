/* Runs a job from its request: plans, runs, and plans again smaller when the device turns out to have
 * less memory than the plan needs (another process took it). What every job of the program calls.
 *
 *     slc_execution execution = {.request = request, .engine = engine_options};
 *     SLC_TRY(slc_execute(&job, &execution, &plan, &report));
 */
#ifndef SLC_OOC_EXECUTE_H
#define SLC_OOC_EXECUTE_H

#include "ooc/checkpoint.h"
#include "ooc/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Everything is lent for the call. */
typedef struct slc_execution {
    slc_plan_request request;
    slc_engine_options engine;
    slc_checkpoint *checkpoint; /* begun; NULL: none */
    slc_log *log;               /* told when a run is planned again; NULL: the engine's is */
} slc_execution;

/* `plan` is the one that ran, the last one where a resumed run has several; where it had run before it
 * is made all the same. The report is set on success only, and counts what this process did.
 * A resumed stage tells its progress in millionths of what was left of it.
 * With a checkpoint each call is its next stage: a stage that an earlier run has finished only gives
 * the sinks what they were given then, one that it was in goes on. SLC_ERROR_NO_PLAN when nothing fits
 * what the device has; SLC_ERROR_INTERRUPTED after a state was written, if one could be; else whatever
 * failed. */
SLC_API SLC_MUST_USE slc_status slc_execute(const slc_job *job, const slc_execution *execution,
                                            slc_plan *plan, slc_engine_report *report);

#ifdef __cplusplus
}
#endif
#endif
