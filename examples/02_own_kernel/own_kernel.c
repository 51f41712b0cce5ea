/* A function of your own over an array of any size, from one HDF5 file to another, in 4 MiB of device
 * memory: out = sqrt(in * in + bias).                  own_kernel IN.h5 DATASET OUT.h5 BIAS */
#include <math.h>
#include <sluice.h>
#include <stdio.h>
#include <stdlib.h>

/* In own_kernel.cu; NULL in a build without CUDA. */
slc_status root_on_card(void *state, const slc_tile_arguments *arguments) __attribute__((weak));

typedef struct rows {
    const slc_tile *tile;
    const float *in;
    float *out;
    int64_t length; /* of a row */
    float bias;
} rows;

/* Runs on the thread of the host device's stream, when the tile's data has arrived. */
static slc_status root_of_rows(void *argument) {
    const rows *self = argument;
    for (int64_t i = 0; i < self->tile->extent[0] * self->length; i++) {
        self->out[i] = sqrtf(self->in[i] * self->in[i] + self->bias);
    }
    return SLC_OK;
}

/* A tile function only enqueues; the tile's extent is read where the work runs. */
static slc_status root_on_host(void *state, const slc_tile_arguments *arguments) {
    const slc_layout *full = &arguments->layout[0]; /* of the largest tile */
    const rows work = {arguments->d_tile, arguments->d_operand[0], arguments->d_operand[1],
                       slc_layout_count(full) / full->shape[0], *(const float *)state};
    return slc_stream_call(arguments->stream, root_of_rows, &work, (int64_t)sizeof work);
}

/* One axis, the rows. Of the array only dimension 0 is cut into tiles, the others stay whole. */
static slc_status run(slc_source *in, slc_sink *out, float *bias, slc_own_job_result *result) {
    const slc_binding bindings[] = {{.source = in}, {.sink = out}};
    slc_operand array = {.name = "in", .dtype = SLC_F32, .access = SLC_ACCESS_IN, .axes = {0}};
    array.rank = in->fields[0].rank;
    for (int d = 1; d < array.rank; d++) {
        array.axes[d] = SLC_AXIS_FIXED;
        array.fixed_extent[d] = in->fields[0].shape[d];
    }
    slc_own_job own = {.tile_on = {root_on_host, root_on_card}, .bindings = bindings};
    own.job = (slc_job){.name = "root", .n_axes = 1, .n_operands = 2, .state = bias};
    own.job.axes[0] = (slc_axis){"row", in->fields[0].shape[0], 1, SLC_AXIS_PARALLEL};
    own.job.operands[0] = own.job.operands[1] = array;
    own.job.operands[1].name = "out";
    own.job.operands[1].access = SLC_ACCESS_OUT;
    const slc_run_options options = {.vram_bytes = 4 << 20, .ram_bytes = 16 << 20};
    return slc_own_job_run(&own, &options, result);
}

int main(int argc, char **argv) {
    float bias = argc == 5 ? (float)strtol(argv[4], NULL, 10) : 0;
    slc_status status = argc == 5 ? SLC_OK : SLC_FAIL(SLC_ERROR_ARGUMENT, "IN DATASET OUT BIAS");
    slc_source *in = NULL;
    slc_sink *out = NULL;
    slc_own_job_result result;
    SLC_TRY_GOTO(done, status);
    const slc_h5_array_options input = {.path = argv[1], .dataset = argv[2]};
    SLC_TRY_GOTO(done, slc_h5_array_open(&input, &in));
    const slc_h5_array_output output = {argv[3], "/out", in->fields[0], .overwrite = true};
    SLC_TRY_GOTO(done, slc_h5_array_create(&output, &out));
    SLC_TRY_GOTO(done, run(in, out, &bias, &result));
    printf("%lld bytes in %lld tiles, %lld bytes of memory on %s\n",
           (long long)result.report.bytes_written, (long long)result.plan.n_tiles,
           (long long)result.report.device_peak_bytes, result.device_name);
done:
    if (status != SLC_OK) {
        fprintf(stderr, "own_kernel: %s\n", slc_status_message());
    }
    slc_sink_destroy(out);
    slc_source_destroy(in);
    return slc_status_exit_code(status);
}
