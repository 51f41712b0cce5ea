/* `sluice stats` in one pass, beside the loop that a user writes for one sum:
 *
 *     H5Dread ──▶ pinned buffer 0 ──▶ stream 0: copy, sum
 *     H5Dread ──▶ pinned buffer 1 ──▶ stream 1: copy, sum      while stream 0 runs, and so on
 *
 * On the host device nothing is copied: what was read is summed where it lies. */
#include <math.h>
#include <string.h>

#include "app/bench_io_parts.h"
#include "app/stats.h"
#include "core/checked.h"
#include "core/print.h"
#include "io/h5_bench.h"
#include "kernels/plain_sum.h"

#define ROW_BYTES SLCI_BENCH_IO_ROW_BYTES
#define SLAB_ROWS 8
#define SLAB_BYTES (SLAB_ROWS * ROW_BYTES)
#define N_BUFFERS 2

/* A card is through with the array before what a run costs once is small beside it: there, without a
 * filter, the job reads one so many times as large. */
#define MORE_ON_A_CARD 8

/* What docs/bench.md promises on a card. */
#define GOAL_STATS 8.0

/* Rounding of the plain sum, for each value. */
#define SUM_TOLERANCE 1e-9

typedef struct peer {
    slci_bench_io_run *self;
    slci_h5_bench_file *file;
    int64_t n_rows;                   /* that it reads */
    int64_t host_bytes, device_bytes; /* reserved */
    slc_stream *stream[N_BUFFERS];
    slc_event *done[N_BUFFERS];
    slc_pinned pinned[N_BUFFERS];
    slc_pinned sums;          /* [N_BUFFERS] */
    void *d_slab[N_BUFFERS];  /* on the host device the pinned buffer itself */
    double *d_sum[N_BUFFERS]; /* likewise */
} peer;

/* ---- the loop --------------------------------------------------------------------------------- */

static bool has_card(const slci_bench_io_run *self) {
    return self->machine.device->kind == SLC_DEVICE_CUDA;
}

static slc_status make_buffer(peer *loop, int k) {
    slc_device *device = loop->self->machine.device;
    void *d_sum = NULL;
    SLC_TRY(slc_stream_create(device, &loop->stream[k]));
    SLC_TRY(slc_event_create(device, &loop->done[k]));
    SLC_TRY(slc_pinned_allocate(device, SLAB_BYTES, &loop->pinned[k]));
    if (!has_card(loop->self)) {
        loop->d_slab[k] = loop->pinned[k].host;
        loop->d_sum[k] = (double *)loop->sums.host + k;
        return SLC_OK;
    }
    SLC_TRY(slc_device_allocate(device, SLAB_BYTES, &loop->d_slab[k]));
    SLC_TRY(slc_device_allocate(device, (int64_t)sizeof(double), &d_sum));
    loop->d_sum[k] = d_sum;
    return SLC_OK;
}

static slc_status open_peer(peer *loop) {
    slc_budget *budget = loop->self->machine.budget;
    const int64_t host = N_BUFFERS * (SLAB_BYTES + (int64_t)sizeof(double));
    SLC_TRY(slc_budget_reserve(budget, SLC_SPACE_HOST, host, "two buffers"));
    loop->host_bytes = host;
    if (has_card(loop->self)) {
        SLC_TRY(slc_budget_reserve(budget, SLC_SPACE_DEVICE, host, "two buffers"));
        loop->device_bytes = host;
    }
    SLC_TRY(slc_pinned_allocate(loop->self->machine.device, N_BUFFERS * (int64_t)sizeof(double),
                                &loop->sums));
    for (int k = 0; k < N_BUFFERS; k++) {
        SLC_TRY(make_buffer(loop, k));
    }
    return SLC_OK;
}

static void close_peer(peer *loop) {
    slc_device *device = loop->self->machine.device;
    slc_budget *budget = loop->self->machine.budget;
    for (int k = 0; k < N_BUFFERS; k++) {
        slc_stream_destroy(loop->stream[k]); /* waits for what runs on it */
        slc_event_destroy(loop->done[k]);
        if (has_card(loop->self)) {
            slc_device_release(device, loop->d_slab[k]);
            slc_device_release(device, loop->d_sum[k]);
        }
        slc_pinned_release(device, &loop->pinned[k]);
    }
    slc_pinned_release(device, &loop->sums);
    slc_budget_release(budget, SLC_SPACE_HOST, loop->host_bytes);
    slc_budget_release(budget, SLC_SPACE_DEVICE, loop->device_bytes);
}

/* Both streams are given their share of the sum first: the same stream adds to it in order. */
static slc_status run_peer(void *context) {
    peer *loop = context;
    const int64_t n_rows = loop->n_rows;
    for (int k = 0; k < N_BUFFERS; k++) {
        SLC_TRY(slc_stream_set(loop->stream[k], loop->d_sum[k], 0, (int64_t)sizeof(double)));
    }
    for (int64_t row = 0, k = 0; row < n_rows; row += SLAB_ROWS, k = (k + 1) % N_BUFFERS) {
        const int64_t n = slc_min_i64(SLAB_ROWS, n_rows - row);
        SLC_TRY(slc_event_synchronize(loop->done[k]));
        SLC_TRY(slci_h5_bench_read(loop->file, row, n, loop->pinned[k].host));
        if (has_card(loop->self)) {
            SLC_TRY(slc_stream_copy(loop->stream[k], loop->d_slab[k], loop->pinned[k].host,
                                    n * ROW_BYTES, SLC_COPY_TO_DEVICE));
        }
        SLC_TRY(slci_plain_sum_enqueue(loop->stream[k], loop->d_slab[k],
                                       n * ROW_BYTES / (int64_t)sizeof(float), loop->d_sum[k]));
        SLC_TRY(slc_event_record(loop->done[k], loop->stream[k]));
    }
    for (int k = 0; k < N_BUFFERS; k++) {
        if (has_card(loop->self)) {
            SLC_TRY(slc_stream_copy(loop->stream[k], (double *)loop->sums.host + k, loop->d_sum[k],
                                    (int64_t)sizeof(double), SLC_COPY_FROM_DEVICE));
        }
        SLC_TRY(slc_stream_synchronize(loop->stream[k]));
    }
    return SLC_OK;
}

