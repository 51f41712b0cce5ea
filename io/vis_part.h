/* One file of a visibility set, as io/vis.c sees it, whatever its format.
 * A part is opened (header checked), asked what it holds, scanned once for what only the rows know,
 * told the selection, and then read in runs of rows.
 *
 *     SLC_TRY(slci_uvh5_open(path, file, options, &part));
 *     SLC_TRY(part->ops->scan(part, &sets));
 */
#ifndef SLC_IO_VIS_PART_H
#define SLC_IO_VIS_PART_H

#include "core/file.h"
#include "io/h5_file.h"
#include "io/vis.h"
#include "io/vis_distinct.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum slci_phase_kind {
    SLCI_PHASE_SKY,        /* a fixed or moving place in the sky; n - 1 */
    SLCI_PHASE_DRIFTSCAN,  /* a fixed azimuth and elevation; n - 1 */
    SLCI_PHASE_UNPROJECTED /* the zenith, without w-projection; n */
} slci_phase_kind;

/* The phase centre that is used. For SKY lon and lat are right ascension and declination; for
 * DRIFTSCAN azimuth and elevation; for UNPROJECTED they are not set. */
typedef struct slci_phase {
    slci_phase_kind kind;
    slc_vis_frame frame;
    bool is_frame_assumed;
    double equinox;
    double lon_rad, lat_rad;
    char name[64];
    char text[128];
} slci_phase;

/* Numbers of a header that can be what they are said to be. A frequency lies below 10^15 Hz, which is
 * light; of a sky direction the longitude is within two turns, which numbers in degrees seldom are, and
 * the latitude within a right angle; a Julian date is one of the years 1 to 9999, which FITS can write.
 * The words say the same, for messages. */
#define SLCI_VIS_MOST_HZ 1e15
#define SLCI_VIS_FREQUENCY "a frequency in Hz, above 0 and below 10^15"
#define SLCI_VIS_DIRECTION "radians, within 4 pi and within pi / 2 of 0"
#define SLCI_VIS_DATE "a Julian date of the years 1 to 9999 (1721425.5 to 5373484.5)"
bool slci_vis_is_frequency(double hz);
bool slci_vis_is_direction(double lon_rad, double lat_rad);
bool slci_vis_is_date(double jd);

/* What one file says of itself. */
typedef struct slci_vis_header {
    char format[32];
    int64_t n_rows, n_channels;
    int n_polarisations;
    double *freq_hz;          /* [n_channels], owned */
    double *channel_width_hz; /* [n_channels], owned, positive; 0 in plain sets */
    int *polarisations;       /* [n_polarisations], owned */
    bool is_polarisation_sum; /* I = XX + YY */
    bool is_x_east;           /* X is the feed along east, not north */
    bool is_x_known;
    bool is_plain;
    bool is_time_utc;
    bool is_place_assumed; /* a plain set without a phase centre */
    char telescope[64], object[64], units[32];
    double latitude_rad, longitude_rad; /* NaN where unknown */
    slci_phase phase;
} slci_vis_header;

/* One polarisation that is imaged, made of one or two of the file's: a, or scale · (a + b) or
 * scale · (a - b), and that times -i where it is turned. */
typedef struct slci_vis_combination {
    int n_used;
    int hand[2]; /* places in slci_vis_selection.hands */
    double scale;
    bool is_difference;
    bool is_turned;
} slci_vis_combination;

/* The most polarisations of a file that are read: two for each that is imaged. */
#define SLCI_VIS_MOST_HANDS (2 * SLC_VIS_MOST_IMAGED)

/* What is read, common to all files; made by io/vis.c. */
typedef struct slci_vis_selection {
    int64_t channel_begin, n_channels;
    int n_hands;
    int hands[SLCI_VIS_MOST_HANDS]; /* places in the file of the polarisations that are read */
    int n_imaged;
    slci_vis_combination imaged[SLC_VIS_MOST_IMAGED];
    bool use_autos, use_unit_weights, weight_by_time, conjugate;
    bool has_times;
    double time_low, time_high; /* low <= time < high */
    bool has_uv_range;
    double uv_min, uv_max;               /* wavelengths; uv_max 0: no limit */
    const double *wavelengths_per_metre; /* [n_channels], lent */
    int64_t cache_bytes;                 /* of this file; 0: one row of chunks */
    int64_t block_bytes;                 /* of raw samples at once */
} slci_vis_selection;

