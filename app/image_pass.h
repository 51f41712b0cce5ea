/* One pass of the imaging job: the exact sum of one weighted set over one picture.
 * The image of a plane, the PSF and the patch of it that the beam needs are each one pass. A pass is
 * prepared first, so that it can be planned without being run.
 */
#ifndef SLC_APP_IMAGE_PASS_H
#define SLC_APP_IMAGE_PASS_H

#include "app/image.h"
#include "app/machine.h"
#include "app/tuning_book.h"
#include "kernels/direct.h"
#include "ooc/execute.h"

/* What every pass of one run shares. All lent. */
typedef struct slci_imaging {
    const slc_image_options *options;
    const slci_machine *machine;
    const slci_tuning_book *book; /* what --tune found on this machine */
    int64_t most_device_bytes,
        most_staging_bytes;  /* of any pass, once all are planned; 0: not yet */
    int64_t cache_bytes;     /* what the reader may keep decoded */
    int64_t picture_bytes;   /* host memory that a plan leaves free: of pictures not yet reserved */
    double read_bytes_per_s; /* what the reader did, fetching included; 0: not known */
} slci_imaging;

/* Some of the polarisations that a set is imaged in. */
typedef struct slci_pols {
    int n;
    int pol[SLC_VIS_MOST_IMAGED]; /* rising */
} slci_pols;

typedef struct slci_pass_request {
    slc_source *vis; /* weighted, lent for the pass's life */
    slci_pols pols;  /* of it, which the pass images */
    int64_t n_rows, n_channels;
    const double *wavelengths_per_metre; /* [n_channels], lent */
    slc_direct_geometry geometry;
    slc_direct_survey survey;              /* of the first of them */
    double first_sum[SLC_VIS_MOST_IMAGED]; /* [pols.n] */
    int n_parts;
    bool is_psf;
    int64_t tile_pixels;   /* kernel tile; 0: chosen */
    bool is_first;         /* of the run: what the engine warns of is said once */
    bool is_first_of_kind; /* picture or PSF: likewise, that it is planned again */
    const char *stage;     /* for the progress line; static storage */
} slci_pass_request;

typedef struct slci_pass {
    slci_pass_request request;
    slc_direct_setup setup;
    slc_direct_summary summary;
    slc_job job;
    slc_execution execution;
    slc_plan plan;
    slc_image_tuning tuning;
} slci_pass;

/* Chooses the numerics, plans, and divides the work of the plan's tiles. The pass must stay where
 * it is afterwards, since the job points into it. SLC_ERROR_NO_PLAN with the smallest budget in the
 * message and in the plan. */
SLC_MUST_USE slc_status slci_pass_prepare(const slci_imaging *imaging,
                                          const slci_pass_request *request, slci_pass *pass);

/* Runs it. images [pols.n]: each [ny, nx, n_parts] f64 (host), gets the plain sums of its polarisation;
 * Σw is known only afterwards. */
SLC_MUST_USE slc_status slci_pass_run(const slci_imaging *imaging, slci_pass *pass,
                                      double *const *images, slc_engine_report *report);

/* Divides the sums by Σw and puts NaN at and beyond the horizon. */
void slci_pass_normalise(const slci_pass *pass, double weight_sum, double *image);

#endif
