/* Planning and running as one step.
 *
 * The budget is a promise of the user, not of the device: between the moment when free memory was
 * looked at and the moment when the slab is asked for, somebody else may have taken it. So a plan that
 * needs more than is free now, or whose slab is refused, is made again with less, until it fits or
 * nothing does. The slab is the first thing that a run takes and the only thing it takes from the
 * device, so a refusal leaves nothing behind and no tile has run.
 *
 * A run that is resumed in the middle of its iteration space has regions left (ooc/resume.c); each is
 * planned for itself and run in their order. Rounds after that one, and the job's end, are the whole
 * space's again. */
#include "ooc/execute.h"

#include <math.h>

#include "core/checked.h"
#include "ooc/checkpoint_internal.h"

/* After a refusal, how much of the last plan's memory the next one may take. */
#define SHRINK_NUMERATOR 3
#define SHRINK_DENOMINATOR 4

static void say_smaller(const slc_execution *execution, int64_t needed_bytes, int64_t bytes) {
    slc_log_note(execution->log != NULL ? execution->log : execution->engine.log,
                 "the device has less memory free than the plan's %lld bytes; planning again for "
                 "%lld bytes",
                 (long long)needed_bytes, (long long)bytes);
}

/* What to plan for when the device has refused this plan's slab: less, but no less than the smallest
 * plan while that one was not refused. */
static int64_t after_refusal(const slc_plan *plan) {
    const int64_t refused_bytes = plan->device_peak_bytes;
    const int64_t less = refused_bytes / SHRINK_DENOMINATOR * SHRINK_NUMERATOR;
    return plan->smallest_device_bytes < refused_bytes
               ? slc_max_i64(less, plan->smallest_device_bytes)
               : slc_max_i64(less, 1);
}

/* The budget would have done, but not what the device has or gives: `bytes` now. `refused_bytes` is the
 * least that it refused to give; 0: it was not asked. */
static slc_status say_too_little(const slc_job *job, const slc_execution *execution,
                                 int64_t smallest_bytes, int64_t bytes, int64_t refused_bytes) {
    static const char what_helps[] = "free memory of the device, or run when others have left it";
    const long long budget = (long long)execution->request.device_budget_bytes;
    if (refused_bytes > 0) {
        return SLC_FAIL(
            SLC_ERROR_NO_PLAN,
            "job %s: the device refused even %lld bytes, though its budget (--vram) was "
            "%lld; the smallest plan takes %lld: %s",
            job->name, (long long)refused_bytes, budget, (long long)smallest_bytes, what_helps);
    }
    return SLC_FAIL(
        SLC_ERROR_NO_PLAN,
        "job %s: the device has only %lld bytes free now, though its budget (--vram) was %lld; the "
        "smallest plan takes %lld: %s",
        job->name, (long long)bytes, budget, (long long)smallest_bytes, what_helps);
}

/* Plans for `execution`'s region (rank 0: the whole space) and runs it. */
static slc_status run_region(const slc_job *job, const slc_execution *execution, slci_part *part,
                             slc_plan *plan, slc_engine_report *report) {
    slc_plan_request request = execution->request;
    int64_t refused_bytes = 0;
    for (;;) {
        const slc_status planned = slc_plan_make(job, &request, plan);
        if (planned == SLC_ERROR_NO_PLAN &&
            request.device_budget_bytes < execution->request.device_budget_bytes) {
            return say_too_little(job, execution, plan->smallest_device_bytes,
                                  request.device_budget_bytes, refused_bytes);
        }
        SLC_TRY(planned);
        slc_device_limits limits;
        SLC_TRY(slc_device_get_limits(execution->engine.device, &limits));
        if (plan->device_peak_bytes > limits.free_bytes) {
            say_smaller(execution, plan->device_peak_bytes, limits.free_bytes);
            request.device_budget_bytes = limits.free_bytes;
            refused_bytes = 0;
            continue;
        }
        const slc_status status = slci_engine_run(job, plan, &execution->engine, part, report);
        if (status == SLC_OK || !part->is_slab_refused) {
            return status;
        }
        refused_bytes = plan->device_peak_bytes;
        request.device_budget_bytes = after_refusal(plan);
        say_smaller(execution, plan->device_peak_bytes, request.device_budget_bytes);
    }
}

