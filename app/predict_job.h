/* The state of one prediction, shared by the files that do its parts: app/predict.c runs it,
 * app/predict_model.c opens the model and lists its components, app/predict_plan.c plans.
 */
#ifndef SLC_APP_PREDICT_JOB_H
#define SLC_APP_PREDICT_JOB_H

#include "app/machine.h"
#include "app/predict.h"
#include "io/uvh5_copy.h"
#include "io/vis.h"
#include "kernels/predict_kernel.h"
#include "ooc/execute.h"

typedef struct slci_predict_job {
    const slc_predict_options *options;
    slci_machine machine;
    slc_sink *output;
    slc_source *vis;
    const slc_vis_meta *meta; /* of vis */
    slc_source *image;        /* NULL: a list */
    slc_source *list;         /* of the image's components; NULL: a list of its own */
    double *channels;         /* [n_channels, SLC_PREDICT_CHANNEL_COLUMNS] */
    /* Of a list: [n_components, 3] and [n_components, SLC_PREDICT_SHAPE]. */
    double *places, *shapes;
    slc_source *channels_source, *places_source, *shapes_source;
    slci_least least;
    slc_predict_setup setup;
    slc_job job;
    slc_execution execution;
    slc_plan plan;
    slc_predict_result result;
} slci_predict_job;

/* Opens the model, places it relative to the data, and lists its components; where --ram has no room
 * for a list, counts them only, since no plan fits then. */
SLC_MUST_USE slc_status slci_predict_open_model(slci_predict_job *job);

/* Gives back what the rows of the output that wait can do without. */
void slci_predict_stage_least(slci_predict_job *job);

/* Makes job and plan. SLC_ERROR_NO_PLAN when none fits. */
SLC_MUST_USE slc_status slci_predict_plan(slci_predict_job *job);

/* The same for an image that passes by; `why` says why it does. */
SLC_MUST_USE slc_status slci_predict_plan_streamed(slci_predict_job *job, const char *why);

/* Copies what the plan says to the result. */
void slci_predict_take_plan(slci_predict_job *job);

#endif
