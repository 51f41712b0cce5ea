/* The checking device stands in for one that has no loops: the engine then launches one round, copies
 * the state back, looks at it, and so on (ooc/loop.c). It passes everything else on. */
#include "app/bench_converge.h"

#include <math.h>
#include <stdlib.h>

#include "core/checked.h"
#include "core/device_check.h"
#include "kernels/newton.h"

/* So small that a round is launches and nothing else. */
#define TILE_NUMBERS (INT64_C(64) << 10)
#define CUDA_TILES 128
#define HOST_TILES 16
#define QUICK_SHARE 8

/* Few sets of buffers, since a graph is made for each. */
#define SLOTS 2

/* More than the about 100 that it takes. */
#define MOST_ROUNDS 200

/* Roots are right to an ulp, which is 2^-23 of numbers of 1 to 2. */
#define TOLERANCE 0x1p-22

enum { OPERAND_IN, OPERAND_OUT, OPERAND_STATE, N_OPERANDS };

typedef struct roots {
    const slci_bench_options *options;
    const slci_machine *machine;
    int64_t n;              /* numbers */
    int64_t reserved_bytes; /* of both arrays */
    float *in, *out;        /* [n] */
    slc_binding bindings[N_OPERANDS];
} roots;

static slc_status root_tile(void *state, const slc_tile_arguments *arguments) {
    (void)state;
    const slci_newton newton = {.d_in = arguments->d_operand[OPERAND_IN],
                                .d_root = arguments->d_operand[OPERAND_OUT],
                                .n = TILE_NUMBERS,
                                .d_state = arguments->d_operand[OPERAND_STATE]};
    return slci_newton_enqueue(arguments->stream, &newton);
}

static slc_job make_job(int64_t n) {
    slc_job job = {.name = "roots",
                   .n_axes = 1,
                   .axes = {{"number", n, TILE_NUMBERS, SLC_AXIS_PARALLEL}},
                   .n_operands = N_OPERANDS,
                   .prepare = slci_newton_prepare,
                   .tile = root_tile,
                   .most_iterations = MOST_ROUNDS,
                   .loop_operand = OPERAND_STATE};
    job.operands[OPERAND_IN] =
        (slc_operand){.name = "in", .dtype = SLC_F32, .access = SLC_ACCESS_IN, .rank = 1};
    job.operands[OPERAND_OUT] =
        (slc_operand){.name = "out", .dtype = SLC_F32, .access = SLC_ACCESS_OUT, .rank = 1};
    job.operands[OPERAND_STATE] = (slc_operand){
        .name = "state",
        .dtype = SLC_I64,
        .access = SLC_ACCESS_WORK,
        .rank = 1,
        .axes = {SLC_AXIS_FIXED},
        .fixed_extent = {(int64_t)(sizeof(slc_loop_state) / sizeof(int64_t))},
    };
    return job;
}

static slc_status make_arrays(roots *self) {
    const int64_t bytes = self->n * (int64_t)sizeof *self->in;
    slc_layout layout;
    SLC_TRY(slc_budget_reserve(self->machine->budget, SLC_SPACE_HOST, 2 * bytes, "roots"));
    self->reserved_bytes = 2 * bytes;
    self->in = malloc((size_t)bytes);
    self->out = calloc((size_t)self->n, sizeof *self->out);
    if (self->in == NULL || self->out == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for %lld numbers", (long long)self->n);
    }
    for (int64_t i = 0; i < self->n; i++) {
        self->in[i] = 1 + 3 * (float)(i % 4099) / 4099;
    }
    SLC_TRY(slc_layout_dense(SLC_F32, 1, &self->n, &layout));
    SLC_TRY(slc_source_create_memory("in", &layout, self->in, &self->bindings[OPERAND_IN].source));
    return slc_sink_create_memory("out", &layout, self->out, &self->bindings[OPERAND_OUT].sink);
}

static slc_status check_roots(const roots *self) {
    for (int64_t i = 0; i < self->n; i++) {
        const double wanted = sqrt((double)self->in[i]);
        if (!(fabs((double)self->out[i] - wanted) <= TOLERANCE * wanted)) {
            return SLC_FAIL(SLC_ERROR_INTERNAL, "the root of %.9g is %.9g, found %.9g",
                            (double)self->in[i], wanted, (double)self->out[i]);
        }
    }
    return SLC_OK;
}

