/* Reading: Sluice by all threads and by one, H5Dread, and the bare file, in turns. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/bench_io_parts.h"
#include "core/checked.h"
#include "core/file.h"
#include "core/print.h"
#include "io/h5_array.h"
#include "io/h5_bench.h"

#define ROW_BYTES SLCI_BENCH_IO_ROW_BYTES
#define PIECE_BYTES ((int64_t)4 << 20)

/* The array is read in as many parts as it has chunks, so that the last threads to end do not wait long
 * for one another. */
#define CHUNK_BYTES SLCI_BENCH_IO_CHUNK_BYTES

#define MANY_CHUNKS 1000000

/* Reading what no filter touched is so near to what the kernel can do that the machine's own ups
 * and downs would decide. So both are timed in pairs, one right after the other and each first by
 * turns, and the median of the pairs counts. */
#define LEAST_PAIRS 11
#define MOST_PAIRS 101
#define PAIRS_SECONDS 1.0
#define QUICK_PAIRS 3

/* What docs/bench.md promises by two threads or more: rates beside H5Dread's or the bare file's. */
#define GOAL_ZSTD (1 / 0.40)
#define GOAL_BITSHUFFLE (1 / 0.20)
#define GOAL_BARE 0.95
#define GOAL_SCALING 0.90

typedef struct reading {
    slci_bench_io_run *self;
    slc_source *source;
    slc_pool *pool;
    int64_t n_rows, n_parts;
    slci_h5_bench_file *library;
    int descriptor; /* of the bare file */
} reading;

/* ---- the ways --------------------------------------------------------------------------------- */

static slc_status read_part(void *context, int64_t part, int worker) {
    const reading *one = context;
    void *const dst[] = {one->self->array};
    const slc_box box = {.rank = 3,
                         .extent = {one->n_rows, SLCI_BENCH_IO_WIDTH, SLCI_BENCH_IO_WIDTH}};
    (void)worker;
    return slc_source_read_part(one->source, &box, dst, (int)part, (int)one->n_parts);
}

static slc_status read_ours(void *context) {
    reading *one = context;
    return slc_pool_for(one->pool, one->n_parts, read_part, one);
}

/* Rows that are made suffice: HDF5 takes as long for the others. */
static slc_status read_library(void *context) {
    const reading *one = context;
    return slci_h5_bench_read(one->library, 0, one->self->n_made, one->self->array);
}

static slc_status read_piece(void *context, int64_t piece, int worker) {
    const reading *one = context;
    (void)worker;
    const int64_t at = piece * PIECE_BYTES;
    const int64_t n = slci_read_at(one->descriptor, (char *)one->self->array + at, PIECE_BYTES, at);
    if (n < PIECE_BYTES) {
        return SLC_FAIL(SLC_ERROR_INPUT, "%s: cannot be read: %s", one->self->path,
                        n < 0 ? strerror(errno) : "it is too short");
    }
    return SLC_OK;
}

/* As many bytes as the array has, of the file as it lies there. */
static slc_status read_bare(void *context) {
    const reading *one = context;
    return slc_pool_for(one->pool, one->self->n_rows * ROW_BYTES / PIECE_BYTES, read_piece,
                        context);
}

/* ---- turns ------------------------------------------------------------------------------------ */

typedef struct turns {
    slci_bench_io_times ours, single, library;
    bool is_stock;                /* H5Dread without Sluice's filter */
    slci_bench_io_cache in_cache; /* INFINITY: not known */
} turns;

static slc_status open_ours(const char *path, slc_source **source) {
    const slc_h5_array_options options = {.path = path, .dataset = SLCI_H5_BENCH_NAME};
    const char *why = NULL;
    SLC_TRY(slc_h5_array_open(&options, source));
    return strcmp(slc_h5_array_reader(*source, &why), "library") != 0
               ? SLC_OK
               : SLC_FAIL(SLC_ERROR_INTERNAL, "%s: is left to HDF5: %s", path, why);
}

