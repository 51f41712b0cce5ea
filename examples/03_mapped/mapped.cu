/* The tile function of mapped.c on the card. In mapped memory `table` is the device's alias of host
 * memory: the same code, and each look-up takes what the bus takes. */
#include <core/device_cuda.h>
#include <sluice.h>

static __global__ void look_up(const slc_tile *tile, const double *table, const int32_t *code,
                               double *out) {
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < tile->extent[0];
         i += step) {
        out[i] = table[code[i]];
    }
}

extern "C" slc_status look_up_on_card(void *state, const slc_tile_arguments *arguments) {
    (void)state;
    void *const *d = arguments->d_operand; /* table, code, out */
    const int64_t n_blocks = (arguments->full_extent[0] + 255) / 256;
    look_up<<<(unsigned)(n_blocks < 4096 ? n_blocks : 4096), 256, 0,
              slc_stream_get_cuda(arguments->stream)>>>(arguments->d_tile, (const double *)d[0],
                                                        (const int32_t *)d[1], (double *)d[2]);
    return slc_cuda_status(cudaGetLastError(), "look_up");
}
