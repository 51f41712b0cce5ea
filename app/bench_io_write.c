/* Writing: `sluice repack` of an array without filters to compressed ones, whole job, beside h5repack
 * where it is installed, and beside H5Dwrite, which has nothing to read. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "app/bench_io_parts.h"
#include "app/rewrite.h"
#include "core/checked.h"
#include "core/print.h"
#include "io/h5_bench.h"

#define ROW_BYTES SLCI_BENCH_IO_ROW_BYTES

/* HDF5 takes seconds for a part of the array. */
#define SHARE 4
#define MOST_ROWS 16

/* What docs/bench.md promises, of h5repack's speed, for so many threads at least. */
#define GOAL_FEW 1.8
#define FEW_THREADS 2
#define GOAL_MANY 10.0
#define MANY_THREADS 16

extern char **environ;

typedef struct writing {
    slci_bench_io_run *self;
    const slci_bench_io_kind *kind;
    int64_t n_rows;
} writing;

/* ---- the ways --------------------------------------------------------------------------------- */

static slc_status repack(void *context) {
    const writing *one = context;
    slc_rewrite_result result;
    const slc_rewrite_options options = {.in = {.path = one->self->path,
                                                .dataset = SLCI_H5_BENCH_NAME},
                                         .out_path = one->self->other,
                                         .out = SLCI_H5_BENCH_NAME,
                                         .form = {.filters = true, .filter = one->kind->filter},
                                         .run = slci_bench_io_job(one->self)};
    return slc_rewrite_run(&options, &result);
}

static slc_status write_by_library(void *context) {
    const writing *one = context;
    slci_h5_bench_set set = {.path = one->self->other,
                             .filter = one->kind->filter,
                             .rank = 3,
                             .shape = {one->n_rows, SLCI_BENCH_IO_WIDTH, SLCI_BENCH_IO_WIDTH},
                             .chunk = SLCI_BENCH_IO_CHUNK};
    slci_h5_bench_file *file = NULL;
    SLC_TRY(slci_h5_bench_create(&set, &file));
    return slci_h5_bench_end(file, slci_h5_bench_write(file, 0, one->n_rows, one->self->rows));
}

/* Runs it without a word. SLC_ERROR_UNSUPPORTED with a clause where it cannot be run, or fails. */
static slc_status run_h5repack(void *context) {
    const writing *one = context;
    char *const arguments[] = {"h5repack",       "-f", "SHUF", "-f", "GZIP=4", one->self->path,
                               one->self->other, NULL};
    posix_spawn_file_actions_t actions;
    pid_t child = 0;
    int result = 0;
    if (posix_spawn_file_actions_init(&actions) != 0) {
        return SLC_FAIL(SLC_ERROR_MEMORY, "no memory to start h5repack");
    }
    (void)posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    (void)posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    (void)posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    const int error = posix_spawnp(&child, arguments[0], &actions, NULL, arguments, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    if (error != 0) {
        return SLC_FAIL(SLC_ERROR_UNSUPPORTED, "it is not to be had (%s)", strerror(error));
    }
    while (waitpid(child, &result, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(result) && WEXITSTATUS(result) == 0
               ? SLC_OK
               : SLC_FAIL(SLC_ERROR_UNSUPPORTED, "it failed (wait status %d)", result);
}

/* ---- turns ------------------------------------------------------------------------------------ */

static slc_status turn(const writing *one, slci_bench_io_way way, slci_bench_io_times *best) {
    if (slci_bench_io_is_enough(best)) {
        return SLC_OK;
    }
    (void)remove(one->self->other); /* whoever writes next begins with a new file */
    writing copy = *one;
    return slci_bench_io_time(one->self, way, &copy, best);
}

/* What was written is looked at each time, which is not timed. */
static slc_status turn_of_ours(const writing *one, slci_bench_io_times *best) {
    if (slci_bench_io_is_enough(best)) {
        return SLC_OK;
    }
    SLC_TRY(turn(one, repack, best));
    return slci_bench_io_verify(one->self, one->self->other, one->n_rows);
}

static double goal_of(const slci_bench_io_run *self) {
    const int n = slc_pool_size(self->machine.pool);
    return n >= MANY_THREADS ? GOAL_MANY : n >= FEW_THREADS ? GOAL_FEW : 0;
}

/* `tool_seconds`: h5repack's best time, infinite where it could not be run. */
static void add_figures(const writing *one, double seconds, double library_seconds,
                        double tool_seconds) {
    const double gigabytes = 1e-9 * (double)(one->n_rows * ROW_BYTES);
    const bool is_stock = one->kind->filter.kind == SLC_H5_FILTER_DEFLATE;
    slci_bench_figure figure = {.unit = "GB/s",
                                .measured = gigabytes / seconds,
                                .limit = gigabytes / library_seconds,
                                .may_pass = true};
    (void)slci_print(figure.what, sizeof figure.what, "repack to %s", one->kind->name);
    (void)slci_print(figure.limit_is, sizeof figure.limit_is, "H5Dwrite, one thread%s",
                     is_stock ? "" : ", Sluice's filter");
    slci_bench_add(one->self->result, &figure);
    if (isfinite(tool_seconds)) {
        figure.limit = gigabytes / tool_seconds;
        figure.goal = goal_of(one->self);
        (void)slci_print(figure.what, sizeof figure.what, "repack to %s, beside h5repack",
                         one->kind->name);
        (void)slci_print(figure.limit_is, sizeof figure.limit_is, "h5repack to shuffle+deflate:4");
        slci_bench_add(one->self->result, &figure);
    }
}

static slc_status measure_tool(const writing *one, double *seconds) {
    slci_bench_io_times best = SLCI_BENCH_IO_NO_TIMES;
    slc_status status = SLC_OK;
    for (int k = 0; k < one->self->n_repeats && status == SLC_OK; k++) {
        status = turn(one, run_h5repack, &best);
    }
    if (status == SLC_ERROR_UNSUPPORTED) {
        slci_bench_omit(one->self->result, "beside h5repack: %s", slc_status_message());
        return SLC_OK;
    }
    *seconds = best.seconds;
    return status;
}

static slc_status measure_kind(const writing *one, double tool_seconds) {
    slci_bench_io_times ours = SLCI_BENCH_IO_NO_TIMES;
    slci_bench_io_times library = SLCI_BENCH_IO_NO_TIMES;
    for (int k = 0; k < one->self->n_repeats; k++) {
        SLC_TRY(turn_of_ours(one, &ours));
        SLC_TRY(turn(one, write_by_library, &library));
    }
    add_figures(one, ours.seconds, library.seconds, tool_seconds);
    return SLC_OK;
}

slc_status slci_bench_io_repack(slci_bench_io_run *self, const slci_bench_io_kind *const *kinds,
                                int n_kinds) {
    static const slci_bench_io_kind bare = {.is_chunked = true};
    const int64_t unit = SLCI_BENCH_IO_CHUNK_ROWS;
    writing one = {.self = self,
                   .n_rows =
                       slc_min_i64(slc_max_i64(self->n_rows / SHARE / unit, 1) * unit, MOST_ROWS)};
    double tool_seconds = INFINITY;
    SLC_TRY(slci_bench_io_write(self, &bare, one.n_rows));
    SLC_TRY(measure_tool(&one, &tool_seconds));
    for (int k = 0; k < n_kinds; k++) {
        one.kind = kinds[k];
        SLC_TRY(slci_bench_or_omit(self->result, measure_kind(&one, tool_seconds), "repack"));
    }
    return SLC_OK;
}
