/* The state of one imaging run, shared by the files that do its parts.
 * app/image.c runs it, app/image_meta.c describes the picture, app/image_stats.c the run.
 */
#ifndef SLC_APP_IMAGE_JOB_H
#define SLC_APP_IMAGE_JOB_H

#include "app/beam.h"
#include "app/image.h"
#include "app/image_pass.h"
#include "app/weighting.h"

/* One output channel: its source, its weights, what was found. */
typedef struct slci_plane {
    slc_source *vis;      /* owned, or the job's own when there is one plane */
    slc_source *weighted; /* owned */
    const slc_vis_meta *meta;
    double first_sum; /* of the image pass */
    bool has_weight;
    slci_totals totals;
    slci_beam_fit beam;
} slci_plane;

typedef struct slci_image_job {
    const slc_image_options *options;
    slci_imaging imaging;
    slc_pool *pool;
    slc_device *own_device; /* NULL when the caller lent one */
    slc_budget *budget;
    slc_source *vis;
    const slc_vis_meta *meta;
    slci_survey survey;
    slci_density density;
    slc_direct_geometry geometry;
    int64_t n_planes;
    slci_plane *plane;    /* [n_planes] */
    slc_beam *plane_beam; /* [n_planes] */
    int n_parts;
    double *image;       /* [n_planes, ny, nx, n_parts] */
    double *psf;         /* [n_planes, ny, nx] or NULL */
    int64_t image_bytes; /* reserved for both */
    slci_pass pass;
    slc_image_result result;
} slci_image_job;

/* The description of the picture, but for what is only known afterwards (beam, sums). */
SLC_MUST_USE slc_status slci_image_meta_fill(const slci_image_job *job, slc_image_meta *meta);

/* What can be said before anything is read: enough for slc_image_file_check. */
void slci_image_meta_start(const slc_image_options *options, slc_image_meta *meta);

#endif
