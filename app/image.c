/* The course of a run:
 *
 *     check outputs ─ open ─ survey ─ [density] ─ plan ─ PSF or beam ─ image ─ write
 *
 * What can be refused is refused as far to the left as possible. The image lives in host memory as
 * doubles, 8 bytes a pixel, because Σw is known only after the first pass and because a picture that
 * fits no memory fits no file viewer either; the device never holds more than its budget.
 */
#include "app/image.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/disk_room.h"
#include "app/image_job.h"
#include "core/checked.h"
#include "core/clock.h"

/* 262,144²: half a tebibyte of doubles, and still planned within seconds. */
#define MOST_PIXELS (INT64_C(1) << 36)

void slc_image_options_init(slc_image_options *options) {
    *options = (slc_image_options){.nx = 512, .ny = 512, .n_planes = 1, .epsilon = 1e-6};
}

/* ---- opening ---------------------------------------------------------------------------------- */

/* The pictures, and behind them the PSF. */
static int count_files(const slc_image_options *o) {
    return o->n_outputs + (o->psf_path != NULL ? 1 : 0);
}

static const char *path_of(const slc_image_options *o, int i) {
    return i == o->n_outputs ? o->psf_path : o->outputs[i];
}

/* Of a run that had named some of its outputs and is resumed, these may be replaced. */
static slc_status check_made(const slc_image_options *o, bool *has_made) {
    int n_made = 0;
    const int n_files = count_files(o);
    for (int i = 0; i < n_files; i++) {
        n_made += slci_run_may_replace(&o->run, path_of(o, i)) ? 1 : 0;
    }
    for (int i = 0; i < n_files && n_made > 0; i++) {
        if (!slci_run_may_replace(&o->run, path_of(o, i))) {
            SLC_TRY(slc_outfile_check(path_of(o, i), false, 0));
        }
    }
    *has_made = n_made > 0;
    return SLC_OK;
}

/* That nothing which may be replaced is needed for reading. */
static slc_status check_needed(const slc_image_options *o) {
    for (int i = 0; i < o->n_inputs; i++) {
        const slc_h5_reading input = slc_vis_reading(o->inputs[i]);
        SLC_TRY(slc_h5_files_exclude(&input, o->outputs, o->n_outputs));
        SLC_TRY(slc_h5_files_exclude(&input, &o->psf_path, 1));
    }
    return SLC_OK;
}

/* A format that was not built in, or cannot hold this picture, is a wrong choice of output, whereas
 * "unsupported" is said of input. */
static slc_status check_outputs(const slc_image_options *o) {
    slc_image_meta meta;
    bool may_replace = o->run.overwrite;
    slci_image_meta_start(o, &meta);
    if (!may_replace) {
        SLC_TRY(check_made(o, &may_replace));
    }
    if (may_replace) {
        SLC_TRY(check_needed(o));
    }
    const slc_status status =
        slc_image_files_check(o->outputs, o->n_outputs, o->psf_path, &meta, may_replace);
    return status == SLC_ERROR_UNSUPPORTED ? SLC_ERROR_ARGUMENT : status;
}

static slc_status check_options(const slc_image_options *o) {
    int64_t pixels = 0;
    if (o->n_inputs < 1) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "no input file is given");
    }
    if (o->n_outputs < 1 && o->psf_path == NULL && o->image == NULL && !o->run.dry_run) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "no output is asked for: give -o, --psf or --dry-run");
    }
    if (o->nx < 1 || o->ny < 1 || !slc_checked_mul(o->nx, o->ny, &pixels) || pixels > MOST_PIXELS) {
        return SLC_FAIL(
            SLC_ERROR_ARGUMENT,
            "an image of %lld x %lld pixels is not possible: at least 1 x 1 and at most "
            "%lld pixels in all",
            (long long)o->nx, (long long)o->ny, (long long)MOST_PIXELS);
    }
    if (!(o->scale_rad >= 0) || o->scale_rad > 2) {
        return SLC_FAIL(
            SLC_ERROR_ARGUMENT,
            "--scale %g rad is not possible: above 0 and at most 2 rad, the whole sky in "
            "direction cosines",
            o->scale_rad);
    }
    if (o->n_planes < 1) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "%lld output channels are not possible",
                        (long long)o->n_planes);
    }
    if (o->tunes && (o->run.dry_run || !o->run.probes)) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "--tune measures this machine, which --%s forbids",
                        o->run.dry_run ? "dry-run" : "no-probe");
    }
    return o->run.dry_run ? SLC_OK : check_outputs(o);
}

