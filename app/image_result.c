/* What a run found, once all planes are done: sums over planes, the peak, and what to warn of. */
#include <math.h>
#include <string.h>

#include "app/image_job.h"
#include "core/print.h"
#include "core/sky.h"

/* Of the datasets of the first file the one that is read slowest: if any is left to HDF5, that one. */
static void take_reader(slci_image_job *job) {
    enum { MOST = 8 };
    slc_vis_dataset sets[MOST];
    int n = 0;
    if (slc_vis_describe(job->vis, MOST, sets, &n) != SLC_OK || n == 0) {
        return;
    }
    int k = 0;
    for (int i = 0; i < n && i < MOST; i++) {
        k = strcmp(sets[i].reader, "library") == 0 && sets[k].why[0] == '\0' ? i : k;
    }
    slc_run_reader *reader = &job->result.reader;
    (void)slci_print(reader->path, sizeof reader->path, "%s", sets[k].reader);
    (void)slci_print(reader->why, sizeof reader->why, "%s", sets[k].why);
}

void slci_image_add_totals(slci_image_job *job) {
    slc_image_result *result = &job->result;
    take_reader(job);
    slc_vis_counts sum = {0};
    for (int64_t p = 0; p < job->n_planes; p++) {
        for (int i = 0; i < job->n_pols; i++) {
            const slci_totals *totals = &job->plane[p].pol[i].totals;
            slc_vis_counts_add(&sum, &totals->counts);
            result->n_used += totals->n_used;
            result->n_outside_uniform += totals->n_outside;
            result->weight_sum += totals->weight_sum;
            result->abs_sum += totals->abs_sum;
        }
    }
    result->n_flagged = sum.flagged;
    result->n_looked_at = sum.total;
    result->n_nonfinite = sum.nonfinite;
    result->n_bad_weight = sum.bad_weight;
    memcpy(result->outside, sum.outside, sizeof result->outside);
    const slc_engine_report *report = &result->report;
    /* A resumed run has timed only a part of them. */
    result->pairs_per_second =
        report->seconds_kernel > 0 && !result->is_resumed
            ? (double)result->n_used * (double)result->finite_pixels / report->seconds_kernel
            : 0;
    slci_machine_take_stock(&job->machine, &result->memory);
}

void slci_image_find_peak(slci_image_job *job) {
    const int64_t p = slci_image_leading_plane(job);
    slci_pols pols = {.pol = {0}};
    (void)slci_image_pols_get(job, &job->plane[p], 0, &pols);
    slc_image_result *result = &job->result;
    const slc_direct_geometry *g = &job->geometry;
    const int64_t pixels = g->nx * g->ny;
    const double *image =
        job->image + slci_image_place(job, pols.pol[0], p) * pixels * job->n_parts;
    double sum_of_squares = 0;
    int64_t n = 0;
    result->peak = NAN;
    result->peak_plane = p;
    result->peak_pol = pols.pol[0];
    for (int64_t i = 0; i < pixels; i++) {
        const double value = image[i * job->n_parts];
        if (isfinite(value)) {
            sum_of_squares += value * value;
            n++;
            if (!(value <= result->peak)) {
                result->peak = value;
                result->peak_x = i % g->nx;
                result->peak_y = i / g->nx;
            }
        }
    }
    result->rms = n > 0 ? sqrt(sum_of_squares / (double)n) : NAN;
    const double l = g->centre_l - (double)(result->peak_x - g->nx / 2) * g->scale_rad;
    const double m = g->centre_m + (double)(result->peak_y - g->ny / 2) * g->scale_rad;
    result->peak_ra_rad = NAN;
    result->peak_dec_rad = NAN;
    (void)slci_sky_from_cosines(job->meta->ra_rad, job->meta->dec_rad, l, m, &result->peak_ra_rad,
                                &result->peak_dec_rad);
}

/* What single precision cannot hold. */
static void warn_of_outsiders(const slc_vis_outsiders *outside, slc_log *log) {
    for (int k = 0; k < SLC_VIS_N_OUTSIDE; k++) {
        if (outside[k].n > 0) {
            slc_log_warning(log, "%lld %s; the first is in row %lld, channel %lld",
                            (long long)outside[k].n, slc_vis_outside_text((slc_vis_outside)k),
                            (long long)outside[k].row, (long long)outside[k].channel);
        }
    }
}

void slci_image_warn_of_losses(const slci_image_job *job) {
    const slc_image_result *result = &job->result;
    slc_log *log = job->options->run.log;
    slc_log_note(log, "%lld of %lld samples flagged", (long long)result->n_flagged,
                 (long long)result->n_looked_at);
    const slc_vis_outsiders *outside = result->outside;
    const int64_t n_nonfinite = result->n_nonfinite - outside[SLC_VIS_VALUE_TOO_LARGE].n;
    const int64_t n_bad_weight = result->n_bad_weight - outside[SLC_VIS_WEIGHT_TOO_LARGE].n;
    if (n_nonfinite > 0) {
        slc_log_warning(log, "%lld visibilities are not flagged but not finite: left out",
                        (long long)n_nonfinite);
    }
    if (n_bad_weight > 0) {
        slc_log_warning(log,
                        "%lld visibilities have a weight that is negative or not finite: left out",
                        (long long)n_bad_weight);
    }
    warn_of_outsiders(outside, log);
    if (result->n_outside_uniform > 0) {
        slc_log_warning(log, "%lld visibilities are finer than the pixels: weight 0",
                        (long long)result->n_outside_uniform);
    }
    if (job->meta->smear_rad > job->geometry.scale_rad) {
        slc_log_warning(log,
                        "the sky turns by %.3g pixels during the observation: positions are "
                        "those of its middle",
                        job->meta->smear_rad / job->geometry.scale_rad);
    }
}
