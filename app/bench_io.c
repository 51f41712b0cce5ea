/* The array is what a correlator writes: noise and a fringe, a few channels with interference, rounded
 * to ten bits, one sample in twenty flagged to zero. Files of it lie in the page cache, so that the
 * processor is measured and not the disk. All ways of reading fill the same memory, which none of them
 * touches first, in turns; the best of each counts. */
#include "app/bench_io.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "app/bench_io_parts.h"
#include "core/checked.h"
#include "core/clock.h"
#include "core/constants.h"
#include "core/host_memory.h"
#include "core/print.h"
#include "io/chunk_codec.h"
#include "io/h5_array.h"
#include "io/h5_bench.h"

#define WIDTH SLCI_BENCH_IO_WIDTH
#define ROW_BYTES SLCI_BENCH_IO_ROW_BYTES

/* The array grows with the threads, so that each has chunks to decode for as long as a clock needs, and
 * no cache holds what they read. */
#define ROWS_PER_THREAD 16
#define LEAST_ROWS 32
#define MOST_ROWS 128
#define QUICK_SHARE 8
#define N_REPEATS 3

/* A way that took so long altogether is not run again. */
#define ENOUGH_SECONDS 2.0

/* One sample in so many is flagged. */
#define FLAG_STEP 20

/* One channel in so many is full of interference, so many times as strong as the noise. */
#define LOUD_STEP 53
#define LOUDNESS 30

enum { CONTIGUOUS, CHUNKS, ZSTD, BITSHUFFLE_LZ4, BITSHUFFLE_ZSTD, DEFLATED, N_KINDS };
static const slci_bench_io_kind kinds[N_KINDS] = {
    [CONTIGUOUS] = {.name = "contiguous"},
    [CHUNKS] = {.name = "chunks, no filter", .is_chunked = true},
    [ZSTD] = {.name = "shuffle+zstd:3",
              .is_chunked = true,
              .filter = {.kind = SLC_H5_FILTER_ZSTD, .level = 3},
              .filter_id = SLCI_FILTER_ZSTD},
    [BITSHUFFLE_LZ4] = {.name = "bitshuffle+LZ4",
                        .is_chunked = true,
                        .filter = {.kind = SLC_H5_FILTER_BITSHUFFLE_LZ4},
                        .filter_id = SLCI_FILTER_BITSHUFFLE},
    [BITSHUFFLE_ZSTD] = {.name = "bitshuffle+zstd:1",
                         .is_chunked = true,
                         .filter = {.kind = SLC_H5_FILTER_BITSHUFFLE_ZSTD, .level = 1},
                         .filter_id = SLCI_FILTER_BITSHUFFLE},
    [DEFLATED] = {.name = "shuffle+deflate:4",
                  .is_chunked = true,
                  .filter = {.kind = SLC_H5_FILTER_DEFLATE, .level = 4},
                  .filter_id = SLCI_FILTER_DEFLATE},
};