/* ---- planes ----------------------------------------------------------------------------------- */

static slc_status allocate_pictures(slci_image_job *job) {
    const slc_image_options *o = job->options;
    const bool has_psf = o->psf_path != NULL;
    const int64_t bytes = job->image_bytes;
    SLC_TRY(slc_budget_reserve(job->machine.budget, SLC_SPACE_HOST, bytes, "image"));
    job->imaging.picture_bytes = 0;
    const int64_t values = bytes / (int64_t)sizeof(double);
    const int64_t image_values = o->nx * o->ny * job->n_planes * job->n_pols * job->n_parts;
    job->image = o->image != NULL ? o->image : calloc((size_t)image_values, sizeof(double));
    job->psf = has_psf ? calloc((size_t)(values - image_values), sizeof(double)) : NULL;
    if (job->image == NULL || (has_psf && job->psf == NULL)) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for the image, %lld bytes", (long long)bytes);
    }
    return SLC_OK;
}

static void fill_nan(double *values, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        values[i] = NAN;
    }
}

/* Where a plane's picture and PSF of one polarisation are. */
static double *image_of(const slci_image_job *job, int64_t p, int pol) {
    const int64_t values = job->geometry.nx * job->geometry.ny * job->n_parts;
    return job->image + slci_image_place(job, pol, p) * values;
}

static double *psf_of(const slci_image_job *job, int64_t p, int pol) {
    return job->psf + slci_image_place(job, pol, p) * job->geometry.nx * job->geometry.ny;
}

static void warn_of_no_data(const slci_image_job *job, int64_t p, int pol) {
    slc_log *log = job->options->run.log;
    if (job->n_pols > 1) {
        slc_log_warning(log,
                        "output channel %lld has no unflagged visibilities of %s: its plane is NaN",
                        (long long)p, slc_vis_polarisation_name(job->meta->imaged[pol].stokes));
    } else {
        slc_log_warning(log,
                        "output channel %lld has no unflagged visibilities: its "
                        "plane is NaN",
                        (long long)p);
    }
}

/* Planes of polarisations without data are NaN. */
static slc_status leave_out(slci_image_job *job, int64_t p) {
    slci_plane *plane = &job->plane[p];
    const int64_t values = job->geometry.nx * job->geometry.ny * job->n_parts;
    slci_survey found[SLC_VIS_MOST_IMAGED];
    bool is_looked_at = false;
    for (int i = 0; i < job->n_pols; i++) {
        if (plane->first[i].has_weight) {
            continue;
        }
        if (!is_looked_at) {
            SLC_TRY(slci_image_look_at_all(job, plane->vis, true, found));
            is_looked_at = true;
        }
        plane->pol[i].totals.counts = found[i].counts; /* no pass will count them */
        fill_nan(image_of(job, p, i), values);
        job->result.n_fully_flagged_planes++;
        warn_of_no_data(job, p, i);
    }
    return SLC_OK;
}

/* Images polarisations of one plane in one pass. */
static slc_status image_pols(slci_image_job *job, int64_t p, const slci_pols *pols) {
    slci_plane *plane = &job->plane[p];
    double *images[SLC_VIS_MOST_IMAGED];
    for (int i = 0; i < pols->n; i++) {
        images[i] = image_of(job, p, pols->pol[i]);
    }
    const slci_pass_request request = slci_image_pass_request(job, plane, pols);
    SLC_TRY(slci_pass_prepare(&job->imaging, &request, &job->pass));
    slc_source_counters *counters = &plane->vis->counters;
    const int64_t chunks_read = counters->chunks_read;
    const int64_t chunks_decoded = counters->chunks_decoded;
    const int64_t bytes_stored = counters->bytes_read;
    slc_engine_report report;
    SLC_TRY(slci_pass_run(&job->imaging, &job->pass, images, &report));
    slc_engine_report_add(&job->result.report, &report);
    job->result.chunks_read += counters->chunks_read - chunks_read;
    job->result.chunks_decoded += counters->chunks_decoded - chunks_decoded;
    job->result.bytes_stored += counters->bytes_read - bytes_stored;
    slci_image_rest(job, plane);
    for (int i = 0; i < pols->n; i++) {
        slci_totals *totals = &plane->pol[pols->pol[i]].totals;
        *totals = slci_weighted_totals(plane->weighted, pols->pol[i]);
        slci_pass_normalise(&job->pass, totals->weight_sum, images[i]);
    }
    return SLC_OK;
}

