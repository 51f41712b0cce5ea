/* Fields are pictures of arrays as they stand, because it is the length of baselines and the width of
 * the field that decide what a kernel has to do. Of each picture some pixels are compared with the sum
 * in double: those of the sky's points, where errors of one sign add up, and others by chance, which
 * stand for all when the error is weighed against the picture itself (relative L2). What kernel a
 * picture takes is the planner's to say; where that is the matrix product, the sine kernel makes the
 * same picture too. */
#include "app/bench_direct.h"

#include <math.h>
#include <string.h>

#include "app/bench_direct_field.h"
#include "app/bench_direct_job.h"
#include "app/bench_direct_run.h"
#include "core/checked.h"
#include "core/print.h"
#include "kernels/cublas_rate.h"
#include "kernels/direct_pair.h"

/* Of the kernel that the planner takes; and of the sine kernel beside it, which takes longer. */
#define N_REPEATS 5
#define N_SINE_REPEATS 2

/* Pixels by chance. */
#define N_SAMPLES 128
#define N_PIXELS (SLCI_BENCH_PEAKS + N_SAMPLES)

#define N_SIZES 2

/* Pixels of a side, and visibilities: a tenth of a second of the product kernel, or half a second to
 * two seconds of the sine kernel. On the host a picture has a tile for each of 16 threads, and, but
 * for --quick, each thread so many granules of one, or most would wait for the last tasks. */
typedef struct extents {
    int64_t size[N_SIZES], n[N_SIZES];
} extents;

static const extents card_extents[] = {{{2048, 4096}, {200000, 100000}},
                                       {{1024, 2048}, {200000, 50000}}};
static const extents host_extents[] = {{{1024, 2048}, {8192, 4096}}, {{512, 1024}, {2048, 1024}}};

#define HOST_TASKS 8
#define HOST_TASK (INT64_C(4096) * 256 * 256) /* samples by pixels of the narrow field's tiles */

/* A picture with few tiles and many visibilities: it fills a card only where these are shared out. */
#define FEW_TILES_SIZE 512
#define FEW_TILES_N 1000000
#define GOAL_FEW_TILES 0.85

/* Of the kernel in the whole job. */
#define CARD_JOB_SECONDS 8.0
#define HOST_JOB_SECONDS 2.0
#define QUICK_JOB_SHARE 4
#define N_HOST_JOBS 2 /* other programs take a processor's time more often than a card's */
#define GOAL_JOB 0.9

/* What a goal in pairs a second is for; other cards have limits of their own, but no goals. */
#define GOAL_CARD "H200"

/* Of what the BLAS makes of bare products. */
#define GOAL_HOST 0.7

typedef struct bench_case {
    slci_bench_field field;
    double epsilon;
    double card_goal; /* pairs a second on GOAL_CARD */
    double host_goal; /* share of the limit; 0: none */
} bench_case;

static const bench_case cases[] = {
    {{"VLA-A L band", SLCI_BENCH_VLA_A}, 1e-6, 3e13, GOAL_HOST},
    {{"VLA-A L band to 1e-3", SLCI_BENCH_VLA_A}, 1e-3, 5e13, 0},
    {{"SKA-low 5 degrees", SLCI_BENCH_SKA_LOW}, 1e-6, 2e13, 0},
    {{"MWA 34 degrees", SLCI_BENCH_MWA(34.0)}, 1e-6, 1.3e13, 0},
    {{"MWA 70 degrees", SLCI_BENCH_MWA(70.0)}, 1e-6, 0, 0},
};

#define N_CASES (sizeof cases / sizeof cases[0])

typedef struct bench {
    const slci_bench_options *options;
    slci_machine machine;
    slci_bench_result *result;
    const extents *extents;
    bool is_card, has_goals;
    double unit; /* of all rates, in pairs a second */
    const char *unit_name;
    double step_rate;              /* of the baseline; 0: unknown */
    slci_bench_rate pair;          /* the limit of the sine kernel; 0: unknown */
    slci_bench_rate product;       /* the limit of bare products; 0: unknown */
    double kernel_rate, sine_rate; /* of the first case at its first size */
} bench;

/* One kernel's picture. */
typedef struct measured {
    slc_direct_setup setup;
    slc_direct_summary summary;
    double pairs_per_s;
    double largest, l2, peak; /* errors: of Σw|V|; of the picture; of a peak, the worst */
} measured;

