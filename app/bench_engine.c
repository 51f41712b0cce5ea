/* Every measurement is made several times, in turns with the limit that it is held against, and the
 * best of each counts: what else runs on the machine only makes a run slower, and a slow minute then
 * hits both. */
#include "app/bench_engine.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/bench_choice.h"
#include "app/bench_converge.h"
#include "app/bench_image.h"
#include "app/bench_job.h"
#include "app/bench_loop.h"
#include "app/bench_sparse.h"
#include "core/checked.h"
#include "core/host_memory.h"
#include "core/print.h"

#define KIB (INT64_C(1) << 10)
#define MIB (INT64_C(1) << 20)
#define GIB (INT64_C(1) << 30)

/* Bytes of one run each way: a sixth of a second at the speed of the bus. */
#define CUDA_RUN_BYTES (8 * GIB)
#define HOST_RUN_BYTES (GIB / 2)
#define QUICK_SHARE 8

#define MOST_TILES 16384

/* While the first tile comes in nothing goes out, and the other way round for the last one: of n
 * tiles that costs (both / one - 1) / n, where both ways at once carry `both`, one alone `one`. That is
 * 0.72 / n on an H200, so 0.3 % of 256 tiles (docs/bench.md). */
#define CUDA_LEAST_TILES 256
#define HOST_LEAST_TILES 32

/* Pieces in which the bus is at its full speed. */
#define BUS_PIECE_BYTES (64 * MIB)
#define BUS_SLOTS 4

/* Tiles of a stream from RAM to RAM. */
#define RAM_TILE_BYTES (8 * MIB)

/* From here on a copy alone keeps the bus at its full speed, and the engine is to as well; the plans of
 * streams have such tiles. Smaller ones are held against the loop by hand. */
#define BUS_TILE_BYTES (32 * MIB)

/* What docs/bench.md promises, as shares of the limit. */
#define GOAL_BUS 0.95
#define GOAL_RAM 0.90
#define GOAL_LARGE_TILES 0.98
#define GOAL_SMALL_TILES 0.90
#define GOAL_OVERLAP 0.95
#define GOAL_CHOICE 0.90

typedef struct bench {
    const slci_bench_options *options;
    slci_machine machine;
    slci_bench_result *result;
    int64_t run_bytes, least_tiles;
    int n_repeats;
    slci_loop_bus bus;
} bench;

/* ---- results ---------------------------------------------------------------------------------- */

void slci_bench_add(slci_bench_result *result, const slci_bench_figure *figure) {
    if (result->n_figures < SLCI_BENCH_FIGURES) {
        result->figure[result->n_figures++] = *figure;
    }
}

void slci_bench_omit(slci_bench_result *result, const char *format, ...) {
    const int most = (int)(sizeof result->omitted / sizeof result->omitted[0]);
    if (result->n_omitted < most) {
        va_list arguments;
        va_start(arguments, format);
        (void)slci_vprint(result->omitted[result->n_omitted++], sizeof result->omitted[0], format,
                          arguments);
        va_end(arguments);
    }
}

bool slci_bench_is_sound(const slci_bench_result *result, char *why, size_t why_bytes) {
    const double one_way_sum = result->bus_in_per_s + result->bus_out_per_s;
    if (result->bus_both_per_s > SLCI_BENCH_MOST_BOTH * one_way_sum) {
        (void)slci_print(why, why_bytes, "the bus both ways reached %.3g GB/s, its two ways %.3g",
                         1e-9 * result->bus_both_per_s, 1e-9 * one_way_sum);
        return false;
    }
    for (int i = 0; i < result->n_figures; i++) {
        const slci_bench_figure *figure = &result->figure[i];
        if (figure->limit > 0 && !figure->may_pass &&
            figure->measured > SLCI_BENCH_MOST_SHARE * figure->limit) {
            (void)slci_print(why, why_bytes, "%s reached %.3g %% of its limit", figure->what,
                             100 * figure->measured / figure->limit);
            return false;
        }
    }
    return true;
}

slc_status slci_bench_or_omit(slci_bench_result *result, slc_status status, const char *what) {
    if (status == SLC_ERROR_NO_PLAN || status == SLC_ERROR_MEMORY) {
        slci_bench_omit(result, "%s: %s", what, slc_status_message());
        return SLC_OK;
    }
    return status;
}

