/* What the steps on the processor share: a step makes one square of the picture, and threads take
 * squares until there are no more.
 *
 *     static bool make(const ladder_problem *problem, int i0, int j0, double *image) { ... }
 *     static const ladder_square square = {make};
 *     const ladder_step ladder_host_1 = {"name", "change", LADDER_DOUBLE, -1, ladder_host_run,
 *                                        &square};
 */
#ifndef LADDER_HOST_H
#define LADDER_HOST_H

#include "ladder.h"

typedef struct ladder_square {
    /* The LADDER_SQUARE × LADDER_SQUARE pixels of image [size, size] from column i0 and row j0 on.
     * False: no memory. */
    bool (*make)(const ladder_problem *problem, int i0, int j0, double *image);
} ladder_square;

/* The ladder's list of limits. */
enum { LADDER_LIMIT_SGEMM, LADDER_HOST_N_LIMITS };

/* ladder_step.run of every step on the processor. */
const char *ladder_host_run(const ladder_step *step, const ladder_problem *problem, int n_threads,
                            int repeats, double *image, ladder_run *out);

/* LADDER_LIMIT_SGEMM, and the memory that it takes; ladder_host_sgemm.c. */
const char *ladder_host_measure_sgemm(int n_threads, double *pairs_per_s);
int64_t ladder_host_sgemm_bytes(int n_threads);

/* Runs work(argument) on n_threads threads at once and returns when all have ended. NULL, or what went
 * wrong; `seconds` is from the first start to the last end. */
const char *ladder_host_spread(int n_threads, void *(*work)(void *argument), void *argument,
                               double *seconds);

#endif
