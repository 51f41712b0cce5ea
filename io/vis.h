/* Visibility sets as sources: UVH5 of the memo's versions 0.x and 1.x (2 and later are
 * refused), and plain sets in HDF5 or .npz.
 * One or several files are one set whose rows follow each other in the order given. Selection,
 * polarisation, flags and weights are applied while reading, so what comes out is ready to be summed:
 * unused samples have weight 0 and value 0.
 *
 *     slc_vis_options options = {.polarisation = SLC_POL_AUTO};
 *     SLC_TRY(slc_vis_open(paths, n_paths, &options, &source));
 *     const slc_vis_meta *meta = slc_vis_get_meta(source);     // meta->n_rows, meta->freq_hz, ...
 */
#ifndef SLC_IO_VIS_H
#define SLC_IO_VIS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/log.h"
#include "core/source.h"
#include "io/h5_files.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fields of the source; the shared dimension is the row. uvw [row, 3] f64 in metres, vis [row, chan]
 * c64, weight [row, chan] f32. Rows of autocorrelations, other phase centres or times outside the
 * selection are there with weight 0, so that a row's number never depends on the selection. */
enum { SLC_VIS_UVW, SLC_VIS_DATA, SLC_VIS_WEIGHT, SLC_VIS_N_FIELDS };

/* Several polarisations may be imaged at once. Each further one has two more fields: its vis and its
 * weight. */
#define SLC_VIS_MOST_IMAGED 4

static inline int slc_vis_data_field(int imaged) {
    return SLC_VIS_DATA + 2 * imaged;
}

static inline int slc_vis_weight_field(int imaged) {
    return SLC_VIS_WEIGHT + 2 * imaged;
}

/* What can be imaged: a correlation as it is in the file, or a Stokes parameter, which may be in the
 * file too, or is made of correlations. */
typedef enum slc_polarisation {
    SLC_POL_AUTO, /* the file's one polarisation, else I from parallel hands */
    SLC_POL_I,
    SLC_POL_XX,
    SLC_POL_YY,
    SLC_POL_RR,
    SLC_POL_LL,
    SLC_POL_Q,
    SLC_POL_U,
    SLC_POL_V,
    SLC_POL_XY,
    SLC_POL_YX,
    SLC_POL_RL,
    SLC_POL_LR,
    SLC_POL_N
} slc_polarisation;

/* Zero is the default of every member. Ranges are 0-based and half-open; end 0 means "to the end". */
typedef struct slc_vis_options {
    slc_polarisation polarisation;
    slc_polarisation more[SLC_VIS_MOST_IMAGED - 1]; /* imaged with it, up to the first AUTO */
    int64_t channel_begin, channel_end;
    int64_t time_begin, time_end; /* of the sorted distinct times */
    double uv_min_wavelengths;    /* keep uv_min <= hypot(u, v) < uv_max; max 0: no limit */
    double uv_max_wavelengths;
    bool use_autos;
    bool use_unit_weights;    /* 1 where not flagged, whatever nsamples holds */
    bool weight_by_time;      /* multiply by integration_time */
    bool conjugate;           /* take V* */
    const char *phase_centre; /* NULL: the only one */
    int64_t cache_bytes;      /* of decoded chunks that are kept, at most; 0: one row of chunks */
    int64_t block_bytes;      /* raw samples that a thread converts at once, at most; 0: 4 MiB */
    slc_log *log;             /* lent; may be NULL */
} slc_vis_options;

typedef enum slc_vis_frame { SLC_FRAME_ICRS, SLC_FRAME_FK5, SLC_FRAME_UNPROJECTED } slc_vis_frame;

/* One polarisation that is imaged. */
typedef struct slc_vis_imaged {
    int stokes; /* FITS code: 1 I to 4 V, -1 RR, -2 LL, -3 RL, -4 LR, -5 XX, -6 YY, -7 XY, -8 YX */
    char text[96]; /* "I = (XX + YY) / 2": what was used, for the user */
} slc_vis_imaged;

