/* What CUDA's product kernel leaves of e^{-2πi w c} in a tile (direct_tile.h has c), and so how many
 * correction terms it takes there.
 *
 *     const slci_direct_bent bent = slci_direct_bent_find(&sides, max_w, c_max);
 *     slci_direct_mirror_find(&whole, max_w, &bent);
 *     const slci_direct_form form = slci_direct_bent_choose(setup, &bent);
 *
 * With f(l) = 1/n(l, m0) - 1/n0 and g(m) = 1/n(l0, m) - 1/n0,
 *
 *     c(l, m) = -n0³ f g - n0⁵ f² g² (v + 2) / 2 - n0⁶ f³ g² (v³ + 2v² - 2) / 2 + …,  v = 1 + n0 g
 *
 * so that 2π w c is a polynomial in f, of which w and m have to do with the coefficients alone, and
 * e^{-2πi w c} is one too: a term for each power. f̂ is f in units of its largest value in the tile. */
#ifndef SLC_KERNELS_DIRECT_BENT_H
#define SLC_KERNELS_DIRECT_BENT_H

#include <math.h>

#include "core/api.h"
#include "kernels/direct.h"
#include "kernels/direct_mirror.h"

/* Most correction terms, with three products and with one: then the first term's rounding is what
 * limits. In stages that take 64 KiB (SLC_DIRECT_UNIT_SHORT) there is no room for more than two, nor is
 * there use: three take 11 products, and cards that have no more shared memory are mostly for graphics,
 * whose tensor cores need about as long for those as the sine kernel does for a sine. */
#define SLCI_CUDA_MOST_TERMS 4
#define SLCI_CUDA_MOST_SHORT_TERMS 2
#define SLCI_CUDA_MOST_COARSE_TERMS 2

/* Relative error of w V e^{-iα} (cos β, sin β) where both operands are rounded to fp16: 2^-11 of the
 * left one, 2^-12 √2 of the right one, which has size 1. */
#define SLCI_HALF_ERROR 8.4e-4

/* Of a correction term before the last, by three products: five roundings to single precision of the
 * row's factor, two of the column's, fp16 pairs as in the main term, and what is left out of their
 * product. */
#define SLCI_CUDA_FACTOR_ERROR 8e-7

/* From this number of terms on, the product of what fp16 leaves of both operands is not left out, which
 * saves this much of w|V|. */
#define SLCI_CUDA_LOW_TERMS 3
#define SLCI_CUDA_LOW_ERROR 1.6e-7

/* The kernel takes w (N - n0) along a side of the tile as a slope and, in turns below this, what is
 * left of it: a product in single precision (slci_mma_units), of which both factors and the product are
 * rounded, on either side, together by 2^-23 of the largest curve. From two terms on it is the product
 * of two integers of 32 bits, with five bits more above, and their roundings count: on either side
 * 2^-30 turns for the curve, and for w as much of the curve. */
#define SLCI_CUDA_CURVED_TURNS 0x1p-4
#define SLCI_CUDA_CURVED_ERROR 1.6e-6 /* a turn of the curve */
#define SLCI_CUDA_SHIFTED_TERMS 2
#define SLCI_CUDA_CURVED_SHIFT 5
#define SLCI_CUDA_SHIFTED_ERROR 1.2e-8

/* Half a tile's sides, the farthest |l| and |m| in it, and n there: its smallest. */
typedef struct slci_direct_sides {
    double half_l, half_m, far_l, far_m, n;
} slci_direct_sides;

/* Bounds over the tile's pixels, for |w| up to the largest. */
typedef struct slci_direct_bent {
    double theta;  /* of 2π|w c| */
    double bend;   /* of the relative error of f g alone */
    double square; /* of what f² has in c, relative to what f has */
    double cube;   /* of 2π|w| times what c has beside f and f² */
    double shape;  /* of 2π|w| times what it has beside f³ too */
    double curve;  /* of the curve along a side, in turns */
    double odd;    /* of what differs of it between lines that mirror each other, in turns */
    double common; /* the largest angle that they have in common */
} slci_direct_bent;

/* How a tile is computed. */
typedef struct slci_direct_form {
    int n_terms; /* -1: not by products */
    bool is_mirrored;
    double bound; /* of what is left */
} slci_direct_form;

/* 6 h_l h_m far_l far_m / n⁴. */
static SLC_HOST_DEVICE inline double slci_direct_rho(const slci_direct_sides *at) {
    const double n2 = at->n * at->n;
    return 6.0 * at->half_l * at->half_m * at->far_l * at->far_m / (n2 * n2);
}

