/* The ways are planned and the fastest is found by the functions of `sluice gather` itself
 * (app/gather_plan.c); only the files are missing. Sources that cost nothing stand in for them, and
 * the plan is told so: reading would take the same time either way and hide what is chosen between.
 * Data that is streamed crosses the bus whole, once for each tile of the list; data that is mapped
 * stays where it is, and each element that is touched crosses the bus by itself. */
#include "app/bench_choice.h"

#include <math.h>
#include <stdlib.h>

#include "app/gather_job.h"
#include "core/checked.h"
#include "core/clock.h"
#include "core/source_null.h"
#include "kernels/touch.h"

#define MIB (INT64_C(1) << 20)
#define GIB (INT64_C(1) << 30)

#define CUDA_DATA_BYTES (4 * GIB)
#define HOST_DATA_BYTES (256 * MIB)
#define QUICK_SHARE 4

/* The data against the device's budget: far too large to be resident. */
#define VRAM_SHARE 16
#define LEAST_UNITS 4

/* The array whose values are compared, and the share of it that is touched. */
#define CHECK_BYTES (64 * MIB)
#define CHECK_SHARE 0.01

/* Runs are repeated for about this long, three times at most: a short one needs it more. */
#define REPEAT_SECONDS 1.5
#define MOST_REPEATS 3

/* What costs nothing, as a rate: bytes a second. */
#define NO_COST 1e18

typedef struct trial {
    slc_gather_options options;
    slci_gather_job job;
    slc_sink *sink;
    int64_t n_data, n_index;
    int64_t reserved_bytes; /* of host memory, for what follows */
    int64_t *index;         /* [n_index] */
    uint32_t *data;         /* [n_data]; NULL: nothing is read, the data is anything */
    uint32_t *out;          /* [n_index]; likewise */
} trial;

/* ---- arrays ------------------------------------------------------------------------------------ */

#define PART 65536

/* Neighbours differ in all their bytes. */
static uint32_t value_at(int64_t i) {
    return (uint32_t)i * 2654435761u;
}

static slc_status fill_index(void *context, int64_t part, int worker) {
    (void)worker;
    trial *self = context;
    const int64_t end = slc_min_i64((part + 1) * PART, self->n_index);
    for (int64_t k = part * PART; k < end; k++) {
        self->index[k] = slc_touch_place(k, self->n_data);
    }
    return SLC_OK;
}

static slc_status fill_data(void *context, int64_t part, int worker) {
    (void)worker;
    trial *self = context;
    const int64_t end = slc_min_i64((part + 1) * PART, self->n_data);
    for (int64_t i = part * PART; i < end; i++) {
        self->data[i] = value_at(i);
    }
    return SLC_OK;
}

static slc_status make_arrays(trial *self, bool is_checked) {
    const int64_t list_bytes = self->n_index * (int64_t)sizeof *self->index;
    const int64_t out_bytes = self->n_index * (int64_t)sizeof *self->out;
    const int64_t data_bytes = self->n_data * (int64_t)sizeof *self->data;
    const int64_t bytes = list_bytes + (is_checked ? out_bytes + data_bytes : 0);
    SLC_TRY(slc_budget_reserve(self->job.machine.budget, SLC_SPACE_HOST, bytes, "gathered data"));
    self->reserved_bytes = bytes;
    self->index = malloc((size_t)list_bytes);
    self->out = is_checked ? calloc((size_t)self->n_index, sizeof *self->out) : NULL;
    self->data = is_checked ? malloc((size_t)data_bytes) : NULL;
    if (self->index == NULL || (is_checked && (self->out == NULL || self->data == NULL))) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for a list of %lld indices and its data",
                        (long long)self->n_index);
    }
    slc_pool *pool = self->job.machine.pool;
    SLC_TRY(slc_pool_for(pool, slc_ceil_div(self->n_index, PART), fill_index, self));
    return is_checked ? slc_pool_for(pool, slc_ceil_div(self->n_data, PART), fill_data, self)
                      : SLC_OK;
}

