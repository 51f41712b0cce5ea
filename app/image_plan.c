/* Plans all passes of a run together, so that what is named as the smallest budget is enough for every
 * one of them: the image of each plane, and the PSF or the patch of it that the beam needs.
 *
 * All passes share the image's kernel tile. Memory then depends on the tile, and a PSF about the phase
 * centre needs no more correction terms than any patch of it, so the PSF over the whole picture
 * bounds the patches, however far they have to grow. */
#include <math.h>
#include <string.h>

#include "app/disk_room.h"
#include "app/image_horizon.h"
#include "app/image_job.h"
#include "core/checked.h"

int64_t slci_image_leading_plane(const slci_image_job *job) {
    slci_pols pols;
    for (int64_t p = 0; p < job->n_planes; p++) {
        if (slci_image_pols_get(job, &job->plane[p], 0, &pols)) {
            return p;
        }
    }
    return 0;
}

int64_t slci_image_place(const slci_image_job *job, int pol, int64_t plane) {
    return pol * job->n_planes + plane;
}

/* Alike but for scale_bits. */
static bool have_one_setup(const slci_survey *a, const slci_survey *b) {
    return a->max_u == b->max_u && a->max_v == b->max_v && a->max_w == b->max_w;
}

bool slci_image_pols_get(const slci_image_job *job, const slci_plane *plane, int g,
                         slci_pols *out) {
    bool is_taken[SLC_VIS_MOST_IMAGED] = {false};
    for (int leader = 0; leader < job->n_pols; leader++) {
        if (is_taken[leader] || !plane->first[leader].has_weight) {
            continue;
        }
        *out = (slci_pols){.n = 1, .pol = {leader}};
        for (int i = leader + 1; i < job->n_pols; i++) {
            if (plane->first[i].has_weight &&
                have_one_setup(&job->survey[leader], &job->survey[i])) {
                is_taken[i] = true;
                out->pol[out->n++] = i;
            }
        }
        if (g-- == 0) {
            return true;
        }
    }
    return false;
}

slci_pass_request slci_image_pass_request(const slci_image_job *job, const slci_plane *plane,
                                          const slci_pols *pols) {
    const slc_vis_meta *meta = plane->meta;
    const slci_survey *survey = &job->survey[pols->pol[0]];
    slci_pass_request request = {.vis = plane->weighted,
                                 .pols = *pols,
                                 .n_rows = meta->n_rows,
                                 .n_channels = meta->n_channels,
                                 .wavelengths_per_metre = meta->wavelengths_per_metre,
                                 .geometry = job->geometry,
                                 .survey = {.max_u = survey->max_u,
                                            .max_v = survey->max_v,
                                            .max_w = survey->max_w,
                                            .n_samples = meta->n_rows * meta->n_channels,
                                            .first_granule_sum = plane->first[pols->pol[0]].sum},
                                 .n_parts = job->n_parts,
                                 .tile_pixels = job->tile_pixels[pols->pol[0]],
                                 .is_first = job->result.psf_report.n_tiles == 0 &&
                                             job->result.report.n_tiles == 0,
                                 .is_first_of_kind = job->result.report.n_tiles == 0,
                                 .stage = "imaging"};
    for (int i = 0; i < pols->n; i++) {
        request.first_sum[i] = plane->first[pols->pol[i]].sum;
    }
    return request;
}

slci_pass_request slci_image_psf_request(const slci_image_job *job, const slci_plane *plane,
                                         const slci_pols *pols, int64_t nx, int64_t ny,
                                         const slci_first *first) {
    slci_pass_request request = slci_image_pass_request(job, plane, pols);
    request.geometry.nx = nx;
    request.geometry.ny = ny;
    request.geometry.centre_l = 0;
    request.geometry.centre_m = 0;
    request.geometry.is_w_projected = true;
    for (int i = 0; i < pols->n; i++) {
        request.first_sum[i] = first == NULL ? 1.0 : first[pols->pol[i]].sum;
    }
    request.survey.first_granule_sum = request.first_sum[0];
    request.n_parts = 1;
    request.is_psf = true;
    request.is_first_of_kind = job->result.psf_report.n_tiles == 0;
    request.stage = "PSF";
    return request;
}

