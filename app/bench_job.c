/* One axis of bytes, one input, one output, and a tile function that copies on the device. */
#include "app/bench_job.h"

#include "core/checked.h"
#include "core/source_null.h"
#include "kernels/copy_through.h"

static slc_status copy_tile(void *state, const slc_tile_arguments *arguments) {
    const slci_copy_job *self = state;
    return slci_copy_through_enqueue(arguments->stream, arguments->d_operand[SLCI_COPY_JOB_OUT],
                                     arguments->d_operand[SLCI_COPY_JOB_IN], self->tile_bytes);
}

static slc_status make_job(slci_copy_job *state, slc_job *out) {
    slc_job job = {.name = "copy",
                   .n_axes = 1,
                   .n_operands = SLCI_COPY_JOB_OPERANDS,
                   .state = state,
                   .tile = copy_tile};
    int64_t bytes = 0;
    if (!slc_checked_mul(state->tile_bytes, state->n_tiles, &bytes)) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "%lld tiles of %lld bytes do not fit 64 bits",
                        (long long)state->n_tiles, (long long)state->tile_bytes);
    }
    job.axes[0] = (slc_axis){"byte", bytes, state->tile_bytes, SLC_AXIS_PARALLEL};
    job.operands[SLCI_COPY_JOB_IN] =
        (slc_operand){.name = "in", .dtype = SLC_U8, .access = SLC_ACCESS_IN, .rank = 1};
    job.operands[SLCI_COPY_JOB_OUT] =
        (slc_operand){.name = "out", .dtype = SLC_U8, .access = SLC_ACCESS_OUT, .rank = 1};
    *out = job;
    return SLC_OK;
}

static slc_status bind(const slci_copy_job *state, const slc_layout *layout,
                       slc_binding bindings[SLCI_COPY_JOB_OPERANDS]) {
    if (state->from != NULL) {
        SLC_TRY(slc_source_create_memory("in", layout, state->from,
                                         &bindings[SLCI_COPY_JOB_IN].source));
    } else {
        SLC_TRY(slci_source_create_null("in", layout, &bindings[SLCI_COPY_JOB_IN].source));
    }
    if (state->to != NULL) {
        return slc_sink_create_memory("out", layout, state->to, &bindings[SLCI_COPY_JOB_OUT].sink);
    }
    return slci_sink_create_null("out", layout, &bindings[SLCI_COPY_JOB_OUT].sink);
}

slc_status slci_copy_job_run(const slci_copy_job *job, slci_copy_result *out) {
    slci_copy_job state = *job;
    slc_job copy;
    slc_layout layout;
    slc_binding bindings[SLCI_COPY_JOB_OPERANDS] = {0};
    SLC_TRY(make_job(&state, &copy));
    SLC_TRY(slc_job_full_layout(&copy, SLCI_COPY_JOB_IN, &layout));
    slc_execution execution = slci_machine_execution(job->run, job->machine);
    execution.request.force_tile[0] = job->tile_bytes;
    execution.request.max_slots = job->max_slots;
    execution.request.no_tier = true;
    execution.engine.bindings = bindings;
    slci_copy_result result;
    slc_status status = SLC_OK;
    SLC_TRY_GOTO(done, bind(job, &layout, bindings));
    SLC_TRY_GOTO(done, slc_execute(&copy, &execution, &result.plan, &result.report));
    *out = result;
done:
    slc_source_destroy(bindings[SLCI_COPY_JOB_IN].source);
    slc_sink_destroy(bindings[SLCI_COPY_JOB_OUT].sink);
    return status;
}