/* One case at one size. */
typedef struct place {
    const bench_case *of;
    int64_t size;
    slci_bench_field_data data;
    int64_t pixel[N_PIXELS]; /* points first */
    double exact[N_PIXELS];
} place;

static slc_status tell(const bench *self, const char *stage) {
    return slci_run_tell(&self->options->run, stage, "", 0, 1);
}

static slci_bench_figure rate_figure(const bench *self, double pairs_per_s, double limit) {
    slci_bench_figure figure = {.measured = pairs_per_s / self->unit, .limit = limit / self->unit};
    (void)slci_print(figure.unit, sizeof figure.unit, "%s", self->unit_name);
    return figure;
}

/* ---- limits ------------------------------------------------------------------------------------ */

/* 0 and the reason in the result where cuBLAS is missing, or the matrices do not fit. */
static slc_status measure_cublas(bench *self, slc_stream *stream) {
    const slci_machine *machine = &self->machine;
    slci_cublas_rate_request request = {.device = machine->device, .stream = stream};
    slci_cublas_rate rate;
    slc_status status = slc_budget_reserve(machine->budget, SLC_SPACE_DEVICE,
                                           SLCI_CUBLAS_RATE_BYTES, "matrices for cuBLAS");
    if (status != SLC_OK) {
        return slci_bench_or_omit(self->result, status, "cuBLAS");
    }
    SLC_TRY_GOTO(done,
                 slc_device_allocate(machine->device, SLCI_CUBLAS_RATE_BYTES, &request.d_memory));
    SLC_TRY_GOTO(done, slci_cublas_rate_measure(&request, &rate));
    if (rate.why_not[0] != '\0') {
        slci_bench_omit(self->result, "cuBLAS: %s", rate.why_not);
    } else {
        self->product = (slci_bench_rate){.name = "fp16 products by cuBLAS",
                                          .pairs_per_s = rate.multiply_adds_per_s / 2};
    }
done:
    slc_device_release(machine->device, request.d_memory);
    slc_budget_release(machine->budget, SLC_SPACE_DEVICE, SLCI_CUBLAS_RATE_BYTES);
    return slci_bench_or_omit(self->result, status, "cuBLAS");
}

static void add_rate(bench *self, const char *kind, const slci_bench_rate *rate,
                     const slci_bench_rate *limit) {
    if (rate->pairs_per_s > 0) {
        slci_bench_figure figure = rate_figure(self, rate->pairs_per_s, limit->pairs_per_s);
        (void)slci_print(figure.what, sizeof figure.what, "%s: %s", kind, rate->name);
        (void)slci_print(figure.limit_is, sizeof figure.limit_is, "%s", limit->name);
        slci_bench_add(self->result, &figure);
    }
}

static slc_status measure_card(bench *self) {
    slc_status status = SLC_OK;
    slc_stream *stream = NULL;
    const slci_bench_rate none = {.name = ""};
    SLC_TRY_GOTO(done, slc_stream_create(self->machine.device, &stream));
    self->pair.name = "the sine kernel's instructions";
    SLC_TRY_GOTO(done,
                 slci_direct_pair_rate(self->machine.device, stream, &self->pair.pairs_per_s));
    SLC_TRY_GOTO(done, measure_cublas(self, stream));
    add_rate(self, "limit", &self->pair, &none);
    add_rate(self, "limit", &self->product, &none);
done:
    slc_stream_destroy(stream);
    return status;
}

/* A card's products are held against what the maker's library reaches, or, where that is missing,
 * against the ladder's. */
static slc_status measure_limits(bench *self, slci_bench_peers_function find_peers) {
    const slci_bench_rate none = {.name = ""};
    slci_bench_peers peers = {.product = none};
    if (find_peers == NULL) {
        slci_bench_omit(self->result, "baseline: examples/ladder is not in this program");
    } else {
        SLC_TRY(find_peers(self->options, &self->machine, &peers));
        add_rate(self, "limit", &peers.product, &none);
        add_rate(self, "limit", &peers.sine, &none);
        add_rate(self, "baseline", &peers.step, &peers.sine);
    }
    self->product = peers.product;
    self->step_rate = peers.step.pairs_per_s;
    return self->is_card ? measure_card(self) : SLC_OK;
}

