/* The course of a run:
 *
 *     open machine and data ─ plan ─ first pass ─ results of it ─ further passes ─ their results
 *
 * All passes are the same job with other steps (kernels/stats_kernel.h): the same operands, so the same
 * plan and the same budgets, which are therefore refused before anything is read or not at all. The
 * first pass gives everything but the lower digits of the keys, and but the histogram where its range
 * is only known afterwards. */
#include "app/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/disk_room.h"
#include "app/run_stats.h"
#include "app/stats_job.h"
#include "core/checked.h"
#include "core/clock.h"
#include "core/flatten.h"
#include "core/print.h"
#include "core/version.h"
#include "io/h5_array.h"

/* ---- what is asked for -------------------------------------------------------------------------- */

static slc_status check_options(const slc_stats_options *options) {
    if (options->n_quantiles < 0 || options->n_quantiles > SLC_STATS_MOST_QUANTILES) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "%d quantiles: at most %d are found in one run",
                        options->n_quantiles, SLC_STATS_MOST_QUANTILES);
    }
    for (int q = 0; q < options->n_quantiles; q++) {
        if (!(options->quantiles[q] >= 0 && options->quantiles[q] <= 1)) {
            return SLC_FAIL(SLC_ERROR_ARGUMENT, "quantile %g: expected 0 to 1",
                            options->quantiles[q]);
        }
    }
    if (options->n_bins < 0 || options->n_bins > SLC_STATS_MOST_BINS) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "a histogram of %lld bins: expected 1 to %d",
                        (long long)options->n_bins, SLC_STATS_MOST_BINS);
    }
    if (options->n_bins > 0 && options->has_range &&
        !(isfinite(options->low) && isfinite(options->high) && options->low < options->high)) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "a histogram from %g to %g: expected two finite numbers, the second one "
                        "larger",
                        options->low, options->high);
    }
    return SLC_OK;
}

/* ---- opening ------------------------------------------------------------------------------------ */

/* Data without chunks is read in runs, as it lies in the file, and so is a single value. */
static slc_status open_data(slci_stats_job *job) {
    SLC_TRY(slci_array_open(&job->options->in, job->options->run.log, &job->array));
    slci_array_hold(&job->array, &job->machine);
    job->source = job->array.source;
    const slc_layout *data = &job->source->fields[0];
    job->result.data = *data;
    job->result.part = job->options->part;
    bool has_units = false;
    for (int d = 0; d < data->rank; d++) {
        has_units = has_units || slci_array_unit(&job->array, d) > 1;
    }
    if (!has_units && data->rank != 1 && (data->rank == 0 || slc_layout_count(data) > 0)) {
        const slc_flat_dims all = {.first = 0, .n = data->rank};
        SLC_TRY(slc_source_flatten(job->source, &all, &job->flat));
        job->source = job->flat;
    }
    return SLC_OK;
}

/* Where the results of a pass go; the plan has left room for them. */
static slc_status make_tables(slci_stats_job *job) {
    const slc_stats_request *request = &job->setup.request;
    slci_stats_tables *tables = &job->tables;
    const int64_t n_words = slci_stats_count_words(request);
    const int64_t n_bytes = n_words * (int64_t)sizeof(uint64_t);
    SLC_TRY(slc_budget_reserve(job->machine.budget, SLC_SPACE_HOST, n_bytes, "results of a pass"));
    tables->n_bytes = n_bytes;
    uint64_t *words = calloc((size_t)n_words, sizeof *words);
    if (words == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for the results of a pass, %lld bytes",
                        (long long)n_bytes);
    }
    tables->memory = words;
    tables->sums = words;
    tables->digits = tables->sums + request->n_parts * (int64_t)SLC_STATS_WORDS;
    tables->bins = tables->digits + request->n_groups * slc_stats_n_digits(request);
    tables->edges = (double *)(tables->bins + (request->n_bins > 0 ? request->n_bins + 2 : 0));
    return SLC_OK;
}

/* ---- passes ------------------------------------------------------------------------------------- */

