/* What one kernel tile of a direct image is and how it is computed: the geometry that host and CUDA
 * kernels share. Plain double arithmetic; products that decide what lies within the horizon are
 * rounded on their own (never fused), so that every device draws the horizon at the same pixels.
 *
 *     const slc_direct_tile tile = slci_direct_tile_at(setup, ty, tx);
 *
 * The split of the phase (all of it exact; N is n, continued by 0 beyond the horizon, and n1 is
 * N - 1 or, where the data carry no w-projection, N):
 *
 *     ul + vm + w n1 = φ + [u(l-l0) + w(N(l,m0)-n0)] + [v(m-m0) + w(N(l0,m)-n0)] + w c(l,m)
 *     φ              = u l0 + v m0 + w n1(l0,m0)
 *     c(l,m)         = N(l,m) - N(l,m0) - N(l0,m) + n0
 */
#ifndef SLC_KERNELS_DIRECT_TILE_H
#define SLC_KERNELS_DIRECT_TILE_H

#include <math.h>
#include <stdint.h>

#include "core/api.h"
#include "kernels/direct.h"
#include "kernels/direct_bent.h"

/* Largest |w c| in turns that the CUDA kernel adds to a phase in single precision: half a turn and
 * this much is as far as its polynomial is good for. */
#define SLCI_CUDA_SINGLE_TURNS 0x1p-5

/* The same for a multiply-add in double, whose low word then holds the turn (SLCI_TURN_MAGIC). */
#define SLCI_CUDA_DOUBLE_TURNS 0x1p19

#if defined(__CUDA_ARCH__)
#define SLCI_MULTIPLY(a, b) __dmul_rn((a), (b))
#else
#define SLCI_MULTIPLY(a, b) ((a) * (b))
#endif

/* Pixels each way of a tile of CUDA's sine kernel and of its product kernel, whose tiles the sine
 * kernel takes as four. */
#define SLCI_CUDA_TILE 64
#define SLCI_CUDA_PRODUCT_TILE 128

/* Granules of the others in one of the product kernel in long stages, which adds to the image so much
 * less often: as many as shared memory has a list of samples for. It is longer where no tile of the
 * picture has more than so many correction terms. */
#define SLCI_CUDA_GRANULES 2
#define SLCI_CUDA_PLAIN_GRANULES 4
#define SLCI_CUDA_PLAIN_TERMS 1

/* Direction cosine l of column `i`, m of row `j`; i and j may lie outside the picture. */
static SLC_HOST_DEVICE inline double slci_direct_l(const slc_direct_geometry *geometry, int64_t i) {
    return geometry->centre_l - SLCI_MULTIPLY((double)(i - geometry->nx / 2), geometry->scale_rad);
}

static SLC_HOST_DEVICE inline double slci_direct_m(const slc_direct_geometry *geometry, int64_t j) {
    return geometry->centre_m + SLCI_MULTIPLY((double)(j - geometry->ny / 2), geometry->scale_rad);
}

/* l² + m²: below 1 within the horizon. Every decision about a pixel uses this sum. */
static SLC_HOST_DEVICE inline double slci_direct_r2(double l, double m) {
    return SLCI_MULTIPLY(l, l) + SLCI_MULTIPLY(m, m);
}

/* N(l, m): n within the horizon, 0 beyond. */
static SLC_HOST_DEVICE inline double slci_direct_n(double l, double m) {
    const double r2 = slci_direct_r2(l, m);
    return r2 < 1.0 ? sqrt(1.0 - r2) : 0.0;
}

/* N(l, m) - 1 without the cancellation near the centre. */
static SLC_HOST_DEVICE inline double slci_direct_n_minus_1(double l, double m) {
    const double r2 = slci_direct_r2(l, m);
    return r2 < 1.0 ? -r2 / (1.0 + sqrt(1.0 - r2)) : -1.0;
}

/* What multiplies w in the phase at (l, m): n - 1, or n for data without w-projection. */
static SLC_HOST_DEVICE inline double slci_direct_w_factor(const slc_direct_setup *setup, double l,
                                                          double m) {
    return setup->is_psf || setup->geometry.is_w_projected ? slci_direct_n_minus_1(l, m)
                                                           : slci_direct_n(l, m);
}

