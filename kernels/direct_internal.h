/* What the files of the host's direct kernel share. Internal: nothing here is installed. */
#ifndef SLC_KERNELS_DIRECT_INTERNAL_H
#define SLC_KERNELS_DIRECT_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"
#include "kernels/direct.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The host kernel of the registry. */
extern const slc_direct_kernel slci_direct_host;

/* Vectors of pixels are whole multiples of this: no loop over pixels has a scalar tail. */
#define SLCI_DIRECT_LANES 16

/* The largest kernel tile: bounds the pixel loops' stack buffers. */
#define SLCI_DIRECT_MAX_TILE 256

/* Samples that a sine tile sums in single precision before it promotes. With n equal terms the sum
 * is off by at most (n + 1)/2 · 2^-24 of itself: 2.7e-7 for 8. */
#define SLCI_DIRECT_SINE_RUN 8

/* 1.5 · 2^52 and 1.5 · 2^20: adding one to a small double rounds it to a multiple of 1 or of 2^-32,
 * and in the latter the low 32 bits of the sum are the number modulo one in 32-bit turns. */
#define SLCI_ROUND_TO_ONE 6755399441055744.0
#define SLCI_ROUND_TO_TURN32 1572864.0
/* Phases below this many turns need no reduction before that (2^19 is the limit). */
#define SLCI_SMALL_TURNS 262144.0

/* One sample's phase along a column or row of pixels, in turns: origin + u · step[x] + w · curve[x]. */
typedef struct slci_direct_ramp {
    double origin; /* turns, |origin| <= 2 */
    double u;      /* wavelengths: u along columns, v along rows */
    double w;
} slci_direct_ramp;

/* The loops over pixels, compiled once per instruction set; each computes the same, bit for bit only
 * on one set. `n` is a multiple of SLCI_DIRECT_LANES; arrays are 64-byte aligned. */
typedef struct slci_direct_simd {
    const char *name; /* "avx512", "avx2" or "plain"; part of the numerics record */
    bool (*is_supported)(void);
    /* re[x] + i im[x] = (a_re + i a_im) exp(-2πi phase(x)): a row of the product's left operand. */
    void (*scaled)(const slci_direct_ramp *ramp, float a_re, float a_im, const double *step,
                   const double *curve, bool is_small, int n, float *re, float *im);
    /* cosine[x], sine[x] of 2π phase(x). */
    void (*circle)(const slci_direct_ramp *ramp, const double *step, const double *curve,
                   bool is_small, int n, float *cosine, float *sine);
    /* The same as scaled, from what circle has made: of several polarisations each has its own a. */
    void (*turned)(float a_re, float a_im, const float *cosine, const float *sine, int n, float *re,
                   float *im);
    /* turns[x] = phase(x) as 32-bit turns. */
    void (*turns)(const slci_direct_ramp *ramp, const double *step, const double *curve,
                  bool is_small, int n, uint32_t *turns);
    /* sum[x] += part[x]. */
    void (*promote)(int n, const float *part, double *sum);
    /* out[x] = factor · in[x]; `out` may be `in`. */
    void (*scale)(int n, float factor, const float *in, float *out);
    /* One row of pixels and n_samples <= SLCI_DIRECT_SINE_RUN samples of a sine tile:
     *     sum[x] += Σ_k amplitude[k] cos 2π(column[k · stride + x] + row[k] + w[k] c[x])
     * with row and column in 32-bit turns, w c in double. */
    void (*cosines)(int n, int n_samples, int64_t stride, const uint32_t *column,
                    const uint32_t *row, const double *w, const float *amplitude, const double *c,
                    bool is_small, double *sum);
} slci_direct_simd;

extern const slci_direct_simd slci_direct_simd_avx512;
extern const slci_direct_simd slci_direct_simd_avx2;
extern const slci_direct_simd slci_direct_simd_plain;

/* The best set that this processor has. */
const slci_direct_simd *slci_direct_simd_get(void);

/* The samples of one granule that have a weight, in the order of the file. */
typedef struct slci_direct_samples {
    int64_t n;
    double *u, *v, *w;          /* [granule_samples] wavelengths */
    float *a_re, *a_im;         /* w_k V_k / scale: at most 1 in size */
    float *amplitude;           /* |a|; for sine tiles */
    double *argument;           /* its argument in turns; for sine tiles */
    double scale;               /* a power of two */
    bool is_polar;              /* amplitude and argument are filled in */
    double max_u, max_v, max_w; /* largest absolute values here */
} slci_direct_samples;

/* One worker's scratch memory, carved from the work operand. Shapes: T = tile_pixels,
 * B = block_samples, P = max_terms, R = n_parts. */
typedef struct slci_direct_scratch {
    slci_direct_samples samples[SLC_DIRECT_MOST_POLS];
    double *step_l, *curve_l;          /* [T] l - l0 and N(l,m0) - n0 of each column */
    double *step_m, *curve_m;          /* [T] the same of each row */
    double *c;                         /* [T, T] c(l,m); 0 for padding */
    double *sum[SLC_DIRECT_MOST_POLS]; /* [P+1, R, T, T] */
    float *part;                       /* [T, T] one product */
    float *left[SLC_DIRECT_MOST_POLS]; /* [3B, T + LANES] planes Re a, Im a, -Re a of the block's
                                          samples */
    float *circle; /* [2, T] cosine, sine of a sample's columns; of several polarisations */
    float *right;  /* [2B, T + LANES] planes cosine, sine */
    uint32_t *column, *row; /* [SINE_RUN, T] turns */
} slci_direct_scratch;

/* Carves one worker's scratch from `base` (NULL: only counts) and returns its bytes, a multiple of
 * SLC_ARENA_ALIGNMENT. */
int64_t slci_direct_scratch_carve(const slc_direct_setup *setup, char *base,
                                  slci_direct_scratch *out);

/* Polarisations that use the same samples of a run, and share what is made of their places. */
typedef struct slci_direct_alike {
    int n;
    int pol[SLC_DIRECT_MOST_POLS];
} slci_direct_alike;

/* One tile in work: what product and sine kernels need. */
typedef struct slci_direct_view {
    const slc_direct_setup *setup;
    const slci_direct_simd *simd;
    slc_direct_tile tile;
    int64_t n_columns, n_rows; /* pixels in the picture */
    int n, m;                  /* the same rounded up to whole vectors */
    double reach_l, reach_m;   /* largest |l - l0|, |m - m0| */
} slci_direct_view;

/* Sums the samples over the tile into the polarisation's scratch->sum: Re (and Im) first (and second),
 * each [T, T] with row stride T, still to be multiplied by samples.scale. */
void slci_direct_product_tile(const slci_direct_view *view, const slci_direct_alike *alike,
                              slci_direct_scratch *scratch);
void slci_direct_sine_tile(const slci_direct_view *view, int pol, slci_direct_scratch *scratch);

/* Whether every phase within the tile stays below SLCI_SMALL_TURNS for these samples. */
bool slci_direct_is_small(const slci_direct_view *view, const slci_direct_samples *samples);

/* The phase of the tile's centre for sample k, reduced modulo 1. */
double slci_direct_centre_turns(const slci_direct_view *view, const slci_direct_samples *samples,
                                int64_t k);

/* "SkylakeX": the kernels that OpenBLAS chose. */
const char *slci_direct_blas_core(void);

/* Has OpenBLAS take its buffers for products on so many threads at once, which it would else do during
 * them, and wait for ever where there is no memory. Thread-safe. SLC_ERROR_MEMORY. */
SLC_MUST_USE slc_status slci_direct_blas_reserve(int n_threads);

#ifdef __cplusplus
}
#endif
#endif
