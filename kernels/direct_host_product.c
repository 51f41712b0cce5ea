/* The matrix-product form of a kernel tile on the host.
 *
 * With the phase split as kernels/direct_tile.h says, a sample's contribution to pixel (y, x) is
 *
 *     Z = A_k(x) B_k(y) e^{-2πi w c},   A = a e^{-2πi[φ+ψ + u(l-l0) + w(N(l,m0)-n0)]}
 *
 * written with the real planes that the products use: A = (Ar, Ai), B = e^{-2πi…} = (C, -S). Then
 *
 *     Re AB = Ar C + Ai S        rows of `left`:  [ Ar | Ai | -Ar ]      rows of `right`: [ C | S ]
 *     Im AB = Ai C - Ar S                         └── Re ──┘
 *                                                      └── Im ──┘
 *
 * so that both parts are one product of inner length 2 per sample, from the same planes. The last
 * factor is expanded. c does not depend on the sample, so its powers come out of the sum:
 *
 *     Σ_k Z = Σ_p (-i)^p (2π W c)^p/p! · Σ_k (w_k/W)^p A_k B_k,        W = max|w|
 *
 * and each term is one more product, with A scaled by w_k/W once more.
 *
 * ψ_k is a pseudo-random phase, added to A and taken from B. It changes nothing but the roundings:
 * without it the products of a lone source are all alike, every addition rounds the same way, and the
 * error of a sum grows with its length instead of with the root of it.
 *
 * A product covers at most `block_samples` samples; its single-precision result is promoted at once
 * to double. It is made in strips of rows, because up to 10^6 multiply-adds OpenBLAS works on the
 * operands where they lie instead of packing them first (on AVX-512: 45 against 34·10^9 pairs/s for
 * tiles of 128²). Strips follow from the tile alone, as every shape does that reaches BLAS. */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "core/checked.h"
#include "kernels/direct_internal.h"
#include "kernels/direct_tile.h"

/* OpenBLAS's bound for its kernels without packing. */
#define SMALL_PRODUCT 1000000

/* Declared here too, because the header of a plain reference BLAS lacks it. */
extern char *openblas_get_corename(void);

const char *slci_direct_blas_core(void) {
    return openblas_get_corename();
}

/* A fraction of a turn that depends on the sample's place in its granule alone. The multipliers are
 * those of the widely used 32-bit finalizer of MurmurHash3. */
static double scatter_turns(int64_t k) {
    uint32_t h = (uint32_t)k * UINT32_C(0x9e3779b9) + UINT32_C(0x7f4a7c15);
    h = (h ^ (h >> 16)) * UINT32_C(0x85ebca6b);
    h = (h ^ (h >> 13)) * UINT32_C(0xc2b2ae35);
    return (double)(h ^ (h >> 16)) * 0x1p-32;
}

double slci_direct_centre_turns(const slci_direct_view *view, const slci_direct_samples *samples,
                                int64_t k) {
    const slc_direct_tile *tile = &view->tile;
    const double factor = slci_direct_w_factor(view->setup, tile->l0, tile->m0);
    /* Each product is reduced on its own: at 10^6 turns one rounding is 1e-10 turns. */
    const double along_l = samples->u[k] * tile->l0;
    const double along_m = samples->v[k] * tile->m0;
    const double along_n = samples->w[k] * factor;
    const double turns =
        (along_l - rint(along_l)) + (along_m - rint(along_m)) + (along_n - rint(along_n));
    return turns - rint(turns);
}

static int64_t panel_stride(const slci_direct_view *view) {
    /* Not a power of two, so that the rows of a column do not share a set of the cache. */
    return view->setup->tile_pixels + SLCI_DIRECT_LANES;
}

/* The left operand's row of one sample in a block of n, of each polarisation: of several the columns'
 * cosines and sines are made once. */
