/* Step 3 on the processor: a row of 128 pixels at a time, and a sine that is plain arithmetic
 * (ladder_vector.h), so that the compiler makes vectors of the loop: 16 pixels at once with AVX-512, 8
 * with AVX2.
 *
 * Sixteen Xeon cores with AVX-512: 20 times the step before. */
#include "ladder_host.h"
#include "ladder_vector.h"

#define SQUARE LADDER_SQUARE

/* One row: l [SQUARE], n1 [SQUARE] of the row's m, sum [SQUARE]. */
LADDER_INLINE void make_row(const ladder_problem *problem, const float *restrict l, float m,
                            const float *restrict n1, float *restrict sum) {
    for (int k = 0; k < problem->n; k++) {
        const float u = (float)problem->uvw[3 * k];
        const float w = (float)problem->uvw[3 * k + 2];
        const float along_m = (float)problem->uvw[3 * k + 1] * m;
        const float re = problem->vis[2 * k];
        const float im = problem->vis[2 * k + 1];
        for (int i = 0; i < SQUARE; i++) {
            const float turns = u * l[i] + along_m + w * n1[i];
            sum[i] += re * ladder_cosine(turns) + im * ladder_cosine(turns - 0.25f);
        }
    }
}

typedef void (*row_function)(const ladder_problem *problem, const float *restrict l, float m,
                             const float *restrict n1, float *restrict sum);

static void make_row_plain(const ladder_problem *problem, const float *restrict l, float m,
                           const float *restrict n1, float *restrict sum) {
    make_row(problem, l, m, n1, sum);
}

LADDER_AVX2 static void make_row_avx2(const ladder_problem *problem, const float *restrict l,
                                      float m, const float *restrict n1, float *restrict sum) {
    make_row(problem, l, m, n1, sum);
}

LADDER_AVX512 static void make_row_avx512(const ladder_problem *problem, const float *restrict l,
                                          float m, const float *restrict n1, float *restrict sum) {
    make_row(problem, l, m, n1, sum);
}

static bool make(const ladder_problem *problem, int i0, int j0, double *image) {
    static const row_function functions[] = {make_row_plain, make_row_avx2, make_row_avx512};
    const row_function make_one = functions[ladder_vectors_get()];
    const int half = problem->size / 2;
    float l[SQUARE], n1[SQUARE], sum[SQUARE];
    for (int j = j0; j < j0 + SQUARE; j++) {
        const double m = (j - half) * problem->scale_rad;
        for (int i = 0; i < SQUARE; i++) {
            const double l_i = -(i0 + i - half) * problem->scale_rad;
            const double r2 = l_i * l_i + m * m;
            l[i] = (float)l_i;
            n1[i] = (float)(-r2 / (1.0 + sqrt(1.0 - r2)));
            sum[i] = 0.0f;
        }
        make_one(problem, l, (float)m, n1, sum);
        for (int i = 0; i < SQUARE; i++) {
            image[(int64_t)j * problem->size + i0 + i] = (double)sum[i];
        }
    }
    return true;
}

static const ladder_square square = {make};

const ladder_step ladder_host_3 = {.name = "vector sine",
                                   .change = "a polynomial that the compiler makes vectors of",
                                   .precision = LADDER_SINGLE_FAST,
                                   .limit = -1,
                                   .run = ladder_host_run,
                                   .own = &square};