static slc_status image_plane(slci_image_job *job, int64_t p) {
    slci_plane *plane = &job->plane[p];
    slci_pols pols;
    SLC_TRY(leave_out(job, p));
    if (slci_image_pols_get(job, plane, 0, &pols)) {
        SLC_TRY(slci_weighted_find_first(plane->weighted, false, plane->first));
    }
    for (int g = 0; slci_image_pols_get(job, plane, g, &pols); g++) {
        SLC_TRY(image_pols(job, p, &pols));
    }
    return SLC_OK;
}

/* ---- PSF and beam ----------------------------------------------------------------------------- */

/* The PSFs of a plane over nx × ny pixels about (0, 0), normalised. psf [pols->n] */
static slc_status image_psf(slci_image_job *job, slci_plane *plane, const slci_pols *pols,
                            int64_t nx, int64_t ny, double *const *psf) {
    slci_first first[SLC_VIS_MOST_IMAGED];
    SLC_TRY(slci_weighted_find_first(plane->weighted, true, first));
    const slci_pass_request request = slci_image_psf_request(job, plane, pols, nx, ny, first);
    SLC_TRY(slci_pass_prepare(&job->imaging, &request, &job->pass));
    slc_engine_report report;
    SLC_TRY(slci_pass_run(&job->imaging, &job->pass, psf, &report));
    slc_engine_report_add(&job->result.psf_report, &report);
    slci_image_rest(job, plane);
    for (int i = 0; i < pols->n; i++) {
        slci_totals *totals = &plane->pol[pols->pol[i]].totals;
        *totals = slci_weighted_totals(plane->weighted, pols->pol[i]);
        slci_pass_normalise(&job->pass, totals->weight_sum, psf[i]);
        /* The centre is Σw / Σw: what it differs from 1 by is the rounding of its own sum. */
        const double centre = psf[i][ny / 2 * nx + nx / 2];
        for (int64_t k = 0; k < nx * ny; k++) {
            psf[i][k] /= centre;
        }
    }
    return SLC_OK;
}

/* The beams from patches about the centre, as large as the main lobe needs. The patches lie where the
 * image will be, so they take no memory of their own. */
static slc_status find_beams_in_patches(slci_image_job *job, slci_plane *plane,
                                        const slci_pols *pols) {
    const slc_image_options *o = job->options;
    slci_pols left = *pols; /* whose lobe did not fit the last patch */
    for (int64_t size = SLCI_BEAM_PATCH; left.n > 0; size *= 2) {
        const int64_t nx = slc_min_i64(size, o->nx);
        const int64_t ny = slc_min_i64(size, o->ny);
        double *psf[SLC_VIS_MOST_IMAGED];
        for (int i = 0; i < left.n; i++) {
            psf[i] = job->image + i * nx * ny;
        }
        SLC_TRY(image_psf(job, plane, &left, nx, ny, psf));
        slci_pols larger = {.n = 0};
        for (int i = 0; i < left.n; i++) {
            slci_beam_fit *beam = &plane->pol[left.pol[i]].beam;
            SLC_TRY(slci_beam_find(psf[i], nx, ny, job->geometry.scale_rad, beam));
            if (beam->touches_edge && (nx < o->nx || ny < o->ny)) {
                larger.pol[larger.n++] = left.pol[i];
            }
        }
        left = larger;
    }
    return SLC_OK;
}

static slc_status find_beams_of(slci_image_job *job, int64_t p, const slci_pols *pols) {
    slci_plane *plane = &job->plane[p];
    const slc_direct_geometry *g = &job->geometry;
    if (job->psf == NULL) {
        SLC_TRY(find_beams_in_patches(job, plane, pols));
    } else {
        double *psf[SLC_VIS_MOST_IMAGED];
        for (int i = 0; i < pols->n; i++) {
            psf[i] = psf_of(job, p, pols->pol[i]);
        }
        SLC_TRY(image_psf(job, plane, pols, g->nx, g->ny, psf));
        for (int i = 0; i < pols->n; i++) {
            SLC_TRY(
                slci_beam_find(psf[i], g->nx, g->ny, g->scale_rad, &plane->pol[pols->pol[i]].beam));
        }
    }
    for (int i = 0; i < pols->n; i++) {
        const int pol = pols->pol[i];
        job->plane_beam[slci_image_place(job, pol, p)] = plane->pol[pol].beam.beam;
    }
    return SLC_OK;
}

static slc_status find_beam(slci_image_job *job, int64_t p) {
    slci_plane *plane = &job->plane[p];
    slci_pols pols;
    for (int i = 0; i < job->n_pols && job->psf != NULL; i++) {
        if (!plane->first[i].has_weight) {
            fill_nan(psf_of(job, p, i), job->geometry.nx * job->geometry.ny);
        }
    }
    for (int g = 0; slci_image_pols_get(job, plane, g, &pols); g++) {
        SLC_TRY(find_beams_of(job, p, &pols));
    }
    return SLC_OK;
}

