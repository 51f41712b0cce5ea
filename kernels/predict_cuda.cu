/* Predicting on CUDA: one thread for each row and group of channels, components through shared
 * memory.
 *
 *     block (x, y): 128 rows, channels CHANNELS·y …          for each granule of 4096 components
 *         for each 128 components: each thread loads one        sum = 0          (double)
 *             for each run of 4:  part = 0  (single)
 *                 path in metres, in double, once for all channels of the thread
 *                 t = path f/c minus its whole turns, in double; from there on single precision
 *                 part += I exp(2πi t)                          sum += part
 *         vis += sum
 *
 * The fluxes of an image's pixels are fetched before, by a kernel of its own: one access to each
 * pixel and plane for a whole tile of rows, which is what mapped memory can stand.
 *
 * Error of a component of flux I, in units of I: |t| <= 1/2 is rounded to 2^-26 turns, 9.4e-8 rad;
 * sincospi is off by one unit in the last place, 6e-8 in each part, 8.5e-8 together; the flux is
 * rounded by 6e-8; a run of 4 fused multiply-adds by 4 · 2^-24 in each part at most, 3.4e-7
 * together. That makes 5.8e-7. A Gaussian's factor adds 1.2e-7 (expf, one unit), 2.2e-8 (its
 * exponent) and 6e-8 (the product): 7.8e-7 in all, below the 1e-6 that is promised. Sums beyond a
 * run are in double.
 *
 * Shared memory: 3 doubles and CHANNELS floats for each of 128 components, 4 more doubles in lists:
 * 4 to 9 KiB. Registers on sm_90: 72 (image) and 96 (list) with 4 channels, 48 and 60 with one.
 * Half the time is the sine and cosine by count of instructions; on cards that are slow at double
 * precision it is the phase. */
#include <cuda_runtime.h>

#include "core/checked.h"
#include "core/device_cuda.h"
#include "kernels/predict_internal.h"

#define BLOCK_ROWS 128
#define MOST_CHANNELS 4
#define RUN 4
#define MOST_BLOCKS_Y 65535
#define FETCH_THREADS 256
#define MOST_FETCH_BLOCKS 65536

/* 1.5 · 2^52: adding it to a number and taking it off again rounds to a whole one. */
#define ROUND_TO_ONE 6755399441055744.0

/* Terms a second and multiprocessor, by count of instructions at 1.7 GHz. */
#define TERMS_PER_S_FAST 5e9
#define TERMS_PER_S_SLOW 5e8

/* ---- pixels --------------------------------------------------------------------------------- */

static __global__ void __launch_bounds__(FETCH_THREADS) fetch_flux(const slci_predict_view view) {
    const int64_t n = view.tile->extent[1] * view.n_planes;
    const int64_t step = (int64_t)gridDim.x * FETCH_THREADS;
    for (int64_t t = (int64_t)blockIdx.x * FETCH_THREADS + threadIdx.x; t < n; t += step) {
        const int64_t k = view.n_planes == 1 ? t : t / view.n_planes;
        const int64_t at = (t - k * view.n_planes) * view.plane_pixels + view.pixel[k];
        const double value = view.is_f32 ? (double)((const float *)view.image)[at]
                                         : ((const double *)view.image)[at];
        view.flux[t] = isnan(value) ? 0.0 : value * view.jy_per_unit;
    }
}

/* ---- sums ----------------------------------------------------------------------------------- */

/* The functions of one thread below take more than five values: as parameters of inlined functions
 * they stay in registers, while a struct whose arrays differ in size by CHANNELS would hide them.
 *
 * Components of one batch. `shape` is there for lists: major, minor, sin, cos. */
template <bool IS_LIST, int CHANNELS> struct batch {
    double l[BLOCK_ROWS], m[BLOCK_ROWS], n[BLOCK_ROWS];
    double shape[IS_LIST ? 4 : 1][IS_LIST ? BLOCK_ROWS : 1];
    float amplitude[CHANNELS][BLOCK_ROWS];
};

template <bool IS_LIST>
__device__ static double flux_of(const slci_predict_view &view, int64_t k, int64_t c) {
    const double *channel = view.channels + c * SLC_PREDICT_CHANNEL_COLUMNS;
    if (!IS_LIST) {
        return view.flux[k * view.n_planes + (int64_t)channel[SLC_PREDICT_PLANE]];
    }
    const double *shape = view.shape + k * SLC_PREDICT_SHAPE;
    const double index = shape[SLC_PREDICT_SHAPE_INDEX];
    const double flux = shape[SLC_PREDICT_SHAPE_FLUX];
    return index == 0.0 ? flux : flux * exp(index * channel[SLC_PREDICT_LN_FREQ]);
}

