/* What the steps on a card share: what lies in device memory, and how a step says what to launch.
 *
 *     static __global__ void my_step(ladder_card card) { ... }
 *     static const ladder_launch launch = {my_step, {16, 16}, {16, 16}};
 *     extern "C" const ladder_step ladder_cuda_01 = {"name", "change", LADDER_SINGLE,
 *                                                    LADDER_LIMIT_SPECIAL, ladder_cuda_run, &launch};
 */
#ifndef LADDER_CUDA_H
#define LADDER_CUDA_H

#include <cuda_runtime.h>

#include "ladder.h"

/* Passed to kernels by value. All in device memory, in single precision too, so that each step reads
 * what it needs; a double image is there for the steps in double. */
typedef struct ladder_card {
    int n, size;
    double scale_rad;
    const double *uvw_double; /* [n, 3] wavelengths */
    const float4 *uvw;        /* [n] the same; the fourth number fills up sixteen bytes */
    const float2 *vis;        /* [n] */
    double *image_double;     /* [size, size] */
    float *image;             /* [size, size] */
} ladder_card;

typedef struct ladder_launch {
    void (*kernel)(ladder_card card);
    dim3 block;     /* threads */
    int2 square;    /* pixels of a block; the grid follows */
    bool is_double; /* the picture is image_double */
} ladder_launch;

/* The ladder's list of limits; see ladder_cuda_limits.cu. */
enum {
    LADDER_LIMIT_SINE_DOUBLE,
    LADDER_LIMIT_SINE_SINGLE,
    LADDER_LIMIT_SPECIAL,
    LADDER_LIMIT_SINGLE,
    LADDER_LIMIT_TENSOR,
    LADDER_CUDA_N_LIMITS
};

extern "C" const ladder_limit ladder_cuda_limits[LADDER_CUDA_N_LIMITS];

/* ladder_step.run of every step on a card. */
extern "C" const char *ladder_cuda_run(const ladder_step *step, const ladder_problem *problem,
                                       int n_threads, int repeats, double *image, ladder_run *out);

/* The direction of column i, row j, as direction cosines; n1 = n - 1. */
typedef struct ladder_direction {
    double l, m, n1;
} ladder_direction;

static __device__ inline ladder_direction ladder_look(const ladder_card &card, int i, int j) {
    ladder_direction at;
    at.l = -(i - card.size / 2) * card.scale_rad;
    at.m = (j - card.size / 2) * card.scale_rad;
    const double r2 = at.l * at.l + at.m * at.m;
    at.n1 = -r2 / (1.0 + sqrt(1.0 - r2));
    return at;
}

/* The pixel of a thread where each thread has one. */
static __device__ inline int ladder_column() {
    return (int)(blockIdx.x * blockDim.x + threadIdx.x);
}

static __device__ inline int ladder_row() {
    return (int)(blockIdx.y * blockDim.y + threadIdx.y);
}

#endif