/* Beams of all planes, and one warning for those that have none. */
static slc_status find_beams(slci_image_job *job) {
    int64_t n_without = 0;
    const char *why = NULL;
    for (int64_t p = 0; p < job->n_planes; p++) {
        SLC_TRY(find_beam(job, p));
        for (int i = 0; i < job->n_pols; i++) {
            const char *why_none = job->plane[p].pol[i].beam.why_none;
            n_without += why_none != NULL;
            why = why == NULL ? why_none : why;
        }
    }
    if (job->n_planes * job->n_pols > 1) {
        (void)snprintf(job->result.beam_why, sizeof job->result.beam_why, "each plane has its own");
    } else if (why != NULL) {
        (void)snprintf(job->result.beam_why, sizeof job->result.beam_why, "%s", why);
    }
    if (n_without > 0) {
        slc_log_warning(job->options->run.log,
                        "no beam could be fitted for %lld of %lld plane(s): %s",
                        (long long)n_without, (long long)(job->n_planes * job->n_pols), why);
    }
    return SLC_OK;
}

/* ---- results ---------------------------------------------------------------------------------- */

static void finish_meta(slci_image_job *job, slc_image_meta *meta) {
    const slc_image_result *result = &job->result;
    meta->n_used = result->n_used;
    meta->n_flagged = result->n_flagged;
    meta->weight_sum = result->weight_sum;
    meta->abs_sum = result->abs_sum;
    if (job->n_planes * job->n_pols == 1) {
        meta->beam = job->plane_beam[0];
    } else {
        meta->plane_beam = job->plane_beam;
    }
}

/* What differs where a file holds the PSF. */
static slc_image_meta psf_meta(const slc_image_options *o, const slc_image_meta *meta) {
    slc_image_meta psf = *meta;
    psf.n_parts = 1;
    psf.unit[0] = '\0';
    psf.abs_sum = psf.weight_sum; /* V = 1 */
    if (psf.n_history < SLC_IMAGE_HISTORY_LINES) {
        (void)snprintf(psf.history[psf.n_history++], sizeof psf.history[0],
                       "point-spread function: the image of 1 Jy at the phase centre");
    }
    psf.reference_x = (double)(o->nx / 2);
    psf.reference_y = (double)(o->ny / 2);
    return psf;
}

static void report_written(const slc_image_options *o, int n_done, int n_files) {
    if (o->run.progress != NULL) {
        o->run.progress(o->run.progress_context, "writing", "", n_done, n_files);
    }
}

/* Writes all pictures, but for their names. */
static slc_status stage_outputs(slci_image_job *job, slc_outfile *files, int n_files) {
    const slc_image_options *o = job->options;
    const slc_image_meta *meta = &job->result.meta;
    const slc_image_meta psf = psf_meta(o, meta);
    for (int i = 0; i < n_files; i++) {
        const bool is_psf = i == o->n_outputs;
        const slc_image_output output = {.path = path_of(o, i),
                                         .meta = is_psf ? &psf : meta,
                                         .image = is_psf ? job->psf : job->image};
        const bool may_replace = slci_run_may_replace(&o->run, output.path);
        report_written(o, i, n_files);
        SLC_TRY(slc_image_file_stage(&output, may_replace, o->run.log, &files[i]));
        SLC_TRY(slc_outfile_prepare(&files[i]));
    }
    return SLC_OK;
}

/* All pictures are complete on the disk before the first gets its name. */
static slc_status write_outputs(slci_image_job *job) {
    const slc_image_options *o = job->options;
    const int n_files = count_files(o);
    slc_outfile *files = calloc((size_t)n_files + 1, sizeof *files);
    const char **paths = calloc((size_t)n_files + 1, sizeof *paths);
    slc_status status = SLC_OK;
    if (files == NULL || paths == NULL) {
        SLC_TRY_GOTO(done, SLC_FAIL(SLC_ERROR_MEMORY, "no memory to write %d outputs", n_files));
    }
    for (int i = 0; i < n_files; i++) {
        paths[i] = path_of(o, i);
    }
    if (!slci_machine_is_complete(&job->machine, paths, n_files, o->run.log)) {
        SLC_TRY_GOTO(done, stage_outputs(job, files, n_files));
        for (int i = 0; i < n_files; i++) {
            paths[i] = files[i].temporary_path;
        }
        SLC_TRY_GOTO(done, slc_checkpoint_settle(job->machine.checkpoint, paths, n_files));
        SLC_TRY_GOTO(done, slc_outfile_commit_all(files, n_files));
    }
    report_written(o, n_files, n_files);
done:
    for (int i = 0; i < n_files && files != NULL; i++) {
        slc_outfile_abandon(&files[i]);
    }
    free(files);
    free((void *)paths);
    return status;
}

