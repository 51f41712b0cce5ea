/* Model images: pictures of the sky whose pixels are fluxes, to predict visibilities from.
 * FITS, or Sluice's own HDF5 pictures. An image is a source of pixels with a description of where they
 * lie and what they are worth; it is read box by box and may be larger than memory.
 *
 *     SLC_TRY(slc_model_open("model.fits", log, &source));
 *     const slc_model_meta *meta = slc_model_get_meta(source);
 */
#ifndef SLC_IO_MODEL_H
#define SLC_IO_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "core/log.h"
#include "core/source.h"
#include "core/status.h"
#include "io/h5_files.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum slc_model_kind {
    SLC_MODEL_FITS,
    SLC_MODEL_HDF5,
    SLC_MODEL_OTHER /* neither: a list of components, if it is one */
} slc_model_kind;

/* By the file's first bytes. SLC_ERROR_INPUT where it cannot be read. */
SLC_API SLC_MUST_USE slc_status slc_model_recognise(const char *path, slc_model_kind *out);

/* Where pixels lie and what they are worth. Pixel (y, x), 0-based, has the direction cosines
 *     l = step[0][0] (x - reference_x) + step[0][1] (y - reference_y),  m likewise from step[1]
 * from the tangent point (FITS WCS paper II, Calabretta & Greisen 2002, section 5.1.5). */
typedef struct slc_model_meta {
    int64_t nx, ny, n_planes;
    slc_dtype dtype; /* SLC_F32 or SLC_F64 */
    double step[2][2];
    double reference_x, reference_y;
    double ra_rad, dec_rad;
    char frame[16];        /* "ICRS", "FK5"; "" where the file names none */
    double equinox;        /* of FK5 */
    const double *freq_hz; /* [n_planes]; NULL where the file names no frequency */
    double jy_per_unit;    /* Jy of one pixel for one unit of its value */
    char unit_text[128];   /* "Jy/pixel", or how Jy/beam became Jy */
} slc_model_meta;

/* Opens for reading: one field [plane, y, x], f32 or f64. Read by one thread at a time, whoever asks.
 * SLC_ERROR_INPUT: damaged, or contradictory; SLC_ERROR_UNSUPPORTED: another projection, unit, Stokes
 * parameter, or a format that was not built in. */
SLC_API SLC_MUST_USE slc_status slc_model_open(const char *path, slc_log *log, slc_source **out);

/* What opening and reading such a file needs of it, if it is HDF5. The path is lent. */
SLC_API slc_h5_reading slc_model_reading(const char *path);

/* Lent; lives as long as the source. */
SLC_API const slc_model_meta *slc_model_get_meta(const slc_source *source);

/* Host memory that reading the file takes beside the pixels; it is read by one thread at a time. */
SLC_API int64_t slc_model_reader_bytes(const slc_source *source);

/* From now on the source has planes begin … begin + n - 1 alone, and so has the description. */
SLC_API void slc_model_use_planes(slc_source *source, int64_t begin, int64_t n);

#ifdef __cplusplus
}
#endif
#endif