/* Seconds of a pair at a rate; a rate that is not known is none that binds. */
static double least_seconds(const slci_bench_rate *rate) {
    return rate->pairs_per_s > 0 ? 1.0 / rate->pairs_per_s : 0.0;
}

/* What the picture could be made at if product tiles took nothing but their products, and the others
 * nothing but the sine kernel's instructions; 0: unknown. */
static double limit_of(const bench *self, const measured *kernel) {
    const slc_direct_setup *setup = &kernel->setup;
    const int64_t n_y = slc_ceil_div(setup->geometry.ny, setup->tile_pixels);
    const int64_t n_x = slc_ceil_div(setup->geometry.nx, setup->tile_pixels);
    double seconds = 0.0;
    for (int64_t ty = 0; ty < n_y; ty++) {
        for (int64_t tx = 0; tx < n_x; tx++) {
            const slc_direct_tile tile = slc_direct_tile_get(setup, ty, tx);
            const int64_t rows = slc_min_i64(setup->tile_pixels, setup->geometry.ny - tile.y0);
            const int64_t columns = slc_min_i64(setup->tile_pixels, setup->geometry.nx - tile.x0);
            if (tile.method == SLC_DIRECT_PRODUCT) {
                seconds +=
                    (double)(rows * columns) * tile.n_products * least_seconds(&self->product);
            } else if (tile.method != SLC_DIRECT_SKIP) {
                seconds += (double)(rows * columns) * least_seconds(&self->pair);
            }
        }
    }
    return seconds > 0.0 ? (double)kernel->summary.finite_pixels / seconds : 0.0;
}

/* ---- kernels ----------------------------------------------------------------------------------- */

static void weigh_errors(const place *at, const double *sums, measured *kernel) {
    double differences = 0.0;
    double values = 0.0;
    for (int p = 0; p < N_PIXELS; p++) {
        const double error = fabs(sums[p] - at->exact[p]);
        kernel->largest = fmax(kernel->largest, error / at->data.abs_sum);
        if (p < SLCI_BENCH_PEAKS) {
            kernel->peak = fmax(kernel->peak, error / fabs(at->exact[p]));
        } else {
            differences += error * error;
            values += at->exact[p] * at->exact[p];
        }
    }
    kernel->l2 = sqrt(differences / values);
}

static slc_status measure_kernel(const bench *self, const place *at, bool may_multiply,
                                 measured *out) {
    double sums[N_PIXELS];
    double seconds = 0.0;
    memset(out, 0, sizeof *out);
    SLC_TRY(slci_bench_field_choose(&at->data, at->of->epsilon, may_multiply, &out->setup));
    slc_direct_summarise(&out->setup, &out->summary);
    const slci_direct_run_request request = {.machine = &self->machine,
                                             .setup = &out->setup,
                                             .data = &at->data,
                                             .repeats = self->options->is_quick ? 1
                                                        : may_multiply          ? N_REPEATS
                                                                                : N_SINE_REPEATS,
                                             .pixels = at->pixel,
                                             .n_pixels = N_PIXELS};
    SLC_TRY(slci_direct_run(&request, sums, &seconds));
    out->pairs_per_s = (double)at->data.n * (double)out->summary.finite_pixels / seconds;
    weigh_errors(at, sums, out);
    return SLC_OK;
}

static bool has_products(const measured *kernel) {
    return kernel->summary.n_tiles[SLC_DIRECT_PRODUCT] > 0;
}

static int64_t count_sines(const measured *kernel) {
    const int64_t *n = kernel->summary.n_tiles;
    return n[SLC_DIRECT_SINE] + n[SLC_DIRECT_SINE_DOUBLE] + n[SLC_DIRECT_SINE_WIDE];
}

/* ---- figures ----------------------------------------------------------------------------------- */

static void name_place(const place *at, const char *rest, slci_bench_figure *figure) {
    (void)slci_print(figure->what, sizeof figure->what, "%s, %lld^2%s", at->of->field.name,
                     (long long)at->size, rest);
}