/* Shorter looks say nothing about a rate. */
#define LEAST_SURVEY_BYTES (INT64_C(8) << 20)

/* In steps of a factor of sqrt 2, so that a dry run and the run after it mostly plan alike. */
static double rounded_rate(double bytes_per_s) {
    return exp2(round(2 * log2(bytes_per_s)) / 2);
}

/* The survey reads what the passes will read, mostly without the visibilities, which take about as
 * long a byte. Threads that wait for each other count as reading, so the time of all of them,
 * shared out, is that of the reader. */
void slci_image_note_reader(slci_image_job *job) {
    const slc_run_options *run = &job->options->run;
    const slc_vis_meta *meta = job->meta;
    const bool wants_data = job->options->weighting != SLC_WEIGHT_NATURAL;
    const double sample_bytes =
        (double)slc_dtype_bytes(SLC_F32) + (wants_data ? (double)slc_dtype_bytes(SLC_C64) : 0.0);
    const double n_samples = (double)meta->n_channels * (double)job->n_pols;
    const double row_bytes = 3.0 * (double)slc_dtype_bytes(SLC_F64) + n_samples * sample_bytes;
    const double bytes = (double)meta->n_rows * row_bytes;
    const double seconds =
        1e-9 * (double)job->vis->counters.read_ns / (double)slc_pool_size(job->machine.pool);
    const bool is_measured = run->probes && !(run->rates.h2d_bytes_per_s > 0);
    if (is_measured && bytes >= (double)LEAST_SURVEY_BYTES && seconds > 0) {
        job->imaging.read_bytes_per_s = rounded_rate(bytes / seconds);
        slc_log_detail(run->log, "the survey was read at %.3g GB/s",
                       1e-9 * job->imaging.read_bytes_per_s);
    }
}

/* The least budgets that a run needs, over its passes. */
typedef struct least {
    int64_t device_bytes, staging_bytes;
} least;

/* Plans one pass and adds what it needs at least; having no plan is not an error here. */
static slc_status prepare(slci_image_job *job, const slci_pass_request *request, least *needed) {
    const slc_status status = slci_pass_prepare(&job->imaging, request, &job->pass);
    if (status != SLC_OK && status != SLC_ERROR_NO_PLAN) {
        return status;
    }
    const slc_plan *plan = &job->pass.plan;
    needed->device_bytes = slc_max_i64(needed->device_bytes, plan->smallest_device_bytes);
    needed->staging_bytes = slc_max_i64(needed->staging_bytes, plan->smallest_host_bytes);
    return SLC_OK;
}

static void record_pass(slci_image_job *job, const slci_pass *pass) {
    slc_image_result *result = &job->result;
    (void)memcpy(result->kernel_why, pass->summary.why, sizeof result->kernel_why);
    result->finite_pixels = pass->summary.finite_pixels;
    slc_numerics_set_text(&result->numerics, "method", "direct");
    slc_numerics_set_text(&result->numerics, "device_kind",
                          job->machine.device->kind == SLC_DEVICE_CUDA ? "cuda" : "host");
    slc_direct_record(&pass->setup, job->machine.device->kind, &result->numerics);
}

/* Host memory for image and PSF. */
static slc_status size_pictures(slci_image_job *job) {
    const slc_image_options *o = job->options;
    const int64_t parts = job->n_parts + (o->psf_path != NULL ? 1 : 0);
    int64_t values = 0;
    if (!slc_checked_mul(o->nx * o->ny, job->n_planes * job->n_pols * parts, &values) ||
        !slc_checked_mul(values, (int64_t)sizeof(double), &job->image_bytes) ||
        job->image_bytes > INT64_MAX / 4) {
        return SLC_FAIL(SLC_ERROR_NO_PLAN, "the image's size in bytes does not fit 64 bits");
    }
    job->result.output_bytes = job->image_bytes / parts * job->n_parts;
    return SLC_OK;
}

