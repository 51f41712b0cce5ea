/* The model of a prediction: what it is, where it lies as seen from the data, what each channel
 * gets.
 *
 * An image with several planes gives each channel the nearest one; a channel beyond the outermost
 * plane's own width is refused rather than given a flux that nobody measured. An image with one
 * plane has one flux at all frequencies. A list's fluxes follow their spectral indices from the
 * reference frequency. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/predict_job.h"
#include "core/checked.h"
#include "core/clock.h"
#include "core/constants.h"
#include "core/print.h"
#include "core/units.h"
#include "io/model.h"
#include "io/model_list.h"
#include "io/simulate.h"

/* Positions of an image's components may take this part of --ram. */
#define KEEP_SHARE 8

/* Equinoxes closer than this, in years, are one: 0.5 arcseconds of precession. */
#define SAME_EQUINOX 0.01

/* A channel at the very edge of a plane is in it. */
#define EDGE_TOLERANCE 1e-9

/* Fluxes beyond this cannot be summed in single precision. */
#define MAX_FLUX_JY 1e30

static slc_status no_memory(const slci_predict_job *job, const char *what) {
    return SLC_FAIL(SLC_ERROR_MEMORY, "%s: no memory for its %s", job->options->model_path, what);
}

static slc_status make_source(const char *name, int64_t n, int64_t n_columns, const double *values,
                              slc_source **out) {
    slc_layout layout;
    SLC_TRY(slc_layout_dense(SLC_F64, 2, (const int64_t[]){n, n_columns}, &layout));
    return slc_source_create_memory(name, &layout, values, out);
}

/* ---- frames -------------------------------------------------------------------------------- */

/* Whether places in the image's frame are places in the data's. */
static slc_status check_frames(const slci_predict_job *job, const slc_model_meta *model) {
    const slc_vis_meta *meta = job->meta;
    const char *path = job->options->model_path;
    const bool is_fk5 = strcmp(model->frame, "FK5") == 0;
    const bool is_j2000 = fabs(model->equinox - 2000.0) < SAME_EQUINOX;
    if (model->frame[0] == '\0') {
        slc_log_note(job->options->run.log,
                     "%s: names no frame (RADESYS); it is taken for that of the data", path);
        return SLC_OK;
    }
    if (meta->frame == SLC_FRAME_ICRS && !is_fk5) {
        return SLC_OK;
    }
    if (meta->frame != SLC_FRAME_ICRS && is_fk5 &&
        (fabs(model->equinox - meta->equinox) < SAME_EQUINOX || meta->equinox <= 0.0)) {
        return SLC_OK;
    }
    const bool is_data_j2000 =
        meta->frame == SLC_FRAME_ICRS ||
        (meta->frame == SLC_FRAME_FK5 && fabs(meta->equinox - 2000.0) < SAME_EQUINOX);
    if (is_data_j2000 && (!is_fk5 || is_j2000)) {
        slc_log_note(job->options->run.log,
                     "%s: ICRS and FK5 J2000 are taken for one frame; they differ by some 0.02 "
                     "arcseconds",
                     path);
        return SLC_OK;
    }
    return SLC_FAIL(SLC_ERROR_UNSUPPORTED,
                    "%s: its frame is %s%s, that of the data %s%s: places of the one are not those "
                    "of the other",
                    path, model->frame, is_fk5 && !is_j2000 ? " of another equinox" : "",
                    meta->frame == SLC_FRAME_ICRS ? "ICRS" : "FK5",
                    meta->frame == SLC_FRAME_UNPROJECTED ? " of date (they follow the ground)"
                    : is_data_j2000                      ? ""
                                                         : " of another equinox");
}

/* ---- channels ------------------------------------------------------------------------------ */

static int64_t nearest_plane(const slc_model_meta *model, double freq_hz) {
    int64_t nearest = 0;
    for (int64_t p = 1; p < model->n_planes; p++) {
        if (fabs(model->freq_hz[p] - freq_hz) < fabs(model->freq_hz[nearest] - freq_hz)) {
            nearest = p;
        }
    }
    return nearest;
}

/* The planes' numbers into the channels' table; *first and *n are those used. */
static slc_status choose_planes(slci_predict_job *job, const slc_model_meta *model, int64_t *first,
                                int64_t *n) {
    const slc_vis_meta *meta = job->meta;
    int64_t low = model->n_planes - 1;
    int64_t high = 0;
    const double width_hz =
        model->n_planes > 1 ? fabs(model->freq_hz[1] - model->freq_hz[0]) : INFINITY;
    for (int64_t c = 0; c < meta->n_channels; c++) {
        const int64_t p = model->n_planes > 1 ? nearest_plane(model, meta->freq_hz[c]) : 0;
        if (model->n_planes > 1 &&
            fabs(model->freq_hz[p] - meta->freq_hz[c]) > 0.5 * width_hz * (1.0 + EDGE_TOLERANCE)) {
            return SLC_FAIL(SLC_ERROR_INPUT,
                            "%s: channel %lld of the data, at %.9g Hz, is in none of the %lld "
                            "planes, which are about %.9g to %.9g Hz, each %.6g Hz wide",
                            job->options->model_path, (long long)c, meta->freq_hz[c],
                            (long long)model->n_planes, model->freq_hz[0],
                            model->freq_hz[model->n_planes - 1], width_hz);
        }
        job->channels[c * SLC_PREDICT_CHANNEL_COLUMNS + SLC_PREDICT_PLANE] = (double)p;
        low = slc_min_i64(low, p);
        high = slc_max_i64(high, p);
    }
    for (int64_t c = 0; c < meta->n_channels; c++) {
        job->channels[c * SLC_PREDICT_CHANNEL_COLUMNS + SLC_PREDICT_PLANE] -= (double)low;
    }
    *first = low;
    *n = high - low + 1;
    return SLC_OK;
}

