/* From the options to what can be planned: the machine, the set, what a survey of it says, weights, and
 * the planes, each a set of its own. Reading them takes memory, which is reserved as it becomes known,
 * and less of it where the rest of the run would not fit otherwise. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/image_job.h"
#include "app/info.h"
#include "app/row_blocks.h"
#include "core/checked.h"
#include "core/clock.h"
#include "core/constants.h"
#include "core/sky.h"
#include "core/units.h"

/* Pixels per fringe of the longest baseline where no --scale is given. */
#define FRINGE_PIXELS 3.0

/* ---- what the reader takes -------------------------------------------------------------------- */

/* The chunk caches may take this part of --ram. */
#define CACHE_SHARE 4

/* Of samples that a thread converts at once, where memory is short: a call costs as much as converting
 * some kilobytes. */
#define LEAST_BLOCK_BYTES (INT64_C(64) << 10)

/* Of rows that the survey looks at, at once. */
#define USUAL_ROWS_BYTES (INT64_C(4) << 20)

/* Less than any chunk. */
#define NO_CACHE_BYTES 1

/* How much room the reader has: the usual one, blocks of the least size, and no cache either, so that
 * what tall chunks hold is decoded for each block again. */
enum { ROOM_USUAL, ROOM_SMALL, ROOM_LEAST };

/* The chunk caches of one open set, which for tall chunks would otherwise hold a whole file; a cube has
 * one more open for each plane. */
static int64_t cache_bytes(const slc_image_options *o) {
    if (o->vis.cache_bytes > 0) {
        return o->vis.cache_bytes;
    }
    return o->run.ram_bytes / CACHE_SHARE / (o->n_planes > 1 ? o->n_planes + 1 : 1);
}

static int64_t rows_room_bytes(const slci_image_job *job) {
    return job->room == ROOM_USUAL ? USUAL_ROWS_BYTES : LEAST_BLOCK_BYTES;
}

/* The set with all channels, and those of planes: the k-th that is open, NULL after the last. */
static slc_source *open_set(const slci_image_job *job, int64_t k) {
    const bool has_planes = job->plane != NULL && job->n_planes > 1;
    return k == 0 ? job->vis : has_planes && k <= job->n_planes ? job->plane[k - 1].vis : NULL;
}

/* The engine's own thread reads too, where it waits for the pool. */
static int count_readers(const slci_image_job *job) {
    return slc_pool_size(job->machine.pool) + 1;
}

/* One set is read at a time, and has given back its buffers when the next one is. */
static int64_t reading_bytes(const slci_image_job *job) {
    const int n_threads = count_readers(job);
    const slc_source *set = NULL;
    int64_t bytes = slci_survey_bytes(job->meta, rows_room_bytes(job));
    int64_t most_bytes = 0;
    for (int64_t k = 0; (set = open_set(job, k)) != NULL; k++) {
        const int64_t once_bytes = slc_vis_reader_bytes(set, true, 0);
        bytes += once_bytes + slc_vis_kept_bytes(set);
        most_bytes =
            slc_max_i64(most_bytes, slc_vis_reader_bytes(set, true, n_threads) - once_bytes);
    }
    return bytes + most_bytes;
}

static slc_status set_room(slci_image_job *job, int room) {
    slc_source *set = NULL;
    job->room = room;
    job->imaging.cache_bytes = room < ROOM_LEAST ? cache_bytes(job->options) : 0;
    for (int64_t k = 0; (set = open_set(job, k)) != NULL; k++) {
        SLC_TRY(slc_vis_set_room(set, room == ROOM_USUAL ? 0 : LEAST_BLOCK_BYTES,
                                 room < ROOM_LEAST ? cache_bytes(job->options) : NO_CACHE_BYTES));
    }
    return SLC_OK;
}

/* Reserves what reading takes now, in place of what it took. */
static void hold_reader(slci_image_job *job) {
    slci_machine_let_go(&job->machine, job->reading_bytes);
    job->reading_bytes = reading_bytes(job);
    job->machine.threads_take_ram = slc_vis_reader_bytes(job->vis, true, count_readers(job)) >
                                    slc_vis_reader_bytes(job->vis, true, 2);
    (void)slci_machine_hold(&job->machine, job->reading_bytes, "reading visibilities");
}