/* Whether the region is all of the space, with nothing begun: then it is run as any job is. */
static bool is_whole(const slc_job *job, const slci_region *region) {
    bool whole = region->box.rank == job->n_axes && region->begun == 0 && region->unfinished == 0;
    for (int a = 0; whole && a < job->n_axes; a++) {
        whole = region->box.origin[a] == 0 && region->box.extent[a] == job->axes[a].extent;
    }
    return whole;
}

/* That what is left lies in the job's space. */
static slc_status check_region(const slc_checkpoint *checkpoint, const slc_job *job,
                               const slci_region *region) {
    for (int a = 0; a < job->n_axes && region->box.rank == job->n_axes; a++) {
        const int64_t begin = region->box.origin[a];
        const int64_t extent = region->box.extent[a];
        const slc_axis *axis = &job->axes[a];
        const bool is_inside = begin >= 0 && begin <= axis->extent && extent >= 0 &&
                               extent <= axis->extent - begin && begin % axis->granule == 0 &&
                               (extent % axis->granule == 0 || begin + extent == axis->extent);
        if (!is_inside) {
            return SLC_FAIL(SLC_ERROR_INPUT,
                            "%s: what is left of axis %s is %lld to %lld, which is no part of %lld "
                            "in granules of %lld",
                            checkpoint->path, axis->name, (long long)begin,
                            (long long)(begin + extent), (long long)axis->extent,
                            (long long)axis->granule);
        }
    }
    return region->box.rank == job->n_axes
               ? SLC_OK
               : SLC_FAIL(SLC_ERROR_INPUT, "%s: a part of a space of %d axes, expected %d",
                          checkpoint->path, region->box.rank, job->n_axes);
}

/* That sums under way are those of an operand that has some. */
static slc_status check_partial(const slc_checkpoint *checkpoint, const slc_job *job,
                                const slci_partial *partial) {
    const int o = partial->operand;
    const slc_operand *operand = o < job->n_operands ? &job->operands[o] : NULL;
    slc_layout full;
    const bool has_sums =
        operand != NULL && (operand->access == SLC_ACCESS_OUT ||
                            operand->access == SLC_ACCESS_UPDATE || operand->keeps_state);
    if (!has_sums || operand->rank != partial->box.rank ||
        slc_dtype_bytes(operand->dtype) != partial->element_bytes) {
        return SLC_FAIL(
            SLC_ERROR_INPUT,
            "%s: sums of operand %d in %d dimensions of %lld bytes an element, which job "
            "%s has not",
            checkpoint->path, o, partial->box.rank, (long long)partial->element_bytes, job->name);
    }
    SLC_TRY(slc_job_full_layout(job, o, &full));
    return slci_box_is_within(&partial->box, &full)
               ? SLC_OK
               : SLC_FAIL(SLC_ERROR_INPUT, "%s: sums beyond the end of operand %s",
                          checkpoint->path, operand->name);
}

/* Regions and sums belong to this job, or the state is not this job's. */
static slc_status check_state(const slc_checkpoint *checkpoint, const slc_job *job) {
    for (int64_t r = 0; r < checkpoint->n_regions; r++) {
        SLC_TRY(check_region(checkpoint, job, &checkpoint->region[r]));
    }
    for (int64_t p = 0; p < checkpoint->n_partials; p++) {
        SLC_TRY(check_partial(checkpoint, job, &checkpoint->partial[p]));
    }
    return SLC_OK;
}

/* "No plan" promises the caller that nothing has run, so that another way may be tried. */
static slc_status after_first(int64_t n_run, slc_status status) {
    return n_run > 0 && status == SLC_ERROR_NO_PLAN ? SLC_ERROR_MEMORY : status;
}

/* Progress over what is left, from that of its regions: in millionths, since their plans count tiles of
 * different sizes. */
#define PROGRESS_PARTS 1000000

typedef struct rest_progress {
    const slc_engine_options *engine; /* whom to tell */
    double before, share; /* of all that is left: regions before this one, and this one */
} rest_progress;

static void tell_rest(void *context, int64_t done_tiles, int64_t n_tiles) {
    const rest_progress *self = context;
    const double done = self->before + self->share * (double)done_tiles / (double)n_tiles;
    self->engine->progress(self->engine->progress_context, (int64_t)(done * PROGRESS_PARTS),
                           PROGRESS_PARTS);
}