/* What the set is. Strings are "" and numbers NaN or 0 where the file has nothing to say. */
typedef struct slc_vis_meta {
    char format[32]; /* "UVH5 1.2", "plain HDF5", "npz" */
    int64_t n_files;
    int64_t n_rows;
    int64_t n_file_channels; /* in the files */
    int64_t n_channels;      /* selected: the extent of fields 1 and 2 */
    int64_t n_file_polarisations;
    int64_t n_times;                     /* distinct */
    int64_t n_baselines;                 /* distinct antenna pairs */
    int64_t n_antennas;                  /* with data */
    const double *freq_hz;               /* [n_channels], selected, in file order */
    const double *channel_width_hz;      /* [n_channels], positive */
    const double *wavelengths_per_metre; /* [n_channels]: freq / c; 1 for plain sets (u in λ) */
    const int *polarisations;            /* [n_file_polarisations], AIPS codes as in the file */
    int n_imaged;
    slc_vis_imaged imaged[SLC_VIS_MOST_IMAGED];
    bool is_w_projected;  /* n - 1 against n */
    char phase_text[128]; /* which phase type was read and what it means, for the user */
    slc_vis_frame frame;
    double equinox;         /* of the frame; 0 where it has none */
    double ra_rad, dec_rad; /* phase centre; unprojected: local sidereal time, latitude */
    double smear_rad;       /* unprojected: how far the sky turns over the set; else 0 */
    char telescope[64], object[64], units[32]; /* units: vis_units, "Jy" */
    double start_jd_utc; /* first time minus half its integration; 0 if unknown */
    bool is_plain;       /* a plain set: no times, antennas or polarisations */
    char phase_centre_name[64];
} slc_vis_meta;

/* What single precision, in which samples are summed, cannot hold of what a file of doubles can. */
typedef enum slc_vis_outside {
    SLC_VIS_VALUE_TOO_LARGE,  /* dropped, and one of `nonfinite` */
    SLC_VIS_VALUE_TOO_SMALL,  /* not 0, but below 1.2e-38: used with fewer digits, or as 0 */
    SLC_VIS_WEIGHT_TOO_LARGE, /* dropped, and one of `bad_weight` */
    SLC_VIS_WEIGHT_TOO_SMALL, /* above 0, but below 1.4e-45: dropped, and one of `zero_weight` */
    SLC_VIS_N_OUTSIDE
} slc_vis_outside;

/* How many, row × channel, and where the first of them is, counted from 0: the set's row, the file's
 * channel. */
typedef struct slc_vis_outsiders {
    int64_t n, row, channel;
} slc_vis_outsiders;

/* Of one box. flagged: row × channel × polarisation, of the polarisations used, in selected rows.
 * nonfinite: row × channel, not flagged but not finite in single precision, and therefore dropped.
 * zero_weight: row × channel, not flagged but without a weight. bad_weight: those of zero_weight whose
 * nsamples (or integration time, where that counts) are negative or not finite; the rest are 0. total:
 * row × channel × polarisation looked at. */
typedef struct slc_vis_counts {
    int64_t total;
    int64_t flagged;
    int64_t nonfinite;
    int64_t zero_weight;
    int64_t bad_weight;
    slc_vis_outsiders outside[SLC_VIS_N_OUTSIDE];
} slc_vis_counts;

/* Adds the counts of other rows of the same set. */
SLC_API void slc_vis_counts_add(slc_vis_counts *sum, const slc_vis_counts *more);

/* What a message says of them behind their number, such as "too large for single precision"; static
 * storage. */
SLC_API const char *slc_vis_outside_text(slc_vis_outside which);

