/* Direct imaging: the exact Fourier sum of every visibility at every pixel.
 *
 *     I(l, m) = Re Σ w V exp(-2πi (u l + v m + w (n-1)))       (not yet divided by Σ w)
 *
 * slc_direct_choose picks the kernel tile, the number of expansion terms and the kernels from the
 * promised error and the survey; slc_direct_kernel_get gives the tile function for a device. The
 * same job description runs on each.
 *
 *     slc_direct_setup setup;
 *     slc_job job;
 *     SLC_TRY(slc_direct_choose(&request, &setup));      // request: device, geometry, survey, epsilon
 *     SLC_TRY(slc_direct_job_init(&setup, SLC_DEVICE_HOST, n_threads, n_rows, &job));
 */
#ifndef SLC_KERNELS_DIRECT_H
#define SLC_KERNELS_DIRECT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/job.h"
#include "core/numerics.h"
#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The picture: pixel (row j, column i), 0-based, has
 *     l = centre_l - (i - nx/2) · scale,   m = centre_m + (j - ny/2) · scale
 * with integer division; n = sqrt(1 - l² - m²). Pixels with l² + m² >= 1 are never touched. */
typedef struct slc_direct_geometry {
    int64_t nx, ny;
    double scale_rad;
    double centre_l, centre_m; /* direction cosines of the picture's reference pixel */
    bool is_w_projected;       /* true: w (n-1); false: w n (drift and unprojected data) */
} slc_direct_geometry;

/* What the first look at the data found, over samples with weight > 0; wavelengths. */
typedef struct slc_direct_survey {
    double max_u, max_v, max_w; /* largest absolute values */
    int64_t n_samples;          /* rows × channels, flagged ones counted */
    double first_granule_sum; /* Σ|wV| of the first granule with any weight; 0 if there is none */
} slc_direct_survey;

/* Most samples of a granule; CUDA's product kernel with long stages has two or four times as many. */
#define SLC_DIRECT_GRANULE_SAMPLES 4096

/* Rows of one granule: tiles and the survey's first granule are whole numbers of these. */
static inline int64_t slc_direct_granule_rows(int64_t n_channels) {
    return n_channels < SLC_DIRECT_GRANULE_SAMPLES ? SLC_DIRECT_GRANULE_SAMPLES / n_channels : 1;
}

/* The operands of the job, by index; axes are row (0), y (1), x (2). */
enum {
    SLC_DIRECT_UVW,      /* in:  [row, 3] f64, metres */
    SLC_DIRECT_VIS,      /* in:  [row, n_channels] c64 */
    SLC_DIRECT_WEIGHT,   /* in:  [row, n_channels] f32; 0 = not used (vis is 0 there too) */
    SLC_DIRECT_CHANNELS, /* in, resident: [n_channels] f64, f / c in wavelengths per metre */
    SLC_DIRECT_IMAGE,    /* update: [y, x, n_parts] fixed128 */
    SLC_DIRECT_WORK,     /* work: [work_bytes] u8, host kernel only (1 byte on CUDA) */
    SLC_DIRECT_N_OPERANDS
};

/* Several polarisations of the same samples may be imaged at once, each to the bits that it has alone.
 * Each further one has three more operands: its vis, its weight and its image. */
#define SLC_DIRECT_MOST_POLS 4

/* SLC_DIRECT_VIS, _WEIGHT or _IMAGE of a polarisation. */
static inline int slc_direct_operand(int operand, int pol) {
    const int place = operand == SLC_DIRECT_IMAGE ? 2 : operand - SLC_DIRECT_VIS;
    return pol == 0 ? operand : SLC_DIRECT_N_OPERANDS + 3 * (pol - 1) + place;
}

/* What each kernel tile is computed by. */
typedef enum slc_direct_method {
    SLC_DIRECT_SKIP,        /* wholly beyond the horizon */
    SLC_DIRECT_PRODUCT,     /* matrix product with `n_terms` correction terms */
    SLC_DIRECT_SINE,        /* a sine per pair, w c in single precision */
    SLC_DIRECT_SINE_DOUBLE, /* the same, w c in double: large w far out, on cards fast at it */
    SLC_DIRECT_SINE_WIDE,   /* the same, w c in two words: on others, and for the largest w */
    SLC_DIRECT_N_METHODS
} slc_direct_method;

/* The matrix instructions that CUDA's product kernel takes, and its stages: what is added in which
 * order. */
typedef enum slc_direct_unit {
    SLC_DIRECT_UNIT_NONE,  /* no product kernel: every tile is the sine kernel's */
    SLC_DIRECT_UNIT_SHORT, /* of single warps, stages of 64 KiB: cards of 7.5, 8.x, 12.x */
    SLC_DIRECT_UNIT_WARP,  /* of single warps, stages of 227 KiB: 10.x, 11.x */
    SLC_DIRECT_UNIT_GROUP, /* of four warps, the same stages: 9.0 */
} slc_direct_unit;

