/* Writes UVH5 files row block by row block, so that a set of any length needs little memory.
 * Version 1.2 of the memo, readable by pyuvdata with its checks on. The file appears under its final
 * name when it is complete, and the same rows give the same bytes.
 *
 *     SLC_TRY(slc_uvh5_writer_create("sim.uvh5", &header, &options, &writer));
 *     SLC_TRY(slc_uvh5_writer_append(writer, &block));
 *     SLC_TRY(slc_uvh5_writer_commit(writer));
 */
#ifndef SLC_IO_UVH5_WRITE_H
#define SLC_IO_UVH5_WRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slc_uvh5_writer slc_uvh5_writer;

/* What does not grow with the rows. All arrays are lent until create returns. */
typedef struct slc_uvh5_header {
    int64_t n_rows; /* exactly as many must be appended */
    int64_t n_channels, n_polarisations, n_antennas, n_times, n_baselines;
    double latitude_deg, longitude_deg, altitude_m;
    double ra_rad, dec_rad;            /* sidereal phase centre, ICRS */
    const double *freq_hz;             /* [n_channels] */
    const double *channel_width_hz;    /* [n_channels] */
    const int *polarisations;          /* [n_polarisations] AIPS codes */
    const char *const *antenna_names;  /* [n_antennas] */
    const double *antenna_positions_m; /* [n_antennas, 3] ECEF minus the telescope's position */
    double antenna_diameter_m;         /* 0: not written */
    const char *telescope, *object, *history;
} slc_uvh5_header;

typedef struct slc_uvh5_options {
    int zstd_level;     /* 0: no compression; else shuffle + zstd (filter 32015) at this level */
    int64_t chunk_rows; /* 0: chosen so that a chunk is about 1 MiB */
    bool overwrite;
} slc_uvh5_options;

/* A block of rows, all host memory, lent during the call. */
typedef struct slc_uvh5_rows {
    int64_t n_rows;
    const double *uvw_m;                  /* [n_rows, 3], position(ant_2) - position(ant_1) */
    const double *time_jd;                /* [n_rows] UTC, middle of the integration */
    const double *lst_rad;                /* [n_rows] */
    const double *integration_s;          /* [n_rows] */
    const int64_t *antenna_1, *antenna_2; /* [n_rows], indices into the header's antennas */
    const float *vis;                     /* [n_rows, n_channels, n_polarisations, 2] */
    const uint8_t *flags;  /* [n_rows, n_channels, n_polarisations]; NULL: none flagged */
    const float *nsamples; /* the same shape; NULL: all 1 */
} slc_uvh5_rows;

/* What the rows take on the disk, for slc_outfile_check; 0, unknown, with compression. */
SLC_API int64_t slc_uvh5_needed_bytes(const slc_uvh5_header *header,
                                      const slc_uvh5_options *options);

/* SLC_ERROR_OUTPUT, SLC_ERROR_ARGUMENT (a header that contradicts itself), SLC_ERROR_MEMORY. */
SLC_API SLC_MUST_USE slc_status slc_uvh5_writer_create(const char *path,
                                                       const slc_uvh5_header *header,
                                                       const slc_uvh5_options *options,
                                                       slc_uvh5_writer **out);
SLC_API SLC_MUST_USE slc_status slc_uvh5_writer_append(slc_uvh5_writer *writer,
                                                       const slc_uvh5_rows *rows);
SLC_API SLC_MUST_USE slc_status slc_uvh5_writer_commit(slc_uvh5_writer *writer);

/* Without a commit, removes what was written. Takes NULL. */
SLC_API void slc_uvh5_writer_destroy(slc_uvh5_writer *writer);

#ifdef __cplusplus
}
#endif
#endif