static double processor_seconds(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

slc_status slci_bench_io_time(slci_bench_io_run *self, slci_bench_io_way way, void *context,
                              slci_bench_io_times *best) {
    SLC_TRY(slci_run_tell(&self->options->run, "measuring", "", 0, 1));
    const double cpu_begin = processor_seconds();
    const int64_t begin_ns = slc_clock_ns();
    SLC_TRY(way(context));
    const double seconds = 1e-9 * (double)(slc_clock_ns() - begin_ns);
    best->seconds = fmin(best->seconds, seconds);
    best->cpu_seconds = fmin(best->cpu_seconds, processor_seconds() - cpu_begin);
    best->total_seconds += seconds;
    return SLC_OK;
}

bool slci_bench_io_is_enough(const slci_bench_io_times *times) {
    return times->total_seconds >= ENOUGH_SECONDS;
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

static slc_status make_row(void *context, int64_t row, int worker) {
    const slci_bench_io_run *self = context;
    float *out = (float *)self->rows + row * (ROW_BYTES / 4);
    (void)worker;
    for (int64_t y = 0; y < WIDTH; y++) {
        const double turn = SLC_TWO_PI * (double)y / 64;
        const float fringe[2] = {(float)cos(turn), (float)sin(turn)};
        for (int64_t x = 0; x < WIDTH; x++) {
            const uint64_t at = (uint64_t)((row * WIDTH + y) * WIDTH + x);
            const bool is_flagged = mix(~at) % FLAG_STEP == 0;
            const float scale = x % LOUD_STEP == 0 ? LOUDNESS : 1;
            for (uint64_t k = 0; k < 2; k++) {
                *out++ = is_flagged ? 0.0F : rounded(fringe[k] + scale * noise(mix(2 * at + k)));
            }
        }
    }
    return SLC_OK;
}

static slc_status write_rows(slci_bench_io_run *self, slc_sink *sink, int64_t n_rows) {
    for (int64_t row = 0; row < n_rows; row += self->n_made) {
        const slc_box box = {.rank = 3,
                             .origin = {row},
                             .extent = {slc_min_i64(self->n_made, n_rows - row), WIDTH, WIDTH}};
        SLC_TRY(slc_sink_write(sink, &box, self->rows));
    }
    return slc_sink_commit(sink);
}

slc_status slci_bench_io_write(slci_bench_io_run *self, const slci_bench_io_kind *kind,
                               int64_t n_rows) {
    static const int64_t chunk[3] = SLCI_BENCH_IO_CHUNK;
    const int64_t shape[3] = {n_rows, WIDTH, WIDTH};
    slc_h5_array_output output = {.path = self->path,
                                  .dataset = SLCI_H5_BENCH_NAME,
                                  .filter = kind->filter,
                                  .pool = self->machine.pool};
    slc_sink *sink = NULL;
    SLC_TRY(slc_layout_dense(SLC_C64, 3, shape, &output.layout));
    if (kind->is_chunked) {
        memcpy(output.chunk, chunk, sizeof chunk);
    }
    (void)remove(self->path); /* there is room for one file, not for two */
    SLC_TRY(slc_h5_array_create(&output, &sink));
    const slc_status status = write_rows(self, sink, n_rows);
    slc_sink_destroy(sink);
    return status;
}

static slc_status spoil_row(void *context, int64_t row, int worker) {
    const slci_bench_io_run *self = context;
    (void)worker;
    memset((char *)self->array + row * ROW_BYTES, 0xA5, (size_t)ROW_BYTES);
    return SLC_OK;
}

slc_status slci_bench_io_spoil(slci_bench_io_run *self) {
    return slc_pool_for(self->machine.pool, self->n_rows, spoil_row, self);
}

static slc_status check_row(void *context, int64_t row, int worker) {
    const slci_bench_io_run *self = context;
    const char *made = (const char *)self->rows + row % self->n_made * ROW_BYTES;
    (void)worker;
    return memcmp((const char *)self->array + row * ROW_BYTES, made, (size_t)ROW_BYTES) == 0
               ? SLC_OK
               : SLC_FAIL(SLC_ERROR_INTERNAL, "row %" PRId64 " has other values than were written",
                          row);
}

slc_status slci_bench_io_check(slci_bench_io_run *self, const char *path, int64_t n_rows,
                               const char *who) {
    const slc_status status = slc_pool_for(self->machine.pool, n_rows, check_row, self);
    return status == SLC_OK ? SLC_OK : slc_status_prefix(status, "%s read by %s", path, who);
}

/* ---- all of them ------------------------------------------------------------------------------ */

static void size_array(slci_bench_io_run *self) {
    const slci_bench_options *options = self->options;
    int64_t n = (int64_t)slc_pool_size(self->machine.pool) * ROWS_PER_THREAD;
    n = slc_min_i64(slc_max_i64(n, LEAST_ROWS), MOST_ROWS) / (options->is_quick ? QUICK_SHARE : 1);
    if (options->array_bytes > 0) {
        n = options->array_bytes / ROW_BYTES;
    }
    const int64_t unit = n > SLCI_BENCH_IO_PERIOD ? SLCI_BENCH_IO_PERIOD : SLCI_BENCH_IO_CHUNK_ROWS;
    self->n_rows = slc_max_i64(n / unit, 1) * unit;
    self->n_made = slc_min_i64(self->n_rows, SLCI_BENCH_IO_PERIOD);
    self->n_repeats = options->is_quick ? 1 : N_REPEATS;
}

static slc_status make_array(slci_bench_io_run *self) {
    int64_t bytes = 0;
    if (!slc_checked_mul(self->n_rows + self->n_made, ROW_BYTES, &bytes)) {
        bytes = INT64_MAX; /* which no budget has */
    }
    SLC_TRY(slc_budget_reserve(self->machine.budget, SLC_SPACE_HOST, bytes,
                               "the array that is measured with (--array says how large)"));
    self->held_bytes = bytes;
    /* In huge pages, as the buffers of a run are. */
    SLC_TRY(slci_host_map(self->n_made * ROW_BYTES, &self->rows));
    SLC_TRY(slci_host_map(self->n_rows * ROW_BYTES, &self->array));
    SLC_TRY(slci_bench_io_spoil(self));
    return slc_pool_for(self->machine.pool, self->n_made, make_row, self);
}

static slc_status open_run(slci_bench_io_run *self) {
    SLC_TRY(slci_machine_open(&self->options->run, &self->machine));
    memcpy(self->result->device_name, self->machine.limits.name, sizeof self->result->device_name);
    memcpy(self->result->software, self->machine.limits.software, sizeof self->result->software);
    self->result->n_threads = slc_pool_size(self->machine.pool);
    SLC_TRY(slci_bench_folder_make(self->options->folder, &self->folder));
    (void)snprintf(self->path, sizeof self->path, "%s/array.h5", self->folder.path);
    (void)snprintf(self->other, sizeof self->other, "%s/other.h5", self->folder.path);
    size_array(self);
    return make_array(self);
}

static void close_run(slci_bench_io_run *self) {
    if (self->array != NULL) {
        slci_host_unmap(self->array, self->n_rows * ROW_BYTES);
    }
    if (self->rows != NULL) {
        slci_host_unmap(self->rows, self->n_made * ROW_BYTES);
    }
    if (self->held_bytes > 0) {
        slc_budget_release(self->machine.budget, SLC_SPACE_HOST, self->held_bytes);
    }
    if (self->path[0] != '\0') {
        (void)remove(self->path);
        (void)remove(self->other);
    }
    slci_bench_folder_remove(&self->folder);
    slci_machine_close(&self->machine);
}

slc_run_options slci_bench_io_job(const slci_bench_io_run *self) {
    slc_run_options run = self->options->run;
    run.ram_bytes = slc_max_i64(run.ram_bytes - self->held_bytes, 0);
    run.rates = self->machine.rates;
    run.probes = false;
    run.overwrite = true;
    run.log = NULL; /* what it notes is known here */
    run.progress = NULL;
    return run;
}

static slc_status measure(slci_bench_io_run *self) {
    const slci_bench_io_kind *const packed[] = {&kinds[DEFLATED], &kinds[ZSTD]};
    SLC_TRY(slci_bench_io_index(self));
    for (int k = 0; k < N_KINDS; k++) {
        SLC_TRY(slci_bench_io_read(self, &kinds[k]));
        if (k == CONTIGUOUS || k == DEFLATED) {
            SLC_TRY(slci_bench_io_stats(self, &kinds[k]));
        }
        if (k == CONTIGUOUS || k == BITSHUFFLE_LZ4 || k == DEFLATED) {
            SLC_TRY(slci_bench_io_feed(self, &kinds[k]));
        }
    }
    return slci_bench_io_repack(self, packed, (int)(sizeof packed / sizeof packed[0]));
}

slc_status slci_bench_io(const slci_bench_options *options, slci_bench_result *out) {
    slci_bench_result result = {0};
    slci_bench_io_run self = {.options = options, .result = &result};
    slc_status status = open_run(&self);
    if (status == SLC_OK) {
        status = measure(&self);
    }
    close_run(&self);
    SLC_TRY(status);
    *out = result;
    return SLC_OK;
}