static slc_status make_channels(slci_predict_job *job) {
    const slc_vis_meta *meta = job->meta;
    const int64_t bytes =
        meta->n_channels * SLC_PREDICT_CHANNEL_COLUMNS * (int64_t)sizeof *job->channels;
    (void)slci_machine_hold(&job->machine, bytes, "channels");
    job->channels = calloc(1, (size_t)bytes);
    if (job->channels == NULL) {
        return no_memory(job, "channels");
    }
    for (int64_t c = 0; c < meta->n_channels; c++) {
        job->channels[c * SLC_PREDICT_CHANNEL_COLUMNS + SLC_PREDICT_SCALE] =
            meta->wavelengths_per_metre[c];
    }
    return make_source("channels", meta->n_channels, SLC_PREDICT_CHANNEL_COLUMNS, job->channels,
                       &job->channels_source);
}

/* ---- images -------------------------------------------------------------------------------- */

static void say_image(const slci_predict_job *job, const slc_model_survey *survey) {
    slc_log *log = job->options->run.log;
    const char *path = job->options->model_path;
    char angle[SLCI_TEXT_BYTES];
    if (strcmp(job->result.unit_text, "Jy/pixel") != 0) {
        slc_log_note(log, "%s: pixels in %s", path, job->result.unit_text);
    }
    if (survey->is_rotated) {
        slci_format_angle(survey->offset_rad, 4, angle);
        slc_log_note(log,
                     "%s: its centre lies %s from the phase centre of the data; places are turned "
                     "to the data's",
                     path, angle);
    }
    if (survey->n_nan > 0) {
        slc_log_note(log, "%s: %lld pixels are no number and count as zero", path,
                     (long long)survey->n_nan);
    }
}

static int64_t list_reader_bytes(const slc_source *model, int n_threads) {
    int64_t bytes = 0;
    return slc_checked_mul(n_threads, slc_model_list_block_bytes(model), &bytes)
               ? bytes
               : INT64_MAX / 4; /* more than any budget */
}

static slc_status list_image(slci_predict_job *job) {
    slci_machine *machine = &job->machine;
    slci_machine_hold_readers(machine, job->image, list_reader_bytes, "parts of the image");
    (void)slci_machine_hold(machine, slc_model_list_least_bytes(job->image), "where these begin");
    const bool has_room = machine->missing_bytes == 0;
    const slc_model_list_options options = {.model = job->image,
                                            .ra_rad = job->meta->ra_rad,
                                            .dec_rad = job->meta->dec_rad,
                                            .is_w_projected = job->meta->is_w_projected,
                                            .keep_bytes =
                                                has_room ? job->options->run.ram_bytes / KEEP_SHARE
                                                         : 0,
                                            .budget = machine->budget,
                                            .cancel = job->options->run.cancel};
    SLC_TRY(slc_model_list_create(&options, &job->list));
    const slc_model_survey *survey = slc_model_list_survey(job->list);
    slc_predict_result *result = &job->result;
    result->n_components = survey->n_components;
    result->n_nan = survey->n_nan;
    result->flux_jy = survey->flux_jy;
    result->abs_flux_jy = survey->abs_flux_jy;
    result->offset_rad = survey->offset_rad;
    say_image(job, survey);
    return SLC_OK;
}

static slc_status open_image(slci_predict_job *job) {
    int64_t first = 0;
    int64_t n = 0;
    SLC_TRY(slc_model_open(job->options->model_path, job->options->run.log, &job->image));
    (void)slci_machine_hold(&job->machine, slc_model_reader_bytes(job->image),
                            "readers of the image");
    const slc_model_meta *model = slc_model_get_meta(job->image);
    SLC_TRY(check_frames(job, model));
    SLC_TRY(choose_planes(job, model, &first, &n));
    slc_model_use_planes(job->image, first, n);
    slc_predict_result *result = &job->result;
    result->is_image = true;
    result->nx = model->nx;
    result->ny = model->ny;
    result->n_planes = n;
    result->image_bytes = slc_layout_bytes(&job->image->fields[0]);
    memcpy(result->unit_text, model->unit_text, sizeof result->unit_text);
    return list_image(job);
}