static void report_progress(void *context, int64_t done_tiles, int64_t n_tiles) {
    const slci_stats_job *job = context;
    const slc_run_options *run = &job->options->run;
    const double total = (double)job->result.n;
    run->progress(run->progress_context,
                  job->setup.step.has_moments ? "summing" : "searching by rank", "elements",
                  total * (double)done_tiles / (double)n_tiles, total);
}

/* A sink into a table, or a source out of one, where the job has that operand. */
static slc_status bind_table(const slci_stats_job *job, int operand, void *table,
                             slc_binding *bindings) {
    if (operand < 0) {
        return SLC_OK;
    }
    const slc_operand *described = &job->job.operands[operand];
    slc_layout layout;
    SLC_TRY(slc_layout_dense(described->dtype, described->rank, described->fixed_extent, &layout));
    return described->access == SLC_ACCESS_IN
               ? slc_source_create_memory(described->name, &layout, table,
                                          &bindings[operand].source)
               : slc_sink_create_memory(described->name, &layout, table, &bindings[operand].sink);
}

/* Runs the step that job->setup has. */
static slc_status run_pass(slci_stats_job *job) {
    const slc_stats_setup *setup = &job->setup;
    const slci_stats_tables *tables = &job->tables;
    slc_binding bindings[SLC_MAX_OPERANDS] = {{NULL, 0, NULL}};
    slc_engine_report report;
    slc_plan plan;
    slc_status status = SLC_OK;
    SLC_TRY_GOTO(done, bind_table(job, setup->edges, tables->edges, bindings));
    SLC_TRY_GOTO(done, bind_table(job, setup->sums, tables->sums, bindings));
    SLC_TRY_GOTO(done, bind_table(job, setup->digits, tables->digits, bindings));
    SLC_TRY_GOTO(done, bind_table(job, setup->bins, tables->bins, bindings));
    bindings[setup->data].source = job->source;
    job->execution.engine.bindings = bindings;
    job->execution.engine.progress = job->options->run.progress != NULL ? report_progress : NULL;
    job->execution.engine.progress_context = job;
    SLC_TRY_GOTO(done, slc_execute(&job->job, &job->execution, &plan, &report));
    if (job->result.n_passes++ == 0) {
        /* What is least was found over all widths of digits, and this is a plan for one of them. */
        plan.smallest_device_bytes = job->result.plan.smallest_device_bytes;
        plan.smallest_host_bytes = job->result.plan.smallest_host_bytes;
        job->result.plan = plan;
        job->result.report = report;
    } else {
        slc_engine_report_add(&job->result.report, &report);
    }
done:
    bindings[setup->data].source = NULL;
    for (int o = 0; o < SLC_MAX_OPERANDS; o++) {
        slc_source_destroy(bindings[o].source);
        slc_sink_destroy(bindings[o].sink);
    }
    return status;
}

static void take_bins(slci_stats_job *job) {
    const slc_stats_options *options = job->options;
    const slci_stats_tables *tables = &job->tables;
    for (int64_t b = 0; b < options->n_bins + 2; b++) {
        options->bins[b] = (int64_t)tables->bins[b];
    }
    memcpy(options->edges, tables->edges, (size_t)(options->n_bins + 1) * sizeof(double));
    job->result.has_bins = true;
}

/* The histogram's range, from the finite values; whether there is one. A single value lies in the
 * middle of a range of 1. */
static bool find_range(slci_stats_job *job) {
    const slc_stats_request *request = &job->setup.request;
    const uint64_t *word = job->tables.sums + (request->n_parts - 1) * (int64_t)SLC_STATS_WORDS;
    const slc_stats_part part = request->parts[request->n_parts - 1];
    if (word[SLC_STATS_PLACE_LOWEST] == 0) {
        return false;
    }
    const double low = slc_stats_key_value(request->dtype, part, word[SLC_STATS_LOWEST]);
    const double high = slc_stats_key_value(request->dtype, part, word[SLC_STATS_HIGHEST]);
    const double more = low < high ? 0 : 0.5;
    slci_stats_set_edges(low - more, high + more, request->n_bins, job->tables.edges);
    return true;
}