static void say_kernel(const bench *self, const measured *kernel, slci_bench_figure *figure) {
    char beside[64] = "";
    if (self->step_rate > 0) {
        (void)slci_print(beside, sizeof beside, "; %.3g times the baseline",
                         kernel->pairs_per_s / self->step_rate);
    }
    (void)slci_print(figure->note, sizeof figure->note,
                     "%lld tiles by products, %d terms at most, %lld by sines%s",
                     (long long)kernel->summary.n_tiles[SLC_DIRECT_PRODUCT],
                     kernel->summary.max_terms_used, (long long)count_sines(kernel), beside);
}

static const char *name_limit(const bench *self, const measured *kernel) {
    if (!has_products(kernel)) {
        return self->pair.name;
    }
    return self->is_card && count_sines(kernel) > 0 ? "products and instructions"
                                                    : self->product.name;
}

/* A goal in pairs a second is a share of the limit. */
static void add_speed(bench *self, const place *at, const measured *kernel) {
    slci_bench_figure figure = rate_figure(self, kernel->pairs_per_s, limit_of(self, kernel));
    name_place(at, "", &figure);
    say_kernel(self, kernel, &figure);
    figure.may_pass = !self->is_card; /* the kernel's blocks stay in caches, bare products do not */
    if (figure.limit > 0) {
        (void)slci_print(figure.limit_is, sizeof figure.limit_is, "%s alone",
                         name_limit(self, kernel));
    }
    if (figure.limit > 0 && self->has_goals) {
        figure.goal = at->of->card_goal / (figure.limit * self->unit);
    } else if (figure.limit > 0 && !self->is_card) {
        figure.goal = at->of->host_goal;
    }
    slci_bench_add(self->result, &figure);
}

static void add_beside_sine(bench *self, const place *at, const measured *kernel,
                            const measured *sine) {
    slci_bench_figure figure = rate_figure(self, kernel->pairs_per_s, sine->pairs_per_s);
    name_place(at, ", beside sines", &figure);
    figure.goal = 1;
    figure.may_pass = true;
    (void)slci_print(figure.limit_is, sizeof figure.limit_is, "the sine kernel");
    char share[48] = "";
    if (self->pair.pairs_per_s > 0) {
        (void)slci_print(share, sizeof share, "; %.3g %% of its instructions",
                         100 * sine->pairs_per_s / self->pair.pairs_per_s);
    }
    (void)slci_print(figure.note, sizeof figure.note,
                     "the sine kernel's errors: %.2g of the promise, relative L2 %.2g%s",
                     sine->largest / at->of->epsilon, sine->l2, share);
    slci_bench_add(self->result, &figure);
}

/* How many times the worst of three errors fits into epsilon. */
static void add_errors(bench *self, const place *at, const measured *kernel) {
    const double epsilon = at->of->epsilon;
    const double worst = fmax(kernel->largest, fmax(kernel->l2, kernel->peak));
    slci_bench_figure figure = {
        .unit = "times", .measured = epsilon / worst, .limit = 1, .goal = 1, .may_pass = true};
    name_place(at, ", exact", &figure);
    (void)slci_print(figure.limit_is, sizeof figure.limit_is, "an error of %.0e", epsilon);
    (void)slci_print(figure.note, sizeof figure.note,
                     "errors: %.2g of the promise, relative L2 %.2g, at a peak %.2g of it",
                     kernel->largest / epsilon, kernel->l2, kernel->peak);
    slci_bench_add(self->result, &figure);
}

/* A kernel that breaks its promise has no speed. */
static bool is_kept(bench *self, const place *at, const measured *kernel, const char *which) {
    if (kernel->largest <= at->of->epsilon) {
        return true;
    }
    slci_bench_omit(self->result,
                    "%s, %lld^2, the %s kernel's speed: off by %.3g of the largest value that a "
                    "pixel could have, %.0e is promised",
                    at->of->field.name, (long long)at->size, which, kernel->largest,
                    at->of->epsilon);
    return false;
}

/* ---- fields ------------------------------------------------------------------------------------ */

static slc_status prepare(const bench *self, const bench_case *of, int64_t size, int64_t n,
                          place *out) {
    const slci_bench_field_request request = {.machine = &self->machine,
                                              .field = &of->field,
                                              .size = size,
                                              .n = n};
    uint64_t state = 7;
    *out = (place){.of = of, .size = size};
    SLC_TRY(slci_bench_field_make(&request, &out->data));
    memcpy(out->pixel, out->data.peak, sizeof out->data.peak);
    for (int p = SLCI_BENCH_PEAKS; p < N_PIXELS; p++) {
        out->pixel[p] = (int64_t)((slci_bench_random(&state) >> 20) % (uint64_t)(size * size));
    }
    return slci_bench_field_exact(&out->data, out->pixel, N_PIXELS, out->exact);
}

