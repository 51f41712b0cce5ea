/* Runs one step of the ladder: checks its picture, then times it.
 *
 *     example_ladder cuda|host STEP [SIZE [VISIBILITIES]]
 *
 * Leaves with 77 where there is no card, and with 1 where the picture is wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ladder.h"

#define N_REPEATS 3
#define IS_MISSING 77

static int fail(const char *what, const char *why) {
    (void)fprintf(stderr, "example_ladder: %s: %s\n", what, why);
    return 1;
}

/* Checks first: a step that is wrong has no speed. */
static int climb(const ladder_step *step, const ladder_problem *problem, double *image) {
    ladder_reference reference;
    ladder_run run;
    ladder_reference_make(problem, &reference);
    const char *failure = step->run(step, problem, 1, 1, image, &run);
    if (failure != NULL) {
        return fail(step->name, failure);
    }
    const double error = ladder_error(&reference, image);
    const double tolerance = ladder_tolerance(problem, step->precision);
    if (!(error <= tolerance)) {
        (void)fprintf(stderr,
                      "example_ladder: %s: off by %.3g of the largest value, at most %.3g\n",
                      step->name, error, tolerance);
        return 1;
    }
    failure = step->run(step, problem, 1, N_REPEATS, image, &run);
    if (failure != NULL) {
        return fail(step->name, failure);
    }
    const double pairs = (double)problem->size * problem->size * problem->n;
    (void)printf("%s: %.3g pairs/s, off by %.2g (at most %.2g)\n", step->name, pairs / run.seconds,
                 error, tolerance);
    return 0;
}

/* A positive multiple of LADDER_SQUARE, or 0. */
static int parse_multiple(const char *text) {
    const long value = strtol(text, NULL, 10);
    return value > 0 && value <= 1 << 20 && value % LADDER_SQUARE == 0 ? (int)value : 0;
}

int main(int argc, char **argv) {
    const bool is_cuda = argc > 1 && strcmp(argv[1], "cuda") == 0;
    const ladder *steps = is_cuda ? ladder_get_cuda() : ladder_get_host();
    const long number = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
    const int size = argc > 3 ? parse_multiple(argv[3]) : LADDER_SQUARE;
    const int n = argc > 4 ? parse_multiple(argv[4]) : 4 * LADDER_SQUARE;
    if (argc > 1 && steps == NULL) {
        (void)fail("skipped", "built without CUDA");
        return IS_MISSING;
    }
    if (argc < 3 || argc > 5 || number < 1 || number > steps->n_steps || size == 0 || n == 0) {
        (void)fprintf(stderr, "usage: example_ladder cuda|host STEP [SIZE [VISIBILITIES]]\n"
                              "SIZE and VISIBILITIES are multiples of 128\n");
        return 2;
    }
    const char *failure = steps->choose(0);
    if (failure != NULL) {
        (void)fail("skipped, no card", failure);
        return IS_MISSING;
    }
    ladder_problem problem = {0};
    double *image = malloc(sizeof *image * (size_t)size * (size_t)size);
    int code = 1;
    if (image == NULL || !ladder_problem_create(n, size, &problem)) {
        (void)fail("picture", "no memory");
    } else {
        code = climb(steps->steps[number - 1], &problem, image);
    }
    ladder_problem_destroy(&problem);
    free(image);
    return code;
}
