#include "app/image_pass.h"

#include <math.h>
#include <stdlib.h>

#include "core/checked.h"
#include "core/fixed.h"

/* Speeds for the plan's estimate of time, measured once; they never touch a result. The host kernel's
 * weighed operations are 64 a cycle of a core (docs/kernels/direct.md has its rates). */
#define HOST_FLOPS_PER_THREAD 2.3e11

/* Pairs a second of the 132 multiprocessors of an H200, by the method of a tile
 * (docs/kernels/direct.md): three products of fp16 pairs; w c in single precision, in double, in two
 * words. One product alone is ONE_PRODUCT_GAIN times as fast as three. */
#define H200_PROCESSORS 132.0
#define ONE_PRODUCT_GAIN 1.8
static const double h200_pairs_per_s[SLC_DIRECT_N_METHODS] = {[SLC_DIRECT_PRODUCT] = 2.4e13,
                                                              [SLC_DIRECT_SINE] = 2.42e12,
                                                              [SLC_DIRECT_SINE_DOUBLE] = 2.15e12,
                                                              [SLC_DIRECT_SINE_WIDE] = 1.87e12};

/* A reader whose rate is that of fetching and decoding together has no link to fetch over. */
#define NO_LINK 1e16

/* An interrupt waits for the few tiles in flight; a batch system gives some seconds. */
#define MOST_TILE_SECONDS 0.1

/* Thread blocks that one multiprocessor works on at a time. */
#define CUDA_BLOCKS_PER_PROCESSOR 2

/* ---- the sink --------------------------------------------------------------------------------- */

/* Takes boxes of fixed-point sums and leaves them as doubles in the picture. */
typedef struct picture_sink {
    slc_sink base;
    int64_t nx, n_parts;
    int scale_bits;
    double *image; /* lent, [ny, nx, n_parts] */
} picture_sink;

static slc_status picture_write(slc_sink *sink, const slc_box *box, const void *src) {
    const picture_sink *picture = (const picture_sink *)sink;
    const slc_fixed *sum = src;
    for (int64_t y = 0; y < box->extent[0]; y++) {
        double *row = picture->image +
                      ((box->origin[0] + y) * picture->nx + box->origin[1]) * picture->n_parts;
        for (int64_t k = 0; k < box->extent[1] * picture->n_parts; k++) {
            row[k] = slc_fixed_to_double(*sum++, picture->scale_bits);
        }
    }
    return SLC_OK;
}

static slc_status picture_commit(slc_sink *sink) {
    (void)sink;
    return SLC_OK;
}

static void picture_destroy(slc_sink *sink) {
    (void)sink; /* lives in the caller's frame */
}

static const slc_sink_ops picture_ops = {.write = picture_write,
                                         .commit = picture_commit,
                                         .destroy = picture_destroy};

/* ---- planning --------------------------------------------------------------------------------- */

/* Of the whole card. */
static double cuda_pairs_per_s(const slci_pass *pass, int n_processors) {
    double seconds = 0; /* of one sample and pixel for each tile, on an H200 */
    double tiles = 0;
    for (int m = 0; m < SLC_DIRECT_N_METHODS; m++) {
        const bool is_single = m == SLC_DIRECT_PRODUCT && pass->setup.n_products == 1;
        const double rate = h200_pairs_per_s[m] * (is_single ? ONE_PRODUCT_GAIN : 1);
        const double cost = m == SLC_DIRECT_PRODUCT ? pass->summary.product_cost : 1;
        const double n = (double)pass->summary.n_tiles[m];
        tiles += n;
        seconds += rate > 0 ? n * cost / rate : 0;
    }
    const double rate = seconds > 0 ? tiles / seconds : h200_pairs_per_s[SLC_DIRECT_SINE];
    return rate * (double)slc_max_i64(n_processors, 1) / H200_PROCESSORS;
}

static double seconds_per_point(const slci_imaging *imaging, const slci_pass *pass) {
    const slci_pass_request *request = &pass->request;
    const double samples = (double)request->n_channels * (double)request->pols.n;
    if (imaging->machine->device->kind == SLC_DEVICE_CUDA) {
        return samples / cuda_pairs_per_s(pass, imaging->machine->limits.n_processors);
    }
    const double pixels = (double)request->geometry.nx * (double)request->geometry.ny;
    return pass->summary.flops_per_sample / pixels * samples /
           (HOST_FLOPS_PER_THREAD * (double)slc_pool_size(imaging->machine->pool));
}