static void say(const bench *self, const char *stage, double done) {
    const slc_run_options *run = &self->options->run;
    if (run->progress != NULL) {
        run->progress(run->progress_context, stage, "", done, 1);
    }
}

static int64_t tiles_for(const bench *self, int64_t tile_bytes) {
    const int64_t n = self->run_bytes / tile_bytes;
    return slc_max_i64(slc_min_i64(n, MOST_TILES), self->least_tiles);
}

static void size_text(int64_t bytes, char *out, size_t out_bytes) {
    const bool is_mib = bytes >= MIB;
    (void)slci_print(out, out_bytes, "%lld %s", (long long)(bytes / (is_mib ? MIB : KIB)),
                     is_mib ? "MiB" : "KiB");
}

/* ---- the bus ---------------------------------------------------------------------------------- */

static slc_status measure_bus(bench *self) {
    slci_loop_request request = {.machine = &self->machine, .n_slots = BUS_SLOTS};
    /* Half of either budget is the loop's, at most. */
    const int64_t share = INT64_C(4) * BUS_SLOTS;
    request.tile_bytes = slc_min_i64(BUS_PIECE_BYTES, self->options->run.vram_bytes / share);
    request.tile_bytes = slc_min_i64(request.tile_bytes, self->options->run.ram_bytes / share);
    request.tile_bytes -= request.tile_bytes % KIB;
    if (request.tile_bytes < MIB) {
        return SLC_FAIL(
            SLC_ERROR_NO_PLAN,
            "the benchmark needs 16 MiB of --vram and of --ram at least; --vram is %lld "
            "and --ram %lld bytes",
            (long long)self->options->run.vram_bytes, (long long)self->options->run.ram_bytes);
    }
    request.n_tiles = slc_max_i64(self->run_bytes / 2 / request.tile_bytes, 4);
    for (int i = 0; i < self->n_repeats; i++) {
        slci_loop_bus bus;
        SLC_TRY(slci_loop_measure_bus(&request, &bus));
        self->bus.in_bytes_per_s = fmax(self->bus.in_bytes_per_s, bus.in_bytes_per_s);
        self->bus.out_bytes_per_s = fmax(self->bus.out_bytes_per_s, bus.out_bytes_per_s);
        self->bus.both_bytes_per_s = fmax(self->bus.both_bytes_per_s, bus.both_bytes_per_s);
    }
    self->result->bus_in_per_s = self->bus.in_bytes_per_s;
    self->result->bus_out_per_s = self->bus.out_bytes_per_s;
    self->result->bus_both_per_s = self->bus.both_bytes_per_s;
    slci_bench_add(self->result, &(slci_bench_figure){.what = "bus, to the device",
                                                      .unit = "GB/s",
                                                      .measured = 1e-9 * self->bus.in_bytes_per_s});
    slci_bench_add(self->result,
                   &(slci_bench_figure){.what = "bus, from the device",
                                        .unit = "GB/s",
                                        .measured = 1e-9 * self->bus.out_bytes_per_s});
    slci_bench_add(self->result,
                   &(slci_bench_figure){.what = "bus, both ways together",
                                        .unit = "GB/s",
                                        .measured = 1e-9 * self->bus.both_bytes_per_s});
    return SLC_OK;
}

/* ---- copying through -------------------------------------------------------------------------- */

/* Seconds of the engine and of the loop by hand for the same tiles, the best of some turns. */
typedef struct pair {
    double engine_seconds, loop_seconds;
    slci_copy_result engine; /* the best one */
} pair;

static slc_status run_pair(bench *self, slci_copy_job *job, int n_repeats, pair *out) {
    pair best = {.engine_seconds = INFINITY, .loop_seconds = INFINITY};
    for (int i = 0; i < n_repeats; i++) {
        SLC_TRY(slci_run_check_stop(&self->options->run));
        slci_copy_result engine;
        SLC_TRY(slci_copy_job_run(job, &engine));
        if (engine.report.seconds_total < best.engine_seconds) {
            best.engine_seconds = engine.report.seconds_total;
            best.engine = engine;
        }
        const slci_loop_request request = {.machine = &self->machine,
                                           .tile_bytes = job->tile_bytes,
                                           .n_tiles = job->n_tiles,
                                           .n_slots = engine.plan.n_slots};
        double seconds = 0;
        SLC_TRY(slci_loop_three_streams(&request, &seconds));
        best.loop_seconds = fmin(best.loop_seconds, seconds);
    }
    *out = best;
    return SLC_OK;
}

