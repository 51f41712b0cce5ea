/* What is done with the data: each way is planned as it would run, and the one that is expected to
 * be done first is taken. Equal times go to the simpler way, which stands first. */
#include <math.h>
#include <string.h>

#include "app/gather_job.h"
#include "core/checked.h"
#include "core/print.h"
#include "core/units.h"

static const slc_sparse_choice order[SLC_GATHER_WAYS] = {SLC_SPARSE_RESIDENT, SLC_SPARSE_STREAMED,
                                                         SLC_SPARSE_MAPPED};

static slc_gather_form form_of(slc_sparse_choice sparse) {
    return sparse == SLC_SPARSE_STREAMED ? SLC_GATHER_STREAMED : SLC_GATHER_WHOLE;
}

static slc_gather_request make_request(const slci_gather_job *job, slc_gather_form form) {
    const slc_gather_result *result = &job->result;
    slc_gather_request request = {.dtype = result->data.dtype,
                                  .rank = result->data.rank,
                                  .index_dtype = result->index.dtype,
                                  .n_index = result->n_index,
                                  .axis = result->axis,
                                  .form = form,
                                  .map = job->map};
    memcpy(request.shape, result->data.shape, sizeof request.shape);
    return request;
}

/* Natural units of what a job's axes run over: the list's chunks, and the data's where it streams. */
static void set_units(const slci_gather_job *job, const slci_gather_candidate *candidate,
                      slc_plan_request *request) {
    const slc_gather_setup *setup = &candidate->setup;
    const int64_t list_unit = slc_source_next_unit(job->list, 0, 0);
    request->unit[0] = list_unit > 1 && list_unit <= job->result.n_index ? list_unit : 0;
    for (int d = 0; d < setup->request.rank; d++) {
        const int axis = setup->axis_of[d];
        if (axis >= 0 && setup->request.form == SLC_GATHER_STREAMED) {
            const int64_t unit = slc_source_next_unit(job->data, d, 0);
            request->unit[axis] = unit > 1 ? unit : 0;
        }
    }
}

/* The same of the result's chunks, where they are encoded. The list's dimensions are one to the job,
 * in which its first dimension's chunks are the units. */
static void set_out_units(const slci_gather_job *job, const slci_gather_candidate *candidate,
                          slc_plan_request *request) {
    const slc_h5_array_output *file = &job->output.file;
    const int *axes = candidate->job.operands[SLC_GATHER_OUT].axes;
    const int first = job->result.axis < 0 ? 0 : job->result.axis;
    request->rates.write_bytes_per_s = slci_array_output_rate(&job->output, &job->machine);
    if (!slc_h5_array_is_filtered(file)) {
        return;
    }
    for (int d = 0, flat = 0; d < file->layout.rank; flat++) {
        const int n = flat == first ? job->list_rank : 1; /* dimensions that are this one */
        int64_t unit = n > 0 ? file->chunk[d] : 1;
        for (int k = 1; k < n; k++) {
            unit *= file->layout.shape[d + k];
        }
        if (axes[flat] >= 0 && unit > 1) {
            request->out_unit[axes[flat]] = unit;
        }
        d += n;
    }
}

/* Seconds to see that one index does not point into the tile of data at hand, by one thread of the
 * host (measured: 2 to 4e-9 on a Xeon with its memory shared) and by a card (8 bytes at an H200's
 * 4e12 a second). */
#define HOST_LOOK_SECONDS 3e-9
#define CUDA_LOOK_SECONDS 2e-12

/* Where data streams, each index is found in one of its tiles, and looked at for every other one. */
static slc_status plan_streamed(const slci_gather_job *job, slci_gather_candidate *candidate) {
    slc_plan_request *request = &candidate->execution.request;
    const double look_seconds = job->machine.device->kind == SLC_DEVICE_CUDA
                                    ? CUDA_LOOK_SECONDS
                                    : HOST_LOOK_SECONDS / (double)slc_pool_size(job->machine.pool);
    const double step_seconds = request->rates.step_seconds;
    const double touches = (double)job->result.n_index * slc_gather_touches(&candidate->setup);
    double points = 1;
    for (int a = 0; a < candidate->job.n_axes; a++) {
        points *= (double)slc_max_i64(candidate->job.axes[a].extent, 1);
    }
    request->seconds_per_point = touches / request->rates.device_touches_per_s / points;
    /* The planner knows one cost for all tiles, so it is told that of a tile of the whole list, and
     * then that of the tile that it took. */
    request->rates.step_seconds = step_seconds + look_seconds * (double)job->result.n_index;
    SLC_TRY(slc_plan_make(&candidate->job, request, &candidate->plan));
    const int64_t n_tile = slc_min_i64(candidate->plan.tile[0], job->result.n_index);
    request->rates.step_seconds = step_seconds + look_seconds * (double)n_tile;
    return slc_plan_make(&candidate->job, request, &candidate->plan);
}

