/* The loops over rows of the host's predict kernel, included by one file per instruction set, which
 * defines `multiply_add` (fused where the set has it) and chooses the target before it. Plain C that
 * the compiler turns into vectors: every loop runs over SLCI_PREDICT_ROWS rows with no branch inside.
 *
 * A path length is formed once per row and component, in metres; each channel turns it into turns t and
 * takes the whole ones off, |t| <= 1/2. The polynomials are those of half the angle, whose range needs
 * neither quadrants nor blends:
 *
 *     s = sin πt = t P(t²),  c = cos πt = Q(t²),   sin 2πt = 2 s c,   cos 2πt = 1 - 2 s²
 *
 * P and Q interpolate at the Chebyshev nodes of [0, 1/4]; the results are off by 1.5e-12 at most. */
#ifndef SLC_KERNELS_PREDICT_SIMD_BODY_H
#define SLC_KERNELS_PREDICT_SIMD_BODY_H

#include "kernels/predict_internal.h"

/* 1.5 · 2^52: adding it to a number and taking it off again rounds to a whole one. */
#define ROUND_TO_ONE 6755399441055744.0

#define N_CIRCLE 7
static const double sine_of[N_CIRCLE] = {0x1.921fb54442bb4p+1, -0x1.4abbce624ad99p+2,
                                         0x1.466bc66ed3d1cp+1, -0x1.32d2c9b2d1df5p-1,
                                         0x1.50770f6a5a66bp-4, -0x1.e29b82ab98ea9p-8,
                                         0x1.d53abdeb199c1p-12};
static const double cosine_of[N_CIRCLE] = {0x1.fffffffffe58ap-1, -0x1.3bd3cc9b93532p+2,
                                           0x1.03c1f06d70297p+2, -0x1.55d3c047a1330p+0,
                                           0x1.e1f24d707d37cp-3, -0x1.a651b504444edp-6,
                                           0x1.e25799d50d08dp-10};

/* exp(-y) on [0, 1/2], off by 5.2e-14 of itself; squared seven times, it is exp(-128 y). */
#define N_EXPONENTIAL 9
#define N_SQUARES 7
static const double exponential_of[N_EXPONENTIAL] = {0x1.ffffffffffed8p-1,  -0x1.ffffffffe8983p-1,
                                                     0x1.fffffff63b6cap-2,  -0x1.555553c2f8e59p-3,
                                                     0x1.55551458e242ap-5,  -0x1.110b277b68f31p-7,
                                                     0x1.6b7437365ea31p-10, -0x1.95d5dff1d034ep-13,
                                                     0x1.4491235e5a229p-16};

/* From here on a Gaussian's factor is 1.6e-28 and stays that. */
#define MOST_EXPONENT 64.0

static inline __attribute__((always_inline)) double polynomial(const double *coefficients, int n,
                                                               double x) {
    double sum = coefficients[n - 1];
    for (int k = n - 2; k >= 0; k--) {
        sum = multiply_add(x, sum, coefficients[k]);
    }
    return sum;
}

/* exp(-exponent), 0 <= exponent <= MOST_EXPONENT. */
static inline __attribute__((always_inline)) double decay(double exponent) {
    double value = polynomial(exponential_of, N_EXPONENTIAL, exponent * (1.0 / (1 << N_SQUARES)));
    for (int k = 0; k < N_SQUARES; k++) {
        value *= value;
    }
    return value;
}

/* One channel of all rows; `factor` is the Gaussian, NULL for a point. */
static inline __attribute__((always_inline)) void
add_channel(const double *restrict path_m, const double *restrict factor, double amplitude,
            double scale, double *restrict re, double *restrict im) {
    for (int r = 0; r < SLCI_PREDICT_ROWS; r++) {
        const double phase = path_m[r] * scale;
        const double turns = phase - ((phase + ROUND_TO_ONE) - ROUND_TO_ONE);
        const double square = turns * turns;
        const double sine = turns * polynomial(sine_of, N_CIRCLE, square);
        const double cosine = polynomial(cosine_of, N_CIRCLE, square);
        const double size = factor == NULL ? amplitude : amplitude * factor[r];
        const double twice = 2.0 * sine;
        re[r] = multiply_add(size, multiply_add(-twice, sine, 1.0), re[r]);
        im[r] = multiply_add(size, twice * cosine, im[r]);
    }
}

static void simd_add(const slci_predict_rows *rows, const slci_predict_term *term,
                     slci_predict_sums *sums) {
    double path_m[SLCI_PREDICT_ROWS] __attribute__((aligned(64)));
    double size_m2[SLCI_PREDICT_ROWS] __attribute__((aligned(64)));
    double factor[SLCI_PREDICT_ROWS] __attribute__((aligned(64)));
    const double l = term->place[0];
    const double m = term->place[1];
    const double n = term->place[2];
    for (int r = 0; r < SLCI_PREDICT_ROWS; r++) {
        path_m[r] = multiply_add(rows->w[r], n, multiply_add(rows->v[r], m, rows->u[r] * l));
    }
    if (term->shape == NULL) {
        for (int c = 0; c < term->n_channels; c++) {
            add_channel(path_m, NULL, term->amplitude[c], term->scale[c], sums->re[c], sums->im[c]);
        }
        return;
    }
    const double major = term->shape[SLC_PREDICT_SHAPE_MAJOR];
    const double minor = term->shape[SLC_PREDICT_SHAPE_MINOR];
    const double sin_angle = term->shape[SLC_PREDICT_SHAPE_SIN];
    const double cos_angle = term->shape[SLC_PREDICT_SHAPE_COS];
    for (int r = 0; r < SLCI_PREDICT_ROWS; r++) {
        const double s = major * (rows->u[r] * sin_angle + rows->v[r] * cos_angle);
        const double t = minor * (rows->u[r] * cos_angle - rows->v[r] * sin_angle);
        size_m2[r] = s * s + t * t;
    }
    for (int c = 0; c < term->n_channels; c++) {
        const double scale = term->scale[c];
        for (int r = 0; r < SLCI_PREDICT_ROWS; r++) {
            const double exponent = size_m2[r] * (scale * scale);
            factor[r] = exponent > MOST_EXPONENT ? MOST_EXPONENT : exponent;
        }
        for (int r = 0; r < SLCI_PREDICT_ROWS; r++) {
            factor[r] = decay(factor[r]);
        }
        add_channel(path_m, factor, term->amplitude[c], scale, sums->re[c], sums->im[c]);
    }
}

#endif