/* What the plan took for it: the number of buffers decides how far one stage runs ahead of another. */
static void say_buffers(const slc_plan *plan, slci_bench_figure *figure) {
    const slc_plan_operand *out = &plan->operand[SLCI_COPY_JOB_OUT];
    char piece[32];
    size_text(out->staging_bytes, piece, sizeof piece);
    (void)slci_print(figure->note, sizeof figure->note,
                     "slots %d; of the output: buffers %d, pieces %d of %s", plan->n_slots,
                     out->n_buffers, out->n_staging, piece);
}

static double overhead_goal(int64_t tile_bytes) {
    return tile_bytes == 8 * MIB     ? GOAL_LARGE_TILES
           : tile_bytes == 256 * KIB ? GOAL_SMALL_TILES
                                     : 0;
}

static void add_pair(bench *self, const slci_copy_job *job, const pair *best) {
    const double both = 2.0 * (double)job->tile_bytes * (double)job->n_tiles;
    const bool is_large = job->tile_bytes >= BUS_TILE_BYTES;
    char size[32];
    size_text(job->tile_bytes, size, sizeof size);
    slci_bench_figure figure = {.unit = "GB/s",
                                .measured = 1e-9 * both / best->engine_seconds,
                                .limit = 1e-9 * self->bus.both_bytes_per_s,
                                .limit_is = "bus, both ways",
                                .goal = is_large ? GOAL_BUS : 0};
    (void)slci_print(figure.what, sizeof figure.what, "copy through, %s tiles", size);
    say_buffers(&best->engine.plan, &figure);
    slci_bench_add(self->result, &figure);
    if (job->tile_bytes >= 8 * MIB || overhead_goal(job->tile_bytes) > 0) {
        figure.limit = 1e-9 * both / best->loop_seconds;
        figure.goal = overhead_goal(job->tile_bytes);
        figure.may_pass = true; /* by hand each tile is copied alone */
        figure.note[0] = '\0';
        (void)slci_print(figure.what, sizeof figure.what, "engine overhead, %s tiles", size);
        (void)slci_print(figure.limit_is, sizeof figure.limit_is, "loop by hand, %d slots",
                         best->engine.plan.n_slots);
        slci_bench_add(self->result, &figure);
    }
}

static slc_status measure_copies(bench *self) {
    static const int64_t sizes[] = {64 * KIB, 256 * KIB, MIB,      4 * MIB,
                                    8 * MIB,  16 * MIB,  32 * MIB, 64 * MIB};
    const int n_sizes = (int)(sizeof sizes / sizeof sizes[0]);
    for (int s = 0; s < n_sizes; s++) {
        say(self, "copying through", (double)s / n_sizes);
        slci_copy_job job = {.machine = &self->machine,
                             .run = &self->options->run,
                             .tile_bytes = sizes[s],
                             .n_tiles = tiles_for(self, sizes[s])};
        pair best = {.engine_seconds = 0};
        /* What has a goal of a few per cent needs more tries. */
        const int n_repeats = (overhead_goal(sizes[s]) > 0 ? 2 : 1) * self->n_repeats;
        const slc_status status = run_pair(self, &job, n_repeats, &best);
        char size[32];
        char what[64];
        size_text(sizes[s], size, sizeof size);
        (void)slci_print(what, sizeof what, "tiles of %s", size);
        SLC_TRY(slci_bench_or_omit(self->result, status, what));
        if (status == SLC_OK) {
            add_pair(self, &job, &best);
        }
    }
    return SLC_OK;
}

/* ---- RAM to RAM -------------------------------------------------------------------------------- */

typedef struct ram {
    int64_t bytes;
    int64_t reserved_bytes;
    void *from, *to;
} ram;

