/* Limits of the card, and a peer, for bench_direct_cuda.c.
 *
 * Two limits. The kernel's own: its instructions for a pair and no others, so that only the issue
 * slots of the multiprocessors bind. And that of the usual form, a sine and a cosine a pair: the
 * special-function unit, of which a multiprocessor gives 16 values a clock. Independent chains and
 * enough warps hide the latencies of both. */
#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernels/direct_cuda_pair.cuh"
#include "tests/bench/bench_direct_cuda.h"

#define CHAINS 8  /* independent values of a thread: special functions */
#define PIXELS 16 /* and pairs */
#define STEPS 4096
#define SAMPLES 32 /* of the pairs, over and over */
#define STAGE 256  /* threads of a block of the peer, and visibilities staged at a time */
#define PEER_PIXELS 3

static bool is_good(cudaError_t error, const char *what) {
    if (error != cudaSuccess) {
        (void)fprintf(stderr, "bench_direct_cuda: %s: %s\n", what, cudaGetErrorString(error));
    }
    return error == cudaSuccess;
}

static __global__ void cosines(float *out) {
    float x[CHAINS];
#pragma unroll
    for (int c = 0; c < CHAINS; c++) {
        x[c] = (float)(threadIdx.x + c) * 0.001f;
    }
#pragma unroll 4
    for (int step = 0; step < STEPS; step++) {
#pragma unroll
        for (int c = 0; c < CHAINS; c++) {
            x[c] = __cosf(x[c]);
        }
    }
    float sum = 0.0f;
#pragma unroll
    for (int c = 0; c < CHAINS; c++) {
        sum += x[c];
    }
    out[(int64_t)blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

static __device__ slci_pair_sample unit_sample(float w) {
    const slci_pair_sample sample = {{(float)-SLCI_SINE_0, (float)-SLCI_SINE_1, (float)-SLCI_SINE_2,
                                      (float)-SLCI_SINE_3, (float)-SLCI_SINE_4},
                                     w,
                                     w * 1e-6f,
                                     (int)(w * 1e5f),
                                     (double)w};
    return sample;
}

/* Samples and the pixels' numbers come from shared memory, so that nothing of a pair can be moved out
 * of the loop, nor anything else formed anew within it. */
template <int VARIANT> static __global__ void __launch_bounds__(STAGE, 2) pairs(float *out) {
    __shared__ slci_pair_sample samples[SAMPLES];
    __shared__ uint32_t turns[SAMPLES];
    __shared__ uint32_t numbers[STAGE + 2 * PIXELS];
    __shared__ float fractions[STAGE + 2 * PIXELS];
    for (uint32_t k = threadIdx.x; k < STAGE + 2 * PIXELS; k += STAGE) {
        const uint32_t number = (k + 1) * 0x85ebca6bu;
        numbers[k] = number ^ (number >> 13); /* or products with neighbours would be sums */
        fractions[k] = (float)number * 0x1p-32f;
    }
    if (threadIdx.x < SAMPLES) {
        samples[threadIdx.x] = unit_sample((float)threadIdx.x * 0.01f);
        turns[threadIdx.x] = threadIdx.x * 0x9e3779b9u;
    }
    __syncthreads();
    uint32_t own_turn[PIXELS];
    slci_pair_pixel pixel[PIXELS];
    float sum[PIXELS];
#pragma unroll
    for (int i = 0; i < PIXELS; i++) {
        own_turn[i] = numbers[threadIdx.x + (uint32_t)i];
        pixel[i].c_whole = (int)numbers[threadIdx.x + (uint32_t)(PIXELS + i)];
        pixel[i].c = fractions[threadIdx.x + (uint32_t)i];
        pixel[i].c_low = fractions[threadIdx.x + (uint32_t)(PIXELS + i)];
        pixel[i].c_double = (double)pixel[i].c * 1e3;
        sum[i] = 0.0f;
    }
#pragma unroll 1
    for (int round = 0; round < STEPS / SAMPLES; round++) {
#pragma unroll 8
        for (int k = 0; k < SAMPLES; k++) {
            const slci_pair_sample sample = samples[k];
#pragma unroll
            for (int i = 0; i < PIXELS; i++) {
                const uint32_t turn = own_turn[i] + turns[k];
                const float x = slci_pair_phase<VARIANT>(turn, &sample, &pixel[i]);
                sum[i] = slci_pair_add(x, &sample, sum[i]);
            }
        }
    }
    float total = 0.0f;
#pragma unroll
    for (int i = 0; i < PIXELS; i++) {
        total += sum[i];
    }
    out[(int64_t)blockIdx.x * blockDim.x + threadIdx.x] = total;
}

/* Values a second of a kernel in which each thread makes `per_thread` of them. */
static bool time_rate(void (*kernel)(float *), int per_thread, double *per_second) {
    const int blocks = 4096;
    float *d_out = NULL;
    cudaEvent_t begin, end;
    if (!is_good(cudaMalloc((void **)&d_out, sizeof(float) * blocks * STAGE), "memory") ||
        !is_good(cudaEventCreate(&begin), "event") || !is_good(cudaEventCreate(&end), "event")) {
        return false;
    }
    float best_ms = INFINITY;
    bool good = true;
    for (int run = 0; run < 5 && good; run++) {
        float ms = 0.0f;
        (void)cudaEventRecord(begin);
        kernel<<<blocks, STAGE>>>(d_out);
        good = is_good(cudaGetLastError(), "launch") && is_good(cudaEventRecord(end), "event") &&
               is_good(cudaEventSynchronize(end), "limit") &&
               is_good(cudaEventElapsedTime(&ms, begin, end), "event");
        best_ms = ms < best_ms ? ms : best_ms;
    }
    *per_second = (double)blocks * STAGE * per_thread / ((double)best_ms * 1e-3);
    (void)cudaEventDestroy(begin);
    (void)cudaEventDestroy(end);
    (void)cudaFree(d_out);
    return good;
}

bool bench_special_rate(double *per_second) {
    return time_rate(cosines, CHAINS * STEPS, per_second);
}

bool bench_pair_rate(int variant, double *per_second) {
    static void (*const kernels[BENCH_N_VARIANTS])(
        float *) = {pairs<SLCI_CUDA_FLAT>, pairs<SLCI_CUDA_SINGLE>, pairs<SLCI_CUDA_DOUBLE>,
                    pairs<SLCI_CUDA_WIDE>};
    return time_rate(kernels[variant], PIXELS * STEPS, per_second);
}

/* Each thread takes 2^12 turns; the errors are positive floats, whose bits order as they do. */
static __global__ void sweep(int *worst_bits) {
    const uint32_t first = (blockIdx.x * blockDim.x + threadIdx.x) << 12;
    const slci_pair_sample sample = unit_sample(0.0f);
    const slci_pair_pixel pixel = {0.0f, 0.0f, 0, 0.0};
    double worst = 0.0;
    for (uint32_t k = 0; k < 4096; k++) {
        const uint32_t turn = first + k;
        const float x = slci_pair_phase<SLCI_CUDA_FLAT>(turn, &sample, &pixel);
        const double exact = cospi((double)turn * 0x1p-31);
        worst = fmax(worst, fabs((double)slci_pair_add(x, &sample, 0.0f) - exact));
    }
    atomicMax(worst_bits, __float_as_int((float)worst));
}

bool bench_phase_error(double *worst) {
    int *d_worst = NULL;
    float value = 0.0f;
    bool good = is_good(cudaMalloc((void **)&d_worst, sizeof(int)), "memory") &&
                is_good(cudaMemset(d_worst, 0, sizeof(int)), "clearing");
    if (good) {
        sweep<<<4096, 256>>>(d_worst);
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
