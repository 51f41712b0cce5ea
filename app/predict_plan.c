/* How a prediction runs. An image lies where the planner finds it best, resident or mapped; where
 * it fits neither, or is told to, it passes by: its components come with their fluxes, and the
 * image is read again for every tile of rows. */
#include <string.h>

#include "app/predict_job.h"
#include "core/print.h"
#include "io/model.h"
#include "io/model_list.h"

/* An interrupt waits for the tiles in flight. */
#define MOST_TILE_SECONDS 2.0

/* Rows that one block of threads computes, and blocks that keep a multiprocessor busy. */
#define CUDA_GRANULES_PER_PROCESSOR 16

static slc_predict_request make_request(const slci_predict_job *job, slc_predict_form form) {
    const slc_predict_result *result = &job->result;
    slc_predict_request request = {.form = form,
                                   .n_rows = result->n_rows,
                                   .n_components = result->n_components,
                                   .n_channels = result->n_channels};
    if (form != SLC_PREDICT_LIST) {
        const slc_model_meta *model = slc_model_get_meta(job->image);
        request.n_planes = model->n_planes;
        request.ny = model->ny;
        request.nx = model->nx;
        request.dtype = model->dtype;
        request.jy_per_unit = model->jy_per_unit;
    }
    return request;
}

static slc_status choose_form(const slci_predict_job *job, slc_predict_form form,
                              slc_predict_setup *setup, slc_job *out) {
    const slc_predict_request request = make_request(job, form);
    SLC_TRY(slc_predict_choose(&request, setup));
    return slc_predict_job_init(setup, job->machine.device->kind, out);
}

static slc_status plan_form(slci_predict_job *job, slc_predict_form form) {
    const slc_device_kind device = job->machine.device->kind;
    SLC_TRY(choose_form(job, form, &job->setup, &job->job));
    job->execution = slci_machine_execution(&job->options->run, &job->machine);
    slc_plan_request *planned = &job->execution.request;
    const double terms_per_s = slc_predict_kernel_get(device)->terms_per_s(&job->machine.limits);
    planned->seconds_per_point = (double)job->result.n_channels / terms_per_s;
    planned->most_tile_seconds = MOST_TILE_SECONDS;
    planned->parallel_units =
        device == SLC_DEVICE_CUDA
            ? (int64_t)job->machine.limits.n_processors * CUDA_GRANULES_PER_PROCESSOR
            : slc_pool_size(job->machine.pool);
    if (planned->sparse == SLC_SPARSE_STREAMED) {
        planned->sparse = SLC_SPARSE_AUTO;
    }
    return slc_plan_make(&job->job, planned, &job->plan);
}

/* ---- what is needed at least ------------------------------------------------------------------ */

/* Without budgets there is no plan, and the planner says what the smallest one takes. */
static slc_status find_way(const slci_predict_job *job, slc_predict_form form,
                           slc_sparse_choice place, slci_way *out) {
    slc_predict_setup setup;
    slc_job described;
    slc_plan plan = {.n_axes = 0};
    SLC_TRY(choose_form(job, form, &setup, &described));
    slc_execution execution = slci_machine_execution(&job->options->run, &job->machine);
    execution.request.device_budget_bytes = 0;
    execution.request.host_budget_bytes = 0;
    execution.request.sparse = place;
    const slc_status status = slc_plan_make(&described, &execution.request, &plan);
    *out = (slci_way){slc_sparse_choice_name(place), plan.smallest_device_bytes,
                      plan.smallest_host_bytes};
    return status == SLC_ERROR_NO_PLAN && plan.smallest_device_bytes > 0 ? SLC_OK : status;
}

/* Of what is held, that which the run can do without. */
static int64_t spare_bytes(const slci_predict_job *job) {
    const slc_uvh5_copy_info *info = slc_uvh5_copy_get_info(job->output);
    const int64_t kept_bytes = job->list == NULL ? 0
                                                 : slc_model_list_survey(job->list)->bytes -
                                                       slc_model_list_least_bytes(job->image);
    return info->staging_bytes - info->least_staging_bytes + kept_bytes;
}

void slci_predict_stage_least(slci_predict_job *job) {
    const slc_uvh5_copy_info *info = slc_uvh5_copy_get_info(job->output);
    slci_machine_let_go(&job->machine, info->staging_bytes - info->least_staging_bytes);
    slc_uvh5_copy_stage_least(job->output);
}