/* After sets were opened, with the least room: gives them more, no less than half of what is left
 * staying for the rest of the run, or a quarter where only a cache is at stake. */
static slc_status settle_reader(slci_image_job *job) {
    const int most_room = job->room;
    SLC_TRY(set_room(job, ROOM_LEAST));
    job->least_reading_bytes = reading_bytes(job);
    const int64_t left_bytes = slci_machine_left_bytes(&job->machine) + job->reading_bytes;
    const int64_t most_bytes[] = {
        [ROOM_USUAL] = left_bytes / 2, [ROOM_SMALL] = left_bytes / 4 * 3, [ROOM_LEAST] = INT64_MAX};
    bool fits = most_room == ROOM_LEAST;
    for (int room = most_room; room <= ROOM_LEAST && !fits; room++) {
        SLC_TRY(set_room(job, room));
        fits = reading_bytes(job) <= most_bytes[room];
    }
    hold_reader(job);
    return SLC_OK;
}

slc_status slci_image_shrink_reader(slci_image_job *job, bool *is_smaller) {
    *is_smaller = job->room < ROOM_LEAST;
    if (*is_smaller) {
        SLC_TRY(set_room(job, job->room + 1));
        hold_reader(job);
    }
    return SLC_OK;
}

void slci_image_rest(const slci_image_job *job, const slci_plane *plane) {
    if (plane->vis != job->vis) {
        slc_vis_rest(plane->vis);
    }
}

/* ---- opening ---------------------------------------------------------------------------------- */

static slc_status open_machine(slci_image_job *job) {
    SLC_TRY(slci_machine_open(&job->options->run, &job->machine));
    SLC_TRY(slc_direct_card_get(job->machine.device, &job->machine.card));
    job->imaging =
        (slci_imaging){.options = job->options, .machine = &job->machine, .book = &job->book};
    slci_image_load_tuning(job);
    const slc_device_limits *limits = &job->machine.limits;
    (void)memcpy(job->result.device_name, limits->name, sizeof job->result.device_name);
    return SLC_OK;
}

/* No baseline is as long as --uv-range wants it: they are read again to say how long they are. */
static slc_status refuse_range(const slci_image_job *job) {
    const slc_vis_options *vis = &job->options->vis;
    const slc_info_options options = {.block_bytes = LEAST_BLOCK_BYTES,
                                      .skip_data = true,
                                      .cancel = job->options->run.cancel};
    slc_info info;
    SLC_TRY(slc_info_scan(job->vis, &options, &info));
    char from[SLCI_TEXT_BYTES];
    char to[SLCI_TEXT_BYTES] = "";
    char shortest[SLCI_TEXT_BYTES];
    char longest[SLCI_TEXT_BYTES];
    slci_format_number(vis->uv_min_wavelengths, 15, from);
    if (vis->uv_max_wavelengths > 0) {
        slci_format_number(vis->uv_max_wavelengths, 15, to);
    }
    slci_format_number(info.uv_min_wavelengths, 6, shortest);
    slci_format_number(info.uv_max_wavelengths, 6, longest);
    return isnan(info.uv_max_wavelengths)
               ? SLC_FAIL(SLC_ERROR_INPUT,
                          "%s: --uv-range %s:%s leaves no visibilities: no baseline has a length "
                          "other than 0",
                          job->vis->name, from, to)
               : SLC_FAIL(SLC_ERROR_INPUT,
                          "%s: --uv-range %s:%s leaves no visibilities: the baselines are %s to %s "
                          "wavelengths long",
                          job->vis->name, from, to, shortest, longest);
}

