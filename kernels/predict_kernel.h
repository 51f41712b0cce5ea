/* Predicting visibilities: the direct transform from a model of the sky to the samples of a set.
 *
 *     V(row, channel) = Σ_k I_k(channel) G_k exp(+2πi (u l_k + v m_k + w (n_k - 1)))
 *
 * over components k: pixels of an image, or points and Gaussians of a list. The components pass by in
 * tiles; an image is one array that any tile may touch, in device memory or mapped from the host's.
 *
 *     const slc_predict_request request = {.form = SLC_PREDICT_LIST, .n_rows = n, ...};
 *     SLC_TRY(slc_predict_choose(&request, &setup));
 *     SLC_TRY(slc_predict_job_init(&setup, device->kind, &job));
 */
#ifndef SLC_KERNELS_PREDICT_KERNEL_H
#define SLC_KERNELS_PREDICT_KERNEL_H

#include <stdint.h>

#include "core/job.h"
#include "core/numerics.h"
#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* |ΔV| <= SLC_PREDICT_EPSILON · Σ|I| for any input, on every device. */
#define SLC_PREDICT_EPSILON 1e-6

/* Components in a granule: their sum starts at zero, and granules are added in rising order. */
#define SLC_PREDICT_GRANULE 4096

/* Where the fluxes come from. */
typedef enum slc_predict_form {
    SLC_PREDICT_IMAGE,    /* pixels of a sparse operand, which PIXEL points at */
    SLC_PREDICT_STREAMED, /* an input beside the places */
    SLC_PREDICT_LIST      /* a list with spectra and shapes */
} slc_predict_form;

/* The operands of the job, in this order; those behind VIS depend on the form. Axis 0 is row, axis 1
 * component.
 *     uvw       in      [row, 3] f64, metres
 *     place     in      [component, 3] f64: l, m, and what w is multiplied with: n - 1, or n
 *     channels  in      [channel, 3] f64: f / c, ln(f / reference), and the number of the plane
 *     vis       update  [row, channel] c128
 *     flux      work, or in where streamed: [component, plane] f64, Jy
 *     pixel     in      [component] i64, position in a plane of the image
 *     image     in      [plane, y, x] f32 or f64, sparse; NaN counts as 0
 *     shape     in      [component, SLC_PREDICT_SHAPE] f64 */
enum { SLC_PREDICT_UVW, SLC_PREDICT_PLACE, SLC_PREDICT_CHANNELS, SLC_PREDICT_VIS };
enum { SLC_PREDICT_FLUX = 4, SLC_PREDICT_PIXEL, SLC_PREDICT_PIXELS };
enum { SLC_PREDICT_SHAPES = 4 };

/* Columns of channels. */
enum { SLC_PREDICT_SCALE, SLC_PREDICT_LN_FREQ, SLC_PREDICT_PLANE, SLC_PREDICT_CHANNEL_COLUMNS };

/* Columns of shape: flux at the reference frequency in Jy, spectral index, and the Gaussian as
 * π / (2 √ln 2) times its full widths in radians (0: a point) with the sine and cosine of its angle,
 * north through east. The factor is exp(-(major² s² + minor² t²)), s = u sin + v cos along the major
 * axis and t = u cos - v sin, in wavelengths. */
enum {
    SLC_PREDICT_SHAPE_FLUX,
    SLC_PREDICT_SHAPE_INDEX,
    SLC_PREDICT_SHAPE_MAJOR,
    SLC_PREDICT_SHAPE_MINOR,
    SLC_PREDICT_SHAPE_SIN,
    SLC_PREDICT_SHAPE_COS,
    SLC_PREDICT_SHAPE
};

typedef struct slc_predict_request {
    slc_predict_form form;
    int64_t n_rows, n_components, n_channels;
    int64_t n_planes, ny, nx; /* of the image; streamed: n_planes alone */
    slc_dtype dtype;          /* of the image: SLC_F32 or SLC_F64 */
    double jy_per_unit;       /* of the image's pixels */
} slc_predict_request;

/* What the job works with; a function of the request alone. */
typedef struct slc_predict_setup {
    slc_predict_request request;
    int64_t granule_rows;
} slc_predict_setup;

typedef struct slc_predict_kernel {
    const char *name; /* "predict/host", "predict/cuda" */
    slc_device_kind device;
    /* The slc_job tile function; `state` is the setup. Only enqueues. */
    slc_status (*tile)(void *state, const slc_tile_arguments *arguments);
    /* (optional) the slc_job prepare function. */
    slc_status (*prepare)(void *state, slc_device *device);
    /* Terms (component, row, channel) a second, about: for the plan. */
    double (*terms_per_s)(const slc_device_limits *limits);
} slc_predict_kernel;

/* SLC_ERROR_ARGUMENT for counts below 1, sizes that do not fit, or a type that is none of the two. */
SLC_API SLC_MUST_USE slc_status slc_predict_choose(const slc_predict_request *request,
                                                   slc_predict_setup *out);

/* The kernel for a device; NULL if it was not built. */
SLC_API const slc_predict_kernel *slc_predict_kernel_get(slc_device_kind device);

/* The job. `setup` is lent for the job's life. SLC_ERROR_ARGUMENT when there is no kernel for the
 * device. */
SLC_API SLC_MUST_USE slc_status slc_predict_job_init(const slc_predict_setup *setup,
                                                     slc_device_kind device, slc_job *out);

/* Adds what fixes the bits to the record. */
SLC_API void slc_predict_record(const slc_predict_setup *setup, slc_device_kind device,
                                slc_numerics *record);

#ifdef __cplusplus
}
#endif
#endif