static slc_status take_ram(bench *self, ram *memory) {
    SLC_TRY(slc_budget_reserve(self->machine.budget, SLC_SPACE_HOST, 2 * memory->bytes, "data"));
    memory->reserved_bytes = 2 * memory->bytes;
    const int64_t bytes = memory->bytes;
    slc_status status = slci_host_map(bytes, &memory->from);
    if (status == SLC_OK) {
        status = slci_host_map(bytes, &memory->to);
    }
    if (status == SLC_OK) {
        status = slci_host_touch(self->machine.pool, memory->from, bytes);
    }
    if (status == SLC_OK) {
        status = slci_host_touch(self->machine.pool, memory->to, bytes);
    }
    return status;
}

static void give_ram(bench *self, ram *memory) {
    slci_host_unmap(memory->from, memory->bytes);
    slci_host_unmap(memory->to, memory->bytes);
    slc_budget_release(self->machine.budget, SLC_SPACE_HOST, memory->reserved_bytes);
}

/* Every 4,093rd byte and the last one: a prime, so that all places of a page are met. */
static slc_status compare_ram(const ram *memory) {
    const unsigned char *from = memory->from;
    const unsigned char *to = memory->to;
    for (int64_t i = 0; i < memory->bytes; i += 4093) {
        const int64_t k = memory->bytes - 1 - i;
        if (from[k] != to[k]) {
            return SLC_FAIL(SLC_ERROR_INTERNAL, "copied from RAM to RAM, byte %lld is %d, not %d",
                            (long long)k, to[k], from[k]);
        }
    }
    return SLC_OK;
}

/* What goes through the device is copied twice in RAM: into staging, and out of it. */
static void add_ram(bench *self, const ram *memory, double copy_seconds,
                    const slci_copy_result *engine) {
    const double bytes = (double)memory->bytes;
    const double bus = self->bus.both_bytes_per_s / 2;
    const double twice = bytes / (2 * copy_seconds);
    slci_bench_figure figure = {.what = "RAM to RAM, through the device",
                                .unit = "GB/s",
                                .measured = 1e-9 * bytes / engine->report.seconds_total,
                                .limit = 1e-9 * fmin(bus, twice),
                                .goal = GOAL_RAM,
                                .may_pass = true}; /* memcpy fetches each line that it fills */
    (void)slci_print(figure.limit_is, sizeof figure.limit_is, "%s",
                     bus < twice ? "half of the bus both ways"
                                 : "half of a copy in RAM, all threads");
    slci_bench_add(self->result, &figure);
    slci_bench_add(self->result,
                   &(slci_bench_figure){.what = "overlap of the stages, RAM to RAM",
                                        .limit_is = "all hidden behind the longest",
                                        .measured = slc_engine_overlap(&engine->report),
                                        .limit = 1,
                                        .goal = GOAL_OVERLAP});
}

static slc_status run_ram(bench *self, ram *memory) {
    slci_copy_job job = {.machine = &self->machine,
                         .run = &self->options->run,
                         .tile_bytes = RAM_TILE_BYTES,
                         .n_tiles = memory->bytes / RAM_TILE_BYTES,
                         .from = memory->from,
                         .to = memory->to};
    slci_copy_result best = {.report.seconds_total = INFINITY};
    double copy_seconds = INFINITY;
    (void)memset(memory->from, 1, (size_t)memory->bytes);
    for (int i = 0; i < self->n_repeats; i++) {
        SLC_TRY(slci_run_check_stop(&self->options->run));
        double seconds = 0;
        SLC_TRY(slci_loop_copy_ram(self->machine.pool, memory->from, memory->to, memory->bytes,
                                   &seconds));
        copy_seconds = fmin(copy_seconds, seconds);
        (void)memset(memory->to, 0, (size_t)memory->bytes);
        slci_copy_result engine;
        SLC_TRY(slci_copy_job_run(&job, &engine));
        SLC_TRY(compare_ram(memory));
        best = engine.report.seconds_total < best.report.seconds_total ? engine : best;
    }
    add_ram(self, memory, copy_seconds, &best);
    return SLC_OK;
}