/* Why all tiles of a picture are CUDA's sine kernel's. */
typedef enum slc_direct_reason {
    SLC_DIRECT_REASON_NONE,  /* they are not */
    SLC_DIRECT_REASON_CARD,  /* the card has no matrix instructions that would do */
    SLC_DIRECT_REASON_PROBE, /* they cut off more of a sum than the bound of the error allows for */
    SLC_DIRECT_REASON_FIELD  /* with this max|w| and epsilon products would save nothing */
} slc_direct_reason;

/* What the choice depends on of a card; zeros for other devices. */
typedef struct slc_direct_card {
    bool has_fast_double;   /* slc_device_limits */
    int compute_capability; /* likewise */
    slc_direct_unit unit;
    slc_direct_reason reason; /* why it has no unit */
} slc_direct_card;

/* The launches whose work may be divided in any way. */
typedef enum slc_direct_launch {
    SLC_DIRECT_LAUNCH_HOST,    /* both kernels of the host */
    SLC_DIRECT_LAUNCH_PRODUCT, /* of CUDA's product kernel */
    SLC_DIRECT_LAUNCH_SINE,    /* of CUDA's sine kernel */
    SLC_DIRECT_N_LAUNCHES
} slc_direct_launch;

/* What no bit of a result depends on, and is not in the numerics record. Zeros: a model chooses. */
typedef struct slc_direct_tuning {
    /* CUDA: blocks that share the runs of a kernel tile. Host: tasks that share a run's kernel tiles.
     * More than there are runs or tiles is as many. */
    int64_t split[SLC_DIRECT_N_LAUNCHES];
} slc_direct_tuning;

/* All but `tuning` is fixed by geometry, survey, epsilon and device kind. Plain data: passed by value
 * to kernels. */
typedef struct slc_direct_setup {
    slc_direct_geometry geometry;
    int64_t n_channels;
    int64_t granule_rows;    /* of one granule; rows × channels <= 16384 unless one row is more */
    int64_t granule_samples; /* longest run summed before the accumulator, at most 16384 */
    int64_t tile_pixels;   /* T: kernel tiles are T × T pixels, aligned to the picture's corner */
    int64_t block_samples; /* samples in one product before promotion (host) */
    int n_parts;           /* 1: real part; 2: real and imaginary (--complex) */
    bool is_psf;           /* V = 1 and always w (n-1) */
    int scale_bits;        /* of the fixed-point accumulators, core/fixed.h */
    int n_pols;            /* polarisations: 1, or as slc_direct_add_pol has added */
    int more_scale_bits[SLC_DIRECT_MOST_POLS - 1]; /* of the further ones */
    int max_terms;            /* most correction terms a tile may use; -1: no product here */
    slc_direct_unit unit;     /* of CUDA's product kernel */
    slc_direct_reason reason; /* where that is NONE */
    int compute_capability;   /* of the card, where the product kernel is taken; else 0 */
    int n_products;           /* its products of fp16: 3 of operands split in two, or 1; else 0 */
    double max_w;             /* wavelengths */
    double epsilon;           /* the promise: |ΔI| <= epsilon Σw|V| / Σw */
    double phase_rounding;    /* share of epsilon that phases in double precision may use */
    double term_tolerance;    /* and that the cut of the expansion may use */
    double single_limit;      /* largest |w c| in turns that SINE may form in single precision */
    double double_limit;      /* |w c| below it SINE_DOUBLE may form; 0: not on this device */
    slc_direct_tuning tuning; /* zeros from slc_direct_choose */
} slc_direct_setup;

/* One kernel tile: its method and the numbers that the split of the phase needs (direct_tile.h). */
typedef struct slc_direct_tile {
    slc_direct_method method;
    int n_terms;      /* P: correction terms beyond the first; product tiles only */
    int n_products;   /* matrix products that they take; product tiles only */
    bool is_mirrored; /* CUDA makes two lines together that mirror each other; product tiles only */
    int64_t x0, y0;   /* first column and row */
    double l0, m0, n0; /* tile centre; n0 = sqrt(1 - l0² - m0²), 0 beyond the horizon */
    double c_max;      /* bound of |c(l,m)| over the tile */
    double bound;      /* of the expansion's residual relative to Σ|wV| */
} slc_direct_tile;

