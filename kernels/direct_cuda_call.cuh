/* From an engine tile's operands to the arguments and the grid of a launch, on the host: for each
 * polarisation its own, as if it were alone.
 *
 *     const slci_direct_call call = {&alone, arguments, pol};
 *     slci_call_arguments(&setup, &call, &a);
 *     SLC_TRY(slci_call_blocks(&setup, SLC_DIRECT_LAUNCH_SINE, arguments->full_extent, &a, &grid));
 */
#ifndef SLC_KERNELS_DIRECT_CUDA_CALL_CUH
#define SLC_KERNELS_DIRECT_CUDA_CALL_CUH

#include <cuda_runtime.h>

#include "core/checked.h"
#include "core/device_cuda.h"
#include "kernels/direct_cuda_block.cuh"
#include "kernels/direct_tuning.h"

/* One polarisation of an engine tile. */
typedef struct slci_direct_call {
    const slc_direct_setup *setup; /* of this one alone */
    const slc_tile_arguments *arguments;
    int pol;
} slci_direct_call;

static void *slci_call_operand(const slci_direct_call *call, int operand) {
    return call->arguments->d_operand[slc_direct_operand(operand, call->pol)];
}

static void slci_call_arguments(const slc_direct_setup *setup, const slci_direct_call *call,
                                slci_direct_cuda_arguments *out) {
    const slc_tile_arguments *arguments = call->arguments;
    out->setup = *setup;
    out->parent = *call->setup;
    out->tile = arguments->d_tile;
    out->uvw = (const double *)arguments->d_operand[SLC_DIRECT_UVW];
    out->vis = (const float2 *)slci_call_operand(call, SLC_DIRECT_VIS);
    out->weight = (const float *)slci_call_operand(call, SLC_DIRECT_WEIGHT);
    out->channels = (const double *)arguments->d_operand[SLC_DIRECT_CHANNELS];
    out->image = (slc_fixed *)slci_call_operand(call, SLC_DIRECT_IMAGE);
    /* Not full_extent[2], which a picture smaller than one tile does not fill: neither do buffers. */
    out->row_pixels = arguments->layout[SLC_DIRECT_IMAGE].shape[1];
    out->tiles_x = slc_ceil_div(arguments->full_extent[2], setup->tile_pixels);
    out->runs_per_granule =
        slc_ceil_div(setup->granule_rows * setup->n_channels, setup->granule_samples);
}

static slc_status slci_call_processors(int *out) {
    int device = 0;
    SLC_TRY(slc_cuda_status(cudaGetDevice(&device), "cudaGetDevice"));
    return slc_cuda_status(cudaDeviceGetAttribute(out, cudaDevAttrMultiProcessorCount, device),
                           "cudaDeviceGetAttribute");
}

/* Blocks for the tiles of a full engine tile, and along y for its runs: each loops over some, and sets
 * its tile up once. */
static slc_status slci_call_blocks(const slc_direct_setup *setup, slc_direct_launch launch,
                                   const int64_t *full_extent, const slci_direct_cuda_arguments *a,
                                   dim3 *grid) {
    int n_processors = 0;
    SLC_TRY(slci_call_processors(&n_processors));
    const slci_direct_work work = {&a->parent, NULL, SLC_DEVICE_CUDA, n_processors, full_extent};
    const int64_t n_tiles = a->tiles_x * slc_ceil_div(full_extent[1], setup->tile_pixels);
    if (n_tiles > INT32_MAX) {
        return SLC_FAIL(SLC_ERROR_NO_PLAN,
                        "an engine tile of %lld kernel tiles is more than one launch can take; "
                        "a smaller budget of device memory (--vram) helps",
                        (long long)n_tiles);
    }
    if (setup->granule_rows * setup->n_channels > UINT32_MAX) {
        return SLC_FAIL(SLC_ERROR_NO_PLAN,
                        "a granule of %lld rows of %lld channels is more than 2^32 samples; "
                        "select fewer channels",
                        (long long)setup->granule_rows, (long long)setup->n_channels);
    }
    grid->x = (unsigned)n_tiles;
    grid->y = (unsigned)slci_direct_split_get(&work, launch);
    return SLC_OK;
}

#endif
