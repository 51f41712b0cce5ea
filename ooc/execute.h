/* Runs a job from its request: plans, runs, and plans again smaller when the device turns out to have
 * less memory than the plan needs (another process took it). What every job of the program calls.
 *
 *     slc_execution execution = {.request = request, .engine = engine_options};
 *     SLC_TRY(slc_execute(&job, &execution, &plan, &report));
 */
#ifndef SLC_OOC_EXECUTE_H
#define SLC_OOC_EXECUTE_H

#include "ooc/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Everything is lent for the call. */
typedef struct slc_execution {
    slc_plan_request request;
    slc_engine_options engine;
} slc_execution;

/* `plan` is the one that ran. The report is set on success only. SLC_ERROR_NO_PLAN when nothing fits
 * what the device has; else whatever failed. */
SLC_API SLC_MUST_USE slc_status slc_execute(const slc_job *job, const slc_execution *execution,
                                            slc_plan *plan, slc_engine_report *report);

#ifdef __cplusplus
}
#endif
#endif