/* c is the integral of -st ν(s, t) over the rectangle from the centre, ν = 1/n³, and -n0³ f g that of
 * -st ν(s, m0) ν(l0, t) / ν0. The logarithm of their ratio is the double integral of
 * ∂²ln ν/∂l∂m = 6lm/n⁴ from the centre. */
static SLC_HOST_DEVICE inline double slci_direct_bend_error(const slci_direct_sides *at) {
    const double rho = slci_direct_rho(at);
    return rho < 0.1 ? 1.1 * rho : HUGE_VAL; /* e^ρ - 1 < 1.06 ρ there */
}

/* n0² |f g| (3 + n0 g) / 2, where |f| <= h_l far_l / n³, g likewise, n0² is at most n² (1 + q) and
 * n0 g = n0 / n(l0, m) - 1 at most q / 2. */
static SLC_HOST_DEVICE inline double slci_direct_square(const slci_direct_sides *at) {
    const double q = 2.0 * (at->half_l * at->far_l + at->half_m * at->far_m) / (at->n * at->n);
    return slci_direct_rho(at) * (1.0 + q) * (6.0 + q) / 24.0;
}

/* Bounds of what c has beside f and f², and beside f³ too. With b = m² - m0², c is -1/2 the integral of
 * G(u0 + f) - G(u0) over t from 0 to b, where u0 = 1/n0 and G(u) = u / sqrt(1 - tu²). Its Taylor series
 * leaves |f|³/6 of the largest third derivative, 3t (1 + 4tu²) / (1 - tu²)^(7/2), or f⁴/24 of the
 * fourth, 15t² u (3 + 4tu²) / (1 - tu²)^(9/2). With p = 2 h_m far_m / n² both |t| u² is at most p and
 * 1 / (1 - tu²) at most 1 + p. */
static SLC_HOST_DEVICE inline void slci_direct_shape(const slci_direct_sides *at, double *cube,
                                                     double *rest) {
    const double n = at->n;
    const double f = at->half_l * at->far_l / (n * n * n);
    const double b = at->half_m * at->far_m;
    const double p = 2.0 * b / (n * n);
    const double power = (1.0 + p) * (1.0 + p) * (1.0 + p) * (1.0 + p);
    *cube = 0.5 * f * f * f * b * b * (1.0 + 2.7 * p) * power;
    *rest = 2.5 * f * f * f * f * b * b * b / n * (1.0 + 1.4 * p) * power * (1.0 + p);
}

/* A bound of what is left of N along a side of half length `half` without the slope from end to end: an
 * eighth of the square of its length times the largest second derivative, (1 - m²)/n³. */
static SLC_HOST_DEVICE inline double slci_direct_curve(double half, double n) {
    return 0.5 * half * half / (n * n * n);
}

/* Fills in what concerns lines that mirror each other, `whole` being the sides with lines beyond the
 * picture. What they have in common is counted from its middle, so it is half the curve at most. */
static SLC_HOST_DEVICE inline void slci_direct_mirror_find(const slci_direct_sides *whole,
                                                           double max_w, slci_direct_bent *bent) {
    const double curve = slci_direct_curve(fmax(whole->half_l, whole->half_m), whole->n);
    bent->odd = max_w * (slci_direct_odd(whole->half_l, whole->far_l, whole->n) +
                         slci_direct_odd(whole->half_m, whole->far_m, whole->n));
    bent->common = SLCI_CUDA_MIRROR_SCATTER + 3.141592653589793 * max_w * curve;
}

/* `c_max` is the bound of |c|. Without what mirrored lines leave, so that none are taken. */
static SLC_HOST_DEVICE inline slci_direct_bent slci_direct_bent_find(const slci_direct_sides *at,
                                                                     double max_w, double c_max) {
    slci_direct_bent bent;
    bent.theta = 6.283185307179586 * max_w * c_max;
    bent.bend = slci_direct_bend_error(at);
    bent.square = slci_direct_square(at);
    slci_direct_shape(at, &bent.cube, &bent.shape);
    bent.cube *= 6.283185307179586 * max_w;
    bent.shape *= 6.283185307179586 * max_w;
    bent.curve = max_w * slci_direct_curve(fmax(at->half_l, at->half_m), at->n);
    bent.odd = 0.0;
    bent.common = HUGE_VAL;
    return bent;
}

/* What `terms` correction terms leave of w|V|: of the exponential, in which the first power of f̂
 * that has no term is replaced by lower ones (slci_mma_factor); of the products of f² and f³ in c
 * with such powers; and roundings of all terms but the last, relative to `factor_error`. */
