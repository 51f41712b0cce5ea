/* The course of a run:
 *
 *     open machine, output, input ─ model: places, components ─ plan ─ copy ─ run ─ commit
 *
 * What can be refused is refused as far to the left as possible. */
#include "app/predict.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "app/disk_room.h"
#include "app/predict_job.h"
#include "core/clock.h"
#include "core/hash.h"
#include "core/version.h"
#include "io/model.h"
#include "io/model_list.h"

/* Rows of chunks of the output that wait to be full take no more than this part of --ram, where fewer
 * of them do as well. */
#define STAGING_SHARE 8

/* ---- opening ------------------------------------------------------------------------------- */

/* That the output is not the model. The set is the output's template, which its own check looks at. */
static slc_status check_output(const slc_predict_options *o) {
    const slc_h5_reading model = slc_model_reading(o->model_path);
    return slc_h5_files_exclude(&model, &o->out_path, 1);
}

static slc_status open_output(slci_predict_job *job) {
    const slc_predict_options *o = job->options;
    if (!o->run.dry_run) {
        SLC_TRY(check_output(o));
    }
    const slc_uvh5_copy_options options = {.in_path = o->in_path,
                                           .out_path = o->run.dry_run ? NULL : o->out_path,
                                           .overwrite = slci_run_may_replace(&o->run, o->out_path),
                                           .log = o->run.log};
    SLC_TRY(slc_uvh5_copy_open(&options, &job->output));
    const slc_uvh5_copy_info *info = slc_uvh5_copy_get_info(job->output);
    memcpy(job->result.hands, info->hands, sizeof job->result.hands);
    memcpy(job->result.type_text, info->type_text, sizeof job->result.type_text);
    if (info->units[0] != '\0' && strcasecmp(info->units, "Jy") != 0) {
        slc_log_warning(o->run.log,
                        "%s: vis_units is '%s' and stays that, but the model's visibilities are in "
                        "Jy",
                        o->in_path, info->units);
    }
    if (info->staging_bytes > o->run.ram_bytes / STAGING_SHARE) {
        slc_uvh5_copy_stage_least(job->output);
    }
    (void)slci_machine_hold(&job->machine, info->staging_bytes, "rows of the output");
    return SLC_OK;
}

static int64_t uvw_reader_bytes(const slc_source *vis, int n_threads) {
    return slc_vis_reader_bytes(vis, false, n_threads);
}

/* Weights and flags are not looked at; all that is read are header and uvw. */
static slc_status open_input(slci_predict_job *job) {
    const slc_predict_options *o = job->options;
    const slc_vis_options options = {.use_autos = true,
                                     .use_unit_weights = true,
                                     .cache_bytes = 1, /* no chunks are read that could be kept */
                                     .log = o->run.log};
    SLC_TRY(slc_vis_open(&o->in_path, 1, &options, &job->vis));
    job->meta = slc_vis_get_meta(job->vis);
    const slc_layout *out = &job->output->layout;
    if (out->shape[0] != job->meta->n_rows || out->shape[1] != job->meta->n_channels) {
        return SLC_FAIL(SLC_ERROR_INPUT,
                        "%s: visdata has %lld rows of %lld channels, the header %lld of %lld",
                        o->in_path, (long long)out->shape[0], (long long)out->shape[1],
                        (long long)job->meta->n_rows, (long long)job->meta->n_channels);
    }
    if (!job->meta->is_w_projected) {
        slc_log_warning(o->run.log,
                        "%s: the data follow the zenith; the sky is held where it stands in the "
                        "middle of the set",
                        o->in_path);
    }
    job->result.n_rows = job->meta->n_rows;
    job->result.n_channels = job->meta->n_channels;
    slci_machine_hold_readers(&job->machine, job->vis, uvw_reader_bytes, "readers of uvw");
    return SLC_OK;
}

/* ---- running ------------------------------------------------------------------------------- */

/* A list is told by what it says, since any part of it may be changed and the file's name stay. */
static int64_t hash_list(const slci_predict_job *job) {
    const int64_t n = job->result.n_components;
    const int64_t value_bytes = (int64_t)sizeof(double);
    slci_hash hash;
    slci_hash_begin(&hash, 0);
    slci_hash_add(&hash, job->places, n * 3 * value_bytes);
    slci_hash_add(&hash, job->shapes, n * SLC_PREDICT_SHAPE * value_bytes);
    slci_hash_add(&hash, job->channels,
                  job->result.n_channels * SLC_PREDICT_CHANNEL_COLUMNS * value_bytes);
    return (int64_t)slci_hash_end(&hash);
}