/* What an engine tile takes however large it is: a host's threads wait for its last tasks. (A card's
 * blocks are short against a tile.) */
static double seconds_per_tile(const slci_imaging *imaging, const slci_pass *pass) {
    if (imaging->machine->device->kind == SLC_DEVICE_CUDA) {
        return 0;
    }
    return slci_direct_host_wait(&pass->setup) * (double)slc_pool_size(imaging->machine->pool) *
           seconds_per_point(imaging, pass);
}

static slc_status make_plan(const slci_imaging *imaging, slci_pass *pass) {
    const bool is_cuda = imaging->machine->device->kind == SLC_DEVICE_CUDA;
    /* Rows of a chunk, and whether the reader can keep them: decoded they are about as large as a row
     * of the source, twice for two polarisations. */
    const int64_t unit =
        slc_min_i64(slc_source_next_unit(pass->request.vis, 0, 0), pass->request.n_rows);
    const int64_t n_samples = pass->request.n_channels * pass->request.pols.n;
    const double unit_bytes = (double)unit * (double)(24 * (n_samples + 1));
    int64_t device_bytes = imaging->options->run.vram_bytes;
    int64_t staging_bytes = slci_machine_left_bytes(imaging->machine) - imaging->picture_bytes;
    if (imaging->most_device_bytes > 0) {
        device_bytes = slc_min_i64(device_bytes, imaging->most_device_bytes);
        staging_bytes = slc_min_i64(staging_bytes, imaging->most_staging_bytes);
    }
    pass->execution = slci_machine_execution(&imaging->options->run, imaging->machine);
    slc_plan_request *request = &pass->execution.request;
    request->device_budget_bytes = device_bytes;
    request->host_budget_bytes = staging_bytes;
    request->seconds_per_point = seconds_per_point(imaging, pass);
    request->seconds_per_tile = seconds_per_tile(imaging, pass);
    if (imaging->read_bytes_per_s > 0) {
        request->rates.read_bytes_per_s = imaging->read_bytes_per_s;
        request->rates.disk_bytes_per_s = NO_LINK;
    }
    request->most_tile_seconds = MOST_TILE_SECONDS;
    request->unit[0] = unit;
    request->unit_is_kept = unit_bytes <= (double)imaging->cache_bytes;
    request->parallel_units =
        is_cuda ? (int64_t)imaging->machine->limits.n_processors * CUDA_BLOCKS_PER_PROCESSOR
                : slc_pool_size(imaging->machine->pool);
    return slc_plan_make(&pass->job, request, &pass->plan);
}

/* As the book has it, or the model. */
static void choose_tuning(const slci_imaging *imaging, slci_pass *pass) {
    const slci_machine *machine = imaging->machine;
    const slci_direct_work work = {.setup = &pass->setup,
                                   .summary = &pass->summary,
                                   .device = machine->device->kind,
                                   .n_processors = machine->limits.n_processors,
                                   .full_extent = pass->plan.tile};
    for (int k = 0; k < SLC_DIRECT_N_LAUNCHES; k++) {
        const slc_direct_launch launch = (slc_direct_launch)k;
        slci_direct_division division;
        if (slci_direct_divide(&work, launch, &division)) {
            const int64_t tuned = slci_tuning_book_find(imaging->book, launch, &division);
            const int64_t split = tuned > 0 ? tuned : slci_direct_split_choose(&division);
            pass->setup.tuning.split[launch] = split;
            pass->tuning.launch[pass->tuning.n++] = (slc_image_launch){launch, split, tuned > 0};
        }
    }
}

slc_status slci_pass_prepare(const slci_imaging *imaging, const slci_pass_request *request,
                             slci_pass *pass) {
    *pass = (slci_pass){.request = *request};
    const slc_direct_request direct = {.device = imaging->machine->device->kind,
                                       .geometry = request->geometry,
                                       .survey = request->survey,
                                       .n_channels = request->n_channels,
                                       .epsilon = imaging->options->epsilon,
                                       .n_parts = request->n_parts,
                                       .is_psf = request->is_psf,
                                       .tile_pixels = request->tile_pixels,
                                       .card = imaging->machine->card};
    SLC_TRY(slc_direct_choose(&direct, &pass->setup));
    for (int i = 1; i < request->pols.n; i++) {
        SLC_TRY(slc_direct_add_pol(&pass->setup, request->first_sum[i]));
    }
    slc_direct_summarise(&pass->setup, &pass->summary);
    SLC_TRY(slc_direct_job_init(&pass->setup, imaging->machine->device->kind,
                                slc_pool_size(imaging->machine->pool), request->n_rows,
                                &pass->job));
    SLC_TRY(make_plan(imaging, pass));
    choose_tuning(imaging, pass);
    return SLC_OK;
}

