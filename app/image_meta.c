/* From options and visibilities to what a FITS header says. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "app/image_job.h"
#include "core/checked.h"
#include "core/constants.h"
#include "core/sky.h"
#include "core/units.h"

/* FITS pixels are single precision down to this promise; below it they would not hold it. */
#define DOUBLE_EPSILON 1e-7

void slci_image_meta_start(const slc_image_options *options, slc_image_meta *meta) {
    *meta = (slc_image_meta){.nx = options->nx,
                             .ny = options->ny,
                             .n_planes = options->n_planes,
                             .n_parts = options->is_complex ? 2 : 1,
                             .n_stokes = slc_vis_count_imaged(&options->vis),
                             .stokes = slc_vis_polarisation_code(options->vis.polarisation),
                             .is_double = options->epsilon < DOUBLE_EPSILON,
                             .scale_rad = options->scale_rad,
                             .epsilon = options->epsilon,
                             .method = "direct"};
    for (int i = 1; i < meta->n_stokes; i++) {
        meta->more_stokes[i - 1] = slc_vis_polarisation_code(options->vis.more[i - 1]);
    }
}

/* Middle and distance between the outer edges of channels [begin, end), whatever their order. */
static void frequency_span(const slc_vis_meta *meta, int64_t begin, int64_t end, double *middle,
                           double *width) {
    double low = INFINITY;
    double high = -INFINITY;
    for (int64_t c = begin; c < end; c++) {
        low = fmin(low, meta->freq_hz[c] - 0.5 * meta->channel_width_hz[c]);
        high = fmax(high, meta->freq_hz[c] + 0.5 * meta->channel_width_hz[c]);
    }
    *middle = 0.5 * (low + high);
    *width = high - low;
}

static void add_history(slc_image_meta *meta, const char *format, ...) SLC_PRINTF(2, 3);

static void add_history(slc_image_meta *meta, const char *format, ...) {
    if (meta->n_history < SLC_IMAGE_HISTORY_LINES) {
        va_list arguments;
        va_start(arguments, format);
        (void)vsnprintf(meta->history[meta->n_history], sizeof meta->history[0], format, arguments);
        va_end(arguments);
        meta->n_history++;
    }
}

/* Only options that change the picture, and only where they differ from the default. Numbers do not
 * depend on the locale, because the same picture is the same file. */
static void fill_history(const slci_image_job *job, slc_image_meta *meta) {
    const slc_image_options *o = job->options;
    const slc_vis_options *v = &o->vis;
    char a[SLCI_TEXT_BYTES];
    char b[SLCI_TEXT_BYTES];
    slci_format_shortest(job->geometry.scale_rad, a);
    add_history(meta, "sluice image --size %lldx%lld --scale %srad", (long long)o->nx,
                (long long)o->ny, a);
    for (int i = 0; i < job->n_pols; i++) {
        add_history(meta, "polarisation: %s", job->meta->imaged[i].text);
    }
    if (o->has_centre) {
        slci_format_number(o->centre_ra_rad * SLC_RADIAN_DEG, 15, a);
        slci_format_number(o->centre_dec_rad * SLC_RADIAN_DEG, 15, b);
        add_history(meta, "--centre %sdeg,%sdeg", a, b);
    }
    if (v->channel_begin != 0 || v->channel_end != 0) {
        add_history(meta, "--channels %lld:%lld", (long long)v->channel_begin,
                    (long long)v->channel_end);
    }
    if (v->time_begin != 0 || v->time_end != 0) {
        add_history(meta, "--times %lld:%lld", (long long)v->time_begin, (long long)v->time_end);
    }
    if (v->uv_min_wavelengths > 0 || v->uv_max_wavelengths > 0) {
        slci_format_number(v->uv_min_wavelengths, 15, a);
        slci_format_number(v->uv_max_wavelengths, 15, b);
        add_history(meta, "--uv-range %s:%s", a, b);
    }
    if (o->weighting == SLC_WEIGHT_UNIFORM) {
        add_history(meta, "--weight uniform");
    } else if (o->weighting == SLC_WEIGHT_BRIGGS) {
        slci_format_number(o->robust, 15, a);
        add_history(meta, "--weight briggs:%s", a);
    }
    const struct {
        bool is_set;
        const char *text;
    } flags[] = {{v->use_autos, "--autos"},
                 {v->use_unit_weights, "--unit-weights"},
                 {v->weight_by_time, "--weight-by-time"},
                 {v->conjugate, "--conjugate"},
                 {o->is_complex, "--complex"}};
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        if (flags[i].is_set) {
            add_history(meta, "%s", flags[i].text);
        }
    }
    if (o->n_planes > 1) {
        add_history(meta, "--channels-out %lld", (long long)o->n_planes);
    }
    if (v->phase_centre != NULL) {
        add_history(meta, "--phase-centre %s", v->phase_centre);
    }
}