/* Opens the file, which stays open whatever comes of it, and compares what is read with the rows. */
static slc_status read_first(reading *one, const char *path, int64_t n_rows) {
    one->n_rows = n_rows;
    one->n_parts = n_rows * ROW_BYTES / CHUNK_BYTES;
    SLC_TRY(open_ours(path, &one->source));
    SLC_TRY(slci_bench_io_spoil(one->self));
    SLC_TRY(read_ours(one));
    return slci_bench_io_check(one->self, path, n_rows, "Sluice");
}

slc_status slci_bench_io_verify(slci_bench_io_run *self, const char *path, int64_t n_rows) {
    reading one = {.self = self, .pool = self->machine.pool};
    const slc_status status = read_first(&one, path, n_rows);
    slc_source_destroy(one.source);
    return status;
}

/* The first reading after opening makes buffers, and is looked at and not timed. HDF5 lets nobody take
 * a filter that an open dataset has, so this one is closed before HDF5's turn. */
static slc_status turn_of_ours(slci_bench_io_run *self, slc_pool *single, turns *best) {
    reading one = {.self = self, .pool = self->machine.pool};
    slc_status status = SLC_OK;
    SLC_TRY_GOTO(done, read_first(&one, self->path, self->n_rows));
    SLC_TRY_GOTO(done, slci_bench_io_time(self, read_ours, &one, &best->ours));
    if (slc_pool_size(one.pool) > 1 && !slci_bench_io_is_enough(&best->single)) {
        one.pool = single;
        SLC_TRY_GOTO(done, slci_bench_io_time(self, read_ours, &one, &best->single));
    }
done:
    slc_source_destroy(one.source);
    return status;
}

static slc_status turn_of_library(slci_bench_io_run *self, turns *best) {
    reading one = {.self = self};
    if (slci_bench_io_is_enough(&best->library)) {
        return SLC_OK;
    }
    SLC_TRY(slci_bench_io_spoil(self));
    SLC_TRY(slci_h5_bench_open(self->path,
                               best->is_stock ? SLCI_H5_BENCH_STOCK : SLCI_H5_BENCH_OURS,
                               &one.library));
    SLC_TRY(slci_h5_bench_end(one.library,
                              slci_bench_io_time(self, read_library, &one, &best->library)));
    return slci_bench_io_check(self, self->path, self->n_made, "HDF5");
}

