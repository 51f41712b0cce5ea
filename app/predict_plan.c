/* How a prediction runs. An image lies where the planner finds it best, resident or mapped; where
 * it fits neither, or is told to, it passes by: its components come with their fluxes, and the
 * image is read again for every tile of rows. */
#include <string.h>

#include "app/predict_job.h"
#include "core/print.h"
#include "io/model.h"

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

static slc_status plan_form(slci_predict_job *job, slc_predict_form form) {
    const slc_device_kind device = job->machine.device->kind;
    const slc_predict_request request = make_request(job, form);
    SLC_TRY(slc_predict_choose(&request, &job->setup));
    SLC_TRY(slc_predict_job_init(&job->setup, device, &job->job));
    job->execution = slci_machine_execution(&job->options->run, &job->machine);
    slc_plan_request *planned = &job->execution.request;
    const double terms_per_s = slc_predict_kernel_get(device)->terms_per_s(&job->machine.limits);
    planned->seconds_per_point = (double)request.n_channels / terms_per_s;
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

/* In words of the command line. */
static slc_status refuse(const slci_predict_job *job) {
    const slci_least least = {job->plan.smallest_device_bytes,
                              slci_machine_ram_for(&job->machine, job->plan.smallest_host_bytes),
                              ""};
    return slci_machine_refuse(&job->machine, &least);
}

/* Takes the plan that was made, or says which budget would do. */
static slc_status take_or_refuse(slci_predict_job *job, slc_status status) {
    if (status == SLC_ERROR_NO_PLAN) {
        return refuse(job);
    }
    SLC_TRY(status);
    slci_predict_take_plan(job);
    slc_predict_record(&job->setup, job->machine.device->kind, &job->result.numerics);
    return SLC_OK;
}

slc_status slci_predict_plan_streamed(slci_predict_job *job, const char *why) {
    SLC_TRY(take_or_refuse(job, plan_form(job, SLC_PREDICT_STREAMED)));
    job->result.sparse = SLC_SPARSE_STREAMED;
    (void)slci_print(job->result.why, sizeof job->result.why, "streamed: %s", why);
    return SLC_OK;
}

slc_status slci_predict_plan(slci_predict_job *job) {
    const slc_sparse_choice asked = job->options->run.sparse;
    if (job->image == NULL) {
        return take_or_refuse(job, plan_form(job, SLC_PREDICT_LIST));
    }
    if (asked == SLC_SPARSE_STREAMED) {
        return slci_predict_plan_streamed(job, "as was asked for");
    }
    const slc_status status = plan_form(job, SLC_PREDICT_IMAGE);
    if (status == SLC_ERROR_NO_PLAN && asked == SLC_SPARSE_AUTO) {
        return slci_predict_plan_streamed(job, "neither resident nor mapped does it fit");
    }
    SLC_TRY(take_or_refuse(job, status));
    const slc_plan_operand *image = &job->plan.operand[SLC_PREDICT_PIXELS];
    job->result.sparse =
        image->placement == SLC_PLACE_MAPPED ? SLC_SPARSE_MAPPED : SLC_SPARSE_RESIDENT;
    (void)slci_print(job->result.why, sizeof job->result.why, "%s", image->why);
    return SLC_OK;
}

void slci_predict_take_plan(slci_predict_job *job) {
    slc_predict_result *result = &job->result;
    result->plan = job->plan;
    if (result->n_rows == 0) {
        slci_plan_nothing(&result->plan);
    }
    result->memory.host_planned_bytes =
        slci_machine_held_bytes(&job->machine) + result->plan.host_peak_bytes;
    result->memory.smallest_ram_bytes =
        slci_machine_ram_for(&job->machine, job->plan.smallest_host_bytes);
}