/* What single precision cannot hold, where most is left out for that; else SLC_VIS_N_OUTSIDE. */
static int find_outside(const slc_vis_counts *counts) {
    static const slc_vis_outside left_out[] = {SLC_VIS_VALUE_TOO_LARGE, SLC_VIS_WEIGHT_TOO_LARGE,
                                               SLC_VIS_WEIGHT_TOO_SMALL};
    int64_t most = (counts->zero_weight + counts->nonfinite) / 2;
    int found = SLC_VIS_N_OUTSIDE;
    for (int k = 0; k < (int)(sizeof left_out / sizeof left_out[0]); k++) {
        if (counts->outside[left_out[k]].n > most) {
            most = counts->outside[left_out[k]].n;
            found = left_out[k];
        }
    }
    return found;
}

/* Of all polarisations. */
static slc_vis_counts count_all(const slci_image_job *job) {
    slc_vis_counts all = {0};
    for (int i = 0; i < job->n_pols; i++) {
        slc_vis_counts_add(&all, &job->survey[i].counts);
    }
    return all;
}

/* No sample counts: say why. */
static slc_status refuse_empty(const slci_image_job *job) {
    const slc_vis_counts all = count_all(job);
    const slc_vis_counts *counts = &all;
    const char *name = job->vis->name;
    const char *weights = job->meta->is_plain ? "the weight" : "nsamples";
    if (job->meta->n_rows == 0) {
        return SLC_FAIL(SLC_ERROR_INPUT, "%s: the set is empty: 0 rows", name);
    }
    if (counts->total > 0 && counts->flagged == counts->total) {
        return SLC_FAIL(SLC_ERROR_INPUT, "%s: no unflagged visibilities: %lld of %lld flagged",
                        name, (long long)counts->flagged, (long long)counts->total);
    }
    const int outside = find_outside(counts);
    if (outside < SLC_VIS_N_OUTSIDE) {
        const slc_vis_outsiders *found = &counts->outside[outside];
        return SLC_FAIL(
            SLC_ERROR_INPUT,
            "%s: no visibilities are left: %lld of %lld flagged, and of the others %lld "
            "%s; the first is in row %lld, channel %lld%s",
            name, (long long)counts->flagged, (long long)counts->total, (long long)found->n,
            slc_vis_outside_text((slc_vis_outside)outside), (long long)found->row,
            (long long)found->channel,
            outside == SLC_VIS_VALUE_TOO_LARGE ? "; in larger units they fit"
                                               : "; --unit-weights uses 1 instead");
    }
    if (counts->zero_weight > 0) {
        return SLC_FAIL(
            SLC_ERROR_INPUT,
            "%s: no visibilities with weight: %lld of %lld flagged and %s is %s for the "
            "rest; --unit-weights uses 1 instead",
            name, (long long)counts->flagged, (long long)counts->total, weights,
            counts->bad_weight == 0                     ? "0"
            : counts->bad_weight == counts->zero_weight ? "negative or not finite"
                                                        : "0, negative or not finite");
    }
    const slc_vis_options *vis = &job->options->vis;
    if (counts->total == 0 && (vis->uv_min_wavelengths > 0 || vis->uv_max_wavelengths > 0)) {
        return refuse_range(job);
    }
    if (counts->total == 0) {
        return SLC_FAIL(SLC_ERROR_INPUT,
                        "%s: the selection leaves no visibilities: no row is in it%s", name,
                        vis->use_autos ? ""
                                       : "; autocorrelations, if there are only these, are used "
                                         "with --autos");
    }
    return SLC_FAIL(SLC_ERROR_INPUT,
                    "%s: the selection leaves no visibilities: of %lld row x channel x "
                    "polarisation looked at %lld are flagged; of the row x channel that are not, "
                    "%lld are not finite",
                    name, (long long)counts->total, (long long)counts->flagged,
                    (long long)counts->nonfinite);
}

/* The caller's options with what the run adds; a set gets more room once that is reserved. */
static slc_vis_options vis_options(const slc_image_options *o) {
    slc_vis_options options = o->vis;
    options.log = o->run.log;
    options.block_bytes = LEAST_BLOCK_BYTES;
    options.cache_bytes = NO_CACHE_BYTES;
    return options;
}

static slci_survey_options survey_options(const slci_image_job *job, bool wants_data) {
    return (slci_survey_options){.wants_data = wants_data,
                                 .options = job->options,
                                 .pool = job->machine.pool,
                                 .room_bytes = rows_room_bytes(job)};
}

