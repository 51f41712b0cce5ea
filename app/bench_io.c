/* The array is what a correlator writes: noise and a fringe, rounded to ten bits, a twentieth of it
 * flagged to zero. It lies in the page cache, so that the processor is measured and not the disk. Every
 * way of reading fills the same buffer, a slab of rows at a time, in turns with the others; the best of
 * each counts. */
#include "app/bench_io.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/bench_folder.h"
#include "app/machine.h"
#include "core/checked.h"
#include "core/clock.h"
#include "core/constants.h"
#include "core/print.h"
#include "io/h5_array.h"
#include "io/h5_bench.h"
#include "io/outfile.h"

/* [N_ROWS, 1024, 1024] in chunks of 2 MiB. */
#define N_ROWS 128
#define N_ROWS_QUICK 32
#define SLAB_ROWS 32
#define WIDTH 1024
#define ROW_BYTES ((int64_t)WIDTH * WIDTH * 8)
#define PIECE_BYTES ((int64_t)4 << 20)

/* Parts of a slab for each thread: the last ones to end do not wait long for one another. */
#define PARTS_PER_THREAD 4

#define N_REPEATS 3
#define MANY_CHUNKS 1000000

/* What docs/bench.md promises: rates beside H5Dread's or the bare file's. */
#define GOAL_ZSTD (1 / 0.40)
#define GOAL_BARE 0.95
#define GOAL_SCALING 0.90

typedef struct bench {
    const slci_bench_options *options;
    slci_machine machine;
    slc_pool *single; /* of one thread */
    slci_bench_result *result;
    slci_bench_folder folder;
    char path[SLC_PATH_BYTES + 16];
    int64_t n_rows;
    int n_repeats;
    void *slab; /* [SLAB_ROWS, WIDTH, WIDTH] complex */
    int64_t slab_bytes;
} bench;

/* Seconds, the best of all repeats. */
typedef struct times {
    double ours, single, library, bare;
} times;

static slc_status check_cancel(const bench *self, const char *what) {
    const slc_run_options *run = &self->options->run;
    if (run->progress != NULL) {
        run->progress(run->progress_context, what, "", 0, 1);
    }
    return run->cancel != NULL && *run->cancel != 0
               ? SLC_FAIL(SLC_ERROR_INTERRUPTED, "interrupted while %s", what)
               : SLC_OK;
}

static void add_figure(bench *self, const slci_bench_figure *figure) {
    if (self->result->n_figures < SLCI_BENCH_FIGURES) {
        self->result->figure[self->result->n_figures++] = *figure;
    }
}

/* ---- the array -------------------------------------------------------------------------------- */

