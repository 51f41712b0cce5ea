/* cuBLAS by dlopen: three functions of its interface of version 2, which have been the same since
 * version 11. Their types are written out here, because the library's headers may be missing. */
#include "kernels/cublas_rate.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <library_types.h>
#include <math.h>
#include <string.h>

#include "core/checked.h"
#include "core/device_cuda.h"
#include "core/print.h"

/* Of its enumerations, as NVIDIA's manual of cuBLAS lists them. */
#define NOT_TRANSPOSED 0       /* CUBLAS_OP_N */
#define SUMS_IN_SINGLE 68      /* CUBLAS_COMPUTE_32F */
#define ITS_OWN_ALGORITHM (-1) /* CUBLAS_GEMM_DEFAULT */

#define N_RUNS 5
#define PRODUCTS_PER_RUN 8

typedef struct blas_handle blas_handle;

/* What is called, and the library that holds it. */
typedef struct blas {
    void *library;
    int (*create)(blas_handle **handle);
    int (*destroy)(blas_handle *handle);
    int (*set_stream)(blas_handle *handle, cudaStream_t stream);
    int (*product)(blas_handle *handle, int transpose_a, int transpose_b, int m, int n, int k,
                   const void *alpha, const void *a, int a_type, int lda, const void *b, int b_type,
                   int ldb, const void *beta, void *c, int c_type, int ldc, int compute_type,
                   int algorithm);
    blas_handle *handle;
} blas;

/* ISO C has no conversion from a pointer to data; POSIX promises that their bytes are alike. */
static bool find(void *library, const char *name, void *function, size_t bytes) {
    void *const symbol = dlsym(library, name);
    memcpy(function, &symbol, bytes);
    return symbol != NULL;
}

/* False: no such library, or an unknown one. */
static bool load(blas *self, slci_cublas_rate *out) {
    static const char *const folders[] = {"", "/usr/local/cuda/lib64/"};
    static const char *const names[] = {"libcublas.so.13", "libcublas.so.12"};
    for (size_t i = 0; i < 4 && self->library == NULL; i++) {
        char path[64];
        (void)slci_print(path, sizeof path, "%s%s", folders[i % 2], names[i / 2]);
        (void)slci_print(out->library, sizeof out->library, "%s", names[i / 2]);
        /* Code that has registered kernels with the driver stays until the process ends. */
        self->library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    }
    if (self->library == NULL) {
        (void)slci_print(out->why_not, sizeof out->why_not,
                         "neither %s nor %s is installed where programs find it", names[0],
                         names[1]);
        return false;
    }
    if (!find(self->library, "cublasCreate_v2", &self->create, sizeof self->create) ||
        !find(self->library, "cublasDestroy_v2", &self->destroy, sizeof self->destroy) ||
        !find(self->library, "cublasSetStream_v2", &self->set_stream, sizeof self->set_stream) ||
        !find(self->library, "cublasGemmEx", &self->product, sizeof self->product)) {
        (void)slci_print(out->why_not, sizeof out->why_not, "%s lacks what is called",
                         out->library);
        return false;
    }
    return true;
}

static slc_status check(int code, const char *call) {
    return code == 0 ? SLC_OK : SLC_FAIL(SLC_ERROR_DEVICE, "%s: status %d", call, code);
}

/* Numbers of either sign between a half and one, so that the card has to work for every product: sums
 * of equal or of simple numbers take less power, and a card whose power is limited is faster then. A
 * piece of them is copied, and what is there copied behind it until the memory is full. */
