/* The probe of direct_probe.h: made-up operands through the matrix instructions of single warps, each
 * result against the exact sum in 64-bit integers.
 *
 * An operand is m · 2^(s - 17) with 1024 <= |m| < 2048 and s from 0 to 7: an fp16 number between 2^-7
 * and 2. Products are whole units of 2^-34, and so is every sum. Each warp chains STEPS products
 * of 16 × 8 × 16: the sum that the card gave is where the next begins, so that sums of all sizes come
 * by. What operands look like is the warp's kind (probe_kind); all are functions of their place alone,
 * so that each lane makes those of its four sums anew instead of exchanging them.
 *
 * 128 blocks of 256 threads; 0.1 ms on an H200. */
#include <assert.h>
#include <cuda_fp16.h>
#include <math.h>
#include <string.h>

#include "core/device_cuda.h"
#include "kernels/direct_mma_instruction.cuh"
#include "kernels/direct_probe.h"

#define BLOCKS 128
#define THREADS 256
#define STEPS 4
#define INNER 16

/* Units of sums: 2^-34. */
#define UNIT_BITS 34
#define LEAST_SHIFT_BITS 17 /* an operand with s = 0 is m of these */

typedef enum probe_kind {
    PROBE_RANDOM,  /* sizes over seven powers of two, either sign */
    PROBE_ALIGNED, /* one size, one sign: the sum grows as at a coherent peak */
    PROBE_CANCEL,  /* products in pairs that nearly cancel */
    PROBE_SMALL,   /* small products beside a large sum */
    PROBE_LONE,    /* two products and a small sum: one visibility */
    PROBE_EXACT,   /* one product and no sum */
    PROBE_N_KINDS
} probe_kind;

/* A sum of the card, of the model, and what the latter allows between them. */
typedef struct probe_sum {
    int64_t exact; /* units */
    double allowed;
} probe_sum;

typedef struct probe_operand {
    int m, s;
} probe_operand;

/* A number that its arguments alone fix; the multipliers are those of MurmurHash3's finalizer. */
static __device__ __forceinline__ uint32_t scatter(uint32_t a, uint32_t b) {
    uint32_t h = a * 0x9e3779b9u + b * 0x7f4a7c15u + 0x165667b1u;
    h = (h ^ (h >> 16)) * 0x85ebca6bu;
    h = (h ^ (h >> 13)) * 0xc2b2ae35u;
    return h ^ (h >> 16);
}

/* Operand k of a row or a column (`line`: columns from 16 on) in one step of a warp. */
static __device__ probe_operand operand_at(probe_kind kind, uint32_t step, int line, int k) {
    const int pair = kind == PROBE_CANCEL ? k & ~1 : k;
    const uint32_t h = scatter(step, (uint32_t)(line * INNER + pair));
    const bool is_left = line < 16;
    probe_operand out = {1024 + (int)(h & 1023u), (int)(h >> 10 & 7u)};
    const bool is_negative = (h >> 13 & 1u) != 0;
    if (kind == PROBE_ALIGNED) {
        out.s = 6;
        return out;
    }
    if (kind == PROBE_SMALL) {
        out.s = (int)(h >> 10 & 1u);
    } else if (kind == PROBE_CANCEL) {
        out.m ^= is_left ? k & 1 : 0;
        out.s = 7 - (int)(h >> 10 & 1u);
        out.m = is_left && (k & 1) != 0 ? -out.m : out.m;
    } else if (kind == PROBE_LONE || kind == PROBE_EXACT) {
        out.m = k < (kind == PROBE_LONE ? 2 : 1) ? out.m : 0;
    }
    out.m = is_negative ? -out.m : out.m;
    return out;
}

/* The sum that a chain begins with, in units, of at most 24 bits that are not 0. */
static __device__ int64_t first_sum(probe_kind kind, uint32_t step, int row, int column) {
    const uint32_t h = scatter(step, (uint32_t)(1024 + row * 8 + column));
    const int64_t m = (int64_t)(h & 0x7fffffu) | 0x800000;
    const int64_t signed_m = (h >> 23 & 1u) != 0 ? -m : m;
    switch (kind) {
    case PROBE_RANDOM:
        return signed_m << (h >> 24 & 15u);
    case PROBE_SMALL:
        return signed_m << (12 + (h >> 24 & 7u));
    case PROBE_LONE:
        return signed_m << (h >> 24 & 3u);
    default:
        return 0;
    }
}

static __device__ uint32_t half_bits(probe_operand operand) {
    const float value = ldexpf((float)operand.m, operand.s - LEAST_SHIFT_BITS);
    return (uint32_t)__half_as_ushort(__float2half_rn(value));
}

/* Operands k and k + 1. */
static __device__ uint32_t half_pair(probe_kind kind, uint32_t step, int line, int k) {
    return half_bits(operand_at(kind, step, line, k)) |
           half_bits(operand_at(kind, step, line, k + 1)) << 16;
}

static __device__ int leading_bit(int64_t number) {
    return number == 0 ? -1 : 63 - __clzll(llabs(number));
}

/* Whether bits of `number` lie below bit `bit`. */
static __device__ bool has_below(int64_t number, int bit) {
    return bit > 0 && (number & ((INT64_C(1) << bit) - 1)) != 0;
}