static SLC_HOST_DEVICE inline double slci_direct_bent_rest(const slci_direct_bent *bent, int terms,
                                                           double factor_error) {
    const double theta = bent->theta;
    if (terms == 0) {
        return theta;
    }
    if (terms == 1) {
        return theta * (0.5 * theta + bent->bend * (1.0 + theta) + SLCI_HALF_ERROR);
    }
    const double t = theta * (1.0 + bent->bend); /* of f̂ */
    const double s = t * bent->square;           /* of f̂² */
    const double t2 = t * t;
    const double others = 0.5 * s * s + (terms == 2 ? bent->cube : bent->cube * t + bent->shape) +
                          factor_error * (t + 0.6 * t2);
    if (terms == 2) {
        return t2 * t * (1.0 + t) / 24.0 + s * t + SLCI_HALF_ERROR * (0.5 * t2 + s) + others;
    }
    if (terms == 3) {
        return t2 * t2 * (1.0 / 139.0 + t / 120.0) + 0.5 * s * t2 +
               SLCI_HALF_ERROR * t * (t2 / 6.0 + s) + others;
    }
    return t2 * t2 * t * (1.0 / 1920.0 + t / 720.0) + s * t2 * t / 6.0 +
           SLCI_HALF_ERROR * t2 * (t2 / 24.0 + 0.5 * s) + others;
}

/* What the curve leaves in lines that are made one by one. Comparisons are false too where something is
 * NaN: n is 0 at the horizon. */
static SLC_HOST_DEVICE inline double slci_direct_curve_rest(const slci_direct_bent *bent,
                                                            int terms) {
    if (terms < SLCI_CUDA_SHIFTED_TERMS) {
        return bent->curve < SLCI_CUDA_CURVED_TURNS ? SLCI_CUDA_CURVED_ERROR * bent->curve
                                                    : HUGE_VAL;
    }
    return bent->curve < SLCI_CUDA_CURVED_TURNS * (1 << SLCI_CUDA_CURVED_SHIFT)
               ? SLCI_CUDA_SHIFTED_ERROR * (1.0 + bent->curve)
               : HUGE_VAL;
}

/* What the curve leaves in pairs of lines that mirror each other: without terms, all of what differs
 * between them. */
static SLC_HOST_DEVICE inline double slci_direct_mirror_rest(const slci_direct_bent *bent,
                                                             int terms) {
    if (!(bent->common < SLCI_CUDA_MIRROR_ANGLE && bent->odd < SLCI_CUDA_CURVED_TURNS)) {
        return HUGE_VAL;
    }
    return bent->odd * (terms == 0 ? 6.283185307179586 : SLCI_CUDA_CURVED_ERROR) +
           slci_direct_common_rest(bent->common, terms);
}

/* Products of fp16 that the kernel takes for so many terms: one of the last, and of the others as
 * many as the setup says, and one more (SLCI_CUDA_LOW_TERMS). */
static SLC_HOST_DEVICE inline int slci_direct_bent_products(const slc_direct_setup *setup,
                                                            int terms) {
    const int split = terms > 1 ? terms : 1;
    return setup->n_products * split + (terms > 0 ? 1 : 0) +
           (setup->n_products > 1 && terms >= SLCI_CUDA_LOW_TERMS ? 1 : 0);
}

/* The fewest terms that leave no more than the tolerance, in pairs of lines where those do. */
static SLC_HOST_DEVICE inline slci_direct_form
slci_direct_bent_choose(const slc_direct_setup *setup, const slci_direct_bent *bent) {
    const double factor_error = setup->n_products == 1 ? SLCI_HALF_ERROR : SLCI_CUDA_FACTOR_ERROR;
    for (int terms = 0; terms <= setup->max_terms; terms++) {
        const double saved = terms >= SLCI_CUDA_LOW_TERMS ? SLCI_CUDA_LOW_ERROR : 0.0;
        const double most = setup->term_tolerance + saved;
        const double rest = slci_direct_bent_rest(bent, terms, factor_error);
        const double mirrored = rest + slci_direct_mirror_rest(bent, terms);
        const double single = rest + slci_direct_curve_rest(bent, terms);
        const bool is_mirrored = setup->unit != SLC_DIRECT_UNIT_SHORT && mirrored <= most;
        if (is_mirrored || single <= most) {
            const slci_direct_form form = {terms, is_mirrored, is_mirrored ? mirrored : single};
            return form;
        }
    }
    const slci_direct_form none = {-1, false, 0.0};
    return none;
}

#endif