/* The frequency axis of a cube is linear: planes elsewhere would be labelled wrongly. */
static slc_status check_planes_are_even(const slci_image_job *job, double first, double step) {
    for (int64_t p = 0; p < job->n_planes; p++) {
        double middle, width;
        frequency_span(job->plane[p].meta, 0, job->plane[p].meta->n_channels, &middle, &width);
        const double expected = first + (double)p * step;
        if (fabs(middle - expected) > 1e-3 * fabs(step) || step == 0) {
            return SLC_FAIL(
                SLC_ERROR_ARGUMENT,
                "--channels-out %lld: plane %lld would lie at %.9g Hz where an even axis "
                "has %.9g Hz; choose --channels that are evenly spaced",
                (long long)job->n_planes, (long long)p, middle, expected);
        }
    }
    return SLC_OK;
}

static slc_status fill_frequency(const slci_image_job *job, slc_image_meta *meta) {
    const slc_vis_meta *vis = job->meta;
    frequency_span(vis, 0, vis->n_channels, &meta->freq_hz, &meta->width_hz);
    /* An axis of width 0, as plain sets have, is one that no reader can invert. */
    meta->has_frequency = vis->freq_hz[0] > 0 && meta->width_hz > 0;
    if (!meta->has_frequency) {
        return SLC_OK;
    }
    meta->freq_step_hz = meta->width_hz;
    if (job->n_planes > 1) {
        double first, second;
        double width;
        frequency_span(job->plane[1].meta, 0, job->plane[1].meta->n_channels, &second, &width);
        frequency_span(job->plane[0].meta, 0, job->plane[0].meta->n_channels, &first, &width);
        meta->freq_hz = first;
        meta->width_hz = width;
        meta->freq_step_hz = second - first;
        SLC_TRY(check_planes_are_even(job, first, second - first));
    }
    return SLC_OK;
}

slc_status slci_image_meta_fill(const slci_image_job *job, slc_image_meta *meta) {
    const slc_vis_meta *vis = job->meta;
    const slc_direct_geometry *g = &job->geometry;
    slci_image_meta_start(job->options, meta);
    meta->scale_rad = g->scale_rad;
    meta->reference_x = (double)(g->nx / 2) + g->centre_l / g->scale_rad;
    meta->reference_y = (double)(g->ny / 2) - g->centre_m / g->scale_rad;
    meta->ra_rad = vis->ra_rad;
    meta->dec_rad = vis->dec_rad;
    meta->has_position = isfinite(vis->ra_rad) && isfinite(vis->dec_rad);
    (void)snprintf(meta->frame, sizeof meta->frame, "%s",
                   vis->frame == SLC_FRAME_ICRS ? "ICRS" : "FK5");
    meta->equinox = vis->equinox;
    meta->stokes = vis->imaged[0].stokes;
    for (int i = 1; i < vis->n_imaged; i++) {
        meta->more_stokes[i - 1] = vis->imaged[i].stokes;
    }
    SLC_TRY(fill_frequency(job, meta));
    if (strcmp(vis->units, "Jy") == 0) {
        (void)snprintf(meta->unit, sizeof meta->unit, "Jy/beam");
    }
    (void)snprintf(meta->telescope, sizeof meta->telescope, "%s", vis->telescope);
    (void)snprintf(meta->object, sizeof meta->object, "%s",
                   job->options->vis.phase_centre != NULL ? vis->phase_centre_name : vis->object);
    if (vis->start_jd_utc > 0) {
        slci_sky_iso_date(vis->start_jd_utc, meta->date_obs);
    }
    fill_history(job, meta);
    return SLC_OK;
}
