/* The ladder: the direct transform of radio astronomy, made faster one step at a time.
 *
 *     I(l, m) = Re Σ V_k exp(-2πi (u_k l + v_k m + w_k (n-1))),      n = sqrt(1 - l² - m²)
 *
 * for every pixel and all visibilities: (pixels × visibilities) pairs, a sine and a cosine each. Every
 * step is one small file that says on top what it changes and what that bought:
 *
 *     on a card                                     on the processor
 *     cuda_01_global_writes.cu                      host_1_scalar_double.c
 *     cuda_02_local_accumulator.cu                  host_2_scalar_single.c
 *     cuda_03_single_precision.cu                   host_3_vector_sine.c
 *     cuda_04_sine_and_cosine.cu                    host_4_matrix_product.c
 *     cuda_05_hoisted_factor.cu
 *     cuda_06_shared_memory.cu                      Each is checked against the same sum in double
 *     cuda_07_coarsening.cu                         precision (ladder_problem.c) before it is timed:
 *     cuda_08_fused_multiply_add.cu
 *     cuda_09_warp_shuffles.cu                          example_ladder cuda 4
 *     cuda_10_pipeline.cu                               sluice bench ladder
 *     cuda_11_matrix_product.cu
 *
 * docs/kernels/direct.md tells the story. Nothing here uses Sluice, and Sluice's own kernels are
 * others: these are for reading. */
#ifndef LADDER_H
#define LADDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LADDER_TWO_PI 6.283185307179586

/* Pictures are whole numbers of squares of this many pixels, so that no step has edges to mask. */
#define LADDER_SQUARE 128

/* Pixel (row j, column i) lies at l = -(i - size/2) · scale, m = (j - size/2) · scale. */
typedef struct ladder_problem {
    int n;    /* visibilities, a multiple of LADDER_SQUARE */
    int size; /* the picture is size × size pixels, a multiple of LADDER_SQUARE */
    double scale_rad;
    double max_turns;        /* largest phase in the picture */
    double max_offset_turns; /* and along a side of a square, counted from its centre */
    double max_bent_turns;   /* and of w c, which is what products of two factors leave out */
    double *uvw;             /* [n, 3] wavelengths */
    float *vis;              /* [n, 2] */
} ladder_problem;

/* What rounds, and so how far off a sum may be. */
typedef enum ladder_precision {
    LADDER_DOUBLE,
    LADDER_SINGLE,        /* phases and sums in single precision, the C library's sine */
    LADDER_SINGLE_FAST,   /* the same with the card's own sine, or a short polynomial */
    LADDER_PRODUCT_FLOAT, /* phases from a square's centre, which is taken out in double */
    LADDER_PRODUCT_HALF   /* the same, and factors of 11 bits */
} ladder_precision;

/* Exact values at some of the pixels. */
#define LADDER_CHECKS 64

typedef struct ladder_reference {
    int64_t pixel[LADDER_CHECKS];
    double value[LADDER_CHECKS];
    double abs_sum; /* Σ|V|: the largest value that any pixel could have */
} ladder_reference;

/* How a step ran. What only a card knows is 0 on the processor. */
typedef struct ladder_run {
    double seconds;         /* the best of the repeats */
    int registers, threads; /* of a thread; of a block */
    int shared_bytes;       /* of a block */
    double occupancy;       /* resident warps / most that a multiprocessor holds */
} ladder_run;

typedef struct ladder_step {
    const char *name;   /* "shared memory" */
    const char *change; /* in one clause */
    ladder_precision precision;
    int limit; /* what it can be held against, in the ladder's list; -1: nothing */
    /* Makes the picture [size, size] `repeats` times with `n_threads` threads (the processor's).
     * NULL, or what went wrong. */
    const char *(*run)(const struct ladder_step *step, const ladder_problem *problem, int n_threads,
                       int repeats, double *image, ladder_run *out);
    const void *own; /* the device's part of the description */
} ladder_step;

/* A rate that no step can pass, because it does nothing else than the step's costliest part. */
typedef struct ladder_limit {
    const char *name;
    /* Pairs a second; NULL, or what went wrong. */
    const char *(*measure)(int n_threads, double *pairs_per_s);
} ladder_limit;

/* The most that a step or a limit takes, besides the problem and the picture. */
typedef struct ladder_bytes {
    int64_t device, host;
} ladder_bytes;

typedef struct ladder {
    const ladder_step *const *steps;
    int n_steps;
    const ladder_limit *limits;
    int n_limits;
    ladder_bytes (*bytes)(const ladder_problem *problem, int n_threads);
    /* Of several cards, the one to run on. NULL, or what went wrong. */
    const char *(*choose)(int index);
} ladder;

/* The steps of each kind of device; NULL where this build has none. */
const ladder *ladder_get_cuda(void);
const ladder *ladder_get_host(void);

/* What a problem and a picture of double take. */
int64_t ladder_problem_bytes(int n, int size);

/* Random baselines of a proper picture (the longest makes half a turn from pixel to pixel), which look
 * at three points; the same for the same n and size. False: no memory. */
bool ladder_problem_create(int n, int size, ladder_problem *out);
void ladder_problem_destroy(ladder_problem *problem);

/* The sum in double at LADDER_CHECKS pixels: corners, the points, and others by chance. */
void ladder_reference_make(const ladder_problem *problem, ladder_reference *out);

/* The largest |difference| / Σ|V| at these pixels; NaN where the picture has one. */
double ladder_error(const ladder_reference *reference, const double *image);

/* The bound of that error, for any data of these extents. */
double ladder_tolerance(const ladder_problem *problem, ladder_precision precision);

#ifdef __cplusplus
}
#endif
#endif
