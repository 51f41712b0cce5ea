/* The course of a run:
 *
 *     open machine and data ─ shapes, chunks ─ check output ─ plan ─ one pass, or two ─ commit
 *
 * With two passes the first one turns the array and puts it down, and the second one only brings it
 * into the output's chunks. An array of no dimensions has one here, of one element. */
#include "app/rewrite.h"

#include <string.h>

#include "app/rewrite_job.h"
#include "app/run_stats.h"
#include "core/checked.h"
#include "core/clock.h"
#include "core/flatten.h"

const char *slc_rewrite_store_name(slc_rewrite_store store) {
    static const char *const names[] = {"direct", "memory", "file"};
    return names[store];
}

/* ---- shapes ----------------------------------------------------------------------------------- */

static slc_status choose_order(slci_rewrite_job *job) {
    const slc_rewrite_options *o = job->options;
    const int rank = job->result.in.rank;
    unsigned seen = 0;
    if (o->n_axes != 0 && o->n_axes != rank) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "--axes names %d dimensions, but %s has %d; expected each of 0 to %d once",
                        o->n_axes, job->data.source->name, rank, rank - 1);
    }
    for (int d = 0; d < rank; d++) {
        const int from = o->n_axes == 0 && o->is_reversed ? rank - 1 - d
                         : o->n_axes == 0                 ? d
                         : o->axes[d] < 0                 ? o->axes[d] + rank
                                                          : o->axes[d];
        if (from < 0 || from >= rank || (seen >> from & 1u) != 0) {
            return SLC_FAIL(SLC_ERROR_ARGUMENT,
                            "--axes: %d %s; %s has %d dimensions, expected each of 0 to %d once",
                            o->axes[d],
                            from < 0 || from >= rank ? "is no dimension" : "stands there twice",
                            job->data.source->name, rank, rank - 1);
        }
        seen |= 1u << from;
        job->result.order[d] = from;
    }
    return SLC_OK;
}

static slc_status shape_output(slci_rewrite_job *job) {
    const slc_layout *in = &job->result.in;
    int64_t shape[SLC_MAX_RANK];
    for (int d = 0; d < in->rank; d++) {
        shape[d] = in->shape[job->result.order[d]];
    }
    const slc_dtype dtype = job->data.source->fields[0].dtype;
    return slc_layout_dense(dtype, in->rank, shape, &job->result.out);
}

static void find_input_chunks(slci_rewrite_job *job) {
    int64_t *chunk = job->result.in_chunk;
    bool is_chunked = false;
    for (int d = 0; d < job->result.in.rank; d++) {
        chunk[d] = slci_array_unit(&job->data, d);
        is_chunked = is_chunked || chunk[d] > 0;
    }
    for (int d = 0; d < job->result.in.rank && is_chunked; d++) {
        chunk[d] = slc_max_i64(chunk[d], 1);
    }
}

/* The form that is asked for; else chunks and filter of the input, the chunks in their new order. */
static slc_status settle_output(slci_rewrite_job *job) {
    const slc_rewrite_options *o = job->options;
    job->output.file =
        (slc_h5_array_output){.path = o->out_path,
                              .dataset = o->out,
                              .layout = job->result.out,
                              .template_path = o->in.path,
                              .template_dataset = o->in.dataset,
                              .keeps_type = !o->converts,
                              .is_big_endian = o->converts && o->is_big_endian,
                              .copies_rest = o->copies_rest,
                              .log = o->run.log,
                              .overwrite = slci_run_may_replace(&o->run, o->out_path)};
    for (int d = 0; d < job->result.out.rank; d++) {
        job->output.file.chunk[d] = job->result.in_chunk[job->result.order[d]];
        job->output.file.origin[d] = slci_array_origin(&job->data, job->result.order[d]);
    }
    SLC_TRY(slci_array_output_settle(&job->output, &o->form));
    slci_array_output_hold(&job->output, &job->machine);
    job->result.stored = slci_array_output_stored(&job->output, NULL);
    return o->run.dry_run ? SLC_OK : slc_h5_array_check(&job->output.file);
}