/* ---- running ---------------------------------------------------------------------------------- */

/* Hands the engine's progress on in visibilities × pixels. */
typedef struct pass_progress {
    const slc_run_options *options;
    const char *stage;
    double total;
} pass_progress;

static void report_progress(void *context, int64_t done_tiles, int64_t n_tiles) {
    const pass_progress *progress = context;
    progress->options->progress(progress->options->progress_context, progress->stage, "pairs",
                                progress->total * (double)done_tiles / (double)n_tiles,
                                progress->total);
}

static slc_status run_engine(const slci_imaging *imaging, slci_pass *pass, slc_source *channels,
                             picture_sink *sinks, slc_engine_report *report) {
    const slci_pass_request *request = &pass->request;
    slc_binding bindings[SLC_MAX_OPERANDS] = {
        [SLC_DIRECT_UVW] = {.source = request->vis, .field = SLC_VIS_UVW},
        [SLC_DIRECT_CHANNELS] = {.source = channels},
    };
    for (int i = 0; i < request->pols.n; i++) {
        const int pol = request->pols.pol[i];
        bindings[slc_direct_operand(SLC_DIRECT_VIS, i)] =
            (slc_binding){.source = request->vis, .field = slc_vis_data_field(pol)};
        bindings[slc_direct_operand(SLC_DIRECT_WEIGHT, i)] =
            (slc_binding){.source = request->vis, .field = slc_vis_weight_field(pol)};
        bindings[slc_direct_operand(SLC_DIRECT_IMAGE, i)].sink = &sinks[i].base;
    }
    pass_progress progress = {.options = &imaging->options->run,
                              .stage = request->stage,
                              .total = (double)request->n_rows * (double)request->n_channels *
                                       (double)request->geometry.nx * (double)request->geometry.ny *
                                       (double)request->pols.n};
    slc_execution *execution = &pass->execution;
    execution->engine.bindings = bindings;
    execution->engine.log = request->is_first ? imaging->options->run.log : NULL;
    execution->log = request->is_first_of_kind ? imaging->options->run.log : NULL;
    execution->engine.progress = imaging->options->run.progress != NULL ? report_progress : NULL;
    execution->engine.progress_context = &progress;
    return slc_execute(&pass->job, execution, &pass->plan, report);
}

slc_status slci_pass_run(const slci_imaging *imaging, slci_pass *pass, double *const *images,
                         slc_engine_report *report) {
    const slci_pass_request *request = &pass->request;
    slc_layout layout;
    SLC_TRY(slc_layout_dense(SLC_F64, 1, &request->n_channels, &layout));
    slc_source *channels = NULL;
    slc_status status = SLC_OK;
    SLC_TRY(
        slc_source_create_memory("channels", &layout, request->wavelengths_per_metre, &channels));
    picture_sink sinks[SLC_VIS_MOST_IMAGED];
    for (int i = 0; i < request->pols.n; i++) {
        sinks[i] = (picture_sink){.base = {.ops = &picture_ops, .name = "image"},
                                  .nx = request->geometry.nx,
                                  .n_parts = request->n_parts,
                                  .scale_bits = slc_direct_scale_bits(&pass->setup, i),
                                  .image = images[i]};
        SLC_TRY_GOTO(done, slc_job_full_layout(&pass->job, slc_direct_operand(SLC_DIRECT_IMAGE, i),
                                               &sinks[i].base.layout));
    }
    status = run_engine(imaging, pass, channels, sinks, report);
done:
    slc_source_destroy(channels);
    return status;
}

void slci_pass_normalise(const slci_pass *pass, double weight_sum, double *image) {
    const slc_direct_geometry *g = &pass->request.geometry;
    const int n_parts = pass->request.n_parts;
    for (int64_t y = 0; y < g->ny; y++) {
        const double m = g->centre_m + (double)(y - g->ny / 2) * g->scale_rad;
        for (int64_t x = 0; x < g->nx; x++) {
            const double l = g->centre_l - (double)(x - g->nx / 2) * g->scale_rad;
            double *pixel = image + (y * g->nx + x) * n_parts;
            for (int p = 0; p < n_parts; p++) {
                pixel[p] = l * l + m * m < 1 ? pixel[p] / weight_sum : NAN;
            }
        }
    }
}
