/* The course of a run:
 *
 *     open machine, data and list ─ shapes ─ check output ─ check every index ─ plan ─ run ─ commit
 *
 * What can be refused is refused as far to the left as possible. The engine sees the list and the
 * result with the list's dimensions as one (core/flatten.h); the data is seen as it is. */
#include "app/gather.h"

#include <stdlib.h>
#include <string.h>

#include "app/gather_job.h"
#include "app/run_stats.h"
#include "core/clock.h"
#include "io/h5_files.h"

/* ---- shapes ----------------------------------------------------------------------------------- */

/* The list's own dimensions: all of them, or all but the last. */
static slc_status check_index(slci_gather_job *job) {
    const slc_layout *index = &job->result.index;
    const slc_layout *data = &job->result.data;
    const char *name = job->index->name;
    if (slc_h5_array_is_enum(job->index)) {
        return SLC_FAIL(
            SLC_ERROR_INPUT,
            "%s: indices must be integers, found an enum, as booleans are stored; a mask "
            "is no list of indices: store where it is true (numpy.flatnonzero, "
            "numpy.argwhere for coordinates)",
            name);
    }
    if (!slc_dtype_is_integer(index->dtype)) {
        return SLC_FAIL(SLC_ERROR_INPUT, "%s: indices must be integers, found %s", name,
                        slc_dtype_name(index->dtype));
    }
    job->list_rank = index->rank;
    if (!job->options->is_coordinates) {
        return SLC_OK;
    }
    if (index->rank < 1 || index->shape[index->rank - 1] != data->rank) {
        return SLC_FAIL(SLC_ERROR_INPUT,
                        "%s: the last dimension of coordinates must have %d elements, one for each "
                        "dimension of %s; found %lld",
                        name, data->rank, job->data->name,
                        index->rank < 1 ? 0LL : (long long)index->shape[index->rank - 1]);
    }
    job->list_rank = index->rank - 1;
    return SLC_OK;
}

static slc_status choose_axis(slci_gather_job *job) {
    const int rank = job->result.data.rank;
    const int axis = job->options->axis;
    if (rank < 1) {
        return SLC_FAIL(SLC_ERROR_INPUT, "%s: is a single value; nothing in it can be indexed",
                        job->data->name);
    }
    if (!job->options->is_coordinates && (axis < -rank || axis >= rank)) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "--axis %d: %s has %d dimensions, expected %d to %d",
                        axis, job->data->name, rank, -rank, rank - 1);
    }
    job->result.axis = job->options->is_coordinates ? SLC_GATHER_COORDINATES
                       : axis < 0                   ? axis + rank
                                                    : axis;
    return SLC_OK;
}

/* The result's shape: the list's dimensions in place of the one that is indexed, or of all. */
static slc_status shape_output(slci_gather_job *job) {
    const slc_layout *data = &job->result.data;
    const int axis = job->result.axis;
    const int n_before = axis < 0 ? 0 : axis;
    const int n_after = axis < 0 ? 0 : data->rank - axis - 1;
    const int n_list = job->list_rank;
    const int rank = n_before + n_list + n_after;
    int64_t shape[SLC_MAX_RANK];
    if (rank > SLC_MAX_RANK) {
        return SLC_FAIL(SLC_ERROR_UNSUPPORTED,
                        "the result would have %d dimensions, at most %d are supported", rank,
                        SLC_MAX_RANK);
    }
    for (int d = 0; d < n_before; d++) {
        shape[d] = data->shape[d];
    }
    for (int d = 0; d < n_list; d++) {
        shape[n_before + d] = job->result.index.shape[d];
    }
    for (int d = 0; d < n_after; d++) {
        shape[n_before + n_list + d] = data->shape[axis + 1 + d];
    }
    return slc_layout_dense(data->dtype, rank, shape, &job->result.out);
}

static slc_status open_inputs(slci_gather_job *job) {
    const slc_gather_options *o = job->options;
    const slc_array_name name = {o->data_path, o->data, o->data_slice};
    const slc_array_name index_name = {.path = o->index_path, .dataset = o->index};
    SLC_TRY(slci_array_open(&name, o->run.log, &job->array));
    job->data = job->array.source;
    slci_array_hold(&job->array, &job->machine);
    SLC_TRY(slci_array_open(&index_name, o->run.log, &job->index_array));
    job->index = job->index_array.source;
    slci_array_hold(&job->index_array, &job->machine);
    job->result.data = job->data->fields[0];
    job->result.index = job->index->fields[0];
    job->data_share = slci_array_stored_share(&job->array);
    job->index_share = slci_array_stored_share(&job->index_array);
    SLC_TRY(choose_axis(job));
    SLC_TRY(check_index(job));
    SLC_TRY(shape_output(job));
    const slc_flat_dims dims = {.first = 0, .n = job->list_rank};
    SLC_TRY(slc_source_flatten(job->index, &dims, &job->list));
    job->result.n_index = job->list->fields[0].shape[0];
    return SLC_OK;
}

