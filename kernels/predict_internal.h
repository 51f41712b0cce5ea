/* What the kernels that predict share: a tile as both see it, and the loops over rows of the host's.
 * Internal to kernels/predict_*.
 */
#ifndef SLC_KERNELS_PREDICT_INTERNAL_H
#define SLC_KERNELS_PREDICT_INTERNAL_H

#include <stdbool.h>

#include "kernels/predict_kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One tile. All pointers are the device's; `tile` is read where the kernel runs. */
typedef struct slci_predict_view {
    const slc_tile *tile;
    const double *uvw, *place, *channels;
    const double *shape;  /* of a list; else NULL */
    const int64_t *pixel; /* of an image; else NULL */
    const void *image;
    double *flux; /* of an image or streamed; else NULL */
    double *vis;
    int64_t n_channels, n_planes, plane_pixels;
    bool is_f32; /* the image is */
    double jy_per_unit;
} slci_predict_view;

void slci_predict_view_init(const slc_predict_setup *setup, const slc_tile_arguments *arguments,
                            slci_predict_view *out);

/* ---- the host's ------------------------------------------------------------------------------- */

extern const slc_predict_kernel slci_predict_host;

/* Rows that are computed together, and channels whose sums stay in the first cache with them. */
#define SLCI_PREDICT_ROWS 64
#define SLCI_PREDICT_CHANNELS 8

typedef struct slci_predict_rows {
    double u[SLCI_PREDICT_ROWS] __attribute__((aligned(64)));
    double v[SLCI_PREDICT_ROWS] __attribute__((aligned(64)));
    double w[SLCI_PREDICT_ROWS] __attribute__((aligned(64)));
} slci_predict_rows;

typedef struct slci_predict_sums {
    double re[SLCI_PREDICT_CHANNELS][SLCI_PREDICT_ROWS] __attribute__((aligned(64)));
    double im[SLCI_PREDICT_CHANNELS][SLCI_PREDICT_ROWS] __attribute__((aligned(64)));
} slci_predict_sums;

/* One component for some channels. */
typedef struct slci_predict_term {
    const double *place;                     /* [3] */
    const double *shape;                     /* [SLC_PREDICT_SHAPE], or NULL for a point */
    int n_channels;                          /* at most SLCI_PREDICT_CHANNELS */
    double amplitude[SLCI_PREDICT_CHANNELS]; /* Jy */
    double scale[SLCI_PREDICT_CHANNELS];     /* wavelengths per metre */
} slci_predict_term;

/* The loops over rows, compiled once per instruction set; each computes the same, bit for bit only on
 * one set. */
typedef struct slci_predict_simd {
    const char *name; /* "avx512", "avx2" or "plain"; part of the numerics record */
    bool (*is_supported)(void);
    /* sums[c][row] += amplitude[c] · Gaussian · exp(+2πi phase(row) scale[c]). */
    void (*add)(const slci_predict_rows *rows, const slci_predict_term *term,
                slci_predict_sums *sums);
} slci_predict_simd;

extern const slci_predict_simd slci_predict_simd_avx512;
extern const slci_predict_simd slci_predict_simd_avx2;
extern const slci_predict_simd slci_predict_simd_plain;

/* The best set that this processor has. */
const slci_predict_simd *slci_predict_simd_get(void);

#ifdef __cplusplus
}
#endif
#endif
