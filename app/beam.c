/* The fit is a Gauss-Newton iteration on (a, b, c) of exp(-(a l² + b l m + c m²)), started from the
 * least-squares solution of the logarithm, which is exact for a Gaussian. Coordinates are in pixels,
 * so the numbers are of order one whatever the scale.
 */
#include "app/beam.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "core/checked.h"
#include "core/constants.h"

/* Gauss-Newton needs some ten steps from the logarithm's solution; coefficients are of order 0.01 to 1
 * in pixels, so a smaller step is rounding. */
#define MOST_ITERATIONS 100
#define SMALLEST_STEP 1e-14

/* Half the first window in which the lobe is looked for, pixels. */
#define FIRST_WINDOW 32

/* Full width at half maximum of exp(-x² q) is 2 sqrt(ln 2 / q). */
static const double ln_2 = 0.69314718055994530942;

/* The pixels of the main lobe, as indices into the whole picture. */
typedef struct lobe {
    int64_t n;
    int64_t *pixel;      /* [n], in the order of the flood */
    bool touches_edge;   /* of the picture */
    bool touches_window; /* of the window it was looked for in */
} lobe;

/* Part of the picture about its centre: columns x0 to x1 - 1, rows y0 to y1 - 1. */
typedef struct window {
    int64_t x0, x1, y0, y1;
} window;

static window window_of(int64_t nx, int64_t ny, int64_t half) {
    const window w = {slc_max_i64(nx / 2 - half, 0), slc_min_i64(nx / 2 + half + 1, nx),
                      slc_max_i64(ny / 2 - half, 0), slc_min_i64(ny / 2 + half + 1, ny)};
    return w;
}

/* The pixels at or above the level that are 4-connected to the centre, within the window. */
static slc_status flood(const double *psf, int64_t nx, int64_t ny, const window *w, lobe *out) {
    slc_status status = SLC_OK;
    const int64_t width = w->x1 - w->x0;
    const size_t count = (size_t)(width * (w->y1 - w->y0));
    unsigned char *seen = calloc(count, 1);
    int64_t *pixel = malloc(count * sizeof *pixel);
    if (seen == NULL || pixel == NULL) {
        status = SLC_FAIL(SLC_ERROR_MEMORY, "beam: no memory for %lld pixels", (long long)count);
        goto done;
    }
    const int64_t centre = ny / 2 * nx + nx / 2;
    int64_t n = 0;
    out->touches_edge = out->touches_window = false;
    if (psf[centre] >= SLCI_BEAM_LEVEL) {
        pixel[n++] = centre;
        seen[(ny / 2 - w->y0) * width + nx / 2 - w->x0] = 1;
    }
    for (int64_t k = 0; k < n; k++) {
        const int64_t x = pixel[k] % nx;
        const int64_t y = pixel[k] / nx;
        out->touches_edge = out->touches_edge || x == 0 || y == 0 || x == nx - 1 || y == ny - 1;
        out->touches_window =
            out->touches_window || x == w->x0 || y == w->y0 || x == w->x1 - 1 || y == w->y1 - 1;
        const int64_t neighbour[4][2] = {{x - 1, y}, {x + 1, y}, {x, y - 1}, {x, y + 1}};
        for (int s = 0; s < 4; s++) {
            const int64_t a = neighbour[s][0];
            const int64_t b = neighbour[s][1];
            if (a < w->x0 || a >= w->x1 || b < w->y0 || b >= w->y1) {
                continue;
            }
            unsigned char *mark = &seen[(b - w->y0) * width + a - w->x0];
            /* A NaN compares false and stays outside. */
            if (!*mark && psf[b * nx + a] >= SLCI_BEAM_LEVEL) {
                *mark = 1;
                pixel[n++] = b * nx + a;
            }
        }
    }
    out->n = n;
    out->pixel = pixel;
    pixel = NULL;
done:
    free(seen);
    free(pixel);
    return status;
}

/* The window grows until the lobe lies inside, so a large picture costs no more than its lobe. */
static slc_status find_lobe(const double *psf, int64_t nx, int64_t ny, lobe *out) {
    for (int64_t half = FIRST_WINDOW;; half *= 2) {
        const window w = window_of(nx, ny, half);
        SLC_TRY(flood(psf, nx, ny, &w, out));
        if (!out->touches_window || out->touches_edge) {
            return SLC_OK;
        }
        free(out->pixel);
        out->pixel = NULL;
    }
}