/* As the passes see it all: of one dimension at least. */
static slc_status set_shapes(slci_rewrite_job *job) {
    const slc_flat_dims none = {.first = 0, .n = 0};
    job->in = job->data.source->fields[0];
    job->out = job->result.out;
    memcpy(job->order, job->result.order, sizeof job->order);
    job->source = job->data.source;
    if (job->in.rank > 0) {
        return SLC_OK;
    }
    SLC_TRY(slc_layout_flatten(&job->data.source->fields[0], &none, &job->in));
    SLC_TRY(slc_layout_flatten(&job->result.out, &none, &job->out));
    return slc_source_flatten(job->data.source, &none, &job->source);
}

static slc_status open_input(slci_rewrite_job *job) {
    const slc_rewrite_options *o = job->options;
    const slc_source_view view = {.converts = true, .dtype = o->dtype, .saturates = o->saturates};
    SLC_TRY(slci_array_open_as(&o->in, o->converts ? &view : NULL, o->run.log, &job->data));
    slci_array_hold(&job->data, &job->machine);
    const slc_layout *in = &job->data.source->fields[0];
    SLC_TRY(
        slc_layout_dense(job->data.file->fields[0].dtype, in->rank, in->shape, &job->result.in));
    SLC_TRY(choose_order(job));
    SLC_TRY(shape_output(job));
    find_input_chunks(job);
    SLC_TRY(set_shapes(job));
    return settle_output(job);
}

/* ---- running ---------------------------------------------------------------------------------- */

typedef struct pass_progress {
    const slci_rewrite_job *job;
    int pass;
} pass_progress;

static void report_progress(void *context, int64_t done_tiles, int64_t n_tiles) {
    const pass_progress *self = context;
    const slc_run_options *run = &self->job->options->run;
    const double total = (double)slc_layout_count(&self->job->out);
    const double part = (double)self->pass + (double)done_tiles / (double)n_tiles;
    run->progress(run->progress_context, "rewriting", "elements",
                  total * part / self->job->n_passes, total);
}

static slc_status run_pass(slci_rewrite_job *job, int p, slc_source *from, slc_sink *to) {
    slci_rewrite_pass *pass = &job->pass[p];
    SLC_TRY(slci_array_set_cache(&job->data, &job->machine, pass->cache_bytes));
    pass_progress progress = {job, p};
    const slc_binding bindings[SLC_PERMUTE_N_OPERANDS] = {
        [SLC_PERMUTE_IN] = {.source = from},
        [SLC_PERMUTE_OUT] = {.sink = to},
    };
    slc_engine_options *engine = &pass->execution.engine;
    engine->bindings = bindings;
    engine->progress = job->options->run.progress != NULL ? report_progress : NULL;
    engine->progress_context = &progress;
    const int64_t begin_ns = slc_clock_ns();
    SLC_TRY(slc_execute(&pass->job, &pass->execution, &pass->plan, &job->result.pass[p].report));
    slc_trace_add_phase(job->options->run.trace, p == 0 ? "rewriting" : "rewriting, second pass",
                        begin_ns);
    slc_engine_report_add(&job->result.report, &job->result.pass[p].report);
    return SLC_OK;
}

static slc_status run_passes(slci_rewrite_job *job, slc_sink *out) {
    if (job->n_passes == 1) {
        return run_pass(job, 0, job->source, out);
    }
    slci_rewrite_store store = {0};
    slc_status status = SLC_OK;
    SLC_TRY_GOTO(done, slci_rewrite_store_create(job, &store));
    SLC_TRY_GOTO(done, run_pass(job, 0, job->source, store.sink));
    status = run_pass(job, 1, store.source, out);
done:
    slci_rewrite_store_destroy(job, &store);
    return status;
}