/* What the rows of all files say together. */
typedef struct slci_time_info {
    double jd, integration_s, lst_rad; /* NaN where unknown */
    bool is_used;                      /* by a row that is selected, whatever the times are */
} slci_time_info;

typedef struct slci_vis_sets {
    slci_distinct times, baselines, antennas;
    slci_time_info *time_info; /* [times.n], owned */
    int64_t time_capacity;
    double integration_low_s, integration_high_s; /* of rows used; low > high: not known */
    const slci_vis_selection *selection; /* lent; of it what is known before the times are */
    slc_log *log;                        /* lent; may be NULL */
} slci_vis_sets;

void slci_vis_sets_init(slci_vis_sets *sets);

/* Finds or makes the entry of a time. SLC_ERROR_MEMORY. */
SLC_MUST_USE slc_status slci_vis_sets_add_time(slci_vis_sets *sets, double jd, int64_t *index);
void slci_vis_sets_destroy(slci_vis_sets *sets);

typedef struct slci_vis_part slci_vis_part;

/* Where a run of rows goes; NULL: not wanted. */
typedef struct slci_vis_target {
    double *uvw;                        /* [n, 3] */
    float *vis[SLC_VIS_MOST_IMAGED];    /* [n, n_channels, 2] each */
    float *weight[SLC_VIS_MOST_IMAGED]; /* [n, n_channels] each */
} slci_vis_target;

/* Whether any values are wanted, and whether weights have to be known. */
bool slci_vis_wants_values(const slci_vis_target *target);
bool slci_vis_wants_samples(const slci_vis_target *target);

/* What reading takes of memory beside what is kept decoded. */
typedef struct slci_vis_cost {
    int64_t once_bytes;   /* indices, and what is held of the file */
    int64_t thread_bytes; /* for each thread that reads */
} slci_vis_cost;

typedef struct slci_vis_part_ops {
    /* Goes through all rows once. */
    slc_status (*scan)(slci_vis_part *part, slci_vis_sets *sets);
    /* Takes the selection (lent for the part's life) and makes ready for reading; again where its room
     * has changed, at rest. */
    slc_status (*select)(slci_vis_part *part, const slci_vis_selection *selection);
    /* Rows `origin` to origin + n - 1; thread-safe. Adds to counts [n_imaged] and counters. */
    slc_status (*read)(slci_vis_part *part, int64_t origin, int64_t n,
                       const slci_vis_target *target, slc_vis_counts *counts,
                       slc_source_counters *counters);
    int64_t (*next_unit)(slci_vis_part *part, int64_t row);
    /* Of a part that was told its selection. */
    slci_vis_cost (*cost)(const slci_vis_part *part, bool wants_samples);
    /* Frees buffers that nobody uses. Thread-safe. */
    void (*rest)(slci_vis_part *part);
    slc_status (*describe)(slci_vis_part *part, int capacity, slc_vis_dataset *out, int *n);
    void (*destroy)(slci_vis_part *part);
} slci_vis_part_ops;

struct slci_vis_part {
    const slci_vis_part_ops *ops;
    char *path; /* owned */
    /* Known once it is selected: */
    bool is_divisible;  /* HDF5's lock is not needed to read */
    int64_t kept_bytes; /* what may be kept of decoded chunks */
    slci_file_stamp stamp;
    slci_vis_header header;
};

/* Fills in the path and the stamp; fini frees what the base owns. */
SLC_MUST_USE slc_status slci_vis_part_init(slci_vis_part *part, const slci_vis_part_ops *ops,
                                           const char *path);
void slci_vis_part_fini(slci_vis_part *part);

/* The formats. Each refuses what it cannot read by file, dataset, found and expected. */
SLC_MUST_USE slc_status slci_uvh5_open(const char *path, slci_h5_id file,
                                       const slc_vis_options *options, slci_vis_part **out);
SLC_MUST_USE slc_status slci_plain_h5_open(const char *path, slci_h5_id file,
                                           const slc_vis_options *options, slci_vis_part **out);
SLC_MUST_USE slc_status slci_npz_open(const char *path, const slc_vis_options *options,
                                      slci_vis_part **out);

#ifdef __cplusplus
}
#endif
#endif