/* One run on `device`: seconds a round, and how many rounds there were. */
static slc_status run_once(roots *self, slc_device *device, double *seconds, int64_t *n_rounds) {
    const slc_job job = make_job(self->n);
    slc_execution execution = slci_machine_execution(&self->options->run, self->machine);
    execution.request.force_tile[0] = TILE_NUMBERS;
    execution.request.max_slots = SLOTS;
    execution.request.no_tier = true;
    execution.request.reads_in_place = false; /* the device without loops has memory of its own */
    execution.engine.device = device;
    execution.engine.bindings = self->bindings;
    slc_plan plan;
    slc_engine_report report;
    for (int64_t i = 0; i < self->n; i++) {
        self->out[i] = 0;
    }
    SLC_TRY(slc_execute(&job, &execution, &plan, &report));
    if (report.n_unfinished > 0) {
        return SLC_FAIL(SLC_ERROR_INTERNAL, "%lld tiles have no roots after %d rounds",
                        (long long)report.n_unfinished, MOST_ROUNDS);
    }
    *seconds = report.seconds_total / (double)report.n_iterations;
    *n_rounds = report.n_iterations;
    return check_roots(self);
}

static slc_status run_both(roots *self, slc_device *without_loops, slci_bench_converge *out) {
    double device_seconds = INFINITY;
    double host_seconds = INFINITY;
    int64_t n_rounds = 0;
    for (int i = 0; i < (self->options->is_quick ? 1 : 3); i++) {
        double seconds = 0;
        int64_t n_host_rounds = 0;
        SLC_TRY(run_once(self, self->machine->device, &seconds, &n_rounds));
        device_seconds = fmin(device_seconds, seconds);
        SLC_TRY(run_once(self, without_loops, &seconds, &n_host_rounds));
        host_seconds = fmin(host_seconds, seconds);
        if (n_rounds != n_host_rounds) {
            return SLC_FAIL(SLC_ERROR_INTERNAL,
                            "%lld rounds by the device, %lld where the host looks on",
                            (long long)n_rounds, (long long)n_host_rounds);
        }
    }
    out->rounds_per_tile = (double)n_rounds / (double)out->n_tiles;
    out->device_seconds = device_seconds;
    out->host_seconds = host_seconds;
    return SLC_OK;
}

/* A device of the machine's kind that refuses loops. */
static slc_status open_without_loops(const roots *self, slc_device **out) {
    const bool is_cuda = self->machine->device->kind == SLC_DEVICE_CUDA;
    const slc_device_options options = {.choice = is_cuda ? SLC_CHOOSE_CUDA : SLC_CHOOSE_HOST,
                                        .cuda_index = self->options->run.cuda_index,
                                        .pool = self->machine->pool};
    const slc_check_options check = {.has_no_loops = true};
    slc_device *inner = NULL;
    SLC_TRY(slc_device_create(&options, &inner));
    const slc_status status = slc_device_create_check(inner, &check, out);
    if (status != SLC_OK) {
        slc_device_destroy(inner);
    }
    return status;
}

slc_status slci_bench_converge_run(const slci_bench_options *options, const slci_machine *machine,
                                   slci_bench_converge *out) {
    const bool is_cuda = machine->device->kind == SLC_DEVICE_CUDA;
    slci_bench_converge converge = {.tile_bytes = TILE_NUMBERS * (int64_t)sizeof(float)};
    converge.n_tiles = (is_cuda ? CUDA_TILES : HOST_TILES) / (options->is_quick ? QUICK_SHARE : 1);
    roots self = {.options = options, .machine = machine, .n = converge.n_tiles * TILE_NUMBERS};
    slc_device *without_loops = NULL;
    slc_status status = SLC_OK;
    SLC_TRY_GOTO(done, make_arrays(&self));
    SLC_TRY_GOTO(done, open_without_loops(&self, &without_loops));
    SLC_TRY_GOTO(done, run_both(&self, without_loops, &converge));
    *out = converge;
done:
    slc_device_destroy(without_loops);
    slc_source_destroy(self.bindings[OPERAND_IN].source);
    slc_sink_destroy(self.bindings[OPERAND_OUT].sink);
    free(self.in);
    free(self.out);
    slc_budget_release(machine->budget, SLC_SPACE_HOST, self.reserved_bytes);
    return status;
}