/* Component `k` of the tile into place `threadIdx.x`; one without flux where there is none. */
template <bool IS_LIST, int CHANNELS>
__device__ static void load(const slci_predict_view &view, int64_t k, bool is_there,
                            int64_t first_channel, batch<IS_LIST, CHANNELS> *out) {
    const int i = (int)threadIdx.x;
    out->l[i] = is_there ? view.place[3 * k] : 0.0;
    out->m[i] = is_there ? view.place[3 * k + 1] : 0.0;
    out->n[i] = is_there ? view.place[3 * k + 2] : 0.0;
    for (int c = 0; c < CHANNELS; c++) {
        const bool is_wanted = is_there && first_channel + c < view.n_channels;
        out->amplitude[c][i] =
            is_wanted ? (float)flux_of<IS_LIST>(view, k, first_channel + c) : 0.0f;
    }
    if (IS_LIST) {
        const double *shape = view.shape + k * SLC_PREDICT_SHAPE + SLC_PREDICT_SHAPE_MAJOR;
        for (int s = 0; s < 4; s++) {
            out->shape[s][i] = is_there ? shape[s] : 0.0;
        }
    }
}

/* Adds RUN components from `at` on to the sums of one row. */
template <bool IS_LIST, int CHANNELS>
__device__ static void add_run(const batch<IS_LIST, CHANNELS> &here, int at, const double uvw[3],
                               const double *scale, double *sum_re, double *sum_im) {
    float re[CHANNELS] = {0.0f};
    float im[CHANNELS] = {0.0f};
#pragma unroll
    for (int i = at; i < at + RUN; i++) {
        const double path_m =
            __fma_rn(uvw[2], here.n[i], __fma_rn(uvw[1], here.m[i], uvw[0] * here.l[i]));
        double size_m2 = 0.0;
        if (IS_LIST) {
            const double s =
                here.shape[0][i] * (uvw[0] * here.shape[2][i] + uvw[1] * here.shape[3][i]);
            const double t =
                here.shape[1][i] * (uvw[0] * here.shape[3][i] - uvw[1] * here.shape[2][i]);
            size_m2 = s * s + t * t;
        }
#pragma unroll
        for (int c = 0; c < CHANNELS; c++) {
            const double whole = __dadd_rn(__fma_rn(path_m, scale[c], ROUND_TO_ONE), -ROUND_TO_ONE);
            const float turns = (float)__fma_rn(path_m, scale[c], -whole);
            float amplitude = here.amplitude[c][i];
            if (IS_LIST) {
                amplitude *= expf(-(float)(size_m2 * (scale[c] * scale[c])));
            }
            float sine = 0.0f;
            float cosine = 0.0f;
            sincospif(2.0f * turns, &sine, &cosine);
            re[c] = fmaf(amplitude, cosine, re[c]);
            im[c] = fmaf(amplitude, sine, im[c]);
        }
    }
#pragma unroll
    for (int c = 0; c < CHANNELS; c++) {
        sum_re[c] += (double)re[c];
        sum_im[c] += (double)im[c];
    }
}

/* All components of the tile for one row and CHANNELS channels from `first` on. */
template <bool IS_LIST, int CHANNELS>
__device__ static void sum_row(const slci_predict_view &view, int64_t row, bool has_row,
                               int64_t first, batch<IS_LIST, CHANNELS> *shared) {
    const int64_t n_components = view.tile->extent[1];
    double uvw[3] = {0.0, 0.0, 0.0};
    double scale[CHANNELS];
    for (int d = 0; d < 3 && has_row; d++) {
        uvw[d] = view.uvw[3 * row + d];
    }
    for (int c = 0; c < CHANNELS; c++) {
        const int64_t channel = first + c < view.n_channels ? first + c : first;
        scale[c] = view.channels[channel * SLC_PREDICT_CHANNEL_COLUMNS + SLC_PREDICT_SCALE];
    }
    for (int64_t begin = 0; begin < n_components; begin += SLC_PREDICT_GRANULE) {
        const int64_t end = min(begin + SLC_PREDICT_GRANULE, n_components);
        double sum_re[CHANNELS] = {0.0};
        double sum_im[CHANNELS] = {0.0};
        for (int64_t k = begin; k < end; k += BLOCK_ROWS) {
            const bool is_there = k + threadIdx.x < end;
            __syncthreads();
            load<IS_LIST, CHANNELS>(view, is_there ? k + threadIdx.x : k, is_there, first, shared);
            __syncthreads();
            const int n = (int)min((int64_t)BLOCK_ROWS, end - k);
            for (int i = 0; i < n; i += RUN) {
                add_run<IS_LIST, CHANNELS>(*shared, i, uvw, scale, sum_re, sum_im);
            }
        }
        for (int c = 0; c < CHANNELS && has_row; c++) {
            if (first + c < view.n_channels) {
                double *vis = view.vis + 2 * (row * view.n_channels + first + c);
                vis[0] += sum_re[c];
                vis[1] += sum_im[c];
            }
        }
    }
}

