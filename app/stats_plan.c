/* What is asked of the kernels, and the plan for it: digits as long as the budgets allow, and room for
 * decoded chunks that tiles share.
 *
 * A tile that ends within a chunk shares it with its neighbour. So it is where no tile of whole chunks
 * fits the budgets, and where a slice begins within a chunk:
 *
 *     chunks   │         │         │         │         │
 *     tiles           │         │         │         │
 *
 * Where there is room, what was decoded is kept for the neighbours: the chunks of a row along the
 * outermost loop, since all of them come by before the next row does; and of further rows, since tiles
 * are read ahead. */
#include <string.h>

#include "app/stats_job.h"
#include "core/checked.h"
#include "core/print.h"

/* ---- what is asked for -------------------------------------------------------------------------- */

static slc_status choose_parts(const slci_stats_job *job, slc_stats_request *request) {
    const slc_stats_part part = job->options->part;
    if (!slc_dtype_is_complex(request->dtype) && part != SLC_STATS_VALUE) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "%s: is %s, which has no parts to choose from: leave out --part",
                        job->array.source->name, slc_dtype_name(request->dtype));
    }
    request->n_parts = 1;
    request->parts[0] = part;
    if (slc_dtype_is_complex(request->dtype) && part == SLC_STATS_VALUE) {
        request->n_parts = 3;
        request->parts[0] = SLC_STATS_REAL;
        request->parts[1] = SLC_STATS_IMAG;
        request->parts[2] = SLC_STATS_ABS;
    }
    return SLC_OK;
}

/* The job with digits of job->digit_bits. */
static slc_status choose_job(slci_stats_job *job) {
    const slc_stats_options *options = job->options;
    const slc_layout *data = &job->source->fields[0];
    slc_stats_request request = {.dtype = data->dtype, .rank = data->rank};
    for (int d = 0; d < data->rank; d++) {
        request.shape[d] = data->shape[d];
        request.unit[d] = job->flat == NULL ? slci_array_unit(&job->array, d) : 0;
    }
    SLC_TRY(choose_parts(job, &request));
    /* The two values beside a quantile mostly part at the last digits. */
    const int n_ranks = 2 * (options->n_quantiles + (options->no_median ? 0 : 1));
    request.n_groups = (int)slc_min_i64(n_ranks, SLC_STATS_MOST_GROUPS);
    request.digit_bits = job->digit_bits;
    request.n_bins = options->n_bins;
    SLC_TRY(slc_stats_choose(&request, &job->setup));
    /* On the host each thread has its own sums. */
    job->machine.threads_take_vram = job->machine.device->kind == SLC_DEVICE_HOST;
    job->result.n_sums = request.n_parts == 1 ? 1 : 2;
    return slc_stats_job_init(&job->setup, job->machine.device->kind,
                              slc_pool_size(job->machine.pool), &job->job);
}

int64_t slci_stats_count_words(const slc_stats_request *request) {
    const int64_t n_bins = request->n_bins > 0 ? 2 * (request->n_bins + 2) : 0;
    return request->n_parts * (int64_t)SLC_STATS_WORDS +
           request->n_groups * slc_stats_n_digits(request) + n_bins;
}

/* ---- time --------------------------------------------------------------------------------------- */

/* Seconds that one element takes a thread of the host (measured with singles on one core of a Xeon with
 * AVX-512): its range and sums, for each part, and the first step of the search for quantiles. */
#define HOST_SUMS_SECONDS 3.5e-10
#define HOST_SEARCH_SECONDS 6e-10

/* And a card (likewise, on an H200): three times as fast as its bus brings them. What a tile takes
 * besides, for each part, is two kernels and what one thread of them does alone (of the time that tiles
 * of 2 to 6 MiB of complex numbers took). */
#define CUDA_SUMS_SECONDS 2.4e-11
#define CUDA_SEARCH_SECONDS 3e-11
#define CUDA_PART_SECONDS 5e-5

static double element_seconds(const slci_stats_job *job) {
    const slc_stats_request *request = &job->setup.request;
    const bool is_host = job->machine.device->kind == SLC_DEVICE_HOST;
    const double sums = is_host ? HOST_SUMS_SECONDS : CUDA_SUMS_SECONDS;
    const double search = is_host ? HOST_SEARCH_SECONDS : CUDA_SEARCH_SECONDS;
    const double seconds = request->n_parts * sums + (request->n_groups > 0 ? search : 0);
    return is_host ? seconds / (double)slc_pool_size(job->machine.pool) : seconds;
}

static double tile_seconds(const slci_stats_job *job) {
    const bool is_host = job->machine.device->kind == SLC_DEVICE_HOST;
    return is_host ? 0 : job->setup.request.n_parts * CUDA_PART_SECONDS;
}

/* ---- chunks that tiles share -------------------------------------------------------------------- */

/* The dimension along which the outermost loop moves; -1: there is one tile. */
static int outermost_dim(const slci_stats_job *job, const slc_plan *plan) {
    int depth = 0;
    while (depth < plan->n_axes && plan->n_tiles_of[plan->order[depth]] <= 1) {
        depth++;
    }
    int d = depth < plan->n_axes ? job->setup.request.rank - 1 : -1;
    while (d >= 0 && job->setup.axis_of[d] != plan->order[depth]) {
        d--;
    }
    return d;
}

