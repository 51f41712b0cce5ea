/* What the parts of `sluice bench io` share: the array, the files that hold it, the clock. Internal to
 * app/bench_io*.c.
 *
 *     SLC_TRY(slci_bench_io_write(self, &kind, self->n_rows));     // self->path
 *     SLC_TRY_GOTO(done, slci_bench_io_time(self, read_it, context, &best));
 */
#ifndef SLC_APP_BENCH_IO_PARTS_H
#define SLC_APP_BENCH_IO_PARTS_H

#include "app/bench_folder.h"
#include "app/bench_io.h"
#include "app/machine.h"
#include "io/h5_filter.h"
#include "io/outfile.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The array is [n_rows, WIDTH, WIDTH] complex; its rows repeat after so many at most. */
#define SLCI_BENCH_IO_WIDTH 1024
#define SLCI_BENCH_IO_ROW_BYTES ((int64_t)SLCI_BENCH_IO_WIDTH * SLCI_BENCH_IO_WIDTH * 8)
#define SLCI_BENCH_IO_PERIOD 32

/* Chunks of 2 MiB: the shape of one, and its bytes. */
#define SLCI_BENCH_IO_CHUNK_ROWS 4
#define SLCI_BENCH_IO_CHUNK_COLUMNS 64
#define SLCI_BENCH_IO_CHUNK \
    { SLCI_BENCH_IO_CHUNK_ROWS, SLCI_BENCH_IO_CHUNK_COLUMNS, SLCI_BENCH_IO_WIDTH }
#define SLCI_BENCH_IO_CHUNK_BYTES \
    ((int64_t)SLCI_BENCH_IO_CHUNK_ROWS * SLCI_BENCH_IO_CHUNK_COLUMNS * SLCI_BENCH_IO_WIDTH * 8)

typedef struct slci_bench_io_run {
    const slci_bench_options *options;
    slci_machine machine;
    slci_bench_result *result;
    slci_bench_folder folder;
    char path[SLC_PATH_BYTES + 16];  /* of the file at hand */
    char other[SLC_PATH_BYTES + 16]; /* of what is made of it */
    int64_t n_rows, n_made;          /* of the array, and those that are made */
    int n_repeats;
    void *rows;  /* [n_made, WIDTH, WIDTH]: what files are written with */
    void *array; /* [n_rows, WIDTH, WIDTH]: what they are read into */
    int64_t held_bytes;
    double read_seconds; /* of the array by Sluice, as it was stored last */
} slci_bench_io_run;

/* How the array is stored. */
typedef struct slci_bench_io_kind {
    const char *name;
    bool is_chunked;
    slc_h5_filter filter;
    int filter_id; /* of its compression, as HDF5 numbers them; 0: none */
} slci_bench_io_kind;

/* The best of some turns: by the clock, and of this process's processors. */
typedef struct slci_bench_io_times {
    double seconds, cpu_seconds;
    double total_seconds; /* of all turns */
} slci_bench_io_times;
#define SLCI_BENCH_IO_NO_TIMES ((slci_bench_io_times){INFINITY, INFINITY, 0})

/* Runs `way` once more and keeps the best. SLC_ERROR_INTERRUPTED, or what the way returns. */
typedef slc_status (*slci_bench_io_way)(void *context);
SLC_MUST_USE slc_status slci_bench_io_time(slci_bench_io_run *self, slci_bench_io_way way,
                                           void *context, slci_bench_io_times *best);

/* Whether a way that takes long was timed often enough. */
bool slci_bench_io_is_enough(const slci_bench_io_times *times);

/* Writes the first `n_rows` rows to self->path, by Sluice's own writer. */
SLC_MUST_USE slc_status slci_bench_io_write(slci_bench_io_run *self, const slci_bench_io_kind *kind,
                                            int64_t n_rows);

/* The options of a job that runs meanwhile: what is left of the budgets, rates as they are known. */
slc_run_options slci_bench_io_job(const slci_bench_io_run *self);

/* Fills the array with bytes that it does not hold; and compares its first rows, which `who` has read
 * from `path`, with what was written. SLC_ERROR_INTERNAL names both. */
SLC_MUST_USE slc_status slci_bench_io_spoil(slci_bench_io_run *self);
SLC_MUST_USE slc_status slci_bench_io_check(slci_bench_io_run *self, const char *path,
                                            int64_t n_rows, const char *who);

/* The parts. Of reading, that writes the file and leaves it: app/bench_io_read.c. */
SLC_MUST_USE slc_status slci_bench_io_index(slci_bench_io_run *self);
SLC_MUST_USE slc_status slci_bench_io_read(slci_bench_io_run *self, const slci_bench_io_kind *kind);

/* Reads the file at `path` by Sluice, which is to hold the first `n_rows` rows: SLC_ERROR_INTERNAL
 * where any element is another. */
SLC_MUST_USE slc_status slci_bench_io_verify(slci_bench_io_run *self, const char *path,
                                             int64_t n_rows);

/* How long one thread takes for its chunk, and all threads for one each, where all of it stays in
 * their caches: the best of some rounds, which are taken in turns, and of those before. `in_cache`
 * begins with INFINITY twice. SLC_ERROR_MEMORY. In app/bench_io_cache.c. */
typedef struct slci_bench_io_cache {
    double single_ns, all_ns;
} slci_bench_io_cache;
SLC_MUST_USE slc_status slci_bench_io_in_cache(slci_bench_io_run *self,
                                               const slci_bench_io_kind *kind,
                                               slci_bench_io_cache *in_cache);

/* Statistics of the file at hand beside a user's own loop: app/bench_io_stats.c. */
SLC_MUST_USE slc_status slci_bench_io_stats(slci_bench_io_run *self,
                                            const slci_bench_io_kind *kind);

/* Whether copies to the card wait while statistics of the file at hand are made; nothing on a device
 * that reads in place: app/bench_io_feed.c. */
SLC_MUST_USE slc_status slci_bench_io_feed(slci_bench_io_run *self, const slci_bench_io_kind *kind);

/* Writing, to each of these kinds: app/bench_io_write.c. */
SLC_MUST_USE slc_status slci_bench_io_repack(slci_bench_io_run *self,
                                             const slci_bench_io_kind *const *kinds, int n_kinds);

#ifdef __cplusplus
}
#endif
#endif