static slc_status fill(const slci_cublas_rate_request *request) {
    uint16_t piece[1 << 14];
    char *const memory = request->d_memory;
    uint32_t state = 1;
    for (size_t i = 0; i < sizeof piece / sizeof piece[0]; i++) {
        state = state * 1664525u + 1013904223u;
        piece[i] = (uint16_t)(0x3800u | ((state >> 16) & 0x83ffu));
    }
    SLC_TRY(
        slc_stream_copy(request->stream, memory, piece, (int64_t)sizeof piece, SLC_COPY_TO_DEVICE));
    SLC_TRY(slc_stream_synchronize(request->stream));
    for (int64_t there = (int64_t)sizeof piece; there < SLCI_CUBLAS_RATE_BYTES; there *= 2) {
        SLC_TRY(slc_stream_copy(request->stream, memory + there, memory,
                                slc_min_i64(there, SLCI_CUBLAS_RATE_BYTES - there),
                                SLC_COPY_ON_DEVICE));
    }
    return slc_stream_synchronize(request->stream);
}

static slc_status multiply(const blas *self, const slci_cublas_rate_request *request) {
    const int n = SLCI_CUBLAS_RATE_ROWS;
    const float one = 1.0f;
    const float zero = 0.0f;
    uint16_t *const a = request->d_memory;
    uint16_t *const b = a + (int64_t)n * n;
    uint16_t *const c = b + (int64_t)n * n;
    return check(self->product(self->handle, NOT_TRANSPOSED, NOT_TRANSPOSED, n, n, n, &one, a,
                               CUDA_R_16F, n, b, CUDA_R_16F, n, &zero, c, CUDA_R_16F, n,
                               SUMS_IN_SINGLE, ITS_OWN_ALGORITHM),
                 "cublasGemmEx");
}

static slc_status time_run(const blas *self, const slci_cublas_rate_request *request,
                           slc_event *begin, slc_event *end, double *seconds) {
    int64_t ns = 0;
    SLC_TRY(slc_event_record(begin, request->stream));
    for (int i = 0; i < PRODUCTS_PER_RUN; i++) {
        SLC_TRY(multiply(self, request));
    }
    SLC_TRY(slc_event_record(end, request->stream));
    SLC_TRY(slc_event_synchronize(end));
    SLC_TRY(slc_event_elapsed(begin, end, &ns));
    *seconds = 1e-9 * (double)ns;
    return SLC_OK;
}

static slc_status measure(blas *self, const slci_cublas_rate_request *request, double *best) {
    slc_status status = SLC_OK;
    slc_event *begin = NULL;
    slc_event *end = NULL;
    *best = INFINITY;
    SLC_TRY_GOTO(done, slc_event_create_timed(request->device, &begin));
    SLC_TRY_GOTO(done, slc_event_create_timed(request->device, &end));
    SLC_TRY_GOTO(done, fill(request));
    SLC_TRY_GOTO(done, check(self->create(&self->handle), "cublasCreate"));
    SLC_TRY_GOTO(done, check(self->set_stream(self->handle, slc_stream_get_cuda(request->stream)),
                             "cublasSetStream"));
    SLC_TRY_GOTO(done, multiply(self, request)); /* loads the kernel */
    for (int run = 0; run < N_RUNS; run++) {
        double seconds = 0.0;
        SLC_TRY_GOTO(done, time_run(self, request, begin, end, &seconds));
        *best = fmin(*best, seconds);
    }
done:
    slc_event_destroy(begin);
    slc_event_destroy(end);
    return status;
}

slc_status slci_cublas_rate_measure(const slci_cublas_rate_request *request,
                                    slci_cublas_rate *out) {
    if (request->device->kind != SLC_DEVICE_CUDA) {
        return SLC_FAIL(SLC_ERROR_DEVICE, "cuBLAS is for cards, and this device is none");
    }
    blas self = {.library = NULL};
    double seconds = 0.0;
    *out = (slci_cublas_rate){.multiply_adds_per_s = 0.0};
    if (!load(&self, out)) {
        return SLC_OK;
    }
    const slc_status status = measure(&self, request, &seconds);
    if (self.handle != NULL) {
        (void)self.destroy(self.handle);
    }
    (void)dlclose(self.library);
    SLC_TRY(status);
    const double n = SLCI_CUBLAS_RATE_ROWS;
    out->multiply_adds_per_s = PRODUCTS_PER_RUN * n * n * n / seconds;
    return SLC_OK;
}
