/* Runs a direct kernel over a small data set, tile by tile as an engine would, with any tiling.
 * Header only, so that tests and benchmarks use the same lines.
 *
 *     test_direct_data data = {.n_rows = n, .n_channels = 1, .uvw_m = uvw, ...};
 *     TEST_OK(test_direct_run(device, &setup, &data, &(test_direct_tiling){0}, image));
 */
#ifndef SLC_TESTS_SUPPORT_TEST_DIRECT_H
#define SLC_TESTS_SUPPORT_TEST_DIRECT_H

#include <stdlib.h>
#include <string.h>

#include "core/checked.h"
#include "core/clock.h"
#include "core/device.h"
#include "core/fixed.h"
#include "core/job.h"
#include "core/pool.h"
#include "kernels/direct.h"

typedef struct test_direct_data {
    int64_t n_rows, n_channels;
    const double *uvw_m;    /* [row, 3] */
    const float *vis;       /* [row, channel, 2] */
    const float *weight;    /* [row, channel] */
    const double *channels; /* [channel] */
} test_direct_data;

/* Engine tiles in granules of rows and kernel tiles of pixels; 0: everything at once. As in a plan,
 * extents are whole granules and may pass the ends of the data, while buffers do not. */
typedef struct test_direct_tiling {
    int64_t granules, tiles_y, tiles_x;
    int64_t kernel_ns; /* out: from the first launch to the last, without copies */
} test_direct_tiling;

/* Everything that one run holds. */
typedef struct test_direct_state {
    slc_device *device;
    slc_stream *stream;
    slc_job job;
    const slc_direct_setup *setup;
    const test_direct_data *data;
    int64_t extent[3];
    slc_layout layout[SLC_DIRECT_N_OPERANDS];
    void *d_operand[SLC_DIRECT_N_OPERANDS];
    void *d_tile;
    slc_fixed *piece; /* host copy of one image tile */
} test_direct_state;

static inline slc_status test_direct_copy_rows(test_direct_state *state, int64_t row, int64_t n) {
    const test_direct_data *data = state->data;
    const int64_t c = data->n_channels;
    void *const *d = state->d_operand;
    SLC_TRY(slc_stream_copy(state->stream, d[SLC_DIRECT_UVW], data->uvw_m + 3 * row, 24 * n,
                            SLC_COPY_TO_DEVICE));
    SLC_TRY(slc_stream_copy(state->stream, d[SLC_DIRECT_VIS], data->vis + 2 * row * c, 8 * n * c,
                            SLC_COPY_TO_DEVICE));
    SLC_TRY(slc_stream_copy(state->stream, d[SLC_DIRECT_WEIGHT], data->weight + row * c, 4 * n * c,
                            SLC_COPY_TO_DEVICE));
    return slc_stream_synchronize(state->stream);
}

/* All row tiles of one image tile, and the image tile into its place. */
static inline slc_status test_direct_image_tile(test_direct_state *state, int64_t y, int64_t x,
                                                int64_t *kernel_ns, slc_fixed *image) {
    const slc_direct_geometry *geometry = &state->setup->geometry;
    const int64_t parts = state->setup->n_parts;
    const int64_t bytes = slc_layout_bytes(&state->layout[SLC_DIRECT_IMAGE]);
    slc_tile_arguments arguments = {.device = state->device,
                                    .stream = state->stream,
                                    .d_tile = state->d_tile,
                                    .full_extent = state->extent,
                                    .layout = state->layout};
    memcpy(arguments.d_operand, state->d_operand, sizeof state->d_operand);
    slc_tile tile = {.origin = {0, y, x}};
    tile.extent[1] = slc_min_i64(state->extent[1], geometry->ny - y);
    tile.extent[2] = slc_min_i64(state->extent[2], geometry->nx - x);
    SLC_TRY(slc_stream_set(state->stream, state->d_operand[SLC_DIRECT_IMAGE], 0, bytes));
    for (int64_t row = 0; row < state->data->n_rows; row += state->extent[0]) {
        tile.origin[0] = row;
        tile.extent[0] = slc_min_i64(state->extent[0], state->data->n_rows - row);
        SLC_TRY(test_direct_copy_rows(state, row, tile.extent[0]));
        SLC_TRY(
            slc_stream_copy(state->stream, state->d_tile, &tile, sizeof tile, SLC_COPY_TO_DEVICE));
        SLC_TRY(slc_stream_synchronize(state->stream));
        const int64_t begin = slc_clock_ns();
        SLC_TRY(state->job.tile(state->job.state, &arguments));
        SLC_TRY(slc_stream_synchronize(state->stream));
        *kernel_ns += slc_clock_ns() - begin;
        tile.index++;
    }
    SLC_TRY(slc_stream_copy(state->stream, state->piece, state->d_operand[SLC_DIRECT_IMAGE], bytes,
                            SLC_COPY_FROM_DEVICE));
    SLC_TRY(slc_stream_synchronize(state->stream));
    for (int64_t j = 0; j < tile.extent[1]; j++) {
        memcpy(image + ((y + j) * geometry->nx + x) * parts,
               state->piece + j * state->layout[SLC_DIRECT_IMAGE].shape[1] * parts,
               (size_t)(tile.extent[2] * parts) * sizeof *image);
    }
    return SLC_OK;
}