/* ---- the run ---------------------------------------------------------------------------------- */

static slc_status check_room(const slci_image_job *job) {
    const slc_image_options *o = job->options;
    const int n_files = count_files(o);
    slc_outfile_need *needs = calloc((size_t)n_files + 1, sizeof *needs);
    if (needs == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory to check %d outputs", n_files);
    }
    for (int i = 0; i < n_files; i++) {
        needs[i] = (slc_outfile_need){path_of(o, i),
                                      slc_image_file_bytes(path_of(o, i), &job->result.meta)};
    }
    const slci_disk_need need = {.outputs = needs,
                                 .n_outputs = n_files,
                                 .journal_bytes = job->image_bytes,
                                 .state_bytes = job->state_bytes};
    const slc_status status = slci_check_room(&o->run, &need);
    free(needs);
    return status;
}

static slc_status compute(slci_image_job *job) {
    slc_trace *trace = job->options->run.trace;
    SLC_TRY(slci_image_begin_checkpoint(job));
    SLC_TRY(check_room(job));
    SLC_TRY(allocate_pictures(job));
    const int64_t beam_ns = slc_clock_ns();
    SLC_TRY(find_beams(job)); /* first, since their patches lie in the image's memory */
    slc_trace_add_phase(trace, "PSF and beam", beam_ns);
    for (int64_t p = 0; p < job->n_planes; p++) {
        const int64_t plane_ns = slc_clock_ns();
        SLC_TRY(image_plane(job, p));
        slc_trace_add_phase(trace, "imaging", plane_ns);
    }
    slci_image_add_totals(job);
    slci_image_find_peak(job);
    slci_image_warn_of_losses(job);
    const int64_t begin_ns = slc_clock_ns();
    finish_meta(job, &job->result.meta);
    SLC_TRY(write_outputs(job));
    job->result.meta.plane_beam = NULL; /* the job's own */
    job->result.write_seconds = 1e-9 * (double)(slc_clock_ns() - begin_ns);
    slc_trace_add_phase(trace, "writing files", begin_ns);
    return SLC_OK;
}

static slc_status run_job(slci_image_job *job) {
    slc_trace *trace = job->options->run.trace;
    SLC_TRY(check_options(job->options));
    SLC_TRY(slci_image_open(job));
    const int64_t plan_ns = slc_clock_ns();
    SLC_TRY(slci_image_plan(job));
    SLC_TRY(slci_image_meta_fill(job, &job->result.meta));
    slc_trace_add_phase(trace, "planning", plan_ns);
    if (job->options->tunes) {
        const int64_t tune_ns = slc_clock_ns();
        SLC_TRY(slci_image_tune(job));
        slc_trace_add_phase(trace, "tuning", tune_ns);
    }
    if (job->options->run.dry_run) {
        slci_image_add_totals(job);
        return SLC_OK;
    }
    return compute(job);
}

static void close_job(slci_image_job *job) {
    for (int64_t p = 0; job->plane != NULL && p < job->n_planes; p++) {
        slc_source_destroy(job->plane[p].weighted);
        if (job->plane[p].vis != job->vis) {
            slc_source_destroy(job->plane[p].vis);
        }
    }
    free(job->plane);
    free(job->plane_beam);
    if (job->image != job->options->image) {
        free(job->image);
    }
    free(job->psf);
    for (int i = 0; i < job->n_pols; i++) {
        slci_density_destroy(&job->density[i]);
    }
    slc_source_destroy(job->vis);
    slci_machine_close(&job->machine);
}

slc_status slc_image_run(const slc_image_options *options, slc_image_result *result) {
    const int64_t begin_ns = slc_clock_ns();
    slci_image_job job = {.options = options, .n_parts = options->is_complex ? 2 : 1};
    const slc_status ran = run_job(&job);
    job.result.total_seconds = 1e-9 * (double)(slc_clock_ns() - begin_ns);
    const slc_status status = slci_machine_finish(&job.machine, &options->run, &job.result, ran);
    if (status == SLC_OK) {
        *result = job.result;
    }
    close_job(&job);
    return status;
}
