/* Runs a step on the processor. */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "ladder_host.h"

extern const ladder_step ladder_host_1, ladder_host_2, ladder_host_3, ladder_host_4;

static const ladder_step *const steps[] = {&ladder_host_1, &ladder_host_2, &ladder_host_3,
                                           &ladder_host_4};

static double seconds_now(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

const char *ladder_host_spread(int n_threads, void *(*work)(void *argument), void *argument,
                               double *seconds) {
    pthread_t *threads = malloc(sizeof *threads * (size_t)n_threads);
    if (threads == NULL) {
        return "no memory";
    }
    const double begin = seconds_now();
    int n_started = 0;
    while (n_started < n_threads &&
           pthread_create(&threads[n_started], NULL, work, argument) == 0) {
        n_started++;
    }
    for (int i = 0; i < n_started; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    *seconds = seconds_now() - begin;
    free(threads);
    return n_started == n_threads ? NULL : "no more threads";
}

typedef struct squares {
    const ladder_square *square;
    const ladder_problem *problem;
    double *image;
    atomic_int next; /* the first square that nobody has taken */
    atomic_bool has_failed;
} squares;

static void *make_squares(void *argument) {
    squares *self = argument;
    const int per_side = self->problem->size / LADDER_SQUARE;
    for (;;) {
        const int index = atomic_fetch_add(&self->next, 1);
        if (index >= per_side * per_side) {
            return NULL;
        }
        const int i0 = index % per_side * LADDER_SQUARE;
        const int j0 = index / per_side * LADDER_SQUARE;
        if (!self->square->make(self->problem, i0, j0, self->image)) {
            atomic_store(&self->has_failed, true);
        }
    }
}

const char *ladder_host_run(const ladder_step *step, const ladder_problem *problem, int n_threads,
                            int repeats, double *image, ladder_run *out) {
    const char *failure = NULL;
    squares work = {.square = step->own, .problem = problem, .image = image};
    *out = (ladder_run){0};
    for (int64_t p = 0; p < (int64_t)problem->size * problem->size; p++) {
        image[p] = (double)NAN; /* a pixel that a step forgets is seen */
    }
    for (int repeat = 0; repeat < repeats && failure == NULL; repeat++) {
        double seconds = 0.0;
        atomic_store(&work.next, 0);
        failure = ladder_host_spread(n_threads, make_squares, &work, &seconds);
        out->seconds = repeat == 0 ? seconds : fmin(out->seconds, seconds);
        failure = atomic_load(&work.has_failed) ? "no memory" : failure;
    }
    return failure;
}

/* The picture is the caller's, the visibilities lie where they are, and squares are small. */
static ladder_bytes find_bytes(const ladder_problem *problem, int n_threads) {
    (void)problem;
    return (ladder_bytes){.host = ladder_host_sgemm_bytes(n_threads)};
}

static const char *choose(int index) {
    (void)index;
    return NULL;
}

static const ladder_limit limits[LADDER_HOST_N_LIMITS] = {
    {"sgemm", ladder_host_measure_sgemm},
};

const ladder *ladder_get_host(void) {
    static const ladder host = {.steps = steps,
                                .n_steps = (int)(sizeof steps / sizeof steps[0]),
                                .limits = limits,
                                .n_limits = LADDER_HOST_N_LIMITS,
                                .bytes = find_bytes,
                                .choose = choose};
    return &host;
}
