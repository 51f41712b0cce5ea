/* The pair of direct_cuda_pair.cuh without its kernel.
 *
 * Rate: a thread adds 32 samples, over and over, to 16 pixels of its own, so that nothing but the issue
 * slots of the multiprocessors binds. Samples and the pixels' turns come from shared memory, or the
 * compiler would move parts of a pair out of the loop. 256 threads a block, two blocks a
 * multiprocessor; 128 registers, 2.5 KiB shared (sm_90).
 *
 * Error: each thread takes 2^12 of the 2^32 turns. */
#include "core/device_cuda.h"
#include "kernels/direct_cuda_pair.cuh"
#include "kernels/direct_pair.h"

#define THREADS 256
#define BLOCKS 4096
#define PIXELS 16
#define SAMPLES 32
#define ROUNDS 128
#define N_RUNS 5

#define SWEEP_BITS 12
#define SWEEP_THREADS 256

static __device__ slci_pair_sample unit_sample() {
    const slci_pair_sample sample = {{(float)-SLCI_SINE_0, (float)-SLCI_SINE_1, (float)-SLCI_SINE_2,
                                      (float)-SLCI_SINE_3, (float)-SLCI_SINE_4},
                                     0.0f,
                                     0.0f,
                                     0,
                                     0.0};
    return sample;
}

static __device__ float phase_of(uint32_t turn, const slci_pair_sample *sample) {
    const slci_pair_pixel pixel = {0.0f, 0.0f, 0, 0.0};
    return slci_pair_phase<SLCI_CUDA_FLAT>(turn, sample, &pixel);
}

static __global__ void __launch_bounds__(THREADS, 2) add_pairs(float *out) {
    __shared__ slci_pair_sample samples[SAMPLES];
    __shared__ uint32_t turns[SAMPLES];
    __shared__ uint32_t numbers[THREADS + PIXELS];
    for (uint32_t k = threadIdx.x; k < THREADS + PIXELS; k += THREADS) {
        const uint32_t number = (k + 1) * 0x85ebca6bu;
        numbers[k] = number ^ (number >> 13); /* or sums with neighbours' turns would be alike */
    }
    if (threadIdx.x < SAMPLES) {
        samples[threadIdx.x] = unit_sample();
        turns[threadIdx.x] = threadIdx.x * 0x9e3779b9u;
    }
    __syncthreads();
    uint32_t own_turn[PIXELS];
    float sum[PIXELS];
#pragma unroll
    for (int i = 0; i < PIXELS; i++) {
        own_turn[i] = numbers[threadIdx.x + (uint32_t)i];
        sum[i] = 0.0f;
    }
#pragma unroll 1
    for (int round = 0; round < ROUNDS; round++) {
#pragma unroll 8
        for (int k = 0; k < SAMPLES; k++) {
            const slci_pair_sample sample = samples[k];
#pragma unroll
            for (int i = 0; i < PIXELS; i++) {
                sum[i] = slci_pair_add(phase_of(own_turn[i] + turns[k], &sample), &sample, sum[i]);
            }
        }
    }
    float total = 0.0f;
#pragma unroll
    for (int i = 0; i < PIXELS; i++) {
        total += sum[i]; /* what is not used is not made */
    }
    out[(int64_t)blockIdx.x * THREADS + threadIdx.x] = total;
}

/* Errors are positive floats, whose bits order as they do. */
static __global__ void sweep(int *worst_bits) {
    const uint32_t first = (blockIdx.x * SWEEP_THREADS + threadIdx.x) << SWEEP_BITS;
    const slci_pair_sample sample = unit_sample();
    double worst = 0.0;
    for (uint32_t k = 0; k < 1u << SWEEP_BITS; k++) {
        const float found = slci_pair_add(phase_of(first + k, &sample), &sample, 0.0f);
        worst = fmax(worst, fabs((double)found - cospi((double)(first + k) * 0x1p-31)));
    }
    atomicMax(worst_bits, __float_as_int((float)worst));
}

static slc_status check_device(const slc_device *device) {
    return device->kind == SLC_DEVICE_CUDA
               ? SLC_OK
               : SLC_FAIL(SLC_ERROR_DEVICE, "the sine kernel's pairs are for cards");
}

static slc_status time_pairs(slc_stream *stream, float *d_out, slc_event *begin, slc_event *end,
                             double *pairs_per_s) {
    const double pairs = (double)BLOCKS * THREADS * PIXELS * SAMPLES * ROUNDS;
    double best = 0.0;
    for (int run = 0; run < N_RUNS; run++) {
        int64_t ns = 0;
        SLC_TRY(slc_event_record(begin, stream));
        add_pairs<<<BLOCKS, THREADS, 0, slc_stream_get_cuda(stream)>>>(d_out);
        SLC_TRY(slc_cuda_status(cudaGetLastError(), "add_pairs(launch)"));
        SLC_TRY(slc_event_record(end, stream));
        SLC_TRY(slc_event_synchronize(end));
        SLC_TRY(slc_event_elapsed(begin, end, &ns));
        best = fmax(best, pairs / (1e-9 * (double)ns));
    }
    *pairs_per_s = best;
    return SLC_OK;
}

extern "C" slc_status slci_direct_pair_rate(slc_device *device, slc_stream *stream,
                                            double *pairs_per_s) {
    SLC_TRY(check_device(device));
    void *d_out = NULL;
    slc_event *begin = NULL;
    slc_event *end = NULL;
    slc_status status =
        slc_device_allocate(device, (int64_t)sizeof(float) * BLOCKS * THREADS, &d_out);
    status = status != SLC_OK ? status : slc_event_create_timed(device, &begin);
    status = status != SLC_OK ? status : slc_event_create_timed(device, &end);
    if (status == SLC_OK) {
        status = time_pairs(stream, (float *)d_out, begin, end, pairs_per_s);
    }
    slc_event_destroy(begin);
    slc_event_destroy(end);
    slc_device_release(device, d_out);
    return status;
}

static slc_status sweep_all(slc_stream *stream, int *d_worst, float *worst) {
    const unsigned blocks = 1u << (32 - SWEEP_BITS - 8); /* of 2^8 threads */
    SLC_TRY(slc_stream_set(stream, d_worst, 0, (int64_t)sizeof *d_worst));
    sweep<<<blocks, SWEEP_THREADS, 0, slc_stream_get_cuda(stream)>>>(d_worst);
    SLC_TRY(slc_cuda_status(cudaGetLastError(), "sweep(launch)"));
    SLC_TRY(slc_stream_copy(stream, worst, d_worst, (int64_t)sizeof *worst, SLC_COPY_FROM_DEVICE));
    return slc_stream_synchronize(stream);
}

extern "C" slc_status slci_direct_pair_error(slc_device *device, slc_stream *stream,
                                             double *worst) {
    SLC_TRY(check_device(device));
    void *d_worst = NULL;
    float found = 0.0f;
    SLC_TRY(slc_device_allocate(device, (int64_t)sizeof(int), &d_worst));
    const slc_status status = sweep_all(stream, (int *)d_worst, &found);
    slc_device_release(device, d_worst);
    *worst = (double)found;
    return status;
}
