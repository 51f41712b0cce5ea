/* The predict job: the visibilities of a model of the sky, at the places and frequencies of a set.
 * This is `sluice predict` as a function. The model is an image, of which only the pixels that are not
 * zero are computed with and which may be larger than device memory, or a list of points and Gaussians.
 * The output is the input with other visibilities, whole or not there at all, and its bits depend on
 * neither budgets nor threads nor where the image lies.
 *
 *     slc_predict_options options = {.model_path = "model.fits", .in_path = "in.uvh5",
 *                                    .out_path = "out.uvh5"};
 *     options.run.vram_bytes = 256 << 20; options.run.ram_bytes = 1 << 30;
 *     SLC_TRY(slc_predict_run(&options, &result));
 */
#ifndef SLC_APP_PREDICT_H
#define SLC_APP_PREDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "app/run_options.h"
#include "core/numerics.h"
#include "core/status.h"
#include "ooc/engine.h"
#include "ooc/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All pointers are lent for the call. */
typedef struct slc_predict_options {
    const char *model_path; /* FITS, a picture of Sluice's in HDF5, or a text list of components */
    const char *in_path, *out_path; /* UVH5 */
    /* run.sparse: where the image lies; SLC_SPARSE_STREAMED: nowhere, it passes by. */
    slc_run_options run;
} slc_predict_options;

/* What the run did; plain data. */
typedef struct slc_predict_result {
    bool is_image;
    int64_t n_rows, n_channels, n_components;
    int64_t nx, ny, n_planes; /* of the image, planes those used; 0: a list */
    int64_t image_bytes;
    int64_t n_nan;       /* pixels that are no number */
    double flux_jy;      /* Σ I, of an image's first plane or at a list's reference frequency */
    double abs_flux_jy;  /* Σ |I| */
    double offset_rad;   /* between the image's centre and the data's */
    char unit_text[128]; /* of the image */
    char hands[64];      /* polarisations that get the model */
    char type_text[64];  /* of visdata as written */
    slc_sparse_choice sparse; /* where the image is; SLC_SPARSE_AUTO for a list */
    char why[192];            /* one sentence: why there; "" for a list */
    slc_plan plan;
    slc_engine_report report;
    slc_numerics numerics;
    bool is_resumed;
    char device_name[128];
    slc_run_memory memory; /* planned: the plan's, and what the job holds besides */
    double total_seconds, survey_seconds, copy_seconds, write_seconds;
} slc_predict_result;

/* Runs the job. On failure `result` is not touched. SLC_ERROR_INPUT and SLC_ERROR_UNSUPPORTED for a
 * model that cannot be placed or weighed exactly, or data that it has no place in. */
SLC_API SLC_MUST_USE slc_status slc_predict_run(const slc_predict_options *options,
                                                slc_predict_result *result);

/* The statistics of a run as JSON (docs/stats.md lists the keys), and the plan as text for --dry-run.
 * The caller frees the string with free(). SLC_ERROR_MEMORY. */
SLC_API SLC_MUST_USE slc_status slc_predict_stats_json(const slc_predict_result *result,
                                                       char **out);
SLC_API SLC_MUST_USE slc_status slc_predict_plan_text(const slc_predict_result *result, char **out);

#ifdef __cplusplus
}
#endif
#endif