static slc_status compare(const trial *self, slc_sparse_choice way) {
    for (int64_t k = 0; k < self->n_index; k++) {
        const uint32_t wanted = value_at(self->index[k]);
        if (self->out[k] != wanted) {
            return SLC_FAIL(SLC_ERROR_INTERNAL, "gathered %s, element %lld is %u, not %u",
                            slc_sparse_choice_name(way), (long long)k, self->out[k], wanted);
        }
    }
    return SLC_OK;
}

/* ---- a gather without files --------------------------------------------------------------------- */

static slc_status bind(trial *self) {
    slci_gather_job *job = &self->job;
    slc_gather_result *result = &job->result;
    result->n_index = self->n_index;
    SLC_TRY(slc_layout_dense(SLC_U32, 1, &self->n_data, &result->data));
    SLC_TRY(slc_layout_dense(SLC_I64, 1, &self->n_index, &result->index));
    SLC_TRY(slc_layout_dense(SLC_U32, 1, &self->n_index, &result->out));
    SLC_TRY(slc_source_create_memory("index", &result->index, self->index, &job->list));
    if (self->data == NULL) {
        SLC_TRY(slci_source_create_null("data", &result->data, &job->data));
        return slci_sink_create_null("out", &result->out, &self->sink);
    }
    SLC_TRY(slc_source_create_memory("data", &result->data, self->data, &job->data));
    return slc_sink_create_memory("out", &result->out, self->out, &self->sink);
}

/* A small share of the data, but some whole units of the device's memory. */
static int64_t small_vram(const slci_bench_options *bench, const slci_machine *machine,
                          int64_t data_bytes) {
    const int64_t least = LEAST_UNITS * machine->limits.allocation_unit_bytes;
    return slc_min_i64(slc_max_i64(data_bytes / VRAM_SHARE, least), bench->run.vram_bytes);
}

static void open_trial(trial *self, const slci_bench_options *bench, const slci_machine *machine) {
    const int64_t data_bytes = self->n_data * (int64_t)sizeof *self->data;
    self->options = (slc_gather_options){.run = bench->run};
    self->options.run.vram_bytes = small_vram(bench, machine, data_bytes);
    self->options.run.sparse = SLC_SPARSE_AUTO;
    self->job.options = &self->options;
    self->job.machine = *machine;
    slc_rates *rates = &self->job.machine.rates;
    rates->disk_bytes_per_s = rates->read_bytes_per_s = rates->write_bytes_per_s = NO_COST;
    self->job.machine.checkpoint = NULL;
}

static void close_trial(trial *self) {
    slc_source_destroy(self->job.list);
    slc_source_destroy(self->job.data);
    slc_sink_destroy(self->sink);
    free(self->index);
    free(self->data);
    free(self->out);
    slc_budget_release(self->job.machine.budget, SLC_SPACE_HOST, self->reserved_bytes);
}

static int find_way(const trial *self, slc_sparse_choice sparse) {
    int w = 0;
    while (self->job.result.ways[w].sparse != sparse) {
        w++;
    }
    return w;
}

static slc_status run_way(trial *self, slc_sparse_choice sparse, double *seconds) {
    const int way = find_way(self, sparse);
    if (!self->job.result.ways[way].is_possible) {
        return SLC_FAIL(SLC_ERROR_NO_PLAN, "data %s does not fit the budgets",
                        slc_sparse_choice_name(sparse));
    }
    slci_gather_candidate *candidate = &self->job.candidate[way];
    const slc_binding bindings[SLC_GATHER_N_OPERANDS] = {
        [SLC_GATHER_DATA] = {.source = self->job.data},
        [SLC_GATHER_INDEX] = {.source = self->job.list},
        [SLC_GATHER_OUT] = {.sink = self->sink},
    };
    candidate->execution.engine.bindings = bindings;
    slc_engine_report report;
    SLC_TRY(slc_execute(&candidate->job, &candidate->execution, &candidate->plan, &report));
    *seconds = report.seconds_total;
    return SLC_OK;
}

/* ---- what is asked ------------------------------------------------------------------------------ */

