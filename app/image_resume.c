/* The checkpoint of an imaging run. Its stages are the passes in their order: PSF or patches of it,
 * plane by plane, then the images. Which passes there are follows from the results of those before,
 * so a resumed run, which gets the same results from the journal, comes through the same ones.
 *
 * The totals of the weighted sources are counted while rows are read, and so belong to the state;
 * each granule is marked, so that what another tile reads again is not counted twice. */
#include "app/image_job.h"
#include "core/version.h"

/* ---- what decides the result ----------------------------------------------------------------- */

static void add_picture(const slc_image_options *o, const slc_direct_geometry *g,
                        slc_fingerprint *print) {
    static const char *const weighting[] = {[SLC_WEIGHT_NATURAL] = "natural",
                                            [SLC_WEIGHT_UNIFORM] = "uniform",
                                            [SLC_WEIGHT_BRIGGS] = "briggs"};
    slc_fingerprint_add_i64(print, "width in pixels", g->nx);
    slc_fingerprint_add_i64(print, "height in pixels", g->ny);
    slc_fingerprint_add_f64(print, "scale in rad", g->scale_rad);
    slc_fingerprint_add_f64(print, "centre l", g->centre_l);
    slc_fingerprint_add_f64(print, "centre m", g->centre_m);
    slc_fingerprint_add_text(print, "weighting", weighting[o->weighting]);
    slc_fingerprint_add_f64(print, "robust", o->weighting == SLC_WEIGHT_BRIGGS ? o->robust : 0);
    slc_fingerprint_add_i64(print, "output channels", o->n_planes);
    slc_fingerprint_add_i64(print, "complex", o->is_complex);
    slc_fingerprint_add_f64(print, "epsilon", o->epsilon);
    slc_fingerprint_add_i64(print, "whole PSF", o->psf_path != NULL);
}

/* Reader options that the identity of the set holds as a hash are named here, so that a refusal can
 * say what differs. */
static void add_selection(const slc_vis_options *vis, slc_fingerprint *print) {
    slc_fingerprint_add_i64(print, "polarisation", vis->polarisation);
    for (int i = 1; i < slc_vis_count_imaged(vis); i++) {
        slc_fingerprint_add_i64(print, "further polarisation", vis->more[i - 1]);
    }
    slc_fingerprint_add_i64(print, "first channel", vis->channel_begin);
    slc_fingerprint_add_i64(print, "channel end", vis->channel_end);
    slc_fingerprint_add_i64(print, "first time", vis->time_begin);
    slc_fingerprint_add_i64(print, "time end", vis->time_end);
    slc_fingerprint_add_f64(print, "shortest baseline", vis->uv_min_wavelengths);
    slc_fingerprint_add_f64(print, "longest baseline", vis->uv_max_wavelengths);
    slc_fingerprint_add_i64(print, "autocorrelations", vis->use_autos);
    slc_fingerprint_add_i64(print, "unit weights", vis->use_unit_weights);
    slc_fingerprint_add_i64(print, "weights by time", vis->weight_by_time);
    slc_fingerprint_add_i64(print, "conjugate", vis->conjugate);
    slc_fingerprint_add_text(print, "phase centre",
                             vis->phase_centre != NULL ? vis->phase_centre : "");
}

static void add_survey(const slci_survey *survey, slc_fingerprint *print) {
    slc_fingerprint_add_f64(print, "largest u", survey->max_u);
    slc_fingerprint_add_f64(print, "largest v", survey->max_v);
    slc_fingerprint_add_f64(print, "largest w", survey->max_w);
    slc_fingerprint_add_i64(print, "samples with weight", survey->n_weighted);
    slc_fingerprint_add_i64(print, "samples flagged", survey->counts.flagged);
}

/* ---- what the planes have counted ------------------------------------------------------------ */

static int64_t kept_bytes(void *context) {
    const slci_image_job *job = context;
    int64_t bytes = 0;
    for (int64_t p = 0; p < job->n_planes; p++) {
        bytes += slci_weighted_kept_bytes(job->plane[p].weighted);
    }
    return bytes;
}

static void keep(void *context, void *out) {
    const slci_image_job *job = context;
    unsigned char *at = out;
    for (int64_t p = 0; p < job->n_planes; p++) {
        slci_weighted_keep(job->plane[p].weighted, at);
        at += slci_weighted_kept_bytes(job->plane[p].weighted);
    }
}

static slc_status restore(void *context, const void *data, int64_t n_bytes) {
    slci_image_job *job = context;
    const unsigned char *at = data;
    if (n_bytes != kept_bytes(context)) {
        return SLC_FAIL(SLC_ERROR_INPUT, "%s: the checkpoint counts %lld bytes of rows, not %lld",
                        job->vis->name, (long long)n_bytes, (long long)kept_bytes(context));
    }
    for (int64_t p = 0; p < job->n_planes; p++) {
        SLC_TRY(slci_weighted_restore(job->plane[p].weighted, at));
        at += slci_weighted_kept_bytes(job->plane[p].weighted);
    }
    return SLC_OK;
}

slc_status slci_image_begin_checkpoint(slci_image_job *job) {
    if (job->machine.checkpoint == NULL) {
        return SLC_OK;
    }
    slc_fingerprint print = {0};
    slc_fingerprint_add_text(&print, "command", "image");
    slc_fingerprint_add_text(&print, "version", SLC_VERSION);
    add_selection(&job->options->vis, &print);
    add_picture(job->options, &job->geometry, &print);
    slc_fingerprint_add_text(&print, "input", job->vis->identity);
    for (int i = 0; i < job->n_pols; i++) {
        add_survey(&job->survey[i], &print);
    }
    slc_fingerprint_add_numerics(&print, &job->result.numerics);
    const slc_checkpoint_client client = {.context = job,
                                          .bytes = kept_bytes,
                                          .save = keep,
                                          .load = restore};
    return slci_machine_begin_checkpoint(&job->machine, &print, &client, &job->result.is_resumed);
}
