/* The state of one imaging run, shared by the files that do its parts.
 * app/image.c runs it, app/image_meta.c describes the picture, app/image_result.c fills in what was
 * found, app/image_stats.c writes it down.
 */
#ifndef SLC_APP_IMAGE_JOB_H
#define SLC_APP_IMAGE_JOB_H

#include "app/beam.h"
#include "app/image.h"
#include "app/image_pass.h"
#include "app/tuning_book.h"
#include "app/weighting.h"

/* One polarisation of an output channel. */
typedef struct slci_plane_pol {
    slci_totals totals;
    slci_beam_fit beam;
} slci_plane_pol;

/* One output channel: its source, its weights, what was found of each polarisation. */
typedef struct slci_plane {
    slc_source *vis;      /* owned, or the job's own when there is one plane */
    slc_source *weighted; /* owned */
    const slc_vis_meta *meta;
    slci_first first[SLC_VIS_MOST_IMAGED]; /* of the image pass */
    slci_plane_pol pol[SLC_VIS_MOST_IMAGED];
} slci_plane;

typedef struct slci_image_job {
    const slc_image_options *options;
    slci_imaging imaging;
    slci_tuning_book book;
    slci_machine machine;
    slc_source *vis;
    const slc_vis_meta *meta;
    int n_pols;                                /* polarisations that are imaged */
    slci_survey survey[SLC_VIS_MOST_IMAGED];   /* [n_pols] */
    slci_density density[SLC_VIS_MOST_IMAGED]; /* [n_pols] */
    slc_direct_geometry geometry;
    int64_t n_planes;
    slci_plane *plane;    /* [n_planes] */
    slc_beam *plane_beam; /* [n_pols, n_planes] */
    int n_parts;
    int64_t tile_pixels[SLC_VIS_MOST_IMAGED]; /* the image's kernel tile, which all passes share */
    double *image;                            /* [n_pols, n_planes, ny, nx, n_parts] */
    double *psf;                              /* [n_pols, n_planes, ny, nx] or NULL */
    int64_t image_bytes;                      /* reserved for both */
    int64_t state_bytes;                      /* of a checkpoint, in the pass that has most */
    int room; /* that the reader has, app/image_open.c; 0: the usual */
    int64_t reading_bytes, least_reading_bytes; /* reserved for it, and what the least room takes */
    slci_pass pass;
    slc_image_result result;
} slci_image_job;

/* app/image_open.c: everything before the plan. */
SLC_MUST_USE slc_status slci_image_open(slci_image_job *job);

/* Looks at every row of a set of the job's; out [n_pols]. */
SLC_MUST_USE slc_status slci_image_look_at_all(const slci_image_job *job, slc_source *vis,
                                               bool wants_data, slci_survey *out);

/* Gives the reader less memory, where it has more than the least. SLC_ERROR_MEMORY. */
SLC_MUST_USE slc_status slci_image_shrink_reader(slci_image_job *job, bool *is_smaller);

/* Frees what reading a plane left behind: the next set is read with the same memory. */
void slci_image_rest(const slci_image_job *job, const slci_plane *plane);

/* The description of the picture, but for what is only known afterwards (beam, sums). */
SLC_MUST_USE slc_status slci_image_meta_fill(const slci_image_job *job, slc_image_meta *meta);

/* app/image_tune.c: reads what earlier runs found; and measures the image's own pass, which has just
 * been planned, where that is wanted. */
void slci_image_load_tuning(slci_image_job *job);
SLC_MUST_USE slc_status slci_image_tune(slci_image_job *job);

/* app/image_resume.c: begins the run's checkpoint, if it has one, or goes on with it. */
SLC_MUST_USE slc_status slci_image_begin_checkpoint(slci_image_job *job);

/* Sums over the planes' totals, rates, and what the ledger saw. */
void slci_image_add_totals(slci_image_job *job);

/* Peak, its place and rms of the real part of the first plane that has data, over its finite pixels. */
void slci_image_find_peak(slci_image_job *job);

/* Says which samples were left out, and how far the sky turned. */
void slci_image_warn_of_losses(const slci_image_job *job);

/* What can be said before anything is read: enough for slc_image_file_check. */
void slci_image_meta_start(const slc_image_options *options, slc_image_meta *meta);

/* Size of the first patch of the PSF in which the beam is looked for; it is doubled until the main
 * lobe lies inside. At three pixels a fringe a typical lobe is some 10 pixels wide. */
#define SLCI_BEAM_PATCH 64

/* The g-th of the sets of polarisations of a plane that share a pass: those with data for which the
 * survey found the same reach, so that they have the same kernel tiles together as each alone. False
 * past the last. */
bool slci_image_pols_get(const slci_image_job *job, const slci_plane *plane, int g, slci_pols *out);

/* app/image_plan.c. The first plane that has data: plan, peak and record are its. */
int64_t slci_image_leading_plane(const slci_image_job *job);

/* Which of the planes of all polarisations a plane's is. */
int64_t slci_image_place(const slci_image_job *job, int pol, int64_t plane);

/* A plane's pass over the image, and over nx × ny pixels of its PSF with the image's kernel tile;
 * `first` [n_pols] is what was found for it, NULL before. */
slci_pass_request slci_image_pass_request(const slci_image_job *job, const slci_plane *plane,
                                          const slci_pols *pols);
slci_pass_request slci_image_psf_request(const slci_image_job *job, const slci_plane *plane,
                                         const slci_pols *pols, int64_t nx, int64_t ny,
                                         const slci_first *first);

/* Notes for the plan how fast the survey, which has just ended, was read. */
void slci_image_note_reader(slci_image_job *job);

/* Plans every pass of the run and fills in the result's plan. SLC_ERROR_NO_PLAN names the smallest
 * --vram and --ram with which all of them fit; after --dry-run too little --ram is only noted. */
SLC_MUST_USE slc_status slci_image_plan(slci_image_job *job);

#endif