static slc_status measure_place(bench *self, const place *at, bool is_first) {
    measured kernel;
    measured sine;
    SLC_TRY(measure_kernel(self, at, true, &kernel));
    sine = kernel;
    if (has_products(&kernel)) {
        SLC_TRY(tell(self, at->of->field.name));
        SLC_TRY(measure_kernel(self, at, false, &sine));
    }
    if (is_first) {
        self->kernel_rate = kernel.pairs_per_s;
        self->sine_rate = sine.pairs_per_s;
    }
    const bool is_sine_kept = is_kept(self, at, &sine, "sine");
    if (!has_products(&kernel) ? is_sine_kept : is_kept(self, at, &kernel, "product")) {
        add_speed(self, at, &kernel);
        add_errors(self, at, &kernel);
        if (has_products(&kernel) && is_sine_kept) {
            add_beside_sine(self, at, &kernel, &sine);
        }
    }
    return SLC_OK;
}

static int64_t count_visibilities(const bench *self, int s) {
    const int64_t size = self->extents->size[s];
    const int64_t least =
        HOST_TASKS * HOST_TASK / (size * size) * slc_pool_size(self->machine.pool);
    return self->is_card || self->options->is_quick ? self->extents->n[s]
                                                    : slc_max_i64(self->extents->n[s], least);
}

static slc_status measure_fields(bench *self) {
    const char *only = self->options->field;
    for (size_t c = 0; c < N_CASES; c++) {
        if (only != NULL && strcmp(only, cases[c].field.name) != 0) {
            continue;
        }
        for (int s = 0; s < (only != NULL ? 1 : N_SIZES); s++) {
            place at;
            SLC_TRY(tell(self, cases[c].field.name));
            slc_status status =
                prepare(self, &cases[c], self->extents->size[s], count_visibilities(self, s), &at);
            if (status == SLC_OK) {
                status = measure_place(self, &at, c == 0 && s == 0);
            }
            slci_bench_field_free(&at.data);
            SLC_TRY(slci_bench_or_omit(self->result, status, cases[c].field.name));
        }
    }
    return SLC_OK;
}

/* The first case, against its own rate where there are tiles for the whole card. */
static slc_status measure_few_tiles(bench *self) {
    place at;
    measured kernel;
    SLC_TRY(tell(self, cases[0].field.name));
    slc_status status = prepare(self, &cases[0], FEW_TILES_SIZE, FEW_TILES_N, &at);
    if (status == SLC_OK) {
        status = measure_kernel(self, &at, true, &kernel);
    }
    if (status == SLC_OK && is_kept(self, &at, &kernel, "product")) {
        slci_bench_figure figure = rate_figure(self, kernel.pairs_per_s, self->kernel_rate);
        name_place(&at, ", 10^6 visibilities", &figure);
        say_kernel(self, &kernel, &figure);
        figure.goal = GOAL_FEW_TILES;
        figure.may_pass = true;
        (void)slci_print(figure.limit_is, sizeof figure.limit_is, "its rate at %lld^2",
                         (long long)self->extents->size[0]);
        slci_bench_add(self->result, &figure);
        add_errors(self, &at, &kernel);
    }
    slci_bench_field_free(&at.data);
    return slci_bench_or_omit(self->result, status, "few tiles");
}

/* ---- the whole job ----------------------------------------------------------------------------- */