/* What decides the result; where the image lies does not. */
static slc_status begin_checkpoint(slci_predict_job *job) {
    if (job->machine.checkpoint == NULL) {
        return SLC_OK;
    }
    slc_fingerprint print = {0};
    slc_fingerprint_add_text(&print, "command", "predict");
    slc_fingerprint_add_text(&print, "version", SLC_VERSION);
    slc_fingerprint_add_text(&print, "input", job->vis->identity);
    if (job->image != NULL) {
        slc_fingerprint_add_text(&print, "model", job->image->identity);
    } else {
        slc_fingerprint_add_i64(&print, "hash of the list", hash_list(job));
    }
    slc_fingerprint_add_i64(&print, "components", job->result.n_components);
    slc_fingerprint_add_f64(&print, "flux", job->result.flux_jy);
    slc_fingerprint_add_f64(&print, "absolute flux", job->result.abs_flux_jy);
    slc_fingerprint_add_numerics(&print, &job->result.numerics);
    return slci_machine_begin_checkpoint(&job->machine, &print, NULL, &job->result.is_resumed);
}

static void report_progress(void *context, int64_t done_tiles, int64_t n_tiles) {
    const slci_predict_job *job = context;
    const slc_run_options *run = &job->options->run;
    const double total = (double)job->result.n_rows;
    run->progress(run->progress_context, "predicting", "rows",
                  total * (double)done_tiles / (double)n_tiles, total);
}

static void bind_operands(slci_predict_job *job, slc_binding *bindings) {
    const slc_predict_form form = job->setup.request.form;
    bindings[SLC_PREDICT_UVW] = (slc_binding){.source = job->vis, .field = SLC_VIS_UVW};
    bindings[SLC_PREDICT_CHANNELS] = (slc_binding){.source = job->channels_source};
    bindings[SLC_PREDICT_VIS] = (slc_binding){.sink = job->output};
    if (form == SLC_PREDICT_LIST) {
        bindings[SLC_PREDICT_PLACE] = (slc_binding){.source = job->places_source};
        bindings[SLC_PREDICT_SHAPES] = (slc_binding){.source = job->shapes_source};
        return;
    }
    bindings[SLC_PREDICT_PLACE] = (slc_binding){.source = job->list, .field = SLC_MODEL_PLACE};
    if (form == SLC_PREDICT_STREAMED) {
        bindings[SLC_PREDICT_FLUX] = (slc_binding){.source = job->list, .field = SLC_MODEL_FLUX};
        return;
    }
    bindings[SLC_PREDICT_PIXEL] = (slc_binding){.source = job->list, .field = SLC_MODEL_PIXEL};
    bindings[SLC_PREDICT_PIXELS] = (slc_binding){.source = job->image};
}

static slc_status execute_plan(slci_predict_job *job) {
    slc_binding bindings[SLC_MAX_OPERANDS] = {{0}};
    slc_engine_options *engine = &job->execution.engine;
    bind_operands(job, bindings);
    engine->bindings = bindings;
    engine->progress = job->options->run.progress != NULL ? report_progress : NULL;
    engine->progress_context = job;
    const slc_status status =
        slc_execute(&job->job, &job->execution, &job->plan, &job->result.report);
    if (status == SLC_OK) {
        slci_predict_take_plan(job);
    }
    return status;
}

/* Where memory that kernels can reach is refused (a limit on locked memory), or the device has less
 * left than any plan needs that keeps the image, no tile has run yet and the image may pass by. A
 * checkpoint has counted a refused run as begun. */