static inline slc_status test_direct_open(test_direct_state *state) {
    SLC_TRY(slc_stream_create(state->device, &state->stream));
    SLC_TRY(slc_device_allocate(state->device, (int64_t)sizeof(slc_tile), &state->d_tile));
    for (int o = 0; o < SLC_DIRECT_N_OPERANDS; o++) {
        SLC_TRY(slc_job_tile_layout(&state->job, o, state->extent, &state->layout[o]));
        const int64_t bytes = slc_max_i64(1, slc_layout_bytes(&state->layout[o]));
        SLC_TRY(slc_device_allocate(state->device, bytes, &state->d_operand[o]));
    }
    state->piece = malloc((size_t)slc_layout_bytes(&state->layout[SLC_DIRECT_IMAGE]));
    SLC_TRY(slc_stream_copy(state->stream, state->d_operand[SLC_DIRECT_CHANNELS],
                            state->data->channels, 8 * state->data->n_channels,
                            SLC_COPY_TO_DEVICE));
    return state->job.prepare == NULL ? SLC_OK
                                      : state->job.prepare(state->job.state, state->device);
}

static inline slc_status test_direct_tiles(test_direct_state *state, int64_t *kernel_ns,
                                           slc_fixed *image) {
    for (int64_t y = 0; y < state->setup->geometry.ny; y += state->extent[1]) {
        for (int64_t x = 0; x < state->setup->geometry.nx; x += state->extent[2]) {
            SLC_TRY(test_direct_image_tile(state, y, x, kernel_ns, image));
        }
    }
    return SLC_OK;
}

static inline void test_direct_close(test_direct_state *state) {
    free(state->piece);
    for (int o = 0; o < SLC_DIRECT_N_OPERANDS; o++) {
        slc_device_release(state->device, state->d_operand[o]);
    }
    slc_device_release(state->device, state->d_tile);
    if (state->stream != NULL) {
        slc_stream_destroy(state->stream);
    }
}

static inline int64_t test_direct_extent(int64_t whole, int64_t granule, int64_t n_granules) {
    const int64_t extent = slc_round_up(slc_max_i64(whole, 1), granule);
    return n_granules == 0 ? extent : slc_min_i64(extent, n_granules * granule);
}

/* image [ny, nx, n_parts]: the finished sums, in fixed point at setup->scale_bits. */
static inline slc_status test_direct_run(slc_device *device, const slc_direct_setup *setup,
                                         const test_direct_data *data, test_direct_tiling *tiling,
                                         slc_fixed *image) {
    test_direct_state state = {.device = device, .setup = setup, .data = data};
    const int64_t pixels = setup->tile_pixels;
    SLC_TRY(slc_direct_job_init(setup, device->kind, slc_pool_size(device->pool), data->n_rows,
                                &state.job));
    state.extent[0] = test_direct_extent(data->n_rows, setup->granule_rows, tiling->granules);
    state.extent[1] = test_direct_extent(setup->geometry.ny, pixels, tiling->tiles_y);
    state.extent[2] = test_direct_extent(setup->geometry.nx, pixels, tiling->tiles_x);
    tiling->kernel_ns = 0;
    slc_status status = test_direct_open(&state);
    if (status == SLC_OK) {
        status = test_direct_tiles(&state, &tiling->kernel_ns, image);
    }
    test_direct_close(&state);
    return status;
}

#endif