/* splitmix64: numbers that depend on the place alone, so that rows are made in any order. */
static uint64_t mix(uint64_t x) {
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* Nearly normal: the sum of four uniform numbers, of variance 1. */
static float noise(uint64_t bits) {
    const int64_t sum = (int64_t)(bits & 0xffff) + (int64_t)(bits >> 16 & 0xffff) +
                        (int64_t)(bits >> 32 & 0xffff) + (int64_t)(bits >> 48);
    return (float)((double)(sum - INT64_C(2) * 65535) * (1.7320508 / 65536));
}

/* To ten bits of the fraction, to nearest. */
static float rounded(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits = (bits + 0x1000U) & ~0x1fffU;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* One row of the slab; `context` is the bench and the slab's first row. */
typedef struct filling {
    bench *self;
    int64_t first;
} filling;

static slc_status make_row(void *context, int64_t k, int worker) {
    const filling *fill = context;
    const int64_t row = fill->first + k;
    float *out = (float *)fill->self->slab + k * (ROW_BYTES / 4);
    (void)worker;
    for (int64_t y = 0; y < WIDTH; y++) {
        const bool is_flagged = mix((uint64_t)(row * WIDTH + y)) % 20 == 0;
        const float fringe = (float)cos(SLC_TWO_PI * (double)y / 64);
        for (int64_t x = 0; x < INT64_C(2) * WIDTH; x++) {
            const uint64_t at = (uint64_t)((row * WIDTH + y) * 2 * WIDTH + x);
            out[y * 2 * WIDTH + x] = is_flagged ? 0.0F : rounded(fringe + noise(mix(at)));
        }
    }
    return SLC_OK;
}

static slci_h5_bench_set describe(const bench *self, slci_h5_bench_filter filter) {
    return (slci_h5_bench_set){.path = self->path,
                               .filter = filter,
                               .rank = 3,
                               .shape = {self->n_rows, WIDTH, WIDTH},
                               .chunk = {4, 64, WIDTH}};
}

static slc_status write_array(bench *self, const slci_h5_bench_set *set) {
    slci_h5_bench_file *file = NULL;
    slc_status status = SLC_OK;
    SLC_TRY(slci_h5_bench_begin(set, &file));
    for (int64_t row = 0; row < self->n_rows; row += SLAB_ROWS) {
        filling fill = {self, row};
        SLC_TRY_GOTO(done, check_cancel(self, "writing"));
        SLC_TRY_GOTO(done, slc_pool_for(self->machine.pool, SLAB_ROWS, make_row, &fill));
        SLC_TRY_GOTO(done, slci_h5_bench_append(file, self->slab, SLAB_ROWS));
    }
done:
    slci_h5_bench_end(file);
    return status;
}

/* ---- reading ---------------------------------------------------------------------------------- */

typedef struct reading {
    slc_source *source; /* NULL: the bare file */
    int descriptor;
    slc_box box;
    void *slab;
    int64_t n_parts;
    int64_t offset;
} reading;

static slc_status read_part(void *context, int64_t part, int worker) {
    const reading *self = context;
    void *const dst[] = {self->slab};
    (void)worker;
    return slc_source_read_part(self->source, &self->box, dst, (int)part, (int)self->n_parts);
}

static slc_status read_piece(void *context, int64_t piece, int worker) {
    const reading *self = context;
    (void)worker;
    for (int64_t done = 0; done < PIECE_BYTES;) {
        const int64_t at = piece * PIECE_BYTES + done;
        const ssize_t n = pread(self->descriptor, (char *)self->slab + at,
                                (size_t)(PIECE_BYTES - done), (off_t)(self->offset + at));
        if (n <= 0) {
            return SLC_FAIL(SLC_ERROR_INPUT, "the file cannot be read: %s",
                            n < 0 ? strerror(errno) : "it is too short");
        }
        done += (int64_t)n;
    }
    return SLC_OK;
}

static slc_status read_ours(bench *self, slc_source *source, slc_pool *pool, double *seconds) {
    reading one = {.source = source,
                   .slab = self->slab,
                   .n_parts = (int64_t)slc_pool_size(pool) * PARTS_PER_THREAD,
                   .box = {.rank = 3, .extent = {SLAB_ROWS, WIDTH, WIDTH}}};
    SLC_TRY(check_cancel(self, "reading"));
    const int64_t begin_ns = slc_clock_ns();
    for (int64_t row = 0; row < self->n_rows; row += SLAB_ROWS) {
        one.box.origin[0] = row;
        SLC_TRY(slc_pool_for(pool, one.n_parts, read_part, &one));
    }
    *seconds = fmin(*seconds, 1e-9 * (double)(slc_clock_ns() - begin_ns));
    return SLC_OK;
}

/* As many bytes as the array has, of the file as it lies there. */
static slc_status read_bare(bench *self, double *seconds) {
    reading one = {.slab = self->slab, .descriptor = open(self->path, O_RDONLY | O_CLOEXEC)};
    if (one.descriptor < 0) {
        return SLC_FAIL(SLC_ERROR_INPUT, "%s: cannot be opened: %s", self->path, strerror(errno));
    }
    slc_status status = SLC_OK;
    const int64_t begin_ns = slc_clock_ns();
    for (int64_t row = 0; row < self->n_rows && status == SLC_OK; row += SLAB_ROWS) {
        one.offset = row * ROW_BYTES;
        status =
            slc_pool_for(self->machine.pool, SLAB_ROWS * ROW_BYTES / PIECE_BYTES, read_piece, &one);
    }
    *seconds = fmin(*seconds, 1e-9 * (double)(slc_clock_ns() - begin_ns));
    (void)close(one.descriptor);
    return status;
}

static uint64_t sum_slab(const bench *self) {
    const uint64_t *words = self->slab;
    uint64_t sum = 0;
    for (int64_t k = 0; k < self->slab_bytes / 8; k++) {
        sum = sum * 31 + words[k];
    }
    return sum;
}

static slc_status read_all_ways(bench *self, const slci_h5_bench_set *set, slc_source *source,
                                times *best) {
    double library = INFINITY;
    SLC_TRY(read_ours(self, source, self->machine.pool, &best->ours));
    const uint64_t ours = sum_slab(self);
    if (slc_pool_size(self->machine.pool) > 1) {
        SLC_TRY(read_ours(self, source, self->single, &best->single));
    }
    SLC_TRY(slci_h5_bench_library_read(set, SLAB_ROWS, self->slab, &library));
    best->library = fmin(best->library, library);
    if (sum_slab(self) != ours) {
        return SLC_FAIL(SLC_ERROR_INTERNAL, "%s: HDF5 reads other values than Sluice", self->path);
    }
    const bool is_bare =
        set->filter == SLCI_H5_BENCH_CONTIGUOUS || set->filter == SLCI_H5_BENCH_NONE;
    return is_bare ? read_bare(self, &best->bare) : SLC_OK;
}

/* ---- figures ---------------------------------------------------------------------------------- */

static void add_read(bench *self, slci_h5_bench_filter filter, const times *best) {
    const double gigabytes = 1e-9 * (double)(self->n_rows * ROW_BYTES);
    const char *name = slci_h5_bench_filter_name(filter);
    const int n_threads = slc_pool_size(self->machine.pool);
    slci_bench_figure figure = {.unit = "GB/s",
                                .measured = gigabytes / best->ours,
                                .limit = gigabytes / best->library,
                                .limit_is = "H5Dread, one thread",
                                .goal = filter == SLCI_H5_BENCH_ZSTD ? GOAL_ZSTD : 0,
                                .may_pass = true};
    (void)slci_print(figure.what, sizeof figure.what, "read %s", name);
    add_figure(self, &figure);
    if (isfinite(best->bare)) {
        figure.limit = gigabytes / best->bare;
        figure.goal = GOAL_BARE;
        (void)slci_print(figure.limit_is, sizeof figure.limit_is, "pread of the file, %d threads",
                         n_threads);
        add_figure(self, &figure);
    } else if (n_threads > 1) {
        figure.limit = n_threads * gigabytes / best->single;
        figure.goal = GOAL_SCALING;
        (void)slci_print(figure.what, sizeof figure.what, "decode %s, 1 to %d threads", name,
                         n_threads);
        (void)slci_print(figure.limit_is, sizeof figure.limit_is, "%d times one thread", n_threads);
        add_figure(self, &figure);
    }
}

static slc_status measure_read(bench *self, slci_h5_bench_filter filter) {
    const slci_h5_bench_set set = describe(self, filter);
    const slc_h5_array_options options = {.path = self->path, .dataset = SLCI_H5_BENCH_NAME};
    times best = {INFINITY, INFINITY, INFINITY, INFINITY};
    slc_source *source = NULL;
    const char *why = NULL;
    slc_status status = SLC_OK;
    SLC_TRY(write_array(self, &set));
    SLC_TRY(slc_h5_array_open(&options, &source));
    if (strcmp(slc_h5_array_reader(source, &why), "library") == 0) {
        status = SLC_FAIL(SLC_ERROR_INTERNAL, "%s: is left to HDF5: %s", self->path, why);
    }
    for (int k = 0; k < self->n_repeats && status == SLC_OK; k++) {
        status = read_all_ways(self, &set, source, &best);
    }
    slc_source_destroy(source);
    (void)remove(self->path);
    SLC_TRY(status);
    add_read(self, filter, &best);
    return SLC_OK;
}

/* Opening a dataset of very many chunks, which is to find them all. */
static slc_status measure_index(bench *self) {
    const slc_h5_array_options options = {.path = self->path, .dataset = SLCI_H5_BENCH_NAME};
    double best = INFINITY;
    slc_status status = SLC_OK;
    SLC_TRY(check_cancel(self, "opening"));
    SLC_TRY(slci_h5_bench_write_many(self->path, MANY_CHUNKS));
    for (int k = 0; k < self->n_repeats && status == SLC_OK; k++) {
        slc_source *source = NULL;
        const int64_t begin_ns = slc_clock_ns();
        status = slc_h5_array_open(&options, &source);
        best = fmin(best, 1e-9 * (double)(slc_clock_ns() - begin_ns));
        slc_source_destroy(source);
    }
    (void)remove(self->path);
    SLC_TRY(status);
    add_figure(self, &(slci_bench_figure){.what = "index of 10^6 chunks",
                                          .unit = "M/s",
                                          .measured = 1e-6 * MANY_CHUNKS / best,
                                          .limit = 1,
                                          .limit_is = "one second",
                                          .goal = 1,
                                          .may_pass = true});
    return SLC_OK;
}

/* ---- all of them ------------------------------------------------------------------------------ */

static slc_status open_bench(bench *self) {
    SLC_TRY(slci_bench_folder_make(self->options->folder, &self->folder));
    (void)snprintf(self->path, sizeof self->path, "%s/array.h5", self->folder.path);
    SLC_TRY(slc_pool_create(1, &self->single));
    SLC_TRY(slc_budget_reserve(self->machine.budget, SLC_SPACE_HOST, SLAB_ROWS * ROW_BYTES,
                               "a slab of the array"));
    self->slab_bytes = SLAB_ROWS * ROW_BYTES;
    self->slab = malloc((size_t)self->slab_bytes);
    return self->slab != NULL
               ? SLC_OK
               : SLC_FAIL(SLC_ERROR_MEMORY, "no memory for %" PRId64 " bytes", self->slab_bytes);
}

static void close_bench(bench *self) {
    free(self->slab);
    if (self->slab_bytes > 0) {
        slc_budget_release(self->machine.budget, SLC_SPACE_HOST, self->slab_bytes);
    }
    if (self->path[0] != '\0') {
        (void)remove(self->path);
    }
    slci_bench_folder_remove(&self->folder);
    slc_pool_destroy(self->single);
    slci_machine_close(&self->machine);
}

slc_status slci_bench_io(const slci_bench_options *options, slci_bench_result *out) {
    slc_status status = SLC_OK;
    slci_bench_result result = {0};
    bench self = {.options = options,
                  .result = &result,
                  .n_rows = options->is_quick ? N_ROWS_QUICK : N_ROWS,
                  .n_repeats = options->is_quick ? 1 : N_REPEATS};
    SLC_TRY_GOTO(done, slci_machine_open(&options->run, &self.machine));
    memcpy(result.device_name, self.machine.limits.name, sizeof result.device_name);
    memcpy(result.software, self.machine.limits.software, sizeof result.software);
    result.n_threads = slc_pool_size(self.machine.pool);
    SLC_TRY_GOTO(done, open_bench(&self));
    SLC_TRY_GOTO(done, measure_index(&self));
    for (int filter = 0; filter < SLCI_H5_BENCH_FILTERS; filter++) {
        SLC_TRY_GOTO(done, measure_read(&self, (slci_h5_bench_filter)filter));
    }
    *out = result;
done:
    close_bench(&self);
    return status;
}
