/* What binds the matrix product on the processor: bare products by the BLAS, on each thread one of its
 * own, of which two multiply-adds count as a pair. */
#include <cblas.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "ladder_host.h"

#define SIDE 512
#define INNER 2048
#define PRODUCTS 4 /* of a thread, one after the other */
#define RUNS 5     /* the best counts: whatever else the machine does makes them slower */

/* Declared here, because the header of a plain reference BLAS lacks it. */
extern void openblas_set_num_threads(int n_threads);

/* Numbers of a thread: both factors and the product. */
#define NUMBERS ((size_t)2 * INNER * SIDE + (size_t)SIDE * SIDE)

typedef struct products {
    float *memory;
    atomic_int next; /* the first share of it that no thread has taken */
} products;

static void *multiply(void *argument) {
    products *self = argument;
    float *left = self->memory + NUMBERS * (size_t)atomic_fetch_add(&self->next, 1);
    float *right = left + (size_t)INNER * SIDE;
    float *out = right + (size_t)INNER * SIDE;
    for (int product = 0; product < PRODUCTS; product++) {
        cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, SIDE, SIDE, INNER, 1.0f, left, SIDE,
                    right, SIDE, 0.0f, out, SIDE);
    }
    return NULL;
}

int64_t ladder_host_sgemm_bytes(int n_threads) {
    return (int64_t)(sizeof(float) * NUMBERS) * n_threads;
}

const char *ladder_host_measure_sgemm(int n_threads, double *pairs_per_s) {
    const size_t n = NUMBERS * (size_t)n_threads;
    products work = {.memory = malloc(sizeof(float) * n)};
    const char *failure = work.memory == NULL ? "no memory" : NULL;
    for (size_t i = 0; i < n && failure == NULL; i++) {
        work.memory[i] = (float)(i % 7) - 3.0f;
    }
    openblas_set_num_threads(1);
    *pairs_per_s = 0.0;
    for (int run = 0; run < RUNS && failure == NULL; run++) {
        double seconds = 0.0;
        atomic_store(&work.next, 0);
        failure = ladder_host_spread(n_threads, multiply, &work, &seconds);
        const double pairs = (double)PRODUCTS * SIDE * SIDE * (INNER / 2) * n_threads;
        *pairs_per_s = fmax(*pairs_per_s, pairs / seconds);
    }
    free(work.memory);
    return failure;
}
