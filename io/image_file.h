/* Pictures on disk: FITS, HDF5 and PNG, chosen by the name's extension.
 * All three are written from the same array and the same description of the sky, under a temporary
 * name, and appear whole or not at all.
 *
 *     SLC_TRY(slc_image_file_check("dirty.fits", &meta, false));     // before computing
 *     SLC_TRY(slc_image_file_write("dirty.fits", &meta, image, false, log));
 */
#ifndef SLC_IO_IMAGE_FILE_H
#define SLC_IO_IMAGE_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/log.h"
#include "core/status.h"
#include "io/outfile.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SLC_IMAGE_HISTORY_LINES 48
#define SLC_IMAGE_MOST_STOKES 4

/* Gaussian fitted to the point-spread function. */
typedef struct slc_beam {
    bool is_valid;
    double major_rad, minor_rad; /* full width at half maximum */
    double angle_rad;            /* of the major axis, north through east, in [-π/2, π/2) */
} slc_beam;

/* Everything the files say about the picture. Strings may be "": the keyword is left out then. */
typedef struct slc_image_meta {
    int64_t nx, ny, n_planes; /* planes are output channels */
    int n_parts;              /* 1 real; 2 real and imaginary (.h5 only) */
    bool is_double;           /* FITS: BITPIX -64, else -32 */
    double scale_rad;
    double reference_x, reference_y; /* 0-based pixel of the tangent point: nx/2, ny/2 or moved */
    double ra_rad, dec_rad;          /* of the tangent point */
    char frame[16];                  /* RADESYS: "ICRS" or "FK5" */
    double equinox;                  /* written for FK5 only */
    double freq_hz, width_hz;        /* of plane 0: middle, and between outer edges */
    double freq_step_hz;             /* from plane to plane; width_hz for one plane */
    int stokes;   /* FITS code: 1 I to 4 V, -1 RR, -2 LL, -3 RL, -4 LR, -5 XX to -8 YX */
    int n_stokes; /* polarisations, each with all planes; 0 is 1 */
    int more_stokes[SLC_IMAGE_MOST_STOKES - 1]; /* codes of the further ones */
    bool has_position;                          /* false: a plain set with no phase centre */
    bool has_frequency;
    char unit[32]; /* "Jy/beam" */
    char telescope[64], object[64];
    char date_obs[32];          /* "2017-04-11T01:02:03.456", UTC */
    slc_beam beam;              /* of the whole; planes: see plane_beam */
    const slc_beam *plane_beam; /* [n_stokes, n_planes] or NULL; lent */
    char method[32];            /* SLCMETH: "direct" */
    double epsilon;             /* SLCEPS */
    int64_t n_used, n_flagged;  /* SLCNVIS, SLCNFLAG */
    double weight_sum, abs_sum; /* SLCWSUM, SLCSABS */
    const char *picture_text;   /* what a PNG says it shows; NULL: a plane of the sky; lent */
    int n_history;
    char history[SLC_IMAGE_HISTORY_LINES][72]; /* options that change the result, one a line */
} slc_image_meta;

/* Everything that can be refused before computing: an unknown extension, a format that was not built
 * in (which package it needs), --complex into anything but .h5, polarisations that FITS has no axis
 * for, a name that is taken, a folder that is not writable, a full disk. SLC_ERROR_ARGUMENT,
 * SLC_ERROR_UNSUPPORTED, SLC_ERROR_OUTPUT. */
SLC_API SLC_MUST_USE slc_status slc_image_file_check(const char *path, const slc_image_meta *meta,
                                                     bool overwrite);

/* What the file will take, about; 0 where the name's extension is none of ours. */
SLC_API int64_t slc_image_file_bytes(const char *path, const slc_image_meta *meta);

/* The same for all pictures of a run, and that they fit on the disk together: `paths` with `meta`, and
 * `psf_path` (NULL: none), which has no imaginary part. */
SLC_API SLC_MUST_USE slc_status slc_image_files_check(const char *const *paths, int n_paths,
                                                      const char *psf_path,
                                                      const slc_image_meta *meta, bool overwrite);

/* Writes image [n_stokes, n_planes, ny, nx, n_parts] f64 (host; row 0 is south, column 0 is east: l
 * falls with the column; NaN beyond the horizon). The same input gives the same bytes. PNG shows the
 * first plane: percentile scaling, north up, east left. SLC_ERROR_OUTPUT with the file system's
 * reason. */
SLC_API SLC_MUST_USE slc_status slc_image_file_write(const char *path, const slc_image_meta *meta,
                                                     const double *image, bool overwrite,
                                                     slc_log *log);

/* One picture of several. */
typedef struct slc_image_output {
    const char *path;
    const slc_image_meta *meta;
    const double *image; /* as for slc_image_file_write */
} slc_image_output;

/* Writes a picture whole, but leaves it under its temporary name: the caller commits all pictures of a
 * run together (slc_outfile_commit_all), or abandons them. SLC_ERROR_OUTPUT, SLC_ERROR_MEMORY. */
SLC_API SLC_MUST_USE slc_status slc_image_file_stage(const slc_image_output *output, bool overwrite,
                                                     slc_log *log, slc_outfile *out);

#ifdef __cplusplus
}
#endif
#endif