static slc_status write_result(slci_rewrite_job *job) {
    const slc_flat_dims none = {.first = 0, .n = 0};
    slc_sink *file = NULL;
    slc_sink *flat = NULL;
    slc_status status = SLC_OK;
    if (slci_machine_is_complete(&job->machine, &job->options->out_path, 1,
                                 job->options->run.log)) {
        return SLC_OK;
    }
    const slci_array_between between = {.bytes =
                                            job->n_passes > 1 ? slc_layout_bytes(&job->out) : 0,
                                        .is_on_disk = job->store == SLC_REWRITE_FILE};
    SLC_TRY(slci_array_output_check_room(&job->output, &job->options->run, between));
    SLC_TRY(slc_h5_array_create(&job->output.file, &file));
    if (job->result.out.rank == 0) {
        SLC_TRY_GOTO(done, slc_sink_flatten(file, &none, &flat));
    }
    if (slc_layout_count(&job->out) > 0) {
        SLC_TRY_GOTO(done, run_passes(job, flat != NULL ? flat : file));
    }
    const int64_t begin_ns = slc_clock_ns();
    SLC_TRY_GOTO(done, slci_machine_commit(&job->machine, file));
    job->result.write_seconds = 1e-9 * (double)(slc_clock_ns() - begin_ns);
    job->result.stored = slci_array_output_stored(&job->output, file);
    slc_trace_add_phase(job->options->run.trace, "closing the file", begin_ns);
done:
    slc_sink_destroy(flat);
    slc_sink_destroy(file);
    return status;
}

/* Rounding to a float is what was asked for; infinity where there was none may not be. */
static void say_infinite(slci_rewrite_job *job) {
    const bool is_view = job->data.source != job->data.file;
    job->result.n_infinite = is_view ? slc_source_slice_infinite(job->data.source) : 0;
    if (job->result.n_infinite > 0) {
        slc_log_warning(job->options->run.log,
                        "%s: %lld values are too large for %s and became infinite",
                        job->data.source->name, (long long)job->result.n_infinite,
                        slc_dtype_name(job->result.out.dtype));
    }
}

/* A value that does not fit was not asked to: the message says how it would be. */
static slc_status say_saturate(const slci_rewrite_job *job, slc_status status) {
    const slc_source *source = job->data.source;
    const bool is_view = source != NULL && source != job->data.file;
    return status == SLC_ERROR_INPUT && is_view && slc_source_slice_has_refused(source)
               ? SLC_FAIL(status, "%s, or --saturate to take the nearest value",
                          slc_status_message())
               : status;
}

static void add_totals(slci_rewrite_job *job) {
    slc_rewrite_result *result = &job->result;
    const slc_source *file = job->data.file;
    result->chunks_read = file->counters.chunks_read;
    result->chunks_decoded = file->counters.chunks_decoded;
    result->bytes_stored = file->counters.bytes_read;
    slci_stats_take_reader(file, &result->reader);
    slci_machine_take_stock(&job->machine, &result->memory);
    (void)memcpy(result->device_name, job->machine.limits.name, sizeof result->device_name);
}

static slc_status plan(void *job) {
    return slci_rewrite_plan(job);
}

static slc_status run_job(slci_rewrite_job *job) {
    const slc_run_options *run = &job->options->run;
    const int64_t open_ns = slc_clock_ns();
    SLC_TRY(slci_machine_open(run, &job->machine));
    slc_trace_add_phase(run->trace, "opening the device", open_ns);
    SLC_TRY(open_input(job));
    if (!run->dry_run) {
        SLC_TRY(slci_rewrite_begin_checkpoint(job));
    }
    const int64_t plan_ns = slc_clock_ns();
    SLC_TRY(slci_array_output_plan(&job->output, &job->machine, plan, job));
    job->result.stored = slci_array_output_stored(&job->output, NULL);
    slc_trace_add_phase(run->trace, "planning", plan_ns);
    slci_rewrite_take(job);
    if (!run->dry_run) {
        SLC_TRY(write_result(job));
        slci_rewrite_take(job);
        say_infinite(job);
    }
    add_totals(job);
    return SLC_OK;
}

static void close_job(slci_rewrite_job *job) {
    if (job->source != job->data.source) {
        slc_source_destroy(job->source);
    }
    slci_array_close(&job->data);
    slci_machine_close(&job->machine);
}

slc_status slc_rewrite_run(const slc_rewrite_options *options, slc_rewrite_result *result) {
    const int64_t begin_ns = slc_clock_ns();
    slci_rewrite_job job = {.options = options};
    const slc_status ran = say_saturate(&job, run_job(&job));
    job.result.total_seconds = 1e-9 * (double)(slc_clock_ns() - begin_ns);
    const slc_status status = slci_machine_finish(&job.machine, &options->run, &job.result, ran);
    if (status == SLC_OK) {
        *result = job.result;
    }
    close_job(&job);
    return status;
}