/* Host memory that is to be left for pictures and staging, at least. */
static int64_t rest_bytes(const slci_image_job *job, const least *needed) {
    return job->image_bytes + needed->staging_bytes;
}

/* What the run needs at least, and whether it is there. */
static slc_status check_budgets(slci_image_job *job, const least *needed) {
    const slc_image_options *o = job->options;
    const slci_machine *machine = &job->machine;
    const int64_t limit = slc_budget_get(machine->budget, SLC_SPACE_HOST).limit_bytes;
    const int64_t more_bytes = job->reading_bytes - job->least_reading_bytes;
    const int64_t needed_host = slci_machine_ram_for(machine, rest_bytes(job, needed) - more_bytes);
    const slci_least smallest = {.device_bytes = needed->device_bytes, .ram_bytes = needed_host};
    if (needed->device_bytes > o->run.vram_bytes || (needed_host > limit && !o->run.dry_run)) {
        return slci_machine_refuse(machine, &smallest);
    }
    job->result.plan.smallest_device_bytes = needed->device_bytes;
    job->result.memory.smallest_ram_bytes = needed_host;
    job->imaging.picture_bytes = job->image_bytes;
    if (needed_host > limit) {
        /* A dry run shows the plan that the smallest staging gives. */
        job->imaging.picture_bytes =
            slc_min_i64(0, slci_machine_left_bytes(machine) - needed->staging_bytes);
    }
    return SLC_OK;
}

/* Adds one plane's plan to the run's. */
static void add_plan(slc_plan *sum, const slc_plan *more) {
    sum->n_tiles += more->n_tiles;
    sum->bytes_read += more->bytes_read;
    sum->bytes_tier += more->bytes_tier;
    sum->bytes_h2d += more->bytes_h2d;
    sum->bytes_d2h += more->bytes_d2h;
    sum->bytes_written += more->bytes_written;
    sum->seconds_read += more->seconds_read;
    sum->seconds_h2d += more->seconds_h2d;
    sum->seconds_kernel += more->seconds_kernel;
    sum->seconds_d2h += more->seconds_d2h;
    sum->seconds_write += more->seconds_write;
    sum->seconds_total += more->seconds_total;
}

/* Plans one pass as it will be run, and keeps the most that any takes. */
static slc_status plan_pass(slci_image_job *job, const slci_pass_request *request,
                            int64_t *staging_bytes) {
    SLC_TRY(slci_pass_prepare(&job->imaging, request, &job->pass));
    const slc_plan *plan = &job->pass.plan;
    job->result.vram_planned_bytes =
        slc_max_i64(job->result.vram_planned_bytes, plan->device_peak_bytes);
    *staging_bytes = slc_max_i64(*staging_bytes, plan->host_peak_bytes);
    job->state_bytes = slc_max_i64(job->state_bytes, slci_state_bytes(&job->pass.job, plan));
    return SLC_OK;
}

/* PSF and image of polarisations that share their passes. */
static slc_status plan_pols(slci_image_job *job, const slci_plane *plane, const slci_pols *pols,
                            int64_t *staging_bytes) {
    const slc_image_options *o = job->options;
    const bool has_psf = o->psf_path != NULL;
    const slci_pass_request psf =
        slci_image_psf_request(job, plane, pols,
                               has_psf ? o->nx : slc_min_i64(SLCI_BEAM_PATCH, o->nx),
                               has_psf ? o->ny : slc_min_i64(SLCI_BEAM_PATCH, o->ny), NULL);
    SLC_TRY(plan_pass(job, &psf, staging_bytes));
    const slci_pass_request image = slci_image_pass_request(job, plane, pols);
    return plan_pass(job, &image, staging_bytes);
}