slc_status slci_image_look_at_all(const slci_image_job *job, slc_source *vis, bool wants_data,
                                  slci_survey *out) {
    const slci_survey_options options = survey_options(job, wants_data);
    return slci_survey_run(vis, &options, out);
}

static slc_status survey(slci_image_job *job) {
    const slc_image_options *o = job->options;
    slc_vis_options options = vis_options(o);
    SLC_TRY(slc_vis_open(o->inputs, o->n_inputs, &options, &job->vis));
    job->meta = slc_vis_get_meta(job->vis);
    job->n_pols = job->meta->n_imaged;
    SLC_TRY(settle_reader(job));
    for (int i = 0; i < job->n_pols; i++) {
        slc_log_note(o->run.log, "%s", job->meta->imaged[i].text);
    }
    slc_log_note(o->run.log, "%s", job->meta->phase_text);
    if (strcmp(job->meta->units, "Jy") != 0) {
        slc_log_note(o->run.log, "vis_units is '%s', not Jy: BUNIT is left out", job->meta->units);
    }
    SLC_TRY(slci_image_look_at_all(job, job->vis, o->weighting != SLC_WEIGHT_NATURAL, job->survey));
    slci_image_note_reader(job);
    int64_t n_weighted = 0;
    for (int i = 0; i < job->n_pols; i++) {
        n_weighted += job->survey[i].n_weighted;
    }
    return n_weighted > 0 ? SLC_OK : refuse_empty(job);
}

/* Pixel scale and place of the picture. */
static slc_status choose_geometry(slci_image_job *job) {
    const slc_image_options *o = job->options;
    slc_direct_geometry *g = &job->geometry;
    *g = (slc_direct_geometry){.nx = o->nx,
                               .ny = o->ny,
                               .scale_rad = o->scale_rad,
                               .is_w_projected = job->meta->is_w_projected};
    if (g->scale_rad <= 0) {
        double max_uv = 0;
        for (int i = 0; i < job->n_pols; i++) {
            max_uv = fmax(max_uv, job->survey[i].max_uv);
        }
        if (max_uv <= 0) {
            return SLC_FAIL(SLC_ERROR_ARGUMENT,
                            "%s: every baseline has length 0, so there is no default --scale; give "
                            "one",
                            job->vis->name);
        }
        g->scale_rad = fmin(1.0 / (FRINGE_PIXELS * max_uv), 0.5);
        slc_log_note(o->run.log,
                     "--scale %.6grad (%.6g asec): three pixels per fringe of the longest "
                     "baseline, %.6g wavelengths",
                     g->scale_rad, g->scale_rad / SLC_ARCSECOND_RAD, max_uv);
    }
    if (o->has_centre &&
        !slci_sky_to_cosines(job->meta->ra_rad, job->meta->dec_rad, o->centre_ra_rad,
                             o->centre_dec_rad, &g->centre_l, &g->centre_m)) {
        return SLC_FAIL(
            SLC_ERROR_ARGUMENT,
            "--centre lies 90 degrees or more from the phase centre of %s, or that file "
            "has none",
            job->vis->name);
    }
    return SLC_OK;
}

static slc_status weigh(slci_image_job *job) {
    const slc_image_options *o = job->options;
    if (o->weighting == SLC_WEIGHT_NATURAL) {
        return SLC_OK;
    }
    int64_t bytes = 0;
    SLC_TRY(slci_density_bytes(o->nx, o->ny, &bytes));
    if (!slc_checked_mul(bytes, job->n_pols, &bytes)) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "the uv grids of a %lld x %lld image are too large",
                        (long long)o->nx, (long long)o->ny);
    }
    bool is_smaller = true;
    while (bytes > slci_machine_left_bytes(&job->machine) && is_smaller) {
        SLC_TRY(slci_image_shrink_reader(job, &is_smaller));
    }
    if (bytes > slci_machine_left_bytes(&job->machine)) {
        /* Weights do not matter to what a plan takes: it is refused with what all of it needs. */
        (void)slci_machine_hold(&job->machine, bytes, "uv density");
        return SLC_OK;
    }
    const slci_survey_options options = survey_options(job, true);
    return slci_density_create(job->vis, &options, o->nx, o->ny, job->geometry.scale_rad,
                               job->machine.budget, job->density);
}