/* All that can be said of the output before the run, and that it is not the list. The data is the
 * output's template, which the output's own check looks at. */
static slc_status check_output(const slci_gather_job *job) {
    const slc_gather_options *o = job->options;
    const slc_h5_reading list = {.path = o->index_path, .names = &o->index, .n_names = 1};
    SLC_TRY(slc_h5_array_check(&job->output.file));
    return slc_h5_files_exclude(&list, &o->out_path, 1);
}

static slc_status settle_output(slci_gather_job *job) {
    const slc_gather_options *o = job->options;
    job->output.file =
        (slc_h5_array_output){.path = o->out_path,
                              .dataset = o->out,
                              .layout = job->result.out,
                              .template_path = o->data_path,
                              .template_dataset = o->data,
                              .keeps_type = true,
                              .log = o->run.log,
                              .overwrite = slci_run_may_replace(&o->run, o->out_path)};
    const int n_before = job->result.axis < 0 ? 0 : job->result.axis;
    const int n_after = job->result.axis < 0 ? 0 : job->result.data.rank - n_before - 1;
    for (int d = 0; d < n_before; d++) {
        job->output.file.origin[d] = slci_array_origin(&job->array, d);
    }
    for (int d = 0; d < n_after; d++) {
        job->output.file.origin[n_before + job->list_rank + d] =
            slci_array_origin(&job->array, n_before + 1 + d);
    }
    SLC_TRY(slci_array_output_settle(&job->output, &o->form));
    slci_array_output_hold(&job->output, &job->machine);
    job->result.stored = slci_array_output_stored(&job->output, NULL);
    return o->run.dry_run ? SLC_OK : check_output(job);
}

/* ---- running ---------------------------------------------------------------------------------- */

static void report_progress(void *context, int64_t done_tiles, int64_t n_tiles) {
    const slci_gather_job *job = context;
    const slc_run_options *run = &job->options->run;
    const double total = (double)slc_layout_count(&job->result.out);
    run->progress(run->progress_context, "gathering", "elements",
                  total * (double)done_tiles / (double)n_tiles, total);
}

static slc_status run_way(slci_gather_job *job, int way, slc_sink *out) {
    slci_gather_candidate *candidate = &job->candidate[way];
    SLC_TRY(slci_array_set_cache(&job->array, &job->machine, candidate->cache_bytes));
    const slc_binding bindings[SLC_GATHER_N_OPERANDS] = {
        [SLC_GATHER_DATA] = {.source = job->data},
        [SLC_GATHER_INDEX] = {.source = job->list},
        [SLC_GATHER_OUT] = {.sink = out},
    };
    slc_engine_options *engine = &candidate->execution.engine;
    engine->bindings = bindings;
    engine->progress = job->options->run.progress != NULL ? report_progress : NULL;
    engine->progress_context = job;
    return slc_execute(&candidate->job, &candidate->execution, &candidate->plan,
                       &job->result.report);
}

/* Whether another way may be tried after this one's failure: there is less memory than its plan
 * needs, or memory that kernels can reach was refused (a limit on locked memory). In both cases no
 * tile has run; but a checkpoint has counted a refused run as begun. */
static bool may_try_another(const slci_gather_job *job, int way, slc_status status) {
    const bool is_mapped = job->result.ways[way].sparse == SLC_SPARSE_MAPPED;
    return status == SLC_ERROR_NO_PLAN ||
           (status == SLC_ERROR_MEMORY && is_mapped && job->machine.checkpoint == NULL);
}

/* The fastest way; where that turns out to be impossible, the next one. */
static slc_status run_ways(slci_gather_job *job, slc_sink *out) {
    for (;;) {
        const int way = slci_gather_fastest(job);
        const slc_status status = run_way(job, way, out);
        slci_gather_take(job, way);
        if (!may_try_another(job, way, status)) {
            return status;
        }
        job->result.ways[way].is_possible = false;
        if (slci_gather_fastest(job) < 0) {
            return status;
        }
        slc_log_note(job->options->run.log, "the data cannot be %s (%s): trying another way",
                     slc_sparse_choice_name(job->result.ways[way].sparse), slc_status_message());
    }
}

