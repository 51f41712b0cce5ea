/* A UVH5 file as a part of a visibility set: what its source files share.
 * uvh5_open.c checks the header, uvh5_phase.c finds the phase centre, uvh5_scan.c goes through the
 * rows once, uvh5_read.c reads them. The format is the UVH5 memo of pyuvdata
 * (docs/references/uvh5_memo.tex there); docs/uvh5.md says what of it is read.
 */
#ifndef SLC_IO_UVH5_H
#define SLC_IO_UVH5_H

#include <pthread.h>

#include "io/h5_data.h"
#include "io/vis_part.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Rows that a pass over the header's row arrays takes at once. */
#define SLCI_UVH5_PASS_ROWS 65536

/* A dataset of the Data group and which part of each row is read from it. The row as read is
 * [channels, polarisations]; sample (c, k) lies first_bytes + c · channel_bytes + hand_bytes[k] from
 * the row's start. */
typedef struct slci_uvh5_field {
    slci_h5_dataset set;
    int64_t origin[SLC_MAX_RANK], extent[SLC_MAX_RANK]; /* [rank]; [0] is filled in per read */
    int64_t row_bytes;
    int64_t first_bytes, channel_bytes, hand_bytes[SLCI_VIS_MOST_HANDS];
    bool keeps_row; /* HDF5's cache has room for a row of its chunks */
} slci_uvh5_field;

typedef struct slci_uvh5_scratch slci_uvh5_scratch;

typedef struct slci_uvh5 {
    slci_vis_part base;
    slci_h5_id file;
    int64_t n_windows; /* extent of the spectral window axis of rank-4 data, else 1 */
    int64_t n_window_channels;
    bool is_flexible; /* channels of several windows on one axis */
    slci_uvh5_field vis, flags, nsamples;
    slci_h5_dataset uvw, ant_1, ant_2;
    slci_h5_dataset time, integration, lst, phase_id; /* .id 0: not there or not needed */
    double integration_s; /* of all rows where the file has one number; NaN: none */
    int64_t chosen_id;    /* of the phase centre; rows with others are not used */
    bool has_other_centres;
    int64_t n_points; /* of an ephemeris; 0: none */
    double *points;   /* [3, n_points]: times, lon, lat; owned */
    const slci_vis_selection *selection;
    int64_t block_rows;    /* read and converted at once */
    pthread_mutex_t mutex; /* of the free scratch buffers */
    slci_uvh5_scratch *free_scratch;
} slci_uvh5;

extern const slci_vis_part_ops slci_uvh5_ops;

/* uvh5_phase.c: reads and chooses the phase centre; later gives the place at the middle of the times
 * (of an ephemeris), and warns where the ephemeris does not cover it. */
SLC_MUST_USE slc_status slci_uvh5_phase_read(slci_uvh5 *uvh5, const char *wanted);
void slci_uvh5_phase_at(slci_uvh5 *uvh5, double jd, slc_log *log);

/* uvh5_scan.c: reads rows of a row array as numbers or integers. Counters may be NULL. */
SLC_MUST_USE slc_status slci_uvh5_scan(slci_vis_part *part, slci_vis_sets *sets);
typedef struct slci_uvh5_rows {
    int64_t origin, n;
    void *raw; /* [n, 8 bytes]: for the numbers as they are stored */
    slc_source_counters *counters;
} slci_uvh5_rows;
SLC_MUST_USE slc_status slci_uvh5_rows_f64(slci_h5_dataset *set, const slci_uvh5_rows *rows,
                                           double *out);
SLC_MUST_USE slc_status slci_uvh5_rows_i64(slci_h5_dataset *set, const slci_uvh5_rows *rows,
                                           int64_t *out);

/* uvh5_read.c */
SLC_MUST_USE slc_status slci_uvh5_select(slci_vis_part *part, const slci_vis_selection *selection);
SLC_MUST_USE slc_status slci_uvh5_read(slci_vis_part *part, int64_t origin, int64_t n,
                                       const slci_vis_target *target, slc_vis_counts *counts,
                                       slc_source_counters *counters);
slci_vis_cost slci_uvh5_cost(const slci_vis_part *part, bool wants_samples);
void slci_uvh5_rest(slci_vis_part *part);

#ifdef __cplusplus
}
#endif
#endif