/* Adds assumed.n_added products, from `first` on. */
static __device__ void add_some(probe_kind kind, uint32_t step, int row, int column, int first,
                                slci_direct_sums assumed, probe_sum *sum) {
    int largest = leading_bit(llabs(sum->exact) + (int64_t)sum->allowed);
    for (int k = first; k < first + assumed.n_added; k++) {
        const probe_operand a = operand_at(kind, step, row, k);
        const probe_operand b = operand_at(kind, step, 16 + column, k);
        largest = a.m * b.m != 0 ? max(largest, 20 + a.s + b.s) : largest;
    }
    const int cut = largest - assumed.kept_bits; /* the last bit that is kept */
    /* A sum that was itself cut has other bits than the exact one. */
    int n_cut = has_below(sum->exact, cut) || (sum->allowed > 0.0 && cut > 0) ? 1 : 0;
    for (int k = first; k < first + assumed.n_added; k++) {
        const probe_operand a = operand_at(kind, step, row, k);
        const probe_operand b = operand_at(kind, step, 16 + column, k);
        const int64_t product = (int64_t)(a.m * b.m) << (a.s + b.s);
        n_cut += has_below(product, cut) ? 1 : 0;
        sum->exact += product;
    }
    sum->allowed += (double)n_cut * exp2((double)cut);
    const int last = leading_bit(llabs(sum->exact) + (int64_t)sum->allowed) - 23;
    if (last > 0 && (has_below(sum->exact, last) || sum->allowed > 0.0)) {
        sum->allowed += exp2((double)last);
    }
}

/* The error of one sum of 16 products in units of what is allowed. */
static __device__ float look_at(probe_kind kind, uint32_t step, int row, int column, float before,
                                float after, slci_direct_sums assumed) {
    probe_sum sum = {__double2ll_rn(ldexp((double)before, UNIT_BITS)), 0.0};
    for (int first = 0; first < INNER; first += assumed.n_added) {
        add_some(kind, step, row, column, first, assumed, &sum);
    }
    const double error = fabs(ldexp((double)after, UNIT_BITS) - (double)sum.exact);
    return error == 0.0 ? 0.0f : (float)(error / sum.allowed);
}

/* Errors are no negative floats, whose bits order as they do; NaN is above all of them. */
static __global__ void __launch_bounds__(THREADS) probe(slci_direct_sums assumed, int *worst_bits) {
    const uint32_t warp = blockIdx.x * (THREADS / 32) + threadIdx.x / 32;
    const probe_kind kind = (probe_kind)(warp % PROBE_N_KINDS);
    const int g = (int)threadIdx.x % 32 / 4;
    const int t = (int)threadIdx.x % 4 * 2;
    float sum[4], before[4];
    float worst = 0.0f;
    assumed.n_added = min(assumed.n_added, SLCI_MMA_INNER);
    for (int i = 0; i < 4; i++) {
        sum[i] = (float)ldexp((double)first_sum(kind, warp, g + i / 2 * 8, t + i % 2), -UNIT_BITS);
    }
    for (uint32_t chained = 0; chained < STEPS; chained++) {
        const uint32_t step = warp * STEPS + chained;
        const uint32_t left[4] = {half_pair(kind, step, g, t), half_pair(kind, step, g + 8, t),
                                  half_pair(kind, step, g, t + 8),
                                  half_pair(kind, step, g + 8, t + 8)};
        const uint32_t right[2] = {half_pair(kind, step, 16 + g, t),
                                   half_pair(kind, step, 16 + g, t + 8)};
        memcpy(before, sum, sizeof before);
        slci_mma_16x8x16(sum, left, right);
        for (int i = 0; i < 4; i++) {
            const float found =
                look_at(kind, step, g + i / 2 * 8, t + i % 2, before[i], sum[i], assumed);
            worst = isnan(worst) || found <= worst ? worst : found;
        }
    }
    atomicMax(worst_bits, __float_as_int(worst) & 0x7fffffff);
}

static slc_status run_probe(slc_stream *stream, const slci_direct_sums *assumed, int *d_worst,
                            float *worst) {
    SLC_TRY(slc_stream_set(stream, d_worst, 0, (int64_t)sizeof *d_worst));
    probe<<<BLOCKS, THREADS, 0, slc_stream_get_cuda(stream)>>>(*assumed, d_worst);
    SLC_TRY(slc_cuda_status(cudaGetLastError(), "probe of the tensor cores (launch)"));
    SLC_TRY(slc_stream_copy(stream, worst, d_worst, (int64_t)sizeof *worst, SLC_COPY_FROM_DEVICE));
    return slc_stream_synchronize(stream);
}

extern "C" slc_status slci_direct_probe(slc_device *device, const slci_direct_sums *assumed,
                                        double *worst) {
    if (device->kind != SLC_DEVICE_CUDA) {
        return SLC_FAIL(SLC_ERROR_DEVICE, "only cards have tensor cores to be probed");
    }
    assert(assumed->n_added == 4 || assumed->n_added == 8 || assumed->n_added == 16);
    void *d_worst = NULL;
    slc_stream *stream = NULL;
    float found = 0.0f;
    slc_status status = slc_device_allocate(device, (int64_t)sizeof(int), &d_worst);
    status = status != SLC_OK ? status : slc_stream_create(device, &stream);
    if (status == SLC_OK) {
        status = run_probe(stream, assumed, (int *)d_worst, &found);
    }
    slc_stream_destroy(stream);
    slc_device_release(device, d_worst);
    if (status == SLC_OK) {
        *worst = isnan(found) ? (double)INFINITY : (double)found;
    }
    return status;
}
