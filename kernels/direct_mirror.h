/* What is left out where CUDA's product kernel makes two lines together that mirror each other in a
 * tile's middle: of the turn from the middle to one, which the other has with the other sign, and of
 * the angle that both have in common, which is the even part of the curve and a scatter.
 *
 *     turns = max_w * slci_direct_odd(half, far, n);         of a side's odd part, beside its slope
 *     left = slci_direct_common_rest(angle, n_terms);        of the angle in common, both sides
 */
#ifndef SLC_KERNELS_DIRECT_MIRROR_H
#define SLC_KERNELS_DIRECT_MIRROR_H

#include "core/api.h"

/* The scatter, at most, in radians. */
#define SLCI_CUDA_MIRROR_SCATTER 0x1p-7

/* Cosine and sine of the angle in common are polynomials: of third degree without correction terms, of
 * fifth with one, and with more good for an eighth of a turn, where a side leaves so much. */
#define SLCI_CUDA_MIRROR_ANGLE 0.785
#define SLCI_CUDA_MIRROR_ERROR 2e-9

/* A bound of how far the odd part of N along a side lies from its slope from end to end: 2 / (3 √3) of
 * a sixth of the cube of its half times the largest third derivative, 3 |l| (1 - m²) / n⁵. */
static SLC_HOST_DEVICE inline double slci_direct_odd(double half, double far, double n) {
    const double n2 = n * n;
    return 0.1925 * half * half * half * far / (n2 * n2 * n);
}

/* What both sides leave of the angle in common: the next power of its cosine. */
static SLC_HOST_DEVICE inline double slci_direct_common_rest(double angle, int terms) {
    const double square = angle * angle;
    return terms == 0   ? 2.0 / 24.0 * square * square
           : terms == 1 ? 2.0 / 720.0 * square * square * square
                        : 2.0 * SLCI_CUDA_MIRROR_ERROR;
}

#endif