static void make_left(const slci_direct_view *view, const slci_direct_alike *alike,
                      slci_direct_scratch *scratch, const slci_direct_ramp *columns, int64_t s,
                      int64_t k, int64_t n) {
    const slci_direct_simd *simd = view->simd;
    const int64_t stride = panel_stride(view);
    const bool is_small = slci_direct_is_small(view, &scratch->samples[alike->pol[0]]);
    float *cosine = scratch->circle;
    float *sine = scratch->circle == NULL ? NULL : cosine + view->setup->tile_pixels;
    if (alike->n > 1) {
        simd->circle(columns, scratch->step_l, scratch->curve_l, is_small, view->n, cosine, sine);
    }
    for (int i = 0; i < alike->n; i++) {
        const slci_direct_samples *samples = &scratch->samples[alike->pol[i]];
        const float a_re = samples->a_re[s];
        const float a_im = samples->a_im[s];
        float *re = scratch->left[alike->pol[i]] + k * stride;
        float *im = re + n * stride;
        if (alike->n > 1) {
            simd->turned(a_re, a_im, cosine, sine, view->n, re, im);
        } else {
            simd->scaled(columns, a_re, a_im, scratch->step_l, scratch->curve_l, is_small, view->n,
                         re, im);
        }
    }
}

/* The planes of samples first … first + n - 1. */
static void make_panels(const slci_direct_view *view, const slci_direct_alike *alike,
                        slci_direct_scratch *scratch, int64_t first, int64_t n, bool is_crossed) {
    const slci_direct_samples *samples = &scratch->samples[alike->pol[0]];
    const int64_t stride = panel_stride(view);
    const int64_t plane = n * stride;
    const bool is_small = slci_direct_is_small(view, samples);
    for (int64_t k = 0; k < n; k++) {
        const int64_t s = first + k;
        const double scatter = scatter_turns(s);
        const slci_direct_ramp columns = {.origin =
                                              slci_direct_centre_turns(view, samples, s) + scatter,
                                          .u = samples->u[s],
                                          .w = samples->w[s]};
        const slci_direct_ramp rows = {.origin = -scatter, .u = samples->v[s], .w = samples->w[s]};
        make_left(view, alike, scratch, &columns, s, k, n);
        for (int i = 0; i < alike->n && is_crossed; i++) {
            float *re = scratch->left[alike->pol[i]] + k * stride;
            view->simd->scale(view->n, -1.0f, re, re + 2 * plane);
        }
        float *cosine = scratch->right + k * stride;
        view->simd->circle(&rows, scratch->step_m, scratch->curve_m, is_small, view->m, cosine,
                           cosine + plane);
    }
}

/* Multiplies the left planes by w_k / max|w|: the next term of the expansion. */
static void raise_panels(const slci_direct_view *view, const slci_direct_samples *samples,
                         float *left, int64_t first, int64_t n) {
    const int64_t stride = panel_stride(view);
    for (int64_t k = 0; k < n; k++) {
        const float factor = (float)(samples->w[first + k] / view->setup->max_w);
        for (int64_t plane = 0; plane < 3; plane++) {
            float *row = left + (plane * n + k) * stride;
            view->simd->scale(view->n, factor, row, row);
        }
    }
}

/* Rows of one call: as many whole vectors as keep it under the bound. */
static int strip_rows(const slci_direct_view *view, int64_t inner) {
    const int64_t most = SMALL_PRODUCT / (view->n * inner);
    const int64_t whole = most - most % SLCI_DIRECT_LANES;
    return (int)slc_min_i64(slc_max_i64(whole, SLCI_DIRECT_LANES), view->m);
}

/* sum += the product of n samples with two planes of the left operand: from the first on its real part,
 * from the second on its imaginary one. */
