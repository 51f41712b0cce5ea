/* What binds a step: rates of kernels that do nothing but the costliest part of a pair.
 *
 * Chains of values that depend on one another, several a thread and many threads, so that latencies are
 * hidden and the unit in question is always busy. */
#include <mma.h>

#include "ladder_cuda.h"

#define CHAINS 8
#define STEPS 1024
#define THREADS 256
#define BLOCKS 2048
#define REPEATS 3

/* A pair of the summing steps: two multiply-adds of the phase, one that scales it to turns, two of the
 * sum. */
#define MULTIPLY_ADDS 5

/* Arguments of the size that phases have here: the C library's sine takes longer for larger ones. */
#define SPREAD 3000

template <typename T> static __device__ T fold(const T *x) {
    T sum = 0;
    for (int c = 0; c < CHAINS; c++) {
        sum += x[c];
    }
    return sum;
}

static __device__ int thread_of_grid() {
    return (int)(blockIdx.x * blockDim.x + threadIdx.x);
}

static __global__ void sines_double(float *out) {
    double x[CHAINS];
    for (int c = 0; c < CHAINS; c++) {
        x[c] = 0.001 * (int)threadIdx.x + c;
    }
    for (int step = 0; step < STEPS / 8; step++) {
#pragma unroll
        for (int c = 0; c < CHAINS; c++) {
            const double phase = SPREAD * x[c];
            x[c] = cos(phase) + sin(phase);
        }
    }
    out[thread_of_grid()] = (float)fold(x);
}

static __global__ void sines_single(float *out) {
    float x[CHAINS];
    for (int c = 0; c < CHAINS; c++) {
        x[c] = 0.001f * (float)threadIdx.x + (float)c;
    }
    for (int step = 0; step < STEPS / 4; step++) {
#pragma unroll
        for (int c = 0; c < CHAINS; c++) {
            const float phase = SPREAD * x[c];
            x[c] = cosf(phase) + sinf(phase);
        }
    }
    out[thread_of_grid()] = fold(x);
}

static __global__ void sines_special(float *out) {
    float x[CHAINS];
    for (int c = 0; c < CHAINS; c++) {
        x[c] = 0.001f * (float)threadIdx.x + (float)c;
    }
    for (int step = 0; step < STEPS; step++) {
#pragma unroll
        for (int c = 0; c < CHAINS; c++) {
            float sine, cosine;
            __sincosf(x[c], &sine, &cosine);
            x[c] = sine + cosine;
        }
    }
    out[thread_of_grid()] = fold(x);
}

static __global__ void multiply_adds(float *out) {
    float x[CHAINS];
    const float factor = 1.0f - 1e-3f * (float)threadIdx.x;
    for (int c = 0; c < CHAINS; c++) {
        x[c] = (float)c;
    }
    for (int step = 0; step < STEPS; step++) {
#pragma unroll
        for (int c = 0; c < MULTIPLY_ADDS * CHAINS; c++) {
            x[c % CHAINS] = fmaf(x[c % CHAINS], factor, 1.0f);
        }
    }
    out[thread_of_grid()] = fold(x);
}

/* Pieces of 16 × 16 × 16 in half precision: 16 × 16 pairs a term of two, so 8 visibilities. */
#define SIDE 16
#define PIECES 8
#define PAIRS_OF_PIECE (SIDE * SIDE * SIDE / 2)

static __global__ void products(float *out) {
    using namespace nvcuda::wmma;
    fragment<matrix_a, SIDE, SIDE, SIDE, half, row_major> a;
    fragment<matrix_b, SIDE, SIDE, SIDE, half, col_major> b;
    fragment<accumulator, SIDE, SIDE, SIDE, float> sum[PIECES];
    /* No two numbers alike, or products of the same are made once. */
    for (int e = 0; e < a.num_elements; e++) {
        a.x[e] = __float2half(0.5f + 1e-3f * (float)(e + (int)threadIdx.x));
        b.x[e] = __float2half(1e-3f * (float)(e + (int)threadIdx.x));
    }
    for (int p = 0; p < PIECES; p++) {
        for (int e = 0; e < sum[p].num_elements; e++) {
            sum[p].x[e] = (float)(e + 8 * p);
        }
    }
    for (int step = 0; step < STEPS; step++) {
#pragma unroll
        for (int p = 0; p < PIECES; p++) {
            mma_sync(sum[p], a, b, sum[p]);
        }
    }
    float total = 0.0f;
    for (int p = 0; p < PIECES; p++) {
        for (int e = 0; e < sum[p].num_elements; e++) {
            total += sum[p].x[e]; /* what is not used is not made */
        }
    }
    out[thread_of_grid()] = total;
}

/* Pairs a second of a kernel in which each thread makes `per_thread` of them. */
static const char *time_limit(void (*kernel)(float *), double per_thread, double *pairs_per_s) {
    float *d_out = NULL;
    cudaEvent_t begin = NULL;
    cudaEvent_t end = NULL;
    cudaError_t error = cudaMalloc((void **)&d_out, sizeof(float) * BLOCKS * THREADS);
    error = error != cudaSuccess ? error : cudaEventCreate(&begin);
    error = error != cudaSuccess ? error : cudaEventCreate(&end);
    float best_ms = 0.0f;
    for (int repeat = 0; repeat < REPEATS && error == cudaSuccess; repeat++) {
        float ms = 0.0f;
        error = cudaEventRecord(begin);
        kernel<<<BLOCKS, THREADS>>>(d_out);
        error = error != cudaSuccess ? error : cudaGetLastError();
        error = error != cudaSuccess ? error : cudaEventRecord(end);
        error = error != cudaSuccess ? error : cudaEventSynchronize(end);
        error = error != cudaSuccess ? error : cudaEventElapsedTime(&ms, begin, end);
        best_ms = repeat == 0 || ms < best_ms ? ms : best_ms;
    }
    *pairs_per_s = per_thread * BLOCKS * THREADS / (1e-3 * (double)best_ms);
    (void)cudaEventDestroy(begin);
    (void)cudaEventDestroy(end);
    (void)cudaFree(d_out);
    return error == cudaSuccess ? NULL : cudaGetErrorString(error);
}

static const char *measure_double(int n_threads, double *pairs_per_s) {
    (void)n_threads;
    return time_limit(sines_double, (double)CHAINS * STEPS / 8, pairs_per_s);
}

static const char *measure_single(int n_threads, double *pairs_per_s) {
    (void)n_threads;
    return time_limit(sines_single, (double)CHAINS * STEPS / 4, pairs_per_s);
}

static const char *measure_special(int n_threads, double *pairs_per_s) {
    (void)n_threads;
    return time_limit(sines_special, (double)CHAINS * STEPS, pairs_per_s);
}

static const char *measure_multiply_adds(int n_threads, double *pairs_per_s) {
    (void)n_threads;
    return time_limit(multiply_adds, (double)CHAINS * STEPS, pairs_per_s);
}

static const char *measure_products(int n_threads, double *pairs_per_s) {
    (void)n_threads;
    return time_limit(products, (double)PIECES * STEPS * PAIRS_OF_PIECE / 32, pairs_per_s);
}

extern "C" const ladder_limit ladder_cuda_limits[LADDER_CUDA_N_LIMITS] = {
    {"sine and cosine in double", measure_double},
    {"sine and cosine in single", measure_single},
    {"special-function unit", measure_special},
    {"multiply-adds in single", measure_multiply_adds},
    {"tensor cores", measure_products},
};