/* Whether tiles of whole units end within units all the same, because the first unit is cut short. */
static bool has_cut_units(const slci_stats_job *job, const slc_plan *plan) {
    const slc_stats_request *request = &job->setup.request;
    bool has_any = false;
    for (int d = 0; d < request->rank; d++) {
        const int axis = job->setup.axis_of[d];
        if (axis >= 0 && request->unit[d] > 1 && plan->n_tiles_of[axis] > 1) {
            const int64_t first = slc_source_next_unit(job->array.source, d, 0);
            has_any = has_any || first % request->unit[d] != 0;
        }
    }
    return has_any;
}

/* Plans again with decoded chunks kept, where tiles share some and there is room. */
static slc_status plan_with_cache(slci_stats_job *job) {
    const slc_plan first = job->result.plan;
    slc_plan_request request = job->execution.request;
    slc_plan plan;
    const bool is_split = first.unit_reads > 1;
    const int d = outermost_dim(job, &first);
    if (d < 0 || (!is_split && !has_cut_units(job, &first))) {
        return SLC_OK;
    }
    const int64_t row_bytes = slci_array_row_bytes(&job->array, d);
    if (row_bytes == 0 || row_bytes > request.host_budget_bytes - first.smallest_host_bytes) {
        return SLC_OK;
    }
    /* Each slot may hold a tile that ends in a row of its own. */
    const int64_t n_fitting = (request.host_budget_bytes - first.host_peak_bytes) / row_bytes;
    const int64_t n_rows = slc_max_i64(slc_min_i64(n_fitting, first.n_slots + 1), 1);
    const int64_t bytes = n_rows * row_bytes;
    request.host_budget_bytes -= bytes;
    request.unit_is_kept = is_split;
    SLC_TRY(slc_plan_make(&job->job, &request, &plan));
    if (outermost_dim(job, &plan) != d) {
        return SLC_OK; /* another row would have to be kept */
    }
    job->execution.request = request;
    job->result.plan = plan;
    job->result.plan.smallest_device_bytes = first.smallest_device_bytes;
    job->result.plan.smallest_host_bytes = first.smallest_host_bytes;
    job->cache_bytes = bytes;
    return SLC_OK;
}

/* ---- the plan ----------------------------------------------------------------------------------- */

static slc_status plan_width(slci_stats_job *job, int digit_bits, slci_least *least) {
    slc_stats_result *result = &job->result;
    job->digit_bits = digit_bits;
    job->cache_bytes = 0;
    SLC_TRY(choose_job(job));
    const int64_t table_bytes =
        slci_stats_count_words(&job->setup.request) * (int64_t)sizeof(uint64_t);
    job->execution = slci_machine_execution(&job->options->run, &job->machine);
    slc_plan_request *request = &job->execution.request;
    request->host_budget_bytes -= table_bytes;
    request->stored_share[job->setup.data] = slci_array_stored_share(&job->array);
    for (int d = 0; d < job->setup.request.rank; d++) {
        const int axis = job->setup.axis_of[d];
        if (axis >= 0) {
            request->unit[axis] = job->setup.request.unit[d];
        }
    }
    request->seconds_per_point = element_seconds(job);
    request->seconds_per_tile = tile_seconds(job);
    const slc_status status = slc_plan_make(&job->job, request, &result->plan);
    if (status == SLC_OK) {
        SLC_TRY(plan_with_cache(job));
    }
    if (status == SLC_OK || status == SLC_ERROR_NO_PLAN) {
        *least = (slci_least){
            .device_bytes = result->plan.smallest_device_bytes,
            .ram_bytes =
                slci_machine_ram_for(&job->machine, result->plan.smallest_host_bytes + table_bytes),
            .whole_device_bytes = result->plan.whole_device_bytes,
            .whole_ram_bytes =
                slci_machine_ram_for(&job->machine, result->plan.whole_host_bytes + table_bytes)};
        result->memory.host_planned_bytes = slci_machine_held_bytes(&job->machine) + table_bytes +
                                            job->cache_bytes + result->plan.host_peak_bytes;
    }
    return status;
}

/* Longer digits take fewer passes, and more memory. */
static const int digit_widths[] = {SLCI_STATS_LONG_DIGIT, SLCI_STATS_SHORT_DIGIT};
#define N_WIDTHS ((int)(sizeof digit_widths / sizeof digit_widths[0]))

/* The longest digits that the budgets allow. What is least is what the shortest need, whose plan is
 * made last. */
slc_status slci_stats_plan(slci_stats_job *job) {
    slc_stats_result *result = &job->result;
    slci_least least = {0};
    slci_least of_width = {0};
    int taken = -1;
    for (int w = 0; w < N_WIDTHS; w++) {
        if (job->is_width_fixed && job->fixed_width != digit_widths[w]) {
            continue;
        }
        const slc_status status = plan_width(job, digit_widths[w], &least);
        if (status != SLC_OK && status != SLC_ERROR_NO_PLAN) {
            return status;
        }
        taken = taken < 0 && status == SLC_OK ? digit_widths[w] : taken;
    }
    if (taken < 0) {
        return slci_machine_refuse(&job->machine, &least);
    }
    SLC_TRY(plan_width(job, taken, &of_width));
    result->plan.smallest_device_bytes = least.device_bytes;
    result->memory.smallest_ram_bytes = least.ram_bytes;
    if (result->n == 0) {
        result->memory.host_planned_bytes -= result->plan.host_peak_bytes;
        slci_plan_nothing(&result->plan);
    }
    for (int a = 0; a < job->job.n_axes; a++) {
        (void)slci_print(result->axis_names[a], sizeof result->axis_names[a], "%s",
                         job->job.axes[a].name);
    }
    return SLC_OK;
}