/* c(l, m) of the split, from differences of n - 1 so that small pictures keep their digits. */
static SLC_HOST_DEVICE inline double slci_direct_c(const slc_direct_tile *tile, double l,
                                                   double m) {
    return (slci_direct_n_minus_1(l, m) - slci_direct_n_minus_1(l, tile->m0)) -
           (slci_direct_n_minus_1(tile->l0, m) - slci_direct_n_minus_1(tile->l0, tile->m0));
}

/* The setup by which CUDA's sine kernel has its tiles, and runs of its own in the same granules. */
static inline slc_direct_setup slci_direct_sine_setup(const slc_direct_setup *setup) {
    slc_direct_setup sine = *setup;
    sine.tile_pixels = SLCI_CUDA_TILE;
    sine.unit = SLC_DIRECT_UNIT_NONE;
    sine.n_products = 0;
    sine.max_terms = -1;
    sine.granule_samples = sine.granule_samples < SLC_DIRECT_GRANULE_SAMPLES
                               ? sine.granule_samples
                               : SLC_DIRECT_GRANULE_SAMPLES;
    return sine;
}

/* Columns (rows) of the tile that lie in the picture, for a tile that starts at x0 (y0). */
static SLC_HOST_DEVICE inline int64_t slci_direct_extent(int64_t start, int64_t tile_pixels,
                                                         int64_t size) {
    return size - start < tile_pixels ? size - start : tile_pixels;
}

/* The sides of the product kernel's tile at column x0, row y0, with what lies beyond the picture. */
static SLC_HOST_DEVICE inline slci_direct_sides
slci_direct_whole_sides(const slc_direct_geometry *geometry, int64_t x0, int64_t y0) {
    const int64_t last = SLCI_CUDA_PRODUCT_TILE - 1;
    slci_direct_sides whole;
    whole.half_l = whole.half_m = 0.5 * (double)last * geometry->scale_rad;
    whole.far_l = fmax(fabs(slci_direct_l(geometry, x0)), fabs(slci_direct_l(geometry, x0 + last)));
    whole.far_m = fmax(fabs(slci_direct_m(geometry, y0)), fabs(slci_direct_m(geometry, y0 + last)));
    whole.n = slci_direct_n(whole.far_l, whole.far_m);
    return whole;
}

/* The smallest |centre ± (i - half) scale| over the pixels i of [first, last]: |l| (sign -1) or |m|
 * (sign +1). The nearest pixel to the centre is within one of the rounded quotient. */
static SLC_HOST_DEVICE inline double slci_direct_nearest(double centre, double scale, int64_t half,
                                                         int64_t first, int64_t last, double sign) {
    const double middle = (double)half - sign * centre / scale;
    double nearest = HUGE_VAL;
    for (int k = -1; k <= 1; k++) {
        double at = floor(middle + 0.5) + k;
        at = at < (double)first ? (double)first : at;
        at = at > (double)last ? (double)last : at;
        const double value = fabs(centre + SLCI_MULTIPLY(sign * (at - (double)half), scale));
        nearest = value < nearest ? value : nearest;
    }
    return nearest;
}

/* A bound of |c| over the tile. Within the horizon c is the double integral of ∂²n/∂l∂m = -lm/n³
 * from the centre, and |lm|/n³ is largest at the corner farthest from the origin. Everywhere c is
 * the difference of two differences of N, each at most the range of N over the tile. */
static SLC_HOST_DEVICE inline double slci_direct_c_bound(double half_l, double half_m, double far_l,
                                                         double far_m, double n_largest) {
    const double r2 = slci_direct_r2(far_l, far_m);
    const double n_smallest = r2 < 1.0 ? sqrt(1.0 - r2) : 0.0;
    const double range = 2.0 * (n_largest - n_smallest);
    const double mixed = half_l * half_m * far_l * far_m;
    const double cube = n_smallest * n_smallest * n_smallest;
    const double bound = mixed < range * cube ? mixed / cube : range;
    return bound * (1.0 + 1e-9); /* covers the roundings of this function */
}

/* Terms that the expansion of exp(-2πi w c) needs beyond the first so that the rest is at most the
 * tolerance: θ^(P+1)/(P+1)!. -1 where θ > 1 or max_terms do not reach it. */
static SLC_HOST_DEVICE inline int slci_direct_terms(double theta, double tolerance, int max_terms,
                                                    double *bound) {
    if (theta > 1.0) {
        return -1;
    }
    double rest = theta;
    for (int p = 0; p <= max_terms; p++) {
        if (rest <= tolerance) {
            *bound = rest;
            return p;
        }
        rest *= theta / (p + 2);
    }
    return -1;
}