static slc_status measure_ram(bench *self) {
    say(self, "copying from RAM to RAM", 0);
    ram memory = {.bytes = slc_min_i64(self->run_bytes / 2, self->options->run.ram_bytes / 4)};
    memory.bytes -= memory.bytes % RAM_TILE_BYTES;
    if (memory.bytes == 0) {
        slci_bench_omit(self->result,
                        "RAM to RAM: --ram has no room for two arrays of 8 MiB and staging");
        return SLC_OK;
    }
    slc_status status = take_ram(self, &memory);
    if (status == SLC_OK) {
        status = run_ram(self, &memory);
    }
    give_ram(self, &memory);
    return slci_bench_or_omit(self->result, status, "RAM to RAM");
}

/* ---- the imaging job --------------------------------------------------------------------------- */

static void say_seconds(double planned, double taken, slci_bench_figure *figure) {
    (void)slci_print(figure->note, sizeof figure->note, "planned %.3g s, took %.3g s", planned,
                     taken);
}

/* More than 1: the plan expects less than it took. */
static void add_planned(bench *self, const char *what, double planned, double taken) {
    slci_bench_figure figure = {.limit_is = "what its plan says",
                                .unit = "runs/s",
                                .measured = 1 / taken,
                                .limit = 1 / planned,
                                .may_pass = true};
    (void)slci_print(figure.what, sizeof figure.what, "%s", what);
    say_seconds(planned, taken, &figure);
    slci_bench_add(self->result, &figure);
}

static slc_status measure_image(bench *self) {
    say(self, "imaging", 0);
    slci_bench_image image;
    const slc_status status = slci_bench_image_run(self->options, &self->machine, &image);
    SLC_TRY(slci_bench_or_omit(self->result, status, "imaging"));
    if (status == SLC_OK) {
        slci_bench_figure figure = {.limit_is = "the same with everything resident",
                                    .unit = "Gpairs/s",
                                    .measured = 1e-9 * image.pairs / image.small_seconds,
                                    .limit = 1e-9 * image.pairs / image.resident_seconds,
                                    .goal = GOAL_BUS};
        (void)slci_print(figure.what, sizeof figure.what, "image, --vram %lld of %lld bytes",
                         (long long)image.vram_bytes, (long long)image.data_bytes);
        slci_bench_add(self->result, &figure);
        add_planned(self, "that image, against its plan", image.small_planned, image.small_seconds);
        add_planned(self, "the image with all resident, against its plan", image.resident_planned,
                    image.resident_seconds);
        slci_bench_add(self->result,
                       &(slci_bench_figure){.what = "overlap of the stages, that image",
                                            .limit_is = "all hidden behind the longest",
                                            .measured = image.overlap,
                                            .limit = 1,
                                            .goal = GOAL_OVERLAP});
    }
    return SLC_OK;
}

/* ---- gathering --------------------------------------------------------------------------------- */

static slc_status measure_sparse(bench *self) {
    say(self, "gathering", 0);
    /* To the host device all memory is alike, so what is mapped has no rate of its own. */
    const bool is_cuda = self->machine.device->kind == SLC_DEVICE_CUDA;
    slci_bench_sparse sparse;
    const slc_status status = slci_bench_sparse_run(self->options, &self->machine, &sparse);
    SLC_TRY(slci_bench_or_omit(self->result, status, "gather"));
    for (int i = 0; status == SLC_OK && i < sparse.n; i++) {
        const slci_bench_sparse_at *at = &sparse.at[i];
        slci_bench_figure figure = {.limit_is = "a bare kernel, in no order, on the same array",
                                    .unit = "M/s",
                                    .measured = 1e-6 * at->gather_per_s,
                                    .limit = 1e-6 * at->bare_per_s,
                                    .goal = is_cuda && i == sparse.n - 1 ? GOAL_RAM : 0,
                                    .may_pass = true};
        (void)slci_print(figure.what, sizeof figure.what, "gather %.3g of %lld MiB mapped",
                         (double)at->n_touches, (long long)(at->bytes / MIB));
        slci_bench_add(self->result, &figure);
    }
    return SLC_OK;
}

