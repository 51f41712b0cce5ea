/* The imaging job: from visibility files to a dirty image, under a budget of memory.
 * This is `sluice image` as a function. It looks at the data, plans, streams rows through the device
 * and writes the files asked for. Everything it says goes to the log; nothing is printed.
 *
 *     slc_image_options options;
 *     slc_image_options_init(&options);
 *     options.inputs = inputs; options.n_inputs = 1; options.outputs = outputs; options.n_outputs = 1;
 *     options.run.vram_bytes = 256 << 20; options.run.ram_bytes = 1 << 30;
 *     SLC_TRY(slc_image_run(&options, &result));
 */
#ifndef SLC_APP_IMAGE_H
#define SLC_APP_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "app/run_options.h"
#include "core/numerics.h"
#include "core/status.h"
#include "io/image_file.h"
#include "io/vis.h"
#include "kernels/direct.h"
#include "ooc/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum slc_weighting {
    SLC_WEIGHT_NATURAL,
    SLC_WEIGHT_UNIFORM,
    SLC_WEIGHT_BRIGGS
} slc_weighting;

/* Start from slc_image_options_init. All pointers are lent for the call. */
typedef struct slc_image_options {
    const char *const *inputs;
    int n_inputs;
    const char *const *outputs; /* .fits, .h5 or .png, as many as wanted */
    int n_outputs;
    double *image; /* NULL, or where the image goes: [polarisations, n_planes, ny, nx, 1 or 2], */
                   /* host, row 0 south, l falling with the column, NaN beyond the horizon */
    const char *psf_path; /* NULL: none */
    int64_t nx, ny;       /* pixels; default 512 */
    double scale_rad;     /* 0: three pixels per fringe of the longest baseline */
    bool has_centre;      /* --centre: the picture is moved there, the projection is not */
    double centre_ra_rad, centre_dec_rad;
    slc_vis_options vis; /* selection, polarisations, weights of samples */
    slc_weighting weighting;
    double robust;    /* Briggs R */
    int64_t n_planes; /* --channels-out; default 1 */
    bool is_complex;
    double epsilon; /* default 1e-6 */
    bool tunes; /* --tune: before the run, measure how its kernels' work is divided best on this */
                /* machine, and keep it in run.cache_folder; needs run.probes, and no dry run */
    slc_run_options run;
} slc_image_options;

/* How the work of a launch is divided, which no bit of the image depends on. */
typedef struct slc_image_launch {
    slc_direct_launch launch;
    int64_t split; /* of slc_direct_tuning */
    bool is_tuned; /* as --tune found it, now or in an earlier run; else by the model */
} slc_image_launch;

typedef struct slc_image_tuning {
    int n;
    slc_image_launch launch[SLC_DIRECT_N_LAUNCHES];
} slc_image_tuning;

/* What the run did, over all planes of all polarisations; plain data. */
typedef struct slc_image_result {
    slc_image_meta meta; /* as written; plane_beam is NULL */
    double peak;         /* Jy/beam, over finite pixels of plane 0 (of the first with data) */
    int64_t peak_x, peak_y, peak_plane;
    int peak_pol; /* which of meta's polarisations has it */
    double peak_ra_rad, peak_dec_rad;
    double rms;
    double total_seconds;
    double weight_sum;
    double abs_sum;
    int64_t n_used, n_flagged, n_looked_at, n_nonfinite, n_bad_weight, n_outside_uniform;
    slc_vis_outsiders outside[SLC_VIS_N_OUTSIDE]; /* of what single precision holds */
    int64_t finite_pixels;                        /* of a plane: those within the horizon */
    int n_fully_flagged_planes;
    bool is_resumed; /* an earlier run was continued; counts of what was moved are this run's */
    double pairs_per_second; /* used samples × finite pixels / kernel seconds */
    slc_plan plan; /* of the image: tiles of one plane, counts and bytes of all together */
    slc_engine_report report;     /* of the image: what moved and how long it took, all planes */
    slc_engine_report psf_report; /* of the PSF, or of the patch of it that the beam needs */
    slc_numerics numerics;
    char device_name[128];
    slc_run_memory memory;      /* planned: image, uv density, reading and staging */
    int64_t reading_bytes;      /* of it for indices, decoders, buffers and decoded chunks */
    int64_t vram_planned_bytes; /* the most that any pass takes; plan has the image's own peak */
    int64_t n_planned;          /* samples with a weight, of which values may turn out not finite */
    int64_t n_planned_flagged;
    int64_t output_bytes;                /* of one file, at 8 bytes a value */
    int64_t chunks_read, chunks_decoded; /* during the image passes, survey and PSF apart */
    int64_t bytes_stored;                /* fetched from files during the image passes */
    slc_run_reader reader;               /* of the visibilities, of the first file */
    double survey_seconds, write_seconds;
    double read_bytes_per_s; /* decoded, of the survey, which the plan is made with; 0: assumed */
    char kernel_why[256];    /* which tiles take which method, and why */
    slc_image_tuning tuning; /* of the image */
    char beam_why[96];       /* why there is no beam (meta.beam.is_valid false); else "" */
} slc_image_result;

SLC_API void slc_image_options_init(slc_image_options *options);

/* Runs the job. All output files appear, whole, or none does (what one of them has replaced does not
 * come back), and on failure `result` is not touched.
 * Every status can come back; the message names file, dataset, found and expected. */
SLC_API SLC_MUST_USE slc_status slc_image_run(const slc_image_options *options,
                                              slc_image_result *result);

/* The statistics of a run as JSON (docs/stats.md lists the keys), and the plan as text for
 * --dry-run. The caller frees the string with free(). SLC_ERROR_MEMORY. */
SLC_API SLC_MUST_USE slc_status slc_image_stats_json(const slc_image_result *result, char **out);
SLC_API SLC_MUST_USE slc_status slc_image_plan_text(const slc_image_result *result, char **out);

#ifdef __cplusplus
}
#endif
#endif
