/* The tile function of own_kernel.c on the card: a thread for each element, in strides of the grid. */
#include <core/device_cuda.h>
#include <sluice.h>

static __global__ void root_of_rows(const slc_tile *tile, const float *in, float *out,
                                    int64_t length, float bias) {
    const int64_t n = tile->extent[0] * length;
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        out[i] = sqrtf(in[i] * in[i] + bias);
    }
}

/* The launch shape is always that of a full tile; edge tiles are smaller in `tile`, on the card. */
extern "C" slc_status root_on_card(void *state, const slc_tile_arguments *arguments) {
    const slc_layout *full = &arguments->layout[0];
    const int64_t n_blocks = (slc_layout_count(full) + 255) / 256;
    root_of_rows<<<(unsigned)(n_blocks < 4096 ? n_blocks : 4096), 256, 0,
                   slc_stream_get_cuda(arguments->stream)>>>(
        arguments->d_tile, (const float *)arguments->d_operand[0], (float *)arguments->d_operand[1],
        slc_layout_count(full) / full->shape[0], *(const float *)state);
    return slc_cuda_status(cudaGetLastError(), "root_of_rows");
}
