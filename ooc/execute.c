/* Planning and running as one step.
 *
 * The budget is a promise of the user, not of the device: between the moment when free memory was
 * looked at and the moment when the slab is asked for, somebody else may have taken it. So a plan that
 * needs more than is free now, or whose slab is refused, is made again with less, until it fits or
 * nothing does. The slab is the first thing that a run takes and the only thing it takes from the
 * device, so a refusal leaves nothing behind and no tile has run. */
#include "ooc/execute.h"

#include "core/checked.h"
#include "ooc/engine_internal.h"

/* After a refusal, how much of the last plan's memory the next one may take. */
#define SHRINK_NUMERATOR 3
#define SHRINK_DENOMINATOR 4

static void say_smaller(const slc_execution *execution, int64_t needed_bytes, int64_t bytes) {
    slc_log_note(execution->engine.log,
                 "the device has less memory free than the plan's %lld bytes; planning again for "
                 "%lld bytes",
                 (long long)needed_bytes, (long long)bytes);
}

slc_status slc_execute(const slc_job *job, const slc_execution *execution, slc_plan *plan,
                       slc_engine_report *report) {
    slc_plan_request request = execution->request;
    for (;;) {
        SLC_TRY(slc_plan_make(job, &request, plan));
        slc_device_limits limits;
        SLC_TRY(slc_device_get_limits(execution->engine.device, &limits));
        if (plan->device_peak_bytes > limits.free_bytes) {
            say_smaller(execution, plan->device_peak_bytes, limits.free_bytes);
            request.device_budget_bytes = limits.free_bytes;
            continue;
        }
        bool is_slab_refused = false;
        const slc_status status =
            slci_engine_run(job, plan, &execution->engine, report, &is_slab_refused);
        if (status == SLC_OK || !is_slab_refused) {
            return status;
        }
        request.device_budget_bytes =
            slc_max_i64(plan->device_peak_bytes / SHRINK_DENOMINATOR * SHRINK_NUMERATOR, 1);
        say_smaller(execution, plan->device_peak_bytes, request.device_budget_bytes);
    }
}