/* The plans of all passes as they will be run, with the pictures' memory left free. */
static slc_status plan_passes(slci_image_job *job, const least *needed) {
    slc_image_result *result = &job->result;
    const int64_t leading = slci_image_leading_plane(job);
    int64_t staging_bytes = 0;
    slci_pols pols;
    for (int64_t p = leading; p < job->n_planes; p++) {
        for (int g = 0; slci_image_pols_get(job, &job->plane[p], g, &pols); g++) {
            SLC_TRY(plan_pols(job, &job->plane[p], &pols, &staging_bytes));
            if (p == leading && g == 0) {
                const int64_t smallest = result->plan.smallest_device_bytes;
                result->plan = job->pass.plan;
                result->plan.smallest_device_bytes = smallest;
                result->tuning = job->pass.tuning;
            } else {
                add_plan(&result->plan, &job->pass.plan);
            }
        }
    }
    /* A patch of the PSF that has to grow, and the image after it, keep to what is promised here. */
    result->vram_planned_bytes = slc_max_i64(result->vram_planned_bytes, needed->device_bytes);
    staging_bytes = slc_max_i64(staging_bytes, needed->staging_bytes);
    job->imaging.most_device_bytes = result->vram_planned_bytes;
    job->imaging.most_staging_bytes = staging_bytes;
    result->read_bytes_per_s = job->imaging.read_bytes_per_s;
    result->reading_bytes = job->reading_bytes;
    for (int i = 0; i < job->n_pols; i++) {
        result->n_planned += job->survey[i].n_weighted;
        result->n_planned_flagged += job->survey[i].counts.flagged;
    }
    result->memory.host_planned_bytes =
        slci_machine_held_bytes(&job->machine) + job->image_bytes + staging_bytes;
    return SLC_OK;
}

/* What a pass needs at least, and the kernel tile of its polarisations. */
static slc_status find_least_of(slci_image_job *job, const slci_plane *plane, const slci_pols *pols,
                                least *needed) {
    const slc_image_options *o = job->options;
    const slci_pass_request image = slci_image_pass_request(job, plane, pols);
    SLC_TRY(prepare(job, &image, needed));
    for (int i = 0; i < pols->n; i++) {
        job->tile_pixels[pols->pol[i]] = job->pass.setup.tile_pixels;
    }
    if (job->result.kernel_why[0] == '\0') { /* the first: the leading plane's */
        record_pass(job, &job->pass);
    }
    const slci_pass_request psf = slci_image_psf_request(job, plane, pols, o->nx, o->ny, NULL);
    return prepare(job, &psf, needed);
}

/* What the passes need at least, which the budgets do not change. Planes need alike: where there is one
 * polarisation the first with data speaks for all; of several, those that share a pass may differ. */
static slc_status find_least(slci_image_job *job, least *needed) {
    const int64_t leading = slci_image_leading_plane(job);
    const int64_t end = job->n_pols == 1 ? leading + 1 : job->n_planes;
    slci_pols pols;
    for (int64_t p = leading; p < end; p++) {
        for (int g = 0; slci_image_pols_get(job, &job->plane[p], g, &pols); g++) {
            SLC_TRY(find_least_of(job, &job->plane[p], &pols, needed));
        }
    }
    return SLC_OK;
}

static void note_horizon(const slci_image_job *job) {
    const slc_image_options *o = job->options;
    char text[SLCI_IMAGE_HORIZON_BYTES];
    if (slci_image_format_horizon(job->result.finite_pixels, o->nx * o->ny, text)) {
        slc_log_note(o->run.log, "%s", text);
    }
}

slc_status slci_image_plan(slci_image_job *job) {
    least needed = {0};
    bool is_smaller = true;
    /* On the host each thread has its own scratch. */
    job->machine.threads_take_vram = job->machine.device->kind == SLC_DEVICE_HOST;
    SLC_TRY(size_pictures(job));
    SLC_TRY(find_least(job, &needed));
    while (rest_bytes(job, &needed) > slci_machine_left_bytes(&job->machine) && is_smaller) {
        SLC_TRY(slci_image_shrink_reader(job, &is_smaller));
    }
    SLC_TRY(check_budgets(job, &needed));
    note_horizon(job);
    return plan_passes(job, &needed);
}