/* ---- beside the bare file --------------------------------------------------------------------- */

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int n) {
    qsort(values, (size_t)n, sizeof *values, compare);
    return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

/* In seconds, ours [0] and bare [1]. */
static slc_status time_pair(reading *one, bool bare_first, double seconds[2]) {
    for (int k = 0; k < 2; k++) {
        slci_bench_io_times once = SLCI_BENCH_IO_NO_TIMES;
        const bool is_bare = (k == 0) == bare_first;
        SLC_TRY(slci_bench_io_time(one->self, is_bare ? read_bare : read_ours, one, &once));
        seconds[is_bare] = once.seconds;
    }
    return SLC_OK;
}

/* The median time of ours, and the median of the bare file's beside it. */
static slc_status time_pairs(reading *one, double *seconds, double *bare_part) {
    const bool is_quick = one->self->options->is_quick;
    double ours[MOST_PAIRS];
    double part[MOST_PAIRS];
    double total = 0;
    int n = 0;
    while (n < (is_quick ? QUICK_PAIRS : LEAST_PAIRS) ||
           (!is_quick && n < MOST_PAIRS && total < PAIRS_SECONDS)) {
        double pair[2];
        SLC_TRY(time_pair(one, n % 2 == 1, pair));
        total += pair[0] + pair[1];
        ours[n] = pair[0];
        part[n++] = pair[1] / pair[0];
    }
    *seconds = median(ours, n);
    *bare_part = median(part, n);
    return SLC_OK;
}

static slc_status open_bare(const char *path, int *descriptor) {
    *descriptor = open(path, O_RDONLY | O_CLOEXEC);
    return *descriptor >= 0
               ? SLC_OK
               : SLC_FAIL(SLC_ERROR_INPUT, "%s: cannot be opened: %s", path, strerror(errno));
}

static slc_status read_beside_bare(slci_bench_io_run *self, const slci_bench_io_kind *kind) {
    reading one = {.self = self, .pool = self->machine.pool, .descriptor = -1};
    double seconds = 0;
    double bare_part = 0;
    slc_status status = SLC_OK;
    SLC_TRY_GOTO(done, read_first(&one, self->path, self->n_rows));
    SLC_TRY_GOTO(done, open_bare(self->path, &one.descriptor));
    SLC_TRY_GOTO(done, time_pairs(&one, &seconds, &bare_part));
    slci_bench_figure figure = {
        .unit = "GB/s",
        .measured = 1e-9 * (double)(self->n_rows * ROW_BYTES) / seconds,
        .goal = GOAL_BARE,
        .may_pass = true,
    };
    figure.limit = figure.measured / bare_part;
    (void)slci_print(figure.what, sizeof figure.what, "read %s, beside pread", kind->name);
    (void)slci_print(figure.limit_is, sizeof figure.limit_is, "pread of the file, %d threads",
                     slc_pool_size(one.pool));
    slci_bench_add(self->result, &figure);
done:
    if (one.descriptor >= 0) {
        (void)close(one.descriptor);
    }
    slc_source_destroy(one.source);
    return status;
}

/* ---- figures ---------------------------------------------------------------------------------- */

static double goal_of(const slci_bench_io_run *self, const slci_bench_io_kind *kind,
                      const turns *best) {
    if (slc_pool_size(self->machine.pool) < 2) {
        return 0;
    }
    return kind->filter.kind == SLC_H5_FILTER_ZSTD                               ? GOAL_ZSTD
           : kind->filter.kind == SLC_H5_FILTER_BITSHUFFLE_LZ4 && best->is_stock ? GOAL_BITSHUFFLE
                                                                                 : 0;
}

/* What all threads are worth in reading, beside as many times one, and beside what they are worth
 * where each decodes in its cache. */
static void add_scaling(slci_bench_io_run *self, const slci_bench_io_kind *kind,
                        const turns *best) {
    const double gigabytes = 1e-9 * (double)(self->n_rows * ROW_BYTES);
    const int n_threads = slc_pool_size(self->machine.pool);
    slci_bench_figure figure = {.unit = "GB/s",
                                .measured = gigabytes / best->ours.seconds,
                                .limit = n_threads * gigabytes / best->single.seconds,
                                .goal = GOAL_SCALING,
                                .may_pass = true};
    (void)slci_print(figure.what, sizeof figure.what, "decode %s, 1 to %d threads", kind->name,
                     n_threads);
    (void)slci_print(figure.limit_is, sizeof figure.limit_is, "%d times one thread", n_threads);
    slci_bench_add(self->result, &figure);
    if (isfinite(best->in_cache.all_ns)) {
        const double in_cache = best->in_cache.single_ns / best->in_cache.all_ns;
        figure.limit *= in_cache;
        (void)slci_print(figure.what, sizeof figure.what, "decode %s, beside the machine",
                         kind->name);
        (void)slci_print(figure.limit_is, sizeof figure.limit_is,
                         "%.3g times one, as in caches alone", n_threads * in_cache);
        slci_bench_add(self->result, &figure);
    }
}

static void add_figures(slci_bench_io_run *self, const slci_bench_io_kind *kind,
                        const turns *best) {
    const double gigabytes = 1e-9 * (double)(self->n_rows * ROW_BYTES);
    const double part = (double)self->n_made / (double)self->n_rows; /* that HDF5 read */
    slci_bench_figure figure = {.unit = "GB/s",
                                .measured = gigabytes / best->ours.seconds,
                                .limit = part * gigabytes / best->library.seconds,
                                .goal = goal_of(self, kind, best),
                                .may_pass = true};
    (void)slci_print(figure.what, sizeof figure.what, "read %s", kind->name);
    (void)slci_print(figure.limit_is, sizeof figure.limit_is, "H5Dread, one thread%s",
                     best->is_stock ? "" : ", Sluice's filter");
    (void)slci_print(figure.note, sizeof figure.note, "processor time %.3g of H5Dread's",
                     part * best->ours.cpu_seconds / best->library.cpu_seconds);
    slci_bench_add(self->result, &figure);
}

/* A filter that HDF5 has itself is taken as it is; zstd, for which it has none, is Sluice's. Debian's
 * plugin for bitshuffle does not know the variant with zstd, and returns wrong values for it. */
static bool has_stock(const slci_bench_io_kind *kind) {
    return kind->filter.kind != SLC_H5_FILTER_ZSTD &&
           kind->filter.kind != SLC_H5_FILTER_BITSHUFFLE_ZSTD &&
           (kind->filter_id == 0 || slci_h5_bench_has_stock(kind->filter_id));
}

slc_status slci_bench_io_read(slci_bench_io_run *self, const slci_bench_io_kind *kind) {
    turns best = {.ours = SLCI_BENCH_IO_NO_TIMES,
                  .single = SLCI_BENCH_IO_NO_TIMES,
                  .library = SLCI_BENCH_IO_NO_TIMES,
                  .is_stock = has_stock(kind),
                  .in_cache = {INFINITY, INFINITY}};
    const bool is_decoded = kind->filter_id != 0;
    slc_pool *single = NULL;
    slc_status status = SLC_OK;
    SLC_TRY_GOTO(done, slci_bench_io_write(self, kind, self->n_rows));
    SLC_TRY_GOTO(done, slc_pool_create(1, &single));
    for (int k = 0; k < self->n_repeats; k++) {
        SLC_TRY_GOTO(done, turn_of_ours(self, single, &best));
        const bool is_possible = k == 0 || isfinite(best.in_cache.all_ns);
        if (is_decoded && is_possible && slc_pool_size(self->machine.pool) > 1) {
            status = slci_bench_io_in_cache(self, kind, &best.in_cache);
            SLC_TRY_GOTO(done, slci_bench_or_omit(self->result, status, "decoding in caches"));
        }
        SLC_TRY_GOTO(done, turn_of_library(self, &best));
    }
    add_figures(self, kind, &best);
    if (!is_decoded) {
        SLC_TRY_GOTO(done, read_beside_bare(self, kind));
    } else if (slc_pool_size(self->machine.pool) > 1) {
        add_scaling(self, kind, &best);
    }
    self->read_seconds = best.ours.seconds;
done:
    slc_pool_destroy(single);
    return status;
}

/* ---- the index -------------------------------------------------------------------------------- */

static slc_status open_and_close(void *context) {
    reading one = {.self = context};
    const slc_status status = open_ours(one.self->path, &one.source);
    slc_source_destroy(one.source);
    return status;
}

/* Opening a dataset of very many chunks, which is to find them all. */
slc_status slci_bench_io_index(slci_bench_io_run *self) {
    slci_bench_io_times best = SLCI_BENCH_IO_NO_TIMES;
    SLC_TRY(slci_h5_bench_write_many(self->path, MANY_CHUNKS));
    for (int k = 0; k < self->n_repeats; k++) {
        SLC_TRY(slci_bench_io_time(self, open_and_close, self, &best));
    }
    slci_bench_add(self->result, &(slci_bench_figure){.what = "index of 10^6 chunks",
                                                      .unit = "M/s",
                                                      .measured = 1e-6 * MANY_CHUNKS / best.seconds,
                                                      .limit = 1,
                                                      .limit_is = "one second",
                                                      .goal = 1,
                                                      .may_pass = true});
    return SLC_OK;
}