static void add_product(const slci_direct_view *view, slci_direct_scratch *scratch,
                        const float *left, int64_t n, double *sum) {
    const int64_t stride = panel_stride(view);
    const int64_t tile_pixels = view->setup->tile_pixels;
    const int strip = strip_rows(view, 2 * n);
    for (int y = 0; y < view->m; y += strip) {
        const int rows = view->m - y < strip ? view->m - y : strip;
        cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, rows, view->n, (int)(2 * n), 1.0f,
                    scratch->right + y, (int)stride, left, (int)stride, 0.0f, scratch->part,
                    (int)tile_pixels);
        for (int64_t row = 0; row < rows; row++) {
            view->simd->promote(view->n, scratch->part + row * tile_pixels,
                                sum + (y + row) * tile_pixels);
        }
    }
}

/* sum[0, r] += Σ_{p>0} (-i)^p (2πWc)^p/p! · sum[p, …], by Horner's rule. The part that stands in
 * sum[p, r] for odd p is the other one: -i Z has the parts (Im Z, -Re Z). */
static void join_terms(const slci_direct_view *view, const double *c, double *sum) {
    static const double sign[2][4] = {{1.0, 1.0, -1.0, -1.0}, {1.0, -1.0, -1.0, 1.0}};
    const slc_direct_setup *setup = view->setup;
    const int64_t tile_pixels = setup->tile_pixels;
    const int64_t plane = tile_pixels * tile_pixels;
    for (int64_t y = 0; y < view->n_rows; y++) {
        for (int64_t x = 0; x < view->n_columns; x++) {
            const int64_t at = y * tile_pixels + x;
            const double kappa = 6.283185307179586 * setup->max_w * c[at];
            for (int r = 0; r < setup->n_parts; r++) {
                double total = 0.0;
                for (int p = view->tile.n_terms; p > 0; p--) {
                    const double *term = sum + (p * setup->n_parts + r) * plane;
                    total = (total + sign[r][p % 4] * term[at]) * kappa / p;
                }
                sum[r * plane + at] += total;
            }
        }
    }
}

/* All terms and parts of one block of samples, of one polarisation. */
static void add_block(const slci_direct_view *view, slci_direct_scratch *scratch, int pol,
                      int64_t first, int64_t n) {
    const slc_direct_setup *setup = view->setup;
    const int64_t plane = setup->tile_pixels * setup->tile_pixels;
    float *left = scratch->left[pol];
    for (int p = 0; p <= view->tile.n_terms; p++) {
        if (p > 0) {
            raise_panels(view, &scratch->samples[pol], left, first, n);
        }
        for (int r = 0; r < setup->n_parts; r++) {
            const int part = (p + r) % 2;
            add_product(view, scratch, left + part * n * panel_stride(view), n,
                        scratch->sum[pol] + (p * setup->n_parts + r) * plane);
        }
    }
}

void slci_direct_product_tile(const slci_direct_view *view, const slci_direct_alike *alike,
                              slci_direct_scratch *scratch) {
    const slc_direct_setup *setup = view->setup;
    const int64_t plane = setup->tile_pixels * setup->tile_pixels;
    const int n_terms = view->tile.n_terms;
    const bool is_crossed = n_terms > 0 || setup->n_parts > 1;
    const int64_t n_planes = (int64_t)(n_terms + 1) * setup->n_parts;
    const int64_t n_samples = scratch->samples[alike->pol[0]].n;
    for (int i = 0; i < alike->n; i++) {
        double *sum = scratch->sum[alike->pol[i]];
        memset(sum, 0, (size_t)(n_planes * plane) * sizeof *sum);
    }
    for (int64_t first = 0; first < n_samples; first += setup->block_samples) {
        const int64_t n = slc_min_i64(setup->block_samples, n_samples - first);
        make_panels(view, alike, scratch, first, n, is_crossed);
        for (int i = 0; i < alike->n; i++) {
            add_block(view, scratch, alike->pol[i], first, n);
        }
    }
    for (int i = 0; i < alike->n && n_terms > 0; i++) {
        join_terms(view, scratch->c, scratch->sum[alike->pol[i]]);
    }
}