static void hold_less(slci_predict_job *job) {
    slci_predict_stage_least(job);
    if (job->list != NULL) {
        slc_model_list_forget(job->list);
    }
}

/* Over the places that an image may have. */
static slc_status find_least(slci_predict_job *job, slc_sparse_choice asked) {
    static const slc_sparse_choice places[] = {SLC_SPARSE_RESIDENT, SLC_SPARSE_MAPPED,
                                               SLC_SPARSE_STREAMED};
    slci_way ways[3];
    int n = 0;
    if (job->image == NULL) {
        SLC_TRY(find_way(job, SLC_PREDICT_LIST, SLC_SPARSE_AUTO, &ways[n++]));
    }
    for (int p = 0; p < 3 && job->image != NULL; p++) {
        if (asked == SLC_SPARSE_AUTO || asked == places[p]) {
            const bool is_streamed = places[p] == SLC_SPARSE_STREAMED;
            SLC_TRY(find_way(job, is_streamed ? SLC_PREDICT_STREAMED : SLC_PREDICT_IMAGE, places[p],
                             &ways[n++]));
        }
    }
    job->least = slci_machine_least(&job->machine, job->image != NULL ? "image" : NULL, ways, n,
                                    spare_bytes(job));
    return SLC_OK;
}

/* ---- the plan --------------------------------------------------------------------------------- */

/* Takes the plan that was made, or says which budget would do. */
static slc_status take_or_refuse(slci_predict_job *job, slc_status status) {
    if (status == SLC_ERROR_NO_PLAN) {
        return slci_machine_refuse(&job->machine, &job->least);
    }
    SLC_TRY(status);
    slci_predict_take_plan(job);
    slc_predict_record(&job->setup, job->machine.device->kind, &job->result.numerics);
    return SLC_OK;
}

static slc_status plan_streamed(slci_predict_job *job, const char *why) {
    job->result.sparse = SLC_SPARSE_STREAMED;
    (void)slci_print(job->result.why, sizeof job->result.why, "streamed: %s", why);
    return plan_form(job, SLC_PREDICT_STREAMED);
}

slc_status slci_predict_plan_streamed(slci_predict_job *job, const char *why) {
    SLC_TRY(find_least(job, SLC_SPARSE_STREAMED));
    return take_or_refuse(job, plan_streamed(job, why));
}

/* One plan, of those that are allowed the first that fits. */
static slc_status plan_once(slci_predict_job *job) {
    const slc_sparse_choice asked = job->options->run.sparse;
    if (job->image == NULL) {
        return plan_form(job, SLC_PREDICT_LIST);
    }
    if (asked == SLC_SPARSE_STREAMED) {
        return plan_streamed(job, "as was asked for");
    }
    const slc_status status = plan_form(job, SLC_PREDICT_IMAGE);
    if (status == SLC_ERROR_NO_PLAN && asked == SLC_SPARSE_AUTO) {
        return plan_streamed(job, "neither resident nor mapped does it fit");
    }
    SLC_TRY(status);
    const slc_plan_operand *image = &job->plan.operand[SLC_PREDICT_PIXELS];
    job->result.sparse =
        image->placement == SLC_PLACE_MAPPED ? SLC_SPARSE_MAPPED : SLC_SPARSE_RESIDENT;
    (void)slci_print(job->result.why, sizeof job->result.why, "%s", image->why);
    return SLC_OK;
}

slc_status slci_predict_plan(slci_predict_job *job) {
    slc_status status = plan_once(job);
    if (status == SLC_ERROR_NO_PLAN) {
        hold_less(job);
        status = plan_once(job);
    }
    if (status == SLC_OK || status == SLC_ERROR_NO_PLAN) {
        SLC_TRY(find_least(job, job->options->run.sparse));
    }
    return take_or_refuse(job, status);
}

void slci_predict_take_plan(slci_predict_job *job) {
    slc_predict_result *result = &job->result;
    result->plan = job->plan;
    result->plan.smallest_device_bytes = job->least.device_bytes;
    if (result->n_rows == 0) {
        slci_plan_nothing(&result->plan);
    }
    result->memory.host_planned_bytes =
        slci_machine_held_bytes(&job->machine) + result->plan.host_peak_bytes;
    result->memory.smallest_ram_bytes = job->least.ram_bytes;
}
