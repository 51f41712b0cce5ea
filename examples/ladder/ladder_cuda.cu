/* Runs a step on a card: memory, launches, timing, and what the card says about the kernel. */
#include <stdlib.h>

#include "ladder_cuda.h"

/* Returns what went wrong, if anything did. */
#define TRY(call)                             \
    do {                                      \
        const cudaError_t error = (call);     \
        if (error != cudaSuccess) {           \
            return cudaGetErrorString(error); \
        }                                     \
    } while (0)

extern "C" const ladder_step ladder_cuda_01, ladder_cuda_02, ladder_cuda_03, ladder_cuda_04,
    ladder_cuda_05, ladder_cuda_06, ladder_cuda_07, ladder_cuda_08, ladder_cuda_09, ladder_cuda_10,
    ladder_cuda_11;

static const ladder_step *const steps[] = {&ladder_cuda_01, &ladder_cuda_02, &ladder_cuda_03,
                                           &ladder_cuda_04, &ladder_cuda_05, &ladder_cuda_06,
                                           &ladder_cuda_07, &ladder_cuda_08, &ladder_cuda_09,
                                           &ladder_cuda_10, &ladder_cuda_11};

/* Bytes of each piece of device memory. */
typedef struct sizes {
    size_t uvw_double, uvw, vis, image_double, image;
} sizes;

static sizes find_sizes(const ladder_problem *problem) {
    const size_t n = (size_t)problem->n;
    const size_t pixels = (size_t)problem->size * (size_t)problem->size;
    const sizes bytes = {n * 3 * sizeof(double), n * sizeof(float4), n * sizeof(float2),
                         pixels * sizeof(double), pixels * sizeof(float)};
    return bytes;
}

static ladder_bytes find_bytes(const ladder_problem *problem, int n_threads) {
    (void)n_threads;
    const sizes bytes = find_sizes(problem);
    const size_t device =
        bytes.uvw_double + bytes.uvw + bytes.vis + bytes.image_double + bytes.image;
    const ladder_bytes both = {(int64_t)device, (int64_t)(bytes.uvw + bytes.image)};
    return both;
}

static const char *choose(int index) {
    TRY(cudaSetDevice(index));
    return NULL;
}

/* What is on the card and, for the copies to and from it, in host memory in single precision. */
typedef struct bench {
    ladder_card card;
    double *d_uvw_double;
    float4 *d_uvw;
    float2 *d_vis;
    float4 *uvw;
    float *image;
    cudaEvent_t begin, end;
} bench;

static const char *allocate(const ladder_problem *problem, bench *self) {
    const sizes bytes = find_sizes(problem);
    self->uvw = (float4 *)malloc(bytes.uvw);
    self->image = (float *)malloc(bytes.image);
    if (self->uvw == NULL || self->image == NULL) {
        return "no memory";
    }
    TRY(cudaEventCreate(&self->begin));
    TRY(cudaEventCreate(&self->end));
    TRY(cudaMalloc((void **)&self->d_uvw_double, bytes.uvw_double));
    TRY(cudaMalloc((void **)&self->d_uvw, bytes.uvw));
    TRY(cudaMalloc((void **)&self->d_vis, bytes.vis));
    TRY(cudaMalloc((void **)&self->card.image_double, bytes.image_double));
    TRY(cudaMalloc((void **)&self->card.image, bytes.image));
    self->card.n = problem->n;
    self->card.size = problem->size;
    self->card.scale_rad = problem->scale_rad;
    self->card.uvw_double = self->d_uvw_double;
    self->card.uvw = self->d_uvw;
    self->card.vis = self->d_vis;
    return NULL;
}

static void release(bench *self) {
    (void)cudaFree(self->d_uvw_double);
    (void)cudaFree(self->d_uvw);
    (void)cudaFree(self->d_vis);
    (void)cudaFree(self->card.image_double);
    (void)cudaFree(self->card.image);
    if (self->begin != NULL) {
        (void)cudaEventDestroy(self->begin);
    }
    if (self->end != NULL) {
        (void)cudaEventDestroy(self->end);
    }
    free(self->uvw);
    free(self->image);
}