/* ---- lists --------------------------------------------------------------------------------- */

/* A flux rises or falls with frequency, so its largest value is at an end. */
static slc_status check_flux(const slci_predict_job *job, const slc_sky_component *component,
                             int64_t k, const double ends[2]) {
    for (int e = 0; e < 2; e++) {
        const double flux = component->flux_jy * exp(component->spectral_index * ends[e]);
        if (!(fabs(flux) <= MAX_FLUX_JY)) {
            return SLC_FAIL(SLC_ERROR_INPUT,
                            "%s: component %lld has %g Jy at a frequency of the data, expected at "
                            "most %g; see to its flux and index",
                            job->options->model_path, (long long)k + 1, flux, MAX_FLUX_JY);
        }
    }
    return SLC_OK;
}

static void set_component(const slci_predict_job *job, const slc_sky_component *component,
                          int64_t k) {
    const double width = SLC_PI / (2.0 * sqrt(log(2.0)));
    const double r2 = component->l * component->l + component->m * component->m;
    const double n = sqrt(1.0 - r2);
    double *place = job->places + 3 * k;
    double *shape = job->shapes + k * SLC_PREDICT_SHAPE;
    place[0] = component->l;
    place[1] = component->m;
    place[2] = job->meta->is_w_projected ? -r2 / (1.0 + n) : n;
    shape[SLC_PREDICT_SHAPE_FLUX] = component->flux_jy;
    shape[SLC_PREDICT_SHAPE_INDEX] = component->spectral_index;
    shape[SLC_PREDICT_SHAPE_MAJOR] = width * component->major_rad;
    shape[SLC_PREDICT_SHAPE_MINOR] = width * component->minor_rad;
    shape[SLC_PREDICT_SHAPE_SIN] = sin(component->angle_rad);
    shape[SLC_PREDICT_SHAPE_COS] = cos(component->angle_rad);
}

/* ln(f / reference) of every channel; `ends` are the least and the largest. */
static void set_spectrum(slci_predict_job *job, const slc_sky *sky, double ends[2]) {
    const slc_vis_meta *meta = job->meta;
    const double reference_hz = sky->reference_hz > 0.0 ? sky->reference_hz : meta->freq_hz[0];
    ends[0] = INFINITY;
    ends[1] = -INFINITY;
    for (int64_t c = 0; c < meta->n_channels; c++) {
        const double ln_freq = log(meta->freq_hz[c] / reference_hz);
        job->channels[c * SLC_PREDICT_CHANNEL_COLUMNS + SLC_PREDICT_LN_FREQ] = ln_freq;
        ends[0] = fmin(ends[0], ln_freq);
        ends[1] = fmax(ends[1], ln_freq);
    }
}

static slc_status set_list(slci_predict_job *job, const slc_sky *sky) {
    const int64_t n = sky->n_components;
    const int64_t bytes = n * (3 + SLC_PREDICT_SHAPE) * (int64_t)sizeof(double);
    double ends[2];
    job->result.n_components = n;
    if (bytes > slci_machine_left_bytes(&job->machine)) {
        slci_predict_stage_least(job);
    }
    if (!slci_machine_hold(&job->machine, bytes, "components")) {
        return SLC_OK; /* nothing can be given back any more: no plan fits */
    }
    job->places = malloc((size_t)n * 3 * sizeof(double));
    job->shapes = malloc((size_t)n * SLC_PREDICT_SHAPE * sizeof(double));
    if (job->places == NULL || job->shapes == NULL) {
        return no_memory(job, "components");
    }
    set_spectrum(job, sky, ends);
    for (int64_t k = 0; k < n; k++) {
        SLC_TRY(check_flux(job, &sky->components[k], k, ends));
        set_component(job, &sky->components[k], k);
        job->result.flux_jy += sky->components[k].flux_jy;
        job->result.abs_flux_jy += fabs(sky->components[k].flux_jy);
    }
    SLC_TRY(make_source("places of components", n, 3, job->places, &job->places_source));
    return make_source("components", n, SLC_PREDICT_SHAPE, job->shapes, &job->shapes_source);
}

static slc_status open_list(slci_predict_job *job) {
    slc_sky sky = {0};
    SLC_TRY(slc_sky_read(job->options->model_path, job->meta->ra_rad, job->meta->dec_rad, &sky));
    const slc_status status = set_list(job, &sky);
    slc_sky_destroy(&sky);
    return status;
}

slc_status slci_predict_open_model(slci_predict_job *job) {
    const int64_t begin_ns = slc_clock_ns();
    slc_model_kind kind = SLC_MODEL_OTHER;
    SLC_TRY(slc_model_recognise(job->options->model_path, &kind));
    SLC_TRY(make_channels(job));
    SLC_TRY(kind == SLC_MODEL_OTHER ? open_list(job) : open_image(job));
    job->result.survey_seconds = 1e-9 * (double)(slc_clock_ns() - begin_ns);
    return SLC_OK;
}
