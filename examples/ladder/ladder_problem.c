/* The data that all steps work on, the sum in double that they are checked against, and how far off
 * from it they may be. */
#include <math.h>
#include <stdlib.h>

#include "ladder.h"

/* A second of arc is 4.85e-6 rad: pictures of the Very Large Array in its largest configuration look
 * like this. */
#define SCALE_RAD 5e-6

/* Baselines up to what the pixels can show: 1 / (2 · scale) wavelengths. */
#define REACH_WAVELENGTHS (0.5 / SCALE_RAD)

#define N_POINTS 3

static const double flux[N_POINTS] = {1.0, 0.5, 0.25};

/* Where the points lie, as shares of the picture's side. */
static const double place[N_POINTS][2] = {{0.25, 0.625}, {0.875, 0.125}, {0.9375, 0.8125}};

/* Uniform in [0, 1): the splitmix64 generator, the same numbers everywhere. */
static double uniform(uint64_t *state) {
    *state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static int64_t pixel_of_point(const ladder_problem *problem, int point) {
    const int64_t i = (int64_t)(place[point][0] * problem->size);
    const int64_t j = (int64_t)(place[point][1] * problem->size);
    return j * problem->size + i;
}

/* 2π (ul + vm + w(n-1)) of one visibility at one pixel, whole turns taken out. */
static double phase_at(const ladder_problem *problem, int k, int64_t pixel) {
    const int64_t half = problem->size / 2;
    const double l = -(double)(pixel % problem->size - half) * problem->scale_rad;
    const double m = (double)(pixel / problem->size - half) * problem->scale_rad;
    const double r2 = l * l + m * m;
    const double *uvw = problem->uvw + 3 * k;
    const double turns = uvw[0] * l + uvw[1] * m - uvw[2] * r2 / (1.0 + sqrt(1.0 - r2));
    return LADDER_TWO_PI * (turns - rint(turns));
}

static void look(ladder_problem *problem, int k) {
    double re = 0.0;
    double im = 0.0;
    for (int point = 0; point < N_POINTS; point++) {
        const double phase = phase_at(problem, k, pixel_of_point(problem, point));
        re += flux[point] * cos(phase);
        im += flux[point] * sin(phase);
    }
    problem->vis[2 * k] = (float)re;
    problem->vis[2 * k + 1] = (float)im;
}

int64_t ladder_problem_bytes(int n, int size) {
    return (int64_t)n * (3 * 8 + 2 * 4) + (int64_t)size * size * 8;
}

bool ladder_problem_create(int n, int size, ladder_problem *out) {
    ladder_problem problem = {.n = n, .size = size, .scale_rad = SCALE_RAD};
    problem.uvw = malloc(sizeof *problem.uvw * 3 * (size_t)n);
    problem.vis = malloc(sizeof *problem.vis * 2 * (size_t)n);
    if (problem.uvw == NULL || problem.vis == NULL) {
        ladder_problem_destroy(&problem);
        return false;
    }
    uint64_t seed = 1;
    for (int i = 0; i < 3 * n; i++) {
        problem.uvw[i] = REACH_WAVELENGTHS * (2.0 * uniform(&seed) - 1.0);
    }
    for (int k = 0; k < n; k++) {
        look(&problem, k);
    }
    /* |n-1| is at most l² + m², and far below the other two. */
    const double edge = 0.5 * size * SCALE_RAD;
    const double square = 0.5 * LADDER_SQUARE * SCALE_RAD;
    problem.max_turns = REACH_WAVELENGTHS * (2.0 * edge + 2.0 * edge * edge);
    problem.max_offset_turns = REACH_WAVELENGTHS * (square + 2.0 * edge * square);
    problem.max_bent_turns = REACH_WAVELENGTHS * (square * square) * (edge * edge);
    *out = problem;
    return true;
}

void ladder_problem_destroy(ladder_problem *problem) {
    free(problem->uvw);
    free(problem->vis);
    problem->uvw = NULL;
    problem->vis = NULL;
}

void ladder_reference_make(const ladder_problem *problem, ladder_reference *out) {
    const int64_t n_pixels = (int64_t)problem->size * problem->size;
    const int64_t corner[] = {0, problem->size - 1, n_pixels - problem->size, n_pixels - 1};
    const int n_corners = (int)(sizeof corner / sizeof corner[0]);
    uint64_t seed = 2;
    out->abs_sum = 0.0;
    for (int k = 0; k < problem->n; k++) {
        out->abs_sum += hypot((double)problem->vis[2 * k], (double)problem->vis[2 * k + 1]);
    }
    for (int c = 0; c < LADDER_CHECKS; c++) {
        const int64_t pixel = c < n_corners ? corner[c]
                              : c < n_corners + N_POINTS
                                  ? pixel_of_point(problem, c - n_corners)
                                  : (int64_t)(uniform(&seed) * (double)n_pixels);
        out->pixel[c] = pixel;
        out->value[c] = 0.0;
        for (int k = 0; k < problem->n; k++) {
            const double phase = phase_at(problem, k, pixel);
            out->value[c] += (double)problem->vis[2 * k] * cos(phase) +
                             (double)problem->vis[2 * k + 1] * sin(phase);
        }
    }
}

double ladder_error(const ladder_reference *reference, const double *image) {
    double worst = 0.0;
    for (int c = 0; c < LADDER_CHECKS; c++) {
        const double error = fabs(image[reference->pixel[c]] - reference->value[c]);
        if (isnan(error)) {
            return error;
        }
        worst = fmax(worst, error);
    }
    return worst / reference->abs_sum;
}

/* With u half a unit in the last place of 1: a phase in single precision comes out of coordinates,
 * products and sums that are rounded seven times, or nine where the sine scales its argument once
 * more; adding n terms one after the other loses n u at most. The card's sine is off by 2^-21, a
 * polynomial by less. Products add 32 visibilities, 64 terms, and the tensor cores cut off what they
 * do not round: 2 u for each of these. They leave out w c, which no product of two factors has. */
double ladder_tolerance(const ladder_problem *problem, ladder_precision precision) {
    const double single = 0x1p-24;
    const double whole = LADDER_TWO_PI * problem->max_turns;
    const double offset = 2.0 * LADDER_TWO_PI * problem->max_offset_turns;
    const double bent = LADDER_TWO_PI * problem->max_bent_turns;
    const double n = (double)problem->n;
    switch (precision) {
    case LADDER_DOUBLE:
        return 0x1p-53 * (7.0 * whole + n);
    case LADDER_SINGLE:
        return single * (7.0 * whole + 4.0 + n);
    case LADDER_SINGLE_FAST:
        return single * (9.0 * whole + n) + 0x1p-21;
    case LADDER_PRODUCT_FLOAT:
        return single * (9.0 * offset + 64.0 + n / 32.0) + 0x1p-20 + bent;
    case LADDER_PRODUCT_HALF:
        break;
    }
    /* Each factor is a complex number of size 1 whose parts are rounded to 11 bits; the size of a
     * part's product counts twice 2^-11, and the two parts together √2 of it. */
    return single * (9.0 * offset + 128.0 + n / 32.0) + 0x1p-20 + bent + 2.83 * 0x1p-11;
}
