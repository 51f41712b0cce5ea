/* A table that is larger than device memory, looked up at random: out[i] = table[code[i]]. As a sparse
 * operand it is whole for every tile, in device memory or, where it does not fit, in mapped host
 * memory, which kernels read over the bus. The function need not know which.
 *                                                                       mapped VRAM_BYTES N_LOOKUPS */
#include <sluice.h>
#include <stdio.h>
#include <stdlib.h>

enum { TABLE, CODE, OUT, N_OPERANDS };

#define N_TABLE (1 << 20) /* 8 MiB of doubles */

/* In mapped.cu; NULL in a build without CUDA. */
slc_status look_up_on_card(void *state, const slc_tile_arguments *arguments) __attribute__((weak));

/* Runs on the thread of the host device's stream. */
static slc_status look_up(void *argument) {
    const slc_tile_arguments *self = argument;
    const double *table = self->d_operand[TABLE];
    const int32_t *code = self->d_operand[CODE];
    double *out = self->d_operand[OUT];
    for (int64_t i = 0; i < self->d_tile->extent[0]; i++) {
        out[i] = table[code[i]];
    }
    return SLC_OK;
}

static slc_status look_up_on_host(void *state, const slc_tile_arguments *arguments) {
    (void)state;
    return slc_stream_call(arguments->stream, look_up, arguments, (int64_t)sizeof *arguments);
}

static slc_own_job describe(int64_t n_lookups, const slc_binding *bindings) {
    slc_own_job own = {.tile_on = {look_up_on_host, look_up_on_card}, .bindings = bindings};
    own.job = (slc_job){.name = "look-up", .n_axes = 1, .n_operands = N_OPERANDS};
    own.job.axes[0] = (slc_axis){"code", n_lookups, 1024, SLC_AXIS_PARALLEL};
    own.job.operands[TABLE] = (slc_operand){.name = "table",
                                            .dtype = SLC_F64,
                                            .access = SLC_ACCESS_IN,
                                            .rank = 1,
                                            .axes = {SLC_AXIS_FIXED},
                                            .fixed_extent = {N_TABLE},
                                            .is_sparse = true,
                                            .touches_per_point = 1};
    own.job.operands[CODE] =
        (slc_operand){.name = "code", .dtype = SLC_I32, .access = SLC_ACCESS_IN, .rank = 1};
    own.job.operands[OUT] =
        (slc_operand){.name = "out", .dtype = SLC_F64, .access = SLC_ACCESS_OUT, .rank = 1};
    return own;
}

/* Sources and a sink in memory of our own. */
static slc_status bind(int64_t n_lookups, double *table, int32_t *code, double *out,
                       slc_binding *bindings) {
    const int64_t n_table = N_TABLE;
    slc_layout layout;
    SLC_TRY(slc_layout_dense(SLC_F64, 1, &n_table, &layout));
    SLC_TRY(slc_source_create_memory("table", &layout, table, &bindings[TABLE].source));
    SLC_TRY(slc_layout_dense(SLC_I32, 1, &n_lookups, &layout));
    SLC_TRY(slc_source_create_memory("code", &layout, code, &bindings[CODE].source));
    SLC_TRY(slc_layout_dense(SLC_F64, 1, &n_lookups, &layout));
    return slc_sink_create_memory("out", &layout, out, &bindings[OUT].sink);
}

static int64_t count_errors(int64_t n, const double *table, const int32_t *code,
                            const double *out) {
    int64_t n_errors = 0;
    for (int64_t i = 0; i < n; i++) {
        n_errors += out[i] != table[code[i]];
    }
    return n_errors;
}

static void fill(int64_t n_lookups, double *table, int32_t *code) {
    for (int64_t i = 0; i < N_TABLE; i++) {
        table[i] = 1.0 / (double)(i + 1);
    }
    for (int64_t i = 0; i < n_lookups; i++) {
        code[i] = (int32_t)(i * 7919 % N_TABLE * 104729 % N_TABLE);
    }
}

int main(int argc, char **argv) {
    const int64_t n = argc == 3 ? strtoll(argv[2], NULL, 10) : 0;
    if (n < 1) {
        fprintf(stderr, "usage: mapped VRAM_BYTES N_LOOKUPS\n");
        return 2;
    }
    double *table = malloc(N_TABLE * sizeof *table);
    int32_t *code = calloc((size_t)n, sizeof *code);
    double *out = calloc((size_t)n, sizeof *out);
    slc_binding bindings[N_OPERANDS] = {{0}};
    slc_own_job_result result;
    slc_status status = SLC_OK;
    if (table == NULL || code == NULL || out == NULL) {
        SLC_TRY_GOTO(done, SLC_FAIL(SLC_ERROR_MEMORY, "no memory for %lld lookups", (long long)n));
    }
    fill(n, table, code);
    SLC_TRY_GOTO(done, bind(n, table, code, out, bindings));
    const slc_own_job own = describe(n, bindings);
    const slc_run_options options = {.vram_bytes = strtoll(argv[1], NULL, 10),
                                     .ram_bytes = 64 << 20};
    SLC_TRY_GOTO(done, slc_own_job_run(&own, &options, &result));
    printf("%s\n%lld wrong of %lld, in %lld bytes of memory on %s\n",
           result.plan.operand[TABLE].why, (long long)count_errors(n, table, code, out),
           (long long)n, (long long)result.report.device_peak_bytes, result.device_name);
done:
    if (status != SLC_OK) {
        fprintf(stderr, "mapped: %s\n", slc_status_message());
    }
    for (int o = 0; o < N_OPERANDS; o++) {
        slc_source_destroy(bindings[o].source);
        slc_sink_destroy(bindings[o].sink);
    }
    free(out);
    free(code);
    free(table);
    return slc_status_exit_code(status);
}