static void add_job(bench *self, const slci_direct_job_result *job) {
    const slc_image_result *image = &job->image;
    const double pairs = (double)image->n_used * (double)image->finite_pixels;
    slci_bench_figure figure = rate_figure(self, pairs / image->total_seconds,
                                           job->is_sine ? self->sine_rate : self->kernel_rate);
    figure.goal = GOAL_JOB;
    figure.may_pass = true;
    (void)slci_print(figure.what, sizeof figure.what,
                     "sluice image %lld^2, %.2g vis., --vram %lldM", (long long)image->meta.nx,
                     (double)image->n_used, (long long)(job->vram_bytes >> 20));
    (void)slci_print(figure.limit_is, sizeof figure.limit_is, "the %s kernel alone, %s",
                     job->is_sine ? "sine" : "product", cases[0].field.name);
    (void)slci_print(
        figure.note, sizeof figure.note,
        "%.3g s: survey %.3g, kernel %.3g of %.3g in the pass, beam %.3g, writing %.2g",
        image->total_seconds, image->survey_seconds, pairs / image->pairs_per_second,
        image->report.seconds_total, image->psf_report.seconds_total, image->write_seconds);
    slci_bench_add(self->result, &figure);
}

/* Baselines at so much higher a frequency have as many wavelengths as the first field's. */
static slc_status measure_job(bench *self) {
    const double seconds = self->is_card ? CARD_JOB_SECONDS : HOST_JOB_SECONDS;
    const slci_direct_job_request request = {
        .options = self->options,
        .machine = &self->machine,
        .n_pixels = self->extents->size[0],
        .freq_hz = cases[0].field.stretch * cases[0].field.freq_hz,
        .kernel_rate = self->kernel_rate,
        .sine_rate = self->sine_rate,
        .seconds = self->options->is_quick ? seconds / QUICK_JOB_SHARE : seconds,
        .n_runs = self->is_card ? 1 : N_HOST_JOBS};
    slci_direct_job_result job;
    if (!(self->kernel_rate > 0)) {
        slci_bench_omit(self->result, "sluice image: the kernel alone has no rate to compare with");
        return SLC_OK;
    }
    SLC_TRY(tell(self, "imaging"));
    const slc_status status = slci_direct_job_time(&request, &job);
    if (status == SLC_OK) {
        add_job(self, &job);
    }
    return slci_bench_or_omit(self->result, status, "sluice image");
}

/* ---- all --------------------------------------------------------------------------------------- */

static slc_status begin(bench *self) {
    SLC_TRY(slci_machine_open(&self->options->run, &self->machine));
    SLC_TRY(slc_direct_card_get(self->machine.device, &self->machine.card));
    const slc_device_limits *limits = &self->machine.limits;
    self->is_card = self->machine.device->kind == SLC_DEVICE_CUDA;
    self->has_goals = self->is_card && strstr(limits->name, GOAL_CARD) != NULL;
    self->extents = &(self->is_card ? card_extents : host_extents)[self->options->is_quick ? 1 : 0];
    self->unit = self->is_card ? 1e12 : 1e9;
    self->unit_name = self->is_card ? "Tpairs/s" : "Gpairs/s";
    memcpy(self->result->device_name, limits->name, sizeof self->result->device_name);
    memcpy(self->result->software, limits->software, sizeof self->result->software);
    self->result->n_threads = slc_pool_size(self->machine.pool);
    return SLC_OK;
}

static slc_status check_field(const char *name) {
    char names[256] = "";
    size_t used = 0;
    for (size_t c = 0; c < N_CASES; c++) {
        if (name == NULL || strcmp(name, cases[c].field.name) == 0) {
            return SLC_OK;
        }
        used += (size_t)slci_print(names + used, sizeof names - used, "%s%s", c > 0 ? ", " : "",
                                   cases[c].field.name);
    }
    return SLC_FAIL(SLC_ERROR_ARGUMENT, "--field '%.80s': expected one of %s", name, names);
}

static slc_status measure_all(bench *self, slci_bench_peers_function peers) {
    SLC_TRY(tell(self, "limits"));
    SLC_TRY(measure_limits(self, peers));
    SLC_TRY(measure_fields(self));
    if (self->is_card) {
        SLC_TRY(measure_few_tiles(self));
    }
    return measure_job(self);
}

slc_status slci_bench_direct(const slci_bench_options *options, slci_bench_peers_function peers,
                             slci_bench_result *out) {
    slci_bench_result result = {.n_figures = 0};
    bench self = {.options = options, .result = &result};
    slc_status status = SLC_OK;
    SLC_TRY(check_field(options->field));
    SLC_TRY_GOTO(done, begin(&self));
    SLC_TRY_GOTO(done, options->field != NULL ? measure_fields(&self) : measure_all(&self, peers));
    *out = result;
done:
    slci_machine_close(&self.machine);
    return status;
}