/* The product kernel's terms and form for a tile whose sides within the picture are `sides`. */
static SLC_HOST_DEVICE inline int slci_direct_bend(const slc_direct_setup *setup,
                                                   const slci_direct_sides *sides,
                                                   slc_direct_tile *tile) {
    const slci_direct_sides whole = slci_direct_whole_sides(&setup->geometry, tile->x0, tile->y0);
    slci_direct_bent bent = slci_direct_bent_find(sides, setup->max_w, tile->c_max);
    slci_direct_mirror_find(&whole, setup->max_w, &bent);
    const slci_direct_form form = slci_direct_bent_choose(setup, &bent);
    tile->is_mirrored = form.is_mirrored;
    tile->bound = form.bound;
    return form.n_terms;
}

/* The kernel tile in tile row `ty`, tile column `tx`. */
static SLC_HOST_DEVICE inline slc_direct_tile slci_direct_tile_at(const slc_direct_setup *setup,
                                                                  int64_t ty, int64_t tx) {
    const slc_direct_geometry *geometry = &setup->geometry;
    slc_direct_tile tile;
    tile.x0 = tx * setup->tile_pixels;
    tile.y0 = ty * setup->tile_pixels;
    tile.n_terms = 0;
    tile.n_products = 0;
    tile.is_mirrored = false;
    tile.bound = 0.0;
    const int64_t x1 = tile.x0 + slci_direct_extent(tile.x0, setup->tile_pixels, geometry->nx) - 1;
    const int64_t y1 = tile.y0 + slci_direct_extent(tile.y0, setup->tile_pixels, geometry->ny) - 1;
    const double l_first = slci_direct_l(geometry, tile.x0);
    const double l_last = slci_direct_l(geometry, x1);
    const double m_first = slci_direct_m(geometry, tile.y0);
    const double m_last = slci_direct_m(geometry, y1);
    tile.l0 = 0.5 * (l_first + l_last);
    tile.m0 = 0.5 * (m_first + m_last);
    tile.n0 = slci_direct_n(tile.l0, tile.m0);

    const double near_l = slci_direct_nearest(geometry->centre_l, geometry->scale_rad,
                                              geometry->nx / 2, tile.x0, x1, -1.0);
    const double near_m = slci_direct_nearest(geometry->centre_m, geometry->scale_rad,
                                              geometry->ny / 2, tile.y0, y1, 1.0);
    /* Between two pixels the centre may be nearer to the origin than any pixel is. */
    const double low_l = fmin(near_l, fabs(tile.l0));
    const double low_m = fmin(near_m, fabs(tile.m0));
    const double n_largest = slci_direct_n(low_l, low_m);
    const double half_l = 0.5 * fabs(l_first - l_last);
    const double half_m = 0.5 * fabs(m_last - m_first);
    const double far_l = fmax(fabs(l_first), fabs(l_last));
    const double far_m = fmax(fabs(m_first), fabs(m_last));
    tile.c_max = slci_direct_c_bound(half_l, half_m, far_l, far_m, n_largest);

    const double turns = setup->max_w * tile.c_max;
    int terms = -1;
    if (setup->unit == SLC_DIRECT_UNIT_NONE) {
        terms = slci_direct_terms(6.283185307179586 * turns, setup->term_tolerance,
                                  setup->max_terms, &tile.bound);
    } else {
        const slci_direct_sides sides = {half_l, half_m, far_l, far_m, slci_direct_n(far_l, far_m)};
        terms = slci_direct_bend(setup, &sides, &tile);
    }
    if (!(slci_direct_r2(near_l, near_m) < 1.0)) {
        tile.method = SLC_DIRECT_SKIP;
        tile.bound = 0.0;
    } else if (terms >= 0) {
        tile.method = SLC_DIRECT_PRODUCT;
        tile.n_terms = terms;
        tile.n_products = setup->unit == SLC_DIRECT_UNIT_NONE
                              ? terms + 1
                              : slci_direct_bent_products(setup, terms);
    } else {
        tile.method = turns <= setup->single_limit  ? SLC_DIRECT_SINE
                      : turns < setup->double_limit ? SLC_DIRECT_SINE_DOUBLE
                                                    : SLC_DIRECT_SINE_WIDE;
    }
    return tile;
}

#endif