static slc_status time_way(trial *self, bool is_quick, slc_sparse_choice sparse,
                           slci_bench_way *out) {
    slci_bench_way way = {.planned = self->job.result.ways[find_way(self, sparse)].seconds,
                          .taken = INFINITY};
    const int64_t begin_ns = slc_clock_ns();
    for (int i = 0; i < (is_quick ? 1 : MOST_REPEATS); i++) {
        double seconds = 0;
        SLC_TRY(run_way(self, sparse, &seconds));
        way.taken = fmin(way.taken, seconds);
        if (1e-9 * (double)(slc_clock_ns() - begin_ns) > REPEAT_SECONDS) {
            break;
        }
    }
    *out = way;
    return SLC_OK;
}

/* Fills in what is left open in `at`. */
static slc_status measure_at(const slci_bench_options *bench, const slci_machine *machine,
                             const slci_bench_choice *sizes, slci_bench_choice_at *at) {
    trial self = {.n_data = sizes->data_bytes / (int64_t)sizeof(uint32_t)};
    slc_status status = SLC_OK;
    self.n_index = slc_max_i64((int64_t)(at->share * (double)self.n_data), 1);
    at->n_index = self.n_index;
    open_trial(&self, bench, machine);
    SLC_TRY_GOTO(done, make_arrays(&self, false));
    SLC_TRY_GOTO(done, bind(&self));
    SLC_TRY_GOTO(done, slci_gather_plan(&self.job));
    at->is_mapped = slci_gather_fastest(&self.job) == find_way(&self, SLC_SPARSE_MAPPED);
    SLC_TRY_GOTO(done, time_way(&self, bench->is_quick, SLC_SPARSE_MAPPED, &at->mapped));
    SLC_TRY_GOTO(done, time_way(&self, bench->is_quick, SLC_SPARSE_STREAMED, &at->streamed));
done:
    close_trial(&self);
    return status;
}

/* Both ways give what the array holds. */
static slc_status check_values(const slci_bench_options *bench, const slci_machine *machine,
                               const slci_bench_choice *sizes) {
    static const slc_sparse_choice ways[] = {SLC_SPARSE_MAPPED, SLC_SPARSE_STREAMED};
    const int64_t bytes = slc_min_i64(sizes->data_bytes, CHECK_BYTES);
    trial self = {.n_data = bytes / (int64_t)sizeof(uint32_t)};
    slc_status status = SLC_OK;
    self.n_index = slc_max_i64((int64_t)(CHECK_SHARE * (double)self.n_data), 1);
    open_trial(&self, bench, machine);
    SLC_TRY_GOTO(done, make_arrays(&self, true));
    SLC_TRY_GOTO(done, bind(&self));
    SLC_TRY_GOTO(done, slci_gather_plan(&self.job));
    for (int w = 0; w < 2; w++) {
        double seconds = 0;
        SLC_TRY_GOTO(done, run_way(&self, ways[w], &seconds));
        SLC_TRY_GOTO(done, compare(&self, ways[w]));
        for (int64_t k = 0; k < self.n_index; k++) {
            self.out[k] = 0;
        }
    }
done:
    close_trial(&self);
    return status;
}

/* A quarter of --ram, since the list, staging and a check want some too. */
static slci_bench_choice choose_sizes(const slci_bench_options *bench,
                                      const slci_machine *machine) {
    const bool is_cuda = machine->device->kind == SLC_DEVICE_CUDA;
    const int64_t most =
        (is_cuda ? CUDA_DATA_BYTES : HOST_DATA_BYTES) / (bench->is_quick ? QUICK_SHARE : 1);
    slci_bench_choice sizes = {.at = {{.share = 1e-3}, {.share = 1e-2}, {.share = 1e-1}}};
    sizes.data_bytes = slc_min_i64(most, bench->run.ram_bytes / 4);
    sizes.data_bytes -= sizes.data_bytes % (int64_t)sizeof(uint32_t);
    sizes.vram_bytes = small_vram(bench, machine, sizes.data_bytes);
    return sizes;
}

slc_status slci_bench_choice_run(const slci_bench_options *options, const slci_machine *machine,
                                 slci_bench_choice *out) {
    slci_bench_choice choice = choose_sizes(options, machine);
    SLC_TRY(check_values(options, machine, &choice));
    for (int i = 0; i < SLCI_BENCH_CHOICES; i++) {
        SLC_TRY(measure_at(options, machine, &choice, &choice.at[i]));
    }
    *out = choice;
    return SLC_OK;
}