/* Pictures start as NaN, so that a pixel that a step forgets is seen. */
static const char *fill(const ladder_problem *problem, bench *self) {
    const sizes bytes = find_sizes(problem);
    for (int k = 0; k < problem->n; k++) {
        const double *uvw = &problem->uvw[3 * k];
        self->uvw[k] = make_float4((float)uvw[0], (float)uvw[1], (float)uvw[2], 0.0f);
    }
    TRY(cudaMemcpy(self->d_uvw_double, problem->uvw, bytes.uvw_double, cudaMemcpyHostToDevice));
    TRY(cudaMemcpy(self->d_uvw, self->uvw, bytes.uvw, cudaMemcpyHostToDevice));
    TRY(cudaMemcpy(self->d_vis, problem->vis, bytes.vis, cudaMemcpyHostToDevice));
    TRY(cudaMemset(self->card.image_double, 0xff, bytes.image_double));
    TRY(cudaMemset(self->card.image, 0xff, bytes.image));
    return NULL;
}

static const char *time_step(const ladder_launch *launch, int repeats, bench *self,
                             double *seconds) {
    const dim3 grid((unsigned)(self->card.size / launch->square.x),
                    (unsigned)(self->card.size / launch->square.y));
    *seconds = 0.0;
    for (int repeat = 0; repeat < repeats; repeat++) {
        float ms = 0.0f;
        TRY(cudaEventRecord(self->begin));
        launch->kernel<<<grid, launch->block>>>(self->card);
        TRY(cudaGetLastError());
        TRY(cudaEventRecord(self->end));
        TRY(cudaEventSynchronize(self->end));
        TRY(cudaEventElapsedTime(&ms, self->begin, self->end));
        if (repeat == 0 || 1e-3 * (double)ms < *seconds) {
            *seconds = 1e-3 * (double)ms;
        }
    }
    return NULL;
}

static const char *fetch(const ladder_launch *launch, const ladder_problem *problem, bench *self,
                         double *image) {
    const sizes bytes = find_sizes(problem);
    if (launch->is_double) {
        TRY(cudaMemcpy(image, self->card.image_double, bytes.image_double, cudaMemcpyDeviceToHost));
        return NULL;
    }
    TRY(cudaMemcpy(self->image, self->card.image, bytes.image, cudaMemcpyDeviceToHost));
    for (int64_t p = 0; p < (int64_t)problem->size * problem->size; p++) {
        image[p] = (double)self->image[p];
    }
    return NULL;
}

/* Registers and shared memory decide how many warps a multiprocessor holds, of those it could. */
static const char *ask_occupancy(const ladder_launch *launch, ladder_run *out) {
    cudaFuncAttributes attributes;
    int device = 0;
    int most_threads = 0;
    int blocks = 0;
    out->threads = (int)(launch->block.x * launch->block.y);
    TRY(cudaFuncGetAttributes(&attributes, (const void *)launch->kernel));
    TRY(cudaGetDevice(&device));
    TRY(cudaDeviceGetAttribute(&most_threads, cudaDevAttrMaxThreadsPerMultiProcessor, device));
    TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void *)launch->kernel,
                                                      out->threads, 0));
    out->registers = attributes.numRegs;
    out->shared_bytes = (int)attributes.sharedSizeBytes;
    out->occupancy = (double)(blocks * out->threads) / most_threads;
    return NULL;
}

extern "C" const char *ladder_cuda_run(const ladder_step *step, const ladder_problem *problem,
                                       int n_threads, int repeats, double *image, ladder_run *out) {
    (void)n_threads; /* the card's are the launch's business */
    const ladder_launch *launch = (const ladder_launch *)step->own;
    bench self = {};
    const char *failure = allocate(problem, &self);
    failure = failure != NULL ? failure : fill(problem, &self);
    failure = failure != NULL ? failure : time_step(launch, repeats, &self, &out->seconds);
    failure = failure != NULL ? failure : fetch(launch, problem, &self, image);
    failure = failure != NULL ? failure : ask_occupancy(launch, out);
    release(&self);
    return failure;
}

const ladder *ladder_get_cuda(void) {
    static const ladder cuda = {steps,
                                (int)(sizeof steps / sizeof steps[0]),
                                ladder_cuda_limits,
                                LADDER_CUDA_N_LIMITS,
                                find_bytes,
                                choose};
    return &cuda;
}