/* Their number may pass 2^63. */
static double points_of(const slci_region *region, int64_t n_regions) {
    double sum = 0;
    for (int64_t r = 0; r < n_regions; r++) {
        double points = 1;
        for (int a = 0; a < region[r].box.rank; a++) {
            points *= (double)region[r].box.extent[a];
        }
        sum += points;
    }
    return sum;
}

/* What was left of the round; then the job is asked for another, as the engine does after a round. */
static slc_status run_rest(const slc_job *job, const slc_execution *execution, slc_plan *plan,
                           slc_engine_report *sum, bool *again) {
    *again = false;
    slc_checkpoint *checkpoint = execution->checkpoint;
    const double all = fmax(points_of(checkpoint->region, checkpoint->n_regions), 1);
    rest_progress progress = {.engine = &execution->engine};
    slc_execution rest = *execution;
    rest.engine.progress = execution->engine.progress != NULL ? tell_rest : NULL;
    rest.engine.progress_context = &progress;
    for (int64_t r = 0; r < checkpoint->n_regions; r++) {
        const slci_region *region = &checkpoint->region[r];
        progress.before = points_of(checkpoint->region, r) / all;
        progress.share = points_of(region, 1) / all;
        slci_part part = {.checkpoint = checkpoint,
                          .region = *region,
                          .later = region + 1,
                          .n_later = checkpoint->n_regions - r - 1,
                          .round = checkpoint->saved_round,
                          .is_part = true};
        slc_engine_report report;
        rest.request.region = region->box;
        SLC_TRY(after_first(r, run_region(job, &rest, &part, plan, &report)));
        slc_engine_report_add(sum, &report);
    }
    if (job->next_round != NULL) {
        SLC_TRY(job->next_round(job->state, again));
    }
    slci_checkpoint_drop_sums(checkpoint, job);
    return *again || job->finish == NULL ? SLC_OK : job->finish(job->state);
}

/* The stage that an earlier run was in. */
static slc_status resume_stage(const slc_job *job, const slc_execution *execution, slc_plan *plan,
                               slc_engine_report *report) {
    slc_checkpoint *checkpoint = execution->checkpoint;
    slci_part whole = {.checkpoint = checkpoint, .round = checkpoint->saved_round};
    slc_engine_report sum = {0};
    bool again = true;
    SLC_TRY(check_state(checkpoint, job));
    if (checkpoint->n_regions != 1 || !is_whole(job, &checkpoint->region[0])) {
        SLC_TRY(run_rest(job, execution, plan, &sum, &again));
        whole.round++;
    }
    if (again) {
        slc_engine_report rest;
        SLC_TRY(after_first(sum.n_tiles, run_region(job, execution, &whole, plan, &rest)));
        slc_engine_report_add(&sum, &rest);
    }
    *report = sum;
    return SLC_OK;
}

/* The checkpoint's stage: one that is behind the state, the one that it stands in, or a new one. */
static slc_status run_stage(const slc_job *job, const slc_execution *execution, slc_plan *plan,
                            slc_engine_report *report) {
    slc_checkpoint *checkpoint = execution->checkpoint;
    if (checkpoint->stage > checkpoint->saved_stage) {
        slci_part whole = {.checkpoint = checkpoint};
        return run_region(job, execution, &whole, plan, report);
    }
    SLC_TRY(slci_journal_replay(checkpoint, job, execution->engine.bindings));
    if (checkpoint->stage == checkpoint->saved_stage) {
        return resume_stage(job, execution, plan, report);
    }
    SLC_TRY(slc_plan_make(job, &execution->request, plan));
    *report = (slc_engine_report){0};
    return SLC_OK;
}

slc_status slc_execute(const slc_job *job, const slc_execution *execution, slc_plan *plan,
                       slc_engine_report *report) {
    if (execution->checkpoint == NULL) {
        slci_part whole = {.round = 0};
        return run_region(job, execution, &whole, plan, report);
    }
    SLC_TRY(slci_checkpoint_next_stage(execution->checkpoint, job));
    const slc_binding *bindings = execution->engine.bindings;
    slc_status status = slci_journal_attach(execution->checkpoint, job, bindings);
    if (status == SLC_OK) {
        status = run_stage(job, execution, plan, report);
    }
    status = slci_journal_detach(job, bindings, status);
    if (status == SLC_ERROR_NO_PLAN) {
        slci_checkpoint_undo_stage(execution->checkpoint);
    }
    return slc_checkpoint_explain(execution->checkpoint, status);
}