static slc_status run_first_pass(slci_stats_job *job) {
    const slc_stats_options *options = job->options;
    slc_stats_step *step = &job->setup.step;
    const int64_t any_rank = 0;
    const int bits = slc_stats_key_bits(job->setup.request.dtype,
                                        job->setup.request.parts[job->setup.request.n_parts - 1]);
    slci_select_init(&job->select, bits, job->digit_bits, &any_rank,
                     job->setup.request.n_groups > 0 ? 1 : 0);
    (void)slci_select_next(&job->select, job->setup.request.n_groups, step);
    step->has_moments = true;
    step->has_bins = options->n_bins > 0 && options->has_range;
    if (step->has_bins) {
        slci_stats_set_edges(options->low, options->high, options->n_bins, job->tables.edges);
    }
    SLC_TRY(run_pass(job));
    slci_stats_read_sums(job);
    slci_stats_begin_search(job);
    SLC_TRY(slci_select_take(&job->select, step, job->tables.digits));
    slci_select_narrow(&job->select, job->lowest, job->highest);
    if (step->has_bins) {
        take_bins(job);
    }
    job->needs_bins = options->n_bins > 0 && !options->has_range && find_range(job);
    return SLC_OK;
}

static slc_status run_passes(slci_stats_job *job) {
    slc_stats_step *step = &job->setup.step;
    SLC_TRY(run_first_pass(job));
    while (slci_select_next(&job->select, job->setup.request.n_groups, step) || job->needs_bins) {
        step->has_moments = false;
        step->has_bins = job->needs_bins;
        SLC_TRY(run_pass(job));
        SLC_TRY(slci_select_take(&job->select, step, job->tables.digits));
        slci_select_narrow(&job->select, job->lowest, job->highest);
        if (job->needs_bins) {
            take_bins(job);
            job->needs_bins = false;
        }
    }
    slci_stats_read_quantiles(job);
    return SLC_OK;
}

/* An empty array: there is nothing to read, and nothing but the sum has a value. */
static void count_nothing(slci_stats_job *job) {
    const slc_stats_options *options = job->options;
    job->result.argmin = job->result.argmax = -1;
    slci_stats_read_sums(job);
    slci_stats_begin_search(job);
    slci_stats_read_quantiles(job);
    if (options->n_bins > 0 && options->has_range) {
        slci_stats_set_edges(options->low, options->high, options->n_bins, job->tables.edges);
        take_bins(job);
    }
}

/* ---- the run ------------------------------------------------------------------------------------ */

/* Stages of a run whose digits are shorter are others, and more; so the state keeps how long they are,
 * and a resumed run keeps to it. */
static unsigned char keep(const void *context) {
    const slci_stats_job *job = context;
    return (unsigned char)job->digit_bits;
}

static slc_status restore(void *context, int64_t n_bytes, unsigned char width) {
    (void)n_bytes;
    slci_stats_job *job = context;
    if (width == SLCI_STATS_LONG_DIGIT || width == SLCI_STATS_SHORT_DIGIT) {
        job->is_width_fixed = true;
        job->fixed_width = width;
        return SLC_OK;
    }
    return SLC_FAIL(SLC_ERROR_INPUT,
                    "the checkpoint was begun with digits of %d bits, expected %d or %d", width,
                    SLCI_STATS_LONG_DIGIT, SLCI_STATS_SHORT_DIGIT);
}

/* What decides the results. Budgets and the device do not. */
static slc_status begin_checkpoint(slci_stats_job *job) {
    const slc_stats_options *options = job->options;
    if (job->machine.checkpoint == NULL) {
        return SLC_OK;
    }
    slc_fingerprint print = {0};
    slc_fingerprint_add_text(&print, "command", "stats");
    slc_fingerprint_add_text(&print, "version", SLC_VERSION);
    slc_fingerprint_add_text(&print, "data", job->array.source->identity);
    slc_fingerprint_add_i64(&print, "part", options->part);
    slc_fingerprint_add_i64(&print, "median", options->no_median ? 0 : 1);
    for (int q = 0; q < options->n_quantiles; q++) {
        slc_fingerprint_add_f64(&print, "quantile", options->quantiles[q]);
    }
    slc_fingerprint_add_i64(&print, "bins", options->n_bins);
    if (options->n_bins > 0 && options->has_range) {
        slc_fingerprint_add_f64(&print, "low", options->low);
        slc_fingerprint_add_f64(&print, "high", options->high);
    }
    job->kept = (slci_kept_byte){.job = job, .save = keep, .load = restore};
    const slc_checkpoint_client client = slci_kept_byte_client(&job->kept);
    return slci_machine_begin_checkpoint(&job->machine, &print, &client, &job->result.is_resumed);
}

