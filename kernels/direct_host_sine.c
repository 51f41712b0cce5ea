/* A cosine per sample and pixel: kernel tiles that the matrix product does not serve, because c is
 * too large there for the expansion (next to the horizon, or w of thousands of wavelengths far out).
 *
 * The split is the same. A sample's amplitude and argument go into its column phases, so that a pair
 * costs two integer additions, one double product w c, one cosine and one multiply-add:
 *
 *     Re a e^{-2πi(…)} = |a| cos 2π(column[x] + row[y] + w c[y, x])
 *
 * The imaginary part is the same a quarter turn further. Because w c is formed in double, the methods
 * SINE and SINE_WIDE are one on the host. Pixels beyond the horizon are computed with N = 0 and never
 * merged into the picture. */
#include <math.h>
#include <string.h>

#include "core/checked.h"
#include "kernels/direct_internal.h"
#include "kernels/direct_tile.h"

static void make_polar(slci_direct_samples *samples) {
    for (int64_t k = 0; k < samples->n; k++) {
        const double re = (double)samples->a_re[k];
        const double im = (double)samples->a_im[k];
        samples->amplitude[k] = (float)sqrt(re * re + im * im);
        samples->argument[k] = atan2(im, re) / 6.283185307179586;
    }
    samples->is_polar = true;
}

/* Column and row phases of samples first … first + n - 1 in 32-bit turns. */
static void make_phases(const slci_direct_view *view, const slci_direct_samples *samples,
                        slci_direct_scratch *scratch, int64_t first, int64_t n) {
    const int64_t stride = view->setup->tile_pixels;
    const bool is_small = slci_direct_is_small(view, samples);
    for (int64_t k = 0; k < n; k++) {
        const int64_t s = first + k;
        const slci_direct_ramp columns = {.origin = slci_direct_centre_turns(view, samples, s) -
                                                    samples->argument[s],
                                          .u = samples->u[s],
                                          .w = samples->w[s]};
        const slci_direct_ramp rows = {.origin = 0.0, .u = samples->v[s], .w = samples->w[s]};
        view->simd->turns(&columns, scratch->step_l, scratch->curve_l, is_small, view->n,
                          scratch->column + k * stride);
        view->simd->turns(&rows, scratch->step_m, scratch->curve_m, is_small, view->m,
                          scratch->row + k * stride);
    }
}

void slci_direct_sine_tile(const slci_direct_view *view, int pol, slci_direct_scratch *scratch) {
    const slc_direct_setup *setup = view->setup;
    slci_direct_samples *samples = &scratch->samples[pol];
    double *sum = scratch->sum[pol];
    const int64_t tile_pixels = setup->tile_pixels;
    const int64_t plane = tile_pixels * tile_pixels;
    if (!samples->is_polar) {
        make_polar(samples);
    }
    memset(sum, 0, (size_t)(setup->n_parts * plane) * sizeof *sum);
    const bool is_small = samples->max_w * view->tile.c_max < SLCI_SMALL_TURNS;
    for (int64_t first = 0; first < samples->n; first += SLCI_DIRECT_SINE_RUN) {
        const int64_t n = slc_min_i64(SLCI_DIRECT_SINE_RUN, samples->n - first);
        make_phases(view, samples, scratch, first, n);
        for (int64_t y = 0; y < view->n_rows; y++) {
            for (int r = 0; r < setup->n_parts; r++) {
                uint32_t row[SLCI_DIRECT_SINE_RUN];
                for (int64_t k = 0; k < n; k++) {
                    row[k] = scratch->row[k * tile_pixels + y] + (uint32_t)r * UINT32_C(0x40000000);
                }
                view->simd->cosines(view->n, (int)n, tile_pixels, scratch->column, row,
                                    samples->w + first, samples->amplitude + first,
                                    scratch->c + y * tile_pixels, is_small,
                                    sum + r * plane + y * tile_pixels);
            }
        }
    }
}