static void add_choice(bench *self, const slci_bench_choice *choice,
                       const slci_bench_choice_at *at) {
    const slci_bench_way *chosen = at->is_mapped ? &at->mapped : &at->streamed;
    const double fastest = fmin(at->mapped.taken, at->streamed.taken);
    slci_bench_figure figure = {.limit_is = "the faster of mapped and streamed",
                                .unit = "M/s",
                                .measured = 1e-6 * (double)at->n_index / chosen->taken,
                                .limit = 1e-6 * (double)at->n_index / fastest,
                                .goal = GOAL_CHOICE};
    (void)slci_print(figure.what, sizeof figure.what, "gather %.3g %% of %lld MiB, --vram %lld MiB",
                     100 * at->share, (long long)(choice->data_bytes / MIB),
                     (long long)(choice->vram_bytes / MIB));
    (void)slci_print(figure.note, sizeof figure.note,
                     "takes %s; mapped planned %.3g s, took %.3g s; streamed %.3g s, %.3g s",
                     at->is_mapped ? "mapped" : "streamed", at->mapped.planned, at->mapped.taken,
                     at->streamed.planned, at->streamed.taken);
    slci_bench_add(self->result, &figure);
}

static slc_status measure_choice(bench *self) {
    say(self, "gathering, mapped and streamed", 0);
    slci_bench_choice choice;
    const slc_status status = slci_bench_choice_run(self->options, &self->machine, &choice);
    SLC_TRY(slci_bench_or_omit(self->result, status, "mapped or streamed"));
    for (int i = 0; status == SLC_OK && i < SLCI_BENCH_CHOICES; i++) {
        add_choice(self, &choice, &choice.at[i]);
    }
    return SLC_OK;
}

/* ---- loops ------------------------------------------------------------------------------------- */

static slc_status measure_converge(bench *self) {
    say(self, "loops until done", 0);
    slci_bench_converge converge;
    const slc_status status = slci_bench_converge_run(self->options, &self->machine, &converge);
    SLC_TRY(slci_bench_or_omit(self->result, status, "loops"));
    if (status == SLC_OK) {
        slci_bench_figure figure = {.limit_is = "the host looks at a flag each round",
                                    .unit = "rounds/s",
                                    .measured = 1 / converge.device_seconds,
                                    .limit = 1 / converge.host_seconds,
                                    .may_pass = true};
        (void)slci_print(figure.what, sizeof figure.what, "loops until done, %lld KiB tiles",
                         (long long)(converge.tile_bytes / KIB));
        (void)slci_print(figure.note, sizeof figure.note,
                         "%.3g us a round, by the host %.3g us; %.4g rounds a tile",
                         1e6 * converge.device_seconds, 1e6 * converge.host_seconds,
                         converge.rounds_per_tile);
        slci_bench_add(self->result, &figure);
    }
    return SLC_OK;
}

/* ---- all --------------------------------------------------------------------------------------- */

static slc_status measure_all(bench *self) {
    SLC_TRY(measure_bus(self));
    SLC_TRY(measure_copies(self));
    SLC_TRY(measure_ram(self));
    SLC_TRY(measure_image(self));
    SLC_TRY(measure_converge(self));
    SLC_TRY(slci_run_check_stop(&self->options->run));
    SLC_TRY(measure_choice(self));
    SLC_TRY(slci_run_check_stop(&self->options->run));
    return measure_sparse(self);
}

slc_status slci_bench_engine(const slci_bench_options *options, slci_bench_result *out) {
    slci_bench_result result = {.n_figures = 0};
    bench self = {.options = options, .result = &result, .n_repeats = options->is_quick ? 1 : 3};
    slc_status status = SLC_OK;
    SLC_TRY_GOTO(done, slci_machine_open(&options->run, &self.machine));
    const bool is_cuda = self.machine.device->kind == SLC_DEVICE_CUDA;
    self.run_bytes = is_cuda ? CUDA_RUN_BYTES : HOST_RUN_BYTES;
    self.least_tiles = is_cuda ? CUDA_LEAST_TILES : HOST_LEAST_TILES;
    self.run_bytes /= options->is_quick ? QUICK_SHARE : 1;
    self.least_tiles /= options->is_quick ? QUICK_SHARE : 1;
    const slc_device_limits *limits = &self.machine.limits;
    memcpy(result.device_name, limits->name, sizeof result.device_name);
    memcpy(result.software, limits->software, sizeof result.software);
    result.n_threads = slc_pool_size(self.machine.pool);
    SLC_TRY_GOTO(done, measure_all(&self));
    *out = result;
done:
    slci_machine_close(&self.machine);
    return status;
}