static double peer_sum(const peer *loop) {
    const double *sums = loop->sums.host;
    return sums[0] + sums[1];
}

static slc_status turn_of_peer(peer *loop, slci_bench_io_times *best) {
    if (slci_bench_io_is_enough(best)) {
        return SLC_OK;
    }
    SLC_TRY(slci_h5_bench_open(loop->self->path, SLCI_H5_BENCH_STOCK, &loop->file));
    const slc_status status = slci_bench_io_time(loop->self, run_peer, loop, best);
    return slci_h5_bench_end(loop->file, status);
}

/* SLC_ERROR_MEMORY where the budgets have no room for it. The caller closes it. */
static slc_status measure_peer(peer *loop, slci_bench_io_times *best) {
    SLC_TRY(open_peer(loop));
    for (int k = 0; k < loop->self->n_repeats; k++) {
        SLC_TRY(turn_of_peer(loop, best));
    }
    return SLC_OK;
}

/* ---- the job ---------------------------------------------------------------------------------- */

static slc_status turn_of_stats(slci_bench_io_run *self, double *seconds, double *sum) {
    slc_stats_options options = {.in = {.path = self->path, .dataset = SLCI_H5_BENCH_NAME},
                                 .no_median = true,
                                 .run = slci_bench_io_job(self)};
    slc_stats_result result;
    SLC_TRY(slc_stats_run(&options, &result));
    *seconds = fmin(*seconds, result.report.seconds_total);
    *sum = result.sum[0].value + result.sum[1].value;
    return SLC_OK;
}

/* Seconds of the job, and of the loop, for so many rows; INFINITY: there was no loop. */
static void add_figures(slci_bench_io_run *self, const slci_bench_io_kind *kind, int64_t n_rows,
                        const double seconds[2]) {
    const double gigabytes = 1e-9 * (double)(n_rows * ROW_BYTES);
    const double read_gigabytes = 1e-9 * (double)(self->n_rows * ROW_BYTES);
    slci_bench_figure figure = {.unit = "GB/s",
                                .measured = gigabytes / seconds[0],
                                .limit = gigabytes / seconds[1],
                                .goal = has_card(self) && kind->filter_id == 0 ? GOAL_STATS : 0,
                                .may_pass = true};
    (void)slci_print(figure.what, sizeof figure.what, "stats of %s", kind->name);
    (void)slci_print(figure.limit_is, sizeof figure.limit_is, "H5Dread, %s, a sum",
                     has_card(self) ? "two streams" : "two buffers");
    if (isfinite(seconds[1])) {
        slci_bench_add(self->result, &figure);
    }
    figure.goal = 0;
    figure.limit = read_gigabytes / self->read_seconds;
    (void)slci_print(figure.what, sizeof figure.what, "stats of %s, beside reading", kind->name);
    (void)slci_print(figure.limit_is, sizeof figure.limit_is, "reading it alone");
    slci_bench_add(self->result, &figure);
}

slc_status slci_bench_io_stats(slci_bench_io_run *self, const slci_bench_io_kind *kind) {
    /* What HDF5 decodes, it decodes as slowly in every row. */
    peer loop = {.self = self, .n_rows = kind->filter_id == 0 ? self->n_rows : self->n_made};
    const bool has_more = has_card(self) && kind->filter_id == 0;
    const int64_t n_rows = self->n_rows * (has_more ? MORE_ON_A_CARD : 1);
    const double n_parts = (double)n_rows / (double)loop.n_rows;
    slci_bench_io_times best = SLCI_BENCH_IO_NO_TIMES;
    double seconds[2] = {INFINITY, INFINITY};
    double sum = 0;
    slc_status status = has_more ? slci_bench_io_write(self, kind, n_rows) : SLC_OK;
    SLC_TRY(status);
    for (int k = 0; k < self->n_repeats && status == SLC_OK; k++) {
        status = turn_of_stats(self, &seconds[0], &sum);
    }
    if (status != SLC_OK) {
        return slci_bench_or_omit(self->result, status, "stats");
    }
    status = measure_peer(&loop, &best);
    if (status != SLC_OK) {
        SLC_TRY_GOTO(done, slci_bench_or_omit(self->result, status, "stats beside H5Dread"));
        add_figures(self, kind, n_rows, seconds);
        goto done;
    }
    seconds[1] = n_parts * best.seconds;
    if (fabs(n_parts * peer_sum(&loop) - sum) >
        SUM_TOLERANCE * (double)(n_rows * ROW_BYTES / (int64_t)sizeof(float))) {
        status = SLC_FAIL(SLC_ERROR_INTERNAL, "%s: the sum is %.17g, and by a plain loop %.17g",
                          self->path, sum, n_parts * peer_sum(&loop));
        goto done;
    }
    add_figures(self, kind, n_rows, seconds);
done:
    close_peer(&loop);
    return status;
}