/* Tiles are so small that they split chunks: perhaps it pays to keep these decoded meanwhile. */
static slc_status plan_with_cache(const slci_gather_job *job, slci_gather_candidate *candidate) {
    const int dim = job->result.axis > 0 ? job->result.axis : 0;
    const int64_t bytes = slci_array_row_bytes(&job->array, dim);
    slc_plan_request request = candidate->execution.request;
    slc_plan plan;
    if (bytes == 0 || bytes > request.host_budget_bytes - candidate->plan.smallest_host_bytes) {
        return SLC_OK;
    }
    request.host_budget_bytes -= bytes;
    request.unit_is_kept = true;
    SLC_TRY(slc_plan_make(&candidate->job, &request, &plan));
    if (plan.seconds_total < candidate->plan.seconds_total) {
        candidate->execution.request = request;
        candidate->plan = plan;
        candidate->cache_bytes = bytes;
    }
    return SLC_OK;
}

/* One way, and of mapped data one of two: in the order of the list, or in that of the data. */
static slc_status plan_candidate(const slci_gather_job *job, slc_sparse_choice sparse,
                                 bool is_ordered, slci_gather_candidate *candidate) {
    slc_gather_request request = make_request(job, form_of(sparse));
    request.is_ordered = is_ordered;
    SLC_TRY(slc_gather_choose(&request, &candidate->setup));
    SLC_TRY(slc_gather_job_init(&candidate->setup, job->machine.device->kind, &candidate->job));
    candidate->execution = slci_machine_execution(&job->options->run, &job->machine);
    slc_plan_request *planned = &candidate->execution.request;
    planned->sparse = sparse == SLC_SPARSE_STREAMED ? SLC_SPARSE_AUTO : sparse;
    planned->stored_share[SLC_GATHER_DATA] = job->data_share;
    planned->stored_share[SLC_GATHER_INDEX] = job->index_share;
    set_units(job, candidate, planned);
    set_out_units(job, candidate, planned);
    if (is_ordered) {
        planned->seconds_per_tile = slc_gather_sweep_seconds(&candidate->setup);
        planned->rates.mapped_touches_per_s = SLC_GATHER_ORDERED_TOUCHES_PER_S;
    }
    SLC_TRY(sparse == SLC_SPARSE_STREAMED
                ? plan_streamed(job, candidate)
                : slc_plan_make(&candidate->job, planned, &candidate->plan));
    return candidate->plan.unit_reads > 1 ? plan_with_cache(job, candidate) : SLC_OK;
}

static slc_status plan_way(slci_gather_job *job, int way) {
    const slc_sparse_choice sparse = job->result.ways[way].sparse;
    slci_gather_candidate *candidate = &job->candidate[way];
    SLC_TRY(plan_candidate(job, sparse, false, candidate));
    if (sparse != SLC_SPARSE_MAPPED || job->machine.device->kind != SLC_DEVICE_CUDA) {
        return SLC_OK;
    }
    /* It takes more device memory: where that is not there, the other one stands. */
    slci_gather_candidate ordered = {.cache_bytes = 0};
    const slc_status status = plan_candidate(job, sparse, true, &ordered);
    if (status == SLC_OK && ordered.plan.seconds_total < candidate->plan.seconds_total) {
        const slc_plan listed = candidate->plan;
        *candidate = ordered;
        candidate->job.state = &candidate->setup;
        candidate->plan.smallest_device_bytes = listed.smallest_device_bytes;
        candidate->plan.smallest_host_bytes = listed.smallest_host_bytes;
    }
    return status == SLC_ERROR_NO_PLAN ? SLC_OK : status;
}

/* The smallest budgets over all ways. Each way's own numbers do not depend on the budgets, since it
 * leaves the planner no choice of a place. */
static slci_least find_least(const slci_gather_job *job) {
    const int64_t spare_bytes = job->array.cache_bytes + slci_array_output_spare(&job->output);
    slci_way ways[SLC_GATHER_WAYS];
    int n = 0;
    for (int w = 0; w < SLC_GATHER_WAYS; w++) {
        const slc_gather_way *way = &job->result.ways[w];
        if (way->is_considered) {
            ways[n++] = (slci_way){slc_sparse_choice_name(way->sparse), way->smallest_device_bytes,
                                   way->smallest_host_bytes};
        }
    }
    return slci_machine_least(&job->machine, "data", ways, n, spare_bytes);
}

static slc_status refuse(const slci_gather_job *job) {
    const slci_least least = find_least(job);
    return slci_machine_refuse(&job->machine, &least);
}