/* ---- planes ----------------------------------------------------------------------------------- */

static slc_status open_plane(slci_image_job *job, int64_t p) {
    const slc_image_options *o = job->options;
    slci_plane *plane = &job->plane[p];
    plane->vis = job->vis;
    if (job->n_planes > 1) {
        slc_vis_options options = vis_options(o);
        const int64_t first = options.channel_begin;
        options.channel_begin = first + p * job->meta->n_channels / job->n_planes;
        options.channel_end = first + (p + 1) * job->meta->n_channels / job->n_planes;
        options.log = NULL; /* said once, by the whole set */
        SLC_TRY(slc_vis_open(o->inputs, o->n_inputs, &options, &plane->vis));
    }
    plane->meta = slc_vis_get_meta(plane->vis);
    return SLC_OK;
}

static slc_status weigh_plane(slci_image_job *job, slci_plane *plane) {
    SLC_TRY(slci_weighted_create(plane->vis, job->density[0].cell != NULL ? job->density : NULL,
                                 &plane->weighted));
    SLC_TRY(slci_weighted_find_first(plane->weighted, false, plane->first));
    slci_image_rest(job, plane);
    return SLC_OK;
}

static slc_status open_planes(slci_image_job *job) {
    job->n_planes = job->options->n_planes;
    if (job->n_planes > job->meta->n_channels) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT, "--channels-out %lld: only %lld channels are selected",
                        (long long)job->n_planes, (long long)job->meta->n_channels);
    }
    if (job->meta->n_channels % job->n_planes != 0) {
        return SLC_FAIL(SLC_ERROR_ARGUMENT,
                        "--channels-out %lld does not divide the %lld channels selected, and the "
                        "frequency axis of a cube is evenly spaced; choose a divisor, or other "
                        "--channels",
                        (long long)job->n_planes, (long long)job->meta->n_channels);
    }
    job->plane = calloc((size_t)job->n_planes, sizeof *job->plane);
    job->plane_beam = calloc((size_t)(job->n_planes * job->n_pols), sizeof *job->plane_beam);
    if (job->plane == NULL || job->plane_beam == NULL) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory for %lld planes", (long long)job->n_planes);
    }
    bool has_weight = false;
    for (int64_t p = 0; p < job->n_planes; p++) {
        SLC_TRY(open_plane(job, p));
    }
    SLC_TRY(settle_reader(job));
    for (int64_t p = 0; p < job->n_planes; p++) {
        SLC_TRY(weigh_plane(job, &job->plane[p]));
        for (int i = 0; i < job->n_pols; i++) {
            has_weight = has_weight || job->plane[p].first[i].has_weight;
        }
    }
    if (!has_weight && job->density[0].cell != NULL) {
        return SLC_FAIL(SLC_ERROR_INPUT,
                        "%s: every visibility is finer than the pixels, which uniform and Briggs "
                        "weights leave out; a smaller --scale helps",
                        job->vis->name);
    }
    if (!has_weight) {
        /* The survey did not look at values: what had a weight there is not finite. */
        SLC_TRY(slci_image_look_at_all(job, job->vis, true, job->survey));
        return refuse_empty(job);
    }
    return SLC_OK;
}

/* ---- all of it -------------------------------------------------------------------------------- */

slc_status slci_image_open(slci_image_job *job) {
    slc_trace *trace = job->options->run.trace;
    const int64_t open_ns = slc_clock_ns();
    SLC_TRY(open_machine(job));
    slc_trace_add_phase(trace, "opening the device", open_ns);
    const int64_t begin_ns = slc_clock_ns();
    SLC_TRY(survey(job));
    SLC_TRY(choose_geometry(job));
    SLC_TRY(weigh(job));
    SLC_TRY(open_planes(job));
    job->result.survey_seconds = 1e-9 * (double)(slc_clock_ns() - begin_ns);
    slc_trace_add_phase(trace, "survey", begin_ns);
    return SLC_OK;
}