static slc_status write_result(slci_gather_job *job) {
    const slc_layout *out = &job->result.out;
    const slc_flat_dims dims = {.first = job->result.axis < 0 ? 0 : job->result.axis,
                                .n = job->list_rank};
    slc_sink *file = NULL;
    slc_sink *flat = NULL;
    slc_status status = SLC_OK;
    if (slci_machine_is_complete(&job->machine, &job->options->out_path, 1,
                                 job->options->run.log)) {
        return SLC_OK;
    }
    const slci_array_between none = {.bytes = 0};
    SLC_TRY(slci_array_output_check_room(&job->output, &job->options->run, none));
    SLC_TRY(slc_h5_array_create(&job->output.file, &file));
    SLC_TRY_GOTO(done, slc_sink_flatten(file, &dims, &flat));
    const int64_t run_ns = slc_clock_ns();
    if (slc_layout_count(out) > 0) {
        SLC_TRY_GOTO(done, run_ways(job, flat));
        slc_trace_add_phase(job->options->run.trace, "gathering", run_ns);
    }
    const int64_t begin_ns = slc_clock_ns();
    SLC_TRY_GOTO(done, slci_machine_commit(&job->machine, flat));
    job->result.write_seconds = 1e-9 * (double)(slc_clock_ns() - begin_ns);
    job->result.stored = slci_array_output_stored(&job->output, file);
    slc_trace_add_phase(job->options->run.trace, "closing the file", begin_ns);
done:
    slc_sink_destroy(flat);
    slc_sink_destroy(file);
    return status;
}

/* What readers have done, and what the ledger saw. */
static void add_totals(slci_gather_job *job) {
    slc_gather_result *result = &job->result;
    const slc_source *const sources[] = {job->array.file, job->index};
    for (int s = 0; s < 2; s++) {
        result->chunks_read += sources[s]->counters.chunks_read;
        result->chunks_decoded += sources[s]->counters.chunks_decoded;
        result->bytes_stored += sources[s]->counters.bytes_read;
    }
    slci_stats_take_reader(job->array.file, &result->reader);
    slci_machine_take_stock(&job->machine, &result->memory);
    (void)memcpy(result->device_name, job->machine.limits.name, sizeof result->device_name);
}

static slc_status plan(void *job) {
    return slci_gather_plan(job);
}

static slc_status run_job(slci_gather_job *job) {
    const slc_gather_options *o = job->options;
    const int64_t open_ns = slc_clock_ns();
    SLC_TRY(slci_machine_open(&o->run, &job->machine));
    slc_trace_add_phase(o->run.trace, "opening the device", open_ns);
    SLC_TRY(open_inputs(job));
    SLC_TRY(settle_output(job));
    const int64_t begin_ns = slc_clock_ns();
    SLC_TRY(slci_gather_check(job));
    job->result.check_seconds = 1e-9 * (double)(slc_clock_ns() - begin_ns);
    slc_trace_add_phase(o->run.trace, "checking the list", begin_ns);
    if (!o->run.dry_run) {
        SLC_TRY(slci_gather_begin_checkpoint(job));
    }
    const int64_t plan_ns = slc_clock_ns();
    SLC_TRY(slci_array_output_plan(&job->output, &job->machine, plan, job));
    job->result.stored = slci_array_output_stored(&job->output, NULL);
    slc_trace_add_phase(o->run.trace, "planning", plan_ns);
    slci_gather_take(job, slci_gather_fastest(job));
    if (!o->run.dry_run) {
        SLC_TRY(write_result(job));
    }
    add_totals(job);
    return SLC_OK;
}

static void close_job(slci_gather_job *job) {
    slc_source_destroy(job->list);
    slci_array_close(&job->index_array);
    slci_array_close(&job->array);
    free(job->map);
    slci_machine_close(&job->machine);
}

slc_status slc_gather_run(const slc_gather_options *options, slc_gather_result *result) {
    const int64_t begin_ns = slc_clock_ns();
    slci_gather_job job = {.options = options};
    const slc_status ran = run_job(&job);
    job.result.total_seconds = 1e-9 * (double)(slc_clock_ns() - begin_ns);
    const slc_status status = slci_machine_finish(&job.machine, &options->run, &job.result, ran);
    if (status == SLC_OK) {
        *result = job.result;
    }
    close_job(&job);
    return status;
}