slc_status slci_gather_plan(slci_gather_job *job) {
    const slc_sparse_choice wanted = job->options->run.sparse;
    int n_considered = 0;
    for (int w = 0; w < SLC_GATHER_WAYS; w++) {
        slc_gather_way *way = &job->result.ways[w];
        way->sparse = order[w];
        way->is_considered = (wanted == SLC_SPARSE_AUTO || wanted == order[w]) &&
                             (!job->is_form_fixed || job->form == form_of(order[w]));
        n_considered += way->is_considered;
    }
    if (n_considered == 0) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "--sparse %s: the checkpoint was begun with the data %s, and tiles of both "
                        "differ; leave --sparse out, or begin anew",
                        slc_sparse_choice_name(wanted),
                        job->form == SLC_GATHER_STREAMED ? "streamed" : "resident or mapped");
    }
    for (int w = 0; w < SLC_GATHER_WAYS; w++) {
        slc_gather_way *way = &job->result.ways[w];
        if (!way->is_considered) {
            continue;
        }
        const slc_status status = plan_way(job, w);
        if (status != SLC_OK && status != SLC_ERROR_NO_PLAN) {
            return status;
        }
        const slc_plan *plan = &job->candidate[w].plan;
        way->is_possible = status == SLC_OK;
        way->seconds = plan->seconds_total;
        way->smallest_device_bytes = plan->smallest_device_bytes;
        way->smallest_host_bytes = plan->smallest_host_bytes;
    }
    return slci_gather_fastest(job) >= 0 ? SLC_OK : refuse(job);
}

int slci_gather_fastest(const slci_gather_job *job) {
    int fastest = -1;
    for (int w = 0; w < SLC_GATHER_WAYS; w++) {
        const slc_gather_way *way = &job->result.ways[w];
        if (way->is_considered && way->is_possible &&
            (fastest < 0 || way->seconds < job->result.ways[fastest].seconds)) {
            fastest = w;
        }
    }
    return fastest;
}

/* "expected to be the fastest: resident 1.2 s, streamed 4 s, mapped does not fit". */
static void explain(slc_sparse_choice wanted, slc_gather_result *result) {
    char seconds[SLCI_TEXT_BYTES];
    size_t used = 0;
    for (int w = 0; w < SLC_GATHER_WAYS; w++) {
        const slc_gather_way *way = &result->ways[w];
        if (!way->is_considered && wanted != SLC_SPARSE_AUTO) {
            (void)slci_print(result->why, sizeof result->why, "as --sparse asks");
            return;
        }
        slci_format_seconds(way->seconds, seconds);
        used += (size_t)slci_print(result->why + used, sizeof result->why - used, "%s%s %s",
                                   w > 0 ? ", " : "expected to be the fastest: ",
                                   slc_sparse_choice_name(way->sparse),
                                   !way->is_considered ? "is not what was begun"
                                   : way->is_possible  ? seconds
                                                       : "does not fit");
    }
}

/* How often the data is moved whole: its tiles that are moved against those that differ; rounded up,
 * since tiles without an index are not. */
static int64_t count_passes(const slci_gather_candidate *candidate) {
    int64_t n_different = 1;
    for (int d = 0; d < candidate->setup.request.rank; d++) {
        const int axis = candidate->job.operands[SLC_GATHER_DATA].axes[d];
        n_different *= axis >= 0 ? candidate->plan.n_tiles_of[axis] : 1;
    }
    return n_different > 0
               ? slc_ceil_div(candidate->plan.operand[SLC_GATHER_DATA].n_moves, n_different)
               : 0;
}

void slci_gather_take(slci_gather_job *job, int taken) {
    slc_gather_result *result = &job->result;
    const slci_gather_candidate *candidate = &job->candidate[taken];
    const slci_least least = find_least(job);
    const int64_t used_bytes = slci_machine_held_bytes(&job->machine) - job->array.cache_bytes;
    result->sparse = result->ways[taken].sparse;
    result->plan = candidate->plan;
    result->plan.n_passes = count_passes(candidate);
    result->touches = (double)result->n_index * slc_gather_touches(&candidate->setup);
    result->tile_share = candidate->plan.n_tiles > 0
                             ? (double)candidate->plan.n_visited / (double)candidate->plan.n_tiles
                             : 1;
    result->rates = candidate->execution.request.rates;
    int64_t own_bytes = candidate->cache_bytes + candidate->plan.host_peak_bytes;
    if (slc_layout_count(&result->out) == 0) {
        slci_plan_nothing(&result->plan);
        own_bytes = 0;
    }
    result->plan.smallest_device_bytes = least.device_bytes;
    result->memory.host_planned_bytes = used_bytes + slc_max_i64(own_bytes, job->check_bytes);
    result->memory.smallest_ram_bytes = least.ram_bytes;
    for (int a = 0; a < candidate->job.n_axes; a++) {
        (void)slci_print(result->axis_names[a], sizeof result->axis_names[a], "%s",
                         candidate->job.axes[a].name);
    }
    explain(job->options->run.sparse, result);
}