/* Solves the symmetric 3 × 3 system by Cramer's rule; false when it is singular. */
static bool solve3(const double m[6], const double r[3], double x[3]) {
    const double a = m[0], b = m[1], c = m[2], d = m[3], e = m[4], f = m[5];
    const double det = a * (d * f - e * e) - b * (b * f - e * c) + c * (b * e - d * c);
    if (!(fabs(det) > DBL_MIN)) {
        return false;
    }
    x[0] = (r[0] * (d * f - e * e) - b * (r[1] * f - e * r[2]) + c * (r[1] * e - d * r[2])) / det;
    x[1] = (a * (r[1] * f - e * r[2]) - r[0] * (b * f - e * c) + c * (b * r[2] - r[1] * c)) / det;
    x[2] = (a * (d * r[2] - r[1] * e) - b * (b * r[2] - r[1] * c) + r[0] * (b * e - d * c)) / det;
    return true;
}

/* One weighted linear step: basis (l², lm, m²) times `weight`, against `target`. */
static void add_row(const double basis[3], double target, double m[6], double r[3]) {
    m[0] += basis[0] * basis[0];
    m[1] += basis[0] * basis[1];
    m[2] += basis[0] * basis[2];
    m[3] += basis[1] * basis[1];
    m[4] += basis[1] * basis[2];
    m[5] += basis[2] * basis[2];
    for (int i = 0; i < 3; i++) {
        r[i] += basis[i] * target;
    }
}

static void coordinates(int64_t index, int64_t nx, int64_t ny, double *l, double *m) {
    *l = -(double)(index % nx - nx / 2);
    *m = (double)(index / nx - ny / 2);
}

static bool fit(const double *psf, int64_t nx, int64_t ny, const lobe *found, double q[3]) {
    double matrix[6] = {0};
    double right[3] = {0};
    for (int64_t k = 0; k < found->n; k++) {
        double l, m;
        coordinates(found->pixel[k], nx, ny, &l, &m);
        const double basis[3] = {l * l, l * m, m * m};
        add_row(basis, -log(psf[found->pixel[k]]), matrix, right);
    }
    if (!solve3(matrix, right, q)) {
        return false;
    }
    for (int iteration = 0; iteration < MOST_ITERATIONS; iteration++) {
        double normal[6] = {0};
        double residual[3] = {0};
        for (int64_t k = 0; k < found->n; k++) {
            double l, m;
            coordinates(found->pixel[k], nx, ny, &l, &m);
            const double model = exp(-(q[0] * l * l + q[1] * l * m + q[2] * m * m));
            const double basis[3] = {-model * l * l, -model * l * m, -model * m * m};
            add_row(basis, psf[found->pixel[k]] - model, normal, residual);
        }
        double step[3];
        if (!solve3(normal, residual, step)) {
            return false;
        }
        double size = 0;
        for (int i = 0; i < 3; i++) {
            q[i] += step[i];
            size = fmax(size, fabs(step[i]));
        }
        if (size < SMALLEST_STEP) {
            break;
        }
    }
    return isfinite(q[0]) && isfinite(q[1]) && isfinite(q[2]);
}

/* Axes of the quadratic form a l² + b l m + c m². The major axis belongs to the small eigenvalue. Its
 * angle is measured from north (+m) through east (+l). */
static bool to_beam(const double q[3], double scale_rad, slc_beam *out) {
    const double mean = 0.5 * (q[0] + q[2]);
    const double spread = hypot(0.5 * (q[0] - q[2]), 0.5 * q[1]);
    const double small = mean - spread;
    const double large = mean + spread;
    if (!(small > 0)) {
        return false;
    }
    /* The form along (sin θ, cos θ) is mean - A cos 2θ + B sin 2θ with A = (a-c)/2, B = b/2; it is
     * smallest where 2θ = atan2(-B, A). */
    double angle = 0.5 * atan2(-0.5 * q[1], 0.5 * (q[0] - q[2]));
    if (angle >= SLC_PI / 2) {
        angle -= SLC_PI;
    }
    out->is_valid = true;
    out->major_rad = 2 * sqrt(ln_2 / small) * scale_rad;
    out->minor_rad = 2 * sqrt(ln_2 / large) * scale_rad;
    out->angle_rad = angle;
    return true;
}

slc_status slci_beam_find(const double *psf, int64_t nx, int64_t ny, double scale_rad,
                          slci_beam_fit *out) {
    *out = (slci_beam_fit){0};
    lobe found = {0};
    SLC_TRY(find_lobe(psf, nx, ny, &found));
    double q[3];
    out->n_pixels = found.n;
    out->touches_edge = found.touches_edge;
    if (found.touches_edge) {
        out->why_none = "the main lobe reaches the edge of the image";
    } else if (found.n < SLCI_BEAM_MIN_PIXELS) {
        out->why_none = "the main lobe covers fewer than 6 pixels";
    } else if (!fit(psf, nx, ny, &found, q) || !to_beam(q, scale_rad, &out->beam)) {
        out->why_none = "the main lobe is not an ellipse";
    }
    free(found.pixel);
    return SLC_OK;
}