/* Before anything is known of the data: values that share their highest digits need fewer passes, many
 * quantiles more. */
static int expected_passes(const slci_stats_job *job) {
    const slc_stats_request *request = &job->setup.request;
    const slc_stats_part part = request->parts[request->n_parts - 1];
    const int bits = slc_stats_key_bits(request->dtype, part);
    const int n_digits = request->n_groups > 0 ? (int)slc_ceil_div(bits, job->digit_bits) : 1;
    const bool wants_bins = job->options->n_bins > 0 && !job->options->has_range;
    return wants_bins && n_digits < 2 ? 2 : n_digits;
}

/* That the checkpoint fits on the disk: its journal keeps the results of every pass. */
static slc_status check_room(const slci_stats_job *job) {
    slci_disk_need need = {.state_bytes = slci_state_bytes(&job->job, &job->result.plan)};
    if (!slc_checked_mul(job->tables.n_bytes, expected_passes(job), &need.journal_bytes)) {
        need.journal_bytes = INT64_MAX;
    }
    return slci_check_room(&job->options->run, &need);
}

static slc_status run_job(slci_stats_job *job) {
    const slc_stats_options *options = job->options;
    slc_stats_result *result = &job->result;
    SLC_TRY(check_options(options));
    const int64_t open_ns = slc_clock_ns();
    SLC_TRY(slci_machine_open(&options->run, &job->machine));
    slc_trace_add_phase(options->run.trace, "opening the device", open_ns);
    SLC_TRY(open_data(job));
    result->n = slc_layout_count(&result->data);
    if (!options->run.dry_run && result->n > 0) {
        SLC_TRY(begin_checkpoint(job));
    }
    const int64_t plan_ns = slc_clock_ns();
    SLC_TRY(slci_stats_plan(job));
    slc_trace_add_phase(options->run.trace, "planning", plan_ns);
    if (options->run.dry_run) {
        result->n_passes = result->n > 0 ? expected_passes(job) : 0;
    } else {
        SLC_TRY(make_tables(job));
        SLC_TRY(slci_array_set_cache(&job->array, &job->machine, job->cache_bytes));
        SLC_TRY(check_room(job));
    }
    if (!options->run.dry_run && result->n == 0) {
        count_nothing(job);
    } else if (!options->run.dry_run) {
        const int64_t run_ns = slc_clock_ns();
        SLC_TRY(run_passes(job));
        slc_trace_add_phase(options->run.trace, "reading the data", run_ns);
    }
    result->chunks_read = job->array.file->counters.chunks_read;
    result->chunks_decoded = job->array.file->counters.chunks_decoded;
    result->bytes_stored = job->array.file->counters.bytes_read;
    slci_stats_take_reader(job->array.file, &result->reader);
    slci_machine_take_stock(&job->machine, &result->memory);
    (void)memcpy(result->device_name, job->machine.limits.name, sizeof result->device_name);
    return SLC_OK;
}

static void close_job(slci_stats_job *job) {
    slc_source_destroy(job->flat);
    slci_array_close(&job->array);
    free(job->tables.memory);
    if (job->machine.budget != NULL) {
        slc_budget_release(job->machine.budget, SLC_SPACE_HOST, job->tables.n_bytes);
    }
    slci_machine_close(&job->machine);
}

slc_status slc_stats_run(const slc_stats_options *options, slc_stats_result *result) {
    const int64_t begin_ns = slc_clock_ns();
    slci_stats_job *job = calloc(1, sizeof *job);
    if (job == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for a job of statistics");
    }
    job->options = options;
    const slc_status ran = run_job(job);
    job->result.total_seconds = 1e-9 * (double)(slc_clock_ns() - begin_ns);
    job->machine.delivers_result = true;
    const slc_status status = slci_machine_finish(&job->machine, &options->run, &job->result, ran);
    if (status == SLC_OK) {
        *result = job->result;
    }
    close_job(job);
    free(job);
    return status;
}
