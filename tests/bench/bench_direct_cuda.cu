/* Limits of the card, and a peer, for bench_direct_cuda.c.
 *
 * The limit: every pair needs at least one value of the special-function unit (two in the usual form,
 * a sine and a cosine), of which a multiprocessor gives 16 a clock. Eight independent chains a
 * thread and full occupancy hide its latency. */
#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernels/direct_cuda_pair.cuh"
#include "tests/bench/bench_direct_cuda.h"

#define CHAINS 8
#define STEPS 4096
#define STAGE 256 /* threads of a block of the peer, and visibilities staged at a time */
#define PEER_PIXELS 3

static bool is_good(cudaError_t error, const char *what) {
    if (error != cudaSuccess) {
        (void)fprintf(stderr, "bench_direct_cuda: %s: %s\n", what, cudaGetErrorString(error));
    }
    return error == cudaSuccess;
}

template <bool IS_CONVERTED> static __global__ void cosines(float *out) {
    float x[CHAINS];
#pragma unroll
    for (int c = 0; c < CHAINS; c++) {
        x[c] = (float)(threadIdx.x + c) * 0.001f;
    }
#pragma unroll 4
    for (int step = 0; step < STEPS; step++) {
#pragma unroll
        for (int c = 0; c < CHAINS; c++) {
            const float y = IS_CONVERTED ? 0x1p-31f * (float)__float_as_int(x[c]) : x[c];
            x[c] = __cosf(y);
        }
    }
    float sum = 0.0f;
#pragma unroll
    for (int c = 0; c < CHAINS; c++) {
        sum += x[c];
    }
    out[(int64_t)blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

bool bench_special_rate(bool is_converted, double *per_second) {
    const int blocks = 4096;
    const int threads = 256;
    float *d_out = NULL;
    cudaEvent_t begin, end;
    if (!is_good(cudaMalloc((void **)&d_out, sizeof(float) * blocks * threads), "memory") ||
        !is_good(cudaEventCreate(&begin), "event") || !is_good(cudaEventCreate(&end), "event")) {
        return false;
    }
    float best_ms = INFINITY;
    bool good = true;
    for (int run = 0; run < 5 && good; run++) {
        float ms = 0.0f;
        (void)cudaEventRecord(begin);
        if (is_converted) {
            cosines<true><<<blocks, threads>>>(d_out);
        } else {
            cosines<false><<<blocks, threads>>>(d_out);
        }
        good = is_good(cudaGetLastError(), "launch") && is_good(cudaEventRecord(end), "event") &&
               is_good(cudaEventSynchronize(end), "special functions") &&
               is_good(cudaEventElapsedTime(&ms, begin, end), "event");
        best_ms = ms < best_ms ? ms : best_ms;
    }
    *per_second = (double)blocks * threads * CHAINS * STEPS / ((double)best_ms * 1e-3);
    (void)cudaEventDestroy(begin);
    (void)cudaEventDestroy(end);
    (void)cudaFree(d_out);
    return good;
}

/* Each thread takes 2^12 turns; the errors are positive floats, whose bits order as they do. */
static __global__ void sweep(uint32_t lower_one, int *worst_bits) {
    const uint32_t first = (blockIdx.x * blockDim.x + threadIdx.x) << 12;
    const double raised = slci_pair_offset<SLCI_CUDA_FLAT>() * 0x1p+32;
    double worst = 0.0;
    for (uint32_t k = 0; k < 4096; k++) {
        const uint32_t turn = first + k;
        const float phase =
            slci_pair_phase<SLCI_CUDA_FLAT>(turn, lower_one, 0.0f, 0.0f, 0.0f, 0.0f);
        const double exact = cospi(((double)turn - raised) * 0x1p-31);
        worst = fmax(worst, fabs((double)__cosf(phase) - exact));
    }
    atomicMax(worst_bits, __float_as_int((float)worst));
}

bool bench_phase_error(double *worst) {
    int *d_worst = NULL;
    float value = 0.0f;
    bool good = is_good(cudaMalloc((void **)&d_worst, sizeof(int)), "memory") &&
                is_good(cudaMemset(d_worst, 0, sizeof(int)), "clearing");
    if (good) {
        sweep<<<4096, 256>>>(SLCI_LOWER_ONE, d_worst);
        good = is_good(cudaGetLastError(), "launch") &&
               is_good(cudaMemcpy(&value, d_worst, sizeof value, cudaMemcpyDeviceToHost), "sweep");
    }
    (void)cudaFree(d_worst);
    *worst = (double)value;
    return good;
}

static __global__ void peer(int n, const float *uvw, const float2 *vis, int size, float scale,
                            float *image) {
    __shared__ float u[STAGE], v[STAGE], w[STAGE];
    __shared__ float2 value[STAGE];
    const int64_t first = (int64_t)blockIdx.x * STAGE * PEER_PIXELS + threadIdx.x;
    float l[PEER_PIXELS], m[PEER_PIXELS], n1[PEER_PIXELS], sum[PEER_PIXELS];
#pragma unroll
    for (int p = 0; p < PEER_PIXELS; p++) {
        const int64_t pixel = first + p * STAGE;
        l[p] = -(float)((int)(pixel % size) - size / 2) * scale;
        m[p] = (float)((int)(pixel / size) - size / 2) * scale;
        const float r2 = l[p] * l[p] + m[p] * m[p];
        n1[p] = -r2 / (1.0f + sqrtf(1.0f - fminf(r2, 1.0f)));
        sum[p] = 0.0f;
    }
    for (int start = 0; start < n; start += STAGE) {
        const int count = min(STAGE, n - start);
        __syncthreads();
        if ((int)threadIdx.x < count) {
            const int64_t k = start + (int)threadIdx.x;
            u[threadIdx.x] = 6.2831853f * uvw[3 * k];
            v[threadIdx.x] = 6.2831853f * uvw[3 * k + 1];
            w[threadIdx.x] = 6.2831853f * uvw[3 * k + 2];
            value[threadIdx.x] = vis[k];
        }
        __syncthreads();
        for (int k = 0; k < count; k++) {
#pragma unroll
            for (int p = 0; p < PEER_PIXELS; p++) {
                float sine, cosine;
                __sincosf(u[k] * l[p] + v[k] * m[p] + w[k] * n1[p], &sine, &cosine);
                sum[p] += value[k].x * cosine + value[k].y * sine;
            }
        }
    }
#pragma unroll
    for (int p = 0; p < PEER_PIXELS; p++) {
        const int64_t pixel = first + p * STAGE;
        if (pixel < (int64_t)size * size) {
            image[pixel] = sum[p];
        }
    }
}

static bool time_peer(int n, const float *d_uvw, const float2 *d_vis, int size, float scale,
                      int repeats, float *d_image, int64_t *ns) {
    const int64_t per_block = STAGE * PEER_PIXELS;
    const int64_t pixels = (int64_t)size * size;
    const unsigned blocks = (unsigned)((pixels + per_block - 1) / per_block);
    cudaEvent_t begin, end;
    bool good =
        is_good(cudaEventCreate(&begin), "event") && is_good(cudaEventCreate(&end), "event");
    float best_ms = INFINITY;
    for (int run = 0; run < repeats && good; run++) {
        float ms = 0.0f;
        (void)cudaEventRecord(begin);
        peer<<<blocks, STAGE>>>(n, d_uvw, d_vis, size, scale, d_image);
        good = is_good(cudaGetLastError(), "launch of the peer") &&
               is_good(cudaEventRecord(end), "event") &&
               is_good(cudaEventSynchronize(end), "peer") &&
               is_good(cudaEventElapsedTime(&ms, begin, end), "event");
        best_ms = ms < best_ms ? ms : best_ms;
    }
    *ns = (int64_t)((double)best_ms * 1e6);
    (void)cudaEventDestroy(begin);
    (void)cudaEventDestroy(end);
    return good;
}

bool bench_peer(int64_t n, const double *uvw, const float *vis, int64_t size, double scale_rad,
                int repeats, float *image, int64_t *ns) {
    const size_t pixels = (size_t)(size * size);
    float *single = (float *)malloc(sizeof(float) * 3 * (size_t)n);
    float *d_uvw = NULL;
    float *d_image = NULL;
    float2 *d_vis = NULL;
    if (single == NULL) {
        return false;
    }
    for (int64_t k = 0; k < 3 * n; k++) {
        single[k] = (float)uvw[k];
    }
    const bool good =
        is_good(cudaMalloc((void **)&d_uvw, sizeof(float) * 3 * (size_t)n), "memory") &&
        is_good(cudaMalloc((void **)&d_vis, sizeof(float2) * (size_t)n), "memory") &&
        is_good(cudaMalloc((void **)&d_image, sizeof(float) * pixels), "memory") &&
        is_good(cudaMemcpy(d_uvw, single, sizeof(float) * 3 * (size_t)n, cudaMemcpyDefault),
                "copy") &&
        is_good(cudaMemcpy(d_vis, vis, sizeof(float2) * (size_t)n, cudaMemcpyDefault), "copy") &&
        time_peer((int)n, d_uvw, d_vis, (int)size, (float)scale_rad, repeats, d_image, ns) &&
        is_good(cudaMemcpy(image, d_image, sizeof(float) * pixels, cudaMemcpyDefault), "copy");
    (void)cudaFree(d_uvw);
    (void)cudaFree(d_vis);
    (void)cudaFree(d_image);
    free(single);
    return good;
}