/* One dataset of a file, for `sluice info`. */
typedef struct slc_vis_dataset {
    char name[64];
    char type[64]; /* "compound {r: f4, i: f4}" */
    int rank;
    int64_t shape[SLC_MAX_RANK];
    int64_t chunk[SLC_MAX_RANK]; /* 0: not chunked */
    char filters[128];           /* "shuffle, zstd (32015)"; "" for none */
    int64_t stored_bytes, logical_bytes;
    char reader[16]; /* "chunks", "contiguous": by all threads; "library": by HDF5; "memory" */
    char why[192];   /* it is left to HDF5, in one clause; else "" */
} slc_vis_dataset;

/* Opens and checks everything that can be checked without reading data: versions, shapes, types,
 * filters, phase centres, agreement between files. The caller destroys the source.
 * SLC_ERROR_INPUT, SLC_ERROR_UNSUPPORTED name file, dataset, found and expected; SLC_ERROR_ARGUMENT
 * for a selection that the file cannot satisfy. */
SLC_API SLC_MUST_USE slc_status slc_vis_open(const char *const *paths, int n_paths,
                                             const slc_vis_options *options, slc_source **out);

/* What opening and reading such a file needs of it, if it is HDF5. The path is lent. */
SLC_API slc_h5_reading slc_vis_reading(const char *path);

/* How many polarisations the options name: 1 for SLC_POL_AUTO. */
SLC_API int slc_vis_count_imaged(const slc_vis_options *options);

/* Lent; lives as long as the source. */
SLC_API const slc_vis_meta *slc_vis_get_meta(const slc_source *source);

/* Host memory that reading by so many threads takes at most: what is held of the files, indices of
 * chunks, decoders, buffers; without `wants_samples` for uvw alone. Decoded chunks that are kept
 * (slc_vis_kept_bytes) come on top. Of several files those are counted that may be read at a time. */
SLC_API int64_t slc_vis_reader_bytes(const slc_source *source, bool wants_samples, int n_threads);
SLC_API int64_t slc_vis_kept_bytes(const slc_source *source);

/* Another block_bytes and cache_bytes of the options, while nobody reads. SLC_ERROR_MEMORY,
 * SLC_ERROR_INPUT. */
SLC_API SLC_MUST_USE slc_status slc_vis_set_room(slc_source *source, int64_t block_bytes,
                                                 int64_t cache_bytes);

/* Frees the buffers that reading has made, as far as nobody is using them; later reads make others. */
SLC_API void slc_vis_rest(slc_source *source);

/* The AIPS code of a polarisation, which is that of FITS; 0 for SLC_POL_AUTO. */
SLC_API int slc_vis_polarisation_code(slc_polarisation polarisation);

/* The name of an AIPS code such as meta->polarisations holds: "XX" for -5; "?" for what is no code. */
SLC_API const char *slc_vis_polarisation_name(int code);

/* As slc_source_read, and says for each polarisation that is imaged (counts [n_imaged]) how many of the
 * box's samples were flagged or not finite; nothing of one whose fields are not wanted. The source
 * itself keeps no such totals, because an image larger than the budget reads rows more than once.
 * Non-finite samples can only be counted when their vis is wanted. Thread-safe. */
SLC_API SLC_MUST_USE slc_status slc_vis_read_counted(slc_source *source, const slc_box *rows,
                                                     void *const *dst, slc_vis_counts *counts);

/* Where part `part` of n_parts of a box of rows begins, for threads that share it; the end of the
 * box for part == n_parts. Parts begin a multiple of `step` >= 1 rows behind the box's first, and
 * where chunks do, so that none is decoded twice. Of a set that is not divisible the first part is
 * all. */
SLC_API int64_t slc_vis_cut(slc_source *source, const slc_box *rows, int64_t step, int part,
                            int n_parts);

/* The large datasets of the set's first file (visdata, flags, nsamples, uvw_array or u, v, w, vis,
 * weight, flags): at most `capacity` are written to `out`, the number found to `n`. */
SLC_API SLC_MUST_USE slc_status slc_vis_describe(slc_source *source, int capacity,
                                                 slc_vis_dataset *out, int *n);

#ifdef __cplusplus
}
#endif
#endif