/* Counts over all kernel tiles, for the plan. */
typedef struct slc_direct_summary {
    int64_t n_tiles[SLC_DIRECT_N_METHODS];
    int max_terms_used;
    double worst_bound;      /* of what the expansion leaves out */
    double error_bound;      /* of that and of all roundings, relative to Σw|V|: at most epsilon */
    double flops_per_sample; /* weighed arithmetic of one sample over the whole picture */
    double product_cost;     /* of CUDA's product tiles, on average; 1: of one without terms */
    int64_t finite_pixels;   /* pixels with l² + m² < 1 */
    char why[256];           /* one sentence: which tiles take which method, and why */
} slc_direct_summary;

typedef struct slc_direct_kernel {
    const char *name; /* "direct/host", "direct/cuda" */
    slc_device_kind device;
    /* Bytes of the work operand for a pool of `n_threads`. Device-free. */
    int64_t (*work_bytes)(const slc_direct_setup *setup, int n_threads);
    /* The slc_job tile function; `state` is the setup. Only enqueues. */
    slc_status (*tile)(void *state, const slc_tile_arguments *arguments);
    /* (optional) the slc_job prepare function. */
    slc_status (*prepare)(void *state, slc_device *device);
} slc_direct_kernel;

typedef struct slc_direct_request {
    slc_device_kind device;
    slc_direct_geometry geometry;
    slc_direct_survey survey;
    int64_t n_channels;
    double epsilon; /* > 0 */
    int n_parts;    /* 1 or 2 */
    bool is_psf;
    int64_t tile_pixels;  /* 0: chosen; else this kernel tile, as another pass of the run has it */
    slc_direct_card card; /* slc_direct_card_get; CUDA only */
} slc_direct_request;

/* What is taken on a card of this compute capability whose tensor cores add as the bound of the error
 * assumes. */
SLC_API slc_direct_unit slc_direct_unit_get(int compute_capability);

/* Asks a device. On a card its tensor cores are measured, since how they cut off sums is documented
 * nowhere: in less than a millisecond, the same on every card of a kind. Ask once for a device, before
 * memory is budgeted: the measurement loads a kernel. SLC_ERROR_DEVICE, SLC_ERROR_MEMORY. */
SLC_API SLC_MUST_USE slc_status slc_direct_card_get(slc_device *device, slc_direct_card *out);

/* Fills in the setup. SLC_ERROR_ARGUMENT for sizes below 1, epsilon not in (0, 1) or, below what the
 * device's kernels promise, with the smallest one that works. */
SLC_API SLC_MUST_USE slc_status slc_direct_choose(const slc_direct_request *request,
                                                  slc_direct_setup *out);

/* Adds a polarisation of the same samples, within the survey's reach; `first_granule_sum` as there.
 * SLC_ERROR_ARGUMENT past SLC_DIRECT_MOST_POLS. */
SLC_API SLC_MUST_USE slc_status slc_direct_add_pol(slc_direct_setup *setup,
                                                   double first_granule_sum);

/* Of one polarisation: its scale_bits, and the setup that it has alone. */
SLC_API int slc_direct_scale_bits(const slc_direct_setup *setup, int pol);
SLC_API slc_direct_setup slc_direct_pol_setup(const slc_direct_setup *setup, int pol);

/* The kernel tile in tile row `ty`, tile column `tx`: a pure function of the setup. */
SLC_API slc_direct_tile slc_direct_tile_get(const slc_direct_setup *setup, int64_t ty, int64_t tx);

SLC_API void slc_direct_summarise(const slc_direct_setup *setup, slc_direct_summary *out);

/* Adds what fixes the bits (tile, terms, block, BLAS core, ...) to the record. */
SLC_API void slc_direct_record(const slc_direct_setup *setup, slc_device_kind device,
                               slc_numerics *record);

/* The kernel for a device; NULL if it was not built. */
SLC_API const slc_direct_kernel *slc_direct_kernel_get(slc_device_kind device);

/* Axes, operands and the tile function of the whole job over `n_rows` rows. `setup` is lent for the
 * job's life. SLC_ERROR_ARGUMENT when there is no kernel for the device. */
SLC_API SLC_MUST_USE slc_status slc_direct_job_init(const slc_direct_setup *setup,
                                                    slc_device_kind device, int n_threads,
                                                    int64_t n_rows, slc_job *out);

/* The oracle: the formula in double, written to be obviously right. uvw [n_rows, 3] metres, vis
 * [n_rows, n_channels, 2] f32, weight [n_rows, n_channels] f32, channels [n_channels] (f / c), image
 * [ny, nx, n_parts] f64: overwritten with the sum, NaN at and beyond the horizon. All host. */
SLC_API void slc_direct_reference(const slc_direct_geometry *geometry, int n_parts, int64_t n_rows,
                                  int64_t n_channels, const double *uvw_m, const float *vis,
                                  const float *weight, const double *channels, double *image);

#ifdef __cplusplus
}
#endif
#endif