static slc_status execute(slci_predict_job *job) {
    const slc_status status = execute_plan(job);
    const bool was_refused =
        status == SLC_ERROR_NO_PLAN ||
        (status == SLC_ERROR_MEMORY && job->result.sparse == SLC_SPARSE_MAPPED);
    if (!was_refused || job->image == NULL || job->result.sparse == SLC_SPARSE_STREAMED ||
        job->options->run.sparse != SLC_SPARSE_AUTO || job->machine.checkpoint != NULL) {
        return status;
    }
    slc_log_note(job->options->run.log,
                 "%s: the image cannot be %s (%s): it passes by for every tile of rows",
                 job->options->model_path, slc_sparse_choice_name(job->result.sparse),
                 slc_status_message());
    SLC_TRY(slci_predict_plan_streamed(job, "memory for it was refused"));
    return execute_plan(job);
}

static slc_status check_room(const slci_predict_job *job) {
    const slc_outfile_need output = {job->options->out_path,
                                     slc_uvh5_copy_get_info(job->output)->output_bytes};
    const slci_disk_need need = {.outputs = &output,
                                 .n_outputs = 1,
                                 .journal_bytes = slc_layout_bytes(&job->output->layout),
                                 .state_bytes = slci_state_bytes(&job->job, &job->plan)};
    return slci_check_room(&job->options->run, &need);
}

static slc_status write_result(slci_predict_job *job) {
    slc_trace *trace = job->options->run.trace;
    int64_t begin_ns = slc_clock_ns();
    if (slci_machine_is_complete(&job->machine, &job->options->out_path, 1,
                                 job->options->run.log)) {
        return SLC_OK;
    }
    SLC_TRY(check_room(job));
    SLC_TRY(slc_uvh5_copy_begin(job->output));
    job->result.copy_seconds = 1e-9 * (double)(slc_clock_ns() - begin_ns);
    slc_trace_add_phase(trace, "copying the header", begin_ns);
    if (job->result.n_rows > 0) {
        const int64_t run_ns = slc_clock_ns();
        SLC_TRY(execute(job));
        slc_trace_add_phase(trace, "predicting", run_ns);
    }
    begin_ns = slc_clock_ns();
    SLC_TRY(slci_machine_commit(&job->machine, job->output));
    job->result.write_seconds = 1e-9 * (double)(slc_clock_ns() - begin_ns);
    slc_trace_add_phase(trace, "closing the file", begin_ns);
    return SLC_OK;
}

static void add_totals(slci_predict_job *job) {
    slc_predict_result *result = &job->result;
    slci_machine_take_stock(&job->machine, &result->memory);
    (void)memcpy(result->device_name, job->machine.limits.name, sizeof result->device_name);
}

static slc_status run_job(slci_predict_job *job) {
    slc_trace *trace = job->options->run.trace;
    const int64_t begin_ns = slc_clock_ns();
    SLC_TRY(slci_machine_open(&job->options->run, &job->machine));
    slc_trace_add_phase(trace, "opening the device", begin_ns);
    const int64_t model_ns = slc_clock_ns();
    SLC_TRY(open_output(job));
    SLC_TRY(open_input(job));
    SLC_TRY(slci_predict_open_model(job));
    slc_trace_add_phase(trace, "opening the files", model_ns);
    const int64_t plan_ns = slc_clock_ns();
    SLC_TRY(slci_predict_plan(job));
    slc_trace_add_phase(trace, "planning", plan_ns);
    if (!job->options->run.dry_run) {
        SLC_TRY(begin_checkpoint(job));
        SLC_TRY(write_result(job));
    }
    add_totals(job);
    return SLC_OK;
}

static void close_job(slci_predict_job *job) {
    slc_source_destroy(job->shapes_source);
    slc_source_destroy(job->places_source);
    slc_source_destroy(job->channels_source);
    slc_source_destroy(job->list);
    slc_source_destroy(job->image);
    slc_source_destroy(job->vis);
    slc_sink_destroy(job->output);
    free(job->shapes);
    free(job->places);
    free(job->channels);
    slci_machine_close(&job->machine);
}

slc_status slc_predict_run(const slc_predict_options *options, slc_predict_result *result) {
    const int64_t begin_ns = slc_clock_ns();
    slci_predict_job job = {.options = options};
    const slc_status ran = run_job(&job);
    job.result.total_seconds = 1e-9 * (double)(slc_clock_ns() - begin_ns);
    const slc_status status = slci_machine_finish(&job.machine, &options->run, &job.result, ran);
    if (status == SLC_OK) {
        *result = job.result;
    }
    close_job(&job);
    return status;
}