template <bool IS_LIST, int CHANNELS>
static __global__ void __launch_bounds__(BLOCK_ROWS) sum_rows(const slci_predict_view view) {
    __shared__ batch<IS_LIST, CHANNELS> shared;
    const int64_t row = (int64_t)blockIdx.x * BLOCK_ROWS + threadIdx.x;
    const bool has_row = row < view.tile->extent[0];
    const int64_t step = (int64_t)gridDim.y * CHANNELS;
    for (int64_t first = (int64_t)blockIdx.y * CHANNELS; first < view.n_channels; first += step) {
        sum_row<IS_LIST, CHANNELS>(view, row, has_row, first, &shared);
    }
}

/* ---- launching ------------------------------------------------------------------------------ */

typedef void (*sum_function)(const slci_predict_view view);

static const sum_function sum_forms[2][2] = {
    {sum_rows<false, 1>, sum_rows<false, MOST_CHANNELS>},
    {sum_rows<true, 1>, sum_rows<true, MOST_CHANNELS>},
};

static slc_status load_kernel(const void *function) {
    struct cudaFuncAttributes attributes;
    return slc_cuda_status(cudaFuncGetAttributes(&attributes, function),
                           "cudaFuncGetAttributes (predict kernel)");
}

/* Loads the kernels now: at the first launch it would take device memory in the middle of the run. */
static slc_status predict_cuda_prepare(void *state, slc_device *device) {
    (void)state;
    (void)device;
    SLC_TRY(load_kernel((const void *)fetch_flux));
    for (int f = 0; f < 4; f++) {
        SLC_TRY(load_kernel((const void *)sum_forms[f / 2][f % 2]));
    }
    return SLC_OK;
}

static slc_status predict_cuda_tile(void *state, const slc_tile_arguments *arguments) {
    const cudaStream_t stream = slc_stream_get_cuda(arguments->stream);
    slci_predict_view view;
    slci_predict_view_init((const slc_predict_setup *)state, arguments, &view);
    if (view.pixel != NULL) {
        const int64_t n = arguments->full_extent[1] * view.n_planes;
        const int64_t blocks = slc_min_i64(slc_ceil_div(n, FETCH_THREADS), MOST_FETCH_BLOCKS);
        fetch_flux<<<(unsigned)blocks, FETCH_THREADS, 0, stream>>>(view);
        SLC_TRY(slc_cuda_status(cudaGetLastError(), "launch of the predict kernel for pixels"));
    }
    const int is_list = view.shape != NULL;
    const int is_wide = view.n_channels > 1;
    const int64_t groups = slc_ceil_div(view.n_channels, is_wide ? MOST_CHANNELS : 1);
    const dim3 grid((unsigned)slc_ceil_div(arguments->full_extent[0], BLOCK_ROWS),
                    (unsigned)slc_min_i64(groups, MOST_BLOCKS_Y));
    sum_forms[is_list][is_wide]<<<grid, BLOCK_ROWS, 0, stream>>>(view);
    return slc_cuda_status(cudaGetLastError(), "launch of the predict kernel");
}

static double predict_cuda_terms_per_s(const slc_device_limits *limits) {
    return limits->n_processors * (limits->has_fast_double ? TERMS_PER_S_FAST : TERMS_PER_S_SLOW);
}

extern "C" {
extern const slc_predict_kernel slci_predict_cuda;
const slc_predict_kernel slci_predict_cuda = {
    "predict/cuda",       SLC_DEVICE_CUDA,          predict_cuda_tile,
    predict_cuda_prepare, predict_cuda_terms_per_s,
};
}
