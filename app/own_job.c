/* What the program's own jobs do around slc_execute, for a job that somebody else describes: the tile
 * function is chosen by the device that was opened, natural units come from the sources. */
#include "app/own_job.h"

#include <string.h>

#include "app/disk_room.h"
#include "app/machine.h"
#include "core/checked.h"

static const char *const device_names[SLC_DEVICE_KIND_COUNT] = {
    [SLC_DEVICE_HOST] = "the host", [SLC_DEVICE_CUDA] = "CUDA"};

/* One call of slc_own_job_run. */
typedef struct own_run {
    const slc_own_job *own;
    slc_run_options options;
    slci_machine machine;
    slc_job job;
    slc_execution execution;
    slc_own_job_result result;
} own_run;

static slc_status open_run(own_run *self) {
    const slc_own_job *own = self->own;
    if (self->options.checkpoint_path != NULL && own->fingerprint == NULL) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "job %s: a checkpoint needs a fingerprint of what decides the result",
                        own->job.name);
    }
    if (self->options.device == SLC_CHOOSE_AUTO && own->tile_on[SLC_DEVICE_CUDA] == NULL) {
        self->options.device = SLC_CHOOSE_HOST;
    }
    SLC_TRY(slci_machine_open(&self->options, &self->machine));
    const slc_device_kind kind = self->machine.device->kind;
    self->job = own->job;
    self->job.tile = own->tile_on[kind];
    return self->job.tile != NULL ? SLC_OK
                                  : SLC_FAIL(SLC_ERROR_ARGUMENT, "job %s: no tile function for %s",
                                             own->job.name, device_names[kind]);
}

/* Where the sources' chunks end along the axes that the inputs' dimensions follow. */
static void set_units(const own_run *self, slc_plan_request *request) {
    for (int o = 0; o < self->job.n_operands; o++) {
        const slc_operand *operand = &self->job.operands[o];
        slc_source *source = self->own->bindings[o].source;
        if (operand->access != SLC_ACCESS_IN || operand->is_sparse || source == NULL) {
            continue;
        }
        for (int d = 0; d < slc_min_i64(operand->rank, source->shared_rank); d++) {
            const int axis = operand->axes[d];
            const int64_t unit = slc_source_next_unit(source, d, 0);
            if (axis >= 0 && operand->per_step[d] <= 1 && unit > request->unit[axis] && unit > 1) {
                request->unit[axis] = unit;
            }
        }
    }
}

static void report_progress(void *context, int64_t done_tiles, int64_t n_tiles) {
    const own_run *self = context;
    self->options.progress(self->options.progress_context, "running", "tiles", (double)done_tiles,
                           (double)n_tiles);
}

static void prepare(own_run *self) {
    slc_engine_options *engine = &self->execution.engine;
    self->execution = slci_machine_execution(&self->options, &self->machine);
    self->execution.request.seconds_per_point = self->own->seconds_per_point;
    set_units(self, &self->execution.request);
    engine->bindings = self->own->bindings;
    engine->progress = self->options.progress != NULL ? report_progress : NULL;
    engine->progress_context = self;
    (void)memcpy(self->result.device_name, self->machine.limits.name,
                 sizeof self->result.device_name);
}

/* What the journal will hold of the sinks. How much of encoded pieces is kept only the run can tell. */
static int64_t journal_bytes(const own_run *self) {
    int64_t sum = 0;
    for (int o = 0; o < self->job.n_operands; o++) {
        const slc_sink *sink = self->own->bindings[o].sink;
        if (sink != NULL && !slc_sink_has_pieces(sink) &&
            !slc_checked_add(sum, slc_layout_bytes(&sink->layout), &sum)) {
            return INT64_MAX;
        }
    }
    return sum;
}

/* That the checkpoint fits on the disk. Where the sinks write only they know, and they have looked. */
static slc_status check_room(own_run *self) {
    SLC_TRY(slc_plan_make(&self->job, &self->execution.request, &self->result.plan));
    const slci_disk_need need = {.journal_bytes = journal_bytes(self),
                                 .state_bytes = slci_state_bytes(&self->job, &self->result.plan)};
    return slci_check_room(&self->options, &need);
}

/* All outputs are whole before the first gets its name. */
static slc_status commit_outputs(const own_run *self) {
    const char *paths[SLC_MAX_OPERANDS] = {NULL};
    for (int o = 0; o < self->job.n_operands; o++) {
        if (self->own->bindings[o].sink != NULL) {
            SLC_TRY(slc_sink_prepare(self->own->bindings[o].sink, &paths[o]));
        }
    }
    SLC_TRY(slc_checkpoint_settle(self->machine.checkpoint, paths, self->job.n_operands));
    for (int o = 0; o < self->job.n_operands; o++) {
        if (self->own->bindings[o].sink != NULL) {
            SLC_TRY(slc_sink_commit(self->own->bindings[o].sink));
        }
    }
    return SLC_OK;
}

static slc_status run(own_run *self) {
    SLC_TRY(open_run(self));
    SLC_TRY(slc_job_check(&self->job));
    prepare(self);
    if (self->options.dry_run) {
        return slc_plan_make(&self->job, &self->execution.request, &self->result.plan);
    }
    slc_checkpoint *checkpoint = self->machine.checkpoint;
    if (checkpoint != NULL) {
        SLC_TRY(slc_checkpoint_begin(checkpoint, self->own->fingerprint, NULL));
        SLC_TRY(check_room(self));
    }
    SLC_TRY(slc_execute(&self->job, &self->execution, &self->result.plan, &self->result.report));
    SLC_TRY(commit_outputs(self));
    return slc_checkpoint_finish(checkpoint);
}

slc_status slc_own_job_run(const slc_own_job *own, const slc_run_options *options,
                           slc_own_job_result *result) {
    own_run self = {.own = own, .options = *options};
    const slc_status status = run(&self);
    if (status == SLC_OK) {
        *result = self.result;
    }
    slci_machine_close(&self.machine);
    return status;
}
