/* Step 4 on the processor: a square of the picture as a matrix product, by the BLAS (drawing and
 * formulas are in cuda_11_matrix_product.cu). 128 + 128 sines and cosines a visibility, by the vector
 * sine of the step before, serve 128 × 128 pixels, which then cost two multiply-adds each.
 *
 * Sixteen Xeon cores: 10 times the step before, 55 % of what bare products make on as many threads. */
#include <cblas.h>
#include <stdlib.h>

#include "ladder_host.h"
#include "ladder_vector.h"

#define SQUARE LADDER_SQUARE
#define SAMPLES 128 /* visibilities of a product: its operands lie in the cache */

/* Declared here, because the header of a plain reference BLAS lacks it. Squares are made by threads, so
 * each product is to use one. */
extern void openblas_set_num_threads(int n_threads);

typedef struct panels {
    float columns[2 * SAMPLES][SQUARE]; /* Re A, Im A in turns: row 2k and 2k + 1 */
    float rows[2 * SAMPLES][SQUARE];    /* cosine, sine */
    float sum[SQUARE][SQUARE];
    double bent[2][SQUARE]; /* n(l0,m) - n0 of each row, n(l,m0) - n0 of each column */
} panels;

static double n_minus_1(double l, double m) {
    const double r2 = l * l + m * m;
    return -r2 / (1.0 + sqrt(1.0 - r2));
}

/* The phase in turns, whole ones taken out. */
LADDER_INLINE float reduced(double turns) {
    return (float)(turns - ((turns + LADDER_TO_WHOLE_DOUBLE) - LADDER_TO_WHOLE_DOUBLE));
}

/* Both lines of one visibility. The centre's phase goes to the columns. */
LADDER_INLINE void make_lines(const ladder_problem *problem, int k, const double centre[2], int at,
                              panels *restrict out) {
    const double u = problem->uvw[3 * k];
    const double v = problem->uvw[3 * k + 1];
    const double w = problem->uvw[3 * k + 2];
    const double first = u * centre[0] + v * centre[1] + w * n_minus_1(centre[0], centre[1]);
    const float re = problem->vis[2 * k];
    const float im = problem->vis[2 * k + 1];
    for (int line = 0; line < SQUARE; line++) {
        const double offset = (line - SQUARE / 2) * problem->scale_rad;
        const float row = reduced(v * offset + w * out->bent[0][line]);
        const float column = reduced(first - u * offset + w * out->bent[1][line]);
        const float cosine = ladder_cosine(column);
        const float sine = ladder_cosine(column - 0.25f);
        out->rows[2 * at][line] = ladder_cosine(row);
        out->rows[2 * at + 1][line] = ladder_cosine(row - 0.25f);
        out->columns[2 * at][line] = re * cosine + im * sine;
        out->columns[2 * at + 1][line] = im * cosine - re * sine;
    }
}

typedef void (*lines_function)(const ladder_problem *problem, int k, const double centre[2], int at,
                               panels *restrict out);

static void make_lines_plain(const ladder_problem *problem, int k, const double centre[2], int at,
                             panels *restrict out) {
    make_lines(problem, k, centre, at, out);
}

LADDER_AVX2 static void make_lines_avx2(const ladder_problem *problem, int k,
                                        const double centre[2], int at, panels *restrict out) {
    make_lines(problem, k, centre, at, out);
}

LADDER_AVX512 static void make_lines_avx512(const ladder_problem *problem, int k,
                                            const double centre[2], int at, panels *restrict out) {
    make_lines(problem, k, centre, at, out);
}

static void clear(const ladder_problem *problem, int i0, int j0, double *image) {
    for (int y = 0; y < SQUARE; y++) {
        for (int x = 0; x < SQUARE; x++) {
            image[(int64_t)(j0 + y) * problem->size + i0 + x] = 0.0;
        }
    }
}

/* image += the product of the panels. */
static void multiply(const ladder_problem *problem, int i0, int j0, panels *work, double *image) {
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, SQUARE, SQUARE, 2 * SAMPLES, 1.0f,
                work->rows[0], SQUARE, work->columns[0], SQUARE, 0.0f, work->sum[0], SQUARE);
    for (int y = 0; y < SQUARE; y++) {
        for (int x = 0; x < SQUARE; x++) {
            image[(int64_t)(j0 + y) * problem->size + i0 + x] += (double)work->sum[y][x];
        }
    }
}

static bool make(const ladder_problem *problem, int i0, int j0, double *image) {
    static const lines_function functions[] = {make_lines_plain, make_lines_avx2,
                                               make_lines_avx512};
    const lines_function make_both = functions[ladder_vectors_get()];
    const int middle = SQUARE / 2 - problem->size / 2;
    const double centre[2] = {-(i0 + middle) * problem->scale_rad,
                              (j0 + middle) * problem->scale_rad};
    panels *work = malloc(sizeof *work);
    if (work == NULL) {
        return false;
    }
    for (int line = 0; line < SQUARE; line++) {
        const double offset = (line - SQUARE / 2) * problem->scale_rad;
        const double n0 = n_minus_1(centre[0], centre[1]);
        work->bent[0][line] = n_minus_1(centre[0], centre[1] + offset) - n0;
        work->bent[1][line] = n_minus_1(centre[0] - offset, centre[1]) - n0;
    }
    openblas_set_num_threads(1);
    clear(problem, i0, j0, image);
    for (int first = 0; first < problem->n; first += SAMPLES) { /* n is a multiple of SAMPLES */
        for (int at = 0; at < SAMPLES; at++) {
            make_both(problem, first + at, centre, at, work);
        }
        multiply(problem, i0, j0, work, image);
    }
    free(work);
    return true;
}

static const ladder_square square = {make};

const ladder_step ladder_host_4 = {.name = "matrix product",
                                   .change = "sines for each row and column, products by the BLAS",
                                   .precision = LADDER_PRODUCT_FLOAT,
                                   .limit = LADDER_LIMIT_SGEMM,
                                   .run = ladder_host_run,
                                   .own = &square};
